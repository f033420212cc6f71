"""R's random numbers, bit for bit, without R."""

from pegasos_stats.rng.generator import RRandom, SampleKind, checked_seed
from pegasos_stats.rng.quantiles import qnorm

__all__ = ["RRandom", "SampleKind", "checked_seed", "qnorm"]
