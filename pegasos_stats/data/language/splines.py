"""Natural cubic splines of formulas: the columns that `splines::ns` of R gives."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.data.language.arithmetic import Value

Numbers = NDArray[np.float64]

DEGREE = 3
MOVED = 1 / 8  # of the way to the next knot


def natural_spline(
    x: Value,
    df: int | None = None,
    knots: Sequence[float] | None = None,
    intercept: bool = False,
    Boundary_knots: Sequence[float] | None = None,
    *,
    state: dict[str, Value] | None = None,
) -> Value:
    """Columns of a natural cubic spline, a straight line beyond its outer knots.

    Parameters
    ----------
    x : array-like of numbers
    df : int, optional
        Number of columns. The inner knots are as many quantiles of `x` as that takes.
    knots : list of numbers, optional
        The inner knots, instead of `df`. With neither there are none.
    intercept : bool
        Whether the constant is a combination of the columns.
    Boundary_knots : list of 2 numbers, optional
        The outer knots. Default: the range of `x`.
    state : dict, optional
        The knots found at fit.

    Examples
    --------
    >>> second = natural_spline([0.0, 1.0, 2.0, 4.0], df=2)[2]
    >>> [round(float(value), 4) for value in second]  # round(ns(x, df = 2)[, 2], 4)
    [0.0, -0.2153, -0.154, 0.8081]
    """
    from formulaic.materializers.types import FactorValues

    values = np.asarray(x, dtype=np.float64)
    found = {} if state is None else state
    if "knots" not in found:
        ends = Boundary_knots or [values.min(), values.max()]
        low, high = sorted(map(float, ends))
        inner = sorted(map(float, knots or []))
        if df is not None:
            inner = _quantiles(values, low, high, df - 1 - intercept)
        found["boundary"], found["knots"] = [low, high], inner
    low, high = found["boundary"]
    columns = _basis(values, low, high, found["knots"], intercept).T
    return FactorValues(
        dict(enumerate(columns, start=1)),
        kind="numerical",
        format="{name}[{field}]",
        encoded=False,
    )


def _quantiles(values: Numbers, low: float, high: float, count: int) -> list[float]:
    """Inner knots at equal shares of the values; none on an outer one, as in R 4.4."""
    within = values[(values >= low) & (values <= high)]
    if count == 0:
        return []
    if not within.size:
        raise ValueError(
            f"ns() has no value between its outer knots {low:g} and {high:g}; give "
            "Boundary_knots that hold values"
        )
    knots = np.quantile(within, np.linspace(0.0, 1.0, count + 2)[1:-1])
    for end in (low, high):
        others = knots[knots != end]
        if not others.size:
            raise ValueError(
                f"all inner knots that ns() finds are {end:g}, an outer one, as so "
                "many rows have this value; give knots, or leave the term out"
            )
        nearest = others[np.abs(others - end).argmin()]
        knots[knots == end] += (nearest - end) * MOVED
    return [float(knot) for knot in knots]


def _basis(
    values: Numbers, low: float, high: float, knots: Sequence[float], intercept: bool
) -> Numbers:
    """B-splines whose second derivative is 0 at both outer knots."""
    ends = np.array([low, high])
    at = np.sort([*np.repeat(ends, DEGREE + 1), *knots])
    first = 0 if intercept else 1
    from scipy.interpolate import BSpline

    spline = BSpline(at, np.eye(len(at) - DEGREE - 1)[:, first:], DEGREE)
    nearest = np.clip(values, low, high)
    found = spline(nearest)
    beyond = values != nearest
    slopes = spline(nearest[beyond], nu=1)
    found[beyond] += (values - nearest)[beyond, np.newaxis] * slopes
    Q = np.linalg.qr(spline(ends, nu=2).T, mode="complete").Q
    columns: Numbers = (found @ Q)[:, 2:]
    return columns
