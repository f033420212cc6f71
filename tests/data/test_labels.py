"""Label coding: order of levels as R's factor(), and the way back."""

import numpy as np
import pandas as pd
import pytest

from pegasos_stats.data.labels import LabelCoding, signs_of
from pegasos_stats.errors import LabelError

NA = None

# Each: labels, and the order of R's factor() in the C locale.
FACTORS = {
    "text": (pd.Series(["six", "five", "six"]), ("five", "six")),
    "code points": (pd.Series(["a", "B"]), ("B", "a")),
    "text of digits": (pd.Series(["9", "10"]), ("10", "9")),
    "integers": (pd.Series([10, 9, 10]), (9, 10)),
    "floats": (pd.Series([0.5, np.nan, -0.5]), (-0.5, 0.5)),
    "booleans": (pd.Series([True, False]), (False, True)),
    "Int64": (pd.Series([2, NA, 1], dtype="Int64"), (1, 2)),
    "boolean": (pd.Series([True, NA, False], dtype="boolean"), (False, True)),
    "string": (pd.Series(["b", NA, "a"], dtype="string"), ("a", "b")),
    "object": (pd.Series(["b", NA, "a"], dtype=object), ("a", "b")),
    "dates": (pd.Series(pd.to_datetime(["2021-01-01", "2020-01-01"])), None),
    "ordered": (pd.Series(pd.Categorical([3, 1], [3, 1], ordered=True)), (3, 1)),
    "unused": (pd.Series(pd.Categorical(["a", "c", NA], list("cba"))), ("c", "a")),
}


@pytest.mark.parametrize("name", FACTORS)
def test_coding_and_back_keeps_values_and_dtype(name):
    labels, order = FACTORS[name]
    coding = LabelCoding.from_labels(labels)
    signs = coding.encode(labels)
    assert order is None or coding.levels == order
    assert set(signs[labels.notna()]) == {-1.0, 1.0}
    back = coding.decode(signs, labels.index).rename(None)
    if labels.isna().any() and labels.dtype.kind in "iub":
        labels = labels.convert_dtypes()
    if labels.dtype == object:
        labels = labels.where(labels.notna(), np.nan)
    pd.testing.assert_series_equal(back, labels)


@pytest.mark.parametrize(
    ("labels", "named"),
    [
        ([1, 1], "1 level, 1;"),
        ([1, 2, 3], "3 levels, 1, 2, 3;"),
        (list("abcdefg"), "7 levels, 'a', 'b', 'c', 'd', 'e' and 2 more;"),
        ([np.nan], "no value"),
        (["a", 1], "types int, str"),
    ],
)
def test_other_than_two_levels_are_named(labels, named):
    with pytest.raises(LabelError, match=f"^The outcome 'y' .*{named}"):
        LabelCoding.from_labels(pd.Series(labels, dtype=object))


def test_unknown_labels_are_named_with_their_rows():
    coding = LabelCoding.from_labels(pd.Series([5, 6]))
    with pytest.raises(LabelError, match=r"'y' contains '5' in row 'r2'"):
        coding.encode(pd.Series([5, "5"], index=["r1", "r2"]))


@pytest.mark.parametrize(
    ("ties", "at_zero"), [("na", np.nan), ("positive", 1.0), ("negative", -1.0)]
)
def test_ties_decide_exact_zeros_only(ties, at_zero):
    scores = np.array([-1e-300, 0.0, -0.0, 2.0, np.nan])
    expected = [-1.0, at_zero, at_zero, 1.0, np.nan]
    np.testing.assert_array_equal(signs_of(scores, ties), expected)


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        *[([5, 6], "Int64"), ([True, False], "boolean")],
        *[(list("ab"), None), (pd.arrays.SparseArray([True, False]), None)],
        *[(pd.arrays.SparseArray([1, 2]), None), (pd.interval_range(0, 2), None)],
    ],
)
def test_an_undecided_label_is_missing_in_every_dtype(labels, dtype):
    coding = LabelCoding.from_labels(pd.Series(labels))
    decoded = coding.decode(np.array([np.nan, 1.0]))
    assert decoded.isna().tolist() == [True, False]
    assert dtype is None or decoded.dtype == dtype


def test_first_seen_codes_the_first_label_as_minus_one():
    labels = pd.Series([NA, "b", "a", "b"])
    coding = LabelCoding.from_labels(labels, "first-seen")
    assert coding.levels == ("b", "a")
    np.testing.assert_array_equal(coding.encode(labels), [np.nan, -1.0, 1.0, -1.0])


def test_a_level_beside_the_given_pair_is_an_error():
    with pytest.raises(LabelError, match=r"3 levels, 1, 2, 3 and coding=\(1, 2\)"):
        LabelCoding.from_labels(pd.Series([1, 2, 3]), (1, 2))
