"""Scores and labels of rows in files, for what judges a fit by them."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.data.factor_levels import Unseen
from pegasos_stats.data.row_names import in_a_piece
from pegasos_stats.data.scan.agreeing import columns_of_outcome
from pegasos_stats.data.scan.elsewhere import Elsewhere
from pegasos_stats.data.scan.files import Scan
from pegasos_stats.data.scan.frames import scanned_frames
from pegasos_stats.data.scan.joining import joined
from pegasos_stats.data.scan.partitions import Partitions
from pegasos_stats.models.partition_wise import light
from pegasos_stats.other_frames import is_dask
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.reads.rows import Block, Values, added
from pegasos_stats.solvers.reads.seeing import Point, scores

if TYPE_CHECKING:
    from pegasos_stats.models.results import Results


SOME, SAME = 100, 1e-6  # rows that are compared; of the range of their scores


class ReadRows(NamedTuple):
    """Rows of files, read once.

    Attributes
    ----------
    scores : Series, shape (n,)
    labels : Series, shape (n,)
    beside : DataFrame, shape (n, m), or None
        Further columns that were asked for; None for the rows of the fit.
    seen : bool
        Whether the rows are those of the fit.
    """

    scores: "pd.Series[float]"
    labels: pd.Series
    beside: pd.DataFrame | None
    seen: bool


def are_in_files(problem: object, data: object) -> bool:
    """Whether rows are in files: these data, or those of the fit for None."""
    if data is None:
        return isinstance(getattr(problem, "X", None), Elsewhere)
    return isinstance(data, Scan) or is_dask(data)


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
    data : Scan, frame of Dask, or None
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
    if data is None:
        assert isinstance(of_fit, Problem)
        assert isinstance(solution, Solution)
        found = scores_of_fit(of_fit, solution)
        f = pd.Series(found, result.index, name="score")
        return ReadRows(f, result._rows.labels(), None, seen=True)
    source = data if isinstance(data, Scan) else Partitions(data)
    if isinstance(source, Scan):
        source.renewed()
    names = [name for name in columns if isinstance(name, str) and name in source.kinds]
    outcome: list[str] = []
    if labelled and result.design.formula is not None:
        nothing = pd.DataFrame({name: [] for name in source.kinds})
        formula = str(result.design.formula)
        outcome = columns_of_outcome(formula, nothing, source.noun)
    elif labelled:
        outcome = [result.coding.name]
    offsets = result.offsets
    also = [] if offsets is None else offsets.columns([*source.kinds], offset)
    asked = Asked(unseen, offset, names, labelled)
    if isinstance(source, Scan):
        frames = scanned_frames(source, result.design, [*outcome, *names, *also])
        parts = [asked.of(result, frame) for frame in frames]
    else:
        parts = source.mapped(asked.of, light(result))
    of_files = isinstance(source, Scan)  # whose rows are numbered over all of them
    f = pd.concat([part[0] for part in parts], ignore_index=of_files)
    beside = pd.concat([part[2] for part in parts]).set_axis(f.index)
    labels = joined([part[1] for part in parts]).set_axis(f.index)
    same = labelled and isinstance(of_fit, Problem) and isinstance(solution, Solution)
    return ReadRows(f, labels, beside, same and are_of_fit(result, data, f, labels))


def are_of_fit(
    result: "Results", data: object, f: "pd.Series[float]", labels: pd.Series
) -> bool:
    """Whether scores are those of the rows of a fit from files, in their order.

    Its files may hold other rows by now, and other files its rows. What scores that
    are all the same do not tell, and what a weight may have left out, the paths do.
    """
    X, found = result.problem.X, result.solution
    assert isinstance(found, Solution)
    if not isinstance(X, Elsewhere):
        return False
    complete = (f.notna() & labels.notna()).to_numpy(dtype=bool)
    some = X.home.sample(SOME)
    expected = scores(some.X, Point(found.beta, found.alpha), some.offset)
    spread = float(np.ptp(expected))
    if complete.sum() != X.home.n or spread == 0.0:
        return X.measured.scan.holds(data)
    apart = np.abs(f.to_numpy()[complete][some.numbers] - expected)
    return bool(apart.max() <= SAME * spread)


class Asked(NamedTuple):
    """What is asked of rows, see `read_rows`."""

    unseen: Unseen
    offset: object
    names: list[str]
    labelled: bool

    def of(
        self, result: "Results", frame: pd.DataFrame
    ) -> tuple["pd.Series[float]", pd.Series, pd.DataFrame]:
        """Scores, labels or missing values, and other columns."""
        with in_a_piece():
            return (
                result.decision_function(frame, unseen=self.unseen, offset=self.offset),
                result._rows.labels(frame)
                if self.labelled
                else pd.Series(None, frame.index),
                frame[self.names],
            )


def scores_of_fit(problem: Problem, solution: Solution) -> Vector:
    """Read the rows of a fit from files, and return their scores, shape (n,)."""
    work = partial(_scores, Point(solution.beta, solution.alpha))
    return np.concatenate(added(problem.X.home.read(work)))


def _scores(at: Point, block: Block, values: Values) -> list[Vector]:
    return [scores(block.X, at, block.offset)]
