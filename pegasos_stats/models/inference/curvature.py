"""``H``, the curvature of the risk, from the rows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.models.inference.bandwidth import RULES, SAME
from pegasos_stats.models.inference.covariance import Sandwich
from pegasos_stats.models.inference.moments import (
    column_sums,
    cross_product,
    images,
    quadratic_forms,
)
from pegasos_stats.solvers.problem import Problem

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


class Line(NamedTuple):
    """Where the rows of a class go, by ``z - u slope``, to come to the margin.

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
        Rows at the margin, one at a distance counted by its kernel's height.
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

    With ``z~_i = z_i - u_i slope`` every score is ``z~_i'theta = y_i``: the kernel has
    rows beside the margin stand for rows at it, and this takes away by how much they
    differ on average.
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
