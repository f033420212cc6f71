"""Duality gaps: what they promise, against optima found by others."""

import re
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import pegasos_stats as ps
from pegasos_stats.solvers.objective import Certificate, certificate, feasible, primal
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.proximal import zero_model
from pegasos_stats.solvers.rounding import Rounding, Within
from pegasos_stats.solvers.shortfall import Shortfall
from pegasos_stats.studies.selection.lambdas import null_dual

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


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_the_gap_closes_with_more_epochs(loss):
    problem = problem_of(3, loss)
    model = {"hinge": ps.SVM, "log": ps.Logit}[loss](problem.y, problem.X, lam=0.5)
    gaps = [model.fit(ps.Pegasos(epochs=e, seed=1)).gap for e in (10, 100, 1000)]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.01


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


def test_summary_says_how_far_and_warns_of_a_runaway_intercept():
    train, _ = ps.datasets.load_digits56()
    good = ps.svm("digit ~ .", train, lam=1.0).fit(ps.Pegasos(seed=443))
    assert "Certified by duality" in str(good.summary(details=True))
    assert not [note for note in good.notes if note.severity == "warning"]
    wild = ps.svm("digit ~ .", train, lam=0.001).fit(ps.Pegasos(epochs=1, seed=443))
    assert wild.objective > 1.0
    text = str(wild.summary())
    assert "refine=1e-6" in text


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
    shorter = model.fit(ps.Pegasos(epochs=2, seed=1))
    assert trace["objective"].iloc[1] == shorter.objective
    assert trace["gap"].iloc[1] == shorter.gap


def test_tracing_changes_no_number_and_is_off_by_default():
    train, _ = ps.datasets.load_digits56()
    model = ps.logit("digit ~ .", train, lam=1.0)
    plain = model.fit(ps.Pegasos(epochs=3, seed=1))
    traced = model.fit(ps.Pegasos(epochs=3, seed=1), trace=True)
    assert plain.trace is None
    assert traced.params.equals(plain.params)


def test_held_out_rows_need_a_trace():
    train, test = ps.datasets.load_digits56()
    with pytest.raises(ps.errors.OptionError, match="trace=True"):
        ps.svm("digit ~ .", train, lam=1.0).fit(ps.Pegasos(seed=1), test=test)


def test_held_out_rows_of_a_frame_model():
    train, test = ps.datasets.load_digits56()
    X, new = train.drop(columns="digit"), test.drop(columns="digit")
    model = ps.SVM(train["digit"], X, lam=1.0)
    solver = ps.Pegasos(epochs=1, seed=1)
    by_pair = model.fit(solver, trace=True, test=(test["digit"], new))
    by_frame = model.fit(solver, trace=True, test=test)
    pd.testing.assert_series_equal(
        by_pair.trace["test_error"], by_frame.trace["test_error"]
    )


def test_progress_shows_a_bar(capsys):
    train, _ = ps.datasets.load_digits56()
    ps.svm("digit ~ .", train, lam=1.0).fit(ps.Pegasos(epochs=3, seed=1), progress=True)
    assert "3/3" in capsys.readouterr().err


def test_an_interrupted_fit_leaves_the_model_as_it_was(monkeypatch):
    train, _ = ps.datasets.load_digits56()
    model = ps.svm("digit ~ .", train, lam=1.0)
    solver = ps.Pegasos(epochs=5, seed=1)
    before = model.fit(solver)
    monkeypatch.setattr("pegasos_stats.models.base.certificate_of", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(solver, trace=True)
    assert model.fit(solver).params.equals(before.params)


def interrupt(*_):
    raise KeyboardInterrupt


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


def test_the_time_of_the_updates_has_no_loading_in_it():
    code = (
        "import pegasos_stats as ps; train, _ = ps.datasets.load_digits56(); "
        "model = ps.svm('digit ~ .', train, lam=1.0); "
        "fit = model.fit(ps.Pegasos(epochs=2, seed=1), trace=True)"
        "; print(fit.trace['cpu_seconds'].iloc[0])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    # 200 updates of 64 coefficients take some microseconds, loading kernels 10^4 times
    assert float(run.stdout) < 0.01


def test_the_warning_names_what_ran_away():
    rng = np.random.default_rng(1)
    X, y = 10.0 * rng.standard_normal((40, 3)), rng.random(40) < 0.5
    solver = ps.Pegasos(epochs=3, seed=1, refit_intercept=True)
    found = ps.SVM(y, X, lam=1e-3).fit(solver).summary(details=True)
    assert "the coefficients diverged" in found.notes[0]
    assert "intercept refitted" in str(found)


def test_held_out_rows_must_be_complete():
    with pytest.raises(ps.errors.DataError, match="No held-out row"):
        ps.SVM([0, 1], np.eye(2), lam=1.0).fit(
            ps.Pegasos(seed=1), trace=True, test=([0], np.full((1, 2), np.nan))
        )


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_the_dual_of_the_intercept_alone_balances_unequal_classes(loss):
    X, y = np.zeros((5, 1)), np.array([1.0, -1.0, -1.0, -1.0, -1.0])
    problem = Problem(X, y, 1.0, loss, weights=np.array([0.5, 2.0, 1.0, 1.0, 0.5]))
    a = null_dual(problem)
    share = problem.weights[y > 0].sum() / problem.weights.sum()
    assert a @ y == pytest.approx(0.0, abs=1e-15)
    if loss == "log":  # the slope of the loss at the intercept log(share / (1 - share))
        np.testing.assert_allclose(
            a, problem.weights * np.where(y > 0, 1 - share, share)
        )


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


INFINITE = (
    "Nothing is certified: the numbers are so large that rounding could hide any gap; "
    "bring the predictors to a common scale."
)


def with_certificate(found):
    """A fit whose certificate is another one."""
    result = ps.SVM([0, 1] * 5, np.arange(10.0)[:, None], lam=1.0).fit(
        ps.Pegasos(seed=1)
    )
    vars(result)["certificate"] = found
    vars(result)["shortfall"] = Shortfall.certified(found)
    return result


def test_an_infinite_gap_is_no_number_in_words():
    result = with_certificate(Certificate(1.0, 0.0, 0, rounding=np.inf))
    assert result.gap == result.relative_gap == np.inf
    assert INFINITE in " ".join(str(result.summary(details=True)).split())
    assert "not converged: no certificate" in str(result.summary())
    text = ps.report(result).to_markdown()
    assert f"\n{INFINITE}\n" in text
    assert not re.search(r"\binf\b", text)


def test_the_gap_of_an_objective_of_zero_is_said_as_it_is():
    result = with_certificate(Certificate(0.0, -(2.0**-60), 0))
    text = " ".join(str(result.summary(details=True)).split())
    assert "the objective is at most 8.674e-19 above its minimum" in text
    text = ps.report(result).to_markdown()
    assert "Relative gap" not in text
    assert not re.search(r"\binf\b", text)


@pytest.mark.parametrize("value", [-3.0, 0.0, 1e-300, 2.0**60])
@pytest.mark.parametrize("error", [0.0, 1e-9, 0.5, 1e200])
def test_the_ends_of_an_interval_hold_its_error_and_little_more(value, error):
    within = Within(value, error)
    slack = 0.02 * error + np.spacing(abs(value))  # of the higher powers of a rounding
    for end, exact in ((within.above, value + error), (within.below, value - error)):
        assert abs(end - exact) <= slack
    assert within.above >= value + error
    assert within.below <= value - error


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("balance", [0.5, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_some_risk_is_always_left(loss, balance, weighted, scale):
    given = problem_of(3, loss, balance=balance)
    weights = np.arange(1.0, 61.0) if weighted else None
    kind = ps.SVM if loss == "hinge" else ps.Logit
    model = kind(given.y, given.X * scale, lam=0.3, weights=weights)
    fit = model.fit(ps.SDCA(epochs=200, tol=1e-6, seed=1))
    least = Rounding(model.problem, np.zeros(4), 0.0).least()
    assert 0.0 < least <= fit.objective


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_weights_were_rounded_when_they_were_normalised(loss):
    weights, given = np.arange(1.0, 61.0), problem_of(3, loss)
    model = (ps.SVM if loss == "hinge" else ps.Logit)(
        given.y, given.X, lam=0.3, weights=weights
    )
    normal = replace(model.problem, weights=None)
    seen = SimpleNamespace(loss=60.0, loss_rest=0.0, loss_error=0.0)
    plain, rounded = (
        Rounding(problem, np.zeros(4), 0.0).primal_exactly(seen).error
        for problem in (normal, model.problem)
    )
    # A sum, a product and a division: each weight is that of the user to 3 roundings.
    assert rounded >= plain + 3.0 * 2.0**-53


@pytest.mark.parametrize("off", [1e-3, 10.0, 1e3])
def test_the_cost_of_an_image_is_bounded_for_all_images_as_near(off):
    problem, image = problem_of(3), np.array([3.0, -4.0, 12.0, 0.0])  # of length 13
    radius = float(np.linalg.norm(problem.X, axis=1).max())
    dual = off / ((1.0 + 2.0) * 2.0**-53 * radius)  # roundings of one addition
    seen = SimpleNamespace(image=image, additions=1.0, dual=dual)
    within = Rounding(problem, np.zeros(4), 0.0).cost(seen)
    per_square = 0.5 / problem.lam / problem.n**2
    assert within.value == pytest.approx(per_square * 13.0**2, rel=1e-15)
    farthest = per_square * ((13.0 + off) ** 2 - 13.0**2)
    # above it by the margins of 1% of the length, twice where it is squared
    assert farthest <= within.error <= 1.03 * farthest
