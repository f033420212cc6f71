"""Groups of rows that belong together: patients of a hospital, answers of a person."""

from collections.abc import Set, Sized
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.design import check_unique
from pegasos_stats.data.foreign import check_aligned, refusing, series_of
from pegasos_stats.data.weights import Positions, column_named
from pegasos_stats.errors import DataError, OptionError, counted, listing, shown

GROUPS_ALLOWED = "one label for each row of the data, or a list of two such"
COLUMNS = (str, pd.Series, np.ndarray, pd.Index, pd.Categorical, list, tuple)
MOST = 2  # ways of grouping
FOR_ERRORS = "usually 30 or more: standard errors are from their differences"
FOR_FOLDS = "as folds keep each whole, or leave groups out"


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of the rows of a fit, in one way or two.

    Attributes
    ----------
    names : tuple of str
        Of the columns, one for each way; empty where labels have no name.
    numbers : tuple of int
        How many groups there are.
    codes : tuple of int arrays, shape (n,)
        Group of every row, numbered from 0 as they first appear. A loaded fit, which
        has no rows, has none.
    by_name : bool
        Whether the names of columns were given, and not labels.
    """

    names: tuple[str, ...]
    numbers: tuple[int, ...]
    codes: tuple[NDArray[np.intp], ...] = ()
    by_name: bool = False

    @property
    def fewest(self) -> int:
        """Number of groups; of two ways the smaller."""
        return min(self.numbers)

    def among(self, rows: Positions) -> "Groups":
        """Those of some rows, numbered anew.

        Examples
        --------
        >>> groups = Groups(("",), (3,), (np.array([0, 1, 2, 2]),))
        >>> found = groups.among(np.array([1, 3]))
        >>> found.numbers, found.codes[0].tolist()
        ((2,), [0, 1])
        """
        coded = [pd.factorize(codes[rows]) for codes in self.codes]
        numbers = tuple(len(levels) for _, levels in coded)
        return replace(self, numbers=numbers, codes=tuple(codes for codes, _ in coded))

    def __str__(self) -> str:
        each = zip(self.numbers, self.names, strict=True)
        words = [f"{n:,} groups" + f" of {name}" * bool(name) for n, name in each]
        return " and ".join(words)


@dataclass(frozen=True, eq=False)
class Lines:
    """Where the rows of a fit stand in the data.

    Attributes
    ----------
    positions : int array, shape (n,)
        Of every row of the fit among the rows of the data.
    index : Index
        Row labels of the data, rows that were left out included.
    labelled : bool
        Whether the data have row labels of their own.
    frame : DataFrame or None
        The data, where columns can be looked up.
    """

    positions: Positions
    index: pd.Index
    labelled: bool
    frame: pd.DataFrame | None = None

    @classmethod
    def of(cls, data: object, positions: Positions, index: pd.Index) -> "Lines":
        """Remember the data, with their columns if they have any."""
        if isinstance(data, pd.DataFrame):
            return cls(positions, data.index, True, data.copy(deep=False))
        return cls(positions, index, isinstance(data, pd.Series))

    def groups(self, given: object, why: str = FOR_ERRORS) -> Groups:
        """Read the groups of the rows.

        Parameters
        ----------
        given : str, Series, array or list, shape (n,); or two of them
            Labels of the groups, one for each row of the data, rows that were left
            out included; or the name of a column. A frame or an array may have two
            columns.
        why : str
            Why there have to be two groups, for a message.

        Raises
        ------
        ColumnError
            If there is no column of this name.
        DataError
            If there is not one label for each row, one is missing in a row of the fit,
            or all rows are of one group.
        OptionError
            If there are more than two ways.

        Examples
        --------
        >>> lines = Lines(np.array([0, 1, 3]), pd.RangeIndex(4), False)
        >>> groups = lines.groups(["b", "a", "c", "b"])
        >>> str(groups), groups.codes[0].tolist()
        ('2 groups', [0, 1, 0])
        """
        ways = _ways(given)
        if not 0 < len(ways) <= MOST:
            raise OptionError(
                f"groups are of {len(ways)} kinds; give groups of one kind or two."
            )
        found = [self._coded(way, why) for way in ways]
        names, numbers, codes = zip(*found, strict=True)
        by_name = all(isinstance(way, str) for way in ways)
        return Groups(names, numbers, codes, by_name)

    def _coded(self, way: object, why: str) -> tuple[str, int, NDArray[np.intp]]:
        """Name, number and codes of groups in one way."""
        labels = self._labels(way)
        name = "" if labels.name is None else str(labels.name)
        of = f" of {name}" if name else ""
        chosen = labels.iloc[self.positions]
        with refusing(
            DataError(f"groups{of} are not labels; give text, numbers or categories.")
        ):
            codes, levels = pd.factorize(chosen)
        if (codes < 0).any():
            rows = pd.unique(self.index[self.positions[codes < 0]])
            raise DataError(
                f"groups{of} are missing in {counted(len(rows), 'row')} of the fit "
                f"({listing(rows)}); fill them, or leave these rows out of the data."
            )
        if len(levels) < 2:
            raise DataError(
                f"groups{of} are {shown(levels[0])} in all rows; give two groups at "
                f"least, {why}."
            )
        return name, len(levels), codes

    def _labels(self, way: object) -> DataColumn:
        if isinstance(way, str):
            column = column_named("groups", way, self.frame, GROUPS_ALLOWED)
            if isinstance(column, pd.DataFrame):
                check_unique(column.columns)
            return column
        refused = DataError(
            f"groups of type {type(way).__name__} are not labels; give "
            f"{GROUPS_ALLOWED}."
        )
        if isinstance(way, Set) or not isinstance(way, Sized):
            raise refused
        with refusing(refused):
            labels = way if isinstance(way, pd.Series) else series_of(way)
        own = isinstance(way, pd.Series) and self.labelled
        check_aligned("groups", labels, self.index, own)
        return labels


def _ways(given: object) -> list[object]:
    """The ways of grouping: columns, or the items of a list that are lists or names."""
    if isinstance(given, pd.DataFrame):
        return [given.iloc[:, j] for j in range(given.shape[1])]
    if isinstance(given, np.ndarray) and given.ndim == 2:
        return [given[:, j] for j in range(given.shape[1])]
    if not isinstance(given, list | tuple) or not 0 < len(given) <= MOST + 1:
        return [given]
    are_columns = all(isinstance(item, COLUMNS) for item in given)
    return list(given) if are_columns else [given]
