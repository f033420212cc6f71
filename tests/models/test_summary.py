"""Summaries as text, HTML and LaTeX: what is in them, and how wide they are."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats import tables
from pegasos_stats.models.notes import most_important
from pegasos_stats.tables import fixed
from tests.output.test_report import Reader

CLOSE = ps.Optimum(tol=1e-10, seed=1)
N, QUESTION = 90, "would you buy it again, all in all?"


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(3)
    regions = [f"territory {i} of <the> far north & west" for i in range(3)]
    answers = ["yes, most certainly and at any price", "no, never again"]
    data = pd.DataFrame({QUESTION: rng.choice(answers, N)})
    data["region"] = rng.choice(regions, N)
    data["income_per_head in 1000 $"] = rng.normal(size=N)
    return data.assign(**{"x" * 100: rng.normal(size=N)})


@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_long_names_are_within_the_width(survey, standardize, details):
    formula = f"`{QUESTION}` ~ ."
    model = ps.svm(formula, survey, lam=0.1, standardize=standardize)
    kernel = ps.kernel_svm(formula, survey, lam=0.1)
    for fit in (model.fit(cov_type="sandwich"), kernel.fit()):
        lines = str(fit.summary(details=details)).splitlines()
        assert max(map(len, lines)) == 78
        assert not any(line.endswith(" ") for line in lines)


def shown(thing):
    page = Reader(thing._repr_html_())
    assert "script" not in {tag for tag, _ in page.tags}
    return page.text


def test_everything_is_whole_and_escaped_in_a_notebook():
    """Fits, studies and tables, with names that are written in HTML."""
    wicked, rng = "<script>alert('x')</script> & co", np.random.default_rng(4)
    y = pd.Series(np.where(np.arange(40) % 2, wicked, "plain <b>"), name=wicked)
    X = pd.DataFrame(rng.normal(size=(40, 2)), columns=[f"x {wicked}", "z"])
    X["z"] += np.arange(40) % 2
    model, quick = ps.Logit(y, X, lam=0.01), ps.Optimum(seed=1)
    result, studied = model.fit(CLOSE), {"folds": 3, "seed": 1}
    compared = ps.compare_predictions(y, y, result.predict(), names=(wicked, "B & B"))
    for thing in (result, result.confusion(), compared):
        assert wicked in shown(thing)
    shown(result.with_covariance("HC0").t_test("z = 0"))
    for thing in (
        ps.KernelSVM(y, X, lam=0.1).fit(ps.Pegasos(epochs=2, seed=1)),
        ps.cross_validate(model, quick, **studied),
        ps.lambda_path(model, [0.1, 0.01]),
        ps.calibrate(model, quick, **studied),
    ):
        shown(thing)
        assert thing._repr_html_() == thing.summary().to_html()


def displayed(data):
    """Objects of every kind that a notebook shows as tables."""
    model = ps.logit("back ~ a + b", data, lam=0.01)
    result, table = model.fit(CLOSE), model.fit(CLOSE).confusion()
    y, chance = data["back"], result.predict_proba(data)
    a, c = (ps.logit(f"back ~ {x}", data, lam=0.01).fit().predict() for x in "ac")
    yield from (result, model.fit(CLOSE, cov_type="HC0").summary(details=True))
    yield from (table, table.summary(), result.confusion(mode="everything"))
    yield ps.confusion(data["kind"], data["kind"].to_numpy()[::-1]).summary()
    yield from (result.get_prediction(data), result.t_test("a = b"), result.margins())
    yield from (ps.reliability(y, chance), ps.compare_predictions(y, a, c))
    yield from (ps.decision_curve(y, chance), ps.precision_recall(y, chance))
    yield ps.compare_models({"a|b": result, "c_d": result})
    yield ps.cross_validate(model, CLOSE, folds=3, seed=1)


def test_markdown_and_latex_have_the_cells_of_the_notebook():
    data = patients(60).assign(kind=np.resize(["u", "v & w", "x_y"], 60))
    for thing in displayed(data):
        cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", thing._repr_html_())
        words = unescape(" ".join(cells)).lower().split()
        assert len(words) > 5
        markdown = thing._repr_markdown_().replace("\\", "").lower()
        latex = re.sub(r"\\phantom\{.*?\}|[\\${}]", "", thing._repr_latex_()).lower()
        for word in words:
            assert word in markdown, (type(thing), word)
            assert word in latex, (type(thing), word)


def test_what_a_notebook_shows_documents_show_too():
    """All that has HTML has Markdown and LaTeX; a report is a page of its own."""
    lacking = {
        cls.__name__
        for cls in map(ps.__dict__.get, ps.__all__)
        if hasattr(cls, "_repr_html_")
        and not (hasattr(cls, "_repr_markdown_") and hasattr(cls, "_repr_latex_"))
    }
    assert lacking <= {"Report"}


def test_predictions_of_rows_print_as_a_table():
    data = patients(30)
    result = ps.logit("back ~ a + b", data, lam=0.01).fit(CLOSE)
    for n in (3, 20, 30):
        prediction = result.get_prediction(data.head(n).set_axis(np.arange(n) / 2))
        lines = [line.split() for line in str(prediction).splitlines()]
        frame = prediction.summary_frame()
        assert lines[1] == list(frame.columns)
        rows = [line for line in lines[2:-1] if len(line) == 5]
        shown_rows = frame.head(20)
        found = np.array(rows, dtype=float)
        np.testing.assert_array_equal(found[:, 0], shown_rows.index)
        cells = [
            [float(fixed(number)) for number in row] for row in shown_rows.to_numpy()
        ]
        np.testing.assert_array_equal(found[:, 1:], cells)
        assert max(map(len, str(prediction).splitlines())) <= 78


def test_a_notebook_computes_no_standard_errors_by_itself():
    result = ps.logit("back ~ a + b", patients(), lam=0.01).fit(CLOSE)
    assert "std err" not in shown(result)
    assert not result.has_covariance
    result.bse  # noqa: B018
    assert "std err" in shown(result)


def patients(n=400, seed=1):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    score = data["a"] - data["b"] + rng.logistic(size=n) - 1.0
    return data.assign(back=np.where(score > 0.0, "yes", "no"))


@pytest.mark.parametrize("kind", [ps.svm, ps.logit])
@pytest.mark.parametrize("solver", [None, ps.Pegasos(1, seed=1)])
def test_a_fit_of_five_terms_is_on_one_screen(kind, solver):
    result = kind("back ~ a + b + c + d + e", patients(), lam=1 / 400).fit(solver)
    found = result.summary()
    assert len(found.header) == 3
    assert len(found.notes) <= 3
    assert len(str(found).splitlines()) <= 20
    assert "summary(details=True)" in found.footer


@pytest.mark.parametrize("kind", [ps.svm, ps.logit])
def test_numbers_in_the_header_are_those_of_the_fit(kind):
    data = patients()
    result = kind("back ~ .", data, lam=1 / 400).fit()
    text = "  ".join(result.summary().header)
    no, yes = (int((data["back"] == level).sum()) for level in ("no", "yes"))
    rate = result.confusion().error_rate
    always = min(no, yes) / 400
    assert f"back: no or yes, modelled: yes, {yes} of {no + yes}" in text
    assert f"training error {rate:.1%} ({always:.1%} if always 'no')" in text
    for part in ("n 400  ", "lambda 0.0025", " converged"):
        assert part in text
    assert rate < always
    likelihood = [f"logLik {result.llf:.1f}  ", f"McFadden R2 {result.prsquared:.3f}"]
    likelihood += [f"AIC {result.aic:.1f} ({result.df_effective:.1f} effective df)  "]
    assert [part in text for part in likelihood] == [kind is ps.logit] * 3


def test_equal_counts_are_written_alike():
    """49 of 400 are 12.25%, of which binary numbers may be a little more or less."""
    data = pd.DataFrame(
        {"x": np.arange(400) % 7, "y": np.repeat(["a", "b"], [351, 49])}
    )
    result = ps.logit("y ~ x", data, lam=1.0).fit()
    assert result.confusion().n_errors == 49
    assert "training error 12.2% (12.2% if always 'a')" in str(result.summary())
    assert "49 (12.2%)" in str(result.summary(details=True))


@pytest.mark.parametrize("kind", [ps.SVM, ps.Logit, ps.KernelSVM])
def test_a_run_says_how_far_it_is_from_the_minimum(kind):
    data = patients()
    model = kind(data["back"], data[list("abcde")], lam=1 / 400)
    run = model.fit(ps.Pegasos(1, seed=1))
    (said,) = [line for line in run.summary().header if "converged" in line]
    number = float(said.split(" above its minimum")[0].split()[-1])
    off = run.objective - model.fit(ps.Optimum(tol=1e-8, seed=1)).objective
    assert "not converged: objective" in said
    # Two digits are shown of a bound that is certified.
    assert off <= 1.05 * number
    assert "up to" in said or number == pytest.approx(off, rel=0.06)


def test_the_most_important_notes_come_first():
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"y": ["no"] * 36 + ["yes"] * 4, "flat": 1.0})
    data["big"] = 1e4 * rng.normal(size=40)
    data[[f"x{i}" for i in range(9)]] = rng.normal(size=(40, 9))
    result = ps.logit("y ~ .", data, lam=1.0).fit(cov_type="HC0")
    every = [*result.notes, *result.notes_on_errors()]
    topics = {note.topic for note in every}
    assert {"predictions", "few events", "estimability", "penalty"} < topics
    chosen = [note.topic for note in most_important(every)]
    assert chosen == ["predictions", "few events", "standard errors"]
    first = dict(reversed([(note.topic, note.sentence) for note in every]))
    assert result.summary().notes == [first[topic] for topic in chosen]
    assert result.summary(details=True).notes[:2] == result.summary().notes[:2]
    without = [note for note in every if note.topic != "standard errors"]
    chosen = [note.topic for note in most_important(without)]
    assert chosen == ["predictions", "few events", "penalty"]


@pytest.mark.parametrize("digits", [1, 3, 6])
def test_numbers_have_that_many_decimals_under_their_points(digits):
    data = patients().assign(a=lambda rows: 1e7 * rows["a"])
    found = ps.logit("back ~ a + b", data).fit()
    summary, table = found.summary(digits=digits), found.tidy().set_index("term")
    for column, name in (("coef", "estimate"), ("std err", "std_error")):
        for term in ("Intercept", "b"):
            written = f"{table.loc[term, name]:.{digits}f}"
            assert summary.params.loc[term, column] == written
        small = summary.params.loc["a", column]
        assert small == f"{table.loc['a', name]:.{digits - 1}e}"
    # Two points, or for one digit none, are in a power of ten and the others align.
    rows = str(summary).splitlines()[5:8]
    assert len({row.index(".") for row in rows if digits > 1 or row[0] != "a"}) == 1
    assert str(summary).endswith("\n")


def test_dropped_rows_are_counted_if_there_are_any():
    data = patients(60)
    data.loc[:4, "a"] = np.nan
    header = ps.logit("back ~ a", data).fit().summary().header
    assert "n 55 (5 dropped)  " in "  ".join(header)


# What the package maketables reads of a fit, by its plug-in format.
def test_a_fit_is_a_column_of_a_table():
    data = patients().assign(g=np.arange(400) % 9)
    fit = ps.logit("back ~ a", data).fit(groups="g")
    table = fit.__maketables_coef_table__
    assert table.columns.tolist() == ["b", "se", "t", "p", "ci95l", "ci95u"]
    assert table.index.name == "Coefficient"
    assert table["se"].tolist() == fit.bse.tolist()
    assert fit.__maketables_depvar__ == "back = yes"
    stat = {key: fit.__maketables_stat__(key) for key in ("N", "ll", "aic", "no such")}
    assert stat == {"N": 400, "ll": fit.llf, "aic": fit.aic, "no such": None}
    assert fit.__maketables_stat__("se_type") == "CR3, 9 groups of g"
    for key in fit.__maketables_default_stat_keys__:
        assert fit.__maketables_stat__(key) is not None


def test_other_fits_are_columns_too():
    hinge = ps.svm("back ~ a", patients())
    fits = [hinge.fit(cov_type=kind) for kind in (ps.Bootstrap(29), None)]
    types = [fit.__maketables_vcov_info__["se_type"] for fit in fits]
    assert types == ["bootstrap", "none"]


def test_tables_for_a_paper_name_the_reference_levels_and_no_call():
    data = pd.DataFrame({"ward": list("abc") * 20, "x": range(60)})
    data["ill"] = np.where((data["x"] * 7) % 10 < 4, "yes", "no")
    summary = ps.logit("ill ~ ward + x", data).fit().summary()
    for text in (summary.to_markdown(), summary.to_latex(), summary.to_latex("T")):
        assert "Reference: ward = a." in text
        assert "summary(details" not in text
        assert "n 60; training error" in text
        assert not re.search(r"\w  +\w", text)  # several spaces would be one


def test_a_floating_table_has_the_further_facts_of_a_summary():
    summary = ps.logit("back ~ a", patients()).fit().summary(details=True)
    facts = tables.columns_latex(summary.left, summary.right)
    rows = [line for line in facts.splitlines() if line.endswith(r"\\")]
    assert len(rows) > 5
    text = summary.to_latex("T")
    assert all(row in text for row in rows)
    assert text.count(r"\begin{tabular}") == 2
    assert r"\begin{center}" not in text


def test_rounding_in_a_limit_is_not_printed_as_a_number():
    ends = pd.DataFrame({"conf_low": [-2.0, 1e-14], "conf_high": [1.1e-14, 2e-14]})
    tidy = ends.assign(term=["a", "b"], estimate=-1.0, std_error=0.5)
    tidy = tidy.assign(statistic=-2.0, p_value=0.04)
    cells = tables.estimate_cells(tidy, ["z", "P>|z|"])
    assert list(cells["0.975]"]) == ["0.000", "2.00e-14"]
    assert list(cells["[0.025"]) == ["-2.000", "1.00e-14"]


def test_resamples_of_a_fit_far_from_its_optimum_come_with_a_warning():
    train, _ = ps.datasets.load_digits56()
    model = ps.svm("digit ~ p34 + p43", train, lam=0.01)
    rough = model.fit(ps.Pegasos(epochs=20, seed=443), cov_type=ps.Bootstrap(99))
    exact = model.fit(cov_type=ps.Bootstrap(99))
    sentence = "The resamples were fitted to their optimum, from which this fit is too"
    assert sentence in " ".join(str(rough.summary()).split())
    assert sentence not in " ".join(str(exact.summary()).split())
