"""Cautions of the command line: fits and columns that are seldom what was meant."""

from typing import Any

import pandas as pd

from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.errors import counted, listing
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.output.cli.facts import factors, is_kernel
from pegasos_stats.solvers.objective import zero_objective
from pegasos_stats.solvers.sdca import SDCA

FEW = 10  # different numbers that a factor may well have as its levels


def cautions(
    result: Any, frame: pd.DataFrame | None, table: ConfusionMatrix
) -> list[str]:
    """What to look at before a fit is believed, a sentence each.

    Parameters
    ----------
    result : Results
    frame : DataFrame or None
        The training data, of a CSV file.
    table : ConfusionMatrix
        Of the training data.
    """
    found = [*_above_zero(result), *_one_answer(result, table)]
    for name, n_levels in factors(result).items():
        column = None if frame is None else frame.get(name)
        text = [] if column is None else _numbers_as_text(name, column)
        found += text or _names_of_rows(name, n_levels, result.nobs)
    return found


def _above_zero(result: Any) -> list[str]:
    """A fit that is worse than no fit."""
    zero = zero_objective(result.problem)
    if not result.objective > zero:
        return []
    refit = result.problem.intercept and not result.solver.refit_intercept
    cures = [*_cures(result), *(["--refit-intercept"] if refit else [])]
    return [
        f"the objective is above {zero:.4g}, that of a model that is all zero: try "
        f"{', '.join([*cures, 'more --epochs'])} or a larger --lambda"
    ]


def _one_answer(result: Any, table: ConfusionMatrix) -> list[str]:
    """A fit that answers every row alike."""
    answers = table.counts.sum(axis=0)
    if (answers > 0).sum() != 1 or answers[-1]:
        return []
    level = table.levels[int(answers.argmax())]
    weighted = result.problem.weights is not None
    cures = [*_cures(result), *([] if weighted else ["--weights balanced"])]
    return [
        f"every training row is predicted {level}: try "
        f"{' or '.join([*cures, 'a smaller --lambda'])}"
    ]


def _cures(result: Any) -> list[str]:
    """Options that were not taken, and often help."""
    scaled = isinstance(result.design, ScaledDesign)
    optimal = isinstance(result.solver, SDCA) or result.refinement is not None
    return [
        *([] if scaled else ["--standardize"]),
        *([] if optimal or is_kernel(result) else ["--solver sdca"]),
    ]


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
