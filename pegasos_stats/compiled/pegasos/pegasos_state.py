"""What Pegasos carries from step to step."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import read_only
from pegasos_stats.compiled.arithmetic.lanes import Vector, padded
from pegasos_stats.compiled.arithmetic.losses import slope
from pegasos_stats.compiled.compiling import inlined

(
    STEPS,
    ALPHA,
    UNIT,
    SCALE,
    WEIGHT_SCALE,
    NORM2,
    VIOLATIONS,
    ALPHA_TOTAL,
    AVERAGED,
    RADIUS,
    BEFORE,
    LENGTH,
    KEPT,
) = range(13)


class State(NamedTuple):
    """The iterate and its companions; every array is changed in place.

    All sums are of whole steps, so the state is a valid fit after every call of
    ``pegasos_epoch``, and a run may be interrupted between calls.

    Attributes
    ----------
    w : float64 array, shape (padded(p),)
        ``beta = scalars[UNIT] * w[:p]``. The literal arithmetic keeps ``beta`` itself
        (``UNIT`` is 1), the v form ``v = lam t beta`` as ``SCALE * w``.
    weights : float64 array, shape (n,)
        Slope weights: the steps have added ``(1 / (lam t)) sum_i WEIGHT_SCALE
        weights[i] y_i x_i`` to ``beta``, with steps of any size ``(1 / lam) sum_i KEPT
        weights[i] y_i x_i``.
    total : float64 array, shape (padded(p),)
        Sum of the iterates ``beta`` that are to be averaged.
    work : float64 array, shape (padded(p),)
        Scratch: the gradient of a batch, or the lag of ``total``.
    signs, slopes : float64 array, shape (max(n, batch_size),)
        Scratch: labels and slopes in the order of the visits.
    case_weights : float64 array, shape (n,) or (0,)
        Weight of each row's loss; empty if all are 1.
    offset : float64 array, shape (n,) or (0,)
        Known part of each row's score; empty if there is none.
    scalars : float64 array, shape (13,)
        ``STEPS`` is ``t``, the number of the last step, and ``BEFORE`` that of the one
        before the run; ``ALPHA``; ``UNIT``, ``SCALE``, ``WEIGHT_SCALE``; ``NORM2`` is
        ``||w||^2`` (with projection and not in the literal arithmetic); ``VIOLATIONS``
        seen; ``ALPHA_TOTAL`` and ``AVERAGED``: sum of ``alpha`` and number of the
        iterates in ``total``; ``RADIUS`` the largest ``||x_i||``, below zero until it
        is known; ``LENGTH`` of the ``beta`` that the run begins with; ``KEPT`` as in
        ``weights``, 0 with steps ``1 / (lam t)``.
    """

    w: Vector
    weights: Vector
    total: Vector
    work: Vector
    signs: Vector
    slopes: Vector
    case_weights: Vector
    offset: Vector
    scalars: Vector


@inlined
def weighted_slope(state: State, i: int, loss: int, m: float) -> float:
    """``w_i s(m)``: the slope weight of row ``i``, times the weight of its loss."""
    s: float = slope(loss, m)
    if state.case_weights.shape[0] > 0:
        s = state.case_weights[i] * s
    return s


def start(
    n: int,
    p: int,
    batch_size: int = 1,
    case_weights: Vector | None = None,
    offset: Vector | None = None,
) -> State:
    """Return the state before the first step: everything is 0."""
    scalars = np.zeros(13)
    scalars[[UNIT, SCALE, WEIGHT_SCALE]] = 1.0
    scalars[RADIUS] = -1.0
    w, total, work = (np.zeros(padded(p)) for _ in range(3))
    signs, slopes = (np.zeros(max(n, batch_size)) for _ in range(2))
    given, known = (
        read_only(np.zeros(0) if each is None else each)
        for each in (case_weights, offset)
    )
    return State(w, np.zeros(n), total, work, signs, slopes, given, known, scalars)


def begin(state: State, beta: Vector, alpha: float, t: float, v: float = 1.0) -> None:
    """Let a run begin with ``beta`` and ``alpha`` after step ``t``.

    Parameters
    ----------
    state : State
        From `start`.
    beta : float64 array, shape (p,)
    alpha, t : float
    v : float
        What ``w`` is a multiple of ``beta`` by: ``lam t`` for the v form, else 1.
        Before the first step, with ``t`` 0, it is 1 for the v form too: that step
        makes ``beta`` anew, and only its margins know the one before.
    """
    scalars = state.scalars
    state.w[: beta.size] = v * beta
    scalars[[ALPHA, STEPS, BEFORE, UNIT]] = alpha, t, t, 1.0 / v
    scalars[NORM2] = np.add.accumulate(state.w * state.w)[-1]  # from first to last
    scalars[LENGTH] = np.sqrt(beta @ beta)


def last_iterate(state: State, p: int) -> tuple[Vector, float]:
    """Return ``(beta, alpha)`` after the last step."""
    return state.scalars[UNIT] * state.w[:p], float(state.scalars[ALPHA])


def average_iterate(state: State, p: int) -> tuple[Vector, float]:
    """Return the mean of ``(beta, alpha)`` over the steps that asked for it."""
    count = state.scalars[AVERAGED]
    return state.total[:p] / count, float(state.scalars[ALPHA_TOTAL] / count)


def dual_weights(state: State) -> NDArray[np.float64]:
    """``a_i`` with ``beta = (1 / (lam n)) sum_i a_i y_i x_i``; shape (n,).

    That holds for a run from zero, with ``t`` from 1. With steps ``1 / (lam t)`` they
    are in [0, w_i] over whole epochs whose batches are all of one size; else clip (a
    batch that is short, rows drawn with replacement, steps of another size).
    """
    n, scalars = state.weights.size, state.scalars
    if scalars[KEPT] != 0.0:
        return np.asarray(scalars[KEPT] * state.weights * n)
    taken = max(float(scalars[STEPS] - scalars[BEFORE]), 1.0)
    return np.asarray(scalars[WEIGHT_SCALE] * state.weights * n / taken)
