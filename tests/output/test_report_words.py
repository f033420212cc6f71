"""Pieces of reports, whole: what Markdown and HTML they become, what captions say."""

import warnings
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError, ColumnWarning, OptionError
from pegasos_stats.output.report import errors_made, fitted
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
from pegasos_stats.output.report.subject import Judged

pytestmark = pytest.mark.usefixtures("empty_figures")


def markdown(block):
    return written_markdown(block, lambda figure: "").removesuffix("\n")


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_every_type_of_a_document_has_its_macro(name):
    macros = templates(str).get_template(name).make_module({})
    for kind in (Document, Section, *get_args(Block), Code, Math, Strong):
        assert hasattr(macros, kind.__name__), kind


@pytest.mark.parametrize(
    ("form", "size", "first"),
    [
        ({}, r"\eta = \dfrac{1}{\lambda t}", "1, 2"),
        ({"step": "1/(lambda n)"}, r"\eta = \dfrac{1}{\lambda n}", "1, 2"),
        ({"step": "1/sqrt(t)", "first_step": 7}, r"\eta = \dfrac{1}{\sqrt{t}}", "7, 8"),
        ({"step": 0.25}, r"\eta = 0.25", "1, 2"),
        ({"step": [0.25] * 200}, r"\eta = \eta_t", "1, 2"),
    ],
)
def test_the_formula_of_a_step_has_its_size(form, size, first):
    data = ps.datasets.load_digits56()[0]
    result = ps.svm("digit ~ p34", data, lam=1.0).fit(ps.Pegasos(1, seed=1, **form))
    made = ps.report(result)
    text = made.as_markdown()
    assert size in text
    assert rf"$t = {first}, \ldots$" in text
    smaller = form.get("step", "pegasos") in ("pegasos", "1/sqrt(t)")
    assert ("takes a step, large at first, then smaller." in text) == smaller
    assert "<svg" in made.as_html()  # of the formula, which can be drawn


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
    ("wrong", "index", "said"),
    [
        (30, None, "; rows are counted from 0"),
        (31, None, ": 30 of 31; rows are counted from 0"),
        (30, "letters", ""),
        (31, "letters", ": 30 of 31"),
    ],
)
def test_misclassified_rows_are_counted_in_their_caption(
    wrong, index, said, monkeypatch
):
    rows = (
        pd.RangeIndex(40) if index is None else pd.Index([f"r{i}" for i in range(40)])
    )
    found = pd.DataFrame(
        {"row": "r", "actual": 1, "predicted": 2, "score": np.linspace(-3, 2, wrong)}
    )
    monkeypatch.setattr(errors_made, "misclassified", lambda *_: found)
    result = SimpleNamespace(
        counted=None,
        problem=SimpleNamespace(prior_shift=0.0),
        coding=SimpleNamespace(positive=1),
    )
    subject = SimpleNamespace(is_logistic=True, result=result)
    judged = SimpleNamespace(name="test", scores=pd.Series(0.0, rows))
    table = errors_made._misclassified(subject, judged)
    first = "Misclassified test rows, those farthest on the wrong side first"
    assert table.caption == first + said
    assert len(table.rows) == 30
    assert table.rows[0][-1] == "0.047"  # 1 / (1 + e^3)


@pytest.mark.parametrize(
    ("solver", "logistic", "said"),
    [
        (ps.Pegasos(), False, "R's order of operations: R's numbers, bit for bit"),
        (ps.Pegasos(), True, "R's order of operations: R's numbers to 12 digits"),
        (ps.Pegasos(arithmetic="fast"), False, "summed as it suits the machine"),
        (ps.SDCA(), False, "summed as it suits the machine"),
        (ps.SDCA(algorithm="perm"), False, "R's numbers, bit for bit"),
    ],
)
def test_the_arithmetic_is_that_of_the_solver(solver, logistic, said):
    problem = SimpleNamespace(loss="log" if logistic else "hinge")
    result = SimpleNamespace(
        solver=solver, converged=True, refinement=None, problem=problem
    )
    subject = SimpleNamespace(result=result, is_kernel=False)
    assert fitted._arithmetic(result).endswith(said)
    by_sdca = isinstance(solver, ps.SDCA)
    assert str(fitted._method(subject)).startswith("By SDCA") == by_sdca


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
    judged = Judged("test", len(actual), table, None)
    assert judged.largest_class == (level, error)


@pytest.mark.parametrize("seconds", [0.0, 0.01234, 12.3, None])
def test_the_run_time_is_there_where_it_is_known(seconds):
    result = SimpleNamespace(seconds=seconds, trace=None)
    rows = fitted._run_time(result)
    shown = {0.0: "0", 0.01234: "0.012", 12.3: "12"}.get(seconds)
    text = f"{shown} s, with loading of the compiled code"
    assert rows == [("Run time", text)] * (shown is not None)


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
    text = (
        "1 row without a prediction, for levels that did not occur at fit: 'w' in "
        "column 'g'."
    )
    for held_out in (test, (test["y"], test)):
        with pytest.warns(ColumnWarning) as told:
            page = result.report(held_out, unseen="missing").as_markdown()
        assert [str(warning.message) for warning in told] == [text]
        assert 'test, unseen="missing"' in page
        assert "tested on 2 rows" in page
    # All levels are known: nothing to warn of.
    known = test.replace("w", "u")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ColumnWarning)
        result.report(known, unseen="missing")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tol": 1e-4}, "stops where the relative duality gap is at most 0.0001."),
        (
            {"tol": 1e-14, "epochs": 1},
            "stops after 1 epoch, before the relative duality gap is at most 1e−14.",
        ),
        (
            {"tol": 0.0, "gap_tol": 0.001},
            "stops where the duality gap is at most 0.001.",
        ),
        ({"tol": 0.0, "epochs": 3}, "stops after 3 epochs."),
    ],
)
@pytest.mark.filterwarnings("ignore::pegasos_stats.errors.ConvergenceWarning")
def test_the_report_says_where_the_solver_stopped(options, said):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(90, 4)), columns=list("abcd"))
    model = ps.svm("y ~ a + b + c + d", data.assign(y=["u", "v"] * 45), lam=0.01)
    fit = model.fit(ps.SDCA(seed=1, **options), cov_type="none")
    assert f" and {said}" in " ".join(fit.report().as_markdown().split())


def test_missing_values_of_test_rows_are_counted_as_the_rows():
    data = pd.DataFrame({"x": [1.0, 2, 3, 4, 5, 6], "y": list("uvuvuv")})
    fit = ps.logit("y ~ x", data.assign(n=2), freq_weights="n", lam=1.0).fit(
        cov_type="none"
    )
    new = data.assign(n=[1, 2, 3, 4, 5, 6], x=[1.5, None, 2.5, None, 3.5, 4.5])
    new.loc[0, "y"] = None
    text = fit.report(new).as_markdown()
    assert "| y | 0 | 1 |" in text
    assert "| x | 0 | 6 |" in text


def test_misclassified_lines_that_count_for_several_rows_are_called_lines():
    x = np.random.default_rng(2).normal(size=200)
    data = pd.DataFrame({"x": x, "y": ["u", "v"] * 100, "n": 2})
    fit = ps.logit("y ~ x", data, freq_weights="n", lam=1.0).fit(cov_type="none")
    wrong = fit.training_table.n_errors
    text = fit.report().as_markdown()
    assert f"{wrong} of 400 rows" in text
    assert f"of {wrong // 2} lines" in text
