"""R's random numbers, bit for bit, without R."""

from pegasos_stats.rng.generator import RRandom, SampleKind
from pegasos_stats.rng.quantiles import qnorm

__all__ = ["RRandom", "SampleKind", "qnorm"]
