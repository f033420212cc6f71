"""A level that a user gives means the same level at every door, whatever its type."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import PegasosStatsError

N = 8
SINGLE = np.float32(1.1)

# Labels of two levels, and what means the first of them.
MEANT = {
    "int": (np.array([1, 2] * 4), [1, 1.0, True, np.int8(1), np.float32(1)]),
    "int8": (np.array([1, 2] * 4, dtype=np.int8), [1, np.int64(1), np.float64(1)]),
    "float": (np.array([1.1, 2.2] * 4), [1.1, np.float64(1.1)]),
    "whole float": (np.array([1.0, 2.0] * 4), [1, 1.0, True, np.float32(1)]),
    "float32": (np.array([SINGLE, np.float32(2.2)] * 4), [1.1, SINGLE, float(SINGLE)]),
    "bool": (np.array([False, True] * 4), [False, np.False_, 0, np.float32(0)]),
    "str": (np.array(["a", "b"] * 4), ["a", np.str_("a")]),
    "date": (pd.date_range("2020", periods=2).repeat(4), [pd.Timestamp("2020")]),
}
NONE_OF_THEM = {
    "int": [3, 1.5, "1", np.float32(1.5), np.nan, (1,)],
    "float": [1, SINGLE, "1.1"],
    "float32": [1, 1.2, 1e300, "1.1"],
    "bool": [2, "False"],
    "str": ["A", 0, False],
}


def coded(labels, first, second):
    X = np.arange(float(N))[:, None]
    return ps.SVM(labels, X, coding=(first, second), lam=1.0).coding.encode(
        pd.Series(labels)
    )


def as_positive(labels, level, second):
    return ps.confusion(labels, labels, positive=level).positive


def as_levels(labels, first, second):
    return ps.confusion(labels, labels, levels=[first, second]).table.to_numpy()


def as_column(labels, first, second):
    shares = np.linspace(0.1, 0.8, N)  # another score if the columns are swapped
    given = pd.DataFrame({0: shares, 1: 1.0 - shares})
    given.columns = pd.Index([first, second], dtype=object)
    found = ps.confusion(labels, labels[::-1], probabilities=given)
    return found.overall["brier_score"]


def as_weighted(labels, level, second):
    X = np.arange(float(N))[:, None]
    return ps.SVM(labels, X, weights={level: 3.0, second: 1.0}, lam=1.0).problem.weights


def as_reliable(labels, level, second):
    return ps.reliability(labels, np.linspace(0, 1, N), positive=level).table


DOORS = [coded, as_positive, as_levels, as_column, as_weighted, as_reliable]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", MEANT)
def test_a_level_is_meant_by_whatever_equals_it(door, kind):
    labels, meant = MEANT[kind]
    first, second = pd.unique(pd.Series(labels)).tolist()
    expected = door(labels, first, second)
    for level in meant:
        found = door(labels, level, second)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
        assert type(found) is type(expected)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", NONE_OF_THEM)
def test_what_equals_no_level_is_refused(door, kind):
    labels, _ = MEANT[kind]
    for level in NONE_OF_THEM[kind]:
        if door is as_column and str(level) == str(labels[0]):
            continue  # the name of a column may be the level as text, see below
        with pytest.raises(PegasosStatsError):
            door(labels, level, labels[1])


def test_prevalences_are_those_of_the_levels_that_are_meant():
    labels = np.array([1.1, 2.2, 3.3] * 2, dtype=np.float32)
    for kind in (float, np.float32, np.float64):
        shares = {kind(3.3): 0.5, kind(1.1): 0.2, kind(2.2): 0.3}
        for given in (shares, pd.Series(shares)):
            found = ps.confusion(labels, labels, prevalence=given)
            assert found.choices.prevalence == (0.2, 0.3, 0.5)


@pytest.mark.parametrize("kind", ["int", "float", "bool"])
def test_columns_of_probabilities_may_be_named_by_levels_as_text(kind):
    labels, _ = MEANT[kind]
    first, second = pd.Series(labels[:2]).tolist()
    expected = as_column(labels, first, second)
    assert as_column(labels, str(first), str(second)) == expected
    assert as_column(labels, str(second), str(first)) != expected
