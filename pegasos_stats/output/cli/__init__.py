"""The command line: ``pegasos-stats fit``, ``report``, ``predict``, ``demo``."""

from pegasos_stats.output.cli.program import main

__all__ = ["main"]
