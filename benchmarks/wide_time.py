"""Compare Optimum with liblinear on data with more columns than rows, in one thread.

    python benchmarks/wide_time.py [--repeats 7] [--tol 1e-3] [--lam 1e-2 1e-3 1e-4]

Prints the same as ``benchmarks/optimum_time.py``, also for the log loss, which is
compared with LogisticRegression (liblinear, dual, tol 1e-3, penalised intercept).
Gaussian columns are simulated; jhu_speech, jhu_nlp, rcv1 and reuters are read from the
folder that PEGASOS_STATS_DATA names.
"""

import argparse
import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from comparison import Comparison
from optimum_time import compare
from scipy.sparse import csr_array
from scipy.sparse import random as random_sparse
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from pegasos_stats.solvers.problem import LossName, Problem

DENSE = [(200, 5000), (1000, 5000)]
SPARSE = [(500, 20000)]
LOSSES: tuple[LossName, ...] = ("hinge", "log")
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
        yield "normal", X, labels(X[:, :10].sum(1), rng)
    for n, p in SPARSE:
        X = random_sparse(n, p, 0.01, "csr", None, rng, rng.standard_normal)
        yield "random", with_short_indices(X), labels(X @ rng.standard_normal(p), rng)
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


def peer(problem: Problem) -> Any:
    """Return scikit-learn's classifier that uses liblinear for this loss."""
    C = 1.0 / (problem.lam * problem.n)
    if problem.loss == "hinge":
        return LinearSVC(loss="hinge", dual=True, tol=1e-3, C=C)
    return LogisticRegression(C=C, tol=1e-3, solver="liblinear", dual=True)


def comparisons(
    repeats: int = 7, tol: float = 1e-3, lam: Sequence[float] = (1e-2, 1e-3, 1e-4)
) -> Iterator[Comparison]:
    """Compare on every data set, with both losses, for every lambda."""
    for name, X, y in sets():
        for loss in LOSSES:
            for each in lam:
                problem = Problem(X, y, each, loss)
                yield compare(name, problem, peer(problem), repeats, tol)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--lam", type=float, nargs="+", default=[1e-2, 1e-3, 1e-4])
    options = parser.parse_args()
    for found in comparisons(options.repeats, options.tol, options.lam):
        print(found, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()
