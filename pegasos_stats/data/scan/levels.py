"""Find the levels of factors and of the outcome in all rows of files or partitions."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.design import check_columns
from pegasos_stats.data.files import TEXT
from pegasos_stats.data.labels import Coding, LabelCoding, as_in_formula
from pegasos_stats.data.language import formula as terms_of
from pegasos_stats.data.language import formula_design
from pegasos_stats.data.language.formula import (
    Call,
    Expression,
    read_expression,
    refused,
)
from pegasos_stats.data.language.formula_design import MOST_LEVELS, FormulaDesign
from pegasos_stats.data.language.vocabulary import unwrapped_value
from pegasos_stats.data.sample import Offset, no_rows
from pegasos_stats.data.scan import files
from pegasos_stats.data.scan.partitions import Partition, Partitions
from pegasos_stats.errors import ColumnError, listing

Source = files.Scan | Partitions

FIRST_ROWS = 1000  # rows that determine the types of terms
MOST_LABELS = 1000  # distinct labels; if there are more, reading stops with an error
EXPLICIT = {  # how a call needs no estimates from the rows
    "cut": "write explicit breaks, as in cut(x, c(0, 1)), or ",
    "bs": "write knots=, lower_bound= and upper_bound=, or ",
    "poly": "write raw=True, or ",
}


def check_rowwise(expression: Expression, formula: str, noun: str) -> None:
    """Raise `FormulaError` for functions that depend on other rows.

    Parameters
    ----------
    expression : Expression
    formula : str
    noun : str
        Name of the storage, for messages.
    """
    for call in expression.calls:
        if learns(call):
            explicit = EXPLICIT.get(call.name, "")
            raise refused(
                formula,
                f"calls {call.name}(), which depends on all rows, and {noun} are read "
                f"block by block; {explicit}compute the column before the fit, in the "
                f"{noun}.",
            )


def learns(call: Call) -> bool:
    """Whether a call has a state that is estimated from the rows.

    Calls with explicit breaks, with explicit knots and bounds, or with raw powers need
    no estimates.

    Examples
    --------
    >>> from pegasos_stats.data.language.formula import read_expression
    >>> calls = "cut(x, 3)", "cut(x, c(0, 1))", "poly(x, 2)", "poly(x, 2, raw=True)"
    >>> parsed = [read_expression(text, ["x"], "y ~ x").calls for text in calls]
    >>> [learns(call) for calls in parsed for call in calls]
    [True, False, True, False]
    """
    arguments = {
        name: getattr(node, "value", None) for name, node in call.arguments.items()
    }
    stated = {
        "bs": all(arguments.get(k) is not None for k in ("lower_bound", "upper_bound"))
        and isinstance(arguments.get("knots"), list),
        "cut": isinstance(arguments.get("breaks"), list),
        "poly": arguments.get("raw") is True,
    }
    return bool(call.function.state) and not stated.get(call.name, False)


@dataclass(frozen=True, eq=False)
class ResolvedFormula:
    """A formula with the levels of all rows.

    Attributes
    ----------
    design : FormulaDesign
    coding : LabelCoding
    intercept : bool
        Whether the model has an intercept.
    outcome : tuple of str
        Columns that the outcome uses.
    plain : bool
        Whether the columns of the design matrix are columns of the data.
    offsets : Offset or None
        Source of the offset, if there is one.
    offset_columns : tuple of str
        Columns that the offset uses.
    n_reads : int
        Number of passes over all rows, to find levels and types of CSV columns.
    """

    design: FormulaDesign
    coding: LabelCoding
    intercept: bool
    outcome: tuple[str, ...]
    plain: bool
    offsets: Offset | None
    offset_columns: tuple[str, ...]
    n_reads: int


def resolve_formula(
    scan: Source,
    formula: str,
    intercept: bool,
    coding: Coding,
    offset: str | None = None,
) -> ResolvedFormula:
    """Read a formula, and as many rows as needed to find all levels.

    Raises
    ------
    FormulaError
        If it cannot be read, or a term cannot be computed block by block.
    ColumnError
        If a column is not in all files, does not contain numbers, text or booleans, or
        has too many levels.
    LabelError
        If the outcome does not have two classes.
    DataError
        If no row is complete.
    """
    of = formula, intercept, scan.kinds, offset, scan.noun
    collector = LevelCollector(*of)
    columns = collector.columns
    scan.check(columns)
    for name in columns:
        if scan.kinds[name] not in files.ALLOWED:
            raise ColumnError(
                f"Column {listing([name])} is of type {scan.kinds[name]}; a fit from "
                f"{scan.noun} needs numbers, text or booleans."
            )
    for part in scan.first_and_others:
        for rows in part.map_parts(partial(rows_with_new_levels, of), columns):
            collector.add(*rows)
        if collector.is_enough:
            break
    if not collector.rows:
        raise no_rows(collector.total, collector.missing)
    pattern = files.joined_frames(collector.rows, columns)
    labels = terms_of.outcome_of(formula, pattern)
    levels = LabelCoding.from_labels(labels, coding, str(labels.name))
    if levels.rule == "factor":
        levels = as_in_formula(levels, formula)
    usable = np.ones(len(pattern), dtype=bool)
    design, _ = FormulaDesign.from_terms(
        formula, collector.terms, pattern, usable, every_row=False
    )
    return ResolvedFormula(
        design=design,
        coding=levels,
        intercept=any(str(term) == "1" for term in collector.terms),
        outcome=tuple(collector.outcome),
        plain=set(design.names) == {*design.numeric} == {*design.variables},
        offsets=collector.offsets,
        offset_columns=tuple(collector.offset_columns),
        n_reads=int(not collector.is_enough) + scan.n_reads,
    )


def rows_with_new_levels(
    of: tuple[Any, ...], source: files.Scan | Partition
) -> tuple[pd.DataFrame, int, Counter[str]]:
    """Return rows with new levels, the row count, and counts of missing values."""
    collector = LevelCollector(*of)
    for frame in source.frames(collector.columns):
        collector.add(frame, len(frame), Counter())
        if collector.is_enough:
            break
    nothing = pd.DataFrame({name: [] for name in collector.columns})
    rows = files.joined_frames(collector.rows or [nothing], collector.columns)
    return rows, collector.total, collector.missing


class LevelCollector:
    """Collects the first rows, and rows with new levels of factors or the outcome.

    Attributes
    ----------
    terms : tuple of Term
    variables, outcome : list of str
        Columns that the terms use, and columns that the outcome uses.
    offsets : Offset or None
    offset_columns : list of str
        Columns that the offset uses.
    rows : list of DataFrame
        The collected rows, which are complete.
    total : int
        Number of rows that were read.
    missing : Counter of str
        Number of missing values of each column in these rows.

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
        noun: str,
    ) -> None:
        nothing = pd.DataFrame({name: [] for name in kinds})
        self._formula = formula
        terms = terms_of.offset_terms(formula, nothing)
        self.offsets, self.offset_columns = Offset.from_options(offset, terms), []
        if self.offsets is not None:
            self.offset_columns = self.offsets.columns(list(kinds))
        self.terms = terms_of.read_terms(formula, nothing, intercept)
        if all(str(term) == "1" for term in self.terms):
            raise refused(formula, formula_design.NO_PREDICTOR)
        self.outcome = columns_of_outcome(formula, nothing, noun)
        factors = terms_of.factors_of(self.terms, formula, nothing)
        self.variables, names, expressions = factors
        added = [read_expression(term, kinds, formula) for term in terms]
        for expression in [*expressions.values(), *added]:
            check_rowwise(expression, formula, noun)
        called = {terms_of.factored(text, ()) for text in expressions} & {*kinds}
        self._by_name = {name for name in names if kinds[name] in (TEXT, files.UNKNOWN)}
        self._by_name |= called  # columns whose values are levels
        self._has_factors = bool(self._by_name)
        self._levels: dict[str, set[object]] = {}
        self._labels: dict[object, set[object]] = {}  # by the type of their column
        self.rows: list[pd.DataFrame] = []
        self.total, self.missing = 0, Counter[str]()

    @property
    def columns(self) -> list[str]:
        """Columns to read."""
        every = *self.outcome, *self.variables, *self.offset_columns
        return [*dict.fromkeys(every)]

    @property
    def is_enough(self) -> bool:
        """Whether further rows are not needed."""
        labels = set[object]().union(*self._labels.values())
        return len(labels) > (MOST_LABELS if self._has_factors else 1)

    def add(self, frame: pd.DataFrame, total: int, missing: Counter[str]) -> None:
        """Collect rows with new levels.

        Parameters
        ----------
        frame : DataFrame
        total : int
            Number of rows that were read for this frame.
        missing : Counter of str
            Missing values of each column in rows that are not in the frame.
        """
        self.total += total
        labels = terms_of.outcome_of(self._formula, frame)
        usable = labels.notna().to_numpy(dtype=bool)
        if self.offsets is not None:
            usable = usable & ~np.isnan(self.offsets.of(frame))
        rows = formula_design.FormulaRows.of(
            self._formula, self.terms, frame, usable, {}
        )
        self.missing.update(missing)
        self.missing.update({name: len(at) for name, at in rows.absent.items()})
        self.missing.update({str(labels.name): int(labels.isna().sum())})
        complete = rows.used.index
        if len(complete) == 0:
            return
        places = set(complete[: 0 if self.rows else FIRST_ROWS])
        old_levels = self._labels.setdefault(labels.dtype, set())
        places |= _new(labels.iloc[complete].set_axis(complete), old_levels)
        factors = self._factors(rows)
        self._has_factors = bool(factors)
        for name, column in factors.items():
            old_levels = self._levels.setdefault(name, set())
            places |= _new(column.set_axis(complete), old_levels)
            if len(old_levels) > MOST_LEVELS:
                raise ColumnError(
                    f"Column {listing([name])} has more than {MOST_LEVELS:,} levels; "
                    "leave it out, or group its levels."
                )
        # A categorical column also has categories that these rows lack.
        self.rows.append(frame.iloc[sorted(places)])

    def _factors(self, rows: formula_design.FormulaRows) -> dict[str, DataColumn]:
        """Return columns and values of expressions that are factors."""
        factors = {name: rows.used[name] for name in self._by_name}
        for text, value in rows.values.items():
            plain = unwrapped_value(value)
            texts = isinstance(plain, pd.Series) and plain.dtype.kind not in "biuf"
            if texts and terms_of.factored(text, ()) not in self._by_name:
                factors[text] = plain
        return factors


def _new(column: DataColumn, old_levels: set[object]) -> set[int]:
    """Return row labels of the first rows with new values; update `old_levels`."""
    first = column.drop_duplicates()
    new = first[[value not in old_levels for value in first.array]]
    old_levels |= set(new.iloc[: MOST_LEVELS + 1].array)
    return set(new.index[: MOST_LEVELS + 1])


def columns_of_outcome(formula: str, nothing: pd.DataFrame, noun: str) -> list[str]:
    """Return the columns that the outcome uses; refuse functions of several rows."""
    name = terms_of.factored(terms_of.split_formula(formula)[0])
    if name in nothing.columns:
        return [name]
    outcome = terms_of.read_outcome(formula, nothing.columns)
    check_rowwise(outcome, formula, noun)
    used = sorted(outcome.columns)
    check_columns(nothing, used or [name])
    return used
