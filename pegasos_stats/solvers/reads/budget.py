"""The hinge where the rows near the margin are more than memory has room for.

The rows that have to be kept are those whose margin is not known well enough. Steps
that keep none, those of `Rounded`, are taken until so few are left that they find room;
then `Hinge` keeps these. Where they do not find room after all, it is steps again.
"""

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.solvers.reads.hinge import (
    ROOM,
    WIDTHS,
    Hinge,
    NoRoomError,
    near_margin,
)
from pegasos_stats.solvers.reads.rounded import Rounded
from pegasos_stats.solvers.reads.rows import Taken
from pegasos_stats.solvers.reads.seeing import Bound, Described, Point, Risk
from pegasos_stats.solvers.sdca import SDCA

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
