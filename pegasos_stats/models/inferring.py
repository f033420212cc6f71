"""From a linear fit to a covariance of its coefficients: which one, at what cost."""

import os
from typing import Any, Literal

import numpy as np

from pegasos_stats.data.columns import is_sparse
from pegasos_stats.errors import DataError, OptionError, counted, listing, shown
from pegasos_stats.models.inference.bootstrap import BootstrapResult, bootstrap
from pegasos_stats.models.inference.covariance import Covariance, Sandwich
from pegasos_stats.models.inference.resampling import Bootstrap
from pegasos_stats.models.inference.sandwich import sandwich
from pegasos_stats.solvers.problem import Problem, Solution

CovType = Sandwich | Bootstrap | None
CovName = Literal["sandwich", "bootstrap", "none"]

SANDWICH = Sandwich()
COV_TYPES: dict[str, CovType] = {
    "sandwich": SANDWICH,
    "bootstrap": Bootstrap(),
    "none": None,
}

MOST_COEFFICIENTS = 1000  # whose standard errors a summary computes unasked
MOST_PRODUCTS = 1e10  # some two seconds
SPARSE_COST = 10.0  # times a product of dense rows
MATRICES = 4  # of shape (k, k) at the same time


def checked_cov_type(value: Any) -> CovType:
    """Return the options of the covariance that a name or an object stands for.

    Raises
    ------
    OptionError
        If it is neither.

    Examples
    --------
    >>> checked_cov_type("sandwich") == Sandwich()
    True
    """
    if value is None or isinstance(value, Sandwich | Bootstrap):
        return value
    if isinstance(value, str) and value in COV_TYPES:
        return COV_TYPES[value]
    raise OptionError(
        f"cov_type={shown(value)} is not known; give one of {listing(COV_TYPES)}, or "
        "Sandwich(...) or Bootstrap(...) with options."
    )


def estimated_covariance(
    problem: Problem, found: Solution, options: Sandwich | Bootstrap
) -> Covariance | BootstrapResult:
    """Estimate the covariance of the coefficients.

    Raises
    ------
    DataError
        If it is larger than the machine's memory.
    """
    _check_memory(problem)
    if isinstance(options, Bootstrap):
        return bootstrap(problem, found, options)
    return sandwich(problem, found.beta, found.alpha, options, found.dual)


def _check_memory(problem: Problem) -> None:
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
