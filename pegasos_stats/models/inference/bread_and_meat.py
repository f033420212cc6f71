"""The two matrices of the sandwich, summed over the rows: bread ``H``, meat ``G``.

``H`` is the curvature of the risk and ``G`` the covariance of the scores of the rows.
Rows are ``z = (1, x)``, or ``x`` without intercept. No copy of them is made as a whole:
dense ones are taken some at a time, sparse ones stay sparse.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.models.inference.bandwidth import RULES, SAME
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.solvers.problem import Problem

BLOCK = 1 << 20  # numbers that are taken as float64 at a time
PUSHED = 0.75  # of the way out, by simulation (benchmarks/zoo.py)
SAME_SUM = 1e-9  # relative; weights that balance both classes, to rounding


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
    h, w = width_of(problem, u, options), problem.row_weights
    counted = w > 0.0
    beyond = int((u[counted] > SAME).sum())
    if h == 0.0:
        return Curvature(np.zeros(problem.n), [], h, 0.0, beyond)
    heights = np.exp(-0.5 * np.square(u / h))
    d = w * heights / (np.sqrt(2.0 * np.pi) * h)
    lines = lines_to_margin(problem, u) if options.move else []
    return Curvature(d, lines, h, float(heights[counted].sum()), beyond)


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


def bread(problem: Problem, curvature: Curvature) -> Matrix:
    """``H = (1/n) sum_i d_i z~_i z~_i' + lam J``, shape (k, k).

    ``J`` is the identity with a 0 for the intercept, which is not penalised.
    """
    d, n = curvature.d, problem.n
    H = cross_product(problem, d) / n
    for u, slope in curvature.lines:
        mixed = np.outer(column_sums(problem, d * u), slope) / n
        H += np.outer(slope, slope) * float(d @ (u * u) / n) - mixed - mixed.T
    first = int(problem.intercept)
    penalised = np.arange(first, problem.p + first)
    H[penalised, penalised] += problem.lam
    return H


def margins_of_others(
    problem: Problem, u: Vector, s: Vector, inverse: Matrix
) -> Vector:
    """``u_i + c (s_i - 1/2) w_i z_i'H^-1 z_i / n``, with ``c`` of `PUSHED`.

    To first order, the fit without row ``i`` has its ``u_i`` larger by ``s_i w_i
    z_i'H^-1 z_i / n``: in the fit to all rows some lie at the margin that would lie on
    either side of it. The half keeps the margin in the middle of them.

    Parameters
    ----------
    problem : Problem
    u, s : float64 array, shape (n,)
    inverse : float64 array, shape (k, k)
        ``H^-1``.
    """
    push = problem.row_weights * quadratic_forms(problem, inverse) / problem.n
    return u + PUSHED * (s - 0.5) * push


def leverages(problem: Problem, curvature: Curvature, inverse: Matrix) -> Vector:
    """``d_i z~_i' H^-1 z~_i / n`` of every row, shape (n,); their sum is ``d``.

    To first order, without row ``i`` the coefficients change by ``H^-1`` times its
    score divided by ``n (1 - h_i)``.
    """
    forms = quadratic_forms(problem, inverse)
    for u, slope in curvature.lines:
        image = inverse @ slope
        forms += u * u * float(slope @ image) - 2.0 * u * images(problem, image)
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
    ratio of two means. Weights that are constant in each class and have the same sum in
    both make it a sum of two such ratios, and the mean is that of the row's class.

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
    w, g = problem.row_weights, -s * problem.y
    squares = np.square(stretch * w)
    total = cross_product(problem, squares * g * g)
    for rows in groups_of(problem):
        weights, of_group = np.where(rows, w, 0.0), np.where(rows, squares, 0.0)
        mean = column_sums(problem, weights * g) / weights.sum()
        mixed = np.outer(column_sums(problem, of_group * g), mean)
        total += np.outer(mean, mean) * float(of_group.sum()) - mixed - mixed.T
    return total / problem.n


def sandwiched(
    problem: Problem, s: Vector, stretch: Vector | float, meat: Matrix, inverse: Matrix
) -> Matrix:
    """``H^-1 G H^-1``; with fewer rows than coefficients by way of the rows.

    Parameters
    ----------
    problem : Problem
    s, stretch
        As for `meat_of`.
    meat, inverse : float64 array, shape (k, k)
        ``G`` and ``H^-1``.

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [3.0]]), np.array([-1.0, 1.0]), lam=1.0)
    >>> given = problem, np.ones(2), 1.0, meat_of(problem, np.ones(2))
    >>> sandwiched(*given, np.diag([1.0, 0.5]))
    array([[1., 1.],
           [1., 1.]])
    """
    n, k = problem.n, len(inverse)
    if n >= k:
        return inverse @ meat @ inverse
    first, w, g = int(problem.intercept), problem.row_weights, -s * problem.y
    scores = np.ones((n, k))
    for block, rows in blocks_of(problem.X):
        scores[rows, first:] = (
            block if isinstance(block, np.ndarray) else block.toarray()
        )
    scores *= (w * g)[:, None]
    for group in groups_of(problem):
        weights = np.where(group, w, 0.0)
        scores -= np.outer(weights, scores[group].sum(axis=0) / weights.sum())
    scores *= np.broadcast_to(stretch, (n,))[:, None]
    half = scores @ inverse
    return half.T @ half / n


def groups_of(problem: Problem) -> list[NDArray[np.bool_]]:
    """Rows whose scores have a mean of their own: all, or those of each class."""
    if is_balanced(problem):
        return [problem.y < 0.0, problem.y > 0.0]
    return [np.ones(problem.n, dtype=bool)]


def is_balanced(problem: Problem) -> bool:
    """Whether weights are the same in each class, and make both weigh the same."""
    w, classes = problem.weights, [problem.y < 0.0, problem.y > 0.0]
    if w is None or not all(rows.any() for rows in classes):
        return False
    constant = all(np.ptp(w[rows]) == 0.0 for rows in classes)
    low, high = (float(w[rows].sum()) for rows in classes)
    return constant and abs(high - low) <= SAME_SUM * high


def cross_product(problem: Problem, d: Vector) -> Matrix:
    """``sum_i d_i z_i z_i'``.

    Parameters
    ----------
    problem : Problem
    d : float64 array, shape (n,), none below 0

    Returns
    -------
    float64 array, shape (k, k)

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [3.0]]), np.array([-1.0, 1.0]), lam=1.0)
    >>> cross_product(problem, np.array([1.0, 2.0]))
    array([[ 3.,  7.],
           [ 7., 19.]])
    """
    first = int(problem.intercept)
    found = np.zeros((problem.p + first, problem.p + first))
    inner, root = found[first:, first:], np.sqrt(d)
    for block, rows in blocks_of(problem.X):
        if isinstance(block, np.ndarray):
            scaled = block * root[rows, None]
            inner += scaled.T @ scaled  # half of the products, as BLAS sees
        else:
            inner += (block.T @ block.multiply(d[rows, None]).tocsr()).toarray()
    if problem.intercept:
        found[0] = found[:, 0] = column_sums(problem, d)
    return found


def column_sums(problem: Problem, d: Vector) -> Vector:
    """``sum_i d_i z_i``, shape (k,), for ``d`` of shape (n,).

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [3.0]]), np.array([-1.0, 1.0]), lam=1.0)
    >>> column_sums(problem, np.array([1.0, 2.0]))
    array([3., 7.])
    """
    sums = np.zeros(problem.p)
    for block, rows in blocks_of(problem.X):
        sums += block.T @ d[rows]
    return np.concatenate([[d.sum()], sums]) if problem.intercept else sums


def images(problem: Problem, v: Vector) -> Vector:
    """``z_i'v`` of every row, shape (n,), for ``v`` of shape (k,).

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [3.0]]), np.array([-1.0, 1.0]), lam=1.0)
    >>> images(problem, np.array([1.0, 2.0]))
    array([3., 7.])
    """
    first = int(problem.intercept)
    found = np.empty(problem.n)
    for block, rows in blocks_of(problem.X):
        found[rows] = block @ v[first:]
    return found + v[0] if first else found


def quadratic_forms(problem: Problem, A: Matrix) -> Vector:
    """``z_i' A z_i`` of every row, shape (n,), for ``A`` of shape (k, k).

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [3.0]]), np.array([-1.0, 1.0]), lam=1.0)
    >>> quadratic_forms(problem, np.eye(2))
    array([ 2., 10.])
    """
    first = int(problem.intercept)
    inner = A[first:, first:]
    found = np.empty(problem.n)
    for block, rows in blocks_of(problem.X):
        found[rows] = np.asarray((block * (block @ inner)).sum(axis=1)).ravel()
    if problem.intercept:
        found += images(problem, np.concatenate([[A[0, 0]], 2.0 * A[0, 1:]]))
    return found


def blocks_of(X: Any) -> Iterator[tuple[Any, slice]]:
    """Some rows at a time, in float64, and which ones they are."""
    n, p = X.shape
    step = max(256, BLOCK // max(1, p))
    for begin in range(0, n, step):
        rows = slice(begin, min(begin + step, n))
        yield X[rows].astype(np.float64, copy=False), rows
