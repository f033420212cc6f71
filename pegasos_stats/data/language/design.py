"""Designs from formulas: terms and contrasts, kept and replayed on new data."""

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Mask
from pegasos_stats.data.columns import (
    check_finite,
    check_hashable,
    checked_rows,
    columns_of,
    in_the_rows,
    is_sparse,
    missing_values,
    numeric_values,
    plain_column,
    selected,
)
from pegasos_stats.data.data_frame import as_data
from pegasos_stats.data.design import (
    Design,
    FrameDesign,
    ModelMatrix,
    check_columns,
    check_distinct,
)
from pegasos_stats.data.foreign import check_memory
from pegasos_stats.data.labels import positions
from pegasos_stats.data.language.expressions import Expression, cannot_use, refused
from pegasos_stats.data.language.formula import (
    factors_of,
    no_value_in,
    read_terms,
    sides,
    unwrapped,
)
from pegasos_stats.data.language.term_coding import (
    Codes,
    FactorCoding,
    coded_columns,
    codes_of,
    factors_at_fit,
    named_levels,
    names_of_terms,
)
from pegasos_stats.data.language.terms import Term
from pegasos_stats.data.language.values import (
    Value,
    as_real,
    missing_in,
    taken,
    unwrapped_value,
)
from pegasos_stats.data.language.vocabulary import BEYOND, Functions, State
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.data.suspect_columns import Doubtful, doubtful_columns
from pegasos_stats.errors import ColumnError, DataError, FormulaError, counted, listing

Levels: TypeAlias = dict[str, list[Hashable]]  # of each factor, by its column
Unseen = Literal["error", "missing"]

UNSEEN: tuple[Unseen, ...] = ("error", "missing")
CONTRASTED = re.compile(r"^(?:C|relevel)\(\s*(`[^`]+`|[\w.]+)\s*,.*\)$", re.DOTALL)
MANY_LEVELS = 1000  # of a column of text, with few rows each: it names the rows
MOST_LEVELS = 10_000  # of one factor
NO_PREDICTOR = "has no predictor; add one."
ONE_LEVEL = "has only terms of one level in these data; add a predictor that varies."


def factored(factor: str, variables: Collection[str]) -> str:
    """Name of the column behind ``name``, ``C(name, ...)`` or ``relevel(name, ...)``.

    Parameters
    ----------
    factor : str
    variables : collection of str
        Names of columns: a factor that is one of them is that column.

    Examples
    --------
    >>> factored("C(age, contr.treatment(base='old'))", ["age"])
    'age'
    >>> factored("age `in years`", ["age `in years`"])
    'age `in years`'
    """
    if factor in variables:
        return factor
    match = CONTRASTED.match(factor)
    return match.group(1).strip("`") if match else unwrapped(factor)


@dataclass(frozen=True)
class Blanked:
    """Data in which levels that did not occur at fit are missing values.

    Attributes
    ----------
    data : DataFrame
    found : dict of str to Series
        Those levels, at their rows, by their column.
    """

    data: pd.DataFrame
    found: "dict[str, pd.Series]"

    @property
    def n_rows(self) -> int:
        """Number of rows that hold such a level."""
        rows = np.zeros(len(self.data), dtype=bool)
        for column in self.found.values():
            rows |= column.notna().to_numpy(dtype=bool)
        return int(rows.sum())

    @property
    def text(self) -> str:
        """Unseen levels and how many rows have them, in words; empty if none."""
        if not self.found:
            return ""
        each = "; ".join(
            f"{listing(column.dropna().unique(), 3)} in column {name!r}"
            for name, column in self.found.items()
        )
        return (
            f"{counted(self.n_rows, 'row')} without a prediction, for levels that did "
            f"not occur at fit: {each}"
        )


def blanked(data: pd.DataFrame, levels: Levels) -> Blanked:
    """Put missing values in the place of levels that did not occur at fit.

    Parameters
    ----------
    data : DataFrame
        With the columns of `levels`.
    levels : dict
        Of `levels_at_fit`.

    Examples
    --------
    >>> found = blanked(pd.DataFrame({"g": ["a", "b", "x"]}), {"g": ["a", "b"]})
    >>> print(found.text)
    1 row without a prediction, for levels that did not occur at fit: 'x' in column 'g'
    """
    turned, found = data.copy(deep=False), {}
    for name, known in levels.items():
        column = named_levels(data[name]) if isinstance(known[0], str) else data[name]
        strange = (positions(column, known) < 0) & column.notna().to_numpy(dtype=bool)
        if strange.any():
            turned[name] = column.where(~strange)
            found[name] = column.astype(object).where(strange)
    return Blanked(turned, found)


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
    doubtful : tuple of Doubtful
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
    doubtful: tuple[Doubtful, ...] = ()

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
                f"No row is complete in the outcome and {listing(variables)}; give "
                f"data with values for all of them. Missing: {', '.join(counts)}."
            )
        numbers = [str(name) for name in _numbers_in(used)]
        _check_numbers(used[numbers], data.index[used.index])
        if every_row:
            _check_levels_are_few(formula, terms, used, data)
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
            doubtful_columns(data, levels, len(used), formula),
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
        _check_numbers(_numbers_in(rows.used), data.index[rows.used.index])
        coded = self._matrix(rows.values, rows.used, data.index)
        return self._finished(coded, rows.used.index.to_numpy(), data, rows.absent)

    def _matrix(
        self, values: Mapping[str, Value], used: pd.DataFrame, index: pd.Index
    ) -> Dense:
        """Columns of the terms in complete rows, whose values are known."""

        def check_codes(text: str, codes: Codes) -> None:
            if not (codes < 0).any():
                return
            name = factored(text, self.variables)
            plain = unwrapped_value(values[text] if text in values else used[text])
            unseen = pd.Series(plain)[codes < 0]
            why = [column.text for column in self.doubtful if column.name == name]
            raise ColumnError(
                f"Column {listing([name])} holds levels that did not occur at fit, "
                f"{listing(unseen.unique())}, "
                f"{in_the_rows(index[used.index[codes < 0]])}; the "
                f"model knows {listing(self.codings[text].levels)}: "
                f"{why[0] if why else 'drop or recode these rows.'} "
                f"unseen={UNSEEN[1]!r} gives them no prediction."
            )

        with errors_of(self.formula, used):
            found = coded_columns(
                self.terms, self.spanning, self.codings, values, used, check_codes
            )
            if found.shape[1] != len(self.names):
                raise ValueError("a term has another number of columns than at fit")
        return found

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

    def without_unseen(self, data: object) -> Blanked:
        """`data` with missing values in the place of levels that were not there at fit.

        Raises
        ------
        ColumnError
            If columns are missing.
        """
        frame = as_data(data)
        check_columns(frame, list(self.variables))
        return blanked(frame, self.levels)

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


def _formula_design(design: Design) -> "FormulaDesign | None":
    inner = design.design if isinstance(design, ScaledDesign) else design
    return inner if isinstance(inner, FormulaDesign) else None


def doubtful_in(design: Design) -> tuple[Doubtful, ...]:
    """Columns of a design that became factors and were hardly meant to."""
    inner = _formula_design(design)
    return inner.doubtful if inner else ()


def blanked_for(design: Design, data: object) -> Blanked | None:
    """Data without the levels that a design does not know; None if it has no factor."""
    inner = _formula_design(design)
    return inner.without_unseen(data) if inner else None


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
    return is_sparse(frame) and not any(_is_text(c) for _, c in frame.items())


def _is_text(column: pd.Series) -> bool:
    if isinstance(column.dtype, pd.SparseDtype):
        return False
    present = column.dropna()
    text = len(present) > 0 and pd.api.types.is_string_dtype(present)
    return text or isinstance(column.dtype, pd.CategoricalDtype)


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


def _check_levels_are_few(
    formula: str, terms: tuple[Term, ...], used: pd.DataFrame, data: pd.DataFrame
) -> None:
    """Raise `ColumnError` for factors that name the rows, before they are coded."""
    for factor in {factor.text for term in terms for factor in term.factors}:
        name = factored(factor, used.columns)
        if name not in used or (name == factor and used[name].dtype.kind in "fiub"):
            continue
        n, levels = len(used), 0
        with suppress(TypeError):  # cells of lists are refused where they are coded
            levels = used[name].nunique()
        names_rows = name == factor and levels > MANY_LEVELS and 3 * levels > n
        what = f"Column {listing([name])} has {levels:,} levels in {counted(n, 'row')}"
        if names_rows or levels > MOST_LEVELS:
            looks = doubtful_columns(data, {name: ["a"] * levels}, n, formula)
            row_names = Doubtful(name, "names", levels, n, outcome=sides(formula)[0])
            cure = (looks or (row_names,))[0].cure
            raise ColumnError(f"{what}; {cure}, or group its levels.")
        check_memory(24.0 * n * levels, what, "leave it out, or group its levels")


@contextmanager
def errors_of(
    formula: str,
    used: pd.DataFrame,
    expr: str = "",
    state: Mapping[str, State] | None = None,
) -> Iterator[None]:
    """Errors of formulaic, and of functions, become errors about the formula.

    Parameters
    ----------
    formula : str
    used : DataFrame
    expr : str
        The term in which they occur.
    state : dict, optional
        What transformations found at fit.
    """
    try:
        with np.errstate(all="ignore"):
            yield
    except (ColumnError, FormulaError):
        raise
    except Exception as error:
        for name, values in used.items():
            check_hashable(name, values)
        about = f"{expr}: {error}" if expr else str(error)
        for key, found in (state or {}).items():
            if "extend beyond" in about and key in expr and "lower_bound" in found:
                low, high = found["lower_bound"], found["upper_bound"]
                about = f"{expr} has no value below {low:.6g} or above {high:.6g}"
        raise cannot_use(formula, about) from None


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
        names, expressions = factors_of(terms, formula, data, functions)
        variables = sorted(names.union(*(e.columns for e in expressions.values())))
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
            with errors_of(formula, rows, expr, found):
                values[expr] = as_real(expression.value(rows, found))
            missing = missing_in(values[expr])
            if levels and expr in levels:
                missing = codes_of(values[expr], levels[expr]) < 0
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
