"""Compare logistic regression with the solvers of LogisticRegression.

    python benchmarks/log_time.py [--repeats 5] [--within 1e-9]

All programs minimise the same objective, with an unpenalised intercept, to the same
relative distance from the minimum. Each solver of scikit-learn gets the largest
tolerance among 1e-1, 1e-2, ... with which its objective is within this distance of the
certified minimum. The table contains the processor time of the fit, with one BLAS
thread; compilation is not timed. The checks of the data, once per model, are timed
separately. They include a copy of the data, whose time depends mainly on how fast the
machine allocates memory.
"""

import argparse
import warnings
from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
from comparison import Comparison, in_turn, seconds
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import pegasos_stats as ps
from pegasos_stats.solvers.certificate import primal

SHAPES = [(20_000, 20), (200_000, 50), (50_000, 300)]
LAMBDAS = [1e-3, 1e-5]
SOLVERS = ["lbfgs", "newton-cholesky", "newton-cg"]


def rows(n: int, p: int) -> tuple[Any, Any]:
    """Simulate normal predictors and the labels of a logistic model."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    score = X @ (rng.standard_normal(p) / np.sqrt(p)) * 2.0 - 0.5
    return X, np.where(score + rng.logistic(size=n) > 0, 1.0, -1.0)


def near(model: ps.Logit, solver: str, minimum: float, within: float) -> Any:
    """Return LogisticRegression with the largest tolerance that suffices, or None."""
    problem = model.problem
    for digits in range(1, 16):
        peer = LogisticRegression(
            C=1.0 / (problem.lam * problem.n),
            solver=solver,
            tol=10.0**-digits,
            max_iter=10_000,
        ).fit(problem.X, problem.y)
        at = primal(problem, peer.coef_[0], float(peer.intercept_[0]))
        if at <= minimum * (1.0 + within):
            return peer
    return None


def comparisons(repeats: int = 5, within: float = 1e-9) -> Iterator[Comparison]:
    """Compare with every solver, on every data set."""
    for n, p in SHAPES:
        X, y = rows(n, p)
        for lam in LAMBDAS:
            model = ps.Logit(y, X, lam=lam)
            minimum = model.fit(ps.Optimum(tol=1e-12, seed=1)).dual_objective
            for solver in SOLVERS:
                peer = near(model, solver, minimum, within)
                if peer is not None:
                    yield compare(model, peer, repeats, within)


def compare(model: ps.Logit, peer: Any, repeats: int, within: float) -> Comparison:
    """Time both fits and the checks of the data."""
    X, y, lam = model.problem.X, model.problem.y, model.problem.lam
    checks = median(seconds(lambda: ps.Logit(y, X, lam=lam)) for _ in range(repeats))

    def ours(seed: int) -> None:
        model.fit(ps.Optimum(tol=within, seed=seed))

    found = in_turn(ours, lambda _: peer.fit(X, y), repeats)
    whole = found.times * found.seconds / (found.seconds + checks)
    return Comparison.on(
        f"normal, lambda {lam:g}",
        X,
        ("Logit", f"tol={within:g}"),
        (f"LogisticRegression, {peer.solver}", f"tol={peer.tol:g}"),
        found,
        f"both within {within:g} of the minimum; {whole:.2f} with the checks of the "
        "data",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--within", type=float, default=1e-9)
    options = parser.parse_args()
    for found in comparisons(options.repeats, options.within):
        print(found, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()
