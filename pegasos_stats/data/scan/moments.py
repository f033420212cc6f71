"""Means, deviations and ranges of columns that come a piece at a time."""

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Vector
from pegasos_stats.data.scaling import Scaling, overflow, power_of_two

NONE = np.int32(-1100)  # the power of two of squares that are all 0
SMALLEST = -1000  # power of two whose inverse is a number


class Columns:
    """Means, deviations and ranges of the columns, a piece at a time.

    `n` is the number of rows, or the sum of their weights.
    Means and squares of pieces are put together as by Chan, Golub & LeVeque,
    *Algorithms for computing the sample variance*, The American Statistician 37 (1983).
    Squares of a column are those of its values times a power of two.
    """

    def __init__(self, p: int) -> None:
        self.n: float = 0
        self.mean, self._squares = np.zeros(p), np.zeros(p)
        self._power = np.full(p, NONE)
        self.low, self.high = np.full(p, np.inf), np.full(p, -np.inf)

    def add(self, columns: Sequence[Vector], weights: Vector | None = None) -> None:
        """Add the rows of a piece, which are given by its columns."""
        piece = Columns(self.mean.size)
        piece.n = columns[0].size if weights is None else float(weights.sum())
        apart = np.empty(columns[0].size)
        for j, x in enumerate(columns if piece.n else ()):
            with np.errstate(over="ignore", invalid="ignore"):
                mean, low, high = x.mean(dtype=np.float64), x.min(), x.max()
                if weights is not None:
                    mean = weights @ x / piece.n
                furthest = max(float(high - mean), float(mean - low))
                power = max(int(power_of(furthest)), SMALLEST)
                np.subtract(x, mean, out=apart)
                apart *= 2.0**-power
                np.square(apart, out=apart)
                piece._squares[j] = apart.sum() if weights is None else weights @ apart
            piece.mean[j], piece.low[j], piece.high[j] = mean, low, high
            piece._power[j] = power
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

    def times(self, factor: float) -> "Columns":
        """The same rows with weights that are multiplied."""
        found = copy(self)
        found.n, found._squares = factor * self.n, factor * self._squares
        return found

    def scaling(self, intercept: bool, count: float | None = None) -> Scaling:
        """Means and standard deviations, as by `Scaling.of`."""
        deviation = self._deviations(self.n - self.n / (count or self.n) or self.n)
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

    def _deviations(self, divisor: float) -> Vector:
        return np.ldexp(np.sqrt(self._squares / (divisor or 1.0)), self._power)


def power_of(sizes: Vector | float) -> NDArray[np.int32]:
    """Powers of two near sizes, `NONE` of those of 0."""
    return np.where(sizes > 0.0, power_of_two(sizes), NONE)
