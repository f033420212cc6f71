"""Folds: the rows fitted and the rows held out, drawn by R's random numbers."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pegasos_stats.arrays import Codes, Rows, Vector
from pegasos_stats.checks import check_count
from pegasos_stats.data.foreign import column_of_labels
from pegasos_stats.data.groups import FOR_FOLDS, Groups, Lines
from pegasos_stats.data.labels import LabelCoding, factor_levels, positions
from pegasos_stats.errors import DataError, OptionError, counted
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.rng import RRandom, SampleKind


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

    def __post_init__(self) -> None:
        for rows in (self.test, self.given):
            if rows is not None:
                rows.flags.writeable = False

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
        >>> Folds.stratified([0, 1, 1, 0], 2, groups=list("aabb"), seed=443)
        <Folds: 2 stratified folds of 4 rows in 2 groups, seed 443>
        """
        rng = RRandom(seed, sample_kind=sample_kind)
        labels = column_of_labels(y)
        missing = int(labels.isna().sum())
        if missing or not len(labels):
            raise DataError(
                f"y has {counted(len(labels), 'value')}, {missing:,} of them missing; "
                "give a label for every row."
            )
        codes = positions(labels, factor_levels(labels, "y"))
        if groups is None:
            return drawn_folds(codes, k, repeats, rng)
        lines = Lines.of(y, np.arange(len(labels)), labels.index)
        return drawn_folds(codes, k, repeats, rng, whole_groups(lines, groups))

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
            rows += f" in {counted(len(np.unique(self.groups)), 'group')}"
        return f"{counted(self.k, kind)} of {rows}{again}"


def whole_groups(lines: Lines, given: object) -> Codes:
    """Group of every row, for folds; errors as for `Lines.groups` and `one_way`."""
    return one_way(lines.groups(given, FOR_FOLDS))


def one_way(groups: Groups) -> Codes:
    """Group of every row, of groups of one kind.

    Raises
    ------
    OptionError
        If there are two kinds.
    """
    if len(groups.codes) > 1:
        raise OptionError(
            "groups are of 2 kinds, and folds keep whole groups of one; give the "
            "larger ones."
        )
    return groups.codes[0]


def drawn_folds(
    codes: Codes, k: int, repeats: int, rng: RRandom, groups: Codes | None = None
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
    most, units = n, "row"
    if groups is not None:
        most, units = int(groups.max()) + 1, "group"
    check_count("folds", k)
    check_count("repeats", repeats)
    if most < 2:
        raise DataError(
            f"{counted(most, units)} cannot be parted into folds; give two or more."
        )
    if not 2 <= k <= most:
        raise OptionError(
            f"is not allowed with {counted(most, units)}; give a number from 2 to that "
            f"of the {units}s.",
            "folds",
            k,
        )
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
    total = {sign: int((y == sign).sum()) for sign in (-1.0, 1.0)}
    for split in folds.splits:
        for sign, level in zip((-1.0, 1.0), coding.levels, strict=True):
            part = split.test if split.given is None else split.given
            found = int((y[part] == sign).sum())
            if (total[sign] - found if split.given is None else found) == 0:
                raise DataError(
                    f"Fold {split.fold!r} of repeat {split.repeat} leaves no row of "
                    f"level {level!r} to fit; give folds that leave both levels, of "
                    "which each needs two rows or more."
                )
