"""Refits of one problem to resampled rows, each in one compiled run."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.kernels.compiling import inlined, kernel
from pegasos_stats.kernels.lanes import Vector, padded
from pegasos_stats.kernels.newton import Direction, direction
from pegasos_stats.kernels.proximal import (
    BEST_ALPHA,
    DUAL_OBJECTIVE,
    OBJECTIVE,
    Proximal,
    begin,
    proximal,
    put,
    steps_to,
)
from pegasos_stats.kernels.smooth import Smooth, smooth

MOST_STEPS = 500


class Origin(NamedTuple):
    """The fit from which all refits begin.

    Attributes
    ----------
    w : float64 array, shape (padded(p),)
        Coefficients, then zeros.
    alpha : float
    dual, weights : float64 array, shape (n,)
        Dual weights and weights of the rows.
    width : float
        The first width of the smoothed loss, see ``proximal.begin``.
    """

    w: Vector
    alpha: float
    dual: Vector
    weights: Vector
    width: float


class Room(NamedTuple):
    """Scratch of one thread."""

    at: Smooth
    to: Direction
    state: Proximal


def room(y: Vector, loss: int, p: int) -> Room:
    """Return scratch for refits of ``y.size`` rows."""
    n = y.size
    at = smooth(y, np.zeros(n), np.zeros(n), loss, p)
    return Room(at, direction(p), proximal(n, p, np.zeros(padded(p))))


@kernel
def refit_resamples(
    X: Any,
    lam: float,
    free: bool,
    tol: float,
    rows: NDArray[np.int64],
    origin: Origin,
    estimates: NDArray[np.float64],
    gaps: Vector,
    room: Room,
) -> None:
    """Fit every resample, and put its coefficients and relative gap in their places.

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
    gaps : float64 array, shape (b,)
        Receives the relative gap; NaN for a resample of one class alone.
    room : Room
    """
    at, to, state = room
    for b in range(rows.shape[0]):
        if not weigh(rows[b], origin, at):
            gaps[b] = np.nan
            continue
        put(origin.w, state.w)
        begin(X, lam, free, origin.alpha, origin.width, at, to, state)
        steps_to(X, lam, free, tol, MOST_STEPS, at, to, state)
        objective = state.scalars[OBJECTIVE]
        gaps[b] = 1.0 - max(0.0, state.scalars[DUAL_OBJECTIVE]) / objective
        estimates[b, 0] = state.scalars[BEST_ALPHA] if free else 0.0
        for j in range(estimates.shape[1] - 1):
            estimates[b, j + 1] = state.best_w[j]


@inlined
def weigh(rows: NDArray[np.int64], origin: Origin, at: Smooth) -> bool:
    """Weigh each row by how often it was drawn; return whether both classes were.

    Weights have mean 1. The dual weights of the origin, as often, are the centre.
    """
    weights, centre, y = at.weights, at.centre, at.y
    weights[:] = 0.0
    centre[:] = 0.0
    for k in range(rows.shape[0]):
        weights[rows[k]] += origin.weights[rows[k]]
        centre[rows[k]] += origin.dual[rows[k]]
    negative = positive = 0.0
    for i in range(y.shape[0]):
        if y[i] > 0.0:
            positive += weights[i]
        else:
            negative += weights[i]
    scale = y.shape[0] / (negative + positive)
    for i in range(y.shape[0]):
        weights[i] *= scale
        centre[i] *= scale
    return negative > 0.0 and positive > 0.0
