"""Compare the speed of Pegasos steps with a bare loop that only sums the rows.

    python benchmarks/row_visits.py [--repeats 15]

The kernels of both kinds of arithmetic and the bare loop visit the same rows in the
same random order, alternately, in one thread. The bare loop only adds up the entries,
and is compiled to sum in any order. A ratio above 1 means that the kernel visits more
rows per second than the bare loop.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from pegasos_stats.compiled.pegasos import StepRule, pegasos_epoch, start

LAM = 1e-4
SHAPES = [(20_000, 20), (100_000, 20), (20_000, 100), (100_000, 100), (20_000, 1_000)]


@njit(fastmath=True)
def sum_rows(X: Any, rows: Any) -> float:
    total = 0.0
    for i in rows:
        for j in range(X.shape[1]):
            total += X[i, j]
    return total


def seconds(run: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def visit(n: int, p: int, repeats: int) -> None:
    rng = np.random.default_rng(0)
    X, rows = rng.standard_normal((n, p)), rng.permutation(n)
    noise = rng.standard_normal(n) * np.sqrt(p) / 2
    y = np.where(X @ rng.standard_normal(p) + noise > 0, 1, -1).astype(np.int8)
    states = {fast: start(n, p, np.inf) for fast in (False, True)}
    fast, reference = StepRule(LAM, fast=True), StepRule(LAM)
    runs: dict[str, Callable[[], Any]] = {
        "bare": lambda: sum_rows(X, rows),
        "fast": lambda: pegasos_epoch(X, y, rows, fast, states[True]),
        "reference": lambda: pegasos_epoch(X, y, rows, reference, states[False]),
    }
    for run in runs.values():
        run()
    times = [{name: seconds(run) for name, run in runs.items()} for _ in range(repeats)]
    per_row = {name: min(took[name] for took in times) / n * 1e9 for name in runs}
    for name in ("fast", "reference"):
        ratio = np.median([took["bare"] / took[name] for took in times])
        print(
            f"{n:>7} x {p:<5} {name:>9}: {ratio:5.2f} of the bare loop "
            f"({per_row[name]:.1f} and {per_row['bare']:.1f} ns a row)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    for n, p in SHAPES:
        visit(n, p, repeats)


if __name__ == "__main__":
    main()
