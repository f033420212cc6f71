"""Means, deviations and ranges of columns that come a piece at a time."""

import numpy as np

from pegasos_stats.arrays import Dense, Vector
from pegasos_stats.data.scaling import Scaling, overflow


class Columns:
    """Means, deviations and ranges of the columns, a piece at a time.

    Means and squares of pieces are put together as by Chan, Golub & LeVeque,
    *Algorithms for computing the sample variance*, The American Statistician 37 (1983).
    """

    def __init__(self, p: int) -> None:
        self.n, self.mean, self._squares = 0, np.zeros(p), np.zeros(p)
        self.low, self.high = np.full(p, np.inf), np.full(p, -np.inf)

    def add(self, X: Dense) -> None:
        """Add the rows of a piece."""
        if len(X) == 0:
            return
        piece = Columns(X.shape[1])
        piece.n, piece.mean = len(X), X.mean(axis=0, dtype=np.float64)
        piece._squares = np.square(X - piece.mean).sum(axis=0)
        piece.low, piece.high = X.min(axis=0), X.max(axis=0)
        self.join(piece)

    def join(self, other: "Columns") -> None:
        """Add rows that were summed by themselves."""
        if other.n == 0:
            return
        count = self.n + other.n
        apart = other.mean - self.mean
        self._squares += other._squares
        self._squares += np.square(apart) * (self.n * (other.n / count))
        self.mean = self.mean + apart * (other.n / count)
        self.n = count
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)

    def scaling(self, intercept: bool) -> Scaling:
        """Means and standard deviations, as by `Scaling.of`."""
        deviation = np.sqrt(self._squares / max(self.n - 1, 1))
        if not np.isfinite(deviation).all():
            raise overflow()
        return Scaling.of_moments(self.mean, deviation, intercept)

    def spread(self) -> Vector:
        """Standard deviations with divisor ``n``; exactly 0 of constant columns."""
        found = np.sqrt(self._squares / max(self.n, 1))
        return np.where(self.low == self.high, 0.0, found)

    def radius(self, scaling: Scaling | None) -> float:
        """A bound of the largest ``||x_i||``."""
        ends = np.maximum(np.abs(self.low), np.abs(self.high))
        if scaling is not None:
            ends = [scaling.apply(each[None])[0] for each in (self.low, self.high)]
            ends = np.abs(ends).max(axis=0) * (1.0 + 1e-9)
        with np.errstate(over="ignore"):
            return float(np.sqrt(ends @ ends))
