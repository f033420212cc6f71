"""Every door has the second level as the positive class."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import pegasos_stats as ps
from pegasos_stats.sklearn import LogitClassifier
from tests.output.command_line import run, strict

RTOL = 1e-12  # the same quotients in another order


@pytest.fixture(scope="module")
def patients():
    """30% are ill, so that the levels have different statistics."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    odds = 1.2 * frame["a"] - 1.2 + rng.logistic(size=300)
    return frame.assign(state=np.where(odds > 0, "ill", "healthy"))[["state", "a", "b"]]


@pytest.fixture(scope="module")
def result(patients):
    formula = "state ~ a + b"
    levels = pd.Categorical(patients["state"], categories=["healthy", "ill"])
    return ps.logit(formula, patients.assign(state=levels), lam=0.01).fit()


def test_all_doors_agree(patients, result, tmp_path, capsys):
    actual, predicted = patients["state"], result.predict(patients)
    classifier = LogitClassifier(lam=0.01).fit(patients[["a", "b"]], actual)
    second = classifier.classes_[1]
    f1 = metrics.f1_score(actual, predicted, pos_label=second)
    other = metrics.f1_score(actual, predicted, pos_label=classifier.classes_[0])
    assert abs(f1 - other) > 0.1

    for table in (
        ps.confusion(actual, predicted),
        result.confusion(patients),
        result.training_table,
        classifier.result_.confusion(),
        ps.cross_validate(result.model, folds=3, seed=1).confusion(),
        ps.calibrate(result.model, folds=3, seed=1).confusion(),
    ):
        assert table.positive == second == "ill"
        assert table.by_class.name == second
    for table in (ps.confusion(actual, predicted), classifier.result_.confusion()):
        assert table.by_class["f1"] == pytest.approx(f1, rel=RTOL)

    assert result.thresholds(seed=1).positive == second
    assert ps.reliability(actual, result.predict_proba(patients)).positive == second
    page = result.report().to_markdown()
    assert "Sensitivity (ill)" in page
    assert "Sensitivity (healthy)" not in page

    file = tmp_path / "patients.csv"
    patients.to_csv(file, index=False)
    given = ["--outcome", "state", "--loss", "log", "--lambda", 0.01, "--json"]
    given += ["--solver", "optimum", "--positive", "ill"]
    found = strict(run(capsys, "fit", file, *given).out)["confusion"]["training"]
    rates = {line["term"]: line["estimate"] for line in found["statistics"]}
    assert rates["f1"] == pytest.approx(f1, rel=RTOL)


def test_the_first_level_is_carets(result):
    first = result.confusion(event_level="first")
    assert first.positive == "healthy"
    named = result.confusion(positive="healthy")
    assert first.by_class.equals(named.by_class)
    assert first.by_class["sensitivity"] == result.confusion().by_class["specificity"]


def test_more_levels_have_no_positive_class():
    labels = ["a", "b", "c", "a"], ["a", "b", "b", "c"]
    found = ps.confusion(*labels, event_level="first")
    assert found.positive is None
    assert found.by_class.equals(ps.confusion(*labels).by_class)
