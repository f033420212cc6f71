"""Pegasos beside scikit-learn's SGDClassifier: equal epochs, one thread, one run.

    python benchmarks/side_by_side.py [--epochs 5] [--repeats 7]

Prints, for each data set, how many times as fast each arithmetic is. The times of
Pegasos include R's random permutations and the count of slope weights; compilation is
not timed. The checks of the data, made once when the model is built, are timed apart.
Sparse sets are read from the folder that the environment variable PEGASOS_STATS_DATA
names.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier

import pegasos_stats as ps

LAM = 1e-4
DENSE: list[tuple[int, int]] = [
    (20_000, 20),
    (100_000, 20),
    (20_000, 100),
    (100_000, 100),
    (20_000, 1_000),
]
SPARSE = ["a9a.gz", "w8a.gz", "ijcnn1.bz2"]


def run_fit(model: Any, epochs: int, arithmetic: Any) -> None:
    model.fit(ps.Pegasos(epochs=epochs, seed=1, arithmetic=arithmetic))


def run_sgd(X: Any, y: Any, epochs: int) -> None:
    SGDClassifier(
        loss="hinge", alpha=LAM, max_iter=epochs, tol=None, shuffle=True, random_state=1
    ).fit(X, y)


def seconds(run: Callable[[], None]) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin


def compare(name: str, X: Any, y: Any, epochs: int, repeats: int) -> None:
    model = ps.SVM(y, X, lam=LAM)
    runs = {
        "sgd": lambda: run_sgd(X, y, epochs),
        "reference": lambda: run_fit(model, epochs, "reference"),
        "fast": lambda: run_fit(model, epochs, "fast"),
        "model": lambda: ps.SVM(y, X, lam=LAM),
    }
    for run in runs.values():
        run()
    times = [{key: seconds(run) for key, run in runs.items()} for _ in range(repeats)]
    for key in ("reference", "fast"):
        ratios = [took["sgd"] / took[key] for took in times]
        whole = [took["sgd"] / (took[key] + took["model"]) for took in times]
        per_row = min(took[key] for took in times) / epochs / X.shape[0] * 1e9
        print(
            f"{name:>16} {key:>9}: {np.median(ratios):5.2f} times SGDClassifier "
            f"(from {min(ratios):.2f} to {max(ratios):.2f}), {per_row:7.1f} ns a row; "
            f"{np.median(whole):.2f} with the checks of the data"
        )


def dense_problem(n: int, p: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    noise = rng.standard_normal(n) * np.sqrt(p) / 2
    return X, np.where(X @ rng.standard_normal(p) + noise > 0, 1.0, -1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    for n, p in DENSE:
        X, y = dense_problem(n, p)
        compare(f"{n} x {p}", X, y, options.epochs, options.repeats)
    folder = os.environ.get("PEGASOS_STATS_DATA")
    if folder is None:
        print("PEGASOS_STATS_DATA is not set: a9a, w8a and ijcnn1 left out")
        return
    for file in SPARSE:
        X, y = load_svmlight_file(str(Path(folder) / file))
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        compare(file.split(".")[0], X, y, options.epochs, options.repeats)


if __name__ == "__main__":
    main()
