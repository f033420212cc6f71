"""Sums over the rows for certificates and Newton steps.

The module `rounding` bounds the rounding errors of these sums. `DenseRows` and
`SparseRows` may include a column for the intercept.
"""

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pegasos_stats import compiled
from pegasos_stats.arrays import (
    UNIT,
    Dense,
    Integers,
    Matrix,
    Predictors,
    Rows,
    Vector,
    read_only,
)
from pegasos_stats.parallel import one_thread
from pegasos_stats.solvers.losses import LOSSES, LossName

ENTRIES = 2**17  # entries per block: a megabyte

TINY = 1e-300  # smallest diagonal element
# Conjugate gradients: relative residual, and maximum number of products.
RESIDUAL, PRODUCTS = 0.05, 300
# Minimum number of rows per column in a sample. With a sample, 20,000 x 200 takes 0.7
# times as long as without one (0.25 with correlated columns). 10,000 x 500 would take
# twice as long with its sample, which has 4 rows per column.
ROWS_TO_A_COLUMN = 10
LEAST_SAMPLE = 2000  # minimum number of rows in a sample

EVERY = slice(None)


class Sums(NamedTuple):
    """Sums over the rows for a certificate.

    Attributes
    ----------
    loss : float
        ``sum_i w_i loss(y_i (x_i'beta + alpha + offset_i))``.
    entropy : float
        ``sum_i w_i H(a_i / w_i)``, with the conjugate term ``H`` of `losses`.
    table : int array, shape (2, 3)
        Numbers of rows by label and predicted label; the last column is for scores of
        0.
    violations : int
        Number of rows that violate the margin.
    exposed : float
        ``sum_i w_i s(m_i - reach)``, where ``s`` is minus the derivative of the loss: a
        bound on the sum of ``w_i s(m_i)`` for the exact margins. 0 for the log loss,
        whose absolute derivative never exceeds the loss.
    dual : float
        Sum of the dual weights.
    image : float64 array, shape (p,)
        ``X'(a y)``.
    offset_sum, offset_size : float
        ``sum_i a_i y_i offset_i`` and ``sum_i |a_i offset_i|``.
    additions : float
        Maximum number of roundings of a summand of `image`.
    share : float
        Bound on the relative rounding error of a sum of positive numbers over the rows.
    """

    loss: float
    entropy: float
    table: Integers
    violations: int
    exposed: float
    dual: float
    image: Vector
    offset_sum: float
    offset_size: float
    additions: float
    share: float

    @property
    def errors(self) -> int:
        """Number of misclassified rows."""
        return int(self.table[0, 1] + self.table[1, 0])

    @property
    def at_zero(self) -> tuple[int, int]:
        """Numbers of rows with a score of 0, by label."""
        return int(self.table[0, 2]), int(self.table[1, 2])

    def plus(self, other: "Sums") -> "Sums":
        """Add sums over other rows."""
        pairs: Any = zip(self[:-2], other[:-2], strict=True)
        additions = max(self.additions, other.additions) + 1.0
        share = max(self.share, other.share) + UNIT
        return Sums._make([*(a + b for a, b in pairs), additions, share])


def table_of(y: Vector, m: Vector) -> Integers:
    """Count rows by label and sign of the score (-1, +1, 0), shape (2, 3).

    Parameters
    ----------
    y : array, shape (n,), of -1 and +1
    m : float64 array, shape (n,)
        Margins, ``y_i`` times the scores.

    Examples
    --------
    >>> table_of(np.array([-1.0, 1.0, 1.0]), np.array([2.0, -1.0, 0.0]))
    array([[1, 0, 0],
           [1, 0, 1]])
    """
    below, above, table = m < 0.0, m > 0.0, []
    for rows, *predicted in ((y < 0.0, above, below), (y > 0.0, below, above)):
        counts = [np.count_nonzero(rows & part) for part in predicted]
        table.append([*counts, np.count_nonzero(rows) - sum(counts)])
    return np.array(table)


def blocks(n: int, p: int, entries: int = ENTRIES) -> Iterator[slice]:
    """Yield the rows of each block.

    Examples
    --------
    >>> list(blocks(100, 4, entries=256))
    [slice(0, 64, None), slice(64, 100, None)]
    """
    size = max(64, entries // max(1, p))
    for first in range(0, n, size):
        yield slice(first, min(n, first + size))


def row_blocks(X: Predictors) -> Iterator[slice]:
    """Return the rows of each block; sparse rows form one block."""
    if isinstance(X, np.ndarray):
        return blocks(X.shape[0], X.shape[1])
    return iter([slice(0, X.shape[0])])


def doubles(X: np.ndarray, rows: slice) -> np.ndarray:
    """Return rows as doubles: a view, or a copy if in single precision."""
    if isinstance(X, np.ndarray):
        return np.asarray(X[rows], dtype=np.float64)
    is_whole = rows == slice(0, X.shape[0])
    return (X if is_whole else X[rows]).astype(np.float64, copy=False)


def total(v: Vector) -> float:
    """Sum blocks of numbers, then the sums of the blocks, to limit rounding errors.

    Examples
    --------
    >>> total(np.arange(10.0))
    45.0
    """
    if not v.size:
        return 0.0
    size = math.isqrt(v.size)
    whole = v.size - v.size % size
    parts = v[:whole].reshape(-1, size).sum(axis=1)
    return float(parts.sum() + v[whole:].sum())


def additions(n: int) -> float:
    """Maximum number of roundings of a summand in a `total` of ``n`` numbers."""
    return 2.0 * math.sqrt(n) + 4.0


def image(c: Vector, B: Matrix) -> Vector:
    """Compute ``sum_i c_i x_i`` over a block of rows, in two stages like `total`."""
    m, p = B.shape
    size = math.isqrt(m) or 1
    whole = m - m % size
    parts = np.matmul(c[:whole].reshape(-1, 1, size), B[:whole].reshape(-1, size, p))
    combined: Vector = parts.sum(axis=(0, 1)) + c[whole:] @ B[whole:]
    return combined


def kernel_rows(X: Predictors) -> Any:
    """Convert rows for compiled code: an array unchanged, a scipy array to `CSR`."""
    if isinstance(X, np.ndarray):
        return read_only(X)
    return read_only(compiled.rows.CSR(X.data, X.indices, X.indptr, int(X.shape[1])))


def solved(H: Matrix, g: Vector) -> Vector:
    """Solve ``H x = g`` for columns of any scale; by least squares if singular."""
    scale = scales(H)
    even = H * scale
    even *= scale[:, None]
    try:
        return scale * np.linalg.solve(even, scale * g)
    except np.linalg.LinAlgError:
        return scale * np.linalg.lstsq(even, scale * g, rcond=None)[0]


def inverse(H: Matrix) -> Matrix:
    """Invert a matrix with columns of any scale; a generalised inverse if singular."""
    scale = scales(H)
    even = H * scale * scale[:, None]
    try:
        result = np.linalg.inv(even)
    except np.linalg.LinAlgError:
        result = np.linalg.pinv(even)
    return np.asarray(result * scale * scale[:, None])


def scales(H: Matrix) -> Vector:
    """Factors that scale the diagonal to 1."""
    return np.asarray(1.0 / np.sqrt(np.maximum(H.diagonal(), TINY)))


def pivots(C: Matrix, tol: float) -> Vector:
    """Squared residual of each column, regressed on the columns before it.

    `C` contains correlations. Columns whose squared residual is at most `tol` are not
    regressors of later columns.

    Examples
    --------
    >>> pivots(np.array([[1.0, 0.5, 1.0], [0.5, 1.0, 0.5], [1.0, 0.5, 1.0]]), 0.0)
    array([1.  , 0.75, 0.  ])
    """
    left, k = C.copy(), len(C)
    residual = np.zeros(k)
    for j in range(k):
        residual[j] = max(0.0, left[j, j])
        if residual[j] > tol:
            left[j:, j:] -= np.outer(left[j:, j], left[j, j:]) / residual[j]
    return residual


def largest_norm(X: Dense) -> float:
    """Largest ``||x_i||``.

    Examples
    --------
    >>> largest_norm(np.array([[3.0, 4.0], [0.0, 1.0]]))
    5.0
    """
    largest = 0.0
    for rows in blocks(*X.shape):
        B = doubles(X, rows)
        largest = max(largest, float(np.einsum("ij,ij->i", B, B).max()))
    return math.sqrt(largest)


@one_thread()
def moments(X: Dense) -> tuple[Vector, Vector]:
    """Means and standard deviations of the columns.

    If the standard deviation is less than about a tenth of the mean, it is computed
    from the differences to the first row, to avoid cancellation.

    Examples
    --------
    >>> moments(np.array([[3.0, 4.0], [4.0, 4.0]]))
    (array([3.5, 4. ]), array([0.5, 0. ]))
    """
    (n, p), ones = X.shape, np.ones(X.shape[0])
    total, squares = np.zeros(p), np.zeros(p)
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in blocks(n, p, ENTRIES // 4):
            B = doubles(X, rows)
            total += ones[rows] @ B
            squares += np.einsum("ij,ij->j", B, B)
        mean = total / max(1, n)
        spread2 = squares / max(1, n) - mean * mean
        # Smaller variances would suffer from cancellation.
        near = np.flatnonzero(~(spread2 > 1e-2 * mean * mean))
        if near.size:
            mean[near], spread2[near] = _moments_of_differences(X, near)
        return mean, np.sqrt(np.maximum(0.0, spread2))


def _moments_of_differences(X: Dense, columns: Rows) -> tuple[Vector, Vector]:
    """Means and variances of some columns, from differences to the first row."""
    n, first = max(1, len(X)), X[:1, columns].sum(axis=0, dtype=np.float64)
    total, squares = np.zeros(columns.size), np.zeros(columns.size)
    for rows in blocks(len(X), columns.size):
        D = X[rows, columns] - first
        total += D.sum(axis=0)
        squares += np.square(D).sum(axis=0)
    mean = total / n
    return first + mean, squares / n - mean * mean


def scores_in_order(X: Dense, beta: Vector, alpha: float) -> Vector:
    """Scores ``x_i'beta + alpha``, each summed from the first entry to the last.

    The score of a row therefore does not depend on other rows, and it equals the score
    in R.

    Examples
    --------
    >>> scores_in_order(np.array([[1.0, 2.0]]), np.array([1.0, 1.0]), 0.5)
    array([3.5])
    """
    n, p = X.shape
    scores = np.zeros(n)
    for rows in blocks(n, p) if p else ():
        products = doubles(X, rows) * beta
        scores[rows] += np.add.accumulate(products, axis=1, out=products)[:, -1]
    return np.asarray(scores + alpha)


@one_thread()
@np.errstate(over="ignore", invalid="ignore")  # overflow: the objective is not finite
def risk_and_image(
    X: Dense,
    y: Vector,
    beta: Vector,
    alpha: float,
    loss: LossName,
    a: Vector,
    weights: Vector | None = None,
    reach: float = 0.0,
    offset: Vector | None = None,
    scores: Vector | None = None,
) -> Sums:
    """Compute the sums over dense rows in one pass; parameters as in `sums_at`.

    If `scores`, equal to ``x_i'beta + alpha``, are passed, the pass over `X` computes
    only the image.
    """
    (n, p), ay = X.shape, a * y
    f = np.empty(n) if scores is None else scores.copy()
    combined, largest, count = np.zeros(p), 0, 0
    for rows in blocks(n, p):
        B = doubles(X, rows)
        if scores is None:
            np.add(np.matmul(B, beta), alpha, out=f[rows])
        combined += image(ay[rows], B)
        largest, count = max(largest, len(B)), count + 1
    most = additions(largest) + count
    return sums_at(f, combined, most, y, loss, a, weights, reach, offset)


@np.errstate(over="ignore", invalid="ignore")
def sums_at(
    f: Vector,
    image: Vector,
    additions_of_image: float,
    y: Vector,
    loss: LossName,
    a: Vector,
    weights: Vector | None = None,
    reach: float = 0.0,
    offset: Vector | None = None,
) -> Sums:
    """Compute the sums over the rows from their scores.

    Parameters
    ----------
    f : float64 array, shape (n,)
        ``x_i'beta + alpha``; changed in place.
    image, additions_of_image
        Attributes `image` and `additions` of `Sums`.
    y : float64 array, shape (n,), of -1 and +1
    loss : "hinge", "log" or "squared_hinge"
    a : float64 array, shape (n,)
        Dual weights, in [0, w_i]; for the squared hinge without an upper bound.
    weights : float64 array, shape (n,), optional
        ``w_i``; 1 by default.
    reach : float
        Bound on the rounding error of a margin.
    offset : float64 array, shape (n,), optional
    """
    m, margin_loss, exposed = f, LOSSES[loss], np.zeros(0)
    if offset is not None:
        m += offset
    m *= y
    losses = margin_loss.values(m)
    conjugate_terms = margin_loss.conjugate_terms(a, weights)
    if loss != "log":
        exposed = margin_loss.dual_weights(m - reach)
        exposed *= 1.0 if weights is None else weights
    products = np.zeros(0) if offset is None else a * y * offset
    dual = total(a)
    return Sums(
        loss=total(losses if weights is None else weights * losses),
        entropy=dual if conjugate_terms is a else total(conjugate_terms),
        table=table_of(y, m),
        violations=int(np.count_nonzero(m < margin_loss.margin)),
        exposed=total(exposed),
        dual=dual,
        image=image,
        additions=additions_of_image,
        offset_sum=total(products),
        offset_size=total(np.abs(products)),
        share=(additions(y.size) + 2.0) * UNIT,
    )


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
        """Whether Newton equations from some rows are solved by factorisation."""
        return bool(self._p <= (150 if isinstance(rows, slice) else 1000))

    def times(self, theta: Vector) -> Vector:
        """Compute ``z_i'theta``."""
        scores = self._X @ theta[: self._p]
        if self._e is not None:
            scores += theta[-1] * self._e
        return np.asarray(scores)

    def image(self, c: Vector) -> Vector:
        """Compute ``sum_i c_i z_i``."""
        image: Vector = c @ self._X
        return image if self._e is None else np.append(image, c @ self._e)

    def gram(self, h: Vector, rows: Rows | slice = EVERY) -> Matrix:
        """Compute ``sum_i h_i z_i z_i'`` over some rows."""
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
        """Solve ``H x = g`` with ``H = diag(ridge) + gram(h, rows)``.

        Uses a factorisation or, if this is expensive, conjugate gradients, which
        approximate the solution.
        """
        if self.factorises(rows):
            H = self.gram(h, rows)
            np.fill_diagonal(H, H.diagonal() + ridge)
            return solved(H, g)
        return self.by_products(h, ridge, g, rows)

    @cached_property
    def _mean_squares(self) -> Vector:
        """Mean squares of the columns."""
        squares = np.einsum("ij,ij->j", self._X, self._X, dtype=np.float64)
        return np.asarray(squares / len(self._X))

    def by_products(
        self, h: Vector, ridge: Vector, g: Vector, rows: Rows | slice
    ) -> Vector:
        """Approximate the `solution` by conjugate gradients."""
        e, X = None if self._e is None else self._e[rows], self._X[rows]
        some, diagonal = DenseRows(X, e), ridge.copy()
        diagonal[: self._p] += h.sum() * self._mean_squares  # as if h were constant
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
        """Whether a factorisation costs less than 80 products with the rows."""
        entries, p = self._entries[rows], self._p
        cost = float(entries @ entries) / 2.0 + p**3 / 20.0
        return bool(cost <= 80.0 * float(entries.sum()))

    def image(self, c: Vector) -> Vector:
        """Compute ``sum_i c_i z_i``, skipping rows with ``c_i = 0``."""
        image = np.zeros(self._size)
        image[-1] = self._one * c.sum()
        compiled.rows.add_rows(self._rows, c, image[: self._p])
        return image

    def by_products(
        self, h: Vector, ridge: Vector, g: Vector, rows: Rows | slice
    ) -> Vector:
        """Approximate the `solution` by conjugate gradients."""
        room, some = np.empty((5, self._size)), self._every[rows]
        compiled.rows.conjugate_gradients(
            *(self._rows, self._one, some, h, ridge, g), RESIDUAL, PRODUCTS, room
        )
        return np.asarray(room[0])

    def gram(self, h: Vector, rows: Rows | slice = EVERY) -> Matrix:
        """Compute ``sum_i h_i z_i z_i'`` over some rows."""
        gram, some = np.zeros((self._size, self._size)), self._every[rows]
        compiled.rows.add_gram(self._rows, self._one, some, h, gram)
        return np.asarray(gram + gram.T - np.diag(gram.diagonal()))


def newton_rows(X: Predictors, e: Vector | None) -> DenseRows:
    """Append a column ``e`` to the rows; it must be constant if they are sparse.

    Examples
    --------
    >>> rows = newton_rows(np.eye(2), np.ones(2))
    >>> rows.times(np.array([2.0, 3.0, 1.0])), rows.image(np.array([1.0, 1.0]))
    (array([3., 4.]), array([1., 1., 2.]))
    """
    return DenseRows(X, e) if isinstance(X, np.ndarray) else SparseRows(X, e)


def drawn_evenly(n: int, step: int) -> Rows:
    """Draw a row from each `step` consecutive rows; the same rows in every call.

    Examples
    --------
    >>> drawn_evenly(10, 3) // 3
    array([0, 1, 2])
    """
    rows = np.arange(0, n - n % step, step)
    return rows + np.random.default_rng(1).integers(0, step, rows.size)


def sample_rows(y: Vector, weights: Vector | None, p: int) -> Rows | None:
    """Draw a sample whose solution is a starting point; the same in every call.

    The random sample contains about one row in eight, but at most about 200 rows per
    column and at least 2,000 rows. Returns None with fewer than 4,000 rows, or if the
    sample has fewer than 10 rows per column or fewer than 10 rows of a class.

    Examples
    --------
    >>> y = np.tile([-1.0, 1.0, 1.0], 40_000)
    >>> sample_rows(y, None, 50).size, sample_rows(y[:1000], None, 50)
    (10000, None)
    """
    n = y.size
    size = min(n // 8, 20 * ROWS_TO_A_COLUMN * p)
    step = n // max(size, LEAST_SAMPLE)
    if n < 2 * LEAST_SAMPLE or n // step < ROWS_TO_A_COLUMN * p:
        return None
    rows = drawn_evenly(n, step)
    counted = rows if weights is None else rows[weights[rows] > 0.0]
    n_positive = np.count_nonzero(y[counted] > 0.0)
    is_rare = min(n_positive, counted.size - n_positive) < ROWS_TO_A_COLUMN
    return None if is_rare else rows


def conjugate_gradients(
    times: Callable[[Vector], Vector], diagonal: Vector, b: Vector
) -> Vector:
    """Approximate ``H^-1 b`` from products ``times`` with ``H``, and its diagonal."""
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
