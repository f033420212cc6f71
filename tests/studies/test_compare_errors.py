"""Differences of errors out of fold, paired by fold."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.studies.comparisons import paired_mean


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(103, 3)), columns=list("uvw"))
    data["y"] = np.where(data["u"] + rng.normal(size=103) > 0.4, "yes", "no")
    return data.assign(school=np.arange(103) % 7, weight=1.0 + np.arange(103) % 3)


@pytest.fixture(scope="module")
def models(data):
    return {
        "u": ps.logit("y ~ u", data, lam=0.01),
        "v": ps.svm("y ~ v", data, lam=0.01),
        "all": ps.logit("y ~ u + v + w", data, lam=0.01),
    }


@pytest.fixture(scope="module")
def found(models):
    return ps.compare_errors(models, folds=5, repeats=2, seed=3, workers=1)


def test_pairs_are_those_of_the_corrected_t_test(found, models):
    table = found.tidy()
    assert table["term"].tolist() == ["u - v", "u - all", "v - all"]
    by_fold = [each.by_fold for each in found.cross_validations.values()]
    d = (by_fold[0]["error_rate"] - by_fold[1]["error_rate"]).to_numpy()
    n_test = by_fold[0]["n_test"].to_numpy()  # 21 and 20, so that means are weighted
    mean = np.average(d, weights=n_test)
    variance = np.average((d - mean) ** 2, weights=n_test) * 10 / 9
    share = np.mean(n_test / (103 - n_test))
    error = np.sqrt((1 / 10 + share) * variance)
    reach = t.ppf(0.975, 9) * error
    line = table.iloc[0]
    assert line["estimate"] == pytest.approx(mean, rel=1e-12)
    assert line["std_error"] == pytest.approx(error, rel=1e-12)
    assert line["conf_low"] == pytest.approx(mean - reach, rel=1e-9)
    assert line["conf_high"] == pytest.approx(mean + reach, rel=1e-9)
    assert line["p_value"] == pytest.approx(2 * t.sf(abs(mean / error), 9), rel=1e-9)
    assert line["df"] == 9
    assert mean < -0.1
    again = ps.cross_validate(models["u"], folds=5, repeats=2, seed=3, workers=1)
    assert found.means["u"] == again.mean["error_rate"]
    wide = found.tidy(0.99)
    assert (wide["conf_high"] > table["conf_high"]).all()


def test_folds_are_the_same_for_all(found):
    first, *others = found.cross_validations.values()
    for each in others:
        np.testing.assert_array_equal(first.folds.assignment, each.folds.assignment)


def test_groups_stay_together_in_folds_by_group(models, data):
    pair = {name: models[name] for name in ("u", "all")}
    found = ps.compare_errors(pair, folds=3, groups="school", metric="auc", seed=1)
    assert found.tidy()["df"].tolist() == [2]
    for each in found.cross_validations.values():
        for train, test in each.folds:
            schools = [set(data["school"].iloc[rows]) for rows in (train, test)]
            assert schools[0].isdisjoint(schools[1])


def test_held_out_rows_count_with_their_weights(data):
    pair = {f: ps.logit(f"y ~ {f}", data, lam=0.01, weights="weight") for f in "uv"}
    found = ps.compare_errors(pair, folds=4, seed=1)
    one, two = (each.by_fold for each in found.cross_validations.values())
    d = one["error_rate"] - two["error_rate"]
    mean = np.average(d, weights=one["weight"])
    assert found.tidy()["estimate"][0] == pytest.approx(mean, rel=1e-12)
    assert mean != pytest.approx(np.average(d, weights=one["n_test"]), rel=1e-6)


def test_counts_are_rows(data):
    table = data.assign(n=1 + np.arange(len(data)) % 2)
    rows = table.iloc[np.repeat(np.arange(len(data)), table["n"])]
    short = {f: ps.logit(f"y ~ {f}", table, lam=0.01, freq_weights="n") for f in "uv"}
    long = {f: ps.logit(f"y ~ {f}", rows, lam=0.01) for f in "uv"}
    a, b = (ps.compare_errors(m, folds=4, seed=1).tidy() for m in (short, long))
    pd.testing.assert_frame_equal(a, b)


def test_cross_validations_are_compared_as_they_are(models):
    one = ps.cross_validate(models["u"], folds=4, seed=1)
    two = ps.cross_validate(models["v"], folds=one.folds, seed=1)
    found = ps.compare_errors({"u": one, "v": two})
    difference = one.mean["error_rate"] - two.mean["error_rate"]
    assert found.tidy()["estimate"][0] == pytest.approx(difference, rel=1e-9)


def test_folds_without_a_value_are_left_out():
    d, w = np.array([0.5, np.nan, 0.1, -0.3]), np.array([1.0, 9.0, 2.0, 1.0])
    found = paired_mean(d, w, 0.25)
    error = np.sqrt((1 / 3 + 0.25) * 0.08 * 1.5)
    assert found == pytest.approx((0.1, error, 2.0), rel=1e-12)
    assert np.isnan(paired_mean(d[:1], w[:1], 0.25)[1])


def test_what_one_of_them_lacks_is_said_before_any_fit(models, monkeypatch):
    def fitted(*given, **named):
        raise AssertionError("a model was fitted")

    own = sys.modules["pegasos_stats.studies.comparisons"]
    monkeypatch.setattr(own, "cross_validate", fitted)
    for wrong in ({"metric": "log_loss"}, {"metric": ["auc"]}):
        with pytest.raises(OptionError):
            ps.compare_errors(models, **wrong)
    with pytest.raises(OptionError):
        ps.compare_errors(models | {"last": 1})


def test_a_cross_validation_gives_the_folds_wherever_it_stands(models):
    def misses(y, scores):
        return float(np.mean(y != np.sign(scores)))

    done = ps.cross_validate(
        models["v"], folds=3, seed=2, metrics=["error_rate", misses]
    )
    found = ps.compare_errors({"u": models["u"], "v": done}, metric=misses, seed=9)
    assert found.metric == "misses"
    assert list(found.means) == ["u", "v"]
    assert found.means["v"] == done.mean["misses"] != found.means["u"]


def validated(model, seed=1):
    return ps.cross_validate(model, folds=3, seed=seed)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (lambda m: [m["u"]], "models="),
        (lambda m: {"a": m["u"], 2: m["v"]}, "the name 2"),
        (lambda m: {"a": 1, "b": m["v"]}, "'a' is of type int"),
    ],
)
def test_what_cannot_be_compared_is_named(models, asked, named):
    with pytest.raises(OptionError, match=named):
        ps.compare_errors(asked(models), folds=3, seed=1)


def test_models_of_other_rows_or_folds_are_refused(models, data):
    other = ps.svm("y ~ u", data.iloc[1:], lam=1.0)
    with pytest.raises(DataError, match=r"^'b' "):
        ps.compare_errors({"a": models["u"], "b": other}, folds=3, seed=1)
    folds = {name: validated(models["u"], seed) for name, seed in (("a", 1), ("b", 2))}
    with pytest.raises(DataError, match=r"^'b' has folds of its own"):
        ps.compare_errors(folds)


def test_models_that_err_alike_have_no_test_and_a_note_says_why(models):
    same = {"u": models["u"], "again": models["u"]}
    found = ps.compare_errors(same, folds=5, seed=3, workers=1)
    assert np.isnan(found.tidy()["p_value"].item())
    assert "'u - again': no spread over the folds, and so no test." in str(found)
