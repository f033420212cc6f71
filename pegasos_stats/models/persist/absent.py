"""What stands in the place of training rows that are not saved."""

from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.errors import DataError


class Absent:
    """In the place of the training rows, which are not saved: only their shape.

    Parameters
    ----------
    shape : tuple of int
    rows : int array, shape (k,), optional
        Rows that are there none the less, in rising order, and `values`, theirs.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        rows: NDArray[Any] | None = None,
        values: NDArray[Any] | None = None,
    ) -> None:
        self.shape = shape
        self._rows = np.empty(0, dtype=np.int64) if rows is None else rows
        self._values = np.empty((0, *shape[1:])) if values is None else values

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        asked = np.arange(self.shape[0])[rows]
        if not np.isin(asked, self._rows).all():
            _not_saved()
        found: NDArray[Any] = self._values[np.searchsorted(self._rows, asked)]
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _not_saved()

    def __array__(self, *args: Any, **options: Any) -> NDArray[Any]:
        _not_saved()


def _not_saved() -> NoReturn:
    raise DataError(
        "The training rows are not in a saved model; give data, as in predict(data), "
        "and ask for standard errors, as by result.bse, before saving."
    )
