"""Compare lambda_path with R's cv.glmnet and scikit-learn's LogisticRegressionCV.

    python benchmarks/path_time.py [--folds 10] [--count 30] [--repeats 5]

All programs fit the same lambdas on the same folds of the same rows, in one thread.
lambda_path fits either loss to a relative gap of 1e-3 and computes all its metrics.
``cv.glmnet(alpha = 0, standardize = FALSE)``, timed inside R, and LogisticRegressionCV
fit the log loss with their default tolerances. R's generator draws the rows in both
languages. Without R or its package glmnet, cv.glmnet is omitted.
"""

import argparse
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from comparison import Comparison, Ratio, seconds
from sklearn.linear_model import LogisticRegressionCV
from threadpoolctl import threadpool_limits

import pegasos_stats as ps

SHAPES = [(2_000, 20), (20_000, 30)]
SCRIPT = """
if (!requireNamespace("glmnet", quietly = TRUE)) quit(status = 3)
set.seed(1)
X <- matrix(rnorm({n} * {p}), {n}, {p})
y <- ifelse(X[, 1] - X[, 2] + rnorm({n}) > 0, 1, -1)
lambdas <- c({lambdas})
folds <- scan("stdin", quiet = TRUE)
fitted <- function() glmnet::cv.glmnet(X, y, family = "binomial", alpha = 0,
    lambda = lambdas, foldid = folds, standardize = FALSE)
invisible(fitted())
for (k in seq_len({repeats})) cat(system.time(fit <- fitted())[["user.self"]], "")
"""


def in_r(model: Any, grid: Any, fold: Any, repeats: int) -> list[float]:
    """Return the seconds of each run of cv.glmnet; empty if it is not available."""
    if not shutil.which("Rscript"):
        return []
    n, p = model.problem.X.shape
    lambdas = ", ".join(f"{lam:.3e}" for lam in grid)
    script = SCRIPT.format(n=n, p=p, lambdas=lambdas, repeats=repeats)
    run = subprocess.run(
        ["Rscript", "--vanilla", "-e", script],
        input=" ".join(map(str, fold)),
        capture_output=True,
        text=True,
    )
    if run.returncode == 3:
        return []
    run.check_returncode()
    return [float(each) for each in run.stdout.split()]


def compare(model: Any, folds: int, count: int, repeats: int) -> Iterator[Comparison]:
    """Compare a path with both peers, on the same folds."""
    problem = model.problem
    X, y, n = problem.X, problem.y, problem.n
    grid = ps.lambda_grid(model, count)
    path = ps.lambda_path(model, grid, folds=folds, seed=1)

    def ours() -> None:
        assert ps.lambda_path(model, grid, folds=folds, seed=1, workers=1).lambda_min

    peer = LogisticRegressionCV(
        Cs=1.0 / (grid * (n * (folds - 1) / folds)),
        cv=list(path.folds),
        scoring="neg_log_loss",
        refit=False,
    )
    ours()
    took = [seconds(ours) for _ in range(repeats)]
    theirs = {
        "LogisticRegressionCV": [seconds(lambda: peer.fit(X, y))],
        "cv.glmnet": in_r(model, grid, path.folds.assignment[0], repeats),
    }
    size = f"{count} lambdas, {folds} folds"
    for name, times in theirs.items():
        if times:
            yield Comparison.on(
                "normal",
                X,
                (f"lambda_path of {type(model).__name__}", size),
                (name, size),
                Ratio.of([float(np.median(took))], [float(np.median(times))]),
                f"largest gap {path.by_fold['relative_gap'].max():.0e}",
            )


def comparisons(
    folds: int = 10, count: int = 30, repeats: int = 5
) -> Iterator[Comparison]:
    """Compare paths of both losses, on data of each shape."""
    for n, p in SHAPES:
        rng = ps.RRandom(1)
        X = np.ascontiguousarray(rng.rnorm(n * p).reshape((n, p), order="F"))
        y = np.where(X[:, 0] - X[:, 1] + rng.rnorm(n) > 0, 1, -1)
        for make in (ps.Logit, ps.SVM):
            yield from compare(make(y, X, lam=1.0), folds, count, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    for found in comparisons(options.folds, options.count, options.repeats):
        print(found, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()
