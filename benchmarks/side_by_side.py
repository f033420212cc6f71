"""Compare Pegasos with scikit-learn's SGDClassifier: equal epochs, one thread.

    python benchmarks/side_by_side.py [--epochs 5] [--repeats 7]

Prints, for each data set and arithmetic, the time of SGDClassifier as a multiple of the
time of Pegasos. The times of Pegasos include R's random permutations and the sum of the
subgradient weights; compilation is not timed. The checks of the data, once per model,
are timed separately. Sparse data sets are read from the folder that PEGASOS_STATS_DATA
names; without this variable they are omitted.
"""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from comparison import Comparison, in_turn, seconds
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


def compare(
    name: str, X: Any, y: Any, epochs: int, repeats: int
) -> Iterator[Comparison]:
    """Compare both kinds of arithmetic with SGDClassifier."""
    model = ps.SVM(y, X, lam=LAM)
    checks = median(seconds(lambda: ps.SVM(y, X, lam=LAM)) for _ in range(repeats))

    def theirs(seed: int) -> None:
        SGDClassifier(
            **{"loss": "hinge", "alpha": LAM, "max_iter": epochs, "tol": None},
            random_state=seed,
        ).fit(X, y)

    for arithmetic in ("reference", "fast"):

        def ours(seed: int, arithmetic: Any = arithmetic) -> None:
            model.fit(ps.Pegasos(epochs, seed=seed, arithmetic=arithmetic))

        found = in_turn(ours, theirs, repeats)
        whole = found.times * found.seconds / (found.seconds + checks)
        yield Comparison.on(
            name,
            X,
            (f"Pegasos, {arithmetic} arithmetic", f"{epochs} epochs"),
            ("SGDClassifier", f"{epochs} epochs"),
            found,
            f"{found.seconds / epochs / X.shape[0] * 1e9:.0f} ns a row; {whole:.2f} "
            "with the checks of the data",
        )


def dense_problem(n: int, p: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    noise = rng.standard_normal(n) * np.sqrt(p) / 2
    return X, np.where(X @ rng.standard_normal(p) + noise > 0, 1.0, -1.0)


def comparisons(epochs: int = 5, repeats: int = 7) -> Iterator[Comparison]:
    """Compare on normal rows of several shapes and on the available sparse sets."""
    for n, p in DENSE:
        yield from compare("normal", *dense_problem(n, p), epochs, repeats)
    folder = os.environ.get("PEGASOS_STATS_DATA")
    for file in SPARSE if folder else ():
        X, y = load_svmlight_file(str(Path(str(folder)) / file))
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        yield from compare(file.split(".")[0], X, y, epochs, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    for found in comparisons(options.epochs, options.repeats):
        print(found, flush=True)


if __name__ == "__main__":
    main()
