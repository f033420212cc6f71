"""Time fits to Dask frames on local clusters of 1, 2 and 4 processes.

    python benchmarks/dask_workers.py --rows 5e6 --columns 20

Simulates normal predictors of two classes in the memory of the workers, and fits a
linear SVM to a relative gap of 1e-4. It also fits a9a, which is read from the folder
that PEGASOS_STATS_DATA names. The times include the model, whose first pass counts rows
and classes, and the fit. Prints whether the coefficients are bitwise equal for all
numbers of processes.
"""

import argparse
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster, wait

import pegasos_stats as ps

PARTITIONS = 8
TOL = 1e-4
LAM = 1e-3


def generated(part: int, rows: int, columns: int) -> pd.DataFrame:
    """Simulate the rows of one partition, which has its own seed."""
    rng = np.random.default_rng([1, part])
    y = rng.integers(0, 2, rows)
    shift = np.where(np.arange(columns) < max(1, columns // 5), 0.3, 0.0)
    X = rng.standard_normal((rows, columns)) + np.outer(2 * y - 1, shift)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)]).assign(y=y)


def a9a(folder: Path) -> pd.DataFrame:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(folder / "a9a.gz"))
    return pd.DataFrame(
        X.toarray(), columns=[f"x{j}" for j in range(X.shape[1])]
    ).assign(y=y)


def fitted(name: str, data: Any, workers: int) -> np.ndarray:
    """Fit, print time, passes and gap, and return the coefficients."""
    began = time.perf_counter()
    result = ps.svm("y ~ .", data, lam=LAM).fit(
        ps.Optimum(tol=TOL, seed=1), cov_type=None
    )
    seconds = time.perf_counter() - began
    print(
        f"{name:>16}, {workers} processes: {seconds:6.2f} s, {result.n_reads} passes, "
        f"relative gap {result.relative_gap:.1e}",
        flush=True,
    )
    return result.params.to_numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=5e6)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    given = parser.parse_args()
    made = partial(generated, rows=int(given.rows) // PARTITIONS, columns=given.columns)
    found: dict[str, list[np.ndarray]] = {}
    # Dask waits longer for a worker that has lost its connection.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"})
    for workers in given.workers:
        cluster = LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None
        )
        with cluster, Client(cluster):
            sets = {
                f"{given.rows:.0e} x {given.columns}": dd.from_map(
                    made, range(PARTITIONS)
                )
            }
            folder = os.environ.get("PEGASOS_STATS_DATA")
            if folder is not None:
                rows = a9a(Path(folder))
                sets["a9a"] = dd.from_pandas(rows, npartitions=PARTITIONS)
            for name, frame in sets.items():
                data = frame.persist()
                wait(data)
                fitted("first call", dd.from_pandas(made(0, rows=4000), 2), workers)
                found.setdefault(name, []).append(fitted(name, data, workers))
                del data
    for name, each in found.items():
        same = all(np.array_equal(one, each[0]) for one in each)
        print(f"{name:>16}: coefficients {'are' if same else 'are NOT'} bitwise equal")


if __name__ == "__main__":
    main()
