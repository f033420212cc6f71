"""Options of the command line, and the solver and the model that they describe.

Those of a solver or a kernel, such as ``--batch-size``, are the fields of its
dataclass.
"""

import argparse
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.data.files import UNREADABLE, opened, unreadable
from pegasos_stats.errors import DataError, OptionError, listing
from pegasos_stats.models.inference.options import CovName
from pegasos_stats.models.kernel import KernelSVM
from pegasos_stats.models.linear import SVM, Logit
from pegasos_stats.output.option_names import flag
from pegasos_stats.solvers.kernel_problem import OFFSET, KernelFunction
from pegasos_stats.solvers.options import Option, offered
from pegasos_stats.solvers.orders import Average
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.penalty import Lam
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sizes import NAMES as STEP_NAMES
from pegasos_stats.solvers.sizes import Step

SOLVERS: dict[str, type[Pegasos | SDCA]] = {"pegasos": Pegasos, "sdca": SDCA}

PENALTIES = {"homework": 1e-4}  # of profiles, where --lambda is not given

OF_ROWS = (  # what they say of each row
    Option(
        "weights",
        str,
        help="weight of each row: a column of a CSV file, or the same total for "
        "both levels",
        default_words="all the same",
        metavar="COL|balanced",
    ),
    Option(
        "freq_weights",
        str,
        help="column of a CSV file that says how many rows each row stands for, in "
        "all files",
        default_words="one each",
        metavar="COL",
    ),
    Option(
        "offset",
        str,
        help="column of a CSV file that is a known part of each score, in all "
        "files; of the polynomial kernel its number",
        default_words=f"none; {OFFSET:g} of the kernel",
        metavar="COL|NUMBER",
    ),
)

ERRORS = (  # of the fit: how standard errors are estimated
    Option(
        "cov_type",
        str,
        get_args(CovName),
        help=f"how they are estimated: {', '.join(get_args(CovName))}; 'cluster' and "
        "'bootstrap' take --groups",
        default_words="by formula, where that holds",
        metavar="NAME",
    ),
    Option(
        "groups",
        str,
        help="column of a CSV file that says which rows belong together",
        default_words="each row alone",
        metavar="COL",
    ),
)

THRESHOLD = Option(
    "threshold",
    float,
    help="rows above it are predicted as the level coded +1: of its probability with "
    "the log loss, else of the score",
    default_words="where the score is 0",
    metavar="NUMBER",
)

WHOLE = re.compile(r"[+-]?[0-9]{1,18}")  # fits into 64 bits
NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan|inf|infinity)", re.I
)
SHOWN = 40  # characters of a wrong word


def whole(text: str) -> int:
    """Read a whole number of at most 18 digits, in ASCII alone.

    Examples
    --------
    >>> whole("443")
    443
    """
    if not WHOLE.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"invalid int value: {_short(text)}; give a whole number such as 20"
        )
    return int(text)


def number(text: str) -> float:
    """Read a number in the notation of Python, in ASCII alone.

    Examples
    --------
    >>> number("1e-3")
    0.001
    """
    if not NUMBER.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"invalid float value: {_short(text)}; give a number such as 0.01"
        )
    return float(text)


def penalty(text: str) -> Lam:
    """Read a number, or ``cv``."""
    if re.fullmatch(r"[0-9.e-]+([,:][0-9.e-]+)+", text):
        raise argparse.ArgumentTypeError(
            f"{_short(text)} is more than a number such as 0.01; give cv for the best "
            "of many by cross-validation"
        )
    return "cv" if text == "cv" else number(text)


def average(text: str) -> Average:
    """Read ``none``, ``all``, or a number of last epochs."""
    if text in ("none", "all"):
        return text  # type: ignore[return-value]
    try:
        return whole(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"{_short(text)} is not 'none', 'all' or a number of last epochs"
        ) from None


def step(text: str) -> Step:
    """Read the name of a step size, or one size."""
    if text in STEP_NAMES:
        return text
    try:
        return number(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f"{_short(text)} is neither a number nor one of {listing(STEP_NAMES)}"
        ) from None


def shape(text: str) -> tuple[int, int]:
    """Read rows and columns, as in ``16x16``."""
    try:
        rows, columns = map(whole, text.lower().split("x"))
    except (ValueError, argparse.ArgumentTypeError):
        raise argparse.ArgumentTypeError(
            f"{_short(text)} is not of the form 16x16, rows and columns"
        ) from None
    return rows, columns


def _short(text: str) -> str:
    return ascii(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")


# What reads the value of an option, by its type.
READERS: dict[object, Callable[[str], object]] = {
    int: whole,
    float: number,
    Average: average,
    Step: step,
    Lam: penalty,
}

PROFILES = ("paper", "r_script", "homework", "minibatch")
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


def solver_options() -> dict[str, list[Option]]:
    """Options of the solvers by name, each as every solver that has it declares it.

    They are in the order of the fields of `Pegasos`. An option of `SDCA` alone comes
    just before the option that follows it there.
    """
    others = list(offered(SDCA))
    names: list[str] = []
    for name in offered(Pegasos):
        before = others[: others.index(name)] if name in others else []
        names += [*before, name]
    found = [offered(kind) for kind in SOLVERS.values()]
    return {
        name: [options[name] for options in found if name in options]
        for name in dict.fromkeys([*names, *others])
    }


def solver_of(options: argparse.Namespace) -> Pegasos | SDCA:
    """Build the solver that the options describe: a named profile with changes, or new.

    Raises
    ------
    OptionError
        If options do not go together.
    """
    own, others = offered(Pegasos), offered(SDCA)
    if (options.solver or usual_solver(options)) == "sdca":
        unknown = {*own, "rows", "profile", "refine"} - {*others}
        _refuse(options, sorted(unknown), "pegasos")
        return SDCA(**_given(options, SDCA))
    _refuse(options, (name for name in others if name not in own), "sdca")
    given = _given(options, Pegasos)
    if options.rows is not None:
        if options.order is not None:
            raise OptionError("--rows and --order exclude each other; give one.")
        given["order"] = read_rows(options.rows)
    drawn = options.order == "replace" or options.profile == "paper"
    if drawn and options.steps is None:
        raise OptionError(
            "Draws with replacement need --steps, the number of steps to take."
        )
    if options.profile is None:
        return Pegasos(**given)
    if options.profile == "paper":
        return replace(Pegasos.paper(options.steps), **given)
    profile: Pegasos = getattr(Pegasos, options.profile)()
    return replace(profile, **given)


def usual_solver(options: argparse.Namespace) -> str:
    """The solver where none is named: the optimum, unless a run of Pegasos is asked."""
    known, others = offered(Pegasos), offered(SDCA)
    own = {*known} - {*others} | {"epochs", "rows", "profile", "refine"}
    asked = {name for name in own if getattr(options, name) is not None}
    for name in {*known} & {*others}:  # of which some choices are those of one
        value = getattr(options, name)
        if value in known[name].choices and value not in others[name].choices:
            asked.add(name)
    return "pegasos" if asked else "sdca"


def _given(options: argparse.Namespace, owner: type) -> dict[str, Any]:
    """Options of a dataclass that were given."""
    found = {name: getattr(options, name) for name in offered(owner)}
    return {name: value for name, value in found.items() if value is not None}


def _refuse(options: argparse.Namespace, names: Iterable[str], solver: str) -> None:
    """Raise `OptionError` for options that only the other solver has."""
    for name in names:
        if getattr(options, name) is not None:
            if "solver" in getattr(options, "given", ()):
                which = "leave one of them out"
            else:
                which = f"give that too, or leave {flag(name)} out"
            raise OptionError(f"{flag(name)} goes with --solver {solver}; {which}.")


def model_of(
    options: argparse.Namespace, solver: Pegasos | SDCA
) -> tuple[type[Any], dict[str, Any]]:
    """The class of the model, and its arguments beside the data.

    Raises
    ------
    OptionError
        If options do not go together.
    """
    lam = PENALTIES.get(options.profile) if options.lam is None else options.lam
    arguments = {
        **({} if lam is None else {"lam": lam}),
        "intercept": options.intercept and solver.intercept is not False,
        "coding": options.coding,
        "weights": options.weights,
        "freq_weights": options.freq_weights,
        "standardize": options.standardize,
    }
    kernel = _given(options, KernelFunction)
    if options.kernel is None:
        arguments["offset"] = kernel.pop("offset", None)
        if kernel:
            raise OptionError(f"--{next(iter(kernel))} needs --kernel; give both.")
        return (Logit if options.loss == "log" else SVM), arguments
    if "offset" in kernel:
        kernel["offset"] = _number("offset", kernel["offset"])
    if options.loss == "log":
        raise OptionError("--kernel goes with --loss hinge only; leave one out.")
    return KernelSVM, arguments | kernel | {"kernel": options.kernel}


def _number(name: str, text: str) -> float:
    """Read a number of a kernel."""
    try:
        return float(text)
    except ValueError:
        raise OptionError(
            f"--{name} {text!r} is no number, and kernel machines take no column as an "
            "offset; give a number, or leave --kernel out."
        ) from None


def read_rows(path: str) -> NDArray[np.int64]:
    """Read row numbers, counted from zero, one a line.

    Raises
    ------
    DataError
        If the file is not there, is empty, or holds something else.
    """
    with opened(path) as handle:
        try:
            words = handle.read().split()
        except UNREADABLE as error:
            raise DataError(unreadable(path, error)) from None
    try:
        if not all(word.isdigit() for word in words):
            raise ValueError
        rows = np.array([int(word) for word in words], dtype=np.int64)
    except (ValueError, OverflowError):
        wrong = next((word for word in words if not word.isdigit()), words[0])
        raise DataError(
            f"The file {path} holds {wrong[:30].decode('latin-1')!r}; give one row "
            "number a line, counted from zero."
        ) from None
    if not len(rows):
        raise DataError(f"The file {path} has no row numbers; give one a line.")
    return rows
