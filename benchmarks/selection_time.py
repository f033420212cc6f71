"""lambda_path and cross_validate beside scikit-learn's GridSearchCV, one core.

    python benchmarks/selection_time.py [--folds 10] [--count 30] [--most 120]

Both fit the same values of lambda on the same folds: lambda_path by SDCA to a relative
gap of 1e-3 with an intercept that is not penalised, GridSearchCV with SVC (linear
kernel), LinearSVC (hinge) or LogisticRegression at their default tolerances. Prints
seconds, the ratio, and the error rates at the lambda that each of them chose. SVC and
LinearSVC are left out of a set where the first of their fits says that they would take
more than --most seconds. The sets jhu_bio and a9a are read from the folder that
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
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

import pegasos_stats as ps

PEERS: dict[str, list[Any]] = {
    "SVM": [SVC(kernel="linear"), LinearSVC(loss="hinge", dual=True)],
    "Logit": [LogisticRegression()],
}


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    found = run()
    return time.perf_counter() - begin, found


def compare(name: str, model: Any, folds: int, count: int, most: float) -> None:
    X, y = model.problem.X, model.problem.y
    grid = ps.lambda_grid(model, count)
    options = {"folds": folds, "seed": 1, "metrics": "error_rate", "workers": 1}
    ps.lambda_path(model, grid[:2], folds=2, seed=1)
    seconds, path = timed(lambda: ps.lambda_path(model, grid, **options))
    alone, once = timed(lambda: ps.cross_validate(path.best_model("min"), **options))
    best = path.table["error_rate"].min()
    kind = type(model).__name__
    print(
        f"{name} {kind}, {len(y):,} x {X.shape[1]}: lambda_path {seconds:.2f} s, best "
        f"error rate {best:.4f}; cross_validate {alone:.3f} s",
        flush=True,
    )
    n = len(path.folds.splits[0].train)
    values = {"C": list(1.0 / (grid * n))}
    for peer in PEERS[kind]:
        label = f"    {type(peer).__name__:<18}"
        chosen = clone(peer).set_params(C=1.0 / (path.lambda_min * n))
        one, _ = timed(lambda chosen=chosen: chosen.fit(X, y))
        if one * folds * count > most:
            print(f"{label} about {one * folds * count:.0f} s by one fit: left out")
            continue
        search = GridSearchCV(peer, values, cv=list(path.folds), refit=False)
        theirs, _ = timed(lambda search=search: search.fit(X, y))
        cv, _ = timed(
            lambda chosen=chosen: cross_val_score(chosen, X, y, cv=list(once.folds))
        )
        print(
            f"{label} GridSearchCV {theirs:.2f} s, {theirs / seconds:.1f} times, best "
            f"error rate {1 - search.best_score_:.4f}; cross_val_score {cv:.3f} s, "
            f"{cv / alone:.1f} times",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--most", type=float, default=120.0)
    options = parser.parse_args()
    given = options.folds, options.count, options.most
    warnings.simplefilter("ignore")
    train, _ = ps.datasets.load_digits56()
    sets = [("digits", train["digit"], train.drop(columns="digit"))]
    folder = os.environ.get("PEGASOS_STATS_DATA")
    if folder is None:
        print("PEGASOS_STATS_DATA is not set: the digits alone")
    else:
        for file in ("jhu_bio.train", "a9a.gz"):
            data = ps.read_svmlight(Path(folder) / file)
            sets.append((file.split(".")[0], data.y, data.X))
    for name, y, X in sets:
        for make in (ps.SVM, ps.Logit):
            compare(name, make(np.asarray(y), X), *given)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
