"""Time linear SVMs with many more rows than columns.

    python benchmarks/many_rows.py [--rows 1000000] [--columns 50] [--peer]

Prints the processor time and the elapsed time of Optimum for each lambda and tolerance.
With ``--peer`` it also times LinearSVC (hinge, dual, tol 1e-3), which penalises the
intercept and gives no certificate. Compilation is not timed. The script fails if a
relative gap exceeds the tolerance.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from pegasos_stats.solvers.certificate import certificate, primal
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.optimum_run import run_to_optimum
from pegasos_stats.solvers.problem import Problem

LAMBDAS, TOLS = [1e-2, 1e-3, 1e-5], [1e-3, 1e-6]


def rows(n: int, p: int) -> tuple[Any, Any]:
    """Simulate normal predictors; about one row in six is misclassified."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    scores = X @ (rng.standard_normal(p) / np.sqrt(p)) + 0.2
    return X, np.where(scores + 0.5 * rng.standard_normal(n) > 0.0, 1.0, -1.0)


def times(run: Callable[[], object]) -> tuple[float, float]:
    """Return the processor time and the elapsed time of a call."""
    began = time.process_time(), time.perf_counter()
    run()
    return time.process_time() - began[0], time.perf_counter() - began[1]


def compare(problem: Problem, tol: float, repeats: int, has_peer: bool) -> str:
    """Return a line with the median time of Optimum and, from one run, LinearSVC."""
    solver, found, ours = Optimum(tol=tol, seed=1), [], []

    def by_reads() -> None:
        found.append(run_to_optimum(problem, solver, warn=False))

    for _ in range(repeats):
        ours.append(times(by_reads))
    best = found[-1]
    at = certificate(problem, best.beta, best.alpha, best.dual)
    if not at.relative_gap <= tol:
        raise SystemExit(f"the relative gap is {at.relative_gap:.2g}, above {tol:g}")
    seconds = np.median(ours, axis=0)
    text = (
        f"lambda {problem.lam:g}, tol {tol:g}: {seconds[0]:.3f} s of processor time, "
        f"{seconds[1]:.3f} s elapsed"
    )
    if has_peer:
        C = 1.0 / (problem.lam * problem.n)
        peer = LinearSVC(loss="hinge", dual=True, tol=1e-3, C=C, random_state=1)
        spent, _ = times(lambda: peer.fit(problem.X, problem.y))
        above = primal(problem, peer.coef_[0], float(peer.intercept_[0]))
        text += (
            f"; LinearSVC {spent / seconds[0]:.1f} times, at most "
            f"{above / at.dual_objective - 1.0:.0e} above the minimum"
        )
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--peer", action="store_true")
    options = parser.parse_args()
    compare(Problem(*rows(60_000, 5), 0.01), 1e-6, 1, False)  # compiles
    X, y = rows(options.rows, options.columns)
    for lam in LAMBDAS:
        for tol in TOLS:
            problem = Problem(X, y, lam)
            problem.radius  # noqa: B018 - computed once for all fits of a model
            print(compare(problem, tol, options.repeats, options.peer), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()
