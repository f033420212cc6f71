"""Compare Optimum with scikit-learn's LinearSVC and SVC, in one thread.

    python benchmarks/optimum_time.py [--repeats 7] [--tol 1e-3] [--svc]

Prints, for each data set and lambda, the processor time of Optimum, with an unpenalised
intercept, until the relative gap is ``tol``. The time of LinearSVC (hinge, dual, tol
1e-3), which penalises the intercept and gives no certificate, is printed as a multiple
of this time. ``--svc`` adds SVC with a linear kernel, which takes minutes. Compilation
is not timed. The data sets a9a, ijcnn1 and w8a are read from the folder that
PEGASOS_STATS_DATA names.
"""

import argparse
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from comparison import Comparison, in_turn
from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from pegasos_stats.solvers.certificate import certificate, primal
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.optimum_run import run_to_optimum
from pegasos_stats.solvers.problem import Problem

FILES = ["a9a.gz", "ijcnn1.bz2", "w8a.gz"]
LAMBDAS = [1e-3, 1e-4]


def excess(problem: Problem, model: Any, dual: float) -> float:
    """Return the relative distance of a fitted model's objective from `dual`."""
    beta = model.coef_
    beta = np.ravel(beta.toarray() if hasattr(beta, "toarray") else beta)
    return primal(problem, beta, float(model.intercept_[0])) / dual - 1.0


def compare(
    name: str, problem: Problem, peer: Any, repeats: int, tol: float
) -> Comparison:
    """Compare Optimum with a classifier that solves nearly the same problem."""
    found: Any = None

    def ours(seed: int) -> None:
        nonlocal found
        found = run_to_optimum(problem, Optimum(seed=seed, tol=tol), warn=False)

    def theirs(seed: int) -> None:
        peer.set_params(random_state=seed).fit(problem.X, problem.y)

    ratio = in_turn(ours, theirs, repeats)
    at = certificate(problem, found.beta, found.alpha, found.dual)
    shape = "more columns than rows" if problem.p > problem.n else "linear"
    return Comparison.on(
        f"{name}, lambda {problem.lam:g}",
        problem.X,
        (f"Optimum, {problem.loss} loss, {shape}", f"tol={tol:g}"),
        (type(peer).__name__, f"tol={peer.tol:g}"),
        ratio,
        f"within {at.relative_gap:.0e} of the minimum, the other at most "
        f"{excess(problem, peer, at.dual_objective):.0e}",
    )


def comparisons(
    repeats: int = 7, tol: float = 1e-3, svc: bool = False
) -> Iterator[Comparison]:
    """Compare on the available data sets, for every lambda."""
    folder = os.environ.get("PEGASOS_STATS_DATA")
    for file in FILES if folder else ():
        X, y = load_svmlight_file(str(Path(str(folder)) / file))
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        for lam in LAMBDAS:
            problem = Problem(csr_array(X), y, lam)
            C = 1.0 / (lam * problem.n)
            name = file.split(".")[0]
            peer = LinearSVC(loss="hinge", dual=True, tol=1e-3, C=C)
            yield compare(name, problem, peer, repeats, tol)
            if svc:
                yield compare(name, problem, SVC(kernel="linear", C=C), 1, tol)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--svc", action="store_true")
    options = parser.parse_args()
    for found in comparisons(options.repeats, options.tol, options.svc):
        print(found, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()
