"""The pairs bootstrap: what every replicate is, and that threads change nothing."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import pegasos_stats as ps
from pegasos_stats.errors import ConvergenceWarning, DataError, OptionError
from pegasos_stats.models.inference.bootstrap import (
    DISTANCE,
    GAP,
    Refit,
    bootstrap,
    resampled_rows,
)
from pegasos_stats.models.inference.options import Bootstrap
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.certificate import certificate, primal
from pegasos_stats.solvers.intercept import best_intercept
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.optimum_run import run_to_optimum
from pegasos_stats.solvers.problem import Problem

pytestmark = pytest.mark.slow

LOSSES = pytest.mark.parametrize("loss", ["hinge", "log"])
BOTH = pytest.mark.parametrize("intercept", [True, False])


def drawn(n=120, p=4, loss="hinge", lam=0.05, intercept=True, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0.5, 1.0, -1.0)
    return Problem(X, y, lam, loss, intercept)


def weighted(problem, seed=2):
    weights = np.random.default_rng(seed).integers(0, 4, problem.n).astype(float)
    return replace(problem, weights=weights / weights.mean())


def fit(problem):
    return run_to_optimum(problem, Optimum(epochs=1000, tol=1e-8, seed=1))


def run(problem, replicates=40, seed=443, tol=1e-10, **options):
    options = Bootstrap(replicates, seed, tol=tol, **options)
    return bootstrap(problem, fit(problem), options)


def resamples(problem, replicates=40, seed=443):
    """The problem of each replicate, rows weighted by how often they were drawn."""
    rng, n = RRandom(seed), problem.n
    for _ in range(replicates):
        rows = rng.sample_int(n, n, replace=True) - 1
        weights = np.bincount(rows, minlength=n) * problem.row_weights
        yield replace(problem, weights=weights / weights.mean())


def parts(problem, estimate):
    """Coefficients and intercept of a replicate."""
    return (estimate[1:], estimate[0]) if problem.intercept else (estimate, 0.0)


@LOSSES
@BOTH
def test_workers_change_no_bit(loss, intercept):
    problem = drawn(loss=loss, intercept=intercept)
    one = run(problem, 100, workers=1)
    for workers in (2, 5):
        many = run(problem, 100, workers=workers)
        np.testing.assert_array_equal(many.estimates, one.estimates)
        np.testing.assert_array_equal(many.covariance, one.covariance)
        assert many.distance == one.distance


def exact(problem):
    """Coefficients and intercept by scikit-learn."""
    C = 1.0 / (problem.lam * problem.n)
    model = (
        SVC(kernel="linear", C=C, tol=1e-6)
        if problem.loss == "hinge"
        else LogisticRegression(C=C, tol=1e-10, max_iter=10_000, solver="newton-cg")
    )
    model.fit(problem.X, problem.y, sample_weight=problem.weights)
    return model.coef_[0], float(model.intercept_[0])


@LOSSES
@pytest.mark.parametrize(
    ("lam", "weights"), [(1.0, True), (0.05, False), (0.05, True), (1e-3, False)]
)
def test_every_replicate_is_the_optimum_that_scikit_learn_finds(loss, lam, weights):
    problem = drawn(loss=loss, lam=lam)
    problem = weighted(problem) if weights else problem
    found = run(problem)
    assert found.relative_gap <= 1e-10
    for resample, estimate in zip(resamples(problem), found.estimates, strict=True):
        beta, alpha = parts(problem, estimate)
        theirs = exact(resample)
        excess = primal(resample, *theirs) - primal(resample, beta, alpha)
        # Ours is within 1e-10 of the optimum, so theirs is not below it by more; both
        # are within sqrt(2 gap / lam) of the optimal beta.
        assert excess >= -1e-10
        bound = found.distance + np.sqrt(2.0 * (max(excess, 0.0) + 1e-10) / lam)
        assert np.linalg.norm(beta - theirs[0]) <= bound


@LOSSES
@pytest.mark.parametrize(
    ("form", "intercept"),
    [("dense", True), ("float32", False), ("sparse", True), ("wide", False)],
)
def test_every_replicate_has_the_certificate_that_it_claims(loss, intercept, form):
    problem = drawn(40, 90 if form == "wide" else 5, loss, 0.05, intercept)
    if form == "float32":
        problem = replace(problem, X=problem.X.astype(np.float32))
    if form == "sparse":
        X = csr_array(np.where(np.abs(problem.X) > 0.7, problem.X, 0.0))
        problem = replace(problem, X=X)
    found = run(problem, 10)
    for resample, estimate in zip(resamples(problem), found.estimates, strict=False):
        beta, alpha = parts(problem, estimate)
        best = run_to_optimum(resample, Optimum(epochs=3000, tol=1e-11, seed=1))
        bound = certificate(resample, best.beta, best.alpha, best.dual)
        at = primal(resample, beta, alpha)
        # Each is within its own tolerance of the same optimum.
        assert at - bound.dual_objective <= (1e-10 + 1.1e-11) * at
        apart = found.distance + np.sqrt(2.0 * 1.1e-11 * at / 0.05)
        assert np.linalg.norm(beta - best.beta) <= apart


def test_an_intercept_that_may_lie_anywhere_between_two_is_in_the_middle():
    # With so large a penalty all rows violate their margin, and even counts balance.
    problem = drawn(60, 3, lam=3.0)
    found = run(problem, 60)
    for each, estimate in zip(resamples(problem, 60), found.estimates, strict=True):
        in_it = each.weights > 0.0
        scores, w = (each.X @ estimate[1:])[in_it], each.weights[in_it]
        middle = best_intercept(scores, each.y[in_it], "hinge", w)
        # Sums of 3 products, in another order.
        assert estimate[0] == pytest.approx(middle, abs=1e-12)


def few_of_a_class(intercept):
    X = np.random.default_rng(0).standard_normal((40, 2))
    return Problem(X, np.where(np.arange(40) < 2, 1.0, -1.0), 0.1, "log", intercept)


def test_resamples_of_one_class_are_left_out_and_counted():
    problem = few_of_a_class(intercept=True)
    alone = [(r.weights[:2] == 0.0).all() for r in resamples(problem, 100)]
    found = run(problem, 100)
    assert found.notes[0].text.startswith(f"{sum(alone)} resamples of 100")
    assert found.n_left_out == sum(alone) > 0
    assert found.estimates.shape == (100 - sum(alone), 3)
    left = [r for r, out in zip(resamples(problem, 100), alone, strict=True) if not out]
    for resample, estimate in zip(left, found.estimates, strict=True):
        # The draws of those that are left out are used up.
        at = primal(resample, estimate[1:], estimate[0])
        assert at <= primal(resample, *exact(resample)) * (1.0 + 1e-9)


def test_without_intercept_one_class_alone_has_an_optimum():
    found = run(few_of_a_class(intercept=False), 100)
    assert (found.n_left_out, found.notes) == (0, ())
    assert found.estimates.shape == (100, 2)


def test_too_few_resamples_are_an_error():
    problem = Problem(np.zeros((3, 1)), np.array([-1.0, 1.0, 1.0]), 1.0)
    alone = next(
        seed
        for seed in range(100)
        if all(r.weights[0] == 0.0 for r in resamples(problem, 2, seed))
    )
    with pytest.raises(DataError, match="Fewer than two are left"):
        run(problem, 2, alone)


def test_what_the_steps_do_not_reach_warns_once(monkeypatch):
    refit = Refit.__call__

    def far(self, rows):
        estimates, found = refit(self, rows)
        found[:, GAP] = 1.0
        return estimates, found

    monkeypatch.setattr(Refit, "__call__", far)
    with pytest.warns(ConvergenceWarning, match="10 resamples of 10") as seen:
        found = run(drawn(60), 10, workers=2)
    assert found.relative_gap == 1.0
    assert len(seen) == 1
    assert seen[0].filename == __file__


@LOSSES
@pytest.mark.parametrize("tol", [1e-3, 1e-5])
def test_the_distance_is_the_root_of_twice_the_gap_by_lambda(loss, tol):
    problem = weighted(drawn(60, loss=loss, lam=0.3))
    rows = next(resampled_rows(60, 6, RRandom(443)))
    estimates, found = Refit(problem, fit(problem), tol)(rows)
    for b, resample in enumerate(resamples(problem, 6)):
        objective = primal(resample, estimates[b, 1:], estimates[b, 0])
        gap = found[b, GAP]
        distance = np.sqrt(2.0 * gap * objective / 0.3)
        assert 0.0 < gap <= tol
        # The intercept is put in the middle after the gap was taken: the objective is
        # another one by at most the gap, and its sums are of another order.
        assert found[b, DISTANCE] == pytest.approx(distance, rel=gap + 1e-9)


def test_intervals_follow_from_the_replicates():
    found = run(drawn(), 200)
    ends = np.quantile(found.estimates, [0.05, 0.95], axis=0).T
    # (1 - 0.9) / 2 is 0.05 to rounding; qnorm(0.95) has the digits written here.
    np.testing.assert_allclose(found.conf_int(0.9, "percentile"), ends, rtol=1e-12)
    mirrored = 2.0 * found.estimate[:, None] - ends[:, ::-1]
    np.testing.assert_allclose(found.conf_int(0.9, "basic"), mirrored, rtol=1e-12)
    normal = found.conf_int(0.9, "normal")
    reach = 1.6448536269514722 * np.sqrt(np.diag(found.covariance))
    np.testing.assert_allclose(normal[:, 1] - found.estimate, reach, rtol=1e-12)
    for named, wrong in (("level", [1.0]), ("interval", [0.9, "bca"])):
        with pytest.raises(OptionError, match=named):
            found.conf_int(*wrong)


def test_intervals_contain_zero_where_its_p_value_exceeds_five_percent():
    rng, n = np.random.default_rng(1), 371
    age = rng.integers(20, 90, n).astype(float)
    X = np.column_stack([age, rng.random(n) < 0.25, rng.random(n) < 0.25])
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-0.03 * (age - 50))), 1, -1)
    table = ps.SVM(y, X).fit().tidy()  # many resamples estimate 0
    holds_zero = (table.conf_low <= 0.0) & (table.conf_high >= 0.0)
    assert (holds_zero == (table.p_value > 0.05)).all()
    assert (table[["conf_low", "conf_high"]] == 0.0).any(axis=None)


# Rows that ties of the hinge hold at a score of 0: rounding decides their labels.
def test_shares_count_rows_that_ties_hold_at_zero_as_half():
    rng, n = np.random.default_rng(11), 500
    data = pd.DataFrame({"a": rng.integers(0, 5, n), "b": rng.integers(0, 2, n)})
    data["g"] = rng.choice(list("uvw"), n)
    odds = 0.5 * data["a"] + data["b"] - 1.0 * (data["g"] == "v") - 1.5
    data["y"] = odds + rng.logistic(size=n) > 0.0
    ties, shares = [], []
    for formula in ("y ~ b + g", "y ~ a + g", "y ~ a + b"):
        model = ps.svm(formula, data, lam=0.01)
        fits = [model.fit(ps.Optimum(seed=seed), cov_type="none") for seed in (1, 2)]
        ties.append(sum((np.abs(f.decision_function()) < 1e-5).sum() for f in fits))
        shares.append([fit.predictions().estimates.effect[0] for fit in fits])
    assert max(ties) > 0
    # They do not depend on the seed: sums of 500 numbers.
    np.testing.assert_allclose(*np.transpose(shares), rtol=1e-12)


def test_a_table_that_takes_long_is_not_begun(monkeypatch, capsys):
    X, y = np.random.default_rng(2).normal(size=(80, 2)), np.tile([0, 1], 40)
    model = ps.SVM(y, X + 0.5 * y[:, None], lam=0.1)
    whole = str(model.fit().summary())
    monkeypatch.setattr("pegasos_stats.models.inference.options.MOST_SECONDS", 1e-9)
    monkeypatch.setattr("pegasos_stats.models.inference.bootstrap.MOST_SECONDS", 1e-9)
    result = model.fit()
    before = str(result.summary())
    assert "resamples. result.conf_int() computes them" in " ".join(before.split())
    assert not result.has_covariance
    result.conf_int()
    assert "resample/s" in capsys.readouterr().err  # its progress
    assert str(result.summary()) == whole


@pytest.mark.parametrize("lead", [1.0, 300.0])
def test_no_resamples_are_drawn_where_all_coefficients_are_zero(lead):
    draw = np.random.default_rng(3)
    X, y = lead * draw.normal(size=(300, 2)), np.repeat(["no", "yes"], [291, 9])
    result = ps.SVM(y, X).fit()
    assert not result.coef.any()
    text = " ".join(str(result.summary()).split())
    assert text.count("all coefficients are 0") == 1
    assert result.tidy()["std_error"].isna().all()
    with pytest.raises(OptionError, match="no resamples were drawn"):
        result.conf_int()
    assert not result.has_covariance
    asked = result.with_covariance(ps.Bootstrap(39))  # by name they are drawn
    assert len(asked.estimated.estimates) == 39


@pytest.mark.parametrize(("replicates", "is_said"), [(38, True), (39, False)])
def test_the_summary_says_why_there_are_no_intervals(replicates, is_said):
    """An envelope of 95% needs 39 resamples; an interval of another kind does not."""
    data = ps.load_affairs().iloc[::20]
    model = ps.logit("affair ~ age", data, lam=0.1)
    result = model.fit(cov_type=ps.Bootstrap(replicates))
    text = " ".join(str(result.summary()).split())
    assert ("(95% intervals need 39 resamples)" in text) is is_said
    assert np.isnan(result.conf_int().to_numpy()).all() == is_said
    normal = model.fit(cov_type=ps.Bootstrap(replicates, interval="normal"))
    assert "need 39 resamples" not in " ".join(str(normal.summary()).split())
