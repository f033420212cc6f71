"""Means, deviations and ranges of columns that come a piece at a time."""

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Vector
from pegasos_stats.data.scaling import Scaling, overflow, power_of_two

NONE = np.int32(-1100)  # the power of two of squares that are all 0


class Columns:
    """Means, deviations and ranges of the columns, a piece at a time.

    Means and squares of pieces are put together as by Chan, Golub & LeVeque,
    *Algorithms for computing the sample variance*, The American Statistician 37 (1983).
    Squares of a column are those of its values times a power of two.
    """

    def __init__(self, p: int) -> None:
        self.n, self.mean, self._squares = 0, np.zeros(p), np.zeros(p)
        self._power = np.full(p, NONE)
        self.low, self.high = np.full(p, np.inf), np.full(p, -np.inf)

    def add(self, X: Dense) -> None:
        """Add the rows of a piece."""
        if len(X) == 0:
            return
        piece = Columns(X.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            piece.n, piece.mean = len(X), X.mean(axis=0, dtype=np.float64)
            apart = X - piece.mean
            furthest = np.maximum(apart.max(axis=0), -apart.min(axis=0))
            piece._power = power_of(furthest)
            np.ldexp(apart, -piece._power, out=apart)
            piece._squares = np.square(apart, out=apart).sum(axis=0)
        piece.low, piece.high = X.min(axis=0), X.max(axis=0)
        self.join(piece)

    def join(self, other: "Columns") -> None:
        """Add rows that were summed by themselves."""
        if other.n == 0:
            return
        count = self.n + other.n
        apart = other.mean - self.mean
        power = np.maximum(self._power, other._power)
        if self.n > 0:
            power = np.maximum(power, power_of(np.abs(apart)))
        self._squares = np.ldexp(self._squares, 2 * (self._power - power))
        self._squares += np.ldexp(other._squares, 2 * (other._power - power))
        if self.n > 0:
            between = np.square(np.ldexp(apart, -power))
            self._squares += between * (self.n * (other.n / count))
        self._power = power
        self.mean = self.mean + apart * (other.n / count)
        self.n = count
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)

    def scaling(self, intercept: bool) -> Scaling:
        """Means and standard deviations, as by `Scaling.of`."""
        deviation = self._deviations(self.n - 1)
        if not np.isfinite(deviation).all():
            raise overflow()
        return Scaling.of_moments(self.mean, deviation, intercept)

    def spread(self) -> Vector:
        """Standard deviations with divisor ``n``; exactly 0 of constant columns."""
        return np.where(self.low == self.high, 0.0, self._deviations(self.n))

    def radius(self, scaling: Scaling | None) -> float:
        """A bound of the largest ``||x_i||``."""
        ends = np.maximum(np.abs(self.low), np.abs(self.high))
        if scaling is not None:
            ends = [scaling.apply(each[None])[0] for each in (self.low, self.high)]
            ends = np.abs(ends).max(axis=0) * (1.0 + 1e-9)
        power = power_of_two(ends.max(initial=0.0))
        ends = np.ldexp(ends, -power)
        with np.errstate(over="ignore"):
            return float(np.ldexp(np.sqrt(ends @ ends), power))

    def _deviations(self, divisor: int) -> Vector:
        return np.ldexp(np.sqrt(self._squares / max(divisor, 1)), self._power)


def power_of(sizes: Vector) -> NDArray[np.int32]:
    """Powers of two near sizes, `NONE` of those of 0."""
    return np.where(sizes > 0.0, power_of_two(sizes), NONE)
