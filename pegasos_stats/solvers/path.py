"""The fits of all folds and of many lambdas by passes over the rows that they share.

Rows are sorted by class and fold. Fits begin where a line (hinge), or a parabola, in
log lambda through the last ones has them. Any gap is certified over all rows.

Hinge: one pass there tells which rows are near the margin in some fit: within ``1.2``
times the largest change that the last fits brought. The others are fixed, and the fits
are solved on those rows, by the steps of ``hinge_proximal.py``. A second pass has the
objectives; where a gap is too large, rows that are on the wrong side join, and it is
done again. Rows with margins well above 1 in all fits have the dual weight 0. Rows with
margins well below 1 in all fits are inside: those of a class that a fit keeps are one
row, their sum, with one dual weight for all of them. Its loss is that of the rows as
long as these are inside, and any dual weights of this kind are dual weights of the
whole.

Losses that bend: a pass multiplies the rows by the coefficients of all fits whose gap
is still too large. With ``T = exp(-m)`` and ``q = 1 + T`` the losses are ``log q`` and
the dual weights ``a = T / q``; those of the rows that a fit leaves out are 0. From the
losses and the images ``sum_i w_i a_i z_i`` of each class follow objective, gradient and
dual objective, because ``sum_i w_i H(a_i) = sum_i w_i (log q_i + a_i m_i)``, and
``m_i`` is linear in the coefficients. Of the squared hinge they are ``max(0, 1 - m)^2``
and twice its root.

Steps of all fits are by one Hessian, that of the fit on all rows. It is renewed when a
step by it, going by the one before, would leave a gap that is too large; a fit that is
not done after four passes takes its own. Steps that increase the objective are halved.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pegasos_stats.arrays import UNIT, Mask, Rows, Vector
from pegasos_stats.solvers.active_rows import on_wrong_side, with_sums
from pegasos_stats.solvers.centring import needed_centre
from pegasos_stats.solvers.hinge_proximal import ProximalNewton
from pegasos_stats.solvers.losses import LOSSES
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.rows import DenseRows
from pegasos_stats.solvers.sdca_run import NEAR_ZERO

ENTRIES = 2**15  # margins of a block: they stay in the cache of a core
LEAST = 256  # rows of a block
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

    @property
    def alone(self) -> Vector:
        """The best intercept of each fit without predictors, offsets left out."""
        first = slice(0, self.n_first)
        w = None if self.weights is None else self.weights[first]
        held = np.bincount(self.folds[first], w, minlength=self.k)
        low = np.append(held.sum() - held, held.sum())
        pairs = zip(self.total - low, low, strict=True)
        return np.array([self.loss.alone(*of_fit) for of_fit in pairs])

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


FEW = 1000  # rows that are all kept
ROUNDS = 8
INNER, TIGHTER = 0.1, 0.1  # of the tolerance, for the rows that are kept: errors of
# rows held out tell lambdas apart better than at 0.3, in an eighth more time
ROUGH = 1e-2  # relative gap of the fit that tells where to begin
WIDER = 1.2  # of the last change of a slack, how near the margin rows are kept
NARROW, WIDE = 0.01, 0.5
FIRST = 0.3  # at the first lambda
WRONG = 0.3  # of that, where a fixed row is on the wrong side
MOST_STEPS = 200  # steps
CLOSE = 0.5  # slacks whose changes are looked at


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
        slack = theta @ rows.Z[part].T
        slack += 1.0 if rows.known is None else 1.0 + rows.known[part]
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

    Arrays of these rows have two columns more, the last ones, for the rows inside.

    Parameters
    ----------
    rows : FoldedRows
    near : int array
        Rows near the margin, sorted.
    inside : bool array, shape (n,)
    fits : int array

    Attributes
    ----------
    Z : float64 array, shape (near + 2, q)
    weights, target : float64 array, shape (near,)
        ``w_i``, and ``w_i (1 - y_i offset_i)``.
    sums : float64 array, shape (fits, 2, q + 2)
        Of the rows inside, by class: sums of ``w_i z_i``, targets and weights.
    """

    def __init__(self, rows: FoldedRows, near: Rows, inside: Mask, fits: Rows) -> None:
        self.rows, self.near, self.fits = rows, near, fits
        self.weights = (
            np.ones(len(near)) if rows.weights is None else rows.weights[near]
        )
        self.Z = np.vstack([rows.Z[near], np.zeros((2, rows.q))])
        self.target = self.weights.copy()
        if rows.known is not None:
            self.target *= 1.0 + rows.known[near]
        self.sums = self._sums_inside(inside)

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

    def solved(
        self, lam: float, tol: float, theta: Vector, centre: Vector, gamma: Vector
    ) -> tuple[Vector, Vector, Vector]:
        """Coefficients, dual weights and ``gamma`` of all fits, to a relative gap.

        Parameters
        ----------
        lam, tol : float
        theta : float64 array, shape (fits, q)
        centre : float64 array, shape (fits, near)
        gamma : float64 array, shape (fits,)
        """
        a = np.hstack([centre, np.ones((len(theta), 2))])
        found = theta.copy(), a, gamma.copy()
        for j in range(len(self.fits)):
            steps = self._steps(j, lam, theta[j], a[j], float(gamma[j]))
            for _ in range(MOST_STEPS):
                if not tol * steps.risk < steps.gap:
                    break
                steps.step()
            for values, value in zip(
                found, (steps.theta, steps.a, steps.gamma), strict=True
            ):
                values[j] = value
        return found

    def _steps(
        self, j: int, lam: float, theta: Vector, centre: Vector, gamma: float
    ) -> ProximalNewton:
        """Newton steps of one fit, in which rows held out are far from the margin.

        A column that is constant in it is one of zeros.
        """
        rows, fit, m = self.rows, self.fits[j], len(self.near)
        out = rows.folds[self.near] == fit
        t = np.where(out, -1.0, self.target / self.weights)
        _, t, w = with_sums(self.Z, np.empty(m), t, self.weights, self.sums[j])
        y = np.full(m + 2, -1.0)
        y[:m][out], centre[:m][out] = 0.0, 0.0
        free, penalty = rows.free[fit], rows.penalty(lam, self.fits)[j]
        Z = DenseRows(self.Z if free.all() else self.Z * free, None)
        total = float(rows.total[fit])
        return ProximalNewton(Z, y, t, w, penalty, total, theta, centre, gamma)

    def by_class(self, a: Vector) -> tuple[Vector, Vector]:
        """Rewards and images of each class, shapes (2, fits) and (2, fits, q)."""
        cut = int(np.searchsorted(self.near, self.rows.n_first))
        rewards, images = [], []
        for level, part in enumerate((slice(0, cut), slice(cut, len(self.near)))):
            inside = a[:, level - 2, None] * self.sums[:, level]
            shares = a[:, :-2][:, part]
            image = (shares * self.weights[part]) @ self.Z[:-2][part]
            images.append(image + inside[:, :-2])
            rewards.append(shares @ self.target[part] + inside[:, -2])
        return np.array(rewards), np.array(images)


class HingePath:
    """Fits at one lambda after the other."""

    def __init__(self, rows: FoldedRows, tol: float) -> None:
        self.rows, self.tol = rows, tol
        X = rows.Z[:, : rows.p]
        self.mean_square = float(np.einsum("ij,ij->", X, X)) / rows.n
        self.a = np.full((rows.size, rows.n), 0.5)  # dual weights of the last fits
        self.width = FIRST
        self.past: list[PathPoint] = []

    def at(self, lam: float) -> PathPoint:
        """All fits at one lambda."""
        rows, tol = self.rows, self.tol
        width = self.width if rows.n > FEW else np.inf
        theta = extrapolated(self.past, lam, 2) if self.past else self._start(lam)
        _, *first = losses(rows, theta, rows.every)
        inside = first[0] > width
        near = np.flatnonzero(~inside & (first[1] >= -width))
        fits, inner = rows.every, INNER * tol
        gamma = np.full(rows.size, self._gamma(lam))
        P, D = np.full(rows.size, np.inf), np.zeros(rows.size)
        reads = np.zeros(rows.size, dtype=np.int64)
        for turn in range(ROUNDS):
            kept = NearRows(rows, near, inside, fits)
            centre = self.a[np.ix_(fits, near)]
            theta[fits], a, gamma[fits] = kept.solved(
                lam, inner, theta[fits], centre, gamma[fits]
            )
            self.a[fits] = inside
            self.a[np.ix_(fits, near)] = a[:, :-2]
            loss, *ends = losses(rows, theta[fits], fits)
            if not turn:
                self.width = _next_width(np.array(first), np.array(ends))
            P[fits] = rows.value(lam, theta[fits], loss, fits)
            D[fits] = rows.bound(lam, theta[fits], *kept.by_class(a), fits)
            reads[fits] += 1
            fits = fits[~(P[fits] - D[fits] <= tol * P[fits])]
            if not len(fits):
                break
            low, high = ends
            wrong = on_wrong_side(inside, low, high, WRONG * width)
            wrong[near] = False
            if not wrong.any():
                inner *= TIGHTER
            near = np.union1d(near, np.flatnonzero(wrong))
            inside = inside & ~wrong
        self._zero_where_best(lam, theta, P)
        return PathPoint(lam, theta, P, D, reads)

    def _zero_where_best(self, lam: float, theta: Vector, P: Vector) -> None:
        """Coefficients of 0 where their objective is no larger, as single fits."""
        rows = self.rows
        penalty = rows.value(lam, theta, np.zeros(len(P)), rows.every)
        fits = np.flatnonzero(penalty <= NEAR_ZERO * self.tol)
        if not len(fits):
            return
        for intercept in rows.alone, theta[:, -1].copy():
            zero = np.zeros((len(fits), rows.q))
            if rows.intercept:
                zero[:, -1] = intercept[fits]
            objective = rows.value(lam, zero, losses(rows, zero, fits)[0], fits)
            better = objective <= P[fits]
            P[fits[better]], theta[fits[better]] = objective[better], zero[better]

    def _start(self, lam: float) -> Vector:
        """Coefficients of the fit on all rows, roughly, for all."""
        rows, nothing = self.rows, np.zeros((1, self.rows.q))
        whole, every = np.array([rows.k]), np.arange(rows.n)
        kept = NearRows(rows, every, np.zeros(rows.n, dtype=bool), whole)
        gamma = np.array([self._gamma(lam)])
        theta, a, _ = kept.solved(lam, ROUGH, nothing, self.a[whole], gamma)
        self.a[:] = a[:, :-2]
        return np.repeat(theta, rows.size, axis=0)

    def _gamma(self, lam: float) -> float:
        """``gamma`` to begin with: about the change of a margin with its own weight."""
        return max(1.0, self.mean_square / (4.0 * lam * self.rows.n))


def _next_width(before: Vector, after: Vector) -> float:
    """How near the margin rows are kept, by the least and largest slacks of rows."""
    changes = np.abs(after - before)
    moved = float(changes.max(initial=0.0, where=np.abs(before) < CLOSE))
    return min(WIDE, max(NARROW, WIDER * moved))


AIM = 0.001  # of the tolerance, where a few passes reach it: lambdas are told apart
MOST_PASSES = 30  # passes at one lambda
SHARED = 4  # passes with the Hessian of all rows
ROUNDED = 1e-14  # of an objective


class SmoothPath:
    """Newton steps, with the Hessian that was computed last."""

    def __init__(self, rows: FoldedRows, tol: float) -> None:
        self.rows, self.tol, self.is_log = rows, tol, rows.loss.most == 1.0
        self.past: list[PathPoint] = []
        self.a = np.empty(rows.n)  # dual weights of the fit on all rows
        self.hessian: Vector | None = None
        self.left = 0.0  # share of the largest gap that the last step left

    def at(self, lam: float) -> PathPoint:
        """All fits at one lambda."""
        rows, past, tol = self.rows, self.past, self.tol
        best = past[-1].theta.copy() if past else np.zeros((rows.size, rows.q))
        if not past and rows.intercept:
            best[:, -1] = rows.alone
        theta = extrapolated(past, lam) if past else best.copy()
        P, D = np.full(rows.size, np.inf), np.zeros(rows.size)
        slope, reads = np.zeros_like(theta), np.zeros(rows.size, dtype=np.int64)
        fits, inverse, largest = rows.every, None, np.inf
        for read in range(1, MOST_PASSES + 1):
            loss, bend, image = self._read(theta[fits], fits)
            risk = rows.value(lam, theta[fits], loss.sum(axis=0), fits)
            reward = -np.einsum("cjl,jl->cj", image, theta[fits])
            dual = rows.bound(lam, theta[fits], reward, image, fits, loss, bend)
            descent = rows.penalty(lam, fits) * theta[fits]
            descent += image.sum(axis=0) / rows.total[fits, None]
            lower = risk <= P[fits] * (1.0 + ROUNDED)
            kept = fits[lower]
            best[kept], P[kept], D[kept] = theta[kept], risk[lower], dual[lower]
            slope[kept] = descent[lower] * rows.free[kept]
            reads[fits] += 1
            is_whole_new = lower[-1] or fits[-1] < rows.k
            gap = np.where(np.inf > P, (P - D) / P, np.inf)
            before, largest = largest, gap[fits].max()
            goal = AIM * tol if read <= SHARED else tol
            still = ~(gap[fits] <= goal)
            back, going = fits[still & ~lower], fits[still & lower]
            fits = fits[still]
            if not len(fits):
                break
            if read > 1:
                self.left = largest / before
            is_old = largest * self.left > AIM * tol
            if is_whole_new and (self.hessian is None or is_old):
                self.hessian, inverse = self._hessian(self.a), None
            theta[back] = 0.5 * (theta[back] + best[back])
            if self.hessian is None:
                continue
            if read > SHARED:
                for j in going:
                    own = self._hessian(self._weights_of(best[j], j))
                    step = self._inverse(own, lam, j) @ slope[j]
                    theta[j] = best[j] - step * rows.free[j]
                continue
            if inverse is None:
                inverse = self._inverse(self.hessian, lam, rows.k)
            theta[going] = best[going] - slope[going] @ inverse * rows.free[going]
        return PathPoint(lam, best, P, D, reads)

    def _read(self, theta: Vector, fits: Rows) -> tuple[Vector, Vector, Vector]:
        """Sums of the losses and images of the dual weights, by class.

        Returns
        -------
        loss, bend : float64 array, shape (2, fits)
            Sums of ``w_i log q_i`` and of ``w_i T_i``.
        image : float64 array, shape (2, fits, q)
        """
        rows, place = self.rows, self.rows.places(fits)
        loss, bend = np.zeros((2, 2, len(fits)))
        image = np.zeros((2, *theta.shape))
        for block in rows.blocks:
            Z = rows.Z[block.rows]
            T = theta @ Z.T
            if rows.known is not None:
                T += rows.known[block.rows]
            if self.is_log:
                np.exp(T, out=T)
            else:
                np.maximum(T + 1.0, 0.0, out=T)
            for first, stop, fold in block.pieces:
                if (j := place[fold]) >= 0:
                    T[j, first:stop] = 0.0
            w = np.ones(len(Z)) if rows.weights is None else rows.weights[block.rows]
            if self.is_log:
                q = T + 1.0
                bend[block.level] += T @ w
                a = np.divide(T, q, out=T)
                np.log(q, out=q)
            else:
                q, a = T * T, 2.0 * T
                bend[block.level] += 2.0 * (q @ w)
            if place[rows.k] >= 0:
                self.a[block.rows] = a[-1]
            loss[block.level] += q @ w
            if rows.weights is not None:
                a *= w
            image[block.level] += a @ Z
        return loss, bend, image

    def _weights_of(self, theta: Vector, fit: int) -> Vector:
        """Dual weights of one fit, shape (n,)."""
        rows = self.rows
        m = -(rows.Z @ theta)
        if rows.known is not None:
            m -= rows.known
        a = rows.loss.slopes(m)
        a[rows.folds == fit] = 0.0
        return np.asarray(a)

    def _hessian(self, a: Vector) -> Vector:
        """``sum_i w_i bend_i z_i z_i'``."""
        rows = self.rows
        total = np.zeros((rows.q, rows.q))
        for block in rows.blocks:
            h = rows.loss.bends(a[block.rows])
            if rows.weights is not None:
                h *= rows.weights[block.rows]
            A = rows.Z[block.rows] * np.sqrt(h)[:, None]
            total += A.T @ A
        return total

    def _inverse(self, hessian: Vector, lam: float, fit: int) -> Vector:
        """Inverse of the Hessian of the objective."""
        rows = self.rows
        free = rows.free[fit]
        H = hessian / rows.total[fit]
        if not free.all():
            H *= np.outer(free, free)
            H[~free, ~free] = 1.0
        H[np.diag_indices(rows.q)] += lam * rows.squares[fit]
        return np.asarray(np.linalg.inv(H))


def fold_path(rows: FoldedRows, lambdas: Vector, tol: float) -> list[PathPoint]:
    """Fit all folds, and all rows, for each lambda, the largest first.

    Parameters
    ----------
    rows : FoldedRows
    lambdas : float64 array, shape (m,)
    tol : float
        Relative gap that is asked for; fits that do not reach it are returned too.
    """
    kind = HingePath if rows.loss is LOSSES["hinge"] else SmoothPath
    path = kind(rows, tol)
    with np.errstate(over="ignore", invalid="ignore"):  # halved steps come back
        for lam in lambdas:
            path.past.append(path.at(float(lam)))
    return path.past
