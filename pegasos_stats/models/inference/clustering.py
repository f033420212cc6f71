"""Sums over groups of rows: what takes the place of single rows in the sandwich."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.data.groups import Groups
from pegasos_stats.models.inference.bread_and_meat import groups_of
from pegasos_stats.models.inference.row_sums import column_sums
from pegasos_stats.solvers.problem import Problem

TOGETHER = 1 << 23  # numbers in the sums that are taken at a time


class Way(NamedTuple):
    """One way of grouping rows.

    Attributes
    ----------
    factor : float
        ``M / (M - 1)`` for ``M`` groups; below zero for what is subtracted.
    indicator : CSR array, shape (M, n)
        1 where a row is of a group.
    """

    factor: float
    indicator: Any


def ways_of(groups: Groups) -> list[Way]:
    """The ways of grouping; of two also the pairs, which both of them count.

    Examples
    --------
    >>> groups = Groups(("a", "b"), (2, 2), (np.array([0, 0, 1]), np.array([0, 1, 1])))
    >>> [round(way.factor, 3) for way in ways_of(groups)]
    [2.0, 2.0, -1.5]
    """
    codes = [(1.0, each) for each in groups.codes]
    if len(codes) > 1:
        first, second = groups.codes
        pairs = first * np.int64(groups.numbers[1]) + second
        codes.append((-1.0, np.unique(pairs, return_inverse=True)[1]))
    return [_way(sign, each) for sign, each in codes]


def _way(sign: float, codes: Any) -> Way:
    from scipy.sparse import csr_array

    number, n = int(codes.max()) + 1, codes.size
    indicator = csr_array((np.ones(n), (codes, np.arange(n))), shape=(number, n))
    return Way(sign * number / (number - 1.0), indicator)


def clustered_meat(problem: Problem, s: Vector, groups: Groups) -> Matrix:
    """``(1/n) sum_ways c sum_g S_g S_g'`` with ``S_g = sum_{i in g} w_i (g_i - mean)``.

    Here ``g_i = -s_i y_i z_i``, and the mean is as for ``bread_and_meat.meat_of``.

    Parameters
    ----------
    problem : Problem
    s : float64 array, shape (n,)
        Slope weights.
    groups : Groups

    Returns
    -------
    float64 array, shape (k, k)

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [3.0], [2.0]]), np.array([-1.0, 1, 1]), 1.0)
    >>> groups = Groups(("",), (2,), (np.array([0, 1, 1]),))
    >>> clustered_meat(problem, np.ones(3), groups).round(3)
    array([[2.37 , 4.148],
           [4.148, 7.259]])
    """
    k = problem.p + int(problem.intercept)
    total = np.zeros((k, k))
    for factor, _, sums in _sums_of_scores(problem, s, groups):
        total += factor * (sums.T @ sums)
    return total / problem.n


def scores_with(
    problem: Problem, s: Vector, groups: Groups, c: Vector
) -> tuple[Vector, float]:
    """``sum_ways c sum_g S_g C_g`` and ``sum_ways c sum_g C_g^2``, ``C_g`` sums of `c`.

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [3.0], [2.0]]), np.array([-1.0, 1, 1]), 1.0)
    >>> groups = Groups(("",), (2,), (np.array([0, 1, 1]),))
    >>> mixed, squares = scores_with(problem, np.ones(3), groups, np.array([1, 0, -1]))
    >>> mixed.round(3), squares
    (array([5.333, 9.333]), 4.0)
    """
    mixed, squares = np.zeros(problem.p + int(problem.intercept)), 0.0
    for factor, indicator, sums in _sums_of_scores(problem, s, groups):
        each = indicator @ c
        mixed += factor * (each @ sums)
        squares += factor * float(each @ each)
    return mixed, squares


def _sums_of_scores(
    problem: Problem, s: Vector, groups: Groups
) -> Iterator[tuple[float, Any, Matrix]]:
    """Factor of the way, which rows are of some groups, and ``S_g`` of these."""
    w, g = problem.row_weights, -s * problem.y
    offsets = []
    for rows in groups_of(problem):
        weights = np.where(rows, w, 0.0)
        offsets.append((weights, column_sums(problem, weights * g) / weights.sum()))
    for way in ways_of(groups):
        for indicator in _some_at_a_time(way.indicator, len(offsets[0][1])):
            sums = _row_sums(problem, indicator * (w * g)[None, :])
            for weights, mean in offsets:
                sums -= np.outer(indicator @ weights, mean)
            yield way.factor, indicator, sums


def _some_at_a_time(indicator: Any, k: int) -> Iterator[Any]:
    step = max(1, TOGETHER // max(1, k))
    for begin in range(0, indicator.shape[0], step):
        yield indicator[begin : begin + step]


def _row_sums(problem: Problem, each: Any) -> Matrix:
    """``each Z`` for rows ``z = (1, x)``, or ``x`` without intercept."""
    found = each @ problem.X
    sums = found if isinstance(found, np.ndarray) else found.toarray()
    if not problem.intercept:
        return np.asarray(sums, dtype=np.float64)
    return np.column_stack([each.sum(axis=1), sums])
