"""The arguments of the command line, with their help.

Those of a solver, such as ``--batch-size``, are the fields of its dataclass; defaults
of a model are those of its class.
"""

import argparse
from dataclasses import replace
from inspect import signature
from typing import Any, TypeAlias, get_args

from pegasos_stats import __version__
from pegasos_stats.data.factor_levels import UNSEEN
from pegasos_stats.data.scan.files import MEMORY
from pegasos_stats.models.linear import SVM
from pegasos_stats.output.cli import cross_validation
from pegasos_stats.output.cli import options as cli
from pegasos_stats.output.cli.process import PROGRAM
from pegasos_stats.output.cli.words import Parser
from pegasos_stats.output.option_names import flag
from pegasos_stats.solvers.kernel_problem import NAMES, KernelFunction
from pegasos_stats.solvers.options import Option, offered
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.penalty import Lam
from pegasos_stats.solvers.problem import LossName

SEED = 443  # of the reference run, which demo repeats
DESCRIPTION = (
    "Support vector machines and logistic classifiers for a two-level outcome, with "
    "the numbers that R gives from the same seed."
)
Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
Group = argparse._ActionsContainer
INPUT = (
    "CSV with a header, or svmlight ('label index:value ...'), plain, gzip or bzip2; "
    "or, block by block, Parquet, Arrow, a folder, or 'rows/*.parquet', "
    "'rows/*.svm'; -: standard input"
)


def parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    main = Parser(prog=PROGRAM, description=DESCRIPTION)
    main.add_argument("--version", action="version", version=__version__)
    commands = main.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_fit(commands)
    _add_report(commands)
    _add_predict(commands)
    _add_parity(commands)
    demo = commands.add_parser(
        "demo",
        help="fit the data that come with the package",
        usage=f"{PROGRAM} demo [options]",
        description="Fit handwritten fives and sixes that come with the package.",
    )
    _add_model_options(demo, usual_lambda="1")
    _add_solver_options(demo, SEED)
    _add_output_options(demo)
    demo.add_argument(
        "--report",
        metavar="FILE",
        help="write a report too: Markdown if it ends in .md, else HTML",
    )
    commands.add_parser(
        "compile",
        help="compile what fits need, once",
        usage=f"{PROGRAM} compile",
        description="Compile the kernels of Pegasos, of kernel machines and of sparse "
        "and wide rows, in about a minute, and keep them in the cache; else each is "
        "compiled when it is first needed. For images of containers and for tests; "
        "NUMBA_CACHE_DIR names another folder.",
    )
    return main


def _add_fit(commands: Commands) -> None:
    fit = commands.add_parser(
        "fit",
        help="fit a file and report the errors",
        usage=f"{PROGRAM} fit TRAIN [--outcome COL | --formula FORMULA] [options]",
        description="Fit a two-level outcome; print confusion tables and error rates.",
    )
    _add_files(fit)
    cross_validation.add_options(fit)
    cross_validation.add_positive(fit)
    _add_option(fit, [cli.THRESHOLD], None)
    _add_model_options(fit)
    _add_error_options(fit)
    _add_solver_options(fit)
    fit.set_defaults(solver=None)
    output = _add_output_options(fit)
    errors = "print the coefficients too, with standard errors, intervals and p-values"
    output.add_argument("--coefficients", action="store_true", help=errors)


def _add_report(commands: Commands) -> None:
    report = commands.add_parser(
        "report",
        help="fit a file and write a report of it",
        usage=f"{PROGRAM} report TRAIN [--outcome COL | --formula FORMULA] [options]",
        description="Fit a two-level outcome; write a page whose first screen has the "
        "conclusion, the errors and the strongest predictors.",
    )
    _add_files(report)
    report.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="report.html",
        help="the report: Markdown if it ends in .md, else one HTML file (default: "
        "report.html), with a CSV file of all misclassified rows beside it; an earlier "
        "report is replaced, any other file is not",
    )
    _add_overwrite(report)
    cross_validation.add_options(report)
    cross_validation.add_positive(report, cross_validation.POSITIVE)
    _add_option(report, [cli.THRESHOLD], None)
    report.add_argument("--title", help="of the report (default: from the outcome)")
    report.add_argument(
        "--image-shape",
        type=cli.shape,
        metavar="ROWSxCOLUMNS",
        help="the features are the pixels of an image, row by row: draw the "
        "coefficients as one",
    )
    _add_model_options(report, "log; with --kernel hinge")
    _add_error_options(report)
    _add_solver_options(report)
    report.set_defaults(trace=False, progress=False, solver=None, loss=None)


def _add_parity(commands: Commands) -> None:
    parity = commands.add_parser(
        "parity",
        help="run a fit in Python and in R, and compare",
        usage=f"{PROGRAM} parity TRAIN [--outcome COL | --formula FORMULA] [options]",
        description="Fit a two-level outcome in Python, and by the reference in the R "
        "at hand; print what is the same, and the first step that is not. The exit "
        "code is 0 if all is the same, 1 if something differs, 2 if it cannot be "
        "found out.",
    )
    _add_training(parity)
    _add_format(parity)
    parity.add_argument(
        "--via",
        choices=["rpy2", "Rscript"],
        help="how R is run (default: rpy2 where it can be imported, else Rscript)",
    )
    parity.add_argument("--json", action="store_true", help="print JSON")
    _add_model_options(parity)
    _add_solver_options(parity)
    parity.set_defaults(test=None, groups=None)


def _add_training(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("train", metavar="TRAIN", help=f"training data: {INPUT}")
    parser.add_argument(
        "--outcome",
        "-y",
        "--target",
        metavar="COL",
        help="two-level column of a CSV file; all others are predictors",
    )
    parser.add_argument(
        "--formula",
        help="the model instead, as in R: 'y ~ a + b', 'y ~ . - id'",
    )


def _add_files(parser: argparse.ArgumentParser) -> None:
    _add_training(parser)
    parser.add_argument("--test", metavar="TEST", help="labelled data to test on")
    _add_unseen(parser, "TEST")
    _add_format(parser)


def _add_predict(commands: Commands) -> None:
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
    cross_validation.add_positive(predict)
    _add_unseen(predict, "DATA")
    for option in (cli.THRESHOLD, offered(Pegasos)["ties"]):
        _add_option(predict, [option], None)
    _add_format(predict)
    predict.add_argument("--json", action="store_true", help="print JSON")


def _add_unseen(parser: argparse.ArgumentParser, where: str) -> None:
    parser.add_argument(
        "--unseen",
        choices=list(UNSEEN),
        default=UNSEEN[0],
        help=f"levels of a factor in {where} that the fit did not see: an error, or "
        f"rows without a prediction (default: {UNSEEN[0]})",
    )


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
    parser.add_argument(
        "--encoding",
        metavar="NAME",
        help="of the text in CSV files, such as latin-1 (default: utf-8)",
    )
    parser.add_argument(
        "--na-values",
        "--na",
        action="append",
        metavar="TEXT",
        help="stands for a missing value in CSV files, as '?' may, beside an empty "
        "cell, NA and the like; may be repeated: --na-values -99 --na-values k.A.",
    )
    parser.add_argument(
        "--id",
        metavar="COL",
        help="column of a CSV file that names the rows: no predictor, and the first "
        "column of predictions",
    )
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="budget for files that are read block by block, such as 512MiB; CSV and "
        f".svm too if it is given (default: {MEMORY})",
    )


def _add_model_options(
    parser: argparse.ArgumentParser,
    loss: str = "",
    usual_lambda: str = "1/n, n the rows",
) -> None:
    """Add the options of a model; defaults of loss and lambda in words."""
    group = parser.add_argument_group("model")
    usual = {name: each.default for name, each in signature(SVM).parameters.items()}
    kernels = tuple(name for name in NAMES if name != "precomputed")
    losses, codings = get_args(LossName), ("factor", "first-seen")
    for option in (
        Option(
            "lam",
            Lam,
            help="penalty, above zero; cv: the best by ten-fold cross-validation; of "
            "pegasos, whose steps are 1/(lambda t), there is no default",
            default_words=_usual_penalties(usual_lambda),
            metavar="NUMBER|cv",
        ),
        Option(
            "loss",
            str,
            losses,
            default=SVM.loss,
            help="support vector machine, or logistic regression",
            default_words=loss,
        ),
        Option(
            "intercept",
            bool,
            default=usual["intercept"],
            help="fix the intercept at 0",
        ),
        Option(
            "coding",
            str,
            codings,
            default=usual["coding"],
            help="which level is -1: the first in order, or the first in the data",
        ),
        Option(
            "kernel",
            str,
            kernels,
            help="fit a kernel machine",
            default_words="no kernel, one coefficient a feature",
        ),
        *(each for name, each in offered(KernelFunction).items() if name != "offset"),
        *cli.OF_ROWS,
        Option(
            "standardize",
            bool,
            default=usual["standardize"],
            help="bring the features to mean 0 and standard deviation 1",
        ),
    ):
        _add_option(group, [option], option.default)


def _usual_penalties(usual: str) -> str:
    """The default penalty, and that of each profile with one of its own."""
    own = [f"{each:g} with --profile {name}" for name, each in cli.PENALTIES.items()]
    return "; ".join([usual, *own])


def _add_error_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("standard errors")
    for option in cli.ERRORS:
        _add_option(group, [option], None)


def _add_solver_options(
    parser: argparse.ArgumentParser, seed: int | None = None
) -> None:
    group = parser.add_argument_group("solver")
    group.add_argument(
        "--solver",
        choices=list(cli.SOLVERS),
        default="pegasos",
        help="steps as in R, or on to the optimum (default: pegasos; of fit and report "
        "sdca, but with options of a run of pegasos, such as --epochs)",
    )
    for name, options in cli.solver_options().items():
        if name == "seed":
            words = "1; a run of pegasos draws its own" if seed is None else f"{seed}"
            _add_option(group, [replace(options[0], default_words=words)], seed)
        else:  # None: not given, and left to the solver
            _add_option(group, options, None)
        if name in cli.BESIDE:
            name_of, settings = cli.BESIDE[name]
            group.add_argument(name_of, **settings)


def _add_option(group: Group, options: list[Option], default: object) -> None:
    """Add an option as its owners declare it; they share name, type and help."""
    option = options[0]
    words = []
    for each in options:
        value, is_float = each.default, isinstance(each.default, float)
        told = value is not None and each.kind is not bool
        plain = (f"{value:g}" if is_float else f"{value}") if told else ""
        words.append(each.default_words or plain)
    known = "; ".join(dict.fromkeys(filter(None, words)))
    settings: dict[str, Any] = {"default": default}
    if option.kind is bool:
        settings["action"] = "store_false" if default else "store_true"
    elif option.kind in cli.READERS:
        settings |= {"type": cli.READERS[option.kind], "metavar": option.metavar}
    elif option.choices:
        every = [choice for each in options for choice in each.choices]
        settings["choices"] = list(dict.fromkeys(every))
        settings["metavar"] = option.metavar or None  # without one all are listed
    else:
        settings["metavar"] = option.metavar
    no = "--no-" if default is True else "--"
    names = dict.fromkeys([flag(option.name), f"--{option.name.replace('_', '-')}"])
    group.add_argument(
        *(name.replace("--", no, 1) for name in names),
        dest=option.name,
        help=option.help + (f" (default: {known})" if known else ""),
        **settings,
    )


def _add_overwrite(parser: Group) -> None:
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="replace files that pegasos-stats did not write too",
    )


def _add_output_options(parser: argparse.ArgumentParser) -> Group:
    group = parser.add_argument_group("output")
    add = group.add_argument
    add("--trace", action="store_true", help="print a line of progress for every epoch")
    add("--progress", action="store_true", help="show a progress bar")
    saved = "write the fit to a file, for predict; an earlier model is replaced, any "
    add("--save", metavar="MODEL", help=f"{saved}other file is not")
    _add_overwrite(group)
    add("--json", action="store_true", help="print JSON")
    return group
