"""What one read of the rows says of a fit: its risk, and its bound from below."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Vector, read_only
from pegasos_stats.compiled import arithmetic, dual
from pegasos_stats.solvers.dense.sums import Sums
from pegasos_stats.solvers.objective import Certificate, finite
from pegasos_stats.solvers.problem import LossName
from pegasos_stats.solvers.reads.rows import Home
from pegasos_stats.solvers.rounding import Rounding, Within, lower_bound


@dataclass(frozen=True)
class Described:
    """A problem whose rows are elsewhere: what its certificate needs beside sums."""

    home: Home
    lam: float
    loss: LossName
    intercept: bool

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.home.n

    @property
    def p(self) -> int:
        """Number of columns."""
        return self.home.p

    @property
    def radius(self) -> float:
        """Largest ``||x_i||``."""
        return self.home.radius

    @property
    def weighted(self) -> bool:
        """Whether a weight is not 1."""
        return self.home.weights is not None

    @property
    def products(self) -> float:
        """Roundings of a dot at most."""
        return self.p + 2.0  # of any order

    @property
    def lightest(self) -> float:
        """Weight of the rows of the class that has less of it."""
        return min(self.home.class_weights)

    @property
    def farthest(self) -> float | None:
        """Largest offset by size; None without offsets."""
        return self.home.farthest


class Point(NamedTuple):
    """Coefficients and intercept."""

    beta: Vector
    alpha: float


class Bound(NamedTuple):
    """A dual point: mean reward of its weights, and ``lam/2 ||beta(a)||^2``."""

    reward: Within
    cost: Within


NO_BOUND = Bound(Within(0.0, 0.0), Within(0.0, 0.0))  # that of weights of 0


def scores(X: Dense, at: Point, offset: Vector | None = None) -> Vector:
    """``x_i'beta + alpha + offset_i``, summed in an order that suits the machine."""
    found, w = np.zeros(X.shape[0]), np.zeros(arithmetic.lanes.padded(at.beta.size))
    w[: at.beta.size] = at.beta
    dual.newton.put_dots(read_only(X), read_only(w), found)
    found += at.alpha
    if offset is not None:
        found += offset
    return found


def image(X: Dense, c: Vector) -> Vector:
    """``sum_i c_i x_i``."""
    found = np.zeros(arithmetic.lanes.padded(X.shape[1]))
    dual.sdca.add_rows(read_only(X), read_only(c), found)
    return found[: X.shape[1]]


def table_of(y: Vector, f: Vector) -> NDArray[np.int64]:
    """Rows by label and sign of the score: -1, +1, none; shape (2, 3)."""
    found = np.zeros((2, 3), dtype=np.int64)
    for line, sign in enumerate((-1.0, 1.0)):
        of_class = f[y == sign]
        below, above = np.count_nonzero(of_class < 0), np.count_nonzero(of_class > 0)
        found[line] = below, above, of_class.size - below - above
    return found


@dataclass(frozen=True)
class Risk:
    """What a read says of a point.

    Attributes
    ----------
    point : Point
    objective : float
    within : Within
        The same in real arithmetic.
    errors : int
    at_zero : pair of int
        As of `Sums`.
    table : int array, shape (2, 3)
        Rows by label and predicted label, the last column for scores of 0.
    least : float
        A bound of the risk of every fit.
    """

    point: Point
    objective: float
    within: Within
    errors: int
    at_zero: tuple[int, int]
    table: NDArray[np.int64]
    least: float

    @classmethod
    def of(
        cls, problem: Described, point: Point, seen: Sums, table: NDArray[np.int64]
    ) -> "Risk":
        """The risk of a point from the sums of a read."""
        rounding = Rounding(problem, *point)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = float(point.beta @ point.beta)
            objective = 0.5 * problem.lam * squares + seen.loss / problem.n
        objective, within = finite(objective), rounding.primal(seen)
        return cls(
            point, objective, within, seen.errors, seen.at_zero, table, rounding.least()
        )

    def certificate(self, bound: Bound) -> Certificate:
        """Certify the point by a dual point."""
        dual, rounding = lower_bound(
            self.objective, self.within, *bound, lambda: self.least
        )
        at = Certificate(self.objective, dual, self.errors, self.at_zero)
        return replace(at, rounding=rounding)
