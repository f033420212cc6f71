"""Notes on standard errors: how they were estimated, and when not to trust them."""

from collections.abc import Sequence

from pegasos_stats.data.groups import Groups
from pegasos_stats.errors import counted, listing
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.notes.note import Note

FEW = 10  # rows of the rarer level to a coefficient, or groups
LISTED = 3  # names in a note


def too_far(is_far: bool, to_optimum: bool = False) -> list[Note]:
    """Note that a fit is too far from its optimum for these standard errors.

    A solver that goes to the optimum takes a smaller tolerance.
    """
    if not is_far:
        return []
    text = (
        "the fit is too far from its optimum for these standard errors; "
        f"{'tol' if to_optimum else 'refine'}=1e-8 goes on to the optimum."
    )
    return [Note("run", "warning", text)]


def few_rows(rarer: int, n: int, k: int) -> list[Note]:
    """Note that the rows of the rarer level are few for k coefficients."""
    if rarer >= FEW * k:
        return []
    what = f"the rarer level has {counted(rarer, 'row')}"
    if n < FEW * k:
        what = f"there are {counted(n, 'row')}"
    text = (
        f"{what} for {counted(k, 'coefficient')}: with fewer than {FEW} for each, "
        "intervals can be too short. Use fewer predictors."
    )
    return [Note("few events", "warning", text)]


def few_groups(groups: Groups | None) -> list[Note]:
    """Note that groups are few."""
    if groups is None or groups.fewest >= FEW:
        return []
    text = (
        f"there are {groups}: with fewer than {FEW} groups standard errors are rough "
        "and may be far too small."
    )
    return [Note("few events", "warning", text)]


def separated(names: Sequence[str], n_rows: int) -> list[Note]:
    """Note that coefficients without penalty would have no limit."""
    if not names:
        return []
    text = (
        f"{counted(n_rows, 'row')} can be predicted with certainty (separation), as "
        "where all rows of a level have one outcome. Only the penalty limits "
        f"{listing(names, LISTED)}: no standard errors. Merge or drop such a level."
    )
    return [Note("separation", "warning", text)]


def collinear(
    names: Sequence[str], others: Sequence[str], without_errors: bool
) -> list[Note]:
    """Note that predictors are linear combinations of others.

    Examples
    --------
    >>> collinear(["b"], ["Intercept", "a"], False)[0].text
    "'b' is a linear combination of 'Intercept', 'a': only the penalty tells ..."
    """
    several, so = len(names) > 1, ", which have no standard errors" * without_errors
    are = "are linear combinations" if several else "is a linear combination"
    text = (
        f"{listing(names, LISTED)} {are} of {listing(others, LISTED)}: only the "
        f"penalty tells their coefficients apart{so}. "
        f"Leave {'them' if several else 'it'} out."
    )
    return [Note("columns", "warning", text)]


def complete_separation() -> list[Note]:
    """Note that no row is on the wrong side, so that only the penalty limits all."""
    text = (
        "the predictors separate the levels perfectly (complete separation): only the "
        "penalty limits the coefficients, which have no standard errors. Check whether "
        "a predictor contains the outcome."
    )
    return [Note("separation", "warning", text)]


def all_right(table: ConfusionMatrix, k: int) -> list[Note]:
    """Note that no training row of the log loss is on the wrong side.

    There are none by chance where rows are fewer than twice the k coefficients (Cover,
    IEEE Transactions on Electronic Computers, 1965).

    Examples
    --------
    >>> from pegasos_stats.metrics.confusion import confusion
    >>> y = [0, 1] * 50
    >>> len(all_right(confusion(y, y), 3)), len(all_right(confusion(y, y), 60))
    (1, 0)
    """
    if table.n_errors or table.n_undecided or table.n_classified <= 2 * k:
        return []
    text = "Every row is on its right side: does a predictor contain the outcome?"
    return [Note("separation", "note", text)]


def untested(hypotheses: Sequence[str]) -> str:
    """That what is the same in all samples has no test."""
    return (
        f"There is no test of {listing(hypotheses)}: it is the same in all samples, up "
        "to rounding (constant or collinear columns, or ties at the margin), and has "
        "no standard error."
    )


def coincide() -> list[Note]:
    """Note that resamples coincide, where nothing is known to cover."""
    text = (
        "resamples coincide: rows tie at the margin, and estimates jump between "
        "corners. No theory covers this; simulated coverage is 0.69 to 1."
    )
    return [Note("resamples", "warning", text)]


def pinned(names: Sequence[str]) -> list[Note]:
    """That coefficients have no spread to test them with."""
    if not names:
        return []
    text = (
        f"Identical in all resamples, and so without a test: {listing(names, LISTED)}."
    )
    return [Note("resamples", "note", text)]


def estimate(kind: str, for_glm: bool = False, lam_by_cv: bool = False) -> Note:
    """Which standard errors and intervals a table has, in a line.

    Parameters
    ----------
    kind : str
    for_glm : bool
        Whether to name those that R's ``glm`` prints.
    lam_by_cv : bool
        Whether lambda was chosen by cross-validation.

    Examples
    --------
    >>> print(estimate("Standard errors: HC3", for_glm=True).text)
    Standard errors: HC3 (glm's: cov_type='nonrobust'), for this lambda.
    """
    glm = " (glm's: cov_type='nonrobust')" if for_glm else ""
    fixed = ", taken as fixed" if lam_by_cv else ""
    return Note("standard errors", "note", f"{kind}{glm}, for this lambda{fixed}.")


def assumptions(groups: Groups | None, counts_scaling: bool) -> list[Note]:
    """Which rows an estimate takes as independent.

    Parameters
    ----------
    groups : Groups, optional
        Which are independent, instead of the rows.
    counts_scaling : bool
        Whether means and deviations of standardized predictors are estimates too.
    """
    text = "Intervals and tests are about penalised coefficients. "
    if groups is None:
        text += "Rows are taken as independent; otherwise give their groups."
    else:
        text += "Groups are taken as independent of each other, rows of one are not."
    if counts_scaling:
        text += " Means and standard deviations of predictors count as estimated."
    return [Note("inference", "note", text)]
