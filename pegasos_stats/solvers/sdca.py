"""The solver SDCA: dual coordinate ascent as published, and its options."""

from dataclasses import dataclass
from typing import Literal

from pegasos_stats.checks import check_count, check_nonnegative
from pegasos_stats.data.labels import Ties
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

    Raises
    ------
    OptionError
        If an option is not allowed.
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
    """

    epochs: int = option(DEFAULT_EPOCHS, check=check_count)
    tol: float = option(DEFAULT_TOL, check=checked_tol)
    gap_tol: float | None = option(None, check=check_nonnegative)
    start: Start = option("zero", form="started by SGD")
    seed: int = option(1, check=check_seed)
    sample_kind: SampleKind = option("rejection", check=check_sample_kind)
    ties: Ties = option("na")
    arithmetic: Arithmetic = option("reference", form="{} arithmetic")

    name = "SDCA"
    to_optimum = True
    refit_intercept = True  # of the certificate; the model has none

    def __post_init__(self) -> None:
        for name in values_of(self):
            check_option(self, name)

    @property
    def intercept(self) -> Literal[False]:
        """``False``: SDCA-perm has none."""
        return False
