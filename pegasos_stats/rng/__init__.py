"""R's random numbers, bit for bit, without R."""

from pegasos_stats.rng.generator import RRandom
from pegasos_stats.rng.mersenne import SampleKind, checked_seed

__all__ = ["RRandom", "SampleKind", "checked_seed"]
