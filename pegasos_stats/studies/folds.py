"""Folds: the rows fitted and the rows held out, drawn by R's random numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from pegasos_stats.arrays import Codes, DataColumn, Rows, Vector
from pegasos_stats.checks import check_count, whole_of
from pegasos_stats.data.labels import LabelCoding, factor_levels, positions
from pegasos_stats.data.sample import FOR_FOLDS, Groups, RowIndex, Sample
from pegasos_stats.data.user_data import (
    check_aligned,
    column_of_frame,
    column_of_labels,
    convert_errors,
)
from pegasos_stats.errors import DataError, OptionError, counted, listing, plain
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.rng import RRandom, SampleKind

MOST = 1_000_000  # folds in a list, which may have no end

CURE = "give a number, the fold of each row, pairs (train, test), or other folds"


@dataclass(frozen=True, eq=False)
class Split:
    """One fit of a cross-validation: rows to fit, and rows held out.

    Attributes
    ----------
    repeat : int
        From 1.
    fold : int or label
        From 1 within the repeat; the label where folds were given by labels.
    test : int64 array
        Rows held out, counted from zero.
    n : int
        Number of all rows.
    given : int64 array or None
        Rows to fit, where they were given; all others if None.
    """

    repeat: int
    fold: object
    test: Rows
    n: int
    given: Rows | None = None

    def __str__(self) -> str:
        return f"Fold {self.fold!r} of repeat {self.repeat}"

    @property
    def n_train(self) -> int:
        """Number of rows to fit."""
        return self.n - len(self.test) if self.given is None else len(self.given)

    @property
    def train(self) -> Rows:
        """Rows to fit, counted from zero."""
        if self.given is not None:
            return self.given
        fitted = np.ones(self.n, dtype=bool)
        fitted[self.test] = False
        return np.flatnonzero(fitted)

    @property
    def rows(self) -> Rows:
        """Rows to fit or held out, in rising order."""
        return np.sort(np.concatenate([self.train, self.test]))


@suggest_arguments
@dataclass(frozen=True, eq=False)
class Folds:
    """The splits of a cross-validation, which can be used in another one.

    Iteration gives pairs ``(train, test)`` of row positions counted from zero, as
    scikit-learn takes them: ``cv=list(folds)``.

    Attributes
    ----------
    splits : tuple of Split
    n : int
        Number of rows.
    seed : int or None
        Seed of the drawn folds; None if they were given.
    groups : int array, shape (n,), or None
        Group of each row, if groups are kept together.
    labels, outcome : str or None
        Digests of the row labels and of the classes, by which other rows are refused.

    Examples
    --------
    >>> folds = Folds.stratified(["a", "b", "a", "b", "a", "b"], 3, seed=1)
    >>> folds.assignment
    array([[1, 1, 2, 2, 3, 3]])
    >>> [test.tolist() for train, test in folds]
    [[0, 1], [2, 3], [4, 5]]
    """

    splits: tuple[Split, ...]
    n: int
    seed: int | None = None
    groups: Codes | None = None
    labels: str | None = None
    outcome: str | None = None

    @classmethod
    @suggest_arguments
    def stratified(
        cls,
        y: object,
        k: int = 10,
        *,
        groups: object = None,
        repeats: int = 1,
        seed: int | None = 1,
        sample_kind: SampleKind = "rejection",
    ) -> "Folds":
        """Draw stratified folds, over which each level is spread evenly.

        The rows of each level, levels in the order of ``factor()``, are shuffled by R's
        ``sample.int()`` and dealt to folds 1, 2, ..., k, 1, ... like cards; the next
        level continues where the last one ended. Any two folds differ by at most one
        row, in total and in each level. ``stratified_folds()`` of ``r_reference`` does
        the same in base R.

        With groups, each group is in a single fold, and levels are spread as evenly as
        whole groups permit: see `grouped_folds`.

        Parameters
        ----------
        y : Series or array, shape (n,)
            Labels, none missing.
        k : int, default 10
            Number of folds, from 2 to n, or to the number of groups.
        groups : Series or array, shape (n,), optional
            Groups of rows that stay in one fold, such as patients of a hospital.
        repeats : int, default 1
            Number of repeats, drawn one after the other.
        seed : int, default 1
            As for R's ``set.seed()``; None draws one.
        sample_kind : "rejection" or "rounding"

        Raises
        ------
        DataError
            If a label is missing.
        OptionError
            If `k` or `repeats` are not allowed.

        Examples
        --------
        >>> Folds.stratified([0, 1] * 10, 5, repeats=2, seed=443)
        <Folds: 5 stratified folds of 20 rows, 2 repeats, seed 443>
        >>> Folds.stratified([0, 1, 1, 0] * 2, 2, groups=list("aabbccdd"), seed=443)
        <Folds: 2 stratified folds of 8 rows in 4 groups, seed 443>
        """
        rng = RRandom(seed, sample_kind=sample_kind)
        labels = column_of_labels(y)
        if labels.isna().any() or not len(labels):
            raise DataError(f"y lacks a label in {labels.isna().sum():,} rows.")
        codes = positions(labels, factor_levels(labels, "y"))
        lines = RowIndex.of(y, np.arange(len(labels)), labels.index)
        found = drawn_folds(codes, k, repeats, rng, whole_groups(lines, groups))
        index = y.index if isinstance(y, pd.Series) else None
        return replace(found, labels=_digest(index), outcome=_digest(codes))

    @property
    def repeats(self) -> int:
        """Number of repeats."""
        return self.splits[-1].repeat

    @property
    def k(self) -> int:
        """Number of folds in the first repeat."""
        return sum(split.repeat == 1 for split in self.splits)

    @property
    def assignment(self) -> Rows:
        """Test fold of each row, counted from 1; 0 for none. Shape (repeats, n)."""
        found = np.zeros((self.repeats, self.n), dtype=np.int64)
        place = [0] * self.repeats
        for split in self.splits:
            at = split.repeat - 1
            place[at] += 1
            found[at, split.test] = place[at]
        return found

    def __len__(self) -> int:
        return len(self.splits)

    def __iter__(self) -> Iterator[tuple[Rows, Rows]]:
        return ((split.train, split.test) for split in self.splits)

    def __repr__(self) -> str:
        origin = ", given" if self.seed is None else f", seed {self.seed}"
        return f"<Folds: {self.description}{origin}>"

    @property
    def kind(self) -> str:
        """Number and kind of the folds, and their repeats, for a header."""
        kind = f"{self.k}, {'given' if self.seed is None else 'stratified'}"
        kind += " by group" if self.groups is not None else ""
        return kind if self.repeats == 1 else f"{kind}, {self.repeats} times"

    @property
    def description(self) -> str:
        """Number and kind of the folds, rows and seed, in words."""
        kind = "fold" if self.seed is None else "stratified fold"
        again = "" if self.repeats == 1 else f", {self.repeats} repeats"
        rows = counted(self.n, "row")
        if self.groups is not None:
            groups = len(np.unique(self.groups))
            rows += f" in {counted(groups, 'group')}"
            if groups == self.k:  # nothing is left to stratify
                kind, rows = "fold", f"{counted(self.n, 'row')}, one group each"
        return f"{counted(self.k, kind)} of {rows}{again}"


def checked_folds(
    folds: object, repeats: object, sample: Sample, rng: RRandom, groups: object = None
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
    repeats, codes = check_count("repeats", repeats), whole_groups(sample.lines, groups)
    if (k := whole_of(folds)) is not None:
        y = (sample.y > 0).astype(np.intp)
        found = drawn_folds(y, k, repeats, rng, codes)
    elif repeats > 1:
        raise OptionError("goes with a number of folds.", "repeats", repeats)
    else:
        found = _read_folds(folds, sample)
        if codes is not None:
            for split in found.splits:
                if np.intersect1d(codes[split.test], codes[split.train]).size:
                    raise DataError(f"{split} parts groups.")
            found = replace(found, groups=codes)
    if found.labels is None or found.outcome is None:
        labels, outcome = _digest(sample.index), _digest(sample.y)
        found = replace(found, labels=labels, outcome=outcome)
    counting = sample.y if sample.weights is None else sample.y * (sample.weights > 0)
    check_classes(found, counting, sample.coding)
    return found


def _read_folds(folds: Any, sample: Sample) -> Folds:
    """Folds of another study, a label for each row, or pairs of rows."""
    n = len(sample.y)
    if isinstance(folds, Folds):
        if folds.n != n:
            rows = counted(folds.n, "row")
            raise DataError(f"The folds are of {rows} and the model uses {n:,}.")
        for known, here, what in (
            (folds.labels, sample.index, "row labels"),
            (folds.outcome, sample.y, "classes"),
        ):
            if known not in (None, _digest(here)):
                raise DataError(
                    f"The folds are of other rows: {what} differ; draw folds of these, "
                    "or give folds=list(folds) to match rows by position."
                )
        return folds
    folds = column_of_frame(folds)
    refused = OptionError(f"is not allowed; {CURE}.", "folds", folds)
    if isinstance(folds, str):
        raise refused
    if not isinstance(folds, pd.Series | pd.Categorical | np.ndarray | pd.Index):
        with convert_errors(refused):
            folds = list(islice(folds, MOST))
            if folds and all(map(_is_pair, folds)):
                return _by_pairs(folds, n)
            folds = np.asarray(folds)
    return _by_labels(folds, sample)


def _digest(values: "pd.Index | Codes | Vector | None") -> str | None:
    """A digest of row labels, or of classes, whichever of them is the first."""
    if values is None:
        return None
    labels = values if isinstance(values, pd.Index) else pd.Index(values == values[0])
    hashes = pd.util.hash_pandas_object(labels.to_frame(), index=False).to_numpy()
    return sha256(np.asarray(hashes).tobytes()).hexdigest()


def _by_labels(labels: "ArrayLike | DataColumn", sample: Sample) -> Folds:
    """Make a fold of each different label; of a matrix, a repeat of each line."""
    lines = [labels] if np.ndim(labels) == 1 else list(np.atleast_2d(labels))
    splits: list[Split] = []
    for repeat, line in enumerate(lines, 1):
        column, index = column_of_labels(line, "folds"), sample.index
        if len(column) == len(sample.kept) != len(index):
            column = column[sample.kept]  # dropped rows may have labels too
        check_aligned("folds", column, index, isinstance(line, pd.Series))
        if column.isna().any():
            rows = index[column.isna().to_numpy(dtype=bool)]
            raise DataError(f"folds are missing in the rows {listing(rows)}.")
        levels = factor_levels(column, "folds")
        if len(levels) < 2:
            raise DataError(f"folds hold {listing(levels)} only; give two or more.")
        codes = positions(column, levels)
        for j, level in enumerate(levels):
            test = np.flatnonzero(codes == j)
            splits.append(Split(repeat, plain(level), test, len(codes)))
    if not splits:
        raise DataError(f"folds are empty; {CURE}.")
    return Folds(tuple(splits), len(sample.y))


def _is_pair(item: Any) -> bool:
    several = isinstance(item, tuple | list) and len(item) == 2
    return several and all(np.ndim(rows) == 1 for rows in item)


def _by_pairs(pairs: Sequence[tuple[ArrayLike, ArrayLike]], n: int) -> Folds:
    """Splits as given; a repeat begins where a row is tested again."""
    splits: list[Split] = []
    repeat, fold, tested = 1, 0, np.zeros(n, dtype=bool)
    for pair in pairs:
        steps = zip(pair, ("fit", "hold out"), strict=True)
        train, test = (_checked_rows(rows, n, what) for rows, what in steps)
        if (both := np.intersect1d(train, test)).size:
            raise DataError(f"The rows {listing(both)} are both fitted and held out.")
        if tested[test].any():
            repeat, fold, tested = repeat + 1, 0, np.zeros(n, dtype=bool)
        tested[test] = True
        fold += 1
        splits.append(Split(repeat, fold, test, n, train))
    return Folds(tuple(splits), n)


def _checked_rows(rows: ArrayLike, n: int, what: str) -> Rows:
    """Return different rows counted from zero."""
    found = np.asarray(rows)
    if not found.size:
        raise DataError(
            f"A pair of folds has no rows to {what}; give rows, 0 to {n - 1}, in both."
        )
    several = found.dtype.kind in "iu" and found.size == np.unique(found).size > 0
    if not several or found.min() < 0 or found.max() >= n:
        known = pd.Series(found.ravel())
        rows = known[~known.isin(range(n)) | known.duplicated()]
        held = listing((rows if len(rows) else known).tolist())
        cure = f"give different rows by number, 0 to {n - 1}"
        if found.dtype.kind == "b":
            cure = f"give the numbers of rows, as by np.flatnonzero(), 0 to {n - 1}"
        raise DataError(f"A fold has the rows {held}; {cure}.")
    return found.astype(np.int64)


def whole_groups(lines: RowIndex | None, groups: object) -> Codes | None:
    """Group of every row, for folds; None without groups.

    Raises
    ------
    OptionError
        As for `Lines.groups`; if groups are of two kinds, or there are no rows.
    """
    if groups is None:
        return None
    if not isinstance(groups, Groups):
        if lines is None:
            raise OptionError("groups= are of rows, which this model does not hold.")
        groups = lines.groups(groups, FOR_FOLDS)
    if len(groups.codes) > 1:
        raise OptionError("groups are of 2 kinds; folds keep those of one whole.")
    return groups.codes[0]


def drawn_folds(
    codes: Codes, k: object, repeats: object, rng: RRandom, groups: Codes | None = None
) -> Folds:
    """Draw stratified folds, as ``stratified_folds()`` of the R reference does.

    Parameters
    ----------
    codes : int array, shape (n,)
        Position of each row's level.
    k, repeats : int
    rng : RRandom
        Goes on from where the folds leave it.
    groups : int array, shape (n,), optional
        Group of each row, numbered from 0 as they first appear; then as
        ``grouped_folds()`` of the R reference.

    Raises
    ------
    OptionError
        If `k` is not between 2 and n, or the number of groups, or `repeats` not above
        zero.
    DataError
        If there is one row, or one group.
    """
    n = len(codes)
    most, units = (n, "row") if groups is None else (int(groups.max()) + 1, "group")
    k, repeats = check_count("folds", k), check_count("repeats", repeats)
    if most < 2:
        raise DataError(f"{counted(most, units)} cannot be parted into folds.")
    if not 2 <= k <= most:
        why = f"is not allowed with {counted(most, units)}; give 2 to {most}."
        raise OptionError(why, "folds", k)
    seed = rng.seed
    splits: list[Split] = []
    for repeat in range(1, repeats + 1):
        if groups is None:
            fold = stratified_folds(codes, k, rng)
        else:
            fold = grouped_folds(codes, groups, k, rng)
        splits += [
            Split(repeat, j, np.flatnonzero(fold == j), n) for j in range(1, k + 1)
        ]
    return Folds(tuple(splits), n, seed, groups)


def stratified_folds(codes: Codes, k: int, rng: RRandom) -> Rows:
    """The fold, 1 to k, that tests each row; see `Folds.stratified`. Shape (n,)."""
    fold = np.zeros(len(codes), dtype=np.int64)
    dealt = 0
    for level in range(int(codes.max()) + 1):
        rows = np.flatnonzero(codes == level)
        shuffled = rows[rng.permutation(len(rows))]
        fold[shuffled] = (dealt + np.arange(len(rows))) % k + 1
        dealt += len(rows)
    return fold


def grouped_folds(codes: Codes, groups: Codes, k: int, rng: RRandom) -> Rows:
    """The fold, 1 to k, that tests each row, the same for all rows of a group.

    Groups are shuffled by R's ``sample.int()`` and taken from the largest to the
    smallest. Each goes to the fold where ``sum_c n_fc m_c / N_c^2`` is smallest, with
    ``n_fc`` rows of level ``c`` in the fold already, ``m_c`` in the group and ``N_c``
    in all: that is where the squared shares of the levels in the folds grow least. Of
    several folds it is the one with the fewest rows, and of these the first.

    Parameters
    ----------
    codes : int array, shape (n,)
        Position of each row's level.
    groups : int array, shape (n,)
        From 0, with none left out.
    k : int
        At most the number of groups, so that no fold stays empty.
    rng : RRandom

    Returns
    -------
    int64 array, shape (n,)

    Examples
    --------
    >>> codes, groups = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 0, 1, 1, 2, 2])
    >>> grouped_folds(codes, groups, 2, RRandom(1)).tolist()
    [1, 1, 2, 2, 1, 1]
    """
    sizes = np.zeros((int(groups.max()) + 1, int(codes.max()) + 1))
    np.add.at(sizes, (groups, codes), 1.0)
    total = sizes.sum(axis=0)
    counts = np.zeros((k, total.size))
    place = np.zeros(len(sizes), dtype=np.int64)
    shuffled = rng.permutation(len(sizes))
    for group in shuffled[np.argsort(-sizes[shuffled].sum(axis=1), kind="stable")]:
        load = np.zeros(k)
        for level in np.flatnonzero(total):
            share = sizes[group, level] / total[level]
            load += counts[:, level] / total[level] * share
        best = np.flatnonzero(load == load.min())
        fold = best[np.argmin(counts[best].sum(axis=1))]
        counts[fold] += sizes[group]
        place[group] = fold + 1
    return place[groups]


def check_classes(folds: Folds, y: Vector, coding: LabelCoding) -> None:
    """Raise `DataError` if the rows to fit of a fold are all of one level.

    Parameters
    ----------
    folds : Folds
    y : float64 array, shape (n,), of -1 and +1; 0 for a row of weight 0
    coding : LabelCoding
    """
    for split in folds.splits:
        fitted = y[split.train]
        for sign, level in zip((-1.0, 1.0), coding.levels, strict=True):
            if not (fitted == sign).any():
                raise DataError(f"{split} leaves no row of level {level!r} to fit.")
