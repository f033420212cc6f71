"""Missing values in expressions, as R has them.

An expression is evaluated on all rows. Most functions have no value where an argument
has none, and are computed on the other rows alone: so they learn from all rows in which
their own variable is there. Some look at missing values, as ``is.na`` does.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn, Mask
from pegasos_stats.data.language.arithmetic import Value, is_column, is_text

# Functions that may have a value where an argument has none, or look at other rows.
LOOKING = {
    *("np.isnan", "np.isfinite", "np.isinf", "np.nan_to_num", "np.fmax", "np.fmin"),
    *("np.where", "ifelse", "is_na", "addNA", "coalesce", "pd.isna", "pd.isnull"),
    *("pd.notna", "pd.notnull", "isna", "isnull", "notna", "notnull", "fillna"),
    *("isin", "lag", "I", "Q"),
}  # fmt: skip


def missing_in(value: Value) -> Mask | None:
    """Rows in which a value is missing; None of a constant.

    Examples
    --------
    >>> missing_in(pd.Series([1.0, np.nan])).tolist()
    [False, True]
    """
    plain = getattr(value, "__wrapped__", value)
    if isinstance(plain, dict):
        parts = [missing_in(part) for part in plain.values()]
        masks = [mask for mask in parts if mask is not None]
        return np.logical_or.reduce(masks) if masks else None
    if not isinstance(plain, pd.Series | pd.DataFrame | np.ndarray):
        return None
    found: Mask = np.asarray(pd.isna(plain), dtype=bool)
    return np.asarray(found.any(axis=1)) if found.ndim == 2 else found


def taken(value: Value, rows: Mask) -> Value:
    """Some of the rows of a value; constants as they are."""
    plain = getattr(value, "__wrapped__", value)
    if plain is not value:
        return type(value)(taken(plain, rows), metadata=value.__formulaic_metadata__)
    if isinstance(value, dict):
        return {name: taken(part, rows) for name, part in value.items()}
    if isinstance(value, pd.Series | pd.DataFrame):
        found = value[rows]
        truth = isinstance(found.dtype if found.ndim == 1 else None, pd.BooleanDtype)
        return found.astype(bool) if truth and not found.isna().any() else found
    return value[rows] if isinstance(value, np.ndarray) and value.ndim else value


def spread(value: Value, rows: Mask, index: pd.Index) -> Value:
    """Put values of some rows on all rows, missing in the others."""
    plain = getattr(value, "__wrapped__", value)
    if plain is not value:
        found = spread(plain, rows, index)
        return type(value)(found, metadata=value.__formulaic_metadata__)
    if isinstance(value, dict):
        return {name: spread(part, rows, index) for name, part in value.items()}
    if isinstance(value, pd.DataFrame):
        return value.set_axis(index[rows], axis=0).reindex(index)
    if isinstance(value, np.ndarray) and value.ndim == 2:
        full = np.full((len(index), value.shape[1]), np.nan)
        full[rows] = value
        return full
    if not isinstance(value, pd.Series | np.ndarray | pd.Categorical):
        return value
    if getattr(value, "ndim", 1) == 0:
        return value
    column = pd.Series(value)
    if column.dtype == np.bool_:
        column = column.astype("boolean")
    return column.set_axis(index[rows]).reindex(index)


def where_present(
    compute: Callable[..., Value],
    arguments: Sequence[Value],
    keywords: Mapping[str, Value],
    index: pd.Index,
) -> Value:
    """Compute on the rows in which no argument is missing; missing in the others.

    Examples
    --------
    >>> x = pd.Series([1.0, np.nan, 4.0])
    >>> where_present(np.sqrt, [x], {}, x.index).tolist()
    [1.0, nan, 2.0]
    """
    masks = [missing_in(value) for value in (*arguments, *keywords.values())]
    rows = ~np.logical_or.reduce([np.zeros(len(index), dtype=bool)] + [
        mask for mask in masks if mask is not None and len(mask) == len(index)
    ])  # fmt: skip
    if not rows.any():
        return pd.Series(np.nan, index=index)
    found = compute(
        *(taken(value, rows) for value in arguments),
        **{name: taken(value, rows) for name, value in keywords.items()},
    )
    return found if rows.all() else spread(found, rows, index)


def connected(name: str, values: Sequence[Value]) -> Value:
    """``&`` and ``|``: true or missing is true, false and missing is false.

    Examples
    --------
    >>> unknown = pd.Series([True, None], dtype="boolean")
    >>> connected("|", [unknown, pd.Series([False, True])]).tolist()
    [True, True]
    """
    found = None
    for value in map(_truth, values):
        if found is None:
            found = value
        else:
            found = found & value if name == "&" else found | value
    return found


def _truth(value: Value) -> Value:
    if is_text(value):
        raise TypeError("'&' and '|' take numbers, and there is text")
    if not is_column(value):
        return bool(value)
    column: DataColumn = pd.Series(value)
    if column.dtype.kind == "b":
        return column.astype("boolean")
    return (column != 0).astype("boolean").mask(column.isna())
