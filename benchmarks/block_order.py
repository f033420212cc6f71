"""Pegasos over files: how the order of the rows changes the distance from the minimum.

    python benchmarks/block_order.py [--rows 100000] [--seeds 5] [--write FILE]

The same rows are written to one Parquet file in three ways: in random order, by class,
and by cluster, where clusters differ in their centres and in their shares of both
classes. Each is fitted by Pegasos with whole permutations (in memory), with blocks and
the rows of each permuted, and in the order of the file; with the last iterate and with
the mean of all. What is told is ``P / P* - 1``, with ``P*`` certified to 1e-8: the
median of some seeds. Then the same for larger blocks.
"""

import argparse
import csv
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pegasos_stats as ps

COLUMNS, CLUSTERS, LAM = 20, 20, 1e-3
EPOCHS = (1, 5, 20)
AVERAGES = {"none": "last iterate", "all": "mean of all"}
HEADER = ["File", "Returned", "Epochs", "shuffle", "blocks", "sequential"]


def drawn(n: int) -> pd.DataFrame:
    """Rows in clusters, two classes in each, in the order in which they are drawn."""
    rng = np.random.default_rng(1)
    cluster = rng.integers(0, CLUSTERS, n)
    share = rng.uniform(0.1, 0.9, CLUSTERS)
    y = rng.random(n) < share[cluster]
    centres = rng.standard_normal((CLUSTERS, COLUMNS))
    direction = rng.standard_normal(COLUMNS) / np.sqrt(COLUMNS)
    X = rng.standard_normal((n, COLUMNS)) + centres[cluster]
    X += np.outer(2.0 * y - 1.0, direction)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS)])
    return frame.assign(y=y.astype(int), cluster=cluster)


def as_written(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows in each of the three orders."""
    for title, column in (
        ("shuffled", ""),
        ("by class", "y"),
        ("by cluster", "cluster"),
    ):
        found = rows.sort_values(column, kind="stable") if column else rows
        yield title, found.drop(columns="cluster")


def distance(model: Any, solver: ps.Pegasos, minimum: float, seeds: int) -> float:
    """Median of ``P / P* - 1`` over seeds."""
    several = range(1, seeds + 1) if solver.uses_random_numbers else [None]
    found = [
        model.fit(solver.with_seed(seed), cov_type=None).objective / minimum - 1.0
        for seed in several
    ]
    return float(np.median(found))


def short(number: float) -> str:
    """Two digits, without an exponent where there need be none."""
    return f"{float(f'{number:.2g}'):g}"


def table(rows: pd.DataFrame, seeds: int, folder: Path) -> Iterator[list[str]]:
    """A line for each file, iterate and number of epochs."""
    for title, frame in as_written(rows):
        path = folder / f"{title}.parquet"
        frame.to_parquet(path, row_group_size=5000, index=False)
        scan = ps.scan(path, memory="64MiB")
        there = ps.svm("y ~ .", scan, lam=LAM)
        here = ps.svm("y ~ .", frame, lam=LAM)
        minimum = here.fit(ps.SDCA(tol=1e-8, seed=1)).objective
        for average, returned in AVERAGES.items():
            for epochs in EPOCHS:
                given = {"epochs": epochs, "average": average}
                models = {"shuffle": here, "blocks": there, "sequential": there}
                found = [
                    distance(model, ps.Pegasos(order=order, **given), minimum, seeds)
                    for order, model in models.items()
                ]
                yield [title, returned, str(epochs), *map(short, found)]


def by_memory(rows: pd.DataFrame, seeds: int, folder: Path) -> Iterator[str]:
    """Lines about blocks of other sizes, from the files by class and by cluster."""
    for title, frame in list(as_written(rows))[1:]:
        minimum = ps.svm("y ~ .", frame, lam=LAM).fit(ps.SDCA(tol=1e-8)).objective
        for memory in ("64MiB", "128MiB", "256MiB", "512MiB"):
            scan = ps.scan(folder / f"{title}.parquet", memory=memory)
            model = ps.svm("y ~ .", scan, lam=LAM)
            solver = ps.Pegasos(epochs=5, order="blocks")
            far = distance(model, solver, minimum, seeds)
            count = len(model.fit(solver.with_seed(1), cov_type=None).block_sizes or ())
            yield f"{title}, {memory}, {count} blocks, 5 epochs: {short(far)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--write", type=Path, help="where the table goes, as CSV")
    given = parser.parse_args()
    rows = drawn(given.rows)
    with tempfile.TemporaryDirectory() as name:
        lines = []
        for line in table(rows, given.seeds, Path(name)):
            print(*line, sep="\t", flush=True)
            lines.append(line)
        for told in by_memory(rows, given.seeds, Path(name)):
            print(told, flush=True)
    if given.write is not None:
        with given.write.open("w", newline="") as handle:
            csv.writer(handle, lineterminator="\n").writerows([HEADER, *lines])


if __name__ == "__main__":
    sys.exit(main())
