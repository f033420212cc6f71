"""Changes of dual weights in the last bits, so that sums over far columns cancel.

At the optimum ``sum_i a_i y_i x_ij = lam n beta_j``. In a column of dates in
nanoseconds the left side is a sum of numbers of 1e15 that cancel to 1e-15; with
weights rounded to doubles, numbers of about 0.1 are left, and the dual pays for their
squares over ``2 lam n^2``, which may be more than the whole objective. The weights are
multiples of one power of two (`feasible`), so that they cannot be had more exactly. But
a unit can be moved from one row to another: ``n^2`` pairs have as many different
``x_i - x_k``, and among them is one that is close to what is left. Where much is left,
the weights first go along the slopes of the log loss. Without intercept no balance has
to be kept: weights that are 0 take what is left, or some go to the next doubles.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pegasos_stats.solvers.objective import feasible
from pegasos_stats.solvers.problem import Problem

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

DIGITS = 53  # of a double
NOISE = 1e-9  # of the mean weight, about the objective: what rounding may cost
HUGE = 1e100  # length of a row whose square does not overflow
MOST_ROWS = 400  # of each side that pairs are sought from
FEW = 200  # the same, where the rows are tried often
LEFT = 2.0**-36  # of a weight: more than rounding takes, and next to nothing
SPENT = 1e-8  # of the mean weight: what need not be moved
FEWEST = 20  # rows whose weights move by more than they are rounded
MOST_MOVES = 60
MOST_ROUNDS = 4  # each leaves a part in 10^16 of what was left before


def cancelled(problem: Problem, a: Vector, beta: Vector) -> Vector:
    """Return weights that the dual allows, moved by units where columns are far.

    Parameters
    ----------
    problem : Problem
        With dense rows; the weights of sparse ones are `feasible` only.
    a : float64 array, shape (n,)
    beta : float64 array, shape (p,)
        Coefficients that the weights are to give.

    Examples
    --------
    >>> X = 1e15 * np.array([[0.3], [0.1], [0.7], [0.2]])
    >>> problem = Problem(X, np.array([1.0, -1.0, -1.0, 1.0]), lam=1e-3)
    >>> a = np.array([0.9, 0.3, 0.2, 0.1])
    >>> float(cancelled(problem, a, np.zeros(1)) @ problem.y)
    0.0
    """
    a = feasible(a, problem.y, problem.intercept, problem.row_weights)
    X = problem.X
    if not (isinstance(X, np.ndarray) and a.any()):
        return a
    unit = float(np.ldexp(1.0, int(np.frexp(a.max())[1]) - DIGITS))
    if unit == 0.0:
        return a  # as small as doubles can be
    least = np.sqrt(NOISE * 2.0 * problem.lam * problem.n * a.mean()) / unit
    if not least < problem.radius < HUGE:
        return a
    far = np.sqrt(np.square(X.astype(np.float64)).mean(axis=0)) > least
    if not far.any():
        return a
    given = X[:, far].astype(np.float64), beta[far]
    if not problem.intercept:
        return _moved_alone(problem, _raised(problem, a, *given), *given)
    return _moved(problem, a, unit, *given)


@np.errstate(over="ignore")
def _raised(problem: Problem, a: Vector, X: Matrix, beta: Vector) -> Vector:
    """Raise weights that are 0, as long as less is left after it.

    Near 0 doubles are dense: what rounding of the others left is met exactly enough.
    Where rows of one class alone are at 0, the others first leave what these can meet.
    """
    from scipy.optimize import lsq_linear

    y, w, goal = problem.y, problem.row_weights, problem.lam * problem.n * beta
    rows = _some((a <= 0.0) & (w > 0.0), FEW)
    scale = np.abs(X).max(axis=0)
    Z = (X[rows] * y[rows, None] / scale).T
    raised, before = a, np.inf
    if rows.size and abs(y[rows].sum()) == rows.size:
        raised = np.minimum(np.where(a < w, a * (1.0 - LEFT * y[rows[0]] * y), a), w)
    left, least = _sums(X, y * a, goal) / scale, a
    at = _sums(X, y * raised, goal) / scale
    for _ in range(MOST_ROUNDS if rows.size else 0):
        size = float(np.abs(at).max())
        if not 0.0 < size < before or (raised > w).any():
            break
        bounds, before, raised = (-raised[rows] / size, np.inf), size, raised.copy()
        raised[rows] += size * lsq_linear(Z, -at / size, bounds, "bvls").x
        raised[rows] = np.maximum(raised[rows], 0.0)
        at = _sums(X, y * raised, goal) / scale
        if np.abs(at).max() < np.abs(left).max() and not (raised > w).any():
            least, left = raised, at
    return least


@np.errstate(over="ignore")
def _moved_alone(problem: Problem, a: Vector, X: Matrix, beta: Vector) -> Vector:
    """Move weights along the slopes of the loss, then some rows to the next doubles.

    The smallest weights last, whose doubles are the densest.
    """
    y, w, n = problem.y, problem.row_weights, problem.n
    enough = n * np.sqrt(2.0 * problem.lam * SPENT * a.mean())
    goal, scale = problem.lam * n * beta, np.abs(X).max(axis=0)
    left, inside = _sums(X, y * a, goal), np.flatnonzero((a > 0.0) & (a < w))
    rows, Z, h = inside, X / scale * y[:, None], _slopes(a, w)
    for _ in range(MOST_ROUNDS if inside.size else 0):
        found = a.copy()
        found[rows] -= _along_slopes(Z[rows], h[rows], left / scale)
        found = np.clip(found, 0.0, w)
        rest = _sums(X, y * found, goal)
        if rest @ rest < left @ left:
            a, left = found, rest
        rows = inside[np.argsort(a[inside], kind="stable")[:FEWEST]]
    for _ in range(MOST_ROUNDS):
        if np.abs(left).max() <= enough:
            break
        _move_each_once(a, y, w, X, left)
        left = _sums(X, y * a, goal)
    return a


def _move_each_once(a: Vector, y: Vector, w: Vector, X: Matrix, left: Vector) -> None:
    """Move rows to the next double, in place and each at most once."""
    higher, lower = np.nextafter(a, w), np.nextafter(a, 0.0)
    rise, fall = X * (y * (higher - a))[:, None], X * (y * (lower - a))[:, None]
    fresh, none = np.ones(a.size, dtype=bool), np.zeros((1, X.shape[1]))
    for _ in range(MOST_MOVES):
        up, down = _some(fresh & (higher > a), FEW), _some(fresh & (lower < a), FEW)
        both = np.vstack([rise[up], none])[:, None] + np.vstack([fall[down], none])
        rest = np.square(both + left).sum(axis=2)
        i, k = np.unravel_index(int(rest.argmin()), rest.shape)
        if not rest[i, k] < left @ left:
            return  # none is closer
        left = left + both[i, k]
        for places, which, to in ((up, i, higher), (down, k, lower)):
            if which < places.size:
                a[places[which]], fresh[places[which]] = to[places[which]], False


@np.errstate(over="ignore")  # what is far above the units is not moved
def _moved(problem: Problem, a: Vector, unit: float, X: Matrix, beta: Vector) -> Vector:
    """Move a unit between two rows, as long as less is left after it."""
    y, w = problem.y, problem.row_weights
    counts, most = np.rint(a / unit), np.floor(w / unit)
    goal = problem.lam * problem.n * beta / unit
    counts = _met(y, counts, most, X, goal)
    exact = _exact_sums(X, y * counts, goal)
    for _ in range(MOST_MOVES):
        left = np.array([float(rest) for rest in exact])
        rises = np.where(y > 0.0, counts < most, counts > 0.0)
        falls = np.where(y > 0.0, counts > 0.0, counts < most)
        up, down = _some(rises), _some(falls)
        apart = X[up][:, None, :] - X[down][None, :, :] + left
        rest = np.square(apart).sum(axis=2)
        i, k = np.unravel_index(int(rest.argmin()), rest.shape)
        if not rest[i, k] < left @ left:
            break  # none is closer
        counts[up[i]] += y[up[i]]
        counts[down[k]] -= y[down[k]]
        apart_by = map(Fraction, X[up[i]].tolist()), map(Fraction, X[down[k]].tolist())
        exact = [rest + x - z for rest, x, z in zip(exact, *apart_by, strict=True)]
    return counts * unit


def _met(y: Vector, counts: Vector, most: Vector, X: Matrix, goal: Vector) -> Vector:
    """Counts whose sums are the goal, but for rounding, in balance as these are.

    The slopes of the loss say how far each goes; then a few go, which round less.
    """
    h, scale = _slopes(counts, most), np.abs(X).max(axis=0)
    Z = np.column_stack([X / scale, np.ones(len(X))]) * y[:, None]
    left, rows = _sums(X, y * counts, goal), np.flatnonzero(h > 0.0)
    few = rows[np.argsort(-h[rows], kind="stable")[:FEWEST]]
    for _ in range(MOST_ROUNDS if few.size else 0):
        given = Z[rows], h[rows], np.append(left / scale, 0.0)
        found = counts.copy()
        found[rows] = np.rint(counts[rows] - _along_slopes(*given))
        found = np.clip(found, 0.0, most)
        rest = float((y * (found - counts)).sum())
        inside = np.flatnonzero((found > 0.0) & (found < most))[: int(abs(rest))]
        if inside.size < abs(rest):
            break
        found[inside] -= np.sign(rest) * y[inside]
        after = _sums(X, y * found, goal)
        if after @ after < left @ left:
            counts, left = found, after
        rows = few
    return counts


def _slopes(a: Vector, w: Vector) -> Vector:
    """``a (1 - a / w)``: how far weights of the log loss go with their margins."""
    share = np.divide(a, w, out=np.zeros(a.size), where=w > 0.0)
    return np.asarray(a * (1.0 - np.minimum(share, 1.0)))


def _along_slopes(Z: Matrix, h: Vector, wanted: Vector) -> Vector:
    """Moves in proportion to ``h`` and ``Z``, so that ``Z'moves`` is what is wanted."""
    return h * (Z @ np.linalg.lstsq((Z * h[:, None]).T @ Z, wanted, rcond=None)[0])


def _some(allowed: NDArray[np.bool_], most: int = MOST_ROWS) -> NDArray[np.int64]:
    """Rows that are allowed, or so many of them, evenly."""
    rows = np.flatnonzero(allowed)
    return rows[:: -(-rows.size // most) or 1]


def _sums(X: Matrix, counts: Vector, goal: Vector) -> Vector:
    """``sum_i counts_i x_i - goal``, rounded once."""
    return np.array([float(rest) for rest in _exact_sums(X, counts, goal)])


def _exact_sums(X: Matrix, counts: Vector, goal: Vector) -> list[Fraction]:
    """``sum_i counts_i x_i - goal``."""
    whole = [Fraction(count) for count in counts.tolist()]
    found = []
    for column, part in zip(X.T.tolist(), goal.tolist(), strict=True):
        products = (c * Fraction(x) for c, x in zip(whole, column, strict=True))
        found.append(sum(products, -Fraction(part)))
    return found
