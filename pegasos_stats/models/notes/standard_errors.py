"""Notes on standard errors: how they were computed, and when not to trust them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from pegasos_stats.advice import Cure, Setting, Together, one_of
from pegasos_stats.arrays import Vector
from pegasos_stats.data.groups import Groups
from pegasos_stats.errors import counted, listing
from pegasos_stats.models.notes.note import Note
from pegasos_stats.tables import significant

FEW_GROUPS = 10  # with fewer of which intervals are too short, at times by far
MATTERS = 0.25  # bias by standard error; with less 95% intervals cover 94.3%
FEW = 5  # rows to a coefficient, with fewer of which intervals are too short
SEPARATED_FURTHER = (
    "In some resamples more rows can be, so that other standard errors depend on "
    "lambda too:"
)
OTHER = one_of([Setting("cov_type", "default")], "{} does not resample here.")


def too_far(distance: float, errors: Vector, cure: Cure | None) -> Note:
    """Note that a fit is too far from its optimum for these standard errors.

    Parameters
    ----------
    distance : float
        How far coefficients may be from the optimum, at most.
    errors : float64 array
        Standard errors of the coefficients that may be too far.
    cure : Cure, optional
        What goes on to the optimum.
    """
    known = distance < math.inf
    most = f"up to {significant(distance, 2)}" if known else "how much is not known"
    text = (
        "the fit may be too far from its optimum for these standard errors. "
        f"{counted(len(errors), 'coefficient')} may be off by more than a quarter of "
        f"the standard error: by {most}, the smallest error being "
        f"{significant(errors.min(), 2)}."
    )
    return Note("standard errors", "warning", text, cure)


def not_there(remedy: Together) -> Note:
    """Note that standard errors may be undefined for want of an optimal fit."""
    text = "Standard errors are those at the optimum, and this fit is not there:"
    return Note("standard errors", "note", text, Cure((remedy,), "{} goes on to it."))


def few_rows(n: int, k: int) -> list[Note]:
    """Note that n rows are few for k coefficients."""
    if n >= FEW * k:
        return []
    text = (
        f"{counted(n, 'row')} for {counted(k, 'coefficient')}. Standard errors are for "
        f"many rows to each; with fewer than {FEW} intervals are too short, and with "
        "one or two they mean nothing."
    )
    return [Note("standard errors", "warning", text)]


def separated(names: Sequence[str], n_rows: int) -> list[Note]:
    """Note that coefficients without penalty would have no limit."""
    text = (
        f"without the penalty {listing(names)} would grow without limit: "
        f"{counted(n_rows, 'row')} can be predicted with certainty, as where all rows "
        "of a level of a factor have the same outcome (separation). These estimates "
        "depend on lambda, and have no standard errors, tests and intervals: join such "
        "a level with another, or leave its rows out."
    )
    return [Note("standard errors", "warning", text)]


def separated_in_resamples(
    names: Sequence[str], n_rows: int, always: bool
) -> list[Note]:
    """That rows with one outcome have it in all resamples too, or limit hardly any."""
    if not always:
        (note,) = separated(names, n_rows)
        return [replace(note, text=f"{note.text} {SEPARATED_FURTHER}", cure=OTHER)]
    text = (
        f"{counted(n_rows, 'row')} can be predicted with certainty, as where all rows "
        "of a level of a factor have the same outcome, and so in every resample: how "
        f"uncertain {listing(names)} {'are' if len(names) > 1 else 'is'} they do not "
        "tell, and there are no standard errors, tests and intervals; join such a "
        "level with another, or leave its rows out."
    )
    return [Note("standard errors", "warning", text)]


def told_apart() -> list[Note]:
    """Note that no row is on the wrong side, so that only the penalty limits all."""
    text = (
        "the predictors tell the levels apart without error (complete separation): "
        "maximum likelihood has no estimates, and only the penalty keeps coefficients "
        "finite. Estimates depend on lambda, and have no standard errors, tests and "
        "intervals. See whether a predictor gives the outcome away."
    )
    return [Note("standard errors", "warning", text)]


def untested(hypotheses: Sequence[str]) -> str:
    """That there is no test of what is the same in all samples."""
    return (
        f"There is no test of {listing(hypotheses)}: what it is about is the same in "
        "all samples, but for rounding, as where columns are constant or collinear, or "
        "a tie of rows holds it, and it has no error to test it by."
    )


def biased(names: Sequence[str], ratios: Vector) -> list[Note]:
    """Note how far estimates of few rows are off on average, if that matters.

    Parameters
    ----------
    names : list of str, length k
    ratios : float64 array, shape (k,)
        Bias by standard error.
    """
    most = int(np.argmax(np.abs(ratios)))
    if not abs(ratios[most]) > MATTERS:
        return []
    text = (
        "There are few rows of the rarer level to a coefficient: estimates are off on "
        f"average, by up to {significant(abs(ratios[most]), 2)} standard errors "
        f"({names[most]}). Intervals and p-values allow for that; estimates do not."
    )
    return [Note("standard errors", "note", text)]


def few_groups(groups: Groups | None) -> list[Note]:
    """Note that groups are few."""
    if groups is None or groups.fewest >= FEW_GROUPS:
        return []
    text = (
        f"there are {groups}. Standard errors are from differences between groups; "
        f"with fewer than {FEW_GROUPS} they are rough and may be far too small."
    )
    return [Note("standard errors", "warning", text)]


def resampled(why: str, done: bool, can: bool = True) -> list[Note]:
    """Note why rows are resampled, or that they had better be, if they can."""
    if done:
        text = (
            f"{why[:1].upper()}{why[1:]}. Intervals by the formula are often too short."
        )
        return [Note("standard errors", "note", text)]
    text = f"{why}: these intervals may be too short."
    if not can:
        return [Note("standard errors", "warning", text)]
    better = Setting("cov_type", "default")
    cure = one_of([better], "{} resamples rows instead, unless that takes very long.")
    return [Note("standard errors", "warning", text, cure)]


def little_power() -> Note:
    """That p-values of resamples of a fit that is near 0 are large."""
    text = (
        "P-values are twice the share of the resamples that are as far from the "
        "estimate as 0 is: where the loss is lowered by little, that is large for real "
        "effects as well, and tests have little power. Those of a logistic model, of "
        "its own coefficients, have more."
    )
    return Note("standard errors", "note", text)


def nearer_to_zero() -> Note:
    """That coefficients of few rows are off by more than resamples show."""
    text = (
        "Large coefficients are nearer to 0 than those of the population by more than "
        "resamples show: with a very strong penalty their intervals hold these less "
        "often than in 95% of samples."
    )
    return Note("standard errors", "note", text)


def pinned(names: Sequence[str]) -> list[Note]:
    """That coefficients have no spread to test them with."""
    if not names:
        return []
    verb, it = ("is", "it") if len(names) == 1 else ("are", "them")
    text = (
        f"{listing(names)} {verb} pinned: the same in all resamples, for want of "
        "different values or held by a tie of rows at the margin. Without a spread "
        f"there is no test of {it}. A coefficient of 0 that is pinned says that the "
        "best boundary at this lambda has no use for the predictor, not that the "
        "outcome does not depend on it."
    )
    return [Note("standard errors", "note", text)]


def nearly_pinned(names: Sequence[str]) -> list[Note]:
    """That a standard error is of few resamples, and an interval of all others."""
    if not names:
        return []
    several = len(names) > 1
    text = (
        f"{listing(names)} {'are' if several else 'is'} nearly pinned: the same in "
        "at least 95% of the resamples, held by a tie of rows at the margin. "
        f"{'Intervals are those' if several else 'The interval is that'} of the tie; "
        f"{'standard errors are' if several else 'the standard error is'} of the few "
        "resamples without it, so that the two do not go together."
    )
    return [Note("standard errors", "note", text)]


def ending_at_zero(names: Sequence[str]) -> list[Note]:
    """That 0 is in an interval as its end, and that the p-value is therefore large."""
    if not names:
        return []
    several = len(names) > 1
    text = (
        f"A tie of rows at the margin holds {listing(names)} at 0 in more than 2.5% of "
        f"the resamples: {'intervals reach' if several else 'the interval reaches'} "
        "there, or beyond where they are widened, and the p-value is above 0.05."
    )
    return [Note("standard errors", "note", text)]


def least_p_value(m: int, least: float, has_interval: bool) -> list[Note]:
    """How small p-values of a coefficient can be, and if there is no interval."""
    text = (
        f"The smallest p-value that {counted(m, 'resample')} can give a coefficient is "
        f"2 / ({m:,} + 1) = {significant(least)}."
    )
    if not has_interval:
        text += " They have no symmetric interval of 95%, which takes 39 resamples."
    return [Note("standard errors", "note", text)]


def shrunk(names: Sequence[str]) -> list[Note]:
    """Note that small p-values may be the penalty's."""
    several = len(names) > 1
    text = (
        f"the penalty is strong: {listing(names)} {'stand' if several else 'stands'} "
        "in for predictors that are shrunk. Without the penalty "
        f"{'coefficients' if several else 'the coefficient'} would be nearer to 0 or "
        "have the other sign, by more than a standard error: a small p-value is no "
        "evidence of an effect of its own."
    )
    return [Note("penalty", "warning", text)]


def nonrobust(is_scaled: bool) -> str:
    """Errors from the information of the model in words, and what they take as known.

    Examples
    --------
    >>> print(nonrobust(is_scaled=False))
    nonrobust, from the information of the model, right only if the logistic model holds
    and the penalty is negligible
    """
    known = ", means and standard deviations of the predictors taken as known"
    return (
        "nonrobust, from the information of the model, right only if the logistic "
        f"model holds and the penalty is negligible{known * is_scaled}"
    )


def estimated_by(
    method: str,
    remarks: Iterable[Note],
    groups: Groups | None = None,
    counts_scaling: bool = False,
) -> list[Note]:
    """How standard errors were estimated, remarks on that, and what they are of.

    Parameters
    ----------
    method : str
    remarks : iterable of Note
    groups : Groups, optional
        Which are independent, instead of the rows.
    counts_scaling : bool
        Whether means and deviations of standardized predictors are estimates too.
    """
    apart = (
        "Rows are taken as independent; where several belong together, as those of one "
        "person, give their groups."
    )
    if groups is not None:
        apart = "Groups are taken as independent of each other, rows of one are not."
    if counts_scaling:
        apart += (
            " Means and standard deviations of the predictors count as estimated, not "
            "as known."
        )
    of = (
        "For this lambda, standard errors and intervals are for the minimiser of the "
        "penalised risk in the population, not of the unpenalised one: what the "
        "penalty shrinks stays shrunk. A p-value tests that a coefficient of this "
        "minimiser is 0; lambda is taken as fixed beforehand."
    )
    return [
        Note("standard errors", "note", f"Standard errors: {method}."),
        *remarks,
        Note("standard errors", "note", apart),
        Note("standard errors", "note", of),
    ]
