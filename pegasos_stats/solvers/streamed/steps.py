"""Pegasos for rows in files: each epoch is one pass, a piece at a time.

Two pieces are in memory: the one whose rows are visited, and the next, which is read
meanwhile. Rows are visited in the order of the files. In the reference arithmetic, the
results equal those of the same rows in memory bit for bit.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from pegasos_stats import compiled
from pegasos_stats.arrays import Dense, Vector
from pegasos_stats.data.scan.rows import StreamedRows
from pegasos_stats.data.scan.source import Block, Values, added
from pegasos_stats.errors import OptionError, counted
from pegasos_stats.parallel import one_ahead
from pegasos_stats.solvers.certificate import Certificate, feasible
from pegasos_stats.solvers.intercept import best_intercept
from pegasos_stats.solvers.losses import LossName
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import Stopping, Visitor, check_solver
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.rounding import Rounding
from pegasos_stats.solvers.streamed.few_reads import StreamedFit
from pegasos_stats.solvers.streamed.risk_and_bound import Bound, Point, Risk
from pegasos_stats.solvers.sums import Sums, risk_and_image

Part = tuple[int, Dense]  # index of the first row, and the rows


def check_order(rows: StreamedRows, solver: Pegasos) -> None:
    """Raise `OptionError` for random visits, or for a batch larger than a piece.

    A list of rows is not allowed either.
    """
    is_name = isinstance(solver.order, str)
    if not is_name or solver.order != "sequential":
        raise OptionError(
            f"{f'order={solver.order!r}' if is_name else 'A list of rows'} is not "
            "allowed: files are read from the first row to the last; give "
            "order='sequential'."
        )
    if solver.batch_size > rows.step:
        raise OptionError(
            f"batch_size={solver.batch_size!r} exceeds a block of the files, which has "
            f"{counted(rows.step, 'row')}; use a smaller batch, or more memory: "
            f"{rows.scan.more}."
        )


def in_batches(parts: Iterable[Part], size: int) -> Iterator[Part]:
    """Split parts so that all but the last contain whole batches of `size` rows.

    Examples
    --------
    >>> rows = [(a, np.ones((b - a, 1))) for a, b in ((0, 3), (3, 4), (4, 9))]
    >>> [(first, len(X)) for first, X in in_batches(rows, 2)]
    [(0, 2), (2, 2), (4, 4), (8, 1)]
    """
    first, left = 0, None
    for _, part in parts:
        X = part if left is None else np.concatenate([left, part])
        whole = len(X) // size * size
        if whole:
            yield first, X[:whole]
        first, left = first + whole, X[whole:].copy() if whole < len(X) else None
    if left is not None:
        yield first, left


class FileVisitor(Visitor):
    """Pegasos steps at rows that arrive in parts; parameters as for `Visitor`."""

    def visit_all(self) -> None:
        """Take the steps of an epoch, at each batch of rows in order."""
        pieces = self._problem.X.pieces_of_rows()
        for first, X in one_ahead(in_batches(pieces, self.rule.batch_size)):
            self._visit_part(X, slice(first, first + len(X)))
        self.epoch += 1

    def _visit_part(self, X: Dense, here: slice) -> None:
        """Take a step at each batch of rows of a part.

        The subgradient weights of its rows are copied and written back. A further
        weight of 1 without a row shows whether all weights were rescaled.
        """
        whole, weights = self._state, np.append(self._state.weights[here], 1.0)
        part = whole._replace(
            weights=weights,
            case_weights=whole.case_weights[here],
            offset=whole.offset[here],
        )
        self._take(X, self._y[here].copy(), np.arange(len(X)), part)
        if weights[-1] != 1.0:
            whole.weights[:] *= weights[-1]
        whole.weights[here] = weights[:-1]

    def _refitted(self, beta: Vector) -> float:
        problem, work = self._problem, partial(_scores, beta)
        scores = np.concatenate(added(problem.X.map_blocks(work))) + problem.row_offsets
        return best_intercept(scores, problem.y, problem.loss, problem.weights)


def _scores(beta: Vector, block: Block, values: Values) -> list[Vector]:
    return [np.asarray(compiled.risk.scores(block.X, beta, 0.0))]


def _sums(at: Point, loss: LossName, reach: float, block: Block, a: Values) -> Sums:
    _, X, y, w, offset = block
    return risk_and_image(X, y, *at, loss, a, w, reach, offset)


def certified(problem: Problem, solution: Solution) -> tuple[Certificate, Sums]:
    """Compute primal and dual objective of a solution, in one pass."""
    y = problem.y.astype(np.float64)
    a = feasible(solution.dual, y, problem.intercept, problem.dual_upper_bounds)
    at = Point(solution.beta, solution.alpha)
    work = partial(_sums, at, problem.loss, Rounding(problem, *at).reach)
    sums: Sums = added(problem.X.map_blocks(work, a))
    return Risk.of(problem, at, sums).certificate(Bound.of(problem, sums)), sums


def run_over_files(
    problem: Problem,
    solver: Pegasos,
    shown: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> StreamedFit:
    """Run Pegasos on rows in files, and certify the solution.

    Parameters
    ----------
    problem : Problem
        Its `X` are `StreamedRows`.
    solver : Pegasos
    shown : callable, optional
        Wraps the iteration over epochs, to show progress.

    Raises
    ------
    OptionError
        If files cannot be read in this order, or a batch is larger than a piece.

    Warns
    -----
    ConvergenceWarning
        If a tolerance is set and not reached.
    """
    check_solver(problem, solver)
    check_order(problem.X, solver)
    rng, before = solver.generator(), problem.X.n_reads
    seed, visitor = rng.seed, FileVisitor(problem, solver, rng)
    last: list[tuple[Solution, Certificate, Sums]] = []

    def certify(solution: Solution) -> Certificate:
        last[:] = [(solution, *certified(problem, solution))]
        return last[0][1]

    stopping, reached = Stopping(problem, solver, *visitor.begun_with, certify), False
    for _ in shown(range(solver.epochs or 0)):
        visitor.visit_all()
        if solver.may_end_early and stopping.reached(visitor.solution(seed)):
            reached = True
            break
    if not last or stopping.settled:
        solution = visitor.solution(seed)
        stopping.at = certify(replace(solution, settled=stopping.settled))
    if solver.may_end_early and not reached:
        stopping.warn(visitor.epoch)
    solution, at, sums = last[0]
    done, reads = reached or not solver.may_end_early, problem.X.n_reads - before
    return StreamedFit(solution, at, sums.table, done, reads)
