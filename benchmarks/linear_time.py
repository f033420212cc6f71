"""Measure the processor time per row, from ten thousand to ten million rows.

    python benchmarks/linear_time.py [--most 1e7] [--columns 20] [--copy] [--write docs]

Fits both losses to simulated normal predictors, in memory and from Parquet files, to
two tolerances. Prints the microseconds of processor time per row, of all threads and
including the checks of the data. The shortest of several repeats counts, because other
work on the machine only adds time. With glibc, the process keeps memory that it frees,
so that repeats after the first do not wait for new memory, which on some machines takes
longer than the fit. Rows in memory are read-only, so that the model need not copy them;
with ``--copy`` it copies them. The files contain a million rows each, in a folder that
is removed at the end. Compilation is not timed. For 1e7 rows of 20 columns it needs
5 GB of memory and 2 GB of disk space.
"""

import argparse
import csv
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from comparison import seconds
from threadpoolctl import threadpool_limits

import pegasos_stats as ps

LEAST = 10_000  # rows
FILE = 1_000_000  # rows per file
LAM = 1e-3
TOLS = [1e-3, 1e-6]
KEPT = {"MALLOC_MMAP_THRESHOLD_": str(2**33), "MALLOC_TRIM_THRESHOLD_": str(2**34)}
MODELS = {"hinge": (ps.SVM, ps.svm), "log": (ps.Logit, ps.logit)}


def rows(n: int, p: int) -> tuple[Any, Any]:
    """Simulate rows of two classes, of which about one in six is misclassified."""
    X, y = np.empty((n, p)), np.empty(n)
    rng = np.random.default_rng(0)
    direction = rng.standard_normal(p) / np.sqrt(p)
    for first in range(0, n, FILE):
        part = X[first : first + FILE]
        rng.standard_normal(out=part)
        noise = 0.5 * rng.standard_normal(len(part))
        y[first : first + FILE] = np.where(part @ direction + 0.2 + noise > 0, 1, -1)
    return X, y


def write(X: Any, y: Any, folder: Path) -> None:
    """Write the rows, a million per file."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    for first in range(0, len(y), FILE):
        part = slice(first, first + FILE)
        columns = {f"x{j}": X[part, j] for j in range(X.shape[1])}
        file = folder / f"rows{first // FILE:04d}.parquet"
        parquet.write_table(
            pa.table({"y": y[part], **columns}), file, use_dictionary=False
        )


def times(
    n: int, p: int, repeats: int, copy: bool
) -> Iterator[tuple[str, str, float, float]]:
    """Yield where the rows are, loss, tolerance, and microseconds per row."""
    X, y = rows(n, p)
    X.flags.writeable = copy
    with tempfile.TemporaryDirectory() as folder:
        write(X, y, Path(folder))
        for loss, (of_arrays, of_formula) in MODELS.items():
            for tol in TOLS:
                solver = ps.Optimum(tol=tol, seed=1)

                def in_memory(model: Any = of_arrays, solver: Any = solver) -> None:
                    model(y, X, lam=LAM).fit(solver)

                def from_files(model: Any = of_formula, solver: Any = solver) -> None:
                    found = ps.scan(f"{folder}/*.parquet", memory="2GiB")
                    model("y ~ .", found, lam=LAM).fit(solver)

                for home, fit in (("memory", in_memory), ("files", from_files)):
                    spent = [seconds(fit) for _ in range(repeats)]
                    yield home, loss, tol, 1e6 * min(spent) / n


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=float, default=1e7)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--copy", action="store_true")
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    for n in (60_000, LEAST):
        list(times(n, given.columns, 1, given.copy))
    found: dict[tuple[str, str, float], list[float]] = {}
    sizes = [n for n in (LEAST * 10**k for k in range(4)) if n <= given.most]
    for n in sizes:
        cell = n, given.columns, given.repeats, given.copy
        for home, loss, tol, spent in times(*cell):
            found.setdefault((home, loss, tol), []).append(spent)
            print(f"{n:>10,} rows in {home}, {loss}, {tol:g}: {spent:.3g}", flush=True)
    if given.write:
        with (given.write / "linear_time.csv").open("w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(
                ["Rows in", "Loss", "Relative gap", *(f"{n:,}" for n in sizes)]
            )
            for (home, loss, tol), spent in sorted(found.items(), reverse=True):
                each = (f"{value:.3g}" for value in spent)
                table.writerow([home, loss, f"{tol:g}", *each])


if __name__ == "__main__":
    if not KEPT.keys() <= os.environ.keys():  # glibc reads them at the start
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **KEPT})
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()
