"""Printed forms of a fit: the summary, in the manner of statsmodels."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import pandas as pd

from pegasos_stats.tables.layout import Pairs as Pairs
from pegasos_stats.tables.layout import header_text, note_text, params_text
from pegasos_stats.tables.markup import (
    header_html,
    header_latex,
    latex,
    notes_html,
    params_html,
    params_latex,
)


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
        """Plain text, 78 characters wide."""
        header = header_text(self.title, self.left, self.right)
        notes = [note_text(*item) for item in enumerate(self.notes, 1)]
        lines = [line for note in notes for line in note]
        return "\n".join([*header, *params_text(self.params), "", "Notes:", *lines])

    def as_html(self) -> str:
        """HTML tables, and the notes as a list."""
        header = header_html(self.title, self.left, self.right)
        return "\n".join([header, params_html(self.params), notes_html(self.notes)])

    def as_latex(self) -> str:
        """LaTeX tabulars for the package booktabs, and the notes as text."""
        header = header_latex(self.title, self.left, self.right)
        notes = [latex(f"[{i}] {note}") for i, note in enumerate(self.notes, 1)]
        return "\n\n".join([header, params_latex(self.params), "Notes:", *notes])

    def _repr_html_(self) -> str:
        return self.as_html()

    __str__ = __repr__ = as_text


def significant(value: float, digits: int = 4) -> str:
    """Write a number with so many significant digits.

    Examples
    --------
    >>> significant(-0.69526668), significant(1234567.0), significant(-0.0)
    ('-0.6953', '1.235e+06', '0')
    """
    return f"{value:z.{digits}g}"


def aligned(value: float, digits: int = 4) -> str:
    """Write a number with so many significant digits, zeros at its end kept.

    Examples
    --------
    >>> aligned(0.33), aligned(-1.58), aligned(12345.0), aligned(-0.0)
    ('0.3300', '-1.580', '1.234e+04', '0.000')
    """
    return f"{value:z#.{digits}g}"


def statistic_name(df: float) -> str:
    """``z`` for the normal law, ``t`` for Student's of finite degrees of freedom."""
    return "t" if isfinite(df) else "z"


def estimate_cells(
    tidy: pd.DataFrame, df: float | None = None, alpha: float = 0.05
) -> pd.DataFrame:
    """Cells of a table of estimates, under the headings that statsmodels has.

    Parameters
    ----------
    tidy : DataFrame
        Columns ``term, estimate, std_error, statistic, p_value, conf_low, conf_high``.
    df : float, optional
        Degrees of freedom of the statistic; without it the estimates alone are shown.
    alpha : float
        The intervals are of level ``1 - alpha``.
    """
    terms = list(tidy["term"])
    coef = {"coef": [aligned(value, 5) for value in tidy["estimate"]]}
    if df is None:
        return pd.DataFrame(coef, index=terms)
    letter = statistic_name(df)
    low, high = (significant(share, 4) for share in (alpha / 2, 1 - alpha / 2))
    columns = {
        "std err": [aligned(value) for value in tidy["std_error"]],
        letter: [_fixed(value) for value in tidy["statistic"]],
        f"P>|{letter}|": [f"{value:.3f}" for value in tidy["p_value"]],
        f"[{low}": [aligned(value) for value in tidy["conf_low"]],
        f"{high}]": [aligned(value) for value in tidy["conf_high"]],
    }
    return pd.DataFrame(coef | columns, index=terms)


def _fixed(value: float) -> str:
    return significant(value) if abs(value) >= 1e5 else f"{value:z.3f}"
