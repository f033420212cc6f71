"""EffectRows that effects are averaged over, with predictors set to other values."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd

from pegasos_stats.arrays import (
    Mask,
    Matrix,
    Predictors,
    Vector,
    dense_rows,
)
from pegasos_stats.checks import number_of
from pegasos_stats.data.design import Design, FrameDesign
from pegasos_stats.data.labels import Level
from pegasos_stats.data.language.formula import factored
from pegasos_stats.data.language.formula_design import FormulaDesign
from pegasos_stats.data.sample import RowIndex
from pegasos_stats.data.scaling import ScaledDesign, unscaled
from pegasos_stats.data.user_data import check_memory, is_sparse, position_of
from pegasos_stats.data.weights import Positions
from pegasos_stats.errors import (
    DataError,
    OptionError,
    counted,
    listing,
    plain,
    shown,
)

Place = dict[Level, Level]  # values of some predictors, by name

TOGETHER = 2e7  # numbers in the matrices that are made at once
FIVE = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, eq=False)
class EffectRows:
    """Complete rows with their weights, and how they become a matrix.

    Attributes
    ----------
    design : Design
    intercept : bool
        Whether the matrix begins with a column of ones.
    frame : DataFrame, n rows
        Predictors as a user has them.
    weights : float64 array, shape (n,)
        Shares, whose sum is 1.
    number : int
        Of the rows, each as often as it counts.
    levels : dict of name to list
        Of the factors among the predictors, the reference level first.
    averaged : bool
        Whether the matrix is the mean of the rows, one row.
    offsets : float64 array, shape (n,), or None
        Known parts of the scores of the rows.
    """

    design: Design
    intercept: bool
    frame: pd.DataFrame
    weights: Vector
    number: int
    levels: Mapping[Level, list[Level]]
    averaged: bool = False
    offsets: Vector | None = None

    @property
    def names(self) -> list[Level]:
        """Predictors, in the order of the formula."""
        return list(self.frame.columns)

    @property
    def composed(self) -> bool:
        """Whether the formula, if there is one, computes terms of the predictors."""
        inner = unscaled(self.design)
        if not isinstance(inner, FormulaDesign):
            return False
        factors = {f.text for term in inner.terms for f in term.factors}
        return any(f not in inner.variables for f in factors - {"1"})

    @property
    def shares(self) -> Vector:
        """Weights of the rows of a matrix."""
        return np.ones(1) if self.averaged else self.weights

    @property
    def offset(self) -> Vector | None:
        """Offset of the rows of a matrix, if there is one."""
        if self.offsets is None or not self.averaged:
            return self.offsets
        return np.array([self.weights @ self.offsets])

    def checked(self, variables: object) -> list[Level]:
        """The predictors of these names, or raise `OptionError`; all for None."""
        if variables is None:
            return self.names
        known = [self._found(name) for name in as_list(variables)]
        if not known or len(set(known)) < len(known):
            raise OptionError(
                f"variables={shown(variables)} is not allowed; give different names of "
                f"predictors: {listing(self.names, 8)}."
            )
        return known

    def _found(self, name: object) -> Level:
        for known in self.names:
            if isinstance(name, type(known)) and known == name:
                return known
        raise OptionError(
            f"{shown(name)} is not a predictor of this fit, which has "
            f"{listing(self.names, 8)}; rows are data=."
        )

    def values(self, name: Level) -> list[object]:
        """Levels of a factor; of more than five numbers the extremes and quartiles."""
        if name in self.levels:
            return list(self.levels[name])
        numbers = np.unique(found := self.numbers(name))
        if numbers.size > len(FIVE):
            numbers = np.unique(np.quantile(found, FIVE))
        return [float(value) for value in numbers]

    def places(self, at: object, varied: Collection[Level] = ()) -> list[Place]:
        """Combinations of the values that ``at=`` names; one without any for None.

        Those predictors that are varied anyhow are not among them.
        """
        if at is None:
            return [{}]
        if not isinstance(at, Mapping) or not at:
            raise OptionError(
                f"at={shown(at)} is not allowed; give 'mean', or values by name, such "
                "as at={'x': [1, 2]}."
            )
        each: dict[Level, list[Level]] = {}
        for name, given in at.items():
            values = as_list(given)
            levels = self.levels.get(self._found(name))
            if levels is None:
                cure = "finite numbers"
                known = [np.isfinite(number_of(value)) for value in values]
            else:
                cure = f"of {listing(levels)}"
                positions = [position_of(value, levels) for value in values]
                known = [position >= 0 for position in positions]
                values = [levels[position] for position in positions]
            if not (values and all(known)):
                raise OptionError(
                    f"at= has {shown(given)} for {shown(name)}; give one or several "
                    f"{cure}."
                )
            each[self._found(name)] = values
        if both := [name for name in each if name in varied]:
            raise OptionError(
                f"at= has a value for {listing(both)}, which is set to each of its "
                "values already; leave it out of at=, or of the variables."
            )
        chosen = product(*each.values())
        return [dict(zip(each, values, strict=True)) for values in chosen]

    def at_means(self) -> "EffectRows":
        """The same with numeric predictors at their means, averaged to one row."""
        frame = self.frame.copy(deep=False)
        for name in self.names:
            if name not in self.levels:
                frame[name] = float(self.weights @ self.numbers(name))
        return replace(self, frame=frame, averaged=True)

    def at(self, place: Place) -> "EffectRows":
        """The same rows with these values."""
        frame = self.frame.copy(deep=False)
        for name, value in place.items():
            frame[name] = value
        return replace(self, frame=frame)

    def numbers(self, name: Level) -> Vector:
        """Values of a numeric predictor, or `OptionError` if it is text."""
        try:
            values = self.frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            raise OptionError(
                f"{shown(name)} is text, and has no effect; give other variables=."
            ) from None
        return np.asarray(values)

    def spread(self, name: Level) -> float:
        """Standard deviation of a numeric predictor, with the divisor ``n - 1``."""
        x, n = self.numbers(name), self.number
        away = x - self.weights @ x
        unit = 2.0 ** (np.frexp(np.abs(away).max())[1] - 1)  # squares may overflow
        variance = float(self.weights @ np.square(away / unit))
        return float(unit * np.sqrt(variance * n / max(n - 1, 1)))

    def valued(self, place: Place) -> Mask:
        """Rows in which all terms of the formula have a value, with these values."""
        inner = unscaled(self.design)
        if not (isinstance(inner, FormulaDesign) and self.composed):
            return np.ones(len(self.frame), dtype=bool)
        return inner.valued(self.at(place).frame)

    def at_known(self, place: Place, what: str = "") -> "EffectRows":
        """The same rows with these values, or `DataError` if a term has none there."""
        if without := int((~self.valued(place)).sum()):
            what = what or f"at {written(place) or 'means'}"
            raise DataError(
                f"A term of the formula has no value {what}, in "
                f"{counted(without, 'row')}; give others."
            )
        return self.at(place)

    def matrices(self, frames: Sequence[pd.DataFrame]) -> list[Matrix]:
        """Matrices of frames that are these rows with other values."""
        found = self.design.matrix(pd.concat(frames, ignore_index=True))
        dense = dense_rows(found.values)
        if self.intercept:
            dense = np.column_stack([np.ones(len(dense)), dense])
        if len(dense) != len(frames) * len(self.frame):
            raise DataError(
                "A term of the formula takes values of other rows, as lag() does; fit "
                "without it for effects."
            )
        parts = np.split(dense, len(frames))
        return [(self.weights @ Z)[None] for Z in parts] if self.averaged else parts

    def batches(self, frames: Iterator[pd.DataFrame]) -> Iterator[Matrix]:
        """Matrices of frames, made several at a time."""
        size = len(self.frame) * (len(self.design.names) + len(self.names) + 1)
        most, waiting = max(1, int(TOGETHER / size)), []
        for frame in frames:
            waiting.append(frame)
            if len(waiting) == most:
                yield from self.matrices(waiting)
                waiting = []
        if waiting:
            yield from self.matrices(waiting)


def as_list(given: object) -> list[object]:
    """The values that were given, one or several."""
    several = isinstance(given, list | tuple | pd.Series | pd.Index | np.ndarray)
    return list(given) if several else [given]  # type: ignore[call-overload]


def written(place: Place) -> str:
    """Write values by name.

    Examples
    --------
    >>> written({"g": "b", "x": 2.0})
    'g = b, x = 2'
    """
    return ", ".join(f"{name} = {value_text(value)}" for name, value in place.items())


def value_text(value: object) -> str:
    """Write a value; numbers short."""
    value = plain(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def unread_columns(design: Design, lines: RowIndex | None) -> pd.DataFrame | None:
    """Predictors whose own values are not columns of the design matrix.

    Those are factors, booleans, and columns that only stand in other terms.
    """
    inner = design.design if isinstance(design, ScaledDesign) else design
    if lines is None or lines.frame is None:
        return None
    frame, columns = lines.frame, _columns(inner)
    if isinstance(inner, FrameDesign) and not inner.named:
        return None
    held = set(inner.names)
    numeric = set(inner.numeric) if isinstance(inner, FormulaDesign) else set(columns)
    kept = [
        name
        for name in columns
        if name not in numeric or str(name) not in held or are_booleans(frame[name])
    ]
    return frame[kept].iloc[lines.positions].reset_index(drop=True)


def are_booleans(column: pd.Series | pd.DataFrame) -> bool:
    """Whether all values are true or false, but for missing ones.

    Examples
    --------
    >>> are_booleans(pd.Series([True, None, False])), are_booleans(pd.Series([1, 0]))
    (True, False)
    """
    return bool(pd.api.types.infer_dtype(column, skipna=True) == "boolean")


def _columns(design: Design) -> list[Level]:
    """Predictors in the order of the formula, or of the data's columns."""
    if isinstance(design, FormulaDesign):
        texts = [f.text for term in design.terms for f in term.factors]
        places: dict[str, int] = {}
        for text in texts:
            for word in (text, *re.findall(r"\w+", text)):
                places.setdefault(word, len(places))
        return sorted(design.variables, key=lambda name: places.get(name, len(places)))
    return list(design.columns) if isinstance(design, FrameDesign) else []


def training_rows(
    design: Design, X: Predictors, unread: pd.DataFrame | None
) -> pd.DataFrame:
    """Predictors of the rows of a fit, as a user has them.

    Raises
    ------
    DataError
        If they are sparse and too many.
    """
    inner = unscaled(design)
    if is_sparse(X):
        n, p = X.shape
        what = f"A table of {counted(n, 'row')} and {counted(p, 'column')}"
        check_memory(8.0 * n * p, what, "give fewer rows: data=")
    if isinstance(design, ScaledDesign):
        X = design.scaling.unapply(X)
    values = dense_rows(X)
    places = {str(name): j for j, name in enumerate(inner.names)}
    columns: dict[Level, object] = {}
    for name in _columns(inner):
        if unread is not None and name in unread.columns:
            columns[name] = unread[name]
        else:
            columns[name] = values[:, places[str(name)]]
    return pd.DataFrame(columns)


def new_rows(design: Design, data: pd.DataFrame, kept: Positions) -> pd.DataFrame:
    """Predictors of new rows, those at these positions, which are complete."""
    inner = unscaled(design)
    if not len(kept):
        raise DataError("No row of data= is complete; give rows with all predictors.")
    columns = _columns(inner)
    if isinstance(inner, FrameDesign) and not inner.named:
        data = data.set_axis(columns, axis=1)
    frame = data[columns].iloc[kept].reset_index(drop=True)
    for name in columns:
        column = frame[name]
        if isinstance(column.dtype, pd.SparseDtype):
            frame[name] = column.sparse.to_dense()
    return frame


def levels_of(
    design: Design, frame: pd.DataFrame, dummy: bool
) -> dict[Level, list[Level]]:
    """Levels of factors, the reference level first; of booleans False and True.

    Parameters
    ----------
    design : Design
    frame : DataFrame
    dummy : bool
        Whether numbers that are all 0 and 1 are levels too.
    """
    inner = unscaled(design)
    found: dict[Level, list[Level]] = {}
    if isinstance(inner, FormulaDesign):
        found.update(inner.levels)
        for text, coding in inner.codings.items():
            name, levels = factored(text, inner.variables), coding.levels
            if name in found and coding.base is not None:
                base = levels[coding.base]
                found[name] = [base, *(level for level in levels if level != base)]
    for name in frame.columns:
        column = frame[name]
        if name in found:
            continue
        if are_booleans(column):
            found[name] = [False, True]
        elif dummy and set(column.unique()) == {0, 1}:
            found[name] = [0, 1]
    return found
