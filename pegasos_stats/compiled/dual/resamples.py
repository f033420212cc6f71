"""The hinge on a resample of dense rows, in one compiled run of plain loops.

The method is that of ``solvers/dense/hinge.py``: proximal points by Newton steps.
There are no slices, no arrays made, no functions called: these cost most of the time
that a kernel takes to compile, and this one is compiled by a first ``summary()``.
"""

from pegasos_stats.arrays import Matrix, Vector
from pegasos_stats.compiled.compiling import kernel

SOLVED, SHRINK, GROW, PATIENCE = 8.0, 0.7, 2.0, 12
FLAT, TRIALS, MOVE, TINY = 0.1, 30, 2.0, 1e-300
RIDGE = 1e-13  # of a curvature, by rounding
STEPS = 200
GAP, RISK, GAMMA = range(3)


@kernel(fastmath={"reassoc", "nsz", "contract"})
def refit_hinge(
    Z: Matrix,
    cut: int,
    w: Vector,
    fixed: Matrix,
    total: float,
    penalty: Vector,
    tol: float,
    theta: Vector,
    c: Vector,
    found: Vector,
    room: Matrix,
    Q: Matrix,
) -> None:
    """Minimise ``sum_j pen_j/2 theta_j^2 + (sum_i w_i max(0, s_i) + fixed) / total``.

    ``s_i = b_i - z_i'theta``, ``z_i = y_i (x_i, 1)``, ``b_i = 1 - y_i offset_i``; fixed
    rows count as beyond the margin wherever they are.

    Parameters
    ----------
    Z : float64 array, shape (k + 1, m)
        A row is a column: ``z_i, b_i``. The first ``cut`` are of -1, the others of +1.
    cut : int
    w : float64 array, shape (m,), may be 0
    fixed : float64 array, shape (2, k + 1)
        Sums of ``w_i (z_i, b_i)`` over the fixed rows of -1 and of +1.
    total : float
        Weight of all rows.
    penalty : float64 array, shape (k,)
        0 in the last place for an intercept.
    tol : float
        Relative gap.
    theta, c : float64 array, shape (k,) and (m,)
        Where to begin, and the first centre; then where the steps ended.
    found : float64 array, shape (3,)
        Receives the gap and the risk; the last entry is the first width, and becomes
        the last one.
    room, Q : float64 array, shape (3, m) and (k + 3, k + 1)
        Scratch: ``s``, dual weights, change of ``s``; class sums, gradient, Hessian.
        After the run ``room`` has ``s`` in its first row.
    """
    k, m = Z.shape[0] - 1, Z.shape[1]
    here = 0
    gamma = found[GAMMA]
    for i in range(m):
        room[0, i] = Z[k, i]
    for j in range(k):
        for i in range(m):
            room[0, i] -= theta[j] * Z[j, i]
    for _ in range(STEPS):
        # dual weights, their sums over each class, the gradient, the gap
        scale = 1.0 / gamma
        risk = rest = 0.0
        for i in range(m):
            s = room[0, i]
            a = c[i] + scale * s
            a = a if a > 0.0 else 0.0
            a = a if a < 1.0 else 1.0
            room[1, i] = w[i] * a
            loss = w[i] * s if s > 0.0 else 0.0
            risk += loss
            rest += loss - w[i] * a * s
        for side in range(2):
            for j in range(k + 1):
                sum_of = fixed[side, j]
                for i in range(cut if side else 0, m if side else cut):
                    sum_of += room[1, i] * Z[j, i]
                Q[side, j] = sum_of / total
        low = high = 1.0  # factors that balance the classes
        if penalty[k - 1] == 0.0:
            low, high = Q[1, k - 1], -Q[0, k - 1]
            most = max(low, high, TINY)
            low, high = low / most, high / most
        risk += fixed[0, k] + fixed[1, k]
        size = image = 0.0
        for j in range(k):
            risk -= (fixed[0, j] + fixed[1, j]) * theta[j]
            size += penalty[j] * theta[j] * theta[j]
            if penalty[j] > 0.0:
                image += (low * Q[0, j] + high * Q[1, j]) ** 2 / penalty[j]
            Q[2, j] = penalty[j] * theta[j] - Q[0, j] - Q[1, j]
        risk = risk / total + 0.5 * size
        gap = risk - low * Q[0, k] - high * Q[1, k] + 0.5 * image
        found[GAP] = gap
        found[RISK] = risk
        found[GAMMA] = gamma
        if gap <= tol * risk:
            break
        if gap <= SOLVED * rest / total:  # mostly what the smoothing leaves
            for i in range(m):
                c[i] = room[1, i] / w[i] if w[i] > 0.0 else c[i]
            gamma *= SHRINK
            here = 0
            continue
        if here >= PATIENCE:
            gamma *= GROW
            here = 0
            continue
        here += 1
        # Newton's direction, by Gauss and Jordan
        for j in range(3, k + 3):
            for q in range(k):
                Q[j, q] = 0.0
        for i in range(m):
            if 0.0 < room[1, i] < w[i]:
                for j in range(k):
                    for q in range(k):
                        Q[j + 3, q] += w[i] * Z[j, i] * Z[q, i]
        for j in range(k):
            for q in range(k):
                Q[j + 3, q] *= scale / total
            Q[j + 3, j] += penalty[j] + RIDGE * Q[j + 3, j]
            if Q[j + 3, j] == 0.0:
                Q[j + 3, j] = abs(Q[2, j]) / MOVE + TINY
            Q[j + 3, k] = -Q[2, j]
        for q in range(k):
            for j in range(k):
                if j != q:
                    ratio = Q[j + 3, q] / Q[q + 3, q]
                    for column in range(q, k + 1):
                        Q[j + 3, column] -= ratio * Q[q + 3, column]
        # a step that leaves little of the slope, or is not too long
        for i in range(m):
            room[2, i] = 0.0
        first = line = bend = 0.0
        for j in range(k):
            d = Q[j + 3, k] / Q[j + 3, j]
            Q[j + 3, k] = d
            first += Q[2, j] * d
            line += (penalty[j] * theta[j] - (fixed[0, j] + fixed[1, j]) / total) * d
            bend += penalty[j] * d * d
            for i in range(m):
                room[2, i] += d * Z[j, i]
        t = 1.0
        for _ in range(TRIALS):
            sum_of = 0.0
            for i in range(m):
                a = c[i] + scale * (room[0, i] - t * room[2, i])
                a = a if a > 0.0 else 0.0
                a = a if a < 1.0 else 1.0
                sum_of += w[i] * a * room[2, i]
            slope = line + t * bend - sum_of / total
            if slope <= FLAT * abs(first):
                break
            t *= max(0.1, first / (first - slope))
        for j in range(k):
            theta[j] += t * Q[j + 3, k]
        for i in range(m):
            room[0, i] -= t * room[2, i]
