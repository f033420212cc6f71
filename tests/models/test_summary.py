"""Summaries as text, HTML and LaTeX: what is in them, and how wide they are."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.tables import Summary, latex, params_text

CLOSE = ps.SDCA(tol=1e-10, seed=1)
N = 90


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(3)
    regions = [f"territory {i} of <the> far north & west" for i in range(3)]
    return pd.DataFrame(
        {
            "would you buy it again, all in all?": rng.choice(
                ["yes, most certainly and at any price", "no, never again"], N
            ),
            "region": rng.choice(regions, N),
            "income_per_head in 1000 $": rng.normal(size=N),
            "x" * 100: rng.normal(size=N),
        }
    )


@pytest.fixture(scope="module")
def result(survey):
    return ps.logit(f"`{survey.columns[0]}` ~ .", survey, lam=0.1).fit(CLOSE)


def test_names_are_whole_in_the_text(result):
    text = str(result.summary())
    lines = text.splitlines()
    assert max(map(len, lines)) == max(len(x) for x in lines if set(x) == {"="}) > 78
    assert not any(line.endswith(" ") for line in lines)
    whole = " ".join(text.split())
    assert "region[T.territory 1 of <the> far north" in whole
    assert "& west]" in whole
    assert "".join(line.strip() for line in lines if set(line.strip()) == {"x"}) == (
        "x" * 60
    )


def test_a_coefficient_of_zero_has_no_sign():
    data = pd.DataFrame({"y": list("aab") * 20, "g": list("uv") * 30})
    result = ps.svm("y ~ g", data, lam=100.0).fit(CLOSE)
    assert result.params["g[T.v]"] == 0.0
    text = str(result.summary())
    assert " 0.0000 " in text
    assert "-0.0000 " not in text
    assert "-0.000 " not in text


def test_numbers_that_are_too_wide_make_the_table_wider():
    cells = pd.DataFrame([["1" * 30] * 3], columns=list("abc"), index=["n" * 30])
    line = params_text(cells)[3]
    assert line.count("1" * 30) == 3


def test_html_and_latex_have_the_names_as_they_are(result):
    html, tex = result.summary().as_html(), result.summary().as_latex()
    assert "territory 2 of &lt;the&gt; far north &amp; west" in html
    assert "x" * 100 in html
    assert r"territory 2 of $<$the$>$ far north \& west" in tex
    assert r"income\_per\_head in 1000 \$" in tex
    assert r"P$>$$|$z$|$" in result.with_covariance("HC0").summary().as_latex()
    assert html.count("<table") == tex.count(r"\begin{tabular}") == 2


def test_every_row_of_a_tabular_has_its_cells(result):
    for tabular in result.summary().as_latex().split(r"\begin{tabular}")[1:]:
        columns = tabular[1 : tabular.index("}")]
        rows = [line for line in tabular.splitlines() if line.endswith(r"\\")]
        for row in rows:
            if "multicolumn" not in row:
                assert row.replace(r"\&", "").count("&") == len(columns) - 1


def test_no_character_of_latex_is_left():
    assert latex("\\{}~^[<>|&%$#_") == (
        r"\textbackslash{}\{\}\textasciitilde{}\textasciicircum{}{[}$<$$>$$|$\&\%\$\#\_"
    )


def test_a_name_of_several_lines_stands_in_one():
    cells = pd.DataFrame({"coef": ["1"]}, index=["a\nb"])
    left = [("Outcome:", "c\r\nd")]
    text = Summary("Title", left, [], cells, ["note"]).as_text()
    assert "a b" in text
    assert "c d" in text


def test_the_limits_of_the_intervals_are_named(result):
    assert result.summary().params.columns[-2:].tolist() == ["[0.025", "0.975]"]
    narrow = result.summary(alpha=0.01).params
    assert narrow.columns[-2:].tolist() == ["[0.005", "0.995]"]


def test_the_largest_coefficients_are_shown(survey):
    result = ps.SVM(
        survey.iloc[:, 0], np.eye(N)[:, :40] * np.arange(1, 41), lam=1.0
    ).fit(CLOSE)
    rows = result.summary(max_terms=1, alpha=0.2).params
    assert rows.index.tolist() == ["Intercept", result.coef.abs().idxmax()]
    assert "The largest of 40 coefficients" in str(result.summary(max_terms=1))
    assert len(result.summary(max_terms=None).params) == 41
    assert len(result.summary(max_terms=40).params) == 41


def test_a_summary_is_the_same_every_time(result):
    again = result.with_covariance("shrunk")
    assert str(result.summary()) == str(again.summary())


def test_weights_and_drops_are_in_the_header(survey):
    holes = survey.assign(w=np.arange(1.0, N + 1.0))
    holes.loc[:4, "region"] = None
    model = ps.logit(f"`{survey.columns[0]}` ~ region", holes, lam=0.1, weights="w")
    text = " ".join(str(model.fit(CLOSE).summary()).split())
    assert "Row weights:" in text
    assert "Rows dropped (NA): 5 " in text


def test_a_level_of_one_row_is_one_row():
    result = ps.SVM(["a", "b", "b"], [[0.0], [1.0], [2.0]], lam=1.0).fit(
        ps.SDCA(seed=1)
    )
    text = str(result.summary())
    assert "a (1 row)  " in text
    assert "b (2 rows)  " in text
