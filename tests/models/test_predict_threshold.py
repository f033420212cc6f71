"""Predictions by a threshold, on one scale wherever one is taken."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError

SOLVER = ps.SDCA(tol=1e-6, seed=1)


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
    table = svm.confusion(frame, threshold=at)
    assert table.counts.sum(axis=0).tolist() == [
        (scores < at).sum(),
        (scores > at).sum(),
        0,
    ]
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
