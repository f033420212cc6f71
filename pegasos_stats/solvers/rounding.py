"""Bounds of what rounding does to the objectives, so that a certificate holds.

A certificate is a statement about real numbers: the coefficients and the data are the
doubles that they are, and both objectives are what the formulas give without rounding.
A sum of ``k`` numbers, rounded ``k - 1`` times, is off by at most ``gamma_k`` times the
sum of their absolute values, ``gamma_k = k u / (1 - k u)`` with ``u = 2^-53`` (Higham
2002, section 3.1). For an inner product that gives with Cauchy's inequality

    |fl(m_i) - m_i| <= (k + 2) u (||x_i|| ||beta|| + |alpha|),  m_i = x_i'beta + alpha,

with ``|alpha| + |offset_i|`` for ``|alpha|`` where there is an offset.
A loss moves no more than its margin, and not at all where that is safely above 1
(hinge). Sums over the rows are those of ``dense/sums.py``, with a bound of their own.
An exponential or logarithm of numpy's is taken to be right to four units in the last
place.

These bounds cost nothing beside a pass over the rows. Where they are not small beside
the gap, as for columns far from zero beside their spread, the pass is done again with
twice the digits.

References
----------
Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, SIAM 2002,
sections 3.1 and 4.3.
Ogita, Rump & Oishi, *Accurate sum and dot product*, SIAM Journal on Scientific
Computing 26 (2005).
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pegasos_stats.arrays import UNIT, Vector
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sums import Sums

if TYPE_CHECKING:
    from pegasos_stats.compiled.risk import SeenExactly

SUBNORMAL = 2.0**-1074  # rounding of one that underflows
STEEP = 80.0 * UNIT  # of an entropy by the rounding of a / w, of a: 2 log 2^53
CLOSEST = 1e-13  # relative gap that is told from 0, as a rule
MARGIN = 1.01  # for what is left out of a bound: higher powers, its own rounding
LAST = 8.0 * UNIT  # of the last few operations


class Within(NamedTuple):
    """A number in the interval ``value - error`` to ``value + error``.

    An error that is not finite says that nothing is known.
    """

    value: float
    error: float

    @property
    def above(self) -> float:
        """Upper end, infinite where nothing is known."""
        return self._end(1.0)

    @property
    def below(self) -> float:
        """Lower end, minus infinity where nothing is known."""
        return self._end(-1.0)

    def _end(self, sign: float) -> float:
        end = self.value + sign * MARGIN * self.error
        return end if math.isfinite(end) else sign * math.inf


def squared(v: Vector, rest: Vector | None = None) -> tuple[float, int]:
    """``||v + rest||^2`` as ``m, k``: ``m 2^k``, ``m`` to some units in the last place.

    Nothing overflows or underflows on the way there.

    Examples
    --------
    >>> squared(np.array([3.0, 4.0]))
    (0.390625, 6)
    """
    largest = float(np.abs(v).max(initial=0.0))
    if not 0.0 < largest < math.inf:
        return largest, 0
    power = math.frexp(largest)[1]
    scaled = np.ldexp(v, -power)
    if rest is not None:
        scaled = scaled + np.ldexp(rest, -power)
    return math.fsum((scaled * scaled).tolist()), 2 * power


def penalty(lam: float, v: Vector) -> float:
    """``lam/2 ||v||^2`` to some units in the last place; infinite if it overflows.

    Examples
    --------
    >>> penalty(2.0**-1074, np.array([2.0**537]))
    0.5
    """
    squares, power = squared(v)
    share, shift = math.frexp(lam)
    return scaled(squares * share, power + shift - 1)


def cost(lam: float, n: int, image: Vector, rest: Vector | None = None) -> float:
    """``lam/2 ||beta||^2`` of ``beta = image / (lam n)``, as `penalty`."""
    squares, power = squared(image, rest)
    share, shift = math.frexp(lam)
    return scaled(squares / share / n / n, power - shift - 1)


def scaled(share: float, power: int) -> float:
    """``share 2^power``, infinite if it overflows."""
    try:
        return math.ldexp(share, power)
    except OverflowError:
        return math.inf


def norm(v: Vector) -> float:
    """``||v||``, or a little more."""
    with np.errstate(over="ignore"):
        squares = float(v @ v)
    return math.sqrt(MARGIN * squares + 4.0 * v.size * SUBNORMAL)


class Rounding:
    """Bounds for one problem at one point.

    Parameters
    ----------
    problem : Problem
    beta : float64 array, shape (p,)
    alpha : float

    Attributes
    ----------
    reach : float
        How far rounding may move a margin.
    """

    def __init__(self, problem: Problem, beta: Vector, alpha: float) -> None:
        self._problem, self._penalty = problem, penalty(problem.lam, beta)
        radius = problem.radius
        squares = MARGIN * radius * radius + 4.0 * problem.p * SUBNORMAL
        self._radius = math.sqrt(squares)
        size = self._radius * norm(beta) + abs(alpha) + (problem.farthest or 0.0)
        self.reach = MARGIN * problem.products * UNIT * size

    def primal(self, sums: Sums) -> Within:
        """``P`` from the sums of one pass, `Sums`."""
        mean = sums.loss / self._problem.n
        if self._problem.loss != "log":
            moved = self.reach * sums.exposed / self._problem.n
        elif self.reach < 1.0:  # |loss'| <= loss, at any margin
            moved = self.reach * math.exp(self.reach) * mean
        else:
            moved = math.inf
        return self._primal(mean, moved, sums.share)

    def primal_exactly(self, sums: "SeenExactly") -> Within:
        """``P`` from the sums with twice the digits, a `SeenExactly`."""
        n = self._problem.n
        mean, error = (sums.loss + sums.loss_rest) / n, sums.loss_error / n
        return self._primal(mean, error, (4.0 * (n + 4.0) * UNIT) ** 2)

    def reward(self, sums: Sums) -> Within:
        """Mean reward of the dual weights from the sums of one pass, `Sums`.

        It is ``mean (w H(a/w) - a y offset)``.
        """
        n, loss = self._problem.n, self._problem.loss
        value = sums.entropy / n
        steep, size = STEEP * sums.dual / n, value
        if loss != "log":  # a, less what is squared: the rewards may be below 0
            steep, size = 0.0, 2.0 * sums.dual / n - value
        share = sums.share
        off = steep + (self._problem.loss_function.rounding + share) * size
        if self._problem.farthest is None:
            return Within(value, off)
        less = sums.offset_sum / n
        off += (LAST + share) * sums.offset_size / n + LAST * abs(value - less)
        return Within(value - less, off)

    def cost(self, sums: Sums) -> Within:
        """``lam/2 ||beta(a)||^2`` from the sums of one pass, `Sums`."""
        off = (sums.additions + 2.0) * UNIT * sums.dual * self._radius
        return self._cost(cost(self._problem.lam, self._problem.n, sums.image), off)

    def cost_exactly(self, sums: "SeenExactly") -> Within:
        """``lam/2 ||beta(a)||^2`` from the sums with twice the digits."""
        lam, n = self._problem.lam, self._problem.n
        value = cost(lam, n, sums.image, sums.image_rest)
        return self._cost(value, sums.image_error)

    def least(self) -> float:
        """A bound that holds for every fit: some risk above 0 is left.

        From equal sums ``s`` in both classes, in proportion to the weights of their
        rows, ``D >= 2 s / n - lam/2 (2 s R / (lam n))^2`` with ``R`` the largest
        ``||x_i||``, and ``s`` at most half the weight of a class, if rewards are dual
        weights; if they are so many of them at least, its square of that is left. With
        an offset there is no such bound, and it is 0.
        """
        problem = self._problem
        if problem.farthest is not None:
            return 0.0
        squares, half = self._radius * self._radius, problem.lightest / 2
        least = float(min(problem.lam / squares / 2.0, half / problem.n)) / MARGIN
        return problem.loss_function.least_reward**2 * least

    def _primal(self, mean: float, moved: float, share: float) -> Within:
        """``P`` from the mean loss and a bound of its error by that of the margins.

        Normalised weights are those of the user to some rounding, which counts for the
        fit and for the optimum.
        """
        share += self._problem.loss_function.rounding
        if self._problem.weights is not None:
            share += 16.0 * UNIT + 4.0 * self._problem.n * 2.0**-64
        value = self._penalty + mean
        lost = 64.0 * self._problem.p * SUBNORMAL
        return Within(value, moved + share * mean + LAST * value + lost)

    def _cost(self, value: float, off: float) -> Within:
        """Cost of an image that is off by a vector of a norm of at most ``off``."""
        n, lam = self._problem.n, self._problem.lam
        lost = 4.0 * self._problem.p * SUBNORMAL
        root = (MARGIN * off / n + lost) / math.sqrt(2.0) / math.sqrt(lam)
        moved = 2.0 * math.sqrt(value) * root + root * root
        return Within(value, moved + LAST * value)


def are_close(
    objective: float, risk: Within, reward: Within, cost: Within, enough: float = 0.0
) -> bool:
    """Whether rounding is at most a tenth of the gap, and 1e-11 of the objective.

    Less than 1e-14 of the objective is always small. Where a gap of ``enough`` times
    the objective is enough, rounding is at most a tenth of that.

    A dual objective below 0 is not used, so that its rounding does not matter.
    """
    off = abs(risk.value - objective) + risk.error
    gap = objective - max(0.0, reward.value - cost.value)
    if reward.above > cost.below:
        off += reward.error + cost.error
    if enough > 0.0:
        return off <= min(1e-9 * objective, 0.1 * max(gap, enough * objective))
    return off <= max(1e-14 * objective, min(1e-11 * objective, 0.1 * gap))


def lower_bound(
    objective: float,
    risk: Within,
    reward: Within,
    cost: Within,
    least: Callable[[], float],
) -> tuple[float, float]:
    """Lower bound of the least risk, and what it leaves of the rounding of `objective`.

    The dual is ``t reward - t^2 cost`` at ``t = 1``, the dual point that is given, less
    what `objective` may be too small by. Where that is below 0 the bound is 0. Then the
    best ``t`` or `least` cover the rounding, as a rule.

    Returns
    -------
    dual_objective, rounding : float
        No fit has a risk below ``dual_objective``, and that of this fit is at most
        ``objective + rounding`` if the least risk is ``dual_objective``.
    """
    excess = max(0.0, risk.above - objective) + 2.0 * UNIT * objective
    high, low = cost.above, max(0.0, reward.below)
    bound = low - high - excess
    if bound > 0.0:
        return bound, 0.0
    best = low - high if 2.0 * high <= low else low * (low / (4.0 * high))
    covered = best if best >= excess else max(best, least())
    return 0.0, MARGIN * max(0.0, excess - covered)
