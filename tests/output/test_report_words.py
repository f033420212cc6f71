"""Pieces of reports, whole: what Markdown and HTML they become, what captions say."""

import warnings
from typing import get_args

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError, ColumnWarning, OptionError
from pegasos_stats.output.report.document import (
    Block,
    Code,
    Document,
    Listing,
    Math,
    Section,
    Strong,
    Table,
    Tile,
    Tiles,
    prose,
)
from pegasos_stats.output.report.formatting import aligned
from pegasos_stats.output.report.rendering import (
    UNBROKEN,
    inline,
    templates,
    written_markdown,
)
from pegasos_stats.output.report.subject import EvaluatedRows

pytestmark = pytest.mark.usefixtures("empty_figures")


def markdown(block):
    return written_markdown(block, lambda figure: "").removesuffix("\n")


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_every_type_of_a_document_has_its_macro(name):
    macros = templates(str).get_template(name).make_module({})
    for kind in (Document, Section, *get_args(Block), Code, Math, Strong):
        assert hasattr(macros, kind.__name__), kind


@pytest.mark.parametrize("ticks", range(7))
def test_a_fence_is_longer_than_any_ticks_of_its_code(ticks):
    code = "`x` " + "`" * ticks
    fence = "`" * {0: 3, 1: 3, 2: 3}.get(ticks, ticks + 1)
    assert markdown(Listing(code, "r")) == f"{fence}r\n{code}\n{fence}"


def test_columns_of_words_are_on_the_left_and_numbers_on_the_right():
    table = Table(["a", "b", "c", "d"], [["1", "2", "3", "4"]], words=(2,))
    assert markdown(table).splitlines()[1] == "| :--- | ---: | :--- | ---: |"
    tiles = markdown(Tiles([Tile("name", "value", "note")]))
    assert tiles == "|  |  |  |\n| :--- | :--- | :--- |\n| name | value | note |"


def test_each_mark_of_prose_is_of_its_kind():
    found = prose("a $b$, `c`, **d**, {} and {}", Strong("$e$"), "f")
    parts = ("a ", Math("b"), ", ", Code("c"), ", ", Strong("d"), ", ", Strong("$e$"))
    assert found == (*parts, " and ", "f")


@pytest.mark.parametrize(("more", "kind"), [(0, ' class="short"'), (1, "")])
def test_short_code_is_not_broken(more, kind):
    code = "<" * (UNBROKEN + more)
    assert inline(Code(code)) == f"<code{kind}>{'&lt;' * len(code)}</code>"


@pytest.mark.parametrize(
    ("actual", "predicted", "level", "error"),
    [
        ("aaab", "abab", "a", 0.25),
        ("abbb", "bbbb", "b", 0.25),
        ("abba", "aaaa", "a", 0.5),
        ("aabbb", ["a", None, None, None, "b"], "a", 0.5),  # of the classified rows
    ],
)
def test_the_rule_without_predictors_names_the_more_frequent_level(
    actual, predicted, level, error
):
    table = ps.confusion(list(actual), list(predicted), levels=["a", "b"])
    judged = EvaluatedRows("test", len(actual), table, None)
    assert judged.largest_class == (level, error)


@pytest.mark.parametrize(
    ("values", "errors", "shown"),
    [
        ([0.0, 12.5], [], ["0.00", "12.50"]),  # zero has no digits to keep
        ([0.0, -0.25, 1.0], [], ["0.000", "−0.250", "1.000"]),
        ([np.nan, 0.0, 1.0], [], ["NA", "0.000", "1.000"]),
        ([0.1, 100.0], [], ["0.1", "100"]),  # two digits would be one of 0.1
        ([1.0, 100.0], [], ["1.0", "100.0"]),
        ([2.0, 30.0], [0.25, 0.0, np.inf], ["2.00", "30.00"]),
    ],
)
def test_a_column_of_numbers_has_the_decimals_that_mean_something(
    values, errors, shown
):
    assert aligned(values, errors) == shown


def test_levels_that_did_not_occur_are_an_error_or_missing():
    train = pd.DataFrame({"y": ["n", "p"] * 20, "x": range(40), "g": [*"uuvv"] * 10})
    test = pd.DataFrame({"y": ["n", "p", "p"], "x": [1, 2, 3], "g": ["u", "w", "v"]})
    result = ps.svm("y ~ .", train, lam=0.1).fit(ps.SDCA(seed=1))
    with pytest.raises(ColumnError, match="'w', in 1 row"):
        result.report(test)
    with pytest.raises(OptionError, match="unseen='skip' is not known"):
        ps.report(result, test, unseen="skip")
    for held_out in (test, (test["y"], test)):
        with pytest.warns(ColumnWarning, match="1 row .*'w'"):
            page = result.report(held_out, unseen="missing").to_markdown()
        assert "2 new rows" in page
    # All levels are known: nothing to warn of.
    known = test.replace("w", "u")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ColumnWarning)
        result.report(known, unseen="missing")
