"""Left sides of formulas: what may stand there, how it is coded, saved models too."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps

N = 60
RNG = np.random.default_rng(2)
DATA = pd.DataFrame(
    {
        "affairs": np.maximum(0, RNG.normal(size=N)).round(1),
        "age": RNG.normal(40, 5, N),
        "g": ["a", "b", "c"] * 20,
    }
)
POSITIVE = (DATA["affairs"] > 0).tolist()
OUTCOMES = {
    "affairs > 0": POSITIVE,
    "factor(affairs > 0)": POSITIVE,
    "affairs > 0 & age > 40": (np.array(POSITIVE) & (DATA["age"] > 40)).tolist(),
    "g %in% c('a', 'b')": DATA["g"].isin(["a", "b"]).tolist(),
    "ifelse(affairs > 0, 'some', 'none')": np.where(POSITIVE, "some", "none").tolist(),
    "as.numeric(affairs > 0)": np.where(POSITIVE, 1, 0).tolist(),
}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_an_expression_is_an_outcome(outcome, tmp_path):
    expected = OUTCOMES[outcome]
    model = ps.logit(f"{outcome} ~ age", DATA, lam=1e-3)
    assert model.coding.levels == tuple(sorted(set(expected)))
    high = model.coding.levels[1]
    assert (model.problem.y > 0).tolist() == [value == high for value in expected]
    result = model.fit(ps.Optimum(seed=1))
    ps.save(result, tmp_path / "model")
    again = ps.load(tmp_path / "model")
    of_levels = [expected.count(level) for level in model.coding.levels]
    scores = result.decision_function(DATA)
    for fit in (result, again):
        assert fit.confusion(DATA).counts.sum(axis=1).tolist() == of_levels
        predicted = [model.coding.levels[int(score > 0)] for score in scores]
        assert fit.predict(DATA).tolist() == predicted
    assert again.augment(DATA)["margin"].equals(result.augment(DATA)["margin"])


def test_what_the_outcome_uses_is_no_predictor():
    model = ps.svm("I(affairs > 0) ~ .", DATA[["affairs", "age"]], lam=1.0)
    assert model.names == ("age",)


def test_a_missing_value_of_a_variable_leaves_the_row_out():
    data = DATA.assign(affairs=DATA["affairs"].where(np.arange(N) > 3))
    model = ps.svm("I(affairs > 0) ~ age", data, lam=1.0)
    assert model.dropped.outcome == 4
    assert model.dropped.missing == (("I(affairs > 0)", 4),)
    assert model.coding.levels == (False, True)
