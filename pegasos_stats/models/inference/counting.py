"""What is counted of resamples: p-values, levels that they have, pairs that agree."""

import math

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.errors import OptionError

ROUNDING = 1e-9  # of a rank
MOST_ASKED = 100_000  # resamples that a message may ask for


def too_few(level: float, m: int) -> OptionError:
    """The error for a level of which m resamples have no symmetric interval.

    Examples
    --------
    >>> print(too_few(0.999, 99))
    A symmetric interval of level 0.999 takes 1,999 resamples, and there are 99: give
    a level of at most 0.98, or Bootstrap(replicates=1999, interval='symmetric').
    """
    needed = math.ceil(2.0 / (1.0 - level) - 1.0 - ROUNDING / (1.0 - level))
    most = math.floor(1e4 * (1.0 - 2.0 / (1.0 + m))) / 1e4
    more = f", or Bootstrap(replicates={needed}, interval='symmetric')"
    return OptionError(
        f"A symmetric interval of level {level:.15g} takes {needed:,} resamples, and "
        f"there are {m:,}: give a level of at most {most:g}"
        f"{more if needed <= MOST_ASKED else ''}."
    )


def two_sided(count: Vector, m: int) -> Vector:
    """``2 (1 + c) / (1 + m)``, at most 1: with c of m replicates as far on one side."""
    return np.minimum(1.0, 2.0 * (1.0 + count) / (1.0 + m))


def agreeing(estimates: Matrix, tolerance: Vector) -> float:
    """Share of the pairs of resamples with the same coefficients, but for a tolerance.

    Examples
    --------
    >>> agreeing(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]]), np.full(2, 1e-5))
    0.3333333333333333
    """
    m = len(estimates)
    steps = np.round(estimates / np.where(tolerance > 0.0, tolerance, 1.0))
    counts = np.unique(steps, axis=0, return_counts=True)[1]
    return float((counts * (counts - 1)).sum() / (m * (m - 1)))
