"""SDCA: certificates, tolerances, the exact optimum, warm starts, R's order."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import ConvergenceWarning, OptionError
from pegasos_stats.solvers.certificate import primal
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.optimum_run import run_to_optimum
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.smooth_newton import RiskValue, line_search
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
        run_to_optimum(problem, SDCA(epochs=5, tol=0, seed=1, **other))
        for other in ({}, {"arithmetic": "fast"})
    )
    assert bits.n_iter == fast.n_iter == 5 * problem.n
    # Sums of at most 200 numbers in another order.
    np.testing.assert_allclose(fast.beta, bits.beta, rtol=0, atol=1e-12)
    with pytest.raises(OptionError, match=r"SDCA has no intercept; .* ps\.Optimum"):
        run_to_optimum(base, SDCA(seed=1))


# ---- The averaging and the random option of Shalev-Shwartz & Zhang, Procedure SDCA.

N, EPOCHS, LAST = 40, 6, 4
SUMMED = 1e-12  # sums of some hundred numbers of about 1, in another order


@pytest.fixture(scope="module", params=["dense", "sparse"])
def two_classes(request):
    X = np.random.default_rng(3).standard_normal((N, 5))
    y = np.where(X[:, 0] + np.random.default_rng(4).standard_normal(N) > 0, 1.0, -1.0)
    rows = X if request.param == "dense" else csr_array(X)
    return X, y, ps.SVM(y, rows, lam=0.05, intercept=False)


def iterates(X, y, lam, rows):
    """``(a, beta)`` before the first step and after each of them, as published."""
    a, beta = np.zeros(len(y)), np.zeros(X.shape[1])
    found = [(a.copy(), beta.copy())]
    for i in rows:
        scale = lam * len(y)
        new = np.clip(a[i] + scale * (1.0 - y[i] * (X[i] @ beta)) / (X[i] @ X[i]), 0, 1)
        beta += (new - a[i]) * y[i] / scale * X[i]
        a[i] = new
        found.append((a.copy(), beta.copy()))
    return found


@pytest.mark.parametrize("average", [1, LAST, "all"])
def test_the_average_is_that_of_the_iterates_before_each_step(two_classes, average):
    X, y, model = two_classes
    rng = ps.RRandom(9)
    rows = np.concatenate([rng.permutation(N) for _ in range(EPOCHS)])
    first = 0 if average == "all" else (EPOCHS - average) * N
    a, beta = (
        np.mean(part, axis=0)
        for part in zip(*iterates(X, y, 0.05, rows)[first:-1], strict=True)
    )
    result = model.fit(ps.SDCA(EPOCHS, tol=0, seed=9, average=average))
    np.testing.assert_allclose(result.solution.dual, a, rtol=0, atol=SUMMED)
    np.testing.assert_allclose(result.params, beta, rtol=0, atol=SUMMED)
    assert (result.n_epochs, result.n_iter) == (EPOCHS, EPOCHS * N)


def test_a_random_stop_returns_the_iterate_after_that_step(two_classes):
    X, y, model = two_classes
    stops = []
    for seed in range(60):
        rng = ps.RRandom(seed)
        stop = (EPOCHS - LAST) * N + int(rng.sample_int(LAST * N, 1)[0])
        rows = np.concatenate([rng.permutation(N) for _ in range(EPOCHS)])[:stop]
        a, beta = iterates(X, y, 0.05, rows)[-1]
        result = model.fit(ps.SDCA(EPOCHS, tol=0, seed=seed, random_stop=LAST))
        np.testing.assert_allclose(result.solution.dual, a, rtol=0, atol=SUMMED)
        np.testing.assert_allclose(result.params, beta, rtol=0, atol=SUMMED)
        assert (result.n_iter, result.n_epochs) == (stop, -(-stop // N))
        stops.append(stop)
    epochs = {-(-stop // N) for stop in stops}
    assert epochs == {3, 4, 5, 6}  # one is missing with probability 4 (3/4)^60 = 1e-7


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log"])
@pytest.mark.parametrize("options", [{"average": LAST}, {"random_stop": LAST}])
def test_the_certificate_is_that_of_the_iterate_returned(two_classes, loss, options):
    X, y, model = two_classes
    rows, lam = model.problem.X, 0.05
    kind = ps.Logit if loss == "log" else ps.SVM
    given = {} if loss == "log" else {"loss": loss}
    model = kind(y, rows, lam=lam, intercept=False, **given)
    result = model.fit(ps.SDCA(EPOCHS, tol=0, seed=2, **options), trace=True)
    m = y * (X @ result.params.to_numpy())
    losses = {"hinge": np.maximum(0, 1 - m), "log": np.logaddexp(0, -m)}
    losses["squared_hinge"] = losses["hinge"] ** 2
    risk = losses[loss].mean() + lam / 2 * (result.params**2).sum()
    assert result.objective == pytest.approx(risk, rel=SUMMED)
    of_dual = X.T @ (result.solution.dual * y) / (lam * N)
    np.testing.assert_allclose(result.params, of_dual, rtol=0, atol=SUMMED)
    best = model.fit(ps.Optimum(tol=1e-9)).objective
    assert result.dual_objective <= best <= result.objective
    assert result.trace["objective"].iloc[-1] == result.objective
    assert len(result.trace) == result.n_epochs


def test_the_mean_of_all_iterates_stops_at_its_own_gap(two_classes):
    *_, model = two_classes
    result = model.fit(ps.SDCA(tol=0.1, average="all", seed=5))
    shorter = result.n_epochs - 1
    before = model.fit(ps.SDCA(shorter, tol=0, average="all", seed=5))
    assert 1 <= shorter < 99
    assert result.relative_gap <= 0.1 < before.relative_gap
    assert result.converged


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"average": 3}, r"average=3 .* give tol=0"),
        ({"random_stop": 3, "gap_tol": 0.1}, r"random_stop=3 .* give tol=0"),
        ({"tol": 0, "average": 8}, r"average=8 .* more epochs"),
        ({"tol": 0, "random_stop": 7, "start": "sgd"}, r"random_stop=7 .* has \(6\)"),
        ({"tol": 0, "average": 2, "random_stop": 2}, "exclude each other"),
        ({"epochs": 1, "average": "all", "start": "sgd"}, r"run has \(0\)"),
    ],
)
def test_last_epochs_that_make_no_sense(options, words):
    with pytest.raises(OptionError, match=words):
        ps.SDCA(**{"epochs": 7} | options)


@pytest.mark.parametrize(("lam", "optimum"), [(1.0, 0.16390208), (0.01, 0.003471706)])
def test_the_optimum_on_digits(data_folder, lam, optimum):
    table = pd.read_csv(data_folder / "coding5_train.csv")
    X = np.ascontiguousarray(table.iloc[:, :256], dtype=np.float64)
    y = np.where(table.iloc[:, 256] == 5, -1.0, 1.0)
    problem = Problem(X, y, lam)
    found = run_to_optimum(problem, Optimum(seed=1, tol=1e-8))
    assert primal(problem, found.beta, found.alpha) == pytest.approx(optimum, rel=1e-6)


def test_every_epoch_is_run_with_tolerance_zero():
    for intercept in (True, False):
        base = random_problem(7)
        problem = Problem(base.X, base.y, 0.1, intercept=intercept)
        seen = []
        run_to_optimum(problem, Optimum(epochs=30, tol=0, seed=1), seen.append)
        assert [moment.epoch for moment in seen] == list(range(1, 31))


def slow_problem():
    """Noise in columns of very different scale."""
    rng = np.random.default_rng(1)
    y = rng.choice([-1.0, 1.0], 300)
    return Problem(rng.standard_normal((300, 4)) * [1.0, 1e2, 1e4, 1e6], y, 1e-4)


@pytest.mark.parametrize(("epochs", "warns"), [(6, True), (12, False)])
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


def test_a_direction_that_rounding_turns_upwards_is_given_up():
    """Its slope is the same everywhere, which leaves no secant to follow."""

    def line(theta):
        return RiskValue(1.0 + 10.0 * theta[0], np.ones(1), 0)

    theta, at = line_search(line, np.zeros(1), line(np.zeros(1)), np.ones(1))
    assert (theta[0], at.risk) == (0.0, 1.0)
