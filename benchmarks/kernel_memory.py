"""Measure the memory of kernel Pegasos on 20,000 rows.

    python benchmarks/kernel_memory.py

Prints the time, how many rows of the Gram matrix were computed and how many were found
in memory, the growth of the process's peak memory, the certificate, the error rate on
new rows, and the time of scikit-learn's SVC at the same lambda.
"""

import contextlib
import io
import resource
import sys
import time

import numpy as np

from pegasos_stats.compiled.kernel_pegasos import (
    gram_of,
    kernel_pegasos_epoch,
    kernel_scores,
)
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.kernel_problem import (
    KernelFunction,
    KernelProblem,
    KernelSolution,
    kernel_certificate,
)

N, P, LAM, EPOCHS = 20_000, 20, 1e-4, 5
FUNCTION = KernelFunction("gaussian", gamma=1.0 / P)
KERNEL = FUNCTION.code()


def peak_mib() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def two_classes(n: int, rng: RRandom) -> tuple[np.ndarray, np.ndarray]:
    """Simulate rows whose class depends on the squares of the first five features."""
    X = rng.rnorm(n * P).reshape(n, P)
    score = (X[:, :5] ** 2).sum(axis=1) - 5.0 + rng.rnorm(n)
    return X, np.where(score > 0.0, 1.0, -1.0)


def fit_and_print(n: int) -> None:
    rng = RRandom(443)
    X, y = two_classes(n, rng)
    before, start = peak_mib(), time.perf_counter()
    gram = gram_of(KERNEL, X)
    counts, g, alpha = np.zeros(n, dtype=np.int64), np.zeros(n), 0.0
    for epoch in range(EPOCHS):
        alpha, _ = kernel_pegasos_epoch(
            gram, y, rng.permutation(n), LAM, epoch * n, counts, g, alpha, False
        )
    seconds = time.perf_counter() - start
    computed, calls = int(gram.computed[0]), counts.sum()
    print(
        f"n = {n:,}, {EPOCHS} epochs: {seconds:.2f} s, {counts.sum():,} violations in "
        f"{np.count_nonzero(counts):,} rows\n"
        f"  kernel rows: {len(gram.values):,} places, {computed:,} computed, "
        f"{calls - computed:,} in memory ({1 - computed / calls:.0%})\n"
        f"  memory: grew by {peak_mib() - before:.0f} MiB (budget "
        f"512 MiB)"
    )
    print_certificate(X, y, counts, g)
    print_predictions(X, y, counts, two_classes(n, rng))
    print(
        f"  memory at the end: grew by {peak_mib() - before:.0f} MiB = "
        f"{(peak_mib() - before) / 1024:.2f} x 1 GiB, whole process "
        f"{peak_mib():.0f} MiB"
    )


def print_certificate(
    X: np.ndarray, y: np.ndarray, counts: np.ndarray, g: np.ndarray
) -> None:
    found = KernelSolution(counts, g, 0.0, EPOCHS * len(y), int(counts.sum()), None)
    times = []
    for free in (True, False):
        start = time.perf_counter()
        problem = KernelProblem(X, y, LAM, intercept=free, kernel=FUNCTION)
        at = kernel_certificate(problem, found)
        times.append(time.perf_counter() - start)
    print(
        f"  objective {at.objective:.5f}, dual {at.dual_objective:.5f}, relative gap "
        f"{at.relative_gap:.2g} ({times[1]:.4f} s; free intercept {times[0]:.2f} s)"
    )


def print_predictions(
    X: np.ndarray,
    y: np.ndarray,
    counts: np.ndarray,
    new: tuple[np.ndarray, np.ndarray],
) -> None:
    start = time.perf_counter()
    kept = counts > 0
    weights = (counts / (LAM * EPOCHS * len(y)) * y)[kept]
    scores = kernel_scores(KERNEL, X[kept], weights, new[0], 0.0)
    errors = float((np.sign(scores) != new[1]).mean())
    print(
        f"  scores of {len(scores):,} new rows: {time.perf_counter() - start:.2f} s, "
        f"{errors:.1%} misclassified"
    )


def print_svc(n: int) -> None:
    from sklearn.svm import SVC

    X, y = two_classes(n, RRandom(443))
    start = time.perf_counter()
    SVC(C=1.0 / (LAM * n), gamma=1.0 / P).fit(X, y)
    print(f"  scikit-learn's SVC: {time.perf_counter() - start:.2f} s")


def main() -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        fit_and_print(200)  # compile
    fit_and_print(N)
    print_svc(N)


if __name__ == "__main__":
    main()
