"""Factors on new data: the same level in another type is the same level."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError

N = 40
RNG = np.random.default_rng(1)
BASE = RNG.integers(0, 2, N)
DATA = pd.DataFrame({"x": RNG.normal(size=N), "y": RNG.choice(["a", "b"], N)})

ZERO_ONE = {
    "bool": BASE == 1,
    "int": BASE,
    "float": BASE * 1.0,
    "boolean": pd.array(BASE == 1, dtype="boolean"),
    "Int8": pd.array(BASE, dtype="Int8"),
    "object": (BASE == 1).astype(object),
    "categories": pd.Categorical(BASE),
    "other order": pd.Categorical(BASE == 1, categories=[True, False]),
    "unused": pd.Categorical(BASE, categories=[1, 0, 7]),
}
FORMULAS = ["y ~ x + C(g)", "y ~ x:C(g)", "y ~ x + C(g, contr.treatment(base=1))"]


@cache
def fit_of(formula, name):
    model = ps.svm(formula, DATA.assign(g=ZERO_ONE[name]), lam=0.05)
    return model.fit(ps.Optimum(seed=1))


def scores_of(formula, name, new):
    return fit_of(formula, name).decision_function(DATA.assign(g=new))


@pytest.mark.slow
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("fitted", ZERO_ONE)
def test_numbers_and_booleans_are_the_levels_that_they_equal(formula, fitted):
    expected = scores_of(formula, fitted, ZERO_ONE[fitted])
    from_categories = isinstance(ZERO_ONE[fitted], pd.Categorical)
    for name, new in ZERO_ONE.items():
        if isinstance(new, pd.Categorical) and not from_categories:
            continue  # what was a number is not read from categories
        found = scores_of(formula, fitted, new)
        np.testing.assert_array_equal(found, expected, err_msg=name)


@pytest.mark.parametrize("fitted", ["bool", "int", "categories"])
def test_missing_levels_are_missing_scores(fitted):
    new = pd.Series(BASE).astype(object).where(np.arange(N) > 4)
    found = scores_of("y ~ x + C(g)", fitted, new)
    expected = scores_of("y ~ x + C(g)", fitted, ZERO_ONE[fitted])
    assert found[:5].isna().all()
    np.testing.assert_array_equal(found[5:], expected[5:])


@pytest.mark.parametrize("name", ["`g", "g`", "`g`", "`"])
def test_a_factor_whose_name_ends_in_a_backtick(name, tmp_path):
    data = DATA.assign(**{name: np.resize(["u", "v", "w"], N)})
    result = ps.logit("y ~ .", data, lam=0.1).fit(ps.Optimum(seed=1))
    new = data.head(2).assign(**{name: ["u", "new"]})
    with pytest.raises(ColumnError, match=f"Column {name!r} holds levels that did not"):
        result.predict(new)
    assert result.predictions(name).tidy()["value"].tolist() == ["u", "v", "w"]
    ps.save(result, tmp_path / "fit.pegasos")
    assert ps.load(tmp_path / "fit.pegasos").predict(data).equals(result.predict(data))


def test_a_level_that_is_a_book_is_refused_wherever_it_stands():
    for text in ("a" * 20_000, "z" * 20_000):  # the reference level, or another one
        data = pd.DataFrame({"y": [0, 1] * 4, "g": ["m", "n", "n", text] * 2})
        for formula in ("y ~ g", "y ~ ."):
            with pytest.raises(ColumnError, match="10,000 characters"):
                ps.svm(formula, data)


def test_a_factor_with_one_level_has_a_note_and_no_effects():
    data = pd.DataFrame({"y": list("aabab" * 4), "x": range(20), "g": "same"})
    result = ps.logit("y ~ x + g", data).fit()
    assert list(result.params.index) == ["Intercept", "x"]
    assert "'g' is 'same' in all training rows" in str(result.summary())
    with pytest.raises(ps.errors.OptionError, match="one level has no effect"):
        result.margins("g")
