"""Folds given by a user: a number, labels, pairs of rows, or earlier folds."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Codes, Rows
from pegasos_stats.checks import check_count, whole_of
from pegasos_stats.data.foreign import column_of_frame, column_of_labels, refusing
from pegasos_stats.data.groups import Groups
from pegasos_stats.data.labels import factor_levels, positions
from pegasos_stats.data.sample import Sample
from pegasos_stats.errors import DataError, OptionError, counted, listing, plain, shown
from pegasos_stats.rng import RRandom
from pegasos_stats.studies.selection.folds import (
    Folds,
    Split,
    check_classes,
    drawn_folds,
    one_way,
    whole_groups,
)

MOST = 1_000_000  # folds in a list, which may have no end
CURE = (
    "give a number of folds, the fold of each row, pairs (train, test) of rows, or "
    "the folds of another cross-validation"
)


def checked_folds(
    folds: Any, repeats: Any, sample: Sample, rng: RRandom, groups: object = None
) -> Folds:
    """Draw folds, or read those that are given.

    Parameters
    ----------
    folds : int, Folds, Series or array, or iterable of pairs
    repeats : int
        Of drawn folds; 1 for given ones.
    sample : Sample
        The rows of the fit.
    rng : RRandom
        Draws folds if a number is given.
    groups : Groups, or as `Lines.groups` takes them; optional
        Of rows that stay together. Folds that were drawn by groups have their own.

    Returns
    -------
    Folds, with rows of both levels to fit in every one

    Raises
    ------
    OptionError
        If the folds are none of these, or `repeats` are asked of given folds.
    DataError
        If they are not of these rows, leave a level out of a fit, or part a group.
    """
    check_count("repeats", repeats)
    codes_of_groups = _groups_of(groups, sample)
    if (k := whole_of(folds)) is not None:
        codes = (sample.y > 0).astype(np.intp)
        given = codes, k, int(repeats), rng, codes_of_groups
        found = drawn_folds(*given)
    else:
        found = _given(folds, sample)
        if repeats != 1:
            raise OptionError(
                f"repeats={shown(repeats)} goes with a number of folds; those given "
                "say themselves how often each row is tested."
            )
        if codes_of_groups is not None:
            _check_whole(found, codes_of_groups)
            found = replace(found, groups=codes_of_groups)
    counting = sample.y if sample.weights is None else sample.y * (sample.weights > 0)
    check_classes(found, counting, sample.coding)
    return found


def _groups_of(groups: object, sample: Sample) -> Codes | None:
    """Group of every row of the fit; None without groups."""
    if groups is None or isinstance(groups, Groups):
        return None if groups is None else one_way(groups)
    if sample.lines is None:
        raise OptionError(
            "groups= are of the training rows, which this model does not hold; make "
            "the model of its data."
        )
    return whole_groups(sample.lines, groups)


def _check_whole(folds: Folds, groups: Codes) -> None:
    """Raise `DataError` if a fold tests some rows of a group, and fits others."""
    for split in folds.splits:
        parted = np.intersect1d(groups[split.test], groups[split.train])
        if parted.size:
            raise DataError(
                f"Fold {split.fold!r} of repeat {split.repeat} parts "
                f"{counted(parted.size, 'group')}, with rows to fit and rows held out; "
                "give a number of folds, or folds of whole groups."
            )


def _given(folds: Any, sample: Sample) -> Folds:
    n = len(sample.y)
    if isinstance(folds, Folds):
        if folds.n != n:
            raise DataError(
                f"The folds are of {counted(folds.n, 'row')} and the model uses "
                f"{counted(n, 'row')}; give folds of these rows."
            )
        return folds
    folds = column_of_frame(folds)
    if isinstance(folds, pd.Series | pd.Categorical | np.ndarray | pd.Index):
        return _by_labels(folds, sample)
    if isinstance(folds, str) or not isinstance(folds, Iterable):
        raise OptionError(f"folds={shown(folds)} is not allowed; {CURE}.")
    with refusing(OptionError(f"folds={shown(folds)} cannot be read; {CURE}.")):
        items = list(islice(folds, MOST))
        pairs = bool(items) and all(
            isinstance(item, tuple | list)
            and len(item) == 2
            and all(np.ndim(rows) == 1 for rows in item)
            for item in items
        )
    if pairs:
        return _by_pairs(items, n)
    with refusing(OptionError(f"folds are lists of different lengths; {CURE}.")):
        labels = np.asarray(items)
    return _by_labels(labels, sample)


def _by_labels(labels: Any, sample: Sample) -> Folds:
    """Make a fold of each different label; of a matrix, a repeat of each line."""
    lines = [labels] if np.ndim(labels) == 1 else list(np.atleast_2d(labels))
    splits: list[Split] = []
    for repeat, line in enumerate(lines, 1):
        column = _of_these_rows(line, sample)
        levels = factor_levels(column, "folds")
        codes = positions(column, levels)
        splits += [
            Split(repeat, plain(level), np.flatnonzero(codes == j), len(codes))
            for j, level in enumerate(levels)
        ]
        if len(levels) < 2:
            raise DataError(
                f"folds hold {listing(levels)} only; give at least two different ones."
            )
    if not splits:
        raise DataError(f"folds are empty; {CURE}.")
    return Folds(tuple(splits), len(sample.y))


def _of_these_rows(labels: Any, sample: Sample) -> "pd.Series[Any]":
    """Return the labels at the rows of the fit; dropped rows may have labels too."""
    column = column_of_labels(labels, "folds")
    n, index = len(sample.y), sample.index
    if len(column) == len(sample.kept) != n:
        column = column[sample.kept]
    if len(column) != n:
        raise DataError(
            f"folds have {counted(len(column), 'value')} and the model uses "
            f"{counted(n, 'row')}; give one for each row."
        )
    if isinstance(labels, pd.Series) and not column.index.equals(index):
        raise DataError(
            "The row labels of folds and data differ; align them "
            "(folds.loc[data.index]) or give folds.to_numpy() to match by position."
        )
    if column.isna().any():
        rows = index[column.isna().to_numpy(dtype=bool)]
        raise DataError(f"folds are missing in the rows {listing(rows)}; fill them.")
    return column.set_axis(index)


def _by_pairs(pairs: Sequence[Any], n: int) -> Folds:
    """Splits as given; a repeat begins where a row is tested again."""
    splits: list[Split] = []
    repeat, fold, tested = 1, 0, np.zeros(n, dtype=bool)
    for train, test in pairs:
        fitted, held_out = _checked_rows(train, n), _checked_rows(test, n)
        both = np.intersect1d(fitted, held_out)
        if both.size:
            raise DataError(
                f"The rows {listing(both)} of a fold are both fitted and held out; "
                "give pairs (train, test) without a common row."
            )
        if tested[held_out].any():
            repeat, fold, tested = repeat + 1, 0, np.zeros(n, dtype=bool)
        tested[held_out] = True
        fold += 1
        splits.append(Split(repeat, fold, held_out, n, fitted))
    return Folds(tuple(splits), n)


def _checked_rows(rows: Any, n: int) -> Rows:
    """Return rows counted from zero, also where each row is marked True or False."""
    with refusing(DataError(f"A fold cannot be read; {CURE}.")):
        found = np.asarray(rows)
    if found.dtype == bool and found.shape == (n,):
        found = np.flatnonzero(found)
    if found.size == 0 or found.dtype.kind not in "iu":
        raise DataError(
            "A fold has no rows to fit or to hold out; give pairs (train, test) of "
            "rows counted from zero."
        )
    if found.min() < 0 or found.max() >= n:
        raise DataError(
            f"folds hold rows from {found.min()} to {found.max()} and the model uses "
            f"{counted(n, 'row')}, counted from zero; the last is {n - 1}."
        )
    if np.unique(found).size < found.size:
        raise DataError("A fold holds a row twice; give each row once.")
    return found.astype(np.int64)
