"""Weights of the rows: how much the loss of each counts.

Beside this file stands ``r_reference/R/weights.R``, with the same sums.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import errors
from pegasos_stats.arrays import DataColumn, Mask, Vector
from pegasos_stats.data import user_data
from pegasos_stats.data.design import ModelMatrix, check_columns, row_labels
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.language.formula import (
    Expression,
    check_names,
    read_expression,
    refused,
    values_of_rows,
)
from pegasos_stats.data.language.vocabulary import Functions
from pegasos_stats.errors import counted, listing, shown

WeightsOf = Literal["rows", "levels", "balanced"]
Positions = NDArray[np.intp]
OFFSETS_ALLOWED = "one number for each row"
COUNTS_ALLOWED = "one whole number for each row"
ALLOWED = "one number for each row, a weight for each level, or 'balanced'"
MOST = 2.0**53  # up to which a double holds every whole number
ROUNDING = 1e-14  # of a mean that is 1
SMALLEST = 2.0**-1022  # the least double with all its digits
TOGETHER = 2**16  # numbers summed at once, 16 bytes each


@dataclass(frozen=True)
class Offset:
    """Where a fit has its offset from, and how new rows get theirs.

    Attributes
    ----------
    column : str
        Name of the column given as ``offset=``; empty if none was.
    given : bool
        Whether numbers were given as ``offset=``: new rows need theirs as well.
    terms : tuple of str
        Expressions in the ``offset()`` of the formula, which add up.
    functions : dict of str to callable
        Functions of the caller that these may call.

    Examples
    --------
    >>> offset = Offset(column="z", terms=("log(t)",))
    >>> str(offset)
    'z + log(t)'
    >>> offset.of(pd.DataFrame({"z": [1.0, 2.0], "t": [1.0, None]})).tolist()
    [1.0, nan]
    """

    column: str = ""
    given: bool = False
    terms: tuple[str, ...] = ()
    functions: Functions = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        first = [self.column] if self.column else ["numbers given"] * self.given
        return " + ".join([*first, *self.terms])

    @classmethod
    def asked(
        cls,
        offset: object,
        terms: tuple[str, ...] = (),
        functions: Functions | None = None,
    ) -> "Offset | None":
        """Return what ``offset=`` and a formula ask for; None where that is nothing."""
        if offset is None and not terms:
            return None
        column = offset if isinstance(offset, str) else ""
        given = offset is not None and not isinstance(offset, str)
        return cls(column, given, terms, functions or {})

    @property
    def parts(self) -> tuple[str, ...]:
        """Its parts as a user wrote them."""
        first = [self.column] if self.column else ["offset"] * self.given
        return (*first, *(f"offset({term})" for term in self.terms))

    def columns(self, there: Sequence[str], numbers: object = None) -> list[str]:
        """Columns that it reads of data with these, a frame or files of rows.

        Raises
        ------
        ColumnError
            If one is not there.
        FormulaError
            If ``offset()`` cannot be read.
        OptionError
            If `numbers` are given, and no name of a column.
        """
        if not isinstance(numbers, str | None):
            raise errors.OptionError(
                f"offset={shown(numbers)} does not go with ps.scan() or Dask; give the "
                "name of a column."
            )
        nothing, own = pd.DataFrame(columns=list(there)), numbers or self.column
        if own:
            column_named("offset", own, nothing, OFFSETS_ALLOWED)
        used = [own] if own else []
        for term in self.terms:
            used += sorted(self._read(term, nothing).columns)
        return [*dict.fromkeys(used)]

    def of(self, data: object, numbers: object = None) -> Vector:
        """Offset of each row of the data, NaN where a part of it is missing.

        Parameters
        ----------
        data : DataFrame, or whatever has rows
        numbers : Series or array, shape (n,); or the name of a column of `data`
            What is given as ``offset=``, in the place of that of the fit.

        Raises
        ------
        ColumnError
            If there is no column of a name.
        DataError
            If there is not one finite number for each row.
        OptionError
            If the numbers are not given that the fit had, or are and it had none.
        FormulaError
            If ``offset()`` cannot be computed.
        """
        found: Vector = np.sum(list(self.by_part(data, numbers).values()), axis=0)
        return found

    def by_part(self, data: object, numbers: object = None) -> dict[str, Vector]:
        """Values that `of` adds up, by the column, ``offset`` and the expressions."""
        if numbers is None and self.given:
            raise errors.OptionError(
                "The fit had offset= as numbers, which new rows need as well; give "
                "offset= with them, or fit with the name of a column."
            )
        if numbers is not None and not (self.given or self.column):
            raise errors.OptionError(
                "offset= was given, and the offset of the fit is in its formula: "
                f"{self}; leave it out."
            )
        found = dict[str, Vector]()
        if self.given or self.column:
            chosen = self.column if numbers is None else numbers
            of = "offset", chosen, data, row_labels(data), OFFSETS_ALLOWED
            found[self.column or "offset"] = numbers_of_rows(*of, signed=True)
        for term in self.terms:
            frame, formula = user_data.as_data(data), f"offset({term})"
            values = values_of_rows(self._read(term, frame), frame, formula)
            of = formula, values, frame, frame.index, OFFSETS_ALLOWED
            found[term] = numbers_of_rows(*of, signed=True)
        return found

    def _read(self, term: str, data: pd.DataFrame) -> Expression:
        """Read an expression in ``offset()``; its columns are there."""
        formula = f"offset({term})"
        read = read_expression(term, data.columns, formula, self.functions)
        if learning := [call.name for call in read.calls if call.function.state]:
            raise refused(
                formula,
                f"has {learning[0]}(), which is computed from all rows; compute the "
                "column before the fit, and for new rows.",
            )
        variables = sorted(read.columns)
        check_names(variables)
        check_columns(data, variables)
        return read

    def on(self, matrix: ModelMatrix, data: object, numbers: object) -> ModelMatrix:
        """A matrix of the data with the offset, without the rows that lack it."""
        parts = self.by_part(data, numbers)
        known: Vector = np.sum(list(parts.values()), axis=0)
        places = {name: np.flatnonzero(np.isnan(each)) for name, each in parts.items()}
        missing = {name: rows for name, rows in places.items() if len(rows)}
        kept = matrix.kept & ~np.isnan(known)
        return replace(
            matrix,
            values=user_data.selected(matrix.values, kept[matrix.kept]),
            kept=kept,
            offset=known[kept],
            missing={**matrix.missing, **missing},
        )


@dataclass(frozen=True)
class Counts:
    """How the rows of a fit were counted.

    Attributes
    ----------
    column : str
        Name of the column with the counts; empty if they were given as numbers.
    lines : int
        Rows of the data before each was repeated.
    """

    column: str
    lines: int

    _field_rules = "lines positive"

    def __str__(self) -> str:
        by = f" by {self.column}" if self.column else ""
        return f"{counted(self.lines, 'line')}{by}"


def repeated(freq_weights: object, data: object, index: pd.Index) -> Positions:
    """Positions of the rows, each as often as it counts.

    Parameters
    ----------
    freq_weights : Series or array, shape (n,), of whole numbers; or a column's name
        A row that counts 0, or whose count is missing, is left out.
    data : DataFrame or other
    index : Index, shape (n,)

    Returns
    -------
    int array, shape (sum of counts,)

    Raises
    ------
    ColumnError
        If there is no column of this name.
    DataError
        If there is not one whole number for each row, or the rows take more memory
        than there is.

    Examples
    --------
    >>> repeated([2, 0, 1], None, pd.RangeIndex(3)).tolist()
    [0, 0, 2]
    """
    each = whole_counts(freq_weights, data, index)
    return positions_counted(np.where(np.isnan(each), 0.0, each), data)


def positions_counted(each: Vector, data: object) -> Positions:
    """Positions of rows that count so often, which have to find room in memory."""
    total = float(each.sum())
    if total == 0.0:
        raise all_zero(each.size)
    width = getattr(data, "shape", (0, 1))[-1]
    user_data.check_memory(
        total * 8.0 * (width + 2),
        f"A table of {counted(each.size, 'row')} that stand for {total:,.0f}",
        "give the counts as weights= if only coefficients are wanted",
    )
    return np.repeat(np.arange(each.size), each.astype(np.int64))


def whole_counts(freq_weights: object, data: object, index: pd.Index) -> Vector:
    """How often each row counts, as `repeated` reads it; NaN where that is missing."""
    each = numbers_of_rows("freq_weights", freq_weights, data, index, COUNTS_ALLOWED)
    wrong = (each != np.floor(each)) & ~np.isnan(each) | (each > MOST)
    if wrong.any():
        raise errors.DataError(
            f"freq_weights hold {listing(each[wrong])} in the rows "
            f"{user_data.rows_listed(index[wrong])}; give whole numbers up to 2^53."
        )
    return each


def all_zero(rows: int) -> errors.DataError:
    """The error for counts none of which is above zero."""
    text = f"freq_weights are 0 in all of {counted(rows, 'row')}"
    return errors.DataError(f"{text}; give numbers above 0.")


def column_of_counts(given: object, counts: Counts | None, data: object) -> object:
    """Counts of new data: those given, or the column of the fit, if it is there.

    Parameters
    ----------
    given : as `repeated` takes them, or None
    counts : Counts or None
        How the rows of the fit were counted.
    data : DataFrame or other

    Returns
    -------
    Series, array or None

    Raises
    ------
    ColumnError
        If a name was given and there is no column of it.
    """
    if given is None and counts is not None and isinstance(data, pd.DataFrame):
        is_there = counts.column != "" and counts.column in data.columns
        return data[counts.column] if is_there else None
    if isinstance(given, str):
        return column_named("freq_weights", given, data, COUNTS_ALLOWED)
    return given


def numbers_of_rows(
    option: str,
    numbers: object,
    data: object,
    index: pd.Index,
    allowed: str,
    signed: bool = False,
) -> Vector:
    """Read a finite number of 0 or more for each row; NaN where one is missing.

    Parameters
    ----------
    option : str
        Its name, for messages.
    numbers : Series or array, shape (n,); or the name of a column of `data`
    data : DataFrame or other
    index : Index, shape (n,)
    allowed : str
        What may be given beside the name of a column, for messages.
    signed : bool
        Whether numbers below 0 are allowed as well.

    Raises
    ------
    ColumnError
        If there is no column of this name.
    DataError
        If they are not one number of 0 or more for each row, rows in the same order.
    """
    if isinstance(numbers, str):
        numbers = column_named(option, numbers, data, allowed)
    numbers = user_data.column_of_frame(numbers)
    labelled = isinstance(data, pd.DataFrame | pd.Series)
    if labelled and isinstance(numbers, pd.Series) and len(numbers) == len(index):
        user_data.check_aligned(option, numbers, index)
    kind = type(numbers).__name__
    refused = errors.DataError(
        f"{option} of type {kind} are not numbers; give {allowed}."
    )
    values = np.array(user_data.floats_of(numbers, refused))
    if values.shape != (len(index),):
        raise errors.DataError(
            f"{option} have the shape {values.shape} and there are "
            f"{counted(len(index), 'row')}; give one for each row."
        )
    wrong = np.isinf(values) | (not signed) & (values < 0.0)
    if wrong.any():
        raise errors.DataError(
            f"{option} hold {listing(values[wrong])} in the rows "
            f"{user_data.rows_listed(index[wrong])}; give finite numbers"
            f"{', 0 or more' * (not signed)}."
        )
    return values


def kind_of(weights: object) -> WeightsOf:
    """What weights belong to: rows, or both levels.

    Examples
    --------
    >>> kind_of("balanced"), kind_of({"a": 2.0, "b": 1.0}), kind_of([1.0, 2.0])
    ('balanced', 'levels', 'rows')
    """
    if isinstance(weights, str) and weights == "balanced":
        return "balanced"
    return "levels" if isinstance(weights, Mapping) else "rows"


def weights_of_rows(weights: object, y: Vector, coding: LabelCoding) -> Vector | None:
    """A weight for every row: as they were given, or those of levels.

    Balanced is ``n / (2 n_c)`` for the ``n_c`` rows of a level: both levels weigh the
    same.

    Parameters
    ----------
    weights : float64 array, shape (n,); a weight for each level; "balanced"; or None
    y : float64 array, shape (n,), of -1 and +1
    coding : LabelCoding

    Raises
    ------
    OptionError
        If a dictionary does not name both levels.
    """
    if weights is None or isinstance(weights, np.ndarray):
        return weights
    is_positive = (y > 0).astype(np.intp)
    if kind_of(weights) == "balanced":
        return (y.size / (2.0 * np.bincount(is_positive, minlength=2)))[is_positive]
    if not isinstance(weights, Mapping):
        return None
    keys = list(weights)
    at = [user_data.position_of(key, coding.levels) for key in keys]
    if sorted(at) != [0, 1]:
        raise errors.OptionError(
            f"weights name the levels {listing(weights)}; give a weight for each of "
            f"{listing(coding.levels)}."
        )
    each = [weights[keys[at.index(place)]] for place in (0, 1)]
    levels = pd.Index(coding.levels)
    found = numbers_of_rows("weights", each, None, levels, ALLOWED)
    if np.isnan(found).any():
        raise errors.DataError(
            f"The weight of level {listing(levels[np.isnan(found)])} is missing; give "
            "a number of 0 or more."
        )
    return found[is_positive]


def row_weights(weights: object, y: Vector, coding: LabelCoding) -> Vector | None:
    """Weights of the rows with a mean of 1 (see `mean_one`); None if all are equal.

    Parameters
    ----------
    weights : float64 array, shape (n,); or as for `weights_of_rows`
    y : float64 array, shape (n,), of -1 and +1
    coding : LabelCoding

    Raises
    ------
    OptionError
        If a dictionary does not name both levels.
    DataError
        If a level has no weight at all, or weights are too far apart.
    """
    weights = weights_of_rows(weights, y, coding)
    if weights is None:
        return None
    for sign, level in zip((-1.0, 1.0), coding.levels, strict=True):
        if not weights[y == sign].any():
            raise errors.DataError(
                f"All rows of level {level!r} have weight 0; give weights above zero "
                "to some of them."
            )
    return None if (weights == weights[0]).all() else mean_one(weights)


def rows_of_weights(weights: Vector | None) -> float | None:
    """How many rows weights stand for: their sum if all are whole numbers.

    Other weights have no scale, and stand for the rows with a weight above 0.

    Examples
    --------
    >>> rows_of_weights(np.array([2.0, 1.0, 0.0])), rows_of_weights(np.array([0.5, 0]))
    (3.0, 1.0)
    """
    if weights is None:
        return None
    with np.errstate(over="ignore"):
        whole = bool((weights == np.floor(weights)).all())
        return float(weights.sum() if whole else (weights > 0.0).sum())


def mean_one(weights: Vector) -> Vector:
    """``w_i / (sum(w) / n)``, every bit as R computes it.

    The sum is R's, see `r_sum`, of the weights divided by a power of two, which rounds
    nothing.
    Weights whose mean is 1 to 1e-14 stay as they are, so that weights scaled once
    keep their bits.

    Parameters
    ----------
    weights : float64 array, shape (n,), of 0 or more, one above 0

    Raises
    ------
    DataError
        If a weight above zero would be rounded to 0, or near it.

    Examples
    --------
    >>> mean_one(np.array([1.0, 2.0, 3.0]))
    array([0.5, 1. , 1.5])
    >>> mean_one(np.array([1e308, 1e308, 1e308, 0.0]))
    array([1.33333333, 1.33333333, 1.33333333, 0.        ])
    """
    power = int(np.frexp(weights.max())[1])
    scaled = np.ldexp(weights, -power)
    mean = r_sum(scaled) / weights.size
    if abs(np.ldexp(mean, power) - 1.0) <= ROUNDING:
        return weights
    found: Vector = scaled / mean
    lost = (weights > 0.0) & (np.minimum(scaled, found) < SMALLEST)
    if lost.any():
        raise errors.DataError(
            f"weights go from {float(weights[lost].min())!r} to "
            f"{float(weights.max())!r}; give weights nearer to each other."
        )
    return found


def r_sum(values: Vector) -> float:
    """R's ``sum()``: from the first number to the last in long double, rounded once.

    Parameters
    ----------
    values : float64 array

    Examples
    --------
    >>> r_sum(np.array([1.0, 1e-16, 1e-16]))
    1.0000000000000002
    """
    total = np.zeros(1, dtype=np.longdouble)
    for first in range(0, values.size, TOGETHER):
        terms = np.concatenate([total, values[first : first + TOGETHER]])
        total = np.add.accumulate(terms)[-1:]
    with np.errstate(over="ignore"):  # as in R, whose sum is infinite then
        return float(total[0].astype(np.float64))


def column_named(option: str, name: str, data: object, allowed: str) -> DataColumn:
    """Return a column of the data, or raise `ColumnError` if there is none."""
    if isinstance(data, pd.DataFrame) and name in data.columns:
        return data[name]
    raise errors.ColumnError(
        f"{option}={shown(name)} is no column of the data; give the name of one, or "
        f"{allowed}."
    )


@dataclass(frozen=True, eq=False)
class RowOptions:
    """Which rows of the data are taken, how often each counts, and what it weighs.

    Weights are a number for each row taken, or as for `weights_of_rows`. What stands
    beside the rows is NaN where it is missing: weights, counts, parts of the offset.
    """

    data: object
    index: pd.Index
    rows: Positions
    weights: object
    counts: Counts | None
    beside: dict[str, Vector]
    offsets: Offset | None
    offset: Vector | None

    @classmethod
    def of(
        cls,
        weights: object,
        freq_weights: object,
        data: object,
        index: pd.Index,
        offset: object,
        offsets: Offset | None,
    ) -> "RowOptions":
        """Read what was given as options, and the offset of a formula."""
        rows, beside = np.arange(len(index)), dict[str, Vector]()
        counts = known = None
        if weights is not None and kind_of(weights) == "rows":
            each = numbers_of_rows("weights", weights, data, index, ALLOWED)
            beside["weights"] = each
        if freq_weights is not None:
            each = beside["freq_weights"] = whole_counts(freq_weights, data, index)
            rows = positions_counted(np.where(np.isnan(each), 1.0, each), data)
            name = freq_weights if isinstance(freq_weights, str) else ""
            counts = Counts(name, len(index))
        if offsets is not None:
            parts = offsets.by_part(data, offset)
            beside |= parts
            known = np.sum(list(parts.values()), axis=0)[rows]
        beside = {name: values[rows] for name, values in beside.items()}
        weights = beside.get("weights", weights)
        return cls(data, index, rows, weights, counts, beside, offsets, known)

    @property
    def lacking(self) -> dict[str, Mask]:
        """Rows in which something beside them is missing, by its name."""
        return {name: np.isnan(values) for name, values in self.beside.items()}
