"""What a newcomer is told of the penalty: no glm(), unlike scales, a flat fit."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import pegasos_stats as ps
from pegasos_stats.models.notes import calibration_slope


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


def test_a_logit_that_is_not_glm_says_so_and_what_is(survey):
    plain = ps.logit("bought ~ age + sex", survey, lam=1.0).fit()
    scores = plain.decision_function().to_numpy()
    glm = sm.Logit(survey["bought"], sm.add_constant(scores)).fit(disp=0)
    slope = glm.params.iloc[1]
    assert slope > 1.25
    (hint,) = hints(plain)
    assert f"(calibration slope {slope:.2g} on" in hint
    assert "lam=1e-9" in hint
    assert hint in plain.summary().notes

    cured = ps.logit("bought ~ age + sex", survey, lam=1e-9).fit()
    assert hints(cured) == []
    glm = sm.Logit.from_formula("bought ~ age + sex", survey).fit(disp=0)
    # The penalty moves coefficients by less than 1e-6 of them, the solver by its
    # tolerance: a thousandth of a standard error is a hundred times as much.
    far = (cured.params - glm.params).abs() / glm.bse
    assert far.max() < 1e-3


def test_the_lambda_that_repeats_glm_is_smaller_for_small_predictors(survey):
    small = survey.assign(age=survey["age"] * 1e-4)
    (hint,) = hints(ps.logit("bought ~ age", small, lam=1.0).fit())
    assert "lam=1e-14" in hint
    cured = ps.logit("bought ~ age", small, lam=1e-14).fit(ps.SDCA(tol=1e-9))
    glm = sm.Logit.from_formula("bought ~ age", small).fit(disp=0, tol=1e-12)
    assert (cured.params / glm.params - 1.0).abs().max() < 1e-4


def test_few_rows_to_a_coefficient_and_poor_fits_are_not_compared_with_glm(survey):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(99, 20)), rng.choice(["a", "b"], 99)
    assert hints(ps.Logit(y, X, lam=0.1).fit()) == []  # ten of the rarer level to each
    many = ps.Logit([*y] * 5, np.vstack([X] * 5), lam=0.1).fit()
    assert hints(many)
    poor = ps.logit("bought ~ age", survey, lam=1.0).fit(ps.Pegasos(epochs=1, seed=1))
    assert poor.relative_gap > 0.01
    assert not any("glm" in hint for hint in hints(poor))
    assert hints(ps.svm("bought ~ age", survey, lam=0.01).fit()) == []


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


def test_slopes_of_calibration():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=200) + 0.3
    y = np.where(rng.uniform(size=200) < 1 / (1 + np.exp(-2 * scores)), 1.0, -1.0)
    w = rng.choice([0.5, 1.0, 3.0], 200)
    glm = sm.GLM(
        (y > 0).astype(float),
        sm.add_constant(scores),
        family=sm.families.Binomial(),
        freq_weights=w,
    ).fit()
    # Both are Newton's method, to 1e-8 of a coefficient.
    assert calibration_slope(y, scores, w) == pytest.approx(glm.params[1], rel=1e-6)
    assert calibration_slope(y, scores * 1e-8, w) == pytest.approx(
        glm.params[1] * 1e8, rel=1e-6
    )
    assert calibration_slope(y, -scores, w) < 0.0
    assert calibration_slope(y, y, w) == np.inf
    assert np.isnan(calibration_slope(y, np.zeros(200), w))


@pytest.mark.parametrize(
    "made",
    [
        lambda lam: ps.logit("y ~ x", {"y": [0, 1], "x": [1.0, 2.0]}, lam=lam),
        lambda lam: ps.SVM([0, 1], [[1.0], [2.0]], lam=lam),
        lambda lam: ps.KernelSVM([0, 1], [[1.0], [2.0]], lam=lam),
    ],
)
def test_no_penalty_at_all_is_refused_with_what_comes_near(made):
    with pytest.raises(ps.errors.OptionError, match=r"^lam=0 .*1e-9"):
        made(0)
    with pytest.raises(ps.errors.OptionError, match=r"^lam=-1\.0 "):
        made(-1.0)


@pytest.mark.parametrize("make", [ps.svm, ps.logit])
def test_columns_of_unit_length_are_held_back_beside_others(survey, make):
    # poly() has columns of deviation n^-1/2, and at 1/n the penalty halves whatever is
    # below 2 n^-1/2: the curvature of the log loss is at most a quarter.
    polynomial = make("bought ~ poly(age, 2) + income + sex", survey).fit()
    assert any(
        "standardize=True" in note.text for note in of_topic(polynomial, "penalty")
    )
    assert not of_topic(make("bought ~ age + sex", survey).fit(), "penalty")
