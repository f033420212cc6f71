"""What a formula means for all rows of a scan: levels of factors and of the outcome."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.columns import in_a_piece
from pegasos_stats.data.design import check_columns
from pegasos_stats.data.labels import Coding, LabelCoding, as_in_formula
from pegasos_stats.data.language.design import (
    MOST_LEVELS,
    NO_PREDICTOR,
    FormulaDesign,
    FormulaRows,
)
from pegasos_stats.data.language.expressions import (
    Call,
    Expression,
    literal,
    read_expression,
    refused,
)
from pegasos_stats.data.language.formula import (
    Term,
    factored,
    factors_of,
    has_value,
    is_written,
    no_value_in,
    offset_terms,
    outcome_of,
    read_outcome,
    read_terms,
    split_formula,
    variables_of,
    warn_empty,
)
from pegasos_stats.data.language.values import unwrapped_value
from pegasos_stats.data.sample import no_rows
from pegasos_stats.data.scan.files import Scan
from pegasos_stats.data.scan.formats import ALLOWED, BOOLEANS, NUMBERS, OBJECTS, TEXT
from pegasos_stats.data.scan.frames import frame_of, joined, joined_frames
from pegasos_stats.data.scan.partitions import Partition, Partitions, compute_tasks
from pegasos_stats.data.weights import (
    COUNTS_ALLOWED,
    Offset,
    all_missing,
    all_zero,
    column_named,
    whole_counts,
)
from pegasos_stats.errors import ColumnError, listing

if TYPE_CHECKING:
    import pyarrow as pa


NEIGHBOURS = ("lag",)  # functions without state that look at other rows
CURES = {
    "bs": "give bs() its knots, lower_bound and upper_bound, or ",
    "cut": "give cut() its breaks as a list, or ",
    "poly": "give poly() raw=True, or ",
    **dict.fromkeys(
        ("center", "scale", "standardize"), "give standardize=True for scales, or "
    ),
}


def check_by_row(expression: Expression, formula: str, noun: str) -> None:
    """Raise `FormulaError` for functions that look at more than one row.

    Parameters
    ----------
    expression : Expression
    formula : str
    noun : str
        Where the rows are.
    """
    for call in expression.calls:
        if call.name in NEIGHBOURS or learns(call):
            raise refused(
                formula,
                f"calls {call.name}(), which looks at other rows, and {noun} are read "
                f"block by block; {CURES.get(call.name, '')}compute the column in the "
                f"{noun}.",
            )


def learns(call: Call) -> bool:
    """Whether a call keeps what it finds in the rows.

    Breaks, or knots between bounds, that are stated are all that it keeps, and raw
    powers need nothing.

    Examples
    --------
    >>> from pegasos_stats.data.language.expressions import read_expression
    >>> calls = "cut(x, 3)", "cut(x, c(0, 1))", "poly(x, 2)", "poly(x, 2, raw=True)"
    >>> found = [read_expression(text, ["x"], "y ~ x").calls for text in calls]
    >>> [learns(call) for calls in found for call in calls]
    [True, False, True, False]
    """
    given = {name: literal(node) for name, node in call.given.items()}
    stated = {
        "bs": all(given.get(k) is not None for k in ("lower_bound", "upper_bound"))
        and isinstance(given.get("knots"), list),
        "cut": isinstance(given.get("breaks"), list),
        "poly": given.get("raw") is True,
    }
    return bool(call.function.state) and not stated.get(call.name, False)


class ExpandedRows:
    """All rows of a scan, as often as each counts.

    Parameters
    ----------
    scan : Scan, Partitions, or one Partition
    column : str or None
        With the counts; None if each row counts once.

    Attributes
    ----------
    lines : int
        Rows of the scan, as the last read counted them.

    Raises
    ------
    ColumnError
        If there is no such column of numbers in all of the scan.
    """

    def __init__(self, scan: Scan | Partition | Partitions, column: str | None) -> None:
        self.scan, self.column, self.lines = scan, column, 0
        if column is None or isinstance(scan, Partition):
            return
        if column not in scan.kinds:
            column_named("freq_weights", column, None, COUNTS_ALLOWED)
        scan.check([column])
        if scan.kinds[column] not in (NUMBERS, BOOLEANS, OBJECTS):
            raise ColumnError(
                f"Column {listing([column])} of freq_weights holds "
                f"{scan.kinds[column]}; give a column of whole numbers."
            )

    def of(self, partition: Partition) -> "ExpandedRows":
        """The rows of a partition, counted by the same column."""
        return ExpandedRows(partition, self.column)

    def lean(self) -> "ExpandedRows":
        """No rows, counted by the same column: what is sent to partitions."""
        return self.of(Partition(pd.DataFrame(), self.scan.memory))

    def columns(self, names: Sequence[str]) -> list[str]:
        """These columns, and that of the counts."""
        counts = [] if self.column is None else [self.column]
        return [*dict.fromkeys([*names, *counts])]

    def pieces(
        self, columns: Sequence[str], rows: int | None = None
    ) -> Iterator["pa.RecordBatch"]:
        """Read all rows once, as `labelled` does."""
        return (piece for _, piece in self.labelled(columns, rows))

    def labelled(
        self, columns: Sequence[str], rows: int | None = None
    ) -> Iterator[tuple[pd.Index, "pa.RecordBatch"]]:
        """Read all rows once, so many at a time, the same each time, with their labels.

        Raises
        ------
        DataError
            If a file cannot be read to its end, or a count is no whole number.
        """
        import pyarrow as pa

        assert not isinstance(self.scan, Partitions)  # each of them has its own
        names, step = list(columns), rows or self.scan.rows_at_once(columns)
        lines = total = 0
        for index, piece in self.scan.labelled(self.columns(names), step):
            lines += piece.num_rows
            if self.column is None:
                yield index, piece
                continue
            counts = piece.column(self.column).to_pandas().set_axis(index)
            each = whole_counts(counts, None, index)
            each[np.isnan(each)] = 1.0  # a row that is then left out
            ends = np.cumsum(each.astype(np.int64))
            there = int(ends[-1]) if ends.size else 0
            for first in range(0, there, step):
                numbers = np.arange(first, min(there, first + step))
                places = np.searchsorted(ends, numbers, side="right")
                yield index.take(places), piece.select(names).take(pa.array(places))
            total += there
        alone = not isinstance(self.scan, Partition)
        if self.column is not None and total == 0 and alone:
            raise all_zero(lines)
        self.lines = lines


Source = Scan | Partitions
BEGIN = 1000  # rows of the first piece that show what terms look like
MOST_LABELS = 1000  # different ones, after which the outcome has too many levels


@dataclass(frozen=True, eq=False)
class ResolvedFormula:
    """What holds for all rows.

    Attributes
    ----------
    design : FormulaDesign
    coding : LabelCoding
    intercept : bool
        Whether the formula keeps it.
    outcome : tuple of str
        Columns that the outcome uses.
    plain : bool
        Whether the columns are the matrix as they are.
    rows : ExpandedRows
        Where the rows are read, each as often as it counts.
    offsets : Offset or None
        Where the offset is from, if there is one.
    known : tuple of str
        Columns that the offset uses.
    n_reads : int
        Times that all rows had to be looked at, for levels, and for types of CSV.
    """

    design: FormulaDesign
    coding: LabelCoding
    intercept: bool
    outcome: tuple[str, ...]
    plain: bool
    rows: ExpandedRows
    offsets: Offset | None
    known: tuple[str, ...]
    n_reads: int


def resolve_formula(
    scan: Source,
    formula: str,
    intercept: bool,
    coding: Coding,
    freq_weights: str | None = None,
    offset: str | None = None,
    without: Collection[str] = (),
) -> ResolvedFormula:
    """Read a formula, and as many rows as it takes to know all levels.

    The columns in `without` are not among those that ``.`` stands for.

    Raises
    ------
    FormulaError
        If it cannot be read, or a term cannot be computed block by block.
    ColumnError
        If a column is not in all files, or of a type that is no number nor text.
    LabelError
        If the outcome does not have two levels.
    DataError
        If no row is complete.
    """
    kinds = {name: kind for name, kind in scan.kinds.items() if name not in without}
    telling = LevelCollector(formula, intercept, kinds, offset, freq_weights, scan.noun)
    terms, variables, outcome = telling.terms, telling.variables, telling.outcome
    used = [*dict.fromkeys([*outcome, *variables, *telling.known])]
    _check(scan, used)
    repeating = ExpandedRows(scan, freq_weights)
    used = repeating.columns(used)
    labels: list[DataColumn] = []
    rows: list[pd.DataFrame] = []
    total, to_the_end = 0, True
    for size, frame in _looked_at(repeating, used, telling):
        total += size
        complete, column, places = telling.places(frame, not rows)
        if len(complete) == 0:
            continue
        rows.append(frame.iloc[places])  # with all categories, in their order
        labels.append(column.iloc[complete.index].drop_duplicates())
        many = len(labels) > MOST_LABELS or len(labels[-1]) > MOST_LABELS
        if many or (not telling.watched and joined(labels).nunique() > 1):
            to_the_end = False
            break
    empty = [name for name in telling.variables if name not in telling.held]
    dotted = not without and not any(is_written(name, formula) for name in empty)
    if not rows:
        if total == 0 and freq_weights is not None:
            raise all_zero(repeating.lines)
        every = telling.lacking.items()
        if none := [name for name, count in every if count == total > 0]:
            raise all_missing(none[0], total)
        if not empty or not total:
            raise no_rows(total)
        if not dotted:
            raise no_value_in(empty)
    if empty and dotted and (not rows or len(empty) < len(telling.variables)):
        warn_empty(empty)
        return resolve_formula(
            scan, formula, intercept, coding, freq_weights, offset, empty
        )
    levels = LabelCoding.from_labels(joined(labels), coding, str(labels[0].name))
    if levels.rule == "factor":
        levels = as_in_formula(levels, formula)
    pattern = joined_frames(rows, variables)
    everything = np.ones(len(pattern), dtype=bool)
    with in_a_piece():
        design, _ = FormulaDesign.from_terms(
            formula, terms, pattern, everything, every_row=False
        )
    return ResolvedFormula(
        design=design,
        coding=levels,
        intercept=any(str(term) == "1" for term in terms),
        outcome=tuple(outcome),
        plain=set(design.names) == {*design.numeric} == {*design.variables},
        rows=repeating,
        offsets=telling.offsets,
        known=tuple(telling.known),
        n_reads=int(to_the_end) + scan.n_reads,
    )


def _looked_at(
    rows: ExpandedRows, used: list[str], telling: "LevelCollector"
) -> Iterator[tuple[int, pd.DataFrame]]:
    """Numbers of rows, and the rows or, of partitions, those of them that tell."""
    if isinstance(rows.scan, Partitions):
        given = telling.given, rows.lean(), used
        tasks = rows.scan.tasks(_collect_levels, given, rows.columns(used))
        for some in (tasks[:1], tasks[1:]):  # the first may be enough
            for told in compute_tasks(some):
                rows.lines += told.lines
                telling.add(told.lacking, told.held)
                yield told.total, told.frame
        return
    for index, piece in rows.labelled(used):
        yield piece.num_rows, frame_of(piece).set_axis(index)


class CollectedLevels(NamedTuple):
    """What a partition tells of a formula.

    Attributes
    ----------
    lines, total : int
        Its rows, and how many they stand for.
    frame : DataFrame
        Those of them that tell.
    lacking, held
        As of `LevelCollector`.
    """

    lines: int
    total: int
    frame: pd.DataFrame
    lacking: dict[str, int]
    held: set[str]


def _collect_levels(
    sent: tuple[tuple[Any, ...], ExpandedRows, list[str]], frame: pd.DataFrame
) -> CollectedLevels:
    few, (_, rows, columns) = LevelCollector(*sent[0]), sent
    there, sizes = rows.of(Partition(frame, rows.scan.memory)), list[int]()

    def pieces() -> "Iterator[tuple[pd.Index, pa.RecordBatch]]":
        for index, piece in there.labelled(columns):
            sizes.append(piece.num_rows)
            yield index, piece

    found = few.of(pieces(), frame[columns].head(0))
    return CollectedLevels(there.lines, sum(sizes), found, few.lacking, few.held)


class LevelCollector:
    """Finds rows that tell what a formula means: new levels, labels, the first rows.

    Attributes
    ----------
    given : tuple
        Of which another one can be made that has seen no rows.
    terms : tuple of Term
    variables, outcome : list of str
        Columns that the terms use, and the outcome.
    offsets : Offset or None
    known : list of str
        Columns that it uses.
    lacking : dict
        How many values each part of the offset lacks in the rows seen.
    held : set of str
        Columns of the terms that have a value in some of them.

    Raises
    ------
    FormulaError
        If the formula cannot be read, or computed block by block.
    """

    def __init__(
        self,
        formula: str,
        intercept: bool,
        kinds: Mapping[str, str],
        offset: str | None,
        freq_weights: str | None,
        noun: str,
    ) -> None:
        self.given = formula, intercept, dict(kinds), offset, freq_weights, noun
        self._formula, self._counts = formula, freq_weights
        nothing = pd.DataFrame({name: [] for name in kinds})
        offsets = Offset.asked(offset, offset_terms(formula, nothing))
        self.offsets, self.lacking = offsets, dict[str, int]()
        self.held = set[str]()
        self.known = [] if offsets is None else offsets.columns(list(kinds))
        for term in () if offsets is None else offsets.terms:
            check_by_row(read_expression(term, kinds, formula), formula, noun)
        self.terms = read_terms(formula, nothing, intercept)
        if all(str(term) == "1" for term in self.terms):
            raise refused(formula, NO_PREDICTOR)
        self.variables = list(variables_of(self.terms, formula, nothing))
        self.outcome = columns_of_outcome(formula, nothing, noun)
        self._factors = Factors(self.terms, formula, nothing, kinds, noun)

    @property
    def watched(self) -> bool:
        """Whether there is a factor: its levels are known after all rows."""
        return self._factors.watched

    def places(
        self, frame: pd.DataFrame, first: bool
    ) -> tuple[pd.DataFrame, DataColumn, pd.Index]:
        """Complete rows, the outcome, and places of rows that tell new levels.

        Of the first rows the beginning too.
        """
        column = outcome_of(self._formula, frame)
        usable = column.notna().to_numpy(dtype=bool)
        if self._counts is not None:
            usable = usable & frame[self._counts].notna().to_numpy(dtype=bool)
        parts = {} if self.offsets is None else self.offsets.by_part(frame)
        lacking = {name: np.isnan(values) for name, values in parts.items()}
        for missing in lacking.values():
            usable = usable & ~missing
        new = set(self.variables) - self.held
        held = {name for name in new if has_value(frame[name])}
        self.add({name: int(each.sum()) for name, each in lacking.items()}, held)
        with in_a_piece():
            rows = FormulaRows.of(
                self._formula, self.terms, frame, usable, {}, state={}
            )
        complete = rows.used
        if len(complete) == 0:
            return complete, column, complete.index
        begin = complete.index[: BEGIN if first else 0]
        return complete, column, self._factors.new_rows(rows).union(begin)

    def add(self, lacking: Mapping[str, int], held: set[str]) -> None:
        """Add what was seen of others."""
        for name, count in lacking.items():
            self.lacking[name] = self.lacking.get(name, 0) + count
        self.held |= held

    def of(
        self,
        pieces: Iterable[tuple[pd.Index, "pa.RecordBatch"]],
        empty: pd.DataFrame,
    ) -> pd.DataFrame:
        """All rows that tell, of pieces that follow each other, labels included."""
        found = [empty]
        for index, piece in pieces:
            frame = frame_of(piece).set_axis(index)
            complete, column, places = self.places(frame, len(found) == 1)
            if len(complete):
                again = column.iloc[complete.index].duplicated().to_numpy()
                also = complete.index[~again][: MOST_LABELS + 1]
                found.append(frame.iloc[places.union(also)])
        return joined_frames(found[1:] or found, list(empty.columns))


def columns_of_outcome(formula: str, nothing: pd.DataFrame, noun: str) -> list[str]:
    """Columns of the left-hand side, which is computed row by row."""
    name = factored(split_formula(formula)[0])
    if name in nothing.columns:
        return [name]
    outcome = read_outcome(formula, nothing.columns)
    check_by_row(outcome, formula, noun)
    used = sorted(outcome.columns)
    check_columns(nothing, used or [name])
    return used


def _check(scan: Source, used: list[str]) -> None:
    scan.check(used)
    wrong = [name for name in used if scan.kinds[name] not in ALLOWED]
    if wrong:
        raise ColumnError(
            f"Column {listing(wrong[:1])} is of type {scan.kinds[wrong[0]]}; a fit "
            f"from {scan.noun} takes numbers, text and booleans: make it one of these, "
            "or leave it out."
        )


class Factors:
    """The factors of a formula, and their levels seen so far.

    Attributes
    ----------
    watched : bool
        Whether there is a factor: its levels are known after all rows.
    """

    def __init__(
        self,
        terms: tuple[Term, ...],
        formula: str,
        nothing: pd.DataFrame,
        kinds: Mapping[str, str],
        noun: str,
    ) -> None:
        names, expressions = factors_of(terms, formula, nothing)
        self._by_name = {name for name in names if kinds[name] in (TEXT, OBJECTS)}
        self._seen: dict[str, set[object]] = {}
        for text, expression in expressions.items():
            check_by_row(expression, formula, noun)
            if (column := factored(text, ())) in kinds:
                self._by_name.add(column)
        self.watched = bool(self._by_name)

    def new_rows(self, rows: FormulaRows) -> pd.Index:
        """Row labels, at least one for each level that was not seen before."""
        complete = rows.used
        found = {name: complete[name] for name in self._by_name}
        for text, value in rows.values.items():
            plain = unwrapped_value(value)
            texts = isinstance(plain, pd.Series) and plain.dtype.kind not in "biuf"
            if texts and factored(text, ()) not in self._by_name:
                found[text] = plain
        self.watched = bool(found)
        places: set[int] = set()
        for name, column in found.items():
            first = column.reset_index(drop=True).drop_duplicates()
            seen = self._seen.setdefault(name, set())
            new = first[[value not in seen for value in first.array]]
            seen |= set(new.array)
            places |= set(new.index)
            if len(seen) > MOST_LEVELS:
                raise ColumnError(
                    f"Column {listing([name])} has more than {MOST_LEVELS:,} levels; "
                    "leave it out, or group them."
                )
        return complete.index[sorted(places)]
