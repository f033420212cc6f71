"""Mean and standard error of a number that was found once for each fold."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def mean_and_error(
    values: Vector, weights: Vector, repeats: NDArray[np.int64]
) -> tuple[float, float]:
    """Mean over the folds, and its standard error.

    In one repeat of k folds with values ``v_j`` and weights ``w_j`` these are
    ``m = sum w_j v_j / sum w_j`` and ``sqrt(sum w_j (v_j - m)^2 / sum w_j / (k - 1))``.
    Repeats share their rows: the mean is that of their means, and the standard error
    the root mean square of theirs, which does not shrink with the number of repeats.
    Folds in which the value is NaN are left out.

    Parameters
    ----------
    values : float64 array, shape (m,)
    weights : float64 array, shape (m,)
        Weight of the held-out rows.
    repeats : int64 array, shape (m,)

    Returns
    -------
    pair of float
        NaN where no fold has a value; the standard error also with one fold.

    References
    ----------
    Hastie, Tibshirani & Friedman, *The Elements of Statistical Learning* (2009),
    section 7.10.1.

    Examples
    --------
    >>> mean_and_error(np.array([0.25, 0.75]), np.ones(2), np.ones(2, int))
    (0.5, 0.25)
    """
    kept = ~np.isnan(values)
    if not kept.any():
        return float("nan"), float("nan")
    parts = [kept & (repeats == r) for r in np.unique(repeats[kept])]
    pairs = np.array([_of_one_repeat(values[p], weights[p]) for p in parts])
    return float(pairs[:, 0].mean()), float(np.sqrt(np.square(pairs[:, 1]).mean()))


def _of_one_repeat(v: Vector, w: Vector) -> tuple[float, float]:
    mean = float(w @ v / w.sum())
    if len(v) == 1:
        return mean, float("nan")
    return mean, float(np.sqrt(w @ np.square(v - mean) / w.sum() / (len(v) - 1)))


def estimates(lines: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Estimate and standard error of each metric, from a line for each fold.

    Parameters
    ----------
    lines : DataFrame
        Columns ``repeat``, ``weight`` and the metrics.
    names : list of str
        Names of the metrics.

    Returns
    -------
    DataFrame
        Columns ``term, estimate, std_error``.
    """
    weights = lines["weight"].to_numpy(dtype=np.float64)
    repeats = lines["repeat"].to_numpy(dtype=np.int64)
    pairs = [
        mean_and_error(lines[name].to_numpy(dtype=np.float64), weights, repeats)
        for name in names
    ]
    rows = [(name, *pair) for name, pair in zip(names, pairs, strict=True)]
    return pd.DataFrame(rows, columns=["term", "estimate", "std_error"])
