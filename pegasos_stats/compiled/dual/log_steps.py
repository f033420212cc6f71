"""The best value of one dual weight of the log loss, by Newton's method."""

import math

from pegasos_stats.compiled.compiling import inlined

MOST = 100  # steps; halving alone would need no more
SMALLEST = 1e-300
LONG = 0.5  # step in the margin, the first one, that Newton's method does not go
SHORT = 0.01  # step in the margin, the last one where bits are not promised
FARTHEST = 1e12  # change of the margin with its own weight
ROUNDED = 1e-8  # the same for far margins, of their size


@inlined
def log_step(a: float, m: float, q: float, w: float) -> float:
    """Solve ``log(w / a_new - 1) = m + (a_new - a) q`` for ``a_new`` in (0, w).

    With ``a_new = w / (1 + exp(z))`` it is ``z - m - (a_new - a) q = 0``, increasing
    in ``z`` with a slope of at least 1 and a root between ``m - a q`` and
    ``m + (w - a) q``. Newton's method from ``z = m``; where it leaves what is left of
    that interval, or moves more than half as far as before, the interval is halved.
    """
    low, high = m - a * q, m + (w - a) * q
    z, moved = m, high - low
    for _ in range(MOST):
        e = math.exp(-abs(z))
        s = 1.0 / (1.0 + e)
        share = e * s if z > 0.0 else s
        excess = z - m - (w * share - a) * q
        if excess < 0.0:
            low = z
        else:
            high = z
        new = z - excess / (1.0 + q * w * (e * s * s))
        if not low <= new <= high or abs(new - z) > 0.5 * moved:
            new = 0.5 * (low + high)
        moved = abs(new - z)
        done = moved <= 1e-8 * (1.0 + abs(z))
        z = new
        if done:
            break
    e = math.exp(-abs(z))
    return w * (e / (1.0 + e)) if z > 0.0 else w / (1.0 + e)


@inlined
def quick_log_step(a: float, m: float, q: float, w: float) -> float:
    """`log_step`, without a look at where a last short step of Newton's method ends.

    ``z`` is off by half the square of that step at most, and not at all where ``a`` is
    the best value already. Changes of the margin beyond `FARTHEST` are left to
    `log_step`.
    """
    if not q * w <= FARTHEST:
        return log_step(a, m, q, w)
    low, high = m - a * q, m + (w - a) * q
    z, moved = m, high - low
    share = rest = 0.5
    for k in range(MOST):
        e = math.exp(-abs(z))
        s = 1.0 / (1.0 + e)
        share, rest = (e * s, s) if z > 0.0 else (s, e * s)
        excess = z - m - (w * share - a) * q
        step = -excess / (1.0 + q * w * (e * s * s))
        if abs(step) <= max(SHORT, ROUNDED * abs(z)):
            share -= share * rest * step * (1.0 - 0.5 * step * (rest - share))
            break
        if excess < 0.0:
            low = z
        else:
            high = z
        if k == 0 and abs(step) > LONG:
            step = min(high, max(low, far_root(m - a * q, w * q))) - z
        elif not low <= z + step <= high or abs(step) > 0.5 * moved:
            step = 0.5 * (low + high) - z
        moved = abs(step) if k > 0 else high - low
        z += step
    return w * share


@inlined
def far_root(low: float, q: float) -> float:
    """About where ``z - low = q / (1 + exp(z))``, for large ``q``."""
    x = math.log(max(SMALLEST, q)) - low
    rise = x - math.log(x) * (1.0 - 1.0 / x) if x > 1.0 else math.exp(x - 1.0)
    return low + min(q, rise)
