"""A logistic fit that only the penalty keeps finite says so."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import pegasos_stats as ps
from pegasos_stats.errors import UndefinedMetricWarning

WARDS = "'Intercept', 'ward[T.medicine]', 'ward[T.surgery]'"
TIGHT = ps.SDCA(tol=1e-10, epochs=2000, seed=1)


@pytest.fixture(scope="module")
def wards():
    """Two patients of a rare ward, neither of whom came back."""
    rng = np.random.default_rng(1)
    ward = np.repeat(["burns", "medicine", "surgery"], [2, 220, 180])
    data = pd.DataFrame({"ward": ward, "age": rng.normal(60.0, 15.0, 402).round()})
    chance = 1.0 / (1.0 + np.exp(1.0 - 0.03 * (data["age"] - 60.0)))
    data["back"] = np.where(rng.random(402) < chance, "yes", "no")
    data.loc[:1, "back"] = "no"
    return data


def is_separated(X, y):
    """Whether some direction moves no row back and one forward, as a program tells."""
    Z = y[:, None] * np.column_stack([np.ones(len(y)), X])
    bounds = [(-1.0, 1.0)] * Z.shape[1]
    return -linprog(-Z.sum(axis=0), A_ub=-Z, b_ub=np.zeros(len(y)), bounds=bounds).fun


def test_a_level_with_one_outcome_is_told(wards, tmp_path):
    result = ps.logit("back ~ ward + age", wards, lam=1e-9).fit(TIGHT)
    said = (
        f"WARNING: without the penalty {WARDS} would grow without limit: 2 rows can be "
        "predicted with certainty, as where all rows of a level of a factor have the "
        "same outcome (separation)."
    )
    assert said in " ".join(str(result.summary()).split())
    ps.save(result, tmp_path / "fit")
    assert said in " ".join(str(ps.load(tmp_path / "fit").summary()).split())


def test_without_the_level_there_is_nothing_to_tell(wards):
    rest = wards[wards["ward"] != "burns"]
    result = ps.logit("back ~ ward + age", rest, lam=1e-9).fit(TIGHT)
    assert "separation" not in str(result.summary())


@pytest.mark.parametrize("cov_type", ["HC0", "nonrobust", "jackknife"])
@pytest.mark.parametrize("standardize", [False, True])
def test_it_is_a_warning_where_errors_are_asked_for(wards, cov_type, standardize):
    model = ps.logit("back ~ ward + age", wards, lam=1e-9, standardize=standardize)
    result = model.fit(TIGHT, cov_type=cov_type)
    with pytest.warns(UndefinedMetricWarning) as told:
        result.tidy()
    (said,) = [str(each.message) for each in told]
    assert said.startswith("Without the penalty '")
    assert "'ward[T.medicine]', 'ward[T.surgery]' would grow" in said


def test_it_is_what_linear_programming_says():
    rng, found = np.random.default_rng(2), []
    for _ in range(20):
        X = rng.integers(0, 3, size=(18, 3)).astype(float)
        y = np.where(X[:, 0] + rng.normal(0.0, 1.0, 18) > 1.0, 1.0, -1.0)
        with warnings.catch_warnings(action="ignore"):  # of what is counted here
            separated = ps.Logit(y, X, lam=1e-9).fit(TIGHT).covariance.separated
        found.append((separated > 0, is_separated(X, y) > 1e-6))  # of sums of 0 or 1/2
    told, true = np.array(found).T
    assert told.tolist() == true.tolist()
    assert 0 < true.sum() < 20


@pytest.mark.parametrize("lam", [1e-9, 1e-6, 1e-4, 1e-2])
def test_strong_effects_that_have_an_estimate_are_not_separation(lam):
    x = np.random.default_rng(3).normal(size=500)
    y = np.where(12.0 * x + np.random.default_rng(4).logistic(size=500) > 0, 1, -1)
    assert is_separated(x[:, None], y) < 1e-9  # of rounding
    assert ps.Logit(y, x[:, None], lam=lam).fit(TIGHT).covariance.separated == 0
