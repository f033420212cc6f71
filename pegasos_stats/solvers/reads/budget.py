"""The hinge where the rows near the margin are more than memory has room for.

The rows that have to be kept are those whose margin is not known well enough. Steps
that keep none, those of `Rounded`, are taken until so few are left that they find room;
then `Hinge` keeps these. Where they do not find room after all, it is steps again.
"""

import sys
from dataclasses import dataclass

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.compiled import arithmetic
from pegasos_stats.solvers.reads.hinge import (
    ROOM,
    WIDTHS,
    Hinge,
    NoRoomError,
    near_margin,
)
from pegasos_stats.solvers.reads.newton import Newton
from pegasos_stats.solvers.reads.rows import Taken
from pegasos_stats.solvers.reads.seeing import Bound, Described, Point, Risk, scores
from pegasos_stats.solvers.sdca import SDCA

NARROWER = 8.0  # what the width is divided by at most, after a step
CAREFUL = 2.0  # the same, once a step led up
MOST_DAMPED = 20  # steps; what needs more has no end
IN_CORNER = 5  # rows for each coefficient
AFTER = 0.5  # of the length of a step, what margins may still be off after it
LITTLE = 1e-3  # of the width: steps that are no longer bring nothing
LEAST = sys.float_info.min  # of a width


@dataclass(frozen=True)
class RoundedHinge:
    """The hinge, its corner rounded over a width."""

    width: float

    def code(self) -> int:
        """Code of the loss in the risk."""
        return int(arithmetic.risk.HINGE)

    def slopes(self, m: Vector) -> Vector:
        """``clip(1/2 + (1 - m) / width, 0, 1)``.

        Examples
        --------
        >>> RoundedHinge(0.5).slopes(np.array([0.7, 0.9, 1.0, 1.25, 2.0]))
        array([1. , 0.7, 0.5, 0. , 0. ])
        """
        return np.clip(0.5 + (1.0 - m) / self.width, 0.0, 1.0)

    def bends(self, w: Vector, s: Vector) -> Vector:
        """``w / width`` in the corner, 0 elsewhere."""
        return np.where((s > 0.0) & (s < 1.0), w / self.width, 0.0)

    def violated(self, m: Vector) -> int:
        """How many margins are below 1."""
        return int(np.count_nonzero(m < 1.0))

    def above(self, w: Vector, m: Vector) -> float:
        """Sum by which it is above the hinge.

        Examples
        --------
        >>> RoundedHinge(0.8).above(np.ones(3), np.array([0.0, 1.0, 2.0]))
        0.1
        """
        short = np.maximum(0.5 - np.abs(1.0 - m) / self.width, 0.0)
        return float(w @ (short * short)) * self.width / 2.0


class Rounded(Newton):
    """The hinge between two reads, where no row is kept.

    Attributes
    ----------
    width : float
        Of the corner, at the next read.
    apart : float
        How far margins may be off at the point of the next read, about.
    damped : int
        Steps that were shorter, after one that led up.
    """

    def __init__(
        self, problem: Described, sample: Taken, point: Point, width: float
    ) -> None:
        super().__init__(problem, sample, point)
        self.width = self.apart = max(LEAST, width)
        self.damped = 0

    @property
    def curve(self) -> RoundedHinge:
        """The loss that the next read sums."""
        return RoundedHinge(self.width)

    def solve(self, tol: float, solver: SDCA) -> None:
        """Take Newton's step, shorter if one led up; choose the next width."""
        before, sample = self.point, self._sample
        is_whole = self.is_lowest
        super().solve(tol, solver)
        if not is_whole:
            self.damped += 1
            self.stands |= self.damped > MOST_DAMPED
            return
        there, here = (scores(sample.X, point) for point in (self.point, before))
        length = float(np.sqrt(np.mean((there - here) ** 2)))
        if not np.isfinite(length):
            return
        fewest = self.width * IN_CORNER * (self._problem.p + 1) / max(1, self.bent)
        most = CAREFUL if self.damped else NARROWER
        width = min(self.width, max(length, self.width / most, LEAST))
        width = max(width, min(fewest, self.width * NARROWER))
        self.stands |= width >= self.width and length <= LITTLE * self.width
        if width > self.width:  # too few rows were in the corner
            self.stands = True
            self.forget_lowest()  # all risks are higher with this width
        self.width, self.apart = width, AFTER * length


ENOUGH = 4  # rows to keep for each coefficient, at least
NARROWEST = 2.0**-20  # of the width: margins of rows to keep, where no step was made
WIDER = 1.5  # what the margins of rows to keep are multiplied by until there are
MOST_FAILED = 8  # times that rows found no room after all


class WithinBudget:
    """The hinge between two reads, with or without rows that are kept.

    Parameters
    ----------
    problem, sample, point
        As of `Hinge`.
    """

    def __init__(self, problem: Described, sample: Taken, point: Point) -> None:
        self._problem, self._sample, self._failed = problem, sample, 0
        self._width = far(problem, sample)
        given = problem, sample, point, self._width
        self._step: Hinge | Rounded = Rounded(*given)

    @property
    def point(self) -> Point:
        """Where the next read looks."""
        return self._step.point

    @point.setter
    def point(self, point: Point) -> None:
        self._step.point = point

    @property
    def bound(self) -> Bound:
        """Of the dual point at hand."""
        return self._step.bound

    @property
    def stands(self) -> bool:
        """Whether the last read brought nothing."""
        return self._step.stands

    @property
    def violations(self) -> int:
        """Rows with a margin below 1 at the last read."""
        return self._step.violations

    def read(self) -> Risk:
        """Read all rows, and keep those near the margin if they find room.

        A read that finds no room is broken off, and another one keeps none.
        """
        if isinstance(self._step, Rounded):
            self._keep_some(self._step)
        try:
            return self._step.read()
        except NoRoomError:
            self._keep_none()
            return self._step.read()

    def solve(self, tol: float, solver: SDCA) -> None:
        """Find the next point, and a dual point."""
        try:
            self._step.solve(tol, solver)
        except NoRoomError:
            self._keep_none()

    def dual(self, weights: Vector | None) -> Vector:
        """Dual weights of all rows."""
        return self._step.dual(weights)

    def forget_rows(self) -> None:
        """Let go of rows in memory, to have room; nothing is read after it."""
        self._step.forget_rows()

    def _keep_some(self, step: Rounded) -> None:
        """Keep rows from now on, if those near the margin find room."""
        problem, sample = self._problem, self._sample
        delta = max(step.apart, NARROWEST * self._width)
        room, fewest = ROOM * problem.home.most_kept, ENOUGH * (problem.p + 1)
        most = max(fewest, room / 2.0**self._failed)

        def near(delta: float) -> float:
            return near_margin(problem, sample, step.point, delta) * problem.n

        while near(delta) < fewest and delta < self._width:
            if near(WIDER * delta) > most:
                break
            delta *= WIDER
        may_keep = fewest <= room and self._failed < MOST_FAILED
        if may_keep and near(delta) <= most:
            self._width = step.width
            self._step = Hinge(problem, sample, step.point, delta)

    def _keep_none(self) -> None:
        """Take steps that keep no row, until half as much room is enough."""
        self._failed = min(MOST_FAILED, self._failed + 1)
        self._step.forget_rows()
        given = self._problem, self._sample, self._step.point, self._width
        self._step = Rounded(*given)


def far(problem: Described, sample: Taken) -> float:
    """How far margins are off at most, about, at the solution of a sample."""
    return WIDTHS * float(np.sqrt(problem.p / sample.y.size))
