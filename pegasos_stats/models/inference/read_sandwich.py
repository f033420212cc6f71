"""The sandwich of rows that are read in blocks, wherever they are.

The first read of the hinge gives the margins, whose spread says how wide the kernel is;
the second one, or with the log loss the only one, all sums that bread and meat need.
Predictors that were standardized take one more, and tests of several hypotheses about
the hinge four more, which are read when such a test is asked for. Where rows are
predicted with certainty, it takes some more to see whether they are separated.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.data.scaling import Scaling
from pegasos_stats.models.inference import bread_and_meat as parts
from pegasos_stats.models.inference.assembling import Matrices, put_together
from pegasos_stats.models.inference.bandwidth import effective_rows
from pegasos_stats.models.inference.block_sums import BreadSums, Fitted, Kernel, Sums
from pegasos_stats.models.inference.choosing import Reasons
from pegasos_stats.models.inference.covariance import Covariance
from pegasos_stats.models.inference.inverse import inverse_of
from pegasos_stats.models.inference.long_tails import for_joint_tests
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.models.inference.prior import prior_of
from pegasos_stats.models.inference.sandwich import check_size
from pegasos_stats.models.inference.separation import (
    IdentifiedPart,
    find_separation,
)
from pegasos_stats.models.inference.standardizing import Stacked, Stacking
from pegasos_stats.models.inference.symmetric import around
from pegasos_stats.models.inference.uncentring import uncentred
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.reads.rows import Column, Home, added


@dataclass(frozen=True, eq=False)
class ReadFit:
    """A fit whose rows are read again for its standard errors.

    Attributes
    ----------
    home : Home
        Where the rows are.
    problem : Problem
        Of all rows: penalty, loss, labels, weights.
    found : Solution
    fitted : Fitted
    dual : Column or None
        As for `sandwich`.
    """

    home: Home
    problem: Problem
    found: Solution
    fitted: Fitted
    dual: Column | None

    def margins(self, inverse: Matrix | None = None, width: float = 0.0) -> Vector:
        """Read ``u_i`` of all rows; with ``H^-1`` those of fits without the row."""
        given = inverse, self.home.n, width
        return np.concatenate(self.read(self.fitted.margins, *given))

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

    def covariance(
        self, options: Sandwich, scaling: Scaling | None, moments: tuple[Vector, Vector]
    ) -> Covariance:
        """Read the rows, and put the covariance together."""
        problem, n, kernel = self.problem, self.home.n, None
        at: Solution | Vector = self.found
        if problem.loss == "hinge":
            kernel = self.kernel(at := self.margins(), options)
        why = Reasons(problem, at, scaling).words
        sums: Sums = self.read(self.fitted.sums, kernel, options)
        H = sums.bread.bread(problem)
        inverse, meat, stacked = inverse_of(H), sums.meat.meat(n), None
        if scaling is not None and options.correction != "nonrobust":
            means = sums.meat.scores / sums.meat.weights[:, None]
            stacked = self.stacked(means, moments, bool(scaling.centre.any()))
        width = None if kernel is None else kernel.width
        counts = sums.bread.near, int(sums.bread.beyond)
        found = put_together(
            problem,
            self.fitted.beta,
            options,
            parts.Curvature(np.zeros(0), [], width, *counts),
            Matrices(
                *(H, inverse, meat, around(inverse, meat)),
                self.factor(inverse, options),
                None if kernel else sums.slopes,
                stacked,
                scaling is not None,
                prior_of(problem, np.zeros(0), inverse),
            ),
        )
        found = replace(found, why=why)
        if kernel is None and found.is_defined and sums.certain:
            return self.without_separated(found, sums, options)
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

    def without_separated(
        self, found: Covariance, sums: Sums, options: Sandwich
    ) -> Covariance:
        """The covariance of what rows that are not separated determine."""
        problem, n, fitted = self.problem, self.home.n, self.fitted
        k = len(found.matrix)
        known = find_separation(
            lambda directions, b: self.read(fitted.pass_over, directions, b), k
        )
        if known is None:
            return found
        rest: Sums = self.read(fitted.sums_of_others, known.directions, options)
        whole = IdentifiedPart.by(rest.bread.cross)
        found = replace(found, separated=known.number, notes=())
        if not whole.columns.size:  # complete separation
            return replace(found, unbounded=np.eye(k))
        among = np.ix_(whole.columns, whole.columns)
        inverse = inverse_of(rest.bread.bread(problem)[among])
        middle = around(inverse, rest.meat.meat(n)[among])
        matrix = whole.spread(middle * (self.factor(inverse, options) / n))
        fixed = None if found.fixed is None else matrix
        return replace(found, matrix=matrix, fixed=fixed, unbounded=whole.unbounded)

    def read(self, work: Callable[..., Any], *given: object) -> Any:
        """Sum what is found in each block with the dual weights of its rows."""
        return added(self.home.read(partial(work, *given), self.dual))

    def stacked(
        self, group_means: Matrix, moments: tuple[Vector, Vector], centred: bool
    ) -> Stacked:
        """Read the sums of scores and moves of standardized predictors."""
        fitted, free = self.fitted, self.problem.intercept
        given = self.problem.lam, free, fitted.beta, *moments, free and centred
        rest = group_means, self.home.n
        total: Stacked = self.read(fitted.stacked, Stacking(*given), *rest)
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
        narrow = for_joint_tests(problem, options)
        for _ in range(2):  # the second time with the curvature of the first
            u = self.margins(inverse, float(found.bandwidth or 0.0))
            kernel, column = self.kernel(u, narrow), self.home.column(u)
            sums: BreadSums = added(
                self.home.read(partial(self.fitted.moved_bread, kernel), column)
            )
            inverse = inverse_of(sums.bread(problem))
            if not np.isfinite(inverse).all():
                return found
        factor = self.factor(inverse, narrow)
        if stacked is None:
            matrix = around(inverse, found.meat) * (factor / n)
        else:
            matrix, _ = stacked.covariances(inverse, n / factor)
        there = effective_rows(problem.y, problem.weights)
        rows = 1.0 / (sums.squared / sums.total**2 + 1.0 / there)
        if not np.isfinite(matrix).all() or not np.isfinite(rows):
            return found
        return replace(found, joint=(matrix + matrix.T) / 2.0, rows=float(rows))


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
        Of columns that are far from zero, see `centre_for_errors`.
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
    kind = problem.lam, problem.loss, problem.intercept, problem.balanced
    fitted = Fitted(*kind, found.beta, alpha, centre)
    column = None if dual is None else home.column(dual)
    fit = ReadFit(home, problem, found, fitted, column)
    covariance = fit.covariance(options, scaling, moments)
    return covariance if centre is None else uncentred(covariance, centre)
