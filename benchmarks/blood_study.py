"""Run the full study of SDCA and Pegasos on images of blood cells.

    python benchmarks/blood_study.py [--runs 5] [--write vignettes/blood_study.csv]

Prints how many of the prepared crops are reproduced from their photographs in every
pixel. Then prints for each solver, on 14,400 pixels and on the first 40 principal
components: the test error and the published one, the processor time until the objective
is within 1% of the minimum, and the time of an epoch, compiled and in plain numpy. All
runs use one thread; compilation is not timed. With ``--runs 100``, the published
number, it takes about eight minutes; with 5, one minute. It needs scikit-image, and the
files and photographs of blood cells in the folder that PEGASOS_STATS_DATA names. The
vignette 05_sdca_beside_pegasos.py explains the steps.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from skimage import io

sys.path.insert(0, str(Path(__file__).parents[1] / "vignettes"))

import cell_study
import cells

import pegasos_stats as ps

WITHIN = 0.01


def print_crops(folder: Path, ready: cells.Cells, part: str) -> None:
    """Compare crops of all photographs with the prepared crops, for both blurs."""
    raw = folder / "blood_raw" / part
    files = [path for kind in cells.KINDS for path in cells.photographs(raw / kind)]
    keys = zip(ready.kind, ready.names, strict=True)
    places = dict(zip(keys, ready.crops, strict=True))
    expected = np.stack([places[path.parent.name, path.name] for path in files])
    corners = []
    for blur in (cells.mean_shift, cells.gaussian):
        found = [cells.find_cell(io.imread(path), blur) for path in files]
        same = np.stack([cell.crop for cell in found]) == expected
        corners.append(np.array([cell.corner for cell in found]))
        off = np.abs(corners[-1] - corners[0]).max(axis=1)
        print(
            f"{part}, {blur.__name__} blur: {same.all(axis=(1, 2)).sum()} of "
            f"{len(same)} crops equal the prepared ones, as do {same.mean():.1%} of "
            f"all pixels; corners differ from the first blur's by {np.median(off):g} "
            f"pixels (median), {off.max()} at most",
            flush=True,
        )


def table_of(study: ps.SolverComparison, name: str) -> pd.DataFrame:
    """Return the test error in percent and times in milliseconds for each solver."""
    last = study.runs.groupby(["solver", "run"], observed=True).last()
    error = last["test_error"].mul(100.0).groupby("solver", observed=True)
    near = cell_study.time_within(study, WITHIN).groupby("solver", observed=True)
    ms = 1000.0 * near["cpu_seconds"].quantile([0.05, 0.5, 0.95]).unstack()
    columns: dict[str, Any] = {
        "error": error.mean(),
        "from": error.min(),
        "to": error.max(),
        "within_1%": near["epoch"].count(),
        "epoch": near["epoch"].median(),
        "ms": ms[0.5],
        "ms_q05": ms[0.05],
        "ms_q95": ms[0.95],
        "ms_an_epoch": 1000.0 * pd.Series(cell_study.epoch_times(study)),
    }
    found = pd.DataFrame(columns)
    published = 100.0 * cell_study.PUBLISHED.loc[name, "published"]
    found.insert(0, "published", published.reindex(found.index))
    return found


def print_study(name: str, model: ps.SVM, test: Any, runs: int) -> pd.DataFrame:
    """Run the study on one kind of predictors; print and return its table."""
    began = time.perf_counter()
    study = ps.compare_solvers(
        model, cell_study.SOLVERS, runs=runs, test=test, seed=443, workers=1
    )
    plain = cell_study.plain_epoch_times(model.problem.X, model.problem.y)
    print(f"\n{name}: {runs} runs of each solver, {time.perf_counter() - began:.0f} s")
    found = table_of(study, name)
    found["ms_an_epoch_in_numpy"] = 1000.0 * pd.Series(plain)
    print(found.T.to_string(float_format="{:.4g}".format, na_rep=""), flush=True)
    found = found.rename_axis("solver").reset_index()
    found.insert(0, "data", name)
    found.insert(2, "runs", runs)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    folder = os.environ.get("PEGASOS_STATS_DATA")
    if folder is None:
        print("PEGASOS_STATS_DATA is not set: nothing to measure")
        return
    train, test = cells.load_cells(Path(folder))
    for part, ready in zip(cells.PARTS, (train, test), strict=True):
        print_crops(Path(folder), ready, part)
    small = cell_study.reduced(train.pixels, test.pixels)
    data: dict[str, tuple[np.ndarray, np.ndarray]] = {
        "14,400 pixels": (train.pixels, test.pixels),
        "40 components": (small.train, small.test),
    }
    tables = []
    for name, (X, new) in data.items():
        model = ps.SVM(train.kind, X, lam=cell_study.LAMBDA, intercept=False)
        tables.append(print_study(name, model, (test.kind, new), options.runs))
    if options.write:
        rounded = pd.concat(tables).map(
            lambda value: float(f"{value:.4g}") if isinstance(value, float) else value
        )
        rounded.to_csv(options.write, index=False)


if __name__ == "__main__":
    main()
