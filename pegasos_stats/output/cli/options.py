"""The options of the command line: a dataclass for each command and group of options.

Each class defines the names, types, defaults and help texts of its options; cyclopts
builds the command line from them. (In click and typer, commands cannot share groups of
options as dataclasses.) The module imports no library larger than numpy, so that help
and error messages appear at once. If an option is None, the default of the Python
function applies.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
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
    """Convert text such as 16x16 to rows and columns."""
    if not re.fullmatch("[0-9]{1,9}x[0-9]{1,9}", tokens[0].value, re.A):
        raise ValueError(f"{shown(tokens[0].value)} is not a shape such as 16x16")
    return tuple(map(int, tokens[0].value.split("x")))


File = Annotated[str, Parameter(allow_leading_hyphen=True)]  # - is standard input
OUT = Parameter(name=("--output", "-o"), allow_leading_hyphen=True)


@Parameter(name="*", group=Group("Outcome and predictors", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class Training:
    """Outcome and predictors of the model.

    Attributes
    ----------
    outcome
        column of a CSV file with two classes; all other columns are predictors
    formula
        formula as in R, instead of --outcome: 'y ~ a + b', 'y ~ . - id'
    """

    outcome: Annotated[str | None, Parameter(name=("--outcome", "-y", "--target"))] = (
        None
    )
    formula: str | None = None


@Parameter(name="*", group=Group("Data files", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """Format of the data files.

    Attributes
    ----------
    unseen
        factor levels that occur only in new rows; error: stop; missing: treat them as
        missing values, so that their rows get no prediction (default: error)
    format
        format of the data files (default: auto, from their first lines)
    sep
        column separator of CSV files, or 'tab' (default: comma; predict: the
        separator of the training data)
    decimal
        decimal mark of CSV files (default: point; predict: the mark of the
        training data)
    encoding
        text encoding of CSV files, such as latin-1 (default: utf-8)
    na_values
        text for a missing value in CSV files, such as '?', in addition to empty
        cells and NA; may be repeated: --na-values -99 --na-values k.A.
    keep_na
        treat NA and similar text as levels of factors, not as missing values
    thousands
        thousands separator of CSV files (default: none)
    strip
        text to remove before and after the numbers of CSV files, such as % or
        CHF; may be repeated
    id
        column of a CSV file with the row names; it is not a predictor, and it becomes
        the first column of predictions
    memory
        memory budget, such as 512MiB, for files that are read block by block; with
        this option a single CSV or svmlight file is also read block by block (default:
        1GiB)
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
    """Predicted labels and their statistics.

    Attributes
    ----------
    positive
        class whose sensitivity, specificity and similar statistics are printed
        (report: the second class by default)
    threshold
        predict the second class above this probability with the log loss, or
        above this score with the hinge losses (default: score 0)
    """

    positive: str | None = None
    threshold: float | None = None


@Parameter(name="*", group=Group("Model", sort_key=4))
@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Loss, penalty and weights of the model.

    Attributes
    ----------
    lam
        penalty above 0, or 0 (maximum likelihood) with --loss log; cv: chosen by
        ten-fold cross-validation; required with pegasos (default: 0 with --loss log if
        the estimate exists, otherwise 1/n for n rows; demo: 1)
    loss
        hinge or squared_hinge: support vector machine; log: logistic regression
        (default: hinge; report: log, or hinge with --kernel)
    penalty
        ridge: with lambda; firth (--loss log): for few events or separated classes,
        with profile-likelihood intervals; flic (--loss log): for predictions (default:
        ridge)
    intercept
        estimate the intercept (default), or fix it at 0
    coding
        class coded -1; factor: the first in sorted order; first-seen: the first in the
        data (default: factor)
    kernel
        fit an SVM with this kernel (default: linear model, one coefficient per feature)
    degree
        degree of the polynomial kernel (default: 2)
    gamma
        coefficient of the Gaussian or polynomial kernel; auto: 1 / features;
        scale: 1 / (features * variance) (default: auto, or scale with
        --no-standardize; polynomial kernel: 1)
    weights
        importance weight of each row: a column of a CSV file, or 'balanced', which
        gives both classes the same total weight (default: equal weights)
    freq_weights
        column of a CSV file with the number of rows that each line represents, in
        all files (default: 1)
    offset
        column of a CSV file that is added to each score, in all files; with the
        polynomial kernel the constant term of the kernel (default: none; kernel: 1)
    standardize
        scale the features to mean 0 and standard deviation 1 (default: only with
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
    """Type of standard errors, clusters and strata.

    Attributes
    ----------
    cov_type
        type of standard errors: default, nonrobust, HC0, HC1, HC2, HC3, CR0, CR1,
        CR3, cluster, bootstrap, sandwich, none; with --groups default, CR0, CR1,
        cluster, bootstrap, CR3 (not the hinge); with --strata cluster, default (not
        the hinge) (default: log loss and squared hinge HC3, with --groups CR3; hinge
        bootstrap, or none for files that are read block by block)
    groups
        column of a CSV file with the cluster of each row (default: independent
        rows)
    strata
        column of a CSV file with the survey strata from which the groups, or without
        --groups the rows, were sampled
    """

    cov_type: str | None = None
    groups: str | None = None
    strata: str | None = None


@Parameter(name="*", group=Group("Solver", sort_key=6))
@dataclass(frozen=True, kw_only=True)
class SolverOptions:
    """Solver and its options.

    Attributes
    ----------
    solver
        optimum: minimise to a tolerance; pegasos: stochastic subgradient steps, as in
        the R script; sdca: dual coordinate ascent, without intercept (default:
        optimum; pegasos in demo and parity, and if an option of pegasos, such as
        --epochs, is set)
    epochs
        passes over the rows (default: pegasos 20, but up to 1000 with --tol or
        --change-tol; optimum and sdca up to 100)
    tol
        stop at this relative duality gap (default: none with pegasos; 1e-06
        with optimum and sdca)
    start
        starting point; random: a random direction (pegasos); sgd: the result of an
        epoch of SGD (sdca) (default: zero)
    refine
        continue with optimum after pegasos, to this relative duality gap
    seed
        random seed, as for set.seed() in R (default: 1; pegasos in fit and report: a
        random seed, which is printed; demo: 443)
    order
        shuffle: a new permutation in each epoch; sequential: the order of the file;
        replace: rows drawn with replacement; subset: batches drawn without
        replacement (default: shuffle)
    steps
        number of steps, required with --order replace or subset
    batch_size
        rows in a step (default: 1)
    project
        project the coefficients onto the ball of radius 1 / sqrt(lambda)
    average
        return the last iterate (none), the mean of all iterates (all), or the mean of
        the iterates in this number of last epochs (default: none)
    random_stop
        with sdca, stop at a random step within this number of last epochs
    refit_intercept
        at the end, minimise over the intercept with the coefficients fixed
    arithmetic
        reference: the same bits as R; fast: the fastest order of summation
        (default: reference)
    first_step
        number t of the first step (default: 1)
    step
        step size: pegasos, which is 1/(lambda t); 1/(lambda n); 1/sqrt(t); or a
        number, for a constant size (default: pegasos)
    change_tol
        stop when no coefficient changes in an epoch by more than this fraction of
        the largest coefficient (default: none)
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
    batch_size: int | None = None
    project: bool | None = None
    average: int | Literal["none", "all"] | None = None
    random_stop: int | None = None
    refit_intercept: bool | None = None
    arithmetic: Literal["reference", "fast"] | None = None
    first_step: int | None = None
    step: float | Literal["pegasos", "1/(lambda n)", "1/sqrt(t)"] | None = None
    change_tol: float | None = None
    ties: Literal["na", "positive", "negative"] | None = None


@Parameter(name="*", group=Group("Output", sort_key=7))
@dataclass(frozen=True, kw_only=True)
class Output:
    """Printed output and files of a fit.

    Attributes
    ----------
    json
        print JSON
    coefficients
        also print the coefficients with standard errors, intervals and p-values
    trace
        print the objective after each epoch
    progress
        show a progress bar
    save
        save the model to this file, for predict; replaces an earlier model, but no
        other file; with --coefficients the file also contains standard errors of an
        SVM
    proof
        file for a proof that the objective is near its minimum, such as fit.proof.json;
        the training rows, with weights and offset, are written to fit.proof.csv
    overwrite
        also replace files that pegasos-stats did not write
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
    """Options of all fits.

    Attributes
    ----------
    folds
        estimate the error rate on new rows by cross-validation with this number of
        folds; --lam cv chooses lambda within each fold
    """

    folds: Annotated[int | None, Parameter(name=("--folds", "--cv"))] = None
    labels: Labels = Labels()
    model: ModelOptions = ModelOptions()
    errors: StandardErrors = StandardErrors()
    solver: SolverOptions = SolverOptions()


@dataclass(frozen=True)
class FileFitting(Fitting):
    """Options of all fits to files.

    Attributes
    ----------
    train
        training data: CSV with a header, or svmlight ('label index:value ...'),
        plain, gzip or bzip2; or, read block by block, Parquet, Arrow, a folder, or
        a pattern such as 'rows/*.svm'; -: standard input
    test
        test data with the outcome
    """

    train: File
    _: KW_ONLY
    test: File | None = None
    training: Training = Training()
    reading: ReadingOptions = ReadingOptions()


@dataclass(frozen=True)
class FitOptions(FileFitting):
    """Fit a model and print its error rates.

    Fit a model for a two-class outcome; print a summary, confusion tables and error
    rates. Example:
    pegasos-stats fit patients.csv --outcome readmitted --folds 10 --save a.model
    """

    _: KW_ONLY
    output: Output = Output()


@dataclass(frozen=True)
class ReportOptions(FileFitting):
    """Fit a model and write a report.

    Fit a model for a two-class outcome; write a page that begins with the conclusion,
    the error rates and the strongest predictors. Example:
    pegasos-stats report patients.csv --formula 'readmitted ~ . - id' -o report.html

    Attributes
    ----------
    output
        file of the report (Markdown if it ends in .md); a CSV file of all
        misclassified rows, named by --id or numbered from 0, is written next to it;
        replaces an earlier report, but no other file (default: report.html)
    overwrite
        also replace files that pegasos-stats did not write
    title
        title of the report (default: from the outcome)
    cost
        cost of misclassifying a row of a class, as in --cost no=1 --cost yes=5;
        with the log loss it determines the threshold, unless --threshold is given
    image_shape
        size of an image, such as 16x16, if the features are its pixels, row by row;
        the coefficients are drawn as an image
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
    """Predict with a saved model.

    Predict labels and scores. If the data contain the outcome, also print the confusion
    table (to standard error if the predictions go to standard output). Example:
    pegasos-stats predict a.model new.csv -o predictions.csv

    Attributes
    ----------
    model
        file that fit --save wrote
    data
        rows to predict: a file, a folder or a pattern, as TRAIN of fit; -: standard
        input
    output
        file of predictions; replaces earlier predictions, but no other file
        (default, or -: standard output)
    overwrite
        also replace files that pegasos-stats did not write
    unlabelled
        ignore the outcome in DATA
    ties
        label of a score of exactly 0 (default: na, no label)
    """

    model: str
    data: File
    _: KW_ONLY
    output: Annotated[str | None, OUT] = None
    overwrite: bool = False
    unlabelled: bool = False
    ties: Literal["na", "positive", "negative"] | None = None
    labels: Labels = Labels()
    reading: ReadingOptions = ReadingOptions()


@dataclass(frozen=True)
class Parity:
    """Compare a fit in Python with the R script.

    Run the same fit in Python and in the installed R; print which results are equal,
    and the first step that differs. The exit code is 0 if all results are equal, 1 if
    any differ, 2 if the comparison fails. Example: pegasos-stats parity patients.csv
    --outcome readmitted --lam 0.1 --epochs 20

    Attributes
    ----------
    train
        training data, as TRAIN of fit; -: standard input
    json
        print JSON
    """

    train: File
    _: KW_ONLY
    json: bool = False
    training: Training = Training()
    reading: ReadingOptions = ReadingOptions()
    model: ModelOptions = ModelOptions()
    solver: SolverOptions = SolverOptions()


@dataclass(frozen=True, kw_only=True)
class Demo(Fitting):
    """Fit the example data of the package.

    Classify handwritten fives and sixes, the example data of the package. Example:
    pegasos-stats demo --loss log --report demo.html

    Attributes
    ----------
    report
        also write a report: Markdown if it ends in .md, else HTML
    """

    report: str | None = None
    output: Output = Output()


@dataclass(frozen=True)
class Proof:
    """Check a proof of optimality.

    Check in exact arithmetic that the objective of a fit is near its minimum. --print
    prints a program that does the same without pegasos-stats. Example:
    pegasos-stats proof --print > check_proof.py; python check_proof.py fit.proof.json

    Attributes
    ----------
    file
        proof that fit --proof wrote; the exit code is 1 if its claim does not hold
    print
        print the program that checks proofs
    language
        language of that program (default: python)
    """

    file: str | None = None
    _: KW_ONLY
    print: bool = False
    language: Literal["python", "R"] = "python"


@dataclass(frozen=True)
class Compile:
    """Compile loops beforehand.

    Compile the loops of the usual fits with numba and cache them, in about a minute.
    All other loops are compiled at their first use. This command is useful for
    container images and tests; the variable NUMBA_CACHE_DIR sets the folder of the
    cache.
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


def read_value(hint: Any, tokens: Sequence[Token]) -> Any:
    """Convert the value of an option.

    Raises
    ------
    ValueError
        If the value cannot be converted, or is a name from another package.
    """
    name = (tokens[0].keyword or "").lstrip("-").replace("-", "_")
    tokens = [token.evolve(value=own_value(name, token.value)) for token in tokens]
    value, kinds = tokens[0].value, get_args(hint) or (hint,)
    words = [*get_args(hint), *chain.from_iterable(map(get_args, kinds))]
    if tokens[0].keyword is None and value.startswith("-") and value != "-":
        raise ValueError(f"{value} is not an option")
    if value in words:
        return value
    if instead := foreign_value(name, value):
        raise ValueError(f"{value} {instead.rstrip('.')}")
    for kind, noun in ((int, "a whole number"), (float, "a number")):
        if kind in kinds:
            with suppress(ValueError):
                return kind(value)
            if str not in kinds:
                raise ValueError(f"{shown(value)} is not {noun}")
    return convert(hint, tokens)


app = App(
    name=PROGRAM,
    help="Support vector machines and logistic regression for a two-class outcome.",
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
    """Parse a command line into the options of a command; None after ``--help``.

    Raises
    ------
    OptionError
        If an option or its value is not allowed.
    """
    if not words:
        raise OptionError(f"COMMAND is missing; use one of {', '.join(COMMANDS)}.")
    end = words.index("--") if "--" in words else len(words)
    files = (f"./{word}" if word[:1] == "-" != word else word for word in words[end:])
    words = [*words[: end + 1], *islice(files, 1, None)]  # no options after --
    try:
        return app(words, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        raise OptionError(_refusal(error, words)) from None


def _refusal(error: CycloptsError, words: Sequence[str]) -> str:
    """Explain a parsing error, and translate options of other programs."""
    command, text, instead = words[0], str(error).removesuffix("."), ""
    see = f"see {PROGRAM} {command} --help"
    if isinstance(error, UnusedCliTokensError):
        extra = shown(" ".join(error.unused_tokens or []))
        text = f"{command} takes no further argument: {extra}"
        if command in ("fit", "report", "parity"):
            see = "write --outcome COL or --formula 'y ~ a + b', and --test FILE"
    elif isinstance(error, UnknownCommandError):
        instead, unknown = suggestion(command, ("commands",)), f"command {command!r}"
        see = f"see {PROGRAM} --help"
    elif isinstance(error, UnknownOptionError):
        keyword = str(error.token.keyword)
        instead = suggestion(keyword.strip("-"), ("flags", command), ("flags",))
        unknown = f"option {keyword}"
    if instead:
        return f"Unknown {unknown}; {instead}."
    return f"{text} S{see[1:]}." if text.endswith("?") else f"{text}; {see}."
