"""Ctrl-C while libraries are still being loaded: one line and no traceback."""

import os
import sys
from itertools import pairwise
from types import TracebackType


def is_program(arguments: list[str], original: list[str]) -> bool:
    """Whether this process is the command line, and no other use of the package.

    Parameters
    ----------
    arguments, original : list of str
        ``sys.argv`` and ``sys.orig_argv`` while the package is loaded.

    Examples
    --------
    >>> is_program(["/usr/bin/pegasos-stats", "demo"], [])
    True
    >>> is_program(["-m", "demo"], ["python", "-m", "pegasos_stats", "demo"])
    True
    >>> is_program(["-c"], ["python", "-c", "import pegasos_stats"])
    False
    >>> is_program(["-m"], ["python", "-m", "another", "pegasos_stats"])
    False
    """
    name = os.path.basename(arguments[0]) if arguments else ""
    if name == "-m":
        return ("-m", "pegasos_stats") in pairwise(original)
    return name.removesuffix(".exe") == "pegasos-stats"


def _said(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("pegasos-stats: interrupted\n")
    else:
        sys.__excepthook__(kind, error, trace)


if is_program(getattr(sys, "argv", []), sys.orig_argv):
    sys.excepthook = _said
