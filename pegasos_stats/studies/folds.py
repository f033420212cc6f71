"""Folds of a cross-validation: training and test rows, drawn as in R."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from operator import mul
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from pegasos_stats.arrays import Codes, DataColumn, Rows, Vector
from pegasos_stats.checks import check_count, whole_of
from pegasos_stats.data.labels import LabelCoding, factor_levels, positions
from pegasos_stats.data.sample import Groups, RowIndex, Sample
from pegasos_stats.data.user_data import (
    check_aligned,
    column_of_frame,
    column_of_labels,
    convert_errors,
)
from pegasos_stats.errors import DataError, OptionError, counted, listing, plain
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.rng import RRandom, SampleKind

# Folds are refused if all test rows together are fewer than 1% of n - FEW_ROWS.
FEW_ROWS, MIN_TEST_SHARE = 2**16, 0.01

ALLOWED_FOLDS = (
    "pass a number, the fold of each row, pairs (train, test), or a Folds object"
)


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows of one fit of a cross-validation.

    Attributes
    ----------
    repeat : int
        Number of the repeat, from 1.
    fold : int or label
        Number of the fold, from 1 in each repeat; the label if the user passed labels.
    test : int64 array
        Test rows, counted from zero.
    n : int
        Number of all rows.
    given : int64 array or None
        Training rows; None for all rows outside `test`.
    """

    repeat: int
    fold: object
    test: Rows
    n: int
    given: Rows | None = None

    _field_rules = "test t nonnegative, given g nonnegative"

    def __str__(self) -> str:
        return f"Fold {self.fold!r} of repeat {self.repeat}"

    @property
    def n_train(self) -> int:
        """Number of training rows."""
        return self.n - len(self.test) if self.given is None else len(self.given)

    @property
    def train(self) -> Rows:
        """Training rows, counted from zero."""
        if self.given is not None:
            return self.given
        fitted = np.ones(self.n, dtype=bool)
        fitted[self.test] = False
        return np.flatnonzero(fitted)

    @property
    def rows(self) -> Rows:
        """Training and test rows, in increasing order."""
        return np.sort(np.concatenate([self.train, self.test]))

    def _conditions(self) -> Iterator[object]:
        """Check that the test rows are among the `n` rows."""
        yield self.test.max(initial=0) < self.n


@suggest_arguments
@dataclass(frozen=True, eq=False)
class Folds:
    """Splits of a cross-validation, which can be reused in other studies.

    Iteration yields pairs ``(train, test)`` of row positions counted from zero, as
    scikit-learn expects them: ``cv=list(folds)``.

    Attributes
    ----------
    splits : tuple of Split
    n : int
        Number of rows.
    seed : int or None
        Seed of the random folds; None if the user passed folds.
    groups : int array, shape (n,), or None
        Group of each row, if folds do not split groups.
    labels, outcome : str or None
        Digests of row labels and classes, to reject folds of other data.

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

    _field_rules = "seed seed"

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
        """Draw folds that are stratified by class.

        R's ``sample.int()`` shuffles the rows of one class after the other, in the
        order of ``factor()``. The rows are assigned to folds 1, 2, ..., k, 1, ... in
        turn, and each class continues where the previous class ended. The sizes of any
        two folds differ by at most one row, in total and in each class.
        ``stratified_folds()`` of ``r_reference`` draws the same folds in base R.

        With groups, each group is in a single fold, and the folds balance the classes,
        as in ``grouped_folds()`` of ``r_reference``.

        Parameters
        ----------
        y : Series or array, shape (n,)
            Labels, none missing.
        k : int, default 10
            Number of folds: from 2 to n or, with groups, to the number of groups.
        groups : Series or array, shape (n,), optional
            Groups of rows that stay in one fold, such as patients of a hospital.
        repeats : int, default 1
            Number of repeats, drawn one after the other.
        seed : int, default 1
            Seed for R's ``set.seed()``; None draws a seed.
        sample_kind : "rejection" or "rounding"
            R's ``sample.kind``: ``"rounding"`` repeats R before 3.6.

        Raises
        ------
        DataError
            If `y` is empty, a label is missing, or there is only one row or group.
        OptionError
            If `k` or `repeats` are not allowed.

        Examples
        --------
        >>> Folds.stratified([0, 1] * 10, 5, repeats=2, seed=443)
        <Folds: 20 rows in 5 stratified folds, 2 repeats, seed 443>
        >>> Folds.stratified([0, 1, 1, 0] * 2, 2, groups=list("aabbccdd"), seed=443)
        <Folds: 8 rows in 4 groups and 2 stratified folds, seed 443>
        """
        rng = RRandom(seed, sample_kind=sample_kind)
        labels = column_of_labels(y)
        if not len(labels):
            raise DataError("y is empty; pass labels.")
        if n_missing := int(labels.isna().sum()):
            raise DataError(
                f"y has {counted(n_missing, 'missing label')} in "
                f"{counted(len(labels), 'row')}; pass a label for each row."
            )
        codes = positions(labels, factor_levels(labels, "y"))
        lines = RowIndex.of(y, np.arange(len(labels)), labels.index)
        folds = draw_folds(codes, k, repeats, rng, whole_groups(lines, groups))
        index = y.index if isinstance(y, pd.Series) else None
        return replace(folds, labels=_digest(index), outcome=_digest(codes))

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
        """Number of the test fold of each row, or 0 without one; shape (repeats, n)."""
        assigned = np.zeros((self.repeats, self.n), dtype=np.int64)
        place = [0] * self.repeats
        for split in self.splits:
            at = split.repeat - 1
            place[at] += 1
            assigned[at, split.test] = place[at]
        return assigned

    def __len__(self) -> int:
        return len(self.splits)

    def __iter__(self) -> Iterator[tuple[Rows, Rows]]:
        return ((split.train, split.test) for split in self.splits)

    def __repr__(self) -> str:
        origin = ", given" if self.seed is None else f", seed {self.seed}"
        return f"<Folds: {self.description}{origin}>"

    @property
    def kind(self) -> str:
        """Number, kind and repeats of the folds, for a header."""
        kind = f"{self.k}, {'given' if self.seed is None else 'stratified'}"
        kind += " by group" if self.groups is not None else ""
        return kind if self.repeats == 1 else f"{kind}, {self.repeats} times"

    @property
    def description(self) -> str:
        """Numbers of rows, groups and folds, in words."""
        kind = "fold" if self.seed is None else "stratified fold"
        text = f"{counted(self.n, 'row')} in "
        if self.groups is not None:
            n_groups = len(np.unique(self.groups))
            text += counted(n_groups, "group")
            if self.k == n_groups:
                text += f", each predicted from the other {n_groups - 1}"
            else:
                text += f" and {counted(self.k, kind)}"
        else:
            text += counted(self.k, kind)
        return text if self.repeats == 1 else f"{text}, {self.repeats} repeats"

    def _conditions(self) -> Iterator[object]:
        """Check that folds exist, have the same `n`, and are ordered by repeat."""
        n, repeats = self.n, [split.repeat for split in self.splits]
        yield repeats and all(split.n == n for split in self.splits)
        held_out = sum(len(split.test) for split in self.splits)
        yield held_out >= MIN_TEST_SHARE * (n - FEW_ROWS)
        yield repeats == sorted(repeats) and repeats[-1] <= len(repeats)
        yield {*repeats} == {*range(1, repeats[-1] + 1)}
        yield self.groups is None or self.groups.shape == (n,)


def checked_folds(
    folds: object, repeats: object, sample: Sample, rng: RRandom, groups: object = None
) -> Folds:
    """Draw folds, or validate the folds of the user.

    Parameters
    ----------
    folds : int, Folds, Series or array, or iterable of pairs
    repeats : int
        Number of repeats of random folds; 1 for folds of the user.
    sample : Sample
        The training data.
    rng : RRandom
        Generator of random folds.
    groups : Groups, or labels as for `RowIndex.groups`; optional
        Groups that folds do not split. If none are passed, a `Folds` object keeps its
        own groups.

    Returns
    -------
    Folds, whose training rows always include both classes

    Raises
    ------
    OptionError
        If `folds` is of another type, or `repeats` is not 1 for folds of the user.
    DataError
        If the folds have other rows, training rows of only one class, or split groups.
    """
    repeats, codes = check_count("repeats", repeats), whole_groups(sample.lines, groups)
    if (k := whole_of(folds)) is not None:
        y = (sample.y > 0).astype(np.intp)
        splits = draw_folds(y, k, repeats, rng, codes)
    elif repeats > 1:
        why = "is for random folds; pass a number as folds=, or omit repeats=."
        raise OptionError(why, "repeats", repeats)
    else:
        splits = _read_folds(folds, sample)
        if codes is not None:
            for split in splits.splits:
                if np.intersect1d(codes[split.test], codes[split.train]).size:
                    raise DataError(f"{split} splits groups; assign whole groups.")
            splits = replace(splits, groups=codes)
    if splits.labels is None or splits.outcome is None:
        labels, outcome = _digest(sample.index), _digest(sample.y)
        splits = replace(splits, labels=labels, outcome=outcome)
    counting = sample.y if sample.weights is None else sample.y * (sample.weights > 0)
    check_classes(splits, counting, sample.coding)
    return splits


def _read_folds(folds: Any, sample: Sample) -> Folds:
    """Validate folds of another study, a fold for each row, or pairs of rows."""
    n = len(sample.y)
    if isinstance(folds, Folds):
        if folds.n != n:
            rows = counted(folds.n, "row")
            raise DataError(
                f"The folds have {rows}, but the model uses {n:,}; draw new folds."
            )
        for digest, here, what in (
            (folds.labels, sample.index, "row labels"),
            (folds.outcome, sample.y, "classes"),
        ):
            if digest not in (None, _digest(here)):
                raise DataError(
                    f"The folds belong to other rows: {what} differ; draw new folds, "
                    "or pass folds=list(folds) to match rows by position."
                )
        return folds
    folds = column_of_frame(folds)
    error = OptionError(f"is not allowed; {ALLOWED_FOLDS}.", "folds", folds)
    if isinstance(folds, str):
        raise error
    if not isinstance(folds, pd.Series | pd.Categorical | np.ndarray | pd.Index):
        with convert_errors(error):
            folds = list(folds)
            if folds and all(map(_is_pair, folds)):
                return _by_pairs(folds, n)
            folds = np.asarray(folds)
    return _by_labels(folds, sample)


def _digest(values: "pd.Index | Codes | Vector | None") -> str | None:
    """Digest row labels, or classes regardless of their names."""
    if values is None:
        return None
    labels = values if isinstance(values, pd.Index) else pd.Index(values == values[0])
    hashes = pd.util.hash_pandas_object(labels.to_frame(), index=False).to_numpy()
    return sha256(np.asarray(hashes).tobytes()).hexdigest()


def _by_labels(labels: "ArrayLike | DataColumn", sample: Sample) -> Folds:
    """Build one fold per label; each row of a matrix is a repeat."""
    lines = [labels] if np.ndim(labels) == 1 else list(np.atleast_2d(labels))
    splits: list[Split] = []
    for repeat, line in enumerate(lines, 1):
        column, index = column_of_labels(line, "folds"), sample.index
        if len(column) == len(sample.complete) != len(index):
            column = column[sample.complete]  # without the labels of dropped rows
        check_aligned("folds", column, index, isinstance(line, pd.Series))
        if column.isna().any():
            rows = index[column.isna().to_numpy(dtype=bool)]
            raise DataError(
                f"folds are missing in the rows {listing(rows)}; pass a fold for each "
                "row."
            )
        levels = factor_levels(column, "folds")
        if len(levels) < 2:
            raise DataError(f"The only fold is {listing(levels)}; pass two or more.")
        codes = positions(column, levels)
        for j, level in enumerate(levels):
            test = np.flatnonzero(codes == j)
            splits.append(Split(repeat, plain(level), test, len(codes)))
    if not splits:
        raise DataError(f"folds are empty; {ALLOWED_FOLDS}.")
    return Folds(tuple(splits), len(sample.y))


def _is_pair(item: Any) -> bool:
    several = isinstance(item, tuple | list) and len(item) == 2
    return several and all(np.ndim(rows) == 1 for rows in item)


def _by_pairs(pairs: Sequence[tuple[ArrayLike, ArrayLike]], n: int) -> Folds:
    """Convert pairs to splits; a repeat begins when a test row occurs again."""
    splits: list[Split] = []
    repeat, fold, tested = 1, 0, np.zeros(n, dtype=bool)
    for pair in pairs:
        train, test = (_checked_rows(rows, n) for rows in pair)
        if (overlap := np.intersect1d(train, test)).size:
            rows = listing(overlap)
            raise DataError(
                f"The rows {rows} are both training and test rows of a fold; pass "
                "disjoint arrays."
            )
        if tested[test].any():
            repeat, fold, tested = repeat + 1, 0, np.zeros(n, dtype=bool)
        tested[test] = True
        fold += 1
        splits.append(Split(repeat, fold, test, n, train))
    return Folds(tuple(splits), n)


def _checked_rows(rows: ArrayLike, n: int) -> Rows:
    """Return row numbers, or raise `DataError` unless they are distinct and exist."""
    array = np.asarray(rows)
    numbers = pd.Series(array.ravel())
    is_outside, is_repeated = ~numbers.isin(np.arange(n)), numbers.duplicated()
    if not array.size:
        why = "A fold has no training or no test rows"
    elif array.dtype.kind not in "iu":
        why = f"A fold has row numbers that are not integers: {listing(numbers)}"
    elif is_outside.any():
        why = f"A fold has rows that do not exist: {listing(numbers[is_outside])}"
    elif is_repeated.any():
        repeated = numbers[is_repeated].unique()
        why = f"A fold has rows that occur more than once: {listing(repeated)}"
    else:
        return array.astype(np.int64)
    raise DataError(
        f"{why}; pass training and test rows as distinct row numbers from 0 to "
        f"{n - 1}, for example from np.flatnonzero()."
    )


def whole_groups(lines: RowIndex | None, groups: object) -> Codes | None:
    """Return the group of every row, or None without groups.

    Raises
    ------
    OptionError
        As for `RowIndex.groups`; if there are two groupings, or `lines` is None.
    """
    if groups is None:
        return None
    if not isinstance(groups, Groups):
        if lines is None:
            raise OptionError(
                "groups= needs the training rows, which this model does not contain; "
                "build the model from a data frame."
            )
        groups = lines.groups(groups)
    if len(groups.codes) > 1:
        raise OptionError(
            "There are 2 groupings, but folds can preserve only one; pass one."
        )
    return groups.codes[0]


def draw_folds(
    codes: Codes, k: object, repeats: object, rng: RRandom, groups: Codes | None = None
) -> Folds:
    """Draw stratified folds, as ``stratified_folds()`` of the R reference does.

    Parameters
    ----------
    codes : int array, shape (n,)
        Class of each row, from 0.
    k, repeats : int
    rng : RRandom
        Generator, advanced by the draws.
    groups : int array, shape (n,), optional
        Group of each row; groups are numbered from 0 in the order of their first rows.
        Folds are then drawn as by ``grouped_folds()`` of the R reference.

    Raises
    ------
    OptionError
        If `k` is not between 2 and the number of rows or groups, or `repeats` is not
        positive.
    DataError
        If there is only one row or group.
    """
    n = len(codes)
    most, units = (n, "row") if groups is None else (int(groups.max()) + 1, "group")
    k, repeats = check_count("folds", k), check_count("repeats", repeats)
    if most < 2:
        raise DataError(
            f"{counted(most, units)} cannot be split into folds; pass more data."
        )
    if not 2 <= k <= most:
        why = f"is not allowed with {counted(most, units)}; pass 2 to {most}."
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
    """Return the test fold of each row, 1 to k; see `Folds.stratified`."""
    fold = np.zeros(len(codes), dtype=np.int64)
    dealt = 0
    for level in range(int(codes.max()) + 1):
        rows = np.flatnonzero(codes == level)
        shuffled = rows[rng.permutation(len(rows))]
        fold[shuffled] = (dealt + np.arange(len(rows))) % k + 1
        dealt += len(rows)
    return fold


def grouped_folds(codes: Codes, groups: Codes, k: int, rng: RRandom) -> Rows:
    """Return the test fold of each row, 1 to k, equal within groups.

    R's ``sample.int()`` shuffles the groups, which are then assigned from the largest
    to the smallest. Of the rows of class ``c``, ``n_fc`` are in fold ``f``, ``m_c`` in
    the group, and ``N_c`` in the data. The group is assigned to the fold ``f`` with the
    smallest ``sum_c n_fc m_c / N_c^2``, which minimises the new
    ``sum_fc (n_fc / N_c)^2``. Ties go to the fold with the fewest rows, and then to the
    first one.

    Parameters
    ----------
    codes : int array, shape (n,)
        Class of each row, from 0.
    groups : int array, shape (n,)
        Group of each row, from 0 without gaps.
    k : int
        Number of folds, at most the number of groups.
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
    total = np.maximum(sizes.sum(axis=0), 1.0)
    shares, rows = (sizes / total).tolist(), sizes.sum(axis=1).tolist()
    counts, loads = np.zeros((k, total.size)), [0.0] * k
    filled = counts.tolist()  # shares of the classes, n_fc / N_c
    place = np.zeros(len(sizes), dtype=np.int64)
    shuffled = rng.permutation(len(sizes))
    order = shuffled[np.argsort(-sizes[shuffled].sum(axis=1), kind="stable")]
    for group in order.tolist():
        added = [sum(map(mul, own, shares[group])) for own in filled]
        fold = min(range(k), key=list(zip(added, loads, strict=True)).__getitem__)
        counts[fold] += sizes[group]
        filled[fold] = (counts[fold] / total).tolist()
        loads[fold] += rows[group]
        place[group] = fold + 1
    return place[groups]


def check_classes(folds: Folds, y: Vector, coding: LabelCoding) -> None:
    """Raise `DataError` if the training rows of a fold have only one class.

    Parameters
    ----------
    folds : Folds
    y : float64 array, shape (n,), of -1 and +1; 0 for rows of weight 0
    coding : LabelCoding
    """
    for split in folds.splits:
        fitted = y[split.train]
        for sign, level in zip((-1.0, 1.0), coding.levels, strict=True):
            if not (fitted == sign).any():
                raise DataError(
                    f"{split} has no training row of class {level!r}; use other folds "
                    "or more data."
                )
