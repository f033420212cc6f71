"""The command line: ``pegasos-stats fit``, ``report``, ``predict``, ``demo``."""

from pegasos_stats.cli.program import main

__all__ = ["main"]
