"""Dense rows of few columns: numpy beside compiled steps.

    python benchmarks/dense_rows.py [--loss hinge] [--most 20000]

Prints, for each loss, size, kind of data and lambda, the processor time of a fit to a
relative gap of 1e-6 by numpy, with the certificate of its result, and how many times
that of compiled steps it is, in turn and the shortest of many; then the geometric mean
and the largest ratio of the sizes below and from 2,000 rows on. Compilation is not
timed. Ends with an error if a gap is above the tolerance, or the two contradict each
other.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from pegasos_stats.solvers.dense.run import DenseRun
from pegasos_stats.solvers.methods import has_few_columns
from pegasos_stats.solvers.objective import Certificate, certificate
from pegasos_stats.solvers.problem import LossName, Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_steps import Narrow, run_epochs

TOL = 1e-6
SIZES = [(300, 5), (300, 20), (1000, 10), (2000, 20), (2000, 30), (6000, 9)]
SIZES += [(20_000, 30), (100_000, 10), (100_000, 30)]
KINDS = ["independent", "correlated", "discrete", "rare", "separable", "scales"]
LAMBDAS = {"1/n": None, "1e-3": 1e-3, "1e-1": 1e-1}
SOLVER = SDCA(tol=TOL, seed=1)


def rows(kind: str, n: int, p: int) -> tuple[Any, Any]:
    """Predictors and labels of a kind, the same ones every time."""
    rng = np.random.default_rng([n, p])
    X = rng.standard_normal((n, p))
    beta = 1.5 * rng.standard_normal(p) / np.sqrt(p)
    if kind == "correlated":
        X = 0.9 * rng.standard_normal((n, 1)) + 0.44 * X
    if kind == "discrete":
        X = (rng.random((n, p)) < rng.uniform(0.1, 0.5, p)).astype(np.float64)
        X[:, ::3] = rng.integers(0, 4, X[:, ::3].shape)
    scores = X @ beta - (4.0 if kind == "rare" else 0.0)
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-scores)), 1.0, -1.0)
    if kind == "rare":
        y[:3] = 1.0
    if kind == "separable":
        y = np.where(scores > 0.0, 1.0, -1.0)
    if kind == "scales":
        X = X * 10.0 ** rng.uniform(-3.0, 3.0, p)
    return X, y


def fitted(run: Any, problem: Problem) -> tuple[float, Certificate]:
    """Processor time of a fit with its certificate, and this."""
    began = time.process_time()
    found, _ = run_epochs(run(problem, SOLVER, None), problem.n, SOLVER)
    at = certificate(problem, found.beta, found.alpha, found.dual)
    return time.process_time() - began, at


def compare(problem: Problem, seconds: float) -> tuple[float, float]:
    """Shortest times by numpy and compiled, taken in turn."""
    ways = DenseRun, Narrow
    for way in ways:
        fitted(way, problem)
    spent: list[list[float]] = [[], []]
    while sum(map(sum, spent)) < seconds or len(spent[0]) < 5:
        found = [fitted(way, problem) for way in ways]
        for known, (new, _) in zip(spent, found, strict=True):
            known.append(new)
    at, other = (at for _, at in found)
    if not at.relative_gap <= TOL:
        raise SystemExit(f"the relative gap is {at.relative_gap:.2g}, above {TOL:g}")
    if at.dual_objective > other.objective or other.dual_objective > at.objective:
        raise SystemExit("the certificates contradict each other")
    return min(spent[0]), min(spent[1])


def table(loss: LossName, most: int, seconds: float) -> None:
    """Print the times of a loss."""
    ratios: dict[bool, list[float]] = {False: [], True: []}
    more = 0.0
    for n, p in SIZES:
        if n > most:
            continue
        for kind in KINDS:
            X, y = rows(kind, n, p)
            if not has_few_columns(Problem(X, y, 1.0, loss)):
                continue  # compiled
            line = f"{loss:5} {n:7,} x {p:3} {kind:11}"
            for name, lam in LAMBDAS.items():
                new, old = compare(Problem(X, y, lam or 1.0 / n, loss), seconds)
                ratios[n >= 2000].append(new / old)
                more = max(more, new - old) if n < 2000 else more
                line += f"  {name}: {1e3 * new:6.1f} ms, {new / old:4.2f}"
            print(line, flush=True)
    for many, found in ratios.items():
        if found:
            mean = np.exp(np.log(found).mean())
            name = "from 2,000 rows on" if many else "below 2,000 rows"
            print(f"{loss} {name}: {mean:.2f} in the mean, {max(found):.2f} at most")
    print(f"{loss} below 2,000 rows: at most {1e3 * more:.1f} ms more")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loss", choices=["hinge", "log"], action="append")
    parser.add_argument("--most", type=int, default=100_000, help="rows")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each problem")
    options = parser.parse_args()
    for loss in options.loss or ["log", "hinge"]:
        table(loss, options.most, options.seconds)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()
