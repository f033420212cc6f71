"""Simulate the coverage of nominal 95% intervals for clustered rows.

    python benchmarks/cluster_coverage.py

Groups have 4 to 16 rows and random effects on the predictors and on the outcome. Prints
for every loss and number of groups how often intervals contain the minimiser of the
penalised risk in the population, for each coefficient, the intercept first. ``CR3`` is
only for logistic regression; ``normal`` is ``CR1`` with ``use_t=False``; ``rows`` is
the sandwich for independent rows; ``bootstrap`` draws whole groups (``--bootstrap
199``). A sample of 40,000 groups represents the population.
"""

import argparse
import itertools
import warnings

import numpy as np
from numpy.typing import NDArray

import pegasos_stats as ps

Vector = NDArray[np.float64]
SLOPES = np.array([1.0, -0.5, 0.0])
LAM = 1e-2
POPULATION = 40_000  # groups: the target is known to 3% of a standard error or better


def drawn(rng: np.random.Generator, number: int) -> tuple[Vector, Vector, Vector]:
    """Simulate predictors, labels and groups."""
    sizes = rng.integers(4, 17, number)
    groups = np.repeat(np.arange(number), sizes)
    n, p = groups.size, SLOPES.size
    X = rng.standard_normal((n, p)) + 0.7 * rng.standard_normal((number, p))[groups]
    effect = rng.standard_normal(number)[groups]
    score = -0.4 + X @ SLOPES + effect + rng.logistic(size=n)
    return X, np.where(score > 0.0, 1.0, 0.0), groups


def intervals(
    model: type[ps.SVM | ps.Logit], number: int, resamples: int, seed: int
) -> dict[str, Vector]:
    """Return the intervals of all coefficients by each method, shape (k, 2)."""
    X, y, groups = drawn(np.random.default_rng([seed, number]), number)
    fit = model(y, X, lam=LAM).fit(ps.Optimum(tol=1e-7, epochs=1000, seed=1))
    kinds: dict[str, ps.Cluster | ps.Bootstrap] = {
        "normal": ps.Cluster(correction="CR1", use_t=False),
        "CR1": ps.Cluster(correction="CR1"),
    }
    if model is ps.Logit:
        kinds["CR3"] = ps.Cluster(correction="CR3")
    if resamples:
        kinds["bootstrap"] = ps.Bootstrap(resamples, seed=seed, tol=1e-6, workers=1)
    fits = {name: fit.with_covariance(kind, groups) for name, kind in kinds.items()}
    fits["rows"] = fit.with_covariance("sandwich")
    return {name: result.conf_int().to_numpy() for name, result in fits.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=2000)
    parser.add_argument("--bootstrap", type=int, default=0, metavar="RESAMPLES")
    parser.add_argument("--groups", nargs="+", type=int, default=[30, 50, 100])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    error = (0.95 * 0.05 / given.replications) ** 0.5
    print(f"An estimated coverage of 0.950 has a standard error of {error:.4f}.")
    models = {"log": ps.Logit, "hinge": ps.SVM}
    for (loss, model), number in itertools.product(models.items(), given.groups):
        X, y, _ = drawn(np.random.default_rng(0), POPULATION)
        target = (
            model(y, X, lam=LAM).fit(ps.Optimum(tol=1e-8, seed=1)).params.to_numpy()
        )
        covered: dict[str, list[Vector]] = {}
        for seed in range(1, given.replications + 1):
            limits = intervals(model, number, given.bootstrap, seed)
            for name, (low, high) in ((n, each.T) for n, each in limits.items()):
                held = (low <= target) & (target <= high)
                covered.setdefault(name, []).append(held)
        print(f"{loss}, {number} groups")
        for name, held in covered.items():
            shares = np.mean(held, axis=0)
            print(f"  {name:10s}", " ".join(f"{share:.3f}" for share in shares))


if __name__ == "__main__":
    main()
