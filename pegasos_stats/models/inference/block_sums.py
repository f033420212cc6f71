"""What a block of rows gives for the sandwich of a fit, wherever the rows are."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.compiled import arithmetic
from pegasos_stats.models.inference import bread_and_meat as parts
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.models.inference.row_sums import column_sums, cross_product
from pegasos_stats.models.inference.separation import (
    CERTAIN,
    DirectionPass,
    pass_over,
    separated_by,
)
from pegasos_stats.models.inference.standardizing import Stacked, Stacking
from pegasos_stats.solvers.problem import LossName, Problem
from pegasos_stats.solvers.reads.rows import NO_VALUES, Block, Values


class Kernel(NamedTuple):
    """Width of the kernel at the margin, and what rows are moved to it by.

    Attributes
    ----------
    width : float
    means : tuple of (sign, mean)
        Of ``u_i`` in the classes; none where rows are not moved.
    """

    width: float
    means: tuple[tuple[float, float], ...]


class Part(NamedTuple):
    """Some rows as a problem, and their ``u_i`` and ``s_i``."""

    problem: Problem
    u: Vector
    s: Vector


class BreadSums(NamedTuple):
    """Sums over rows, from which the bread is computed.

    Attributes
    ----------
    cross : float64 array, shape (k, k)
        ``sum_i d_i z_i z_i'``.
    sizes, squares : float64 array, shape (classes,)
        ``sum_i w_i (u_i - mean) u_i`` and ``sum_i d_i u_i^2``.
    apart, mixed : float64 array, shape (classes, k)
        ``sum_i w_i (u_i - mean) z_i`` and ``sum_i d_i u_i z_i``.
    near, beyond : float
        As of `Curvature`.
    total, squared : float
        ``sum_i d_i`` and ``sum_i d_i^2``.
    """

    cross: Matrix
    sizes: Vector
    squares: Vector
    apart: Matrix
    mixed: Matrix
    near: float
    beyond: float
    total: float
    squared: float

    def bread(self, problem: Problem) -> Matrix:
        """``H`` of all rows."""
        lines = zip(self.sizes, self.apart, self.mixed, self.squares, strict=True)
        moved = [
            (apart / size, mixed, float(squares))
            for size, apart, mixed, squares in lines
            if size > 0.0
        ]
        return parts.bread_of_sums(problem, self.cross, moved)


class Sums(NamedTuple):
    """What one read brings: for the bread, the meat, and ``sum_i w_i s_i y_i z_i``.

    And how many rows are `CERTAIN`, with the log loss.
    """

    bread: BreadSums
    meat: parts.MeatSums
    slopes: Vector
    certain: int


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fit without its rows: what a read is sent with.

    Attributes
    ----------
    lam, loss, intercept
        As of the problem.
    balanced : bool
        Whether weights make both classes weigh the same.
    beta : float64 array, shape (p,)
    alpha : float
        For rows about their centre.
    centre : float64 array, shape (p,), or None
        Of columns that are far from zero.
    """

    lam: float
    loss: LossName
    intercept: bool
    balanced: bool
    beta: Vector
    alpha: float
    centre: Vector | None

    def part(self, block: Block, dual: Values = NO_VALUES) -> Part:
        """The rows of a block, with their dual weights or none."""
        X = block.X if self.centre is None else block.X - self.centre
        y, given = block.y, (self.lam, self.loss, self.intercept)
        problem = Problem(
            *(np.ascontiguousarray(X), y, *given),
            weights=block.w,
            offset=block.offset,
        )
        f = arithmetic.risk.scores(problem.rows, self.beta, self.alpha)
        f = f + problem.row_offsets
        u = 1.0 - y * f
        known = dual if dual.size else None
        return Part(problem, u, parts.slopes_of(problem, u, known))

    def margins(
        self, inverse: Matrix | None, n: int, width: float, block: Block, dual: Values
    ) -> list[Vector]:
        """``u_i`` of a block; with ``H^-1`` those of fits to the ``n`` rows but it."""
        problem, u, s = self.part(block, dual)
        if inverse is not None:
            u = parts.margins_of_others(problem, u, s, inverse, n, width)
        return [u]

    def moved_bread(self, kernel: Kernel, block: Block, moved: Values) -> BreadSums:
        """Sum over a block; `moved` are ``u_i`` that stand for those of the fit."""
        return _bread_sums(self.part(block), kernel, moved)

    def sums(
        self, kernel: Kernel | None, options: Sandwich, block: Block, dual: Values
    ) -> Sums:
        """Sum over a block all that the sandwich needs."""
        part = self.part(block, dual)
        problem, u, s = part
        if options.correction == "nonrobust":
            none = (np.zeros(0),) * 4
            meat = parts.MeatSums(cross_product(problem, s * (1.0 - s)), *none)
        else:
            meat = parts.meat_sums(problem, s, 1.0, self.groups(problem.y))
        slopes = column_sums(problem, problem.row_weights * s * problem.y)
        certain = 0 if kernel else int((s < CERTAIN).sum())
        return Sums(_bread_sums(part, kernel, u), meat, slopes, certain)

    def pass_over(
        self, directions: Matrix, b: Vector | None, block: Block, dual: Values
    ) -> DirectionPass:
        """Take a direction, which may separate rows of the log loss."""
        problem, _, s = self.part(block, dual)
        return pass_over(problem, s, directions, b)

    def sums_of_others(
        self, directions: Matrix, options: Sandwich, block: Block, dual: Values
    ) -> Sums:
        """The sums over the rows of a block that these directions do not separate."""
        kept = ~separated_by(self.part(block, dual).problem, directions)
        offset = None if block.offset is None else block.offset[kept]
        rest = Block(block.first, block.X[kept], block.y[kept], block.w[kept], offset)
        return self.sums(None, options, rest, NO_VALUES)

    def groups(self, y: Vector) -> list[Any]:
        """Rows of a block whose scores have a mean of their own, as of all rows."""
        if self.balanced:
            return [y < 0.0, y > 0.0]
        return [np.ones(y.size, dtype=bool)]

    def stacked(
        self,
        stacking: Stacking,
        group_means: Matrix,
        n: int,
        block: Block,
        dual: Values,
    ) -> Stacked:
        """Sum over a block, of ``n`` rows in all, what standardized predictors need."""
        part, _, s = self.part(block, dual)
        w = part.row_weights
        offsets = [
            (np.where(rows, w, 0.0), mean)
            for rows, mean in zip(self.groups(part.y), group_means, strict=True)
        ]
        X = np.asarray(part.X, dtype=np.float64)
        scores, moves = stacking.of(X, -w * s * part.y, offsets)
        k = scores.shape[1]
        found = Stacked(*(np.zeros((k, k)) for _ in range(3)))
        found.add(scores, moves, 1.0 / n)
        return found


def _bread_sums(part: Part, kernel: Kernel | None, u: Vector) -> BreadSums:
    problem, s = part.problem, part.s
    w = problem.row_weights
    if kernel is None:
        found = parts.Curvature(w * s * (1.0 - s), [], None, np.inf, problem.n)
    else:
        found = parts.curvature_of_width(problem, u, kernel.width)
    classes = [
        (np.where(problem.y == sign, w, 0.0) * (u - mean), u * (problem.y == sign))
        for sign, mean in (() if kernel is None else kernel.means)
    ]
    d = found.d
    return BreadSums(
        cross=cross_product(problem, d),
        sizes=np.array([centred @ u for centred, _ in classes]),
        squares=np.array([d @ (own * own) for _, own in classes]),
        apart=np.array([column_sums(problem, centred) for centred, _ in classes]),
        mixed=np.array([column_sums(problem, d * own) for _, own in classes]),
        near=found.near,
        beyond=found.beyond,
        total=float(d.sum()),
        squared=float(d @ d),
    )
