"""Solvers: how a problem is minimised."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from pegasos_stats.checks import check_choice, check_count
from pegasos_stats.data.labels import Ties
from pegasos_stats.errors import OptionError, counted, shown
from pegasos_stats.rng import RRandom, SampleKind
from pegasos_stats.solvers.options import check_option, option, values_of
from pegasos_stats.solvers.orders import (
    Order,
    Rows,
    check_rows,
    checked_order,
    explicit,
    replaced,
    sequential,
    shuffled,
)
from pegasos_stats.solvers.solver import (
    SEED,
    TIES,
    Arithmetic,
    Solver,
    check_sample_kind,
    check_seed,
)

Average = Literal["none", "all"] | int

DEFAULT_EPOCHS = 20


def _checked_average(name: str, average: Any) -> Any:
    if not isinstance(average, str):
        return check_count(name, average)
    check_choice(name, average, ("none", "all"))
    return average


def _checked_intercept(name: str, intercept: Any) -> Literal[False]:
    if intercept is not False:
        raise OptionError(
            f"intercept={shown(intercept)} is not an option of the solver; give it to "
            "the model."
        )
    return False


_any_count = partial(check_count, most=math.inf)  # as long as the caller waits


@dataclass(frozen=True, eq=False)
class Pegasos(Solver):
    """Stochastic sub-gradient steps of size ``1 / (lam * t)``.

    Each step takes a batch ``A`` of rows (Shalev-Shwartz et al. 2011, figures 1 and 2,
    with an intercept that is not penalised)::

        beta  <- beta - (1 / (lam t)) * (lam * beta - mean over A of s(m_i) y_i x_i)
        alpha <- alpha + (1 / (lam t)) * mean over A of s(m_i) y_i

    with margins ``m_i = y_i (x_i'beta + alpha)`` before the step and slope weights
    ``s(m) = [m < 1]`` (hinge) or ``1 / (1 + exp(m))`` (log loss). In the reference
    arithmetic the numbers are those of the R reference, bit for bit, from the same
    seed.

    Parameters
    ----------
    epochs : int, optional
        Passes over the rows: 20 if left out; for an explicit `order` 1.
    seed : int, optional
        As for R's ``set.seed()``. Without one a seed is drawn, kept in the result
        and shown in its summary.
    order : "shuffle", "sequential", "replace" or array of int
        ``"shuffle"``: one permutation per epoch, R's ``sample(1:n, n)``.
        ``"sequential"``: the order of the data. ``"replace"``: `steps` draws of
        ``sample(n, batch_size, replace = TRUE)``. An array names the rows, counted
        from zero among those of the fit: one list for every epoch, or, in two
        dimensions, one list for each epoch.
    steps : int, optional
        Number of steps, for order ``"replace"`` only, which needs it.
    batch_size : int, default 1
        Rows in a step. The last batch of an epoch may be smaller; it is averaged over
        its own size.
    project : bool, default False
        Shrink beta to norm ``1 / sqrt(lam)`` after each step where it is longer.
    average : "none", "all" or int, default "none"
        Return the last iterate, the mean of all, or that of the last so many epochs.
    refit_intercept : bool, default False
        At the end replace the intercept by the exact minimiser for these coefficients.
    arithmetic : "reference" or "fast"
        ``"fast"`` sums in an order that suits the machine: the same to rounding.
    sample_kind : "rejection" or "rounding"
        R's ``sample.kind``: ``"rounding"`` repeats R before 3.6.
    ties : "na", "positive" or "negative"
        What ``predict`` makes of a score of exactly 0 unless it is told.
    intercept : False, optional
        ``False`` marks a form that goes with models without intercept only.

    Raises
    ------
    OptionError
        If an option is not allowed, or two of them make no sense together.
    SeedError
        If R would refuse the seed.

    Examples
    --------
    >>> Pegasos(epochs=5, seed=443).batch_size
    1
    >>> Pegasos.paper(steps=1000, seed=1).order
    'replace'
    """

    epochs: int | None = option(
        None,
        "passes over the rows",
        f"{DEFAULT_EPOCHS}; 1 with --rows",
        check=check_count,
        in_r=True,
    )
    seed: int | None = option(None, *SEED, check=check_seed)
    order: Order | Any = option(
        "shuffle",
        "permutations, the order of the file, or draws with replacement",
        check=lambda name, order: checked_order(order),
        in_r=True,
    )
    steps: int | None = option(
        None, "number of steps, with --order replace", check=_any_count, in_r=True
    )
    batch_size: int = option(
        1, "rows in a step", metavar="ROWS", check=_any_count, in_r=True
    )
    project: bool = option(
        False,
        "keep the coefficients in the ball of radius 1 / sqrt(lambda)",
        form="projected",
        said="projection",
        in_r=True,
    )
    average: Average = option(
        "none",
        "return the last iterate, the mean of all, or that of the last N epochs",
        metavar="none|all|N",
        check=_checked_average,
        form="average {}",
        in_r=True,
    )
    refit_intercept: bool = option(
        False,
        "at the end take the best intercept for these coefficients",
        form="intercept refitted",
        said="refitted intercept",
        in_r=True,
    )
    arithmetic: Arithmetic = option(
        "reference",
        "R's bits, or sums as they suit the machine",
        form="{} arithmetic",
    )
    sample_kind: SampleKind = option("rejection", check=check_sample_kind)
    ties: Ties = option("na", *TIES)
    intercept: Literal[False] | None = option(None, check=_checked_intercept)

    name = "Pegasos"
    to_optimum = False

    def __post_init__(self) -> None:
        check_option(self, "order")
        self._settle_length()
        for name in values_of(self):
            if name != "order":
                check_option(self, name)
        if isinstance(self.average, str):
            return
        if self.epochs is None or self.average > self._whole_epochs():
            raise OptionError(
                f"average={self.average!r} asks for more epochs than the run has; give "
                "'all', 'none' or a smaller number of last epochs."
            )

    def _settle_length(self) -> None:
        """Set `epochs` where they are left out; refuse `steps` and `epochs` at once."""
        if isinstance(self.order, str) and self.order == "replace":
            if self.epochs is not None:
                raise OptionError(
                    f"epochs={shown(self.epochs)} makes no sense with order='replace'; "
                    "give steps= instead."
                )
            check_count("steps", self.steps, math.inf)
        elif self.steps is not None:
            raise OptionError(
                f"steps={shown(self.steps)} goes with order='replace' only; give "
                "epochs= for this order."
            )
        elif self.epochs is None:
            epochs = DEFAULT_EPOCHS if isinstance(self.order, str) else 1
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
        """Pegasos as the R reference has it: shuffled epochs, one row a step.

        Examples
        --------
        >>> Pegasos.r_script(seed=443).epochs
        20
        """
        return cls(epochs=epochs, seed=seed)

    @classmethod
    def homework(cls, epochs: int = 5) -> "Pegasos":
        """Pegasos as set in courses: rows in order, a score of 0 is positive.

        It goes with a model without intercept: ``intercept=False``.

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
        """Pegasos as it is compared with SDCA: shuffled epochs in batches.

        Shalev-Shwartz & Zhang 2013, section 7; the step is ``1 / (lam t)`` and the
        batch is averaged over its size.

        Examples
        --------
        >>> Pegasos.minibatch(seed=1).batch_size
        100
        """
        return cls(epochs=epochs, batch_size=batch_size, seed=seed)

    def rows_in_a_step(self, n: int) -> int:
        """`batch_size`, but no more than the rows of an epoch."""
        if not isinstance(self.order, str):
            return min(self.batch_size, int(self.order.shape[-1]))
        return self.batch_size if self.order == "replace" else min(self.batch_size, n)

    @property
    def uses_random_numbers(self) -> bool:
        """Whether the order is drawn."""
        return isinstance(self.order, str) and self.order != "sequential"

    @property
    def order_name(self) -> str:
        """The order in words, with the size of a batch where it is not 1."""
        name = self.order if isinstance(self.order, str) else "given rows"
        if self.epochs is not None:
            name += f", {counted(self.epochs, 'epoch')}"
        return name if self.batch_size == 1 else f"{name}, batches of {self.batch_size}"

    def epochs_of_rows(self, n: int, rng: RRandom) -> Iterator[Rows]:
        """Rows to visit, an epoch at a time (for ``"replace"``, about n draws)."""
        check_rows(self.order, n)
        epochs = self.epochs or 0
        if not isinstance(self.order, str):
            return explicit(self.order, epochs)
        if self.order == "shuffle":
            return shuffled(n, epochs, rng)
        if self.order == "sequential":
            return sequential(n, epochs)
        return replaced(n, self.steps or 0, self.batch_size, rng)

    def averages(self, epoch: int) -> bool:
        """Whether the iterates of this epoch, counted from zero, are averaged."""
        if isinstance(self.average, str):
            return self.average == "all"
        return epoch >= self._whole_epochs() - self.average

    def n_epochs(self, n: int) -> int:
        """Number of epochs over n rows; for ``"replace"`` of portions of about n."""
        if self.steps is not None:
            return -(-self.steps // max(1, n // self.batch_size))
        return self._whole_epochs()

    def _whole_epochs(self) -> int:
        lists = 1 if isinstance(self.order, str) else np.atleast_2d(self.order).shape[0]
        return (self.epochs or 0) * lists
