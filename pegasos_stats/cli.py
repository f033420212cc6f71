"""The command line: ``pegasos-stats fit`` and ``pegasos-stats demo``."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from pegasos_stats import datasets
from pegasos_stats.confusion import ConfusionMatrix
from pegasos_stats.errors import DataError, PegasosStatsError, counted
from pegasos_stats.model import svm
from pegasos_stats.results import Results
from pegasos_stats.solvers import Pegasos

PROGRAM = "pegasos-stats"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process if left out.

    Returns
    -------
    int
        0; or 2 after bad input, with one line on standard error.
    """
    try:
        options = _parser().parse_args(arguments)
        report = _demo(options) if options.command == "demo" else _fit(options)
    except PegasosStatsError as error:
        return _failed(str(error))
    sys.stdout.write(report.as_json() if options.json else report.as_text())
    return 0


@dataclass(frozen=True)
class Report:
    """A fit with its confusion tables, as text or JSON."""

    title: str
    result: Results
    tables: dict[str, ConfusionMatrix]
    seconds: float

    def as_text(self) -> str:
        """Label counts, tables, errors and run time, to read."""
        parts = [self.title, *self._facts(), ""]
        for name, table in self.tables.items():
            parts += [f"{name.capitalize()} data", str(table), ""]
        parts.append(f"Fitted in {self.seconds:.2f} s")
        return "\n".join(parts) + "\n"

    def as_json(self) -> str:
        """The same numbers and the coefficients, for programs."""
        result = self.result
        content = {
            "outcome": result.coding.name,
            "levels": [str(level) for level in result.coding.levels],
            "label_counts": {k: _label_counts(t) for k, t in self.tables.items()},
            "lambda": result.problem.lam,
            "epochs": result.solver.epochs,
            "seed": result.seed,
            "rows_dropped": result.dropped.total,
            "n_iter": result.n_iter,
            "n_violations": result.n_violations,
            "objective": result.objective,
            "params": result.params.to_dict(),
            "confusion": {k: _table_facts(t) for k, t in self.tables.items()},
            "run_time_seconds": self.seconds,
        }
        return json.dumps(content, indent=2) + "\n"

    def _facts(self) -> list[str]:
        result = self.result
        negative, positive = result.coding.levels
        counts = [
            f"{name} {_written_counts(table)}" for name, table in self.tables.items()
        ]
        return [
            f"Outcome    {result.coding.name}: {negative} is -1, {positive} is +1",
            f"Labels     {'; '.join(counts)}",
            f"Rows       {result.nobs:,} used, {result.dropped} dropped for missing "
            f"values; {counted(len(result.coef), 'coefficient')} and an intercept",
            f"Model      hinge loss, lambda = {result.problem.lam:g}, objective "
            f"{result.objective:.6g}",
            f"Solver     Pegasos, {counted(result.solver.epochs, 'epoch')}, seed "
            f"{result.seed}, {result.n_violations:,} margin violations in "
            f"{result.n_iter:,} steps",
        ]


def _fit(options: argparse.Namespace) -> Report:
    """Fit a CSV file, and test on another."""
    train = read_csv(options.train)
    tests = {"test": read_csv(options.test)} if options.test else {}
    if options.outcome not in train.columns:
        raise DataError(_no_outcome_message(options.outcome, options.train, train))
    title = f"{PROGRAM}: {options.train}"
    return _run(title, f"`{options.outcome}` ~ .", train, tests, options)


def _demo(options: argparse.Namespace) -> Report:
    """Fit the data that come with the package."""
    train, test = datasets.load_digits56()
    title = f"{PROGRAM}: handwritten fives and sixes, 8 x 8 pixels"
    return _run(title, "digit ~ .", train, {"test": test}, options)


def _run(
    title: str,
    formula: str,
    train: pd.DataFrame,
    tests: dict[str, pd.DataFrame],
    options: argparse.Namespace,
) -> Report:
    start = time.perf_counter()
    solver = Pegasos(epochs=options.epochs, seed=options.seed)
    model = svm(formula, train, lam=options.lam, coding=options.coding)
    result = model.fit(solver)
    seconds = time.perf_counter() - start
    tables = {"training": result.confusion()}
    tables |= {name: result.confusion(data) for name, data in tests.items()}
    return Report(title, result, tables, seconds)


def read_csv(path: str) -> pd.DataFrame:
    """Read a CSV file; a first column without a name becomes the row names.

    Raises
    ------
    DataError
        If the file is not there, or is not a table.
    """
    if not Path(path).is_file():
        what = "is a folder" if Path(path).is_dir() else "is not there"
        raise DataError(f"The file {path} {what}; give the path of a CSV file.")
    try:
        data = pd.read_csv(path)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DataError(f"The file {path} cannot be read as CSV: {reason}.") from None
    if str(data.columns[0]).startswith("Unnamed: 0"):
        return data.set_index(data.columns[0]).rename_axis(None)
    return data


def _no_outcome_message(outcome: str, path: str, data: pd.DataFrame) -> str:
    header = ", ".join(str(column) for column in data.columns[-8:])
    if len(data.columns) == 1:
        return (
            f"The column {outcome} is not in {path}, which has the single column "
            f"{header!r}; columns must be separated by commas."
        )
    return (
        f"The column {outcome} is not in {path}, which has "
        f"{counted(len(data.columns), 'column')}, the last ones {header}; give one of "
        "them to --outcome."
    )


def _label_counts(table: ConfusionMatrix) -> dict[str, int]:
    totals = table.counts.sum(axis=1)
    return {str(k): int(n) for k, n in zip(table.levels, totals, strict=True)}


def _written_counts(table: ConfusionMatrix) -> str:
    counts = _label_counts(table)
    return ", ".join(f"{level}: {count:,}" for level, count in counts.items())


def _table_facts(table: ConfusionMatrix) -> dict[str, Any]:
    return {
        "actual": [str(level) for level in table.table.index],
        "predicted": [str(level) for level in table.table.columns],
        "table": table.table.to_numpy().tolist(),
        "n_errors": table.n_errors,
        "n_undecided": table.n_undecided,
        "error_rate": table.error_rate,
        "interval_exact": list(table.error_interval("exact")),
        "interval_wilson": list(table.error_interval("wilson")),
        "misclassified_rows": [str(row) for row in table.errors.index],
    }


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        sys.exit(_failed(f"{message}; see {self.prog} --help."))


def _failed(message: str) -> int:
    sys.stderr.write(f"{PROGRAM}: {message}\n")
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog=PROGRAM, description="Two-level outcomes, fitted as R does.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    fit = commands.add_parser("fit", help="fit a CSV file and report the errors")
    fit.add_argument("train", metavar="TRAIN.csv", help="training data, with a header")
    fit.add_argument("--outcome", required=True, metavar="COL", help="two-level column")
    fit.add_argument("--test", metavar="TEST.csv", help="labelled data to test on")
    demo = commands.add_parser("demo", help="the same on the data of the package")
    for command in (fit, demo):
        _add_options(command)
    return parser


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--lambda",
        dest="lam",
        type=float,
        default=1.0,
        metavar="NUMBER",
        help="penalty (default: 1)",
    )
    parser.add_argument(
        "--epochs", type=int, default=20, help="passes over the rows (default: 20)"
    )
    parser.add_argument(
        "--seed", type=int, default=443, help="as for set.seed() in R (default: 443)"
    )
    parser.add_argument(
        "--coding",
        choices=["factor", "first-seen"],
        default="factor",
        help="which level is -1: the first in order, or the first in the data",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
