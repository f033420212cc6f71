"""Exact fits of Dask frames, whose partitions stay where they are.

A frame of Dask may be handed to `svm` and `logit` as it is. `rows` is for a budget of
memory, and for an array of Dask, whose columns it names.

A read of the rows sends the coefficients to each partition, with the labels and weights
of its rows, and brings back as many sums, and the rows near the margin. Sums are added
in the order of the partitions: the same partitions give the same coefficients, bit for
bit, for any number of workers. What a lost worker had found Dask finds again.

Dask itself makes text of columns of objects where a frame is made, numbers and booleans
included, unless ``dask.config.set({"dataframe.convert-string": False})`` was called
before: as text they are factors here, as they are in ``data.compute()``.

A fit on a cluster waits for workers, as Dask does. A ``LocalCluster`` gives up a worker
for good that is lost and not back within 15 seconds, as happens on a busy machine; give
it more time by
``dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"})``.

This door is experimental: it was tested on the workers of one machine.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from pegasos_stats.data.design import check_unique
from pegasos_stats.data.scan.files import bytes_of
from pegasos_stats.data.scan.partitions import Partitions
from pegasos_stats.errors import DataError, DependencyError, OptionError, shown
from pegasos_stats.other_frames import is_dask

if TYPE_CHECKING:
    from dask.array import Array as DaskArray
    from dask.dataframe import DataFrame as DaskFrame

try:
    import dask.dataframe
    import pyarrow  # noqa: F401
except ImportError:
    raise DependencyError(
        "pegasos_stats.dask needs dask and pyarrow, which are not installed; run "
        "pip install 'pegasos_stats[dask]'."
    ) from None

__all__ = ["rows"]


def rows(
    data: "DaskFrame | DaskArray",
    *,
    columns: Sequence[str] | None = None,
    memory: str | int = "1GiB",
) -> Partitions:
    """Name rows of Dask as data for a fit.

    Parameters
    ----------
    data : dask.dataframe.DataFrame or dask.array.Array, shape (n, m)
        Partitions that take long to make, as from files, are best kept in the memory of
        the workers: ``data.persist()``.
    columns : sequence of str, optional
        Names of the columns of an array, the outcome's among them.
    memory : str or int, default "1GiB"
        Budget for the rows near the margin, which are brought home, as for `scan`.
        More of them are worked on where they are until they are fewer.

    Returns
    -------
    Partitions
        For ``svm(formula, data)`` and ``logit(formula, data)``.

    Raises
    ------
    DataError
        If `data` are no rows of Dask.
    OptionError
        If `columns` do not name the columns of an array, or `memory` cannot be read.
    ColumnError
        If a name stands for two columns.

    Examples
    --------
    >>> import dask
    >>> import dask.dataframe
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> there = dask.dataframe.from_pandas(train, npartitions=2)
    >>> with dask.config.set(scheduler="synchronous"):
    ...     model = ps.svm("digit ~ p34 + p43", rows(there), lam=0.01)
    ...     result = model.fit(ps.Optimum(seed=1))
    >>> result.converged
    True
    """
    if is_dask(data):
        if columns is not None:
            raise OptionError(
                f"columns={shown(columns)} is for an array, and a frame has names "
                "already; leave it out."
            )
        return Partitions(data, bytes_of(memory))
    if not isinstance(data, dask.array.Array) or data.ndim != 2:
        raise DataError(
            f"A {type(data).__name__} is no frame of Dask, nor an array of Dask of two "
            "dimensions; give one of these."
        )
    names = list(columns or ())
    if len(names) != data.shape[1] or not all(isinstance(name, str) for name in names):
        raise OptionError(
            f"columns={shown(columns)} is not allowed; name each of the "
            f"{data.shape[1]} columns of the array."
        )
    check_unique(pd.Index(names))
    whole = data.rechunk({1: -1})
    with dask.config.set({"dataframe.convert-string": False}):  # of objects
        frame = dask.dataframe.from_dask_array(whole, columns=names)
    return Partitions(frame, bytes_of(memory))
