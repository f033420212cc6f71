"""Predictors with long tails, whose rows far out have most of the say."""

from dataclasses import replace

import numpy as np

from pegasos_stats.arrays import Matrix
from pegasos_stats.data.columns import Mask, is_sparse
from pegasos_stats.data.scan.elsewhere import Elsewhere
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.solvers.problem import Problem

LOOKED_AT = 2000  # rows
MOST_COLUMNS = 1000
LONG_TAILS = 6.0  # kurtosis; that of the normal distribution is 3
ROUGH = 0.05  # relative error of a standard deviation
JOINT_FACTOR = 0.5  # of the width, for tests of several hypotheses together


def has_long_tails(problem: Problem) -> bool:
    """Whether a predictor has long tails, by the rule of `Reasons`.

    The rows far out pull the fit towards them, so that their residuals, and with them
    standard errors, are too small: HC3 divides by what they leave.

    Examples
    --------
    >>> x, y = np.linspace(-3.0, 3.0, 400), np.tile([-1.0, 1.0], 200)
    >>> has_long_tails(Problem(np.column_stack([x, np.exp(2.0 * x)]), y, lam=0.1))
    True
    """
    if problem.p > MOST_COLUMNS:
        return False
    return bool(is_rough(some_rows(problem).T, problem.n).any())


def for_joint_tests(problem: Problem, options: Sandwich) -> Sandwich:
    """The same, with the width of the kernel at the margin for joint tests.

    Half of it, or the whole where predictors have long tails: few rows at the margin
    then have most of the curvature, and half the width has too few of them.

    Examples
    --------
    >>> x, y = np.linspace(-3.0, 3.0, 400), np.tile([-1.0, 1.0], 200)
    >>> for_joint_tests(Problem(x[:, None], y, lam=0.1), Sandwich()).factor
    0.5
    """
    factor = 1.0 if has_long_tails(problem) else JOINT_FACTOR
    return replace(options, factor=factor * options.factor)


def some_rows(problem: Problem) -> Matrix:
    """Some 2,000 of the rows, or all, dense."""
    n, X = problem.n, problem.X
    if isinstance(X, Elsewhere):
        some = X.home.sample(LOOKED_AT).X
    else:
        some = X[np.linspace(0, n - 1, min(n, LOOKED_AT)).astype(np.intp)]
    return np.asarray(some.toarray() if is_sparse(some) else some, dtype=np.float64)


def is_rough(columns: Matrix, n: int) -> Mask:
    """Whether the standard deviation of each is known to 5% at best, of n rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.square(columns - columns.mean(axis=1, keepdims=True))
        spread = np.square(squares.mean(axis=1))
        fourth = np.square(squares).mean(axis=1)
    least = max(LONG_TAILS, 1.0 + 4.0 * n * ROUGH**2)
    return np.asarray(fourth > least * spread)
