"""The sandwich covariance: against its formula, at its limits."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.models.inference.bread_and_meat import (
    lines_to_margin,
    margins_of_others,
)
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.models.inference.sandwich import sandwich
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca_run import run_sdca

# Sums of the same numbers in another order, divided by pivots of about 1.
ROUNDING = 1e-10


def problem_of(loss, intercept=True, weights=None, n=80, p=3, lam=0.05):
    rng = np.random.default_rng(11)
    y = np.where(rng.random(n) < 0.35, 1.0, -1.0)
    X = rng.standard_normal((n, p)) + 0.8 * y[:, None] * (np.arange(p) < 2)
    drawn = rng.integers(0, 4, n).astype(float)
    shares = np.where(y > 0, (y > 0).mean(), (y < 0).mean())
    w = {None: None, "random": drawn / drawn.mean(), "balanced": 0.5 / shares}[weights]
    asked = weights == "balanced"
    return Problem(X, y, lam, loss, intercept, weights=w, balanced=asked)


def fitted(problem, tol=1e-10):
    found = run_sdca(problem, ps.SDCA(tol=tol, epochs=2000, seed=1))
    return found.beta, found.alpha


def by_the_formula(problem, beta, alpha, options, width):
    """The docstrings' formulas, row by row."""
    X, y, n = problem.X, problem.y, problem.n
    w = problem.row_weights
    Z = np.column_stack([np.ones(n), X]) if problem.intercept else X
    J = np.eye(Z.shape[1])
    J[0, 0] = 0.0 if problem.intercept else 1.0
    m = y * (X @ beta + alpha)
    moved = Z.copy()
    if problem.loss == "log":
        s = 1.0 / (1.0 + np.exp(m))
        d = s * (1.0 - s)
    else:
        s, u = (m < 1.0).astype(float), 1.0 - m
        d = np.exp(-0.5 * (u / width) ** 2) / width / np.sqrt(2 * np.pi)
        for sign in (-1, 1) if options.move else ():
            rows = y == sign
            z, v = Z[rows], u[rows]
            centred = v - np.average(v, weights=w[rows])
            slope = (w[rows] * centred) @ z / ((w[rows] * centred) @ v)
            moved[rows] = z - np.outer(v, slope)
    H = sum(w[i] * d[i] * np.outer(moved[i], moved[i]) for i in range(n)) / n
    H = H + problem.lam * J
    g = -(s * y)[:, None] * Z
    leverage = [
        w[i] * d[i] * moved[i] @ np.linalg.inv(H) @ moved[i] / n for i in range(n)
    ]
    g = w[:, None] * (g - np.average(g, axis=0, weights=w))
    power = {"HC2": 0.5, "HC3": 1.0}.get(options.correction, 0.0)
    g = g / ((1.0 - np.array(leverage)) ** power)[:, None]
    V = np.linalg.inv(H) @ (g.T @ g / n) @ np.linalg.inv(H) / n
    return V * (n / (n - sum(leverage)) if options.correction == "HC1" else 1.0)


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weights", [None, "random"])
@pytest.mark.parametrize(
    "options",
    [
        Sandwich(),
        Sandwich(move=False, bandwidth=0.7),
        Sandwich(correction="HC1", factor=0.5),
        Sandwich(correction="HC2"),
        Sandwich(correction="HC3", bandwidth="hall-sheather"),
        Sandwich(bandwidth="bofinger"),
    ],
    ids=str,
)
def test_it_is_what_its_formula_says(loss, intercept, weights, options):
    problem = problem_of(loss, intercept, weights)
    beta, alpha = fitted(problem)
    beta = 1.01 * beta  # no row at the margin itself, where rounding would decide
    expected = None
    for X, tolerance in (
        (problem.X, ROUNDING),
        (sp.csr_array(problem.X), ROUNDING),
        (problem.X.astype(np.float32), 1e-5),  # 24 bits in the rows
    ):
        same = Problem(X, problem.y, 0.05, loss, intercept, weights=problem.weights)
        found = sandwich(same, beta, alpha, options)
        if expected is None:
            width = found.bandwidth
            expected = by_the_formula(problem, beta, alpha, options, width)
        np.testing.assert_allclose(found.matrix, expected, rtol=tolerance, atol=1e-12)
        assert (found.matrix == found.matrix.T).all()


def test_moved_rows_are_at_the_margin():
    problem = problem_of("hinge")
    beta, alpha = fitted(problem)
    score = problem.X @ beta + alpha
    u = 1.0 - problem.y * score
    for line in lines_to_margin(problem, u):
        moved = score - line.u * (line.slope[0] + line.slope[1:] @ beta)
        rows = line.u != 0.0
        np.testing.assert_allclose(moved[rows], problem.y[rows], rtol=ROUNDING)


def test_weights_that_balance_the_classes_center_the_scores_in_each():
    problem = problem_of("log", weights="balanced")
    beta, alpha = fitted(problem)
    Z = np.column_stack([np.ones(problem.n), problem.X])
    s = 1.0 / (1.0 + np.exp(problem.y * (problem.X @ beta + alpha)))
    g = (s * problem.y)[:, None] * Z
    for sign in (-1.0, 1.0):
        g[problem.y == sign] -= g[problem.y == sign].mean(axis=0)
    g *= problem.weights[:, None]
    expected = g.T @ g / problem.n
    found = sandwich(problem, beta, alpha).meat
    np.testing.assert_allclose(found, expected, rtol=ROUNDING, atol=1e-14)


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_a_row_of_weight_zero_is_as_good_as_left_out(loss):
    whole = problem_of(loss)
    w = np.where(np.arange(whole.n) < 60, whole.n / 60, 0.0)
    weighted = Problem(whole.X, whole.y, 0.05, loss, weights=w)
    part = Problem(whole.X[:60], whole.y[:60], 0.05, loss)
    beta, alpha = fitted(part, 1e-6)
    left = sandwich(weighted, beta, alpha, Sandwich(bandwidth=0.5)).matrix
    right = sandwich(part, beta, alpha, Sandwich(bandwidth=0.5)).matrix
    np.testing.assert_allclose(left, right, rtol=ROUNDING)


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_units_and_names_of_the_levels_do_not_matter(loss):
    problem = problem_of(loss)
    beta, alpha = fitted(problem, 1e-6)
    se = sandwich(problem, beta, alpha).std_error
    in_units = Problem(problem.X * 8.0, problem.y, 0.05 * 64.0, loss)
    found = sandwich(in_units, beta / 8.0, alpha).std_error
    np.testing.assert_allclose(found, se / [1.0, 8.0, 8.0, 8.0], rtol=ROUNDING)
    swapped = Problem(problem.X, -problem.y, 0.05, loss)
    found = sandwich(swapped, -beta, -alpha).std_error
    np.testing.assert_allclose(found, se, rtol=ROUNDING)


def test_hc3_is_the_jackknife():
    problem = problem_of("log", n=120)
    beta, alpha = fitted(problem)
    without = []
    for i in range(problem.n):
        kept = np.arange(problem.n) != i
        part = Problem(problem.X[kept], problem.y[kept], 0.05, "log")
        b, a = fitted(part)
        without.append([a, *b])
    apart = np.array(without) - np.mean(without, axis=0)
    jackknife = np.sqrt((problem.n - 1) / problem.n * (apart**2).sum(axis=0))
    found = sandwich(problem, beta, alpha, Sandwich(correction="HC3")).std_error
    # One Newton step stands for every refit: measured 0.4 to 1.6%, HC0 2 to 5%.
    np.testing.assert_allclose(found, jackknife, rtol=0.02)
    plain = sandwich(problem, beta, alpha).std_error
    assert (plain < 0.985 * jackknife).all()


def test_dual_weights_are_the_slopes_of_the_hinge():
    problem = problem_of("hinge")
    found = run_sdca(problem, ps.SDCA(tol=1e-13, epochs=2000, seed=1))
    u = 1.0 - problem.y * (problem.X @ found.beta + found.alpha)
    assert (np.abs(u) < 1e-6).sum() > 1
    with_dual = sandwich(problem, found.beta, found.alpha, dual=found.dual)
    g = -(found.dual * problem.y)[:, None] * np.column_stack([np.ones(80), problem.X])
    expected = np.cov(g.T, ddof=0)
    np.testing.assert_allclose(with_dual.meat, expected, atol=1e-12)
    # Only rows at the margin, no more than coefficients, differ from 0 and 1.
    inside = (found.dual > 1e-6) & (found.dual < 1.0 - 1e-6)
    assert (np.abs(u[inside]) < 1e-6).all()
    assert inside.sum() <= 4


def test_dual_weights_far_from_the_optimum_are_left_aside():
    problem = problem_of("hinge")
    beta, alpha = fitted(problem)
    without = sandwich(problem, beta, alpha)
    found = sandwich(problem, beta, alpha, dual=np.full(problem.n, 0.5))
    assert (found.matrix == without.matrix).all()


def test_newton_step_leads_to_the_optimum():
    problem = problem_of("log")
    # Newton steps, which this start leads to, end at the optimum to the last digits.
    solver = ps.SDCA(tol=1e-13, start="sgd", seed=1)
    found = run_sdca(problem, solver)
    beta, alpha = found.beta, found.alpha
    near = sandwich(problem, beta + 1e-4, alpha - 1e-4)
    # The step is right up to the square of the distance.
    np.testing.assert_allclose(near.newton_step, [1e-4] + [-1e-4] * 3, atol=1e-7)
    assert sandwich(problem_of("hinge"), beta, alpha).newton_step is None


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_more_columns_than_rows_are_no_obstacle_with_a_penalty(loss):
    problem = problem_of(loss, n=40, p=90, lam=20.0)
    beta, alpha = fitted(problem)
    beta = 1.01 * beta  # no row at the margin itself, where rounding would decide
    found = sandwich(problem, beta, alpha)
    expected = by_the_formula(problem, beta, alpha, Sandwich(), found.bandwidth)
    np.testing.assert_allclose(found.matrix, expected, rtol=ROUNDING, atol=1e-12)
    assert (found.std_error > 1e-4).all()  # far above what rounding leaves


def test_rows_that_are_all_at_the_margin_or_inside_say_nothing():
    problem = problem_of("hinge", n=40, p=90, lam=0.01)
    undefined(problem, *fitted(problem), "no row has a margin below 1, where")


def undefined(problem, beta, alpha, why, **options):
    found = sandwich(problem, beta, alpha, Sandwich(**options))
    (note,) = found.notes
    assert why in note.text
    assert np.isnan(found.matrix).all()
    assert np.isnan(found.std_error).all()


def test_where_it_is_not_defined_it_is_nan_and_says_why():
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    X = np.array([[-1.0], [-2.0], [1.0], [2.0]])
    apart = Problem(X, y, 0.1)
    undefined(apart, np.array([0.3]), 0.0, "no row lies within the ", bandwidth=0.1)
    undefined(apart, np.array([0.0]), 0.0, "all rows have the same margin")
    undefined(apart, np.array([1.0]), 0.0, "no row has a margin below 1, where")
    twice = Problem(np.column_stack([X, X]), y, 1e-300, "log")
    undefined(twice, np.array([1.0, 1.0]), 0.0, "predictors are collinear")
    huge = Problem(X * 1e200, y, 1.0, "log")
    undefined(huge, np.array([0.0]), 0.0, "overflow")


def test_an_intercept_that_needs_no_row_at_the_margin():
    """Without intercept and all rows beyond the margin the hinge is linear."""
    X, y = np.array([[1.0], [2.0], [-3.0], [0.5]]), np.array([1.0, 1.0, -1.0, 1.0])
    problem = Problem(X, y, 100.0, intercept=False)
    beta = np.array([np.mean(y * X[:, 0]) / 100.0])
    found = sandwich(problem, beta, 0.0, Sandwich(bandwidth=0.01))
    # beta is the mean of y x divided by lam
    expected = np.std(y * X[:, 0]) / np.sqrt(4) / 100.0
    assert found.std_error[0] == pytest.approx(expected, rel=ROUNDING)


def test_options_are_checked():
    for wrong in ("scott", 0.0, -1, True, None, np.inf, np.nan):
        with pytest.raises(OptionError, match="bandwidth"):
            Sandwich(bandwidth=wrong)
    with pytest.raises(OptionError, match="factor"):
        Sandwich(factor=0)
    with pytest.raises(OptionError, match="correction"):
        Sandwich(correction="HC9")
    with pytest.raises(OptionError, match="move"):
        Sandwich(move=1)


def test_too_many_coefficients_are_refused():
    wide = Problem(sp.csr_array((3, 20_000)), np.array([1.0, -1.0, 1.0]), 1.0)
    with pytest.raises(DataError, match="20,001 coefficients"):
        sandwich(wide, np.zeros(20_000), 0.0)


@pytest.mark.parametrize("loss", [ps.SVM, ps.Logit])
@pytest.mark.parametrize("weights", [None, "balanced", {0: 3, 1: 1}, {0: 1, 1: 3}])
def test_which_level_is_the_second_does_not_matter(loss, weights):
    """Signs of the coefficients turn; no variance changes, whichever class is heavy.

    Where the larger class is so heavy that all coefficients of the hinge are 0, many
    dual weights are optimal, and the covariance is that of those found.
    """
    rng = np.random.default_rng(6)
    X = rng.normal(size=(90, 3))
    y = (3.0 * X[:, 0] + rng.normal(size=90) > 0.7).astype(int)
    fits = [
        loss(y, X, lam=0.05, weights=weights, coding=levels).fit(
            ps.SDCA(tol=1e-12, epochs=2000, seed=1)
        )
        for levels in ((0, 1), (1, 0))
    ]
    assert min(abs(fit.coef).max() for fit in fits) > 0.1
    one, other = (fit.cov_params() for fit in fits)
    # both within 1e-12 of the objective of one optimum: 1e-6 of the coefficients
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(3, 8), (20, 2)])
@pytest.mark.parametrize("size", [1e100, 1e154, 1e159, 1e300])
@pytest.mark.parametrize("lam", [5e-324, 1e-300, 1.0, 1e300])
@pytest.mark.parametrize("loss", [ps.SVM, ps.Logit])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.filterwarnings("ignore::pegasos_stats.errors.PegasosStatsWarning")
def test_squares_that_overflow_are_named_or_no_number(
    form, shape, size, lam, loss, intercept
):
    """No warning of numpy's either: those are errors in these tests."""
    X = np.random.default_rng(3).normal(size=shape) * size
    y = np.arange(shape[0]) % 2
    model = loss(y, form(X), lam=lam, intercept=intercept)
    if model.loss == "log" and intercept and shape == (3, 8) and size > 1e153:
        with pytest.raises(DataError, match=r"^The objective overflows"):
            model.fit(ps.SDCA(5, seed=1))
        return
    if model.loss == "log" and form is np.asarray and shape == (20, 2) and size > 1e153:
        with pytest.raises(DataError, match=r"^The coefficients overflow"):
            model.fit(ps.SDCA(5, seed=1))
        return
    result = model.fit(ps.SDCA(5, seed=1))
    if isinstance(result.cov_type, ps.Bootstrap):  # no refit ends soon; a few will do
        fewer = replace(result.cov_type, replicates=3)
        result = result.with_covariance(fewer)
    assert result.gap >= 0.0
    assert str(result.summary()).count("\n") > 8
    matrix = result.cov_params().to_numpy()
    assert np.isfinite(matrix).all() or np.isnan(matrix).all()


@pytest.mark.parametrize(
    ("epochs", "those"), [(1, "4 coefficients"), (2, "1 coefficient")]
)
def test_exchanged_levels_are_as_far_from_the_optimum(epochs, those):
    rng = np.random.default_rng(8)
    X, noise = rng.normal(size=(60, 3)) + 0.5, rng.normal(size=60)
    y = X @ [1.0, -2.0, 0.5] + noise > 0.3
    solver = ps.SDCA(epochs=epochs, tol=0.0, start="sgd", seed=1)
    said = []
    for labels in (y, ~y):  # all coefficients and Newton steps change their signs
        result = ps.Logit(labels, X, lam=0.1).fit(solver, cov_type="sandwich")
        said.append([note.text for note in result.notes_on_errors()])
    assert f"{those} may be off" in said[0][0]
    assert said[0] == said[1]


def test_margins_of_others_go_an_eighth_of_the_kernel_at_most():
    problem = problem_of("hinge", n=40, p=6)
    u = np.linspace(-1.0, 1.0, 40)
    s, Z = (u > 0.0).astype(float), np.column_stack([np.ones(40), problem.X])
    inverse = np.linalg.inv(Z.T @ Z / 40.0)
    by_formula = 0.75 * (s - 0.5) * np.einsum("ij,jk,ik->i", Z, inverse, Z) / 40.0
    for width in (0.05, 0.5, 100.0):  # all, some and none go farther
        moved = margins_of_others(problem, u, s, inverse, 40, width) - u
        most = width / 8.0
        expected = np.clip(by_formula, -most, most)
        np.testing.assert_allclose(moved, expected, rtol=0.0, atol=ROUNDING)
    assert (np.abs(by_formula) > 0.05 / 8.0).all()
    assert 0 < (np.abs(by_formula) > 0.5 / 8.0).sum() < 40


def test_joint_tests_of_few_rows_know_the_spread_of_estimates():
    rng, estimates, errors = np.random.default_rng(8), [], []
    for _ in range(40):
        X, y = rng.standard_normal((200, 19)), np.repeat([-1.0, 1.0], 100)
        X[:, 0] += y
        fit = ps.SVM(y, X, lam=0.01).fit(ps.SDCA(seed=1), cov_type="HC3")
        estimates.append(fit.params.to_numpy()[2:])
        errors.append(np.diag(fit.covariance.joint)[2:])
    # Of coefficients without effect, ten rows to each. Four standard errors of a spread
    # from 18 x 40 estimates are 10% of it. Errors were 1.8 times the spread when rows
    # were moved half the width of the kernel; they may be a third too large.
    ratio = np.sqrt(np.mean(errors) / np.var(estimates, axis=0, ddof=1).mean())
    assert 0.9 < ratio < 1.45
