"""Reports on the command line: made and written."""

import argparse
import shlex

from pegasos_stats.output.cli.cross_validation import level_of
from pegasos_stats.output.cli.input import Rows
from pegasos_stats.output.cli.process import PROGRAM, no_part_left
from pegasos_stats.output.report.report import Report, report_of
from pegasos_stats.output.report.subject import Fitted, checked_threshold_of
from pegasos_stats.studies.selection.cross_validation import CrossValidation

WIDTH = 76  # of a line of the command


def page_of_files(
    result: Fitted,
    tests: dict[str, Rows],
    validation: CrossValidation | None,
    options: argparse.Namespace,
) -> Report:
    """Report a fit of files, and write the report to its file."""
    test = tests.get("test")
    threshold, _ = checked_threshold_of(options.threshold, result)
    made = report_of(
        result,
        None if test is None else test.labelled(),
        title=options.title,
        image_shape=options.image_shape,
        positive=level_of(result, options.positive),
        path=result.lambda_path,
        validation=validation,
        threshold=threshold,
        command=command_line(options),
    )
    with no_part_left():
        return made.write(options.output, overwrite=options.overwrite)


def page_of_digits(result: Fitted, test: Rows, options: argparse.Namespace) -> Report:
    """Report a fit of the data that come with the package."""
    return report_of(
        result,
        test.frame,
        title="Handwritten fives and sixes",
        image_shape=(8, 8),
        command=command_line(options),
    )


def written(made: Report, options: argparse.Namespace) -> Report:
    """Write a report to the file that ``--report`` names."""
    with no_part_left():
        return made.write(options.report, overwrite=options.overwrite)


def command_line(options: argparse.Namespace) -> str:
    """The command as it was typed, on as many lines as it takes."""
    lines = [PROGRAM]
    for word in map(shlex.quote, options.arguments):
        if len(lines[-1]) + len(word) > WIDTH:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {word}"
    return "\n".join(lines)
