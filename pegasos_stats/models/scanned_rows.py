"""Scores and labels of rows in files, for what judges a fit by them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.data.levels import Unseen
from pegasos_stats.data.scan.agreeing import (
    columns_of_outcome,
    joined,
    scanned_frames,
)
from pegasos_stats.data.scan.elsewhere import Elsewhere
from pegasos_stats.data.scan.files import Scan
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.reads.files import InFiles
from pegasos_stats.solvers.reads.rows import Block
from pegasos_stats.solvers.reads.seeing import Point, scores

if TYPE_CHECKING:
    from pegasos_stats.models.results import Results


class ReadRows(NamedTuple):
    """Rows of files, read once.

    Attributes
    ----------
    scores : Series, shape (n,)
    labels : Series, shape (n,)
    beside : DataFrame, shape (n, m), or None
        Further columns that were asked for; None for the rows of the fit.
    seen : bool
        Whether the files are those of the fit.
    """

    scores: "pd.Series[float]"
    labels: pd.Series
    beside: pd.DataFrame | None
    seen: bool


def are_in_files(problem: object, data: object) -> bool:
    """Whether rows are in files: these data, or those of the fit for None."""
    if data is None:
        return isinstance(getattr(problem, "X", None), Elsewhere)
    return isinstance(data, Scan)


def read_rows(
    result: "Results",
    data: object,
    unseen: Unseen,
    offset: object,
    columns: Sequence[object] = (),
    labelled: bool = True,
) -> ReadRows:
    """Read rows once, block by block.

    Parameters
    ----------
    result : Results
    data : Scan or None
        None for the rows of a fit from files.
    unseen, offset
        As for `decision_function`.
    columns : sequence
        Names of further columns; what is no name is passed over.
    labelled : bool
        Whether labels are read too; else they are missing.

    Raises
    ------
    ColumnError
        If a file lacks a column.
    """
    of_fit, solution = result.problem, result.solution
    if not isinstance(data, Scan):
        assert isinstance(of_fit, Problem)
        assert isinstance(solution, Solution)
        found = scores_of_fit(of_fit, solution)
        f = pd.Series(found, result.index, name="score")
        return ReadRows(f, result._rows.labels(), None, seen=True)
    names = [name for name in columns if isinstance(name, str) and name in data.kinds]
    outcome: list[str] = []
    if labelled and result.design.formula is not None:
        nothing = pd.DataFrame({name: [] for name in data.kinds})
        outcome = columns_of_outcome(str(result.design.formula), nothing)
    elif labelled:
        outcome = [result.coding.name]
    offsets = result.offsets
    also = [] if offsets is None else offsets.columns([*data.kinds], offset)
    parts = [
        (
            result.decision_function(frame, unseen=unseen, offset=offset),
            result._rows.labels(frame) if labelled else pd.Series(None, frame.index),
            frame[names],
        )
        for frame in scanned_frames(data, result.design, [*outcome, *names, *also])
    ]
    f = pd.concat([part[0] for part in parts])
    beside = pd.concat([part[2] for part in parts])
    labels = joined([part[1] for part in parts]).set_axis(f.index)
    X = of_fit.X if isinstance(of_fit, Problem) else None
    same = isinstance(X, Elsewhere) and X.measured.scan.files == data.files
    return ReadRows(f, labels, beside, same and labelled)


def scores_of_fit(problem: Problem, solution: Solution) -> Vector:
    """Read the rows of a fit from files, and return their scores, shape (n,)."""
    found, at = np.empty(problem.n), Point(solution.beta, solution.alpha)

    def put(block: Block) -> None:
        found[block.first : block.first + block.y.size] = scores(
            *(block.X, at, block.offset)
        )

    for _ in InFiles(problem.X.measured).read(put):
        pass
    return found
