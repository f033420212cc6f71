"""Predictions, labels and tables for new rows, in memory or block by block."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Predictors, Vector
from pegasos_stats.data import user_data
from pegasos_stats.data.design import ModelMatrix
from pegasos_stats.data.language.formula_design import Unseen
from pegasos_stats.data.sample import column_of_counts, repeated
from pegasos_stats.data.scan.files import joined
from pegasos_stats.data.scan.levels import Source, columns_of_outcome
from pegasos_stats.data.scan.rows import streamed
from pegasos_stats.data.scan.source import check_unset, digests_by_row
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.solvers.problem import Problem, Solution, with_cached
from pegasos_stats.solvers.streamed.risk_and_bound import Point, scores

if TYPE_CHECKING:
    from pegasos_stats.models.results import Results

MOST_SHARED = 0.05  # largest share of training rows in data that count as new
CHANCE_P_VALUE = 1e-6  # p-value below which chance does not explain the shared rows
COMPARED_ROWS = 100  # rows compared to recognise the training data of a streamed fit

Method = TypeVar("Method", bound=Callable[..., Any])


def by_block(*in_memory: str, whole: bool = False) -> Callable[[Method], Method]:
    """Let a method accept files and Dask frames as ``data``, one block at a time.

    For such data `pegasos_stats.other_frames` calls the attribute ``by_block`` of the
    method.

    Parameters
    ----------
    in_memory : str
        Arguments that need the rows in memory.
    whole : bool
        Whether the method needs all columns, and not only the columns of the model.

    Raises
    ------
    OptionError
        For such data, if an argument in `in_memory` is used or the offset is an array.
    """

    def decorate(method: Method) -> Method:
        def map_blocks(self: "Results", data: object, **options: object) -> object:
            source = cast(Source, streamed(data))
            check_unset(source.title, {name: options.get(name) for name in in_memory})
            columns = [*source.kinds] if whole else []
            if self.offsets is not None:
                columns += self.offsets.columns([*source.kinds], options.get("offset"))
            rule = getattr(without_training_rows(self), method.__name__)
            rule = partial(rule, **options)
            return source.predict(rule, self.design, self.coding, columns)

        method.by_block = map_blocks  # type: ignore[attr-defined]
        return method

    return decorate


def without_training_rows(result: "Results") -> "Results":
    """Return a linear fit without data of its rows, for sending to workers.

    A placeholder row replaces the rows. Kernel fits are returned unchanged.
    """
    problem, fitted = result.problem, result.solution
    if not isinstance(problem, Problem) or not isinstance(fitted, Solution):
        return result
    offset = None if problem.offset is None else np.zeros(1)
    X, y = np.zeros((1, problem.p)), np.ones(1)
    one_row = replace(problem, X=X, y=y, weights=None, offset=offset)
    one_row = with_cached(one_row, prior_shift=problem.prior_shift)
    solution, index = replace(fitted, dual=np.zeros(1)), pd.RangeIndex(1)
    return replace(
        result, problem=one_row, solution=solution, index=index, full_model=None
    )


class ScoredBlock(NamedTuple):
    """A block of rows with scores and labels, or all rows in memory.

    Attributes
    ----------
    scores : Series of float, shape (k,)
    labels : Series, shape (k,)
        Missing values if the outcome was not read. For rows in memory, the labels as
        the user passed them.
    columns : DataFrame or None
        Further columns, such as weights. For rows in memory, the data as the user
        passed them.
    counts : Series or int array, shape (k,), or None
        Frequency weights of rows in memory.
    """

    scores: "pd.Series[float]"
    labels: Any
    columns: Any = None
    counts: Any = None


def blocks_of_data(
    result: "Results",
    source: Source,
    unseen: Unseen,
    offset: object,
    columns: list[object],
    labelled: bool,
) -> Iterator[ScoredBlock]:
    """Score the rows of files or partitions in one pass.

    Rows of files are numbered consecutively over all files.

    Parameters
    ----------
    result : Results
    source : Scan or Partitions
    unseen, offset
        As for ``decision_function``.
    columns : list
        Names of further columns; objects that are not names of columns are ignored.
    labelled : bool
        Whether to read the outcome; labels are missing otherwise.
    """
    names = [name for name in columns if isinstance(name, str) and name in source.kinds]
    needed = list(names)
    if result.offsets is not None:
        needed += result.offsets.columns([*source.kinds], offset)
    if labelled and result.design.formula is not None:
        empty = pd.DataFrame({name: [] for name in source.kinds})
        formula = str(result.design.formula)
        needed += columns_of_outcome(formula, empty, source.noun)
    elif labelled:
        needed.append(result.coding.name)
    rule = without_training_rows(result)

    def score(frame: pd.DataFrame) -> ScoredBlock:
        f = rule.decision_function(frame, unseen=unseen, offset=offset)
        labels = rule._labels(frame) if labelled else pd.Series(None, frame.index)
        return ScoredBlock(f, labels, frame[names])

    first = 0
    for block in source.map_frames(score, result.design, result.coding, needed):
        if source.is_ordered:
            rows = pd.RangeIndex(first, first + len(block.scores))
            first = rows.stop
            yield ScoredBlock(*(part.set_axis(rows) for part in block[:3]))
        else:
            yield block


def training_blocks(result: "Results") -> Iterator[ScoredBlock]:
    """Score the training rows of a streamed fit in one pass.

    Rows of weight 0 are excluded.
    """
    problem, solution, first = result.problem, result.solution, 0
    assert isinstance(solution, Solution)
    at, weights = Point(solution.beta, solution.alpha), problem.row_weights
    work = lambda block, _: [scores(block.X, at, block.offset)]  # noqa: E731
    for part in problem.source.map_blocks(work):
        f = np.concatenate(part)
        rows, first = np.arange(first, first + f.size), first + f.size
        some = weights[rows] > 0.0
        index = pd.Index(rows[some])
        labels = result.coding.decode(problem.y[index], index)
        if len(index):
            yield ScoredBlock(pd.Series(f[some], index), labels)


def joined_rows(blocks: Iterator[ScoredBlock]) -> ScoredBlock:
    """Join all blocks, for labels or columns passed as arrays with a value per row."""
    parts = [*blocks]
    f = pd.concat([part.scores for part in parts])
    labels = joined([part.labels for part in parts]).set_axis(f.index)
    columns = [part.columns for part in parts if part.columns is not None]
    return ScoredBlock(f, labels, pd.concat(columns) if columns else None)


class RowsInMemory:
    """Rows in memory for a confusion table; parameters as for ``confusion``."""

    def __init__(
        self,
        result: "Results",
        data: object,
        actual: object,
        unseen: Unseen,
        offset: object,
        freq_weights: object,
    ) -> None:
        self._result, self._is_training = result, data is None
        self._matrix = result._matrix(data, unseen, offset)
        self._labels = result._labels(data) if actual is None else actual
        self._data = data
        self._counts = column_of_counts(freq_weights, result.counted, data)
        if data is None and freq_weights is None:
            self._counts = result.problem.counting

    def __iter__(self) -> Iterator[ScoredBlock]:
        f = self._result._scores(self._matrix)
        yield ScoredBlock(f, self._labels, self._data, self._counts)

    def with_source(self, table: ConfusionMatrix) -> ConfusionMatrix:
        """Mark the table if its rows are training rows, all or in part."""
        if self._is_training:
            return replace(table, source="training")
        rows = self._matrix, self._labels, self._counts
        return with_source(table, self._result, *rows)


class RowsByBlock:
    """Rows for a confusion table, read block by block.

    The rows count as the training rows of a streamed fit if a sample of the training
    rows has the same scores at the same positions, up to 1e-6 of the range of these
    scores. If the number of rows differs or the sampled scores are all equal, they
    count as training rows only if the files, or the Dask frame, are the same. Rows
    whose labels are passed as `actual` count as new.

    Parameters
    ----------
    result : Results
    data : object
        None for the training rows.
    source : Scan, Partitions or None
    actual, unseen, offset, freq_weights : optional
        As for ``confusion``.
    columns : list
        Names of further columns, or arrays with a value per row.

    Raises
    ------
    OptionError
        If frequency weights are used, or `offset` is passed for the training rows.
    """

    def __init__(
        self,
        result: "Results",
        data: object,
        source: Source | None,
        actual: object,
        unseen: Unseen,
        offset: object,
        freq_weights: object,
        columns: list[object],
    ) -> None:
        self._result, self._data, self._actual = result, data, actual
        self._n, self._distance = 0, 0.0
        if source is None:
            check_unset(result.problem.source.title, {"freq_weights": freq_weights})
            result._check_offset(data, offset)
            self._blocks = training_blocks(result)
        else:
            own = None if result.counted is None else result.counted.column
            if freq_weights is None and own in source.kinds:
                freq_weights = own
            check_unset(source.title, {"freq_weights": freq_weights})
            self._blocks = blocks_of_data(
                result, source, unseen, offset, columns, actual is None
            )
        if not all(isinstance(value, str | None) for value in (actual, *columns)):
            self._blocks = iter([joined_rows(self._blocks)])
        sample, solution = result.problem.source.sample(COMPARED_ROWS), result.solution
        self._positions, self._scores = np.zeros(0, dtype=np.int64), np.zeros(0)
        if sample is not None and isinstance(solution, Solution):
            at = Point(solution.beta, solution.alpha)
            self._positions = sample.numbers
            self._scores = scores(sample.X, at, sample.offset)

    def __iter__(self) -> Iterator[ScoredBlock]:
        for block in self._blocks:
            complete = block.scores.notna() & block.labels.notna()
            f = block.scores.to_numpy()[complete.to_numpy(dtype=bool)]
            rows = self._positions - self._n
            is_in_block = (rows >= 0) & (rows < f.size)
            distances = np.abs(f[rows[is_in_block]] - self._scores[is_in_block])
            self._distance = max(self._distance, float(distances.max(initial=0.0)))
            self._n += f.size
            yield block if self._actual is None else block._replace(labels=self._actual)

    def with_source(self, table: ConfusionMatrix) -> ConfusionMatrix:
        """Mark the table if its rows are the training rows."""
        training = self._data is None or (self._actual is None and self._matches())
        return replace(table, source="training") if training else table

    def _matches(self) -> bool:
        source = self._result.problem.source
        spread = float(np.ptp(self._scores)) if self._scores.size else 0.0
        if self._n != source.shape[0] or spread == 0.0:
            return source.is_of(self._data)
        return self._distance <= 1e-6 * spread


def rows_of_table(
    result: "Results",
    data: object,
    actual: object,
    unseen: Unseen,
    offset: object,
    freq_weights: object,
    columns: list[object],
) -> RowsInMemory | RowsByBlock:
    """Return the rows for a confusion table; the training rows if `data` is None."""
    source = streamed(data)
    options = actual, unseen, offset, freq_weights
    if source is None and not (data is None and result.problem.source.is_streamed):
        return RowsInMemory(result, data, *options)
    return RowsByBlock(result, data, source, *options, columns)


def labelled_rows(
    matrix: ModelMatrix, labels: object, counts: object = None
) -> tuple[Predictors, pd.Series, Vector | None]:
    """Predictors, labels and offsets of complete rows, repeated by their counts.

    The offsets are None if the matrix has none.
    """
    column = user_data.column_of_labels(labels)
    if counts is not None:
        positions = repeated(counts, column, matrix.index)
        column, matrix = column.iloc[positions], matrix.take_rows(positions)
    column = column[matrix.complete]
    is_labelled = column.notna().to_numpy(dtype=bool)
    offset = None if matrix.offset is None else matrix.offset[is_labelled]
    return user_data.selected(matrix.values, is_labelled), column[is_labelled], offset


def with_source(
    table: ConfusionMatrix,
    result: "Results",
    matrix: ModelMatrix,
    labels: object,
    counts: object = None,
) -> ConfusionMatrix:
    """Mark a confusion table whose rows are training rows, all or in part.

    A table in which at most 5% of the rows are training rows, or as many as chance
    explains, is not marked.

    Training rows are recognised by their digests, in any order. A loaded fit stores one
    digest of all rows, and a streamed fit stores a sample of rows; both recognise the
    training data only in the original order.

    Parameters
    ----------
    table : ConfusionMatrix
    result : Results
        The fit.
    matrix : ModelMatrix
        Model matrix of the rows of the table.
    labels : Series or array, shape (n,)
        One label for each row, also for incomplete rows.
    counts : Series or array, shape (n,), optional
        Frequency weights.
    """
    problem = result.problem
    values, column, offset = labelled_rows(matrix, labels, counts)
    offset = np.zeros(len(column)) if offset is None else offset
    if not problem.has_rows:
        same = problem.source.equals(values)
        same = same and np.array_equal(offset, problem.row_offsets)
        return replace(table, source="training") if same else table
    if type(values) is not type(problem.X) or not len(column):
        return table
    digests = digests_by_row(values, result.coding.encode(column), offset)
    training = result._row_digests
    is_training = np.isin(digests, training)
    n_shared = int(is_training.sum())
    if n_shared <= MOST_SHARED * len(digests):
        return table
    if len(digests) == len(training) and (np.sort(digests) == np.sort(training)).all():
        return replace(table, source="training")
    if result.counted is not None:  # count a row with a frequency weight once
        pairs = pd.DataFrame({"row": training, "label": result.index.factorize()[0]})
        training = pairs.drop_duplicates()["row"].to_numpy()
    if not _exceeds_chance(
        np.unique(digests[is_training]).size, np.unique(digests).size, training
    ):
        return table
    if n_shared == len(digests):
        return replace(table, source="training")
    return replace(table, source="partly training", n_seen=n_shared)


def _exceeds_chance(n_shared: int, n: int, digests: NDArray[np.uint64]) -> bool:
    """Test whether the number of matches with training rows exceeds chance.

    The probability that a new row equals a training row by chance is estimated as
    ``(d + 3) / m`` for m training rows, of which d are equal to another one. Without
    duplicates this is ``3 / m`` (the rule of three).

    Parameters
    ----------
    n_shared, n : int
        Number of distinct new rows that are training rows, and of all distinct new
        rows.
    digests : uint64 array, shape (m,)
        Digests of the training rows.

    References
    ----------
    Good, The population frequencies of species, Biometrika 40 (1953), equation (9);
    Hanley & Lippman-Hand, JAMA 249 (1983).
    """
    from scipy.stats import binom

    n_unique = int((~pd.Series(digests).duplicated(keep=False)).sum())
    probability = min((len(digests) - n_unique + 3) / len(digests), 1.0)
    return bool(binom.sf(n_shared - 1, n, probability) < CHANCE_P_VALUE)
