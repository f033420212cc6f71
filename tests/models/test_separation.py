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
    ps.save(result, tmp_path / "fit")
    for each in (result, ps.load(tmp_path / "fit")):
        said = " ".join(str(each.summary()).split())
        assert "2 rows can be predicted with certainty (separation)" in said
        assert WARDS in said


@pytest.mark.filterwarnings("ignore::pegasos_stats.errors.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("where", "cov_type"),
    [
        *[("memory", each) for each in ("HC0", "nonrobust", "jackknife", "bootstrap")],
        *[("files", each) for each in ("HC0", "nonrobust")],
    ],
)
def test_what_only_the_penalty_limits_is_not_tested(wards, where, cov_type, tmp_path):
    """Wards that have an estimate can still be compared with each other."""
    data = wards
    if where == "files":
        wards.to_parquet(tmp_path / "wards.parquet")
        data = ps.scan(tmp_path / "wards.parquet")
    near = ps.SDCA(tol=1e-8, epochs=2000, seed=1)
    result = ps.logit("back ~ ward + age", data, lam=1e-9).fit(near, cov_type=cov_type)
    table = result.tidy().set_index("term")
    free = table.loc[["Intercept", "ward[T.medicine]", "ward[T.surgery]"]]
    assert free.drop(columns="estimate").isna().all(axis=None)
    assert table.loc["age"].notna().all()
    assert result.bse.isna().tolist() == [True, True, True, False]
    tests = result.t_test("ward[T.medicine] = 0, ward[T.medicine] = ward[T.surgery]")
    assert np.isnan(tests.pvalue).tolist() == [True, False]
    assert np.isnan(tests.conf_int()).all(axis=1).tolist() == [True, False]
    assert np.isnan(result.wald_test("ward[T.surgery] = 0, age = 0").pvalue)
    assert result.wald_test("ward[T.medicine] = ward[T.surgery], age = 0").pvalue < 0.01
    rest = wards[wards["ward"] != "burns"]
    without = ps.logit("back ~ ward + age", rest, lam=1e-9).fit(TIGHT, cov_type="HC0")
    if cov_type == "HC0":  # the two rows are certain: nothing is left of them
        expected = without.t_test("ward[T.surgery] = 0")
        np.testing.assert_allclose(tests.sd[1], expected.sd[0], rtol=1e-6)
        np.testing.assert_allclose(result.bse["age"], without.bse["age"], rtol=1e-6)
    effects = result.margins(data=wards)
    table = effects.tidy().set_index(["term", "contrast"])["std_error"]
    assert table.isna().tolist() == [False, True, True]
    assert "(separation)" in str(effects)


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
    assert "2 rows" in said
    assert "'ward[T.medicine]', 'ward[T.surgery]'" in said


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


@pytest.mark.parametrize("n", [60, 500])
@pytest.mark.parametrize("lam", [1e-5, 1e-7, 1e-9])
def test_levels_that_are_told_apart_are_told(n, lam):
    """With 500 rows and the larger lambdas a row is on the wrong side of the fit."""
    x = np.random.default_rng(0).normal(size=n)
    result = ps.Logit(x > 0.0, x[:, None], lam=lam).fit(TIGHT)
    said = " ".join(str(result.summary()).split())
    if (n, lam) == (500, 1e-5):  # of which nothing is certain, even farther out
        assert "separation" not in said
        return
    assert "(complete separation)" in said
    assert "Standard errors:" not in said  # of which there are none
    with pytest.warns(UndefinedMetricWarning, match="complete separation"):
        assert result.bse.isna().all()


@pytest.mark.parametrize("lam", [1.0, 0.1])
def test_a_penalty_that_shrinks_all_scores_is_what_it_is_meant_to_be(lam):
    X = np.random.default_rng(0).normal(size=(100, 200))
    y = np.repeat([0, 1], 50)
    result = ps.Logit(y, X, lam=lam).fit(TIGHT)
    assert is_separated(X, np.where(y, 1.0, -1.0)) > 0.0
    assert "separation" not in str(result.summary())


def test_an_offset_does_not_tell_levels_apart():
    rng = np.random.default_rng(5)
    x, known = rng.normal(size=200), np.repeat([-30.0, 30.0], 100)
    data = pd.DataFrame({"x": x, "known": known, "y": np.repeat(["a", "b"], 100)})
    result = ps.Logit(data["y"], data[["x"]], lam=1e-6, offset=data["known"]).fit(TIGHT)
    assert (result.predict() == data["y"]).all()
    assert result.covariance.separated == 0


@pytest.mark.parametrize(
    ("loss", "lam", "weights"),
    [("log", 1e-3, None), ("hinge", 0.01, "balanced"), ("hinge", 0.1, "balanced")],
)
def test_what_all_resamples_have_in_common_they_do_not_tell(wards, loss, lam, weights):
    """Burns has one outcome in each resample: the spread is not that of new samples."""
    model = ps.Logit if loss == "log" else ps.SVM
    by = ps.Bootstrap(199, seed=1, interval="symmetric")
    given = {"lam": lam, "weights": weights}
    formula = "back ~ C(ward, Treatment('surgery')) + age"
    result = model.from_formula(formula, wards, **given).fit(TIGHT, cov_type=by)
    with pytest.warns(UndefinedMetricWarning, match="separation"):
        table = result.tidy().set_index("term")
    burns = "C(ward, Treatment('surgery'))[T.burns]"
    assert table.loc[burns].drop("estimate").isna().all()
    assert table.drop(burns)["p_value"].notna().all()
    assert np.isnan(result.t_test(f"`{burns}` = 0").pvalue[0])
    assert result.covariance.always
    rest = wards[wards["ward"] != "burns"]
    again = model.from_formula(formula, rest, **given).fit(TIGHT, cov_type=by)
    assert again.tidy()["p_value"].notna().all()


def test_the_hinge_without_weights_asks_what_most_rows_have(wards):
    """Whether all or most rows of a level have an outcome is the same to it."""
    by = ps.Bootstrap(199, seed=1, interval="symmetric")
    result = ps.svm("back ~ ward + age", wards, lam=0.01).fit(TIGHT, cov_type=by)
    assert result.covariance.separated == 0
    assert result.tidy()["conf_low"].notna().all()


@pytest.mark.filterwarnings("ignore::pegasos_stats.errors.UndefinedMetricWarning")
@pytest.mark.parametrize("lam", [1e-10, 1e-8, 1e-6])
@pytest.mark.parametrize(
    "cov_type", ["HC0", "HC1", "HC3", "jackknife", "shrunk", "nonrobust"]
)
def test_errors_of_the_rest_are_those_of_the_fit_without_the_level(lam, cov_type):
    """The separated rows are certain; here theirs is the reference level."""
    rng, n = np.random.default_rng(3), 402
    data = pd.DataFrame(
        {"ward": np.repeat(["burns", "medicine", "surgery"], [40, 200, 162])}
    )
    data["age"] = rng.normal(60.0, 15.0, n).round()
    data["back"] = rng.random(n) < 1.0 / (
        1.0 + np.exp(1.0 - 0.03 * (data["age"] - 60.0))
    )
    data.loc[:39, "back"] = False
    # The penalty shrinks both in codings of their own: 26 to 41 lambda measured, of
    # p-values 460 to 820, beside 6e-9 and 3e-7 of the gap.
    near, nearly = 50.0 * lam + 1e-8, 1000.0 * lam + 1e-6
    for rows in (data, data.assign(age=data["age"] + 1e4)):
        whole, rest = (
            ps.logit("back ~ ward + age", each, lam=lam).fit(TIGHT, cov_type=cov_type)
            for each in (rows, rows[rows["ward"] != "burns"])
        )
        asked = "ward[T.surgery] = ward[T.medicine], age = 0"
        expected = rest.t_test("ward[T.surgery] = 0, age = 0")
        np.testing.assert_allclose(whole.t_test(asked).sd, expected.sd, rtol=near)
        assert whole.bse.isna().tolist() == [True, True, True, False]
        joint = whole.wald_test(asked).pvalue
        wanted = rest.wald_test("ward[T.surgery] = 0, age = 0").pvalue
        assert joint == pytest.approx(wanted, rel=nearly)


@pytest.mark.filterwarnings("ignore::pegasos_stats.errors.UndefinedMetricWarning")
@pytest.mark.parametrize("scale", [1.0, 100.0, 5000.0])
@pytest.mark.parametrize("lam", [1e-6, 1e-9, 1e-12])
def test_separation_is_found_on_any_scale_by_a_fit_of_the_usual_tolerance(scale, lam):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {"x": rng.normal(size=400), "bonus": np.repeat([0.0, scale], 200)}
    )
    data["y"] = rng.random(400) < 1.0 / (1.0 + np.exp(-data["x"]))
    data.loc[200:, "y"] = True
    result = ps.logit("y ~ bonus + x", data, lam=lam).fit()
    assert result.covariance.separated == 200
    assert result.bse.isna().tolist() == [False, True, False]


@pytest.mark.filterwarnings("ignore::pegasos_stats.errors.UndefinedMetricWarning")
def test_two_separated_levels_are_not_compared():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"g": np.repeat(list("abcd"), 100), "x": rng.normal(size=400)})
    data["year"] = 1990.0 + rng.integers(0, 30, 400)
    data["y"] = rng.random(400) < 1.0 / (1.0 + np.exp(-data["x"]))
    data.loc[data["g"].isin(["c", "d"]), "y"] = True
    data["copy"] = np.where(data["g"] == "d", "z", "w")
    result = ps.logit("y ~ g + x + year", data, lam=1e-9).fit(TIGHT)
    asked = "g[T.c] - g[T.d] = 0, g[T.b] = 0, Intercept + 2005 * year = 0"
    assert np.isnan(result.t_test(asked).pvalue).tolist() == [True, False, False]
    assert result.margins("g").tidy()["std_error"].isna().tolist() == [
        False,
        True,
        True,
    ]
    twice = ps.logit("y ~ g + copy + x", data, lam=1e-9).fit(TIGHT)
    names = ["g[T.c]", "g[T.d]", "copy[T.z]"]
    assert twice.bse[names].isna().all()
    assert twice.bse.drop(names).notna().all()
    assert np.isnan(twice.predictions("g").tidy()["std_error"]).tolist() == [
        False,
        False,
        True,
        True,
    ]
