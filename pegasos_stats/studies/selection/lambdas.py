"""Values of lambda for a path."""

import sys
from typing import Any, Literal

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_count, check_positive
from pegasos_stats.compiled import pegasos
from pegasos_stats.data.foreign import refusing
from pegasos_stats.errors import DataError, OptionError, listing, shown
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.models.base import Model
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.objective import feasible
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.proximal import zero_model
from pegasos_stats.studies.selection.fold_fits import checked_model

Rule = Literal["min", "1se"]

RULES: tuple[Rule, ...] = ("min", "1se")
EPOCHS = 1000  # of SDCA along a path, where no solver is given
COUNT = 30
MOST = 10_000
LIST = "give a list of different numbers above zero"
RATIO = 1e-5


@suggest_arguments
def lambda_grid(model: Model, count: int = COUNT, ratio: float = RATIO) -> Vector:
    """Grid of values of lambda for a path, largest first.

    The largest is half the range of the scores ``x_i'g`` (without intercept the largest
    ``|x_i'g|``), with ``g = X'(a y) / n`` and ``a`` the dual weights of the model with
    the intercept alone. As ``g / lam`` is the first-order solution for large lambda,
    there its scores begin to differ by 2, the distance between the margins. For the
    hinge loss and two levels of equal weight this is exact: for all larger lambda every
    row is within the margins, every dual weight is 1 and the solution is ``g / lam``,
    so the order of the scores stays the same (Hastie, Rosset, Tibshirani & Zhu 2004,
    section 3.1). From there lambda falls in equal ratios; it is rounded to four digits.

    Parameters
    ----------
    model : SVM, Logit or KernelSVM
    count : int, default 30
    ratio : float, default 1e-5
        Smallest divided by largest value, below 1.

    Returns
    -------
    float64 array, shape (count,), largest first

    Raises
    ------
    OptionError
        If `count` or `ratio` is not allowed.
    DataError
        If the predictors have the same mean in both levels.

    References
    ----------
    Hastie, Rosset, Tibshirani & Zhu, *The entire regularization path for the support
    vector machine*, JMLR 5 (2004).

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> ps.lambda_grid(ps.SVM(y, X, lam=1.0), count=3, ratio=0.01)
    array([3.  , 0.3 , 0.03])
    """
    problem = checked_model(model).problem
    count = check_count("count", count, MOST)
    ratio = check_positive("ratio", ratio)
    if ratio >= 1.0:
        raise OptionError(
            f"ratio={shown(ratio)} is not allowed; give a number below 1."
        )
    scores = _first_order(problem, null_dual(problem))
    half_range = float(np.ptp(scores)) / 2.0
    largest = half_range if problem.intercept else float(np.abs(scores).max())
    if not largest > 0.0:
        raise DataError(
            "The predictors have the same mean in both levels, so that no largest "
            "lambda can be told; give lambdas."
        )
    if ratio * largest < sys.float_info.min:
        raise OptionError(
            f"ratio={shown(ratio)} of the largest lambda, {largest:.3g}, is too small; "
            "give a larger one, such as 1e-4."
        )
    values = np.geomspace(largest, ratio * largest, count)
    return np.array([float(f"{value:.3e}") for value in values])


def null_dual(problem: Problem) -> Vector:
    """Return dual weights of the model with the intercept alone, or of zero without it.

    Hinge: the weight of the row, in the heavier class scaled down to the sum of the
    other. Log loss: the weight of the row times the share of the other class. With an
    offset the slope of the loss there.
    """
    w, y = problem.row_weights, problem.y
    if problem.offset is not None:
        m = y * (problem.offset + zero_model(problem)[0])
        slopes = m < 1.0 if problem.loss == "hinge" else 1.0 / (1.0 + np.exp(m))
        return feasible(w * slopes, y, problem.intercept, w)
    if problem.loss == "hinge":
        return feasible(w.copy(), y, problem.intercept, w)
    upper = float(w[y > 0].sum() / w.sum()) if problem.intercept else 0.5
    return np.where(y > 0, w * (1.0 - upper), w * upper)


def _first_order(problem: Problem, a: Vector) -> Vector:
    """Return the scores ``X g``, or of a kernel ``sum_j a_j y_j K(x_j, x_i) / n``."""
    signed = a * problem.y / problem.n
    X = problem.X
    if not isinstance(problem, KernelProblem):
        return np.asarray(X @ np.asarray(X.T @ signed), dtype=np.float64)
    if problem.kernel.name == "precomputed":
        return np.asarray(X @ signed)
    return np.asarray(
        pegasos.kernel_pegasos.kernel_scores(problem.kernel.code(), X, signed, X, 0.0)
    )


def checked_lambdas(lambdas: Any, model: Model) -> Vector:
    """Read lambdas, largest first; those of `lambda_grid` if none are given.

    Raises
    ------
    OptionError
        If they are not different numbers above zero.
    """
    if lambdas is None:
        return lambda_grid(model)
    with refusing(OptionError(f"lambdas={shown(lambdas)} cannot be read; {LIST}.")):
        items = list(lambdas) if np.ndim(lambdas) == 1 else []
    values = np.array([check_positive("lambdas", item) for item in items])
    if not items or np.unique(values).size < values.size:
        raise OptionError(
            f"lambdas={listing(items) or shown(lambdas)} are not allowed; {LIST}."
        )
    return np.sort(values)[::-1].copy()


def place(loss: Vector, error: Vector, rule: Rule) -> int:
    """Position of the lambda that a rule chooses, the largest of several.

    Parameters
    ----------
    loss, error : float64 array, shape (m,)
        Mean and standard error at each lambda, the largest first; one loss is known.
    rule : "min" or "1se"
        The least loss; or the first within a standard error of it. Without a standard
        error both are the same.

    Examples
    --------
    >>> loss, error = np.array([0.5, 0.3, 0.2]), np.full(3, 0.1)
    >>> place(loss, error, "min"), place(loss, error, "1se")
    (2, 1)
    """
    best = int(np.nanargmin(loss))
    if rule == "min" or np.isnan(error[best]):
        return best
    return int(np.flatnonzero(loss <= loss[best] + error[best])[0])
