"""What a newcomer is told of the penalty: unlike scales, a flat fit."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(7)
    n = 400
    data = pd.DataFrame(
        {
            "age": rng.normal(40, 9, n),
            "sex": rng.choice(["f", "m"], n),
            "income": rng.normal(3e4, 1e4, n),
        }
    )
    score = 0.05 * (data["age"] - 40) + 1.2 * (data["sex"] == "m") - 0.5
    data["bought"] = np.where(rng.uniform(size=n) < 1 / (1 + np.exp(-score)), 1, 0)
    return data


def of_topic(result, topic):
    return [note for note in result.notes if note.topic == topic]


def hints(result):
    notes = (note for note in result.notes if note.severity == "note")
    return [note.text for note in notes if note.topic == "penalty"]


@pytest.mark.parametrize("make", [ps.svm, ps.logit])
def test_predictors_on_unlike_scales_are_named_until_they_are_alike(make, survey):
    fit = make("bought ~ age + sex + income", survey, lam=0.1).fit()
    sex, income = (survey["sex"] == "m").std(), survey["income"].std()
    (told,) = [hint for hint in hints(fit) if "scale" in hint]
    assert f"{sex:.2g} for sex[T.m], {income:.2g} for income" in told
    assert "1 of 3 predictors" in told
    assert "standardize=True" in told
    scaled = make("bought ~ age + sex + income", survey, lam=0.1, standardize=True)
    assert not any("scale" in hint for hint in hints(scaled.fit()))
    weak = make("bought ~ age + sex + income", survey, lam=1e-4).fit(ps.SDCA(seed=1))
    assert not any("scale" in hint for hint in hints(weak))


def test_a_degenerate_hinge_is_told_until_it_is_cured():
    rng = np.random.default_rng(5)
    y = np.where(np.arange(300) % 10 == 0, "ill", "well")
    X = rng.normal(size=(300, 2)) + 0.8 * (y == "ill")[:, None]
    flat = ps.SVM(y, X, lam=0.01).fit(ps.SDCA(tol=1e-8, seed=1))
    (note,) = of_topic(flat, "predictions")
    assert note.severity == "warning"
    assert "'well'" in note.text
    assert note.sentence == flat.summary().notes[0]
    cured = ps.SVM(y, X, lam=0.01, weights="balanced").fit(ps.SDCA(tol=1e-8, seed=1))
    assert of_topic(cured, "predictions") == []
