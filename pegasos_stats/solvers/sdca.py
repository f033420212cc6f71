"""The solver SDCA: its options, and the warning where it stops short of a tolerance."""

import math
from dataclasses import dataclass
from typing import Literal

from pegasos_stats.checks import check_count, check_nonnegative
from pegasos_stats.data.labels import Ties
from pegasos_stats.errors import ConvergenceWarning, OptionError, counted, warn_caller
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.rng import SampleKind
from pegasos_stats.solvers.objective import Certificate
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
from pegasos_stats.solvers.rounding import CLOSEST

Algorithm = Literal["newton", "perm"]
Start = Literal["zero", "sgd"]

DEFAULT_EPOCHS = 100
DEFAULT_TOL = 1e-6
NEAR = 1e-3  # relative gap of a run that need not warn of the default tolerance


@suggest_arguments
@dataclass(frozen=True, eq=False)
class SDCA(Solver):
    """Dual coordinate ascent, up to a certified distance from the optimum.

    SDCA-perm (Shalev-Shwartz & Zhang 2013, figure 1) visits each row once per epoch, in
    the order of R's ``sample(1:n, n)``, sets its dual weight to the maximiser of the
    dual and updates ``beta``; for the hinge ::

        a_i  <- min(1, max(0, a_i + lam n (1 - y_i x_i'beta) / ||x_i||^2))

    For small lam this takes thousands of epochs. By default Newton steps find the
    optimum with an unpenalised intercept, and a dual point with ``sum_i a_i y_i = 0``;
    or the optimum without intercept. Each is an epoch, and no rows are drawn. Those of
    the hinge are for the proximal-point problem in the dual; with 3,000 dense rows or
    more an epoch is a read of the rows: a sample is solved; rows far from the margin
    are fixed, the others solved, until no row is on the wrong side. The log loss with
    many dense rows takes steps of L-BFGS from the solution of a sample. Dense rows of
    which most entries are 0 are taken as sparse ones. Equal calls give equal bits on
    one machine.

    With more columns than rows epochs of coordinate steps go on while they close the
    gap, and Newton steps follow. The hinge on dense rows takes steps on pairs of rows
    (on single rows without intercept) instead, ``n`` per epoch; on 100 columns or more
    also with up to 1.25 times as many rows, or 1.5 times without intercept. On sparse
    rows, more than columns, it takes two epochs of coordinate steps before its Newton
    steps.

    Parameters
    ----------
    epochs : int, default 100
        Maximum number; a run that ends there without reaching `tol` warns.
    tol : float, default 1e-6
        Stop at this relative duality gap, ``gap / objective``; 0 runs all epochs. With
        the default, the remaining error is small relative to the standard errors of
        most fits.
    gap_tol : float, optional
        Stop at this absolute gap as well; with ``tol=0``, only at this gap.
    start : "zero" or "sgd"
        ``"sgd"``: the first epoch of coordinate steps is modified SGD (figure 2).
    seed : int, default 1
        As for R's ``set.seed()``.
    sample_kind : "rejection" or "rounding"
        R's ``sample.kind``: ``"rounding"`` repeats R before 3.6.
    ties : "na", "positive" or "negative"
        Default of ``predict(ties=)``: the label of a score of exactly 0.
    algorithm : "newton" or "perm"
        ``"perm"`` is SDCA-perm as published, for models without intercept only.
    arithmetic : "reference" or "fast", optional
        Order of summation in SDCA-perm. ``"reference"``, its default, gives the numbers
        of the R reference for the hinge, bit for bit, from the same seed. ``"fast"``
        sums in an order that suits the machine, as all other algorithms do.

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
    >>> SDCA(tol=1e-6, seed=1).epochs
    100
    """

    epochs: int = option(DEFAULT_EPOCHS, check=check_count)
    tol: float = option(DEFAULT_TOL, check=checked_tol)
    gap_tol: float | None = option(None, check=check_nonnegative)
    start: Start = option("zero", form="started by SGD")
    seed: int = option(1, check=check_seed)
    sample_kind: SampleKind = option("rejection", check=check_sample_kind)
    ties: Ties = option("na")
    algorithm: Algorithm = option("newton", form="SDCA-{}")
    arithmetic: Arithmetic | None = option(None, form="{} arithmetic")

    name = "SDCA"
    to_optimum = True
    refit_intercept = True  # the best intercept is part of the optimum

    def __post_init__(self) -> None:
        for name in values_of(self):
            check_option(self, name)
        if self.arithmetic == "reference" and self.algorithm != "perm":
            raise OptionError(
                "arithmetic='reference' has the bits of SDCA-perm in R; give "
                "algorithm='perm' too, or leave it out."
            )

    @property
    def intercept(self) -> Literal[False] | None:
        """``False`` for SDCA-perm, which has none."""
        return False if self.algorithm == "perm" else None

    @property
    def sums(self) -> Arithmetic:
        """Arithmetic of the coordinate steps: `arithmetic`, or its default."""
        return self.arithmetic or ("reference" if self.algorithm == "perm" else "fast")

    @property
    def visits_rows(self) -> bool:
        """Whether a step visits a row, as those of SDCA-perm do."""
        return self.algorithm == "perm"


def warn_of(
    at: Certificate,
    solver: SDCA,
    taken_as: str,
    is_close: bool = False,
    epochs: int | None = None,
    hint: str = "",
) -> None:
    """Warn that the tolerance was not reached.

    Parameters
    ----------
    at : Certificate
        Computed from the rows.
    solver : SDCA
    taken_as : str
        By which option the tolerance was given.
    is_close : bool
        Whether rounding is the cause.
    epochs : int, optional
        That there were, if not all that there might have been.
    hint : str
        What else may reach it, after a semicolon.
    """
    goal, near = f"{taken_as}={solver.tol:g}", at.relative_gap
    if not solver.tol > 0.0:
        taken_as, goal, near = "gap_tol", f"gap_tol={solver.gap_tol:g}", at.gap
    gaps = f"the relative gap is {at.relative_gap:.2g}, the gap {at.gap:.2g}{hint}"
    cure = "more epochs, or standardize=True where predictors differ in scale"
    if is_close or at.relative_gap <= CLOSEST:
        gaps += ", as near as rounding lets a certificate tell"
        cure = "standardize=True where columns are far from zero"
    if 0.0 < near < 0.1:
        cure += f", or {taken_as}={10.0 ** math.ceil(math.log10(near)):g}"
    after = counted(epochs or solver.epochs, "epoch")
    text = f"SDCA has not reached {goal} after {after}: {gaps}. Give {cure}."
    warn_caller(text, ConvergenceWarning)


def near_enough(at: Certificate, solver: SDCA) -> bool:
    """Whether a run to the default tolerance is near it."""
    return solver.tol == DEFAULT_TOL and at.relative_gap <= NEAR
