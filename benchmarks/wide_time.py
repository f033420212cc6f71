"""SDCA with a free intercept beside liblinear, one thread, more columns than rows.

    python benchmarks/wide_time.py [--repeats 7] [--tol 1e-3] [--lam 1e-2 1e-3 1e-4]

Prints what ``benchmarks/sdca_time.py`` prints. Beside the log loss stands
scikit-learn's LogisticRegression (liblinear, dual, tol 1e-3, a penalised intercept).
Gaussian columns are made here; jhu_speech, jhu_nlp, rcv1 and reuters are read from the
folder that PEGASOS_STATS_DATA names.
"""

import argparse
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse import random as random_sparse
from sdca_time import excess, timed
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from pegasos_stats.solvers.objective import certificate
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_run import run_sdca

DENSE = [(200, 5000), (1000, 5000)]
SPARSE = [(500, 20000)]
FILES = {
    "speech": "jhu_speech.train.gz",
    "nlp": "jhu_nlp.train",
    "rcv1": "rcv1_ccat_vw1000.train.gz",
    "reuters": "reuters_acq.train.gz",
}


def labels(score: Any, rng: np.random.Generator) -> Any:
    noise = score.std() * rng.standard_normal(score.size)
    return np.where(score + noise > 0, 1.0, -1.0)


def sets() -> Iterator[tuple[str, Any, Any]]:
    rng = np.random.default_rng(0)
    for n, p in DENSE:
        X = rng.standard_normal((n, p))
        yield f"{n}x{p}", X, labels(X[:, :10].sum(1), rng)
    for n, p in SPARSE:
        X = random_sparse(n, p, 0.01, "csr", None, rng, rng.standard_normal)
        yield f"{n}x{p}", with_short_indices(X), labels(X @ rng.standard_normal(p), rng)
    folder = os.environ.get("PEGASOS_STATS_DATA")
    for name, file in FILES.items() if folder else ():
        X, y = load_svmlight_file(str(Path(str(folder)) / file))
        dense = name == "speech"
        yield (
            name,
            np.ascontiguousarray(X.toarray()) if dense else with_short_indices(X),
            np.where(y > 0, 1.0, -1.0),
        )


def with_short_indices(X: Any) -> Any:
    X = csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def peer(problem: Problem, seed: int) -> Any:
    C = 1.0 / (problem.lam * problem.n)
    if problem.loss == "hinge":
        return LinearSVC(loss="hinge", dual=True, tol=1e-3, C=C, random_state=seed)
    return LogisticRegression(
        C=C, tol=1e-3, solver="liblinear", dual=True, random_state=seed
    )


def compare(name: str, problem: Problem, repeats: int, tol: float) -> None:
    run_sdca(problem, SDCA(seed=0, tol=tol), warn=False)
    ours, theirs = [], []
    for seed in range(1, repeats + 1):
        solver, other = SDCA(seed=seed, tol=tol), peer(problem, seed)
        seconds, found = timed(lambda solver=solver: run_sdca(problem, solver))
        ours.append(seconds)
        theirs.append(timed(lambda other=other: other.fit(problem.X, problem.y))[0])
    at = certificate(problem, found.beta, found.alpha, found.dual)
    ratios = np.divide(theirs, ours)
    print(
        f"{name:>9} {problem.loss:>5} lam {problem.lam:g}: "
        f"{np.median(ours) * 1e3:5.1f} ms to a relative gap of {at.relative_gap:.1e}; "
        f"liblinear {np.median(ratios):4.1f} times (from {ratios.min():.1f} to "
        f"{ratios.max():.1f}), at most {excess(problem, other, at.dual_objective):.1e} "
        "above the optimum",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--lam", type=float, nargs="+", default=[1e-2, 1e-3, 1e-4])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, X, y in sets():
        for loss in ("hinge", "log"):
            for lam in options.lam:
                problem = Problem(X, y, lam, loss)
                compare(name, problem, options.repeats, options.tol)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
