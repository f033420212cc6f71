"""L-BFGS with a metric, the inverse of a Hessian, in the place of a multiple of one.

References
----------
Liu & Nocedal, *On the limited memory BFGS method for large scale optimization*,
Mathematical Programming 45 (1989).
"""

from collections.abc import Callable
from typing import NamedTuple

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.solvers.rounding import CLOSEST

Pairs = list[tuple[Vector, Vector, float]]  # steps, changes of the gradient, products


class RiskValue(NamedTuple):
    """A risk, its gradient and the number of violations at a point."""

    risk: float
    gradient: Vector
    violations: int


def two_loops(metric: Matrix | Vector, pairs: Pairs, d: Vector) -> Vector:
    """The inverse Hessian of L-BFGS times a vector; a metric may be a diagonal."""
    shares = []
    for step, change, product in reversed(pairs):
        shares.append(float(step @ d) / product)
        d = d - shares[-1] * change
    d = metric @ d if metric.ndim > 1 else metric * d
    for step, change, product in pairs:
        d = d + (shares.pop() - float(change @ d) / product) * step
    return d


def line_search(
    risk: Callable[[Vector], RiskValue], theta: Vector, at: RiskValue, d: Vector
) -> tuple[Vector, RiskValue]:
    """The point along a direction where the risk has fallen in proportion to it.

    By 1e-4 of the slope at least (Armijo). The search ends where it began if no step
    down to 1e-8 does.
    """
    slope, t = float(at.gradient @ d), 1.0
    while True:
        point = theta + t * d
        there = risk(point)
        if there.risk <= at.risk + 1e-4 * t * slope + CLOSEST * at.risk:
            return point, there
        if t < 1e-8:
            return theta, risk(theta)
        slope_there = float(there.gradient @ d)
        falls = slope_there > max(slope, 0.0)
        share = slope / (slope - slope_there) if falls else 0.5
        t *= min(0.7, max(0.1, share))
