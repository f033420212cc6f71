"""Offset: a known part of each row's score, without a coefficient."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Vector
from pegasos_stats.data.columns import selected
from pegasos_stats.data.data_frame import as_data
from pegasos_stats.data.design import ModelMatrix, check_columns, row_labels
from pegasos_stats.data.formula import values_of_rows
from pegasos_stats.data.language.expressions import Expression, read_expression
from pegasos_stats.data.language.syntax import cannot_use, check_names, refused
from pegasos_stats.data.language.vocabulary import Functions
from pegasos_stats.data.weights import column_named, numbers_of_rows
from pegasos_stats.errors import DataError, OptionError, counted, shown

ALLOWED = "one number for each row"


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
            raise OptionError(
                f"offset={shown(numbers)} does not go with ps.scan() or Dask; give the "
                "name of a column."
            )
        nothing, own = pd.DataFrame(columns=list(there)), numbers or self.column
        if own and own not in nothing.columns:
            column_named("offset", own, nothing, ALLOWED)
        used = [own] if own else []
        for term in self.terms:
            read = _read(term, nothing, f"offset({term})", self.functions)
            used += sorted(read.columns)
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
        return total(self.by_part(data, numbers))

    def by_part(self, data: object, numbers: object = None) -> dict[str, Vector]:
        """Values of `parts`, each of them as `of` adds them."""
        if numbers is None and self.given:
            raise OptionError(
                "The fit had offset= as numbers, which new rows need as well; give "
                "offset= with them, or fit with the name of a column as offset= or "
                "with offset() in the formula, which are read from new data."
            )
        if numbers is not None and not (self.given or self.column):
            raise OptionError(
                "offset= was given, and the offset of the fit is in its formula: "
                f"{self}; leave it out."
            )
        found, parts = [], list(self.parts)
        if self.given or self.column:
            chosen = self.column if numbers is None else numbers
            found.append(_plain("offset", chosen, data, row_labels(data)))
        for term in self.terms:
            found.append(self._computed(term, as_data(data)))
        return dict(zip(parts, found, strict=True))

    def on(self, matrix: ModelMatrix, data: object, numbers: object) -> ModelMatrix:
        """A matrix of the data with the offset, without the rows that lack it."""
        parts = self.by_part(data, numbers)
        known = total(parts)
        kept = matrix.kept & ~np.isnan(known)
        return replace(
            matrix,
            values=selected(matrix.values, kept[matrix.kept]),
            kept=kept,
            offset=known[kept],
            missing={**matrix.missing, **missing_in(parts)},
        )

    def _computed(self, term: str, frame: pd.DataFrame) -> Vector:
        """Values of an expression in ``offset()``; NaN where it has none."""
        formula = f"offset({term})"
        read = _read(term, frame, formula, self.functions)
        try:
            with np.errstate(all="ignore"):
                values = values_of_rows(read, frame[sorted(read.columns)])
        except Exception as error:
            raise cannot_use(formula, error) from None
        return _plain(formula, values.set_axis(frame.index), frame, frame.index)


def total(parts: Mapping[str, Vector]) -> Vector:
    """Sum of the parts of an offset; NaN where one is missing."""
    found: Vector = np.sum(list(parts.values()), axis=0)
    return found


def missing_in(parts: Mapping[str, Vector]) -> dict[str, NDArray[np.intp]]:
    """Rows, by position, in which a part of the offset is missing, by its expression.

    Examples
    --------
    >>> missing_in({"offset(log(t))": np.array([0.0, np.nan])})
    {'log(t)': array([1])}
    """
    lacking = {name: np.flatnonzero(np.isnan(v)) for name, v in parts.items()}
    return {
        name.removeprefix("offset(").removesuffix(")"): rows
        for name, rows in lacking.items()
        if rows.size
    }


def check_some(parts: Mapping[str, Vector]) -> None:
    """Raise `DataError` if a part of the offset of a fit is missing in all rows."""
    for name, values in parts.items():
        if values.size and np.isnan(values).all():
            raise all_missing(name, values.size)


def all_missing(part: str, rows: int) -> DataError:
    """The error for a part of the offset that is missing in all rows."""
    return DataError(
        f"The values of {part} are missing in all of {counted(rows, 'row')}; give data "
        "with numbers there."
    )


def _read(
    term: str, data: pd.DataFrame, formula: str, functions: Functions
) -> Expression:
    """Read an expression in ``offset()``; its columns are there."""
    read = read_expression(term, data.columns, formula, functions)
    learning = [call.name for call in read.calls if call.function.state]
    if learning:
        raise refused(
            formula,
            f"has {learning[0]}(), which is computed from all rows; compute the column "
            "before the fit, and for new rows.",
        )
    variables = sorted(read.columns)
    check_names(variables)
    check_columns(data, variables)
    return read


def _plain(name: str, numbers: object, data: object, index: pd.Index) -> Vector:
    """One finite number for each row; NaN where one is missing."""
    return numbers_of_rows(name, numbers, data, index, ALLOWED, signed=True)
