"""The arguments of the command line, with their help.

Those of a solver, such as ``--batch-size``, are the fields of its dataclass.
"""

import argparse
import sys
from importlib.metadata import version
from inspect import signature
from typing import Any, NoReturn, get_args

from pegasos_stats.models.linear import SVM
from pegasos_stats.output.cli.options import SOLVERS, solver_options
from pegasos_stats.output.cli.streams import PROGRAM, say, write_output
from pegasos_stats.output.cli.words import READERS, number, shape
from pegasos_stats.solvers.kernel_problem import NAMES, KernelFunction
from pegasos_stats.solvers.options import Option, offered
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import LossName

DISTRIBUTION = "pegasos_stats"
SEED = 443
PROFILES = ("paper", "r_script", "homework", "minibatch")
DESCRIPTION = (
    "Support vector machines and logistic classifiers for a two-level outcome, with "
    "the numbers that R gives from the same seed."
)
# Options of the command line alone, each after the option of a solver it goes with.
BESIDE: dict[str, tuple[str, dict[str, Any]]] = {
    "start": (
        "--refine",
        {
            "type": number,
            "metavar": "GAP",
            "help": "after pegasos, go on with sdca to this relative duality gap",
        },
    ),
    "steps": (
        "--rows",
        {
            "metavar": "FILE",
            "help": "visit these rows: numbers counted from zero, one a line",
        },
    ),
    "ties": (
        "--profile",
        {
            "choices": list(PROFILES),
            "help": "start from a named form of Pegasos: as published (needs --steps), "
            "as the R script, as set in courses (in order, 5 epochs, no intercept, "
            "ties positive), or in batches of 100, 10 epochs",
        },
    ),
}
INPUT = "CSV with a header, or svmlight ('label index:value ...'); plain, gzip or bzip2"


def parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    main = _Parser(prog=PROGRAM, description=DESCRIPTION)
    main.add_argument("--version", action="version", version=version(DISTRIBUTION))
    commands = main.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_fit(commands)
    _add_report(commands)
    _add_predict(commands)
    demo = commands.add_parser(
        "demo",
        help="fit the data that come with the package",
        usage=f"{PROGRAM} demo [options]",
        description="Fit handwritten fives and sixes that come with the package.",
    )
    _add_model_options(demo)
    _add_solver_options(demo)
    _add_output_options(demo)
    demo.add_argument(
        "--report",
        metavar="FILE",
        help="write a report too: Markdown if it ends in .md, else HTML",
    )
    return main


def failed(message: str) -> int:
    """Write one line to standard error; return the exit code 2."""
    say(message)
    return 2


class _Once(argparse.Action):
    """Store the value of an option, which may be given once."""

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: Any = None
    ) -> None:
        given = vars(namespace).setdefault("given", set())
        if option_string is not None and self.dest in given:
            raise argparse.ArgumentError(self, "is given twice; give it once")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, without the usage."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.register("action", None, _Once)

    def error(self, message: str) -> NoReturn:
        sys.exit(failed(f"{message}; see {self.prog} --help."))

    def _print_message(self, message: str, file: Any = None) -> None:
        write_output(message)


def _add_fit(commands: Any) -> None:
    fit = commands.add_parser(
        "fit",
        help="fit a file and report the errors",
        usage=f"{PROGRAM} fit TRAIN [--outcome COL | --formula FORMULA] [options]",
        description="Fit a two-level outcome; print confusion tables and error rates.",
    )
    _add_files(fit)
    _add_model_options(fit)
    _add_solver_options(fit)
    _add_output_options(fit)


def _add_report(commands: Any) -> None:
    report = commands.add_parser(
        "report",
        help="fit a file and write a report of it",
        usage=f"{PROGRAM} report TRAIN [--outcome COL | --formula FORMULA] [options]",
        description="Fit a two-level outcome; write a page with the question, the "
        "data, the fit, its errors, figures, and the lines that repeat it in Python "
        "and in R.",
    )
    _add_files(report)
    report.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="report.html",
        help="the report: Markdown if it ends in .md, else one HTML file (default: "
        "report.html); an earlier report is replaced, any other file is not",
    )
    _add_overwrite(report)
    report.add_argument("--title", help="of the report (default: from the outcome)")
    report.add_argument(
        "--image-shape",
        type=shape,
        metavar="ROWSxCOLUMNS",
        help="the features are the pixels of an image, row by row: draw the "
        "coefficients as one",
    )
    _add_model_options(report)
    _add_solver_options(report)
    report.set_defaults(trace=True, progress=False)


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("train", metavar="TRAIN", help=f"training data: {INPUT}")
    parser.add_argument(
        "--outcome",
        metavar="COL",
        help="two-level column of a CSV file; all others are predictors",
    )
    parser.add_argument(
        "--formula",
        help="the model instead, as in R: 'y ~ a + b', 'y ~ . - id'",
    )
    parser.add_argument("--test", metavar="TEST", help="labelled data to test on")
    _add_format(parser)


def _add_predict(commands: Any) -> None:
    predict = commands.add_parser(
        "predict",
        help="predict with a model that fit --save wrote",
        usage=f"{PROGRAM} predict MODEL DATA [-o OUT.csv] [options]",
        description="Predict labels and scores; with labels among the data also print "
        "the confusion table (to standard error where the predictions go to standard "
        "output).",
    )
    predict.add_argument("model", metavar="MODEL", help="file that fit --save wrote")
    predict.add_argument("data", metavar="DATA", help=f"rows to predict: {INPUT}")
    predict.add_argument(
        "-o",
        "--output",
        metavar="OUT.csv",
        help="file for the predictions; earlier ones there are replaced, any other "
        "file is not; a device or a pipe is written into (default, and -: standard "
        "output)",
    )
    _add_overwrite(predict)
    predict.add_argument(
        "--unlabelled",
        action="store_true",
        help="the labels in DATA mean nothing: predict only",
    )
    _add_option(predict, [offered(Pegasos)["ties"]])
    _add_format(predict)
    predict.add_argument("--json", action="store_true", help="print JSON")


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=["auto", "csv", "svmlight"],
        default="auto",
        help="of the data files (default: auto, found in the first lines)",
    )
    parser.add_argument(
        "--sep",
        metavar="CHAR",
        help="between the columns of CSV files, or 'tab' (default: a comma)",
    )
    parser.add_argument(
        "--decimal",
        metavar="CHAR",
        help="in the numbers of CSV files (default: a point)",
    )


def _add_model_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    add = group.add_argument
    usual = {name: each.default for name, each in signature(SVM).parameters.items()}
    add(
        "--lambda",
        dest="lam",
        type=number,
        default=usual["lam"],
        metavar="NUMBER",
        help=f"penalty, above zero (default: {usual['lam']:g})",
    )
    add(
        "--loss",
        choices=list(get_args(LossName)),
        default=SVM.loss,
        help=f"support vector machine, or logistic regression (default: {SVM.loss})",
    )
    add(
        "--no-intercept",
        dest="intercept",
        action="store_false",
        help="fix the intercept at 0",
    )
    add(
        "--coding",
        choices=["factor", "first-seen"],
        default=usual["coding"],
        help="which level is -1: the first in order, or the first in the data "
        f"(default: {usual['coding']})",
    )
    add(
        "--kernel",
        choices=[name for name in NAMES if name != "precomputed"],
        help="fit a kernel machine (default: no kernel, one coefficient a feature)",
    )
    for option in offered(KernelFunction).values():
        _add_option(group, [option])
    add(
        "--weights",
        metavar="COL|balanced",
        help="weight of each row: a column of a CSV file, or the same total for both "
        "levels (default: all the same)",
    )
    add(
        "--standardize",
        action="store_true",
        help="bring the features to mean 0 and standard deviation 1",
    )


def _add_solver_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("solver")
    group.add_argument(
        "--solver",
        choices=list(SOLVERS),
        default="pegasos",
        help="steps as in R, or on to the certified optimum (default: pegasos)",
    )
    for name, options in solver_options().items():
        _add_option(group, options, SEED if name == "seed" else None)
        if name in BESIDE:
            flag, settings = BESIDE[name]
            group.add_argument(flag, **settings)


def _add_option(parser: Any, options: list[Option], default: Any = None) -> None:
    """Add an option as those that have it declare it; they share name and type."""
    option = options[0]
    words = [_default_words(each) for each in options]
    if default is not None:
        words = [str(default)]
    known = "; ".join(dict.fromkeys(word for word in words if word))
    settings: dict[str, Any] = {"choices": list(option.choices)}
    if option.kind is bool:
        settings = {"action": "store_true"}
    elif option.kind in READERS:
        read, metavar = READERS[option.kind], option.metavar
        settings = {"type": read, "metavar": metavar}
    parser.add_argument(
        option.flag,
        default=default,
        help=option.help + (f" (default: {known})" if known else ""),
        **settings,
    )


def _default_words(option: Option) -> str:
    value = option.default
    if option.default_words:
        return option.default_words
    if value is None or option.kind is bool:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _add_overwrite(parser: Any) -> None:
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="replace files that pegasos-stats did not write too",
    )


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    add = group.add_argument
    add("--trace", action="store_true", help="print a line of progress for every epoch")
    add("--progress", action="store_true", help="show a progress bar")
    add(
        "--save",
        metavar="MODEL",
        help="write the fit to a file, for predict; an earlier model is replaced, any "
        "other file is not",
    )
    _add_overwrite(group)
    add("--json", action="store_true", help="print JSON")
