"""Factors of a formula on new data: the levels that were found at fit."""

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.data.formula import unwrapped
from pegasos_stats.data.labels import positions
from pegasos_stats.errors import ColumnError, counted, listing

if TYPE_CHECKING:
    from formulaic import ModelSpec

CONTRASTED = re.compile(r"^C\(\s*(`[^`]+`|[\w.]+)\s*,.*\)$", re.DOTALL)


def levels_at_fit(spec: "ModelSpec", variables: tuple[str, ...]) -> dict[str, Any]:
    """Levels of the columns that stand in the terms as factors.

    Parameters
    ----------
    spec : formulaic.ModelSpec
        As it was left by the fit.
    variables : tuple of str
        Columns that the terms use.
    """
    found = {
        factored(factor): list(state["categories"])
        for factor, (kind, state) in spec.encoder_state.items()
        if kind.value == "categorical" and "categories" in state
    }
    return {name: levels for name, levels in found.items() if name in variables}


def factored(factor: str) -> str:
    """Name of the column behind ``name``, ``C(name)`` or ``C(name, contrasts)``.

    Examples
    --------
    >>> factored("C(age, contr.treatment(base='old'))"), factored("`age group`")
    ('age', 'age group')
    """
    match = CONTRASTED.match(factor)
    return match.group(1).strip("`") if match else unwrapped(factor)


def as_at_fit(
    data: pd.DataFrame, levels: dict[str, Any], numeric: tuple[str, ...]
) -> pd.DataFrame:
    """Put factors of numbers or booleans in the type that they had at fit.

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
        codes = positions(data[name], known)
        unseen = (codes < 0) & data[name].notna().to_numpy(dtype=bool)
        if not unseen.any() and not any(isinstance(level, str) for level in known):
            turned[name] = _of_levels(codes, known, numbers=name in numeric)
    return turned


def _of_levels(codes: NDArray[np.intp], known: list[Any], numbers: bool) -> Any:
    """Levels by their position, missing where it is -1."""
    if not numbers:
        return pd.Categorical.from_codes(codes, categories=pd.Index(known))
    if (codes >= 0).all():
        return np.asarray(known)[codes]
    values = np.array([*known, None], dtype=object)
    return values[codes]


def check_levels(used: pd.DataFrame, levels: dict[str, Any], index: pd.Index) -> None:
    """Raise `ColumnError` for levels that did not occur at fit.

    Parameters
    ----------
    used : DataFrame
        Complete rows, indexed by position.
    levels : dict
        Of `levels_at_fit`.
    index : Index
        Row labels of the data.
    """
    for name, known in levels.items():
        unseen = used[name][~used[name].isin(known)]
        if len(unseen):
            raise ColumnError(
                f"Column {listing([name])} holds levels that did not occur at fit, "
                f"{listing(unseen.unique())}, in {counted(len(unseen), 'row')} "
                f"({listing(index[unseen.index])}); the model knows {listing(known)}: "
                "drop or recode these rows."
            )
