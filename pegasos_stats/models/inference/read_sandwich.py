"""The sandwich of rows that are read in blocks, wherever they are.

The first read of the hinge gives the margins, whose spread says how wide the kernel is;
the second one, or with the log loss the only one, all sums that bread and meat need.
Predictors that were standardized take one more, and tests of several hypotheses about
the hinge four more, which are read when such a test is asked for.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.compiled import arithmetic
from pegasos_stats.data.scaling import Scaling
from pegasos_stats.models.inference import bread_and_meat as parts
from pegasos_stats.models.inference.bandwidth import effective_rows
from pegasos_stats.models.inference.covariance import Covariance
from pegasos_stats.models.inference.inverse import inverse_of
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.models.inference.row_sums import column_sums, cross_product
from pegasos_stats.models.inference.sandwich import (
    JOINT_FACTOR,
    Matrices,
    check_size,
    put_together,
    uncentred,
)
from pegasos_stats.models.inference.standardizing import Stacked, Stacking
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.reads.rows import Block, Home


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
    """Some rows as a problem, their ``u_i`` and ``s_i``, and which ones they are."""

    problem: Problem
    u: Vector
    s: Vector
    rows: slice


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
    """What one read brings: for the bread, the meat, and ``sum_i w_i s_i y_i z_i``."""

    bread: BreadSums
    meat: parts.MeatSums
    slopes: Vector


@dataclass(frozen=True, eq=False)
class ReadFit:
    """A fit whose rows are read again for its standard errors.

    Attributes
    ----------
    home : Home
        Where the rows are.
    problem : Problem
        Of all rows: penalty, loss, labels, weights.
    beta : float64 array, shape (p,)
    alpha : float
        For rows about their centre.
    dual : float64 array, shape (n,), or None
        As for `sandwich`.
    centre : float64 array, shape (p,), or None
        Of columns that are far from zero.
    """

    home: Home
    problem: Problem
    beta: Vector
    alpha: float
    dual: Vector | None
    centre: Vector | None

    def part(self, block: Block) -> Part:
        """The rows of a block."""
        X = block.X if self.centre is None else block.X - self.centre
        whole, y = self.problem, block.y
        given = whole.lam, whole.loss, whole.intercept
        problem = Problem(
            *(np.ascontiguousarray(X), y, *given),
            weights=block.w,
            offset=block.offset,
        )
        f = arithmetic.risk.scores(problem.rows, self.beta, self.alpha)
        f = f + problem.row_offsets
        u, rows = 1.0 - y * f, slice(block.first, block.first + y.size)
        dual = None if self.dual is None else self.dual[rows]
        return Part(problem, u, parts.slopes_of(problem, u, dual), rows)

    def margins(self, inverse: Matrix | None) -> Vector:
        """Read ``u_i`` of all rows; with ``H^-1`` those of fits without the row."""
        found = np.empty(self.home.n)

        def put(block: Block) -> None:
            problem, u, s, rows = self.part(block)
            if inverse is not None:
                u = parts.margins_of_others(problem, u, s, inverse, self.home.n)
            found[rows] = u

        for _ in self.home.read(put):
            pass
        return found

    def kernel(self, u: Vector, options: Sandwich) -> Kernel:
        """Width and means by the margins of all rows."""
        problem = self.problem
        width, means = parts.width_of(problem, u, options), []
        if width > 0.0 and options.move:
            for sign in (-1.0, 1.0):
                rows = problem.y == sign
                w = None if problem.weights is None else problem.weights[rows]
                if rows.any() and (w is None or w.any()):
                    means.append((sign, float(np.average(u[rows], weights=w))))
        return Kernel(width, tuple(means))

    def bread_sums(
        self, kernel: Kernel | None, moved: Vector | None, block: Block
    ) -> BreadSums:
        """Sum over a block; `moved` are ``u_i`` that stand for those of the fit."""
        part = self.part(block)
        return _bread_sums(part, kernel, part.u if moved is None else moved[part.rows])

    def sums(self, kernel: Kernel | None, options: Sandwich, block: Block) -> Sums:
        """Sum over a block all that the sandwich needs."""
        part = self.part(block)
        problem, u, s, _ = part
        if options.correction == "nonrobust":
            none = (np.zeros(0),) * 4
            meat = parts.MeatSums(cross_product(problem, s * (1.0 - s)), *none)
        else:
            meat = parts.meat_sums(problem, s, 1.0, self.groups(problem.y))
        slopes = column_sums(problem, problem.row_weights * s * problem.y)
        return Sums(_bread_sums(part, kernel, u), meat, slopes)

    def groups(self, y: Vector) -> list[Any]:
        """Rows of a block whose scores have a mean of their own, as of all rows."""
        if parts.is_balanced(self.problem):
            return [y < 0.0, y > 0.0]
        return [np.ones(y.size, dtype=bool)]

    def covariance(
        self, options: Sandwich, scaling: Scaling | None, moments: tuple[Vector, Vector]
    ) -> Covariance:
        """Read the rows, and put the covariance together."""
        problem, n, kernel = self.problem, self.home.n, None
        if problem.loss == "hinge":
            kernel = self.kernel(self.margins(None), options)
        sums: Sums = added(self.home.read(partial(self.sums, kernel, options)))
        H = sums.bread.bread(problem)
        inverse, meat, stacked = inverse_of(H), sums.meat.meat(n), None
        if scaling is not None and options.correction != "nonrobust":
            means = sums.meat.scores / sums.meat.weights[:, None]
            stacked = self.stacked(means, moments, bool(scaling.centre.any()))
        width = None if kernel is None else kernel.width
        counts = sums.bread.near, int(sums.bread.beyond)
        found = put_together(
            problem,
            self.beta,
            options,
            parts.Curvature(np.zeros(0), [], width, *counts),
            Matrices(
                *(H, inverse, meat, inverse @ meat @ inverse),
                self.factor(inverse, options),
                None if kernel else sums.slopes,
                stacked,
                scaling is not None,
            ),
        )
        if kernel is None or not found.is_defined:
            return found
        later = partial(self.with_joint, found, inverse, options, stacked)
        return replace(found, later=later)

    def factor(self, inverse: Matrix, options: Sandwich) -> float:
        """``n / (n - d)`` of HC1: leverages sum up to ``tr(H^-1 (H - lam J))``."""
        n, first = self.home.n, int(self.problem.intercept)
        if options.correction != "HC1" or not np.isfinite(inverse).all():
            return 1.0
        penalty = self.problem.lam * float(np.diag(inverse)[first:].sum())
        used = len(inverse) - penalty
        return n / (n - used) if n > used else np.nan

    def stacked(
        self, group_means: Matrix, moments: tuple[Vector, Vector], centred: bool
    ) -> Stacked:
        """Read the sums of scores and moves of standardized predictors."""
        problem, n = self.problem, self.home.n
        free = problem.intercept
        stacking = Stacking(problem.lam, free, self.beta, *moments, free and centred)

        def of_block(block: Block) -> Stacked:
            part, _, s, _ = self.part(block)
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

        total: Stacked = added(self.home.read(of_block))
        return total

    @np.errstate(over="ignore", invalid="ignore")
    def with_joint(
        self,
        found: Covariance,
        inverse: Matrix,
        options: Sandwich,
        stacked: Stacked | None,
    ) -> Covariance:
        """Add the covariance for tests of several hypotheses, as `sandwich` does."""
        problem, n = self.problem, self.home.n
        narrow = replace(options, factor=JOINT_FACTOR * options.factor)
        for _ in range(2):  # the second time with the curvature of the first
            u = self.margins(inverse)
            kernel = self.kernel(u, narrow)
            sums: BreadSums = added(self.home.read(partial(self.bread_sums, kernel, u)))
            inverse = inverse_of(sums.bread(problem))
            if not np.isfinite(inverse).all():
                return found
        factor = self.factor(inverse, narrow)
        if stacked is None:
            matrix = inverse @ found.meat @ inverse * (factor / n)
        else:
            matrix, _ = stacked.covariances(inverse, n / factor)
        there = effective_rows(problem.y, problem.weights)
        rows = 1.0 / (sums.squared / sums.total**2 + 1.0 / there)
        if not np.isfinite(matrix).all() or not np.isfinite(rows):
            return found
        return replace(found, joint=(matrix + matrix.T) / 2.0, rows=float(rows))


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


def added(parts_of: Iterable[Any]) -> Any:
    """Sum of tuples with names, field by field, in their order.

    Examples
    --------
    >>> class Pair(NamedTuple):
    ...     one: float
    ...     two: float
    >>> added([Pair(1, 2.0), Pair(3, 4.0)])
    Pair(one=4, two=6.0)
    """
    total = None
    for part in parts_of:
        total = part if total is None else _plus(total, part)
    return total


def _plus(a: Any, b: Any) -> Any:
    if isinstance(a, tuple):
        return type(a)(*map(_plus, a, b))
    return a + b


@np.errstate(over="ignore", invalid="ignore")
def read_sandwich(
    problem: Problem,
    home: Home,
    found: Solution,
    options: Sandwich,
    dual: Vector | None,
    scaling: Scaling | None,
    centre: Vector | None,
    moments: tuple[Vector, Vector],
) -> Covariance:
    """The covariance that `sandwich` gives of the same rows, from reads of them.

    Parameters
    ----------
    problem : Problem
        Its rows are those of `home`, and not looked at.
    home : Home
    found : Solution
    options : Sandwich
        Of ``"HC0"``, ``"HC1"`` or ``"nonrobust"``: the others need all leverages.
    dual : float64 array, shape (n,), or None
        As for `sandwich`, of a fit that is near its optimum.
    scaling : Scaling or None
        How the predictors were standardized, if they were.
    centre : float64 array, shape (p,), or None
        Of columns that are far from zero, see `far_centre`.
    moments : pair of float64 array, shape (p,)
        Means and variances of the columns, with divisor ``n``.

    Raises
    ------
    DataError
        If there are too many coefficients, or the rows cannot be read.

    Examples
    --------
    >>> from pegasos_stats.models.inference.sandwich import sandwich
    >>> from pegasos_stats.solvers.reads.rows import InMemory
    >>> X, y = np.array([[-1.0], [-0.5], [0.0], [1.5]]), np.array([-1.0, 1.0, -1.0, 1])
    >>> problem = Problem(X, y, lam=0.1, loss="log")
    >>> at = Solution(np.array([0.8587]), 0.0, np.zeros(4), 0, 0, None)
    >>> given = Sandwich(), None, None, None, (np.zeros(1), np.ones(1))
    >>> read = read_sandwich(problem, InMemory(problem), at, *given)
    >>> np.allclose(read.matrix, sandwich(problem, at.beta, at.alpha).matrix)
    True
    """
    check_size(problem)
    alpha = found.alpha + (0.0 if centre is None else float(centre @ found.beta))
    fit = ReadFit(home, problem, found.beta, alpha, dual, centre)
    covariance = fit.covariance(options, scaling, moments)
    return covariance if centre is None else uncentred(covariance, centre)
