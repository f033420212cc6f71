"""R's random numbers, bit for bit, without R."""

from pegasos_stats.rng.generator import RRandom, SampleKind, checked_seed

__all__ = ["RRandom", "SampleKind", "checked_seed"]
