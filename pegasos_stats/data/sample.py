"""The sample of a fit: labels, predictors, weights and groups of the complete rows.

``r_reference/R/weights.R`` computes the same sums of weights.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import errors
from pegasos_stats.arrays import DataColumn, Mask, Predictors, Vector, owned
from pegasos_stats.checks import check_choice, check_flag
from pegasos_stats.data import labels as outcomes
from pegasos_stats.data import user_data
from pegasos_stats.data.design import (
    Design,
    FrameDesign,
    ModelMatrix,
    ScaledDesign,
    Scaling,
    check_columns,
    row_labels,
)
from pegasos_stats.data.labels import Coding, LabelCoding
from pegasos_stats.data.language.formula import (
    Expression,
    check_functions,
    check_names,
    offset_terms,
    outcome_of,
    read_expression,
    refused,
    values_of_rows,
)
from pegasos_stats.data.language.formula_design import (
    FormulaDesign,
    design_of,
    warn_of_columns,
)
from pegasos_stats.data.language.vocabulary import Functions, as_levels
from pegasos_stats.errors import counted, listing, shown
from pegasos_stats.foreign_names import own_value

WeightsOf = Literal["rows", "levels", "balanced"]
Positions = NDArray[np.intp]
OFFSETS_ALLOWED = "one number for each row"
COUNTS_ALLOWED = "one whole number for each row"
ALLOWED = "one number for each row, or a weight for each class"
SUMMED_AT_ONCE = 2**16  # numbers per block of a sum, of 16 bytes each
NaAction = Literal["drop", "raise"]

MOST_NAMED = 5  # columns with missing values that a message names
GROUPS_ALLOWED = "one label per row of the data, or a list of two columns of labels"
COLUMNS = (str, pd.Series, np.ndarray, pd.Index, pd.Categorical, list, tuple)
MOST_WAYS = 2  # groupings of the rows


@dataclass(frozen=True)
class Offset:
    """Source of the offset, for training rows and for new rows.

    Attributes
    ----------
    column : str
        Name of the column of ``offset=``; empty if there is none.
    given : bool
        Whether ``offset=`` is an array; new rows then need an array as well.
    terms : tuple of str
        Expressions in ``offset()`` in the formula; their values are added.
    functions : dict of str to callable
        Functions of the user that the expressions may call.

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
        first = [self.column] if self.column else ["numbers"] * self.given
        return " + ".join([*first, *self.terms])

    @classmethod
    def from_options(
        cls,
        offset: object,
        terms: tuple[str, ...] = (),
        functions: Functions | None = None,
    ) -> "Offset | None":
        """Return the source of the offset, or None if there is no offset."""
        if offset is None and not terms:
            return None
        column = offset if isinstance(offset, str) else ""
        has_numbers = offset is not None and not isinstance(offset, str)
        return cls(column, has_numbers, terms, functions or {})

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts of the offset; expressions as ``offset(expression)``."""
        first = [self.column] if self.column else ["offset"] * self.given
        return (*first, *(f"offset({term})" for term in self.terms))

    def columns(self, there: Sequence[str], numbers: object = None) -> list[str]:
        """Columns of the data that the offset needs.

        Parameters
        ----------
        there : sequence of str
            Names of the columns of the data.
        numbers : str, optional
            ``offset=`` of new rows, as for `of`.

        Raises
        ------
        ColumnError
            If the data lack a column.
        FormulaError
            If ``offset()`` cannot be read.
        OptionError
            If `numbers` is not the name of a column.
        """
        if not isinstance(numbers, str | None):
            raise errors.OptionError(
                f"offset={shown(numbers)} cannot be used with ps.scan() or Dask; use "
                "the name of a column."
            )
        nothing, own = pd.DataFrame(columns=list(there)), numbers or self.column
        if own:
            column_named("offset", own, nothing, OFFSETS_ALLOWED)
        used = [own] if own else []
        for term in self.terms:
            used += sorted(self._expression(term, nothing).columns)
        return [*dict.fromkeys(used)]

    def of(self, data: object, numbers: object = None) -> Vector:
        """Offset of each row of the data, NaN if a part is missing.

        Parameters
        ----------
        data : DataFrame or array
        numbers : Series or array, shape (n,); or the name of a column of `data`
            ``offset=`` of new rows, which replaces the column or array of the fit.
            Expressions in the formula are added in any case.

        Raises
        ------
        ColumnError
            If there is no column of this name.
        DataError
            If there is not one finite number for each row.
        OptionError
            If the fit had an array as offset and `numbers` is missing, or if the fit
            had no ``offset=`` and `numbers` is not None.
        FormulaError
            If ``offset()`` cannot be computed.
        """
        total: Vector = np.sum(list(self.by_part(data, numbers).values()), axis=0)
        return total

    def by_part(self, data: object, numbers: object = None) -> dict[str, Vector]:
        """Parts of the sum that `of` returns.

        The keys are the name of the fit's column, or ``offset`` if the fit had an
        array, and the texts of the expressions.
        """
        if numbers is None and self.given:
            raise errors.OptionError(
                "The fit had an array as offset=, so new rows need one as well; pass "
                "offset=, or fit with the name of a column."
            )
        if numbers is not None and not (self.given or self.column):
            raise errors.OptionError(
                "offset= is not allowed, as the offset of the fit is in its formula: "
                f"{self}; leave it out."
            )
        values_by_part = dict[str, Vector]()
        if self.given or self.column:
            chosen = self.column if numbers is None else numbers
            of = "offset", chosen, data, row_labels(data), OFFSETS_ALLOWED
            values_by_part[self.column or "offset"] = numbers_of_rows(*of, signed=True)
        for term in self.terms:
            frame, formula = user_data.as_data(data), f"offset({term})"
            values = values_of_rows(self._expression(term, frame), frame, formula)
            of = formula, values, frame, frame.index, OFFSETS_ALLOWED
            values_by_part[term] = numbers_of_rows(*of, signed=True)
        return values_by_part

    def _expression(self, term: str, data: pd.DataFrame) -> Expression:
        """Parse an expression in ``offset()``, and check its columns."""
        formula = f"offset({term})"
        expression = read_expression(term, data.columns, formula, self.functions)
        if learning := [call.name for call in expression.calls if call.function.state]:
            raise refused(
                formula,
                f"has {learning[0]}(), which is computed from all rows; add the result "
                "as a column to the training data and to new data.",
            )
        variables = sorted(expression.columns)
        check_names(variables)
        check_columns(data, variables)
        return expression

    def on(self, matrix: ModelMatrix, data: object, numbers: object) -> ModelMatrix:
        """Add the offset to a matrix, and drop rows without an offset."""
        parts = self.by_part(data, numbers)
        total: Vector = np.sum(list(parts.values()), axis=0)
        places = {
            name: np.flatnonzero(np.isnan(values)) for name, values in parts.items()
        }
        missing = {name: rows for name, rows in places.items() if len(rows)}
        complete = matrix.complete & ~np.isnan(total)
        return replace(
            matrix,
            values=user_data.selected(matrix.values, complete[matrix.complete]),
            complete=complete,
            offset=total[complete],
            missing={**matrix.missing, **missing},
        )


@dataclass(frozen=True)
class Counts:
    """Source of the frequency weights of a fit.

    Attributes
    ----------
    column : str
        Name of the column with the counts; empty for an array.
    lines : int
        Number of rows of the data, before they were repeated.
    """

    column: str
    lines: int

    _field_rules = "lines positive"

    def __str__(self) -> str:
        by = f" by {self.column}" if self.column else ""
        return f"{counted(self.lines, 'line')}{by}"


def repeated(freq_weights: object, data: object, index: pd.Index) -> Positions:
    """Positions of the rows, repeated by their frequency weights.

    Parameters
    ----------
    freq_weights : Series or array, shape (n,), of whole numbers; or a column's name
        Rows with a count of 0 or a missing count are excluded.
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
        If there is not one whole number for each row, if all are 0, or if the rows
        need more memory than is available.

    Examples
    --------
    >>> repeated([2, 0, 1], None, pd.RangeIndex(3)).tolist()
    [0, 0, 2]
    """
    counts = whole_counts(freq_weights, data, index)
    return positions_counted(np.where(np.isnan(counts), 0.0, counts), data)


def positions_counted(counts: Vector, data: object) -> Positions:
    """Return positions of the repeated rows.

    Raises
    ------
    DataError
        If all counts are 0, or the rows need more memory than is available.
    """
    total = float(counts.sum())
    if total == 0.0:
        rows = counted(counts.size, "row")
        raise errors.DataError(
            f"freq_weights are 0 in all of {rows}; use counts above 0."
        )
    width = getattr(data, "shape", (0, 1))[-1]
    user_data.check_memory(
        total * 8.0 * (width + 2),
        f"A table of {counted(counts.size, 'row')} that represent {total:,.0f}",
        "use the counts as weights= if only coefficients are wanted",
    )
    return np.repeat(np.arange(counts.size), counts.astype(np.int64))


def whole_counts(freq_weights: object, data: object, index: pd.Index) -> Vector:
    """Frequency weights of the rows, NaN if missing."""
    of_rows = "freq_weights", freq_weights, data, index, COUNTS_ALLOWED
    return numbers_of_rows(*of_rows, whole=True)


def column_of_counts(
    freq_weights: object, counts: Counts | None, data: object
) -> object:
    """Counts of new data: by default the column that the fit used, if present.

    Parameters
    ----------
    freq_weights : as for `repeated`, or None
    counts : Counts or None
        Source of the frequency weights of the fit.
    data : DataFrame or other

    Returns
    -------
    Series, array or None

    Raises
    ------
    ColumnError
        If there is no column of this name.
    """
    if freq_weights is None and counts is not None and isinstance(data, pd.DataFrame):
        is_there = counts.column != "" and counts.column in data.columns
        return data[counts.column] if is_there else None
    if isinstance(freq_weights, str):
        return column_named("freq_weights", freq_weights, data, COUNTS_ALLOWED)
    return freq_weights


def numbers_of_rows(
    option: str,
    numbers: object,
    data: object,
    index: pd.Index,
    allowed: str,
    signed: bool = False,
    whole: bool = False,
) -> Vector:
    """Read one finite number for each row; NaN where it is missing.

    Parameters
    ----------
    option : str
        Name of the option, for messages.
    numbers : Series or array, shape (n,); or the name of a column of `data`
    data : DataFrame or other
    index : Index, shape (n,)
    allowed : str
        Allowed values other than the name of a column, for messages.
    signed : bool
        Whether numbers below 0 are allowed.
    whole : bool
        Whether only whole numbers from 0 to 2^53 are allowed.

    Raises
    ------
    ColumnError
        If there is no column of this name.
    DataError
        If there is not one allowed number for each row, in the order of the rows.
    """
    refused = errors.DataError(
        f"{option} of type {type(numbers).__name__} are not numbers; use {allowed}."
    )
    if isinstance(numbers, str):
        refused = errors.DataError(
            f"{option}={shown(numbers)} is not a column of numbers; use such a column."
        )
        numbers = column_named(option, numbers, data, allowed)
    numbers = user_data.column_of_frame(numbers)
    values = np.array(user_data.floats_of(numbers, refused))
    if values.ndim != 1:
        raise refused
    labelled = isinstance(data, pd.DataFrame | pd.Series)
    of_rows = numbers if isinstance(numbers, pd.Series) else values
    user_data.check_aligned(option, of_rows, index, labelled)
    wrong, kinds = np.isinf(values), "finite numbers"
    if not signed:
        wrong, kinds = wrong | (values < 0.0), f"{kinds}, 0 or more"
    if whole:
        wrong = wrong | (values > user_data.LARGEST_WHOLE) | (values > np.floor(values))
        kinds = "whole numbers from 0 to 2^53"
    if wrong.any():
        raise errors.DataError(
            f"The values of {option}= include {listing(np.unique(values[wrong]))} "
            f"{user_data.in_the_rows(index[wrong])}; use {kinds}."
        )
    return values


def kind_of(weights: object) -> WeightsOf:
    """Kind of weights: of rows, of levels, or balanced.

    Examples
    --------
    >>> kind_of("balanced"), kind_of({"a": 2.0, "b": 1.0}), kind_of([1.0, 2.0])
    ('balanced', 'levels', 'rows')
    """
    if isinstance(weights, str) and weights == "balanced":
        return "balanced"
    return "levels" if isinstance(weights, Mapping) else "rows"


def weights_of_rows(weights: object, y: Vector, coding: LabelCoding) -> Vector | None:
    """Weights of the rows; weights of the levels are converted.

    ``"balanced"`` is ``n / (2 n_c)`` for each of the ``n_c`` rows of a level, so that
    both levels have the same total weight.

    Parameters
    ----------
    weights : float64 array, shape (n,); a weight for each level; "balanced"; or None
    y : float64 array, shape (n,), of -1 and +1
    coding : LabelCoding

    Raises
    ------
    OptionError
        If a dictionary does not name both levels.
    DataError
        If the weight of a level is missing, negative or not finite.
    """
    if weights is None or isinstance(weights, np.ndarray):
        return weights
    is_positive = (y > 0).astype(np.intp)
    if kind_of(weights) == "balanced":
        return (y.size / (2.0 * np.bincount(is_positive, minlength=2)))[is_positive]
    if not isinstance(weights, Mapping):
        return None
    positions = [user_data.position_of(key, coding.levels) for key in weights]
    if sorted(positions) != [0, 1]:
        raise errors.OptionError(
            f"weights= has the classes {listing(weights)}; use one weight for each of "
            f"{listing(coding.levels)}."
        )
    by_position = dict(zip(positions, weights.values(), strict=True))
    values, levels = [by_position[0], by_position[1]], pd.Index(coding.levels)
    pair = numbers_of_rows("weights", values, None, levels, ALLOWED)
    if np.isnan(pair).any():
        raise errors.DataError(
            f"The weight of level {listing(levels[np.isnan(pair)])} is missing; "
            "use a number of 0 or more."
        )
    return pair[is_positive]


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
        If all weights of a level are 0, or the ratio of weights is too large.
    """
    weights = weights_of_rows(weights, y, coding)
    if weights is None:
        return None
    for sign, level in zip((-1.0, 1.0), coding.levels, strict=True):
        if not weights[y == sign].any():
            raise errors.DataError(
                f"All rows of level {level!r} have weight 0; use weights above 0 "
                "for some of them."
            )
    return None if (weights == weights[0]).all() else mean_one(weights)


def rows_of_weights(weights: Vector | None) -> float | None:
    """Number of rows that weights represent: their sum if all are integers.

    Other weights have an arbitrary scale; the result is then the number of positive
    weights.

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
    """Scale weights to mean 1: ``w_i / (sum(w) / n)``, bit for bit as in R.

    The weights are divided by a power of two, which is exact, and then summed as in R,
    see `r_sum`. Weights whose mean is 1 to within 1e-14 are returned unchanged, so that
    scaling them again has no effect.

    Parameters
    ----------
    weights : float64 array, shape (n,), of 0 or more, one above 0

    Raises
    ------
    DataError
        If a weight above 0 would be rounded to 0 or to a subnormal number.

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
    if abs(np.ldexp(mean, power) - 1.0) <= 1e-14:
        return weights
    rescaled: Vector = scaled / mean
    lost = (weights > 0.0) & (np.minimum(scaled, rescaled) < np.finfo(float).tiny)
    if lost.any():
        raise errors.DataError(
            f"weights range from {float(weights[lost].min())!r} to "
            f"{float(weights.max())!r}; use weights of more similar size."
        )
    return rescaled


def r_sum(values: Vector) -> float:
    """R's ``sum()``: a sum in long double from first to last, then rounded to double.

    Parameters
    ----------
    values : float64 array

    Examples
    --------
    >>> r_sum(np.array([1.0, 1e-16, 1e-16]))
    1.0000000000000002
    """
    total = np.zeros(1, dtype=np.longdouble)
    for first in range(0, values.size, SUMMED_AT_ONCE):
        terms = np.concatenate([total, values[first : first + SUMMED_AT_ONCE]])
        total = np.add.accumulate(terms)[-1:]
    with np.errstate(over="ignore"):  # the sum is then infinite, as in R
        return float(total[0].astype(np.float64))


def column_named(option: str, name: str, data: object, allowed: str) -> DataColumn:
    """Return a column of the data, or raise `ColumnError` if there is none."""
    if isinstance(data, pd.DataFrame) and name in data.columns:
        return data[name]
    names = data.columns if isinstance(data, pd.DataFrame) else ()
    balanced = " or 'balanced'" if option == "weights" else ""
    raise errors.ColumnError(
        f"{option}={shown(name)} is not a column of the data"
        f"{errors.did_you_mean(name, names)}; use the name of a column"
        f"{balanced}; in Python also {allowed}."
    )


@dataclass(frozen=True, eq=False)
class RowOptions:
    """Options with a value for each row: weights, counts and offset.

    `weights` is an array, or as for `weights_of_rows`. `by_row` contains weights of
    rows, counts and parts of the offset by name, NaN where a value is missing.
    """

    data: object
    index: pd.Index
    rows: Positions
    weights: object
    counts: Counts | None
    by_row: dict[str, Vector]
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
        """Read the options, and the offset of a formula."""
        rows, by_row = np.arange(len(index)), dict[str, Vector]()
        counts = total_offset = None
        if weights is not None and kind_of(weights) == "rows":
            numbers = numbers_of_rows("weights", weights, data, index, ALLOWED)
            by_row["weights"] = numbers
        if freq_weights is not None:
            numbers = by_row["freq_weights"] = whole_counts(freq_weights, data, index)
            rows = positions_counted(np.where(np.isnan(numbers), 1.0, numbers), data)
            name = freq_weights if isinstance(freq_weights, str) else ""
            counts = Counts(name, len(index))
        if offsets is not None:
            parts = offsets.by_part(data, offset)
            by_row |= parts
            total_offset = np.sum(list(parts.values()), axis=0)[rows]
        by_row = {name: values[rows] for name, values in by_row.items()}
        weights = by_row.get("weights", weights)
        return cls(data, index, rows, weights, counts, by_row, offsets, total_offset)

    @property
    def lacking(self) -> dict[str, Mask]:
        """Rows in which a weight, count or part of the offset is missing, by name."""
        return {name: np.isnan(values) for name, values in self.by_row.items()}


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of the rows of a fit, for one-way or two-way clustering.

    Attributes
    ----------
    names : tuple of str
        Names of the columns, one for each grouping; empty if the labels have no name.
    numbers : tuple of int
        Number of groups in each grouping.
    codes : tuple of int arrays, shape (n,)
        Group of every row, numbered from 0 in order of appearance. Empty for a loaded
        fit, which has no rows.
    by_name : bool
        Whether the user passed names of columns, not labels.
    strata : int array, shape (n,), or None
        Stratum of each row. All rows of a group are in one stratum.
    strata_number : int
        Number of strata; 0 without strata.
    strata_name : str
        Name of the column of strata; empty if the labels have no name.
    """

    names: tuple[str, ...]
    numbers: tuple[int, ...]
    codes: tuple[NDArray[np.intp], ...] = ()
    by_name: bool = False
    strata: NDArray[np.intp] | None = None
    strata_number: int = 0
    strata_name: str = ""

    _field_rules = "numbers several, codes code"

    @property
    def fewest(self) -> int:
        """Number of groups; with two groupings, the smaller number."""
        return min(self.numbers)

    def df(self, k: int) -> float:
        """Degrees of freedom of the t distribution, for ``k`` coefficients.

        They are ``G - 1``, with `fewest` for G; in S strata ``G - S + 1 - k``.
        """
        if self.strata_number:
            return self.fewest - self.strata_number + 1.0 - k
        return self.fewest - 1.0

    def among(self, rows: Positions) -> "Groups":
        """The groups of some rows, renumbered.

        Examples
        --------
        >>> groups = Groups(("",), (3,), (np.array([0, 1, 2, 2]),))
        >>> found = groups.among(np.array([1, 3]))
        >>> found.numbers, found.codes[0].tolist()
        ((2,), [0, 1])
        """
        coded = [pd.factorize(codes[rows]) for codes in self.codes]
        numbers = tuple(len(levels) for _, levels in coded)
        codes = tuple(codes for codes, _ in coded)
        if self.strata is None:
            return replace(self, numbers=numbers, codes=codes)
        strata, levels = pd.factorize(self.strata[rows])
        return replace(
            self, numbers=numbers, codes=codes, strata=strata, strata_number=len(levels)
        )

    def __str__(self) -> str:
        pairs = zip(self.numbers, self.names, strict=True)
        words = [f"{n:,} groups" + f" of {name}" * bool(name) for n, name in pairs]
        text = " and ".join(words)
        if self.strata_number:
            text += f" in {self.strata_number:,} strata"
            text += f" of {self.strata_name}" * bool(self.strata_name)
        return text


@dataclass(frozen=True, eq=False)
class RowIndex:
    """Positions of the rows of a fit in the data.

    Attributes
    ----------
    positions : int array, shape (n,)
        Position in the data of each row of the fit.
    index : Index
        Row labels of the data, including excluded rows.
    labelled : bool
        Whether the data have row labels of their own.
    frame : DataFrame or None
        The data if they are a DataFrame: source of columns that the user names.
    """

    positions: Positions
    index: pd.Index
    labelled: bool
    frame: pd.DataFrame | None = None

    @classmethod
    def of(cls, data: object, positions: Positions, index: pd.Index) -> "RowIndex":
        """Store the positions and row labels, and the columns of a DataFrame."""
        if isinstance(data, pd.DataFrame):
            return cls(positions, data.index, True, data.copy(deep=False))
        return cls(positions, index, isinstance(data, pd.Series))

    def groups(self, labels: object) -> Groups:
        """Read the groups of the rows.

        Parameters
        ----------
        labels : str, Series, array or list, shape (n,); or two of them
            Labels of the groups, one for each row of the data, including excluded
            rows; or the name of a column. A frame or an array may have two columns.

        Raises
        ------
        ColumnError
            If there is no column of this name.
        DataError
            If there is not one label for each row, a label is missing in a row of the
            fit, or all rows are in one group.
        OptionError
            If there are more than two groupings.

        Examples
        --------
        >>> lines = RowIndex(np.array([0, 1, 3]), pd.RangeIndex(4), False)
        >>> groups = lines.groups(["b", "a", "c", "b"])
        >>> str(groups), groups.codes[0].tolist()
        ('2 groups', [0, 1, 0])
        """
        ways = _ways(labels)
        if not 0 < len(ways) <= MOST_WAYS:
            raise errors.OptionError(
                f"groups= contains {counted(len(ways), 'grouping')}; use one or two."
            )
        coded = [self._coded(way) for way in ways]
        names, numbers, codes = zip(*coded, strict=True)
        by_name = all(isinstance(way, str) for way in ways)
        return Groups(names, numbers, codes, by_name)

    def stratified(self, groups: Groups | None, strata: object) -> Groups:
        """Groups in strata; without `groups`, each row is a group.

        The same label in two strata denotes two groups, as with ``nest = TRUE`` in R's
        survey package.

        Raises
        ------
        DataError
            If a stratum has only one group, or if the labels of strata are not allowed
            as labels in `groups`.
        OptionError
            If `strata` or `groups` is not a single column.

        Examples
        --------
        >>> lines = RowIndex(np.arange(4), pd.RangeIndex(4), False)
        >>> str(lines.stratified(None, ["a", "a", "b", "b"]))
        '4 groups in 2 strata'
        """
        (way, *others), n = _ways(strata), len(self.positions)
        name, number, codes = self._coded(way, "strata")
        if groups is None:
            groups = Groups(("",), (n,), (np.arange(n),))
        if others or len(groups.codes) > 1:
            raise errors.OptionError(
                "strata= or groups= contains several groupings; pass one column for "
                "each of them."
            )
        pairs = codes * np.int64(groups.numbers[0]) + groups.codes[0]
        nested, units = pd.factorize(pairs)
        sizes = np.bincount(units // groups.numbers[0], minlength=number)
        if (sizes < 2).any():
            singletons = self.index[self.positions[codes == int(sizes.argmin())]]
            raise errors.DataError(
                f"The stratum of row {shown(singletons[0])} has only one group, so its "
                "variance is not defined; merge it with another stratum."
            )
        return replace(
            groups,
            numbers=(len(units),),
            codes=(nested,),
            strata=codes,
            strata_number=number,
            strata_name=name,
        )

    def _coded(
        self, way: object, argument: str = "groups"
    ) -> tuple[str, int, NDArray[np.intp]]:
        """Return name, number and codes of the groups of one grouping."""
        has_labels = isinstance(way, pd.Series) and self.labelled
        if isinstance(way, str):
            way = column_named(argument, way, self.frame, GROUPS_ALLOWED)
        labels = user_data.column_of_labels(way, argument)
        user_data.check_aligned(argument, labels, self.index, has_labels)
        name = "" if labels.name is None else str(labels.name)
        of = f" of {name}" if name else ""
        codes, levels = pd.factorize(labels.iloc[self.positions])
        if (codes < 0).any():
            rows = pd.unique(self.index[self.positions[codes < 0]])
            raise errors.DataError(
                f"{argument}{of} are missing in {counted(len(rows), 'row')} of the fit "
                f"({listing(rows)}); fill them, or leave these rows out of the data."
            )
        if len(levels) < 2:
            raise errors.DataError(
                f"{argument}{of} are {shown(levels[0])} in all rows; use at least two, "
                f"or leave {argument}= out."
            )
        return name, len(levels), codes


def _ways(labels: object) -> list[object]:
    """Return the groupings: columns of a table, or items of a list of columns."""
    if isinstance(labels, pd.DataFrame):
        return [labels.iloc[:, j] for j in range(labels.shape[1])]
    if isinstance(labels, np.ndarray) and labels.ndim == 2:
        return [labels[:, j] for j in range(labels.shape[1])]
    if not isinstance(labels, list | tuple) or not 0 < len(labels) <= MOST_WAYS + 1:
        return [labels]
    are_columns = all(isinstance(item, COLUMNS) for item in labels)
    return list(labels) if are_columns else [labels]


@dataclass(frozen=True)
class MissingRowCounts:
    """Numbers of rows excluded from a fit for missing values.

    Attributes
    ----------
    outcome : int
        Number of rows without an outcome.
    predictors : int
        Number of rows with an outcome that lack a predictor, weight, count or offset.
    missing : tuple of pairs (str, int)
        Names of columns, and how many values each lacks, in all rows of the data.
    """

    outcome: int
    predictors: int
    missing: tuple[tuple[str, int], ...] = ()

    _field_rules = "outcome nonnegative, predictors nonnegative"

    @property
    def total(self) -> int:
        """Number of all excluded rows."""
        return self.outcome + self.predictors

    @property
    def by_column(self) -> str:
        """Columns with missing values, those with the most first, as text.

        Examples
        --------
        >>> MissingRowCounts(1, 2, (("y", 1), ("age", 2))).by_column
        "2 in 'age', 1 in 'y'"
        """
        most = sorted(self.missing, key=lambda pair: -pair[1])
        first = ", ".join(f"{n:,} in {shown(name)}" for name, n in most[:MOST_NAMED])
        more = len(most) - MOST_NAMED
        return first + (f" and in {counted(more, 'more column')}" if more > 0 else "")

    def __str__(self) -> str:
        missing_outcome = f" ({self.outcome:,} without outcome)" if self.outcome else ""
        return f"{self.total:,}{missing_outcome}"


@dataclass(frozen=True, eq=False)
class Sample:
    """Complete rows of the data, with labels, weights and offsets.

    Attributes
    ----------
    X : float64 or float32 array, or CSR array, shape (n, p)
    y : float64 array, shape (n,), of -1 and +1
    index : Index, shape (n,)
        Row labels of the data.
    design : Design
    coding : LabelCoding
    dropped : MissingRowCounts
    complete : bool array
        Rows of the data that are in the sample.
    weights : float64 array, shape (n,), or None
        Weights of the rows, with mean 1; None if all are 1.
    raw_weights : float64 array, shape (n,), or None
        The weights before they were scaled.
    weights_of : "rows", "levels" or "balanced"
        As for `Problem`.
    counted : Counts or None
        Source of the frequency weights.
    lines : RowIndex or None
        Positions of the rows in the data.
    offset : float64 array, shape (n,), or None
        Offset of each row.
    offsets : Offset or None
        Source of the offset.
    """

    X: Predictors
    y: Vector
    index: pd.Index
    design: Design
    coding: LabelCoding
    dropped: MissingRowCounts
    complete: Mask
    weights: Vector | None = None
    raw_weights: Vector | None = None
    weights_of: WeightsOf = "rows"
    counted: Counts | None = None
    lines: RowIndex | None = None
    offset: Vector | None = None
    offsets: Offset | None = None

    @property
    def n_weighed(self) -> int:
        """Number of rows with a weight above 0."""
        if self.weights is None:
            return int(self.y.size)
        return int((self.weights > 0.0).sum())


def sample_of_arrays(
    y: object,
    X: object,
    intercept: bool,
    coding: Coding,
    na_action: NaAction,
    weights: object = None,
    freq_weights: object = None,
    standardize: bool = False,
    offset: object = None,
) -> Sample:
    """Return the sample of labels and a frame or an array.

    Raises
    ------
    DataError, ColumnError, LabelError, OptionError
        As described for `SVM`.
    """
    labels = aligned_labels(y, X)
    design = FrameDesign.from_data(X)
    matrix = design.matrix(X)
    offsets = Offset.from_options(offset)
    options = RowOptions.of(weights, freq_weights, X, matrix.index, offset, offsets)
    if options.counts is not None:
        labels, matrix = labels.iloc[options.rows], matrix.take_rows(options.rows)
    return _complete(
        labels, design, matrix, coding, na_action, options, standardize, intercept
    )


def sample_of_formula(
    formula: str,
    data: object,
    intercept: bool,
    coding: Coding,
    na_action: NaAction,
    weights: object = None,
    freq_weights: object = None,
    functions: Mapping[str, Callable[..., object]] | None = None,
    standardize: bool = False,
    offset: object = None,
) -> tuple[Sample, bool]:
    """Evaluate a formula; return the sample and whether it has an intercept."""
    frame = user_data.as_data(data)
    functions = check_functions(functions, frame.columns)
    offsets = Offset.from_options(
        offset, offset_terms(formula, frame, functions), functions
    )
    options = RowOptions.of(weights, freq_weights, frame, frame.index, offset, offsets)
    if options.counts is not None:
        frame = frame.iloc[options.rows]
    labels = outcome_of(formula, frame, functions)
    labels = user_data.column_of_labels(labels, _name_of(labels))
    usable = labels.notna().to_numpy(dtype=bool)
    for rows in options.lacking.values():
        usable = usable & ~rows
    design, matrix, has_intercept = design_of(
        formula, frame, usable, intercept, functions
    )
    if isinstance(design, FormulaDesign):
        warn_of_columns(design.doubtful)
    sample = _complete(
        labels, design, matrix, coding, na_action, options, standardize, has_intercept
    )
    return sample, has_intercept


def aligned_labels(y: object, X: object) -> DataColumn:
    """Return `y` as a Series with the row labels of `X`.

    Raises
    ------
    DataError
        If `y` and `X` do not have the same rows, or if `X` precedes `y`.
    """
    table = isinstance(y, np.ndarray | pd.DataFrame) and y.ndim == 2 and y.shape[1] > 1
    if table and isinstance(X, np.ndarray | pd.Series) and X.ndim == 1:
        raise errors.DataError("Labels come first, predictors second; pass y, then X.")
    index = row_labels(X)
    labels = user_data.column_of_labels(y)
    if not isinstance(y, pd.Series | pd.DataFrame) and len(labels) == len(index):
        labels = labels.set_axis(index)
    user_data.check_aligned(
        "y", labels, index, isinstance(X, pd.DataFrame | pd.Series), "X"
    )
    return labels.set_axis(index)


def _complete(
    labels: DataColumn,
    design: Design,
    matrix: ModelMatrix,
    coding: Coding,
    na_action: NaAction,
    options: RowOptions,
    standardize: bool,
    intercept: bool,
) -> Sample:
    """Select complete rows; code labels, weigh rows, scale predictors."""
    usable = labels.notna().to_numpy(dtype=bool)
    complete = usable & matrix.complete
    name = _name_of(labels)
    lacking = {name: int((~usable).sum())}
    lacking |= {column: len(rows) for column, rows in matrix.missing.items()}
    for part, absent in options.lacking.items():
        complete = complete & ~absent
        lacking[part] = int(absent.sum())
    missing = tuple((column, count) for column, count in lacking.items() if count)
    others = int((usable & ~complete).sum())
    dropped = MissingRowCounts(int((~usable).sum()), others, missing)
    _check_rows(complete, matrix.index, na_action, dropped)
    index, rows = matrix.index.copy(deep=True), options.rows
    if not complete.all():
        labels, index, rows = labels[complete], index[complete], rows[complete]
    if not usable.all() and isinstance(labels.dtype, np.dtype):
        labels = as_levels(labels)  # integers next to missing values became floats
    levels = outcomes.coding_of(labels, coding, name)
    if levels.rule == "factor":
        levels = outcomes.as_in_formula(levels, design.formula, design.functions)
    y = outcomes.coded(labels, levels)
    raw = options.weights
    raw = raw[complete] if isinstance(raw, np.ndarray) else raw
    raw = weights_of_rows(raw, y, levels)
    weights = row_weights(raw, y, levels)
    X = user_data.selected(matrix.values, complete[matrix.complete])
    check_flag("standardize", standardize)
    if standardize:
        count = rows_of_weights(raw)
        scaling = Scaling.of(X, intercept, weights, count)
        X, design = scaling.apply(X), ScaledDesign(design, scaling)
    else:
        if isinstance(X, np.ndarray):  # a memory map may be of any size
            cure = "write the rows to files and pass ps.scan(...)"
            user_data.check_memory(X.nbytes, "A copy of the predictors", cure)
        X = owned(X, options.data)
    return Sample(
        X=X,
        y=y,
        index=index,
        design=design,
        coding=levels,
        dropped=dropped,
        complete=complete,
        weights=weights,
        raw_weights=raw,
        weights_of=kind_of(options.weights),
        counted=options.counts,
        lines=RowIndex.of(options.data, rows, options.index),
        offset=None if options.offset is None else options.offset[complete],
        offsets=options.offsets,
    )


def _name_of(labels: DataColumn) -> str:
    """Name of the outcome; ``y`` if it has none."""
    name = "y" if labels.name is None else str(labels.name)
    if not user_data.is_valid_text(name):
        raise errors.LabelError(
            f"The outcome {name!r} has a name that is not valid text; rename it."
        )
    return name


def _check_rows(
    complete: Mask, index: pd.Index, na_action: object, dropped: MissingRowCounts
) -> None:
    na_action = own_value("na_action", na_action)
    check_choice("na_action", na_action, ("drop", "raise"))
    if na_action == "raise" and not complete.all():
        raise some_missing(dropped, f" ({listing(index[~complete])})")
    if not complete.any():
        raise no_rows(len(complete), dict(dropped.missing))


def some_missing(dropped: MissingRowCounts, rows: str = "") -> errors.DataError:
    """Return the error for missing values where ``na_action="raise"``."""
    return errors.DataError(
        f"There are missing values in {counted(dropped.total, 'row')}{rows}: "
        f"{dropped.by_column}; fill them, or leave the rows out with na_action='drop'."
    )


def no_rows(total: int, missing: Mapping[str, int]) -> errors.DataError:
    """Return the error for data that have no complete row."""
    lacking = MissingRowCounts(0, 0, tuple((+Counter(missing)).items())).by_column
    return errors.DataError(
        f"None of {counted(total, 'row')} is complete{lacking and f' ({lacking})'}: "
        "each lacks the outcome, a predictor, a weight or an offset. Fill the values, "
        "or leave a predictor out."
    )
