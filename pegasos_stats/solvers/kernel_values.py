"""Kernel values of many rows at a time, and a cache of rows of the Gram matrix."""

import math

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.compiled import pegasos
from pegasos_stats.errors import DataError
from pegasos_stats.solvers.kernel_problem import (
    OVERFLOWING,
    KernelProblem,
    value_roundings,
)
from pegasos_stats.solvers.rounding import UNIT

Matrix = NDArray[np.floating]  # of float32 or float64

TILE = 512  # rows and columns of a piece, which stays in the second cache
ADDED = 128  # values that are summed up before they are added to others
SINGLE = 2.0**29  # roundings of double precision in one of single precision
ROUGHEST_SINGLE, ROUGHEST = 1e-3, 1e-9  # of a value, what rounding may do to it
FARTHEST = -87.0  # exponent beyond which numbers of single precision become slow
FEWEST = 64  # rows that are kept, however little memory is given
POWERS = 1000.0  # of two, that a value may reach either way


class KernelValues:
    """Values of a kernel between rows of a problem, as pieces of the Gram matrix.

    Inner products come from products of matrices. Two more columns make them the
    exponent of the Gaussian kernel, ``2 gamma x'z - gamma ||x||^2 - gamma ||z||^2``,
    of rows centred at their mean. Where rows are so far apart that the rounding of this
    difference would show, values are summed one by one.

    Parameters
    ----------
    problem : KernelProblem
    precise : bool
        ``False`` for products in single precision where these are near enough.

    Attributes
    ----------
    unit : float
        Power of two that all values are divided by, so that none is above 1.
    roundings : float
        Of a value, in units of ``2^-53 sqrt(K(x, x) K(z, z))``, at most.

    Raises
    ------
    DataError
        If values of the kernel overflow.
    """

    def __init__(self, problem: KernelProblem, precise: bool) -> None:
        self._kernel, self._X, self.unit = problem.kernel, problem.X, 1.0
        self.roundings = value_roundings(problem.kernel, problem.p)
        self._summed = False
        if problem.kernel.name == "precomputed":
            self.unit = power_of_two(float(np.diag(problem.X).max()))
            return
        if problem.kernel.name == "gaussian":
            left, right = self._exponents()
        else:
            left, right = self._products()
        if not self._summed:
            single = self.roundings * UNIT * SINGLE <= ROUGHEST_SINGLE and not precise
            dtype = np.float32 if single else np.float64
            self._left = np.ascontiguousarray(left, dtype=dtype)
            self._right = np.ascontiguousarray(right, dtype=dtype)

    def __call__(self, rows: Rows, columns: Rows | slice) -> Matrix:
        """Values between these rows and these, each divided by the unit."""
        found: Matrix
        if self._kernel.name == "precomputed":
            return np.asarray(self._X[rows][:, columns] / self.unit)
        if self._summed:
            return self._one_by_one(rows, columns)
        found = np.matmul(self._left[rows], self._right[columns].T)
        if self._kernel.name == "gaussian":
            np.maximum(found, FARTHEST, out=found)
            np.exp(found, out=found)
            return found
        return power(found, self._kernel.degree or 1)

    def _exponents(self) -> tuple[Matrix, Matrix]:
        """Columns whose products are the exponents of the Gaussian kernel."""
        gamma, p = self._kernel.gamma, self._X.shape[1]
        assert gamma is not None
        with np.errstate(over="ignore", invalid="ignore"):
            Z = self._X - self._X.mean(axis=0)
            squares = gamma * np.einsum("ij,ij->i", Z, Z)
            roundings = (p + 16.0) * 4.0 * float(squares.max()) + 16.0
            self._summed = not roundings * UNIT <= ROUGHEST
            if not self._summed:
                self.roundings = roundings
            ones = np.ones(len(Z))
            left = np.column_stack([2.0 * gamma * Z, -squares, ones])
            return left, np.column_stack([Z, ones, -squares])

    def _products(self) -> tuple[Matrix, Matrix]:
        """Columns whose products are the values, or the bases of their powers."""
        X, degree = self._X, self._kernel.degree or 1
        offset = self._kernel.offset or 0.0
        largest = power_of_two(float(np.abs(X).max()))
        longest = math.sqrt(
            float(np.einsum("ij,ij->i", X / largest, X / largest).max())
        )
        size = power_of_two(max(largest * longest, math.sqrt(offset)))
        powers = 2.0 * degree * math.log2(size)
        if not powers <= POWERS:
            raise DataError(OVERFLOWING)
        size = max(size, 2.0 ** math.ceil(-0.5 * POWERS / degree))
        self.unit = size ** (2 * degree)
        Z, ones = X / size, np.ones((len(X), 1))
        if self._kernel.name == "linear":
            return Z, Z
        return np.hstack([Z, offset / size / size * ones]), np.hstack([Z, ones])

    def _one_by_one(self, rows: Rows, columns: Rows | slice) -> Matrix:
        others = self._X[columns]
        found = np.empty((len(rows), len(others)))
        width, code = pegasos.kernel_pegasos.WIDTH, self._kernel.code()
        for first in range(0, len(others), width):
            block = pegasos.kernel_pegasos.blocked(others[first : first + width])[0]
            for row, values in zip(rows, found[:, first : first + width], strict=True):
                pegasos.kernel_pegasos.kernel_values(code, self._X[row], block, values)
        return found

    def sums(self, weights: Vector) -> Vector:
        """``sum_j weights_j K(x_j, x_i)`` for all rows, shape (n,)."""
        support, n = np.flatnonzero(weights), len(self._X)
        total = np.zeros(n)
        for first in range(0, n, TILE):
            rows = np.arange(first, min(n, first + TILE))
            for start in range(0, support.size, ADDED):
                part = support[start : start + ADDED]
                total[rows] += self(rows, part) @ weights[part]
        return total * self.unit

    def roundings_of_sums(self, support: int) -> float:
        """Roundings of one of `sums` over so many rows, as `roundings` of a value."""
        return self.roundings + min(ADDED, support) + support / ADDED + 2.0


def power_of_two(number: float) -> float:
    """Return the power of two next above a number; 1 for 0.

    Examples
    --------
    >>> power_of_two(3.0), power_of_two(4.0), power_of_two(0.0)
    (4.0, 8.0, 1.0)
    """
    return 2.0 ** min(1023, math.frexp(number)[1])


def power(base: Matrix, degree: int) -> Matrix:
    """``base^degree`` by repeated squares."""
    found = base
    for digit in f"{degree:b}"[1:]:
        found = found * found
        if digit == "1":
            found *= base
    return found


class KeptRows:
    """Rows of the Gram matrix, as many as memory allows; those not used leave first.

    Parameters
    ----------
    values : KernelValues
    n : int
        Rows of the problem.
    memory : int
        Bytes that they may take.
    dtype : float32 or float64

    Attributes
    ----------
    rows : array, shape (capacity, n)
    computed : int
        Rows computed so far.
    """

    def __init__(
        self, values: KernelValues, n: int, memory: int, dtype: type[np.floating]
    ) -> None:
        capacity = min(n, max(FEWEST, memory // (n * np.dtype(dtype).itemsize)))
        self.rows = np.empty((capacity, n), dtype)
        self.computed = 0
        self._values = values
        self._owner = np.full(capacity, -1, dtype=np.int64)
        self._place = np.full(n, -1, dtype=np.int64)
        self._used = np.zeros(capacity, dtype=np.int64)
        self._calls = 0

    def places(self, wanted: Rows) -> Rows:
        """Return where these rows are kept, at most as many as there are places."""
        self._calls += 1
        there = self._place[wanted]
        self._used[there[there >= 0]] = self._calls
        missing = wanted[there < 0]
        if missing.size:
            oldest = np.argpartition(self._used, missing.size - 1)[: missing.size]
            self._fill(np.sort(oldest), missing)
        return self._place[wanted]

    def _fill(self, places: Rows, missing: Rows) -> None:
        leaving = self._owner[places]
        self._place[leaving[leaving >= 0]] = -1
        self._owner[places], self._place[missing] = missing, places
        self._used[places] = self._calls
        for first in range(0, len(self._place), TILE):
            columns = slice(first, first + TILE)
            self.rows[places, columns] = self._values(missing, columns)
        self.computed += missing.size
