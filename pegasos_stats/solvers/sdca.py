"""The solver SDCA: its options."""

from dataclasses import dataclass
from typing import Literal

from pegasos_stats.advice import Setting, said
from pegasos_stats.checks import check_count, check_nonnegative
from pegasos_stats.data.labels import Ties
from pegasos_stats.errors import OptionError
from pegasos_stats.other_names import answering_class
from pegasos_stats.rng import SampleKind
from pegasos_stats.solvers.options import check_option, option, values_of
from pegasos_stats.solvers.solver import (
    SEED,
    START,
    TIES,
    TOL,
    Arithmetic,
    Solver,
    check_sample_kind,
    check_seed,
    checked_tol,
)

Algorithm = Literal["newton", "perm"]
Start = Literal["zero", "sgd"]

DEFAULT_EPOCHS = 100
DEFAULT_TOL = 1e-6


@answering_class
@dataclass(frozen=True, eq=False)
class SDCA(Solver):
    """Dual coordinate ascent, up to a certified distance from the optimum.

    SDCA-perm (Shalev-Shwartz & Zhang 2013, figure 1) visits each row once an epoch, in
    the order of R's ``sample(1:n, n)``, and moves its dual weight to the best value,
    ``beta`` following; for the hinge ::

        a_i  <- min(1, max(0, a_i + lam n (1 - y_i x_i'beta) / ||x_i||^2))

    Where lam is small it takes thousands of epochs. By default two such epochs are
    followed by Newton steps for the proximal-point problem in the dual; each counts as
    an epoch. They find the optimum with the intercept not penalised, and a dual point
    with ``sum_i a_i y_i = 0``, or without intercept. With more columns than rows there
    are as many epochs as go on to close the gap; then the hinge takes steps on pairs of
    rows, or on single ones without intercept, ``n`` of them an epoch.

    Parameters
    ----------
    epochs : int, default 100
        Limit; a run that ends there without having reached `tol` warns.
    tol : float, default 1e-6
        Stop at this relative duality gap, ``gap / objective``. 0 for every epoch. By
        default what is left is small beside the standard errors of most fits.
    gap_tol : float, optional
        Stop at this gap as well; alone with ``tol=0``.
    start : "zero" or "sgd"
        ``"sgd"``: the first epoch is modified SGD (figure 2).
    seed : int, optional
        As for R's ``set.seed()``. Without one a seed is drawn and kept in the result.
    sample_kind : "rejection" or "rounding"
        R's ``sample.kind``: ``"rounding"`` repeats R before 3.6.
    ties : "na", "positive" or "negative"
        What ``predict`` makes of a score of exactly 0 unless it is told.
    algorithm : "newton" or "perm"
        ``"perm"``: SDCA-perm as published and nothing else, for models without
        intercept.
    arithmetic : "reference" or "fast", optional
        How SDCA-perm sums. ``"reference"``, its default: for the hinge the numbers are
        those of the R reference, bit for bit, from the same seed. ``"fast"``: in an
        order that suits the machine, as all other sums are.

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

    Examples
    --------
    >>> SDCA(tol=1e-6, seed=1).epochs
    100
    """

    epochs: int = option(
        DEFAULT_EPOCHS,
        "passes over the rows",
        f"at most {DEFAULT_EPOCHS} with sdca",
        check=check_count,
    )
    tol: float = option(
        DEFAULT_TOL,
        *TOL,
        f"{DEFAULT_TOL:g} with sdca",
        metavar="GAP",
        check=checked_tol,
    )
    gap_tol: float | None = option(None, check=check_nonnegative)
    start: Start = option("zero", *START, form="started by SGD")
    seed: int | None = option(None, *SEED, check=check_seed)
    sample_kind: SampleKind = option("rejection", check=check_sample_kind)
    ties: Ties = option("na", *TIES)
    algorithm: Algorithm = option(
        "newton",
        "go on by Newton steps, or SDCA-perm as published",
        form="SDCA-{}",
    )
    arithmetic: Arithmetic | None = option(
        None,
        "R's bits, or sums as they suit the machine",
        form="{} arithmetic",
    )

    name = "SDCA"
    to_optimum = True
    refit_intercept = True  # the best intercept is part of the optimum

    def __post_init__(self) -> None:
        for name in values_of(self):
            check_option(self, name)
        if self.arithmetic == "reference" and self.algorithm != "perm":
            raise OptionError(
                said(
                    Setting("arithmetic", "reference"),
                    " has the bits of SDCA-perm in R; give ",
                    Setting("algorithm", "perm"),
                    " too, or leave it out.",
                )
            )

    @property
    def intercept(self) -> Literal[False] | None:
        """``False`` for SDCA-perm, which has none."""
        return False if self.algorithm == "perm" else None

    @property
    def sums(self) -> Arithmetic:
        """How the coordinate steps sum: `arithmetic`, or its default."""
        return self.arithmetic or ("reference" if self.algorithm == "perm" else "fast")

    @property
    def uses_random_numbers(self) -> bool:
        """Whether the order is drawn."""
        return True

    @property
    def order_name(self) -> str:
        """The order in words."""
        return "shuffle"
