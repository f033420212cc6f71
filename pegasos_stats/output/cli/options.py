"""The options of the command line, each described once, and commands that have them.

The annotated classes below are name, type, default and help of every option; `parser`
makes a command of those that it offers. Nothing here loads more than numpy, so that
help and refusals come at once. Without a value an option is left to Python's default.
"""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal, NoReturn, get_args, get_origin, get_type_hints

from pegasos_stats import __version__
from pegasos_stats.errors import OptionError, listing
from pegasos_stats.output.cli.foreign_words import more_words, own_words
from pegasos_stats.output.cli.process import PROGRAM, say, write_output

WHOLE = re.compile(r"[+-]?[0-9]{1,18}")  # fits into 64 bits
NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan|inf|infinity)", re.I
)
SHOWN = 40  # characters of a wrong word
STEP_NAMES = ("pegasos", "1/(lambda n)", "1/sqrt(t)")

# ------------------------------------------------------------------ values


def whole(text: str) -> int:
    """Read a whole number of at most 18 digits, in ASCII alone.

    Examples
    --------
    >>> whole("443")
    443
    """
    if not WHOLE.fullmatch(text):
        raise _wrong(text, "invalid int value: {}; give a whole number such as 20")
    return int(text)


def number(text: str) -> float:
    """Read a number in the notation of Python, in ASCII alone.

    Examples
    --------
    >>> number("1e-3")
    0.001
    """
    if not NUMBER.fullmatch(text):
        raise _wrong(text, "invalid float value: {}; give a number such as 0.01")
    return float(text)


def read_penalty(text: str) -> float | Literal["cv"]:
    """Read a number, or ``cv``."""
    if re.fullmatch(r"[0-9.e-]+([,:][0-9.e-]+)+", text):
        raise _wrong(
            text,
            "{} is more than a number such as 0.01; give cv for the best of many by "
            "cross-validation",
        )
    return "cv" if text == "cv" else number(text)


def read_average(text: str) -> int | str:
    """Read ``none``, ``all``, or a number of last epochs."""
    if text in ("none", "all"):
        return text
    if not WHOLE.fullmatch(text):
        raise _wrong(text, "{} is not 'none', 'all' or a number of last epochs")
    return int(text)


def read_step(text: str) -> float | str:
    """Read the name of a step size, or one size."""
    if text in STEP_NAMES:
        return text
    if not NUMBER.fullmatch(text):
        raise _wrong(text, f"{{}} is neither a number nor one of {listing(STEP_NAMES)}")
    return float(text)


def read_shape(text: str) -> tuple[int, int]:
    """Read rows and columns, as in ``16x16``."""
    if not re.fullmatch("[0-9]{1,9}x[0-9]{1,9}", text.lower()):
        raise _wrong(text, "{} is not of the form 16x16, rows and columns")
    rows, columns = map(int, text.lower().split("x"))
    return rows, columns


def _wrong(text: str, message: str) -> argparse.ArgumentTypeError:
    short = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
    return argparse.ArgumentTypeError(message.format(ascii(short)))


# ----------------------------------------------------------------- options


def option(
    help: str,
    default: Any = None,
    *,
    flags: str = "",
    metavar: str | None = None,
    read: Callable[[str], Any] | None = None,
) -> Any:
    """Describe a field that is an option.

    Parameters
    ----------
    help : str
    default : object
    flags : str
        How it is spelled, if not as its name; without a dash it stands alone.
    metavar : str, optional
        What stands for the value in the help.
    read : callable, optional
        Makes the value of its text; a type of numbers and choices need none.
    """
    words = {"help": help, "flags": flags, "metavar": metavar, "read": read}
    return field(default=default, metadata=words)


INPUT = (
    "CSV with a header, or svmlight ('label index:value ...'), plain, gzip or bzip2; "
    "or, block by block, Parquet, Arrow, a folder, or 'rows/*.parquet', "
    "'rows/*.svm'; -: standard input"
)


@dataclass(kw_only=True)
class Training:
    """The rows of a fit, and its model."""

    train: str = option(f"training data: {INPUT}", flags="TRAIN")
    outcome: str | None = option(
        "two-level column of a CSV file; all others are predictors",
        flags="--outcome -y --target",
        metavar="COL",
    )
    formula: str | None = option(
        "the model instead, as in R: 'y ~ a + b', 'y ~ . - id'"
    )


@dataclass(kw_only=True)
class Testing:
    """Rows to test on."""

    test: str | None = option("labelled data to test on", metavar="TEST")


@dataclass(kw_only=True)
class Reading:
    """How files of rows are read."""

    unseen: Literal["error", "missing"] = option(
        "levels of a factor in new rows that the fit did not see: an error, or rows "
        "without a prediction (default: error)",
        "error",
    )
    format: Literal["auto", "csv", "svmlight"] = option(
        "of the data files (default: auto, found in the first lines)", "auto"
    )
    sep: str | None = option(
        "between the columns of CSV files, or 'tab' (default: a comma)", metavar="CHAR"
    )
    decimal: str | None = option(
        "in the numbers of CSV files (default: a point)", metavar="CHAR"
    )
    encoding: str | None = option(
        "of the text in CSV files, such as latin-1 (default: utf-8)", metavar="NAME"
    )
    na_values: list[str] | None = option(
        "stands for a missing value in CSV files, as '?' may, beside an empty cell, NA "
        "and the like; may be repeated: --na-values -99 --na-values k.A.",
        flags="--na-values --na",
        metavar="TEXT",
    )
    id: str | None = option(
        "column of a CSV file that names the rows: no predictor, and the first column "
        "of predictions",
        metavar="COL",
    )
    memory: str | None = option(
        "budget for files that are read block by block, such as 512MiB; CSV and .svm "
        "too if it is given (default: 1GiB)",
        metavar="SIZE",
    )


@dataclass(kw_only=True)
class Evaluation:
    """How the errors of a fit are shown."""

    cv: int | None = option(
        "estimate the errors on new rows by cross-validation; with --lambda cv lambda "
        "is chosen anew in each fold",
        metavar="FOLDS",
    )
    positive: str | None = option(
        "positive class of sensitivity and similar statistics, which report has for "
        "the level coded +1 without it",
        metavar="LEVEL",
    )
    threshold: float | None = option(
        "rows above it are predicted as the level coded +1: of its probability with "
        "the log loss, else of the score (default: where the score is 0)",
        metavar="NUMBER",
    )


@dataclass(kw_only=True)
class Model:
    """What is minimised."""

    lam: float | Literal["cv"] | None = option(
        "penalty, above zero; cv: the best by ten-fold cross-validation; of pegasos, "
        "whose steps are 1/(lambda t), there is no default (default: 1/n, n the rows; "
        "of demo 1; 0.0001 with --profile homework)",
        flags="--lambda --lam",
        metavar="NUMBER|cv",
        read=read_penalty,
    )
    loss: Literal["hinge", "log"] | None = option(
        "support vector machine, or logistic regression (default: hinge; of report "
        "log, but hinge with --kernel)"
    )
    intercept: bool = option("fix the intercept at 0", True)
    coding: Literal["factor", "first-seen"] = option(
        "which level is -1: the first in order, or the first in the data (default: "
        "factor)",
        "factor",
    )
    kernel: Literal["linear", "polynomial", "gaussian"] | None = option(
        "fit a kernel machine (default: no kernel, one coefficient a feature)"
    )
    degree: int | None = option("of the polynomial kernel (default: 2)")
    gamma: float | None = option(
        "of the Gaussian kernel (default: 1 / (features * variance))"
    )
    weights: str | None = option(
        "weight of each row: a column of a CSV file, or the same total for both levels "
        "(default: all the same)",
        metavar="COL|balanced",
    )
    freq_weights: str | None = option(
        "column of a CSV file that says how many rows each row stands for, in all "
        "files (default: one each)",
        metavar="COL",
    )
    offset: str | None = option(
        "column of a CSV file that is a known part of each score, in all files; of the "
        "polynomial kernel its number (default: none; 1 of the kernel)",
        metavar="COL|NUMBER",
    )
    standardize: bool = option(
        "bring the features to mean 0 and standard deviation 1", False
    )


@dataclass(kw_only=True)
class StandardErrors:
    """How standard errors are estimated."""

    cov_type: (
        Literal[
            "default",
            "nonrobust",
            "HC0",
            "HC1",
            "HC2",
            "HC3",
            "cluster",
            "bootstrap",
            "sandwich",
            "none",
        ]
        | None
    ) = option(
        "how they are estimated: default, nonrobust, HC0, HC1, HC2, HC3, cluster, "
        "bootstrap, sandwich, none; 'cluster' and 'bootstrap' take --groups (default: "
        "by formula, where that holds)",
        metavar="NAME",
    )
    groups: str | None = option(
        "column of a CSV file that says which rows belong together (default: each row "
        "alone)",
        metavar="COL",
    )


@dataclass(kw_only=True)
class Solver:
    """How it is minimised."""

    solver: Literal["pegasos", "sdca"] | None = option(
        "steps as in R, or on to the optimum (default: sdca, but pegasos with options "
        "of a run of it, such as --epochs, and in demo and parity)"
    )
    epochs: int | None = option(
        "passes over the rows (default: 20; 1 with --rows; at most 1000 with --tol or "
        "--change-tol; at most 100 with sdca)"
    )
    tol: float | None = option(
        "stop at this relative duality gap (default: none with pegasos; 1e-06 with "
        "sdca)",
        metavar="GAP",
    )
    start: Literal["zero", "random", "sgd"] | None = option(
        "begin at 0, in a random direction (pegasos), or by an epoch of SGD (sdca) "
        "(default: zero)"
    )
    refine: float | None = option(
        "after pegasos, go on with sdca to this relative duality gap", metavar="GAP"
    )
    seed: int | None = option("as for set.seed() in R (default: 1; of demo 443)")
    order: Literal["shuffle", "sequential", "replace"] | None = option(
        "permutations, the order of the file, or draws (default: shuffle)"
    )
    steps: int | None = option("number of steps, with --order replace")
    rows: str | None = option(
        "visit these rows: numbers counted from zero, one a line", metavar="FILE"
    )
    batch_size: int | None = option("rows in a step (default: 1)", metavar="ROWS")
    project: bool | None = option(
        "keep the coefficients in the ball of radius 1 / sqrt(lambda)"
    )
    average: int | Literal["none", "all"] | None = option(
        "return the last iterate, the mean of all, or that of the last N epochs "
        "(default: none)",
        metavar="none|all|N",
        read=read_average,
    )
    refit_intercept: bool | None = option(
        "at the end take the best intercept for these coefficients"
    )
    ties: Literal["na", "positive", "negative"] | None = option(
        "label of a score of exactly 0 (default: na, no label)"
    )
    profile: Literal["paper", "r_script", "homework", "minibatch"] | None = option(
        "start from a named form of Pegasos: as published (needs --steps), as the R "
        "script, as set in courses (in order, 5 epochs, no intercept, ties positive), "
        "or in batches of 100, 10 epochs"
    )
    algorithm: Literal["newton", "perm"] | None = option(
        "go on by Newton steps, or SDCA-perm as published (default: newton)"
    )
    arithmetic: Literal["reference", "fast"] | None = option(
        "R's bits, or sums as they suit the machine (default: reference)"
    )
    first_step: int | None = option(
        "number t of the first step (default: 1)", metavar="T"
    )
    step: float | str | None = option(
        "size of the steps: 1/(lambda t), one of the names, or a number (default: "
        "pegasos)",
        metavar="|".join([*STEP_NAMES, "SIZE"]),
        read=read_step,
    )
    change_tol: float | None = option(
        "stop where an epoch changes no coefficient by more than this share of the "
        "largest (default: none)",
        metavar="SHARE",
    )


@dataclass(kw_only=True)
class Output:
    """What is printed and saved."""

    trace: bool = option("print a line of progress for every epoch", False)
    progress: bool = option("show a progress bar", False)
    save: str | None = option(
        "write the fit to a file, for predict; an earlier model is replaced, any other "
        "file is not",
        metavar="MODEL",
    )
    overwrite: bool = option(
        "replace files that pegasos-stats did not write too", False
    )
    json: bool = option("print JSON", False)
    coefficients: bool = option(
        "print the coefficients too, with standard errors, intervals and p-values",
        False,
    )


@dataclass(kw_only=True)
class Further:
    """Options of one or two commands."""

    model: str = option("file that fit --save wrote", flags="MODEL")
    data: str = option(f"rows to predict: {INPUT}", flags="DATA")
    output: str | None = option(
        "file to write: a page (default: report.html; Markdown if it ends in .md), "
        "with a CSV file of all misclassified rows beside it, or predictions (default, "
        "and -: standard output; a device or a pipe is written into); an earlier one "
        "is replaced, any other file is not",
        flags="-o --output",
        metavar="FILE",
    )
    unlabelled: bool = option("ignore labels in DATA", False)
    title: str | None = option("of the report (default: from the outcome)")
    image_shape: tuple[int, int] | None = option(
        "the features are the pixels of an image, row by row: draw the coefficients as "
        "one",
        metavar="ROWSxCOLUMNS",
        read=read_shape,
    )
    report: str | None = option(
        "write a report too: Markdown if it ends in .md, else HTML", metavar="FILE"
    )
    via: Literal["rpy2", "Rscript"] | None = option(
        "how R is run (default: rpy2 where it can be imported, else Rscript)"
    )


@dataclass(kw_only=True)
class Options(
    Further,
    Output,
    Solver,
    StandardErrors,
    Model,
    Evaluation,
    Reading,
    Testing,
    Training,
):
    """The options of a run; those that a command does not offer are at their default.

    Attributes
    ----------
    command : str
    words : list of str
        As they were typed.
    """

    command: str
    words: Sequence[str] = ()


TITLES: dict[type, str] = {
    Model: "model",
    StandardErrors: "standard errors",
    Solver: "solver",
    Output: "output",
}  # of groups in the help


# ---------------------------------------------------------------- commands


@dataclass(frozen=True)
class Command:
    """A command: what its help says, and its options, in groups or by name."""

    summary: str
    description: str
    usage: str
    offers: tuple[type | str, ...]
    example: str


FITTING = Training, Testing, Reading, Evaluation, Model, StandardErrors, Solver
USAGE = "TRAIN [--outcome COL | --formula FORMULA] [options]"
COMMANDS = {
    "fit": Command(
        "fit a file and report the errors",
        "Fit a two-level outcome; print confusion tables and error rates.",
        USAGE,
        (*FITTING, Output),
        "fit patients.csv --outcome readmitted --cv 10 --save a.model",
    ),
    "report": Command(
        "fit a file and write a report of it",
        "Fit a two-level outcome; write a page whose first screen has the conclusion, "
        "the errors and the strongest predictors.",
        USAGE,
        (*FITTING, "output", "overwrite", "title", "image_shape"),
        "report patients.csv --formula 'readmitted ~ . - id' -o report.html",
    ),
    "predict": Command(
        "predict with a model that fit --save wrote",
        "Predict labels and scores; with labels among the data also print the "
        "confusion table (to standard error where the predictions go to standard "
        "output).",
        "MODEL DATA [-o OUT.csv] [options]",
        (
            *("model", "data", "output", "overwrite", "unlabelled", "positive"),
            *("threshold", "ties", Reading, "json"),
        ),
        "predict a.model new.csv -o predictions.csv",
    ),
    "parity": Command(
        "run a fit in Python and in R, and compare",
        "Fit a two-level outcome in Python, and by the reference in the R at hand; "
        "print what is the same, and the first step that is not. The exit code is 0 if "
        "all is the same, 1 if something differs, 2 if it cannot be found out.",
        USAGE,
        (Training, Reading, "via", "json", Model, Solver),
        "parity patients.csv --outcome readmitted --lambda 0.1 --epochs 20",
    ),
    "demo": Command(
        "fit the data that come with the package",
        "Fit handwritten fives and sixes that come with the package.",
        "[options]",
        ("report", Evaluation, Model, StandardErrors, Solver, Output),
        "demo --loss log --report demo.html",
    ),
    "compile": Command(
        "compile what fits need, once",
        "Compile the kernels of Pegasos, of kernel machines and of sparse and wide "
        "rows, in about a minute, and keep them in the cache; else each is compiled "
        "when it is first needed. For images of containers and for tests; "
        "NUMBA_CACHE_DIR names another folder.",
        "",
        (),
        "compile",
    ),
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        """End the process with one line."""
        needed = message.partition("required: ")[2]
        if needed == "TRAIN":
            message = f"{message}; give a file of data, or - for standard input"
        elif needed.endswith("DATA"):
            message = f"predict needs a model and rows: {PROGRAM} predict MODEL DATA"
        say(f"{message}; see {self.prog} --help.")
        sys.exit(2)

    def _print_message(self, message: str, file: object = None) -> None:
        write_output(message)


class _Once(argparse.Action):
    """Store the value of an option, which may be given once."""

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: Any = None
    ) -> None:
        if option_string and getattr(namespace, self.dest) != self.default:
            raise argparse.ArgumentError(self, "is given twice; give it once")
        setattr(namespace, self.dest, values)


def parser(name: str) -> Parser:
    """The parser of a command.

    Examples
    --------
    >>> parser("fit").parse_args(["a.csv", "--lambda", "0.5"]).lam
    0.5
    """
    command = COMMANDS[name]
    made = Parser(
        prog=f"{PROGRAM} {name}",
        usage=f"{PROGRAM} {name} {command.usage}".rstrip(),
        description=command.description,
        epilog=f"example: {PROGRAM} {command.example}",
    )
    every = {each.name: each for each in fields(Options)}
    for offer in command.offers:
        if isinstance(offer, str):
            _add(made, every[offer])
            continue
        group = made.add_argument_group(TITLES[offer]) if offer in TITLES else made
        for each in fields(offer):
            _add(group, each)
    return made


def _add(group: argparse._ActionsContainer, each: Any) -> None:
    words, kinds = each.metadata, _kinds()[each.name]
    flags = _spellings(each)
    settings: dict[str, Any] = {"help": words["help"]}
    if flags[0].startswith("-"):
        settings |= {"dest": each.name, "default": each.default}
    else:
        flags, settings["metavar"] = [each.name], flags[0]
    if bool in kinds:
        settings["action"] = "store_false" if each.default else "store_true"
    else:
        read = {int: whole, float: number}.get(kinds[0])
        choices = [get_args(kind) for kind in kinds if get_origin(kind) is Literal]
        settings["action"] = "append" if list[str] in kinds else _Once
        settings["type"] = words["read"] or read
        settings.setdefault("metavar", words["metavar"])
        if choices and not words["read"]:
            settings["choices"] = choices[0]
    group.add_argument(*flags, **settings)


@cache
def _kinds() -> dict[str, tuple[Any, ...]]:
    """The types of each option, one after the other."""
    hints = get_type_hints(Options)
    several = {name: get_args(hint) for name, hint in hints.items()}
    plain = (list, tuple, Literal)
    return {
        name: (hint,) if get_origin(hint) in (None, *plain) else several[name]
        for name, hint in hints.items()
    }


def _spellings(each: Any) -> list[str]:
    no = "no-" if each.default is True else ""
    return (each.metadata["flags"] or f"--{no}{each.name.replace('_', '-')}").split()


@cache
def every_flag() -> frozenset[str]:
    """The spellings of all options."""
    described = [each for each in fields(Options) if each.metadata]
    return frozenset(flag for each in described for flag in _spellings(each))


def overview() -> str:
    """What ``--help`` without a command prints."""
    rows = "".join(f"  {name:<9} {each.summary}\n" for name, each in COMMANDS.items())
    return (
        f"usage: {PROGRAM} COMMAND ...\n\n"
        "Support vector machines and logistic classifiers for a two-level outcome,\n"
        "with the numbers that R gives from the same seed.\n\n"
        f"commands:\n{rows}\n"
        f"{PROGRAM} COMMAND --help lists the options of a command; --version is "
        f"{__version__}.\n"
    )


def read_words(words: Sequence[str]) -> Options:
    """The options that the words of a command line give.

    Raises
    ------
    OptionError
        For a word that no command has.
    SystemExit
        After ``--help`` and ``--version``, and for words that do not go together.
    """
    parsers = {name: parser(name) for name in COMMANDS}
    flags = {name: [*each._option_string_actions] for name, each in parsers.items()}
    known = own_words(words, flags)
    if not known:
        raise OptionError(f"COMMAND is missing; give one of {', '.join(COMMANDS)}.")
    command, *rest = known
    if command in ("-h", "--help", "--version"):
        write_output(f"{__version__}\n" if command == "--version" else overview())
        sys.exit(0)
    found, more = parsers[command].parse_known_args(rest)
    options = Options(command=command, words=words, **vars(found))
    if more:
        raise more_words(more, options)
    return options
