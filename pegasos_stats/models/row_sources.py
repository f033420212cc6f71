"""Rows that a fit has seen: all of its own, in any order, or some among new ones."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Predictors
from pegasos_stats.data.design import ModelMatrix
from pegasos_stats.data.digests import digest_of, digests_by_row, rows_digest
from pegasos_stats.data.scan.rows import StreamedRows
from pegasos_stats.data.user_data import column_of_labels, selected
from pegasos_stats.data.weights import repeated
from pegasos_stats.metrics.confusion import ConfusionMatrix, Source
from pegasos_stats.solvers.problem import Problem

if TYPE_CHECKING:
    from pegasos_stats.models.results import Results

FEW = 0.05  # of the rows: their errors are off by a twentieth of themselves at most
CHANCE = 1e-6  # that so many new rows are equal to rows of the fit
SOME = 100  # rows that tell which column has the most values, or all in their order


class RowSource(NamedTuple):
    """Where rows are from, and how many the fit has seen, if it has seen a part."""

    source: Source
    number: int = 0

    def marked(self, table: ConfusionMatrix) -> ConfusionMatrix:
        """A table of these rows that says so."""
        if self.source == "new":
            return table
        return replace(table, source=self.source, n_seen=self.number)


NEW = RowSource("new")


def row_source(
    result: "Results", matrix: ModelMatrix, labels: object, counts: object = None
) -> RowSource:
    """Whether complete, labelled rows of a matrix are those of a fit, or some are.

    Rows of the fit are known in its order, and by their digests in any other. A fit
    that was loaded has a digest of them all, one from files a sample, and both know no
    other order.

    Parameters
    ----------
    result : Results
        The fit.
    matrix : ModelMatrix
    labels : Series or array, shape (n,)
        One for each row, also for incomplete ones.
    counts : Series or array, shape (n,), optional
        How many rows each stands for.
    """
    column = column_of_labels(labels)
    if counts is not None:
        taken = repeated(counts, column, matrix.index)
        column, matrix = column.iloc[taken], matrix.taken(taken)
    column, problem = column[matrix.kept], result.problem
    X, values, offset = problem.X, matrix.values, matrix.offset
    labelled = column.notna().to_numpy(dtype=bool)
    if _in_order(problem, values, offset):
        return RowSource("training")
    if not labelled.all():
        values, column = selected(values, labelled), column[labelled]
        offset = None if offset is None else offset[labelled]
        if _in_order(problem, values, offset):
            return RowSource("training")
    if type(values) is not type(X) or not len(column):
        return NEW
    beside, own = [result.coding.encode(column)], [problem.y]
    if offset is not None:
        beside, own = [*beside, offset], [*own, problem.row_offsets]
    if isinstance(X, np.ndarray) and _differ(values, X):
        return NEW
    kept = vars(result)  # the digests of its rows, which stay the same
    if "_digests" not in kept:
        kept["_digests"] = digests_by_row(X, *own)
    found, known = digests_by_row(values, *beside), kept["_digests"]
    is_seen = pd.Series(found).isin(known).to_numpy()
    number = int(is_seen.sum())
    if number <= FEW * len(found):
        return NEW
    if len(found) == len(known) and (np.sort(found) == np.sort(known)).all():
        return RowSource("training")
    if result.counted is not None:  # copies of a row that counts for several are one
        pairs = pd.DataFrame({"row": known, "label": result.index.factorize()[0]})
        known = pairs.drop_duplicates()["row"].to_numpy()
    kinds, kinds_seen = pd.unique(found).size, pd.unique(found[is_seen]).size
    if not _is_no_chance(kinds_seen, kinds, known):
        return NEW
    everything = number == len(found)
    return RowSource("training") if everything else RowSource("partly training", number)


def _in_order(
    problem: Problem, values: Predictors, offset: NDArray[np.float64] | None
) -> bool:
    """Whether these are the rows of the fit, all of them in their order."""
    X = problem.X
    if values.shape != X.shape:
        return False
    if offset is not None and not np.array_equal(offset, problem.row_offsets):
        return False
    if isinstance(X, StreamedRows):  # a sample of them is in memory
        some = problem.X.sample(SOME)
        if not isinstance(values, np.ndarray):
            return False
        return np.array_equal(values[some.numbers].astype(some.X.dtype), some.X)
    if not (isinstance(X, np.ndarray) or hasattr(type(X), "tocsr")):  # loaded
        return rows_digest(X) == digest_of(values)
    if type(values) is not type(X):
        return False
    if isinstance(X, np.ndarray):
        return np.array_equal(values, X)
    return bool((values != X).nnz == 0)


def _differ(values: NDArray[np.floating], X: NDArray[np.floating]) -> bool:
    """Whether one column, that of the most values, tells that rows are new."""
    if not X.shape[1]:
        return False
    most = np.argmax([np.unique(column).size for column in values[:SOME].T])
    return bool(pd.Series(values[:, most]).isin(X[:, most]).mean() <= FEW)


def _is_no_chance(number: int, n: int, known: NDArray[np.uint64]) -> bool:
    """Whether so many of `n` different new rows are hardly equal to rows of the fit.

    New ones are as often as a row of the fit is equal to another of them, as far as
    these tell. Where none is, it may be in 3 of all rows (the rule of three).

    References
    ----------
    Good, The population frequencies of species, Biometrika 40 (1953), equation (9);
    Hanley & Lippman-Hand, JAMA 249 (1983).
    """
    from scipy.stats import binom

    alone = int((~pd.Series(known).duplicated(keep=False)).sum())
    equal = (len(known) - alone + 3) / len(known)
    return bool(binom.sf(number - 1, n, min(equal, 1.0)) < CHANCE)
