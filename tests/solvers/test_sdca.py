"""SDCA: certificates, tolerances, the exact optimum, warm starts, R's order."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import ConvergenceWarning, OptionError
from pegasos_stats.solvers.objective import primal
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_run import run_sdca
from tests.solvers.solved import risk_of_a_peer, solved

LAMBDAS = [1e-1, 1e-2, 1e-3, 1e-4]
KINDS = ["separable", "one positive row", "duplicated rows"]
KINDS += ["constant and zero columns", "sparse with a zero row"]
KINDS += ["scales", "whole numbers", "plain"]
ROUNDING = 1e-12
UNFINISHED = 1  # of 32: separable with an optimum of 1e-6, where 100 epochs may not do


def random_problem(k: int) -> Problem:
    rng = np.random.default_rng(k)
    kind, lam = KINDS[k % 8], LAMBDAS[k // 8 % 4]
    n = int(rng.integers(4, 80))
    p = int(rng.integers(1, 30) if rng.random() < 0.7 else rng.integers(80, 200))
    X = rng.standard_normal((n, p))
    noise = 0.0 if kind == "separable" else 1.0
    y = np.where(X[:, 0] + noise * rng.standard_normal(n) > 0, 1.0, -1.0)
    if kind == "one positive row":
        y[:] = -1.0
    if kind == "duplicated rows":
        X = X[rng.integers(0, n, n)]
    if kind == "constant and zero columns":
        X[:, 0], X[:, -1] = 2.5, 0.0
    if kind == "sparse with a zero row":
        X[rng.random((n, p)) < 0.7] = 0.0
        X[0] = 0.0
    if kind == "scales":
        X *= 10 ** rng.uniform(-2, 2, p)
    if kind == "whole numbers":
        X = np.round(X)
    if len(set(y)) == 1:
        y[n // 2] = -y[0]
    weights = [None, rng.exponential(size=n), rng.integers(0, 3, n) + 0.0][k // 64 % 3]
    if weights is not None:
        weights[[y.argmin(), y.argmax()]] = 1.0
    rows = csr_array(X) if kind == "sparse with a zero row" else X
    return Problem(rows, y, lam, ["hinge", "log"][k // 32 % 2], weights=weights)


# 8 kinds, 4 lambdas, 2 losses, 3 kinds of weights: each together once.
@pytest.mark.parametrize("block", range(6))
def test_the_certificate_holds_on_random_problems(block):
    unfinished = 0
    for k in range(32 * block, 32 * (block + 1)):
        problem = random_problem(k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found, at = solved(problem, Optimum(seed=k))
        assert at.relative_gap >= -ROUNDING, k
        unfinished += at.relative_gap > 1e-3
        other = risk_of_a_peer(problem)
        assert at.dual_objective <= other * (1 + ROUNDING), k
        assert at.objective <= other + at.gap + ROUNDING * other, k
        assert abs((found.dual * problem.y).sum()) <= ROUNDING * problem.n, k
        assert (found.dual >= 0).all(), k
        assert (found.dual <= problem.row_weights).all(), k
    assert unfinished <= UNFINISHED


def test_sdca_is_as_published():
    base = random_problem(7)
    problem = Problem(base.X, base.y, 0.1, intercept=False)
    bits, fast = (
        run_sdca(problem, SDCA(epochs=5, tol=0, seed=1, **other))
        for other in ({}, {"arithmetic": "fast"})
    )
    assert bits.n_iter == fast.n_iter == 5 * problem.n
    # Sums of at most 200 numbers in another order.
    np.testing.assert_allclose(fast.beta, bits.beta, rtol=0, atol=1e-12)
    with pytest.raises(OptionError, match=r"SDCA has no intercept; .* ps\.Optimum"):
        run_sdca(base, SDCA(seed=1))


@pytest.mark.parametrize(("lam", "optimum"), [(1.0, 0.16390208), (0.01, 0.003471706)])
def test_the_optimum_on_digits(data_folder, lam, optimum):
    table = pd.read_csv(data_folder / "coding5_train.csv")
    X = np.ascontiguousarray(table.iloc[:, :256], dtype=np.float64)
    y = np.where(table.iloc[:, 256] == 5, -1.0, 1.0)
    problem = Problem(X, y, lam)
    found = run_sdca(problem, Optimum(seed=1, tol=1e-8))
    assert primal(problem, found.beta, found.alpha) == pytest.approx(optimum, rel=1e-6)


def test_every_epoch_is_run_with_tolerance_zero():
    for intercept in (True, False):
        base = random_problem(7)
        problem = Problem(base.X, base.y, 0.1, intercept=intercept)
        seen = []
        run_sdca(problem, Optimum(epochs=30, tol=0, seed=1), seen.append)
        assert [moment.epoch for moment in seen] == list(range(1, 31))


def slow_problem():
    """Noise in columns of very different scale."""
    rng = np.random.default_rng(1)
    y = rng.choice([-1.0, 1.0], 300)
    return Problem(rng.standard_normal((300, 4)) * [1.0, 1e2, 1e4, 1e6], y, 1e-4)


@pytest.mark.parametrize(("epochs", "warns"), [(8, True), (30, False)])
def test_the_default_tolerance_is_missed_in_silence_by_less_than_a_thousandth(
    epochs, warns
):
    problem = slow_problem()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        _, at = solved(problem, Optimum(epochs=epochs, seed=1))
    assert at.relative_gap > 1e-6
    assert (at.relative_gap > 1e-3) == warns == bool(told)


def test_weights_stand_for_repeated_rows():
    base = random_problem(7)
    counts = np.random.default_rng(0).integers(1, 4, base.n)
    weights = counts * base.n / counts.sum()
    one = Problem(base.X, base.y, 0.05, weights=weights)
    two = Problem(np.repeat(base.X, counts, 0), np.repeat(base.y, counts), 0.05)
    (best, at), (other, there) = (
        solved(p, Optimum(seed=1, tol=1e-9)) for p in (one, two)
    )
    # ||beta - beta*||^2 <= 2 gap / lam, for each of the two
    apart = np.sqrt(2.0 * np.array([at.gap, there.gap]) / 0.05).sum()
    assert np.linalg.norm(best.beta - other.beta) <= apart <= 1e-3


@pytest.mark.parametrize(("n", "p"), [(5000, 10), (20000, 50)])
def test_a_few_heavy_rows_take_no_more_steps(n, p):
    # A row for the many of each class that are far below the margin, of their weight.
    rng = np.random.default_rng(1)
    y, told = rng.choice([-1.0, 1.0], n), np.arange(p) < p // 5
    X = rng.normal(size=(n, p)) + 0.3 * y[:, None] * told
    m = y * (0.8 * X[:, told].sum(axis=1) / np.sqrt(told.sum()))
    near, low = np.abs(m - 1.0) < 0.3, m < 0.7
    classes = [low & (y == sign) for sign in (-1.0, 1.0)]
    X = np.vstack([X[near], *(X[rows].mean(axis=0) for rows in classes)])
    weights = np.append(np.ones(near.sum()), [rows.sum() for rows in classes])
    y = np.append(y[near], [-1.0, 1.0])
    problem = ps.SVM(y, X, lam=1e-4, weights=weights).problem
    assert solved(problem, Optimum(epochs=40, tol=1e-6, seed=1))[1].relative_gap <= 1e-6


def test_a_gap_within_the_tolerance_is_no_reason_to_warn():
    # Newton's own sum of the gap, of an objective of 2e-12, is rounding alone.
    X = np.random.default_rng(5).normal(size=(40, 4))
    y = np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0)
    weights = np.where(y > 0, 1e-12, 1.0)
    result = ps.SVM(y, X, weights=weights, lam=1.0).fit(ps.Optimum(tol=1e-8, seed=1))
    assert result.relative_gap <= 1e-8
    assert result.converged
