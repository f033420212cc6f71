"""Widths of the kernel that estimates how many rows lie at the margin.

Each rule takes the ``u_i = 1 - y_i f(x_i)`` and the weights of the rows, None for 1.
statsmodels has the two rules of quantile regression for rows without weights; in its
``bofinger`` the density is at ``2 x`` where the paper has ``x``.

With weights, ``n`` is the effective number of rows ``(sum w_i)^2 / sum w_i^2`` and the
spread that of the weighted rows.
"""

from collections.abc import Callable

import numpy as np

from pegasos_stats.arrays import Vector

Weights = Vector | None
Rule = Callable[[Vector, Weights], float]

LEVEL = 0.95  # of the intervals for which Hall and Sheather's rule is made
SAME = 1e-6  # a smaller spread of margins is none: fits are not more accurate
FURTHEST = 0.9  # of the way from the quantile to 0 or 1 that a rule may go


def silverman(u: Vector, w: Weights = None) -> float:
    """``1.06 min(sd, IQR / 1.34) n^(-1/5)``.

    Parameters
    ----------
    u : float64 array, shape (n,)
    w : float64 array, shape (n,), optional

    References
    ----------
    Silverman, *Density estimation for statistics and data analysis* (1986), equations
    3.28 to 3.30; R's ``bw.nrd``.

    Examples
    --------
    >>> round(silverman(np.array([0.0, 1.0, 2.0, 3.0])), 4)
    0.8992
    """
    return 1.06 * spread(u, w) * float(effective_rows(u, w) ** -0.2)


def hall_sheather(u: Vector, w: Weights = None) -> float:
    """Hall and Sheather's rule at the quantile that is the margin.

    With ``tau`` the share of rows with ``u <= 0``, ``x = Phi^-1(tau)`` and ``z`` the
    normal quantile of the level, ``d = n^(-1/3) z^(2/3) (1.5 phi(x)^2 /
    (2 x^2 + 1))^(1/3)``, and the width is ``min(sd, IQR / 1.34) (Phi^-1(tau + d) -
    Phi^-1(tau - d)) / 2``.

    Parameters
    ----------
    u : float64 array, shape (n,)
    w : float64 array, shape (n,), optional

    References
    ----------
    Hall & Sheather, *On the distribution of a studentized quantile*, JRSS B 50 (1988).
    Koenker, *Quantile regression* (2005), section 3.4.2.

    Examples
    --------
    >>> round(hall_sheather(np.linspace(-1.0, 1.0, 101)), 4)
    0.3219
    """
    from scipy.stats import norm

    tau = share_inside(u, w)
    x, z = norm.ppf(tau), norm.ppf((1.0 + LEVEL) / 2.0)
    ratio = 1.5 * norm.pdf(x) ** 2 / (2.0 * x**2 + 1.0)
    d = effective_rows(u, w) ** (-1 / 3) * z ** (2 / 3) * ratio ** (1 / 3)
    return spread(u, w) * _half_width(tau, float(d))


def bofinger(u: Vector, w: Weights = None) -> float:
    """Bofinger's rule at the quantile that is the margin.

    As `hall_sheather`, with ``d = n^(-1/5) (4.5 phi(x)^4 / (2 x^2 + 1)^2)^(1/5)``.

    Parameters
    ----------
    u : float64 array, shape (n,)
    w : float64 array, shape (n,), optional

    References
    ----------
    Bofinger, *Estimation of a density function using order statistics*, Australian
    Journal of Statistics 17 (1975).

    Examples
    --------
    >>> round(bofinger(np.linspace(-1.0, 1.0, 101)), 4)
    0.4089
    """
    from scipy.stats import norm

    tau = share_inside(u, w)
    x = norm.ppf(tau)
    ratio = 4.5 * norm.pdf(x) ** 4 / (2.0 * x**2 + 1.0) ** 2
    d = effective_rows(u, w) ** -0.2 * ratio**0.2
    return spread(u, w) * _half_width(tau, float(d))


RULES: dict[str, Rule] = {
    "silverman": silverman,
    "hall-sheather": hall_sheather,
    "bofinger": bofinger,
}


def spread(u: Vector, w: Weights = None) -> float:
    """``min(sd, IQR / 1.34)``; where one of them is 0, to rounding, the other.

    Examples
    --------
    >>> spread(np.array([0.0, 0.0, 0.0, 2.0]))
    0.373...
    """
    n, quarters = effective_rows(u, w), [0.25, 0.75]
    variance = float(np.average((u - np.average(u, weights=w)) ** 2, weights=w))
    deviation = float(np.sqrt(variance * n / (n - 1.0))) if n > 1.0 else 0.0
    if w is None:
        low, high = np.quantile(u, quarters)
    else:
        low, high = np.quantile(u, quarters, weights=w, method="inverted_cdf")
    sizes = [deviation, float(high - low) / 1.34]
    return min((size for size in sizes if size > SAME), default=0.0)


def effective_rows(u: Vector, w: Weights = None) -> float:
    """``n``, or ``(sum w_i)^2 / sum w_i^2``.

    Examples
    --------
    >>> effective_rows(np.zeros(3)), effective_rows(np.zeros(3), np.array([0, 1, 1.0]))
    (3.0, 2.0)
    """
    return float(u.size if w is None else w.sum() ** 2 / (w @ w))


def share_inside(u: Vector, w: Weights = None) -> float:
    """Share of rows with ``u <= 0``, kept half a row away from 0 and 1.

    Examples
    --------
    >>> share_inside(np.array([-1.0, 0.0, 2.0, 3.0])), share_inside(np.ones(4))
    (0.5, 0.125)
    """
    share = float(np.average(u <= 0.0, weights=w))
    edge = 0.5 / effective_rows(u, w)
    return min(max(share, edge), 1.0 - edge)


def _half_width(tau: float, d: float) -> float:
    from scipy.stats import norm

    d = min(d, FURTHEST * min(tau, 1.0 - tau))
    return float(norm.ppf(tau + d) - norm.ppf(tau - d)) / 2.0
