"""What is computed is shown; what the training rows do not determine is NaN.

Effects, contrasts and predictions of years, dates or time stamps have the digits of the
same fit on centred columns.
"""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import pegasos_stats as ps
from pegasos_stats.errors import UndefinedMetricWarning
from tests.output.command_line import run

pytestmark = pytest.mark.slow

TIGHT = ps.Optimum(tol=1e-12)
MODELS = pytest.mark.parametrize("make", [ps.svm, ps.logit])
NUMBERS = ["estimate", "std_error", "conf_low", "conf_high"]


# ------------------------------------------------------------- no number is replaced


@pytest.fixture(scope="module")
def scales():
    """Predictors whose standard deviations are from 1e-7 to 1e7, one without effect."""
    rng = np.random.default_rng(5)
    half = pd.DataFrame({"a": rng.normal(size=90), "b": 1e3 * rng.normal(size=90)})
    half["age"] = rng.uniform(20.0, 80.0, 90)
    half["wide"] = 1e7 * rng.normal(size=90)
    half["y"] = np.where(half["a"] + rng.logistic(size=90) > 0.0, "yes", "no")
    # each row with b and -b: the coefficient of b is 0 but for rounding
    return pd.concat([half, half.assign(b=-half["b"])], ignore_index=True)


@MODELS
@pytest.mark.parametrize("standardize", [False, True])
def test_all_tables_have_the_coefficients_of_the_solution(make, standardize, scales):
    formula = "y ~ a + b + I(exp(-age)) + wide"
    result = make(formula, scales, lam=1e-3, standardize=standardize).fit()
    theta = np.append(result.intercept, result.solution.beta)
    assert result.params.tolist() == theta.tolist()
    for table in (result.tidy(), result.coefficient_table()):
        assert table["estimate"].tolist() == theta.tolist()
    tests = result.t_test(np.eye(5))
    np.testing.assert_allclose(tests.effect, theta, rtol=1e-12)
    np.testing.assert_allclose(tests.sd, result.bse, rtol=1e-9)
    np.testing.assert_allclose(tests.sd**2, np.diag(result.cov_params()), rtol=1e-9)
    np.testing.assert_array_equal(result.conf_int(), result.tidy()[NUMBERS[2:]])
    original = result.tidy(original=True)["estimate"]
    np.testing.assert_allclose(original, result.params_original, rtol=1e-12)
    if make is ps.logit:
        reach = 1.959963984540054 * result.bse
        ends = np.column_stack([theta - reach, theta + reach])
        np.testing.assert_allclose(result.conf_int(), ends, rtol=1e-12)
        np.testing.assert_array_equal(result.tvalues, theta / result.bse)


@pytest.mark.parametrize("spread", [1e-6, 1e6])
def test_effects_do_not_depend_on_units(spread, scales):
    """A probability is the same in other units, its derivative that by the new unit."""
    data = scales.assign(x=scales["a"] * spread)
    plain, other = (ps.logit(f"y ~ {x}", data).fit() for x in ("a", "x"))
    for name in ("predictions", "margins"):
        units = spread if name == "margins" else 1.0
        table, expected = (
            getattr(fit, name)(variable).tidy()[NUMBERS]
            for fit, variable in ((other, "x"), (plain, "a"))
        )
        np.testing.assert_allclose(table * units, expected, rtol=1e-6)


# ------------------------------------------- centred columns: the digits of statsmodels

CLOSE = 1e-6


@pytest.fixture(scope="module", params=[2.0, 200.0, 2.4e4, 1e7])
def dated(request):
    """A fit with a predictor at so many deviations from 0; the peer's, centred."""
    rng, n, sd = np.random.default_rng(1), 400, 100.0
    data = pd.DataFrame({"z": rng.normal(size=n), "g": rng.choice(list("uv"), n)})
    data["x"] = np.round(sd * (request.param + rng.normal(size=n)), 3)
    t, c = (data["x"] - request.param * sd) / sd, float(data["x"].mean())
    score = 0.8 * t - 0.5 * data["z"] + (data["g"] == "v")
    data["y"] = (rng.random(n) < 1.0 / (1.0 + np.exp(-score))).astype(int)
    result = ps.logit("y ~ x + z + g", data).fit()
    X = np.column_stack([np.ones(n), data["x"] - c, data["z"], data["g"] == "v"])
    peer = sm.GLM(data["y"], X, family=sm.families.Binomial()).fit(tol=1e-14)
    return data, c, result.with_covariance("nonrobust"), X, peer


def derived(peer, X, function):
    """A function of the coefficients and its standard error by the delta method."""
    theta, V, h = peer.params.to_numpy(), peer.cov_params().to_numpy(), 1e-6
    steps = h * np.eye(len(theta))
    J = [(function(theta + e) - function(theta - e)) / (2.0 * h) for e in steps]
    return [function(theta), np.sqrt(np.array(J) @ V @ np.array(J))]


def expit(score):
    return 1.0 / (1.0 + np.exp(-score))


def test_predictions_of_rows_are_those_on_centred_columns(dated):
    data, _, result, X, peer = dated
    theirs = peer.get_prediction(X[:30])
    ours = result.get_prediction(data.head(30))
    np.testing.assert_allclose(ours.predicted, theirs.predicted, rtol=CLOSE)
    np.testing.assert_allclose(ours.se, theirs.se, rtol=CLOSE)
    linear = result.get_prediction(data.head(30), scale="link")
    V = peer.cov_params()
    np.testing.assert_allclose(
        linear.se, np.sqrt(np.diag(X[:30] @ V @ X[:30].T)), CLOSE
    )


def test_averages_are_those_on_centred_columns(dated):
    _, _, result, X, peer = dated

    def at_v(theta):
        Z = X.copy()
        Z[:, 3] = 1.0
        return expit(Z @ theta).mean()

    def slope(theta):
        p = expit(X @ theta)
        return (p * (1.0 - p)).mean() * theta[1]

    def at_means(theta):
        return expit(X.mean(axis=0) @ theta)

    found = {
        at_v: result.predictions("g").tidy().iloc[1],
        slope: result.margins("x").tidy().iloc[0],
        at_means: result.predictions(at="mean").tidy().iloc[0],
    }
    for function, row in found.items():
        expected = derived(peer, X, function)
        # numeric derivatives of the peer's values: 1e-8
        np.testing.assert_allclose(row[NUMBERS[:2]].astype(float), expected, rtol=CLOSE)


def test_contrasts_and_joint_tests_are_those_on_centred_columns(dated):
    _, c, result, _, peer = dated
    value = round(c) + 50.0
    ours = result.t_test([[1.0, value, 0.0, 0.0]])
    theirs = peer.t_test([[1.0, value - c, 0.0, 0.0]])
    np.testing.assert_allclose(ours.effect, theirs.effect, rtol=CLOSE)
    np.testing.assert_allclose(ours.sd, np.ravel(theirs.sd), rtol=CLOSE)
    joint = result.wald_test([f"Intercept + {value!r} * x = 0", "z = 0"])
    R = [[1.0, value - c, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    expected = peer.wald_test(np.array(R), scalar=True).statistic
    assert joint.statistic == pytest.approx(expected, rel=CLOSE)
    np.testing.assert_allclose(result.bse.iloc[1:], peer.bse.iloc[1:], rtol=CLOSE)


def test_a_saved_fit_has_the_same_digits(dated, tmp_path):
    data, _, result, _, _ = dated
    expected = result.get_prediction(data.head(9)).se
    ps.save(result, tmp_path / "fit.model")
    found = ps.load(tmp_path / "fit.model").get_prediction(data.head(9)).se
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("ratio", [2.4e4, 1e6])
def test_slopes_of_dates_within_groups_have_them(ratio, tmp_path):
    """A group and its product with a date are collinear but for ``1 / ratio``."""
    rng, n, sd = np.random.default_rng(3), 500, 100.0
    t, v = rng.normal(size=n), rng.random(n) < 0.5
    data = pd.DataFrame({"x": np.round(sd * (ratio + t), 3)})
    data["g"] = np.where(v, "v", "u")
    score = 0.8 * t + np.where(v, 0.3 - 0.4 * t, 0.0)
    data["y"] = (rng.random(n) < expit(score)).astype(int)
    x = data["x"] - data["x"].mean()
    X = np.column_stack([np.ones(n), v, x, v * x])
    peer = sm.GLM(data["y"], X, family=sm.families.Binomial()).fit(tol=1e-14)
    data.to_csv(tmp_path / "rows.csv", index=False)
    theirs = peer.get_prediction(X[:20])
    for rows in (data, ps.scan(tmp_path / "rows.csv")):
        result = ps.logit("y ~ g * x", rows).fit(cov_type="nonrobust")
        ours = result.get_prediction(data.head(20))
        np.testing.assert_allclose(ours.predicted, theirs.predicted, rtol=CLOSE)
        np.testing.assert_allclose(ours.se, theirs.se, rtol=CLOSE)
        np.testing.assert_allclose(result.bse.iloc[2:], peer.bse.iloc[2:], rtol=CLOSE)
    robust = ps.logit("y ~ g * x", data).fit(cov_type="HC0")
    score = (data["y"] - peer.fittedvalues).to_numpy()[:, None] * X
    bread = peer.normalized_cov_params.to_numpy()
    V = bread @ score.T @ score @ bread
    expected = np.sqrt(np.einsum("ij,jk,ik->i", X[:20], V, X[:20]))
    found = robust.get_prediction(data.head(20), scale="link").se
    np.testing.assert_allclose(found, expected, rtol=CLOSE)


def test_resamples_have_them_too(dated):
    """Errors are standard deviations over the resamples of the same rows, centred."""
    data, c, result, _, _ = dated
    centred = ps.logit("y ~ x + z + g", data.assign(x=data["x"] - c))
    kind = ps.Bootstrap(99)
    one, other = result.with_covariance(kind), centred.fit(cov_type=kind)
    rows = data.head(9)
    np.testing.assert_allclose(
        one.get_prediction(rows, scale="link").se,
        other.get_prediction(rows.assign(x=rows["x"] - c), scale="link").se,
        rtol=CLOSE,
    )
    for name in ("x", "g"):
        table, expected = (fit.margins(name).tidy() for fit in (one, other))
        np.testing.assert_allclose(
            table[NUMBERS].astype(float), expected[NUMBERS].astype(float), rtol=CLOSE
        )


@pytest.mark.parametrize("formula", ["y ~ poly(x, 2)", "y ~ ns(x, df=3)", "y ~ log(x)"])
def test_derivatives_of_terms_are_taken_within_the_spread_of_dates(formula):
    """A small move of each row is the derivative of the mean probability."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"x": 2.4e6 + 100.0 * rng.normal(size=300)})
    t = (data["x"] - 2.4e6) / 100.0
    data["y"] = (rng.random(300) < expit(t - 0.5 * t**2)).astype(int)
    result = ps.logit(formula, data).fit()
    h = 0.1  # a thousandth of a deviation: the third derivative takes 1e-6
    inside = data[data["x"].between(data["x"].min() + 1.0, data["x"].max() - 1.0)]
    slope = result.margins("x", data=inside).tidy()["estimate"].item()
    above, below = (
        result.predict_proba(inside.assign(x=inside["x"] + e)).iloc[:, 1].mean()
        for e in (h, -h)
    )
    assert slope == pytest.approx((above - below) / (2.0 * h), rel=1e-4)


# ---------------------------------------------- what the training rows do not determine


@pytest.fixture(scope="module")
def cells():
    """No row with a = q and b = s, and a flag that is False in all of them."""
    rng, n = np.random.default_rng(0), 240
    data = pd.DataFrame(
        {"a": rng.choice(list("pq"), n), "b": rng.choice(list("rs"), n)}
    )
    data = data.assign(x=rng.normal(size=n), flag=False)
    data = data[~((data["a"] == "q") & (data["b"] == "s"))].reset_index(drop=True)
    score = data["x"] + (data["a"] == "q") + rng.logistic(size=len(data))
    return data.assign(y=np.where(score > 0.3, "yes", "no"))


FORMULA = "y ~ a * b + x + flag"
EMPTY, FLAG = "a[T.q]:b[T.s]", "flag"


@pytest.fixture(scope="module", params=["svm", "logit", "ridge", "bootstrap"])
def fits(request, cells):
    """The fit, that without the two columns that are 0 in all rows, and a tolerance.

    Resamples of the hinge are solved to 1e-3 of a standard error.
    """
    make = ps.svm if request.param == "svm" else ps.logit
    kind = "default" if request.param != "bootstrap" else ps.Bootstrap(199)
    lam = 0.0 if request.param == "logit" else 0.01
    full, small = (
        make(formula, cells, lam=lam).fit(TIGHT, cov_type=kind)
        for formula in (FORMULA, "y ~ a + b + x")
    )
    assert full.bse.notna().any()  # so that it is saved
    return full, small, 1e-3 if make is ps.svm else 1e-6


def test_coefficients_of_constant_columns_are_nan_in_every_table(fits, tmp_path):
    full, small, close = fits
    for result in (full, with_rows_gone(full, tmp_path)):
        for column in (result.params, result.coef, result.bse, result.pvalues):
            assert column.index[column.isna()].tolist() == [FLAG, EMPTY]
        table = result.tidy().set_index("term")
        assert table.loc[[FLAG, EMPTY]].isna().all(axis=None)
        assert result.conf_int().loc[[FLAG, EMPTY]].isna().all(axis=None)
        assert result.cov_params()[EMPTY].isna().all()
        # the others are those of the fit without these columns
        rest = table.drop(index=[FLAG, EMPTY])[NUMBERS]
        expected = small.tidy().set_index("term")[NUMBERS].loc[rest.index]
        np.testing.assert_allclose(rest, expected, rtol=close)
        (note,) = [n for n in result.notes if n.topic == "estimability"]
        assert repr(EMPTY) in note.text
        summary = result.summary()
        assert set(summary.params.loc[EMPTY]) == {"-"}
        assert repr(EMPTY) in summary.footer
        assert str(result.summary(details=True)).count("not estimable") == 1


def with_rows_gone(result, folder):
    ps.save(result, folder / "fit.model")
    return ps.load(folder / "fit.model")


def test_predictions_and_effects_that_need_the_empty_cell_are_nan(fits):
    full, small, _ = fits
    table = full.predictions("a").tidy().set_index("value")
    expected = small.predictions("a").tidy().set_index("value")
    assert table.loc["q", NUMBERS].isna().all()
    np.testing.assert_allclose(
        table.loc["p", NUMBERS].astype(float),
        expected.loc["p", NUMBERS].astype(float),
        rtol=1e-6,
    )
    both = full.predictions("a", at={"b": ["r", "s"]}).tidy()
    assert both["estimate"].isna().tolist() == [False, False, False, True]
    found = full.margins()
    assert any(repr(EMPTY) in note for note in found.notes)
    effects = found.tidy().set_index("term")["estimate"]
    assert effects.index[effects.isna()].tolist() == ["a", "b", FLAG]
    assert effects["x"] == pytest.approx(
        small.margins("x").tidy()["estimate"].item(), rel=1e-6
    )
    # a difference of scores does not need the flag, whatever its value
    data = pd.DataFrame({"a": ["p"], "b": ["r"], "x": [0.5], "flag": [True]})
    link = full.margins(["x", "flag"], data=data, scale="link", change=1.0).tidy()
    assert link["estimate"].isna().tolist() == [False, True]
    assert link["estimate"][0] == pytest.approx(full.params["x"], rel=1e-9)


def test_rows_that_break_the_equations_of_the_training_rows_are_nan(fits, tmp_path):
    full, small, close = fits
    rows = pd.DataFrame({"a": list("qqp"), "b": list("rsr"), "x": 0.5, "flag": False})
    rows.loc[2, "flag"] = True
    for result in (full, with_rows_gone(full, tmp_path)):
        with pytest.warns(UndefinedMetricWarning, match="2 predictions are NaN"):
            found = result.get_prediction(rows).summary_frame()
        assert found.isna().all(axis=1).tolist() == [False, True, True]
        expected = small.get_prediction(rows.head(1)).summary_frame()
        np.testing.assert_allclose(found.head(1), expected, rtol=close)
        # scores leave these columns out, as R's predict() does
        scores, others = result.decision_function(rows), small.decision_function(rows)
        np.testing.assert_allclose(scores, others, rtol=1e-6)


def test_hypotheses_about_constant_columns_are_nan(fits):
    full, small, _ = fits
    with pytest.warns(UndefinedMetricWarning, match="not estimable"):
        table = full.t_test([f"`{EMPTY}` = 0", "x = 0", f"x + {FLAG} = 0"]).tidy()
    assert table["estimate"].isna().tolist() == [True, False, True]
    assert table["p_value"].isna().tolist() == [True, False, True]
    with pytest.warns(UndefinedMetricWarning, match="not estimable"):
        joint = full.wald_test(f"{FLAG} = 0, x = 0")
    assert joint.df_num == 1
    expected = small.wald_test("x = 0").pvalue
    assert joint.pvalue == pytest.approx(expected, rel=1e-6)


def test_collinear_columns_leave_what_the_rows_determine():
    """With ``b = 2 a - 1`` the fit is that without b, where rows have that b."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "z"])
    data["b"] = 2.0 * data["a"] - 1.0
    data["y"] = np.where(data["a"] + rng.logistic(size=200) > 0.0, "yes", "no")
    full, small = (ps.logit(f, data).fit() for f in ("y ~ a + b + z", "y ~ a + z"))
    rows = pd.DataFrame({"a": [0.5, 0.5], "b": [0.0, 1.0], "z": 0.0})
    with pytest.warns(UndefinedMetricWarning, match="1 prediction is NaN"):
        found = full.get_prediction(rows).summary_frame()
    assert found.isna().all(axis=1).tolist() == [False, True]
    expected = small.get_prediction(rows.head(1)).summary_frame()
    np.testing.assert_allclose(found.head(1), expected, rtol=1e-6)
    ours, theirs = (
        f.margins().tidy().set_index("term")[NUMBERS] for f in (full, small)
    )
    np.testing.assert_allclose(ours.drop(index="b"), theirs, rtol=1e-6)
    assert ours.loc["b"].isna().all()
    # a moved by 1 and b with it: the slope of a without b
    alone = full.t_test("a + 2 * b = 0")
    assert alone.effect[0] == pytest.approx(small.params["a"], rel=1e-6)
    assert alone.sd[0] == pytest.approx(small.bse["a"], rel=1e-6)


def test_a_constant_beside_the_intercept_is_left_out_at_all_doors(tmp_path, capsys):
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"a": rng.normal(size=80), "const": 3.0})
    data["y"] = np.where(data["a"] + rng.logistic(size=80) > 0.0, "yes", "no")
    data.to_csv(tmp_path / "rows.csv", index=False)
    formula, weightless = "y ~ a + const", data.assign(w=1.0)
    weightless.loc[7, ["const", "w"]] = [5.0, 0.0]
    for model in (
        ps.logit(formula, data, lam=0.01),
        ps.svm(formula, data, standardize=True),
        ps.Logit(data["y"], data[["a", "const"]], lam=0.01),
        ps.logit(formula, ps.scan(tmp_path / "rows.csv"), lam=0.01),
        ps.logit(formula, weightless, lam=0.01, weights="w"),
    ):
        result = model.fit(cov_type="none")
        assert result.params.isna().tolist() == [False, False, True]
        assert result.tidy()["estimate"].isna().tolist() == [False, False, True]
    options = "--formula", formula, "--loss", "log", "--coefficients"
    lines = run(capsys, "fit", tmp_path / "rows.csv", *options).out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("const ")] == ["-"]


def test_a_constant_is_estimated_without_an_intercept_and_by_steps():
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"a": rng.normal(size=80), "const": 1.0})
    data["y"] = np.where(data["a"] + rng.logistic(size=80) > 0.3, "yes", "no")
    result = ps.logit("y ~ 0 + a + const", data, lam=0.01).fit()
    assert result.tidy()[NUMBERS].notna().all(axis=None)
    steps = ps.svm("y ~ a + const", data, lam=0.1).fit(ps.Pegasos(3, seed=1))
    assert steps.params["const"] == steps.solution.beta[1] != 0.0
