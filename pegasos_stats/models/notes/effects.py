"""Notes on average effects and predictions: over what, and what errors are of."""

from pegasos_stats.models.notes.note import Note

OVER_ROWS = "Means over the rows, in which other predictors have their own values."
OF_PENALISED = (
    "Estimates, errors and intervals are of the penalised fit, with lambda taken as "
    "fixed beforehand. They are for these rows: for the population that the rows are "
    "from, intervals would be wider."
)
AT_MEANS = "Predictors are at their means, factors at the shares of their levels."
NO_RESAMPLES = (
    "There are no standard errors: those of shares are from resamples of the training "
    "rows, which a saved model does not hold; fit with cov_type='bootstrap', and ask "
    "for result.bse before saving."
)


def none_elsewhere(noun: str) -> Note:
    """That there are no standard errors of shares, for rows in files or partitions."""
    text = (
        "There are no standard errors: those of shares are from resamples of the "
        f"training rows in memory, and those of the fit are in {noun}; fit a sample of "
        "them that is read into memory."
    )
    return Note("standard errors", "note", text)
