"""The options of the command line: a dataclass for each command and group of options.

Each class is the name, type, default and help of its options; cyclopts makes the
command line of them. (typer and click want a decorator for each option, and know no
groups.) Nothing here loads more than numpy, so that help and refusals come at once. An
option that is None is left to the default of Python.
"""

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, fields, is_dataclass
from itertools import chain, islice
from typing import Annotated, Any, Literal, get_args

from cyclopts import (
    App,
    CycloptsError,
    Group,
    Parameter,
    Token,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
    convert,
)
from cyclopts.help import DefaultFormatter, PanelSpec
from rich.box import SIMPLE_HEAD

from pegasos_stats import __version__
from pegasos_stats.errors import OptionError, shown
from pegasos_stats.foreign_names import foreign_value, own_value, suggestion

PROGRAM = "pegasos-stats"

# ----------------------------------------------------------------- options


def read_shape(hint: Any, tokens: Sequence[Token]) -> tuple[int, ...]:
    """Rows and columns, such as 16x16."""
    if not re.fullmatch("[0-9]{1,9}x[0-9]{1,9}", tokens[0].value, re.A):
        raise ValueError(f"{shown(tokens[0].value)} is not one such as 16x16")
    return tuple(map(int, tokens[0].value.split("x")))


File = Annotated[str, Parameter(allow_leading_hyphen=True)]  # - is standard input
OUT = Parameter(name=("--output", "-o"), allow_leading_hyphen=True)


@Parameter(name="*", group=Group("Outcome and predictors", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class Training:
    """What is fitted to the rows.

    Attributes
    ----------
    outcome
        two-level column of a CSV file; all others are predictors
    formula
        the model instead, as in R: 'y ~ a + b', 'y ~ . - id'
    """

    outcome: Annotated[str | None, Parameter(name=("--outcome", "-y", "--target"))] = (
        None
    )
    formula: str | None = None


@Parameter(name="*", group=Group("How files of rows are read", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How files of rows are read.

    Attributes
    ----------
    unseen
        levels of a factor in new rows that the fit did not see: an error, or
        rows without a prediction (default: error)
    format
        of the data files (default: auto, found in the first lines)
    sep
        character between the columns of CSV files, or 'tab' (default: a comma; of
        predict as for the fit)
    decimal
        character in the numbers of CSV files (default: a point; of predict as for
        the fit)
    encoding
        of the text in CSV files, such as latin-1 (default: utf-8)
    na_values
        stands for a missing value in CSV files, as '?' may, beside an empty
        cell, NA and the like; may be repeated: --na-values -99 --na-values k.A.
    keep_na
        NA and the like are levels of text columns, not missing values
    thousands
        character between groups of three digits in CSV files (default: none)
    strip
        text before or after the numbers of CSV files, such as % or CHF, which is
        dropped; may be repeated
    id
        column of a CSV file that names the rows: no predictor, and the first
        column of predictions
    memory
        budget for files that are read block by block, such as 512MiB; CSV and
        .svm too if it is given (default: 1GiB)
    """

    unseen: Literal["error", "missing"] = "error"
    format: Literal["auto", "csv", "svmlight"] = "auto"
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    na_values: Annotated[
        list[str] | None,
        Parameter(name=("--na-values", "--na"), allow_leading_hyphen=True),
    ] = None
    keep_na: bool | None = None
    thousands: str | None = None
    strip: list[str] | None = None
    id: str | None = None
    memory: str | None = None


@Parameter(name="*", group=Group("Labels", sort_key=3))
@dataclass(frozen=True, kw_only=True)
class Labels:
    """How labels are predicted and counted.

    Attributes
    ----------
    positive
        positive class of sensitivity and similar statistics, which report has
        for the level coded +1 without it
    threshold
        rows above it are predicted as the level coded +1: of its probability
        with the log loss, else of the score (default: where the score is 0)
    """

    positive: str | None = None
    threshold: float | None = None


@Parameter(name="*", group=Group("What is minimised", sort_key=4))
@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """What is minimised.

    Attributes
    ----------
    lam
        penalty, 0 or more; cv: the best by ten-fold cross-validation; pegasos,
        whose steps are 1/(lambda t), has no default (default: with --loss log 0,
        maximum likelihood, where it exists; otherwise 1/n, n the rows; of demo 1;
        0.0001 with --profile homework)
    loss
        support vector machine, with the hinge or its square, or logistic
        regression (default: hinge; of report log, but hinge with --kernel)
    penalty
        that of lambda; or with --loss log Firth's, for few events or separated
        rows, with intervals by the profile, or that with FLIC, for predictions
    intercept
        estimate the intercept (default), or fix it at 0
    coding
        which level is -1: the first in order, or the first in the data
        (default: factor)
    kernel
        fit a kernel machine (default: no kernel, one coefficient a feature)
    degree
        of the polynomial kernel (default: 2)
    gamma
        of the Gaussian or polynomial kernel; auto: 1 / features; scale: 1 /
        (features * variance) (default: auto, with --no-standardize scale; of
        the polynomial kernel 1)
    weights
        weight of each row: a column of a CSV file, or 'balanced', the same total
        for both levels (default: all the same)
    freq_weights
        column of a CSV file that says how many rows each row stands for, in all
        files (default: one each)
    offset
        column of a CSV file that is a known part of each score, in all files;
        of the polynomial kernel its number (default: none; 1 of the kernel)
    standardize
        bring the features to mean 0 and standard deviation 1 (default: only with
        --kernel)
    """

    lam: Annotated[
        float | Literal["cv"] | None, Parameter(name=("--lam", "--lambda"))
    ] = None
    loss: Literal["hinge", "log", "squared_hinge"] | None = None
    penalty: Literal["ridge", "firth", "flic"] | None = None
    intercept: Annotated[bool, Parameter(negative="--no-intercept")] = True
    coding: Literal["factor", "first-seen"] = "factor"
    kernel: Literal["linear", "polynomial", "gaussian"] | None = None
    degree: int | None = None
    gamma: float | Literal["scale", "auto"] | None = None
    weights: str | None = None
    freq_weights: str | None = None
    offset: float | str | None = None
    standardize: Annotated[bool | None, Parameter(negative="--no-standardize")] = None


@Parameter(name="*", group=Group("Standard errors", sort_key=5))
@dataclass(frozen=True, kw_only=True)
class StandardErrors:
    """How standard errors are estimated.

    Attributes
    ----------
    cov_type
        how they are estimated: default, nonrobust, HC0, HC1, HC2, HC3, CR0, CR1,
        CR3, bootstrap, sandwich, none; CR0 to CR3 and bootstrap take --groups
        (default: HC3 with the log loss, CR3 with --groups; with the hinge
        bootstrap, none from files that are read block by block)
    groups
        column of a CSV file that says which rows belong together (default: each
        row alone)
    strata
        column of a CSV file with the strata of a survey, in which --groups, or
        single rows, were sampled
    """

    cov_type: str | None = None
    groups: str | None = None
    strata: str | None = None


@Parameter(name="*", group=Group("How it is minimised", sort_key=6))
@dataclass(frozen=True, kw_only=True)
class SolverOptions:
    """How it is minimised.

    Attributes
    ----------
    solver
        steps as in R (pegasos), the optimum, or dual coordinate ascent without
        intercept (sdca) (default: optimum, but pegasos with options of a run
        of it, such as --epochs, and in demo and parity)
    epochs
        passes over the rows (default: 20; 1 with --rows; at most 1000 with
        --tol or --change-tol; at most 100 with optimum and sdca)
    tol
        stop at this relative duality gap (default: none with pegasos; 1e-06
        with optimum and sdca)
    start
        begin at 0, in a random direction (pegasos), or by an epoch of SGD
        (sdca) (default: zero)
    refine
        after pegasos, go on with optimum to this relative duality gap
    seed
        as for set.seed() in R (default: 1; of demo 443)
    order
        permutations, the order of the file, draws, or draws of batches without
        replacement (default: shuffle)
    steps
        number of steps, with --order replace or subset
    rows
        visit the rows of this file: numbers counted from zero, one a line
    batch_size
        rows in a step (default: 1)
    project
        keep the coefficients in the ball of radius 1 / sqrt(lambda)
    average
        return the last iterate, the mean of all, or that of the last so many
        epochs (default: none)
    random_stop
        of sdca: stop after a random step of the last so many epochs
    refit_intercept
        at the end take the best intercept for these coefficients
    profile
        start from a named form of Pegasos: as published (needs --steps), as the
        R script, as set in courses (in order, 5 epochs, no intercept, ties
        positive), or in batches of 100, 10 epochs
    arithmetic
        R's bits, or sums as they suit the machine (default: reference)
    first_step
        number t of the first step (default: 1)
    step
        size of the steps: 1/(lambda t), one of the names, or a number (default:
        pegasos)
    change_tol
        stop where an epoch changes no coefficient by more than this share of
        the largest (default: none)
    ties
        label of a score of exactly 0 (default: na, no label)
    """

    solver: Literal["optimum", "pegasos", "sdca"] | None = None
    epochs: int | None = None
    tol: float | None = None
    start: Literal["zero", "random", "sgd"] | None = None
    refine: float | None = None
    seed: int | None = None
    order: Literal["shuffle", "sequential", "replace", "subset"] | None = None
    steps: int | None = None
    rows: str | None = None
    batch_size: int | None = None
    project: bool | None = None
    average: int | Literal["none", "all"] | None = None
    random_stop: int | None = None
    refit_intercept: bool | None = None
    profile: Literal["paper", "r_script", "homework", "minibatch"] | None = None
    arithmetic: Literal["reference", "fast"] | None = None
    first_step: int | None = None
    step: float | Literal["pegasos", "1/(lambda n)", "1/sqrt(t)"] | None = None
    change_tol: float | None = None
    ties: Literal["na", "positive", "negative"] | None = None


@Parameter(name="*", group=Group("Output", sort_key=7))
@dataclass(frozen=True, kw_only=True)
class Output:
    """What is printed and saved of a fit.

    Attributes
    ----------
    json
        print JSON
    coefficients
        print the coefficients too, with standard errors, intervals and p-values
    trace
        print a line of progress for every epoch
    progress
        show a progress bar
    save
        write the fit to a file, for predict; an earlier model is replaced, any
        other file is not
    proof
        write a proof that the fit is near its minimum, such as fit.proof.json, with the
        design beside it, fit.proof.csv, which contains the training rows
    overwrite
        replace files that pegasos-stats did not write too
    """

    json: bool = False
    coefficients: Annotated[bool, Parameter(name=("--coefficients", "--coef"))] = False
    trace: bool = False
    progress: bool = False
    save: str | None = None
    proof: str | None = None
    overwrite: bool = False


# ---------------------------------------------------------------- commands


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """The options of all fits.

    Attributes
    ----------
    folds
        estimate the errors on new rows by cross-validation in so many folds; with
        --lam cv lambda is chosen anew in each fold
    """

    folds: Annotated[int | None, Parameter(name=("--folds", "--cv"))] = None
    labels: Labels = Labels()
    model: ModelOptions = ModelOptions()
    errors: StandardErrors = StandardErrors()
    solver: SolverOptions = SolverOptions()


@dataclass(frozen=True)
class FileFitting(Fitting):
    """The options of all fits of files.

    Attributes
    ----------
    train
        training data: CSV with a header, or svmlight ('label index:value ...'),
        plain, gzip or bzip2; or, block by block, Parquet, Arrow, a folder, or a
        pattern such as 'rows/*.svm'; -: standard input
    test
        labelled data to test on
    """

    train: File
    _: KW_ONLY
    test: File | None = None
    training: Training = Training()
    reading: ReadingOptions = ReadingOptions()


@dataclass(frozen=True)
class FitOptions(FileFitting):
    """Fit a file and print the errors.

    Fit a two-level outcome; print a summary, confusion tables and error rates, as in
    pegasos-stats fit patients.csv --outcome readmitted --folds 10 --save a.model
    """

    _: KW_ONLY
    output: Output = Output()


@dataclass(frozen=True)
class ReportOptions(FileFitting):
    """Fit a file and write a report of it.

    Fit a two-level outcome; write a page whose first screen has the conclusion, the
    errors and the strongest predictors, as in
    pegasos-stats report patients.csv --formula 'readmitted ~ . - id' -o report.html

    Attributes
    ----------
    output
        page to write (Markdown if it ends in .md), with a CSV file of all
        misclassified rows beside it; an earlier page is replaced, any other file
        is not (default: report.html)
    overwrite
        replace files that pegasos-stats did not write too
    title
        of the report (default: from the outcome)
    cost
        what it costs to mistake a row of a class, as in --cost no=1 --cost yes=5;
        without --threshold the log loss takes the threshold that fits
    image_shape
        the features are the pixels of an image, such as 16x16, row by row: draw
        the coefficients as one
    """

    _: KW_ONLY
    output: Annotated[str, OUT] = "report.html"
    overwrite: bool = False
    title: str | None = None
    cost: list[str] | None = None
    image_shape: Annotated[
        tuple[int, int] | None, Parameter(n_tokens=1, converter=read_shape)
    ] = None


@dataclass(frozen=True)
class Predict:
    """Predict with a model that fit --save wrote.

    Predict labels and scores; with labels among the data also print the confusion table
    (to standard error where the predictions go to standard output), as in
    pegasos-stats predict a.model new.csv -o predictions.csv

    Attributes
    ----------
    model
        file that fit --save wrote
    data
        rows to predict: a file, a folder or a pattern, as TRAIN of fit; -: standard
        input
    output
        file of predictions; an earlier one is replaced, any other file is not
        (default, and -: standard output)
    overwrite
        replace files that pegasos-stats did not write too
    json
        print JSON
    unlabelled
        ignore labels in DATA
    ties
        label of a score of exactly 0 (default: na, no label)
    """

    model: str
    data: File
    _: KW_ONLY
    output: Annotated[str | None, OUT] = None
    overwrite: bool = False
    json: bool = False
    unlabelled: bool = False
    ties: Literal["na", "positive", "negative"] | None = None
    labels: Labels = Labels()
    reading: ReadingOptions = ReadingOptions()


@dataclass(frozen=True)
class Parity:
    """Run a fit in Python and in R, and compare.

    Fit a two-level outcome in Python, and by the reference in the R at hand; print what
    is the same, and the first step that is not. The exit code is 0 if all is the same,
    1 if something differs, 2 if it cannot be found out. For example:
    pegasos-stats parity patients.csv --outcome readmitted --lam 0.1 --epochs 20

    Attributes
    ----------
    train
        training data, as TRAIN of fit; -: standard input
    via
        how R is run (default: rpy2 where it can be imported, else Rscript)
    json
        print JSON
    """

    train: File
    _: KW_ONLY
    via: Literal["rpy2", "Rscript"] | None = None
    json: bool = False
    training: Training = Training()
    reading: ReadingOptions = ReadingOptions()
    model: ModelOptions = ModelOptions()
    solver: SolverOptions = SolverOptions()


@dataclass(frozen=True, kw_only=True)
class Demo(Fitting):
    """Fit the data that come with the package.

    Fit handwritten fives and sixes that come with the package, as in
    pegasos-stats demo --loss log --report demo.html

    Attributes
    ----------
    report
        write a report too: Markdown if it ends in .md, else HTML
    """

    report: str | None = None
    output: Output = Output()


@dataclass(frozen=True)
class Proof:
    """Check a proof that fit --proof wrote, or print the program that checks it.

    Check in exact arithmetic that a fit is near its minimum. The program that --print
    prints does the same without pegasos-stats, as in
    pegasos-stats proof --print > check_proof.py; python check_proof.py fit.proof.json

    Attributes
    ----------
    file
        proof that fit --proof wrote; the exit code is 1 if it does not hold
    print
        print the program that checks proofs
    language
        of the program that is printed (default: python)
    """

    file: str | None = None
    _: KW_ONLY
    print: bool = False
    language: Literal["python", "R"] = "python"


@dataclass(frozen=True)
class Compile:
    """Compile what fits need, once.

    Compile the kernels of Pegasos, of kernel machines and of sparse and wide rows, in
    about a minute, and keep them in the cache; else each is compiled when it is first
    needed. For images of containers and for tests; NUMBA_CACHE_DIR names another
    folder.
    """


COMMANDS: dict[str, type] = {
    kind.__name__.removesuffix("Options").lower(): kind
    for kind in (FitOptions, ReportOptions, Predict, Parity, Demo, Proof, Compile)
}


def _names_of(kind: Any) -> set[str]:
    """Return the names of the options in a class and in its groups."""
    groups = [f.default for f in fields(kind) if is_dataclass(f.default)]
    return {f.name for f in fields(kind)}.union(*map(_names_of, groups))


OPTIONS = set[str]().union(*map(_names_of, COMMANDS.values()))

# ----------------------------------------------------------------- parsing

NUMBERS = {  # in ASCII alone, and whole ones of 64 bits
    int: r"[+-]?[0-9]{1,18}",
    float: r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|nan|inf|infinity)",
}


def read_value(hint: Any, tokens: Sequence[Token]) -> Any:
    """A value as cyclopts converts it, where it is a number or a word of the option.

    Raises
    ------
    ValueError
        For other numbers.
    """
    name = (tokens[0].keyword or "").lstrip("-").replace("-", "_")
    tokens = [each.evolve(value=own_value(name, each.value)) for each in tokens]
    value, kinds = tokens[0].value, get_args(hint) or (hint,)
    words = [*get_args(hint), *chain.from_iterable(map(get_args, kinds))]
    if tokens[0].keyword is None and value.startswith("-") and value != "-":
        raise ValueError(f"{value} is no option")
    if value in words:
        return value
    if instead := foreign_value(name, value):
        raise ValueError(f"{value} {instead.rstrip('.')}")
    number = next((kind for kind in kinds if kind in NUMBERS), None)
    if number is not None:
        if re.fullmatch(NUMBERS[number], value, re.I | re.A):
            return number(value)
        if str not in kinds:
            what = "a whole number" if number is int else "a number"
            raise ValueError(f"{shown(value)} is not {what}")
    return convert(hint, tokens)


app = App(
    name=PROGRAM,
    help=(
        "Support vector machines and logistic regression for a two-level outcome. "
        "Options have the names of Python's arguments, with dashes: intercept=False is "
        "--intercept=False or --no-intercept."
    ),
    version=__version__,
    help_format="markdown",
    help_formatter=DefaultFormatter(panel_spec=PanelSpec(box=SIMPLE_HEAD)),
    default_parameter=Parameter(
        converter=read_value, negative_bool=(), negative_iterable=(), show_default=False
    ),
    result_action="return_value",
)
for _name, _kind in COMMANDS.items():
    app.command(_kind, name=_name, sort_key=[*COMMANDS].index(_name))


def read_words(words: Sequence[str]) -> Any:
    """The command that the words of a command line give; None after ``--help``.

    Raises
    ------
    OptionError
        For words that are no options, or no values of them.
    """
    if not words:
        raise OptionError(f"COMMAND is missing; give one of {', '.join(COMMANDS)}.")
    end = words.index("--") if "--" in words else len(words)
    files = (f"./{word}" if word[:1] == "-" != word else word for word in words[end:])
    words = [*words[: end + 1], *islice(files, 1, None)]  # no options behind --
    try:
        return app(words, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        raise OptionError(_refusal(error, words)) from None


def _refusal(error: CycloptsError, words: Sequence[str]) -> str:
    """What is wrong, and what to write for a word of another program."""
    command, text, instead = words[0], str(error).removesuffix("."), ""
    see = f"see {PROGRAM} {command} --help"
    if isinstance(error, UnusedCliTokensError):
        extra = shown(" ".join(error.unused_tokens or []))
        text = f"{command} takes no further word: {extra}"
        if command in ("fit", "report", "parity"):
            see = "write --outcome COL or --formula 'y ~ a + b', and --test FILE"
    elif isinstance(error, UnknownCommandError):
        instead, unknown = suggestion(command, ("commands",)), f"command {command!r}"
        see = f"see {PROGRAM} --help"
    elif isinstance(error, UnknownOptionError):
        keyword = str(error.token.keyword)
        instead = suggestion(keyword.strip("-"), ("flags", command), ("flags",))
        unknown = f"option {keyword}"
    return f"Unknown {unknown}; {instead}." if instead else f"{text}; {see}."
