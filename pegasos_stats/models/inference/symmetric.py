"""Products with symmetric matrices, by one of their halves: ``A = T + T'``."""

import numpy as np

from pegasos_stats.arrays import Matrix, Vector

NARROW = 128  # below, a product with the whole matrix is as quick


def by_half(B: Matrix, A: Matrix) -> Matrix:
    """``B T`` with the lower triangle ``T`` of a symmetric ``A``, its diagonal halved.

    It takes half as long as ``B A``, and ``B A B' = B T B' + (B T B')'``.

    Examples
    --------
    >>> by_half(np.eye(2), np.array([[2.0, 1.0], [1.0, 4.0]]))
    array([[1., 0.],
           [1., 2.]])
    """
    from scipy.linalg.blas import dtrmm

    found = dtrmm(1.0, A.T, B.T).T  # in the order of columns, as BLAS has it
    found -= B * (0.5 * np.diag(A))
    return np.asarray(found)


def forms(B: Matrix, A: Matrix) -> Vector:
    """``b'A b`` of every row ``b``, for a symmetric ``A``.

    Examples
    --------
    >>> forms(np.array([[1.0, 3.0]]), np.array([[0.0, 1.0], [1.0, 1.0]]))
    array([15.])
    """
    image = B @ A if len(A) < NARROW else 2.0 * by_half(B, A)
    return np.asarray(np.einsum("ij,ij->i", image, B))


def around(B: Matrix, A: Matrix) -> Matrix:
    """``B A B'`` for a symmetric ``A``.

    Examples
    --------
    >>> around(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[2.0, 1.0], [1.0, 4.0]]))
    array([[2., 3.],
           [3., 8.]])
    """
    if len(A) < NARROW:
        return np.asarray(B @ A @ B.T)
    half = by_half(B, A) @ B.T
    return np.asarray(half + half.T)
