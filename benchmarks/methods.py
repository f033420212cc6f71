"""Compare the method that `Optimum` chooses with an alternative method.

    OPENBLAS_NUM_THREADS=1 python benchmarks/methods.py [--rounds 3]

Both run alternately to a relative gap of 1e-6. Prints the milliseconds of the fastest
run of each. The table in ``pegasos_stats/solvers/optimum.py`` contains times from an
idle machine.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

from beside import dense

import pegasos_stats as ps
from pegasos_stats.parallel import one_thread
from pegasos_stats.solvers.hinge_proximal import beginning
from pegasos_stats.solvers.optimum import Optimum, first_method, newton_method
from pegasos_stats.solvers.optimum_run import LinearRun, run_epochs
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.smooth_newton import null_model

Start = Callable[[Problem, Optimum], Any]


def chosen(problem: Problem, solver: Optimum) -> Any:
    """Return the method that the table chooses."""
    return first_method(problem, solver, None)


def newton(problem: Problem, solver: Optimum) -> Any:
    """Return Newton steps with their default choice of rows."""
    return newton_method(problem, solver)


def newton_over_all(problem: Problem, solver: Optimum) -> Any:
    """Return Newton steps over all rows from the null model, without subsamples."""
    if problem.loss != "hinge":
        theta = null_model(problem)
        start = theta[:-1], float(theta[-1]), 0.5 * problem.row_weights
    else:
        theta, dual = beginning(problem)
        start = theta[:-1], float(theta[-1]), dual
    return newton_method(problem, solver, start)


CASES: list[tuple[str, tuple[int, int], float, Start]] = [
    ("hinge", (300, 3_000), 1e-2, newton),
    ("hinge", (1_000, 10_000), 1e-3, newton),
    ("log", (300, 3_000), 1e-2, newton),
    ("log", (1_000, 10_000), 1e-3, newton),
    ("hinge", (20_000, 30), 1e-3, newton_over_all),
    ("hinge", (400_000, 10), 1e-3, newton_over_all),
    ("log", (20_000, 30), 1e-3, newton_over_all),
    ("log", (20_000, 200), 1e-3, newton_over_all),
    ("log", (100_000, 50), 1e-3, newton_over_all),
]


def seconds(problem: Problem, start: Start) -> float:
    """Return the seconds of a run; infinite if it does not reach the tolerance."""
    solver = Optimum()
    began = time.perf_counter()
    with one_thread():
        run = LinearRun(problem, solver)
        run._method = start(problem, solver)
        _, reached = run_epochs(run, problem.n, solver)
    return time.perf_counter() - began if reached else float("inf")


def main() -> None:
    """Print a line per case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    warnings.simplefilter("ignore")
    print(f"{'milliseconds':32} {'table':>9} {'other':>9}  other")
    for name, size, lam, other in CASES:
        X, y = dense(*size)
        kind = ps.Logit if name == "log" else ps.SVM
        problem = kind(y, X, lam=lam).problem
        times: dict[Start, list[float]] = {chosen: [], other: []}
        for _ in range(rounds + 1):  # the first round, with compilation, is not timed
            for start, measured in times.items():
                measured.append(seconds(problem, start))
        a, b = (1e3 * min(measured[1:]) for measured in times.values())
        label = f"{name} {size[0]} x {size[1]} lam {lam:g}"
        print(f"{label:32} {a:9.1f} {b:9.1f}  {other.__name__}", flush=True)


if __name__ == "__main__":
    main()
