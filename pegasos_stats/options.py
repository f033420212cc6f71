"""Checks of single options, made once, where the user gives them."""

import numbers
from typing import Any

import numpy as np

from pegasos_stats.errors import OptionError, listing, plain


def check_count(name: str, value: Any) -> None:
    """Raise `OptionError` unless `value` is a whole number of at least 1."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < 1:
        raise OptionError(
            f"{name}={plain(value)!r} is not allowed; give a whole number above zero."
        )


def check_positive(name: str, value: Any) -> float:
    """Return `value` as a float, or raise `OptionError` unless it is above zero."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not 0.0 < value <= np.finfo(np.float64).max:
        raise OptionError(
            f"{name}={plain(value)!r} is not allowed; give a finite number above zero."
        )
    return float(value)


def check_nonnegative(name: str, value: Any) -> float:
    """Return `value` as a float, or raise `OptionError` if it is below zero."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not 0.0 <= value <= np.finfo(np.float64).max:
        raise OptionError(
            f"{name}={plain(value)!r} is not allowed; give a finite number, 0 or more."
        )
    return float(value)


def check_fraction(name: str, value: Any) -> float:
    """Return `value` as a float, or raise `OptionError` unless it is inside (0, 1)."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not 0.0 < value < 1.0:
        raise OptionError(
            f"{name}={plain(value)!r} is not allowed; give a number between 0 and 1."
        )
    return float(value)


def check_flag(name: str, value: Any) -> None:
    """Raise `OptionError` unless `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise OptionError(
            f"{name}={plain(value)!r} is not allowed; give True or False."
        )


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise `OptionError` unless `value` is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise OptionError(
            f"{name}={plain(value)!r} is not known; give one of {listing(choices)}."
        )
