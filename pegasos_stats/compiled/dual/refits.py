"""Refits of one problem to resampled rows, each in one compiled run."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import read_only
from pegasos_stats.compiled.arithmetic.best_intercept import middle_intercept
from pegasos_stats.compiled.arithmetic.lanes import Vector, padded
from pegasos_stats.compiled.arithmetic.losses import HINGE
from pegasos_stats.compiled.arithmetic.rows import CSR, Rows, room_for, row_copy
from pegasos_stats.compiled.compiling import inlined, kernel
from pegasos_stats.compiled.dual.newton import Direction, direction
from pegasos_stats.compiled.dual.proximal import (
    BEST_ALPHA,
    DUAL_OBJECTIVE,
    OBJECTIVE,
    Proximal,
    begin_at,
    proximal,
    put,
    steps_to,
)
from pegasos_stats.compiled.dual.smooth import Smooth, put_scores, smooth

MOST_STEPS = 500

REFITTED, NO_OPTIMUM = 0, 1
GAP, DISTANCE, STATUS = range(3)


class Origin(NamedTuple):
    """The fit from which all refits begin.

    Attributes
    ----------
    y : float64 array, shape (n,), of -1 and +1
    w : float64 array, shape (padded(p),)
        Coefficients, then zeros.
    alpha : float
    dual, weights : float64 array, shape (n,)
        Dual weights and weights of the rows.
    width : float
        The first width of the smoothed loss, see ``proximal.begin``, for all rows.
    offset : float64 array, shape (n,) or (0,)
        Known part of each row's score; empty if there is none.
    """

    y: Vector
    w: Vector
    alpha: float
    dual: Vector
    weights: Vector
    width: float
    offset: Vector


class Room(NamedTuple):
    """Scratch of one thread: the rows that were drawn, each once, and what fits them.

    Attributes
    ----------
    X : array, shape (n, p), or CSR
        The drawn rows in its first places.
    y, weights, drawn : float64 array, shape (n,)
        Theirs; and how often each row was drawn, in the order of all rows.
    rows, at, to, state
        Scratch of the steps, for ``n`` rows. ``X``, ``y`` and ``weights`` are read only
        in ``rows`` and ``at``, as they are in a fit, whose code is so taken as it is.
    """

    X: Rows
    y: Vector
    weights: Vector
    drawn: Vector
    rows: Rows
    at: Smooth
    to: Direction
    state: Proximal


def room(X: Rows, n: int, p: int, loss: int, offset: Vector) -> Room:
    """Return scratch for refits of rows like those of ``X``, with such an offset."""
    gathered, (y, weights, a, drawn) = room_for(X), np.zeros((4, n))
    seen = read_only(y), read_only(weights)
    at = smooth(*seen, a, loss, p, np.zeros(offset.size))
    state = proximal(n, p, np.zeros(padded(p)))
    return Room(
        X=gathered,
        y=y,
        weights=weights,
        drawn=drawn,
        rows=read_only(gathered),
        at=at,
        to=direction(p, isinstance(X, CSR)),
        state=state,
    )


@kernel
def refit_resamples(
    X: Rows,
    lam: float,
    free: bool,
    tol: float,
    rows: NDArray[np.int64],
    origin: Origin,
    estimates: NDArray[np.float64],
    found: NDArray[np.float64],
    room: Room,
) -> None:
    """Fit every resample, and put its coefficients and its gap in their places.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p); or CSR
    lam : float
    free : bool
        Whether there is an intercept.
    tol : float
        Relative gap to reach, within `MOST_STEPS` steps.
    rows : int64 array, shape (b, n)
        Rows of each resample, counted from zero.
    origin : Origin
    estimates : float64 array, shape (b, p + 1)
        Receives ``alpha, beta``.
    found : float64 array, shape (b, 3)
        Receives the relative ``GAP``, the bound ``sqrt(2 gap / lam)`` of the
        ``DISTANCE`` from the optimal ``beta``, and the ``STATUS``: `NO_OPTIMUM` for
        rows of one class alone with an intercept, or without any weight.
    room : Room
    """
    for b in range(rows.shape[0]):
        count = gather(X, rows[b], origin, room)
        part = first(room, count)
        if has_optimum(part.at, free):
            found[b, STATUS] = REFITTED
            refit(lam, free, tol, origin, estimates[b], found[b], part)
        else:
            found[b, STATUS] = NO_OPTIMUM


@kernel
def refit(
    lam: float,
    free: bool,
    tol: float,
    origin: Origin,
    estimate: Vector,
    found: Vector,
    part: Room,
) -> None:
    """Fit the rows that were gathered."""
    X, at, to, state = part.rows, part.at, part.to, part.state
    put(origin.w, state.w)
    width = origin.width * origin.y.shape[0] / at.y.shape[0]
    begin_at(X, lam, free, origin.alpha, width, at, state)
    steps_to(X, lam, free, tol, MOST_STEPS, at, to, state)
    objective, alpha = state.scalars[OBJECTIVE], state.scalars[BEST_ALPHA]
    gap = max(0.0, objective - max(0.0, state.scalars[DUAL_OBJECTIVE]))
    if free and at.loss == HINGE:
        put_scores(X, state.best_w, at, state.scores)
        alpha = middle_intercept(state.scores, at.y, at.weights, alpha)
    found[GAP] = gap / objective
    found[DISTANCE] = math.sqrt(2.0 * gap / lam)
    estimate[0] = alpha if free else 0.0
    for j in range(estimate.shape[0] - 1):
        estimate[j + 1] = state.best_w[j]


@kernel
def gather(X: Rows, rows: NDArray[np.int64], origin: Origin, room: Room) -> int:
    """Copy the drawn rows, each once, and return how many have a weight.

    Their weights, counted as often as they were drawn, are scaled to mean 1 over these
    rows; the dual weights of the origin, as often, are the centre.
    """
    drawn, at, y, weights = room.drawn, room.at, room.y, room.weights
    drawn[:] = 0.0
    for k in range(rows.shape[0]):
        drawn[rows[k]] += 1.0
    count, total = 0, 0.0
    for i in range(drawn.shape[0]):
        weight = drawn[i] * origin.weights[i]
        if weight > 0.0:
            row_copy(X, i, room.X, count)
            y[count], weights[count] = origin.y[i], weight
            at.centre[count] = drawn[i] * origin.dual[i]
            if origin.offset.shape[0] > 0:
                at.offset[count] = origin.offset[i]
            total += weight
            count += 1
    for k in range(count):
        weights[k] *= count / total
        at.centre[k] *= count / total
    return count


@inlined
def first(room: Room, count: int) -> Room:
    """Return the scratch of the first ``count`` rows, not copied, to be fitted."""
    at, state = room.at, room.state
    kept = Smooth(
        at.y[:count],
        at.weights[:count],
        at.centre[:count],
        at.loss,
        at.a[:count],
        at.active[:count],
        at.h[:count],
        at.image,
        at.sums,
        at.offset[:count],
    )
    steps = Proximal(
        state.w,
        state.gradient,
        state.best_w,
        state.scores[:count],
        state.moves[:count],
        state.best_a[:count],
        state.scalars,
    )
    return Room(
        room.X, room.y, room.weights, room.drawn, room.rows, kept, room.to, steps
    )


@inlined
def has_optimum(at: Smooth, free: bool) -> bool:
    """Whether there are rows, and of both classes if the intercept is free."""
    negative = positive = False
    for i in range(at.y.shape[0]):
        if at.y[i] > 0.0:
            positive = True
        else:
            negative = True
    return (negative and positive) if free else (negative or positive)
