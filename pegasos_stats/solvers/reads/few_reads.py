"""The exact optimum with a free intercept from few reads of the rows.

The work of the exact solver on the rows is of three kinds only: scores ``x_i'beta``,
sums ``sum_i c_i x_i``, and products with the few rows whose curvature is not zero. So
rows may be in memory, in files, or on other machines, if these three can be asked for.

A sample that fits in memory is solved; then each read improves on the point before,
and gives the risk of that point. How is a matter of the loss: see ``hinge.py`` and
``newton.py``.

With the log loss and a small penalty the solution may fit the sample too well. A level
of a factor with few rows in it, all of one label, has a large coefficient and margins
far out, where the loss is flat, and Newton's steps for all rows go astray from there.
So the problem of the sample has the penalty, of those 10 times larger than each other,
whose solution for half of the sample has the least risk in the other half.

References
----------
Yu, Hsieh, Chang & Lin, *Large linear classification when data cannot fit in memory*,
KDD 2010.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Vector
from pegasos_stats.data.scan.counting import size_of_sample
from pegasos_stats.data.scan.rows import RowSubset
from pegasos_stats.solvers.centring import constants_of, without_constants
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.reads.hinge import (
    ROOM,
    WIDTHS,
    Hinge,
    NoRoomError,
    near_margin,
)
from pegasos_stats.solvers.reads.newton import Newton, SmoothedNewton
from pegasos_stats.solvers.reads.risk_and_bound import (
    Point,
    Risk,
)
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_run import solved_by_steps

ENOUGH = 4  # rows to keep for each coefficient, at least

NARROWEST = 2.0**-20  # of the width: margins of rows to keep, where no step was made

WIDER = 1.5  # what the margins of rows to keep are multiplied by until there are

MOST_FAILED = 8  # times that rows found no room after all

FINER = 0.25  # of the tolerance, to which problems in memory are solved

FINEST = 1e-13  # relative gap of a problem in memory

ROUGH = 1e-4  # relative gap of the problem of the sample

FURTHER, MOST = 10.0, 1e6  # factors of its penalty

HALVES = 1  # seed of the halves of a sample

TEN, LAST_SHARE = 10.0, 1e-4  # what the share is divided by where a read found nothing


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

    The hinge keeps rows near its margin once they find room. Until then, and where
    there turns out to be none, it is smoothed and takes steps that keep no row.

    Parameters
    ----------
    problem : Problem
    solver : SDCA

    Attributes
    ----------
    step : Hinge, Newton or SmoothedNewton
    reads : int
        How many there have been.
    violations : int
        Rows with a margin below 1 (hinge) or below 0 (log loss), of all reads.
    """

    def __init__(self, problem: Problem, solver: SDCA) -> None:
        sample = problem.X.sample(size_of_sample(problem.n, problem.p))
        self._problem, self._sample, self.violations = problem, sample, 0
        self._best: Risk | None = None
        self._solver, self._share, self.reads, self._failed = solver, FINER, 0, 0
        found = solved(problem, sample, solver)
        point = self._free(found.beta, found.alpha)
        self._width = WIDTHS * float(np.sqrt(problem.p / sample.y.size))
        self.step: Hinge | Newton
        if problem.loss == "log":
            self.step = Newton(problem, sample, point)
        elif problem.X.most_kept < problem.n:
            self.step = SmoothedNewton(problem, sample, point, self._width)
        else:
            self.step = Hinge(problem, sample, point, self._width)

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
        """Read all rows, and keep those near the margin if they find room.

        A read that finds no room is broken off, and another one keeps none.
        """
        if isinstance(self.step, SmoothedNewton):
            self._keep_some(self.step)
        try:
            risk = self.step.read()
        except NoRoomError:
            self._keep_none()
            risk = self.step.read()
        self.reads += 1
        self.violations += self.step.violations
        if self._best is None or risk.objective < self._best.objective:
            self._best = risk
        return self.at

    def solve(self) -> None:
        """Go to the next point, and to a dual point."""
        if self.reads > 1 and self.step.stands:
            self._share /= TEN
        tol = tolerance(self._solver, self.at) * self._share
        try:
            self.step.solve(max(FINEST, tol), self._solver)
        except NoRoomError:
            self._keep_none()
        self.step.point = self._free(*self.step.point)

    def _keep_some(self, step: SmoothedNewton) -> None:
        """Keep rows from now on, if those near the margin find room."""
        problem, sample = self._problem, self._sample
        delta = max(step.apart, NARROWEST * self._width)
        room, fewest = ROOM * problem.X.most_kept, ENOUGH * (problem.p + 1)
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
            self.step = Hinge(problem, sample, step.point, delta)

    def _keep_none(self) -> None:
        """Take steps that keep no row, until half as much room is enough."""
        self._failed = min(MOST_FAILED, self._failed + 1)
        self.step.forget_rows()
        given = self._problem, self._sample, self.step.point, self._width
        self.step = SmoothedNewton(*given)

    def _free(self, beta: Vector, alpha: float) -> Point:
        """The point where a free intercept has the share of constant columns."""
        X, values = self._problem.X, None
        if self._problem.intercept and not X.is_scaled:
            values = constants_of(X.means, X.spread)
        return Point(*without_constants(beta, alpha, values))

    def solution(self) -> Solution:
        """The best point that was read, and the dual point at hand."""
        return Solution(
            beta=self._known.point.beta,
            alpha=self._known.point.alpha,
            dual=self.step.dual(self._problem.weights),
            n_iter=self.reads * self._problem.n,
            n_violations=self.step.violations,
            seed=self._solver.seed,
        )

    @property
    def _known(self) -> Risk:
        assert self._best is not None  # a read comes first
        return self._best


@np.errstate(over="ignore", invalid="ignore")  # the certificate tells
def few_reads(
    problem: Problem,
    solver: SDCA,
    observe: Callable[[int, Certificate], None] | None = None,
) -> Reads:
    """Minimise the risk over rows that are read a few times.

    Parameters
    ----------
    problem : Problem
        Its `X` are `StreamedRows`.
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
    >>> import tempfile
    >>> import pandas as pd
    >>> import pegasos_stats as ps
    >>> rng, path = np.random.default_rng(0), f"{tempfile.mkdtemp()}/rows.parquet"
    >>> y = np.repeat([-1.0, 1.0], 2000)
    >>> x = 0.5 * y + rng.standard_normal(4000)
    >>> pd.DataFrame({"y": y, "x": x}).to_parquet(path)
    >>> problem = ps.svm("y ~ x", ps.scan(path), lam=0.01).problem
    >>> found = few_reads(problem, SDCA(tol=1e-6, seed=1))
    >>> found.reached, found.solution.n_epochs
    (True, 2)
    """
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


def solved(problem: Problem, sample: RowSubset, solver: SDCA) -> Solution:
    """Solve the problem of a sample, whose classes weigh as in all rows."""
    w = sample.w.copy()
    for sign, weight in zip((-1.0, 1.0), problem.class_weights, strict=True):
        of_class = sample.y == sign
        w[of_class] *= weight / w[of_class].sum()
    w *= w.size / problem.n
    X = np.asarray(sample.X, dtype=np.float64)
    inner = Problem(
        X,
        sample.y,
        problem.lam,
        problem.loss,
        problem.intercept,
        weights=w,
        offset=sample.offset,
    )
    rough = SDCA(tol=ROUGH, seed=solver.seed, sample_kind=solver.sample_kind)
    if problem.loss == "log" and sample.y.size < problem.n:
        inner = replace(inner, lam=inner.lam * penalised_by(inner, rough))
    return solved_by_steps(inner, rough)


def penalised_by(problem: Problem, solver: SDCA) -> float:
    """Factor of the penalty whose solution for half of the rows suits the others.

    Examples
    --------
    >>> X, y = np.random.default_rng(0).standard_normal((200, 20)), np.ones(200)
    >>> y[:100], X[:100, 0] = -1.0, X[:100, 0] - 1.0
    >>> penalised_by(Problem(X, y, lam=1e-3, loss="log"), SDCA(seed=1))
    100.0
    """
    places = np.random.default_rng(HALVES).permutation(problem.n)
    half, rest = problem.of_rows(places[::2]), problem.of_rows(places[1::2])
    if min(half.lightest, rest.lightest) == 0.0:
        return 1.0
    factor, least = 1.0, math.inf
    while factor <= MOST:
        fit = solved_by_steps(replace(half, lam=problem.lam * factor), solver)
        f = rest.X @ fit.beta + fit.alpha + rest.row_offsets
        losses = np.logaddexp(0.0, -rest.y * f)
        risk = float(np.average(losses, weights=rest.row_weights))
        risk += 0.5 * problem.lam * float(fit.beta @ fit.beta)
        if not risk < least:
            break
        factor, least = factor * FURTHER, risk
    return max(1.0, factor / FURTHER)
