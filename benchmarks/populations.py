"""Populations with exact minimisers of the penalised risk, for simulations.

The score ``f = alpha + x'beta`` of a row is normal, or normal given the class, so the
risk is an integral over one or two normal variables and is computed by quadrature.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit, log_expit
from scipy.stats import norm

Vector = NDArray[np.float64]

nodes, weights = np.polynomial.hermite_e.hermegauss(201)
NORMAL = nodes, weights / weights.sum()
UNIT = np.polynomial.legendre.leggauss(200)
REACH = 9.0  # standard deviations that integrals go from the mean


def correlated(p: int, pairs: dict[tuple[int, int], float]) -> Vector:
    """Correlation matrix with the given correlations, others 0."""
    R = np.eye(p)
    for (i, j), value in pairs.items():
        R[i, j] = R[j, i] = value
    return R


@dataclass(frozen=True)
class TwoGaussians:
    """``x | y ~ N(y mean, R)`` and a share of ``y = 1``."""

    share: float
    mean: tuple[float, ...] = (1.0, 0.5, 0.0, 0.0)
    correlation: float = 0.5  # of the first two features

    @cached_property
    def spread(self) -> Vector:
        """Covariance of ``x`` in a class."""
        return correlated(len(self.mean), {(0, 1): self.correlation})

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Vector, Vector]:
        """Rows and labels."""
        y = np.where(rng.random(n) < self.share, 1.0, -1.0)
        noise = (
            rng.standard_normal((n, len(self.mean))) @ np.linalg.cholesky(self.spread).T
        )
        return noise + y[:, None] * np.array(self.mean), y

    def mean_loss(self, alpha: float, beta: Vector, loss: str) -> float:
        """Mean loss in the population."""
        sd = np.sqrt(beta @ self.spread @ beta)
        centre = beta @ np.array(self.mean)
        shares = {1.0: self.share, -1.0: 1.0 - self.share}
        return sum(
            share * normal_loss(centre + sign * alpha, sd, loss)
            for sign, share in shares.items()
        )


@dataclass(frozen=True)
class LogisticOutcome:
    """``x ~ N(0, R)``, correlations ``0.5^|i - j|``, ``P(y = 1) = expit(c + x'g)``."""

    share: float
    g: tuple[float, ...] = (2.0, -1.6, 1.0, 0.0, 0.0, 0.6)

    @cached_property
    def spread(self) -> Vector:
        """Covariance of ``x``."""
        i = np.arange(len(self.g))
        return 0.5 ** np.abs(i[:, None] - i)

    @cached_property
    def c(self) -> float:
        """Constant that gives the share."""
        sd = np.sqrt(self.g @ self.spread @ self.g)
        x, w = NORMAL
        return float(brentq(lambda c: w @ expit(c + sd * x) - self.share, -30, 30))

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Vector, Vector]:
        """Rows and labels."""
        X = rng.standard_normal((n, len(self.g))) @ np.linalg.cholesky(self.spread).T
        return X, np.where(rng.random(n) < expit(self.c + X @ self.g), 1.0, -1.0)

    def mean_loss(self, alpha: float, beta: Vector, loss: str) -> float:
        """Mean loss in the population."""
        variance = max(float(beta @ self.spread @ beta), 1e-12)
        slope = float(beta @ self.spread @ self.g) / variance
        rest = np.sqrt(max(self.g @ self.spread @ self.g - slope**2 * variance, 0.0))
        total = 0.0
        for sign in (1.0, -1.0):
            m, w = margins(sign * alpha, np.sqrt(variance), loss)
            eta = self.c + slope * (sign * m - alpha)
            x, v = NORMAL
            likely = expit(sign * (eta[:, None] + rest * x)) @ v
            total += float(w @ (loss_of(m, loss) * likely))
        return total


Population = TwoGaussians | LogisticOutcome


def loss_of(m: Vector, loss: str) -> Vector:
    return np.maximum(0.0, 1.0 - m) if loss == "hinge" else -log_expit(m)


def margins(centre: float, sd: float, loss: str) -> tuple[Vector, Vector]:
    """Quadrature over a normal margin; for the hinge over the part below 1."""
    if loss == "log":
        x, w = NORMAL
        return centre + sd * x, w
    low = centre - REACH * sd
    half = (max(1.0, low) - low) / 2.0
    m = low + half * (UNIT[0] + 1.0)
    return m, half * UNIT[1] * norm.pdf((m - centre) / sd) / sd


def normal_loss(centre: float, sd: float, loss: str) -> float:
    """Mean loss of a normal margin."""
    if loss == "log":
        m, w = margins(centre, sd, loss)
        return float(w @ loss_of(m, loss))
    t = (1.0 - centre) / sd
    return float((1.0 - centre) * norm.cdf(t) + sd * norm.pdf(t))


def minimiser(population: Population, loss: str, lam: float) -> Vector:
    """``(alpha, beta)`` that minimises ``lam/2 ||beta||^2 + mean loss``."""

    def risk(theta: Vector) -> float:
        beta = theta[1:]
        penalty = lam / 2.0 * float(beta @ beta)
        return penalty + population.mean_loss(float(theta[0]), beta, loss)

    share, size = population.share, len(population.spread)
    theta = np.concatenate([[np.log(share / (1.0 - share))], np.full(size, 0.1)])
    for _ in range(3):  # begun anew, differences are good to the last digits
        options = {"gtol": 1e-10}
        theta = minimize(risk, theta, method="BFGS", jac="3-point", options=options).x
    return np.asarray(theta)
