"""Designs from formulas: columns of the terms, coded at the fit and for new rows.

Only text, categories, and the values of functions such as ``C()`` and ``cut()`` are
factors. As in R, a factor has one column fewer if earlier terms, such as the intercept,
span the constant. The fit stores the codings of the factors and the states of the
functions, and uses them to code new rows.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from itertools import chain, islice, product
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import errors
from pegasos_stats.arrays import DataColumn, Dense, Mask, Matrix
from pegasos_stats.data import user_data
from pegasos_stats.data.design import (
    Design,
    FrameDesign,
    ModelMatrix,
    check_columns,
    check_distinct,
    unscaled,
)
from pegasos_stats.data.files import NUMBERS, TEXT
from pegasos_stats.data.labels import LabelCoding, positions
from pegasos_stats.data.language import vocabulary
from pegasos_stats.data.language.formula import (
    Term,
    errors_of,
    factored,
    factors_of,
    in_backticks,
    read_terms,
    refused,
    split_formula,
    unusable,
)
from pegasos_stats.data.language.vocabulary import Functions, State, TermValue, Value
from pegasos_stats.errors import ColumnError, counted, listing, shown

FEW_LEVELS = 10  # up to this number, levels are plausible for any number of rows
ROWS_PER_LEVEL = 3  # with fewer rows, levels are probably names of rows
LOW_CODES, HIGH_CODES = (-99, -999, -9999, -99999), (999, 9999, 99999)
LIKE_NUMBERS = re.compile(r"[-+<>=~$€£¥\s]*\.?\d.*", re.DOTALL)  # also dates
Item = TypeVar("Item")
Codes: TypeAlias = NDArray[np.integer]
Levels: TypeAlias = dict[str, list[Hashable]]  # of each factor, by its column
Part: TypeAlias = tuple[tuple[str, bool], ...]  # factors; True: one column fewer
Pairs: TypeAlias = frozenset[tuple[str, bool]]
Unseen = Literal["error", "missing"]

UNSEEN: tuple[Unseen, ...] = ("error", "missing")
MANY_LEVELS = 1000  # more levels, with few rows each, are refused as names of rows
MOST_LEVELS = 10_000  # of one factor
MOST_TERM_COLUMNS = 100_000  # computed in some seconds
MOST_PARTS = 600_000  # products of subsets of factors, for all terms; some seconds
MOST_NEW_PARTS = 300  # new products of one term; the time grows with the cube
ROWS_AT_ONCE = 2048  # rows of the design matrix, filled column by column
NO_PREDICTOR = (
    "has no predictor; add one (null_deviance of a fit describes the intercept alone)."
)
ONE_LEVEL = (
    "has only factors with one level in these data; add a predictor that varies."
)


# --------------------------------------------------------------------------- factors


@dataclass(frozen=True)
class SuspiciousColumn:
    """A text column with many levels, or a numeric one with a code for missing values.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : "names", "numbers" or "codes"
        What the values look like: names of the rows; numbers (possibly with units) or
        dates; or numbers with a code for missing values, such as -99.
    n_levels, n_rows : int
    words : tuple of str
        Values that are not numbers, in order of appearance; or the code.
    row : str
        Label of the first row with such a value; empty if unknown.
    """

    name: str
    kind: Literal["names", "numbers", "codes"]
    n_levels: int
    n_rows: int
    words: tuple[str, ...] = ()
    row: str = ""

    @property
    def text(self) -> str:
        """Description of the column and of its use, with a remedy.

        Examples
        --------
        >>> print(SuspiciousColumn("lead", "numbers", 212, 300, ("<5",), "17").text)
        the column 'lead' is text, as '<5' (row 17) is not a number: 212 levels ...
        """
        if self.kind == "codes":
            return (
                f"the column {self.name!r} contains {self.words[0]}, unlike its other "
                "numbers: probably a code for missing values, which counts as a number "
                f"here. If it is a code, pass na_values={self.words[0]} when you read "
                "the data."
            )
        levels, rows = counted(self.n_levels, "level"), counted(self.n_rows, "row")
        became = "became"
        looks = f"has {levels} in {rows}, like names of rows: they"
        if self.kind == "numbers":
            row = f" (row {self.row})" if self.row else ""
            why = ", though all its values are numbers"
            if len(self.words) == 1:
                why = f", as {listing(self.words)}{row} is not a number"
            elif self.words:
                first, others = listing(self.words[:1]), listing(self.words[1:3])
                what = f"{first}{row}, {others}"
                if len(self.words) > 3:
                    what = f"{len(self.words):,} different values, such as {what},"
                why = f", as {what} are not numbers"
                became = "in the rows used became"
            looks = f"is text{why}: {levels}"
        return (
            f"the column {self.name!r} {looks} {became} "
            f"{counted(self.n_levels - 1, 'coefficient')}. Make it numbers or leave it "
            f"out; write C({in_backticks(self.name)}) if it is meant to be a factor."
        )


def suspicious_texts(
    data: pd.DataFrame, levels: Mapping[str, list[Hashable]], n_rows: int
) -> tuple[SuspiciousColumn, ...]:
    """Find text columns with many levels that look like numbers or names of rows.

    All values of a column count, because the word that makes it text may be in an
    excluded row.

    Parameters
    ----------
    data : DataFrame
    levels : mapping of str to list
        Levels of the columns that became factors without ``C()``.
    n_rows : int
        Number of rows used.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [str(i) for i in range(20)] + ["<5"]})
    >>> (column,) = suspicious_texts(frame, {"x": sorted(set(frame["x"]))}, 21)
    >>> column.kind, column.words, column.row
    ('numbers', ('<5',), '20')
    """
    columns = []
    for name, labels in levels.items():
        n_levels = len(labels)
        is_text = all(isinstance(label, str) for label in labels)
        if n_levels <= FEW_LEVELS or not is_text:
            continue
        texts = data[name].dropna().astype(str).drop_duplicates()
        if texts.str.fullmatch(LIKE_NUMBERS).mean() > 0.5:
            words = texts[pd.to_numeric(texts, errors="coerce").isna()]
            row = str(words.index[0]) if len(words) else ""
            sizes = n_levels, n_rows
            columns.append(SuspiciousColumn(name, "numbers", *sizes, tuple(words), row))
        elif n_rows < ROWS_PER_LEVEL * n_levels:
            columns.append(SuspiciousColumn(name, "names", n_levels, n_rows))
    return tuple(columns)


def coded_missing(frame: pd.DataFrame) -> tuple[SuspiciousColumn, ...]:
    """Find columns of numbers that contain a common code for missing values.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [40, -99, 61], "z": [-99.0, -3.5, 8.0]})
    >>> frame["change"] = [-99.0, -61.5, 8.0]
    >>> [(column.name, column.words) for column in coded_missing(frame)]
    [('age', ('-99',)), ('z', ('-99',))]
    """
    columns = []
    for name, column in frame.items():
        low, high = float(column.min()), float(column.max())
        for code, others in (
            (low, column[column > low]),
            (high, column[column < high]),
        ):
            if code not in (*LOW_CODES, *HIGH_CODES) or not len(others):
                continue
            is_far = 3 * others.abs().max() < abs(code)
            if is_far or (code < 0 and others.min() >= 0):
                codes = (f"{code:g}",)
                columns.append(
                    SuspiciousColumn(str(name), "codes", 0, len(column), codes)
                )
    return tuple(columns)


def warn_of_columns(columns: Iterable[SuspiciousColumn]) -> None:
    """Issue one warning for each column."""
    for column in columns:
        text = f"{column.text[:1].upper()}{column.text[1:]}"
        errors.warn_caller(text, errors.ColumnWarning)


def is_factor(value: Value) -> bool:
    """Whether a value is text, categories, or a factor such as ``C()`` returns."""
    if isinstance(value, TermValue):
        return value.is_factor
    return vocabulary.is_column(value) and (
        isinstance(value.dtype, pd.CategoricalDtype)
        or pd.api.types.is_string_dtype(value.dtype)
    )


@dataclass(frozen=True, eq=False)
class FactorCoding:
    """Coding of a factor: the columns that represent its levels.

    Attributes
    ----------
    levels : list
        Levels in their order.
    names : tuple of str
        Names of the columns of its contrasts.
    base : int or None
        Position of the reference level of treatment contrasts.
    matrix : float64 array, shape (len(levels), len(names)), or None
        Contrasts other than treatment contrasts.
    fixed : bool
        Whether the columns do not depend on the other terms.
    """

    levels: list[Hashable]
    names: tuple[str, ...]
    base: int | None = 0
    matrix: Matrix | None = None
    fixed: bool = False

    _field_rules = "matrix lc finite"

    @classmethod
    def of(cls, text: str, value: Value, levels: list[Hashable]) -> "FactorCoding":
        """Return the coding of a factor by its contrasts.

        Raises
        ------
        ColumnError
            If a level is invalid text, or too long.
        ValueError
            If the reference level of the contrasts is not a level.
        """
        for level in levels:
            if isinstance(level, str) and not user_data.is_valid_text(level):
                raise ColumnError(
                    f"{shown(text)[1:-1]} has the level {shown(level)}, which is not "
                    f"valid text of up to {user_data.LONGEST_TEXT:,} characters; "
                    "shorten it."
                )
        chosen = getattr(value, "contrasts", None)
        if chosen is None or len(levels) < 2:
            return cls(levels, tuple(f"{text}[T.{level}]" for level in levels[1:]))
        from formulaic.transforms import contrasts

        if not isinstance(chosen, contrasts.Contrasts):
            chosen = contrasts.CustomContrasts(chosen)
        base = getattr(chosen, "base", contrasts.UNSET)
        if base is not contrasts.UNSET and base not in levels:
            texts = {str(level): level for level in levels}  # as R names them
            if base not in texts:
                raise ValueError(
                    f"{shown(base)} is not a level of {text}; use {listing(levels)}"
                )
            chosen = replace(chosen, base=texts[base])
        fixed = isinstance(chosen, contrasts.CustomContrasts)
        form = chosen.get_factor_format(levels, reduced_rank=True)
        names = tuple(
            form.format(name=text, field=field)
            for field in chosen.get_coding_column_names(levels, reduced_rank=True)
        )
        if isinstance(chosen, contrasts.TreatmentContrasts):
            base = levels.index(chosen.get_drop_field(levels, reduced_rank=False))
            return cls(levels, names, base)
        matrix = chosen.get_coding_matrix(levels, reduced_rank=True)
        return cls(levels, names, None, np.asarray(matrix, dtype=np.float64), fixed)

    def names_of(self, text: str, reduced: bool) -> list[str]:
        """Names of the contrasts if `reduced` or `fixed`, else of all levels."""
        if reduced or self.fixed:
            return list(self.names)
        return [f"{text}[{level}]" for level in self.levels]

    def columns(self, codes: Codes, reduced: bool) -> list[NDArray[np.generic]]:
        """Return the columns for rows whose levels have these positions.

        There is one column for each level, or one fewer if `reduced`. A `fixed` coding
        always has the columns of its matrix.

        Examples
        --------
        >>> FactorCoding(["u", "v"], ("g[T.v]",)).columns(np.array([0, 1]), True)
        [array([False,  True])]
        """
        if self.matrix is not None and (reduced or self.fixed):
            return list(self.matrix[codes].T)
        reference = self.base if reduced else None
        return [codes == i for i in range(len(self.levels)) if i != reference]

    def _conditions(self) -> Iterator[object]:
        """Levels differ, and all columns have names."""
        levels, names = self.levels, self.names
        yield len(set(levels)) == len(levels) and not pd.isna(pd.Series(levels)).any()
        if self.matrix is None:
            yield len(names) in (0, len(levels) - 1)
            yield self.base in range(len(levels))
        else:
            yield self.matrix.shape == (len(levels), len(names))


def named_levels(column: DataColumn) -> DataColumn:
    """Convert categories that are not text, numbers or booleans to text.

    Examples
    --------
    >>> named_levels(pd.cut(pd.Series([1.0, 5.0]), [0, 2, 9])).tolist()
    ['(0, 2]', '(2, 9]']
    """
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    levels = column.dtype.categories
    is_plain = levels.dtype.kind in "biuf" or pd.api.types.is_string_dtype(levels)
    return column if is_plain else column.cat.rename_categories(str)


def codes_of(values: Value, levels: Sequence[Hashable]) -> Codes:
    """Position of each value among the levels; -1 for other and missing values.

    ``1``, ``1.0`` and ``True`` are the same level.
    """
    column = pd.Series(values)
    is_category = isinstance(column.dtype, pd.CategoricalDtype)
    if is_category and list(column.cat.categories) == levels:
        return column.cat.codes.to_numpy()
    return positions(column, levels)


# -------------------------------------------------------------- contrasts and products


def factors_at_fit(
    values: dict[str, Value],
) -> tuple[dict[str, FactorCoding], dict[str, list[Hashable]], tuple[str, ...]]:
    """Return codings, labels of multi-column values, and values spanning the constant.

    Parameters
    ----------
    values : dict
        Values by the text of their expressions. Factors are converted in place to
        columns of categories.

    Raises
    ------
    ColumnError
        If values are dates, durations, intervals or complex numbers, if a level is
        invalid text, or if ``levels=`` omits a level.
    """
    codings, fields, spanning = dict[str, FactorCoding](), {}, []
    for text, value in values.items():
        if is_factor(value):
            column = vocabulary.as_levels(vocabulary.unwrapped_value(value)).astype(
                "category"
            )
            levels = getattr(value, "levels", None) or list(column.cat.categories)
            present = column.unique()
            if omitted := list(present[codes_of(present, levels) < 0]):
                raise ColumnError(
                    f"levels= of {text} omits {listing(omitted)}, which occurs in the "
                    "data; add it, or drop its rows."
                )
            codings[text], values[text] = FactorCoding.of(text, value, levels), column
        elif [*(parts := fields_of(value))] != [None]:
            fields[text] = list(parts)
        if getattr(value, "spans_intercept", is_factor(value)):
            spanning.append(text)
    return codings, fields, tuple(spanning)


def fields_of(value: Value) -> dict[Hashable, NDArray[np.generic]]:
    """Return the columns of a value by label; a single column has the label None."""
    plain = vocabulary.unwrapped_value(value)
    columns = plain.items() if isinstance(plain, pd.DataFrame) else [(None, plain)]
    return {label: _as_numbers(column) for label, column in columns}


def _as_numbers(column: Value) -> NDArray[np.generic]:
    """Return numbers; raise `ColumnError` for dates, durations, intervals, complex."""
    dtype = getattr(column, "dtype", np.dtype(float))
    if vocabulary.is_time(column) or isinstance(dtype, pd.IntervalDtype):
        raise vocabulary.no_number(column.name, dtype)
    if dtype.kind == "c":
        raise ColumnError(
            f"Column {listing([column.name])} is of type {dtype}; use real numbers."
        )
    return np.asarray(column, np.float32 if dtype == np.float32 else np.float64)


@lru_cache(maxsize=16)
def parts_of(
    terms: tuple[Term, ...], spanning: tuple[str, ...]
) -> tuple[tuple[Part, ...], ...]:
    """Return the products of factors that each term adds to the span of earlier terms.

    Examples
    --------
    >>> from pegasos_stats.data.language.formula import Factor
    >>> one, g = Factor("1", "number"), Factor("g", "column")
    >>> parts_of((Term((one,)), Term((g,))), ("g",))
    (((),), ((('g', True),),))
    >>> parts_of((Term((g,)),), ("g",))
    (((('g', False),),),)
    """
    wide, earlier, count = frozenset(spanning), set[Pairs](), 0
    parts_of_terms = []
    for term in terms:
        texts = [factor.text for factor in term.factors if factor.kind != "number"]
        count += 2 ** len(wide.intersection(texts))
        _check_few(count, MOST_PARTS, "products of subsets of their factors")
        choices = [((t, True), None) if t in wide else ((t, False),) for t in texts]
        parts = [tuple(filter(None, chosen)) for chosen in product(*choices)]
        new = {frozenset(part): part for part in parts if {*part} not in earlier}
        what = "products within one term that are not terms (write a*b for a:b)"
        _check_few(len(new), MOST_NEW_PARTS, what)
        parts_of_terms.append(_merged(new.values()))
        earlier.update(new)
    return tuple(parts_of_terms)


def _check_few(count: int, most: int, what: str) -> None:
    if count > most:
        raise ValueError(f"its terms have more than {most:,} {what}")


def _merged(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Replace ``a``, and ``a:g`` without one level of g, by ``a:g`` with all levels."""
    merged: dict[Pairs, Part] = {}
    for part in sorted(parts, key=len):
        for other in merged.values():
            new = set(part).difference(other)
            if len(part) - 1 == len(other) and len(new) == 1 and next(iter(new))[1]:
                whole = tuple((t, r and (t, r) not in new) for t, r in part)
                rest = [one for one in merged.values() if one != other]
                merged = {frozenset(p): p for p in _merged([*rest, whole])}
                break
        else:
            merged.setdefault(frozenset(part), part)
    return tuple(merged.values())


def names_of_terms(
    terms: tuple[Term, ...],
    spanning: tuple[str, ...],
    codings: Mapping[str, FactorCoding],
    fields: Mapping[str, Sequence[Hashable]],
) -> tuple[tuple[str, ...], ...]:
    """Names of the columns of each term; the first factor changes fastest."""

    def names_of(text: str, reduced: bool) -> list[str]:
        if text in codings:
            return codings[text].names_of(text, reduced)
        if text not in fields:
            return [text]
        return [f"{text}[{label}]" for label in fields[text][reduced:]]

    names_by_term, left = [], MOST_TERM_COLUMNS
    for parts in parts_of(terms, spanning):
        names = (":".join(pair) for part in parts for pair in products(part, names_of))
        names_by_term.append(tuple(islice(names, left + 1)))
        left -= len(names_by_term[-1])
        _check_few(MOST_TERM_COLUMNS - left, MOST_TERM_COLUMNS, "columns")
    return tuple(names_by_term)


def products(
    part: Part, columns: Callable[[str, bool], list[Item]]
) -> Iterator[tuple[Item, ...]]:
    """Combine the columns of the factors in all ways, the first changing fastest.

    Examples
    --------
    >>> part = ("g", True), ("h", True)
    >>> names = lambda text, reduced: [text + "1", text + "2"]
    >>> ["".join(combination) for combination in products(part, names)]
    ['g1h1', 'g2h1', 'g1h2', 'g2h2']
    """
    if part:
        pools = [columns(*factor) for factor in reversed(part)]
        yield from (chosen[::-1] for chosen in product(*pools))


def _side_by_side(pieces: Sequence[NDArray[np.generic]], n: int) -> Dense:
    """Return columns as a C-contiguous matrix of n rows; float32 if all columns are."""
    single = all(piece.dtype == np.float32 for piece in pieces)
    matrix = np.empty((n, len(pieces)), np.float32 if single else np.float64)
    columns = [np.broadcast_to(piece, n) for piece in pieces]
    for first in range(0, n, ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        for j, column in enumerate(columns):
            matrix[rows, j] = column[rows]
    return matrix


def special_types(frame: pd.DataFrame) -> dict[str, str]:
    """Return the types of columns other than text and numbers exact in float64.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [0.5], "b": [True], "id": [2**60], "g": ["u"]})
    >>> special_types(frame)
    {'b': 'boolean', 'id': 'long'}
    """
    types = {}
    for name, column in frame.items():
        kind = column.dtype.kind
        if kind == "b":
            types[str(name)] = "boolean"
        elif kind in "iu" and not column.between(-(2**53), 2**53).all():
            types[str(name)] = "long"
        elif kind not in "iuf" and vocabulary.kind_of(column) != "text":
            types[str(name)] = "other"
    return types


# ------------------------------------------------------------ designs and their rows


@dataclass(frozen=True, eq=False)
class FormulaDesign:
    """The right-hand side of a formula, with its coding at the fit.

    Attributes
    ----------
    formula : str
        The formula of the user.
    terms : tuple of Term
        Its terms, with the intercept.
    columns : tuple of tuple of str
        Names of the coefficients of each term.
    variables : tuple of str
        Columns that the terms use.
    numeric : tuple of str
        Variables that were numeric at the fit.
    codings : dict of str to FactorCoding
        Levels and contrasts of factors, by their text.
    fields : dict of str to list
        Labels of the columns of expressions that have several.
    spanning : tuple of str
        Factors whose columns span the constant.
    state : dict of str to dict
        States of transformations, by the text of their calls.
    functions : dict of str to callable
        Further functions, supplied by the user.
    doubtful : tuple of SuspiciousColumn
        Columns that probably have another type than intended, or contain codes for
        missing values.
    types : dict of str to str
        Types of variables that databases treat differently, see `special_types`.
    """

    formula: str
    terms: tuple[Term, ...]
    columns: tuple[tuple[str, ...], ...]
    variables: tuple[str, ...]
    numeric: tuple[str, ...]
    codings: dict[str, FactorCoding]
    fields: dict[str, list[Hashable]]
    spanning: tuple[str, ...]
    state: dict[str, State]
    functions: Functions = field(default_factory=dict)
    doubtful: tuple[SuspiciousColumn, ...] = ()
    types: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_terms(
        cls,
        formula: str,
        terms: tuple[Term, ...],
        data: pd.DataFrame,
        usable: Mask,
        functions: Functions | None = None,
        every_row: bool = True,
    ) -> tuple["FormulaDesign", ModelMatrix]:
        """Code the complete rows of `data` by the terms of a formula.

        Parameters
        ----------
        formula : str
        terms : tuple of Term
            Its right-hand side, read.
        data : DataFrame, n rows
        usable : bool array, shape (n,)
            Rows that have an outcome.
        functions : dict of str to callable, optional
            Further functions, supplied by the user.
        every_row : bool
            Whether `data` contains all rows; otherwise only some, in which each level
            occurs.

        Raises
        ------
        FormulaError
            If the terms cannot be evaluated.
        ColumnError
            If a column is missing or contains infinite values.
        DataError
            If no row is complete.
        """
        rows = FormulaRows.of(formula, terms, data, usable, functions or {})
        used = rows.used
        if len(data) == 0:
            raise errors.DataError("The data have no rows; pass rows of both classes.")
        if len(used) == 0:
            counts = [f"{len(at)} in {name!r}" for name, at in rows.absent.items()]
            raise errors.DataError(
                f"No row is complete in the outcome and {listing(rows.variables)}; "
                f"missing: {', '.join(counts) or 'the outcome'}. Fill the values, or "
                "leave a predictor out."
            )
        with errors_of(formula, used):
            if every_row:
                _check_levels_are_few(rows)
            codings, fields, spanning = factors_at_fit(rows.values)
            columns = names_of_terms(terms, spanning, codings, fields)
        check_distinct(names := [*chain.from_iterable(columns)])
        if not names:
            raise refused(formula, ONE_LEVEL)
        levels = {n: codings[n].levels for n in codings if n in used.columns}
        doubtful = suspicious_texts(data, levels, len(used))
        doubtful += coded_missing(used[[n for n in used if n in rows.numbers]])
        if not every_row:  # the number and the labels of all rows are unknown
            doubtful = tuple(
                replace(column, row="") for column in doubtful if column.kind != "names"
            )
        design = cls(
            formula,
            terms,
            columns,
            tuple(rows.variables),
            tuple(sorted(rows.numbers)),
            codings,
            fields,
            spanning,
            rows.state,
            functions or {},
            doubtful,
            special_types(used[rows.variables]),
        )
        return design, design._of_rows(rows, data.index)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, without the intercept."""
        return tuple(chain.from_iterable(self.columns))

    def variables_of(self, term: Term) -> set[str]:
        """Columns of the data that a term is computed from."""
        nothing = pd.DataFrame(columns=list(self.variables))
        return set(factors_of([term], self.formula, nothing, self.functions)[0])

    @property
    def levels(self) -> Levels:
        """Levels of the columns that are factors, by column."""
        levels = {
            factored(t, self.variables): c.levels for t, c in self.codings.items()
        }
        return {name: levels[name] for name in levels if name in self.variables}

    @property
    def reference_levels(self) -> dict[str, object]:
        """The reference level of each factor with treatment contrasts."""
        return {
            text: coding.levels[coding.base]
            for text, coding in self.codings.items()
            if coding.base is not None
            and any(f"{text}[T." in name for name in self.names)
        }

    def matrix(self, data: object, unknown: bool = False) -> ModelMatrix:
        """Return the matrix of `data`, coded as at the fit.

        With `unknown`, new levels and values outside the range of a spline count as
        missing.

        Raises
        ------
        ColumnError
            If columns are missing, or contain new levels, text in place of numbers, or
            infinite values.
        """
        data = user_data.as_data(data)
        check_columns(data, self.variables)
        data, factors = data[list(self.variables)], self.levels
        user_data.numeric_values(data[[n for n in self.numeric if n not in factors]])
        state, levels = deepcopy(self.state), {}
        if unknown:
            levels = {text: coding.levels for text, coding in self.codings.items()}
            for part in state.values():
                part[vocabulary.BEYOND] = "na"
        every = np.ones(len(data), dtype=bool)
        of = self.formula, self.terms, data, every, self.functions
        return self._of_rows(FormulaRows.of(*of, state, levels), data.index)

    def valued(self, data: pd.DataFrame) -> Mask:
        """Return which rows have a value for every term, shape (n,).

        A term has no value outside the range of a spline, for a level that did not
        occur at the fit, and where a function returns a missing value.
        """
        return self.matrix(data, unknown=True).complete

    def _of_rows(self, rows: "FormulaRows", index: pd.Index) -> ModelMatrix:
        """Return the matrix of the complete rows, and which rows these are."""
        places = rows.used.index.to_numpy()
        values: Dense = np.empty((0, len(self.names)))
        if len(places):
            values = self._values(rows, index)
        labels = pd.Index(self.names, dtype=object)
        whole = user_data.checked_rows(values, labels, index[places])
        complete = np.zeros(len(index), dtype=bool)
        complete[places[whole]] = True
        missing = dict(rows.absent)
        if not whole.all():
            lacking = user_data.missing_values(values, self.names)
            missing |= {name: places[at] for name, at in lacking.items()}
        return ModelMatrix(user_data.selected(values, whole), complete, index, missing)

    def _values(self, rows: "FormulaRows", index: pd.Index) -> Dense:
        """Return the columns of the terms in complete rows."""
        encoded: dict[tuple[str, bool], list[NDArray[np.generic]]] = {}
        terms = parts_of(self.terms, self.spanning)
        parts = [part for of_term in terms for part in of_term if part]

        def columns_of(text: str, reduced: bool) -> list[NDArray[np.generic]]:
            if (text, reduced) not in encoded:
                value = vocabulary.unwrapped_value(rows[text])
                coding = self.codings.get(text)
                if coding is None:
                    encoded[text, reduced] = [*fields_of(value).values()][reduced:]
                else:
                    codes = codes_of(value, coding.levels)
                    if (unseen := codes < 0).any():
                        labels = index[rows.used.index[unseen]]
                        new = pd.Series(value)[unseen].set_axis(labels)
                        raise self._unseen(text, new)
                    encoded[text, reduced] = coding.columns(codes, reduced)
            return encoded[text, reduced]

        with errors_of(self.formula, rows.used):
            plain = [text for ((text, _), *_) in parts if text in rows.numbers]
            if len(plain) == len(self.names) and self.names == tuple(plain):
                same = list(rows.used.columns) == plain
                return user_data.numeric_values(rows.used if same else rows.used[plain])
            coded = (pair for part in parts for pair in products(part, columns_of))
            pieces = [reduce(np.multiply, columns) for columns in coded]
            if len(pieces) != len(self.names):
                raise ValueError(
                    f"its terms have {counted(len(pieces), 'column')} in these data "
                    f"and had {len(self.names)} at the fit; use functions that return "
                    "the same number of columns for all data"
                )
            return _side_by_side(pieces, len(rows.used))

    def _unseen(self, text: str, values: pd.Series) -> ColumnError:
        """Return the error for levels that did not occur at the fit."""
        return ColumnError(
            f"Column {listing([factored(text, self.variables)])} holds levels that did "
            f"not occur at fit, {listing(values.unique())}, "
            f"{user_data.in_the_rows(values.index)}; the levels are "
            f"{listing(self.codings[text].levels)}: drop or recode these rows, or "
            f"set unseen={UNSEEN[1]!r} for missing predictions."
        )

    def learnt_on(self, data: pd.DataFrame) -> "FormulaDesign":
        """Return a design with the same terms, whose states are fitted to these rows.

        Factors have the levels of the fit, even if a level is absent from these rows.
        If levels depend on a state, as in ``cut(x, 3)``, they too are computed from
        these rows. Splines are extrapolated beyond the range of these rows, as in R.
        """
        every = np.ones(len(data), dtype=bool)
        arguments = self.formula, self.terms, data[list(self.variables)], every
        if any(call in text for text in self.codings for call in self.state):
            design = self.from_terms(*arguments, self.functions)[0]
        else:
            rows = FormulaRows.of(*arguments, self.functions)
            design = replace(self, state=rows.state)
        for state in design.state.values():
            state[vocabulary.BEYOND] = "extend"
        return design


def doubtful_in(design: Design) -> tuple[SuspiciousColumn, ...]:
    """Return the suspicious columns of a design."""
    inner = unscaled(design)
    return inner.doubtful if isinstance(inner, FormulaDesign) else ()


def kinds_at_fit(design: Design, coding: LabelCoding) -> dict[str, str]:
    """Return the kinds of the columns at the fit, for reading new files.

    Without them, a text column of codes such as ``A1`` and ``12`` would become numbers
    if all its values in a new file are digits.
    """
    inner, kinds = unscaled(design), dict[str, str]()
    if isinstance(inner, FormulaDesign):
        kinds = {n: NUMBERS if n in inner.numeric else TEXT for n in inner.variables}
        for text, factor in inner.codings.items():
            if (name := factored(text, inner.variables)) in kinds:
                kinds[name] = _kind_of(factor.levels)
    outcome = (
        coding.name if design.formula is None else split_formula(design.formula)[0]
    )
    kinds.setdefault(factored(outcome, kinds), _kind_of(coding.levels))
    return {name: kind for name, kind in kinds.items() if kind}


def _kind_of(levels: Sequence[object]) -> str:
    """Return the kind of levels; empty if they are neither text nor numbers."""
    if all(isinstance(level, str) for level in levels):
        return TEXT
    is_number = all(isinstance(level, int | float | np.number) for level in levels)
    return NUMBERS if is_number else ""


def without_unseen(design: Design, data: object, warn: bool = True) -> object:
    """Replace levels that did not occur at the fit by missing values.

    Parameters
    ----------
    design : Design
    data : DataFrame or other
    warn : bool
        Whether to warn about these levels.

    Raises
    ------
    ColumnError
        If columns are missing.
    """
    inner = unscaled(design)
    if not isinstance(inner, FormulaDesign):
        return data
    frame = user_data.as_data(data)
    check_columns(frame, inner.variables)
    changed, rows, texts = frame.copy(deep=False), np.zeros(len(frame), bool), []
    for name, levels in inner.levels.items():
        column = named_levels(frame[name])
        new = (codes_of(column, levels) < 0) & column.notna().to_numpy(bool)
        if new.any():
            changed[name] = column.where(~new)
            rows |= new
            labels = column.astype(object)[new].unique()
            texts.append(f"{listing(labels, 3)} in column {name!r}")
    if texts and warn:
        what = "without a prediction, for levels that did not occur at fit"
        text = f"{counted(int(rows.sum()), 'row')} {what}: {'; '.join(texts)}."
        errors.warn_caller(text, errors.ColumnWarning)
    return changed


def design_of(
    formula: str,
    data: pd.DataFrame,
    usable: Mask,
    intercept: bool = True,
    functions: Functions | None = None,
) -> tuple[FormulaDesign | FrameDesign, ModelMatrix, bool]:
    """Read the terms of a formula and code the complete rows of `data`.

    Columns stay sparse if all terms are columns of numbers and one of them is sparse.
    With contrasts, products or functions all columns become dense.

    Parameters
    ----------
    formula : str
        ``"y ~ ."``, ``"y ~ a + C(b)"``, ``"y ~ log(a):b - 1"``; terms are combined as
        in formulaic and R. Text, categories and ``C()`` become treatment contrasts
        with the first level dropped.
    data : DataFrame, n rows
    usable : bool array, shape (n,)
        Rows that have an outcome.
    intercept : bool
        ``False`` removes the intercept, as ``- 1`` does.
    functions : dict of str to callable, optional
        Further functions, supplied by the user.

    Returns
    -------
    design : FormulaDesign or FrameDesign
    matrix : ModelMatrix
    intercept : bool
        Whether the model has an intercept.

    Raises
    ------
    FormulaError
        If the formula cannot be read or has no predictor.
    ColumnError
        If it names a column that is missing or cannot be used.
    DataError
        If no row is complete.
    """
    terms = read_terms(formula, data, intercept, functions)
    names = [str(term) for term in terms if str(term) != "1"]
    if not names:
        raise refused(formula, NO_PREDICTOR)
    free = len(names) < len(terms)
    if set(names) <= set(data.columns) and _stay_sparse(data[names]):
        plain = FrameDesign(tuple(names), True, formula, functions or {})
        return plain, plain.matrix(data), free
    design, matrix = FormulaDesign.from_terms(formula, terms, data, usable, functions)
    return design, matrix, free


def _stay_sparse(frame: pd.DataFrame) -> bool:
    """Whether some columns are sparse, and none is a factor."""
    if not user_data.is_sparse(frame):
        return False
    dense = (c for _, c in frame.items() if not isinstance(c.dtype, pd.SparseDtype))
    return not any(is_factor(user_data.plain_column(column)) for column in dense)


def _check_levels_are_few(rows: "FormulaRows") -> None:
    """Raise `ColumnError` for factors with too many levels.

    Too many are more than `MOST_LEVELS`, more than fit into memory or, without ``C()``,
    more than `MANY_LEVELS` with on average fewer than `ROWS_PER_LEVEL` rows each.
    """
    n = len(rows.used)
    for text, value in rows.values.items():
        name = factored(text, rows.variables)
        if name not in rows.variables or not is_factor(value):
            continue
        levels = rows.used[name].nunique()
        what = f"Column {listing([name])} has {levels:,} levels in {counted(n, 'row')}"
        is_name = name == text and levels > MANY_LEVELS and ROWS_PER_LEVEL * levels > n
        if is_name or levels > MOST_LEVELS:
            raise ColumnError(
                f"{what}; leave it out, group its levels, or read it as numbers (pass "
                "decimal= or na_values= when you read the file)."
            )
        cure = "leave it out, or group its levels"
        user_data.check_memory(24.0 * n * levels, what, cure)


@dataclass(frozen=True, eq=False)
class FormulaRows:
    """The rows in which every term of a formula has a value.

    As in R, terms are evaluated in all rows; then rows without a value are excluded.

    Attributes
    ----------
    used : DataFrame
        The complete rows, indexed by position, in plain dtypes.
    values : dict
        Values of expressions, and of columns that are not numbers, by their text.
    state : dict
        States of transformations, by the text of their calls.
    absent : dict of str to int array
        Positions of rows without a value, by the name of the column or expression.
    variables : list of str
        Columns that the terms use.
    numbers : set of str
        Variables that contain numbers.
    """

    used: pd.DataFrame
    values: dict[str, Value]
    state: dict[str, State]
    absent: dict[str, NDArray[np.intp]]
    variables: list[str]
    numbers: set[str]

    @classmethod
    def of(
        cls,
        formula: str,
        terms: Iterable[Term],
        data: pd.DataFrame,
        usable: Mask,
        functions: Functions,
        state: Mapping[str, State] | None = None,
        levels: Mapping[str, list[Hashable]] | None = None,
    ) -> "FormulaRows":
        """Evaluate the terms.

        Parameters
        ----------
        formula : str
        terms : iterable of Term
        data : DataFrame, n rows
        usable : bool array, shape (n,)
            Rows that have an outcome.
        functions : dict of str to callable
        state : dict, optional
            States of transformations at the fit.
        levels : dict, optional
            Levels of factors by their text; other values count as missing.
        """
        variables, names, expressions = factors_of(terms, formula, data, functions)
        whole = user_data.columns_of(data, variables).reset_index(drop=True)
        lacking = whole.columns[whole.isna().any().to_numpy()]
        lacks = {v: whole[v].isna().to_numpy(dtype=bool) for v in lacking}
        used_by = sorted(set[str]().union(*(e.columns for e in expressions.values())))
        plain, states = _plain(whole[used_by]), dict(deepcopy(state or {}))
        for call in chain.from_iterable(e.calls for e in expressions.values()):
            if state is not None and call.function.state and call.key not in state:
                why = f"the fit has no saved state of {call.key}; fit again"
                raise unusable(formula, why)
        values: dict[str, Value] = {}
        absent = {v: rows for v, rows in lacks.items() if v in names}
        for text, expression in expressions.items():
            with errors_of(formula, plain, text):
                values[text] = expression.evaluate(plain, states)
            missing = vocabulary.missing_in(values[text])
            if levels and text in levels:
                labels = vocabulary.unwrapped_value(values[text])
                missing = codes_of(labels, levels[text]) < 0
            if missing is None or not missing.any():
                continue
            absent[text] = missing.copy()
            for name in expression.columns & set(lacks):
                absent[name] = absent.get(name, False) | (lacks[name] & missing)
                absent[text] &= ~lacks[name]
        complete = usable.copy()
        for rows in absent.values():
            complete &= ~rows
        places = {
            name: np.flatnonzero(absent[name])
            for name in [*variables, *expressions]
            if name in absent and absent[name].any()
        }
        used = _plain(whole if complete.all() else whole[complete])
        numbers = {str(n) for n, dtype in used.dtypes.items() if dtype.kind in "fiub"}
        others = {name: used[name] for name in names if name not in numbers}
        computed = {text: _in_rows(value, complete) for text, value in values.items()}
        return cls(used, others | computed, states, places, variables, numbers)

    def __getitem__(self, text: str) -> Value:
        return self.values[text] if text in self.values else self.used[text]


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert columns to plain dtypes, see `plain_column`."""
    frame = frame.copy(deep=False)
    for name, dtype in frame.dtypes.items():
        if not (isinstance(dtype, np.dtype) and dtype.kind in "fiub"):
            frame[name] = named_levels(user_data.plain_column(frame[name]))
    return frame


def _in_rows(value: Value, rows: Mask) -> Value:
    """Return some rows of a value; a factor loses the levels of the other rows."""
    if isinstance(value, TermValue):
        return replace(value, values=_in_rows(value.values, rows))
    if not isinstance(value, pd.Series | pd.DataFrame):
        return value
    part = value if rows.all() else value[rows]
    is_category = isinstance(getattr(part, "dtype", None), pd.CategoricalDtype)
    return part.cat.remove_unused_categories() if is_category else part
