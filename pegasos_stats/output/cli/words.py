"""Words of the command line that are more than text or a number."""

import argparse
import re
from collections.abc import Callable
from typing import Any

from pegasos_stats.solvers.pegasos import Average

WHOLE = re.compile(r"[+-]?[0-9]{1,18}")  # fits into 64 bits
NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan|inf|infinity)", re.I
)
SHOWN = 40  # characters of a wrong word


def whole(text: str) -> int:
    """Read a whole number of at most 18 digits, those of ASCII.

    Examples
    --------
    >>> whole("443")
    443
    """
    if not WHOLE.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"invalid int value: {_short(text)}; give a whole number such as 20"
        )
    return int(text)


def number(text: str) -> float:
    """Read a number, as Python writes them in ASCII.

    Examples
    --------
    >>> number("1e-3")
    0.001
    """
    if not NUMBER.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"invalid float value: {_short(text)}; give a number such as 0.01"
        )
    return float(text)


def _short(text: str) -> str:
    return ascii(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")


def average(text: str) -> Average:
    """Read ``none``, ``all``, or a number of last epochs."""
    if text in ("none", "all"):
        return text  # type: ignore[return-value]
    try:
        return whole(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"{_short(text)} is not 'none', 'all' or a number of last epochs"
        ) from None


def shape(text: str) -> tuple[int, int]:
    """Read rows and columns, as in ``16x16``."""
    try:
        rows, columns = map(whole, text.lower().split("x"))
    except (ValueError, argparse.ArgumentTypeError):
        raise argparse.ArgumentTypeError(
            f"{_short(text)} is not of the form 16x16, rows and columns"
        ) from None
    return rows, columns


# What reads the words of an option, by the type of its values.
READERS: dict[Any, Callable[[str], Any]] = {
    int: whole,
    float: number,
    Average: average,
}
