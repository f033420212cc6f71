"""SDCA with a free intercept beside scikit-learn's LinearSVC and SVC, one thread.

    python benchmarks/sdca_time.py [--repeats 7] [--tol 1e-3] [--svc]

Prints, for each data set and lam, the processor time to a relative gap of ``tol``, how
many times that LinearSVC (hinge, dual, tol 1e-3, a penalised intercept, no certificate)
takes, and with --svc how many times SVC with a linear kernel takes, which is minutes.
Compilation is not timed. The sets a9a, ijcnn1 and w8a are read from the folder that
PEGASOS_STATS_DATA names.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from pegasos_stats.solvers.objective import certificate, primal
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_run import run_sdca

FILES = ["a9a.gz", "ijcnn1.bz2", "w8a.gz"]
LAMBDAS = [1e-3, 1e-4]


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.thread_time()
    found = run()
    return time.thread_time() - begin, found


def excess(problem: Problem, model: Any, dual: float) -> float:
    """How far a fitted model is above the dual objective, relative to it."""
    beta = model.coef_
    beta = np.ravel(beta.toarray() if hasattr(beta, "toarray") else beta)
    return primal(problem, beta, float(model.intercept_[0])) / dual - 1.0


def compare(name: str, problem: Problem, repeats: int, tol: float, svc: bool) -> None:
    X = problem.X
    C = 1.0 / (problem.lam * problem.n)
    run_sdca(problem, SDCA(seed=0, tol=tol))
    ours, theirs = [], []
    for seed in range(repeats):
        solver = SDCA(seed=seed, tol=tol)
        seconds, found = timed(lambda solver=solver: run_sdca(problem, solver))
        ours.append(seconds)
        other = LinearSVC(loss="hinge", dual=True, tol=1e-3, C=C, random_state=seed)
        theirs.append(timed(lambda other=other: other.fit(X, problem.y))[0])
    at = certificate(problem, found.beta, found.alpha, found.dual)
    ratios = np.divide(theirs, ours)
    print(
        f"{name:>7} lam {problem.lam:g}: {np.median(ours) * 1e3:6.1f} ms to a relative "
        f"gap of {at.relative_gap:.1e}; LinearSVC {np.median(ratios):4.1f} times (from "
        f"{ratios.min():.1f} to {ratios.max():.1f}), at most "
        f"{excess(problem, other, at.dual_objective):.1e} above the optimum",
        flush=True,
    )
    if svc:
        exact = SVC(kernel="linear", C=C)
        seconds, _ = timed(lambda: exact.fit(X, problem.y))
        print(f"{'':>7} SVC {seconds:.1f} s, {seconds / np.median(ours):.0f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--svc", action="store_true")
    options = parser.parse_args()
    folder = os.environ.get("PEGASOS_STATS_DATA")
    if folder is None:
        print("PEGASOS_STATS_DATA is not set: nothing to measure")
        return
    warnings.simplefilter("ignore")
    for file in FILES:
        X, y = load_svmlight_file(str(Path(folder) / file))
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        for lam in LAMBDAS:
            problem = Problem(csr_array(X), y, lam)
            compare(
                file.split(".")[0], problem, options.repeats, options.tol, options.svc
            )


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
