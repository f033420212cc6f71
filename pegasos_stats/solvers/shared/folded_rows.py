"""Rows sorted by class and fold, for fits that each leave the rows of one fold out."""

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import Mask, Rows, Vector
from pegasos_stats.solvers.centring import needed_centre
from pegasos_stats.solvers.problem import Problem

ENTRIES = 2**15  # margins of a block: they stay in the cache of a core
LEAST = 256  # rows of a block
UNIT = 2.0**-53  # rounding of one operation, relative
ROUNDED_HALF = 0.5 + 1e-6  # a half, and the rounding of what it multiplies
SUMS = 8.0  # sums over the rows that a gap is made of
FAR = 2.0  # in log lambda: beyond that fits do not tell where the next one is
MOST = 3  # fits that a start is extrapolated from
LARGEST = 8.0  # sum of the factors of an extrapolation, by size


class FoldPiece(NamedTuple):
    """Rows ``first`` to ``stop`` of a block, which are of one fold."""

    first: int
    stop: int
    fold: int


class FoldedBlock(NamedTuple):
    """Rows ``first`` to ``stop``, which are of one class, and the folds in them."""

    level: int
    first: int
    stop: int
    pieces: tuple[FoldPiece, ...]

    @property
    def rows(self) -> slice:
        """The rows of the block."""
        return slice(self.first, self.stop)


class FoldedRows:
    """The rows of ``k + 1`` fits: the first ``k`` leave a fold out each, the last none.

    Fit ``j`` minimises ``lam/2 sum_l (s_jl beta_l)^2 + (1/W_j) sum_i w_i loss(m_i)``
    over the rows ``i`` that it keeps, ``W_j`` their weight. With ``theta = (beta,
    alpha)`` and ``z_i = -y_i (x_i, 1)`` the margins are ``m_i = y_i offset_i -
    z_i'theta``, and the dual, for ``a_i`` in [0, 1] with ``sum_i w_i a_i y_i = 0``, is

        D(a) = (1/W) sum_i w_i (H(a_i) - a_i y_i offset_i) - lam/2 sum_l (s_l b_l)^2,
        b_l = (1/(lam W s_l^2)) sum_i w_i a_i y_i x_il.

    Without an intercept there is no constraint, and no 1 beside ``x_i``. Columns far
    from zero are centred beside an intercept. Rows of weight 0 are left out.

    Parameters
    ----------
    problem : Problem
        Of dense rows; its lambda is not used.
    fold : int array, shape (n,)
        Fold of each row, from 0.
    k : int
        Number of folds.
    scales : float64 array, shape (k, p), optional
        ``s_jl`` of the fits that leave a fold out: what column ``l`` is divided by when
        it is standardized in that fit. 1 if not given, and for the last fit.

    Attributes
    ----------
    loss : MarginLoss
    Z : float64 array, shape (n, q)
        ``z_i``, sorted by class, then by fold.
    centre : float64 array, shape (p,)
        What was taken from the columns of ``x_i``.
    weights, known : float64 array, shape (n,), or None
        ``w_i``, and ``-y_i offset_i``; None where all are 1, or 0.
    folds : int array, shape (n,)
    total : float64 array, shape (k + 1,)
        ``W_j``.
    squares : float64 array, shape (k + 1, q)
        ``s_jl^2``, 0 for the intercept.
    free : bool array, shape (k + 1, q)
        See `_free`.
    """

    def __init__(
        self, problem: Problem, fold: Rows, k: int, scales: Vector | None = None
    ) -> None:
        weights, y, self.loss = problem.weights, problem.y, problem.loss_function
        order = np.lexsort((fold, y))
        if weights is not None:
            order = order[weights[order] > 0.0]
        self.intercept = problem.intercept
        self.n, self.p, self.k = len(order), problem.p, k
        self.q = problem.p + int(problem.intercept)
        sign = -y[order]
        self.n_first = int((sign > 0.0).sum())  # rows of the first class
        self.Z = np.empty((self.n, self.q))
        far = needed_centre(problem)
        self.centre = np.zeros(self.p) if far is None else far
        for first in range(0, self.n, 4 * LEAST):  # rows that stay in the cache
            part = slice(first, first + 4 * LEAST)
            rows = problem.X[order[part]] - self.centre
            np.multiply(rows, sign[part, None], out=self.Z[part, : self.p])
        self.Z[:, self.p :] = sign[:, None]
        self.weights = None if weights is None else weights[order]
        self.known = None if problem.offset is None else sign * problem.offset[order]
        self.folds = fold[order]
        held = np.bincount(self.folds, self.weights, minlength=k)
        whole = float(held.sum())
        self.total = np.append(whole - held, whole)
        self.squares = np.ones((k + 1, self.q))
        if scales is not None:
            self.squares[:k, : self.p] = scales * scales
        self.squares[:, self.p :] = 0.0
        self.free = self._free()

    def _free(self) -> Mask:
        """Which coefficients are not 0 for sure, shape (k + 1, q).

        Those of columns that are the same in all rows that a fit keeps are 0: the
        intercept takes their share. Without it, those of columns of zeros.
        """
        low = np.full((self.k, self.p), np.inf)
        high = -low
        for block in self.blocks:
            for piece in block.pieces:
                rows = slice(block.first + piece.first, block.first + piece.stop)
                ends = (
                    self.Z[rows, : self.p].min(axis=0),
                    self.Z[rows, : self.p].max(axis=0),
                )
                least, most = (-ends[1], -ends[0]) if block.level else ends
                low[piece.fold] = np.minimum(low[piece.fold], least)
                high[piece.fold] = np.maximum(high[piece.fold], most)
        found = np.ones((self.k + 1, self.q), dtype=bool)
        for fit in range(self.k + 1):
            kept = np.arange(self.k) != fit
            least, most = low[kept].min(axis=0), high[kept].max(axis=0)
            same = least == most
            found[fit, : self.p] = ~(same if self.intercept else same & (most == 0.0))
        return found

    @property
    def size(self) -> int:
        """Number of fits."""
        return self.k + 1

    @property
    def every(self) -> Rows:
        """Numbers of all fits."""
        return np.arange(self.size)

    @cached_property
    def blocks(self) -> list[FoldedBlock]:
        """All rows, in blocks of one class each."""
        size = max(LEAST, ENTRIES // self.size)
        found = []
        for level, start, end in (0, 0, self.n_first), (1, self.n_first, self.n):
            for first in range(start, end, size):
                stop = min(end, first + size)
                found.append(FoldedBlock(level, first, stop, self._pieces(first, stop)))
        return found

    def _pieces(self, first: int, stop: int) -> tuple[FoldPiece, ...]:
        folds = self.folds[first:stop]
        cuts = [0, *(np.flatnonzero(np.diff(folds)) + 1).tolist(), len(folds)]
        return tuple(FoldPiece(a, b, int(folds[a])) for a, b in pairwise(cuts))

    def places(self, fits: Rows) -> Rows:
        """Place of each fit in `fits`, -1 of one that is not there; shape (k + 1,)."""
        places = np.full(self.size, -1)
        places[fits] = np.arange(len(fits))
        return places

    def penalty(self, lam: float, fits: Rows) -> Vector:
        """``lam s_jl^2`` of the coefficients of some fits, shape (fits, q)."""
        return lam * self.squares[fits]

    def value(self, lam: float, theta: Vector, loss: Vector, fits: Rows) -> Vector:
        """Objectives, from the sums of the losses."""
        squares = (self.penalty(lam, fits) * theta * theta).sum(axis=1)
        return np.asarray(0.5 * squares + loss / self.total[fits])

    def bound(
        self,
        lam: float,
        theta: Vector,
        reward: Vector,
        image: Vector,
        fits: Rows,
        loss: Vector | None = None,
        bend: Vector | None = None,
    ) -> Vector:
        """Dual objectives, less a bound of what rounding does to them and to the risk.

        Feasible are the dual weights times a factor for each class, by which its sum
        is that of the lighter one. Sums by class suffice: for ``c`` up to 1 the ``H``
        of the hinge has ``H(c a) = c H(a)``, that of the log loss, with ``T = a / (1 -
        a)`` and its slope ``H' = m`` at ``a``,

            H(c a) >= max(c H(a), H(a) - (1 - c) a m - (1 - c)^2 T / (2 c)),

        as ``-H''(t) = 1/(t (1 - t))`` is at most ``1/(c a (1 - a))`` between them; so
        the gap is of second order in what the sums of the classes differ by. So it is
        for the squared hinge, with its ``-H'' = 1/2`` and ``T = 2 loss``.

        No sum over the rows is rounded more than ``n + q`` times, and none of its
        terms, a weight of a mean of 1 apart, is above ``R (||beta|| + ||b||) + |alpha|
        + |offset| + 1``, with ``R`` the largest ``||x_i||``; an exponential and a
        logarithm, right to four units in the last place each, count 16 more. For the
        log loss ``a_i`` is rounded too, of which the dual is free: it is largest there.
        Where rows are centred each of their entries is rounded once, and so are the
        sums of the intercept that belongs to the rows as they are.

        Parameters
        ----------
        lam : float
        theta : float64 array, shape (fits, q)
        reward : float64 array, shape (2, fits)
            ``sum w_i (H(a_i) - a_i y_i offset_i)`` of each class, or less; of the log
            loss without ``loss``, which is the rest of it.
        image : float64 array, shape (2, fits, q)
            ``sum w_i a_i z_i`` of each class.
        fits : int array
        loss, bend : float64 array, shape (2, fits), optional
            ``sum w_i log(1 + T_i)`` and ``sum w_i T_i`` of each class.
        """
        p, total, penalty = self.p, self.total[fits], self.penalty(lam, fits)
        factor = np.ones_like(reward)
        if self.intercept:
            sums = np.abs(image[:, :, -1])
            factor = sums.min(axis=0) / np.maximum(sums, np.finfo(float).tiny)
        v = np.einsum("cj,cjl->jl", factor, image)[:, :p] / total[:, None]
        b = v / penalty[:, :p]
        rewards = factor * reward
        if loss is not None and bend is not None:
            lost = ROUNDED_HALF * (1.0 - factor) ** 2 / factor * bend
            rewards += np.fmax(factor * loss, loss - lost)
        dual = rewards.sum(axis=0) / total - 0.5 * (v * b).sum(axis=1)
        beta = theta[:, :p]
        norms = np.sqrt((beta * beta).sum(axis=1)) + np.sqrt((b * b).sum(axis=1))
        largest = self.radius * norms + self.farthest + 1.0
        if self.intercept:
            largest += np.abs(theta[:, -1])
        each = SUMS * UNIT * (self.n + self.q + 16.0)
        centring = UNIT * (self.q + 4.0) * float(np.linalg.norm(self.centre))
        moved = (each * self.radius + centring) ** 2 / penalty[:, :p].min(axis=1)
        return np.asarray(dual - each * largest - centring * norms - moved)

    @cached_property
    def radius(self) -> float:
        """Largest length of a row."""
        X = self.Z[:, : self.p]
        return float(np.sqrt(np.einsum("ij,ij->i", X, X).max()))

    @cached_property
    def farthest(self) -> float:
        """Largest offset by size."""
        return 0.0 if self.known is None else float(np.abs(self.known).max())


class PathPoint(NamedTuple):
    """All fits at one lambda.

    Attributes
    ----------
    lam : float
    theta : float64 array, shape (fits, q)
    objective, dual : float64 array, shape (fits,)
        ``P`` at `theta`, and a lower bound of the least ``P`` that holds in real
        arithmetic; both not finite where nothing was found.
    reads : int array, shape (fits,)
        Passes over the rows.
    """

    lam: float
    theta: Vector
    objective: Vector
    dual: Vector
    reads: Rows

    def certified(self, tol: float) -> Vector:
        """Which fits are within a relative gap."""
        return np.asarray(self.objective - self.dual <= tol * self.objective)


def extrapolated(past: Sequence[PathPoint], lam: float, most: int = MOST) -> Vector:
    """Coefficients at `lam` of the polynomial in log lambda through the last points.

    Examples
    --------
    >>> nothing = np.zeros(1), np.zeros(1), np.ones(1)
    >>> past = [PathPoint(lam, np.array([[lam]]), *nothing) for lam in (4.0, 2.0)]
    >>> extrapolated(past, 1.0)
    array([[0.]])
    """
    at = math.log(lam)
    used = [point for point in past[-most:] if math.log(point.lam) - at < FAR]
    used = used or [past[-1]]
    while True:
        logs = [math.log(point.lam) for point in used]
        factors = [math.prod((at - u) / (t - u) for u in logs if u != t) for t in logs]
        if sum(abs(each) for each in factors) <= LARGEST:
            pairs = zip(factors, used, strict=True)
            return np.asarray(sum(each * point.theta for each, point in pairs))
        used = used[1:]
