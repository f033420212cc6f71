"""Words of the command line that are more than text or a number."""

import argparse

from pegasos_stats.solvers import Average


def average(text: str) -> Average:
    """Read ``none``, ``all``, or a number of last epochs."""
    if text in ("none", "all"):
        return text  # type: ignore[return-value]
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not 'none', 'all' or a number of last epochs"
        ) from None


def shape(text: str) -> tuple[int, int]:
    """Read rows and columns, as in ``16x16``."""
    try:
        rows, columns = map(int, text.lower().split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not of the form 16x16, rows and columns"
        ) from None
    return rows, columns
