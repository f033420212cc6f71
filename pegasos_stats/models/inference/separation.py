"""Separation: rows of the log loss whose scores only the penalty limits."""

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.models.inference.inverse import solved
from pegasos_stats.models.inference.row_sums import column_sums, cross_product, images
from pegasos_stats.solvers.problem import Problem

CERTAIN = 1e-3  # probability of the other level
ONWARD = 0.5  # of a Newton step without penalty, which is 1 where there is no minimum
MOSTLY = 0.5  # of the rows: with fewer that are certain the penalty shrinks all scores
ALONG = (0.0, 1.0, 10.0)  # Newton steps without penalty, after which no row is wrong
FURTHER = 2  # such steps, which would be small where there is a minimum
STILL = 0.1  # moves of the other rows: more is a penalty that shrinks all scores


def separated_rows(problem: Problem, s: Vector, pull: Vector | None) -> int:
    """Number of rows whose scores would grow without limit, but for the penalty.

    Where all rows of a level of a factor have the same outcome, or the outcomes can be
    told apart altogether, the mean log loss has no minimum: wherever such rows have
    small ``s_i``, a Newton step without penalty adds about 1 to their margins, however
    many steps were taken, and hardly moves other rows. Where the levels are told apart
    altogether, and most rows are predicted with certainty, all rows are counted; see
    `is_complete`.

    Parameters
    ----------
    problem : Problem
        Of the log loss.
    s : float64 array, shape (n,)
        ``1 / (1 + exp(m_i))``, with the margins ``m_i`` of the optimum.
    pull : float64 array, shape (k,), or None
        The Newton step from the optimum to coefficients without penalty.

    Examples
    --------
    All rows with ``x = 1`` are positive: ``beta`` is what the penalty lets it be.

    >>> X = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]])
    >>> problem = Problem(X, np.array([-1.0, 1.0, 1.0, 1.0, 1.0]), lam=1e-9, loss="log")
    >>> s = np.array([0.5, 0.5, 3e-8, 3e-8, 3e-8])
    >>> separated_rows(problem, s, np.array([0.0, 1.0]))
    3
    """
    if pull is None or not np.isfinite(pull).all():
        return 0
    if is_complete(problem, s, pull):
        return problem.n
    w, y, certain = problem.row_weights, problem.y, s < CERTAIN
    counted = w > 0.0
    gains = y * images(problem, pull)
    apart = counted & certain & (gains > ONWARD)
    if not apart.any() or (np.abs(gains[counted & ~certain]) > STILL).any():
        return 0
    odds = s / (1.0 - s)
    for _ in range(FURTHER):
        odds = odds * np.exp(-gains)
        s = odds / (1.0 + odds)
        H = cross_product(problem, w * s * (1.0 - s))
        step = solved(H, column_sums(problem, w * s * y))
        if step is None:  # no curvature is left
            break
        gains = y * images(problem, step)
        apart &= gains > ONWARD
    return int(np.count_nonzero(apart))


def is_complete(problem: Problem, s: Vector, pull: Vector) -> bool:
    """Whether the fit, or one farther out, has no row on the wrong side.

    Then the mean log loss has no minimum. A penalty that shrinks all scores, so that
    few rows are certain, is not taken for one that only keeps them finite.

    Parameters
    ----------
    problem, s, pull
        As for `separated_rows`.

    Examples
    --------
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> problem = Problem(X, y, lam=1e-6, loss="log")
    >>> s, on = 1.0 / (1.0 + np.exp([14.0, 7.0, 7.0, 14.0])), np.array([0.0, 1.0])
    >>> is_complete(problem, s, on), is_complete(problem, s**0.25, on)
    (True, False)
    """
    used = problem.row_weights > 0.0
    if (s < CERTAIN)[used].mean() < MOSTLY:
        return False
    with np.errstate(all="ignore"):  # of certain rows, and of a file that was edited
        margins = np.log1p(-s) - np.log(s) - problem.y * problem.row_offsets
        gains = problem.y * images(problem, pull)
        return any((margins + steps * gains)[used].min() > 0.0 for steps in ALONG)
