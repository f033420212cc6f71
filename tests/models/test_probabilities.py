"""Probabilities of weighted fits, and scores that say nothing."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import pegasos_stats as ps
from pegasos_stats.errors import OptionError, UndefinedMetricWarning

TIGHT = ps.Optimum(epochs=1000, tol=1e-10, seed=1)


def rare(n, seed):
    """A level with a share of 0.31 or so, whose log odds are known."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    frame["odds"] = -1.0 + 1.2 * frame["a"] - 0.5 * frame["b"]
    return frame.assign(y=np.where(rng.random(n) < expit(frame["odds"]), "yes", "no"))


DATA = rare(4000, 1)
NEW = rare(4000, 2)


def far_for(share):
    """Three standard errors of the difference of a share in two samples of 4,000."""
    return 3.0 * np.sqrt(2.0 * share * (1.0 - share) / 4000)


@pytest.mark.parametrize("weights", ["balanced", {"no": 1.0, "yes": 5.0}])
def test_class_weights_are_taken_out_of_the_odds(weights):
    weighted = ps.logit("y ~ a + b", DATA, lam=1e-5, weights=weights).fit(TIGHT)
    plain = ps.logit("y ~ a + b", DATA, lam=1e-5).fit(TIGHT)
    w, y = weighted.problem.weights, weighted.problem.y
    shift = np.log(w[y > 0][0] / w[y < 0][0])
    expected = expit(weighted.decision_function(NEW) - shift)
    found = weighted.predict_proba(NEW)
    np.testing.assert_allclose(found["yes"], expected, rtol=1e-14)
    # Both estimate the same odds: 4,000 rows give them to 0.05 or so.
    share = (NEW["y"] == "yes").mean()
    assert found["yes"].mean() == pytest.approx(share, abs=far_for(share))
    assert np.abs(found["yes"] - plain.predict_proba(NEW)["yes"]).max() < 0.05
    table = weighted.confusion(NEW)
    brier = ((found["yes"] - (NEW["y"] == "yes")) ** 2).mean()
    assert table.overall["brier_score"] == pytest.approx(brier, rel=1e-12)
    assert brier < share * (1 - share)  # that of the base rate
    # Labels go by the score, as the weights ask.
    labels = np.where(weighted.decision_function(NEW) > 0, "yes", "no")
    assert (weighted.predict(NEW) == labels).all()


def test_out_of_fold_probabilities_are_of_the_same_population():
    model = ps.logit("y ~ a + b", DATA, lam=1e-3, weights="balanced")
    found = ps.cross_validate(model, folds=5, seed=1)
    expected = expit(found.scores - model.problem.prior_shift)
    np.testing.assert_allclose(found.probabilities["yes"], expected, rtol=1e-14)
    y = (found.actual == "yes").to_numpy()
    brier = np.square(expected - y).mean()
    assert found.confusion().overall["brier_score"] == pytest.approx(brier, rel=1e-12)


@pytest.mark.parametrize("weights", ["balanced", {"no": 1.0, "yes": 3.0}])
def test_platts_sigmoid_is_fitted_to_the_rows_as_they_are(weights):
    model = ps.svm("y ~ a + b", DATA, lam=1e-2, weights=weights)
    found = ps.calibrate(model, seed=1)
    p, came = found.predict_proba(NEW)["yes"], NEW["y"] == "yes"
    assert p.mean() == pytest.approx(came.mean(), abs=far_for(came.mean()))
    assert np.abs(p - expit(NEW["odds"])).mean() < 0.03
    brier = np.square(found.probabilities["yes"] - (found.validation.actual == "yes"))
    estimate = found.tidy().set_index("term").loc["brier_score", "estimate"]
    assert estimate == pytest.approx(brier.mean(), rel=1e-12)


def test_a_fit_that_gives_a_level_up_has_the_base_rate():
    """Noise, and one row of five: the hinge is least where beta is 0."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 2)), np.where(np.arange(200) % 5 == 0, "yes", "no")
    with pytest.warns(UndefinedMetricWarning) as warned:
        found = ps.calibrate(ps.SVM(y, X, lam=1.0), seed=1)
    said = [str(w.message) for w in warned if w.category is UndefinedMetricWarning]
    assert found.predict_proba(X)["yes"].to_numpy() == pytest.approx(0.2, rel=1e-12)
    assert found.probabilities["yes"].to_numpy() == pytest.approx(0.2, abs=1e-3)
    assert found.summary().notes[0] == said[0]
    assert pytest.approx((0.0, np.log(4.0))) == (found.sigmoid.A, found.sigmoid.B)


def test_weights_of_rows_make_a_population_also_if_a_level_has_one_weight():
    """All cases and a twentieth of the controls: as in glm(weights = w)."""
    w = np.where(DATA["y"] == "yes", 1.0, 20.0)
    result = ps.logit("y ~ a + b", DATA, lam=1e-3, weights=w).fit(TIGHT)
    expected = expit(result.decision_function(NEW))
    np.testing.assert_allclose(result.predict_proba(NEW)["yes"], expected, rtol=1e-14)


# Predictions by a threshold, on one scale wherever one is taken.
SOLVER = ps.Optimum(tol=1e-6, seed=1)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"a": rng.normal(size=50), "b": rng.normal(size=50)})
    data["y"] = np.where(data["a"] + rng.normal(size=50) > 0.7, "yes", "no")
    return data


@pytest.fixture(scope="module")
def svm(frame):
    return ps.svm("y ~ a + b", frame, lam=0.1).fit(SOLVER)


@pytest.fixture(scope="module")
def logit(frame):
    weights = {"no": 1.0, "yes": 3.0}
    return ps.logit("y ~ a + b", frame, lam=0.1, weights=weights).fit(SOLVER)


def labels(above):
    return pd.Series(np.where(above, "yes", "no"), above.index, name="y")


def same(found, expected):
    return found.astype(object).equals(expected.astype(object))


@pytest.mark.parametrize("at", [-0.9, -0.2, 0.4, -np.inf, np.inf])
def test_the_hinge_is_cut_by_its_score(svm, frame, at):
    scores = svm.decision_function(frame)
    assert same(svm.predict(frame, threshold=at), labels(scores > at))
    counts = svm.confusion(frame, threshold=at).counts.sum(axis=0)
    assert counts.tolist() == [(scores < at).sum(), (scores > at).sum(), 0]
    assert same(svm.augment(frame, threshold=at)["predicted"], labels(scores > at))


@pytest.mark.parametrize("at", [0.1, 0.4, 0.6])
def test_the_log_loss_is_cut_by_the_probability_of_the_second_level(logit, frame, at):
    chances = logit.predict_proba(frame)["yes"]
    expected = labels(chances > at)
    assert expected.nunique() == 2
    assert same(logit.predict(frame, threshold=at), expected)
    assert same(logit.augment(threshold=at)["predicted"], expected)
    table = logit.confusion(threshold=at)
    assert table.source == "training"
    assert table.counts.tolist() == ps.confusion(frame["y"], expected).counts.tolist()


def test_without_a_threshold_the_sign_of_the_score_decides(svm, logit, frame):
    assert same(svm.predict(threshold=0.0), svm.predict())
    weighted = 1.0 / (1.0 + 3.0)  # where the score is 0: the odds of the weights are 3
    assert same(logit.predict(threshold=weighted), logit.predict())
    assert not same(logit.predict(threshold=0.5), logit.predict())
    plain = ps.logit("y ~ a + b", frame, lam=0.1).fit(SOLVER)
    assert same(plain.predict(threshold=0.5), plain.predict())


@pytest.mark.parametrize(
    ("ties", "label"), [("na", None), ("positive", "yes"), ("negative", "no")]
)
def test_a_row_at_the_threshold_is_a_tie(svm, logit, frame, ties, label):
    for result, values in (
        (svm, svm.decision_function()),
        (logit, logit.predict_proba()["yes"]),
    ):
        at = float(values.iloc[7])
        found = result.predict(frame, ties, threshold=at)
        assert found.iloc[7] == label or (label is None and pd.isna(found.iloc[7]))
        assert same(found.drop(7), labels(values > at).drop(7))
        table = result.confusion(frame, ties=ties, threshold=at)
        assert table.n_undecided == (label is None)


@pytest.mark.parametrize("at", [-0.1, 1.1, np.inf, "0.5"])
def test_what_is_no_threshold_of_a_probability(logit, at):
    for call in (logit.predict, logit.confusion, logit.plot.roc):
        with pytest.raises(OptionError, match=f"^threshold={at!r} .* from 0 to 1"):
            call(threshold=at)


def test_calibrated_fits_and_cross_validation_take_one(frame):
    model = ps.svm("y ~ a + b", frame, lam=0.1)
    calibrated = ps.calibrate(model, SOLVER, folds=3, seed=1)
    chances = calibrated.predict_proba(frame)["yes"]
    expected = labels(chances > 0.3)
    assert expected.nunique() == 2
    assert same(calibrated.predict(frame, threshold=0.3), expected)
    assert same(calibrated.predict(frame), labels(chances > 0.5))
    with pytest.raises(OptionError, match=r"^threshold=2\.0 .* from 0 to 1\.$"):
        calibrated.predict(frame, threshold=2.0)
    cv = calibrated.validation
    table = cv.confusion(threshold=-0.3)
    assert table.counts[:, 1].sum() == (cv.scores > -0.3).sum()
    assert table.source == "out of fold"
