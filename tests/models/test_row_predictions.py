"""Predictions of rows with errors and intervals: those of statsmodels."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy.special import expit

import pegasos_stats as ps
from pegasos_stats.errors import OptionError

CLOSE = 1e-6  # the penalty of 1e-10, and statsmodels' tolerance of 1e-8
EXACT = ps.Optimum(tol=1e-12, seed=1)
FORMULA = "y ~ x + g"


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"x": rng.normal(50, 9, 180)})
    frame["g"], frame["t"] = rng.choice(list("abc"), 180), rng.uniform(-1, 1, 180)
    chance = expit(0.06 * (frame["x"] - 50) - 0.7 * (frame["g"] == "c"))
    return frame.assign(y=(rng.random(180) < chance).astype(int))


@pytest.mark.parametrize("cov_type", ["nonrobust", "HC0"])
def test_frames_are_those_of_logit(cov_type, data):
    ours = ps.logit(FORMULA, data, lam=1e-10).fit(EXACT, cov_type=cov_type)
    given = {"disp": 0, "tol": 1e-12, "cov_type": cov_type}
    peer = smf.logit(FORMULA, data).fit(**given)
    new = data.sample(40, random_state=1)
    found = ours.get_prediction(new).summary_frame(alpha=0.1)
    expected = peer.get_prediction(new).summary_frame(alpha=0.1)
    expected.index = new.index  # as statsmodels has it from 0.15
    pd.testing.assert_frame_equal(found, expected, rtol=CLOSE)
    linear = peer.get_prediction(new, which="linear").summary_frame()
    on_link = ours.get_prediction(new, scale="link").summary_frame()
    np.testing.assert_allclose(on_link, linear, CLOSE, CLOSE)


def test_an_offset_moves_scores_and_not_their_errors(data):
    fit = ps.logit(FORMULA, data, lam=1e-10, offset="t").fit(EXACT, cov_type="HC0")
    peer = smf.glm(FORMULA, data, family=sm.families.Binomial(), offset=data["t"])
    peer = peer.fit(tol=1e-12, cov_type="HC0").get_prediction(data, offset=data["t"])
    found = fit.get_prediction(data).summary_frame()
    np.testing.assert_allclose(found, peer.summary_frame(), CLOSE)


MODELS = [(ps.logit, {}), (ps.logit, {"weights": "balanced"})]
MODELS += [(make, {"standardize": True}) for make in (ps.logit, ps.svm)]


@pytest.mark.parametrize(("make", "given"), MODELS)
@pytest.mark.parametrize("cov_type", ["default", ps.Bootstrap(99)])
def test_one_row_has_the_error_that_its_mean_has(make, given, cov_type, data):
    """`predictions` of one row, which averages over it."""
    fit = make(FORMULA, data, **given).fit(cov_type=cov_type)
    balanced = "weights" in given  # whose log odds vary with the shares of the levels
    scale = "response" if balanced else "link"
    frame = fit.get_prediction(data.head(3), scale=scale).summary_frame()
    for i in range(3):
        (one,) = fit.predictions(data=data.iloc[[i]], scale=scale).tidy().itertuples()
        assert frame["predicted"].iloc[i] == pytest.approx(one.estimate, rel=1e-9)
        if not balanced:
            limits = frame.iloc[i][["ci_lower", "ci_upper"]].tolist()
            assert limits == pytest.approx([one.conf_low, one.conf_high], rel=1e-6)
        close = 0.1 if balanced and cov_type != "default" else 1e-9
        assert frame["se"].iloc[i] == pytest.approx(one.std_error, rel=close)


def test_intervals_of_probabilities_are_those_of_scores(data):
    fit = ps.logit(FORMULA, data).fit(cov_type=ps.Bootstrap(99))
    link = fit.get_prediction(data, scale="link").summary_frame()
    found = fit.get_prediction(data).summary_frame()
    limits = ["predicted", "ci_lower", "ci_upper"]
    np.testing.assert_allclose(found[limits], expit(link[limits]), 1e-12)
    p = found["predicted"]
    np.testing.assert_allclose(found["se"], p * (1 - p) * link["se"], 1e-12)
    with pytest.raises(OptionError, match="resamples"):
        fit.get_prediction(data).conf_int(alpha=0.001)


def test_augment_has_standard_errors(data):
    fit = ps.logit(FORMULA, data, weights="balanced").fit()
    table = fit.augment(data, se_fit=True)
    errors = fit.get_prediction(data).summary_frame()["se"]
    assert table["probability_se"].equals(errors.rename("probability_se"))
    scores = fit.get_prediction(data, scale="link").summary_frame()["se"]
    assert table["score_se"].equals(scores.rename("score_se"))
    hinge = ps.svm(FORMULA, data).fit(cov_type=ps.Bootstrap(49))
    assert hinge.augment(se_fit=True)["score_se"].gt(0).all()
    with pytest.raises(OptionError, match="standard errors"):
        ps.kernel_svm(FORMULA, data).fit().augment(data, se_fit=True)


def test_separated_rows_have_no_error():
    data = pd.DataFrame({"x": [1.0, 2, 3, 4, 5, 6], "y": [0, 0, 0, 1, 1, 1]})
    with pytest.warns(ps.errors.UndefinedMetricWarning):
        frame = ps.logit("y ~ x", data, lam=1e-9).fit().get_prediction().summary_frame()
    assert frame["predicted"].notna().all()
    assert frame["se"].isna().all()


def test_rows_with_missing_values_keep_their_place(data):
    fit = ps.logit(FORMULA, data).fit()
    new = data.head(3).set_axis(["a", "b", "c"])
    new.loc["b", "x"] = np.nan
    frame = fit.get_prediction(new).summary_frame()
    assert frame.index.tolist() == ["a", "b", "c"]
    assert frame.isna().all(axis=1).tolist() == [False, True, False]
    assert (frame["predicted"].dropna() == fit.predict_proba(new)[1].dropna()).all()
    assert len(fit.get_prediction(data.head(0)).summary_frame()) == 0


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_svms_predict_scores_on_both_scales(loss, data):
    fit = ps.svm(FORMULA, data, loss=loss).fit(cov_type=ps.Bootstrap(99))
    found, link = (
        fit.get_prediction(data, scale=scale).summary_frame()
        for scale in ("response", "link")
    )
    pd.testing.assert_frame_equal(found, link)
    np.testing.assert_allclose(found["predicted"], fit.decision_function(data))
    assert (found["se"] > 0.0).all()
    with pytest.raises(OptionError, match="scale='log'"):
        fit.get_prediction(data, scale="log")
