"""Measure passes, time and memory of a fit to Parquet files.

    python benchmarks/files.py --rows 2e6 --columns 50 --folder build/rows

Writes normal predictors of two classes, unless the folder already contains files. Fits
a linear SVM to a relative gap of 1e-4 in a separate process. Prints its passes over the
data, its largest resident memory, and its time as a multiple of the time in which
pyarrow alone reads all columns five times.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import pegasos_stats as ps

GROUP = 100_000  # rows per row group
FILE = 1_000_000  # rows per file
READS = 5
BATCH = 2**16


def write(folder: Path, rows: int, columns: int) -> None:
    """Simulate rows and write them, a million per file."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    names = [f"x{j}" for j in range(columns)]
    for number, first in enumerate(range(0, rows, FILE)):
        file = folder / f"rows{number:04d}.parquet"
        n = min(FILE, rows - first)
        y = rng.integers(0, 2, n)
        shift = np.where(np.arange(columns) < columns // 5, 0.3, 0.0)
        X = [rng.standard_normal(n) + shift[j] * (2 * y - 1) for j in range(columns)]
        table = pa.table({"y": y, **dict(zip(names, X, strict=True))})
        parquet.write_table(table, file, row_group_size=GROUP, use_dictionary=False)


def read_alone(files: list[Path]) -> float:
    """Return the seconds in which pyarrow reads all columns once."""
    import pyarrow.parquet as parquet

    began = time.perf_counter()
    for file in files:
        for _ in parquet.ParquetFile(file).iter_batches(BATCH):
            pass
    return time.perf_counter() - began


def fitted(folder: Path, memory: str, tol: float) -> dict[str, float]:
    """Fit in this process; return passes, seconds, gap and resident memory."""
    began = time.perf_counter()
    model = ps.svm("y ~ .", ps.scan(str(folder / "*.parquet"), memory=memory), lam=1e-3)
    result = model.fit(ps.Optimum(tol=tol, seed=1), cov_type=None)
    seconds = time.perf_counter() - began
    return {
        "passes": result.n_reads or 0,
        "seconds": seconds,
        "relative gap": result.relative_gap,
        "GiB resident": largest_resident() / 2**30,
    }


def largest_resident() -> int:
    """Return the largest resident memory of this process in bytes, on Linux.

    ``getrusage`` would also count the memory of the process that started this one.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    found = next(line for line in lines if line.startswith("VmHWM:"))
    return int(found.split()[1]) * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/rows"))
    parser.add_argument("--rows", type=float, default=2e6)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--memory", default="1GiB")
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("--fit", action="store_true", help="only fit, and print JSON")
    given = parser.parse_args()
    if given.fit:
        print(json.dumps(fitted(given.folder, given.memory, given.tol)))
        return
    if not list(given.folder.glob("*.parquet")):
        write(given.folder, int(given.rows), given.columns)
    files = sorted(given.folder.glob("*.parquet"))
    alone = [read_alone(files) for _ in range(3)]
    told = subprocess.run(
        [sys.executable, __file__, *sys.argv[1:], "--fit"],
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(told.stdout)
    for name, value in found.items():
        print(f"{name:>32}: {value:.3g}")
    print(f"{'seconds of one pass by pyarrow':>32}: {min(alone):.3g}")
    ratio = found["seconds"] / (READS * float(np.median(alone)))
    print(f"{f'times {READS} passes by pyarrow':>32}: {ratio:.3g}")


if __name__ == "__main__":
    main()
