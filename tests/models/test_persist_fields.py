"""Saved models, edited field by field: the whole word of a refusal."""

import json

import pytest

from pegasos_stats.errors import DataError
from pegasos_stats.models.persist import load
from pegasos_stats.models.persist.header import DEEPEST, tree_of
from tests.models.saved_fits import NAN, check_refused, edited, saved_in
from tests.models.saved_models import put_together


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return saved_in(tmp_path_factory.mktemp("saved"))


HEADERS = [
    ("linear", ["shape"], [12], "the shape is [12]"),
    ("linear", ["shape", 0], 0, "a size is 0"),
    ("linear", ["problem", 0], 0.0, "lambda is 0.0"),
    ("linear", ["problem", 0], -0.1, "lambda is -0.1"),
    ("linear", ["problem", 1], "square", "the loss is 'square'"),
    ("linear", ["problem", 2], 1, "the intercept is 1"),
    ("linear", ["alpha"], 1, "the intercept is 1"),
    ("linear", ["refinement"], ["Pegasos", {}], "'Pegasos' refines Pegasos"),
    ("bootstrapped", ["refinement"], ["SDCA", {}], "'SDCA' refines SDCA"),
    ("refined", ["refinement"], ["SDCA"], "the refinement is ['SDCA']"),
    (
        "refined",
        ["refinement"],
        ["SDCA", {"type": "dict", "value": [["tol", 0.1]]}],
        "the options of SDCA are not complete",
    ),
    ("linear", ["solver"], ["SDCA"], "the solver is ['SDCA']"),
    (
        "linear",
        ["solver", 1],
        {"type": "dict", "value": []},
        "the options of Pegasos are not complete",
    ),
    ("linear", ["counts", 0], -1, "steps is -1"),
    ("linear", ["counts", 1], None, "violations is None"),
    ("linear", ["counts", 2], 2**31, "the seed is 2147483648"),
    ("kernel", ["counts", 2], None, "the seed is None"),
    ("refined", ["counts", 2], -(2**31), "the seed is -2147483648"),
    ("linear", ["dropped"], [0], "rows is [0]"),
    ("linear", ["dropped", 1], -1, "rows left out is -1"),
    ("linear", ["seconds"], -1e-9, "the run time is -1e-09"),
    (
        "linear",
        ["training_table"],
        [[8, 0, 0], [3, 0, 0]],
        "the training table counts [[8, 0, 0], [3, 0, 0]], and rows [8, 4]",
    ),
    ("linear", ["training_table", 1], [4, 0], "a row of counts is [4, 0]"),
    (
        "linear",
        ["trace"],
        ["epoch", "gap"],
        "the trace has the columns ['epoch', 'gap']",
    ),
    ("linear", ["trace"], "epoch", "the trace is 'epoch'"),
    (
        "linear",
        ["certificate", "rounding"],
        -1.0,
        "the rounding of the objective is -1.0",
    ),
    ("linear", ["certificate", "rounding"], 0, "the rounding of the objective is 0"),
    (
        "linear",
        ["certificate", "rounding"],
        NAN,
        "the rounding of the objective is nan",
    ),
    (
        "linear",
        ["certificate", "objective"],
        -1.0,
        "the objective is -1.0, its lower bound 0.0",
    ),
    (
        "linear",
        ["certificate", "errors"],
        13,
        "the certificate counts [13, 0, 0] of 12 rows",
    ),
    (
        "linear",
        ["certificate", "at_zero"],
        {"type": "tuple", "value": [5, 4]},
        "the certificate counts [4, 5, 4] of 12 rows",
    ),
    (
        "linear",
        ["certificate", "at_zero"],
        {"type": "tuple", "value": [0]},
        "the certificate counts [4, 0] of 12 rows",
    ),
    ("linear", ["design", "scale"], [1.0], "the scales have shape (1,)"),
    ("linear", ["design", "scale"], [1.0, 0.0], "the scales are not above zero"),
    ("linear", ["design", "scale"], [1.0, -1.0], "the scales are not above zero"),
    (
        "linear",
        ["design", "design", "columns"],
        ["a", "Intercept"],
        "two coefficients have one name",
    ),
    (
        "linear",
        ["design", "design", "columns"],
        ["a", "a"],
        "two coefficients have one name",
    ),
    ("kernel", ["design", "columns"], ["a"], "1 names for 2 columns"),
    ("refined", ["design", "functions"], "half", "functions have the names 'half'"),
    ("refined", ["design", "functions"], ["a b"], "functions have the names ['a b']"),
    ("refined", ["design", "functions"], [3], "functions have the names [3]"),
    ("linear", ["cov_type"], ["Sandwich"], "cov_type is ['Sandwich']"),
    ("linear", ["groups"], ["g"], "the groups is ['g']"),
    ("linear", ["groups"], [["g"], [3]], "there are 1 kinds of groups"),
    ("bootstrapped", ["groups"], [["g", "h"], [3, 4]], "there are 2 kinds of groups"),
    ("bootstrapped", ["groups"], [["g"], [1]], "a number of groups is 1"),
    ("bootstrapped", ["groups"], [["g"], [3, 4]], "names is ['g']"),
    ("bootstrapped", ["groups"], [[3], [4]], "a name is 3"),
    ("linear", ["covariance", 3], "word", "notes is 'word'"),
    ("linear", ["covariance", 3], [1], "a note is 1"),
    ("linear", ["covariance", 2], "matrix", "the names of arrays is 'matrix'"),
    ("linear", ["covariance", 1, "bandwidth"], 0.0, "the width is 0"),
    ("linear", ["covariance", 1, "bandwidth"], -1.0, "the width is -1.0"),
    ("linear", ["covariance", 1, "df"], 0.0, "df is 0.0"),
    ("linear", ["covariance", 1, "df"], NAN, "df is nan"),
    ("linear", ["covariance", 1, "df"], 3, "df is 3"),
    ("linear", ["covariance", 1, "newton_step"], 3, "3 is no array"),
    ("bootstrapped", ["covariance", 1, "n_left_out"], 1, "5 of 4 resamples are there"),
    ("bootstrapped", ["covariance", 1, "n_left_out"], -1, "a count is -1"),
    ("bootstrapped", ["covariance", 1, "seed"], 2**31, "the seed is 2147483648"),
    ("bootstrapped", ["covariance", 1, "distance"], 1, "1 is no distance"),
    ("bootstrapped", ["covariance", 1, "relative_gap"], None, "None is no distance"),
    ("kernel", ["kernel"], [{}], "the kernel is [{}]"),
    ("kernel", ["kernel", 1], 0, "memory is 0"),
    ("kernel", ["kernel", 1], 1.0, "memory is 1.0"),
    ("kernel", ["counts", 0], 0, "a count is below zero, or a score not finite"),
    ("gram", ["design", "columns"], ["a", "b"], "columns are not 12 of 2"),
    ("kernel", ["coding", "name"], 3, "3 is coded by the rule 'factor'"),
    ("kernel", ["coding", "rule"], "own", "'y' is coded by the rule 'own'"),
]


@pytest.mark.parametrize(("name", "place", "value", "reason"), HEADERS, ids=str)
def test_a_field_that_is_not_as_written_is_named(
    name, place, value, reason, saved, tmp_path
):
    header, arrays = saved[name][2:]
    content = put_together(edited(header, place, value), arrays)
    check_refused(tmp_path / "a", content, reason)


TERMS = [
    (
        "a.to_pickle('x')",
        "it calls the method 'to_pickle', which is not known; allowed are columns, "
        "numbers, text, arithmetic, comparisons and functions such as log, np.sqrt, "
        "scale and poly; compute other columns in the data before, or give "
        "functions={'name': f} in Python.",
    ),
    ("log(", "it cannot be used: '(' was never closed in 'log('."),
    ("b + c", "it uses 'b', 'c', which is no column of the model."),
]


@pytest.mark.parametrize(("term", "reason"), TERMS)
def test_a_term_that_is_none_of_the_language_is_named(term, reason, saved, tmp_path):
    _, _, header, arrays = saved["refined"]
    terms = [[["1", "literal", "unknown"]], [[term, "python", "unknown"]]]
    tree = edited(header, ["design", "spec", "terms"], terms)
    (tmp_path / "a").write_bytes(put_together(tree, arrays))
    with pytest.raises(DataError) as caught:
        load(tmp_path / "a")
    assert str(caught.value) == (
        f"The term {term!r} cannot be part of a saved model: {reason}"
    )


def test_an_outcome_that_is_none_of_the_language_is_named(saved, tmp_path):
    _, _, header, arrays = saved["refined"]
    term, reason = TERMS[0]
    tree = edited(header, ["design", "formula"], f"{term} ~ a")
    (tmp_path / "a").write_bytes(put_together(tree, arrays))
    with pytest.raises(DataError) as caught:
        load(tmp_path / "a")
    formula = f"{term} ~ a"
    assert str(caught.value) == (
        f"The formula {formula!r} cannot be part of a saved model: {reason}"
    )


@pytest.mark.parametrize("wrap", [lambda t: [t], lambda t: {"a": t}])
def test_a_header_has_a_greatest_depth(wrap):
    tree = "leaf"
    for _ in range(DEEPEST):
        tree = wrap(tree)
    assert tree_of(json.dumps(tree).encode(), 0) == tree
    with pytest.raises(ValueError, match=r"^its header is nested too deep$"):
        tree_of(json.dumps(wrap(tree)).encode(), 0)


@pytest.mark.parametrize(
    "tree", ["\ud800", ["\ud800"], [[1, "\ud800"]], {"\ud800": 1}, {"a": ["\ud800"]}]
)
def test_half_a_character_is_found_wherever_it_stands(tree):
    with pytest.raises(UnicodeEncodeError):  # a ValueError
        tree_of(json.dumps(tree).encode(), 0)
