"""Notes on standard errors: how they were estimated, and when not to trust them."""

import math
from collections.abc import Sequence
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
LISTED = 3  # names in a note
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
    most = f"by up to {significant(distance, 2)}" if known else "by an unknown amount"
    text = (
        "the fit may be too far from its optimum for these standard errors: "
        f"{counted(len(errors), 'coefficient')} may be off {most}, and the smallest "
        f"standard error is {significant(errors.min(), 2)}."
    )
    return Note("run", "warning", text, cure)


def not_at_optimum(remedy: Together) -> Note:
    """Note that standard errors may be undefined because the fit is not optimal."""
    text = "Standard errors assume the optimum, which this fit has not reached:"
    return Note("inference", "note", text, Cure((remedy,), "{} goes on to it."))


def few_rows(n: int, k: int) -> list[Note]:
    """Note that n rows are few for k coefficients."""
    if n >= FEW * k:
        return []
    text = (
        f"{counted(n, 'row')} for {counted(k, 'coefficient')}: with fewer than {FEW} "
        "rows per coefficient intervals are too short; with one or two they are "
        "meaningless. Use fewer predictors."
    )
    return [Note("few events", "warning", text)]


def few_events(events: int, n: int, k: int) -> list[Note]:
    """Note that the rows of the rarer level are few for k coefficients."""
    if events >= FEW * k or n < FEW * k:  # of which `few_rows` says more
        return []
    text = (
        f"The rarer level has {counted(events, 'row')} for "
        f"{counted(k, 'coefficient')}: estimates and intervals are rough. Use fewer "
        "predictors."
    )
    return [Note("few events", "note", text)]


def separated(names: Sequence[str], n_rows: int) -> list[Note]:
    """Note that coefficients without penalty would have no limit."""
    text = (
        f"{counted(n_rows, 'row')} can be predicted with certainty (separation), as "
        "where all rows of a level have one outcome. Only the penalty limits "
        f"{listing(names, LISTED)}: no standard errors. Merge or drop such a level."
    )
    return [Note("separation", "warning", text)]


def separated_in_resamples(
    names: Sequence[str], n_rows: int, always: bool
) -> list[Note]:
    """Note that separated rows are so in all resamples, or more are in some."""
    (note,) = separated(names, n_rows)
    return [note if always else replace(note, cure=OTHER)]


def complete_separation() -> list[Note]:
    """Note that no row is on the wrong side, so that only the penalty limits all."""
    text = (
        "the predictors separate the levels perfectly (complete separation): only the "
        "penalty limits the coefficients, which have no standard errors. Check whether "
        "a predictor contains the outcome."
    )
    return [Note("separation", "warning", text)]


def untested(hypotheses: Sequence[str]) -> str:
    """That what is the same in all samples has no test."""
    return (
        f"There is no test of {listing(hypotheses)}: it is the same in all samples, up "
        "to rounding (constant or collinear columns, or ties at the margin), and has "
        "no standard error."
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
        "Estimates from few rows of the rarer level are biased by up to "
        f"{significant(abs(ratios[most]), 2)} standard errors ({names[most]}); "
        "intervals and p-values allow for the bias."
    )
    return [Note("inference", "note", text)]


def few_groups(groups: Groups | None) -> list[Note]:
    """Note that groups are few."""
    if groups is None or groups.fewest >= FEW_GROUPS:
        return []
    text = (
        f"there are {groups}: with fewer than {FEW_GROUPS} groups standard errors are "
        "rough and may be far too small."
    )
    return [Note("few events", "warning", text)]


def not_covering(why: str, can_resample: bool) -> list[Note]:
    """Note that these intervals may be too short, and that rows can be resampled."""
    text = f"{why}: these intervals may be too short."
    better = one_of([Setting("cov_type", "default")], "{} resamples rows instead.")
    return [Note("inference", "warning", text, better if can_resample else None)]


def little_power() -> Note:
    """That p-values of resamples of a fit that is near 0 are large."""
    text = (
        "The predictors lower the loss by little, so that tests from resamples have "
        "little power; those of a logistic model, of its own coefficients, have more."
    )
    return Note("inference", "note", text)


def biased_towards_zero() -> Note:
    """That coefficients of few rows are off by more than resamples show."""
    text = (
        "Large coefficients are biased towards 0; the bootstrap does not capture this "
        "bias."
    )
    return Note("inference", "note", text)


def pinned(names: Sequence[str]) -> list[Note]:
    """That coefficients have no spread to test them with."""
    if not names:
        return []
    several = len(names) > 1
    text = (
        f"The coefficient{'s' if several else ''} of {listing(names, LISTED)} "
        f"{'are' if several else 'is'} identical in all resamples (too few distinct "
        "values, or ties at the margin), so "
        f"{'they have' if several else 'it has'} no standard error."
    )
    return [Note("resamples", "note", text)]


def nearly_pinned(names: Sequence[str]) -> list[Note]:
    """That a standard error is of few resamples, and an interval of all others."""
    if not names:
        return []
    several = len(names) > 1
    text = (
        f"The coefficient{'s' if several else ''} of {listing(names, LISTED)} "
        f"{'are' if several else 'is'} identical in at least 95% of the resamples "
        "(ties at the margin), so that standard error and interval do not agree."
    )
    return [Note("resamples", "note", text)]


def ending_at_zero(names: Sequence[str]) -> list[Note]:
    """That 0 is in an interval as its end, and that the p-value is therefore large."""
    if not names:
        return []
    text = (
        f"More than 2.5% of the resamples have a coefficient of 0 for "
        f"{listing(names, LISTED)} (ties at the margin), where the interval then ends."
    )
    return [Note("inference", "note", text)]


def least_p_value(m: int, least: float, has_interval: bool) -> list[Note]:
    """How small p-values of a coefficient can be, and if there is no interval."""
    text = (
        f"The smallest p-value from {counted(m, 'resample')} is 2 / ({m:,} + 1) = "
        f"{significant(least)}."
    )
    if not has_interval:
        text += " A symmetric interval of 95% takes at least 39 resamples."
    return [Note("inference", "note", text)]


def shrunk(names: Sequence[str]) -> list[Note]:
    """Note that small p-values may be the penalty's."""
    several = len(names) > 1
    text = (
        f"the penalty is strong: without it {listing(names, LISTED)} would be nearer "
        "to 0 or have the other sign, by more than a standard error. A small p-value "
        f"is no evidence of {'effects' if several else 'an effect'} of "
        f"{'their' if several else 'its'} own."
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


def estimate(kind: str, lam_by_cv: bool = False) -> Note:
    """Which standard errors and intervals a table has, in a line.

    Examples
    --------
    >>> print(estimate("Standard errors: HC3").text)
    Standard errors: HC3; intervals are for penalised coefficients at this lambda.
    """
    fixed = ", which is taken as fixed" if lam_by_cv else ""
    text = f"{kind}; intervals are for penalised coefficients at this lambda{fixed}."
    return Note("standard errors", "note", text)


def assumptions(
    method: str, groups: Groups | None = None, counts_scaling: bool = False
) -> list[Note]:
    """The estimate in all words, and which rows it takes as independent.

    Parameters
    ----------
    method : str
    groups : Groups, optional
        Which are independent, instead of the rows.
    counts_scaling : bool
        Whether means and deviations of standardized predictors are estimates too.
    """
    alone = "Rows are taken as independent; otherwise give their groups."
    if groups is not None:
        alone = "Groups are taken as independent of each other, rows of one are not."
    if counts_scaling:
        alone += " Means and standard deviations of predictors count as estimated."
    return [
        Note("inference", "note", f"Estimate: {method}."),
        Note("inference", "note", alone),
    ]
