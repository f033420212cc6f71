"""Weights that were asked to balance the classes, and those that happen to."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import pegasos_stats as ps
from pegasos_stats.models.inference.options import Bootstrap

TIGHT = ps.Optimum(tol=1e-12, epochs=2000, seed=1)
CLOSE = ps.Optimum(tol=1e-9, epochs=2000, seed=1)


def rows(n=300, seed=1):
    """Rows of a logistic model with a third of the labels 1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, (rng.random(n) < expit(X[:, 0] - 0.8)).astype(int)


def thirds():
    rng = np.random.default_rng(3)
    y = np.where(np.arange(300) < 100, "a", "b")
    return pd.DataFrame(rng.standard_normal((300, 2)), columns=["u", "v"]).assign(y=y)


@pytest.mark.parametrize("model", [ps.svm, ps.logit])
def test_given_weights_are_known_even_if_they_balance(model):
    """The errors of {a: 2, b: 1} are those of weights next to it, not half of them."""
    data = thirds()
    data["u"] += 2.0 * (data["y"] == "a")
    kind = "HC0" if model is ps.logit else "sandwich"
    found = [
        model("y ~ u + v", data, lam=0.1, weights=weights).fit(CLOSE, cov_type=kind)
        for weights in ({"a": 2.0, "b": 1.0}, {"a": 2.0002, "b": 1.0}, "balanced")
    ]
    given, near, balanced = (fit.bse for fit in found)
    # a weight 1e-4 larger moves a row or two of the hinge off the margin
    np.testing.assert_allclose(given, near, rtol=0.01)
    assert balanced["Intercept"] < 0.8 * given["Intercept"]
    np.testing.assert_allclose(found[0].params, found[2].params, atol=1e-4)
    assert [fit.problem.balanced for fit in found] == [False, False, True]


def test_classes_of_the_same_size_are_balanced_if_asked():
    (X, _), y = rows(), (np.arange(300) < 150).astype(int)
    X[:, 0] += y
    plain, fit = (
        ps.Logit(y, X, lam=0.1, weights=weights).fit(CLOSE, cov_type="HC0")
        for weights in (None, "balanced")
    )
    assert fit.problem.weights is None
    balanced = fit.bse["Intercept"]
    assert balanced < 0.95 * plain.bse["Intercept"]
    boot = fit.with_covariance(Bootstrap(200, seed=1, tol=1e-8))
    assert boot.bse["Intercept"] == pytest.approx(balanced, rel=0.2)  # 200: to 5%


@pytest.mark.parametrize("weights", [{0: 1.0, 1: 2.0}, "balanced"])
def test_a_saved_fit_keeps_what_was_asked(tmp_path, weights):
    (X, _), y = rows(), (np.arange(300) < 100).astype(int)
    result = ps.Logit(y, X, lam=0.1, weights=weights).fit(CLOSE)
    expected, errors = result.predictions().estimates.sd, result.bse
    ps.save(result, tmp_path / "fit.pegasos")
    loaded = ps.load(tmp_path / "fit.pegasos")
    assert loaded.problem.balanced == (weights == "balanced")
    again = loaded.predictions(data=X).estimates.sd
    np.testing.assert_allclose(again, expected, rtol=1e-12)
    assert loaded.bse.equals(errors)


def test_files_have_what_was_asked(tmp_path):
    data = thirds()
    data.to_parquet(tmp_path / "rows.parquet")
    scan = ps.scan(tmp_path / "rows.parquet")
    for weights in ({"a": 2.0, "b": 1.0}, "balanced"):
        models = (
            ps.logit("y ~ u + v", rows, lam=0.1, weights=weights)
            for rows in (scan, data)
        )
        there, here = (model.fit(CLOSE, cov_type="HC0") for model in models)
        assert there.problem.balanced == here.problem.balanced
        np.testing.assert_allclose(there.bse, here.bse, rtol=1e-3)  # of both gaps
        prior, same = there.covariance.prior, here.covariance.prior
        assert (prior is None) == (weights != "balanced")
        for each in [] if prior is None else [prior, same]:
            assert each[-1] == pytest.approx(1 / 100 + 1 / 200, rel=1e-12)


def test_errors_of_probabilities_are_those_of_the_same_fit_without_the_detour():
    """Without penalty or slope, the probability is the share of the rows.

    Its standard error is ``sqrt(q (1 - q) / n)``, and of an unweighted fit as well.
    """
    y = (np.arange(400) < 100).astype(int)
    X = np.random.default_rng(1).standard_normal((400, 1))
    for weights in (None, "balanced"):
        fit = ps.Logit(y, X, lam=1e4, weights=weights).fit(TIGHT, cov_type="HC0")
        (row,) = fit.predictions().tidy().itertuples()
        assert row.estimate == pytest.approx(0.25, abs=1e-4)
        assert row.std_error == pytest.approx(np.sqrt(0.25 * 0.75 / 400), rel=1e-3)


def balanced_and_standardized(X, y, p, lam):
    """``theta``, means, deviations and log(n- / n+), for rows that count ``p_i``."""
    n, s = len(y), np.where(y > 0, 1.0, -1.0)
    w = 0.5 * np.where(y > 0, p / p[y > 0].sum(), p / p[y == 0].sum())
    means = w @ X
    deviations = np.sqrt(w @ np.square(X - means) * n / (n - 1))
    Z = np.column_stack([np.ones(n), (X - means) / deviations])
    theta, J = np.zeros(3), np.diag([0.0, 1.0, 1.0])
    for _ in range(50):
        a = expit(-s * (Z @ theta))
        H = (Z.T * (w * a * (1.0 - a))) @ Z + lam * J
        theta = theta - np.linalg.solve(H, lam * J @ theta - (w * a * s) @ Z)
    return theta, means, deviations, np.log(p[y == 0].sum() / p[y > 0].sum())


def jackknifed(X, y, lam, value):
    """Infinitesimal jackknife: the derivative by how often each row counts, squared."""
    moves, h = [], 1e-5
    for i in range(len(y)):
        step = h * (np.arange(len(y)) == i)
        ends = (balanced_and_standardized(X, y, 1.0 + e, lam) for e in (step, -step))
        above, below = (value(*end) for end in ends)
        moves.append((above - below) / (2.0 * h))
    return np.sqrt(np.square(moves).sum(axis=0))


@pytest.mark.parametrize("lam", [1e-3, 0.1])
def test_errors_count_class_weights_means_and_deviations_as_estimated(lam):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 2)) * [3.0, 0.5] + [5.0, 1.0]
    y = (rng.random(120) < expit(X[:, 0] - 7.0)).astype(int)
    given = {"lam": lam, "weights": "balanced", "standardize": True}
    fit = ps.Logit(y, X, **given).fit(TIGHT, cov_type="HC0")
    row = np.array([4.0, 1.2])

    def probability(theta, means, deviations, prior):
        return expit(theta[0] + (row - means) / deviations @ theta[1:] - prior)

    # the divisor n - 1 of a variance is n to the influence function: 1 / n = 0.8%
    expected = jackknifed(X, y, lam, lambda theta, *_: theta)
    np.testing.assert_allclose(fit.bse, expected, rtol=2e-3)
    found = fit.get_prediction(row[None]).se.item()
    assert found == pytest.approx(float(jackknifed(X, y, lam, probability)), rel=2e-3)
    boot = fit.with_covariance(Bootstrap(400, seed=1, tol=1e-8))
    # 400 resamples know a standard error to 3.5%; with 38 ones they are wider anyhow
    np.testing.assert_allclose(boot.bse, expected, rtol=0.25)


def test_without_penalty_standardizing_changes_no_probability():
    X, y = np.array([[0.0], [1], [2], [3], [4], [6]]), [0, 0, 1, 0, 1, 0]
    for standardize in (False, True):
        model = ps.Logit(y, X, lam=1e-7, weights="balanced", standardize=standardize)
        found = model.fit(TIGHT, cov_type="HC0").get_prediction([[2.0]])
        assert found.se.item() == pytest.approx(0.19529, abs=5e-6)
