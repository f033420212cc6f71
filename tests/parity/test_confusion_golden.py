"""Statistics of tables against the numbers that caret wrote: no R is needed."""

import pytest

from pegasos_stats.metrics.caret import CARET_NAMES
from pegasos_stats.metrics.inputs import Choices
from tests.parity.cases import golden
from tests.parity.tables import assert_by_class, assert_overall, matrix_of

TABLES = golden("caret.json")
EACH = pytest.mark.parametrize("found", TABLES.values(), ids=TABLES.keys())


@EACH
def test_names_and_order_are_those_of_caret(found):
    assert list(CARET_NAMES.values()) == found["names"]


@EACH
def test_the_whole_table_is_as_in_caret(found):
    theirs = [float("nan") if x is None else x for x in found["overall"]]
    assert_overall(matrix_of(found["counts"]), theirs)


@EACH
def test_the_classes_are_as_in_caret(found):
    assert_by_class(matrix_of(found["counts"]), found["by_class"])


@EACH
def test_another_positive_class_and_prevalence_are_as_in_caret(found):
    k = len(found["counts"])
    other = Choices("b", (0.1,)) if k == 2 else Choices(None, shares_of(k))
    assert_by_class(matrix_of(found["counts"], other), found["other_by_class"])


def shares_of(k):
    return tuple((i + 1) / 20 for i in range(k))
