"""Where Pegasos begins: at zero, in a random direction, or at given coefficients."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import number_of
from pegasos_stats.data.foreign import refusing
from pegasos_stats.errors import OptionError, counted, did_you_mean, listing, shown
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.problem import Problem

StartName = Literal["zero", "random"]
Start: TypeAlias = (
    StartName | Sequence[float] | NDArray[np.float64] | Mapping[str, float] | pd.Series
)

NAMES: tuple[StartName, ...] = get_args(StartName)
INTERCEPT = "Intercept"


def checked_start(name: str, start: object) -> str | Vector | dict[str, float]:
    """Return the name of a start, coefficients in order, or coefficients by name.

    Raises
    ------
    OptionError
        If `start` is neither a known name nor made of finite numbers.
    """
    if isinstance(start, str):
        if start not in NAMES:
            raise OptionError(
                f"is not known{did_you_mean(start, NAMES)}; give one of "
                f"{listing(NAMES)}, a fit to go on from, or its coefficients.",
                name,
                start,
            )
        return start
    if isinstance(start, pd.Series | Mapping):
        return _by_name(start)
    refused = OptionError(
        f"{name} is of type {type(start).__name__}; give 'zero', 'random', a fit to go "
        "on from, or coefficients, the intercept first."
    )
    with refusing(refused):
        numbers = np.array(start, dtype=np.float64)
    if numbers.ndim != 1:
        raise OptionError(
            f"{name} is an array of shape {numbers.shape}; give coefficients in one "
            "list, the intercept first."
        )
    wrong = numbers[~np.isfinite(numbers)]
    if wrong.size:
        raise OptionError(f"{name} holds {shown(wrong[0])}; give finite numbers.")
    numbers.flags.writeable = False
    return numbers


def _by_name(start: pd.Series | Mapping[str, float]) -> dict[str, float]:
    """Coefficients by name, of a Series or a mapping."""
    found = {str(name): number_of(value) for name, value in start.items()}
    if len(found) < len(start):
        raise OptionError("start has a name twice; give one coefficient for each.")
    for name, value in start.items():
        if not math.isfinite(number_of(value)):
            raise OptionError(
                f"start[{shown(name)}] is {shown(value)}; give finite numbers."
            )
    return found


def in_order(
    start: Mapping[str, float], names: Sequence[str], intercept: bool
) -> Vector:
    """Coefficients in the order of the columns, an intercept first.

    Raises
    ------
    OptionError
        If one is missing, or one is there that the model does not have.

    Examples
    --------
    >>> in_order({"b": 2.0, "Intercept": 1.0, "a": 3.0}, ["a", "b"], True)
    array([1., 3., 2.])
    """
    wanted = [INTERCEPT] * intercept + list(names)
    missing = [name for name in wanted if name not in start]
    if missing:
        raise OptionError(
            f"start has no coefficient of {listing(missing)}; give one for each of the "
            "params of the model."
        )
    unknown = [name for name in start if name not in wanted]
    if unknown:
        raise OptionError(
            f"start has coefficients that the model has not, of {listing(unknown)}; "
            "leave them out."
        )
    return np.array([start[name] for name in wanted])


def check_length(start: object, problem: Problem) -> None:
    """Raise `OptionError` if coefficients are not as many as the problem has."""
    if isinstance(start, Mapping):
        raise OptionError(
            "start has names, and the rows of this problem have none; give its "
            "coefficients in the order of the columns, the intercept first."
        )
    p, first = problem.p, "the intercept, then " * problem.intercept
    if isinstance(start, np.ndarray) and start.size != p + problem.intercept:
        raise OptionError(
            f"start has {counted(start.size, 'number')} and the model "
            f"{p + problem.intercept:,}: {first}{counted(p, 'coefficient')}; give as "
            "many."
        )


def first_iterate(
    start: object, problem: Problem, rng: RRandom
) -> tuple[Vector, float]:
    """Coefficients, shape (p,), and intercept that a run begins with.

    ``"random"`` is ``z / (sqrt(lam) ||z||)`` with ``z`` of ``rng.rnorm(p)``: every
    direction is as likely, and the length is ``1 / sqrt(lam)``, which no minimum of the
    hinge exceeds. The intercept is 0.

    Parameters
    ----------
    start : str or float64 array
    problem : Problem
    rng : RRandom

    References
    ----------
    Shalev-Shwartz, Singer & Srebro, *Pegasos: primal estimated sub-gradient solver for
    SVM*, ICML (2007), figure 1: begin anywhere with ``||beta|| <= 1 / sqrt(lam)``.
    """
    if isinstance(start, np.ndarray):
        free = problem.intercept
        return start[int(free) :], float(start[0]) if free else 0.0
    if start == "random":
        z = rng.rnorm(problem.p)
        length = math.sqrt(np.add.accumulate(z * z)[-1])  # from first to last
        return z / (math.sqrt(problem.lam) * length), 0.0
    return np.zeros(problem.p), 0.0


def continued_from(fit: object) -> tuple[pd.Series, int] | None:
    """Coefficients of a fit, and the number of steps it took; None of anything else.

    Those before it are counted too, where it went on from another fit.
    """
    try:
        params = getattr(fit, "params", None)
    except Exception:  # code of others
        return None
    if not isinstance(params, pd.Series):
        return None
    before = getattr(getattr(fit, "solver", None), "first_step", 1) - 1
    return params, before + int(getattr(fit, "n_iter", 0))
