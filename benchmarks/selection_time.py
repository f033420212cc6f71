"""Compare lambda_path with scikit-learn's GridSearchCV, on one core.

    python benchmarks/selection_time.py [--folds 10] [--count 30] [--most 120]

Both fit the same lambdas on the same folds. lambda_path uses Optimum to a relative gap
of 1e-3, with an unpenalised intercept. GridSearchCV uses SVC (linear kernel), LinearSVC
(hinge) or LogisticRegression, with their default tolerances. Prints the time, its
ratio, and the smallest error rates. A classifier is omitted on a data set if the time
of a first fit implies that the search would take more than ``--most`` seconds. The data
sets jhu_bio and a9a are read from the folder that PEGASOS_STATS_DATA names.
"""

import argparse
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from comparison import Comparison, Ratio, seconds
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

import pegasos_stats as ps

PEERS: dict[str, list[Any]] = {
    "SVM": [SVC(kernel="linear"), LinearSVC(loss="hinge", dual=True)],
    "Logit": [LogisticRegression()],
}


def compare(
    name: str, model: Any, folds: int, count: int, most: float
) -> Iterator[Comparison]:
    """Compare a path with GridSearchCV of each peer, on the same folds."""
    X, y = model.problem.X, model.problem.y
    grid = ps.lambda_grid(model, count)
    options = {"folds": folds, "seed": 1, "metrics": "error_rate", "workers": 1}
    ps.lambda_path(model, grid[:2], folds=2, seed=1)
    path: Any = None

    def ours() -> None:
        nonlocal path
        path = ps.lambda_path(model, grid, **options)

    took = seconds(ours)
    values = {"C": list(1.0 / (grid * len(path.folds.splits[0].train)))}
    for peer in PEERS[type(model).__name__]:
        one = clone(peer).set_params(C=1.0 / (path.lambda_min * len(y)))
        if seconds(lambda one=one: one.fit(X, y)) * folds * count > most:
            continue
        search = GridSearchCV(peer, values, cv=list(path.folds), refit=False)
        theirs = seconds(lambda search=search: search.fit(X, y))
        size = f"{count} lambdas, {folds} folds"
        yield Comparison.on(
            name,
            X,
            (f"lambda_path of {type(model).__name__}", size),
            (f"GridSearchCV of {type(peer).__name__}", size),
            Ratio.of([took], [theirs]),
            f"best error rates {path.table['error_rate'].min():.4f} and "
            f"{1 - search.best_score_:.4f}",
        )


def comparisons(
    folds: int = 10, count: int = 30, most: float = 120.0
) -> Iterator[Comparison]:
    """Compare paths of both losses, on every data set."""
    train, _ = ps.datasets.load_digits56()
    sets = [("digits", train["digit"], train.drop(columns="digit"))]
    folder = os.environ.get("PEGASOS_STATS_DATA")
    for file in ("jhu_bio.train", "a9a.gz") if folder else ():
        data = ps.read_svmlight(Path(str(folder)) / file)
        sets.append((file.split(".")[0], data.y, data.X))
    for name, y, X in sets:
        for make in (ps.SVM, ps.Logit):
            yield from compare(name, make(np.asarray(y), X), folds, count, most)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--most", type=float, default=120.0)
    options = parser.parse_args()
    for found in comparisons(options.folds, options.count, options.most):
        print(found, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()
