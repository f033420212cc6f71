"""Coverage of default 95% intervals, and the size of joint tests, on many populations.

    python benchmarks/zoo.py build/zoo.csv
    python benchmarks/zoo.py build/zoo.csv --population binary counts --rows 300
    python benchmarks/zoo.py build/zoo.csv another.csv --table

A cell is a population of `zoo_populations.py`, a loss, a number of rows and lambda. Its
replications are made 20 at a time, all cells in turn, and every 20 are a line of the
file: how often the default interval of each coefficient held the minimiser of the
penalised risk in the population, how often that of the coefficient on the original
scale did, how often the true values of the tested coefficients were rejected together
at 5%. What the file has is not made again, so a run can be stopped and goes on later;
replication ``r`` of a cell is the same in any run, so files of several machines can be
joined. The minimiser is that of one draw of 400,000 rows.

Where the default draws resamples, 199 are drawn in place of up to 999, in a fifth of
the time.
"""

import argparse
import csv
import itertools
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from zoo_populations import POPULATIONS, Vector

import pegasos_stats as ps

LEVEL = 0.05
TOGETHER = 20  # replications that are one line of the file
RESAMPLES = 199
LARGE = 400_000  # rows that stand for the population
TO_OPTIMUM = ps.SDCA(tol=1e-8, epochs=2000, seed=1)
TARGET = ps.SDCA(tol=1e-6, epochs=500, seed=1)
LOSSES: dict[str, Any] = {"hinge": ps.SVM, "log": ps.Logit}
AXES = ["population", "loss", "rows", "lam"]
COUNTS = ["held", "held_original", "pinned"]  # a number for each coefficient
COLUMNS = [*AXES, "part", *COUNTS, "rejected", "resampled"]


class Cell(NamedTuple):
    """One cell of the table."""

    population: str
    loss: str
    rows: int
    lam: float

    def generator(self, *numbers: int) -> np.random.Generator:
        """Random numbers of this population alone."""
        return np.random.default_rng([zlib.crc32(self.population.encode()), *numbers])

    def fitted(self, X: Vector, y: Vector, solver: ps.SDCA) -> Any:
        """The fit to rows of the population."""
        options = POPULATIONS[self.population].options
        return LOSSES[self.loss](y, X, lam=self.lam, **options).fit(solver)


@dataclass(frozen=True)
class Target:
    """The population's coefficients, and those on the original scale."""

    theta: Vector
    original: Vector

    def padded(self, k: int) -> "Target":
        """The same with coefficients of 0 for the last predictors."""
        more = 0, k - self.theta.size
        return Target(np.pad(self.theta, more), np.pad(self.original, more))


@cache
def target_of(population: str, loss: str, lam: float) -> Target:
    """The minimiser in one large draw."""
    cell, known = Cell(population, loss, LARGE, lam), POPULATIONS[population]
    if known.at_zero:
        nothing = np.zeros(known.draw(cell.generator(), 2)[0].shape[1] + 1)
        return Target(nothing, nothing)
    X, y = (known.at_large or known.draw)(cell.generator(), LARGE)
    found = cell.fitted(X, y, TARGET)
    return Target(found.params.to_numpy(), found.params_original.to_numpy())


def replication(cell: Cell, number: int) -> dict[str, Any]:
    """Which intervals hold the target, and whether the joint test rejects it."""
    population = POPULATIONS[cell.population]
    X, y = population.draw(cell.generator(cell.rows, number), cell.rows)
    result = cell.fitted(X, y, TO_OPTIMUM)
    if resampled := isinstance(result.cov_type, ps.Bootstrap):
        fewer = replace(result.cov_type, replicates=RESAMPLES)
        result = result.with_covariance(fewer)
    true = target_of(cell.population, cell.loss, cell.lam).padded(X.shape[1] + 1)
    table = original = result.tidy()
    if result.scaling is not None:
        original = result.tidy(original=True)
    tested = np.eye(true.theta.size)[population.tested :]
    joint = result.wald_test((tested, true.theta[population.tested :]))
    return {
        "held": held_by(table, true.theta),
        "held_original": held_by(original, true.original),
        "pinned": (table["statistic"].isna() & table["conf_low"].notna()).to_numpy(),
        "rejected": bool(joint.pvalue <= LEVEL),
        "resampled": resampled,
    }


def held_by(table: pd.DataFrame, true: Vector) -> Any:
    """Which intervals hold the true values; one that is not defined does not."""
    return ((table["conf_low"] <= true) & (true <= table["conf_high"])).to_numpy()


def part_of(cell: Cell, part: int) -> dict[str, object]:
    """The line of one part of a cell: sums over its replications."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers = range(part * TOGETHER, (part + 1) * TOGETHER)
        done = [replication(cell, number) for number in numbers]
    sums = {name: np.sum([each[name] for each in done], axis=0) for name in done[0]}
    joined = {name: " ".join(str(count) for count in sums[name]) for name in COUNTS}
    return cell._asdict() | {"part": part} | sums | joined


def read(paths: list[Path]) -> pd.DataFrame:
    """The lines of all files, each part of a cell once."""
    known = [pd.read_csv(path) for path in paths if path.exists()]
    lines = pd.concat(known) if known else pd.DataFrame(columns=COLUMNS)
    return lines.drop_duplicates([*AXES, "part"])


def run(path: Path, cells: list[Cell], parts: int) -> None:
    """Add what is missing to the file, a part of every cell in turn."""
    done = set(read([path])[[*AXES, "part"]].itertuples(index=False, name=None))
    begun = path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not begun:
            writer.writeheader()
        for part, cell in itertools.product(range(parts), cells):
            if (*cell, part) not in done:
                writer.writerow(part_of(cell, part))
                file.flush()


def joined(lines: pd.DataFrame) -> pd.DataFrame:
    """A row for every cell: smallest and largest coverage, size of the joint test."""
    rows = []
    for names, parts in lines.groupby(AXES, sort=False):
        count = len(parts) * TOGETHER
        held, original, pinned = (
            np.sum([np.array(text.split(), int) for text in parts[name]], axis=0)
            / count
            for name in COUNTS
        )
        free = pinned < 0.5
        rows.append(
            dict(zip(AXES, names, strict=True))
            | {"replications": count, "resampled": parts["resampled"].sum() / count}
            | {"low": held.min(), "mean": held.mean()}
            | {"high": held[free].max() if free.any() else np.nan}
            | {"joint": parts["rejected"].mean() / TOGETHER}
            | {"original": original.mean(), "original_low": original.min()}
            | {"original_high": original.max()}
            | {"pinned": int((~free).sum())}
        )
    return pd.DataFrame(rows)


def over_lambda(cells: pd.DataFrame) -> pd.DataFrame:
    """A row for every population, loss and number of rows, lambdas together."""
    return cells.groupby(["population", "loss", "rows"], sort=False).agg(
        lambdas=("lam", "nunique"),
        replications=("replications", "sum"),
        low=("low", "min"),
        mean=("mean", "mean"),
        high=("high", "max"),
        joint=("joint", "mean"),
        original=("original", "mean"),
        resampled=("resampled", "mean"),
    )


def page(cells: pd.DataFrame) -> Iterator[str]:
    """Lines of a table in CSV, as the documentation shows it."""
    yield (
        "Population,Loss,Rows,Samples,Mean,Lowest,Highest,Joint test,"
        "Original scale,Resampled"
    )
    for line in over_lambda(cells).reset_index().itertuples():
        name = line.population.replace("_", " ").replace(", ", ": ")
        original = line.original if "standardized" in name else np.nan
        shares = line.mean, line.low, line.high, line.joint, original
        shown = ",".join("" if np.isnan(each) else f"{each:.3f}" for each in shares)
        yield (
            f"{name},{line.loss},{line.rows},{line.replications},{shown},"
            f"{line.resampled:.0%}"
        )


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    every = list(POPULATIONS)
    parser.add_argument("files", nargs="*", type=Path, default=[Path("build/zoo.csv")])
    parser.add_argument("--table", action="store_true", help="of what the files have")
    parser.add_argument("--cells", action="store_true", help="the same, lambdas apart")
    parser.add_argument("--population", nargs="+", choices=every, default=every)
    parser.add_argument("--loss", nargs="+", choices=LOSSES, default=list(LOSSES))
    parser.add_argument("--rows", nargs="+", type=int, default=[300, 1000, 3000])
    parser.add_argument("--lam", nargs="+", type=float, default=[1e-1, 1e-2, 1e-3])
    parser.add_argument("--replications", type=int, default=1000)
    return parser.parse_args()


def main() -> None:
    given = options()
    axes = given.population, given.loss, given.rows, given.lam
    cells = [Cell(*values) for values in itertools.product(*axes)]
    if not (given.table or given.cells):
        run(given.files[0], cells, -(-given.replications // TOGETHER))
    found = joined(read(given.files))
    chosen = found[found[AXES].apply(tuple, axis=1).isin(cells)]
    if given.cells:
        print(chosen.round(3).to_string(index=False))
    else:
        print("\n".join(page(chosen)))


if __name__ == "__main__":
    main()
