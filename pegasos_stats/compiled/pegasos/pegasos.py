"""Pegasos: stochastic sub-gradient steps for hinge and log loss.

Beside this file stands ``r_reference/R/pegasos.R``, the same algorithm in R. The
operations of each kernel stand in its docstring, in their order:

========================  ==============  =====================================
rows, arithmetic          options         kernel
========================  ==============  =====================================
dense, reference          plain           ``pegasos_literal.guarded_epoch``
dense, reference          any             ``pegasos_literal.literal_epoch``
dense, fast; sparse       any             ``pegasos_scaled.scaled_epoch``
========================  ==============  =====================================

Plain is the hinge loss with one row a step of size ``1 / (lam t)``, all rows of weight
1 and without offset, no projection and no average, after the first step of a run that
does not begin at zero. Both kernels of dense rows in reference arithmetic have the same
bits there.

References
----------
Shalev-Shwartz, Singer, Srebro & Cotter, *Pegasos: primal estimated sub-gradient
solver for SVM*, Mathematical Programming B 127 (2011), figures 1 and 2.
"""

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.arrays import read_only
from pegasos_stats.compiled.arithmetic.lanes import Signs, Vector
from pegasos_stats.compiled.arithmetic.risk import Loss
from pegasos_stats.compiled.arithmetic.rows import CSR, Rows, largest_norm
from pegasos_stats.compiled.pegasos.pegasos_literal import (
    LENGTH,
    RADIUS,
    STEPS,
    State,
    guarded_epoch,
    literal_epoch,
)
from pegasos_stats.compiled.pegasos.pegasos_scaled import scaled_epoch


def pegasos_epoch(
    X: Rows,
    y: Signs,
    rows: NDArray[np.int64],
    lam: float,
    state: State,
    *,
    loss: Loss = Loss.HINGE,
    batch_size: int = 1,
    intercept: bool = True,
    project: bool = False,
    average: bool = False,
    fast: bool = False,
    sizes: Vector | None = None,
) -> None:
    """Take Pegasos steps over ``rows``.

    At step ``t``, with the batch ``A`` of rows::

        eta   = 1 / (lam * t), or as given by ``sizes``
        beta  <- beta - eta * (lam * beta - (1/|A|) sum_A w_i s(m_i) y_i x_i)
        alpha <- alpha + eta * (1/|A|) sum_A w_i s(m_i) y_i
        if project:  beta <- min(1, (1 / sqrt(lam)) / ||beta||) * beta

    with the margins ``m_i = y_i (x_i'beta + (alpha + offset_i))`` before the update.

    Parameters
    ----------
    X : float64 or float32 array, shape (n, p), C-contiguous; or CSR
    y : int8 array, shape (n,), of -1 and +1
        Any other real type serves as well and is read more slowly.
    rows : int64 array, shape (m,), C-contiguous
        The rows to visit, counted from zero, in this order; consecutive
        ``batch_size`` of them make a step, the last step takes what is left.
    lam : float
        Penalty, above zero.
    state : State
        From ``start(n, p)`` or the last call; changed in place. All calls on one state
        have the same ``lam``, arithmetic and data.
    loss, batch_size, intercept, project
        The problem and the step.
    average : bool
        Whether these steps' iterates enter the average.
    fast : bool
        The v form with sums in any order, instead of reference arithmetic.
    sizes : float64 array, shape (steps,), optional
        Size of each step, above zero; in all calls on one state, or in none.
    """
    X, rows = read_only(X), read_only(rows)
    step_sizes = read_only(np.zeros(0) if sizes is None else sizes)
    plain = loss == Loss.HINGE and batch_size == 1 and not project and not average
    plain = plain and state.case_weights.size == state.offset.size == 0
    plain = plain and sizes is None
    if not fast and state.scalars[RADIUS] < 0.0:
        state.scalars[RADIUS] = largest_norm(X, y.size)
    options = int(loss), batch_size, intercept, project, average
    parts, literally = pieces(rows, state.slopes.size, batch_size), not plain
    if plain and state.scalars[STEPS] == 0.0 and state.scalars[LENGTH] > 0.0:
        parts, literally = [rows[:1], *pieces(rows[1:], state.slopes.size, 1)], True
    for part in parts:
        count = -(-part.size // batch_size)
        now, step_sizes = step_sizes[:count], step_sizes[count:]
        if isinstance(X, CSR) or fast:
            scaled_epoch(X, y, part, lam, *options, not fast, now, state)
        elif literally:
            literal_epoch(X, y, part, lam, *options, now, state)
        else:
            guarded_epoch(X, y, part, lam, intercept, state)
        literally = not plain


def pieces(
    rows: NDArray[np.int64], room: int, batch_size: int
) -> list[NDArray[np.int64]]:
    """Cut ``rows`` where steps end, into pieces that fit the scratch arrays."""
    if rows.size <= room:
        return [rows]
    length = max(room // batch_size, 1) * batch_size
    return [rows[k : k + length] for k in range(0, rows.size, length)]
