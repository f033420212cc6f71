"""Levels of factors: those found at fit, and those of new data that are unknown."""

import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.columns import in_the_rows
from pegasos_stats.data.doubtful import Doubtful
from pegasos_stats.data.formula import unwrapped
from pegasos_stats.data.labels import positions
from pegasos_stats.errors import ColumnError, counted, listing

if TYPE_CHECKING:
    from formulaic import ModelSpec

Levels: TypeAlias = dict[str, list[Hashable]]  # of each factor, by its column
Unseen = Literal["error", "missing"]

UNSEEN: tuple[Unseen, ...] = ("error", "missing")
CONTRASTED = re.compile(r"^(?:C|relevel)\(\s*(`[^`]+`|[\w.]+)\s*,.*\)$", re.DOTALL)


def plain_factors(spec: "ModelSpec", used: pd.DataFrame) -> Levels:
    """Levels of the columns that are factors without ``C()``."""
    return {
        factor: list(state["categories"])
        for factor, (_, state) in spec.encoder_state.items()
        if "categories" in state and factor in used.columns
    }


def levels_at_fit(spec: "ModelSpec", variables: tuple[str, ...]) -> Levels:
    """Levels of the columns that stand in the terms as factors.

    Parameters
    ----------
    spec : formulaic.ModelSpec
        As it was left by the fit.
    variables : tuple of str
        Columns that the terms use.
    """
    found = {
        factored(factor, variables): list(state["categories"])
        for factor, (kind, state) in spec.encoder_state.items()
        if kind.value == "categorical" and "categories" in state
    }
    return {name: levels for name, levels in found.items() if name in variables}


def reference_levels(spec: "ModelSpec", names: Sequence[str]) -> dict[str, object]:
    """The one level of each factor that no coefficient names, by the factor."""
    found: dict[str, object] = {}
    for factor, (kind, state) in spec.encoder_state.items():
        if kind.value == "categorical" and "categories" in state:
            levels = list(state["categories"])
            signs = [f"{factor}[T.{level}]" for level in levels]
            named = [any(sign in name for name in names) for sign in signs]
            if named.count(False) == 1 and any(named):
                found[str(factor)] = levels[named.index(False)]
    return found


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


def as_at_fit(
    data: pd.DataFrame, levels: Levels, numeric: tuple[str, ...]
) -> pd.DataFrame:
    """Convert factors of numbers or booleans to the type that they had at fit.

    ``1``, ``1.0`` and ``True`` are one level, in a column of numbers as in one of
    categories. Columns with other values are left for `check_levels`.

    Parameters
    ----------
    data : DataFrame
    levels : dict
        Of `levels_at_fit`.
    numeric : tuple of str
        Columns that were numeric at fit; the others were categories.
    """
    turned = data.copy(deep=False)
    for name, known in levels.items():
        if isinstance(known[0], str):
            turned[name] = named_levels(data[name])
            continue
        codes = positions(data[name], known)
        unseen = (codes < 0) & data[name].notna().to_numpy(dtype=bool)
        if not unseen.any() and not any(isinstance(level, str) for level in known):
            turned[name] = _of_levels(codes, known, numbers=name in numeric)
    return turned


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


def _of_levels(
    codes: NDArray[np.intp], known: list[Hashable], numbers: bool
) -> pd.Categorical | NDArray[np.generic]:
    """Return levels by their positions; a position of -1 is a missing value."""
    if not numbers:
        return pd.Categorical.from_codes(
            codes, categories=pd.Index(known, tupleize_cols=False)
        )
    if (codes >= 0).all():
        return np.asarray(known)[codes]
    values = np.array([*known, None], dtype=object)
    return values[codes]


def check_levels(
    used: pd.DataFrame,
    levels: Levels,
    index: pd.Index,
    doubtful: Iterable[Doubtful] = (),
) -> None:
    """Raise `ColumnError` for levels that did not occur at fit.

    Parameters
    ----------
    used : DataFrame
        Complete rows, indexed by position.
    levels : dict
        Of `levels_at_fit`.
    index : Index
        Row labels of the data.
    doubtful : iterable of Doubtful
        Columns that were hardly meant as factors: of these the error says why.
    """
    for name, known in levels.items():
        unseen = used[name][~used[name].isin(known)]
        if len(unseen):
            why = [column.text for column in doubtful if column.name == name]
            raise ColumnError(
                f"Column {listing([name])} holds levels that did not occur at fit, "
                f"{listing(unseen.unique())}, {in_the_rows(index[unseen.index])}; the "
                f"model knows {listing(known)}: "
                f"{why[0] if why else 'drop or recode these rows.'} "
                f"unseen={UNSEEN[1]!r} gives them no prediction."
            )


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
