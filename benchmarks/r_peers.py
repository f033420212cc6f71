"""Compare fits with R's packages e1071 and glmnet, on the same rows.

    python benchmarks/r_peers.py [--repeats 3]

R's generator draws the rows in both languages. The hinge is compared with
``e1071::svm(kernel = "linear", cost = 1 / (n lambda), scale = FALSE)``, the log loss
with ``glmnet(alpha = 0, lambda = lambda, standardize = FALSE)``. Both have their
default tolerances and are timed inside R; this script computes their objectives. A
package that is not installed in R is omitted.
"""

import argparse
import shutil
import subprocess
from collections.abc import Iterator

import numpy as np
from comparison import Comparison, Ratio, seconds

import pegasos_stats as ps
from pegasos_stats.solvers.certificate import primal

SHAPES = [(2_000, 20), (5_000, 20), (2_000, 200)]
LAMBDAS = [1e-2, 1e-3]
TOL = 1e-6
SCRIPT = """
if (!requireNamespace("{package}", quietly = TRUE)) quit(status = 3)
set.seed(1)
X <- matrix(rnorm({n} * {p}), {n}, {p})
y <- ifelse(X[, 1] - X[, 2] + rnorm({n}) > 0, 1, -1)
colnames(X) <- paste0("x", seq_len({p}))
fitted <- function() {fit}
invisible(fitted())
for (k in seq_len({repeats})) cat(system.time(fit <- fitted())[["user.self"]], "")
cat("\\n", sprintf("%a", {coefficients}), "\\n")
"""
PEERS = {
    "e1071": (
        'e1071::svm(X, factor(y), kernel = "linear", cost = 1 / ({n} * {lam}), '
        "scale = FALSE)",
        "c(-fit$rho, crossprod(fit$SV, fit$coefs)) * c(-1, 1)[fit$labels[1]]",
        "e1071::svm",
    ),
    "glmnet": (
        'glmnet::glmnet(X, y, "binomial", alpha = 0, lambda = {lam}, '
        "standardize = FALSE)",
        "as.numeric(stats::coef(fit))",
        "glmnet",
    ),
}


def in_r(package: str, n: int, p: int, lam: float, repeats: int) -> list[list[str]]:
    """Return seconds, and intercept and coefficients; empty without the package."""
    fit, coefficients, _ = PEERS[package]
    script = SCRIPT.format(
        **{"package": package, "n": n, "p": p, "repeats": repeats},
        fit=fit.format(n=n, lam=lam),
        coefficients=coefficients,
    )
    run = subprocess.run(
        ["Rscript", "--vanilla", "-e", script], capture_output=True, text=True
    )
    if run.returncode == 3:
        return []
    run.check_returncode()
    return [line.split() for line in run.stdout.splitlines()]


def compare(
    package: str, model: ps.SVM | ps.Logit, repeats: int
) -> Iterator[Comparison]:
    """Compare with one package; nothing if it is not installed in R."""
    problem = model.problem
    n, p = problem.X.shape
    if not (found := in_r(package, n, p, problem.lam, repeats)):
        return
    model.fit(ps.Optimum(tol=TOL, seed=0))
    ours = [
        seconds(lambda k=k: model.fit(ps.Optimum(tol=TOL, seed=k)))
        for k in range(1, repeats + 1)
    ]
    best = model.fit(ps.Optimum(tol=TOL, seed=1))
    alpha, *beta = (float.fromhex(number) for number in found[1])
    at = primal(problem, np.array(beta), alpha)
    yield Comparison.on(
        f"normal, lambda {problem.lam:g}",
        problem.X,
        (f"Optimum, {problem.loss} loss, linear", f"tol={TOL:g}"),
        (PEERS[package][2], "its own"),
        Ratio.of(ours, [float(number) for number in found[0]]),
        f"the other within {at / best.dual_objective - 1.0:.0e} of the minimum",
    )


def comparisons(repeats: int = 3) -> Iterator[Comparison]:
    """Compare with both packages on data of each shape; nothing without R."""
    for n, p in SHAPES if shutil.which("Rscript") else ():
        rng = ps.RRandom(1)
        X = np.ascontiguousarray(rng.rnorm(n * p).reshape((n, p), order="F"))
        y = np.where(X[:, 0] - X[:, 1] + rng.rnorm(n) > 0, 1, -1)
        for lam in LAMBDAS:
            yield from compare("e1071", ps.SVM(y, X, lam=lam), repeats)
            yield from compare("glmnet", ps.Logit(y, X, lam=lam), repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    for found in comparisons(parser.parse_args().repeats):
        print(found, flush=True)


if __name__ == "__main__":
    main()
