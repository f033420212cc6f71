"""Run all comparisons with other programs; write one table and one figure.

    python benchmarks/everything.py [--folder docs] [--only side_by_side log_time]

Runs the comparisons of the other scripts with their default options, in one thread,
which takes about ten minutes. Writes to the folder ``benchmarks.csv``, the figure
``benchmarks.svg``, and ``benchmarks.txt`` with the machine and the versions.
"""

import argparse
import csv
import importlib
import os
import platform
import shutil
import subprocess
import warnings
from importlib.metadata import version
from pathlib import Path

import matplotlib.pyplot as plt
from comparison import Comparison
from matplotlib.ticker import LogLocator, NullFormatter
from threadpoolctl import threadpool_limits

SCRIPTS = [
    *("side_by_side", "optimum_time", "wide_time", "log_time", "kernel_optimum"),
    *("selection_time", "path_time", "cold_start", "r_peers"),
]
VERSIONS = """
found <- Filter(function(p) requireNamespace(p, quietly = TRUE), c("e1071", "glmnet"))
cat(paste("R", getRversion()), sprintf("%s %s", found, sapply(found, function(p)
    as.character(packageVersion(p)))), sep = ", ")
"""
PACKAGES = ["pegasos_stats", "numpy", "scipy", "numba", "scikit-learn"]
HEAD = [
    *("Task", "Peer", "Data", "Rows", "Columns", "Times", "Lowest", "Highest"),
    *("Milliseconds", "Stored", "Until", "Its until", "Remark"),
]
DRAWN = "Task", "Peer", "Until", "Times", "Lowest", "Highest"
BLUE = "#3366aa"


def line(found: Comparison) -> list[str]:
    """Return the cells of a line of the table."""
    task, until, peer, its, data, n, p, stored, (time, *times), remark = found
    return [
        *(task, peer, data, f"{n:,}", f"{p:,}"),
        *(f"{each:.2f}" for each in times),
        *(f"{time * 1e3:.3g}", stored, until, its, remark),
    ]


def made_on() -> str:
    """Describe the machine and the versions of all programs."""
    cpu, facts = platform.machine(), Path("/proc/cpuinfo")
    for each in facts.read_text().splitlines() if facts.exists() else ():
        if each.startswith("model name"):
            cpu = each.partition(":")[2].strip()
    versions = [f"{name} {version(name)}" for name in PACKAGES]
    if shutil.which("Rscript"):
        run = ["Rscript", "--vanilla", "-e", VERSIONS]
        done = subprocess.run(run, capture_output=True, text=True, check=True)
        versions.append(done.stdout)
    return (
        f"{cpu}, {os.cpu_count()} cores, {platform.system()}; one thread. Python "
        f"{platform.python_version()}, {', '.join(versions)}.\n"
    )


def draw(table: list[list[str]], path: Path) -> None:
    """Draw a row per task and peer, with a dot and its range for each data set."""
    rows: dict[str, list[list[float]]] = {}
    for cells in table:
        task, peer, until, *times = (cells[HEAD.index(name)] for name in DRAWN)
        task += ", new process" * (until == "a new process")
        rows.setdefault(f"{task}: {peer}", []).append([*map(float, times)])
    size = 4.8, 0.4 * len(rows) + 0.8
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    for place, (name, times) in enumerate(reversed(rows.items())):
        middle, low, high = zip(*times, strict=True)
        places = [place] * len(times)
        ax.plot(middle, places, "o", color=BLUE, alpha=0.6, ms=5)
        ax.hlines(places, low, high, BLUE, lw=1.0, alpha=0.6)
        ax.text(0.0, place + 0.3, name, transform=ax.get_yaxis_transform(), size=8.5)
    ax.axvline(1.0, color="#888888", lw=1.0)
    ax.set(xscale="log", yticks=[], xlabel="processor time of the other over ours")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.grid(axis="x", linewidth=0.6, alpha=0.35)
    ax.spines[["top", "right", "left"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/benchmarks"))
    parser.add_argument("--only", nargs="+", default=SCRIPTS, choices=SCRIPTS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    found: list[Comparison] = []
    for script in options.only:
        for each in importlib.import_module(script).comparisons():
            print(each, flush=True)
            found.append(each)
    with (options.folder / "benchmarks.csv").open("w", newline="") as file:
        table = [*map(line, found)]
        csv.writer(file, lineterminator="\n").writerows([HEAD, *table])
    (options.folder / "benchmarks.txt").write_text(made_on(), encoding="utf-8")
    draw(table, options.folder / "benchmarks.svg")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()
