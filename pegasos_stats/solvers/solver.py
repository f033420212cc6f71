"""Options and methods that all solvers share."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Literal, Self

from pegasos_stats.checks import check_nonnegative
from pegasos_stats.data.labels import Ties
from pegasos_stats.errors import OptionError
from pegasos_stats.rng import RRandom, SampleKind, checked_seed
from pegasos_stats.solvers.objective import Certificate, Gap
from pegasos_stats.solvers.options import declared, given, values_of

Arithmetic = Literal["reference", "fast"]


def check_seed(name: str, seed: int | None) -> int:
    """Return the seed, 1 for None, or raise `SeedError` if R would refuse it."""
    checked_seed(seed, "rejection")
    return 1 if seed is None else seed


def checked_tol(name: str, value: object) -> float:
    """Return a tolerance as a float, or raise `OptionError` unless it is in [0, 1)."""
    tol = check_nonnegative(name, value)
    if tol >= 1.0:
        what = "a share" if name == "change_tol" else "a relative gap"
        raise OptionError(
            f"is not allowed: every fit is within it; give {what} below 1.", name, tol
        )
    return tol


def check_sample_kind(name: str, kind: SampleKind) -> SampleKind:
    """Return the kind of sampling, or raise `OptionError` if there is no such."""
    checked_seed(None, kind)
    return kind


class Solver(ABC):
    """How a problem is minimised: `Pegasos` or `SDCA`, with its options.

    Attributes
    ----------
    name : str
    to_optimum : bool
        Whether it goes on to the optimum, also from dual weights that are given.
    refit_intercept : bool
        Whether the intercept is the best one for the coefficients.
    tol, gap_tol, change_tol : float
        Tolerances of the gap and of the coefficients; 0 or None for none.
    seed, sample_kind, ties
        Options of every solver.
    """

    name: ClassVar[str]
    to_optimum: ClassVar[bool]
    refit_intercept: bool
    tol: float = 0.0
    gap_tol: float | None = None
    change_tol: float = 0.0
    seed: int | None
    sample_kind: SampleKind
    ties: Ties

    @property
    def intercept(self) -> bool | None:
        """``False`` for a form that goes with models without intercept only."""
        return None

    @property
    @abstractmethod
    def uses_random_numbers(self) -> bool:
        """Whether the order is drawn."""

    @property
    @abstractmethod
    def order_name(self) -> str:
        """The order in words."""

    @property
    def has_own_steps(self) -> bool:
        """Whether the sizes of the steps are those of the algorithm."""
        return True

    @property
    def visits_rows(self) -> bool:
        """Whether a step visits a row, or those of a batch, and not all rows."""
        return True

    @property
    def options(self) -> str:
        """Options of the run that differ from the default, in words."""
        return ", ".join(self.words("form"))

    def words(self, key: Literal["form", "said"]) -> list[str]:
        """Words for each option that is not at its default.

        Parameters
        ----------
        key : "form" or "said"
            Of `Option`.
        """
        options = declared(type(self))
        words = {name: getattr(options[name], key) for name in options}
        values = {
            name: value if isinstance(value, str | bool | int | float) else "given"
            for name, value in given(self).items()
        }
        return [words[n].format(v) for n, v in values.items() if words[n]]

    def generator(self) -> RRandom:
        """R's generator, at the seed of this solver or, without one, at a new seed."""
        return RRandom(self.seed, sample_kind=self.sample_kind)

    def with_seed(self, seed: int | None) -> Self:
        """The same solver with another seed."""
        again: Callable[..., Self] = type(self)
        return again(**values_of(self) | {"seed": seed})

    @property
    def stops(self) -> bool:
        """Whether a tolerance is set."""
        return self.tol > 0.0 or bool(self.gap_tol)

    @property
    def may_end_early(self) -> bool:
        """Whether a tolerance of the gap or of the coefficients is set."""
        return self.stops or self.change_tol > 0.0

    @property
    def goals(self) -> str:
        """The tolerances, in words."""
        known = ("tol", "gap_tol", "change_tol")
        found = [(name, getattr(self, name)) for name in known]
        return " or ".join(f"{name} {tol:g}" for name, tol in found if tol)

    def converged(self, at: Certificate, settled: bool = False) -> bool | None:
        """Whether a fit has reached the tolerance; None if none is set."""
        return self.reached(at) or settled if self.may_end_early else None

    def reached(self, at: Gap) -> bool:
        """Whether a certificate meets a tolerance, so that the run may stop."""
        if self.tol > 0.0 and at.gap <= self.tol * at.objective:
            return True
        return bool(self.gap_tol) and at.gap <= (self.gap_tol or 0.0)
