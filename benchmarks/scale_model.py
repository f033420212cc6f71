"""What fits of rows elsewhere take at sizes that nobody measured: a model of runs.

    python benchmarks/scale_model.py --runs docs/scale_runs.csv --write docs

fits processor seconds of the lines of `scale_runs.py` by least squares of the relative
error, with no coefficient below 0, and carries them to larger ones:

* the read that counts: seconds for each row, and for each number;
* a read of the method: the same; of the log loss also for each product of two numbers
  of a row, which make up its curvature;
* in memory: seconds for each number of the sample, and of the rows that are kept, for
  each time that these are solved;
* of Dask: seconds of the workers for each task, of which a read has one for each
  partition, and for each second that the same reads take from files; seconds at home
  for each task.

It writes the coefficients (`scale_model.csv`), the sizes it is carried to
(`scale.csv`), and measured seconds beside those of the model (`scale.svg`); of the
larger half of the runs also those of a model that was fitted to the smaller half.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from scipy.optimize import nnls

mpl.use("agg")
import matplotlib.pyplot as plt

Vector = np.ndarray
LARGEST, SHARE, FEWEST = 200_000, 0.1, 20  # of a sample, as in `sampled`
WIDTHS = 4.0  # of the rows that the first read keeps, as in `hinge`
PARTITIONS = 8  # of the measured runs of Dask
BEFORE = 2  # reads of Dask before those of the method: one counts, one takes a sample
DISK = 500e6  # bytes a second that a worker reads, an assumption
PER_WORKER = 10  # partitions, an assumption


def size_of_sample(n: Vector, p: Vector) -> Vector:
    most = np.maximum(SHARE * n, FEWEST * (p + 1))
    return np.minimum(np.minimum(n, LARGEST), most)


def width(n: Vector, p: Vector) -> Vector:
    """Of the margins of the rows that the hinge keeps in its first read."""
    found: Vector = WIDTHS * np.sqrt(p / size_of_sample(n, p))
    return found


@dataclass(frozen=True)
class Part:
    """A part of the seconds of a fit, linear in some sizes."""

    name: str
    seconds: str  # column of the runs
    sizes: dict[str, Callable[[pd.DataFrame], pd.Series]]

    def matrix(self, runs: pd.DataFrame) -> Vector:
        """The sizes, a column for each."""
        return np.column_stack([size(runs) for size in self.sizes.values()])

    def fitted(self, runs: pd.DataFrame) -> Vector:
        """Seconds for each size, of the least relative errors."""
        y = runs[self.seconds].to_numpy()
        return nnls(self.matrix(runs) / y[:, None], np.ones(len(y)))[0]


ROWS = {"row": lambda r: r.n, "number": lambda r: r.n * r.p}
READS = {
    "row": lambda r: r.reads * r.n,
    "number": lambda r: r.reads * r.n * r.p,
}
SQUARES = {"product of two": lambda r: r.reads * r.n * r.p**2}
IN_MEMORY = {
    "number of the sample": lambda r: size_of_sample(r.n, r.p) * r.p,
}
SOLVED = {"number kept": lambda r: (r.reads - 1) * r.kept * r.p}
TASKS = {"task": lambda r: (r.reads + BEFORE) * PARTITIONS}
AGAIN = {"second from files": lambda r: r.from_files}
PARTS = {
    "hinge": [
        Part("the read that counts", "counting", ROWS),
        Part("a read, hinge", "reading", READS),
        Part("the sample, hinge", "sample", IN_MEMORY),
        Part("rows that are kept", "solving", SOLVED),
    ],
    "log": [
        Part("the read that counts", "counting", ROWS),
        Part("a read, log loss", "reading", READS | SQUARES),
        Part("the sample, log loss", "sample", IN_MEMORY),
    ],
}
WORKERS = Part("the workers, Dask", "all_workers", TASKS | AGAIN)
HOME = Part("at home, Dask", "at_home", TASKS)


class Model:
    """Coefficients of the parts, of runs from files and of Dask."""

    def __init__(self, runs: pd.DataFrame) -> None:
        files = runs[runs.home == "files"]
        self.found: dict[str, Vector] = {}
        for loss, parts in PARTS.items():
            for part in parts:
                both = part.seconds == "counting"
                own = files if both else files[files.loss == loss]
                if part.seconds == "solving":
                    own = own[own.kept > 0]
                self.found[part.name] = part.fitted(own)
        dask = runs[runs.home == "dask"]
        dask = dask.assign(from_files=self.passes(dask, "hinge"))
        for part in (WORKERS, HOME):
            self.found[part.name] = part.fitted(dask)

    def passes(self, runs: pd.DataFrame, loss: str) -> Vector:
        """Seconds that the reads of fits of Dask would take from files."""
        more = runs.assign(reads=runs.reads + BEFORE - 1)  # beside the one that counts
        found = self.seconds(more, loss)
        return found["counting"] + found["reading"]

    def seconds(self, runs: pd.DataFrame, loss: str) -> dict[str, Vector]:
        """Of each part, by its column."""
        return {
            part.seconds: part.matrix(runs) @ self.found[part.name]
            for part in PARTS[loss]
        }

    def table(self) -> pd.DataFrame:
        """Seconds of each part for each of its sizes."""
        parts = [*PARTS["hinge"], *PARTS["log"][1:], WORKERS, HOME]
        lines = [
            (part.name, f"each {size}", f"{value:.1e}")
            for part in parts
            for size, value in zip(part.sizes, self.found[part.name], strict=True)
        ]
        return pd.DataFrame(lines, columns=["Part", "For", "Processor seconds"])


def runs_of(path: Path) -> pd.DataFrame:
    """Runs that came to their end: those with too small a budget took no reads."""
    runs = pd.read_csv(path)
    return runs[runs.reads > 0].reset_index(drop=True)


def compared(runs: pd.DataFrame) -> pd.DataFrame:
    """Measured seconds of files, of the model, and of one that did not see the run.

    The last one is fitted to runs of fewer numbers alone; missing for small runs.
    """
    files = runs[runs.home == "files"]
    sizes, lines = files.n * files.p, []
    model = Model(runs)
    middle = sizes.median()
    small = Model(runs[(runs.home == "dask") | (runs.n * runs.p <= middle)])
    for i, run in files.iterrows():
        one = files.loc[[i]]
        measured = run[["counting", "reading", "sample", "solving"]].sum()
        seen = sum(model.seconds(one, run.loss).values()).item()
        unseen = sum(small.seconds(one, run.loss).values()).item()
        beyond = unseen if sizes[i] > middle else np.nan
        lines.append((run.loss, sizes[i], measured, seen, beyond))
    names = ["loss", "numbers", "measured", "model", "unseen"]
    return pd.DataFrame(lines, columns=names)


@dataclass(frozen=True)
class Plan:
    """A fit that was not measured."""

    n: float
    p: int
    loss: str
    workers: int
    reads: int


PLANS = [
    Plan(1e7, 100, "hinge", 1, 4),
    Plan(1e8, 100, "hinge", 10, 4),
    Plan(1e8, 100, "log", 10, 3),
    Plan(1e9, 100, "hinge", 100, 4),
    Plan(1e9, 1000, "hinge", 100, 4),
    Plan(1e9, 1000, "log", 100, 3),
]


def density(runs: pd.DataFrame) -> pd.Series:
    """Rows kept, as a share of all and for each unit of the width, by run."""
    alone = runs[(runs.home == "files") & (runs.loss == "hinge")]
    alone = alone[(alone.memory == "4GiB") & (alone.n >= 100_000)]
    return alone.kept / alone.n / width(alone.n, alone.p)


def carried(runs: pd.DataFrame) -> pd.DataFrame:
    """The plans by the model."""
    model = Model(runs)
    of_worker, slower = model.found[WORKERS.name]
    (at_home,) = model.found[HOME.name]
    usual = density(runs[(runs.noise == 1.0) & (runs.lam == 1e-3)]).median()
    lines = []
    for plan in PLANS:
        one = pd.DataFrame([vars(plan)])
        share = min(1.0, usual * width(one.n, one.p).item())
        kept = share * plan.n if plan.loss == "hinge" else 0.0
        one["kept"] = kept
        spent = {k: v.item() for k, v in model.seconds(one, plan.loss).items()}
        size, reads = 8.0 * plan.n * plan.p, 1 + plan.reads
        work, home = spent["counting"] + spent["reading"], spent["sample"]
        home += spent.get("solving", 0.0)
        if plan.workers > 1:  # of Dask
            reads = BEFORE + plan.reads
            tasks = PER_WORKER * plan.workers * reads
            work = slower * model.passes(one, plan.loss).item() + of_worker * tasks
            home += at_home * tasks
        passes, disks = work / plan.workers, reads * size / DISK / plan.workers
        lines.append(
            {
                "Rows": f"{plan.n:.0e}".replace("e+0", "e"),
                "Columns": plan.p,
                "Loss": plan.loss,
                "Workers": plan.workers,
                "Reads": reads,
                "TB of a read": said(size / 1e12),
                "Minutes of each worker": said(passes / 60),
                "Minutes of its disk": said(disks / 60),
                "GB kept at home": said(8e-9 * kept * plan.p),
                "Minutes at home": said(home / 60),
            }
        )
    return pd.DataFrame(lines)


def said(value: float) -> str:
    """A number of two digits, without an exponent.

    >>> said(0.0684), said(9.96), said(1512.0)
    ('0.068', '10', '1,500')
    """
    return f"{float(f'{value:.2g}'):,.10g}"


def draw(found: pd.DataFrame, path: Path) -> None:
    """Measured seconds, and those of the model, of each run."""
    figure, ax = plt.subplots(figsize=(6.0, 4.2), layout="constrained")
    ends = found.measured.min() / 1.5, found.measured.max() * 1.5
    ax.plot(ends, ends, color="#888888", lw=1.0)
    for loss, colour in (("hinge", "#3366aa"), ("log", "#cc6633")):
        own = found[found.loss == loss]
        ax.plot(own.measured, own.model, "o", color=colour, alpha=0.7, label=loss)
        ax.plot(own.measured, own.unseen, "x", color=colour, alpha=0.9)
    ax.plot([], [], "x", color="#555555", label="fitted to smaller runs")
    ax.set(xscale="log", yscale="log", xlabel="processor seconds, measured")
    ax.set_ylabel("of the model")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    mpl.rcParams["svg.hashsalt"] = "scale"
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=Path("docs/scale_runs.csv"))
    parser.add_argument("--write", type=Path, default=Path("build/scale"))
    given = parser.parse_args()
    runs = runs_of(given.runs)
    model, found, far = Model(runs), compared(runs), carried(runs)
    model.table().to_csv(given.write / "scale_model.csv", index=False)
    far.to_csv(given.write / "scale.csv", index=False)
    draw(found, given.write / "scale.svg")
    print(model.table().to_string(index=False))
    for name in ("model", "unseen"):
        ratio = (found[name] / found.measured).dropna()
        low, middle, high = ratio.quantile([0.1, 0.5, 0.9])
        print(f"{name} over measured: {low:.2f}, {middle:.2f}, {high:.2f} (tenths)")
    print(far.to_string(index=False))


if __name__ == "__main__":
    main()
