"""The command line: ``pegasos-stats fit``, ``report``, ``predict``, ``demo``."""

import sys
from collections.abc import Sequence
from contextlib import suppress

from pegasos_stats import __version__

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, see `pegasos_stats.output.cli.program.main`.

    ``--version`` alone is answered before any library is loaded.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words == ["--version"]:
        with suppress(OSError, ValueError, AttributeError):  # the program says why
            sys.stdout.write(f"{__version__}\n")
            sys.stdout.flush()
            return 0
    from pegasos_stats.output.cli import program

    return program.main(words)
