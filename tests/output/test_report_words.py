"""Pieces of reports, whole: what Markdown and HTML they become, what captions say."""

import warnings

import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError, ColumnWarning, OptionError
from pegasos_stats.output.report.facts import EvaluatedRows
from pegasos_stats.output.report.rendering import longer_ticks

pytestmark = pytest.mark.usefixtures("empty_figures")


@pytest.mark.parametrize("ticks", range(7))
def test_ticks_around_code_are_more_than_any_within(ticks):
    code = "`x` " + "`" * ticks
    assert longer_ticks(code, 3) == "`" * max(3, ticks + 1)


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
