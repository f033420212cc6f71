"""Fits with an offset: what they equal, and how new rows get theirs."""

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.models.inference.bootstrap import bootstrap
from pegasos_stats.models.inference.options import Bootstrap
from pegasos_stats.rng import RRandom

EXACTLY = ps.Optimum(tol=1e-11, seed=1)
# ||theta - theta*|| by the gap of 1e-11 and the penalty of 1e-10 is some 1e-7.
CLOSE = 1e-6
TERMS = ["Intercept", "a", "b", "g[T.y]", "g[T.z]"]


@pytest.fixture(scope="module")
def data():
    rng, n = np.random.default_rng(3), 150
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": 3.0 * rng.normal(size=n) + 1.0})
    frame["g"], frame["t"] = rng.choice(list("xyz"), n), rng.uniform(0.3, 4.0, n)
    frame["z"], frame["w"] = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    frame["count"], frame["group"] = rng.integers(0, 4, n), rng.integers(0, 20, n)
    score = 0.8 * frame["a"] - 1.2 + np.log(frame["t"]) + frame["z"]
    return frame.assign(y=np.where(score > rng.logistic(size=n), "yes", "no"))


@pytest.fixture(scope="module")
def fit(data):
    model = ps.logit("y ~ a + b + g + offset(log(t))", data, lam=1e-10, offset="z")
    return model.fit(EXACTLY, cov_type="nonrobust")


def glm(data, right="a + b + g", **options):
    frame = data.assign(yes=(data["y"] == "yes").astype(float))
    offset = np.log(data["t"]) + data["z"]
    family = sm.families.Binomial()
    model = smf.glm(f"yes ~ {right}", frame, family=family, offset=offset)
    return model.fit(tol=1e-13, **options)


def test_without_penalty_it_is_the_generalised_linear_model(data, fit):
    theirs = glm(data)
    np.testing.assert_allclose(fit.params[TERMS], theirs.params[TERMS], atol=CLOSE)
    np.testing.assert_allclose(fit.bse[TERMS], theirs.bse[TERMS], rtol=CLOSE)
    assert fit.llf == pytest.approx(theirs.llf, abs=1e-8)
    assert fit.llnull == pytest.approx(theirs.llnull, abs=1e-8)
    assert fit.aic == pytest.approx(theirs.aic, abs=1e-5)
    chances = fit.predict_proba(data)["yes"]
    offset = np.log(data["t"]) + data["z"]
    np.testing.assert_allclose(chances, theirs.predict(data, offset=offset), atol=CLOSE)


@pytest.mark.parametrize("kind", ["HC0", "CR1"])
def test_errors_are_those_of_the_generalised_linear_model(data, fit, kind):
    # Scores are centred here; at the optimum their mean is 0.
    groups = data["group"] if kind == "CR1" else None
    found = fit.with_covariance(kind, groups)
    given = {} if groups is None else {"cov_kwds": {"groups": groups}}
    theirs = glm(data, cov_type="HC0" if groups is None else "cluster", **given)
    np.testing.assert_allclose(found.bse[TERMS], theirs.bse[TERMS], rtol=1e-5)


@pytest.mark.parametrize("make", [ps.svm, ps.logit])
def test_the_bootstrap_takes_the_offset_with_its_row(data, make):
    few, given = data.head(60), {"lam": 0.1, "offset": "z", "weights": "w"}
    model = make("y ~ a + b", few, **given)
    options = Bootstrap(3, seed=5, tol=1e-10)
    found = bootstrap(model.problem, model.solve(EXACTLY), options)
    rows = RRandom(5).sample_int(60, 60 * 3, replace=True).reshape(3, 60) - 1
    for estimate, drawn in zip(found.estimates, rows, strict=True):
        again = make("y ~ a + b", few.iloc[drawn], **given).fit(EXACTLY)
        # Both are to 1e-10 or less of an objective of 0.6: sqrt(2 gap / lam) is 4e-5.
        np.testing.assert_allclose(estimate[1:], again.params[1:], atol=1e-4)


@pytest.mark.parametrize("make", [ps.svm, ps.logit])
def test_counts_repeat_the_offset(data, make):
    each = data.loc[data.index.repeat(data["count"])].reset_index(drop=True)
    given = {"lam": 0.05, "offset": "z"}
    counted = make("y ~ a + b", data, freq_weights="count", **given).fit(EXACTLY)
    plain = make("y ~ a + b", each, **given).fit(EXACTLY)
    assert counted.params.tolist() == plain.params.tolist()
    tables = counted.confusion(data).counts, plain.confusion(each).counts
    assert tables[0].tolist() == tables[1].tolist()


def test_new_rows_get_their_own_offset(data, fit):
    new = data.head(6).assign(z=lambda d: d["z"] + 7.0, t=lambda d: 2.0 * d["t"])
    before, after = fit.decision_function(data.head(6)), fit.decision_function(new)
    np.testing.assert_allclose(after - before, 7.0 + np.log(2.0))
    assert fit.predict(new).tolist() == ["yes"] * 6
    instead = fit.decision_function(new, offset=data["z"].head(6))
    np.testing.assert_allclose(instead - before, np.log(2.0))
    assert fit.augment(new)["score"].tolist() == after.tolist()
    assert fit.confusion(new).counts.sum(axis=0).tolist() == [0, 6, 0]
    assert fit.confusion(data).source == fit.confusion().source == "training"
    assert fit.confusion(data.assign(z=-data["z"])).source != "training"


def test_numbers_are_needed_again_for_new_rows(data):
    X = data[["a", "b"]].to_numpy()
    result = ps.Logit(data["y"].to_numpy(), X, lam=0.1, offset=data["z"]).fit(EXACTLY)
    with pytest.raises(OptionError, match="offset="):
        result.predict(X[:3])
    new = {"data": X[:3], "offset": data["z"].to_numpy()[:3]}
    scores = result.decision_function(**new)
    assert scores.tolist() == result.decision_function().tolist()[:3]
    assert result.predict(**new).tolist() == result.predict()[:3].tolist()
    chances = result.predict_proba(**new)
    np.testing.assert_allclose(chances.iloc[:, 1], 1.0 / (1.0 + np.exp(-scores)))
    assert result.augment(**new)["score"].tolist() == scores.tolist()
    assert result.confusion(**new, actual=data["y"].head(3)).counts.sum() == 3


def test_sql_adds_it(data, fit):
    query = f"SELECT {fit.to_sql('sqlite')} AS score FROM d"
    with closing(sqlite3.connect(":memory:")) as base:
        base.create_function("LN", 1, np.log)
        data.to_sql("d", base, index=False)
        found = pd.read_sql(query, base)["score"]
    np.testing.assert_allclose(found, fit.decision_function(data), rtol=1e-12)


def test_offsets_add_up_and_are_not_scaled(data):
    total, X = np.log(data["t"]) + data["z"], data[["a", "b"]]
    given = {"lam": 0.02, "standardize": True}
    made = "y ~ a + b + offset(log(t)) + offset(z)"
    first = ps.svm(made, data, **given).fit(EXACTLY)
    second = ps.SVM(data["y"], X, offset=total, **given).fit(EXACTLY)
    np.testing.assert_allclose(first.params, second.params, rtol=1e-12)
    scores = first.intercept + ((X - X.mean()) / X.std()) @ first.coef.to_numpy()
    np.testing.assert_allclose(first.decision_function(data), scores + total)
