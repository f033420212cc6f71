"""A logistic fit that only the penalty keeps finite says so."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy.optimize import linprog

import pegasos_stats as ps

TIGHT, NEAR = (ps.Optimum(tol=tol, epochs=2000, seed=1) for tol in (1e-10, 1e-8))
pytestmark = pytest.mark.filterwarnings(
    "ignore::pegasos_stats.errors.UndefinedMetricWarning"
)


def in_files(data, folder):
    data.to_parquet(folder / "rows.parquet")
    return ps.scan(folder / "rows.parquet")


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


WHERE = [("memory", each) for each in ("HC0", "nonrobust", "HC2", "bootstrap")]
WHERE += [("files", each) for each in ("HC0", "nonrobust")]


@pytest.mark.parametrize(("where", "cov_type"), WHERE)
def test_what_only_the_penalty_limits_is_not_tested(wards, where, cov_type, tmp_path):
    """Wards that have an estimate can still be compared with each other."""
    data = in_files(wards, tmp_path) if where == "files" else wards
    result = ps.logit("back ~ ward + age", data, lam=1e-9).fit(NEAR, cov_type=cov_type)
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
    assert table.isna().tolist() == [True, True, False]
    assert "(separation)" in str(effects)


def infinite(S):
    """Coefficients that some ``b`` with ``S b >= 0`` changes, each by programmes."""
    found, S = np.zeros(S.shape[1], dtype=bool), np.unique(S, axis=0)
    for c in np.vstack([np.eye(S.shape[1]), -np.eye(S.shape[1])]):
        best = linprog(c, A_ub=-S, b_ub=np.zeros(len(S)), bounds=(-1.0, 1.0)).fun
        found |= (c != 0.0) & (best < -1e-6)
    return found


def others(S):
    """Rows that no direction of ``S b >= 0`` moves, each by a programme."""
    S, of_rows = np.unique(S, axis=0, return_inverse=True)
    best = [
        linprog(-row, A_ub=-S, b_ub=np.zeros(len(S)), bounds=(-1.0, 1.0)).fun
        for row in S
    ]
    return np.array(best)[of_rows.ravel()] > -1e-6


def random_table(seed):
    """Two factors; all rows of some levels have one outcome, those of others both."""
    rng = np.random.default_rng(seed)
    of_a = np.repeat(np.arange(rng.integers(2, 6)), 4 * rng.integers(1, 8))
    data = pd.DataFrame({"a": of_a, "b": rng.integers(0, 3, len(of_a))}).astype(str)
    data["y"] = np.arange(len(data)) % 2  # balanced in each level
    if seed % 3:
        data["y"] = rng.integers(0, 2, len(data))
    sure = rng.choice(data["a"].unique(), rng.integers(1, of_a[-1] + 1), replace=False)
    data.loc[data["a"].isin(sure), "y"] = int(rng.integers(0, 2))
    return data, ("a", "a + b", "0 + a + b")[seed % 3]


@pytest.mark.slow
@pytest.mark.parametrize("where", ["memory", "files", "freq_weights"])
def test_tables_have_errors_of_what_the_other_rows_determine(where, tmp_path):
    """Which errors: each by a programme of its own; how large: by statsmodels."""
    n_separated = 0
    for seed in range(24 if where == "memory" else 12):
        data, terms = random_table(seed)
        rows, given = data, {}
        if where == "files":
            rows = in_files(data, tmp_path)
        if where == "freq_weights":
            rows = data.groupby(["a", "b", "y"]).size().rename("n").reset_index()
            rows, given = pd.concat([rows, rows.assign(n=0)]), {"freq_weights": "n"}
        model = ps.logit(f"y ~ {terms}", rows, lam=1e-9, **given)
        result = model.fit(NEAR, cov_type="nonrobust")
        same = smf.logit(f"y ~ {terms}", data)
        assert same.exog_names == list(result.bse.index)
        Z = same.exog
        S = np.where(data["y"] > 0, 1.0, -1.0)[:, None] * Z
        left, no_error = others(S), infinite(S)
        assert result.covariance.separated == (~left).sum()
        assert result.bse.isna().tolist() == no_error.tolist()
        if no_error.all():
            continue
        n_separated += no_error.any()
        columns = []
        for j in range(Z.shape[1]):  # those that are independent there
            if np.linalg.matrix_rank(Z[left][:, [*columns, j]]) > len(columns):
                columns.append(j)
        rest = sm.Logit(data["y"][left].to_numpy(), Z[left][:, columns]).fit(disp=0)
        errors = pd.Series(rest.bse, columns)[np.flatnonzero(~no_error)]
        np.testing.assert_allclose(result.bse[~no_error], errors, rtol=1e-5)
    assert n_separated > 5


@pytest.mark.parametrize("where", ["memory", "files", "freq_weights", "offset"])
def test_rows_that_tie_on_the_boundary_are_not_separated(where, tmp_path):
    """80 rows of one outcome; the other 20, ten of each, determine the intercept."""
    data = pd.DataFrame({"x": np.repeat([1.0, 0.0], [80, 20]), "known": 0.5})
    data["y"] = np.where(data["x"] > 0.0, 1, np.arange(100) % 2)
    given = {"offset": "known"} if where == "offset" else {}
    if where == "freq_weights":
        data = data.groupby(["x", "y"]).size().rename("n").reset_index()
        data.loc[len(data)] = [1.0, 0, 0]
        given = {"freq_weights": "n"}
    data = in_files(data, tmp_path) if where == "files" else data
    model = ps.logit("y ~ x", data, lam=1e-9, **given)
    result = model.fit(TIGHT if where != "files" else None, cov_type="nonrobust")
    assert result.covariance.separated == 80
    assert result.bse["Intercept"] == pytest.approx(np.sqrt(1 / 5), rel=1e-6)
    assert np.isnan(result.bse["x"])
    assert "80 rows" in str(result.summary())


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
    effects = result.margins("g").tidy()["std_error"]
    assert effects.isna().tolist() == [False, True, True]
    twice = ps.logit("y ~ g + copy + x", data, lam=1e-9).fit(TIGHT)
    names = ["g[T.c]", "g[T.d]", "copy[T.z]"]
    assert twice.bse[names].isna().all()
    assert twice.bse.drop(names).notna().all()
    means = twice.predictions("g").tidy()["std_error"]
    assert means.isna().tolist() == [False, False, True, True]


@pytest.fixture(scope="module")
def leaking():
    """200 rows in which ``leak`` is the outcome, beside three true predictors."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 3))
    y = (X.sum(axis=1) + rng.logistic(size=200) > 0).astype(int)
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(leak=y, y=y)


@pytest.mark.parametrize(("lam", "certain"), [(1 / 200, False), (1e-9, True)])
def test_a_predictor_that_is_the_outcome_is_asked_about_once(leaking, lam, certain):
    result = ps.logit("y ~ a + b + c + leak", leaking, lam=lam).fit()
    found = [n for n in result.notes_on_errors() if n.topic == "separation"]
    assert [n.severity for n in found] == ["warning" if certain else "note"]
    words = " ".join(str(result.summary()).split())
    assert words.count("contain") == 1


def test_rows_that_are_right_by_chance_or_by_the_hinge_are_not_asked_about(leaking):
    rng = np.random.default_rng(4)
    y, X = rng.integers(0, 2, 60), rng.normal(size=(60, 100))
    wide = ps.Logit(y, X, lam=1 / 60).fit()
    assert wide.training_table.n_errors == 0
    hinge = ps.svm("y ~ a + b + c + leak", leaking, lam=1 / 200).fit(cov_type="none")
    overlapping = ps.logit("y ~ a + b + c", leaking, lam=1 / 200).fit()
    for result in (wide, hinge, overlapping):
        assert "contain the outcome" not in str(result.summary())


def test_a_constant_column_changes_no_standard_error_of_separated_rows():
    data = ps.load_affairs().iloc[::20]
    certain = (data["affair"] == "yes") & (np.arange(len(data)) % 5 == 0)
    data = data.assign(certain=certain.astype(float), constant=1.0)
    errors = {
        name: ps.logit(f"affair ~ educ + certain{name}", data, lam=0.01).fit(TIGHT).bse
        for name in ("", " + constant")
    }
    assert errors[""].isna().tolist() == [False, False, True]
    with_constant = errors[" + constant"]
    assert np.isnan(with_constant["constant"])
    # the optima differ by their tolerance
    np.testing.assert_allclose(with_constant[:3], errors[""], rtol=1e-6)


def test_a_constant_column_hides_no_collinear_predictors():
    data = ps.load_affairs().iloc[::20]
    data = data.assign(twice=2.0 * data["educ"], constant=1.0)
    for constant in ("", " + constant"):
        formula = f"affair ~ educ + twice + age{constant}"
        result = ps.logit(formula, data, lam=1e-6).fit()
        assert result.bse.isna().all()
        assert "predictors are collinear" in str(result.summary())
