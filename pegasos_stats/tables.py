"""Printed forms of a fit: the summary, in the manner of statsmodels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from statsmodels.iolib.table import SimpleTable

Pairs = Sequence[tuple[str, str]]

TITLES = {
    "hinge": "Support Vector Machine Results",
    "log": "Penalised Logistic Regression Results",
}

LATEX_CELL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


@dataclass(frozen=True, repr=False, eq=False)
class Summary:
    """A summary of a fit: ``print()`` shows text, a notebook HTML.

    Attributes
    ----------
    title : str
    left, right : sequences of (name, value)
        The two columns of the header.
    params : DataFrame
        One row for each coefficient shown; the columns hold text.
    notes : sequence of str
    """

    title: str
    left: Pairs
    right: Pairs
    params: pd.DataFrame
    notes: Sequence[str]

    def as_text(self) -> str:
        """Plain text, about 80 characters wide."""
        parts = [table.as_text() for table in self._tables(str)]
        lines = [line for note in self._numbered() for line in _wrapped(note)]
        return "\n".join([*parts, "", "Notes:", *lines])

    def as_html(self) -> str:
        """HTML tables, and the notes as paragraphs."""
        parts = [table.as_html() for table in self._tables(escape)]
        notes = [f"<p>{escape(note)}</p>" for note in self._numbered()]
        return "\n".join([*parts, "<p>Notes:</p>", *notes])

    def as_latex(self) -> str:
        """LaTeX tabulars, and the notes as text."""
        parts = [table.as_latex_tabular() for table in self._tables(_latex_cell)]
        notes = [_latex(note) for note in self._numbered()]
        return "\n\n".join([*parts, "Notes:", *notes])

    def _tables(self, written: Callable[[str], str]) -> tuple["SimpleTable", ...]:
        """Header and coefficients, every cell as `written` gives it."""
        left, right = (
            [(written(name), written(value)) for name, value in side]
            for side in (self.left, self.right)
        )
        params = self.params.rename(index=lambda name: written(str(name)))
        return _header(written(self.title), left, right), _coefficients(params)

    def _numbered(self) -> list[str]:
        return [f"[{i}] {note}" for i, note in enumerate(self.notes, 1)]

    def _repr_html_(self) -> str:
        return self.as_html()

    __str__ = __repr__ = as_text


def _wrapped(note: str) -> list[str]:
    return wrap(note, width=79, subsequent_indent="    ", break_on_hyphens=False)


def _latex_cell(text: str) -> str:
    """Escape what statsmodels' tables leave as it is."""
    return "".join(LATEX_CELL.get(character, character) for character in text)


def _latex(text: str) -> str:
    """Escape every character that LaTeX reads as a command."""
    known = LATEX_CELL | {character: f"\\{character}" for character in "&%$#_"}
    return "".join(known.get(character, character) for character in text)


def significant(value: float, digits: int = 4) -> str:
    """Write a number with so many significant digits.

    Examples
    --------
    >>> significant(-0.69526668), significant(1234567.0), significant(0.0)
    ('-0.6953', '1.235e+06', '0')
    """
    return f"{value:.{digits}g}"


def weights_line(weights: Any) -> Pairs:
    """The line of a header for the weights of the rows; none where all are 1."""
    if weights is None:
        return []
    low, high = (significant(float(w)) for w in (weights.min(), weights.max()))
    return [("Row weights:", f"{low} to {high}")]


def _header(title: str, left: Pairs, right: Pairs) -> "SimpleTable":
    """Two columns of names and values side by side, the shorter one filled up."""
    height = max(len(left), len(right))
    table, other = (
        _names_and_values([*side, *[("", "")] * (height - len(side))], title)
        for side in (left, [(f"  {name}", value) for name, value in right])
    )
    table.extend_right(other)
    return table


def _names_and_values(pairs: Pairs, title: str) -> "SimpleTable":
    from statsmodels.iolib.table import SimpleTable
    from statsmodels.iolib.tableformatting import fmt_2cols

    names, values = zip(*pairs, strict=True)
    return SimpleTable(
        [[value] for value in values], stubs=names, title=title, txt_fmt=fmt_2cols
    )


def _coefficients(params: pd.DataFrame) -> "SimpleTable":
    from statsmodels.iolib.table import SimpleTable
    from statsmodels.iolib.tableformatting import fmt_params

    cells: list[list[Any]] = params.to_numpy(dtype=object).tolist()
    return SimpleTable(
        cells,
        headers=list(params.columns),
        stubs=list(params.index),
        txt_fmt=fmt_params,
    )
