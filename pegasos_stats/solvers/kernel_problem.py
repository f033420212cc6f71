"""Kernels, the problem of a kernel SVM, and certificates of its solutions."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pegasos_stats import compiled
from pegasos_stats.arrays import UNIT, Matrix, Rows, Vector
from pegasos_stats.checks import check_choice, check_count, check_positive, number_of
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.foreign_names import own_value
from pegasos_stats.parallel import one_thread
from pegasos_stats.solvers.certificate import Certificate, balanced, finite
from pegasos_stats.solvers.options import option, values_of
from pegasos_stats.solvers.problem import MethodRun, Problem
from pegasos_stats.solvers.rounding import MARGIN, Within
from pegasos_stats.solvers.sums import TINY

KernelName = Literal["linear", "polynomial", "gaussian", "precomputed"]
Gamma = float | Literal["scale", "auto"] | None

CHOLESKY_ROWS = 6000  # largest matrix that is factorised, within some seconds
INDEFINITE = 1e-10  # tolerated negative eigenvalue, relative to the largest entry
ASYMMETRY = 1e-8  # tolerated relative asymmetry of a precomputed kernel
NAMES: tuple[KernelName, ...] = get_args(KernelName)
OVERFLOWING = (
    "The scores overflow: they are no longer finite; divide large predictors by a "
    "constant, or give a larger lam."
)


@dataclass(frozen=True)
class KernelFunction:
    """A kernel with its parameters; parameters that it does not use are None.

    Attributes
    ----------
    name : "linear", "polynomial", "gaussian" or "precomputed"
        ``x'z``, ``(gamma x'z + offset)^degree``, ``exp(-gamma ||x - z||^2)``, or a
        matrix of values in place of X.
    degree : int or None
    offset : float or None
    gamma : float or None
        For the polynomial kernel, None means 1.
    """

    name: KernelName
    degree: int | None = option(None)
    offset: float | None = option(None)
    gamma: float | None = option(None)

    _field_rules = "offset finite"

    def __str__(self) -> str:
        words = [f"{name} {value:g}" for name, value in self.parameters.items()]
        return ", ".join([self.name, *words])

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters that are not None, by name."""
        options = values_of(self)
        del options["name"]
        return {name: value for name, value in options.items() if value is not None}

    def code(self) -> "compiled.kernel_pegasos.Kernel":
        """The kernel as arguments of the jitted functions."""
        kernels = compiled.kernel_pegasos
        degree, offset, gamma = self.degree or 1, self.offset or 0.0, self.gamma or 1.0
        kind = int(kernels.KernelKind[self.name.upper()])
        return kernels.Kernel(kind, degree, offset, gamma)

    def _conditions(self) -> Iterator[object]:
        """Check that the kernel has its parameters, with allowed values."""
        parameters = self.name, self.degree, self.offset, self.gamma
        yield checked_kernel(*parameters, lambda rule: 1.0) == self


def checked_kernel(
    name: Any,
    degree: object,
    offset: object,
    gamma: object,
    usual: Callable[[str], float],
) -> KernelFunction:
    """Build a kernel from the options of the user.

    By default, a polynomial kernel has ``degree=2``, ``offset=1`` and ``gamma=1``. A
    Gaussian kernel has the default gamma of `usual`.

    Parameters
    ----------
    name, degree, offset, gamma
        As specified by the user.
    usual : callable
        Returns the gamma of a rule: ``"scale"``, ``"auto"``, or ``"default"``.

    Raises
    ------
    OptionError
        If the name is unknown, a parameter is not allowed, or the kernel has no such
        parameter.
    """
    name = own_value("kernel", name)
    check_choice("kernel", name, NAMES)
    _refuse(name, "polynomial", degree=degree, offset=offset)
    if name != "polynomial":
        _refuse(name, "gaussian", gamma=gamma)
    if name == "polynomial":
        degree = check_count("degree", 2 if degree is None else degree, 1000)
        zero = number_of(offset) == 0.0
        offset = 1.0 if offset is None else offset
        offset = 0.0 if zero else check_positive("offset", offset)
        gamma = 1.0 if gamma is None else _checked_gamma(gamma, usual)
        return KernelFunction(name, degree, offset, None if gamma == 1.0 else gamma)
    if name == "gaussian":
        return KernelFunction(name, gamma=_checked_gamma(gamma, usual))
    return KernelFunction(name)


def _checked_gamma(gamma: object, usual: Callable[[str], float]) -> float:
    if gamma is None:
        return usual("default")
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale", "auto"))
        return usual(gamma)
    return check_positive("gamma", gamma)


def usual_gamma(X: Matrix) -> float:
    """Return ``1 / (p var(X))``, with the variance of all entries of X.

    The result is 1 if this number is not finite or not positive.

    Parameters
    ----------
    X : array, shape (n, p)

    Examples
    --------
    >>> usual_gamma(np.array([[1.0, 3.0], [1.0, 3.0]])), usual_gamma(np.ones((3, 2)))
    (0.5, 1.0)
    """
    X = np.asarray(X, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        scale = X.shape[1] * float(X.var()) if X.size else 0.0
    return 1.0 / scale if 0.0 < scale < math.inf and 1.0 / scale < math.inf else 1.0


def _refuse(name: str, owner: str, **options: object) -> None:
    for parameter, value in options.items():
        if value is not None and name != owner:
            raise OptionError(
                f"makes no sense for kernel={name!r}; it belongs to kernel={owner!r}.",
                parameter,
                value,
            )


@dataclass(frozen=True, eq=False)
class KernelProblem(Problem):
    """Minimise ``lam/2 ||f||^2 + mean(w max(0, 1 - y (f(X) + alpha)))``.

    ``f`` ranges over the functions ``sum_j b_j K(x_j, .)``.

    Attributes
    ----------
    kernel : KernelFunction
    memory : int
        Maximum size of cached rows of the Gram matrix, in bytes.
    verified : bool
        False for a precomputed matrix too large to verify that it is positive
        semi-definite: its solutions are not certified.
    """

    kernel: KernelFunction = KernelFunction("linear")
    memory: int = 512 * 2**20
    verified: bool = True

    _field_rules = f"{Problem._field_rules}, memory positive"


@dataclass(frozen=True, eq=False)
class KernelSolution:
    """Solution of a kernel problem.

    The function is ``sum_j c_j y_j K(x_j, .) / (lam T)``. For Pegasos ``c`` is the
    number of violations of each row times its weight, and ``T`` is `n_iter`. For
    working sets ``c`` is the dual weight ``a``, and ``T`` is the number of rows.

    Attributes
    ----------
    counts : int64 array, shape (n,), or None
        Violations of each row, for Pegasos.
    g : float64 array, shape (n,)
        ``sum_j c_j y_j K(x_j, x_i)``.
    alpha : float
    n_iter, n_violations : int
    seed : int or None
    n_epochs : int or None
    settled : bool
    methods : tuple of MethodRun
        As in `Solution`.
    dual : float64 array, shape (n,), or None
        Dual weights ``a`` in [0, w_i], for working sets; balanced if the intercept is
        free.
    roundings : float, optional
        Bound on the rounding error of `g` from working sets, in units of ``2^-53
        sqrt(K(x_i, x_i)) sum_j c_j sqrt(K(x_j, x_j))``.
    """

    counts: NDArray[np.int64] | None
    g: NDArray[np.float64]
    alpha: float
    n_iter: int
    n_violations: int
    seed: int | None
    n_epochs: int | None = None
    settled: bool = False
    dual: NDArray[np.float64] | None = None
    roundings: float | None = None
    methods: tuple[MethodRun, ...] = ()

    _field_rules = (
        "counts n nonnegative, dual n finite, g n finite, alpha finite, n_iter "
        "nonnegative, n_violations nonnegative, n_epochs nonnegative, seed seed"
    )

    def __post_init__(self) -> None:
        for array in (self.counts, self.g, self.dual):
            if array is not None:
                array.flags.writeable = False
        if not (np.isfinite(self.g).all() and np.isfinite(self.alpha)):
            raise DataError(OVERFLOWING)


def multiples(
    problem: KernelProblem, solution: KernelSolution
) -> tuple[np.ndarray, int]:
    """Return ``c``, shape (n,), and ``T`` of a `KernelSolution`."""
    if solution.dual is not None:
        return solution.dual, problem.n
    counts = np.asarray(solution.counts)
    c = counts if problem.weights is None else counts * problem.weights
    return c, solution.n_iter


def support_of(problem: KernelProblem, solution: KernelSolution) -> tuple[Rows, Vector]:
    """Indices of the support rows, counted from zero, and their coefficients.

    The coefficients are ``c_j y_j / (lam T)``.
    """
    c, T = multiples(problem, solution)
    support = np.flatnonzero(c)
    return support, c[support] / (problem.lam * T) * problem.y[support]


def scores_of_kernel(
    problem: KernelProblem, solution: KernelSolution, X: Matrix
) -> Vector:
    """Compute scores of the rows of `X`, shape (q,).

    Parameters
    ----------
    X : float64 array, shape (q, p)
        For a precomputed kernel ``K(x_i, x_j)`` with the n training rows.
    """
    support, coefficients = support_of(problem, solution)
    if problem.kernel.name == "precomputed":
        X = X[:, support]
    rows = support_rows(problem, support)
    return support_scores(problem.kernel, rows, coefficients, X, solution.alpha)


def support_rows(problem: KernelProblem, support: Rows) -> Matrix:
    """Return the support rows to store: none with a precomputed kernel."""
    rows = support[:0] if problem.kernel.name == "precomputed" else support
    return np.asarray(problem.X[rows])


def support_scores(
    kernel: KernelFunction, rows: Matrix, coefficients: Vector, X: Matrix, alpha: float
) -> Vector:
    """Compute ``sum_j c_j K(x_j, .) + alpha`` from support rows and coefficients.

    For a precomputed kernel `X` contains only the columns of the support.
    """
    scores: Vector = compiled.kernel_pegasos.kernel_scores(
        kernel.code(), rows, coefficients, np.ascontiguousarray(X), alpha
    )
    return scores


@one_thread()
def kernel_certificate(
    problem: KernelProblem, solution: KernelSolution, as_verified: bool = False
) -> Certificate:
    """Compute primal and dual objective of a kernel fit, with bounds on rounding.

    The gap is infinite if the matrix is not verified, unless `as_verified`.

    After ``T`` steps the primal objective ``P`` (Shalev-Shwartz et al. 2011, equation
    1) needs no further kernel value::

        f(x_i) = g_i / (lam T)
        ||f||^2 = sum_i c_i y_i g_i / (lam T)^2
        P = lam/2 ||f||^2 + mean(w_i max(0, 1 - y_i (f(x_i) + alpha)))

    The dual objective is ``D(a) = mean(a) - lam/2 ||beta(a)||^2`` at the counts of
    `feasible_counts`. It needs kernel values only between the rows whose counts that
    function changes.
    """
    counts, T = multiples(problem, solution)
    y, scale, w = problem.y, problem.lam * T, problem.row_weights
    with np.errstate(over="ignore", invalid="ignore"):
        margins = y * (solution.g / scale + solution.alpha)
        squares = float((counts * y) @ solution.g) / scale / scale
        loss = float((w * np.maximum(0.0, 1.0 - margins)).mean())
        primal = finite(0.5 * problem.lam * squares + loss)
        bounds = _bounds(problem, solution, primal, margins)
    at_zero = y[margins == 0.0]
    counts_at_zero = int((at_zero < 0).sum()), int((at_zero > 0).sum())
    errors = int((margins < 0).sum())
    at = Certificate.bounded(primal, bounds, lambda: 0.0, errors, counts_at_zero)
    if problem.verified or as_verified:
        return at
    return replace(at, dual_objective=min(0.0, primal), rounding=math.inf)


def _bounds(
    problem: KernelProblem, solution: KernelSolution, primal: float, margins: Vector
) -> tuple[Within, Within, Within]:
    """Objective, mean dual weight and ``lam/2 ||beta(a)||^2``, with rounding bounds."""
    lam, w = problem.lam, problem.row_weights
    counts, T = multiples(problem, solution)
    c = feasible_counts(problem, counts, T)
    d = counts - c
    form = float((counts * problem.y) @ solution.g) - 2.0 * float(
        (d * problem.y) @ solution.g
    )
    form += quadratic_form(problem, d * problem.y)
    cost = 0.5 * lam * (form / (lam * T) / (lam * T))
    roundings = solution.roundings
    if roundings is None:
        roundings = solution.n_violations + value_roundings(problem.kernel, problem.p)
    off, norm, dual_norm = form_errors(problem, counts, solution.g, d, roundings)
    half = 0.5 / (lam * T) / T
    moved = off / (lam * T) + 4.0 * UNIT * (np.abs(margins) + abs(solution.alpha))
    near = ~(margins >= 1.0 + moved)
    loss = float(w[near] @ moved[near]) / problem.n
    sums = 64.0 * UNIT
    mean = float(c.sum()) / T
    return (
        Within(primal, loss + half * norm + sums * primal),
        Within(mean, sums * mean),
        Within(max(0.0, cost), half * dual_norm + sums * abs(cost)),
    )


def feasible_counts(problem: KernelProblem, counts: np.ndarray, T: int) -> Vector:
    """Counts of a dual-feasible point near those of a fit, shape (n,).

    ``beta = sum_i c_i y_i phi(x_i) / (lam T)`` equals ``sum_i a_i y_i phi(x_i) / (lam
    n)`` with the dual weights ``a_i = c_i n / T``. Feasibility requires ``a_i`` in [0,
    w_i], so ``c_i <= w_i T / n``. This holds after whole epochs that visit each row
    once; otherwise larger counts are reduced to the bound, rounded down. With a free
    intercept the counts are also `balanced`, so that both classes have the same sum.
    """
    exact = T % problem.n == 0 and problem.weights is None
    most = problem.row_weights * (T / problem.n) * (1.0 if exact else 1.0 - 2.0**-51)
    c: Vector = np.minimum(counts, most).astype(np.float64)
    return balanced(c, problem.y) if problem.intercept else c


def form_errors(
    problem: KernelProblem, counts: np.ndarray, g: Vector, d: Vector, roundings: float
) -> tuple[Vector, float, float]:
    """Bound rounding errors, by ``|K(x, z)|^2 <= K(x, x) K(z, z)``.

    Each feature adds a few roundings to a kernel value, and each summed row adds one
    rounding to `g` (Higham 2002, section 3.1). `roundings` is the total number for `g`.

    Parameters
    ----------
    problem : KernelProblem
    counts, g, d : array, shape (n,)
        ``c``, ``g``, and ``c`` minus the feasible counts.
    roundings : float

    Returns
    -------
    off : float64 array, shape (n,)
        Error bounds of ``g_i``.
    norm, dual_norm : float
        Error bounds of ``sum_i c_i y_i g_i``, and of ``sum_ij c_i c_j y_i y_j K(x_i,
        x_j)`` for the feasible counts.
    """
    size = np.sqrt(diagonal_of(problem))
    unit, d = MARGIN * UNIT, np.abs(d)
    off = unit * (roundings + 8.0) * size * float(counts @ size)
    off = off + MARGIN * _added(problem) * counts
    dots = unit * (g.size + 8.0)
    norm = float(counts @ off) + dots * float(counts @ np.abs(g))
    roundings = value_roundings(problem.kernel, problem.p)
    rest = unit * (roundings + 2.0 * g.size + 16.0) * float(d @ size) ** 2
    moved = 2.0 * float(d @ off) + 2.0 * dots * float(d @ np.abs(g))
    return off, norm, norm + moved + rest


def value_roundings(kernel: KernelFunction, p: int) -> float:
    """Bound on roundings of a kernel value, relative to ``sqrt(K(x, x) K(z, z))``."""
    if kernel.name == "precomputed":
        return 0.0
    return (kernel.degree or 1) * (p + 5.0) if kernel.name == "polynomial" else p + 8.0


def diagonal_of(problem: KernelProblem) -> Vector:
    """Return an upper bound on each ``K(x_i, x_i)``, shape (n,)."""
    X, kernel = problem.X, problem.kernel
    with np.errstate(over="ignore", under="ignore"):
        if kernel.name == "precomputed":
            return np.asarray(np.maximum(0.0, np.diag(X)) * MARGIN)
        if kernel.name == "gaussian":
            return np.full(len(X), MARGIN)
        norms: Vector = np.einsum("ij,ij->i", X, X) * MARGIN + X.shape[1] * TINY
        if kernel.name == "polynomial":
            base = (kernel.gamma or 1.0) * norms + (kernel.offset or 0.0)
            norms = base ** (kernel.degree or 1) * MARGIN
        return norms


def quadratic_form(problem: KernelProblem, v: Vector) -> float:
    """Compute ``sum_ij v_i v_j K(x_i, x_j)``, in blocks of rows."""
    kernels, X, rows = compiled.kernel_pegasos, problem.X, np.flatnonzero(v)
    is_matrix, kernel = problem.kernel.name == "precomputed", problem.kernel.code()
    support, total = X[:0] if is_matrix else X[rows], 0.0
    for start in range(0, rows.size, kernels.WIDTH):
        block = rows[start : start + kernels.WIDTH]
        new = X[np.ix_(block, rows)] if is_matrix else X[block]
        scores = kernels.kernel_scores(kernel, support, v[rows], new, 0.0)
        total += float(v[block] @ scores)
    return total


def _added(problem: KernelProblem) -> float:
    """Bound the addition to the diagonal that makes the kernel positive semi-definite.

    It is 0 unless the kernel is precomputed. If the Cholesky factorisation of
    `_check_semidefinite` succeeded, the backward error of the factorisation is at most
    ``(n + 1) u`` times the trace (Higham 2002, theorem 10.3).
    """
    if problem.kernel.name != "precomputed":
        return 0.0
    n, largest = problem.n, float(np.diag(problem.X).max())
    return (INDEFINITE + UNIT * (n + 4.0) * n) * largest + TINY


def checked_gram(K: Matrix, retained: NDArray[np.bool_]) -> Matrix:
    """Select the retained rows and columns of a precomputed kernel, shape (n, n).

    Values ``K_ij`` and ``K_ji`` are replaced by their mean. They may differ by at most
    ``ASYMMETRY |K_ij| + INDEFINITE sqrt(K_ii K_jj)``.

    Parameters
    ----------
    K : float64 array, shape (n, n_rows)
        Retained rows, all columns.
    retained : bool array, shape (n_rows,)

    Raises
    ------
    DataError
        If the matrix is not square, symmetric and positive semi-definite.
    """
    if K.shape[1] != len(retained):
        raise DataError(
            f"A precomputed kernel has shape {(len(retained), K.shape[1])}; give the "
            "square matrix of values between all rows of the fit."
        )
    K = np.ascontiguousarray(K[:, retained])
    if not np.array_equal(K, K.T):
        K = _symmetric(K)
    _check_semidefinite(K)
    return K


def _symmetric(K: Matrix) -> Matrix:
    root = np.sqrt(np.maximum(0.0, np.diag(K)))
    with np.errstate(over="ignore"):
        most = ASYMMETRY * np.abs(K.T) + INDEFINITE * np.multiply.outer(root, root)
        if (np.abs(K - K.T) <= most).all():
            return 0.5 * K + 0.5 * K.T
    raise DataError(
        "The precomputed kernel is not symmetric; give K(x_i, x_j) = K(x_j, x_i)."
    )


@one_thread()
def _least_form(K: Matrix, steps: int = 80) -> float:
    """Approximate the smallest eigenvalue of ``K`` by the Lanczos method.

    Each new vector is orthogonalised twice against all earlier ones (Parlett 1998,
    6.9).
    """
    v = np.random.default_rng(1).standard_normal(len(K))
    basis, form = np.empty((steps, len(K))), np.zeros((steps, steps))
    for j in range(steps):
        basis[j] = v / np.linalg.norm(v)
        v = K @ basis[j]
        form[j, j] = basis[j] @ v
        for _ in range(2):
            v -= basis[: j + 1].T @ (basis[: j + 1] @ v)
        length = float(np.linalg.norm(v))
        if j + 1 == steps or length <= 1e-12 * float(np.abs(form).max()):
            break
        form[j, j + 1] = form[j + 1, j] = length
    vectors = np.linalg.eigh(form[: j + 1, : j + 1])[1]
    least = basis[: j + 1].T @ vectors[:, 0]
    return float(least @ (K @ least)) / float(least @ least)


def _check_semidefinite(K: Matrix) -> None:
    """Raise `DataError` for a matrix that is not positive semi-definite.

    Up to `CHOLESKY_ROWS` rows the test is a Cholesky factorisation of ``K``, with a
    small number added to the diagonal for rounding. Larger matrices are tested for two
    necessary conditions, up to rounding: ``K_ij^2 <= K_ii K_jj``, and no negative
    eigenvalue from the Lanczos method.
    """
    diagonal = np.diag(K)
    rounding = INDEFINITE * float(np.abs(diagonal).max())
    good = bool((diagonal >= 0.0).all())
    if good and len(K) <= CHOLESKY_ROWS:
        try:
            np.linalg.cholesky(K + (rounding + TINY) * np.eye(len(K)))
        except np.linalg.LinAlgError:
            good = False
    elif good:
        bound = np.sqrt(diagonal)
        good = all(
            (np.abs(row) <= (1 + INDEFINITE) * bound[i] * bound + rounding).all()
            for i, row in enumerate(K)
        )
        # The tolerance allows for rounding of v'Kv with a unit vector v.
        good = good and _least_form(K) >= -rounding * max(1.0, len(K) ** 2 * 1e-5)
    if not good:
        raise DataError(
            "The precomputed kernel is not positive semi-definite, so it is not the "
            "matrix of a kernel; give the values of a kernel."
        )
