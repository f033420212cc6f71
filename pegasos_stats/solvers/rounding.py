"""Bounds on the rounding errors of the objectives, for valid certificates.

A certificate is a statement in real arithmetic: coefficients and data are exactly their
doubles, and both objectives are evaluated without rounding. The rounding error of a sum
of ``k`` numbers is at most ``gamma_k`` times the sum of their absolute values,
``gamma_k = k u / (1 - k u)`` with ``u = 2^-53`` (Higham 2002, section 3.1). For an
inner product Cauchy's inequality implies

    |fl(m_i) - m_i| <= (k + 2) u (||x_i|| ||beta|| + |alpha|),  m_i = x_i'beta + alpha,

with ``|alpha| + |offset_i|`` in place of ``|alpha|`` if there is an offset. The
error of a hinge or log loss is at most that of its margin; for the squared hinge it is
multiplied by the derivative. A hinge has no error if its margin is safely above 1. Sums
over the rows, from ``sums.py``, have their own bounds. numpy's exponential and
logarithm are assumed accurate to four units in the last place.

These bounds cost little compared with a pass over the rows. If they are not small
relative to the gap, as for columns far from 0 in units of their spread, the pass is
repeated with twice the digits.

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

SUBNORMAL = 2.0**-1074  # rounding error of an underflow
# Bound on the error of an entropy from the rounding of a / w, relative to a: above 2
# log 2^53.
STEEP = 80.0 * UNIT
CLOSEST = 1e-13  # smallest relative gap that is usually distinguishable from 0
MARGIN = 1.01  # safety factor for higher-order terms and the rounding of the bound
LAST = 8.0 * UNIT  # for the last few operations


class Within(NamedTuple):
    """A number in the interval ``value - error`` to ``value + error``.

    A non-finite error means that there is no bound.
    """

    value: float
    error: float

    @property
    def above(self) -> float:
        """Upper end, infinite if there is no bound."""
        return self._end(1.0)

    @property
    def below(self) -> float:
        """Lower end, minus infinity if there is no bound."""
        return self._end(-1.0)

    def _end(self, sign: float) -> float:
        end = self.value + sign * MARGIN * self.error
        return end if math.isfinite(end) else sign * math.inf


def squared(v: Vector, rest: Vector | None = None) -> tuple[float, int]:
    """Compute ``||v + rest||^2 = m 2^k``, with ``m`` to a few units in the last place.

    Intermediate results do not overflow or underflow.

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
    """Compute ``lam/2 ||v||^2`` to a few ulps; infinite if it overflows.

    Examples
    --------
    >>> penalty(2.0**-1074, np.array([2.0**537]))
    0.5
    """
    squares, power = squared(v)
    share, shift = math.frexp(lam)
    return times_power(squares * share, power + shift - 1)


def cost(lam: float, n: int, image: Vector, rest: Vector | None = None) -> float:
    """Compute ``lam/2 ||beta||^2`` for ``beta = image / (lam n)``, as in `penalty`."""
    squares, power = squared(image, rest)
    share, shift = math.frexp(lam)
    return times_power(squares / share / n / n, power - shift - 1)


def times_power(share: float, power: int) -> float:
    """Compute ``share 2^power``; infinite if it overflows."""
    try:
        return math.ldexp(share, power)
    except OverflowError:
        return math.inf


def norm(v: Vector) -> float:
    """Compute an upper bound of ``||v||``, tight up to rounding."""
    with np.errstate(over="ignore"):
        squares = float(v @ v)
    return math.sqrt(MARGIN * squares + 4.0 * v.size * SUBNORMAL)


class Rounding:
    """Rounding bounds for one problem at one point.

    Parameters
    ----------
    problem : Problem
    beta : float64 array, shape (p,)
    alpha : float

    Attributes
    ----------
    reach : float
        Bound on the rounding error of a margin.
    """

    def __init__(self, problem: Problem, beta: Vector, alpha: float) -> None:
        self._problem, self._penalty = problem, penalty(problem.lam, beta)
        radius = problem.radius
        squares = MARGIN * radius * radius + 4.0 * problem.p * SUBNORMAL
        self._radius = math.sqrt(squares)
        size = self._radius * norm(beta) + abs(alpha) + (problem.max_abs_offset or 0.0)
        self.reach = MARGIN * problem.max_roundings * UNIT * size

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
        """Mean conjugate term of the dual weights from the sums of one pass, `Sums`.

        It is ``mean (w H(a/w) - a y offset)``.
        """
        n, loss = self._problem.n, self._problem.loss
        value = sums.entropy / n
        steep, size = STEEP * sums.dual / n, value
        if loss != "log":  # a minus a square: the conjugate terms may be negative
            steep, size = 0.0, 2.0 * sums.dual / n - value
        share = sums.share
        off = steep + (self._problem.loss_function.rounding + share) * size
        if self._problem.max_abs_offset is None:
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
        """Lower bound on the objective from equal sums of dual weights in both classes.

        Let the dual weights of each class have the sum ``s``, at most half the weight
        of the class, in proportion to the weights of the rows. If conjugate terms equal
        dual weights, ``D >= 2 s / n - lam/2 (2 s R / (lam n))^2``, where ``R`` is the
        largest ``||x_i||``; the bound follows with the best ``s``. If conjugate terms
        are at least ``c`` times the dual weights, the bound has the factor ``c^2``.
        With an offset the bound is 0.
        """
        problem = self._problem
        if problem.max_abs_offset is not None:
            return 0.0
        squares, half = self._radius * self._radius, problem.smaller_class_weight / 2
        least = float(min(problem.lam / squares / 2.0, half / problem.n)) / MARGIN
        return problem.loss_function.least_reward**2 * least

    def _primal(self, mean: float, moved: float, share: float) -> Within:
        """``P`` from the mean loss, and a bound on its error from the margins.

        Normalising the user's weights rounds them, which affects the objective and its
        minimum.
        """
        share += self._problem.loss_function.rounding
        if self._problem.weights is not None:
            share += 16.0 * UNIT + 4.0 * self._problem.n * 2.0**-64
        value = self._penalty + mean
        lost = 64.0 * self._problem.p * SUBNORMAL
        return Within(value, moved + share * mean + LAST * value + lost)

    def _cost(self, value: float, off: float) -> Within:
        """Cost of an image whose error has a norm of at most ``off``."""
        n, lam = self._problem.n, self._problem.lam
        lost = 4.0 * self._problem.p * SUBNORMAL
        root = (MARGIN * off / n + lost) / math.sqrt(2.0) / math.sqrt(lam)
        moved = 2.0 * math.sqrt(value) * root + root * root
        return Within(value, moved + LAST * value)


def are_close(
    objective: float, risk: Within, reward: Within, cost: Within, enough: float = 0.0
) -> bool:
    """Whether rounding is at most a tenth of the gap and 1e-11 of the objective.

    Rounding below 1e-14 of the objective is always small enough. If a relative gap of
    ``enough`` suffices, the limits are a tenth of that gap, or of the actual one if it
    is larger, and 1e-9 of the objective.

    A negative dual objective is not used, so its rounding does not matter.
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
    """Lower bound on the minimum, and the part of rounding that it does not cover.

    The bound is the dual objective ``t reward - t^2 cost`` at ``t = 1`` minus the
    possible rounding of `objective`. If this is negative, the bound is 0; then the best
    ``t`` or `least` usually cover the rounding.

    Returns
    -------
    dual_objective, rounding : float
        No coefficients have an objective below ``dual_objective``; the objective of the
        fit is at most ``objective + rounding`` if the minimum is ``dual_objective``.
    """
    excess = max(0.0, risk.above - objective) + 2.0 * UNIT * objective
    high, low = cost.above, max(0.0, reward.below)
    bound = low - high - excess
    if bound > 0.0:
        return bound, 0.0
    best = low - high if 2.0 * high <= low else low * (low / (4.0 * high))
    covered = best if best >= excess else max(best, least())
    return 0.0, MARGIN * max(0.0, excess - covered)
