"""The solver SDCA: its options."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from pegasos_stats.checks import check_choice, check_count, check_nonnegative
from pegasos_stats.data.labels import TIES, Ties
from pegasos_stats.errors import OptionError
from pegasos_stats.rng import RRandom, SampleKind, checked_seed
from pegasos_stats.solvers.objective import Certificate

Start = Literal["zero", "sgd"]

STARTS: tuple[Start, ...] = ("zero", "sgd")
DEFAULT_EPOCHS = 100
DEFAULT_TOL = 1e-3


@dataclass(frozen=True, eq=False)
class SDCA:
    """Dual coordinate ascent, up to a certified distance from the optimum.

    Without intercept it is SDCA-perm (Shalev-Shwartz & Zhang 2013, figure 1): every
    epoch visits each row once, in the order of R's ``sample(1:n, n)``, and moves its
    dual weight to the best value, ``beta`` following; for the hinge ::

        a_i  <- min(1, max(0, a_i + lam n (1 - y_i x_i'beta) / ||x_i||^2))

    For the hinge the numbers are those of the R reference, bit for bit, from the same
    seed. With a free intercept two such epochs are followed by Newton steps for the
    proximal-point problem in the dual; each counts as an epoch. They find the optimum
    with the intercept not penalised, and a dual point with ``sum_i a_i y_i = 0``. With
    more columns than rows there are as many epochs as go on to close the gap; then the
    hinge takes steps on pairs of dense rows, ``n`` of them an epoch.

    Parameters
    ----------
    epochs : int, default 100
        Limit; a run that ends there without having reached `tol` warns.
    tol : float, default 1e-3
        Stop at this relative duality gap, ``gap / objective``. 0 for every epoch.
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

    epochs: int = DEFAULT_EPOCHS
    tol: float = DEFAULT_TOL
    gap_tol: float | None = None
    start: Start = "zero"
    seed: int | None = None
    sample_kind: SampleKind = "rejection"
    ties: Ties = "na"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epochs", check_count("epochs", self.epochs))
        object.__setattr__(self, "tol", check_nonnegative("tol", self.tol))
        if self.gap_tol is not None:
            gap_tol = check_nonnegative("gap_tol", self.gap_tol)
            object.__setattr__(self, "gap_tol", gap_tol)
        check_choice("start", self.start, STARTS)
        check_choice("ties", self.ties, TIES)
        if self.tol >= 1.0:
            raise OptionError(
                f"tol={self.tol!r} is not allowed: every fit is within it; give a "
                "relative gap below 1."
            )
        checked_seed(self.seed, self.sample_kind)

    name: ClassVar[str] = "SDCA"
    refit_intercept: ClassVar[bool] = True  # the best intercept is part of the optimum
    intercept: ClassVar[bool | None] = None  # as the model has it

    @property
    def uses_random_numbers(self) -> bool:
        """Whether the order is drawn."""
        return True

    @property
    def options(self) -> str:
        """What is not plain about the run, in words; empty if nothing is."""
        return "started by SGD" if self.start == "sgd" else ""

    @property
    def order_name(self) -> str:
        """The order in words."""
        return "shuffle"

    def generator(self) -> RRandom:
        """R's generator at the seed of this solver, a drawn one if there is none."""
        return RRandom(self.seed, sample_kind=self.sample_kind)

    def reached(self, at: Certificate) -> bool:
        """Whether a certificate is good enough to stop."""
        if self.tol > 0.0 and at.gap <= self.tol * at.objective:
            return True
        return bool(self.gap_tol) and at.gap <= (self.gap_tol or 0.0)

    @property
    def stops(self) -> bool:
        """Whether there is a tolerance to reach."""
        return self.tol > 0.0 or bool(self.gap_tol)
