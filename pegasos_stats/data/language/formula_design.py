"""Designs from formulas: terms as columns, coded at the fit and again on new rows.

A factor has a column less where the terms before it span its constant, as in R. What
is found at the fit, `FactorCoding` and the state of functions, codes new rows.
"""

import math
from ast import literal_eval
from collections.abc import (
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from itertools import chain, groupby, product
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Mask
from pegasos_stats.data.design import (
    Design,
    FrameDesign,
    ModelMatrix,
    check_columns,
    check_distinct,
)
from pegasos_stats.data.language.expressions import (
    Expression,
    refused,
    unusable,
)
from pegasos_stats.data.language.factors import (
    MANY_LEVELS,
    ROWS,
    FactorCoding,
    SuspiciousFactor,
    codes_of,
    doubtful_columns,
    is_factor,
    named_levels,
)
from pegasos_stats.data.language.formula import (
    Term,
    factored,
    factors_of,
    no_value_in,
    read_terms,
)
from pegasos_stats.data.language.vocabulary import (
    BEYOND,
    Functions,
    State,
    Value,
    as_real,
    missing_in,
    taken,
    unwrapped_value,
)
from pegasos_stats.data.scaling import unscaled
from pegasos_stats.data.user_data import (
    as_data,
    check_finite,
    check_hashable,
    check_memory,
    checked_rows,
    columns_of,
    in_the_rows,
    is_sparse,
    missing_values,
    numeric_values,
    plain_column,
    selected,
)
from pegasos_stats.errors import (
    ColumnError,
    ColumnWarning,
    DataError,
    FormulaError,
    counted,
    listing,
    one_line,
    warn_caller,
)

Levels: TypeAlias = dict[str, list[Hashable]]  # of each factor, by its column
Part: TypeAlias = tuple[tuple[str, bool], ...]  # factors, and whether with one less
Pairs: TypeAlias = frozenset[tuple[str, bool]]
Unseen = Literal["error", "missing"]

UNSEEN: tuple[Unseen, ...] = ("error", "missing")
MOST_LEVELS = 10_000  # of one factor
MOST_COLUMNS = 100_000  # of products of factors, some seconds
MOST_PARTS = 600_000  # sets of factors within all terms, some seconds
MOST_NEW_PARTS = 300  # within one term and in no earlier one, whose cube is the time
TOGETHER = 2048  # rows that are written at once
NO_PREDICTOR = "has no predictor; add one."
ONE_LEVEL = "has only terms of one level in these data; add a predictor that varies."


# -------------------------------------------------------------- contrasts and products


def factors_at_fit(
    values: dict[str, Value],
) -> tuple[dict[str, FactorCoding], dict[str, list[Hashable]], tuple[str, ...]]:
    """Codings of factors, fields of values of several columns, and what spans a 1.

    Parameters
    ----------
    values : dict
        By the text of factors; those of levels become categories.
    """
    codings, fields, spanning = dict[str, FactorCoding](), {}, []
    for text, value in values.items():
        if is_factor(value):
            column = pd.Series(unwrapped_value(value)).astype("category")
            there = list(column.cat.categories)
            levels = getattr(value, "levels", None) or there
            if lacking := [level for level in there if level not in levels]:
                raise ColumnError(
                    f"levels= of {text} lacks {listing(lacking)}; add them, or drop or "
                    "recode these rows."
                )
            codings[text] = FactorCoding.of(text, value, levels)
            values[text] = column
        elif len(parts := fields_of(value)) != 1 or None not in parts:
            fields[text] = list(parts)
        if getattr(value, "spans_intercept", is_factor(value)):
            spanning.append(text)
    return codings, fields, tuple(spanning)


def fields_of(value: Value) -> dict[Hashable, NDArray[np.generic]]:
    """Columns of a value by their labels; of a single one the label is None."""
    plain = as_real(unwrapped_value(value))
    columns = plain.items() if isinstance(plain, pd.DataFrame) else [(None, plain)]
    return {label: np.asarray(column) for label, column in columns}


@lru_cache(maxsize=16)
def parts_of(
    terms: tuple[Term, ...], spanning: tuple[str, ...]
) -> tuple[tuple[Part, ...], ...]:
    """Products of factors that each term adds to what earlier terms span.

    Examples
    --------
    >>> from pegasos_stats.data.language.formula import Factor
    >>> one, g = Factor("1", "number"), Factor("g", "column")
    >>> parts_of((Term((one,)), Term((g,))), ("g",))
    (((),), ((('g', True),),))
    >>> parts_of((Term((g,)),), ("g",))
    (((('g', False),),),)
    """
    wide, seen, found, count = frozenset(spanning), set[Pairs](), [], 0
    for term in terms:
        texts = [factor.text for factor in term.factors if factor.kind != "number"]
        count += 2 ** len(wide.intersection(texts))
        _check_few(count, MOST_PARTS, "products within them")
        each = [((t, True), None) if t in wide else ((t, False),) for t in texts]
        parts = [tuple(filter(None, chosen)) for chosen in product(*each)]
        new = {frozenset(part): part for part in parts if frozenset(part) not in seen}
        what = "products within one that are no terms (write a*b for a:b)"
        _check_few(len(new), MOST_NEW_PARTS, what)
        found.append(_merged(new.values()))
        seen.update(new)
    return tuple(found)


def _check_few(count: int, most: int, what: str) -> None:
    if count > most:
        raise ValueError(f"its products of factors have more than {most:,} {what}")


def _merged(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Join ``a`` and ``a:g`` with one level less to ``a:g`` with all levels."""
    found: dict[Pairs, Part] = {}
    for part in sorted(parts, key=len):
        for other in found.values():
            new = set(part).difference(other)
            if len(part) - 1 == len(other) and len(new) == 1 and next(iter(new))[1]:
                whole = tuple((t, r and (t, r) not in new) for t, r in part)
                rest = [each for each in found.values() if each != other]
                found = {frozenset(p): p for p in _merged([*rest, whole])}
                break
        else:
            found.setdefault(frozenset(part), part)
    return tuple(found.values())


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

    count, found = 0, []
    for parts in parts_of(terms, spanning):
        each = [
            [names_of(*factor) for factor in reversed(part)] for part in parts if part
        ]
        count += sum(math.prod(map(len, factors)) for factors in each)
        _check_few(count, MOST_COLUMNS, "columns")
        names = (":".join(reversed(n)) for factors in each for n in product(*factors))
        found.append(tuple(names))
    return tuple(found)


def _products(
    scale: float, factors: list[list[NDArray[np.generic]]]
) -> Iterable[NDArray[np.generic]]:
    """Products of a column of each factor, the first changing fastest."""
    single = [columns[0] for columns in factors if len(columns) == 1]
    each = [columns for columns in factors if len(columns) != 1]
    if single:
        each.append([reduce(np.multiply, single)])
    for chosen in product(*reversed(each)):
        found = reduce(np.multiply, reversed(chosen))
        yield found if scale == 1 else scale * found


def _side_by_side(
    pieces: Sequence[str | NDArray[np.generic]], frame: pd.DataFrame
) -> Dense:
    """Columns of the frame, by their names, and others."""
    names = [piece for piece in pieces if isinstance(piece, str)]
    if len(names) == len(pieces):
        return numeric_values(frame if list(frame.columns) == names else frame[names])
    single = all(
        (frame[p].dtype if isinstance(p, str) else p.dtype) == np.float32
        for p in pieces
    )
    found = np.empty((len(frame), len(pieces)), np.float32 if single else np.float64)
    at = 0
    for kind, run in groupby(pieces, type):
        columns: list[Value] = list(run)
        if kind is str:
            found[:, at : at + len(columns)] = numeric_values(frame[columns])
        for first in range(0, len(frame) if kind is not str else 0, TOGETHER):
            rows = slice(first, first + TOGETHER)
            for j, column in enumerate(columns, at):
                found[rows, j] = column[rows] if column.ndim else column
        at += len(columns)
    return found


# ---------------------------------------------------------- text that became a factor

# ------------------------------------------------------------ designs and their rows


@dataclass(frozen=True, eq=False)
class FormulaDesign:
    """The right-hand side of a formula, with the coding found at fit.

    Attributes
    ----------
    formula : str
        The formula as it was given.
    terms : tuple of Term
        Those that it stands for, the intercept included.
    columns : tuple of tuple of str
        Names of the coefficients of each term.
    variables : tuple of str
        Columns that the terms use.
    numeric : tuple of str
        Those of them that were numeric at fit.
    codings : dict of str to FactorCoding
        Levels and contrasts of factors, by their text.
    fields : dict of str to list
        Labels of the columns of terms that have several.
    spanning : tuple of str
        Factors of which the constant is a combination.
    state : dict of str to dict
        What transformations found, by the text of their calls.
    functions : dict of str to callable
        Further functions, of the caller.
    doubtful : tuple of SuspiciousFactor
        Columns that became factors and were hardly meant to.
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
    doubtful: tuple[SuspiciousFactor, ...] = ()

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
            Further functions, of the caller.
        every_row : bool
            Whether these are all rows, and not some that have all levels.

        Raises
        ------
        FormulaError
            If the terms cannot be evaluated.
        ColumnError
            If a column is not there or holds infinite values.
        DataError
            If no row is complete.
        """
        functions = functions or {}
        rows = FormulaRows.of(formula, terms, data, usable, functions)
        used, absent, variables = rows.used, rows.absent, rows.variables
        if len(used) == 0:
            empty = [name for name in variables if data[name].isna().all()]
            if empty and len(data):
                raise no_value_in(empty)
            counts = [f"{len(at)} in {name!r}" for name, at in absent.items()]
            raise DataError(
                f"No row is complete in the outcome and {listing(variables)}; missing: "
                f"{', '.join(counts) or 'the outcome'}."
            )
        numbers = [str(name) for name in _numbers_in(used)]
        if every_row:
            _check_levels_are_few(terms, used)
        factors = dict.fromkeys(factor for term in terms for factor in term.factors)
        plain = set(numbers)
        by_name = (f.text for f in factors if f.kind == "column")
        values = {name: used[name] for name in by_name if name not in plain}
        values |= rows.values
        with errors_of(formula, used):
            codings, fields, spanning = factors_at_fit(values)
            columns = names_of_terms(terms, spanning, codings, fields)
        check_distinct(names := [*chain.from_iterable(columns)])
        if not names:
            raise refused(formula, ONE_LEVEL)
        levels = {n: codings[n].levels for n in codings if n in used.columns}
        design = cls(
            formula,
            terms,
            columns,
            tuple(variables),
            tuple(sorted(numbers)),
            codings,
            fields,
            spanning,
            rows.state,
            functions,
            doubtful_columns(data, levels, len(used)),
        )
        coded = design._matrix(values, used, data.index)
        places = used.index.to_numpy()
        del used, rows, values  # a copy of all rows, and another one follows
        return design, design._finished(coded, places, data, absent)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, the intercept left out."""
        return tuple(chain.from_iterable(self.columns))

    @property
    def levels(self) -> Levels:
        """Levels of the columns that stand in the terms as factors."""
        found = {
            factored(text, self.variables): coding.levels
            for text, coding in self.codings.items()
        }
        return {name: found[name] for name in found if name in self.variables}

    @property
    def reference_levels(self) -> dict[str, object]:
        """The one level of each factor that no coefficient names, by the factor."""
        found: dict[str, object] = {}
        for text, coding in self.codings.items():
            signs = [f"{text}[T.{level}]" for level in coding.levels]
            named = [any(sign in name for name in self.names) for sign in signs]
            if named.count(False) == 1 and any(named):
                found[text] = coding.levels[named.index(False)]
        return found

    def matrix(self, data: object) -> ModelMatrix:
        """Matrix of `data`, coded as at fit.

        Raises
        ------
        ColumnError
            If columns are missing, hold levels not seen at fit, text where there
            were numbers, or infinite values.
        """
        return self._coded(data)

    def valued(self, data: pd.DataFrame) -> Mask:
        """Rows for which every term has a value, shape (n,).

        It has none where a function has none, beyond the range of a spline, and where
        it is of a level that did not occur at fit.
        """
        return self._coded(data, unknown=True).kept

    def _coded(self, data: object, unknown: bool = False) -> ModelMatrix:
        """Matrix of `data`; rows with an unknown value are left out if they may be."""
        data = as_data(data)
        check_columns(data, self.variables)
        data = data[list(self.variables)]
        factors = self.levels
        numeric_values(data[[n for n in self.numeric if n not in factors]])
        state = deepcopy(self.state)
        if unknown:
            for found in state.values():
                found[BEYOND] = "na"
        rows = FormulaRows.of(
            self.formula,
            self.terms,
            data,
            np.ones(len(data), dtype=bool),
            self.functions,
            state,
            {text: c.levels for text, c in self.codings.items()} if unknown else {},
        )
        if len(rows.used) == 0:
            return ModelMatrix(
                np.empty((0, len(self.names))),
                np.zeros(len(data), dtype=bool),
                data.index,
                rows.absent,
            )
        coded = self._matrix(rows.values, rows.used, data.index)
        return self._finished(coded, rows.used.index.to_numpy(), data, rows.absent)

    def _matrix(
        self, values: Mapping[str, Value], used: pd.DataFrame, index: pd.Index
    ) -> Dense:
        """Columns of the terms in complete rows, by values of their expressions."""
        known: dict[tuple[str, bool], list[NDArray[np.generic]]] = {}

        def encoded(text: str, reduced: bool) -> list[NDArray[np.generic]]:
            if (text, reduced) not in known:
                value = unwrapped_value(values[text]) if text in values else used[text]
                if text in self.codings:
                    codes = codes_of(value, self.codings[text].levels)
                    if (codes < 0).any():
                        labels = index[used.index[codes < 0]]
                        raise self._unseen(text, value, codes < 0, labels)
                    columns = self.codings[text].columns(codes, reduced)
                else:
                    columns = list(fields_of(value).values())[reduced:]
                known[text, reduced] = columns
            return known[text, reduced]

        pieces: list[str | NDArray[np.generic]] = []
        with errors_of(self.formula, used):
            parts = parts_of(self.terms, self.spanning)
            for term, of_term in zip(self.terms, parts, strict=True):
                numbers = [f.text for f in term.factors if f.kind == "number"]
                scale = math.prod(map(literal_eval, numbers))
                for part in filter(None, of_term):
                    text, simple = part[0][0], len(part) == 1 and scale == 1
                    plain = text in used and text not in {*self.codings, *values}
                    if simple and plain:
                        pieces.append(text)
                    else:
                        pieces += _products(scale, [encoded(*each) for each in part])
            if len(pieces) != len(self.names):
                raise ValueError("a term has another number of columns than at fit")
            return _side_by_side(pieces, used)

    def _unseen(
        self, text: str, value: Value, rows: Mask, labels: pd.Index
    ) -> ColumnError:
        """The error for levels that did not occur at fit."""
        unseen = pd.Series(value)[rows].unique()
        return ColumnError(
            f"Column {listing([factored(text, self.variables)])} holds levels that did "
            f"not occur at fit, {listing(unseen)}, {in_the_rows(labels)}; the model "
            f"knows {listing(self.codings[text].levels)}: drop or recode these rows, "
            f"or give them no prediction by unseen={UNSEEN[1]!r}."
        )

    @property
    def learns(self) -> bool:
        """Whether a term keeps what it finds in rows, as ``scale()`` keeps the mean."""
        return bool(self.state)

    def learnt_on(self, data: pd.DataFrame) -> "FormulaDesign":
        """The same terms, with what they find in rows found anew, in these rows.

        Factors keep the levels of the fit, also those that these rows lack. Where
        levels are made of what is found, as by ``cut(x, 3)``, they are made anew too.
        Splines go on beyond the range of these rows, as in R.
        """
        every = np.ones(len(data), dtype=bool)
        given = self.formula, self.terms, data[list(self.variables)], every
        if any(call in text for text in self.codings for call in self.state):
            learnt = self.from_terms(*given, self.functions)[0]
        else:
            learnt = replace(self, state=FormulaRows.of(*given, self.functions).state)
        for state in learnt.state.values():
            state[BEYOND] = "extend"
        return learnt

    def without_unseen(self, data: object) -> tuple[pd.DataFrame, str]:
        """`data` with missing values for levels that did not occur at fit.

        Returns
        -------
        data : DataFrame
        text : str
            Those levels and how many rows have them, in words; empty if none.

        Raises
        ------
        ColumnError
            If columns are missing.
        """
        frame = as_data(data)
        check_columns(frame, list(self.variables))
        turned, rows, each = frame.copy(deep=False), np.zeros(len(frame), bool), []
        for name, known in self.levels.items():
            column = frame[name]
            strange = (codes_of(column, known) < 0) & column.notna().to_numpy(bool)
            if strange.any():
                turned[name] = column.where(~strange)
                rows |= strange
                unseen = named_levels(column).astype(object)[strange].unique()
                each.append(f"{listing(unseen, 3)} in column {name!r}")
        what = "without a prediction, for levels that did not occur at fit"
        text = f"{counted(int(rows.sum()), 'row')} {what}: {'; '.join(each)}"
        return turned, text if each else ""

    def _finished(
        self,
        values: Dense,
        positions: NDArray[np.intp],
        data: pd.DataFrame,
        absent: Mapping[str, NDArray[np.intp]],
    ) -> ModelMatrix:
        """Keep the rows in which no transformation gave NaN."""
        index, names = data.index, self.names
        labels = pd.Index(names, dtype=object)
        whole = checked_rows(values, labels, index[positions])
        kept = np.zeros(len(index), dtype=bool)
        kept[positions[whole]] = True
        missing = dict(absent)
        if not whole.all():
            found = missing_values(values, names)
            missing |= {name: positions[rows] for name, rows in found.items()}
        return ModelMatrix(selected(values, whole), kept, index, missing)


def doubtful_in(design: Design) -> tuple[SuspiciousFactor, ...]:
    """Columns of a design that became factors and were hardly meant to."""
    inner = unscaled(design)
    return inner.doubtful if isinstance(inner, FormulaDesign) else ()


def without_unseen(design: Design, data: object) -> object:
    """Data with missing values for levels unknown to a design; warns of them."""
    inner = unscaled(design)
    if not isinstance(inner, FormulaDesign):
        return data
    known, text = inner.without_unseen(data)
    if text:
        warn_caller(f"{text}.", ColumnWarning)
    return known


def design_of(
    formula: str,
    data: pd.DataFrame,
    usable: Mask,
    intercept: bool = True,
    functions: Functions | None = None,
) -> tuple[FormulaDesign | FrameDesign, ModelMatrix, bool]:
    """Read the terms of a formula and code the complete rows of `data`.

    Where a column is sparse and all terms are columns of numbers, they stay sparse.
    Contrasts, products and functions beside it make them dense.

    Parameters
    ----------
    formula : str
        ``"y ~ ."``, ``"y ~ a + C(b)"``, ``"y ~ log(a):b - 1"``; terms are joined as
        by formulaic and R. Text, categories and ``C()`` become treatment contrasts
        with the first level dropped.
    data : DataFrame, n rows
    usable : bool array, shape (n,)
        Rows that have an outcome.
    intercept : bool
        ``False`` takes the intercept away, as ``- 1`` does.
    functions : dict of str to callable, optional
        Further functions, of the caller.

    Returns
    -------
    design : FormulaDesign or FrameDesign
    matrix : ModelMatrix
    intercept : bool
        Whether the formula keeps its intercept.

    Raises
    ------
    FormulaError
        If the formula cannot be read or has no predictor.
    ColumnError
        If it names a column that is not there or cannot be used.
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
    """Whether some columns are sparse, and none needs contrasts."""
    dense = (c for _, c in frame.items() if not isinstance(c.dtype, pd.SparseDtype))
    return is_sparse(frame) and not any(is_factor(plain_column(c)) for c in dense)


def _check_numbers(frame: pd.DataFrame, index: pd.Index) -> None:
    """Raise `ColumnError` for text and infinite values among numeric columns."""
    values = numeric_values(frame.set_axis(index, axis=0))
    check_finite(values, frame.columns, index)


def _check_dates(frame: pd.DataFrame) -> None:
    """Raise `ColumnError` for dates, durations and complex numbers."""
    for name, dtype in frame.dtypes.items():
        if dtype.kind in "mMc" or isinstance(dtype, pd.PeriodDtype | pd.IntervalDtype):
            raise ColumnError(
                f"Column {listing([name])} is of type {dtype}; give numbers, as by "
                f"data['days'] = (data[{name!r}] - data[{name!r}].min()).dt.days, or "
                "categories."
            )


def _check_levels_are_few(terms: tuple[Term, ...], used: pd.DataFrame) -> None:
    """Raise `ColumnError` for factors that name the rows, before they are coded."""
    n = len(used)
    for factor in {factor.text for term in terms for factor in term.factors}:
        name, levels = factored(factor, used.columns), 0
        if name not in used or (name == factor and used[name].dtype.kind in "fiub"):
            continue
        with suppress(TypeError):  # cells of lists are refused where they are coded
            levels = used[name].nunique()
        what = f"Column {listing([name])} has {levels:,} levels in {counted(n, 'row')}"
        names_rows = name == factor and levels > MANY_LEVELS and ROWS * levels > n
        if names_rows or levels > MOST_LEVELS:
            raise ColumnError(
                f"{what}; leave it out, group its levels, or read it as numbers, as by "
                "decimal= or na_values= where the file is read."
            )
        check_memory(24.0 * n * levels, what, "leave it out, or group its levels")


@contextmanager
def errors_of(formula: str, used: pd.DataFrame, expr: str = "") -> Iterator[None]:
    """Errors of functions become errors about the formula, or a column of `used`."""
    try:
        with np.errstate(all="ignore"):
            yield
    except (ColumnError, FormulaError):
        raise
    except Exception as error:
        for name, values in used.items():
            check_hashable(name, values)
        about = f"{expr}: {error}" if expr else str(error)
        raise unusable(formula, one_line(about, 1000)) from None


@dataclass(frozen=True, eq=False)
class FormulaRows:
    """The rows in which every term of a formula has a value, by R's rule.

    Terms are evaluated on all rows; then the rows go in which a term has no value.

    Attributes
    ----------
    used : DataFrame
        Those rows, indexed by position, in plain dtypes.
    values : dict
        Values of the expressions in these rows, by their text.
    state : dict
        What transformations found in the rows, or at fit, by the text of their calls.
    absent : dict of str to int array
        Rows of the data, by position, that lack a value, by the name of its column.
    variables : list of str
        Columns that the terms use.
    """

    used: pd.DataFrame
    values: dict[str, Value]
    state: dict[str, State]
    absent: dict[str, NDArray[np.intp]]
    variables: list[str]

    @classmethod
    def of(
        cls,
        formula: str,
        terms: Iterable[Term],
        data: pd.DataFrame,
        usable: Mask,
        functions: Functions,
        state: dict[str, State] | None = None,
        levels: Mapping[str, list[Hashable]] | None = None,
    ) -> "FormulaRows":
        """Find the rows.

        Parameters
        ----------
        formula : str
        terms : iterable of Term
        data : DataFrame, n rows
        usable : bool array, shape (n,)
            Rows that have an outcome.
        functions : dict of str to callable
        state : dict, optional
            What transformations found at fit; at the fit itself None.
        levels : dict, optional
            Of factors whose other levels count as missing, by the text of the factor.
        """
        variables, names, expressions = factors_of(terms, formula, data, functions)
        lacks = {v: data[v].isna().to_numpy(dtype=bool) for v in variables}
        lacks = {v: rows for v, rows in lacks.items() if rows.any()}
        whole = columns_of(data, variables).reset_index(drop=True)
        every = np.ones(len(data), dtype=bool)
        used_by = sorted(set[str]().union(*(e.columns for e in expressions.values())))
        rows = _plain_rows(whole[used_by], every) if used_by else whole
        if state is None:
            _check_dates(whole)
        complete = usable & ~np.logical_or.reduce([~every, *lacks.values()])
        _check_numbers(_numbers_in(rows[complete]), data.index[complete])
        found: dict[str, State] = {} if state is None else deepcopy(state)
        values: dict[str, Value] = {}
        absent = {v: rows for v, rows in lacks.items() if v in names}
        for expr, expression in expressions.items():
            with errors_of(formula, rows, expr):
                values[expr] = as_real(expression.evaluate(rows, found))
            missing = missing_in(values[expr])
            if levels and expr in levels:
                missing = codes_of(unwrapped_value(values[expr]), levels[expr]) < 0
            if missing is None or not missing.any():
                continue
            known = {v: lacks[v] & missing for v in expression.columns & set(lacks)}
            for name, lacking in known.items():
                absent[name] = absent.get(name, lacking) | lacking
            alone = missing & ~np.logical_or.reduce([~every, *known.values()])
            if alone.any():
                absent[expr] = alone
        kept = usable & ~np.logical_or.reduce([~every, *absent.values()])
        values = {
            expr: _on_kept_rows(value, kept, expressions[expr])
            for expr, value in values.items()
        }
        places = {
            name: np.flatnonzero(absent[name])
            for name in [*variables, *expressions]
            if name in absent and absent[name].any()
        }
        return cls(_plain_rows(whole, kept), values, found, places, variables)


def _numbers_in(frame: pd.DataFrame) -> pd.DataFrame:
    numbers = [name for name, dtype in frame.dtypes.items() if dtype.kind in "fiub"]
    return frame if len(numbers) == frame.shape[1] else frame[numbers]


def _on_kept_rows(value: Value, kept: Mask, expression: Expression) -> Value:
    """Rows of a value; of a factor without the levels of the others."""
    found = taken(value, kept)
    plain: Value = unwrapped_value(found)
    factor = isinstance(getattr(plain, "dtype", None), pd.CategoricalDtype)
    intervals = any(call.name == "cut" for call in expression.calls)
    if not factor or intervals:  # intervals are levels without rows too
        return found
    fewer = plain.cat.remove_unused_categories()
    if plain is found:
        return fewer
    return replace(found, values=fewer)


def _plain_rows(frame: pd.DataFrame, kept: Mask) -> pd.DataFrame:
    """Rows in plain dtypes."""
    frame = (frame if kept.all() else frame[kept]).copy(deep=False)
    for name, dtype in frame.dtypes.items():
        if not (isinstance(dtype, np.dtype) and dtype.kind in "fiub"):
            frame[name] = plain_column(frame[name])
    return frame
