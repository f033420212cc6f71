"""The site: every public name is in it, it builds, its links lead on."""

import re
import shutil
import subprocess
import sys
from contextlib import suppress
from html import unescape
from pathlib import Path

import make_patients
import pandas as pd
import pytest
from browser import broken_links
from members import HIDDEN, PURPOSES, listed, members_of_classes

import pegasos_stats as ps
from pegasos_stats.data.language.vocabulary import CONSTANTS, VOCABULARY
from pegasos_stats.output.cli.options import COMMANDS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def test_every_public_name_is_in_the_reference():
    left_out = {"datasets", "errors"}
    assert set(ps.__all__) - left_out <= set(listed())


def build(root):
    """Build the site from a copy."""
    for folder in ("docs", "vignettes"):
        left_out = shutil.ignore_patterns("generated", "__pycache__", ".*")
        shutil.copytree(ROOT / folder, root / folder, ignore=left_out)
    for name in ("CHANGELOG.md", "SECURITY.md"):
        shutil.copy(ROOT / name, root)
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html"]
    command += [root / "docs", root / "built"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return root / "built"


@pytest.mark.slow
def test_the_site_has_every_name_and_leads_on(tmp_path):
    """One test, so that the site is built once whatever process runs which test."""
    built = build(tmp_path)
    pages = [path.read_text("utf-8") for path in (built / "reference").glob("*.html")]
    places = set(re.findall(r'id="pegasos_stats\.([\w.]+)"', " ".join(pages)))
    assert set(listed()) <= places
    assert {"LinearResults.summary", "KernelResults.dual_coef", "SVM.fit"} <= places
    assert {"LinearPlots.roc", "Margins.summary"} <= {
        ".".join(place.split(".")[-2:]) for place in places
    }
    loads = re.compile(r'(?:src|<link[^>]*href)="(?:https?:)?//')
    for page in built.rglob("*.html"):
        assert not loads.search(page.read_text(encoding="utf-8")), page.name
    assert list(broken_links(built)) == []
    sources = {path.stem for path in (ROOT / "vignettes").glob("[0-9][0-9]_*.py")}
    vignettes = {path.stem for path in (built / "vignettes").glob("*.html")}
    assert vignettes == {*sources, "README"}
    assert 'href="vignettes/README.html"' in (built / "index.html").read_text("utf-8")
    assert_questions_are_answered(built)
    left_out = {"developer", "vignettes", "search", "genindex", "_static"}
    pages = [path.relative_to(built) for path in built.rglob("*.html")]
    pages = [path for path in pages if not left_out & {*path.parts, path.stem}]
    assert 40 <= len(pages) <= 45


ANSWERS = {  # of the questions on the first page: page, and what answers the question
    "howto/save.html#odds-ratios": "tidy(exponentiate=True)",
    "howto/test_coefficients.html#clusters": "groups=",
    "howto/test_coefficients.html#glm-errors": 'cov_type="nonrobust"',
    "howto/reproduce_in_r.html": "check_against_r(",
    "howto/predictions_with_errors.html": "get_prediction(new)",
    "howto/margins.html": ".margins()",
    "howto/factors.html": "relevel(occupation, ref=",
    "howto/weights.html": 'freq_weights="pupils"',
    "tutorials/hospital.html#missing-values": 'na_action="raise"',
    "howto/few_events.html": 'penalty="firth"',
    "howto/validate.html": "ps.validate(model",
    "howto/compare_models.html#compare-areas": "ps.compare_roc(fits",
    "howto/check_calibration.html": "ps.reliability(new",
    "howto/cross_validate.html": "ps.cross_validate(model",
    "howto/choose_threshold.html": ".thresholds(cost=cost",
    "howto/figures.html": "figsize=(3.5, 2.8)",
    "howto/save.html#word-latex": ".to_latex()",
    "howto/save.html#page-without-python": ".report(new",
    "howto/save.html": 'ps.load("readmitted.model")',
    "howto/read_report.html": "exact McNemar test",
    "howto/files.html": 'ps.scan("part*.parquet"',
    "explanation/proof.html": "write_proof(",
    "benchmarks.html": "LinearSVC",
}


def assert_questions_are_answered(built):
    """Each question of the first page is a link to its answer."""
    first = (built / "index.html").read_text("utf-8")
    asked = first.partition('<section id="how-do-i">')[2].partition("</section>")[0]
    for target, answer in ANSWERS.items():
        assert asked.count(f'href="{target}"') == 1, target
        page, _, place = target.partition("#")
        text = (built / page).read_text("utf-8")
        section = text.partition(f'id="{place}"')[2] if place else text
        assert answer in unescape(re.sub(r"<[^>]+>", "", section)), target
    assert len(ANSWERS) == asked.count("<li>") == 23


def test_data_of_the_tutorials_are_those_that_their_script_draws(tmp_path):
    for name, data in make_patients.files().items():
        data.to_csv(tmp_path / name, index=False)
        assert (tmp_path / name).read_bytes() == (DOCS / "data" / name).read_bytes()


def test_terms_that_are_explained_are_those_of_the_report():
    affairs = ps.load_affairs()
    train, new = affairs.iloc[::2], affairs.iloc[1::2]  # as on the page
    formula = "affair ~ rate_marriage + yrs_married + educ + occupation"
    result, cost = ps.logit(formula, train).fit(), {"false_negative": 5}
    reports = [
        result.report(new),
        result.report(new, cost=cost | {"false_positive": 1}),
    ]
    pages = " ".join(report.to_html() for report in reports)
    text = unescape(re.sub(r"<(style|svg).*?</\1>|<[^>]+>", "", pages))
    source = (DOCS / "howto" / "read_report.rst").read_text(encoding="utf-8")
    terms = re.findall(r"^\*([^*]+)\*\n   ", source, flags=re.MULTILINE)
    assert len(terms) == 15
    assert [term for term in terms if term not in text] == []


def test_functions_of_the_reference_are_known_in_a_formula():
    page = (DOCS / "reference" / "models.rst").read_text(encoding="utf-8")
    table = page.partition("**Functions**")[2].partition("**Names")[0]
    names = set(re.findall(r"``([a-zA-Z][\w.]*)``", table))
    rows = {"y": list("ab" * 4), "x": range(1, 9), "g": list("ABCABCAB")}
    rest = ("", ", 2", ", 2, 3", ", [0, 4, 9]", ", df=3", ", 'A'", ", 1, 1")
    columns = ("x", "g", "x / 10")

    def is_known(name):
        for call in (f"{name}({c}{more})" for c in columns for more in rest):
            with suppress(ps.errors.PegasosStatsError):
                ps.logit(f"y ~ I(x > 2) + {call}", pd.DataFrame(rows))
                return True
        return False

    assert len(names) > 50
    assert {name for name in names if not is_known(name)} == set()


def test_every_function_of_a_formula_is_in_the_reference():
    page = (DOCS / "reference" / "models.rst").read_text(encoding="utf-8")
    section = page.partition(".. _formulas:")[2].partition("**Names")[0]
    shown = set(re.findall(r"\bx(\.[\w.]+)\(", section))
    shown |= set(re.findall(r"``([a-zA-Z][\w.]*)", section))
    also = section.partition("\nstatistics")[2].partition("\nnumbers, as in R")[0]
    also = set(re.findall(r"``(\w+)``", also))
    shown |= {f"np.{name}" for name in also} | {f".{name}" for name in also}
    known = {re.sub("^(as|is)_", r"\1.", name) for name in [*VOCABULARY, *CONSTANTS]}
    assert known - shown == set()


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#c">b</a> <a href="d.html">d</a>')
    (tmp_path / "b.html").write_text('<p id="e"></p> <a href="a.html#top">a</a>')
    assert list(broken_links(tmp_path)) == [
        "a.html: link to b.html#c, whose target does not exist",
        "a.html: link to d.html, which does not exist",
    ]


def words_of(page):
    """Words that are read: neither code nor options of directives."""
    unread = "run|commands|code-block|toctree|csv-table|figure|math"
    block = rf"^\.\. (?:{unread})::.*\n(?:\n|   .*\n)+"
    text = re.sub(block, "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return len(re.findall(r"\w[\w'.-]*", re.sub(r":(?:said|math):`.*?`", "x", text)))


def test_no_page_but_the_reference_is_longer_than_900_words():
    pages = [*DOCS.glob("*.rst"), *DOCS.glob("[eht]*/*.rst")]
    assert {page.stem: n for page in pages if (n := words_of(page)) > 900} == {}


def test_every_command_has_its_help_on_the_page_of_the_command_line():
    page = (DOCS / "reference" / "data.rst").read_text(encoding="utf-8")
    assert set(re.findall(r"help-of:: (\w+)", page)) == set(COMMANDS)


def test_members_of_a_result_are_in_the_order_of_use_without_internals():
    grouped = members_of_classes()["pegasos_stats.LinearResults"]
    assert [*grouped] == [name for name in PURPOSES if name != "Make" and name != "Fit"]
    names = [name for members in grouped.values() for _, name in members]
    assert names[0] == "summary"
    assert names.index("predict") < names.index("to_sql")
    assert not HIDDEN & set(names)
    for kind in ("Results", "KernelResults", "LinearResults"):
        assert "Further" not in members_of_classes()[f"pegasos_stats.{kind}"]
