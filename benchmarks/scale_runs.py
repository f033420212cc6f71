"""Fits of rows in files and in partitions of Dask: what they take, by n, p and more.

    python benchmarks/scale_runs.py --folder build/scale --write docs/scale_runs.csv

generates normal predictors (2 GB), whose labels are the sign of a score with little,
some or much noise, fits them to a relative gap of 1e-4, and writes a line for each fit:
reads, rows that were kept in memory, and processor seconds of the process, of all its
threads, for the read that counts, the reads of the method, and the work in memory.
With Dask: of all workers together, of the busiest one, and of the process at home.
Processor time is taken as it does not depend on what else the machine is doing, or not
much.
"""

import argparse
import csv
import dataclasses
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import pegasos_stats as ps
from pegasos_stats.errors import DataError

FILE = 100_000  # rows of a file
FOLDERS = {"narrow": (16, 50), "wide": (2, 300)}  # files, columns
NOISES = {0.3: "y_little", 1.0: "y_some", 3.0: "y_much"}
TELLING = 5  # columns that the labels depend on
TOL = 1e-4
PARTITIONS = 8


@dataclass(frozen=True)
class Run:
    """What is fitted, and what it took; seconds are of processors."""

    home: str
    n: int
    p: int
    loss: str = "hinge"
    lam: float = 1e-3
    noise: float = 1.0
    workers: int = 1
    memory: str = "4GiB"
    reads: int = 0  # of the method; 0 if the budget is too small
    kept: int = 0  # rows in memory at last
    at_margin: int = 0  # rows with a dual weight within its bounds
    gap: float = 0.0
    counting: float = 0.0
    reading: float = 0.0
    sample: float = 0.0
    solving: float = 0.0
    all_workers: float = 0.0
    busiest: float = 0.0
    at_home: float = 0.0


RUNS = [
    *(Run("files", n, p) for n in (100_000, 400_000, 1_600_000) for p in (10, 25, 50)),
    *(Run("files", n, p) for n in (100_000, 200_000) for p in (100, 300)),
    *(Run("files", 400_000, 50, lam=lam) for lam in (1e-1, 1e-2, 1e-4, 1e-5)),
    *(Run("files", 400_000, 50, noise=noise) for noise in (0.3, 3.0)),
    *(Run("files", 200_000, 300, memory=f"{size}MiB") for size in (64, 256, 512)),
    Run("files", 1_600_000, 50, memory="64MiB"),
    *(Run("files", n, 300) for n in (2000, 6000, 20_000)),
    *(Run("files", n, 300, lam=1e-2, noise=0.3) for n in (2000, 6000, 20_000)),
    *(Run("files", n, p, "log") for n in (100_000, 400_000) for p in (10, 50)),
    *(Run("files", n, p, "log") for n in (100_000, 200_000) for p in (100, 300)),
    *(Run("dask", n, 50, workers=w) for n in (100_000, 400_000) for w in (1, 2, 4)),
]


def write(folder: Path, files: int, columns: int) -> None:
    """Write the rows, unless they are there."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        path = folder / f"rows{number:03d}.parquet"
        if path.exists():
            continue
        rng = np.random.default_rng([1, number])
        X = rng.standard_normal((columns, FILE))
        score, error = X[:TELLING].sum(axis=0) / TELLING**0.5, rng.standard_normal(FILE)
        y = {name: score + noise * error > 0.0 for noise, name in NOISES.items()}
        x = {f"x{j}": column for j, column in enumerate(X)}
        parquet.write_table(pa.table(y | x), path, use_dictionary=False)


def part_of(folder: Path, run: Run) -> list[str]:
    """Files with the rows of a run; where they are a part of a file, one with these."""
    import pyarrow.parquet as parquet

    wide = run.p > FOLDERS["narrow"][1]
    files = sorted((folder / ("wide" if wide else "narrow")).glob("*.parquet"))
    if run.n >= FILE:
        return [str(file) for file in files[: run.n // FILE]]
    some = folder / f"some{run.n}x{run.p}.parquet"
    if not some.exists():
        rows = parquet.read_table(files[0]).slice(0, run.n)
        parquet.write_table(rows, some, use_dictionary=False)
    return [str(some)]


class Clock:
    """Processor seconds of the steps of a fit, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.kept = 0

    def of(self, owner: Any, name: str, key: str) -> None:
        """Count the time of a function from now on."""
        plain: Callable[..., Any] = getattr(owner, name)

        def timed(*given: Any, **options: Any) -> Any:
            began = time.process_time()
            try:
                return plain(*given, **options)
            finally:
                spent = time.process_time() - began
                self.seconds[key] = self.seconds.get(key, 0.0) + spent
                if key == "solving" and hasattr(given[0], "kept"):
                    self.kept = given[0].kept.m

        setattr(owner, name, timed)

    def take(self) -> tuple[dict[str, float], int]:
        """What was counted since the last time."""
        found, kept = self.seconds, self.kept
        self.seconds, self.kept = {}, 0
        return found, kept


def clock() -> Clock:
    """A clock of the functions of the package that do the work of a fit."""
    from pegasos_stats.models import linear
    from pegasos_stats.solvers.streamed import few_reads
    from pegasos_stats.solvers.streamed.hinge import StreamedHinge

    found = Clock()
    found.of(linear, "streamed_rows", "counting")
    found.of(few_reads, "solved", "sample")
    for step in (StreamedHinge, few_reads.Newton):
        found.of(step, "read", "reading")
        found.of(step, "solve", "solving")
    return found


def fit(data: Any, run: Run) -> Any:
    names = " + ".join(f"x{j}" for j in range(run.p))
    model = ps.svm if run.loss == "hinge" else ps.logit
    declared = model(f"{NOISES[run.noise]} ~ {names}", data, lam=run.lam)
    return declared.fit(ps.Optimum(tol=TOL, seed=1), cov_type=None)


def told(run: Run, result: Any) -> Run:
    a = result.solution.dual
    inside = np.count_nonzero((a > 1e-9) & (a < 1.0 - 1e-9))
    few = {"reads": result.solution.n_epochs, "gap": result.relative_gap}
    return replace(run, at_margin=int(inside) if run.loss == "hinge" else 0, **few)


def from_files(run: Run, folder: Path, found: Clock) -> Run:
    scan = ps.scan(part_of(folder, run), memory=run.memory)
    found.take()
    try:
        result = fit(scan, run)
    except DataError as error:  # more rows near the margin than the budget has room for
        print(error, flush=True)
        return run
    seconds, kept = found.take()
    return replace(told(run, result), kept=kept, **seconds)


def from_partitions(run: Run, folder: Path) -> Run:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster, wait

    options = {"threads_per_worker": 1, "dashboard_address": None}
    with (
        LocalCluster(n_workers=run.workers, **options) as cluster,
        Client(cluster) as client,
    ):
        columns = [NOISES[run.noise], *(f"x{j}" for j in range(run.p))]
        frame = dd.read_parquet(part_of(folder, run), columns=columns)
        rows = frame.repartition(npartitions=PARTITIONS).persist()
        wait(rows)
        for _ in range(2):  # the first one loads what is compiled
            before, began = client.run(time.process_time), time.process_time()
            result = fit(rows, run)
            spent = time.process_time() - began
            after = client.run(time.process_time)
        each = [after[worker] - before[worker] for worker in before]
    busy = {"all_workers": sum(each), "busiest": max(each), "at_home": spent}
    return replace(told(run, result), **busy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/scale"))
    parser.add_argument("--write", type=Path, default=Path("build/scale/runs.csv"))
    parser.add_argument("--home", choices=["files", "dask"], nargs="+")
    parser.add_argument("--narrow", action="store_true", help="small budgets alone")
    given = parser.parse_args()
    for name, (files, columns) in FOLDERS.items():
        write(given.folder / name, files, columns)
    runs = [run for run in RUNS if not given.home or run.home in given.home]
    if given.narrow:
        runs = [run for run in runs if run.memory != Run.memory]
    found = clock()
    for loss in {run.loss for run in runs}:  # loads what is compiled
        from_files(Run("files", FILE, 10, loss), given.folder, found)
        from_files(Run("files", FILE, 50, loss), given.folder, found)
    with given.write.open("w", newline="") as file:
        names = [field.name for field in dataclasses.fields(Run)]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for run in runs:
            done = (
                from_partitions(run, given.folder)
                if run.home == "dask"
                else from_files(run, given.folder, found)
            )
            line = dataclasses.asdict(done)
            short = {k: f"{v:.4g}" for k, v in line.items() if isinstance(v, float)}
            writer.writerow(line | short)
            file.flush()
            print(done, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
