"""Checks of single options, called once, where options enter the package."""

import math
import numbers
import sys
from collections.abc import Collection, Sequence

import numpy as np

from pegasos_stats.errors import OptionError, did_you_mean, listing
from pegasos_stats.foreign_names import foreign_value

LARGEST_R_INTEGER = 2**31 - 1


def is_number(value: object) -> bool:
    """Return whether `value` is a real number; booleans and durations are not."""
    others = bool | np.bool_ | np.timedelta64
    return isinstance(value, numbers.Real) and not isinstance(value, others)


def number_of(value: object) -> float:
    """Return `value` as a float, or NaN if it is not a real number or too large.

    Examples
    --------
    >>> number_of(2), number_of("2"), number_of(True), number_of(10**400)
    (2.0, nan, nan, nan)
    """
    try:
        if isinstance(value, numbers.Real) and is_number(value):
            return float(value)
    except Exception:  # foreign code may raise anything; integers may be too large
        pass
    return math.nan


def whole_of(value: object) -> int | None:
    """Return `value` as an int, or None if its type is not an integer type.

    Examples
    --------
    >>> whole_of(2), whole_of(2.0), whole_of(True)
    (2, None, None)
    """
    try:
        if isinstance(value, numbers.Integral) and is_number(value):
            return int(value)
    except Exception:  # foreign code may raise anything
        pass
    return None


def check_count(name: str, value: object, most: float = LARGEST_R_INTEGER) -> int:
    """Return `value` as an int; raise `OptionError` unless it is a whole number.

    The allowed range is 1 to `most`.
    """
    whole = whole_of(value)
    if whole is None or not 1 <= whole <= most:
        reason = f"is not allowed; use a whole number above zero, at most {most}."
        raise OptionError(reason, name, value)
    return whole


def check_positive(name: str, value: object) -> float:
    """Return `value` as a float, or raise `OptionError` unless it is above zero."""
    allowed = "a finite number above zero"
    return _between(name, value, math.ulp(0.0), sys.float_info.max, allowed)


def check_nonnegative(name: str, value: object) -> float:
    """Return `value` as a float, or raise `OptionError` if it is below zero."""
    return _between(name, value, 0.0, sys.float_info.max, "a finite number, 0 or more")


def check_fraction(name: str, value: object) -> float:
    """Return `value` as a float, or raise `OptionError` unless it is inside (0, 1)."""
    below_one = math.nextafter(1.0, 0.0)
    return _between(name, value, math.ulp(0.0), below_one, "a number between 0 and 1")


def check_threshold(value: object, is_probability: bool) -> float:
    """Return a threshold of scores, or of probabilities of the second level.

    Raises
    ------
    OptionError
        If it is not a number, or not a probability where one is required.
    """
    if not is_probability:
        return _between("threshold", value, -math.inf, math.inf, "a number, a score")
    allowed = "a probability of the second level, from 0 to 1"
    return _between("threshold", value, 0.0, 1.0, allowed)


def _between(name: str, value: object, low: float, high: float, allowed: str) -> float:
    number = number_of(value)
    if not low <= number <= high:
        reason = f"is not allowed; use {allowed}."
        raise OptionError(foreign_value(name, value) or reason, name, value)
    return number


def check_flag(name: str, value: object) -> None:
    """Raise `OptionError` unless `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise OptionError("is not allowed; use True or False.", name, value)


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise `OptionError` unless `value` is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        hint, allowed = did_you_mean(value, choices), listing(choices, len(choices))
        reason = f"is not known{hint}; use one of {allowed}."
        raise OptionError(foreign_value(name, value) or reason, name, value)


def check_coefficients(name: str, own: Collection[str], wanted: Sequence[str]) -> None:
    """Raise `OptionError` unless coefficients by name are those of the model.

    Examples
    --------
    >>> check_coefficients("start", {"a": 1.0, "b": 2.0}, ["b", "a"])
    >>> check_coefficients("start", {"a": 1.0, "b": 2.0}, ["a", "c"])
    Traceback (most recent call last):
    pegasos_stats.errors.OptionError: start lacks 'c' and contains 'b', which the model
    lacks; pass one coefficient for each of the params of the model.
    """
    missing = [term for term in wanted if term not in own]
    unknown = [term for term in own if term not in wanted]
    parts = [f"lacks {listing(missing)}"] * bool(missing)
    parts += [f"contains {listing(unknown)}, which the model lacks"] * bool(unknown)
    if parts:
        raise OptionError(
            f"{name} {' and '.join(parts)}; pass one coefficient for each of the "
            "params of the model."
        )


def check_log_loss(loss: str, name: str) -> None:
    """Raise `OptionError` if the fit lacks the probabilities that `name` needs."""
    if loss != "log":
        raise OptionError(
            f"{name} needs the log loss, and this is a fit with the {loss} loss; fit "
            "ps.logit(), or use ps.calibrate(model), which estimates probabilities."
        )


def check_rows_have_own(**options: object) -> None:
    """Raise `OptionError` if options describe rows but ``data`` is missing."""
    for name, value in options.items():
        if value is not None:
            raise OptionError(
                f"{name}= describes the rows of data=; pass both, or neither: training "
                "rows have their own."
            )
