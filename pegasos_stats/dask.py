"""Fits to Dask frames, without moving their partitions.

`svm` and `logit` accept a Dask frame. Use `rows` to set a memory budget, or to name the
columns of a Dask array.

A pass over the data sends the coefficients, labels and weights to each partition, which
returns partial sums. For the hinge loss, later passes also return the rows near the
margin. Partial sums are added in the order of the partitions, so the coefficients do
not depend on the number of workers, bit for bit. Dask recomputes the results of a lost
worker.

When Dask builds a frame, it converts columns of objects to text, even if the objects
are numbers or booleans, unless
``dask.config.set({"dataframe.convert-string": False})`` was called before. The
converted columns are factors, here and in ``data.compute()``.

A fit on a cluster waits for workers, as Dask does. A ``LocalCluster`` may lose a worker
on a busy machine. It waits 15 seconds for the worker to return, and then closes it.
Allow more time with
``dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"})``.

This interface is experimental: it was tested with workers on one machine only.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from pegasos_stats.data.design import check_unique
from pegasos_stats.data.scan.files import bytes_of
from pegasos_stats.data.scan.partitions import Partitions
from pegasos_stats.errors import (
    DataError,
    DependencyError,
    OptionError,
    counted,
    shown,
)
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
    """Prepare a Dask frame or array as data for a fit.

    Parameters
    ----------
    data : dask.dataframe.DataFrame or dask.array.Array, shape (n, m)
        Each pass computes the partitions again. Store partitions that are slow to
        compute, such as partitions from files, in the workers' memory with
        ``data.persist()``.
    columns : sequence of str, optional
        Names of all columns of an array, including the outcome.
    memory : str or int, default "1GiB"
        Budget of the calling process for the rows near the margin, as for `scan`. Rows
        that exceed it stay in their partitions.

    Returns
    -------
    Partitions
        For ``svm(formula, data)`` and ``logit(formula, data)``.

    Raises
    ------
    DataError
        If `data` are neither a Dask frame nor a Dask array with two dimensions.
    OptionError
        If `columns` do not name the columns of an array, or are passed with a frame, or
        if `memory` is not a size.
    ColumnError
        If a name occurs twice.

    Examples
    --------
    >>> import dask
    >>> import dask.dataframe
    >>> import pegasos_stats as ps
    >>> from pegasos_stats.dask import rows
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
                f"columns={shown(columns)} is for arrays only, because the columns of "
                "a frame have names; omit columns=."
            )
        return Partitions(data, bytes_of(memory))
    if not isinstance(data, dask.array.Array) or data.ndim != 2:
        raise DataError(
            f"A {type(data).__name__} is neither a Dask frame nor a Dask array with "
            "two dimensions; pass one of these."
        )
    names = list(columns or ())
    if len(names) != data.shape[1] or not all(isinstance(name, str) for name in names):
        raise OptionError(
            f"columns={shown(columns)} is not allowed; the array has "
            f"{counted(data.shape[1], 'column')}: name each of them."
        )
    check_unique(pd.Index(names))
    whole = data.rechunk({1: -1})
    with dask.config.set({"dataframe.convert-string": False}):  # preserve types
        frame = dask.dataframe.from_dask_array(whole, columns=names)
    return Partitions(frame, bytes_of(memory))
