"""Sums over columns of dates in nanoseconds that cancel to the last bit."""

from fractions import Fraction
from math import fsum

import numpy as np
import pytest

from pegasos_stats.solvers.cancelling import cancelled
from pegasos_stats.solvers.objective import certificate
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_run import run_sdca


def dates(seed, loss, lam, n=120, columns=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    y = np.where(X[:, :2].sum(1) + rng.standard_normal(n) > 0.3, 1.0, -1.0)
    X[:, 5 - columns :] = 1.7e18 + 1e15 * X[:, 5 - columns :]
    return Problem(X, y, lam, loss, False)


def left_of(problem, a, column):
    """``sum_i a_i y_i x_i`` of a column, exactly."""
    given = zip(a.tolist(), problem.y, problem.X[:, column].tolist(), strict=True)
    return float(sum(Fraction(c) * int(s) * Fraction(x) for c, s, x in given))


def paid(problem, a):
    """What the dual pays for the far column, of a coefficient that is 0."""
    return left_of(problem, a, 4) ** 2 / (2.0 * problem.lam * problem.n**2)


def in_balance(problem, rng):
    """Weights, half of them 0, whose sums over the far columns cancel to rounding."""
    a = rng.uniform(0.1, 0.9, problem.n) * (rng.random(problem.n) < 0.5)
    excess = a @ (problem.y * problem.X[:, 4])
    side = problem.y * np.sign(excess) < 0.0
    a[~side] *= -(a * problem.y * problem.X[:, 4])[side].sum() / (
        (a * problem.y * problem.X[:, 4])[~side].sum()
    )
    return a


@pytest.mark.parametrize("seed", range(5))
def test_weights_that_are_0_take_what_rounding_left(seed):
    problem = dates(seed, "hinge", 1e-3)
    a = np.clip(in_balance(problem, np.random.default_rng(seed)), 0.0, 1.0)
    before, found = left_of(problem, a, 4), cancelled(problem, a, np.zeros(5))
    # four rounds, each to a part in 10^16; the doubles near 0 end at 5e-324
    assert abs(left_of(problem, found, 4)) <= 1e-12 * max(1.0, abs(before))
    assert found.min() >= 0.0
    assert found.max() <= 1.0


@pytest.mark.parametrize("short", [0.0, 2.0**-51])
@pytest.mark.parametrize("seed", range(5))
def test_weights_of_the_log_loss_go_to_the_next_doubles(seed, short):
    """Until the dual pays next to nothing for the square of what is left."""
    problem = dates(seed, "log", 1e-1)
    rng = np.random.default_rng(seed)
    a = rng.uniform(0.01, 0.9, problem.n)
    x = problem.X[:, 4]
    up = problem.y > 0.0
    a[up] *= fsum((a * x)[~up]) / fsum((a * x)[up]) * (1.0 - short)
    a *= 0.9 / a.max()
    found = cancelled(problem, a, np.zeros(5))
    assert paid(problem, a) > np.log(2.0)  # the objective of a model that is all zero
    # the share of the weights that the method ends at: of a relative gap of 1e-6 little
    assert paid(problem, found) <= 1e-8 * a.mean()
    # each row moves at most four times, by the distance of two doubles below 1
    np.testing.assert_allclose(found, a, rtol=0, atol=4 * 2.0**-53)


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("lam", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("seed", [0, 2])
def test_dates_in_nanoseconds_are_certified_without_intercept(loss, lam, seed):
    problem = dates(seed, loss, lam)
    found = run_sdca(problem, SDCA(seed=1))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert at.relative_gap <= 1e-6
    assert found.alpha == 0.0


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("lam", [1e-1, 1e-3, 1e-5])
def test_two_such_columns_are_certified(loss, lam):
    problem = dates(1, loss, lam, columns=2)
    found = run_sdca(problem, SDCA(seed=1))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert at.relative_gap <= 1e-6


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("intercept", [True, False])
def test_one_far_row_of_no_far_column_moves_no_weight(loss, intercept):
    x, a = np.zeros((100, 2)), np.full(100, 0.5)
    x[:, 0], x[3, 1] = np.arange(100.0), 2e11  # far are columns of 9e10 on average
    problem = Problem(x, np.where(np.arange(100) % 2, 1.0, -1.0), 1e-3, loss, intercept)
    np.testing.assert_array_equal(cancelled(problem, a, np.zeros(2)), a)


@pytest.mark.parametrize("lam", [1e-3, 1e-5])
@pytest.mark.parametrize("n", [300, 3000])
def test_rows_of_one_class_at_0_take_what_rounding_left(n, lam):
    rng = np.random.default_rng(9)
    X = rng.standard_normal((n, 3))
    y = np.where(X.sum(axis=1) + rng.standard_normal(n) > 0.0, 1.0, -1.0)
    weights = np.where(y > 0.0, 0.1, 3.0)  # the date is an intercept: nobody is +1
    X[:, 2] = 1.7e18 + 1e15 * X[:, 2]
    problem = Problem(X, y, lam, intercept=False, weights=weights / weights.mean())
    found = run_sdca(problem, SDCA(seed=1))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert (found.dual[y > 0.0] > 0.0).all()
    assert at.relative_gap <= 1e-6
