"""Terms of a formula as columns: contrasts of factors, products, and their names.

A factor has a column less where the terms before it span its constant, as in R. What
is found at the fit, `FactorCoding`, codes new rows.
"""

import math
from ast import literal_eval
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import groupby, product
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import DataColumn, Dense, Matrix
from pegasos_stats.data.columns import numeric_values
from pegasos_stats.data.labels import positions
from pegasos_stats.data.language.terms import Term
from pegasos_stats.data.language.values import (
    TermValue,
    Value,
    as_real,
    is_factor,
    unwrapped_value,
)
from pegasos_stats.errors import ColumnError, listing

MOST_COLUMNS = 100_000  # of products of factors, some seconds
MOST_PARTS = 600_000  # sets of factors within all terms, some seconds
MOST_NEW_PARTS = 300  # within one term and in no earlier one, whose cube is the time
TOGETHER = 2048  # rows that are written at once

Part: TypeAlias = tuple[tuple[str, bool], ...]  # factors, and whether with one less
Pairs: TypeAlias = frozenset[tuple[str, bool]]
Codes: TypeAlias = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class FactorCoding:
    """How a factor becomes columns.

    Attributes
    ----------
    levels : list
        In their order.
    names : tuple of str
        Of the columns where there is one less.
    base : int or None
        Position of the level that these leave out, of treatment contrasts.
    matrix : float64 array, shape (len(levels), len(names)), or None
        Other contrasts.
    fixed : bool
        Whether its columns are these beside any other terms.
    """

    levels: list[Hashable]
    names: tuple[str, ...]
    base: int | None = 0
    matrix: Matrix | None = None
    fixed: bool = False

    @classmethod
    def of(cls, text: str, value: Value, levels: list[Hashable]) -> "FactorCoding":
        """The contrasts that a factor of a formula asks for."""
        chosen = getattr(value, "contrasts", None)
        if chosen is None or len(levels) < 2:
            return cls(levels, tuple(f"{text}[T.{level}]" for level in levels[1:]))
        from formulaic.transforms import contrasts as known

        chosen = chosen() if isinstance(chosen, type) else chosen
        if not isinstance(chosen, known.Contrasts):
            chosen = known.CustomContrasts(chosen)
        fixed = isinstance(chosen, known.CustomContrasts)
        written = chosen.get_factor_format(levels, reduced_rank=True)
        names = tuple(
            written.format(name=text, field=field)
            for field in chosen.get_coding_column_names(levels, reduced_rank=True)
        )
        if isinstance(chosen, known.TreatmentContrasts):
            base = levels.index(chosen.get_drop_field(levels, reduced_rank=False))
            return cls(levels, names, base)
        matrix = chosen.get_coding_matrix(levels, reduced_rank=True)
        return cls(levels, names, None, np.asarray(matrix, dtype=np.float64), fixed)

    def names_of(self, text: str, reduced: bool) -> list[str]:
        """Names of the columns."""
        if reduced or self.fixed:
            return list(self.names)
        return [f"{text}[{level}]" for level in self.levels]

    def columns(self, codes: Codes, reduced: bool) -> list[NDArray[np.generic]]:
        """Columns of rows of these levels, by position; one less if `reduced`.

        Examples
        --------
        >>> FactorCoding(["u", "v"], ("g[T.v]",)).columns(np.array([0, 1]), True)
        [array([False,  True])]
        """
        if self.matrix is not None and (reduced or self.fixed):
            return list(self.matrix[codes].T)
        left_out = self.base if reduced else None
        return [codes == i for i in range(len(self.levels)) if i != left_out]


def named_levels(column: DataColumn) -> DataColumn:
    """Categories that are neither text, numbers nor booleans, as text.

    Examples
    --------
    >>> named_levels(pd.cut(pd.Series([1.0, 5.0]), [0, 2, 9])).tolist()
    ['(0, 2]', '(2, 9]']
    """
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    levels = column.dtype.categories
    known = levels.dtype.kind in "biuf" or pd.api.types.is_string_dtype(levels)
    return column if known else column.cat.rename_categories(str)


def codes_of(values: Value, levels: Sequence[Hashable]) -> Codes:
    """Position of each value among the levels; -1 for others and missing ones.

    ``1``, ``1.0`` and ``True`` are one level.
    """
    column = pd.Series(unwrapped_value(values))
    if levels and isinstance(levels[0], str):
        column = named_levels(column)
    is_category = isinstance(column.dtype, pd.CategoricalDtype)
    if is_category and list(column.cat.categories) == levels:
        return column.cat.codes.to_numpy()
    return positions(column, levels)


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
    """Columns of a value by their labels; of a single one the label is None.

    Columns of `poly` are numbered from 1, those of other arrays from 0.
    """
    plain = unwrapped_value(value)
    if isinstance(plain, np.ndarray) and plain.ndim == 2:
        plain = dict(enumerate(plain.T, start=int(isinstance(value, TermValue))))
    if not isinstance(plain, dict | pd.DataFrame):
        plain = {None: plain}
    return {label: np.asarray(column) for label, column in plain.items()}


@lru_cache(maxsize=16)
def parts_of(
    terms: tuple[Term, ...], spanning: tuple[str, ...]
) -> tuple[tuple[Part, ...], ...]:
    """Products of factors that each term adds to what earlier terms span.

    Examples
    --------
    >>> from pegasos_stats.data.language.terms import Factor
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


def coded_columns(
    terms: tuple[Term, ...],
    spanning: tuple[str, ...],
    codings: Mapping[str, FactorCoding],
    values: Mapping[str, Value],
    frame: pd.DataFrame,
    check_codes: Callable[[str, Codes], None],
) -> Dense:
    """Matrix of the terms, in the order of `names_of_terms`.

    Parameters
    ----------
    terms, spanning, codings
    values : dict
        Values of factors in the rows, by their text.
    frame : DataFrame, n rows
        Columns that are factors by their names.
    check_codes : callable
        Is given the text of each factor and the codes of its rows.

    Returns
    -------
    float64 or float32 array, shape (n, p)
    """
    known: dict[tuple[str, bool], list[NDArray[np.generic]]] = {}

    def encoded(text: str, reduced: bool) -> list[NDArray[np.generic]]:
        if (text, reduced) not in known:
            value = values[text] if text in values else as_real(frame[text])
            if text in codings:
                codes = codes_of(value, codings[text].levels)
                check_codes(text, codes)
                columns = codings[text].columns(codes, reduced)
            else:
                columns = list(fields_of(value).values())[reduced:]
            known[text, reduced] = columns
        return known[text, reduced]

    pieces: list[str | NDArray[np.generic]] = []
    for term, parts in zip(terms, parts_of(terms, spanning), strict=True):
        numbers = [f.text for f in term.factors if f.kind == "number"]
        scale = math.prod(map(literal_eval, numbers))
        for part in filter(None, parts):
            text, simple = part[0][0], len(part) == 1 and scale == 1
            if simple and text in frame and text not in codings and text not in values:
                pieces.append(text)
            else:
                pieces += _products(scale, [encoded(*factor) for factor in part])
    return _side_by_side(pieces, frame)


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
