"""Options of solvers and models, each declared once as a field of a dataclass.

The field defines name, type, allowed values and default; its call of `option` adds the
check and the text for summaries. Checks, summaries, saved models and reproducible calls
use this declaration. The help of the command line is declared separately.

`Method` is the base class of the algorithms that a solver runs.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.checks import check_choice, check_flag, check_nonnegative
from pegasos_stats.data.labels import Ties
from pegasos_stats.errors import OptionError
from pegasos_stats.rng import RRandom, SampleKind, checked_seed
from pegasos_stats.solvers.certificate import Certificate, Gap
from pegasos_stats.solvers.problem import Unit
from pegasos_stats.solvers.sums import Sums

Arithmetic = Literal["reference", "fast"]

DEFAULT_EPOCHS = 100
DEFAULT_TOL = 1e-6  # relative gap at which `Optimum` and `SDCA` stop
# Relative gap at which `KernelSVMClassifier` stops; it then takes about as long as
# libsvm.
KERNEL_TOL = 1e-4
NEWTON = "Newton"
SMO = "SMO"  # sequential minimal optimization: updates pairs of dual weights


def check_seed(name: str, seed: int | None) -> int:
    """Return the seed, 1 for None, or raise `SeedError` if R would refuse it."""
    checked_seed(seed, "rejection")
    return 1 if seed is None else seed


def checked_tol(name: str, value: object) -> float:
    """Return a tolerance as a float, or raise `OptionError` unless it is in [0, 1)."""
    tol = check_nonnegative(name, value)
    if tol >= 1.0:
        why = "is too large; give a number below 1."
        raise OptionError(why, name, tol)
    return tol


def check_sample_kind(name: str, kind: SampleKind) -> SampleKind:
    """Return the kind of sampling, or raise `OptionError` if it is unknown."""
    checked_seed(None, kind)
    return kind


class Solver:
    """A solver with its options: `Optimum`, `Pegasos` or `SDCA`.

    Attributes
    ----------
    name : str
    to_optimum : bool
        Whether it converges to the optimum from every starting point.
    visits_rows : bool
        Whether a step uses one row or one batch; otherwise it uses all rows.
    refit_intercept : bool
        Whether the intercept is optimised for the final coefficients.
    intercept : bool or None
        ``False`` if the solver supports only models without intercept.
    tol, gap_tol, change_tol : float
        Tolerances of the relative gap, of the gap, and of the change of coefficients; 0
        or None for none.
    seed, sample_kind, ties
        Options that every solver has.
    """

    name: ClassVar[str]
    to_optimum: ClassVar[bool]
    visits_rows: ClassVar[bool] = True
    refit_intercept: bool
    intercept: bool | None = None
    tol: float = 0.0
    gap_tol: float | None = None
    change_tol: float = 0.0
    seed: int | None
    sample_kind: SampleKind
    ties: Ties

    def __post_init__(self) -> None:
        for name in values_of(self):
            check_option(self, name)

    @property
    def uses_random_numbers(self) -> bool:
        """Whether rows are drawn at random."""
        return True

    @property
    def order_name(self) -> str:
        """Description of the order in which rows are visited."""
        return "shuffle"

    @property
    def options(self) -> str:
        """Description of the options that differ from their defaults."""
        options, values = declared(type(self)), changed_values(self)
        return ", ".join(
            options[name].form.format(
                value if isinstance(value, str | bool | int | float) else "given"
            )
            for name, value in values.items()
            if options[name].form
        )

    def generator(self) -> RRandom:
        """R's random number generator, with this solver's seed or a random one."""
        return RRandom(self.seed, sample_kind=self.sample_kind)

    def with_seed(self, seed: int | None) -> Self:
        """The same solver with another seed."""
        return type(self)(**values_of(self) | {"seed": seed})

    @property
    def stops(self) -> bool:
        """Whether a tolerance of the gap is set."""
        return self.tol > 0.0 or bool(self.gap_tol)

    @property
    def may_end_early(self) -> bool:
        """Whether a tolerance of the gap or of the coefficients is set."""
        return self.stops or self.change_tol > 0.0

    @property
    def goals(self) -> str:
        """Description of the tolerances."""
        tols = {
            "relative gap": self.tol,
            "gap": self.gap_tol,
            "change": self.change_tol,
        }
        return " or ".join(f"{word} {tol:g}" for word, tol in tols.items() if tol)

    def converged(self, at: Certificate, settled: bool = False) -> bool | None:
        """Whether a fit has reached its tolerance; None if no tolerance is set."""
        return self.reached(at) or settled if self.may_end_early else None

    def reached(self, at: Gap) -> bool:
        """Whether a gap is within a tolerance, so that the run may stop."""
        if self.tol > 0.0 and at.gap <= self.tol * at.objective:
            return True
        return bool(self.gap_tol) and at.gap <= (self.gap_tol or 0.0)


Value = TypeVar("Value")
Check = Callable[[str, Any], object]


@dataclass(frozen=True)
class Option:
    """Declaration of an option.

    Attributes
    ----------
    name : str
    kind : type
        Type of the values other than None.
    choices : tuple of str
        Allowed names; empty if values are not names.
    optional : bool
        Whether None is allowed.
    default : object
    check, form, in_r
        As for `option`.
    """

    name: str
    kind: object
    choices: tuple[str, ...] = ()
    optional: bool = True
    default: object = None
    check: Check | None = None
    form: str = ""
    in_r: bool = False

    def checked(self, value: object) -> object:
        """Return the converted value, or raise `OptionError` if it is not allowed."""
        if value is None and self.optional:
            return None
        if self.check is not None:
            return self.check(self.name, value)
        if self.kind is bool:
            check_flag(self.name, value)
        else:
            check_choice(self.name, value, self.choices)
        return value


def option(
    default: Value,
    *,
    check: Check | None = None,
    form: str = "",
    in_r: bool = False,
) -> Value:
    """Declare a field that is an option.

    Parameters
    ----------
    default : object
    check : callable, optional
        Function of name and value that returns the converted value or raises
        `OptionError`. Flags and choices by name need no function.
    form : str
        Text for the header of a summary if the option differs from its default; ``{}``
        is replaced by the value. If empty, the header omits the option.
    in_r : bool
        Whether the R function in ``r_reference/`` has an argument of this name.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Jump:
    ...     way: Literal["high", "far"] = option("high")
    >>> declared(Jump)["way"].choices
    ('high', 'far')
    """
    return field(default=default, metadata={"check": check, "form": form, "in_r": in_r})


def declared(owner: type) -> dict[str, Option]:
    """Return the options of a dataclass by name, in their order."""
    if owner not in _READ:
        hints = get_type_hints(owner)
        _READ[owner] = {
            f.name: Option(f.name, *_kind(hints[f.name]), f.default, **f.metadata)
            for f in fields(owner)
        }
    return _READ[owner]


# A dict, because mypy rejects a type as key of functools.cache.
_READ: dict[type, dict[str, Option]] = {}


def _kind(hint: object) -> tuple[object, tuple[str, ...], bool]:
    """Split a type hint: type without None, allowed names, whether None is allowed."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    some = tuple(kind for kind in kinds if kind is not NoneType)
    named = [get_args(kind) for kind in some if get_origin(kind) is Literal]
    return Union[some], sum(named, ()), NoneType in kinds  # noqa: UP007


def check_option(owner: object, name: str) -> None:
    """Check an option of a dataclass, and store the converted value."""
    checked = declared(type(owner))[name].checked(getattr(owner, name))
    object.__setattr__(owner, name, checked)


def values_of(owner: object) -> dict[str, Any]:
    """Return the values of all options of a dataclass."""
    return {name: getattr(owner, name) for name in declared(type(owner))}


def changed_values(owner: object) -> dict[str, Any]:
    """Return the values of the options that differ from their defaults."""
    options = declared(type(owner))
    return {
        name: value
        for name, value in values_of(owner).items()
        if isinstance(value, np.ndarray) or value != options[name].default
    }


class Method(ABC):
    """An iterative algorithm, as part of a run.

    Attributes
    ----------
    name : str
        Name in the literature; it may depend on the last call of `step`.
    unit : str
        What one call of `step` is called in summaries: ``"epoch"`` or ``"iteration"``.
    visits_rows : bool
        Whether `step` visits single rows in random order.
    steps, violations : int
        Like ``n_iter`` and ``n_violations`` of `Solution`.
    visits : float
        Number of row visits so far; other work is converted to visits of equal cost.
    gaps : list of float
        Gap after each call of `step`; empty for methods that do not use it.
    epochs : int
        Number of epochs, for methods that visit single rows.
    has_stalled : bool
        Whether another method should continue; see `next_method`.
    """

    name: str
    unit: ClassVar[Unit] = "iteration"
    visits_rows: ClassVar[bool] = False

    def __init__(self) -> None:
        self.steps = self.violations = self.epochs = 0
        self.has_stalled = False
        self.visits = 0.0
        self.gaps: list[float] = []

    @abstractmethod
    def step(self, rows: Rows) -> None:
        """Run one epoch over `rows`; or one iteration, for which `rows` is empty."""

    @property
    @abstractmethod
    def gap(self) -> Gap:
        """Objectives of the best primal and dual points, as computed in the steps."""

    @abstractmethod
    def best(self) -> tuple[Vector, float, Vector]:
        """Best primal point ``beta, alpha`` and best dual point ``a`` so far."""

    def sums(self, a: Vector, reach: float) -> Sums | None:
        """Return sums for the certificate of `best`, if the last step computed them.

        Parameters
        ----------
        a : float64 array, shape (n,)
            Feasible dual weights.
        reach : float
            As in `sums_at`.
        """
        return None

    def gap_stagnates(self, patience: int) -> bool:
        """Whether the gap failed to halve in the last `patience` steps."""
        gaps = self.gaps
        return len(gaps) > patience and not gaps[-1] <= 0.5 * gaps[-1 - patience]


class Goal:
    """Stopping rule: the largest gap accepted at an objective.

    Parameters
    ----------
    tol : float
        Tolerance of the gap relative to the objective; at least 1e-14 is used.
    gap_tol : float or None
        Absolute tolerance of the gap. The larger of the two tolerances applies.
    """

    def __init__(self, tol: float, gap_tol: float | None) -> None:
        self.share, self._gap_tol = max(tol, 1e-14), gap_tol or 0.0

    def __call__(self, risk: float) -> float:
        """Return the largest gap accepted at an objective of `risk`."""
        return max(self.share * risk, self._gap_tol)
