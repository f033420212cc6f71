"""Duality gaps: what they promise, against optima found by others."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import pegasos_stats as ps
from pegasos_stats.arrays import read_only
from pegasos_stats.solvers.objective import (
    Certificate,
    balanced,
    certificate,
    feasible,
    primal,
    zero_model,
)
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.studies.cross_validation import null_dual

# The peers stop at their tolerance of 1e-10; their optimum is that much too high.
PEER = 1e-7


def problem_of(seed, loss="hinge", n=60, p=4, balance=0.5, intercept=True):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < max(1, int(balance * n)), 1.0, -1.0)
    X = rng.standard_normal((n, p)) + 0.7 * y[:, None] * (np.arange(p) == 0)
    return Problem(X, y, 10.0 ** rng.uniform(-2, 0.5), loss, intercept)


def optimum(problem):
    C = 1.0 / (problem.lam * problem.n)
    if problem.loss == "hinge":
        peer = SVC(kernel="linear", C=C, tol=1e-10)
    else:
        peer = LogisticRegression(C=C, tol=1e-10, max_iter=10_000)
    peer.fit(problem.X, problem.y)
    return primal(problem, peer.coef_.ravel(), float(peer.intercept_[0]))


SOLVERS = {
    "epochs": ps.Pegasos(epochs=30, seed=1),
    "fast": ps.Pegasos(epochs=30, seed=1, arithmetic="fast"),
    "batches": ps.Pegasos(epochs=30, seed=1, batch_size=7),
    "paper": ps.Pegasos.paper(steps=2000, seed=1),
    "projection": ps.Pegasos(epochs=30, seed=1, project=True),
    "average": ps.Pegasos(epochs=30, seed=1, average="all"),
    "refit": ps.Pegasos(epochs=30, seed=1, refit_intercept=True),
    "one epoch": ps.Pegasos(epochs=1, seed=1),
}


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("balance", [0.5, 0.02])
def test_the_gap_is_never_below_the_true_suboptimality(name, loss, balance):
    model = {"hinge": ps.SVM, "log": ps.Logit}[loss]
    for seed in range(5):
        problem = problem_of(seed, loss, balance=balance)
        result = model(problem.y, problem.X, lam=problem.lam).fit(SOLVERS[name])
        best = optimum(problem)
        assert result.objective >= best - PEER
        assert result.gap >= result.objective - best - PEER
        assert result.dual_objective <= best + PEER
        assert 0.0 <= result.relative_gap <= 1.0


@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("batch_size", [1, 10])
@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_dual_weights_are_those_of_the_coefficients(loss, batch_size, project):
    problem = problem_of(4, loss)
    solver = ps.Pegasos(epochs=7, seed=2, batch_size=batch_size, project=project)
    model = {"hinge": ps.SVM, "log": ps.Logit}[loss](
        problem.y, problem.X, lam=problem.lam
    )
    found = model.fit(solver).solution
    image = (found.dual * problem.y) @ problem.X / (problem.lam * problem.n)
    # identity of section 5: exact but for the rounding of 420 steps
    np.testing.assert_allclose(found.beta, image, rtol=1e-10, atol=1e-12)
    assert found.dual.min() >= 0.0
    assert found.dual.max() <= 1.0 + 1e-12


def test_the_objective_and_dual_are_those_of_the_definition():
    problem = problem_of(5, intercept=False)
    result = ps.SVM(problem.y, problem.X, lam=problem.lam, intercept=False).fit(
        ps.Pegasos(epochs=9, seed=2)
    )
    a = result.solution.dual
    w = (a * problem.y) @ problem.X / (problem.lam * problem.n)
    dual = a.mean() - problem.lam / 2 * (w @ w)
    hinge = np.maximum(0.0, 1.0 - problem.y * (problem.X @ result.coef.to_numpy()))
    primal_value = problem.lam / 2 * (result.coef**2).sum() + hinge.mean()
    assert result.objective == pytest.approx(primal_value, rel=1e-13)
    assert result.dual_objective == pytest.approx(max(dual, 0.0), rel=1e-12)
    assert result.gap == result.objective - result.dual_objective


def test_feasible_points_balance_the_classes():
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 50)
    a = feasible(2.0 * rng.random(50), y, intercept=True)
    assert a.min() >= 0.0
    assert a.max() <= 1.0
    assert a @ y == pytest.approx(0.0, abs=1e-13)  # 50 terms of at most 1


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


@pytest.mark.parametrize(("ties", "rate"), [("positive", 0.5), ("negative", 0.5)])
def test_the_trace_counts_ties_as_the_table_does(ties, rate):
    Z, y = np.zeros((4, 1)), ["a", "b", "a", "b"]
    solver = ps.Pegasos(epochs=2, seed=1, ties=ties)
    for model in (
        ps.SVM(y, Z, intercept=False, lam=1.0),
        ps.KernelSVM(y, Z, kernel="linear", intercept=False, lam=1.0),
    ):
        result = model.fit(solver, trace=True, test=(y, Z))
        assert result.confusion().error_rate == rate
        assert result.trace["training_error"].iloc[-1] == rate
        assert result.trace["test_error"].iloc[-1] == rate


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


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_class_without_weights_leaves_none_to_the_other(sign):
    y = read_only(np.array([1.0, -1.0, 1.0, -1.0]))
    a = balanced(np.where(y == sign, 0.7, 0.0), y)
    assert not a.any()
    assert not balanced(a, y).any()


def test_weights_are_clipped_to_their_boxes():
    a = np.array([-1.0, 0.0, 0.5, 2.0, np.nan, np.inf, -np.inf])
    weights = np.array([1.0, 1.0, 1.0, 1.5, 1.0, 0.25, 1.0])
    found = feasible(a, np.ones(7), False, weights)
    np.testing.assert_array_equal(found, [0.0, 0.0, 0.5, 1.5, 0.0, 0.25, 0.0])
