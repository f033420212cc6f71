"""Standard errors of a fit: estimated, or left out for what they would cost."""

import os

import numpy as np

from pegasos_stats.data.columns import is_sparse
from pegasos_stats.errors import DataError, counted
from pegasos_stats.models.inference.bootstrap import BootstrapResult, bootstrap
from pegasos_stats.models.inference.options import Bootstrap, CovType, Sandwich
from pegasos_stats.models.inference.sandwich import Covariance, sandwich
from pegasos_stats.models.notes import Note
from pegasos_stats.solvers.problem import Problem, Solution

Estimate = Covariance | BootstrapResult

MOST_COEFFICIENTS = 1000  # whose standard errors a summary computes unasked
MOST_PRODUCTS = 1e10  # some two seconds
SPARSE_COST = 10.0  # times a product of dense rows
MATRICES = 4  # of shape (k, k) at the same time

NO_COVARIANCE = (
    "There are no standard errors: cov_type='none'; "
    "result.with_covariance('sandwich') gives the same fit with them."
)


def estimated_covariance(
    problem: Problem, found: Solution, options: Sandwich | Bootstrap
) -> Estimate:
    """Estimate the covariance of the coefficients.

    Raises
    ------
    DataError
        If it is larger than the machine's memory.
    """
    check_memory(problem)
    if isinstance(options, Bootstrap):
        return bootstrap(problem, found, options)
    return sandwich(problem, found.beta, found.alpha, options, found.dual)


def check_memory(problem: Problem) -> None:
    """Raise `DataError` if some matrices of shape (k, k) are more than there is."""
    needed = MATRICES * 8 * (problem.p + 1) ** 2
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not known on this system
        return
    if needed > there:
        raise DataError(
            f"The covariance of {counted(problem.p, 'coefficient')} takes "
            f"{needed / 2**30:,.0f} GiB and there are {there / 2**30:,.0f}; fit fewer "
            "predictors, or do without: result.with_covariance('none')."
        )


def has_rows(problem: Problem) -> bool:
    """Whether the training rows are there; those of a loaded model are not."""
    return isinstance(problem.X, np.ndarray) or hasattr(type(problem.X), "tocsr")


def is_quick(problem: Problem) -> bool:
    """Whether the sandwich is a matter of a second or two.

    It costs ``n p^2 + p^3`` products, for sparse rows ``nnz^2 / n + p^3``.
    """
    n, p = problem.n, problem.p
    if is_sparse(problem.X):
        products = SPARSE_COST * float(problem.X.nnz) ** 2 / n
    else:
        products = float(n) * p * p
    return p <= MOST_COEFFICIENTS and products <= MOST_PRODUCTS


def why_left_out(problem: Problem, cov_type: CovType) -> list[Note]:
    """Why a summary has no standard errors, and how to get them; empty if it has.

    Examples
    --------
    >>> wide = Problem(np.zeros((3, 2000)), np.array([-1.0, 1.0, 1.0]), lam=1.0)
    >>> why_left_out(wide, Sandwich())[0].text
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
