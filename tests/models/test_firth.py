"""Logistic regression with Firth's penalty, and intervals by profiles, of models."""

import json

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.models.inference.profile import Profile
from pegasos_stats.solvers.firth import orthonormal_rows
from tests.output.command_line import params_of, run

FORMULA = "y ~ x + g"


def frame(n=60):
    """All rows of level b are of one class."""
    rng = np.random.default_rng(8)
    data = pd.DataFrame({"x": rng.normal(size=n), "g": rng.choice(["a", "b", "c"], n)})
    above = data["x"] - (data["g"] == "c") + rng.logistic(size=n) > 0.5
    data["y"] = np.where(above | (data["g"] == "b"), "yes", "no")
    return data.assign(count=rng.integers(0, 4, n), half=data["x"] / 2.0, site=data.g)


@pytest.fixture(scope="module")
def data():
    return frame()


@pytest.fixture(scope="module")
def result(data):
    return ps.logit(FORMULA, data, penalty="firth").fit()


def profile_of(data, firth=True):
    X = np.column_stack([data.x, data.g == "b", data.g == "c"]).astype(float)
    return Profile(orthonormal_rows(X, np.where(data.y == "yes", 1.0, -1.0)), firth)


def test_the_table_has_estimates_errors_limits_and_tests_of_the_profile(data, result):
    profile = profile_of(data)
    table, tests = result.tidy(), profile.table()
    np.testing.assert_allclose(result.params, profile.fit.theta, rtol=1e-11)
    np.testing.assert_allclose(result.bse, profile.fit.std_error, rtol=1e-9)
    np.testing.assert_allclose(result.pvalues, tests.p_value, rtol=1e-9)
    np.testing.assert_allclose(result.tvalues, tests.statistic, rtol=1e-9)
    assert (np.sign(result.tvalues) == np.sign(result.params)).all()
    limits = table[["conf_low", "conf_high"]]
    np.testing.assert_allclose(limits, profile.limits(), rtol=1e-9)
    np.testing.assert_allclose(result.conf_int(0.1), profile.limits(0.9), rtol=1e-9)
    wald = result.conf_int(method="wald")
    reach = 1.959963984540054 * result.bse
    np.testing.assert_allclose(wald[1], result.params + reach, rtol=1e-12)


def test_counts_and_offsets_count_as_in_repeated_rows(data):
    options = {"penalty": "firth", "offset": "half"}
    counted = ps.logit(FORMULA, data, freq_weights="count", **options).fit()
    repeated = data.loc[data.index.repeat(data["count"])].reset_index(drop=True)
    other = ps.logit(FORMULA, repeated, **options).fit()
    np.testing.assert_allclose(counted.tidy().iloc[:, 1:], other.tidy().iloc[:, 1:])
    # an offset x / 2 takes as much from the coefficient of x
    plain = ps.logit(FORMULA, repeated, penalty="firth").fit()
    shift = plain.conf_int() - other.conf_int()
    np.testing.assert_allclose(shift.loc["x"], 0.5, rtol=1e-8)
    np.testing.assert_allclose(shift.drop(index="x"), 0.0, atol=1e-8)


def test_standardized_predictors_give_the_same_table_on_their_own_scale(data, result):
    scaled = ps.logit(FORMULA, data, penalty="firth", standardize=True).fit()
    table = scaled.tidy(original=True).iloc[:, 1:]
    np.testing.assert_allclose(table, result.tidy().iloc[:, 1:], rtol=1e-8)


def test_a_saved_fit_prints_and_predicts_the_same(data, result, tmp_path):
    place = tmp_path / "firth.model"
    ps.save(result, place)
    loaded = ps.load(place)
    assert str(loaded.summary()) == str(result.summary())
    pd.testing.assert_frame_equal(loaded.tidy(), result.tidy())
    pd.testing.assert_series_equal(
        loaded.decision_function(data), result.decision_function(data)
    )
    with pytest.raises(DataError):
        loaded.conf_int(0.1)
    assert json.loads(result.to_json())["penalty"] == "firth"


def test_flic_predicts_as_many_events_as_there_are(data, result):
    share = float((data["y"] == "yes").mean())
    assert abs(result.predict_proba()["yes"].mean() - share) > 1e-4
    flic = ps.logit(FORMULA, data, penalty="flic").fit()
    mean = flic.predict_proba()["yes"].mean()
    assert mean == pytest.approx(share, rel=1e-12)
    pd.testing.assert_series_equal(flic.coef, result.coef)
    with pytest.raises(OptionError, match="firth"):
        flic.conf_int()


def test_the_gap_of_an_objective_that_may_have_several_maxima_is_not_known(result):
    assert result.converged
    assert result.gap == np.inf
    text = str(result.summary(details=True))
    assert "Not certified" in text
    assert "gap" not in text


def test_folds_are_fitted_with_the_penalty_too(data):
    model = ps.logit(FORMULA, data, penalty="firth")
    study = ps.cross_validate(model, folds=5)
    rows = study.folds.splits[0].train
    alone = ps.logit(FORMULA, data.iloc[rows], penalty="firth").fit()
    test = data.iloc[study.folds.splits[0].test]
    log_loss = -np.log(
        np.where(
            test.y == "yes",
            alone.predict_proba(test)["yes"],
            alone.predict_proba(test)["no"],
        )
    ).mean()
    assert study.by_fold["log_loss"].iloc[0] == pytest.approx(log_loss, rel=1e-9)


@pytest.mark.parametrize("penalty", ["firth", "flic"])
def test_the_command_line_has_it(data, tmp_path, capsys, penalty):
    data[["y", "x", "g"]].to_csv(tmp_path / "rows.csv", index=False)
    options = "--outcome y --loss log --penalty", penalty, "--json"
    words = " ".join(options).split()
    printed = run(capsys, "fit", tmp_path / "rows.csv", *words)
    ours = ps.logit(FORMULA, data, penalty=penalty).fit()
    assert params_of(printed) == pytest.approx(ours.params.to_dict(), rel=1e-9)


@pytest.mark.parametrize(
    ("options", "fit"),
    [
        ({"lam": 0.1}, {}),
        ({"lam": 0.0}, {}),
        ({"lam": "cv"}, {}),
        ({"weights": "half"}, {}),
        ({"weights": "balanced"}, {}),
        ({"penalty": "lasso"}, {}),
        ({}, {"groups": "site"}),
        ({}, {"cov_type": "HC3"}),
        ({}, {"cov_type": "bootstrap"}),
        ({}, {"solver": ps.Pegasos(seed=1)}),
        ({}, {"solver": ps.SDCA()}),
    ],
)
def test_what_the_penalty_does_not_go_with_is_refused(data, options, fit):
    rows = data.assign(half=data.x**2)
    with pytest.raises(OptionError):
        ps.logit(FORMULA, rows, **{"penalty": "firth", **options}).fit(**fit)


def test_files_dask_paths_and_the_hinge_are_refused(data, tmp_path):
    data.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(OptionError, match="penalty"):
        ps.logit(FORMULA, ps.scan(tmp_path / "rows.csv"), penalty="firth")
    with pytest.raises(OptionError, match="penalty"):
        ps.svm(FORMULA, data, penalty="firth")
    with pytest.raises(OptionError, match="firth"):
        ps.lambda_path(ps.logit(FORMULA, data, penalty="firth"))


def test_a_limit_that_is_not_found_is_missing_and_said_so(data, monkeypatch):
    """Here no fit with a coefficient held converges."""
    constrained = Profile._constrained
    monkeypatch.setattr(
        Profile, "_constrained", lambda *args: (np.nan, constrained(*args)[1])
    )
    fit = ps.logit(FORMULA, data, penalty="firth").fit()
    with pytest.warns(ps.errors.UndefinedMetricWarning, match="'x'"):
        assert fit.conf_int().isna().all(axis=None)
    assert "has a missing limit" in str(fit.summary())


# ---- Profiles of maximum likelihood, of which tests/parity has the numbers of R.


def test_profiles_of_maximum_likelihood_do_not_depend_on_the_covariance(data):
    rows = data[data["g"] != "b"]
    fit = ps.logit("y ~ x + g", rows).fit()
    limits = fit.conf_int(method="profile")
    for cov_type in ("nonrobust", "HC0"):
        other = fit.with_covariance(cov_type).conf_int(method="profile")
        pd.testing.assert_frame_equal(other, limits)
    assert not np.allclose(limits, fit.conf_int())
    profile = profile_of(rows, firth=False)
    expected = profile.limits()[[0, 1, 3]]
    np.testing.assert_allclose(limits, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "fit"),
    [
        ({"lam": 1e-3}, {}),
        ({"weights": "w"}, {}),
        ({}, {"groups": "site"}),
        ({"penalty": "flic"}, {}),
    ],
)
def test_fits_without_a_likelihood_have_no_profile(data, options, fit):
    rows = data[data["g"] != "b"].assign(w=lambda d: d.x**2)
    fit = ps.logit("y ~ x", rows, **options).fit(**fit)
    with pytest.raises(OptionError, match="method='profile'"):
        fit.conf_int(method="profile")


def test_where_the_estimate_does_not_exist_the_note_and_the_error_name_the_penalty(
    data,
):
    fit = ps.logit(FORMULA, data).fit()
    assert "penalty='firth'" in str(fit.summary())
    with pytest.raises(OptionError, match="penalty='firth'"):
        fit.conf_int(method="profile")
