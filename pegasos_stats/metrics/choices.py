"""What a confusion report is asked for: positive class, prevalence, beta, mode."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from pegasos_stats.checks import check_choice, check_positive, number_of
from pegasos_stats.data.foreign import is_single
from pegasos_stats.errors import OptionError, listing, plain, shown

Mode = Literal["sens_spec", "prec_recall", "everything"]

MODES = ("sens_spec", "prec_recall", "everything")


@dataclass(frozen=True)
class Choices:
    """Options of a confusion report.

    Attributes
    ----------
    positive : label, optional
        Positive class of a table of two levels; the first level if left out.
    prevalence : tuple of float, optional
        Prevalence of the positive class, or, with more than two levels, of each.
    beta : float, default 1.0
    mode : "sens_spec", "prec_recall", "everything" or None
    """

    positive: Any = None
    prevalence: tuple[float, ...] | None = None
    beta: float = 1.0
    mode: Mode | None = None


DEFAULTS = Choices()


def checked_choices(
    levels: Sequence[Any], positive: Any, prevalence: Any, beta: float, mode: Any
) -> Choices:
    """Return the options for a table of these levels.

    Raises
    ------
    OptionError
        If an option is not allowed, or makes no sense for so many levels.
    """
    if mode is not None:
        check_mode(mode)
    if positive is not None:
        positive = _checked_positive(levels, plain(positive))
    shares = None if prevalence is None else _checked_prevalence(levels, prevalence)
    return Choices(positive, shares, check_positive("beta", beta), mode)


def check_mode(mode: Any) -> None:
    """Raise `OptionError` unless `mode` is one of caret's three."""
    check_choice("mode", mode, MODES)


def _checked_positive(levels: Sequence[Any], positive: Any) -> Any:
    if len(levels) > 2:
        raise OptionError(
            f"positive={shown(positive)} makes no sense with {len(levels)} levels: "
            "each is compared with all others; leave it out."
        )
    if not is_single(positive) or positive not in levels:
        raise OptionError(
            f"positive={shown(positive)} is not among the levels; give one of "
            f"{listing(levels)}."
        )
    return positive


def _checked_prevalence(levels: Sequence[Any], prevalence: Any) -> tuple[float, ...]:
    """One prevalence, or with more than two levels one for each."""
    if len(levels) <= 2:
        return (_checked_share(prevalence),)
    known = isinstance(prevalence, Mapping | pd.Series)
    if not known or set(prevalence.keys()) != set(levels):
        raise OptionError(
            f"prevalence={shown(prevalence)} is not allowed with {len(levels)} levels; "
            "give a dict or Series with a number for each of them."
        )
    return tuple(_checked_share(prevalence[level]) for level in levels)


def _checked_share(share: Any) -> float:
    found = number_of(share)
    if not 0.0 <= found <= 1.0:
        raise OptionError(
            f"prevalence={shown(share)} is not allowed; give a number from 0 to 1."
        )
    return found
