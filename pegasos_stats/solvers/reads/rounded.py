"""The hinge with its corner rounded: Newton steps from sums, and no row is kept.

Rows whose margin is within ``width / 2`` of 1 have the loss

    max over a in [0, 1] of  a (1 - m) + width a (1 - a) / 2
    = width/2 (1/2 + (1 - m) / width)^2,

all others the hinge. It is above the hinge, by ``width / 8`` at most, and has a slope
and a second derivative. Its slopes
``a_i = clip(1/2 + (1 - m_i) / width, 0, 1)`` are a dual point of the hinge, whose gap
shrinks with the square of the width.

A step is as good as the corner is narrow beside it, so the width follows the length of
the steps, as rows of the sample see it, while enough rows are in the corner to tell the
second derivatives.
"""

import sys
from dataclasses import dataclass

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.compiled import arithmetic
from pegasos_stats.solvers.reads.newton import Newton
from pegasos_stats.solvers.reads.rows import Taken
from pegasos_stats.solvers.reads.seeing import Described, Point, scores
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
        return int(arithmetic.losses.HINGE)

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
