"""Nested cross-validation: what it chooses, and that its estimate is honest."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError

GRID = [1.0, 0.1, 0.01]
QUICK = ps.SDCA(tol=1e-4, epochs=200, seed=1)


def sample(seed, n=90, effect=1.0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=["a", "b", "c", "d"])
    score = effect * frame["a"] + rng.normal(size=n)
    frame["y"] = np.where(score > np.median(score), "yes", "no")
    return frame


def test_a_path_says_how_to_choose():
    frame = sample(2)
    model = ps.logit("y ~ .", frame, lam=1.0)
    path = ps.lambda_path(
        model, GRID, QUICK, folds=4, repeats=2, seed=1, metric="brier_score"
    )
    found = ps.cross_validate(
        model, QUICK, folds=3, seed=1, lambda_path=path, rule="min", metrics="auc"
    )
    how = found.choosing
    assert (how.folds, how.repeats, how.metric.name, how.rule) == (
        4,
        2,
        "brier_score",
        "min",
    )
    assert (how.lambdas == path.lambdas).all()
    assert found.tidy()["term"].tolist() == ["auc"]
    plain = found.by_fold["auc"].std() / np.sqrt(3)  # folds of 30 rows, fits of 60
    assert found.std_error["auc"] == pytest.approx(plain * np.sqrt(2.5), rel=1e-12)
    assert set(found.by_fold["lam"]) <= set(GRID)


@pytest.mark.parametrize("nothing", [None, False])
def test_without_a_path_nothing_is_chosen(nothing):
    model = ps.svm("y ~ .", sample(4), lam=0.1)
    found = ps.cross_validate(model, QUICK, folds=3, seed=1, lambda_path=nothing)
    assert found.choosing is None
    assert "lam" not in found.by_fold


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rule": "best", "lambda_path": True}, "rule='best'"),
        ({"lambda_path": [1.0, 1.0]}, "lambdas=\\[1.0, 1.0\\]"),
        ({"lambda_path": 0.1}, "lambdas=0.1"),
    ],
)
def test_what_is_no_path_is_refused(given, message):
    with pytest.raises(OptionError, match=message):
        ps.cross_validate(ps.svm("y ~ .", sample(7), lam=1.0), QUICK, **given)


def test_undecided_rows_count_alike_in_folds_and_pooled():
    frame = sample(8, n=80)
    frame["a"] = np.round(frame["a"])
    frame = frame[["a", "y"]]
    model = ps.svm("y ~ a", frame, lam=0.5, intercept=False)
    found = ps.cross_validate(model, QUICK, folds=7, seed=1)
    table = found.confusion()
    assert table.n_undecided > 0
    assert found.by_fold["decided"].nunique() > 1
    assert found.mean["error_rate"] == pytest.approx(table.error_rate, rel=1e-12)
    assert found.by_fold["decided"].sum() == table.n_classified
    assert found.by_fold["weight"].sum() == 80


def test_the_estimate_is_right_where_there_is_nothing_to_find():
    # Half of the labels each, dealt at random: any rule errs in half of new rows.
    # benchmarks/nested.py does it at length, with an effect too.
    errors, held, best = [], 0, []
    for seed in range(1, 21):
        rng = np.random.default_rng([3, seed])
        model = ps.SVM(np.repeat(["a", "b"], 24), rng.normal(size=(48, 3)), lam=1.0)
        given = {"folds": 3, "seed": seed, "workers": 1}
        path = ps.lambda_path(model, [1.0, 0.01], QUICK, **given)
        found = ps.cross_validate(
            model, QUICK, lambda_path=path, rule="min", metrics="error_rate", **given
        )
        error = found.mean["error_rate"]
        errors.append(error)
        held += abs(error - 0.5) <= 1.96 * found.std_error["error_rate"]
        best.append(path.tidy().query("term == 'error_rate'")["estimate"].min())
    spread = np.std(errors, ddof=1) / np.sqrt(20)
    assert abs(np.mean(errors) - 0.5) < 3.0 * spread
    assert held >= 15  # 95% of 20 are 19; fewer than 15 has a probability of 0.03%
    assert np.mean(best) < np.mean(errors)  # the least of a path is less
