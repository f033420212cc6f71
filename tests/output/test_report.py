"""Reports: what is on the page, what is not, and where it is written."""

import re
import sys
from html import escape as html_escape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from jinja2 import UndefinedError

import pegasos_stats as ps
from pegasos_stats.errors import DataError, DependencyError, FormulaError, OptionError
from pegasos_stats.output.report.rendering import formula_svg, templates
from pegasos_stats.output.report.subject import held_out_rows, misclassified
from pegasos_stats.tables import markdown

SECTIONS = [
    "in-short",
    "asked",
    "data",
    "fitted",
    "optimum",
    "coefficients",
    "errors",
    "repeat",
    "words",
]
SCRIPT, PIPES, LONG = "<script>alert(1)</script>", "a|b*_`$x$", "x" * 200
VOID = {"meta", "img", "br", "hr", "link", "input"}


class Reader(HTMLParser):
    """Reads a page: its texts, its tags, and whether they are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def digits():
    return ps.datasets.load_digits56()


@pytest.fixture(scope="module")
def result(digits):
    train, test = digits
    solver = ps.Pegasos(epochs=20, seed=443)
    return ps.svm("digit ~ .", train, lam=1.0).fit(solver, trace=True, test=test)


@pytest.fixture(scope="module")
def report(result, digits):
    return result.report(digits[1], image_shape=(8, 8))


@pytest.fixture(scope="module")
def page(report):
    return Reader(report.as_html())


@pytest.fixture(scope="module")
def strange():
    """Names and labels full of marks, on 60 rows."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 3)), columns=[SCRIPT, PIPES, LONG])
    noise = rng.normal(size=60)
    labels = np.where(data[SCRIPT] + noise > 0, "<b>yes</b>", "no $x$ | `k`")
    return data.assign(**{"out & come": labels})


def fitted(data, **options):
    model = ps.svm("`out & come` ~ .", data, **options)
    return model.fit(ps.Pegasos(epochs=3, seed=1))


def test_every_part_is_there_and_linked(page):
    ids = [a["id"] for tag, a in page.tags if tag == "section"]
    links = [a["href"] for tag, a in page.tags if tag == "a"]
    assert ids == SECTIONS
    assert links == [f"#{name}" for name in SECTIONS]


def test_nothing_is_loaded_and_nothing_is_run(page):
    sources = [a["src"] for _, a in page.tags if "src" in a]
    assert sources
    assert all(source.startswith("data:image/") for source in sources)
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in page.tags}
    (policy,) = [
        a["content"]
        for _, a in page.tags
        if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'")


def test_style_is_for_phones_paper_and_the_dark(report):
    style = report.as_html().split("</style>")[0]
    assert 'name="viewport" content="width=device-width' in style
    for rule in ("@media print", "prefers-color-scheme: dark", "max-width: 34rem"):
        assert rule in style
    assert "url(" not in style
    assert "@import" not in style


def test_numbers_are_those_of_the_fit(page, result):
    wanted = [
        "1 of 163 rows; 95% interval 0.0155% to 3.37%",
        "10, with one value in all training rows",
        "Mersenne-Twister, inversion, rejection",
        f"Margin violations {result.n_violations}",
        f"Duality gap {result.gap:.4g}",
        "Actual Predicted 5 Predicted 6 5 81 1 6 0 81",
        "Misclassified test rows",
    ]
    for text in wanted:
        assert text in page.text, text


def test_figures_and_formulas_say_what_they_show(page):
    images = [a for tag, a in page.tags if tag == "img"]
    drawings = [a for tag, a in page.tags if tag == "svg"]
    assert len(images) == 5
    assert all(a["alt"] for a in images)
    assert all(a["role"] == "img" and a["aria-label"] for a in drawings)
    assert r"\lambda" in {a["aria-label"] for a in drawings}


def test_names_and_labels_of_any_kind_are_escaped(strange):
    made = fitted(strange).report(strange, title="<i>&")
    page, text = Reader(made.as_html()), made.as_markdown()
    assert not {"script", "b", "i"} & {tag for tag, _ in page.tags}
    for name in (SCRIPT, PIPES, LONG, "<b>yes</b>"):
        assert any(name in text for text in page.texts)
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text, flags=re.DOTALL)
    assert not re.search(r"(?<!\\)<(?:script|b)>", outside)


def test_markdown_tables_have_one_width(report, strange):
    for made in (report, fitted(strange).report(strange)):
        tables = re.findall(r"(?:^\|.*\|\n)+", made.as_markdown(), flags=re.MULTILINE)
        assert len(tables) > 5
        for table in tables:
            bars = [len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()]
            assert len(set(bars)) == 1


def test_a_report_replaces_a_report_and_nothing_else(report, tmp_path):
    path = tmp_path / "digits.html"
    assert report.write(path).path == path.resolve()
    report.write(path)
    other = tmp_path / "train.csv"
    other.write_text("y,x\n1,2\n")
    with pytest.raises(DataError, match="is no report"):
        report.write(other)
    assert other.read_text() == "y,x\n1,2\n"
    with pytest.raises(DataError, match="folder"):
        report.write(tmp_path)
    with pytest.raises(DataError, match="cannot be written"):
        report.write(tmp_path / "nosuch" / "a.html")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["digits.html", "train.csv"]


def test_page_and_markdown_have_the_same_numbers(report):
    """In the sections without formulas and figures, which have numbers of their own."""
    found = re.findall(r'(<section id="([^"]+)">.*?</section>)', report.as_html(), re.S)
    pages = {name: Reader(section).text for section, name in found}
    texts = dict(zip(SECTIONS, report.as_markdown().split("\n## ")[1:], strict=True))
    for name in ("in-short", "data", "repeat"):
        in_page, in_text = (
            re.findall(r"\d[\d.,]*\d|\d", each[name]) for each in (pages, texts)
        )
        assert len(in_page) > 15
        assert in_page == in_text


def test_markdown_has_its_figures_beside_it(report, tmp_path):
    report.write(tmp_path / "digits.md")
    text = (tmp_path / "digits.md").read_text(encoding="utf-8")
    named = re.findall(r"\]\((digits_files/[^)]+)\)", text)
    assert len(named) == 5
    assert all((tmp_path / name).read_text().startswith("<svg") for name in named)
    report.write(tmp_path / "digits.md")
    with pytest.raises(OptionError, match="format"):
        report.write(tmp_path / "a.html", format="pdf")


def test_the_same_fit_gives_the_same_page(report, result, digits):
    again = result.report(digits[1], image_shape=(8, 8))
    assert again.as_html() == report.as_html()


def test_misclassified_rows_are_those_of_the_table(strange):
    result = fitted(strange)
    doubled = strange.set_axis(["same"] * len(strange))
    rows = held_out_rows(result, doubled)
    found = misclassified(result, rows)
    assert len(found) == rows.table.n_errors > 0
    assert found["score"].abs().is_monotonic_decreasing
    assert (found["actual"] != found["predicted"]).all()


def test_missing_values_and_labels_are_counted(strange):
    train, test = strange.copy(), strange.copy()
    train.iloc[3, 0] = train.iloc[4, 1] = np.nan
    train.iloc[5, 3] = None
    test.iloc[0, 1] = np.nan
    test.iloc[[1, 2], 3] = None
    text = Reader(fitted(train).report(test).as_html()).text
    assert "Rows 60 60" in text
    assert "Left out: no label 1 2" in text
    assert "Left out: a predictor is missing 2 1" in text


def test_a_fit_that_ran_away_and_ties_are_warned_of(strange):
    wild = ps.svm("`out & come` ~ .", strange, lam=1e-6)
    text = Reader(wild.fit(ps.Pegasos(epochs=1, seed=1)).report().as_html()).text
    assert "ran away" in text
    y, X = ["a", "b"] * 5, np.zeros((10, 2))
    tied = ps.SVM(y, X, intercept=False, lam=1.0).fit(ps.Pegasos(epochs=1, seed=1))
    assert (
        "10 training rows could not be decided" in Reader(tied.report().as_html()).text
    )


def test_what_helps_a_fit_that_ran_away_is_what_it_has_not(strange):
    wild = ps.svm("`out & come` ~ .", strange, lam=1e-6, standardize=True)
    solver = ps.Pegasos(epochs=1, seed=1, refit_intercept=True)
    text = Reader(wild.fit(solver).report().as_html()).text
    assert "steps. Try SDCA() or fit(solver, refine=1e-6)." in text


def test_one_answer_for_every_row_is_warned_of(strange):
    X, y = strange[[SCRIPT, PIPES]].to_numpy(), np.repeat(["a", "b"], [15, 45])
    shrunk = ps.SVM(y, X, lam=1e6).fit(ps.SDCA(seed=1))
    text = Reader(shrunk.report().as_html()).text
    assert (
        "The fit is degenerate: every training row is predicted b, and coefficients "
        "are next to 0: one standard deviation of every predictor moves a score by "
    ) in text
    assert (
        "such an optimum where a class is rare, predictors say little, or the" in text
    )
    usual = Reader(fitted(strange, lam=0.01).report().as_html()).text
    assert "every training row" not in usual.lower()


def test_a_sum_stands_clear_of_its_neighbours(page):
    labels = [a["aria-label"] for tag, a in page.tags if "aria-label" in a]
    assert any(r"\dfrac{1}{n}\;\sum_{i=1}^{n}\, \max" in label for label in labels)


def test_coefficients_have_their_intervals(strange):
    model = ps.logit("`out & come` ~ .", strange, lam=0.01)
    result = model.fit(ps.SDCA(tol=1e-8, seed=1))
    text = Reader(result.report().as_html()).text
    low, high = result.conf_int().loc[SCRIPT]
    places = 1 - int(np.floor(np.log10(result.bse.min())))
    limits = f"[{low:.{places}f}, {high:.{places}f}]".replace("-", "−")
    assert "Estimate [95% interval] Std. error p-value" in text
    assert limits in text
    assert "Standard errors: sandwich" in text


def test_undefined_intervals_are_left_out_with_the_reason(report):
    text = Reader(report.as_html()).text
    assert "covariance of the coefficients is not defined" in text
    assert "[NA" not in text


def test_kernel_loaded_and_logistic_fits_have_reports(strange, tmp_path):
    kernel = ps.kernel_svm("`out & come` ~ .", strange, lam=1.0)
    made = kernel.fit(ps.Pegasos(epochs=3, seed=1)).report(strange)
    assert "Support rows" in Reader(made.as_html()).text
    ps.save(fitted(strange), tmp_path / "a.model")
    made = ps.load(tmp_path / "a.model").report(strange)
    assert "holds no training rows" in Reader(made.as_html()).text
    logit = ps.logit("`out & come` ~ .", strange, standardize=True, lam=1.0)
    made = logit.fit(ps.Pegasos(epochs=3, seed=1)).report(strange)
    assert "Probability of the actual label" in Reader(made.as_html()).text


def test_source_must_hold_the_data_of_the_fit(result, digits, tmp_path):
    digits[1].to_csv(tmp_path / "test.csv")
    with pytest.raises(OptionError, match="does not hold the data"):
        result.report(source=tmp_path / "test.csv")


def test_matplotlib_is_asked_for(result, monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(DependencyError, match=r"pegasos_stats\[plot\]"):
        result.report()


def test_jinja2_is_asked_for_before_there_is_work_done(result, monkeypatch):
    templates.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr("pegasos_stats.output.report.subject.training_rows", None)
    with pytest.raises(DependencyError, match=r"pegasos_stats\[report\]"):
        result.report()


def test_pages_are_plain_text(report, strange):
    made = fitted(strange).report(title="<i>")
    for text in (made.as_html(), made.as_markdown(), made._repr_html_()):
        assert type(text) is str  # not one that escapes what is added to it


def test_a_value_in_a_template_is_escaped_unless_it_is_called_safe():
    for escape, text in ((html_escape, "&lt;*&gt;"), (markdown, r"\<\*>")):
        made = templates(escape).from_string("{{ x }}{{ x ~ x }}{{ x | safe }}")
        assert made.render(x="<*>") == f"{text}{text}{text}<*>"
    with pytest.raises(UndefinedError, match="nosuch"):
        templates(markdown).from_string("{{ nosuch }}").render()


def test_a_formula_is_an_outline_with_its_tex():
    drawn = formula_svg(r"\frac{\alpha}{2}")
    assert "<text" not in drawn
    assert r'aria-label="\frac{\alpha}{2}"' in drawn
    assert formula_svg("x\n+ 1").count("<path") == 1
    with pytest.raises(FormulaError, match="cannot be drawn"):
        formula_svg(r"\frac{1")


def test_a_place_that_is_taken_is_found_before_the_report_is_made(
    result, tmp_path, monkeypatch
):
    def made(*args, **options):
        raise AssertionError("the report was made")

    monkeypatch.setattr("pegasos_stats.output.report.report.report_of", made)
    (tmp_path / "a.html").write_text(
        '<p><meta name="generator" content="pegasos_stats">'
    )
    (tmp_path / "b_files").mkdir()
    (tmp_path / "b_files" / "figure-3.svg").write_text("<svg>mine</svg>")
    for name in ("a.html", "b.md"):
        with pytest.raises(DataError, match=r"is there and is no .*overwrite=True"):
            result.report(path=tmp_path / name)
    for path in (3, b"a.html", "", "a\0.html", "a\ud800.html"):
        with pytest.raises(OptionError, match="path"):
            result.report(path=path)
    with pytest.raises(DataError, match="it is a device"):
        result.report(path="/dev/null", overwrite=True)


def test_overwrite_replaces_what_is_no_report(report, tmp_path):
    for name in ("a.html", "b.md"):
        (tmp_path / name).write_text("mine")
        (tmp_path / name).chmod(0o600)
        report.write(tmp_path / name, overwrite=True)
        report.write(tmp_path / name)
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_a_report_is_not_written_over_its_source(digits, tmp_path):
    train, _ = digits
    train.to_csv(tmp_path / "train.csv", index=False)
    (tmp_path / "link.md").symlink_to("train.csv")
    (tmp_path / "x_files").mkdir()
    (tmp_path / "x_files" / "figure-1.svg").symlink_to("../train.csv")
    fit = ps.svm("digit ~ p34", train, lam=1.0).fit(ps.Pegasos(epochs=1, seed=1))
    before = (tmp_path / "train.csv").read_bytes()
    for name in ("train.csv", "link.md", "x.md"):
        with pytest.raises(OptionError, match="over its source"):
            fit.report(
                path=tmp_path / name,
                format="markdown",
                source=tmp_path / "train.csv",
                overwrite=True,
            )
    assert (tmp_path / "train.csv").read_bytes() == before
