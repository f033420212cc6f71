"""Separation: rows of the log loss whose scores only the penalty limits."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.models.inference.inverse import solved
from pegasos_stats.models.inference.row_sums import column_sums, cross_product, images
from pegasos_stats.solvers.problem import Problem

CERTAIN = 1e-3  # probability of the other level
ONWARD = 0.5  # of a Newton step without penalty, which is 1 where there is no minimum
MOSTLY = 0.5  # of the rows: with fewer that are certain the penalty shrinks all scores
ALONG = (0.0, 1.0, 10.0)  # Newton steps without penalty, after which no row is wrong
FURTHER = 2  # such steps, which would be small where there is a minimum
STILL = 0.1  # moves of the other rows: more is a penalty that shrinks all scores
GROWS = 0.02  # of a coefficient, by the last of these steps


class Onward(NamedTuple):
    """What Newton steps without penalty do to some rows, as counts and sums.

    Attributes
    ----------
    used, certain, apart, moving : int
        Rows with a weight; those that were certain at the optimum; of these, those to
        whose margins each step adds more than `ONWARD`; and rows that were not certain,
        whose scores the first step changes by more than `STILL`.
    wrong : int64 array, shape (3,)
        Rows on the wrong side after so many of the first step as `ALONG` says.
    curvature : float64 array, shape (k, k)
    slopes : float64 array, shape (k,)
        ``sum_i w_i s_i (1 - s_i) z_i z_i'`` and ``sum_i w_i s_i y_i z_i`` after all.
    """

    used: int
    certain: int
    apart: int
    moving: int
    wrong: NDArray[np.int64]
    curvature: Matrix
    slopes: Vector


@np.errstate(all="ignore")  # of certain rows, and of a file that was edited
def onward(problem: Problem, s: Vector, steps: list[Vector]) -> Onward:
    """Take these steps from the optimum, where ``s_i = 1 / (1 + exp(m_i))``."""
    w, y = problem.row_weights, problem.y
    gains = [y * images(problem, step) for step in steps]
    margins = np.log1p(-s) - np.log(s)
    known = margins - y * problem.row_offsets
    used, certain = w > 0.0, s < CERTAIN
    apart = used & certain & np.all([gain > ONWARD for gain in gains], axis=0)
    moving = used & ~certain & ~(np.abs(gains[0]) <= STILL)
    wrong = [np.sum(used & ~(known + along * gains[0] > 0.0)) for along in ALONG]
    s = 1.0 / (1.0 + np.exp(margins + sum(gains)))
    return Onward(
        int(used.sum()),
        int((used & certain).sum()),
        int(apart.sum()),
        int(moving.sum()),
        np.array(wrong),
        cross_product(problem, w * s * (1.0 - s)),
        column_sums(problem, w * s * y),
    )


def separated(
    taken: Callable[[list[Vector]], Onward], pull: Vector | None, n: int
) -> tuple[int, Vector | None]:
    """Number of ``n`` rows whose scores would grow without limit, but for the penalty.

    And the last step, which is near 0 for coefficients that have a limit.

    Where all rows of a level of a factor have the same outcome, or the outcomes can be
    told apart altogether, the mean log loss has no minimum: wherever such rows have
    small ``s_i``, a Newton step without penalty adds about 1 to their margins, however
    many steps were taken, and hardly moves other rows. All rows are counted where most
    are predicted with certainty, and the fit, or one farther out, has no row on the
    wrong side. A penalty that shrinks all scores is not taken for one that only keeps
    them finite: few rows are certain there, or the others move.

    Parameters
    ----------
    taken : callable
        Gives `Onward` of all rows after these steps from the optimum.
    pull : float64 array, shape (k,), or None
        The Newton step from there to coefficients without penalty.
    n : int
    """
    if pull is None or not np.isfinite(pull).all():
        return 0, pull
    steps = [pull]
    found = taken(steps)
    if found.certain >= MOSTLY * found.used and not found.wrong.all():
        return n, pull
    if found.moving:
        return 0, pull
    for _ in range(FURTHER):
        step = solved(found.curvature, found.slopes) if found.apart else None
        if step is None:  # no curvature is left
            break
        steps.append(step)
        found = taken(steps)
    return found.apart, steps[-1]


def separated_rows(
    problem: Problem, s: Vector, pull: Vector | None
) -> tuple[int, Vector | None]:
    """The same of rows in memory, with ``s_i = 1 / (1 + exp(m_i))`` at the optimum.

    Examples
    --------
    All rows with ``x = 1`` are positive: ``beta`` is what the penalty lets it be.

    >>> X = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]])
    >>> problem = Problem(X, np.array([-1.0, 1.0, 1.0, 1.0, 1.0]), lam=1e-9, loss="log")
    >>> s = np.array([0.5, 0.5, 3e-8, 3e-8, 3e-8])
    >>> separated_rows(problem, s, np.array([0.0, 1.0]))[0]
    3

    No row is wrong, but few are certain where the penalty is larger.

    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> problem = Problem(X, y, lam=1e-6, loss="log")
    >>> s, on = 1.0 / (1.0 + np.exp([14.0, 7.0, 7.0, 14.0])), np.array([0.0, 1.0])
    >>> [separated_rows(problem, each, on)[0] for each in (s, s**0.25)]
    [4, 0]
    """
    if not (s < CERTAIN).any():
        return 0, pull
    return separated(lambda steps: onward(problem, s, steps), pull, problem.n)


def unlimited(R: Matrix, theta: Vector, step: Vector) -> NDArray[np.bool_]:
    """Which of the combinations ``R theta`` nothing but the penalty limits.

    Parameters
    ----------
    R : float64 array, shape (m, k)
    theta, step : float64 array, shape (k,)
        Of a fit with separated rows; and the last step, as of `separated`.

    Examples
    --------
    >>> unlimited(np.eye(2), np.array([9.0, 1.0]), np.array([1.0, 1e-6]))
    array([ True, False])
    """
    return np.asarray(np.abs(R @ step) > GROWS * (np.abs(R) @ np.abs(theta)))
