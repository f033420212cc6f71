"""Printed forms of a fit: the summary, in the manner of statsmodels."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from statsmodels.iolib.table import SimpleTable

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True, repr=False)
class Summary:
    """A summary of a fit: ``print()`` shows text, a notebook HTML.

    Attributes
    ----------
    tables : tuple of statsmodels.iolib.table.SimpleTable
        The header and the coefficients.
    notes : tuple of str
    """

    tables: tuple["SimpleTable", ...]
    notes: tuple[str, ...]

    def as_text(self) -> str:
        """Plain text, about 80 characters wide."""
        parts = [table.as_text() for table in self.tables]
        return "\n".join([*parts, "", "Notes:", *self._numbered()])

    def as_html(self) -> str:
        """HTML tables, and the notes as paragraphs."""
        parts = [table.as_html() for table in self.tables]
        return "\n".join([*parts, "<p>Notes:</p>"]) + "".join(
            f"<p>{escape(note)}</p>" for note in self._numbered()
        )

    def as_latex(self) -> str:
        """LaTeX tabulars, and the notes as text."""
        parts = [table.as_latex_tabular() for table in self.tables]
        return "\n\n".join([*parts, "Notes:", *self._numbered()])

    def _numbered(self) -> list[str]:
        return [f"[{i}] {note}" for i, note in enumerate(self.notes, 1)]

    def _repr_html_(self) -> str:
        return self.as_html()

    __str__ = __repr__ = as_text


def summary_table(
    title: str, left: Pairs, right: Pairs, params: pd.DataFrame, notes: Sequence[str]
) -> Summary:
    """Put a header, a table of coefficients and notes into one summary.

    Parameters
    ----------
    title : str
    left, right : sequences of (name, value)
        The two columns of the header.
    params : DataFrame
        One row for each coefficient shown; the columns hold text.
    notes : sequence of str
    """
    return Summary((_header(title, left, right), _coefficients(params)), tuple(notes))


def significant(value: float, digits: int = 4) -> str:
    """Write a number with so many significant digits.

    Examples
    --------
    >>> significant(-0.69526668), significant(1234567.0), significant(0.0)
    ('-0.6953', '1.235e+06', '0')
    """
    return f"{value:.{digits}g}"


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
