"""Sizes of the steps of Pegasos: by name, one for all steps, or one for each."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_positive, is_number
from pegasos_stats.data.foreign import refusing
from pegasos_stats.errors import OptionError, counted, did_you_mean, listing, shown

StepName = Literal["pegasos", "1/(lambda n)", "1/sqrt(t)"]
Step = StepName | float | Sequence[float] | NDArray[np.float64]

NAMES: tuple[StepName, ...] = get_args(StepName)


def checked_step(name: str, step: Any) -> str | float | Vector:
    """Return the name of a step size, one size, or sizes as a float64 array.

    Raises
    ------
    OptionError
        If `step` is neither a known name nor made of finite numbers above zero.
    """
    if isinstance(step, str):
        if step not in NAMES:
            raise OptionError(
                f"is not known{did_you_mean(step, NAMES)}; give one of "
                f"{listing(NAMES)}, a number, or one number for each step.",
                name,
                step,
            )
        return step
    if is_number(step):
        return check_positive(name, step)
    refused = OptionError(
        f"{name} is of type {type(step).__name__}; give a name such as '1/sqrt(t)', a "
        "number above zero, or one such number for each step."
    )
    with refusing(refused):
        sizes = np.array(step, dtype=np.float64)
    if sizes.ndim != 1 or sizes.size == 0:
        raise OptionError(
            f"{name} is an array of shape {sizes.shape}; give one number above zero "
            "for each step, in one list."
        )
    wrong = sizes[~((sizes > 0.0) & np.isfinite(sizes))]
    if wrong.size:
        raise OptionError(
            f"{name} holds the size {shown(wrong[0])}; give finite numbers above zero."
        )
    sizes.flags.writeable = False
    return sizes


def check_sizes(step: Any, steps: int) -> None:
    """Raise `OptionError` if sizes are given for fewer steps than a run may take."""
    if isinstance(step, np.ndarray) and step.size < steps:
        raise OptionError(
            f"step holds {counted(step.size, 'size')} and the run takes "
            f"{counted(steps, 'step')}; give one size for each step."
        )


def sizes_of_steps(
    step: Any, lam: float, n: int, first_step: int, taken: int, count: int
) -> Vector | None:
    """Sizes of the next steps; None for those of Pegasos, ``1 / (lam t)``.

    Parameters
    ----------
    step : str, float or float64 array
        As `checked_step` returns it.
    lam : float
    n : int
        Number of rows.
    first_step : int
        Number ``t`` of the first step of the run.
    taken, count : int
        Steps that the run has taken, and how many sizes are asked for.

    Examples
    --------
    >>> sizes_of_steps("1/sqrt(t)", 1.0, 10, first_step=1, taken=3, count=2).round(3)
    array([0.5  , 0.447])
    """
    if isinstance(step, np.ndarray):
        return np.asarray(step[taken : taken + count])
    if step == "pegasos":
        return None
    if step == "1/sqrt(t)":
        return np.asarray(1.0 / np.sqrt(float(first_step + taken) + np.arange(count)))
    size = 1.0 / (lam * n) if step == "1/(lambda n)" else float(step)
    return np.full(count, size)
