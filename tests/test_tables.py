"""Text tables line by line: what is cut, what is widened, and where the limits are."""

from xml.etree import ElementTree

import pandas as pd
import pytest

from pegasos_stats.tables import Summary, estimate_cells, headings_of_tests, params_text

WIDTH = 78  # of every text
INFINITE = float("inf")


def test_a_long_name_takes_several_lines_and_is_whole():
    name = "C(occupation of the husband, levels=['blue', 'white'])[T.white]"
    cells = pd.DataFrame([["1" * 38]], columns=["coef"], index=[name])
    assert params_text(cells)[2].splitlines() == [
        "C(occupation of the husband,".ljust(38) + "  " + "1" * 38,
        "  levels=['blue', 'white'])[T.white]",
    ]
    cells.index = ["x" * 79]
    rows = params_text(cells)[2].splitlines()
    assert "".join(row.replace("1", "").strip() for row in rows) == "x" * 79
    assert max(map(len, rows)) == WIDTH
    cells.iloc[0, 0] = "1" * 70  # numbers are never cut
    assert {len(line) for line in params_text(cells)[::3]} == {84}


TIDY = pd.DataFrame(
    {
        "term": ["Intercept", "x"],
        "estimate": [-0.123456, 12.0],
        "std_error": [0.5, 0.00012346],
        "statistic": [-0.24691, 97205.3466],
        "p_value": [0.80498, 0.0004],
        "conf_low": [-1.1034, 11.99976],
        "conf_high": [0.85653, 12.00024],
    }
)


@pytest.mark.parametrize(
    ("df", "letter"), [(float("inf"), "z"), (7.0, "t"), (0.5, "t")]
)
@pytest.mark.parametrize(
    ("alpha", "low", "high"),
    [(0.05, "[0.025", "0.975]"), (0.2, "[0.1", "0.9]"), (0.001, "[0.0005", "0.9995]")],
)
def test_estimates_stand_under_the_headings_of_statsmodels(
    df, letter, alpha, low, high
):
    cells = estimate_cells(TIDY, headings_of_tests(df), alpha)
    heads = ["coef", "std err", letter, f"P>|{letter}|", low, high]
    assert cells.columns.tolist() == heads
    assert cells.index.tolist() == ["Intercept", "x"]
    assert cells.to_numpy().tolist() == [
        ["-0.123", "0.500", "-0.25", "0.805", "-1.103", "0.857"],
        ["12.000", "1.23e-04", "97205.35", "<0.001", "12.000", "12.000"],
    ]


@pytest.mark.parametrize(("digits", "text"), [(1, "12.0"), (5, "12.00000")])
def test_decimals_are_as_many_as_asked_for(digits, text):
    cells = estimate_cells(TIDY, headings_of_tests(INFINITE), digits=digits)
    assert cells["coef"].iloc[1] == text
    assert cells["P>|z|"].tolist() == ["0.805", "<0.001"]


def test_p_values_of_resamples_have_no_statistic_beside_them():
    cells = estimate_cells(TIDY, headings_of_tests(INFINITE, resampled=True))
    heads = ["coef", "boot sd", "p-value", "[0.025", "0.975]"]
    assert cells.columns.tolist() == heads
    usual = estimate_cells(TIDY, headings_of_tests(INFINITE)).rename(
        columns={"P>|z|": "p-value", "std err": "boot sd"}
    )
    assert cells.equals(usual[heads])


@pytest.mark.parametrize("sign", ["", "-"])
def test_statistics_from_a_million_are_powers(sign):
    for value, text in (
        (99999.991, "99999.99"),
        (1e6, "1.0e+06"),
        (1234567.0, "1.2e+06"),
        (0.0004, "0.00"),
    ):
        tidy = TIDY.assign(statistic=float(f"{sign}{value}"))
        shown = estimate_cells(tidy, headings_of_tests(INFINITE))["z"]
        assert shown.tolist() == [f"{sign * (value > 0.005)}{text}"] * 2


SHOWN = Summary(
    ["A & B", "n 9"],
    pd.DataFrame({"coef": ["-1.5", "2"], "P>|z|": ["0.1", "-x"]}, index=["a_b", "c"]),
    ["first", "second & last"],
    [("Loss:", "50%"), ("n:", "<9>")],
    [("Seed:", "1")],
    "More: elsewhere",
)
LATEX = r"""\textbf{A \& B}

n 9

\begin{center}
\begin{tabular}{lrlr}
\toprule
Loss: & 50\% & Seed: & 1 \\
n: & $<$9$>$ &  &  \\
\bottomrule
\end{tabular}
\end{center}

\begin{center}
\begin{tabular}{lrr}
\toprule
 & coef & P$>$$|$z$|$ \\
\midrule
a\_b & $-$1.5 & 0.1 \\
c & 2\phantom{.5} & -x \\
\bottomrule
\end{tabular}
\end{center}

first

second \& last

More: elsewhere"""


def test_a_summary_in_full():
    assert str(SHOWN) == repr(SHOWN)
    assert SHOWN.to_latex() == LATEX


def test_a_summary_in_html_has_the_cells_of_its_tables():
    assert SHOWN._repr_html_() == SHOWN.to_html()
    page = ElementTree.fromstring(
        f"<div>{SHOWN.to_html().replace('<br>', '<br/>')}</div>"
    )
    title, header, facts, params, notes, footer = page
    assert (title.text, header.text) == ("A & B", "n 9")
    assert rows(facts) == [
        [("th", "Loss:"), ("td", "50%"), ("th", "Seed:"), ("td", "1")],
        [("th", "n:"), ("td", "<9>"), ("th", None), ("td", None)],
    ]
    assert rows(params) == [
        [("td", None), ("th", "coef"), ("th", "P>|z|")],
        [("th", "a_b"), ("td", "-1.5"), ("td", "0.1")],
        [("th", "c"), ("td", "2"), ("td", "-x")],
    ]
    assert [*notes.itertext()] == list(SHOWN.notes)
    assert footer.text == SHOWN.footer


def rows(table):
    """Kind and text of the cells of each row."""
    return [[(cell.tag, cell.text) for cell in row] for row in table[0]]
