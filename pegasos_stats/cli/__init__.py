"""The command line: ``pegasos-stats fit``, ``predict`` and ``demo``."""

from pegasos_stats.cli.commands import main

__all__ = ["main"]
