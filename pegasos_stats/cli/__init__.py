"""The command line: ``pegasos-stats fit``, ``report``, ``predict``, ``demo``."""

from pegasos_stats.cli.commands import main

__all__ = ["main"]
