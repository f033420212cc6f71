"""Reports on the command line: made, with where their data came from, and written."""

import argparse
import os
import shlex
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pegasos_stats.data import datasets
from pegasos_stats.output.cli.cross_validation import Studies, level_of
from pegasos_stats.output.cli.input import Rows
from pegasos_stats.output.cli.process import PROGRAM, no_part_left
from pegasos_stats.output.cli.spelling import spelled_for
from pegasos_stats.output.report.origin import Fitted, Origin, literal, of_csv
from pegasos_stats.output.report.report import Report, report_of
from pegasos_stats.output.report.threshold import checked_deciding

WIDTH = 76  # of a line of the command
TRAIN_ROWS = 200  # of the data that come with the package


def page_of_files(
    result: Fitted,
    train: Rows,
    tests: dict[str, Rows],
    studies: Studies,
    options: argparse.Namespace,
) -> Report:
    """Report a fit of files, and write the report to its file."""
    test = tests.get("test")
    held_out = None if test is None else test.labelled()
    origin = replace(origin_of_files(train, test, options), spell=spelled_for(options))
    given = (result, held_out, origin)
    path, validation = studies
    made = report_of(
        *given,
        title=options.title,
        image_shape=options.image_shape,
        positive=level_of(result, options.positive),
        path=path,
        validation=validation,
        deciding=checked_deciding(options.threshold, result),
    )
    with no_part_left():
        return made.write(options.output, overwrite=options.overwrite)


def page_of_digits(
    result: Fitted, train: Rows, test: Rows, options: argparse.Namespace
) -> Report:
    """Report a fit of the data that come with the package."""
    title = "Handwritten fives and sixes"
    given = (result, test.frame, origin_of_digits(train, options))
    return report_of(*given, title=title, image_shape=(8, 8))


def written(made: Report, options: argparse.Namespace) -> Report:
    """Write a report to the file that ``--report`` names."""
    with no_part_left():
        return made.write(options.report, overwrite=options.overwrite)


def origin_of_files(
    train: Rows, test: Rows | None, options: argparse.Namespace
) -> Origin:
    """Where the data of files came from: lines of Python and R, and the command."""
    command = command_line(options)
    path = None if test is None else test.path
    if train.frame is not None:
        origin = of_csv(
            train.path,
            train.frame,
            path,
            weights=literal(options.weights),
            command=command,
            style=train.style,
        )
        if path is not None and options.unseen == "missing":
            return replace(origin, test='test, unseen="missing"')
        return origin
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
    path = datasets.digits56_path()
    with suppress(FileNotFoundError, ValueError):  # no working folder, or elsewhere
        path = path.relative_to(Path.cwd())
    return Origin(
        ["train, test = ps.datasets.load_digits56()"],
        test="test",
        table=train.frame,
        file=os.fspath(path),
        r_rows=f"[1:{TRAIN_ROWS}, ]",
        command=command_line(options),
        spell=spelled_for(options),
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
