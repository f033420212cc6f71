"""Standard errors for data drawn at random.

The formulas are written here as their papers have them, row by row.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

from pegasos_stats.models.inference import row_sums
from pegasos_stats.models.inference.bread_and_meat import (
    curvature_of,
    leverages,
    lines_to_margin,
    meat_of,
    slopes_of,
)
from pegasos_stats.models.inference.inverse import ROUNDING, inverse_of
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.models.inference.sandwich import (
    check_size,
    sandwich,
)
from pegasos_stats.solvers.problem import Problem
from tests.problems import problems

pytestmark = pytest.mark.fuzz

EPS = np.finfo(np.float64).eps
SAME = 1e-9  # the same sums in another order, of numbers that cancel in part
SEEDS = st.integers(0, 2**32 - 1)


def rows_of(problem):
    X = problem.X.toarray() if sp.issparse(problem.X) else problem.X.astype(np.float64)
    return np.column_stack([np.ones(problem.n), X]) if problem.intercept else X


def margins(problem, rng):
    """Coefficients with which rows lie on both sides of the margin, and ``u``."""
    Z = rows_of(problem)
    X = Z[:, int(problem.intercept) :]
    beta = rng.standard_normal(problem.p) / X.std(axis=0).clip(0.1)
    alpha = float(-np.median(X @ beta)) if problem.intercept else 0.0
    return beta, alpha, 1.0 - problem.y * (X @ beta + alpha)


@given(problem=problems(), seed=SEEDS, small=st.booleans())
def test_sums_over_rows_are_sums_over_rows(problem, seed, small):
    rng, Z = np.random.default_rng(seed), rows_of(problem)
    k = Z.shape[1]
    d, v, A = rng.exponential(size=problem.n), rng.standard_normal(k), np.eye(k)
    A = A + rng.standard_normal((k, k))
    A = A + A.T
    found = row_sums.cross_product(problem, d)
    np.testing.assert_allclose(found, (Z.T * d) @ Z, atol=SAME * np.abs(Z).max() ** 2)
    sums = row_sums.column_sums(problem, d)
    np.testing.assert_allclose(sums, d @ Z, atol=SAME * np.abs(Z).max())
    np.testing.assert_allclose(row_sums.images(problem, v), Z @ v, rtol=SAME, atol=SAME)
    forms = np.einsum("ij,jk,ik->i", Z, A, Z)
    found = row_sums.quadratic_forms(problem, A)
    np.testing.assert_allclose(found, forms, atol=SAME * np.abs(Z).max() ** 2)


def test_rows_are_taken_some_at_a_time_and_all_of_them(monkeypatch):
    monkeypatch.setattr(row_sums, "BLOCK", 1)
    rng = np.random.default_rng(1)
    for n in (255, 256, 257, 700):
        y = np.where(rng.random(n) < 0.2, 1.0, -1.0)
        problem = Problem(rng.standard_normal((n, 2)) - 3.0, y, 1.0)
        Z, d = rows_of(problem), rng.exponential(size=n)
        found = row_sums.cross_product(problem, d)
        np.testing.assert_allclose(found, (Z.T * d) @ Z, atol=1e-9)


@given(problem=problems(weights=(None, "whole numbers", "uneven")), seed=SEEDS)
@pytest.mark.parametrize("move", [True, False])
@pytest.mark.parametrize("correction", ["HC0", "HC1", "HC2", "HC3"])
def test_the_sandwich_is_its_formula(problem, seed, move, correction):
    rng = np.random.default_rng(seed)
    beta, alpha, u = margins(problem, rng)
    width = float(np.std(u)) * (0.5 + rng.random())
    assume(np.abs(u).min() > 1e-5 and (u > 0.0).any() and width > 0.01)
    options = Sandwich(bandwidth=width, move=move, correction=correction)
    Z, n, w, y = rows_of(problem), problem.n, problem.row_weights, problem.y
    assume(
        (w * (u > 0.0)).any() and np.exp(-0.5 * (u / width)[w > 0.0] ** 2).sum() > 0.6
    )
    s = expit(u - 1.0) if problem.loss == "log" else (u > 0.0).astype(float)
    d, moved = w * s * (1.0 - s), Z.copy()
    if problem.loss == "hinge":
        d = w * norm.pdf(u / width) / width
        for sign in (-1.0, 1.0) if move else ():
            rows = y == sign
            apart = w[rows] * (u[rows] - np.average(u[rows], weights=w[rows]))
            size = apart @ u[rows]
            assume(size > 1e-3)
            moved[rows] = Z[rows] - np.outer(u[rows], (apart @ Z[rows]) / size)
    penalty = problem.lam * np.eye(Z.shape[1])
    penalty[0, 0] *= not problem.intercept
    H = (moved.T * d) @ moved / n + penalty
    assume(np.linalg.cond(H) < 1e5 and norm.pdf(u / width).max() > 0.1)
    inverse = np.linalg.inv(H)
    h = d * np.einsum("ij,jk,ik->i", moved, inverse, moved) / n
    assume(h.max() < 0.98 and h.sum() < 0.98 * n)
    g = -(s * y)[:, None] * Z
    g = w[:, None] * (g - np.average(g, axis=0, weights=w))
    factor = 1.0
    if correction in ("HC2", "HC3"):
        g = g / ((1.0 - h) ** (0.5 if correction == "HC2" else 1.0))[:, None]
    if correction == "HC1":
        factor = n / (n - h.sum())
    expected = factor * inverse @ (g.T @ g / n) @ inverse / n
    found = sandwich(problem, beta, alpha, options)
    # Scores are computed in another order, of up to 24 terms, and H divides by them.
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs(found.matrix - expected).max() <= 1e-7 * size.max()
    np.testing.assert_allclose(found.bread, H, atol=1e-8 * np.abs(H).max())
    curvature = curvature_of(problem, u, s, options)
    np.testing.assert_allclose(leverages(problem, curvature, inverse), h, atol=1e-7)
    if problem.loss == "log":
        gradient = -(w * s * y) @ Z / n
        gradient[int(problem.intercept) :] += problem.lam * beta
        step = -inverse @ gradient
        size = np.abs(step).max()
        np.testing.assert_allclose(found.newton_step, step, atol=1e-7 * size)


@given(problem=problems(weights=("balanced",)), seed=SEEDS)
def test_scores_have_a_mean_in_each_class_where_weights_balance_them(problem, seed):
    s = np.random.default_rng(seed).random(problem.n)
    g = -(s * problem.y)[:, None] * rows_of(problem)
    w = problem.row_weights
    for sign in (-1.0, 1.0):
        rows = problem.y == sign
        g[rows] -= g[rows].mean(axis=0)
    expected = (g * w[:, None]).T @ (g * w[:, None]) / problem.n
    scale = np.abs(rows_of(problem)).max() ** 2 * w.max() ** 2
    np.testing.assert_allclose(meat_of(problem, s), expected, atol=SAME * scale)


@pytest.mark.parametrize("asked", [False, True])
def test_weights_balance_where_that_was_asked_for(asked):
    y = np.array([1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
    X = np.array([[1.0], [-4.0], [2.0], [0.0], [3.0], [-2.0]])
    w = np.where(y > 0, 1.5, 0.75)
    problem = Problem(X, y, 1.0, "log", weights=w, balanced=asked)
    s, Z = np.array([0.9, 0.1, 0.4, 0.6, 0.3, 0.7]), rows_of(problem)
    g = -(s * y)[:, None] * Z
    of_class = np.array([g[y == sign].mean(axis=0) for sign in y])
    of_all = np.average(g, axis=0, weights=w)
    scores = problem.weights[:, None] * (g - (of_class if asked else of_all))
    found = meat_of(problem, s)
    np.testing.assert_allclose(found, scores.T @ scores / 6, rtol=1e-12)


@given(problem=problems(losses=("hinge",)), seed=SEEDS)
def test_dual_weights_are_slopes_per_weight(problem, seed):
    rng = np.random.default_rng(seed)
    share = rng.choice([0.0, 0.3, 1.0], problem.n)
    w = problem.row_weights
    found = slopes_of(problem, np.zeros(problem.n), share * w)
    np.testing.assert_allclose(found, np.where(w > 0.0, share, 0.0), atol=1e-15)
    assert (slopes_of(problem, np.full(problem.n, -0.0)) == 0.0).all()
    assert (slopes_of(problem, np.full(problem.n, 5e-324)) == 1.0).all()
    more = slopes_of(problem, np.zeros(problem.n), 1.5 * w)
    assert (more[w > 0.0] == 1.0).all()


@given(problem=problems(losses=("hinge",), weights=("uneven",)), seed=SEEDS)
def test_rows_on_the_line_of_their_class_keep_no_part_of_u(problem, seed):
    _, _, u = margins(problem, np.random.default_rng(seed))
    Z, w = rows_of(problem), problem.row_weights
    for line in lines_to_margin(problem, u):
        rows = line.u != 0.0
        part = Z[rows] - np.outer(u[rows], line.slope)
        apart = u[rows] - np.average(u[rows], weights=w[rows])
        size = np.abs(apart)[:, None] * np.abs(part)
        # Where either is 0 but for its rounding, that of both is all that is left.
        of_apart = 8 * EPS * np.abs(u[rows]).max()
        of_part = 8 * EPS * (np.abs(Z[rows]) + np.abs(np.outer(u[rows], line.slope)))
        rounded = (np.abs(apart) + of_apart)[:, None] * (np.abs(part) + of_part)
        bound = w[rows] @ (1e-8 * size + (rounded - size))
        assert (np.abs((w[rows] * apart) @ part) <= bound).all()


@given(seed=SEEDS, k=st.integers(1, 6), scales=st.integers(0, 60))
def test_the_inverse_is_that_of_numpy_in_any_units(seed, k, scales):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((2 * k + 1, k))
    H = A.T @ A
    assume(np.linalg.cond(H) < 1e6)
    units = 2.0 ** rng.integers(-scales, scales + 1, k)
    found = inverse_of(H * np.outer(units, units)) * np.outer(units, units)
    np.testing.assert_allclose(found, np.linalg.inv(H), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_a_pivot_is_zero_up_to_rounding_and_not_beyond(k):
    """The last pivot of a correlation ``r`` is ``1 - r^2``, and the others are 1."""
    for times, singular in ((0.97, True), (1.03, False)):
        H = np.eye(k)
        H[-1, 0] = H[0, -1] = np.sqrt(1.0 - times * ROUNDING * k)
        assert np.isnan(inverse_of(H)).all() == singular
    assert ROUNDING == 1e-13
    for singular in (0.0, -1.0, np.inf, np.nan):
        assert np.isnan(inverse_of(np.diag([1.0] * (k - 1) + [singular]))).all()


@pytest.mark.parametrize("seed", range(10))
def test_a_column_that_is_the_sum_of_others_has_no_standard_error(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 3)) - 2.0
    X = np.column_stack([X, X.sum(axis=1)])
    y = np.where(rng.random(50) < 0.2, 1.0, -1.0)
    beta = rng.standard_normal(4) / 4
    for loss in ("hinge", "log"):
        problem = Problem(X, y, 1e-18, loss)
        found = sandwich(problem, beta, 0.0, Sandwich(bandwidth=2.0))
        (note,) = found.notes
        assert "collinear, and lam=1e-18" in note.text
        assert np.isnan(found.matrix).all()
        assert np.isnan(found.std_error).all()
        apart = Problem(X[:, :3], y, 1e-18, loss)
        found = sandwich(apart, beta[:3], 0.0, Sandwich(bandwidth=2.0))
        assert np.isfinite(found.std_error).all()
        assert found.notes == ()


def test_the_largest_covariance_is_allowed():
    y = np.array([1.0, -1.0, -1.0])
    check_size(Problem(sp.csr_array((3, 9_999)), y, 1.0))
    check_size(Problem(sp.csr_array((3, 10_000)), y, 1.0, intercept=False))
    with pytest.raises(Exception, match=r"10,001 coefficients has 100,020,001 entries"):
        check_size(Problem(sp.csr_array((3, 10_000)), y, 1.0))
