"""Standardized predictors, as by R's ``scale()``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Predictors, Vector
from pegasos_stats.data.design import Design, ModelMatrix
from pegasos_stats.errors import DataError


@dataclass(frozen=True, eq=False)
class Scaling:
    """``z_j = (x_j - centre_j) / scale_j`` for every column ``j``.

    Attributes
    ----------
    centre : float64 array, shape (p,)
        Means; 0 for sparse data, which would not stay sparse, and without intercept.
    scale : float64 array, shape (p,)
        Standard deviations with the divisor ``n - 1``; 1 for a constant column. Of
        weighted rows both are weighted, see `moments`.
    """

    centre: Vector
    scale: Vector

    _field_rules = "centre p finite, scale p positive finite"

    @classmethod
    def of(
        cls,
        X: Predictors,
        intercept: bool = True,
        weights: Vector | None = None,
        count: float | None = None,
    ) -> "Scaling":
        """Means and standard deviations of the columns of `X`, shape (n, p).

        Weights and their count are those of `moments`.

        Raises
        ------
        DataError
            If the sum of a column overflows.

        Examples
        --------
        >>> Scaling.of(np.array([[1.0, 5.0], [3.0, 5.0]])).scale.round(3)
        array([1.414, 1.   ])
        """
        with np.errstate(over="ignore", invalid="ignore"):
            means, deviations = moments(X, weights, count)
        if not np.isfinite(deviations).all():
            raise overflow()
        return cls.of_moments(
            means, deviations, intercept and isinstance(X, np.ndarray)
        )

    @classmethod
    def of_moments(
        cls, means: Vector, deviations: Vector, centred: bool = True
    ) -> "Scaling":
        """Scaling by means and standard deviations that are known."""
        size = np.maximum(np.abs(means), deviations)
        constant = deviations <= 1e-12 * size  # rounding of the mean alone
        return cls(
            centre=means if centred else np.zeros(means.size),
            scale=np.where(constant, 1.0, deviations),
        )

    def apply(self, X: Predictors) -> Predictors:
        """Return the scaled columns; dense or CSR and of the same type, as `X`.

        Sparse rows become dense where columns are centred.
        """
        if not isinstance(X, np.ndarray) and self.centre.any():
            X = X.toarray()
        if isinstance(X, np.ndarray):
            scaled = X - self.centre
            scaled /= self.scale
            return np.ascontiguousarray(scaled, dtype=X.dtype)
        scaled = X.copy()
        scaled.data = (X.data / self.scale[X.indices]).astype(X.dtype)
        return scaled

    def unapply(self, X: Predictors) -> Predictors:
        """Return the columns as they were before `apply`, to rounding."""
        if isinstance(X, np.ndarray):
            return X * self.scale + self.centre
        unscaled = X.astype(np.float64)
        unscaled.data = unscaled.data * self.scale[unscaled.indices]
        return unscaled

    def undone(self, beta: Vector, alpha: float) -> tuple[Vector, float]:
        """``beta_j / scale_j`` and ``alpha - sum_j centre_j beta_j / scale_j``.

        They give the scores of the scaled columns from the columns as they were.
        """
        original = beta / self.scale
        return original, float(alpha - self.centre @ original)

    def undoing(self, intercept: bool) -> NDArray[np.float64]:
        """The matrix of `undone`, of the intercept, if there is one, and ``beta``.

        Returns
        -------
        float64 array, shape (k, k)

        Examples
        --------
        >>> Scaling(np.array([3.0]), np.array([2.0])).undoing(intercept=True)
        array([[ 1. , -1.5],
               [ 0. ,  0.5]])
        """
        slopes = np.diag(1.0 / self.scale)
        if not intercept:
            return slopes
        first = np.concatenate([[1.0], -self.centre / self.scale])
        return np.vstack([first, np.insert(slopes, 0, 0.0, axis=1)])


def overflow() -> DataError:
    """The error for columns whose sum is no finite number."""
    return DataError(
        "The sum of a column overflows, so that it has no mean; divide the predictors "
        "by a power of ten first."
    )


def moments(
    X: Predictors, weights: Vector | None = None, count: float | None = None
) -> tuple[Vector, Vector]:
    """Means and standard deviations of the columns; of one row, 0.

    ``m = sum_i w_i x_i / W`` and ``sum_i w_i (x_i - m)^2 / (W - W / N)`` with
    ``W = sum_i w_i``: the divisor is ``n - 1`` where every weight is 1.

    Parameters
    ----------
    X : array or CSR array, shape (n, p)
    weights : float64 array, shape (n,), optional
    count : float, optional
        ``N``, by default the rows with a weight above 0; see `rows_of_weights`.

    Examples
    --------
    >>> moments(np.array([[1.0], [3.0]]))
    (array([2.]), array([1.41421356]))
    >>> moments(np.array([[1.0], [3.0]]), np.array([2.0, 1.0]), 3.0)  # 1, 1, 3
    (array([1.66666667]), array([1.15470054]))
    """
    n: float = X.shape[0]
    if weights is not None:
        n, count = float(weights.sum()), count or float((weights > 0.0).sum())
    divisor = n - n / (count or n) or n
    if isinstance(X, np.ndarray):
        means = X.mean(axis=0, dtype=np.float64)
        if weights is not None:
            means = weights @ X / n
        apart = X - means
        power = power_of_two(np.maximum(apart.max(axis=0), -apart.min(axis=0)))
        squares = np.square(np.ldexp(apart, -power, out=apart), out=apart)
        squares = squares.sum(axis=0) if weights is None else weights @ squares
    else:
        w = np.ones(X.shape[0]) if weights is None else weights
        each = np.repeat(w, np.diff(X.indptr))
        means = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / n
        if weights is not None:
            means = np.asarray(weights @ X).ravel() / n
        apart, columns = X.data - means[X.indices], X.indices
        furthest = np.abs(means)
        np.maximum.at(furthest, columns, np.abs(apart))
        power = power_of_two(furthest)
        squares = np.zeros(X.shape[1])
        np.add.at(squares, columns, each * np.square(np.ldexp(apart, -power[columns])))
        stored = np.bincount(columns, each, minlength=X.shape[1])
        squares += np.maximum(n - stored, 0.0) * np.square(np.ldexp(means, -power))
    return means, np.ldexp(np.sqrt(squares / divisor), power)


def power_of_two(sizes: Vector | float) -> NDArray[np.int32]:
    """Powers of two that bring sizes near 1, where squares keep their digits."""
    return np.asarray(np.frexp(sizes)[1], dtype=np.int32)


@dataclass(frozen=True, eq=False)
class ScaledDesign:
    """A design whose columns are scaled, in the same way on new data.

    Attributes
    ----------
    design : Design
    scaling : Scaling
    """

    design: Design
    scaling: Scaling

    _field_rules = "names p, scaling.centre p"

    @property
    def formula(self) -> str | None:
        """The formula, if there is one."""
        return self.design.formula

    @property
    def functions(self) -> Mapping[str, Callable[..., object]]:
        """Functions of the caller that the formula may call."""
        return self.design.functions

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients, the intercept left out."""
        return self.design.names

    def matrix(self, data: object) -> ModelMatrix:
        """Scaled matrix of `data`, with the columns in the order of `names`."""
        found = self.design.matrix(data)
        return replace(found, values=self.scaling.apply(found.values))


def unscaled(design: Design) -> Design:
    """The design itself, of predictors that were standardized or not."""
    return design.design if isinstance(design, ScaledDesign) else design
