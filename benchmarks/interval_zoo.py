"""Coverage of default 95% intervals, and the size of joint tests, on many populations.

    python benchmarks/interval_zoo.py
    python benchmarks/interval_zoo.py --population binary counts --rows 1000 --as plain

A line for every population, loss, number of rows and lambda. ``low`` and ``high`` are
the smallest and the largest share of samples whose interval for a coefficient holds the
minimiser of the penalised risk in the population, coefficients that are pinned left out
of ``high``; ``joint`` is the share in which the true values of all slopes (of the nine
without effect in ``nulls``) are rejected together at 5%; ``low*`` and ``high*`` are for
the coefficients on the original scale, with ``--as standardized``. The minimiser is
that of one draw of ``--population-rows`` rows. Numbers depend on the seed alone.
"""

import argparse
import itertools
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pegasos_stats as ps

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], tuple[Matrix, Vector]]

LEVEL = 0.05
TO_OPTIMUM = ps.SDCA(tol=1e-8, epochs=2000, seed=1)
TARGET = ps.SDCA(tol=1e-6, epochs=500, seed=1)
LOSSES: dict[str, Any] = {"hinge": ps.SVM, "log": ps.Logit}
FITS: dict[str, dict[str, Any]] = {
    "plain": {},
    "standardized": {"standardize": True},
    "balanced": {"weights": "balanced"},
}


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


def ten_rows_each(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = normals(rng, n, 30)
    return X, outcome(rng, X, [1.0, 0.5, -0.5] + [0.0] * 27, 0.0)


def nulls(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = normals(rng, n, 11)
    return X, outcome(rng, X, [1.5, -1.0] + [0.0] * 9, 0.0)


def discrete_nulls(rng: np.random.Generator, n: int) -> tuple[Matrix, Vector]:
    X = np.hstack(
        [normals(rng, n, 2), rng.random((n, 5)) < 0.4, rng.poisson(1, (n, 4))]
    )
    return X, outcome(rng, X, [1.5, -1.0] + [0.0] * 9, 0.0)


POPULATIONS: dict[str, Draw] = {
    draw.__name__: draw
    for draw in (
        *(normal, correlated, heavy_tails, lognormal, binary, factor_of_3, factor_of_8),
        *(counts, scales, mixed, rare, interaction, ten_rows_each, nulls),
        discrete_nulls,
    )
}


@dataclass(frozen=True)
class Setting:
    """One line of the table."""

    population: str
    fit: str
    loss: str
    n: int
    lam: float

    def fitted(self, rng: np.random.Generator, n: int, solver: ps.SDCA) -> Any:
        """Fit as many rows of the population."""
        X, y = POPULATIONS[self.population](rng, n)
        model = LOSSES[self.loss](y, X, lam=self.lam, **FITS[self.fit])
        return model.fit(solver)


@cache
def targets(setting: Setting, rows: int, seed: int) -> tuple[Vector, Vector]:
    """The population's coefficients, and those on the original scale."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = setting.fitted(np.random.default_rng([seed, 0]), rows, TARGET)
    return found.params.to_numpy(), found.params_original.to_numpy()


def replication(setting: Setting, target: Any, seed: int, number: int) -> Any:
    """Which intervals hold the target, and which coefficients are pinned."""
    theta, original = target
    rng = np.random.default_rng([seed, setting.n, 1 + number])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = setting.fitted(rng, setting.n, TO_OPTIMUM)
        table = result.tidy()
        covers = [
            ((frame["conf_low"] <= true) & (true <= frame["conf_high"])).to_numpy()
            for frame, true in ((table, theta), (result.tidy(original=True), original))
        ]
        first = 3 if "nulls" in setting.population else 1
        joint = result.wald_test((np.eye(len(theta))[first:], theta[first:]))
    pinned = np.isnan(table["statistic"].to_numpy()) & table["conf_low"].notna()
    return *covers, joint.pvalue <= LEVEL, pinned.to_numpy()


def line(setting: Setting, count: int, rows: int, seed: int) -> str:
    """The line of a setting."""
    target = targets(setting, rows, seed)
    done = [replication(setting, target, seed, number) for number in range(count)]
    single, original, joint, pinned = (
        np.mean(part, axis=0) for part in zip(*done, strict=True)
    )
    free = pinned < 0.5
    high = [part[free].max() if free.any() else np.nan for part in (single, original)]
    return (
        f"{setting.population:15s} {setting.fit:12s} {setting.loss:5s} {setting.n:5d} "
        f"{setting.lam:<6g} {single.min():.3f} {high[0]:.3f}  {joint:.3f}  "
        f"{original.min():.3f} {high[1]:.3f}  {int((~free).sum())}"
    )


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    every = list(POPULATIONS)
    parser.add_argument("--population", nargs="+", choices=every, default=every)
    parser.add_argument("--as", nargs="+", dest="fits", choices=FITS, default=["plain"])
    parser.add_argument("--loss", nargs="+", choices=LOSSES, default=list(LOSSES))
    parser.add_argument("--rows", nargs="+", type=int, default=[300, 1000, 3000])
    parser.add_argument("--lam", nargs="+", type=float, default=[1e-1, 1e-2, 1e-3])
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--population-rows", type=int, default=400_000)
    parser.add_argument("--seed", type=int, default=443)
    parser.add_argument("--workers", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    given = options()
    axes = given.population, given.fits, given.loss, given.rows, given.lam
    settings = [Setting(*values) for values in itertools.product(*axes)]
    error = (0.95 * 0.05 / given.replications) ** 0.5
    print(f"{given.replications:,} replications: 0.950 is known to {error:.4f}")
    print(f"{'population':15s} {'fit':12s} {'loss':5s} {'rows':>5s} lambda ", end="")
    print("low   high   joint  low*  high*  pinned", flush=True)
    with ProcessPoolExecutor(given.workers) as pool:
        rest = given.replications, given.population_rows, given.seed
        for text in pool.map(
            line, settings, *([value] * len(settings) for value in rest)
        ):
            print(text, flush=True)


if __name__ == "__main__":
    main()
