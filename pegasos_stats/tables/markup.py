"""Tables and notes as HTML and as LaTeX."""

import re
from collections.abc import Sequence
from html import escape

import pandas as pd

from pegasos_stats.tables.layout import Pairs

LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "[": "{[}",  # after a line's end it would be an option
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
} | {character: f"\\{character}" for character in "&%$#_"}
NEGATIVE = re.compile(r"^-(?=[\d.])")

TABLE = "border-collapse:collapse;margin:0 0 .5em 0"
NAME = "text-align:left;padding:.15em 1em .15em 0"
VALUE = "text-align:right;padding:.15em .5em"
RULE = "border-top:1px solid;border-bottom:1px solid"
CLOSED = "border-bottom:1px solid"


def header_html(title: str, left: Pairs, right: Pairs) -> str:
    """Names and values in two columns, under a caption."""
    caption = f'<caption style="font-weight:bold">{escape(title)}</caption>'
    rows = ["".join(_named(*cell) for cell in row) for row in _beside(left, right)]
    return _table([caption, *(f"<tr>{row}</tr>" for row in rows)], f"{TABLE};{RULE}")


def params_html(params: pd.DataFrame) -> str:
    """A table with the index as names, numbers to the right.

    Examples
    --------
    >>> "<td" in params_html(pd.DataFrame({"coef": ["0.5"]}, index=["x"]))
    True
    """
    heads = "".join(_cell("th", str(name), VALUE) for name in params.columns)
    lines = [f'<tr style="{CLOSED}"><td></td>{heads}</tr>']
    for name, *cells in params.itertuples(name=None):
        numbers = "".join(_cell("td", str(cell), VALUE) for cell in cells)
        lines.append(f"<tr>{_cell('th', str(name), NAME)}{numbers}</tr>")
    return _table(lines, f"{TABLE};{CLOSED}")


def notes_html(notes: Sequence[str]) -> str:
    """Numbered notes."""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<p style="margin:0">Notes:</p><ol style="margin-top:0">{items}</ol>'


def header_latex(title: str, left: Pairs, right: Pairs) -> str:
    """Names and values in two columns, under a title; rules are those of booktabs."""
    rows = [
        [latex(text) for cell in row for text in cell] for row in _beside(left, right)
    ]
    first = rf"\multicolumn{{4}}{{c}}{{\textbf{{{latex(title)}}}}} \\"
    return _tabular("lrlr", [first, r"\midrule", *map(_row, rows)])


def params_latex(params: pd.DataFrame) -> str:
    """A tabular with the index as names, numbers to the right."""
    heads = ["", *(latex(str(name)) for name in params.columns)]
    rows = [
        [latex(str(name)), *(_number(str(cell)) for cell in cells)]
        for name, *cells in params.itertuples(name=None)
    ]
    columns = "l" + "r" * params.shape[1]
    return _tabular(columns, [_row(heads), r"\midrule", *map(_row, rows)])


def latex(text: str) -> str:
    r"""Escape every character that LaTeX reads as a command.

    Examples
    --------
    >>> print(latex("50% of a_b"))
    50\% of a\_b
    """
    return "".join(LATEX.get(character, character) for character in text)


def _beside(left: Pairs, right: Pairs) -> list[list[tuple[str, str]]]:
    """Two columns in rows, the shorter one filled up."""
    height = max(len(left), len(right))
    sides = [[*side, *[("", "")] * (height - len(side))] for side in (left, right)]
    return [list(row) for row in zip(*sides, strict=True)]


def _named(name: str, value: str) -> str:
    return _cell("th", name, NAME) + _cell("td", value, f"{VALUE};padding-right:2em")


def _cell(tag: str, text: str, style: str) -> str:
    return f'<{tag} style="{style}">{escape(text)}</{tag}>'


def _table(lines: Sequence[str], style: str) -> str:
    return "\n".join([f'<table style="{style}">', *lines, "</table>"])


def _number(text: str) -> str:
    return NEGATIVE.sub("$-$", latex(text))


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _tabular(columns: str, lines: Sequence[str]) -> str:
    begin = [r"\begin{center}", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    end = [r"\bottomrule", r"\end{tabular}", r"\end{center}"]
    return "\n".join([*begin, *lines, *end])
