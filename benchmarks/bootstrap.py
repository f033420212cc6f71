"""Time the bootstrap on one core, on all cores, and compared with scikit-learn.

``python benchmarks/bootstrap.py``. Runs with one worker and with all workers alternate;
the speed-up is the median ratio over pairs of runs. The maximum speed-up follows from
Amdahl's law and the share of processor time that the calling thread alone needs; on a
busy machine the measured speed-up is smaller. For comparison, a loop refits models of
scikit-learn, with their default tolerances, to some resamples, given as weights.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from pegasos_stats.models.inference.bootstrap import bootstrap
from pegasos_stats.models.inference.options import Bootstrap
from pegasos_stats.parallel import n_workers
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.optimum_run import run_to_optimum
from pegasos_stats.solvers.problem import LossName, Problem, Solution

SIZES = [(300, 5), (1000, 10), (6000, 9), (30_000, 10)]
FEW = 2000  # maximum number of rows for which scikit-learn is timed
LOSSES: tuple[LossName, ...] = ("hinge", "log")


def drawn(n: int, p: int, loss: LossName, lam: float) -> Problem:
    rng = np.random.default_rng(n + p)
    X = rng.standard_normal((n, p))
    X[:, 1] += 0.5 * X[:, 0]
    y = np.where(X[:, 0] - 0.5 * X[:, 1] + rng.standard_normal(n) > 0.3, 1.0, -1.0)
    return Problem(X, y, lam, loss)


def seconds(run: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def serial_share(run: Callable[[], Any]) -> float:
    """Return the calling thread's share of the processor time of all threads."""
    every, own = time.process_time(), time.thread_time()
    run()
    return (time.thread_time() - own) / (time.process_time() - every)


def measure(problem: Problem, fit: Solution, replicates: int, repeats: int) -> float:
    """Print the times of the bootstrap; return the seconds per replicate."""

    def run(workers: int) -> None:
        bootstrap(problem, fit, Bootstrap(replicates, seed=443, workers=workers))

    cores = n_workers(None)
    run(cores)
    times = [[seconds(lambda w=w: run(w)) for w in (1, cores)] for _ in range(repeats)]
    one, many = np.median(times, axis=0)
    ratio = np.median([first / second for first, second in times])
    share = serial_share(lambda: run(cores))
    allowed = 1.0 / (share + (1.0 - share) / cores)
    print(
        f"{problem.n:>5} x {problem.p:<3} {problem.loss:>5}, lambda {problem.lam:.2g}: "
        f"{replicates} replicates "
        f"in {one:.3f} s on 1 worker, {many:.3f} s on {cores}, {ratio:.2f} times as "
        f"fast (at most {allowed:.2f}); {replicates / many:,.0f} per second",
        flush=True,
    )
    return float(one) / replicates


def peers(problem: Problem) -> dict[str, Any]:
    C = 1.0 / (problem.lam * problem.n)
    if problem.loss == "log":
        return {"LogisticRegression": LogisticRegression(C=C, max_iter=1000)}
    return {
        "SVC": SVC(kernel="linear", C=C),
        "LinearSVC": LinearSVC(loss="hinge", C=C, max_iter=10_000),
    }


def beside(problem: Problem, each: float, resamples: int) -> None:
    """Print the time per replicate of a loop that refits models of scikit-learn."""
    rng, n = RRandom(443), problem.n
    weights = [
        np.bincount(rng.sample_int(n, n, replace=True) - 1, minlength=n).astype(float)
        for _ in range(resamples)
    ]
    for name, model in peers(problem).items():

        def loop(model: Any = model) -> None:
            for w in weights:
                model.fit(problem.X, problem.y, sample_weight=w)

        took = seconds(loop) / resamples
        print(f"{'':>19}{name} {1e3 * took:.2f} ms per fit, {took / each:.1f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=999)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--lam", type=float, help="penalty (default: 1e-3 and 1/n)")
    peers = "number of resamples for scikit-learn"
    parser.add_argument("--peers", type=int, default=50, help=peers)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for n, p in SIZES:
        for loss in LOSSES:
            for lam in [options.lam] if options.lam else [1e-3, 1.0 / n]:
                problem = drawn(n, p, loss, lam)
                fit = run_to_optimum(problem, Optimum(epochs=1000, tol=1e-6, seed=0))
                each = measure(problem, fit, options.replicates, options.repeats)
                if n <= FEW:
                    beside(problem, each, options.peers)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
