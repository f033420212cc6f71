"""The solver Pegasos: its options, its start, and the order in which it visits rows."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.checks import (
    check_choice,
    check_coefficients,
    check_count,
    check_positive,
    is_number,
    number_of,
)
from pegasos_stats.data.labels import Ties
from pegasos_stats.data.user_data import convert_errors
from pegasos_stats.errors import OptionError, counted, shown
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.rng import RRandom, SampleKind
from pegasos_stats.solvers.options import (
    Arithmetic,
    Solver,
    check_option,
    check_sample_kind,
    check_seed,
    checked_tol,
    option,
    values_of,
)
from pegasos_stats.solvers.problem import Problem

StartName = Literal["zero", "random"]
Start: TypeAlias = (
    StartName | Sequence[float] | NDArray[np.float64] | Mapping[str, float] | pd.Series
)

STARTS: tuple[StartName, ...] = get_args(StartName)
INTERCEPT = "Intercept"


def in_one_list(name: str, values: object, positive: bool = False) -> Vector:
    """Return finite numbers as a read-only vector, or raise `OptionError`."""
    with convert_errors(OptionError("is not allowed; give numbers in one list.", name)):
        numbers = np.array(values, dtype=np.float64)
    good = np.isfinite(numbers) & ((numbers > 0.0) | (not positive))
    if numbers.ndim != 1 or not good.all():
        wrong = shown(numbers[~good][0]) if not good.all() else numbers.shape
        what = "finite numbers above zero" if positive else "finite numbers"
        raise OptionError(f"{name} holds {wrong}; give {what} in one list.")
    numbers.flags.writeable = False
    return numbers


def checked_start(name: str, start: object) -> str | Vector | dict[str, float]:
    """Return the name of a start, coefficients in order, or coefficients by name.

    Raises
    ------
    OptionError
        If `start` is neither an allowed name nor consists of finite numbers.
    """
    if isinstance(start, str):
        check_choice(name, start, STARTS)
        return start
    if not isinstance(start, pd.Series | Mapping):
        return in_one_list(name, start)
    numbers = {str(key): number_of(value) for key, value in start.items()}
    if len(numbers) < len(start):
        raise OptionError("start has a name twice; give one coefficient for each.")
    in_one_list(name, list(numbers.values()))
    return numbers


def in_order(
    start: Mapping[str, float], names: Sequence[str], intercept: bool
) -> Vector:
    """Return coefficients in the order of the columns, an intercept first.

    Raises
    ------
    OptionError
        If a coefficient is missing, or the model has no such coefficient.

    Examples
    --------
    >>> in_order({"b": 2.0, "Intercept": 1.0, "a": 3.0}, ["a", "b"], True)
    array([1., 3., 2.])
    """
    wanted = [INTERCEPT] * intercept + list(names)
    check_coefficients("start", start, wanted)
    return np.array([start[name] for name in wanted])


def check_length(start: object, problem: Problem) -> None:
    """Raise `OptionError` if a start has too many or too few coefficients."""
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
    """Return initial coefficients, shape (p,), and intercept.

    ``"random"`` is ``z / (sqrt(lam) ||z||)`` with ``z`` from ``rng.rnorm(p)``: the
    direction is uniform, and the length is ``1 / sqrt(lam)``, the largest possible
    length of a minimiser with the hinge. The intercept is 0.

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
        length = math.sqrt(np.add.accumulate(z * z)[-1])  # summed from first to last
        return z / (math.sqrt(problem.lam) * length), 0.0
    return np.zeros(problem.p), 0.0


Order = Literal["shuffle", "sequential", "replace", "subset"]
Average = Literal["none", "all"] | int

ORDERS: tuple[Order, ...] = get_args(Order)
BY_STEPS = ("replace", "subset")  # orders that draw rows for each step


def checked_order(order: ArrayLike) -> str | Rows:
    """Return the name of an order, or an explicit one as an int64 array.

    Raises
    ------
    OptionError
        If `order` is neither an allowed name nor a list of integers from zero.
    """
    if isinstance(order, str):
        check_choice("order", order, ORDERS)
        return order
    refused = OptionError(
        "order is not an array of rows; pass one list of rows, or one list per epoch."
    )
    with convert_errors(refused):
        rows = np.asarray(order)
    if rows.ndim not in (1, 2) or rows.dtype.kind not in "iu" or rows.size == 0:
        raise OptionError(
            f"order is an array of shape {rows.shape} and type {rows.dtype}; give rows "
            "as whole numbers counted from zero, in one list or one list per epoch."
        )
    if rows.min() < 0 or rows.max() >= 2**62:
        wrong = rows.min() if rows.min() < 0 else rows.max()
        raise OptionError(f"order contains the row {wrong}; rows are numbered from 0.")
    rows = rows.astype(np.int64, order="C")
    rows.flags.writeable = False
    return rows


def checked_average(name: str, average: Average) -> Average:
    """Return ``"none"``, ``"all"`` or a number of epochs, or raise `OptionError`."""
    if not isinstance(average, str):
        return check_count(name, average)
    check_choice(name, average, ("none", "all"))
    return average


def check_rows(order: str | Rows, batch_size: int, n: int) -> None:
    """Raise `OptionError` if an order needs rows that the fit does not have."""
    if isinstance(order, str) and order == "subset" and batch_size > n:
        raise OptionError(
            f"exceeds the {counted(n, 'row')} of the fit, and order='subset' draws "
            "without replacement; use a smaller batch.",
            "batch_size",
            batch_size,
        )
    if not isinstance(order, str) and order.max() >= n:
        raise OptionError(
            f"order contains row {order.max()}, but the fit has {counted(n, 'row')}, "
            f"numbered from 0 to {n - 1}."
        )


@dataclass(frozen=True, eq=False)
class Passes:
    """Order, number and batches of the row visits of a run.

    Attributes
    ----------
    order : str or int64 array
    epochs, steps : int or None
        Steps for ``"replace"`` and ``"subset"``, epochs for all others.
    batch_size : int
    """

    order: str | Rows
    epochs: int | None
    steps: int | None
    batch_size: int

    def rows(self, n: int, rng: RRandom) -> Iterator[Rows]:
        """Yield the rows to visit, an epoch at a time.

        For ``"replace"`` and ``"subset"``, an epoch consists of about n draws. One call
        of ``sample(n, m, replace = TRUE)`` is equivalent to drawing step by step.
        """
        check_rows(self.order, self.batch_size, n)
        if self.steps is not None:
            chunk = max(1, n // self.batch_size)
            for first in range(0, self.steps, chunk):
                count = min(chunk, self.steps - first)
                if self.order == "subset":
                    rows = rng.sample_subsets(n, self.batch_size, count).reshape(-1)
                else:
                    rows = rng.sample_int(n, count * self.batch_size, replace=True)
                yield np.asarray(rows, dtype=np.int64) - 1
        for _ in range(self.epochs or 0):
            if not isinstance(self.order, str):
                yield from np.atleast_2d(self.order)
            elif self.order == "shuffle":
                yield rng.permutation(n)
            else:
                yield np.arange(n, dtype=np.int64)

    @property
    def whole(self) -> int:
        """Number of epochs; each list of rows in `order` counts as one."""
        several = not isinstance(self.order, str) and self.order.ndim == 2
        return (self.epochs or 0) * (len(self.order) if several else 1)

    def count(self, n: int) -> int:
        """Number of epochs over n rows; with `steps`, an epoch is about n draws."""
        if self.steps is None:
            return self.whole
        return -(-self.steps // max(1, n // self.batch_size))

    def most_steps(self, n: int) -> int:
        """Maximum number of steps over n rows."""
        if self.steps is None:
            return self.whole * -(-self._length(n) // self.batch_size)
        return self.steps

    def batch(self, n: int) -> int:
        """`batch_size`, or the number of rows of an epoch if that is smaller."""
        most = self._length(n) if self.steps is None else self.batch_size
        return min(self.batch_size, most)

    def _length(self, n: int) -> int:
        return n if isinstance(self.order, str) else int(self.order.shape[-1])


StepName = Literal["pegasos", "1/(lambda n)", "1/sqrt(t)"]

Step = StepName | float | Sequence[float] | NDArray[np.float64]

STEPS: tuple[StepName, ...] = get_args(StepName)

_any_count = partial(check_count, most=math.inf)  # no upper limit


def checked_step(name: str, step: ArrayLike) -> str | float | Vector:
    """Return the name of a step size, one size, or sizes as a float64 array.

    Raises
    ------
    OptionError
        If `step` is neither an allowed name nor consists of positive finite numbers.
    """
    if isinstance(step, str):
        check_choice(name, step, STEPS)
        return step
    if is_number(step):
        return check_positive(name, step)
    return in_one_list(name, step, positive=True)


def _checked_intercept(name: str, intercept: object) -> Literal[False]:
    if intercept is not False:
        raise OptionError(
            f"intercept={shown(intercept)} is not an option of the solver; give it to "
            "the model."
        )
    return False


@suggest_arguments
@dataclass(frozen=True, eq=False)
class Pegasos(Solver):
    """Stochastic sub-gradient descent, by default with steps ``eta = 1 / (lam * t)``.

    Each step takes a batch ``A`` of rows (Shalev-Shwartz et al. 2011, figures 1 and 2,
    with an intercept that is not penalised)::

        beta  <- beta - eta * (lam * beta - mean over A of s(m_i) y_i x_i)
        alpha <- alpha + eta * mean over A of s(m_i) y_i

    The margins ``m_i = y_i (x_i'beta + alpha)`` are computed before the step; ``s`` is
    minus the derivative of the loss: ``s(m) = [m < 1]`` (hinge), ``2 max(0, 1 - m)``
    (squared hinge) or ``1 / (1 + exp(m))`` (log loss). If the rows have weights,
    ``s(m_i)`` is multiplied by the weight; an offset is added to the score. With
    ``arithmetic="reference"`` and the same seed, the results equal the results of the R
    script in ``r_reference/``: bit for bit for the hinge losses, to twelve digits for
    the log loss.

    Parameters
    ----------
    epochs : int, optional
        Passes over the rows; default 20, or 1 for an explicit `order`. With `tol` or
        `change_tol` it is the maximum, default 1000.
    seed : int, optional
        As for R's ``set.seed()``. By default a seed is drawn, stored in the result and
        shown in its summary.
    order : "shuffle", "sequential", "replace", "subset" or array of int
        ``"shuffle"``: one permutation per epoch, R's ``sample(1:n, n)``.
        ``"sequential"``: the order of the data. ``"replace"``: `steps` draws of
        ``sample(n, batch_size, replace = TRUE)``. ``"subset"``: `steps` draws of
        ``sort(sample(n, batch_size))``, different rows within a step, sorted so that
        sums over them do not depend on the order of the draws. An array contains
        indices of the training rows, counted from zero: one list for all epochs or, in
        two dimensions, one list per epoch.
    steps : int, optional
        Number of steps; required for the orders ``"replace"`` and ``"subset"``, not
        allowed otherwise.
    batch_size : int, default 1
        Number of rows per step. The last batch of an epoch may be smaller; its mean is
        over its own size.
    project : bool, default False
        Whether to project beta onto the ball of radius ``1 / sqrt(lam)`` after each
        step.
    average : "none", "all" or int, default "none"
        Return the last iterate, the mean of all iterates, or the mean of the last
        `average` epochs.
    refit_intercept : bool, default False
        Whether to finish with the exact minimiser over the intercept.
    arithmetic : "reference" or "fast"
        ``"fast"`` sums in the order that is fastest on the machine; both results agree
        up to rounding.
    sample_kind : "rejection" or "rounding"
        R's ``sample.kind``: ``"rounding"`` repeats R before 3.6.
    ties : "na", "positive" or "negative"
        Default of ``predict(ties=)``: the label of a score of exactly 0.
    intercept : False, optional
        ``False`` restricts the solver to models without intercept.
    start : "zero", "random", a fit, Series, dict or array of float
        Starting point. ``"random"``: R's ``rnorm(p)``, drawn before the first row and
        scaled to length ``1 / sqrt(lam)``, with an intercept of 0. A fit: its `params`.
        Other values are coefficients, by name or in the order of `params`, the
        intercept first.
    first_step : int, default 1
        Number ``t`` of the first step. If `start` is a fit, the default is the number
        after its last step. A step ``t = 1`` of size ``1 / lam`` discards
        the coefficients of `start`, which then enter only through the margins of this
        step. It does not discard the intercept.
    step : "pegasos", "1/(lambda n)", "1/sqrt(t)", float or array of float
        Size of the steps: ``1 / (lam t)``, ``1 / (lam n)`` for n rows, ``1 / sqrt(t)``,
        one number, or one for each step of the run. All but ``"pegasos"`` give plain
        stochastic gradient descent.
    tol : float, default 0
        Stop after an epoch with a relative duality gap, ``gap / objective``, of at most
        this value.
    change_tol : float, default 0
        Stop after an epoch in which no coefficient has changed by more than this
        fraction of the largest coefficient. With both tolerances, either suffices. If
        neither is reached within the maximum number of epochs, a warning appears.

    Notes
    -----
    With a fit as `start`, the random numbers start again from the seed, and averages
    and dual weights start again from zero. To split a run on dense rows, with
    bitwise equal coefficients, pass an array as `order`:
    ``Pegasos(order=rows[:10])``, and then ``Pegasos(order=rows[10:], start=result)``.

    The duality gap is computed from dual weights that the steps of the run define. With
    another `step`, or with `start`, the gap may be larger than necessary. R computes
    the same gap up to rounding: if rounding decides whether the gap is below `tol`, the
    run may stop at another epoch in R.

    Raises
    ------
    OptionError
        If an option is not allowed, or two of them contradict each other.
    SeedError
        If R would refuse the seed.

    Examples
    --------
    >>> Pegasos(epochs=5, seed=443).batch_size
    1
    >>> Pegasos.paper(steps=1000, seed=1).order
    'replace'
    """

    epochs: int | None = option(None, check=check_count, in_r=True)
    seed: int | None = option(None, check=check_seed)
    order: Order | Any = option(
        "shuffle", check=lambda name, order: checked_order(order), in_r=True
    )
    steps: int | None = option(None, check=_any_count, in_r=True)
    batch_size: int = option(1, check=_any_count, in_r=True)
    project: bool = option(False, form="projected", in_r=True)
    average: Average = option(
        "none", check=checked_average, form="average {}", in_r=True
    )
    refit_intercept: bool = option(False, form="intercept refitted", in_r=True)
    arithmetic: Arithmetic = option("reference", form="{} arithmetic")
    sample_kind: SampleKind = option("rejection", check=check_sample_kind)
    ties: Ties = option("na")
    intercept: Literal[False] | None = option(None, check=_checked_intercept)
    start: Start | Any = option("zero", check=checked_start, form="{} start", in_r=True)
    first_step: int = option(
        1,
        check=partial(check_count, most=2**53),  # t is stored as a double
        form="from step {}",
        in_r=True,
    )
    step: Step = option("pegasos", check=checked_step, form="step size {}", in_r=True)
    tol: float = option(0.0, check=checked_tol, in_r=True)
    change_tol: float = option(0.0, check=checked_tol, in_r=True)

    name = "Pegasos"
    to_optimum = False

    def __post_init__(self) -> None:
        self._settle_start()
        for name in ("order", "tol", "change_tol"):
            check_option(self, name)
        self._settle_length()
        for name in values_of(self):
            if name != "order":
                check_option(self, name)
        if isinstance(self.average, str):
            return
        if self.may_end_early:
            why = (
                "refers to the last epochs, which are not known in advance if a "
                "tolerance is set; give 'all' or 'none'."
            )
            raise OptionError(why, "average", self.average)
        if self.epochs is None or self.average > self.passes.whole:
            raise OptionError(
                "asks for more epochs than the run has; give 'all', 'none' or a "
                "smaller number of last epochs.",
                "average",
                self.average,
            )

    def _settle_start(self) -> None:
        """Copy coefficients and the number of the next step from a fit.

        The count includes the steps of earlier fits from which that fit started.
        """
        fit: Any = self.start
        if isinstance(getattr(fit, "params", None), pd.Series):
            object.__setattr__(self, "start", fit.params)
            before = getattr(getattr(fit, "solver", None), "first_step", 1)
            if self.first_step == 1:
                first = before + int(getattr(fit, "n_iter", 0))
                object.__setattr__(self, "first_step", first)

    def _settle_length(self) -> None:
        """Set the default of `epochs`; reject `epochs` or `steps` if not applicable."""
        if isinstance(self.order, str) and self.order in BY_STEPS:
            if self.epochs is not None:
                why = f"makes no sense with order={self.order!r}; give steps= instead."
                raise OptionError(why, "epochs", self.epochs)
            check_count("steps", self.steps, math.inf)
        elif self.steps is not None:
            why = (
                "is for order='replace' and 'subset' only; give epochs= for this order."
            )
            raise OptionError(why, "steps", self.steps)
        elif self.epochs is None:
            epochs = 20 if isinstance(self.order, str) else 1
            if self.may_end_early:
                epochs = 1000
            object.__setattr__(self, "epochs", epochs)

    @classmethod
    def paper(
        cls,
        steps: int,
        *,
        batch_size: int = 1,
        project: bool = False,
        seed: int | None = None,
    ) -> "Pegasos":
        """Pegasos as published: rows drawn with replacement.

        Shalev-Shwartz et al. 2011, figures 1 and 2; `project` is their optional step.
        For their subsets, drawn without replacement, use ``order="subset"``.

        Examples
        --------
        >>> Pegasos.paper(steps=100, batch_size=10, project=True, seed=1).steps
        100
        """
        return cls(
            order="replace",
            steps=steps,
            batch_size=batch_size,
            project=project,
            seed=seed,
        )

    @classmethod
    def r_script(cls, epochs: int = 20, *, seed: int | None = None) -> "Pegasos":
        """Pegasos as in the R script: shuffled epochs, one row per step.

        Examples
        --------
        >>> Pegasos.r_script(seed=443).epochs
        20
        """
        return cls(epochs=epochs, seed=seed)

    @classmethod
    def homework(cls, epochs: int = 5) -> "Pegasos":
        """Pegasos as in course exercises: rows in sequence, a score of 0 is positive.

        Requires a model without intercept: ``intercept=False``.

        Examples
        --------
        >>> Pegasos.homework().ties
        'positive'
        """
        return cls(epochs=epochs, order="sequential", ties="positive", intercept=False)

    @classmethod
    def minibatch(
        cls, epochs: int = 10, *, batch_size: int = 100, seed: int | None = None
    ) -> "Pegasos":
        """Mini-batch Pegasos, as in the comparison with SDCA: shuffled epochs.

        Shalev-Shwartz & Zhang 2013, section 7; the step size is ``1 / (lam t)``, and
        subgradients are averaged over the batch.

        Examples
        --------
        >>> Pegasos.minibatch(seed=1).batch_size
        100
        """
        return cls(epochs=epochs, batch_size=batch_size, seed=seed)

    @property
    def passes(self) -> Passes:
        """Order, epochs, steps and batch size of the run."""
        return Passes(self.order, self.epochs, self.steps, self.batch_size)

    @property
    def uses_random_numbers(self) -> bool:
        """Whether the order or the start is random."""
        is_random = isinstance(self.order, str) and self.order != "sequential"
        return is_random or (isinstance(self.start, str) and self.start == "random")

    @property
    def has_own_steps(self) -> bool:
        """Whether the steps are those of Pegasos, ``1 / (lam t)``."""
        return isinstance(self.step, str) and self.step == "pegasos"

    @property
    def order_name(self) -> str:
        """Description of the order, with the batch size if it is not 1."""
        name = self.order if isinstance(self.order, str) else "given rows"
        if self.epochs is not None:
            most = "at most " * self.may_end_early
            name += f", {most}{counted(self.epochs, 'epoch')}"
        return name if self.batch_size == 1 else f"{name}, batches of {self.batch_size}"

    def averages(self, epoch: int) -> bool:
        """Whether the iterates of this epoch (counted from zero) enter the average."""
        if isinstance(self.average, str):
            return self.average == "all"
        return epoch >= self.passes.whole - self.average


def check_sizes(step: object, steps: int) -> None:
    """Raise `OptionError` if there are fewer step sizes than possible steps."""
    if isinstance(step, np.ndarray) and step.size < steps:
        raise OptionError(
            f"step holds {counted(step.size, 'size')} and the run takes "
            f"{counted(steps, 'step')}; give one size for each step."
        )


def sizes_of_steps(
    step: Any,
    lam: float,
    n: int,
    first_step: int,
    done: int,
    count: int,
) -> Vector | None:
    """Return sizes of the next steps; None for Pegasos steps, ``1 / (lam t)``.

    Parameters
    ----------
    step : str, float or float64 array
        As `checked_step` returns it.
    lam : float
    n : int
        Number of rows.
    first_step : int
        Number ``t`` of the first step of the run.
    done, count : int
        Number of steps taken so far, and number of sizes to return.

    Examples
    --------
    >>> sizes_of_steps("1/sqrt(t)", 1.0, 10, first_step=1, done=3, count=2).round(3)
    array([0.5  , 0.447])
    """
    if isinstance(step, np.ndarray):
        return np.asarray(step[done : done + count])
    if step == "pegasos":
        return None
    if step == "1/sqrt(t)":
        return np.asarray(1.0 / np.sqrt(float(first_step + done) + np.arange(count)))
    size = 1.0 / (lam * n) if step == "1/(lambda n)" else float(step)
    return np.full(count, size)
