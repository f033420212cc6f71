"""Duality gaps: what they promise, against optima found by others."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.arrays import read_only
from pegasos_stats.solvers.certificate import (
    Certificate,
    balanced,
    certificate,
    feasible,
)
from pegasos_stats.solvers.intercept import zero_model
from pegasos_stats.solvers.optimum_run import run_to_optimum
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.studies.cross_validation import null_dual
from tests.solvers.solved import risk_of_a_peer

ROUNDING = 1e-12  # sums of 60 terms


@cache
def drawn(seed, loss, balance, n=60, p=4):
    """A problem, every other one of sparse rows, and the risk that a peer comes to."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < max(1, int(balance * n)), 1.0, -1.0)
    X = rng.standard_normal((n, p)) + 0.7 * y[:, None] * (np.arange(p) == 0)
    X = csr_array(X) if seed % 2 else X
    problem = Problem(X, y, 10.0 ** rng.uniform(-2, 0.5), loss)
    return problem, risk_of_a_peer(problem)


RUNS = [
    {},
    {"arithmetic": "fast"},
    {"batch_size": 7},
    {"epochs": None, "order": "replace", "steps": 2000},
    {"project": True},
    {"average": "all"},
    {"refit_intercept": True},
    {"epochs": 1},
    {"step": 0.05},
    {"step": "1/(lambda n)", "average": "all"},
    {"step": "1/sqrt(t)", "project": True},
    {"step": 3.0, "epochs": 6},  # eta lam > 1: slope weights of both signs, clipped
    {"start": "random", "first_step": 3},
    {"start": "random", "step": 0.1},
    {"first_step": 5000},
]


@pytest.mark.parametrize("options", RUNS, ids=str)
@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("balance", [0.5, 0.02])
def test_the_gap_is_never_below_the_true_suboptimality(options, loss, balance):
    model = {"hinge": ps.SVM, "log": ps.Logit}[loss]
    solver = ps.Pegasos(**{"epochs": 30, "seed": 1} | options)
    for seed in range(5):
        problem, best = drawn(seed, loss, balance)
        result = model(problem.y, problem.X, lam=problem.lam).fit(solver)
        assert result.gap >= (result.objective - best) * (1.0 - ROUNDING)
        assert result.dual_objective <= best * (1.0 + ROUNDING)
        assert 0.0 <= result.relative_gap <= 1.0


def test_trace_records_every_epoch():
    train, test = ps.datasets.load_digits56()
    model = ps.svm("digit ~ .", train, lam=1.0)
    result = model.fit(ps.Pegasos(epochs=4, seed=1), trace=True, test=test)
    trace = result.trace
    assert trace["epoch"].tolist() == [1, 2, 3, 4]
    assert trace["steps"].tolist() == [200, 400, 600, 800]
    assert trace["objective"].iloc[-1] == result.objective
    assert trace["gap"].iloc[-1] == result.gap
    assert trace["violations"].sum() == result.n_violations
    assert trace["training_error"].iloc[-1] == result.confusion().error_rate
    assert trace["test_error"].iloc[-1] == result.confusion(test).error_rate
    assert (trace["cpu_seconds"].diff().dropna() >= 0).all()
    plain = model.fit(ps.Pegasos(epochs=4, seed=1))
    assert plain.trace is None
    assert plain.params.equals(result.params)
    shorter = model.fit(ps.Pegasos(epochs=2, seed=1))
    assert trace["objective"].iloc[1] == shorter.objective
    assert trace["gap"].iloc[1] == shorter.gap


@pytest.mark.parametrize("ties", ["positive", "negative"])
def test_the_trace_counts_ties_as_the_table_does(ties):
    Z, y = np.zeros((4, 1)), ["a", "b", "a", "b"]
    solver = ps.Pegasos(epochs=2, seed=1, ties=ties)
    for model in (
        ps.SVM(y, Z, intercept=False, lam=1.0),
        ps.KernelSVM(y, Z, kernel="linear", intercept=False, lam=1.0),
    ):
        result = model.fit(solver, trace=True, test=(y, Z))
        assert result.confusion().error_rate == 0.5
        assert (result.trace[["training_error", "test_error"]].iloc[-1] == 0.5).all()


@pytest.mark.parametrize(
    ("loss", "intercept"), [("log", True), ("log", False), ("hinge", False)]
)
@pytest.mark.parametrize("away", [-2.0, 0.0, 2.0])
def test_the_dual_of_the_intercept_alone_certifies_it_beside_an_offset(
    loss, intercept, away
):
    rng = np.random.default_rng(4)
    y, weights = np.where(np.arange(30) < 7, 1.0, -1.0), rng.uniform(0.1, 3.0, 30)
    offset = rng.normal(away, 1.5, 30)
    given = {"weights": weights / weights.mean(), "offset": offset}
    problem = Problem(np.zeros((30, 1)), y, 1.0, loss, intercept, **given)
    beta, alpha = np.zeros(1), zero_model(problem)[0]
    found = certificate(problem, beta, alpha, null_dual(problem))
    # The gap of the log loss is of second order in the rounding of the intercept.
    assert found.relative_gap <= 1e-12


def test_an_objective_of_zero_has_a_relative_gap():
    # P underflows: what is left of it is rounding, or nothing.
    assert Certificate(0.0, 0.0, 0).relative_gap == 0.0
    assert Certificate(0.0, 0.0, 0, rounding=1e-320).relative_gap == np.inf


def test_feasible_points_are_in_their_boxes_and_balance_the_classes():
    a = np.array([-1.0, 0.0, 0.5, 2.0, np.nan, np.inf, -np.inf])
    weights = np.array([1.0, 1.0, 1.0, 1.5, 1.0, 0.25, 1.0])
    found = feasible(a, np.ones(7), False, weights)
    np.testing.assert_array_equal(found, [0.0, 0.0, 0.5, 1.5, 0.0, 0.25, 0.0])
    rng = np.random.default_rng(0)
    y = read_only(rng.choice([-1.0, 1.0], 50))
    a = feasible(2.0 * rng.random(50), y, intercept=True)
    assert 0.0 <= a.min() < a.max() <= 1.0
    assert a @ y == pytest.approx(0.0, abs=1e-13)  # 50 terms of at most 1
    for sign in (1.0, -1.0):  # a class without weights leaves none to the other
        assert not balanced(np.where(y == sign, 0.7, 0.0), y).any()


@pytest.mark.parametrize("seed", range(40))
def test_balanced_weights_have_equal_sums_without_rounding(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    y = np.where(rng.random(n) < (0.1, 0.5, 0.9)[seed % 3], 1.0, -1.0)
    a = rng.random(n) * 10.0 ** rng.integers(-12, 3, n) * (rng.random(n) < 0.8)
    lowered = balanced(a, y)
    assert (lowered >= 0.0).all()
    assert (lowered <= a).all()
    assert sum(map(Fraction, lowered * y)) == 0
    np.testing.assert_array_equal(balanced(lowered, y), lowered)


@pytest.mark.parametrize("loss", ["log", "squared_hinge"])
@pytest.mark.parametrize("kind", ["plain", "no intercept", "weights", "offset"])
def test_sums_of_the_last_pass_certify_without_another_one(loss, kind, monkeypatch):
    rng = np.random.default_rng(11)
    X = 0.3 + rng.standard_normal((9000, 20))  # two blocks of rows
    y = np.where(X[:, 0] + rng.standard_normal(9000) > 1.0, 1.0, -1.0)
    weights = rng.random(9000) * (rng.random(9000) < 0.9)
    given = {
        "weights": {"weights": weights / weights.mean()},
        "offset": {"offset": rng.standard_normal(9000)},
    }
    problem = Problem(X, y, 1e-3, loss, kind != "no intercept", **given.get(kind, {}))
    with monkeypatch.context() as without:
        without.setattr("pegasos_stats.solvers.certificate.row_sums", None)
        solution = run_to_optimum(problem, ps.Optimum())
    at = vars(solution)["certificate"]
    exact = certificate(problem, solution.beta, solution.alpha, solution.dual)
    assert at.objective == pytest.approx(exact.objective, rel=ROUNDING)
    # Rounding may take 1e-9 of the objective off the bound, and adds nothing to it.
    below = exact.dual_objective - at.dual_objective
    assert -ROUNDING <= below / at.objective <= 1e-9
