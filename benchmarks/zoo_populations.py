"""Populations for simulations, as data come: factors, counts, scales, long tails.

    python benchmarks/zoo_populations.py

A `Population` draws rows and labels and says how it is fitted. The minimiser of its
penalised risk is that of one large draw. `populations.py` has a few whose minimiser is
known by quadrature.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], tuple[Matrix, Vector]]


def outcome(rng: np.random.Generator, X: Matrix, g: list[float], c: float) -> Vector:
    """Labels with ``P(y = 1) = 1 / (1 + exp(-c - x'g))``."""
    likely = 1.0 / (1.0 + np.exp(-c - X @ np.array(g)))
    return np.where(rng.random(len(X)) < likely, 1.0, -1.0)


def normals(rng: np.random.Generator, n: int, p: int, r: float = 0.0) -> Matrix:
    """Normal columns, each two with the correlation ``r``."""
    own, shared = rng.standard_normal((n, p)), rng.standard_normal((n, 1))
    return np.sqrt(1.0 - r) * own + np.sqrt(r) * shared


def factor(rng: np.random.Generator, n: int, shares: list[float]) -> Matrix:
    """Indicators of all levels but the first."""
    level = rng.choice(len(shares), n, p=shares)
    return (level[:, None] == np.arange(1, len(shares))).astype(float)


def normal(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = normals(rng, n, 4)
    return X, outcome(rng, X, [1.0, 0.5, 0.0, -0.5], 0.0)


def correlated(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = normals(rng, n, 4, 0.7)
    return X, outcome(rng, X, [1.0, 0.5, 0.0, -0.5], 0.0)


def heavy_tails(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = rng.standard_t(3, (n, 4))
    return X, outcome(rng, X, [1.0, 0.5, 0.0, -0.5], 0.0)


def lognormal(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = np.exp(normals(rng, n, 4))
    return X, outcome(rng, X, [0.6, 0.3, 0.0, -0.3], -1.0)


def binary(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = (rng.random((n, 4)) < [0.5, 0.3, 0.5, 0.2]).astype(float)
    return X, outcome(rng, X, [1.0, -1.0, 0.0, 0.7], 0.0)


def factor_of_3(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = np.hstack([factor(rng, n, [0.4, 0.3, 0.3]), normals(rng, n, 4)])
    return X, outcome(rng, X, [2.0, -2.0, 0.5, 0.3, 0.0, 0.0], 0.0)


def factor_of_8(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    shares = [0.20, 0.15, 0.15, 0.14, 0.12, 0.12, 0.10, 0.02]
    X = np.hstack([factor(rng, n, shares), normals(rng, n, 2)])
    return X, outcome(rng, X, [0.5, -0.5, 1.0, -1.0, 0.0, 0.3, 1.0, 0.7, 0.0], 0.0)


def counts(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = rng.poisson([1.0, 3.0, 0.4, 2.0], (n, 4)).astype(float)
    return X, outcome(rng, X, [0.7, -0.3, 0.5, 0.0], 0.0)


def scales(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = 1.0 + np.digitize(normals(rng, n, 4, 0.4), [-1.2, -0.4, 0.4, 1.2])
    return X, outcome(rng, X, [0.8, 0.4, 0.0, -0.4], -2.4)


def mixed(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    z, levels = normals(rng, n, 4, 0.3), factor(rng, n, [0.5, 0.3, 0.2])
    children, age = rng.poisson(np.exp(0.5 * z[:, 2])), np.round(40.0 + 12.0 * z[:, 3])
    X = np.column_stack([z[:, 0], z[:, 1] > 0.0, children, levels, age / 10.0])
    return X, outcome(rng, X, [0.7, 1.0, -0.4, 0.8, -0.8, 0.3], -1.0)


def rare(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = normals(rng, n, 4)
    return X, outcome(rng, X, [1.0, 0.5, 0.0, -0.5], -3.6)


def interaction(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    group, z = (rng.random(n) < 0.5).astype(float), normals(rng, n, 2)
    X = np.column_stack([group, z, group * z[:, 0]])
    return X, outcome(rng, X, [0.8, 0.7, 0.0, 0.8], 0.0)


def effects(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = normals(rng, n, 3)
    return X, outcome(rng, X, [1.0, 0.5, -0.5], 0.0)


def ten_rows_each(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X, y = effects(rng, n)
    return np.hstack([X, normals(rng, n, n // 10 - 3)]), y


def two_effects(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = normals(rng, n, 2)
    return X, outcome(rng, X, [1.5, -1.0], 0.0)


def nulls(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X, y = two_effects(rng, n)
    return np.hstack([X, normals(rng, n, 9)]), y


def no_effects(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    return normals(rng, n, 5), np.where(np.arange(n) < n // 2, 1.0, -1.0)


def discrete_nulls(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X, y = two_effects(rng, n)
    return np.hstack([X, rng.random((n, 5)) < 0.4, rng.poisson(1, (n, 4))]), y


def items(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    z = 0.7 + 1.2 * normals(rng, n, 5, 0.3)
    X = 1.0 + np.digitize(z, [-2.0, -1.2, -0.4, 0.4, 1.2, 2.0])
    return X, outcome(rng, X, [0.5, 0.3, 0.0, -0.3, 0.0], -2.2)


def survey(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    views = 1.0 + np.digitize(normals(rng, n, 4, 0.4), [-1.5, -1.0, -0.3, 0.3, 1, 1.5])
    X = np.hstack([views, factor(rng, n, [0.1, 0.3, 0.25, 0.35])])
    return X, outcome(rng, X, [0.9, 0.5, 0.0, -0.4, 0.3, 0.3, 0.5], -4.4)


def ten_dummies(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = (rng.random((n, 10)) < 0.4).astype(float)
    return X, outcome(rng, X, [1.0, -1.0, 0.6, -0.6, 0.3, 0, 0, 0, 0, 0], -0.1)


def rare_dummies(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = (rng.random((n, 6)) < [0.05, 0.1, 0.3, 0.5, 0.5, 0.08]).astype(float)
    return X, outcome(rng, X, [1.5, -1.0, 0.7, 0.0, 0.5, 0.0], -0.2)


def two_factors(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    shares = [0.4, 0.35, 0.25], [0.3, 0.3, 0.2, 0.2]
    X = np.hstack([factor(rng, n, each) for each in shares])
    return X, outcome(rng, X, [1.0, -0.5, 0.8, 0.0, -1.0], -0.1)


def factor_of_12(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = np.hstack([factor(rng, n, [1.0 / 12.0] * 12), rng.random((n, 1)) < 0.5])
    effects = [0.5, -0.5, 1.0, -1.0, 0.0, 0.7, 0.0, 1.2, -0.8, 0.3, 0.0, 0.8]
    return X, outcome(rng, X, effects, 0.0)


def passengers(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    age, women = np.round(rng.gamma(6.0, 5.0, n)), rng.random(n) < 0.35
    X = np.column_stack([age / 10.0, women, factor(rng, n, [0.3, 0.2, 0.5])])
    return X, outcome(rng, X, [-0.3, 2.2, -1.0, -1.8], 1.2)


def many_zeros(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    counted = rng.poisson(3.0, (n, 2)) * (rng.random((n, 2)) < 0.5)
    X = np.hstack([counted, rng.random((n, 2)) < [0.5, 0.2]]).astype(float)
    return X, outcome(rng, X, [0.4, 0.0, 1.0, -0.8], -0.9)


def scores(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    points = rng.binomial([10, 4, 1], [0.6, 0.5, 0.5], (n, 3))
    X = np.hstack([points, factor(rng, n, [0.5, 0.25, 0.25])])
    return X, outcome(rng, X, [0.4, 0.3, -0.8, 0.0, 0.6], -2.8)


def scale_by_group(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    group = rng.random(n) < 0.5
    scale = 1.0 + np.digitize(rng.standard_normal(n), [-1.0, 0.0, 1.0])
    X = np.column_stack([group, scale, group * scale])
    return X, outcome(rng, X, [-0.5, 0.5, 0.5], -1.2)


@dataclass(frozen=True)
class Population:
    """Rows and labels, and how they are fitted.

    Attributes
    ----------
    draw : callable
        Gives `n` rows and labels of 1 and -1.
    options : dict
        Of the model.
    at_large : callable, optional
        Draws the rows without the last columns, which are independent of the others
        and of the label: their coefficients are 0 in the population.
    tested : int
        First of the coefficients that are tested together, the intercept being 0.
    at_zero : bool
        Whether all coefficients are 0 in the population: predictors say nothing, and
        both classes weigh the same. The intercept may then be anything from -1 to 1
        with the hinge; 0 stands for it.
    """

    draw: Draw
    options: dict[str, Any]
    at_large: Draw | None = None
    tested: int = 1
    at_zero: bool = False


PLAIN = (normal, correlated, heavy_tails, lognormal, binary, factor_of_3, factor_of_8)
PLAIN += (counts, scales, mixed, rare, interaction)
FEW_VALUES = (items, survey, ten_dummies, rare_dummies, two_factors, factor_of_12)
FEW_VALUES += (passengers, many_zeros, scores, scale_by_group)
STANDARDIZED: dict[str, Any] = {"standardize": True}
BALANCED: dict[str, Any] = {"weights": "balanced"}

POPULATIONS = {
    **{draw.__name__: Population(draw, {}) for draw in PLAIN},
    "ten_rows_each": Population(ten_rows_each, {}, effects),
    "nulls": Population(nulls, {}, two_effects, 3),
    "no_effects": Population(no_effects, {}, at_zero=True),
    "discrete_nulls": Population(discrete_nulls, {}, two_effects, 3),
    "normal, standardized": Population(normal, STANDARDIZED),
    "lognormal, standardized": Population(lognormal, STANDARDIZED),
    "mixed, standardized": Population(mixed, STANDARDIZED),
    "mixed, balanced": Population(mixed, BALANCED),
    "rare, balanced": Population(rare, BALANCED),
    **{draw.__name__: Population(draw, {}) for draw in FEW_VALUES},
}


if __name__ == "__main__":
    for name, population in POPULATIONS.items():
        X, y = population.draw(np.random.default_rng(1), 1000)
        print(
            f"{name:25s} {X.shape[1]:3d} predictors, {(y > 0.0).mean():4.0%} positive"
        )
