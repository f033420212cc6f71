"""Residuals, leverages and likelihood ratios: those of statsmodels' GLM and Logit."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy.sparse import csr_array
from scipy.stats import chi2

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError, UndefinedMetricWarning

# At lam = 1e-10 the optimum differs from the one without penalty by about 1e-9 of a
# coefficient, statsmodels' own tolerance is 1e-8: 2e-8 measured of the residuals.
CLOSE = 1e-6
EXACT = ps.Optimum(tol=1e-12, seed=1)
FORMULA = "y ~ x + z + g"


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(5, 2, 250), "z": rng.standard_normal(250)})
    frame["g"] = rng.choice(["a", "b", "c"], 250)
    frame["t"], frame["w"] = rng.uniform(-1, 1, 250), rng.uniform(0.5, 2, 250)
    frame["k"] = rng.integers(1, 4, 250)
    score = 0.4 * (frame["x"] - 5) - 0.5 * frame["z"] + 0.6 * (frame["g"] == "b")
    frame["y"] = (rng.random(250) < 1 / (1 + np.exp(-score))).astype(int)
    return frame


def glm(data, formula=FORMULA, **given):
    binomial = sm.families.Binomial()
    return smf.glm(formula, data, family=binomial, **given).fit(tol=1e-13, maxiter=99)


def logit(data, formula=FORMULA, **given):
    fit = ps.logit(formula, data, **{"lam": 1e-10} | given)
    return fit.fit(EXACT, cov_type="nonrobust" if "weights" not in given else "HC0")


@pytest.fixture(scope="module")
def result(data):
    return logit(data)


CASES = {
    "plain": ({}, {}),
    "offset": ({"offset": "t"}, {"offset": "t"}),
    "weights": ({"var_weights": "w"}, {"weights": "w"}),
}


@pytest.mark.parametrize("case", CASES)
def test_names_of_glm_have_its_numbers(case, data):
    theirs, ours = CASES[case]
    theirs = {name: data[column] for name, column in theirs.items()}
    if "var_weights" in theirs:  # ours have mean 1
        theirs["var_weights"] = data["w"] / data["w"].mean()
    peer, fit = glm(data, **theirs), logit(data, **ours)
    names = ["deviance", "null_deviance", "llf", "fittedvalues", "resid_response"]
    for name in (*names, "resid_deviance", "resid_pearson"):
        np.testing.assert_allclose(getattr(fit, name), getattr(peer, name), CLOSE)
    ours, other = fit.get_influence(), peer.get_influence()
    for name in ("hat_matrix_diag", "resid_studentized", "cooks_distance"):
        np.testing.assert_allclose(getattr(ours, name), getattr(other, name), CLOSE)
    columns = ["cooks_d", "standard_resid", "hat_diag"]
    expected = other.summary_frame()[columns].set_axis(data.index)
    pd.testing.assert_frame_equal(ours.summary_frame(), expected, rtol=CLOSE)
    assert fit.glance()[["df_null", "df_residual"]].to_numpy().tolist() == [[249, 245]]


def test_counts_are_rows(data):
    fit = logit(data, freq_weights="k")
    peer = glm(data, freq_weights=data["k"])
    assert fit.deviance == pytest.approx(peer.deviance, rel=CLOSE)
    assert fit.null_deviance == pytest.approx(peer.null_deviance, rel=CLOSE)
    assert fit.df_null == data["k"].sum() - 1
    hat = fit.get_influence().summary_frame()["hat_diag"]
    of_lines = peer.get_influence().hat_matrix_diag
    np.testing.assert_allclose(hat.groupby(hat.index).sum(), of_lines, CLOSE)


def test_names_of_logit_have_its_numbers(data, result):
    peer = smf.logit(FORMULA, data).fit(disp=0, tol=1e-13)
    np.testing.assert_array_equal(result.pred_table(0.3), peer.pred_table(0.3))
    found, expected = (fit.f_test("x = z, z = 0") for fit in (result, peer))
    assert (found.df_num, found.df_denom) == (expected.df_num, expected.df_denom)
    numbers = [result.llr, result.llr_pvalue, found.statistic, found.pvalue]
    theirs = [peer.llr, peer.llr_pvalue, expected.fvalue, expected.pvalue]
    assert numbers == pytest.approx(np.array(theirs, dtype=float), rel=CLOSE)


def test_leverages_of_a_penalised_fit(data):
    fit = ps.logit("y ~ x + z", data, lam=0.1).fit(EXACT)
    X = sm.add_constant(data[["x", "z"]]).to_numpy()
    W = fit.fittedvalues * (1 - fit.fittedvalues)
    H = X.T @ (X * W.to_numpy()[:, None]) + 250 * 0.1 * np.diag([0, 1, 1])
    hat = np.einsum("ij,jk,ik->i", X, np.linalg.inv(H), X) * W
    np.testing.assert_allclose(fit.get_influence().hat_matrix_diag, hat, 1e-9)
    assert hat.sum() == pytest.approx(fit.df_effective)
    sparse = ps.Logit(data["y"], csr_array(X[:, 1:]), lam=0.1).fit(EXACT)
    np.testing.assert_allclose(sparse.get_influence().hat_matrix_diag, hat, 1e-6)


def test_augment_has_the_diagnostics_of_the_rows_of_the_fit(data, result):
    table, influence = result.augment(), result.get_influence()
    assert (table["resid"] == result.resid_deviance).all()
    assert (table["hat"] == influence.hat_matrix_diag).all()
    assert (table["cooks_d"] == influence.cooks_distance[0]).all()
    assert (table["probability"] == result.fittedvalues).all()
    assert "hat" not in result.augment(data)


# ------------------------------------------------------------------ likelihood ratios


def test_anova_is_the_likelihood_ratio(data, result):
    small = logit(data, "y ~ x")
    found = ps.anova(small, result)
    ratio = glm(data, "y ~ x").deviance - glm(data).deviance
    assert found.statistic == pytest.approx(ratio, rel=CLOSE)
    assert found.pvalue == pytest.approx(chi2.sf(ratio, 3), rel=CLOSE)
    assert found.df == 3
    assert found.tidy()["df_residual"].tolist() == [248, 245]


def test_columns_that_follow_from_others_are_not_counted(data):
    twice = data.assign(twice=2 * data["x"] - 1, one=1.0)
    fit = logit(twice, "y ~ x + z + twice + one")
    assert ps.anova(logit(data, "y ~ x"), fit).df == 1
    peer = smf.logit("y ~ x + z", data).fit(disp=0)
    assert fit.llr_pvalue == pytest.approx(peer.llr_pvalue, rel=1e-4)  # lam of twice
    scaled = ps.logit("y ~ z", data, lam=1e-10, standardize=True).fit(EXACT)
    other = ps.logit("y ~ z + x", data, lam=1e-10).fit(EXACT)
    assert ps.anova(scaled, other).df == 1


def test_a_penalty_that_matters_leaves_no_p_value(data, result):
    fit = ps.logit(FORMULA, data, lam=0.01).fit()
    small = ps.logit("y ~ x", data, lam=0.01).fit()
    with pytest.warns(UndefinedMetricWarning, match=r"wald_test_terms\(\)"):
        assert np.isnan(fit.llr_pvalue)
    with pytest.warns(UndefinedMetricWarning, match=r"wald_test_terms\(\)"):
        found = ps.anova(small, fit)
    assert np.isnan([found.statistic, found.pvalue]).all()
    assert "wald_test_terms()" in found.note
    assert found.tidy()["deviance"].tolist() == [small.deviance, fit.deviance]
    assert logit(data, lam=1e-3 / 250).llr_pvalue > 0


def test_separation_leaves_the_likelihood_ratio():
    data = pd.DataFrame({"x": [1.0, 2, 3, 4, 5, 6], "y": [0, 0, 0, 1, 1, 1]})
    fit, llr = ps.logit("y ~ x", data, lam=1e-9).fit(), 12 * np.log(2)
    assert fit.llr == pytest.approx(llr, rel=1e-4)  # the deviance is 0, nearly
    assert fit.llr_pvalue == pytest.approx(chi2.sf(llr, 1), rel=1e-3)
    assert np.isfinite(fit.get_influence().hat_matrix_diag).all()


def test_fits_are_nested(data):
    x, without, t = (logit(data, f"y ~ {terms}") for terms in ("x", "x - 1", "t"))
    assert ps.anova(without, x).df == 1
    for small in (x, logit(data, "y ~ x + z"), t):
        with pytest.raises(OptionError, match="nested"):
            ps.anova(small, x)


def test_fits_are_of_the_same_rows(data, result):
    others = {"250": data[:200], "labels": data.assign(y=1 - data["y"])}
    fits = {word: logit(rows, "y ~ x") for word, rows in others.items()}
    for word, other in {**fits, "weights": logit(data, "y ~ x", weights="w")}.items():
        with pytest.raises(DataError, match=word):
            ps.anova(other, result)
    holes = data.assign(z=data["z"].where(np.arange(len(data)) > 2))
    with pytest.raises(DataError, match="excludes other rows for missing values"):
        ps.anova(logit(holes, "y ~ x"), logit(holes, "y ~ x + z"))


def test_likelihood_ratios_do_not_allow_for_weights_and_groups(data):
    both = "y ~ x", FORMULA
    models = (ps.logit(formula, data, lam=1e-10) for formula in both)
    clustered = [model.fit(EXACT, groups=data["k"]) for model in models]
    weighted = [logit(data, f, weights="balanced") for f in both]
    for word, fits in (("groups", clustered), ("weights", weighted)):
        with pytest.warns(UndefinedMetricWarning, match=word):
            assert np.isnan(fits[1].llr_pvalue)
        with pytest.warns(UndefinedMetricWarning, match=word):
            assert np.isnan(ps.anova(*fits).pvalue)
    assert logit(data, weights=(data["x"] > 0) * 2.0).llr_pvalue > 0


def test_a_null_model_with_an_intercept_is_within_the_fit(data):
    data = data.assign(half=np.where(data["x"] > 0, "a", "b"))
    fits = [logit(data, formula) for formula in ("y ~ half", "y ~ 0 + half")]
    assert fits[1].llr_pvalue == pytest.approx(fits[0].llr_pvalue, rel=1e-5)
    with pytest.warns(UndefinedMetricWarning, match="intercept"):
        assert np.isnan(logit(data, "y ~ 0 + x").llr_pvalue)
    alone = logit(data, "y ~ 0 + x", offset="t")
    assert alone.df_null == 250
    assert alone.llr_pvalue == pytest.approx(chi2.sf(alone.llr, 1), rel=1e-6)


def test_a_test_by_f_takes_the_degrees_of_the_clusters(data):
    fit = ps.logit(FORMULA, data, lam=1e-10).fit(EXACT, groups=data["k"])
    assert fit.f_test("x = 0").df_denom == fit.covariance.df == 2
    assert ps.svm("y ~ x", data).fit().f_test("x = 0").df_denom == 248


def test_the_hinge_has_no_likelihood(data):
    fit = ps.svm("y ~ x", data).fit()
    for name in ("deviance", "null_deviance", "llf", "prsquared", "llr_pvalue", "aic"):
        assert np.isnan(getattr(fit, name))
    with pytest.raises(OptionError, match="hinge"):
        _ = fit.resid_deviance
    with pytest.raises(OptionError, match="hinge"):
        fit.get_influence()


def test_loaded_and_scanned_fits_have_numbers_but_no_rows(data, result, tmp_path):
    ps.save(result, tmp_path / "fit.npz")
    data.to_csv(tmp_path / "data.csv", index=False)
    scanned = ps.logit(FORMULA, ps.scan(tmp_path / "data.csv"), lam=1e-10)
    scanned = scanned.fit(ps.Optimum(tol=1e-10, seed=1))
    for fit in (ps.load(tmp_path / "fit.npz"), scanned):
        for name in ("deviance", "null_deviance", "llr", "llr_pvalue"):
            expected = getattr(result, name)
            assert getattr(fit, name) == pytest.approx(expected, rel=CLOSE)
        for name in ("get_influence", "pred_table"):
            with pytest.raises(DataError, match="needs the training rows"):
                getattr(fit, name)()


def test_what_collinear_columns_leave_determined_has_the_errors_without_them(data):
    made = data.assign(twice=2 * data["z"] - 1, one=1.0)
    fit = logit(made, "y ~ x + z + twice + one", lam=1e-5)
    peer = smf.logit("y ~ x + z", data).fit(disp=0)
    found = fit.t_test(["Intercept - twice = 0", "x = 0", "z + 2 * twice = 0"])
    # lam moves coefficients by 1e-5 n of the squares of their errors: 2e-5 measured.
    np.testing.assert_allclose(found.effect, peer.params, rtol=1e-4)
    np.testing.assert_allclose(found.sd, peer.bse, rtol=1e-4)
    np.testing.assert_allclose(found.pvalue, peer.pvalues, rtol=1e-3)
    with pytest.warns(UndefinedMetricWarning, match="not estimable, as 'one'"):
        joint = fit.wald_test("one = 0, z = 0, x = 0")
    plain = fit.wald_test("z = 0, x = 0")
    assert joint.pvalue == pytest.approx(plain.pvalue, rel=1e-9)


def test_inflation_factors_are_those_of_car(data, result):
    """``car::vif(glm(...))``, by its formula: correlations of the coefficients."""
    correlation = glm(data).cov_params().drop(index="Intercept", columns="Intercept")
    sd = np.sqrt(np.diag(correlation))
    correlation = correlation / np.outer(sd, sd)
    det = np.linalg.det
    own, rest = correlation.loc[["g[T.b]", "g[T.c]"]], ["x", "z"]
    factor = det(own[["g[T.b]", "g[T.c]"]]) * det(correlation.loc[rest, rest])
    table = result.vif().set_index("term")
    assert table.loc["g", "vif"] == pytest.approx(factor / det(correlation), rel=CLOSE)
    assert table.loc["g", "vif_root"] == pytest.approx(table.loc["g", "vif"] ** 0.25)
    single = np.diag(np.linalg.inv(correlation))[[2, 3]]
    np.testing.assert_allclose(table.loc[["x", "z"], "vif"], single, CLOSE)


def test_inflation_factors_without_intercept_are_those_of_the_coefficients(data):
    fitted = ps.logit("y ~ 0 + x + z", data).fit()
    covariance = fitted.with_covariance("nonrobust").cov_params().to_numpy()
    factors = np.diag(covariance) * np.diag(np.linalg.inv(covariance))
    np.testing.assert_allclose(fitted.vif()["vif"], factors, CLOSE)
