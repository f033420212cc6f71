"""Coverage of nominal 95% intervals, by simulation.

    python benchmarks/interval_coverage.py

For every configuration (population, loss, rows, share of the smaller class, lambda) and
every coefficient, intercept first: how often the interval covers the minimiser of the
penalised risk in the population, and the median standard error over the standard
deviation of the estimates. ``--bootstrap 200`` adds the pairs bootstrap, with as many
resamples to every replication. The numbers depend on the seed alone, not on the cores.
"""

import argparse
import itertools
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from populations import LogisticOutcome, Population, TwoGaussians, minimiser

import pegasos_stats as ps
from pegasos_stats.models.inference.bootstrap import bootstrap
from pegasos_stats.models.inference.bootstrap_options import INTERVALS, Bootstrap
from pegasos_stats.models.inference.options import BANDWIDTHS, CORRECTIONS, Sandwich
from pegasos_stats.models.inference.sandwich import sandwich
from pegasos_stats.models.inference.wald import estimates
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.sdca_run import run_sdca

Vector = NDArray[np.float64]

POPULATIONS = {
    "gaussian": TwoGaussians,
    "logistic": LogisticOutcome,
    "weak": lambda share: TwoGaussians(share, (0.7, 0.5, 0.0, 0.25)),
}
SOLVER = ps.SDCA(tol=1e-7, epochs=1000, seed=1)
TOGETHER = 50  # replications that a process takes at a time


@dataclass(frozen=True)
class Setting:
    """One configuration of the simulation."""

    population: str
    loss: str
    n: int
    share: float
    lam: float

    def __str__(self) -> str:
        return (
            f"{self.population:8s} {self.loss:5s} n={self.n:<5d} "
            f"{self.share:.0%}/{1 - self.share:.0%} lambda={self.lam:g}"
        )

    def made(self) -> Population:
        """Return the population."""
        return POPULATIONS[self.population](self.share)


@dataclass(frozen=True)
class Methods:
    """What is tried on every replication."""

    sandwich: Sandwich
    resamples: int
    seed: int


def replication(setting: Setting, methods: Methods, number: int) -> dict[str, Vector]:
    """Rows of estimate, standard error, low and high by every method."""
    rng = np.random.default_rng([methods.seed, setting.n, number])
    X, y = setting.made().draw(rng, setting.n)
    problem = Problem(X, y, setting.lam, setting.loss)  # type: ignore[arg-type]
    found = run_sdca(problem, SOLVER)
    theta = np.concatenate([[found.alpha], found.beta])
    got = sandwich(problem, found.beta, found.alpha, methods.sandwich, found.dual)
    by = estimates(theta, got.std_error)
    rows = {"sandwich": np.array([theta, by.std_error, by.conf_low, by.conf_high])}
    if methods.resamples:
        options = Bootstrap(methods.resamples, seed=number, tol=1e-6, workers=1)
        rows |= bootstrapped(problem, found, theta, options)
    return rows


def bootstrapped(
    problem: Problem, found: Solution, theta: Vector, options: Bootstrap
) -> dict[str, Vector]:
    """Intervals of every kind from the pairs bootstrap."""
    result = bootstrap(problem, found, options)
    return {
        kind: np.array([theta, result.std_error, *result.conf_int(interval=kind).T])
        for kind in INTERVALS
    }


def replications(task: tuple[Setting, Methods, range]) -> list[dict[str, Vector]]:
    setting, methods, numbers = task
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [replication(setting, methods, number) for number in numbers]


def run(
    settings: list[Setting], methods: Methods, count: int, workers: int
) -> Iterator[tuple[Setting, dict[str, Vector]]]:
    """Every setting with its replications stacked, (count, 4, k) for every method."""
    parts = [range(i, min(i + TOGETHER, count)) for i in range(0, count, TOGETHER)]
    tasks = ((setting, methods, part) for setting in settings for part in parts)
    with ProcessPoolExecutor(workers) as pool:
        done = pool.map(replications, tasks)
        for setting in settings:
            found = [
                rows for part in itertools.islice(done, len(parts)) for rows in part
            ]
            yield (
                setting,
                {name: np.array([r[name] for r in found]) for name in found[0]},
            )


def covered(rows: Vector, target: Vector) -> Vector:
    """Share of intervals that hold the target; one that is NaN does not."""
    return ((rows[:, 2] <= target) & (target <= rows[:, 3])).mean(axis=0)


def print_setting(setting: Setting, found: dict[str, Vector]) -> dict[str, Vector]:
    """Print the lines of a setting; the coverages by method."""
    target = minimiser(setting.made(), setting.loss, setting.lam)
    print(setting)
    shares = {}
    for method, rows in found.items():
        shares[method] = covered(rows, target)
        ratio = np.nanmedian(rows[:, 1], axis=0) / rows[:, 0].std(axis=0, ddof=1)
        undefined = int(np.isnan(rows[:, 1]).any(axis=1).sum())
        print(
            f"  {method:10s}",
            " ".join(f"{share:.3f}" for share in shares[method]),
            " se/sd",
            " ".join(f"{value:.2f}" for value in ratio),
            f" {undefined} undefined" if undefined else "",
            flush=True,
        )
    return shares


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=2000)
    parser.add_argument("--bootstrap", type=int, default=0, metavar="RESAMPLES")
    parser.add_argument(
        "--population", nargs="+", choices=POPULATIONS, default=["gaussian", "logistic"]
    )
    parser.add_argument("--loss", nargs="+", default=["hinge", "log"])
    parser.add_argument("--rows", nargs="+", type=int, default=[500, 2000])
    parser.add_argument("--share", nargs="+", type=float, default=[0.2, 0.5])
    parser.add_argument("--lam", nargs="+", type=float, default=[1e-2, 1e-3])
    parser.add_argument("--bandwidth", choices=BANDWIDTHS, default=BANDWIDTHS[0])
    parser.add_argument("--factor", type=float, default=1.0)
    parser.add_argument("--correction", choices=CORRECTIONS, default=CORRECTIONS[0])
    parser.add_argument("--plain", action="store_true", help="rows are not moved")
    parser.add_argument("--seed", type=int, default=443)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def main() -> None:
    given = options()
    chosen = Sandwich(given.bandwidth, given.factor, not given.plain, given.correction)
    methods = Methods(chosen, given.bootstrap, given.seed)
    axes = given.population, given.loss, given.rows, given.share, given.lam
    settings = [Setting(*values) for values in itertools.product(*axes)]
    error = (0.95 * 0.05 / given.replications) ** 0.5
    print(
        f"{chosen}\n{given.replications:,} replications: a coverage of 0.950 is known "
        f"to a standard error of {error:.4f}; intercept first"
    )
    all_shares: dict[str, list[float]] = {}
    for setting, found in run(settings, methods, given.replications, given.workers):
        for method, shares in print_setting(setting, found).items():
            all_shares.setdefault(method, []).extend(shares)
    for method, values in all_shares.items():
        print(
            f"{method}: {min(values):.3f} to {max(values):.3f} for "
            f"{len(values)} coefficients"
        )


if __name__ == "__main__":
    main()
