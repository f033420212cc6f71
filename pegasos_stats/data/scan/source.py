"""Training rows in memory, in files or partitions, or not available."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Integers, Predictors, Rows, Vector, read_only
from pegasos_stats.data.design import moments
from pegasos_stats.data.user_data import is_sparse
from pegasos_stats.errors import DataError, OptionError, shown

BLOCK_NUMBERS = 1 << 20  # numbers that are converted to float64 at a time
Result = TypeVar("Result")
Values = np.ndarray
Work = Callable[["Block", Values], Result]
NO_VALUES: Values = read_only(np.zeros(0))
NO_ROWS = (
    "The training rows are not in the file of a fit or a study; pass data, as in "
    "predict(data), ask for standard errors before saving, or fit the model again."
)


def rows_digest(X: object) -> str | None:
    """Digest of training rows; for a loaded fit the saved digest, or None."""
    if isinstance(X, np.ndarray) or hasattr(type(X), "tocsr"):
        return digest_of(X)
    return getattr(X, "digest", None)


def digest_of(X: Predictors) -> str:
    """SHA-256, in hexadecimal, of the shape and the numbers of a matrix in their order.

    Equal matrices have equal digests: explicit zeros of a sparse matrix do not count, 0
    equals -0, and a float32 equals its float64. Dense and sparse matrices differ.

    Examples
    --------
    >>> digest_of(np.array([[0.0, 1.0]])) == digest_of(np.array([[-0.0, 1.0]]))
    True
    >>> digest_of(np.array([[0.0, 1.0]])) == digest_of(np.array([[1.0, 0.0]]))
    False
    """
    kind = "sparse" if is_sparse(X) else "dense"
    digest = hashlib.sha256(f"{kind} {X.shape[0]} {X.shape[1]}".encode())
    step = max(1, BLOCK_NUMBERS // max(1, X.shape[1]))
    for begin in range(0, X.shape[0], step):
        block = X[begin : begin + step]
        if not isinstance(block, np.ndarray):
            block = block.tocsr(copy=True)
            block.sum_duplicates()
            block.eliminate_zeros()
            for places in (block.indptr, block.indices):
                digest.update(places.astype("<i8").tobytes())
            block = block.data
        digest.update((block.astype("<f8") + 0.0).tobytes())
    return digest.hexdigest()


def digests_by_row(X: Predictors, *columns: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Digest of each row of a matrix and further columns, shape (n,).

    Equal rows have equal digests of 64 bits, which are not cryptographic.

    Examples
    --------
    >>> one, other, again = digests_by_row(np.array([[0.0, 1], [1, 0], [-0.0, 1]]))
    >>> bool(one == again), bool(one == other)
    (True, False)
    """
    n, p = X.shape
    rng, n_factors = np.random.default_rng(1), p + len(columns)
    # Any odd factors would do.
    factors = rng.integers(1 << 63, size=n_factors, dtype=np.uint64) * np.uint64(2)
    factors += np.uint64(1)
    digests = np.zeros(n, dtype=np.uint64)
    entries = n * p if isinstance(X, np.ndarray) else X.nnz
    step = max(1, BLOCK_NUMBERS * n // max(1, entries))
    for begin in range(0, n, step):
        block = X[begin : begin + step]
        if isinstance(block, np.ndarray):
            digests[begin : begin + step] = _mixed(block) @ factors[:p]
        else:
            block = block.tocsr()
            block = type(block)(
                (_mixed(block.data), block.indices, block.indptr), block.shape
            )
            digests[begin : begin + step] = block @ factors[:p]
    for column, factor in zip(columns, factors[p:], strict=True):
        digests += _mixed(column) * factor
    return digests


def _mixed(numbers: NDArray[np.floating]) -> NDArray[np.uint64]:
    """Hashes of numbers; equal for 0 and -0."""
    flat = numbers.astype(np.float64).ravel() + 0.0
    return pd.util.hash_array(flat, categorize=False).reshape(numbers.shape)


class Block(NamedTuple):
    """Consecutive rows.

    Attributes
    ----------
    first : int
        Number of the first row.
    X : float64 or float32 array, C-contiguous, or CSR array, shape (k, p)
    y : float64 array, shape (k,), of -1 and +1
    w : float64 array, shape (k,)
        Weights, whose mean over all rows is 1.
    offset : float64 array, shape (k,), or None
        Offset of each row's score.
    """

    first: int
    X: Dense
    y: Vector
    w: Vector
    offset: Vector | None = None


def block_of(
    first: int,
    X: Predictors,
    y: np.ndarray,
    weights: Vector | None,
    offset: Vector | None,
    here: slice | Rows,
) -> Block:
    """Return a block of rows with their labels, weights and offsets."""
    return Block(
        first,
        X,
        y[here].astype(np.float64, copy=False),
        np.ones(X.shape[0]) if weights is None else weights[here],
        None if offset is None else offset[here],
    )


class RowSubset(NamedTuple):
    """Some rows in memory, with their numbers in increasing order."""

    numbers: Rows
    X: Dense
    y: Vector
    w: Vector
    offset: Vector | None = None


def plus(a: Any, b: Any, owned: bool = False) -> Any:
    """Add the partial results of two blocks; named tuples field by field.

    Parts with a method ``plus`` are added by it, others by ``+``, which concatenates
    lists. If the first part is `owned`, its arrays are changed in place.
    """
    if hasattr(a, "plus"):
        return a.plus(b)
    if isinstance(a, tuple):
        return type(a)(*(plus(x, y, owned) for x, y in zip(a, b, strict=True)))
    if owned and isinstance(a, np.ndarray) and a.shape == np.shape(b):
        return np.add(a, b, out=a if a.dtype == np.result_type(a, b) else None)
    return a + b


def added(parts: Iterable[Any]) -> Any:
    """Sum of parts in their order, by `plus`; None without parts.

    Examples
    --------
    >>> class Pair(NamedTuple):
    ...     one: float
    ...     two: list[float]
    >>> added([Pair(1, [2.0]), Pair(3, [4.0])])
    Pair(one=4, two=[2.0, 4.0])
    """
    total, owned = None, False
    for part in parts:
        if total is None:
            total = part
            continue
        total = plus(total, part, owned)
        owned = True
    return total


class RowSource(ABC):
    """Training rows with their labels, weights and offsets.

    Attributes
    ----------
    shape : pair of int
    in_memory : bool
        Whether rows can be selected by position.
    is_streamed : bool
        Whether rows are in files or partitions, and are read in passes.
    is_missing : bool
        Whether the rows are not available, as for a loaded fit.
    is_ordered : bool
        Whether a pass visits the rows in the order of the data.
    noun, title : str
        Names of the storage and of the user's object, for messages.
    n_reads : int
        Number of passes over streamed rows.
    """

    shape: tuple[int, int]
    n_reads: int = 0
    in_memory: ClassVar[bool] = False
    is_streamed: ClassVar[bool] = False
    is_missing: ClassVar[bool] = False
    is_ordered: bool = True
    noun: str = "memory"
    title: str = "rows in memory"

    @abstractmethod
    def map_blocks(
        self, work: Work[Result], values: Values = NO_VALUES, rows: int | None = None
    ) -> Iterator[Result]:
        """Apply `work` to each block of rows, in their order.

        Parameters
        ----------
        work : callable
            Function of a block and its rows' values, which it may change in place.
        values : float64 array, shape (n,), optional
            A number for each row, such as its dual variable.
        rows : int, optional
            Number of rows in a block of rows in memory.
        """

    @property
    @abstractmethod
    def moments(self) -> tuple[Vector, Vector]:
        """Means and standard deviations of the columns."""

    def sample(self, most: int) -> "RowSubset | None":
        """Return a sample of at most `most` rows, or None without streamed rows."""
        return None

    def equals(self, X: Predictors) -> bool:
        """Whether a matrix holds these rows, in their order."""
        return False

    def is_of(self, data: object) -> bool:
        """Whether the rows were read from this source of data."""
        return False

    def check_in_memory(self, **options: object) -> None:
        """Raise `OptionError` for an option that needs the rows in memory.

        Options that are None or False are allowed.
        """
        if not self.in_memory:
            check_unset(self.title, options)

    @property
    def not_here(self) -> DataError:
        """Error for rows that are not in memory."""
        return DataError(
            f"The training rows are in {self.noun} and not in memory; pass data= in "
            f"memory, or {self.title} to predict()."
        )

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(name) if name.startswith("__") else self.not_here

    def __getitem__(self, rows: Any) -> Any:
        raise self.not_here

    def __array__(self, *args: object, **options: object) -> NoReturn:
        raise self.not_here


@dataclass(frozen=True, eq=False)
class MemoryRows(RowSource):
    """Rows in memory.

    Attributes
    ----------
    X : array or CSR array, shape (n, p)
    y : float64 array, shape (n,)
    weights, offset : float64 array, shape (n,), or None
    """

    X: Predictors
    y: Vector
    weights: Vector | None
    offset: Vector | None

    in_memory = True

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Number of rows and of columns."""
        return self.X.shape

    def map_blocks(
        self, work: Work[Result], values: Values = NO_VALUES, rows: int | None = None
    ) -> Iterator[Result]:
        """See `RowSource.map_blocks`."""
        (n, p), X = self.shape, self.X
        entries = p if isinstance(X, np.ndarray) else X.nnz // max(1, n)
        step = rows or max(64, 2**17 // max(1, entries))  # a megabyte
        for first in range(0, n, step):
            here = slice(first, first + step)
            block = block_of(first, X[here], self.y, self.weights, self.offset, here)
            yield work(block, values[here] if values.size else values)

    @property
    def moments(self) -> tuple[Vector, Vector]:
        """Moments of the rows with a positive weight; the weights are not used."""
        w = self.weights
        with np.errstate(over="ignore", invalid="ignore"):
            return moments(self.X if w is None or w.all() else self.X[w > 0.0])


@dataclass(frozen=True, eq=False)
class MissingRows(RowSource):
    """Placeholder for the training rows of a loaded fit; only support rows are saved.

    Attributes
    ----------
    shape : pair of int
    digest : str or None
        Digest of all rows, which identifies them.
    rows : int array, shape (k,)
        Positions of the rows that are saved, increasing; `values` are these rows.
    values : float array, shape (k, p)
    """

    shape: tuple[int, int]
    digest: str | None = None
    rows: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    values: Dense = field(default_factory=lambda: np.empty((0, 0)))

    _field_rules = "shape positive, rows r, values rp finite"
    is_missing, title = True, "a loaded fit"

    def _conditions(self) -> Iterator[object]:
        """Positions are increasing and below n, and each has a row in `values`."""
        n, p = self.shape
        yield all(low < high for low, high in pairwise([-1, *self.rows.tolist(), n]))
        yield self.values.shape == (len(self.rows), p if len(self.rows) else 0)

    @classmethod
    def of(cls, X: Any) -> "MissingRows":
        """Return the placeholder for rows."""
        if isinstance(X, cls):
            return X
        n, p = (int(size) for size in X.shape)
        return cls((n, p), rows_digest(X))

    def map_blocks(
        self, work: Work[Result], values: Values = NO_VALUES, rows: int | None = None
    ) -> NoReturn:
        """Raise `DataError`."""
        raise self.not_here

    @property
    def moments(self) -> NoReturn:
        """Raise `DataError`."""
        raise self.not_here

    @property
    def not_here(self) -> DataError:
        """Error for rows that were not saved."""
        return DataError(NO_ROWS)

    def equals(self, X: Predictors) -> bool:
        """Whether a matrix has the digest of these rows."""
        return self.shape == X.shape and self.digest == digest_of(X)

    def __getitem__(self, rows: NDArray[np.intp] | slice) -> np.ndarray:
        positions = np.arange(self.shape[0])[rows]
        if not len(positions):
            return np.empty((0, self.shape[1]))
        if not np.isin(positions, self.rows).all():
            raise self.not_here
        values: np.ndarray = self.values[np.searchsorted(self.rows, positions)]
        return values


def check_unset(title: str, options: Mapping[str, object]) -> None:
    """Raise `OptionError` for the first option that is neither None nor False."""
    for name, value in options.items():
        if value is not None and value is not False:
            raise OptionError(
                f"{name}={shown(value) if isinstance(value, str) else ''} needs the "
                f"rows in memory and does not go with {title}; leave it out."
            )


def source_of(
    X: Any, y: Vector, weights: Vector | None, offset: Vector | None
) -> RowSource:
    """Return the source of the rows of a problem: `X` itself if it is a source."""
    if isinstance(X, RowSource):
        return X
    return MemoryRows(X, y, weights, offset)
