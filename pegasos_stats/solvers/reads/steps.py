"""Pegasos over rows in files: each epoch is one read of them, a block at a time.

Two blocks are in memory, the one whose rows are visited and the next, which is read at
the same time. Rows are visited as the files have them, and the steps are those of the
same rows in memory: in the reference arithmetic, in every bit.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Rows, Vector
from pegasos_stats.compiled import arithmetic, pegasos
from pegasos_stats.data.scan.matrix_in_files import in_sequence
from pegasos_stats.data.scan.measuring import Measured
from pegasos_stats.errors import OptionError, counted
from pegasos_stats.parallel import one_ahead
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.dense.sums import Sums, risk_and_image
from pegasos_stats.solvers.objective import Certificate, best_intercept, feasible
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import Stopping, Visitor, check_solver
from pegasos_stats.solvers.problem import LossName, Problem, Solution
from pegasos_stats.solvers.reads.few_reads import Reads
from pegasos_stats.solvers.reads.files import InFiles
from pegasos_stats.solvers.reads.risk_and_bound import (
    Bound,
    Described,
    Point,
    Risk,
    scores,
    table_of,
)
from pegasos_stats.solvers.reads.rows import Block, Values, added
from pegasos_stats.solvers.rounding import Rounding


class Part(NamedTuple):
    """Rows that are visited one after the other.

    Attributes
    ----------
    numbers : int64 array, shape (k,)
        Of the rows of `X`, among all rows of the fit.
    X : float64 or float32 array, shape (k, p), C-contiguous
    order : int64 array, shape (k,)
        Places in `X`.
    """

    numbers: Rows
    X: Dense
    order: Rows


class Epochs:
    """The rows of each epoch, in parts.

    Parameters
    ----------
    measured : Measured
    solver : Pegasos

    Raises
    ------
    OptionError
        If files cannot be read in this order, or a batch is more than a block.
    """

    def __init__(self, measured: Measured, solver: Pegasos) -> None:
        is_name = isinstance(solver.order, str)
        if not is_name or solver.order != "sequential":
            raise OptionError(
                f"{f'order={solver.order!r}' if is_name else 'A list of rows'} takes "
                "rows from anywhere, and files are read from first to last; give "
                "order='sequential'."
            )
        if solver.batch_size > measured.step:
            raise OptionError(
                f"batch_size={solver.batch_size!r} is more than a block of the files, "
                f"which has {counted(measured.step, 'row')}; give at most as many, or "
                f"more memory: {measured.scan.more}."
            )
        self._measured, self._size = measured, solver.batch_size

    def parts(self) -> Iterator[Part]:
        """The rows of the next epoch; the next part is read ahead."""
        found = self._in_sequence()
        yield from one_ahead(
            found if self._size == 1 else in_batches(found, self._size)
        )

    def _in_sequence(self) -> Iterator[Part]:
        for first, X in in_sequence(self._measured):
            order = np.arange(len(X))
            yield Part(first + order, X, order)


def in_batches(parts: Iterable[Part], size: int) -> Iterator[Part]:
    """Cut parts so that each, but for the last, holds whole batches of so many rows.

    Examples
    --------
    >>> rows = [Part(np.arange(a, b), np.ones((b - a, 1)), np.arange(b - a))
    ...         for a, b in ((0, 3), (3, 4), (4, 9))]
    >>> [part.numbers.tolist() for part in in_batches(rows, 2)]
    [[0, 1], [2, 3], [4, 5, 6, 7], [8]]
    """
    numbers, X = np.zeros(0, dtype=np.int64), None
    for part in parts:
        numbers = np.concatenate([numbers, part.numbers[part.order]])
        ordered = part.X[part.order]
        X = ordered if X is None else np.concatenate([X, ordered])
        whole = numbers.size // size * size
        if whole:
            yield Part(numbers[:whole], X[:whole], np.arange(whole))
            numbers, X = numbers[whole:], X[whole:].copy()
    if X is not None and numbers.size:
        yield Part(numbers, X, np.arange(numbers.size))


class FileVisitor(Visitor):
    """Takes steps at rows that come in parts.

    Parameters
    ----------
    home : InFiles
    problem, solver, rng
        As for `Visitor`.
    room : int
        Rows that a part has at most.

    Attributes
    ----------
    n_reads : int
        How often all rows have been read.
    """

    def __init__(
        self,
        home: InFiles,
        problem: Problem,
        solver: Pegasos,
        rng: RRandom,
        room: int,
    ) -> None:
        self._home, self._room, self.n_reads = home, room, 0
        self._weights = np.zeros(problem.n)
        super().__init__(problem, solver, rng)

    def visit_part(self, part: Part) -> None:
        """Take a step at each batch of rows of a part.

        Slope weights of its rows are taken out and put back. A further one, which is 1
        and of no row, shows whether all were multiplied by a number on the way.
        """
        numbers, problem = part.numbers, self._problem
        weights = np.append(self._weights[numbers], 1.0)
        given = {
            name: values[numbers]
            for name, values in (
                ("case_weights", problem.weights),
                ("offset", problem.offset),
            )
            if values is not None
        }
        for values in given.values():
            values.flags.writeable = False
        state = self._state._replace(weights=weights, **given)
        self._take(part.X, self._y[numbers], part.order, state)
        if weights[-1] != 1.0:
            self._weights *= weights[-1]
        self._weights[numbers] = weights[:-1]

    @property
    def _is_dense(self) -> bool:
        return True

    @property
    def _radius(self) -> float:
        return self._home.radius

    def _at_zero(self) -> "pegasos.pegasos_literal.State":
        return pegasos.pegasos_literal.start(
            self._room, self._problem.p, self.batch_size
        )

    def _dual(self) -> Vector:
        whole = self._state._replace(weights=self._weights)
        return np.asarray(pegasos.pegasos_literal.dual_weights(whole))

    def _refitted(self, beta: Vector) -> float:
        self.n_reads += 1
        problem, work = self._problem, partial(_scores, beta)
        found = np.concatenate(added(self._home.read(work))) + problem.row_offsets
        return best_intercept(found, problem.y, problem.loss, problem.weights)


def _scores(beta: Vector, block: Block, values: Values) -> list[Vector]:
    return [np.asarray(arithmetic.risk.scores(block.X, beta, 0.0))]


class Certified(NamedTuple):
    """What a read of all rows says of a solution."""

    certificate: Certificate
    table: NDArray[np.int64]


class Found(NamedTuple):
    """What a read finds in a block."""

    seen: Sums
    table: NDArray[np.int64]


def _looked(at: Point, loss: LossName, reach: float, block: Block, a: Values) -> Found:
    _, X, y, w, offset = block
    seen = risk_and_image(X, y, *at, loss, a, w, reach, offset)
    return Found(seen, table_of(y, scores(X, at, offset)))


def certified(home: InFiles, problem: Problem, found: Solution) -> Certified:
    """Primal and dual objective of a solution, in one read of the rows."""
    described = Described(home, problem.lam, problem.loss, problem.intercept)
    y = problem.y.astype(np.float64)
    a = feasible(found.dual, y, problem.intercept, problem.weights)
    at = Point(found.beta, found.alpha)
    rounding = Rounding(described, *at)
    work = partial(_looked, at, problem.loss, rounding.reach)
    sums: Found = added(home.read(work, home.column(a)))
    risk = Risk.of(described, at, sums.seen, sums.table)
    bound = Bound(rounding.reward(sums.seen), rounding.cost(sums.seen))
    return Certified(risk.certificate(bound), sums.table)


def run_over_files(
    home: InFiles,
    measured: Measured,
    problem: Problem,
    solver: Pegasos,
    shown: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> Reads:
    """Run Pegasos on rows in files, and certify where it ends.

    Parameters
    ----------
    home : InFiles
    measured : Measured
        Of the same rows.
    problem : Problem
        Its `X` stands for the rows.
    solver : Pegasos
    shown : callable, optional
        What shows the numbers of the epochs as they are taken.

    Warns
    -----
    ConvergenceWarning
        If there is a tolerance and it is not reached.
    """
    check_solver(problem, solver)
    epochs, rng = Epochs(measured, solver), solver.generator()
    seed = rng.seed
    visitor = FileVisitor(home, problem, solver, rng, _room(measured, solver))
    last: list[tuple[Solution, Certified]] = []

    def certify(found: Solution) -> Certificate:
        last[:] = [(found, certified(home, problem, found))]
        visitor.n_reads += 1
        return last[0][1].certificate

    stopping = Stopping(problem, solver, *visitor.begun_with, certify)

    reached = False
    for _ in shown(range(solver.epochs or 0)):
        for part in epochs.parts():
            visitor.visit_part(part)
        visitor.epoch += 1
        visitor.n_reads += 1
        if solver.may_end_early and stopping.reached(visitor.solution(seed)):
            reached = True
            break
    if not last or stopping.settled:
        found = visitor.solution(seed)
        stopping.at = certify(replace(found, settled=stopping.settled))
    if solver.may_end_early and not reached:
        stopping.warn(visitor.epoch)
    (found, at), done = last[0], reached or not solver.may_end_early
    return Reads(found, at.certificate, at.table, done, visitor.n_reads)


def _room(measured: Measured, solver: Pegasos) -> int:
    """Rows that a part has at most: a block, and what is left of a batch."""
    return measured.step + solver.batch_size
