"""Maximum likelihood of the log loss: its certificate, its existence, its columns."""

from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.special import expit

from pegasos_stats.solvers.maximum_likelihood import (
    LikelihoodRefits,
    divergence,
    estimable_columns,
    likelihood_certificate,
    maximum_likelihood,
    refit,
)
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.solver_runs import certificate_of, run_linear


def simulated(n, p, seed, scale=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = np.where(scale * X[:, 0] + rng.logistic(size=n) > 0.3, 1.0, -1.0)
    return Problem(X, y, 0.0, loss="log")


def decimals(values):
    """An array of decimals, each exactly the double."""
    return np.vectorize(Decimal, otypes=[object])(values)


def solved(H, g):
    """Gauss elimination of decimals."""
    rows = np.column_stack([H, g])
    for j in range(len(g)):
        rows[j] /= rows[j, j]
        for i in range(len(g)):
            if i != j:
                rows[i] -= rows[i, j] * rows[j]
    return rows[:, -1]


class Exactly:
    """The objective of a problem in fifty digits at ``(alpha, beta)``."""

    def __init__(self, problem):
        self.Z = decimals(np.column_stack([np.ones(problem.n), problem.X]))
        self.y, self.w = decimals(problem.y), decimals(problem.row_weights)
        self.offset = decimals(problem.row_offsets)

    def tails(self, theta):
        return np.array([(-m).exp() for m in self.y * (self.Z @ theta + self.offset)])

    def risk(self, theta):
        losses = np.array([(1 + tail).ln() for tail in self.tails(theta)])
        return self.w @ losses / len(losses)

    def minimum(self, theta):
        """The least objective, by Newton's method from the estimate."""
        for _ in range(3):
            tails = self.tails(theta)
            s = tails / (1 + tails)
            H = (self.Z.T * (self.w * s * (1 - s))) @ self.Z
            theta = theta + solved(H, self.Z.T @ (self.w * s * self.y))
        return self.risk(theta)


@pytest.mark.parametrize("seed", range(6))
def test_no_objective_is_below_the_certified_bound(seed):
    rng = np.random.default_rng(seed)
    problem = simulated(60, 3, seed, scale=2.0)
    if seed % 2:
        weights = rng.integers(0, 4, 60).astype(float)
        problem = replace(problem, weights=weights * 60 / weights.sum())
    if seed % 3:
        problem = replace(problem, offset=rng.normal(size=60))
    if seed > 3:
        problem = replace(problem, X=problem.X * [1e-6, 1.0, 1e6] + [0.0, 1e7, 1e3])
    fit = maximum_likelihood(problem)
    beta, alpha, dual = fit.solution.beta, fit.solution.alpha, fit.solution.dual
    at = likelihood_certificate(problem, beta, alpha, dual)
    with localcontext(prec=50):
        exactly, theta = Exactly(problem), decimals(np.append(alpha, beta))
        least = exactly.minimum(theta)
        assert 0 <= exactly.risk(theta) - least <= at.gap
        theta[0] = Decimal(alpha + 1.0)
        off = exactly.risk(theta) - least
    assert at.gap == pytest.approx(fit.certificate.gap, rel=0.01)
    assert at.gap < 1e-9 * at.objective
    # The dual weights of the estimate bound how far other coefficients are off.
    assert likelihood_certificate(problem, beta, alpha + 1.0, dual).gap >= off


@pytest.mark.parametrize("seed", range(150))
def test_an_estimate_is_found_where_it_exists(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(6, 40)), int(rng.integers(1, 5))
    X = np.round(2.0 * rng.standard_normal((n, p)), int(rng.integers(0, 2)))
    y = np.where(2.0 * X[:, 0] + rng.standard_normal(n) > 0.0, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    Z = y[:, None] * np.column_stack([np.ones(n), X])
    # Albert & Anderson (1984): it does not where a direction moves no row back.
    programme = linprog(-Z.sum(axis=0), A_ub=-Z, b_ub=np.zeros(n), bounds=(-1, 1))
    fit = maximum_likelihood(Problem(X, y, 0.0, loss="log"))
    assert (fit.solution is None) == (-programme.fun > 1e-7)
    assert (fit.solution is None) == bool(fit.reason)


def test_later_columns_that_are_combinations_are_left_out():
    problem = simulated(300, 3, 1)
    groups = np.eye(4)[np.random.default_rng(2).integers(0, 4, 300)]
    X, noise = problem.X, np.random.default_rng(3).standard_normal(300)
    near, nearer = X[:, 2] + 1e-6 * noise, X[:, 2] + 1e-8 * noise
    both = 2.0 * X[:, 0] + X[:, 1] + 3.0
    columns = [X, groups, both, np.full(300, 7.0), near, nearer]
    wide = replace(problem, X=np.column_stack(columns))
    free = [1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0]
    for rows in (wide, replace(wide, X=csr_array(wide.X))):
        fit = maximum_likelihood(rows)
        assert fit.solution.estimable.astype(int).tolist() == free
        assert fit.certificate.gap < 1e-12
    bare = maximum_likelihood(replace(wide, intercept=False)).solution
    assert bare.estimable.astype(int).tolist() == [1] * 7 + [0, 0, 1, 0]


def test_a_refit_is_the_fit_of_its_rows():
    problem = simulated(400, 4, 5)
    fit = maximum_likelihood(problem).solution
    rows = np.random.default_rng(0).integers(0, 400, 400)
    counts = np.bincount(rows, minlength=400).astype(float)
    at = estimable_columns(problem)
    drawn = replace(problem, weights=counts)
    again = refit(drawn, at, at.theta(fit.beta, fit.alpha)).solution
    alone = maximum_likelihood(problem.of_rows(rows)).solution
    np.testing.assert_allclose(again.beta, alone.beta, rtol=1e-9)
    constant = replace(problem, X=problem.X * (np.arange(4) > 0) * 1.0)
    assert refit(constant, at, at.theta(fit.beta, fit.alpha)).solution is None


def test_resamples_fitted_at_once_are_those_fitted_alone():
    """Newton leaves the square of 1e-6 standard errors; 1e-9 covers both fits."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(120, 4))
    X[:, 3] = X[:, 3] > 1.5  # rare: some resamples have no estimate
    y = np.where(X[:, 0] + rng.logistic(size=120) > 0.0, 1.0, -1.0)
    y[X[:, 3] == 1.0] = np.where(np.arange((X[:, 3] == 1.0).sum()) < 2, -1.0, 1.0)
    offset = rng.normal(size=120)
    problem = Problem(X, y, 0.0, "log", offset=offset)
    fit = maximum_likelihood(problem).solution
    at = estimable_columns(problem)
    theta = at.theta(fit.beta, fit.alpha)
    weights = rng.multinomial(120, np.full(120, 1 / 120), size=200).astype(float)
    estimates, exists = LikelihoodRefits(problem, at, theta)(weights)
    alone = [refit(replace(problem, weights=w), at, theta).solution for w in weights]
    has_estimate = np.array([solution is not None for solution in alone])
    assert 0.5 < has_estimate.mean() < 1.0
    assert not (exists & ~has_estimate).any()
    assert (exists == has_estimate).mean() > 0.95
    errors = estimates[exists].std(axis=0)
    for row in np.flatnonzero(exists):
        same = [alone[row].alpha, *alone[row].beta]
        assert (np.abs(estimates[row] - same) <= 1e-9 * errors).all()


def test_a_small_divergence_has_all_its_digits():
    s = np.array([0.3, 1e-8, 0.5])
    change = np.array([1e-9, 1e-12, 0.2])
    with localcontext(prec=40):
        for value, a, d in zip(divergence(change, s, 1.0 - s), s, change, strict=True):
            q = Decimal(a)
            p = q + Decimal(d)
            exact = p * (p / q).ln() + (1 - p) * ((1 - p) / (1 - q)).ln()
            assert value == pytest.approx(float(exact), rel=1e-6)


@pytest.mark.parametrize("lam", [0.0, 1e-2])
@pytest.mark.parametrize("constant", [8.0, -40.0])
def test_a_constant_of_the_offset_is_taken_off_the_intercept(lam, constant):
    """Both fits are within 1e-9 standard errors, or a gap of 1e-12, of the minimum."""
    problem = replace(simulated(300, 3, 7), lam=lam, offset=np.zeros(300))
    shifted = replace(problem, offset=np.full(300, constant))
    one, other = (run_linear(each, Optimum(tol=1e-12)) for each in (problem, shifted))
    np.testing.assert_allclose(other.beta, one.beta, rtol=1e-5)
    assert other.alpha + constant == pytest.approx(one.alpha, abs=1e-5)


@pytest.mark.parametrize("lam", [0.0, 1e-3])
@pytest.mark.parametrize("labels", ["alternating", "rare"])
def test_a_sample_of_rows_may_lack_a_class(lam, labels):
    """Rows that are sampled first are no reason to fail, whatever their labels are."""
    n, rng = 20_000, np.random.default_rng(3)
    X, y = rng.normal(size=(n, 3)), np.tile([-1.0, 1.0], n // 2)
    if labels == "rare":
        y[:] = -1.0
        y[rng.choice(n, 5, replace=False)] = 1.0
    X[:, 0] += 0.3 * y
    problem = Problem(X, y, lam, "log")
    solution = run_linear(problem, Optimum())
    at = certificate_of(problem, solution)
    assert at.relative_gap <= 1e-6


@pytest.mark.parametrize("seed", [0, 2, 12])
def test_offsets_far_beyond_the_scores_are_no_separation(seed):
    """Days in place of their logarithms: Newton's step has 1e15 standard errors."""
    rng = np.random.default_rng(seed)
    x, days = rng.integers(0, 5, 200).astype(float), rng.uniform(1, 2000, 200)
    y = np.where(rng.random(200) < 0.3 + 0.05 * x, 1.0, -1.0)
    fit = maximum_likelihood(Problem(x[:, None], y, 0.0, "log", offset=days))
    assert fit.reason == ""
    p = expit(x * fit.solution.beta + fit.solution.alpha + days)
    residual = (y > 0.0) - p
    np.testing.assert_allclose([residual.sum(), residual @ x], 0.0, atol=1e-6)
