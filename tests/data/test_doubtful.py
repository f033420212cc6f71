"""Text that became a factor and was hardly meant to: who is told, and what cures it."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import ColumnWarning

N = 60
NUMBERS = [f"{i / 4}" for i in range(N)]
DATES = pd.date_range("2020-01-01", periods=N)
Y = np.where(np.arange(N) % 3 == 0, "no", "yes")


def frame(**columns):
    index = [f"r{i}" for i in range(N)]
    return pd.DataFrame({"y": Y, "z": np.arange(N) % 7, **columns}, index=index)


def told(data, formula="y ~ ."):
    """What is said of the columns when a model is made, and the model."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = ps.logit(formula, data, lam=1.0)
    assert {each.category for each in said} <= {ColumnWarning}
    assert all(each.filename == __file__ for each in said)
    return [str(each.message) for each in said], model


CASES = {
    # what the warning names: values, the first row, levels and coefficients
    "one word": ([*NUMBERS[:17], "<5", *NUMBERS[18:]], "'<5' .*r17.* 60 .* 59"),
    "several words": (
        [*NUMBERS[:3], "<5", "?", "?", *NUMBERS[6:]],
        r"'<5' \(row r3\), '\?' are not .* 59 .* 58",
    ),
    "numbers as text": (NUMBERS, "all its values are numbers: 60 .* 59"),
    "dates": (
        DATES.astype(str),
        "60 different .*'2020-01-01' .row r0.*01-03', .* 60 .* 59",
    ),
    "names": ([f"P{i // 2}" for i in range(N)], "30 levels in 60 rows"),
    "lengths": (
        [f"{i / 4} cm" for i in range(N)],
        "60 different .*'0.0 cm' .*'0.5 cm', are not numbers",
    ),
}
CURES = {
    "lengths": lambda d: d.assign(x=d["x"].str.rstrip(" cm").astype(float)),
    "one word": lambda d: d.assign(x=pd.to_numeric(d["x"], errors="coerce")),
    "several words": lambda d: d.assign(x=pd.to_numeric(d["x"], errors="coerce")),
    "numbers as text": lambda d: d.assign(x=pd.to_numeric(d["x"])),
    "dates": lambda d: d.assign(x=(pd.to_datetime(d["x"]) - DATES[0]).dt.days),
    "names": lambda d: d.drop(columns="x"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_doubtful_column_is_named_until_it_is_cured(case, tmp_path):
    values, named = CASES[case]
    data = frame(x=list(values))
    (said,), model = told(data)
    assert said.startswith("The column 'x' ")
    assert re.search(named, said)
    result = model.fit(ps.Optimum(seed=1))
    (note,) = (note for note in result.notes if note.topic == "columns")
    assert (note.severity, note.sentence) == ("warning", said)
    ps.save(result, tmp_path / "model")
    assert note in ps.load(tmp_path / "model").notes
    for cured, formula in ((CURES[case](data), "y ~ ."), (data, "y ~ z + C(x)")):
        said, model = told(cured, formula)
        assert said == []
        assert {note.topic for note in model.fit().notes} & {"columns"} == set()


def test_missing_values_of_terms_arrays_and_weights_are_counted_too():
    data = frame(x=np.arange(N) - 2.0)
    with np.errstate(all="ignore"):
        model = ps.svm("y ~ sqrt(x) + z", data, lam=1.0)
    assert model.dropped.missing == (("sqrt(x)", 2),)
    X = np.ones((N, 3))
    X[::20, 2] = np.nan
    assert ps.SVM(Y, X, lam=1.0).dropped.missing == (("x3", 3),)
    assert ps.SVM(Y, csr_array(X), lam=1.0).dropped.missing == (("x3", 3),)
    weights = np.where(np.arange(N) == 4, np.nan, 1.0)
    model = ps.SVM(Y, X, weights=weights, lam=1.0)
    assert model.dropped.missing == (("x3", 3), ("weights", 1))
    with pytest.raises(ps.errors.DataError, match=r"\(0, 20, 40\): 3 in 'x3'"):
        ps.SVM(Y, X, na_action="raise", lam=1.0)


NEW = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "g": ["u", "w", "t", None]})


@pytest.mark.parametrize("scaled", [False, True])
def test_unseen_levels_are_an_error_or_missing(scaled):
    data = frame(x=np.arange(N) / 2, g=["u", "v"] * 30)
    model = ps.logit("y ~ x + g", data, lam=0.01, standardize=scaled)
    result = model.fit(ps.Optimum(seed=1))
    with pytest.raises(ps.errors.ColumnError, match="'w', 't', in the rows"):
        result.predict(NEW)
    known = NEW.assign(g=["u", None, None, None])
    for method in ("decision_function", "predict", "predict_proba", "augment"):
        with pytest.warns(ColumnWarning) as said:
            found = getattr(result, method)(NEW, unseen="missing")
        assert [w.filename for w in said] == [__file__]
        assert "'w', 't' in column 'g'" in str(said[0].message)
        expected = getattr(result, method)(known)
        if method == "augment":
            found, expected = found.drop(columns="g"), expected.drop(columns="g")
        assert found.equals(expected)
    with pytest.warns(ColumnWarning):
        table = result.confusion(NEW, ["no", "yes", "no", "no"], unseen="missing")
    assert table.n_undecided == 3
    with pytest.raises(ps.errors.OptionError, match=r"^unseen='no' is not known; use"):
        result.predict(NEW, unseen="no")
