"""The solver SDCA: dual coordinate ascent as published, and its options."""

from dataclasses import dataclass
from typing import Literal

from pegasos_stats.checks import check_count, check_nonnegative
from pegasos_stats.data.labels import Ties
from pegasos_stats.errors import OptionError
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.rng import SampleKind
from pegasos_stats.solvers.options import (
    DEFAULT_EPOCHS,
    DEFAULT_TOL,
    Arithmetic,
    Solver,
    check_option,
    check_sample_kind,
    check_seed,
    checked_tol,
    option,
    values_of,
)
from pegasos_stats.solvers.pegasos import Average, checked_average

Start = Literal["zero", "sgd"]


@suggest_arguments
@dataclass(frozen=True, eq=False)
class SDCA(Solver):
    """Stochastic dual coordinate ascent, for linear models without intercept.

    SDCA-perm (Shalev-Shwartz & Zhang 2013, figure 1) visits each row once per epoch, in
    the order of R's ``sample(1:n, n)``, sets its dual weight to the maximiser of the
    dual and updates ``beta``; for the hinge ::

        a_i  <- min(1, max(0, a_i + lam n (1 - y_i x_i'beta) / ||x_i||^2))

    For small lam this takes thousands of epochs. For the optimum itself, with or
    without intercept, use `Optimum`.

    Parameters
    ----------
    epochs : int, default 100
        Maximum number; a run that ends there without reaching `tol` warns.
    tol : float, default 1e-6
        Stop at this relative duality gap, ``gap / objective``; 0 runs all epochs.
    gap_tol : float, optional
        Stop at this absolute gap as well; with ``tol=0``, only at this gap.
    start : "zero" or "sgd"
        ``"sgd"``: the first epoch is modified SGD (figure 2).
    seed : int, default 1
        As for R's ``set.seed()``.
    sample_kind : "rejection" or "rounding"
        R's ``sample.kind``: ``"rounding"`` repeats R before 3.6.
    ties : "na", "positive" or "negative"
        Default of ``predict(ties=)``: the label of a score of exactly 0.
    arithmetic : "reference" or "fast"
        Order of summation. ``"reference"`` gives the numbers of the R reference for the
        hinge, bit for bit, from the same seed. ``"fast"`` sums in an order that suits
        the machine.
    average : "none", "all" or int, default "none"
        Return the last iterate, or the mean over all steps or over those of the last
        `average` epochs (the averaging option). The mean is that of the iterates before
        each step; `beta` is that of the mean dual weights.
    random_stop : int, optional
        Stop after a step drawn at random from those of the last `random_stop` epochs
        (the random option), by ``sample(random_stop * n, 1)`` before the first epoch.

    Notes
    -----
    The averaging and the random option are those of Procedure SDCA of the paper; the
    authors advise to leave out the first half of the steps: with 20 epochs,
    ``average=10`` or ``random_stop=10``. Both count epochs from the last one, so they
    need ``tol=0``, except ``average="all"``. Steps of modified SGD are not averaged.
    The certificate is that of the iterate returned.

    Raises
    ------
    OptionError
        If an option is not allowed, or two of them contradict each other.
    SeedError
        If R would refuse the seed.

    References
    ----------
    Shalev-Shwartz & Zhang, *Stochastic dual coordinate ascent methods for regularized
    loss minimization*, JMLR 14 (2013).
    Hsieh, Chang, Lin, Keerthi & Sundararajan, *A dual coordinate descent method for
    large-scale linear SVM*, ICML (2008).

    Examples
    --------
    >>> SDCA(epochs=20, seed=443).epochs
    20
    >>> SDCA(epochs=20, tol=0, average=10).average
    10
    """

    epochs: int = option(DEFAULT_EPOCHS, check=check_count)
    tol: float = option(DEFAULT_TOL, check=checked_tol)
    gap_tol: float | None = option(None, check=check_nonnegative)
    start: Start = option("zero", form="started by SGD")
    seed: int = option(1, check=check_seed)
    sample_kind: SampleKind = option("rejection", check=check_sample_kind)
    ties: Ties = option("na")
    arithmetic: Arithmetic = option("reference", form="{} arithmetic")
    average: Average = option("none", check=checked_average, form="average {}")
    random_stop: int | None = option(
        None, check=check_count, form="random stop in last {}"
    )

    name = "SDCA"
    to_optimum = True
    refit_intercept = True  # of the certificate; the model has none

    def __post_init__(self) -> None:
        for name in values_of(self):
            check_option(self, name)
        if self.random_stop is not None:
            if self.average != "none":
                why = "and average= exclude each other; give one."
                raise OptionError(why, "random_stop", self.random_stop)
            self._check_last("random_stop", self.random_stop)
        elif self.average != "none":
            self._check_last("average", self.average)

    def _check_last(self, name: str, last: Average) -> None:
        """Raise `OptionError` if the run does not have so many last epochs."""
        most = self.epochs - (self.start == "sgd")
        if (1 if isinstance(last, str) else last) > most:
            why = f"asks for more epochs of SDCA than the run has, which is {most}."
            raise OptionError(why, name, last)
        if self.stops and not isinstance(last, str):
            why = "counts the last epochs, which a tolerance leaves open; give tol=0."
            raise OptionError(why, name, last)

    def averages(self, epoch: int) -> bool:
        """Whether the iterates of this epoch (counted from zero) enter the average."""
        if isinstance(self.average, str):
            return self.average == "all" and epoch >= (self.start == "sgd")
        return epoch >= self.epochs - self.average

    @property
    def intercept(self) -> Literal[False]:
        """``False``: SDCA-perm has none."""
        return False
