"""The sandwich of a fit, row by row, as the docstring of `Sandwich` has it."""

import numpy as np
from scipy.special import expit
from scipy.stats import norm


def rows_of(problem):
    X = problem.X.toarray() if hasattr(problem.X, "toarray") else problem.X
    X = X.astype(np.float64)
    return np.column_stack([np.ones(problem.n), X]) if problem.intercept else X


def theta_of(problem, found):
    return np.concatenate([[found.alpha] * problem.intercept, found.beta])


def curvature(problem, theta, width=None):
    """``H``, minus slopes ``s_i``, leverages ``h_i`` and ``u_i``."""
    Z, y, n, w = rows_of(problem), problem.y, problem.n, problem.row_weights
    u = 1.0 - y * (Z @ theta + problem.row_offsets)
    s, moved = expit(u - 1.0), Z.copy()
    d = s * (1.0 - s)
    if problem.loss == "hinge":
        s, d = (u > 0.0).astype(float), norm.pdf(u / width) / width
        for sign in (-1.0, 1.0):
            z, v, weights = (each[y == sign] for each in (Z, u, w))
            apart = weights * (v - np.average(v, weights=weights))
            moved[y == sign] = z - np.outer(v, apart @ z / (apart @ v))
    J = np.eye(Z.shape[1])
    J[0, 0] = not problem.intercept
    H = (moved.T * (w * d)) @ moved / n + problem.lam * J
    h = w * d * np.einsum("ij,jk,ik->i", moved, np.linalg.inv(H), moved) / n
    return H, s, h, u


def scores(problem, s):
    """Of each row, about the mean of all, or of its class with balanced weights."""
    y, w = problem.y, problem.row_weights
    g = -(s * y)[:, None] * rows_of(problem)
    for sign in (-1.0, 1.0):
        some = y == sign if problem.balanced else np.ones(problem.n, dtype=bool)
        if problem.balanced or sign > 0.0:
            g[some] -= np.average(g[some], axis=0, weights=w[some])
    return w[:, None] * g


def by_the_formula(problem, theta, correction="HC0", width=None):
    H, s, h, _ = curvature(problem, theta, width)
    inverse, n = np.linalg.inv(H), problem.n
    power = {"HC2": 0.5, "HC3": 1.0}.get(correction, 0.0)
    S = scores(problem, s) / ((1.0 - h) ** power)[:, None]
    V = inverse @ (S.T @ S) @ inverse / n**2
    rows = np.count_nonzero(problem.row_weights)
    return V * (rows / (rows - h.sum()) if correction == "HC1" else 1.0)
