"""Codings, signs and tables against R's factor(), unique(), sign() and table()."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.labels import signs_of
from tests.parity.cases import table_of
from tests.parity.equality import assert_same_bits, assert_same_table


def categories(labels, levels, ordered=False):
    return pd.Series(labels, dtype=pd.CategoricalDtype(levels, ordered=ordered))


COLUMNS = {
    "text": pd.Series(["six", "five", "six", "five", "five"]),
    "capitals before small letters": pd.Series(["a", "Z", "a", "Z"]),
    "underscore between": pd.Series(["_x", "a", "_x"]),
    "accents last": pd.Series(["é", "z", "é"]),
    "digits as text": pd.Series(["9", "10", "9"]),
    "text with a gap": pd.Series(["b", None, "a", None, "b"]),
    "whole numbers": pd.Series([10, 9, 10, 9]),
    "negative numbers": pd.Series([1, -1, 1]),
    "fractions": pd.Series([0.5, 0.25, 0.5]),
    "large numbers": pd.Series([100000.0, 99999.0, 123456.0 - 23456.0]),
    "numbers with a gap": pd.Series([2.0, np.nan, 1.0]),
    "nullable numbers": pd.Series([2, None, 1, 2], dtype="Int64"),
    "logical": pd.Series([True, False, True]),
    "nullable logical": pd.Series([True, None, False], dtype="boolean"),
    "categories": categories(["lo", "hi", "lo"], ["lo", "hi"]),
    "ordered": categories(["hi", "lo", "hi"], ["lo", "hi"], ordered=True),
    "unused category": categories(["c", "a", None, "c"], ["c", "b", "a"]),
    "number categories": categories([2, 1, 2], [2, 1]),
}
EACH = pytest.mark.parametrize("labels", COLUMNS.values(), ids=COLUMNS.keys())
SCORES = np.array([-2.5, -0.0, 0.0, 5e-324, -5e-324, 1.0, np.inf, -np.inf, np.nan])

SIDES = ["actual", "predicted", "levels"]  # of the table
PAIRS = {
    "both kinds of error": (["a", "a", "b", "b"], ["a", "b", "a", "b"], ["a", "b"]),
    "a level never predicted": (["a", "b", "b"], ["a", "a", "a"], ["a", "b"]),
    "a level that is not there": (["b", "b"], ["b", "b"], ["a", "b"]),
    "ties": (["a", "b", "b"], ["a", None, "b"], ["a", "b"]),
    "nothing but ties": (["a", "b"], [None, None], ["a", "b"]),
    "no actual label": (["a", None, "b", None], ["a", "a", "b", None], ["a", "b"]),
    "second level first": (["a", "b", "b"], ["b", "b", "b"], ["b", "a"]),
    "numbers": ([5.0, 6.0, 6.0], [5.0, 5.0, 6.0], [5.0, 6.0]),
    "three levels": (["a", "b", "c"], ["c", "b", "a"], ["a", "b", "c"]),
}


def as_text(r, values):
    """Labels as R writes them."""
    return r.call("as.character", pd.Series(values)).tolist()


@EACH
@pytest.mark.parametrize("rule", ["factor", "first-seen"])
def test_levels_and_codes_are_those_of_r(r, labels, rule):
    coding = ps.LabelCoding.from_labels(labels, rule)
    levels = r.call("label_levels", labels, rule)
    assert as_text(r, coding.levels) == levels.tolist()
    codes = r.call("encode_labels", labels, levels)
    np.testing.assert_array_equal(coding.encode(labels), codes.astype(float))


@EACH
def test_a_given_pair_is_taken_as_it_is(r, labels):
    pair = ps.LabelCoding.from_labels(labels, "factor").levels[::-1]
    coding = ps.LabelCoding.from_labels(labels, pair)
    levels = r.call("label_levels", labels, pd.Series(pair))
    assert as_text(r, coding.levels) == levels.tolist() == as_text(r, pair)
    codes = r.call("encode_labels", labels, levels)
    np.testing.assert_array_equal(coding.encode(labels), codes.astype(float))


@pytest.mark.parametrize("labels", [["a"], ["a", "b", "c"], []], ids=len)
def test_r_refuses_other_numbers_of_levels_too(r, labels):
    column = pd.Series(labels, dtype="str")
    with pytest.raises(ps.errors.LabelError):
        ps.LabelCoding.from_labels(column)
    with pytest.raises(Exception, match=f"{len(labels)} level"):
        r.call("label_levels", column)


@pytest.mark.parametrize("ties", ["na", "positive", "negative"])
def test_signs_are_those_of_r(r, ties):
    signs = r.call("predict_sign", SCORES, ties)
    np.testing.assert_array_equal(signs_of(SCORES, ties), signs.astype(float))


def test_the_sign_of_zero_is_zero_in_r(r):
    assert_same_bits(r.call("sign", SCORES[1:3]), [0.0, 0.0], "sign(0)")


@pytest.mark.parametrize("name", PAIRS)
def test_table_is_that_of_r(r, name):
    *sides, levels = PAIRS[name]
    actual, predicted = (pd.Series(labels) for labels in sides)
    for variable, value in zip(SIDES, (actual, predicted, levels), strict=True):
        r.set(variable, value)
    r.eval(f"counts <- confusion({', '.join(SIDES)})")
    theirs = table_of(r.eval("counts"), *r.eval("unname(dimnames(counts))"))
    ours = ps.confusion(actual, predicted, levels=levels)
    assert r.eval("names(dimnames(counts))").tolist() == ["Actual", "Predicted"]
    assert_same_table(ours.table.rename(index=plain, columns=plain), theirs)


def plain(label):
    """5.0 as R writes it."""
    return int(label) if isinstance(label, float) else label
