"""Reports on the command line: where their data came from, and what is printed."""

import argparse
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pegasos_stats.data import datasets
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.output.cli.endings import no_part_left
from pegasos_stats.output.cli.facts import outcome_line
from pegasos_stats.output.cli.input import Rows
from pegasos_stats.output.cli.streams import PROGRAM
from pegasos_stats.output.report.origin import Origin, literal, of_csv
from pegasos_stats.output.report.report import Report, report_of

WIDTH = 76  # of a line of the command
TRAIN_ROWS = 200  # of the data that come with the package


def page_of_files(
    result: Any, train: Rows, tests: dict[str, Rows], options: argparse.Namespace
) -> Report:
    """Report a fit of files, and write the page."""
    test = tests.get("test")
    held_out = None if test is None else test.labelled()
    given = (result, held_out, origin_of_files(train, test, options))
    made = report_of(*given, title=options.title, image_shape=options.image_shape)
    with no_part_left():
        return made.write(options.output, overwrite=options.overwrite)


def page_of_digits(
    result: Any, train: Rows, test: Rows, options: argparse.Namespace
) -> Report:
    """Report a fit of the data that come with the package."""
    title = "Handwritten fives and sixes"
    given = (result, test.frame, origin_of_digits(train, options))
    return report_of(*given, title=title, image_shape=(8, 8))


def written(made: Report, options: argparse.Namespace) -> Report:
    """Write a report to where ``--report`` says."""
    with no_part_left():
        return made.write(options.report, overwrite=options.overwrite)


def origin_of_files(
    train: Rows, test: Rows | None, options: argparse.Namespace
) -> Origin:
    """Where the data of files came from: lines of Python and R, and the command."""
    command = command_line(options)
    path = None if test is None else test.path
    if train.frame is not None:
        return of_csv(
            train.path,
            train.frame,
            path,
            weights=literal(options.weights),
            command=command,
            style=train.style,
        )
    lines = [f"train = ps.read_svmlight({literal(train.path)})"]
    if path is not None:
        alike = f"train.X.shape[1], zero_based={train.zero_based}"
        lines.append(f"test = ps.read_svmlight({literal(path)}, {alike})")
    dense = ".toarray()" if train.dense else ""
    return Origin(
        lines,
        labels="train.y",
        rows=f"train.X{dense}",
        test=None if path is None else f"test.X{dense}, test.y",
        command=command,
    )


def origin_of_digits(train: Rows, options: argparse.Namespace) -> Origin:
    """Where the data that come with the package are."""
    return Origin(
        ["train, test = ps.datasets.load_digits56()"],
        test="test",
        table=train.frame,
        file=_short(datasets.digits56_path()),
        r_rows=f"[1:{TRAIN_ROWS}, ]",
        command=command_line(options),
    )


def command_line(options: argparse.Namespace) -> str:
    """The command as it was typed, on as many lines as it takes."""
    lines = [PROGRAM]
    for word in map(shlex.quote, options.arguments):
        if len(lines[-1]) + len(word) > WIDTH:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {word}"
    return "\n".join(lines)


def _short(path: Path) -> str:
    """A path below the working folder from there, any other one as a whole."""
    try:
        return os.fspath(path.relative_to(Path.cwd()))
    except (FileNotFoundError, ValueError):  # the working folder is gone or elsewhere
        return os.fspath(path)


def written_page(
    title: str,
    result: Any,
    tables: dict[str, ConfusionMatrix],
    warned: Sequence[str],
    made: Report,
) -> str:
    """What is printed of a report: the errors, what to look at, and where it is."""
    lines = [title, outcome_line(result)]
    for name, table in tables.items():
        rate = f" ({table.n_errors / n:.2%})" if (n := table.n_classified) else ""
        lines.append(f"{name.capitalize():<10} {table.n_errors:,} of {n:,} wrong{rate}")
    lines += [f"Warning    {caution}" for caution in warned]
    return "\n".join([*lines, where(made)]) + "\n"


def where(made: Report) -> str:
    """Where a report is."""
    return f"Report     {made.path}"
