"""Where the arrays of an object are in its file: one after the other, by type."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pegasos_stats.data.language.expressions import Functions
from pegasos_stats.errors import DataError
from pegasos_stats.models.persist.archive import Archive, Arrays
from pegasos_stats.models.persist.header import Json, flag, items, whole

SHELF = "shelf."  # of the names of its arrays
TYPES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
MOST_EMPTY = 2**16  # of a dimension of an array, whatever the size of the file


class Filling:
    """Arrays that are put away, and the functions of the user that were met.

    Attributes
    ----------
    functions : dict of str to callable
        By the names under which they are to be given to `load`.
    """

    def __init__(self) -> None:
        self.functions: dict[str, Callable[..., Any]] = {}
        self._shelves: dict[str, list[np.ndarray]] = {}

    def put(self, array: np.ndarray) -> Json:
        """Put an array away; return what finds it: type, shape, whether by columns.

        Raises
        ------
        DataError
            If it is not of numbers.
        """
        name = array.dtype.str[1:]
        if name not in TYPES:
            raise DataError(
                f"An array of type {array.dtype} cannot be saved; convert it to "
                "numbers of 64 bits."
            )
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        self._shelves.setdefault(name, []).append(
            native.ravel("K" if by_columns else "C")
        )
        return [name, list(array.shape), by_columns]

    def use(self, functions: Functions) -> None:
        """Note functions of the user.

        Raises
        ------
        DataError
            If two different ones have one name.
        """
        for name, function in functions.items():
            if self.functions.setdefault(name, function) is not function:
                raise DataError(
                    f"Two different functions are called {name!r}, and a file holds "
                    "only names; give one of them another name."
                )

    def arrays(self) -> Arrays:
        """All that was put away."""
        parts = self._shelves.items()
        return {f"{SHELF}{name}": np.concatenate(found) for name, found in parts}


class Emptying:
    """What `Filling` has put into an archive, taken out in the same order.

    Parameters
    ----------
    archive : Archive
    functions : dict of str to callable
        Those of the user.
    """

    def __init__(self, archive: Archive, functions: Functions) -> None:
        self.functions = functions
        self._archive = archive
        self._shelves: dict[str, np.ndarray] = {}
        self._at: dict[str, int] = {}
        sizes = (size for array in archive.arrays.values() for size in array.shape)
        self.longest = max([MOST_EMPTY, *sizes])

    def take(self, stored: Json) -> np.ndarray:
        """The next array of its type, a view of what was read.

        Raises
        ------
        ValueError
            If it is not there.
        """
        name, shape, by_columns = items(stored, "an array", 3)
        order: Any = "F" if flag(by_columns, "the order of an array") else "C"
        if name not in TYPES:
            raise ValueError(f"there are arrays of type {name!r}")
        sizes = [self.length(size) for size in items(shape, "a shape")]
        if name not in self._shelves:
            self._shelves[name] = self._archive.take(SHELF + name, name, None)
        shelf, at, size = self._shelves[name], self._at.get(name, 0), math.prod(sizes)
        if size > len(shelf) - at:
            raise ValueError(f"{SHELF}{name} ends early")
        self._at[name] = at + size
        return shelf[at : at + size].reshape(sizes, order=order)

    def length(self, value: Json) -> int:
        """Read the length of something, which the file has numbers for."""
        return whole(value, "a length", 0, self.longest)

    def check_all_taken(self) -> None:
        """Raise ValueError if something was not asked for."""
        for name, shelf in self._shelves.items():
            if self._at[name] < len(shelf):
                raise ValueError(f"{SHELF}{name} is longer than the arrays on it")
        self._archive.check_all_taken()
