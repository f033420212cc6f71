"""Certificates hold in real arithmetic: the risk in fractions, or to 60 digits."""

import warnings
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.solvers.intercept import best_intercept
from pegasos_stats.solvers.optimum_run import run_to_optimum
from pegasos_stats.solvers.pegasos import BY_STEPS
from tests.solvers.exactly import TEN, fractions, risk, signs_of

DIGITS = Fraction(1, 10**30)  # of a log loss, far below every bound

COLUMNS = {
    "near zero": lambda X, rng: X,
    "far": lambda X, rng: X + 1e12,
    "negative and far": lambda X, rng: X - 1e8,
    "one far": lambda X, rng: (
        X + np.eye(1, X.shape[1]) * -(10.0 ** rng.integers(3, 17))
    ),
    "groups of rows": lambda X, rng: X + 1e9 * (np.arange(len(X)) % 2)[:, None],
    "one far row": lambda X, rng: X + 1e15 * (np.arange(len(X)) == 1)[:, None],
    "nanoseconds": lambda X, rng: X * 1e13 + 1.7e18,
    "scales": lambda X, rng: X * 10.0 ** rng.integers(-140, 140, X.shape[1]),
    "few scales": lambda X, rng: X * 10.0 ** rng.integers(-6, 6, X.shape[1]),
    "constant": lambda X, rng: np.where(np.arange(X.shape[1]) == 0, 7e15, X),
    "tied": lambda X, rng: np.round(X),
    "repeated rows": lambda X, rng: X[rng.integers(max(1, len(X) // 3), size=len(X))],
    "tiny": lambda X, rng: X * 1e-170,
    "huge": lambda X, rng: X * 1e160,
    "zero": lambda X, rng: 0.0 * X,
}
WEIGHTS = {
    "none": lambda n, rng: None,
    "random": lambda n, rng: rng.exponential(size=n),
    "of all sizes": lambda n, rng: 10.0 ** rng.uniform(-15, 0, n),
    "some zero": lambda n, rng: (np.arange(n) % 3 < 2) * (1.0 + rng.random(n)),
}
SOLVERS = {
    "Pegasos": lambda n, seed: ps.Pegasos(epochs=3, seed=seed),
    "average": lambda n, seed: ps.Pegasos(epochs=4, seed=seed, average="all"),
    "drawn": lambda n, seed: ps.Pegasos(order="replace", steps=20, seed=seed),
    "subsets": lambda n, seed: ps.Pegasos(
        order="subset", steps=20, batch_size=(n + 1) // 2, seed=seed
    ),
    "projected": lambda n, seed: ps.Pegasos(epochs=3, seed=seed, project=True),
    "batches": lambda n, seed: ps.Pegasos(epochs=3, seed=seed, batch_size=min(n, 3)),
    "fast": lambda n, seed: ps.Pegasos(epochs=3, seed=seed, arithmetic="fast"),
    "SDCA": lambda n, seed: ps.SDCA(tol=1e-4, seed=seed, start="sgd"),
    "SDCA, average": lambda n, seed: ps.SDCA(5, tol=0, seed=seed, average=3),
    "SDCA, random stop": lambda n, seed: ps.SDCA(5, tol=0, seed=seed, random_stop=3),
    "Optimum": lambda n, seed: ps.Optimum(tol=1e-4, seed=seed),
    "Optimum, close": lambda n, seed: ps.Optimum(tol=1e-11, epochs=40, seed=seed),
}
LAMBDAS = [5e-324, 1e-160, 1e-12, 1e-6, 1e-3, 0.03, 0.1, 1.0, 10.0, 1e3, 1e300]


@pytest.mark.fuzz
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 12),
    p=st.integers(1, 15),
    columns=st.sampled_from(sorted(COLUMNS)),
    weights=st.sampled_from(sorted(WEIGHTS)),
    solver=st.sampled_from(sorted(SOLVERS)),
    lam=st.sampled_from(LAMBDAS),
    storage=st.sampled_from(["dense", "dense", "float32", "sparse"]),
    loss=st.sampled_from(["hinge", "log", "squared_hinge"]),
    intercept=st.sampled_from([True, True, False]),
)
def test_no_certificate_lies(
    seed, n, p, columns, weights, solver, lam, storage, loss, intercept
):
    rng = np.random.default_rng(seed)
    X = COLUMNS[columns](rng.normal(size=(n, p)), rng)
    if storage == "float32":
        X = np.clip(X, -1e38, 1e38).astype(np.float32)
    w = WEIGHTS[weights](n, rng)
    y = np.where(rng.random(n) < rng.choice([0.2, 0.5]), 1, -1)
    y[:2] = 1, -1
    model = ps.Logit if loss == "log" else partial(ps.SVM, loss=loss)
    intercept = intercept and not solver.startswith("SDCA")
    given_rows = csr_array(X) if storage == "sparse" else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ps.errors.ConvergenceWarning)
        try:
            fit = model(y, given_rows, lam=lam, intercept=intercept, weights=w).fit(
                SOLVERS[solver](n, seed)
            )
            at = fit.certificate
        except ps.errors.DataError:
            return  # it says that something overflows
    assert at.gap >= 0.0
    assert at.dual_objective >= 0.0
    if at.gap == np.inf:
        return
    found = fractions(fit.solution.beta), Fraction(float(fit.solution.alpha))
    points = [found, *others(fit, np.asarray(X, dtype=np.float64))]
    rows, signs = fractions(X), fit.problem.y
    weights = [fractions(fit.problem.row_weights)]
    if w is not None:  # of mean 1, but for rounding and without it
        weights.append(fractions(w) * n / sum(fractions(w)))
    for each in weights:
        risks = [risk(rows, signs, lam, loss, each, *point) for point in points]
        rounding = DIGITS * risks[0] if loss == "log" else 0
        assert Fraction(at.dual_objective) <= min(risks) + rounding
        assert risks[0] - Fraction(at.gap) <= min(risks) + rounding


def others(fit, X):
    """Points of small risk: exact numbers, found for columns near zero."""
    problem, free = fit.problem, fit.problem.intercept
    yield fractions(np.zeros(X.shape[1])), Fraction(0)
    centre = np.median(X, axis=0) if free else np.zeros(X.shape[1])
    near = replace(problem, X=np.ascontiguousarray(X - centre))
    try:
        best = run_to_optimum(
            near, ps.Optimum(tol=1e-13, epochs=100, seed=1), warn=False
        )
    except ps.errors.DataError:
        return
    yield moved(best.beta, best.alpha, centre)
    if free:
        scores = near.X @ fit.solution.beta
        if np.isfinite(scores).all():
            given = scores, problem.y, problem.loss, problem.weights
            yield moved(fit.solution.beta, best_intercept(*given), centre)


def moved(beta, alpha, centre):
    """``beta`` and ``alpha - centre'beta``, exactly."""
    beta = fractions(beta)
    return beta, Fraction(float(alpha)) - fractions(centre) @ beta


KERNELS = {
    "linear": lambda p: {},
    "polynomial": lambda p: {"degree": 3, "offset": 1.0},
    "scaled polynomial": lambda p: {"degree": 3, "offset": 1.0, "gamma": 1.0 / p},
    "gaussian": lambda p: {"gamma": 1.0 / p},
    "wide gaussian": lambda p: {"gamma": 1e-7},
    "narrow gaussian": lambda p: {"gamma": 300.0},
}


@pytest.mark.fuzz
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 10),
    p=st.integers(1, 4),
    columns=st.sampled_from(sorted(COLUMNS)),
    weights=st.sampled_from(sorted(WEIGHTS)),
    kernel=st.sampled_from(sorted(KERNELS)),
    lam=st.sampled_from([1e-12, 1e-3, 0.1, 1.0, 1e3]),
    order=st.sampled_from(["shuffle", "sequential", "replace", "subset"]),
    intercept=st.sampled_from([True, False]),
)
def test_no_certificate_of_a_kernel_lies(
    seed, n, p, columns, weights, kernel, lam, order, intercept
):
    rng = np.random.default_rng(seed)
    X = COLUMNS[columns](rng.normal(size=(n, p)), rng)
    w = WEIGHTS[weights](n, rng)
    y = np.where(rng.random(n) < rng.choice([0.2, 0.5]), 1, -1)
    y[:2] = 1, -1
    length = {"steps": 25} if order in BY_STEPS else {"epochs": 4}
    options = {"intercept": intercept, "weights": w, **KERNELS[kernel](p)}
    options |= {"lam": lam, "kernel": kernel.split()[-1], "standardize": False}
    model = ps.KernelSVM(y, X, **options)
    fits = fits_of(model, seed, order, length)
    check_kernel_certificates(fits, gram_of(fractions(X), KERNELS[kernel](p)))


@pytest.mark.fuzz
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 10),
    p=st.integers(1, 4),
    apart=st.sampled_from([0.0, 1e-16, 1e-12, 9e-9]),
    scale=st.sampled_from([1e-200, 1e-9, 1.0, 1e9]),
    weights=st.sampled_from(sorted(WEIGHTS)),
    lam=st.sampled_from([1e-12, 1e-3, 0.1, 1.0, 1e3]),
)
def test_no_certificate_of_a_given_matrix_lies(seed, n, p, apart, scale, weights, lam):
    """Rows may repeat, mirrored values differ, and a little be missing on the diagonal.

    The certificate is that of the kernel with it: that of the matrix lies nowhere.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))[rng.integers(n, size=n)]
    K = scale * np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    K[np.triu_indices(n, 1)] *= 1.0 + apart * rng.uniform(-1, 1, n * (n - 1) // 2)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    y[:2] = 1, -1
    w = WEIGHTS[weights](n, rng)
    if np.linalg.eigvalsh((K + K.T) / 2).min() < -0.9e-10 * scale:
        return  # far from a kernel, and refused where it is farther
    model = ps.KernelSVM(y, K, lam=lam, kernel="precomputed", weights=w)
    used = model.problem.X
    np.testing.assert_array_equal(used, used.T)
    # Half of each may be taken before or after the sum: one rounding.
    np.testing.assert_allclose(used, (K + K.T) / 2, rtol=1e-15)
    fits = fits_of(model, seed, "shuffle", {"epochs": 4})
    missing = Fraction(max(0.0, -np.linalg.eigvalsh(used).min()))
    check_kernel_certificates(fits, with_diagonal(used, missing))


@pytest.mark.parametrize("lam", [1e-9, 1e-8, 1e-3])
def test_what_a_given_matrix_lacks_of_a_kernel_counts(lam):
    """``K + 1e-10 I`` is a kernel, whose functions leave a risk below 1."""
    more, near = 1e-10, 1.0 + 0.9e-10
    K = np.array([[1.0, near], [near, 1.0]])
    model = ps.KernelSVM([0, 1], K, kernel="precomputed", lam=lam, intercept=False)
    fit = model.fit(ps.Pegasos(epochs=50, seed=1))
    gram = with_diagonal(K, Fraction(more))
    value = gram[0][0] - gram[0][1]  # of the function (1, -1) at both rows
    size = 1 / (2 * Fraction(lam))
    risk_of_it = Fraction(lam) * size * size * value + max(0, 1 - size * value)
    assert risk_of_it < 1
    assert Fraction(fit.certificate.dual_objective) <= risk_of_it


def with_diagonal(K, more):
    """A matrix in fractions with more on its diagonal."""
    return fractions(K) + np.eye(len(K), dtype=object) * more


def fits_of(model, seed, order, length):
    """A short fit, and a longer one; none where they say that something overflows."""
    free = model.problem.intercept
    longer = ps.Pegasos(epochs=60, seed=seed, refit_intercept=free)
    short = ps.Pegasos(seed=seed, order=order, **length)
    try:
        fits = [model.fit(solver) for solver in (short, longer)]
        return [fit for fit in fits if fit.certificate]
    except ps.errors.DataError:
        return []


def check_kernel_certificates(fits, gram):
    """No bound is above the risk of any of the fits, or of the function 0."""
    if not fits:
        return
    each = fractions(fits[0].problem.row_weights)
    risks = [kernel_risk(gram, fit, each) for fit in fits]
    least = min(*risks, kernel_risk(gram, fits[0], each, of_nothing=True))
    rounding = DIGITS * least  # of the values of a Gaussian kernel
    for fit, of_fit in zip(fits, risks, strict=True):
        at = fit.certificate
        assert at.gap >= 0.0
        if at.gap < np.inf:
            assert Fraction(at.dual_objective) <= least + rounding
            assert of_fit - Fraction(at.gap) <= least + rounding


def gram_of(rows, options):
    """Values of the kernel in fractions, those of a Gaussian to 50 digits."""
    if "gamma" in options and "degree" not in options:
        squares = ((rows[:, None] - rows) ** 2).sum(axis=2)
        return np.vectorize(gaussian, otypes=[object])(
            squares * Fraction(options["gamma"])
        )
    offset = Fraction(options.get("offset", 0))
    gamma = Fraction(options.get("gamma", 1))
    return (gamma * (rows @ rows.T) + offset) ** options.get("degree", 1)


def gaussian(square):
    """``exp(-square)``; 0 where it is below every double by far."""
    if square > 2000:
        return Fraction(0)
    return Fraction(TEN.exp(-TEN.divide(square.numerator, square.denominator)))


def kernel_risk(gram, fit, weights, of_nothing=False):
    """Risk of the function of a kernel fit in fractions."""
    found, lam = fit.solution, Fraction(fit.problem.lam)
    signs = signs_of(fit.problem.y)
    alpha, each = Fraction(float(found.alpha)), found.counts.astype(object) * weights
    each = each * signs / (lam * found.n_iter)
    if of_nothing:
        alpha, each = Fraction(0), 0 * each
    f = gram @ each
    losses = np.maximum(Fraction(0), 1 - signs * (f + alpha))
    return lam / 2 * (each @ f) + weights @ losses / len(gram)
