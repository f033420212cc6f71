"""Rows near the margin, the others fixed: what the fits of the hinge are solved on.

Rows with margins well above 1 in all fits have the dual weight 0. Rows with margins
well below 1 in all fits are inside: those of a class that a fit keeps are one row,
their sum, with one dual weight for all of them. Its loss is that of the rows as long as
these are inside, and any dual weights of this kind are dual weights of the whole.
"""

from copy import copy

import numpy as np

from pegasos_stats.arrays import Mask, Rows, Vector
from pegasos_stats.solvers.shared.folded_rows import FoldedRows

NO_WEIGHT = 1e-9  # instead of 0, of a class without rows inside


def slacks(rows: FoldedRows, theta: Vector, part: slice | Rows) -> Vector:
    """``1 - m_i`` of some rows, shape (fits, rows)."""
    found = theta @ rows.Z[part].T
    found += 1.0 if rows.known is None else 1.0 + rows.known[part]
    return np.asarray(found)


def losses(
    rows: FoldedRows, theta: Vector, fits: Rows
) -> tuple[Vector, Vector, Vector]:
    """One pass over all rows.

    Returns
    -------
    loss : float64 array, shape (fits,)
        ``sum_i w_i max(0, 1 - m_i)``.
    low, high : float64 array, shape (n,)
        Least and largest ``1 - m_i`` of each row.
    """
    place = rows.places(fits)
    loss, low, high = np.zeros(len(fits)), np.empty(rows.n), np.empty(rows.n)
    for block in rows.blocks:
        part = block.rows
        slack = slacks(rows, theta, part)
        slack.min(axis=0, out=low[part])
        slack.max(axis=0, out=high[part])
        np.maximum(slack, 0.0, out=slack)
        for first, stop, fold in block.pieces:
            if (j := place[fold]) >= 0:
                slack[j, first:stop] = 0.0
        w = rows.weights
        loss += slack.sum(axis=1) if w is None else slack @ w[part]
    return loss, low, high


class NearRows:
    """The rows near the margin, and two rows for those inside, for some fits.

    Arrays of these rows have ``size`` columns, the last two for the rows inside.

    Parameters
    ----------
    rows : FoldedRows
    near : int array
        Rows near the margin, sorted.
    inside : bool array, shape (n,)
    fits : int array

    Attributes
    ----------
    Z : float64 array, shape (near, q)
        ``w_i z_i``.
    target : float64 array, shape (near,)
        ``w_i (1 - y_i offset_i)``.
    held_out : bool array, shape (fits, near)
    sums : float64 array, shape (fits, 2, q + 2)
        Of the rows inside, by class: sums of ``w_i z_i``, targets and weights.
    per_weight : float64 array, shape (fits, size)
        ``1 / w_i``.
    """

    def __init__(self, rows: FoldedRows, near: Rows, inside: Mask, fits: Rows) -> None:
        self.rows, self.near, self.fits = rows, near, fits
        self.Z, self.target = rows.Z[near], np.ones(len(near))
        if rows.known is not None:
            self.target += rows.known[near]
        self.weights = None if rows.weights is None else rows.weights[near]
        if self.weights is not None:
            self.Z *= self.weights[:, None]
            self.target *= self.weights
        self.held_out = rows.folds[near] == fits[:, None]
        self.sums = self._sums_inside(inside)
        self.per_weight = np.ones((len(fits), len(near) + 2))
        if self.weights is not None:
            self.per_weight[:, :-2] /= self.weights
        self.per_weight[:, -2:] /= np.maximum(self.sums[:, :, -1], NO_WEIGHT)

    def _sums_inside(self, inside: Mask) -> Vector:
        rows, q = self.rows, self.rows.q
        found = np.zeros((rows.size, 2, q + 2))
        if inside.any():
            w = inside * (1.0 if rows.weights is None else rows.weights)
            t = w if rows.known is None else w * (1.0 + rows.known)
            for block in rows.blocks:
                for first, stop, fold in block.pieces:
                    part = slice(block.first + first, block.first + stop)
                    at = found[fold, block.level]
                    at[:q] += w[part] @ rows.Z[part]
                    at[q:] += t[part].sum(), w[part].sum()
        return np.asarray(found.sum(axis=0) - found[self.fits])

    def only(self, fits: Mask) -> "NearRows":
        """The same rows for some of the fits."""
        found = copy(self)
        for name in ("fits", "held_out", "sums", "per_weight"):
            setattr(found, name, getattr(self, name)[fits])
        return found

    def change(self, theta: Vector) -> Vector:
        """``w_i z_i'theta``, shape (fits, size)."""
        found = np.empty(self.per_weight.shape)
        np.matmul(theta, self.Z.T, out=found[:, :-2])
        sums = self.sums[:, :, : self.rows.q]
        np.einsum("jcl,jl->jc", sums, theta, out=found[:, -2:])
        return found

    def slack(self, theta: Vector) -> Vector:
        """``w_i (1 - m_i)``; minus infinity of rows held out, which never count."""
        found = self.change(theta)
        found[:, :-2] += self.target
        found[:, -2:] += self.sums[:, :, -2]
        found[:, :-2][self.held_out] = -np.inf
        return found

    def image(self, a: Vector) -> Vector:
        """``sum_i w_i a_i z_i``, shape (fits, q)."""
        sums = self.sums[:, :, : self.rows.q]
        found = np.einsum("jc,jcl->jl", a[:, -2:], sums)
        return np.asarray(found + a[:, :-2] @ self.Z)

    def reward(self, a: Vector) -> Vector:
        """``sum_i w_i a_i (1 - y_i offset_i)``, shape (fits,)."""
        inside = (a[:, -2:] * self.sums[:, :, -2]).sum(axis=1)
        return np.asarray(a[:, :-2] @ self.target + inside)

    def by_class(self, a: Vector) -> tuple[Vector, Vector]:
        """Rewards and images of each class, shapes (2, fits) and (2, fits, q)."""
        cut = int(np.searchsorted(self.near, self.rows.n_first))
        rewards, images = [], []
        for level, part in enumerate((slice(0, cut), slice(cut, len(self.near)))):
            inside = a[:, level - 2, None] * self.sums[:, level]
            images.append(a[:, :-2][:, part] @ self.Z[part] + inside[:, :-2])
            rewards.append(a[:, :-2][:, part] @ self.target[part] + inside[:, -2])
        return np.array(rewards), np.array(images)

    def hessians(self, active: Mask) -> Vector:
        """``sum w_i z_i z_i'`` over the rows that are active in each fit."""
        q = self.rows.q
        found = np.empty((len(self.fits), q, q))
        for j in range(len(self.fits)):
            chosen = np.flatnonzero(active[j, :-2])
            A = self.Z.take(chosen, axis=0)
            if self.weights is not None:
                A /= np.sqrt(self.weights[chosen])[:, None]
            np.matmul(A.T, A, out=found[j])
            for level in (0, 1):
                if active[j, level - 2]:
                    z = self.sums[j, level, :q]
                    found[j] += np.outer(z, z * self.per_weight[j, level - 2])
        return found
