"""What `pegasos_stats.rng` accepts: counts, parameters, weights, vectors."""

import math
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pegasos_stats.arrays import Integers, Vector
from pegasos_stats.checks import number_of
from pegasos_stats.data.columns import floats_of
from pegasos_stats.data.foreign import refusing
from pegasos_stats.errors import OptionError, shown

Verdict: TypeAlias = bool | np.bool_ | NDArray[np.bool_]


def require(good: Verdict, name: str, value: object, allowed: str) -> None:
    """Raise an `OptionError` that names ``value`` unless all of ``good`` is true."""
    if not (good if isinstance(good, bool) else np.all(good)):
        raise OptionError(refusal(name, value, allowed))


def refusal(name: str, value: object, allowed: str) -> str:
    """Say what was got and what is allowed."""
    return f"{name} is {shown(value)}, where {allowed} is allowed; correct {name}."


def is_number(value: object, *others: type) -> TypeGuard[float]:
    """Whether ``value`` is a real number; a bool counts only if ``bool`` is given."""
    if isinstance(value, (bool, np.bool_)):
        return bool in others
    return not math.isnan(number_of(value)) or isinstance(value, int)


def whole(value: object, name: str, largest: int = 2**31 - 1) -> int:
    """Take the whole part of a count from 0 to ``largest``, as R does."""
    number = value if isinstance(value, int) else number_of(value)
    if not (is_number(value) and 0 <= number <= largest):
        allowed = f"a whole number from 0 to {largest}"
        raise OptionError(refusal(name, value, allowed))
    return int(number)


def floats(value: ArrayLike, name: str) -> Vector:
    """Copy numbers into a float64 array of the same shape."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value.copy()  # and no error is worded, which takes longer than drawing
    allowed = "a number or an array of numbers"
    return floats_of(value, OptionError(refusal(name, value, allowed)))


def recycled(value: ArrayLike, n: int, name: str) -> Vector:
    """Copy ``value`` into ``n`` floats, repeating it as often as it takes."""
    values = np.atleast_1d(floats(value, name))
    good = values.ndim == 1 and values.size > 0 and not np.isnan(values).any()
    require(good, name, value, "a number or a list of numbers without NaN")
    return np.full(n, values[0]) if values.size == 1 else np.resize(values, n)


def checked_weights(prob: ArrayLike, n: int, size: int, replace: bool) -> Vector:
    """Divide ``n`` weights by their sum, added from first to last.

    Raises
    ------
    OptionError
        If there are not ``n`` of them, one is negative or not finite, all are 0, or
        fewer than ``size`` are above 0 without replacement.
    """
    weights = floats(prob, "prob")
    good = weights.shape == (n,) and (np.isfinite(weights) & (weights >= 0.0)).all()
    require(good, "prob", prob, f"a list of {n} finite numbers of 0 or more")
    positive = np.count_nonzero(weights)
    enough = positive > 0 and (replace or size <= positive)
    needed = 1 if replace else max(size, 1)
    require(enough, "prob", prob, f"a list with {needed} or more numbers above 0")
    with np.errstate(over="ignore"):
        total = np.cumsum(weights)[-1]
    require(np.isfinite(total), "prob", prob, "a list of numbers with a finite sum")
    scaled: Vector = weights / total
    return scaled


def vector(x: Any) -> Any:
    """Check that ``x`` has one dimension; make an array of length 1 of a scalar.

    Raises
    ------
    OptionError
        If ``x`` is none of a list, tuple, range, array of shape (n,), Series, Index or
        scalar.
    """
    if type(x) in (range, list, tuple):
        return x[:]
    if type(x) is np.ndarray and x.ndim == 1:
        return x
    allowed = "a number or something of one dimension, as a list, array or Series"
    with refusing(OptionError(refusal("x", x, allowed))):
        if isinstance(x, range):
            return x
        if isinstance(x, (list, tuple)):  # as long as they are, whatever they say
            return tuple(x) if isinstance(x, tuple) else list(x)
        if np.ndim(x) == 0 and (
            isinstance(x, (str, bytes)) or not hasattr(x, "__iter__")
        ):
            return np.array([x])
        require(np.ndim(x) == 1 and hasattr(x, "take"), "x", x, allowed)
    return x


def picked(x: Any, rows: Integers) -> object:
    """Take the elements of ``x`` at these positions, in the type of ``x``."""
    if hasattr(x, "take"):
        return x.take(rows)
    elements = [x[row] for row in rows]
    return tuple(elements) if isinstance(x, tuple) else elements
