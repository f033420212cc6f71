"""Sums over the rows ``z = (1, x)`` of a problem, and products with them.

No copy of the rows is made as a whole: dense ones are taken some at a time, sparse ones
stay sparse.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.models.inference.symmetric import around, forms
from pegasos_stats.solvers.problem import Problem

BLOCK = 1 << 20  # numbers that are taken as float64 at a time


def cross_product(problem: Problem, d: Vector) -> Matrix:
    """``sum_i d_i z_i z_i'``.

    Parameters
    ----------
    problem : Problem
    d : float64 array, shape (n,), none below 0

    Returns
    -------
    float64 array, shape (k, k)

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [3.0]]), np.array([-1.0, 1.0]), lam=1.0)
    >>> cross_product(problem, np.array([1.0, 2.0]))
    array([[ 3.,  7.],
           [ 7., 19.]])
    """
    first = int(problem.intercept)
    found = np.zeros((problem.p + first, problem.p + first))
    inner, root = found[first:, first:], np.sqrt(d)
    for block, rows in blocks_of(problem.X):
        if isinstance(block, np.ndarray):
            each = root[rows]
            used = np.flatnonzero(each)
            if 2 * used.size < len(block):
                block, each = block[used], each[used]
            scaled = block * each[:, None]
            inner += scaled.T @ scaled  # half of the products, as BLAS sees
        else:
            inner += (block.T @ block.multiply(d[rows, None]).tocsr()).toarray()
    if problem.intercept:
        found[0] = found[:, 0] = column_sums(problem, d)
    return found


def column_sums(problem: Problem, d: Vector) -> Vector:
    """``sum_i d_i z_i``, shape (k,), for ``d`` of shape (n,).

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [3.0]]), np.array([-1.0, 1.0]), lam=1.0)
    >>> column_sums(problem, np.array([1.0, 2.0]))
    array([3., 7.])
    """
    sums = np.zeros(problem.p)
    for block, rows in blocks_of(problem.X):
        sums += block.T @ d[rows]
    return np.concatenate([[d.sum()], sums]) if problem.intercept else sums


def images(problem: Problem, v: Vector) -> Vector:
    """``z_i'v`` of every row, shape (n,), for ``v`` of shape (k,).

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [3.0]]), np.array([-1.0, 1.0]), lam=1.0)
    >>> images(problem, np.array([1.0, 2.0]))
    array([3., 7.])
    """
    first = int(problem.intercept)
    found = np.empty(problem.n)
    for block, rows in blocks_of(problem.X):
        found[rows] = block @ v[first:]
    return found + v[0] if first else found


def quadratic_forms(problem: Problem, A: Matrix) -> Vector:
    """``z_i' A z_i`` of every row, shape (n,), for a symmetric ``A`` of shape (k, k).

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [3.0]]), np.array([-1.0, 1.0]), lam=1.0)
    >>> quadratic_forms(problem, np.eye(2))
    array([ 2., 10.])
    """
    first = int(problem.intercept)
    inner = np.ascontiguousarray(A[first:, first:])
    found = np.empty(problem.n)
    for block, rows in blocks_of(problem.X):
        if isinstance(block, np.ndarray):
            found[rows] = forms(block, inner)
        else:
            found[rows] = np.asarray((block * (block @ inner)).sum(axis=1)).ravel()
    if problem.intercept:
        found += images(problem, np.concatenate([[A[0, 0]], 2.0 * A[0, 1:]]))
    return found


def products(problem: Problem, A: Matrix) -> Matrix:
    """``z_i' A z_j`` of every two rows, shape (n, n), for a symmetric ``A``.

    Examples
    --------
    >>> problem = Problem(np.array([[1.0], [3.0]]), np.array([-1.0, 1.0]), lam=1.0)
    >>> products(problem, np.eye(2))
    array([[ 2.,  4.],
           [ 4., 10.]])
    """
    from scipy.sparse import csr_array, hstack

    if isinstance(problem.X, np.ndarray):
        return around(dense_rows(problem), A)
    ones = csr_array(np.ones((problem.n, int(problem.intercept))))
    Z = hstack([ones, problem.X], format="csr")
    return np.asarray(Z @ (Z @ A).T)


def dense_rows(problem: Problem) -> Matrix:
    """``Z``, a row ``z_i`` each, shape (n, k)."""
    first = int(problem.intercept)
    found = np.ones((problem.n, problem.p + first))
    for block, rows in blocks_of(problem.X):
        found[rows, first:] = (
            block if isinstance(block, np.ndarray) else block.toarray()
        )
    return found


def blocks_of(X: Any) -> Iterator[tuple[Any, slice]]:
    """Some rows at a time, in float64, and which ones they are."""
    n, p = X.shape
    step = max(256, BLOCK // max(1, p))
    for begin in range(0, n, step):
        rows = slice(begin, min(begin + step, n))
        yield X[rows].astype(np.float64, copy=False), rows
