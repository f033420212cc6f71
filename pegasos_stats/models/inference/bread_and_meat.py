"""The two matrices of the sandwich, summed over the rows: bread ``H``, meat ``G``.

``H`` is the curvature of the risk and ``G`` the covariance of the scores of the rows.
Rows are ``z = (1, x)``, or ``x`` without intercept. What is summed over them can be
summed over parts of them, and added.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.models.inference.bandwidth import RULES, SAME
from pegasos_stats.models.inference.inverse import solved
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.models.inference.row_sums import (
    column_sums,
    cross_product,
    images,
    quadratic_forms,
)
from pegasos_stats.solvers.problem import Problem

PUSHED = 0.75  # of the way out, by simulation (benchmarks/zoo.py)
FURTHEST = 0.125  # of the width of the kernel, by simulation (benchmarks/few_rows.py)


class Line(NamedTuple):
    """The line along which rows of a class are moved to the margin, ``z - u slope``.

    Attributes
    ----------
    u : float64 array, shape (n,)
        ``u_i`` for the rows of the class, and 0 for the others.
    slope : float64 array, shape (k,)
    """

    u: Vector
    slope: Vector


class Curvature(NamedTuple):
    """Curvature of every row's loss, and what the rows are moved by.

    Attributes
    ----------
    d : float64 array, shape (n,)
        ``w_i s_i (1 - s_i)`` for the log loss, ``w_i k_h(u_i)`` for the hinge.
    lines : list of Line
        One for each class for the hinge; none for the log loss.
    bandwidth : float or None
    near : float
        Number of rows at the margin; others count by the kernel's height at them.
    beyond : int
        Rows beyond the margin.
    """

    d: Vector
    lines: list[Line]
    bandwidth: float | None
    near: float
    beyond: int


def curvature_of(
    problem: Problem, u: Vector, s: Vector, options: Sandwich
) -> Curvature:
    """``w_i s_i (1 - s_i)`` for the log loss; for the hinge see `hinge_curvature`.

    Parameters
    ----------
    problem : Problem
    u, s : float64 array, shape (n,)
        ``1 - y_i f(x_i)``, and the slope weights.
    options : Sandwich
    """
    if problem.loss == "hinge":
        return hinge_curvature(problem, u, options)
    d = problem.row_weights * s * (1.0 - s)
    return Curvature(d, [], None, np.inf, problem.n)


def hinge_curvature(problem: Problem, u: Vector, options: Sandwich) -> Curvature:
    """``w_i k_h(u_i)`` with the Gaussian kernel, and the lines of both classes.

    Parameters
    ----------
    problem : Problem
    u : float64 array, shape (n,)
        ``1 - y_i f(x_i)``.
    options : Sandwich
    """
    found = curvature_of_width(problem, u, width_of(problem, u, options))
    if found.bandwidth == 0.0 or not options.move:
        return found
    return found._replace(lines=lines_to_margin(problem, u))


def curvature_of_width(problem: Problem, u: Vector, h: float) -> Curvature:
    """``w_i k_h(u_i)`` of all or some rows; without lines."""
    w = problem.row_weights
    counted = w > 0.0
    beyond = int((u[counted] > SAME).sum())
    if h == 0.0:
        return Curvature(np.zeros(problem.n), [], h, 0.0, beyond)
    heights = np.exp(-0.5 * np.square(u / h))
    d = w * heights / (np.sqrt(2.0 * np.pi) * h)
    return Curvature(d, [], h, float(heights[counted].sum()), beyond)


def width_of(problem: Problem, u: Vector, options: Sandwich) -> float:
    """Width of the kernel: the one given, or that of the rule, times the factor."""
    rule, weights = options.bandwidth, problem.weights
    width = RULES[rule](u, weights) if isinstance(rule, str) else rule
    return options.factor * width


def lines_to_margin(problem: Problem, u: Vector) -> list[Line]:
    """Regressions of ``z`` on ``u`` in both classes; slope 0 where ``u`` is constant.

    With ``z~_i = z_i - u_i slope`` every score is ``z~_i'theta = y_i``. In the kernel
    estimate rows near the margin stand for rows at it; moving them there takes away
    their average difference.
    """
    w, lines = problem.row_weights, []
    for sign in (-1.0, 1.0):
        weights = np.where(problem.y == sign, w, 0.0)
        total = weights.sum()
        centred = weights * (u - (weights @ u) / total if total > 0.0 else u)
        size = float(centred @ u)
        if size > 0.0:
            slope = column_sums(problem, centred) / size
            lines.append(Line(np.where(problem.y == sign, u, 0.0), slope))
    return lines


def bread(
    problem: Problem, curvature: Curvature, cross: Matrix | None = None
) -> Matrix:
    """``H = (1/n) sum_i d_i z~_i z~_i' + lam J``, shape (k, k).

    ``J`` is the identity with a 0 for the intercept, which is not penalised. What may
    be known is ``sum_i d_i z_i z_i'``.
    """
    d = curvature.d
    moved = [
        (slope, column_sums(problem, d * u), float(d @ (u * u)))
        for u, slope in curvature.lines
    ]
    cross = cross_product(problem, d) if cross is None else cross
    return bread_of_sums(problem, cross, moved)


def bread_of_sums(
    problem: Problem, cross: Matrix, moved: Sequence[tuple[Vector, Vector, float]]
) -> Matrix:
    """``H`` from sums over all rows.

    Parameters
    ----------
    problem : Problem
    cross : float64 array, shape (k, k)
        ``sum_i d_i z_i z_i'``.
    moved : sequence of (slope, sum_i d_i u_i z_i, sum_i d_i u_i^2)
        For each line, over the rows of its class.
    """
    n, first = problem.n, int(problem.intercept)
    H = cross / n
    if moved:
        slopes, mixed, squares = (np.array(each) for each in zip(*moved, strict=True))
        half = (0.5 * squares[:, None] * slopes - mixed).T @ slopes / n
        H += half + half.T
    penalised = np.arange(first, problem.p + first)
    H[penalised, penalised] += problem.lam
    return H


def margins_of_others(
    problem: Problem, u: Vector, s: Vector, inverse: Matrix, n: int, width: float
) -> Vector:
    """``u_i + c (s_i - 1/2) w_i z_i'H^-1 z_i / n``, with ``c`` of `PUSHED`.

    To first order, the fit without row ``i`` has its ``u_i`` larger by ``s_i w_i
    z_i'H^-1 z_i / n``: in the fit to all rows some lie at the margin that would lie on
    either side of it. The half keeps the margin in the middle of them. With few rows
    for each coefficient the first order goes too far, and so no row farther than an
    eighth of the width of the kernel: with ten rows that would be half of it, and joint
    tests by a curvature from so few rows would reject less than 1%.

    Parameters
    ----------
    problem : Problem
    u, s : float64 array, shape (n,)
    inverse : float64 array, shape (k, k)
        ``H^-1``.
    n : int
        Rows of the fit, of which those of `problem` may be a part.
    width : float
        Of the kernel for single coefficients.
    """
    push = problem.row_weights * quadratic_forms(problem, inverse) / n
    most = FURTHEST * width
    return u + np.clip(PUSHED * (s - 0.5) * push, -most, most)


def leverages(
    problem: Problem,
    curvature: Curvature,
    inverse: Matrix,
    pairs: Matrix | None = None,
) -> Vector:
    """``d_i z~_i' H^-1 z~_i / n`` of every row, shape (n,); their sum is ``d``.

    To first order, without row ``i`` the coefficients change by ``H^-1`` times its
    score divided by ``n (1 - h_i)``. The pairs are ``z_i'H^-1 z_j``, where they are
    known.
    """
    forms = quadratic_forms(problem, inverse) if pairs is None else np.diag(pairs)
    for u, slope in curvature.lines:
        image = inverse @ slope
        forms = forms + u * (u * float(slope @ image) - 2.0 * images(problem, image))
    return curvature.d * forms / problem.n


def slopes_of(problem: Problem, u: Vector, dual: Vector | None = None) -> Vector:
    """Slope weights ``s_i`` from ``u_i = 1 - y_i f(x_i)``.

    ``1 / (1 + exp(1 - u_i))`` for the log loss. For the hinge 1 beyond the margin,
    ``u_i > 0``, and 0 inside; at the margin itself, where it may be anything between,
    the optimum has its own: ``a_i / w_i``, which is 1 and 0 elsewhere as well.

    Parameters
    ----------
    problem : Problem
    u : float64 array, shape (n,)
    dual : float64 array, shape (n,), optional
        Dual weights ``a_i`` of the optimum.

    Returns
    -------
    float64 array, shape (n,)

    Examples
    --------
    >>> problem = Problem(np.eye(3), np.array([1.0, -1.0, 1.0]), lam=1.0)
    >>> slopes_of(problem, np.array([-1.0, 0.0, 1.0]))
    array([0., 0., 1.])
    >>> slopes_of(problem, np.array([-1.0, 0.0, 1.0]), np.array([0.0, 0.3, 1.0]))
    array([0. , 0.3, 1. ])
    """
    from scipy.special import expit

    if problem.loss == "log":
        return np.asarray(expit(u - 1.0), dtype=np.float64)
    if dual is None:
        return (u > 0.0).astype(np.float64)
    w = problem.row_weights
    share = np.divide(dual, w, out=np.zeros(problem.n), where=w > 0.0)
    return np.clip(share, 0.0, 1.0)


def meat_of(problem: Problem, s: Vector, stretch: Vector | float = 1.0) -> Matrix:
    """``G = (1/n) sum_i (r_i w_i)^2 (g_i - mean)(g_i - mean)'``.

    Here ``g_i = -s_i y_i z_i``. The mean is weighted: weights of mean 1 make the risk a
    ratio of two means. Weights that are made to have the same sum in both classes make
    it a sum of two such ratios, and the mean is that of the row's class.

    Parameters
    ----------
    problem : Problem
    s : float64 array, shape (n,)
        Slope weights.
    stretch : float64 array, shape (n,), or 1
        ``r_i``, by which the score of a row is multiplied.

    Returns
    -------
    float64 array, shape (k, k)

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [3.0]]), np.array([-1.0, 1.0]), lam=1.0)
    >>> meat_of(problem, np.array([1.0, 1.0]))
    array([[1., 2.],
           [2., 4.]])
    """
    return meat_sums(problem, s, stretch, groups_of(problem)).meat(problem.n)


class MeatSums(NamedTuple):
    """Sums over rows, from which the meat is computed; ``r_i`` is the stretch.

    Attributes
    ----------
    total : float64 array, shape (k, k)
        ``sum_i (r_i w_i)^2 g_i g_i'``.
    scores, squares : float64 array, shape (groups, k)
        ``sum_i w_i g_i`` and ``sum_i (r_i w_i)^2 g_i`` of each group of rows.
    weights, squared : float64 array, shape (groups,)
        ``sum_i w_i`` and ``sum_i (r_i w_i)^2``.
    """

    total: Matrix
    scores: Matrix
    squares: Matrix
    weights: Vector
    squared: Vector

    def meat(self, n: int) -> Matrix:
        """``G`` of n rows; of no group the total alone, as the model has it."""
        if not self.weights.size:
            return self.total / n
        means = self.scores / self.weights[:, None]
        half = (0.5 * self.squared[:, None] * means - self.squares).T @ means
        return (self.total + half + half.T) / n


def meat_sums(
    problem: Problem,
    s: Vector,
    stretch: Vector | float,
    groups: Sequence[NDArray[np.bool_]],
) -> MeatSums:
    """Sum over all rows, or a part of them, in these groups."""
    w, g = problem.row_weights, -s * problem.y
    squares = np.square(stretch * w)
    in_group = [(np.where(r, w, 0.0), np.where(r, squares, 0.0)) for r in groups]
    return MeatSums(
        total=cross_product(problem, squares * g * g),
        scores=np.array([column_sums(problem, each * g) for each, _ in in_group]),
        squares=np.array([column_sums(problem, each * g) for _, each in in_group]),
        weights=np.array([each.sum() for each, _ in in_group]),
        squared=np.array([each.sum() for _, each in in_group]),
    )


def pull_of(problem: Problem, beta: Vector, H: Matrix, inverse: Matrix) -> Vector:
    """``(H - lam J)^-1 lam J theta``; with ``H`` itself where that is singular."""
    first, pull = int(problem.intercept), None
    if problem.n >= len(H):
        free = H.copy()
        penalised = np.arange(first, len(H))
        free[penalised, penalised] -= problem.lam
        pull = solved(free, np.concatenate([np.zeros(first), problem.lam * beta]))
    if pull is None:
        return np.asarray(problem.lam * inverse[:, first:] @ beta)
    return pull


def groups_of(problem: Problem) -> list[NDArray[np.bool_]]:
    """Rows whose scores have a mean of their own: all, or those of each class."""
    if problem.balanced:
        return [problem.y < 0.0, problem.y > 0.0]
    return [np.ones(problem.n, dtype=bool)]
