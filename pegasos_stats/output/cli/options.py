"""The options of the command line, each described once, and commands that have them.

The classes below are name, type, default and help of every option, where the docstring
of a class is the help of its fields; `parser` makes a command of those that it offers.
Nothing here loads more than numpy, so that help and refusals come at once. An option
that is None is left to the default of Python.
"""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from inspect import getdoc
from types import UnionType
from typing import Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from pegasos_stats import __version__
from pegasos_stats.errors import OptionError, listing
from pegasos_stats.output.cli.foreign_words import more_words, own_words
from pegasos_stats.output.cli.streams import PROGRAM, say, write_output

# ------------------------------------------------------------------ values

WHOLE = re.compile(r"[+-]?[0-9]{1,18}")  # fits into 64 bits
NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan|inf|infinity)", re.I
)
SHOWN = 40  # characters of a wrong word
STEPS = ("pegasos", "1/(lambda n)", "1/sqrt(t)")


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


def read_penalty(text: str) -> float | str:
    """Read a number, or ``cv``."""
    if re.fullmatch(r"[0-9.e-]+([,:][0-9.e-]+)+", text):
        raise _wrong(text, "{} is more than one number; give cv for the best of many")
    return "cv" if text == "cv" else number(text)


def read_average(text: str) -> int | str:
    """Read ``none``, ``all``, or a number of last epochs."""
    if text not in ("none", "all") and not WHOLE.fullmatch(text):
        raise _wrong(text, "{} is not 'none', 'all' or a number of last epochs")
    return text if text in ("none", "all") else int(text)


def read_step(text: str) -> float | str:
    """Read the name of a step size, or one size."""
    if text not in STEPS and not NUMBER.fullmatch(text):
        raise _wrong(text, f"{{}} is neither a number nor one of {listing(STEPS)}")
    return text if text in STEPS else float(text)


def read_shape(text: str) -> tuple[int, ...]:
    """Read rows and columns, as in ``16x16``."""
    if not re.fullmatch("[0-9]{1,9}x[0-9]{1,9}", text.lower()):
        raise _wrong(text, "{} is not of the form 16x16, rows and columns")
    return tuple(map(int, text.lower().split("x")))


def _wrong(text: str, message: str) -> argparse.ArgumentTypeError:
    short = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
    return argparse.ArgumentTypeError(message.format(ascii(short)))


READERS: dict[object, Callable[[str], object]] = {  # by name, or by type
    "lam": read_penalty,
    "average": read_average,
    "step": read_step,
    "image_shape": read_shape,
    int: whole,
    float: number,
}

# ----------------------------------------------------------------- options


@dataclass(kw_only=True)
class Training:
    """The rows of a fit, and its model.

    Attributes
    ----------
    train
        training data: CSV with a header, or svmlight ('label index:value ...'),
        plain, gzip or bzip2; or, block by block, Parquet, Arrow, a folder, or
        'rows/*.parquet', 'rows/*.svm'; -: standard input
    outcome : COL
        two-level column of a CSV file; all others are predictors
    formula
        the model instead, as in R: 'y ~ a + b', 'y ~ . - id'
    """

    train: str = ""
    outcome: str | None = None
    formula: str | None = None


@dataclass(kw_only=True)
class HeldOut:
    """Rows to test on.

    Attributes
    ----------
    test : TEST
        labelled data to test on
    """

    test: str | None = None


@dataclass(kw_only=True)
class Reading:
    """How files of rows are read.

    Attributes
    ----------
    unseen
        levels of a factor in new rows that the fit did not see: an error, or
        rows without a prediction (default: error)
    format
        of the data files (default: auto, found in the first lines)
    sep : CHAR
        between the columns of CSV files, or 'tab' (default: a comma)
    decimal : CHAR
        in the numbers of CSV files (default: a point)
    encoding : NAME
        of the text in CSV files, such as latin-1 (default: utf-8)
    na_values : TEXT
        stands for a missing value in CSV files, as '?' may, beside an empty
        cell, NA and the like; may be repeated: --na-values -99 --na-values k.A.
    id : COL
        column of a CSV file that names the rows: no predictor, and the first
        column of predictions
    memory : SIZE
        budget for files that are read block by block, such as 512MiB; CSV and
        .svm too if it is given (default: 1GiB)
    """

    unseen: Literal["error", "missing"] = "error"
    format: Literal["auto", "csv", "svmlight"] = "auto"
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    na_values: list[str] | None = None
    id: str | None = None
    memory: str | None = None


@dataclass(kw_only=True)
class Evaluation:
    """How the errors of a fit are shown.

    Attributes
    ----------
    cv : FOLDS
        estimate the errors on new rows by cross-validation; with --lambda cv
        lambda is chosen anew in each fold
    positive : LEVEL
        positive class of sensitivity and similar statistics, which report has
        for the level coded +1 without it
    threshold : NUMBER
        rows above it are predicted as the level coded +1: of its probability
        with the log loss, else of the score (default: where the score is 0)
    """

    cv: int | None = None
    positive: str | None = None
    threshold: float | None = None


@dataclass(kw_only=True)
class Model:
    """What is minimised.

    Attributes
    ----------
    lam : NUMBER|cv
        penalty, above zero; cv: the best by ten-fold cross-validation; of
        pegasos, whose steps are 1/(lambda t), there is no default (default:
        1/n, n the rows; of demo 1; 0.0001 with --profile homework)
    loss
        support vector machine, or logistic regression (default: hinge; of
        report log, but hinge with --kernel)
    intercept
        fix the intercept at 0
    coding
        which level is -1: the first in order, or the first in the data
        (default: factor)
    kernel
        fit a kernel machine (default: no kernel, one coefficient a feature)
    degree
        of the polynomial kernel (default: 2)
    gamma
        of the Gaussian kernel (default: 1 / (features * variance))
    weights : COL|balanced
        weight of each row: a column of a CSV file, or the same total for both
        levels (default: all the same)
    freq_weights : COL
        column of a CSV file that says how many rows each row stands for, in all
        files (default: one each)
    offset : COL|NUMBER
        column of a CSV file that is a known part of each score, in all files;
        of the polynomial kernel its number (default: none; 1 of the kernel)
    standardize
        bring the features to mean 0 and standard deviation 1
    """

    lam: float | Literal["cv"] | None = None
    loss: Literal["hinge", "log"] | None = None
    intercept: bool = True
    coding: Literal["factor", "first-seen"] = "factor"
    kernel: Literal["linear", "polynomial", "gaussian"] | None = None
    degree: int | None = None
    gamma: float | None = None
    weights: str | None = None
    freq_weights: str | None = None
    offset: str | None = None
    standardize: bool = False


@dataclass(kw_only=True)
class StandardErrors:
    """How standard errors are estimated.

    Attributes
    ----------
    cov_type : NAME
        how they are estimated: default, nonrobust, HC0, HC1, HC2, HC3, cluster,
        bootstrap, sandwich, none; 'cluster' and 'bootstrap' take --groups
        (default: by formula, where that holds)
    groups : COL
        column of a CSV file that says which rows belong together (default: each
        row alone)
    """

    cov_type: str | None = None
    groups: str | None = None


@dataclass(kw_only=True)
class Solver:
    """How it is minimised.

    Attributes
    ----------
    solver
        steps as in R, or on to the optimum (default: sdca, but pegasos with
        options of a run of it, such as --epochs, and in demo and parity)
    epochs
        passes over the rows (default: 20; 1 with --rows; at most 1000 with
        --tol or --change-tol; at most 100 with sdca)
    tol : GAP
        stop at this relative duality gap (default: none with pegasos; 1e-06
        with sdca)
    start
        begin at 0, in a random direction (pegasos), or by an epoch of SGD
        (sdca) (default: zero)
    refine : GAP
        after pegasos, go on with sdca to this relative duality gap
    seed
        as for set.seed() in R (default: 1; of demo 443)
    order
        permutations, the order of the file, or draws (default: shuffle)
    steps
        number of steps, with --order replace
    rows : FILE
        visit these rows: numbers counted from zero, one a line
    batch_size : ROWS
        rows in a step (default: 1)
    project
        keep the coefficients in the ball of radius 1 / sqrt(lambda)
    average : none|all|N
        return the last iterate, the mean of all, or that of the last N epochs
        (default: none)
    refit_intercept
        at the end take the best intercept for these coefficients
    ties
        label of a score of exactly 0 (default: na, no label)
    profile
        start from a named form of Pegasos: as published (needs --steps), as the
        R script, as set in courses (in order, 5 epochs, no intercept, ties
        positive), or in batches of 100, 10 epochs
    algorithm
        go on by Newton steps, or SDCA-perm as published (default: newton)
    arithmetic
        R's bits, or sums as they suit the machine (default: reference)
    first_step : T
        number t of the first step (default: 1)
    step : pegasos|1/(lambda n)|1/sqrt(t)|SIZE
        size of the steps: 1/(lambda t), one of the names, or a number (default:
        pegasos)
    change_tol : SHARE
        stop where an epoch changes no coefficient by more than this share of
        the largest (default: none)
    """

    solver: Literal["pegasos", "sdca"] | None = None
    epochs: int | None = None
    tol: float | None = None
    start: Literal["zero", "random", "sgd"] | None = None
    refine: float | None = None
    seed: int | None = None
    order: Literal["shuffle", "sequential", "replace"] | None = None
    steps: int | None = None
    rows: str | None = None
    batch_size: int | None = None
    project: bool | None = None
    average: int | Literal["none", "all"] | None = None
    refit_intercept: bool | None = None
    ties: Literal["na", "positive", "negative"] | None = None
    profile: Literal["paper", "r_script", "homework", "minibatch"] | None = None
    algorithm: Literal["newton", "perm"] | None = None
    arithmetic: Literal["reference", "fast"] | None = None
    first_step: int | None = None
    step: float | str | None = None
    change_tol: float | None = None


@dataclass(kw_only=True)
class Output:
    """What is printed and saved.

    Attributes
    ----------
    trace
        print a line of progress for every epoch
    progress
        show a progress bar
    save : MODEL
        write the fit to a file, for predict; an earlier model is replaced, any
        other file is not
    overwrite
        replace files that pegasos-stats did not write too
    json
        print JSON
    coefficients
        print the coefficients too, with standard errors, intervals and p-values
    """

    trace: bool = False
    progress: bool = False
    save: str | None = None
    overwrite: bool = False
    json: bool = False
    coefficients: bool = False


@dataclass(kw_only=True)
class Further:
    """Options of one or two commands.

    Attributes
    ----------
    model
        file that fit --save wrote
    data
        rows to predict: a file, a folder or a pattern, as TRAIN of fit; -: standard
        input
    output : FILE
        file to write: a page (default: report.html; Markdown if it ends in
        .md), with a CSV file of all misclassified rows beside it, or
        predictions (default, and -: standard output; a device or a pipe is
        written into); an earlier one is replaced, any other file is not
    unlabelled
        ignore labels in DATA
    title
        of the report (default: from the outcome)
    image_shape : ROWSxCOLUMNS
        the features are the pixels of an image, row by row: draw the
        coefficients as one
    report : FILE
        write a report too: Markdown if it ends in .md, else HTML
    via
        how R is run (default: rpy2 where it can be imported, else Rscript)
    """

    model: str = ""
    data: str = ""
    output: str | None = None
    unlabelled: bool = False
    title: str | None = None
    image_shape: tuple[int, int] | None = None
    report: str | None = None
    via: Literal["rpy2", "Rscript"] | None = None


@dataclass(kw_only=True)
class Options(
    Further,
    Output,
    Solver,
    StandardErrors,
    Model,
    Evaluation,
    Reading,
    HeldOut,
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


NAMED = re.compile(
    r"(?<![\w.])(?<!\w\()([a-z]\w*)=('[^']*'|[\w.+-]*\w|)(?![\w(])"
)  # an argument of Python in a message
POSITIONAL = ("train", "model", "data")
SPELLINGS = {  # where they are not the name alone
    "lam": ["--lambda", "--lam"],
    "outcome": ["--outcome", "-y", "--target"],
    "na_values": ["--na-values", "--na"],
    "output": ["--output", "-o"],
    "coefficients": ["--coefficients", "--coef"],
    "intercept": ["--no-intercept"],
}
TITLES: dict[type, str] = {  # of groups in the help
    Model: "model",
    StandardErrors: "standard errors",
    Solver: "solver",
    Output: "output",
}


def flags_of(name: str) -> list[str]:
    """How an option is spelled.

    Examples
    --------
    >>> flags_of("batch_size"), flags_of("lam")
    (['--batch-size'], ['--lambda', '--lam'])
    """
    return SPELLINGS.get(name) or [f"--{name.replace('_', '-')}"]


def flag(name: str) -> str:
    """An option of Python as the command line spells it.

    Examples
    --------
    >>> flag("batch_size"), flag("lam")
    ('--batch-size', '--lambda')
    """
    return "--cv" if name == "folds" else flags_of(name)[0]


def as_options(text: str) -> str:
    """A message whose arguments of Python are options of the command line.

    Examples
    --------
    >>> as_options("Try standardize=True or lam=1e-9; cov_type='HC3', not df=4.")
    'Try --standardize or --lambda 1e-9; --cov-type HC3, not df=4.'
    >>> as_options("Try intercept=False, intercept=True or data=rows.")
    'Try --no-intercept, intercept=True or data=rows.'
    """

    def option(found: re.Match[str]) -> str:
        name, value = flag(found[1]), found[2]
        turned_off = name.startswith("--no-")
        if name not in every_flag() or turned_off != (value == "False"):
            return found[0]
        if value in ("True", "False", ""):
            return name
        word = re.fullmatch(r"'([\w.+-]+)'", value)
        return f"{name} {word[1] if word else value}"

    text = text.replace("eave it out, as in", "eave it out by --id, as in")
    return NAMED.sub(option, text)


def described(group: type) -> dict[str, tuple[str, str]]:
    """Metavar and help of each field of a group, by its docstring."""
    text = (getdoc(group) or "").partition("----------\n")[2]
    parts = re.split(r"^(\w+)(?: : (.*))?\n", text, flags=re.M)[1:]
    return {
        name: (metavar, " ".join(help.split()))
        for name, metavar, help in zip(
            parts[::3], parts[1::3], parts[2::3], strict=True
        )
    }


# ---------------------------------------------------------------- commands


@dataclass(frozen=True)
class Command:
    """A command: what its help says, and its options, in groups or by name."""

    summary: str
    description: str
    usage: str
    offers: tuple[type | str, ...]
    example: str


FITTING = Training, HeldOut, Reading, Evaluation, Model, StandardErrors, Solver
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
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
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
        allow_abbrev=False,
    )
    for offer in command.offers:
        if isinstance(offer, str):
            _add(made, offer)
            continue
        group = made.add_argument_group(TITLES[offer]) if offer in TITLES else made
        for each in fields(offer):
            _add(group, each.name)
    return made


def _add(group: argparse._ActionsContainer, name: str) -> None:
    """Add an option, as its type and the docstring of its group describe it."""
    hints, defaults, texts = _every()
    hint, default = hints[name], defaults[name]
    metavar, help = texts.get(name, (None, ""))  # none with python -OO
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if name in POSITIONAL:
        group.add_argument(name, metavar=name.upper(), help=help)
    elif bool in kinds:
        action = "store_false" if default else "store_true"
        group.add_argument(
            *flags_of(name), dest=name, default=default, action=action, help=help
        )
    else:
        read = READERS.get(name) or READERS.get(kinds[0]) or str
        choices = get_args(kinds[0]) if get_origin(kinds[0]) is Literal else None
        group.add_argument(
            *flags_of(name),
            dest=name,
            default=default,
            action="append" if list[str] in kinds else _Once,
            type=read,
            choices=choices,
            metavar=metavar,
            help=help,
        )


@cache
def _every() -> tuple[dict[str, object], dict[str, object], dict[str, tuple[str, str]]]:
    """Types, defaults and texts of all options, by name."""
    texts: dict[str, tuple[str, str]] = {}
    for group in Options.__bases__:
        texts |= described(group)
    defaults = {each.name: each.default for each in fields(Options)}
    return get_type_hints(Options), defaults, texts


@cache
def every_flag() -> frozenset[str]:
    """The spellings of all options."""
    names = {each.name for group in Options.__bases__ for each in fields(group)}
    return frozenset(flag for name in names - {*POSITIONAL} for flag in flags_of(name))


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
