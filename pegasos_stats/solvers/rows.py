"""Rows as Newton's steps take them: with a column of the intercept, dense or sparse."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from pegasos_stats import compiled
from pegasos_stats.arrays import Matrix, Predictors, Rows, Vector
from pegasos_stats.solvers.sums import TINY, blocks, kernel_rows, solved

RESIDUAL, PRODUCTS = 0.05, 300  # of conjugate gradients
# Of a sample: 20,000 x 200 takes 0.7 of the time, with correlated columns 0.25;
# 10,000 x 500, with 4 rows to a column, twice as long.
ROWS_TO_A_COLUMN = 10

EVERY = slice(None)


class DenseRows:
    """Rows ``z_i = (x_i, e_i)``, or ``x_i`` without ``e``.

    Parameters
    ----------
    X : array, shape (n, p)
    e : float64 array, shape (n,), optional
    """

    is_sparse = False

    def __init__(self, X: Any, e: Vector | None) -> None:
        self._X, self._e, self._p = X, e, X.shape[1]
        self._size = self._p + (e is not None)

    def factorises(self, rows: Rows | slice = EVERY) -> bool:
        """Whether equations for all columns, by some rows, are solved directly."""
        return bool(self._p <= (150 if isinstance(rows, slice) else 1000))

    def times(self, theta: Vector) -> Vector:
        """``z_i'theta``."""
        scores = self._X @ theta[: self._p]
        if self._e is not None:
            scores += theta[-1] * self._e
        return np.asarray(scores)

    def image(self, c: Vector) -> Vector:
        """``sum_i c_i z_i``."""
        image: Vector = c @ self._X
        return image if self._e is None else np.append(image, c @ self._e)

    def gram(self, h: Vector, rows: Rows | slice = EVERY) -> Matrix:
        """``sum_i h_i z_i z_i'`` over some rows."""
        X, e, root = self._X[rows], self._e, np.sqrt(h)[:, None]
        gram = np.zeros((self._size, self._size))
        for part in blocks(*X.shape):
            B = X[part] * root[part]
            if e is not None:
                B = np.column_stack([B, e[rows][part, None] * root[part]])
            gram += B.T @ B
        return gram

    def solution(
        self, h: Vector, ridge: Vector, g: Vector, rows: Rows | slice = EVERY
    ) -> Vector:
        """``H^-1 g`` with ``H = diag(ridge) + gram(h, rows)``, or nearly so.

        By a factorisation, or conjugate gradients where columns are many.
        """
        if self.factorises(rows):
            H = self.gram(h, rows)
            np.fill_diagonal(H, H.diagonal() + ridge)
            return solved(H, g)
        return self._by_products(h, ridge, g, rows)

    @cached_property
    def _mean_squares(self) -> Vector:
        """Of the columns."""
        squares = np.einsum("ij,ij->j", self._X, self._X, dtype=np.float64)
        return np.asarray(squares / len(self._X))

    def _by_products(
        self, h: Vector, ridge: Vector, g: Vector, rows: Rows | slice
    ) -> Vector:
        e, X = None if self._e is None else self._e[rows], self._X[rows]
        some, diagonal = DenseRows(X, e), ridge.copy()
        diagonal[: self._p] += h.sum() * self._mean_squares  # nearly
        if e is not None:
            diagonal[-1] += h @ np.square(e)
        return conjugate_gradients(
            lambda v: ridge * v + some.image(h * some.times(v)), diagonal, g
        )


class SparseRows(DenseRows):
    """Rows ``z_i = (x_i, e_i)`` with the same ``e_i`` for all, or ``x_i``."""

    is_sparse = True

    def __init__(self, X: Any, e: Vector | None) -> None:
        super().__init__(X, e)
        self._rows, self._every = kernel_rows(X), np.arange(X.shape[0])
        self._one = 0.0 if e is None else float(e[0])
        self._entries = np.diff(X.indptr).astype(np.float64)

    def factorises(self, rows: Rows | slice = EVERY) -> bool:
        """Whether that costs less than 80 products with the rows."""
        entries, p = self._entries[rows], self._p
        cost = float(entries @ entries) / 2.0 + p**3 / 20.0
        return bool(cost <= 80.0 * float(entries.sum()))

    def image(self, c: Vector) -> Vector:
        """``sum_i c_i z_i``; rows with ``c_i = 0`` cost nothing."""
        found = np.zeros(self._size)
        found[-1] = self._one * c.sum()
        compiled.rows.add_rows(self._rows, c, found[: self._p])
        return found

    def _by_products(
        self, h: Vector, ridge: Vector, g: Vector, rows: Rows | slice
    ) -> Vector:
        room, some = np.empty((5, self._size)), self._every[rows]
        compiled.rows.conjugate_gradients(
            *(self._rows, self._one, some, h, ridge, g), RESIDUAL, PRODUCTS, room
        )
        return np.asarray(room[0])

    def gram(self, h: Vector, rows: Rows | slice = EVERY) -> Matrix:
        """``sum_i h_i z_i z_i'`` over some rows."""
        gram, some = np.zeros((self._size, self._size)), self._every[rows]
        compiled.rows.add_gram(self._rows, self._one, some, h, gram)
        return np.asarray(gram + gram.T - np.diag(gram.diagonal()))


def newton_rows(X: Predictors, e: Vector | None) -> DenseRows:
    """Rows with a column ``e``, of sparse ones the same number for all.

    Examples
    --------
    >>> rows = newton_rows(np.eye(2), np.ones(2))
    >>> rows.times(np.array([2.0, 3.0, 1.0])), rows.image(np.array([1.0, 1.0]))
    (array([3., 4.]), array([1., 1., 2.]))
    """
    return DenseRows(X, e) if isinstance(X, np.ndarray) else SparseRows(X, e)


def sample_rows(y: Vector, weights: Vector | None, p: int) -> Rows | None:
    """Rows whose fit is the start for all: one of every few, the same in each call.

    One in eight at most, at random, as labels may alternate. None where all rows are
    fewer than 4,000, or those of a class in the sample fewer than 10.

    Examples
    --------
    >>> y = np.tile([-1.0, 1.0, 1.0], 40_000)
    >>> sample_rows(y, None, 50).size, sample_rows(y[:1000], None, 50)
    (10000, None)
    """
    n = y.size
    size = min(n // 8, 20 * ROWS_TO_A_COLUMN * p)
    step = n // max(size, 2000)
    if n < 4000 or n // step < ROWS_TO_A_COLUMN * p:
        return None
    rows = np.arange(0, n - n % step, step)
    rows += np.random.default_rng(1).integers(0, step, rows.size)
    counted = rows if weights is None else rows[weights[rows] > 0.0]
    n_positive = np.count_nonzero(y[counted] > 0.0)
    is_rare = min(n_positive, counted.size - n_positive) < ROWS_TO_A_COLUMN
    return None if is_rare else rows


def conjugate_gradients(
    times: Callable[[Vector], Vector], diagonal: Vector, b: Vector
) -> Vector:
    """About ``H^-1 b``, from products with ``H`` and its diagonal."""
    d, r = np.zeros(b.size), b
    u = r / diagonal
    rz = float(r @ u)
    goal = RESIDUAL * RESIDUAL * rz
    for _ in range(PRODUCTS):
        if not rz > max(goal, TINY):
            break
        product = times(u)
        step = rz / float(u @ product)
        d, r = d + step * u, r - step * product
        z = r / diagonal
        before, rz = rz, float(r @ z)
        u = z + (rz / before) * u
    return d
