"""What a summary says about coefficients: their table, and what is not in it."""

import pandas as pd

from pegasos_stats.checks import check_count
from pegasos_stats.errors import counted
from pegasos_stats.models.inferring import CovType, has_rows, is_quick
from pegasos_stats.models.notes import Note
from pegasos_stats.models.terms import INTERCEPT, largest_terms
from pegasos_stats.solvers.problem import Problem

NO_COVARIANCE = (
    "There are no standard errors: cov_type='none'; "
    "result.with_covariance('sandwich') gives the same fit with them."
)


def why_left_out(problem: Problem, cov_type: CovType) -> list[Note]:
    """Why a summary has no standard errors, and how to get them; empty if it has.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos_stats.models.inferring import SANDWICH
    >>> wide = Problem(np.zeros((3, 2000)), np.array([-1.0, 1.0, 1.0]), lam=1.0)
    >>> why_left_out(wide, SANDWICH)[0].text
    'Standard errors are left out, as they take a while for 3 rows and ...'
    """
    if cov_type is None:
        text = NO_COVARIANCE
    elif not has_rows(problem):
        text = (
            "There are no standard errors: they need the training rows, which a saved "
            "model does not hold; ask for them, as by result.bse, before saving."
        )
    elif not is_quick(problem):
        text = (
            "Standard errors are left out, as they take a while for "
            f"{counted(problem.n, 'row')} and {counted(problem.p, 'coefficient')}: "
            "result.conf_int() computes them, and the summary then shows them."
        )
    else:
        return []
    return [Note("standard errors", "note", text)]


def largest(tidy: pd.DataFrame, limit: int | None) -> tuple[pd.DataFrame, list[Note]]:
    """The intercept and so many coefficients, the largest by absolute value.

    Returns
    -------
    shown : DataFrame
        In the order of `tidy`.
    notes : list of Note
        That there are more, if there are.

    Raises
    ------
    OptionError
        If the limit is neither None nor a whole number above zero.
    """
    if limit is None:
        return tidy, []
    check_count("max_terms", limit)
    shown, p = largest_terms(tidy, limit), int((tidy["term"] != INTERCEPT).sum())
    if len(shown) == len(tidy):
        return tidy, []
    which = "largest" if limit == 1 else f"{limit} largest"
    text = (
        f"The {which} of {p:,} coefficients by absolute value "
        f"{'is' if limit == 1 else 'are'} shown; all are in params and tidy()."
    )
    return shown, [Note("terms", "note", text)]
