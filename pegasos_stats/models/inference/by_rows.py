"""Matrices of many coefficients by way of the rows, where these are fewer."""

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.models.inference.bread_and_meat import Curvature, groups_of
from pegasos_stats.models.inference.inverse import inverse_of
from pegasos_stats.models.inference.row_sums import dense_rows
from pegasos_stats.models.inference.symmetric import around
from pegasos_stats.solvers.problem import Problem

SURE = 1e-6  # penalty relative to a curvature, with which ten digits of it are sure


def inverse_of_bread(problem: Problem, curvature: Curvature, H: Matrix) -> Matrix:
    """``H^-1``; by way of the rows, if few have curvature.

    Pivots of ``H`` are above `lam`, so that it is not singular if its diagonal, beside
    that of the intercept, is not much larger.
    """
    used = np.flatnonzero(curvature.d)
    few = 0 < 2 * used.size < len(H)
    if not (few and problem.lam >= SURE * np.diag(H)[int(problem.intercept) :].max()):
        return inverse_of(H)
    rows = dense_rows(problem.of_rows(used))
    for u, slope in curvature.lines:
        rows -= np.outer(u[used], slope)
    rows *= np.sqrt(curvature.d[used] / problem.n)[:, None]
    return inverse_by_rows(rows, problem.lam, int(problem.intercept))


def inverse_by_rows(Z: Matrix, lam: float, first: int) -> Matrix:
    """``(Z'Z + lam J)^-1`` for few rows, without penalty for none or the first column.

    By Woodbury's identity, from the products of all pairs of rows: with ``L L' = lam +
    X X'`` of the penalised columns ``X``, ``U = L^-1 X`` and ``b = L^-1 z`` of the
    other one ::

        [[0, 0], [0, (I - U'U) / lam]] + v v' / (lam b'b),    v = (-1, U'b)

    Parameters
    ----------
    Z : float64 array, shape (m, k)
    lam : float
    first : int
        1 if the first column has no penalty, and 0 if it has.

    Examples
    --------
    >>> inverse_by_rows(np.array([[1.0, 2.0]]), 0.5, 1)
    array([[ 9., -4.],
           [-4.,  2.]])
    """
    from scipy.linalg import cholesky, solve_triangular

    X = Z[:, first:]
    pairs = X @ X.T
    pairs[np.diag_indices_from(pairs)] += lam
    U = solve_triangular(cholesky(pairs, lower=True), Z, lower=True)
    found = U.T @ U
    found /= -lam
    penalised = np.arange(first, len(found))
    found[penalised, penalised] += 1.0 / lam
    if first:
        b = U[:, 0]
        v = b @ U
        v[0] = -1.0
        found[0] = found[:, 0] = 0.0
        found += np.outer(v, v / (lam * (b @ b)))
    return np.asarray(found)


def sandwiched(
    problem: Problem, s: Vector, stretch: Vector | float, meat: Matrix, inverse: Matrix
) -> Matrix:
    """``H^-1 G H^-1``; by way of the rows if fewer have scores, as for the hinge.

    Rows without a score differ from the mean of their group alone, and are as one.

    Parameters
    ----------
    problem : Problem
    s, stretch
        As for `meat_of`.
    meat, inverse : float64 array, shape (k, k)
        ``G`` and ``H^-1``.

    Examples
    --------
    >>> from pegasos_stats.models.inference.bread_and_meat import meat_of
    >>> problem = Problem(np.array([[1.0], [3.0]]), np.array([-1.0, 1.0]), lam=1.0)
    >>> given = problem, np.ones(2), 1.0, meat_of(problem, np.ones(2))
    >>> sandwiched(*given, np.diag([1.0, 0.5]))
    array([[1., 1.],
           [1., 1.]])
    """
    used = np.flatnonzero(s)
    groups = groups_of(problem)
    if used.size + len(groups) >= len(inverse):
        return around(inverse, meat)
    w, n = problem.row_weights, problem.n
    scores = dense_rows(problem.of_rows(used)) * (-w * s * problem.y)[used, None]
    each, others = np.broadcast_to(stretch, (n,)), np.flatnonzero(s == 0.0)
    means = []
    for group in groups:
        weights = np.where(group, w, 0.0)
        mean = scores[group[used]].sum(axis=0) / weights.sum()
        scores -= np.outer(weights[used], mean)
        means.append(mean * np.linalg.norm((weights * each)[others]))
    scores *= each[used, None]
    half = np.vstack([scores, *means]) @ inverse
    return half.T @ half / n
