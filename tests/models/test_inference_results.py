"""Standard errors, tests and intervals of a fit, as its results give them."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.iolib.summary2 import summary_col

import pegasos_stats as ps
from pegasos_stats.errors import ConvergenceWarning, OptionError, UndefinedMetricWarning

CLOSE = ps.Optimum(epochs=1000, tol=1e-10, seed=1)


TERMS = "digit ~ p34 + p43 + p26"


DIGITS = ps.datasets.load_digits56()[0]


@pytest.fixture(scope="module")
def logit():
    return ps.logit(TERMS, DIGITS, lam=0.01).fit(CLOSE)


@pytest.fixture(scope="module")
def unpenalised():
    """A logistic fit with next to no penalty, and statsmodels' of the same data."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=["a", "b", "c d"])
    chance = 1.0 / (1.0 + np.exp(-(0.5 + X["a"] - 0.7 * X["b"])))
    y = (rng.uniform(size=400) < chance).astype(int)
    ours = ps.Logit(y, X, lam=1e-9).fit(CLOSE, cov_type="HC0")
    Z = sm.add_constant(X).rename(columns={"const": "Intercept"})
    return ours, sm.Logit(y, Z).fit(disp=0, cov_type="HC0", tol=1e-14, maxiter=100)


# The penalty of 1e-9 moves coefficients by some 1e-9, and the gap of 1e-10 leaves
# sqrt(2e-10 / curvature), some 1e-5, of them open; the fits are nearer than that.
LIKE = {"rtol": 1e-5, "atol": 1e-7}


def test_without_penalty_they_are_those_of_statsmodels(unpenalised):
    ours, theirs = unpenalised
    for one, other in (
        *((getattr(ours, n), getattr(theirs, n)) for n in ("bse", "tvalues")),
        (ours.cov_params(), theirs.cov_params()),
        (ours.conf_int(alpha=0.2), theirs.conf_int(alpha=0.2)),
    ):
        assert [axis.tolist() for axis in one.axes] == [a.tolist() for a in other.axes]
        np.testing.assert_allclose(one, other, **LIKE)
    for name in ("nobs", "df_model", "df_resid"):
        assert getattr(ours, name) == getattr(theirs, name)


HYPOTHESES = ["a = b", "a - b = 0, b = -0.7", np.eye(4)[1:], "2 * a + b = 1"]
HYPOTHESES += ["Intercept = 0.5", (np.array([[0.0, 1, -1, 0], [0, 0, 1, 2]]), [0.5, 1])]


@pytest.mark.parametrize("hypotheses", HYPOTHESES, ids=str)
def test_hypotheses_are_tested_as_by_statsmodels(hypotheses, unpenalised):
    ours, theirs = unpenalised
    one, other = ours.t_test(hypotheses), theirs.t_test(hypotheses)
    for name in ("effect", "sd", "tvalue", "statistic", "pvalue"):
        expected = np.ravel(getattr(other, name))
        np.testing.assert_allclose(getattr(one, name), expected, **LIKE)
    np.testing.assert_allclose(one.conf_int(0.1), other.conf_int(0.1), **LIKE)
    ours_frame, frame = one.summary_frame(), other.summary_frame()
    assert ours_frame.columns.tolist() == frame.columns.tolist()
    np.testing.assert_allclose(ours_frame, frame, **LIKE)
    joint = ours.wald_test(hypotheses)
    expected = theirs.wald_test(hypotheses, scalar=True)
    assert joint.statistic == pytest.approx(expected.statistic, rel=1e-4)
    assert joint.pvalue == pytest.approx(expected.pvalue, rel=1e-4)
    assert joint.df_num == len(one.effect)


def test_a_fit_pays_nothing_until_it_is_asked():
    result = ps.logit(TERMS, DIGITS, lam=0.01).fit(CLOSE)
    assert not result.has_covariance
    errors = result.bse
    assert result.has_covariance
    assert result.bse.equals(errors)
    covariance = result.cov_params()
    errors.iloc[:] = covariance.iloc[:, :] = 0.0
    assert (result.bse > 0.0).all()


def test_another_covariance_leaves_the_fit_as_it_is(logit):
    certificate = logit.certificate
    plain = logit.with_covariance("sandwich")
    wider = plain.with_covariance(ps.Sandwich(correction="HC3"))
    assert wider.params.equals(logit.params)
    assert wider.certificate is certificate
    assert wider.cov_type.correction == "HC3"
    assert (wider.bse > plain.bse).all()
    assert wider.with_covariance("sandwich").bse.equals(plain.bse)


def test_without_covariance_there_are_no_standard_errors(logit):
    bare = logit.with_covariance("none")
    for ask in (lambda: bare.bse, bare.conf_int, lambda: bare.t_test("p34 = 0")):
        with pytest.raises(OptionError, match=r"with_covariance\('default'\)"):
            ask()
    table = bare.tidy()
    assert table["estimate"].tolist() == bare.params.tolist()
    assert table.iloc[:, 2:].isna().all(axis=None)
    text = " ".join(str(bare.summary()).split())
    assert "no standard errors: cov_type='none'" in text
    assert "std err" not in text


def test_the_bootstrap_of_a_contrast_is_that_of_its_replicates(logit):
    boot = ps.Bootstrap(replicates=60, seed=7, interval="percentile")
    resampled = logit.with_covariance(boot)
    replicates = resampled.covariance.estimates
    differences = replicates[:, 1] - replicates[:, 2]
    test = resampled.t_test("p34 = p43")
    assert test.sd[0] == pytest.approx(differences.std(ddof=1), rel=1e-12)
    expected = np.quantile(differences, [0.025, 0.975])
    np.testing.assert_allclose(test.conf_int()[0], expected, rtol=0, atol=1e-14)
    joint = resampled.wald_test("p34 = p43").statistic
    assert joint == pytest.approx(test.statistic[0] ** 2, rel=1e-9)


@pytest.mark.parametrize("build", [ps.svm, ps.logit])
def test_a_fit_far_from_its_optimum_says_so_once_and_how_to_go_on(build):
    model = build("digit ~ p34 + p43 + p26 + p35 + p36", DIGITS, lam=0.1)
    solver = ps.Pegasos(epochs=20, seed=443)
    result = model.fit(solver)
    with pytest.warns(ConvergenceWarning, match=r"refine=1e-8") as all_:
        errors = result.bse
    assert all_[0].filename == __file__
    notes = [note for note in result.notes_on_errors() if note.topic == "run"]
    if build is ps.logit:  # the same words
        assert [note.sentence for note in notes] == [str(all_[0].message)]
    assert result.bse.equals(errors)  # warnings are errors here: there is no second
    refined = model.fit(solver, refine=1e-8)
    assert (refined.bse >= 0.0).all()
    assert not [n for n in refined.notes_on_errors() if n.topic == "run"]


def test_a_covariance_that_is_not_defined_warns_and_is_explained():
    X = pd.DataFrame({"x": [-1.0, -1.0, 1.0, 1.0]})
    solver = ps.Optimum(tol=1e-8, seed=1)
    result = ps.SVM(["a", "a", "b", "b"], X, lam=1e-3).fit(solver, cov_type="sandwich")
    with pytest.warns(UndefinedMetricWarning, match="not defined"):
        assert result.bse.isna().all()
    text = " ".join(str(result.summary()).split())
    assert "not defined" in text
    assert "std err" not in text


@pytest.mark.parametrize("rows", [69, 70])
def test_few_rows_to_a_coefficient_are_named(rows):
    """Three slopes and fewer than ten rows of the rarer level to each."""
    one, other = (each for _, each in DIGITS.groupby("digit"))
    some = pd.concat([one.head(rows - 40), other.head(40)])
    fit = ps.logit(TERMS, some, lam=0.1).fit(CLOSE)
    found = [note for note in fit.notes_on_errors() if note.topic == "few events"]
    assert [note.severity for note in found] == ["warning"] * (rows == 69)


def test_tables_of_statsmodels_take_a_fit(tmp_path):
    """Beside one of its own, with the numbers of both alike."""
    data = pd.DataFrame(np.random.default_rng(1).normal(size=(200, 2)), columns=[*"ab"])
    data["y"] = (data["a"] + np.random.default_rng(2).normal(size=200) > 0).astype(int)
    theirs = smf.logit("y ~ a + b", data).fit(disp=0)
    ours = ps.logit("y ~ a + b", data).fit(cov_type="nonrobust")
    table = summary_col([theirs, ours], info_dict={"N": lambda it: f"{it.nobs:.0f}"})
    first, second = table.tables[0].T.to_numpy().tolist()
    assert first == second
    assert ours.model.exog_names == theirs.model.exog_names
    assert ours.model.endog_names == theirs.model.endog_names == "y"
    ps.save(ours, tmp_path / "fit.model")
    data.to_csv(tmp_path / "rows.csv", index=False)
    rows = ps.logit("y ~ a + b", ps.scan(tmp_path / "rows.csv"))
    for fit in (ps.load(tmp_path / "fit.model"), rows.fit(cov_type="nonrobust")):
        same = summary_col([fit, theirs]).tables[0].T.to_numpy().tolist()
        assert same == [second[: len(same[0])]] * 2
        with pytest.raises(ps.errors.MissingAttributeError, match="not in memory"):
            fit.model.fit()
