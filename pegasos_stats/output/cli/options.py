"""The options of the command line, each described once, and commands that have them.

The classes below are name, type, default and help of every option, where the docstring
of a class is the help of its fields; a command is a class of such classes, of which
`parser` makes a parser. Nothing here loads more than numpy, so that help and refusals
come at once. An option that is None is left to the default of Python.
"""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import get_annotations, getdoc
from types import UnionType
from typing import Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from pegasos_stats import __version__
from pegasos_stats.errors import OptionError, listing
from pegasos_stats.output.cli.foreign_words import more_words, own_words
from pegasos_stats.output.cli.streams import PROGRAM, say, write_output

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
class Folds:
    """Cross-validation.

    Attributes
    ----------
    cv : FOLDS
        estimate the errors on new rows by cross-validation; with --lambda cv
        lambda is chosen anew in each fold
    """

    cv: int | None = None


@dataclass(kw_only=True)
class Labels:
    """How labels are predicted and counted.

    Attributes
    ----------
    positive : LEVEL
        positive class of sensitivity and similar statistics, which report has
        for the level coded +1 without it
    threshold : NUMBER
        rows above it are predicted as the level coded +1: of its probability
        with the log loss, else of the score (default: where the score is 0)
    """

    positive: str | None = None
    threshold: float | None = None


@dataclass(kw_only=True)
class Ties:
    """Scores of 0.

    Attributes
    ----------
    ties
        label of a score of exactly 0 (default: na, no label)
    """

    ties: Literal["na", "positive", "negative"] | None = None


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
    offset: float | str | None = None
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
    profile: Literal["paper", "r_script", "homework", "minibatch"] | None = None
    algorithm: Literal["newton", "perm"] | None = None
    arithmetic: Literal["reference", "fast"] | None = None
    first_step: int | None = None
    step: float | Literal["pegasos", "1/(lambda n)", "1/sqrt(t)"] | None = None
    change_tol: float | None = None


@dataclass(kw_only=True)
class Target:
    """Where it is written.

    Attributes
    ----------
    output : FILE
        file to write: a page (default: report.html; Markdown if it ends in
        .md), with a CSV file of all misclassified rows beside it, or
        predictions (default, and -: standard output; a device or a pipe is
        written into); an earlier one is replaced, any other file is not
    """

    output: str | None = None


@dataclass(kw_only=True)
class Format:
    """How it is printed.

    Attributes
    ----------
    json
        print JSON
    """

    json: bool = False


@dataclass(kw_only=True)
class Files:
    """Files that are there.

    Attributes
    ----------
    overwrite
        replace files that pegasos-stats did not write too
    """

    overwrite: bool = False


@dataclass(kw_only=True)
class Output:
    """What is printed and saved of a fit.

    Attributes
    ----------
    trace
        print a line of progress for every epoch
    progress
        show a progress bar
    save : MODEL
        write the fit to a file, for predict; an earlier model is replaced, any
        other file is not
    coefficients
        print the coefficients too, with standard errors, intervals and p-values
    """

    trace: bool = False
    progress: bool = False
    save: str | None = None
    coefficients: bool = False


@dataclass(kw_only=True)
class Fitting(Folds, Labels, Model, StandardErrors, Solver, Ties):
    """The options of all fits."""


# ---------------------------------------------------------------- commands


@dataclass(kw_only=True)
class Fit(Training, HeldOut, Reading, Fitting, Format, Files, Output):
    """Fit a file and print the errors.

    Fit a two-level outcome; print a summary, confusion tables and error rates.

    fit patients.csv --outcome readmitted --cv 10 --save a.model
    """


@dataclass(kw_only=True)
class Report(Training, HeldOut, Reading, Fitting, Files, Target):
    """Fit a file and write a report of it.

    Fit a two-level outcome; write a page whose first screen has the conclusion, the
    errors and the strongest predictors.

    report patients.csv --formula 'readmitted ~ . - id' -o report.html

    Attributes
    ----------
    title
        of the report (default: from the outcome)
    image_shape : ROWSxCOLUMNS
        the features are the pixels of an image, row by row: draw the
        coefficients as one
    """

    title: str | None = None
    image_shape: tuple[int, int] | None = None


@dataclass(kw_only=True)
class Predict(Reading, Labels, Ties, Format, Files, Target):
    """Predict with a model that fit --save wrote.

    Predict labels and scores; with labels among the data also print the confusion table
    (to standard error where the predictions go to standard output).

    predict a.model new.csv -o predictions.csv

    Attributes
    ----------
    model
        file that fit --save wrote
    data
        rows to predict: a file, a folder or a pattern, as TRAIN of fit; -: standard
        input
    unlabelled
        ignore labels in DATA
    """

    model: str = ""
    data: str = ""
    unlabelled: bool = False


@dataclass(kw_only=True)
class Parity(Training, Reading, Model, Solver, Ties, Format):
    """Run a fit in Python and in R, and compare.

    Fit a two-level outcome in Python, and by the reference in the R at hand; print what
    is the same, and the first step that is not. The exit code is 0 if all is the same,
    1 if something differs, 2 if it cannot be found out.

    parity patients.csv --outcome readmitted --lambda 0.1 --epochs 20

    Attributes
    ----------
    via
        how R is run (default: rpy2 where it can be imported, else Rscript)
    """

    via: Literal["rpy2", "Rscript"] | None = None


@dataclass(kw_only=True)
class Demo(Fitting, Format, Files, Output):
    """Fit the data that come with the package.

    Fit handwritten fives and sixes that come with the package.

    demo --loss log --report demo.html

    Attributes
    ----------
    report : FILE
        write a report too: Markdown if it ends in .md, else HTML
    """

    report: str | None = None


class Compile:
    """Compile what fits need, once.

    Compile the kernels of Pegasos, of kernel machines and of sparse and wide rows, in
    about a minute, and keep them in the cache; else each is compiled when it is first
    needed. For images of containers and for tests; NUMBA_CACHE_DIR names another
    folder.

    compile
    """


@dataclass(kw_only=True)
class Options(Fit, Report, Predict, Parity, Demo):
    """The options of a run; those that a command does not offer are at their default.

    Attributes
    ----------
    command : str
    words : list of str
        As they were typed.
    """

    command: str
    words: Sequence[str] = ()


COMMANDS: dict[str, type] = {
    kind.__name__.lower(): kind
    for kind in (Fit, Report, Predict, Parity, Demo, Compile)
}
POSITIONAL = ("train", "model", "data")
SPELLINGS = {  # where they are not the name alone
    "lam": ["--lambda", "--lam"],
    "outcome": ["--outcome", "-y", "--target"],
    "na_values": ["--na-values", "--na"],
    "output": ["--output", "-o"],
    "coefficients": ["--coefficients", "--coef"],
    "intercept": ["--no-intercept"],
}


def flags_of(name: str) -> list[str]:
    """How an option is spelled.

    Examples
    --------
    >>> flags_of("batch_size"), flags_of("lam")
    (['--batch-size'], ['--lambda', '--lam'])
    """
    return SPELLINGS.get(name) or [f"--{name.replace('_', '-')}"]


NAMED = re.compile(
    r"(?<![\w.])(?<!\w\()([a-z]\w*)=('[^']*'|[\w.+-]*\w|)(?![\w(\"])"
)  # an argument of Python in a message


def as_options(text: str) -> str:
    """A message whose arguments of Python are options of the command line.

    Examples
    --------
    >>> as_options("Try standardize=True or lam=1e-9; cov_type='HC3', not df=4.")
    "Try --standardize or --lambda 1e-9; --cov-type 'HC3', not df=4."
    >>> as_options("Try intercept=False, intercept=True or data=rows.")
    'Try --no-intercept, intercept=True or data=rows.'
    """
    names = get_type_hints(Options).keys() - {*POSITIONAL, "command", "words"}

    def option(found: re.Match[str]) -> str:
        name, value = "cv" if found[1] == "folds" else found[1], found[2]
        flag = flags_of(name)[0]
        if name not in names or flag.startswith("--no-") != (value == "False"):
            return found[0]
        return flag if value in ("True", "False", "") else f"{flag} {value}"

    return NAMED.sub(option, text)


# ------------------------------------------------------------------ values

PATTERNS: dict[object, tuple[str, str]] = {  # how values of a type are written
    int: (r"[+-]?[0-9]{1,18}", "a whole number such as 20"),  # fits into 64 bits
    float: (
        r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan|inf|infinity)",
        "a number such as 0.01",
    ),
    tuple: (r"[0-9]{1,9}x[0-9]{1,9}", "rows and columns such as 16x16"),
}
SHOWN = 40  # characters of a wrong word


def reader(hint: object) -> Callable[[str], object]:
    """What reads a value of a type: a number in ASCII alone, or one of its words.

    Examples
    --------
    >>> reader(float | Literal["cv"])("1e-3"), reader(float | Literal["cv"])("cv")
    (0.001, 'cv')
    """
    kinds = [get_origin(kind) or kind for kind in alternatives(hint)]
    number: object = next((kind for kind in kinds if kind in PATTERNS), None)
    words = words_of(hint)

    def read(text: str) -> object:
        if number is None or text in words:
            return text
        pattern, what = PATTERNS[number]
        if str in kinds and not re.fullmatch(pattern, text, re.I | re.A):
            return text
        if not re.fullmatch(pattern, text, re.I | re.A):
            short = ascii(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")
            choice = f"{listing(words)} or " if words else ""
            raise argparse.ArgumentTypeError(f"{short} is not {choice}{what}")
        if number is tuple:
            return tuple(map(int, text.lower().split("x")))
        return int(text) if number is int else float(text)

    return read


def alternatives(hint: object) -> tuple[object, ...]:
    """The types of a union."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def words_of(hint: object) -> list[str]:
    """The words that a value of a type may be."""
    found = (k for k in alternatives(hint) if get_origin(k) is Literal)
    return [word for kind in found for word in get_args(kind)]


# ----------------------------------------------------------------- parsers


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        """End the process with one line."""
        message = message.replace("required: TRAIN", "required: TRAIN, a file of data")
        say(f"{message}; write {self.usage}; see {self.prog} --help.")
        sys.exit(2)

    def _print_message(self, message: str, file: object = None) -> None:
        write_output(message)


def parser(name: str) -> Parser:
    """The parser of a command, which finds a list of values of each option.

    Examples
    --------
    >>> parser("fit").parse_args(["a.csv", "--lambda", "0.5"]).lam
    [0.5]
    """
    command = COMMANDS[name]
    _, description, example, _ = texts(command)
    hints, positional = get_type_hints(command), ""
    made = Parser(description=description, allow_abbrev=False)
    for owner in command.__mro__[:-1]:
        title, _, _, helps = texts(owner)
        own = get_annotations(owner)
        group: argparse._ActionsContainer = made
        if own and owner is not command:
            group = made.add_argument_group(title.rstrip("."))
        for each in own:
            if each in POSITIONAL:
                positional += f" {each.upper()}"
            _add(group, each, hints[each], *helps.get(each, (None, "")))
    made.prog = f"{PROGRAM} {name}"
    made.usage = f"{made.prog}{positional} [options]"
    made.epilog = f"example: {PROGRAM} {example}"
    return made


def texts(kind: type) -> tuple[str, str, str, dict[str, tuple[str | None, str]]]:
    """Title, description, example, and metavar and help of each field of a class.

    They are those of its docstring, which is gone with python -OO.
    """
    begin, _, end = (getdoc(kind) or "").partition("Attributes\n----------\n")
    title, description, example, *_ = [*begin.strip().split("\n\n"), "", "", ""]
    parts = iter(re.split(r"^(\w+)(?: : (.*))?\n", end, flags=re.M)[1:])
    helps = {
        name: (metavar, " ".join(help.split()))
        for name, metavar, help in zip(parts, parts, parts, strict=True)
    }
    return title, description, example, helps


def _add(
    group: argparse._ActionsContainer,
    name: str,
    hint: object,
    metavar: str | None,
    help: str,
) -> None:
    """Add an option, as its type and its help describe it."""
    kinds = alternatives(hint)
    if name in POSITIONAL:
        group.add_argument(name, metavar=name.upper(), help=help)
    elif bool in kinds:
        action = (
            "store_false" if flags_of(name)[0].startswith("--no-") else "store_true"
        )
        group.add_argument(
            *flags_of(name), dest=name, default=None, action=action, help=help
        )
    else:
        group.add_argument(
            *flags_of(name),
            dest=name,
            action="append",
            type=reader(hint),
            choices=words_of(hint) if get_origin(kinds[0]) is Literal else None,
            metavar=metavar,
            help=help,
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
    given = {name: value for name, value in vars(found).items() if value is not None}
    for name, values in given.items():
        if isinstance(values, list) and name != "na_values":
            given[name] = values[0]
            if len(values) > 1:
                raise OptionError(
                    f"argument {flags_of(name)[0]}: is given twice; give it once."
                )
    options = Options(command=command, words=words, **given)
    if more:
        raise more_words(more, options)
    return options


def overview() -> str:
    """What ``--help`` without a command prints."""
    rows = "".join(f"  {n:<9} {texts(kind)[0]}\n" for n, kind in COMMANDS.items())
    return (
        f"usage: {PROGRAM} COMMAND ...\n\n"
        "Support vector machines and logistic classifiers for a two-level outcome,\n"
        "with the numbers that R gives from the same seed.\n\n"
        f"commands:\n{rows}\n"
        f"{PROGRAM} COMMAND --help lists the options of a command; --version is "
        f"{__version__}.\n"
    )
