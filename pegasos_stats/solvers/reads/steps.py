"""Pegasos over rows in files: each epoch is one read of them, a block at a time.

Two blocks are in memory, the one whose rows are visited and the next, which is read at
the same time. With order ``"sequential"`` rows are visited as the files have them. With
``"blocks"`` each epoch draws, in this order,

1. one permutation of the blocks that have rows, R's ``sample(b, b)``;
2. for each block, in the order drawn, one of its ``m`` rows, R's ``sample(m, m)``.

Beside this file stands ``r_reference/R/orders.R``. The steps are those of the same rows
in memory, visited in the same order: in the reference arithmetic, in every bit.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.advice import Setting, one_of
from pegasos_stats.arrays import Vector
from pegasos_stats.compiled import arithmetic, pegasos
from pegasos_stats.data.scan.measuring import Measured
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.objective import Certificate, best_intercept, feasible
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import Stopping, Visitor, check_solver
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.reads.few_reads import Keeper, Reads
from pegasos_stats.solvers.reads.files import InFiles
from pegasos_stats.solvers.reads.rows import Block, Values, added
from pegasos_stats.solvers.reads.seeing import (
    Bound,
    Described,
    Point,
    Risk,
    State,
    risk_and_image,
    scores,
    table_of,
)
from pegasos_stats.solvers.reads.states import (
    MOST_COUNTED,
    Expected,
    check_epochs,
    check_seed,
    check_state,
    require,
)
from pegasos_stats.solvers.reads.visits import Epochs, Part
from pegasos_stats.solvers.rounding import Rounding

SDCA_INSTEAD = one_of([Setting("solver", "SDCA")])


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

    def packed(self) -> State:
        """What the next epoch goes by."""
        state = self._state
        return {
            "steps.w": state.w,
            "steps.total": state.total,
            "steps.scalars": state.scalars,
            "steps.weights": self._weights,
        }

    def expected(self) -> dict[str, Expected]:
        """What is kept of a run after an epoch."""
        n, p, width = self._problem.n, self._problem.p, self._state.w.size
        return {
            "counts": Expected("i8", (3,), -MOST_COUNTED, MOST_COUNTED),
            "rng": Expected("i4", (626,)),
            "params": Expected("f8", (2 + p,), None, None),
            "steps.w": Expected("f8", (width,), None, None),
            "steps.total": Expected("f8", (width,), None, None),
            "steps.scalars": Expected("f8", self._state.scalars.shape, None, None),
            "steps.weights": Expected("f8", (n,), None, None),
        }

    def go_on_from(self, state: State) -> None:
        """Go on after an epoch; ValueError if the counts are not those of this one."""
        at, scalars = pegasos.pegasos_state, state["steps.scalars"]
        n, before = self._problem.n, self._state.scalars[at.BEFORE]
        steps, rows = self.epoch * -(-n // self.batch_size), self.epoch * n
        averaged, violations = scalars[at.AVERAGED], scalars[at.VIOLATIONS]
        require(1 <= self.epoch <= self.n_reads, "counts are none of epochs")
        require(
            scalars[at.BEFORE] == before
            and scalars[at.STEPS] == before + steps
            and 0.0 <= averaged <= steps
            and 0.0 <= violations <= rows
            and averaged % 1.0 == violations % 1.0 == 0.0,
            "steps.scalars are not of this epoch",
        )
        self._weights = state["steps.weights"].copy()
        for name in ("w", "total", "scalars"):
            getattr(self._state, name)[:] = state[f"steps.{name}"]

    @property
    def _is_dense(self) -> bool:
        return True

    @property
    def _radius(self) -> float:
        return self._home.radius

    def _at_zero(self) -> Any:
        return pegasos.pegasos_state.start(self._room, self._problem.p, self.batch_size)

    def _dual(self) -> Vector:
        whole = self._state._replace(weights=self._weights)
        return np.asarray(pegasos.pegasos_state.dual_weights(whole))

    def _refitted(self, beta: Vector) -> float:
        self.n_reads += 1
        problem, work = self._problem, partial(_scores, beta)
        found = np.concatenate(added(self._home.read(work))) + problem.row_offsets
        return best_intercept(found, problem.y, problem.loss, problem.weights)


def _scores(beta: Vector, block: Block, values: Values) -> list[Vector]:
    return [np.asarray(arithmetic.risk.scores(block.X, beta, 0.0))]


def is_state_of(values: NDArray[np.int32], rng: RRandom) -> bool:
    """Whether these are a state of R's random numbers, of the same kind of sampling."""
    kind, place = values[:2].tolist()
    return bool(kind == rng.get_state()[0] and 1 <= place <= 624 and values[2:].any())


class Certified(NamedTuple):
    """What a read of all rows says of a solution."""

    certificate: Certificate
    table: NDArray[np.int64]


class Found(NamedTuple):
    """What a read finds in a block."""

    seen: Any
    table: NDArray[np.int64]


def _looked(at: Point, loss: int, reach: float, block: Block, a: Values) -> Found:
    _, X, y, w, offset = block
    seen = risk_and_image(X, y, at, loss, a, w, reach, offset)
    return Found(seen, table_of(y, scores(X, at, offset)))


def certified(home: InFiles, problem: Problem, found: Solution) -> Certified:
    """Primal and dual objective of a solution, in one read of the rows."""
    described = Described(home, problem.lam, problem.loss, problem.intercept)
    y = problem.y.astype(np.float64)
    a = feasible(found.dual, y, problem.intercept, problem.weights)
    at = Point(found.beta, found.alpha)
    rounding = Rounding(described, *at)
    work = partial(_looked, at, problem.loss_code, rounding.reach)
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
    keeper: Keeper | None = None,
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
    keeper : Keeper, optional
        Where the run is kept after each epoch, and taken up; the same bits come of it.

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

    def go_on(state: State) -> int:
        check_state(state, visitor.expected())
        found, visitor.epoch, visitor.n_reads = state["counts"].tolist()
        check_seed(found, solver.seed)
        require(is_state_of(state["rng"], rng), "rng is no state of these numbers")
        check_epochs(visitor.epoch, solver.epochs)
        rng.set_state(state["rng"])
        visitor.go_on_from(state)
        stopping.params = state["params"][1:].copy()
        stopping.change = float(state["params"][0])
        return int(found)

    kept = None if keeper is None else keeper.earlier(go_on)
    seed, reached = seed if kept is None else kept, False
    for _ in shown(range(visitor.epoch, solver.epochs or 0)):
        for part in epochs.parts(rng):
            visitor.visit_part(part)
        visitor.epoch += 1
        visitor.n_reads += 1
        if solver.may_end_early and stopping.reached(visitor.solution(seed)):
            reached = True
            break
        if keeper is not None:
            keeper.keep(
                {
                    "counts": np.array([seed, visitor.epoch, visitor.n_reads]),
                    "rng": rng.get_state(),
                    "params": np.array([stopping.change, *stopping.params]),
                    **visitor.packed(),
                }
            )
    if not last or stopping.settled:
        found = visitor.solution(seed)
        stopping.at = certify(replace(found, settled=stopping.settled))
    if solver.may_end_early and not reached:
        stopping.warn(visitor.epoch, SDCA_INSTEAD)
    (found, at), done = last[0], reached or not solver.may_end_early
    sizes = epochs.block_sizes
    return Reads(found, at.certificate, at.table, done, visitor.n_reads, sizes)


def _room(measured: Measured, solver: Pegasos) -> int:
    """Rows that a part has at most: a block, and what is left of a batch."""
    return measured.step + solver.batch_size
