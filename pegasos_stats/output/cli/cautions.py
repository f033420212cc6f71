"""Cautions of the command line: fits and columns that are seldom what was meant."""

from typing import Any

import pandas as pd

from pegasos_stats.errors import counted, listing
from pegasos_stats.models.notes import Setting
from pegasos_stats.models.results import Results
from pegasos_stats.output.cli.facts import factors

FEW = 10  # different numbers that a factor may well have as its levels


def cautions(result: Results, frame: pd.DataFrame | None) -> list[str]:
    """What to look at before a fit is believed, one after the other.

    Parameters
    ----------
    result : Results
    frame : DataFrame or None
        The training data, of a CSV file.
    """
    notes = [note for note in result.notes if note.severity == "warning"]
    found = [note.written(as_option) for note in notes]
    for name, n_levels in factors(result).items():
        column = None if frame is None else frame.get(name)
        text = [] if column is None else _numbers_as_text(name, column)
        found += text or _names_of_rows(name, n_levels, result.nobs)
    return found


def as_option(setting: Setting) -> str:
    """Spell a setting as the command line takes it.

    Examples
    --------
    >>> as_option(Setting("refit_intercept", True))
    '--refit-intercept'
    >>> as_option(Setting("solver", "SDCA"))
    '--solver sdca'
    >>> as_option(Setting("lam", change="a larger"))
    'a larger --lambda'
    """
    name = "lambda" if setting.name == "lam" else setting.name.replace("_", "-")
    if setting.change:
        return f"{setting.change} --{name}"
    return f"--{name}" if setting.value is True else f"--{name} {setting.value}".lower()


def _names_of_rows(name: str, n_levels: int, n_rows: int) -> list[str]:
    """A factor with a level for nearly every row."""
    if n_levels <= max(FEW, n_rows / 2):
        return []
    return [
        f"{name} has {counted(n_levels, 'level')} in {counted(n_rows, 'row')}: if it "
        "only names the rows, leave it out by --formula"
    ]


def _numbers_as_text(name: str, column: Any) -> list[str]:
    """A column of numbers that a few words, or commas, made a factor."""
    if pd.api.types.is_numeric_dtype(column):
        return []
    texts = column.dropna().astype(str)
    meant = pd.to_numeric(texts.str.replace(",", ""), errors="coerce")
    if meant.notna().mean() <= 0.5 or meant.nunique() <= FEW:
        return []
    words = texts[pd.to_numeric(texts, errors="coerce").isna()].unique()
    return [
        f"{name} is mostly numbers, and a factor for {listing(words, 3)}: write "
        "numbers as 1234.5, and leave the cells of missing ones empty"
    ]
