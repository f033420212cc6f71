"""Standard errors for data drawn at random: the formula, row by row."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import norm

from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.models.inference.sandwich import ROUNDING, inverse_of, sandwich
from pegasos_stats.solvers.problem import Solution
from tests.models.formulas import by_the_formula, curvature, rows_of
from tests.problems import problems

pytestmark = pytest.mark.fuzz

SEEDS = st.integers(0, 2**32 - 1)


def margins(problem, rng):
    """Coefficients with which rows lie on both sides of the margin, and ``u``."""
    Z, first = rows_of(problem), int(problem.intercept)
    theta = rng.standard_normal(Z.shape[1]) / Z.std(axis=0).clip(0.1)
    if first:
        theta[0] = -np.median(Z[:, 1:] @ theta[1:])
    return theta, 1.0 - problem.y * (Z @ theta + problem.row_offsets)


@given(problem=problems(weights=(None, "whole numbers", "uneven")), seed=SEEDS)
@pytest.mark.parametrize("correction", ["HC0", "HC1", "HC2", "HC3"])
def test_the_sandwich_is_its_formula(problem, seed, correction):
    assume(problem.loss == "log" or correction == "HC0")
    rng = np.random.default_rng(seed)
    theta, u = margins(problem, rng)
    w, width = problem.row_weights, float(np.std(u)) * (0.5 + rng.random())
    assume(np.abs(u).min() > 1e-5 and (w * (u > 0.0)).any() and width > 0.01)
    assume(np.exp(-0.5 * (u / width)[w > 0.0] ** 2).sum() > 0.6)
    for sign in (-1.0, 1.0):  # whose lines to the margin need a spread
        rows = problem.y == sign
        assume(w[rows].sum() > 0.0)
        assume(np.cov(u[rows], aweights=w[rows], ddof=0) > 1e-3)
    H, s, h, _ = curvature(problem, theta, width)
    assume(np.linalg.cond(H) < 1e5 and norm.pdf(u / width).max() > 0.1)
    assume(h.max() < 0.98 and h.sum() < 0.98 * problem.n)
    expected = by_the_formula(problem, theta, correction, width)
    first = int(problem.intercept)
    alpha = float(theta[0]) if first else 0.0
    found = Solution(theta[first:], alpha, np.zeros(problem.n), 0, 0, None)
    options = Sandwich(bandwidth=width, correction=correction)
    V = sandwich(problem, found, options, relative_gap=1.0)
    assume(not V.separated)
    # Scores are computed in another order, of up to 24 terms, and H divides by them.
    assert np.abs(V.matrix - expected).max() <= 1e-7 * np.diag(expected).max()
    np.testing.assert_allclose(V.bread, H, atol=1e-8 * np.abs(H).max())
    if problem.loss == "log":
        gradient = -(w * s * problem.y) @ rows_of(problem) / problem.n
        gradient[first:] += problem.lam * theta[first:]
        step = -np.linalg.solve(H, gradient)
        size = np.abs(step).max()
        np.testing.assert_allclose(V.newton_step, step, atol=1e-7 * size)


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
    for singular in (0.0, -1.0, np.inf, np.nan):
        assert np.isnan(inverse_of(np.diag([1.0] * (k - 1) + [singular]))).all()
