"""The exact optimum with a free intercept from few reads of the rows.

The work of the exact solver on the rows is of three kinds only: scores ``x_i'beta``,
sums ``sum_i c_i x_i``, and products with the few rows whose curvature is not zero. So
rows may be in memory, in files, or on other machines, if these three can be asked for.

A sample that fits in memory is solved; then each read improves on the point before,
and gives the risk of that point. How is a matter of the loss: see ``hinge.py`` and
``newton.py``.

References
----------
Yu, Hsieh, Chang & Lin, *Large linear classification when data cannot fit in memory*,
KDD 2010.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Vector
from pegasos_stats.data.scan.sampling import size_of_sample
from pegasos_stats.solvers.centring import without_constants
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.problem import LossName, Solution
from pegasos_stats.solvers.reads.hinge import (
    ROOM,
    WIDTHS,
    Hinge,
    NoRoomError,
    near_margin,
)
from pegasos_stats.solvers.reads.newton import Newton
from pegasos_stats.solvers.reads.risk_and_bound import (
    Bound,
    Described,
    Point,
    Risk,
    scores,
)
from pegasos_stats.solvers.reads.rows import Home, Taken
from pegasos_stats.solvers.reads.sampled import solved
from pegasos_stats.solvers.sdca import SDCA

NARROWER = 8.0  # what the width is divided by at most, after a step

CAREFUL = 2.0  # the same, once a step led up

MOST_DAMPED = 20  # steps; what needs more has no end

IN_CORNER = 5  # rows for each coefficient

AFTER = 0.5  # of the length of a step, what margins may still be off after it

LITTLE = 1e-3  # of the width: steps that are no longer bring nothing

LEAST = sys.float_info.min  # of a width

ENOUGH = 4  # rows to keep for each coefficient, at least

NARROWEST = 2.0**-20  # of the width: margins of rows to keep, where no step was made

WIDER = 1.5  # what the margins of rows to keep are multiplied by until there are

MOST_FAILED = 8  # times that rows found no room after all

FINER = 0.25  # of the tolerance, to which problems in memory are solved

FINEST = 1e-13  # relative gap of a problem in memory

TEN, LAST_SHARE = 10.0, 1e-4  # what the share is divided by where a read found nothing


@dataclass(frozen=True)
class RoundedHinge:
    """The hinge, its corner rounded over a width."""

    width: float

    def loss(self) -> LossName:
        """The loss in the risk."""
        return "hinge"

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
        self._step: Hinge | Rounded = Rounded(problem, sample, point, self._width)

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
        self._step = Rounded(self._problem, self._sample, self._step.point, self._width)


class Logistic:
    """``log(1 + exp(-m))``."""

    def loss(self) -> LossName:
        """The loss in the risk."""
        return "log"

    def slopes(self, m: Vector) -> Vector:
        """``1 / (1 + exp(m))``."""
        from scipy.special import expit

        return np.asarray(expit(-m), dtype=np.float64)

    def bends(self, w: Vector, s: Vector) -> Vector:
        """``w s (1 - s)``."""
        return w * s * (1.0 - s)

    def violated(self, m: Vector) -> int:
        """How many margins are below 0."""
        return int(np.count_nonzero(m < 0.0))

    def above(self, w: Vector, m: Vector) -> float:
        """Nothing: it is the loss in the risk."""
        return 0.0


class Log(Newton):
    """The log loss between two reads."""

    @property
    def curve(self) -> Logistic:
        """The log loss itself."""
        return Logistic()


class Step(Protocol):
    """What one read and the work after it are, for one loss."""

    point: Point

    @property
    def bound(self) -> Bound:
        """Of the dual point at hand."""

    @property
    def stands(self) -> bool:
        """Whether the last read brought nothing."""

    @property
    def violations(self) -> int:
        """Rows that violated the margin at the last read."""

    def read(self) -> Risk:
        """Read all rows, at the point."""

    def solve(self, tol: float, solver: SDCA) -> None:
        """Find the next point, and a dual point."""

    def dual(self, weights: Vector | None) -> Vector:
        """Dual weights of all rows, of these weights in the risk."""

    def forget_rows(self) -> None:
        """Let go of rows in memory, to have room; nothing is read after it."""


@dataclass(frozen=True, eq=False)
class Reads:
    """What the reads brought.

    Attributes
    ----------
    solution : Solution
        With the reads for its epochs, that of the sample not counted.
    certificate : Certificate
    table : int array, shape (2, 3)
        Rows by label and predicted label.
    reached : bool
        Whether the solver has come to where it was to end.
    n_reads : int
        How often all rows were read.
    """

    solution: Solution
    certificate: Certificate
    table: NDArray[np.int64]
    reached: bool
    n_reads: int


class Reading:
    """A fit from read to read.

    Parameters
    ----------
    problem : Described
    solver : SDCA

    Attributes
    ----------
    step : Step
    reads : int
        How many there have been.
    violations : int
        Rows with a margin below 1 (hinge) or below 0 (log loss), of all reads.
    """

    def __init__(self, problem: Described, solver: SDCA) -> None:
        home = problem.home
        sample = home.sample(size_of_sample(home.n, home.p))
        self._problem, self.violations = problem, 0
        self._best: Risk | None = None
        self._solver, self._share, self.reads = solver, FINER, 0
        found = solved(problem, sample, solver)
        point = self._free(found.beta, found.alpha)
        self.step = step_of(problem, sample, point)

    @property
    def at(self) -> Certificate:
        """Of the best point that was read, by the dual point at hand."""
        return self._known.certificate(self.step.bound)

    @property
    def table(self) -> NDArray[np.int64]:
        """Rows by label and predicted label, of that point."""
        return self._known.table

    @property
    def is_exhausted(self) -> bool:
        """Whether further reads bring nothing."""
        return self._share < LAST_SHARE

    def read(self) -> Certificate:
        """Read all rows."""
        risk, self.reads = self.step.read(), self.reads + 1
        self.violations += self.step.violations
        if self._best is None or risk.objective < self._best.objective:
            self._best = risk
        return self.at

    def solve(self) -> None:
        """Go to the next point, and to a dual point."""
        if self.reads > 1 and self.step.stands:
            self._share /= TEN
        tol = tolerance(self._solver, self.at) * self._share
        self.step.solve(max(FINEST, tol), self._solver)
        self.step.point = self._free(*self.step.point)

    def _free(self, beta: Vector, alpha: float) -> Point:
        """The point where a free intercept has the share of constant columns."""
        values = self._problem.home.constants if self._problem.intercept else None
        return Point(*without_constants(beta, alpha, values))

    def solution(self) -> Solution:
        """The best point that was read, and the dual point at hand."""
        return Solution(
            beta=self._known.point.beta,
            alpha=self._known.point.alpha,
            dual=self.step.dual(self._problem.home.weights),
            n_iter=self.reads * self._problem.n,
            n_violations=self.step.violations,
            seed=self._solver.seed,
        )

    @property
    def _known(self) -> Risk:
        assert self._best is not None  # a read comes first
        return self._best


def far(problem: Described, sample: Taken) -> float:
    """How far margins are off at most, about, at the solution of a sample."""
    return WIDTHS * float(np.sqrt(problem.p / sample.y.size))


def step_of(problem: Described, sample: Taken, point: Point) -> Step:
    """The steps for a loss, and for the room that there is for rows.

    Problem, sample and point are those of `Hinge`.
    """
    if problem.loss == "log":
        return Log(problem, sample, point)
    if problem.home.most_kept < problem.n:
        return WithinBudget(problem, sample, point)
    return Hinge(problem, sample, point, far(problem, sample))


@np.errstate(over="ignore", invalid="ignore")  # the certificate tells
def few_reads(
    home: Home,
    lam: float,
    loss: LossName,
    intercept: bool,
    solver: SDCA,
    observe: Callable[[int, Certificate], None] | None = None,
) -> Reads:
    """Minimise the risk over rows that are read a few times.

    Parameters
    ----------
    home : Home
        Where the rows are.
    lam, loss, intercept
        As for `Problem`.
    solver : SDCA
        Its tolerances, and how many reads there may be: its epochs.
    observe : callable, optional
        Called after each read with its number and the certificate.

    Returns
    -------
    Reads
        The point with the least risk that was read, and the last dual point.

    Examples
    --------
    >>> from pegasos_stats.solvers.problem import Problem
    >>> from pegasos_stats.solvers.reads.rows import InMemory
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((4000, 3)), np.repeat([-1.0, 1.0], 2000)
    >>> home = InMemory(Problem(X + 0.5 * y[:, None], y, lam=0.01))
    >>> found = few_reads(home, 0.01, "hinge", True, SDCA(tol=1e-6, seed=1))
    >>> found.reached, found.solution.n_epochs
    (True, 2)
    """
    problem = Described(home, lam, loss, intercept)
    fit = Reading(problem, solver)
    while True:
        at = fit.read()
        if observe is not None:
            observe(fit.reads, at)
        if solver.reached(at) or fit.reads == solver.epochs or fit.is_exhausted:
            break
        fit.solve()
    fit.step.forget_rows()
    solution = replace(fit.solution(), n_epochs=fit.reads)
    return Reads(solution, at, fit.table, solver.reached(at), fit.reads)


def tolerance(solver: SDCA, at: Certificate) -> float:
    """The relative gap that is asked for."""
    of_gap = (solver.gap_tol or 0.0) / at.objective if at.objective > 0.0 else 0.0
    return max(solver.tol, of_gap) or FINEST
