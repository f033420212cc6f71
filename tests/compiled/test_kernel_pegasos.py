"""Kernel Pegasos beside its definition, linear Pegasos, exact optima and R."""

import numpy as np
import pytest

from pegasos_stats.compiled.kernel_pegasos import (
    WIDTH,
    KernelKind,
    add_gram_row,
    gram_of,
    kernel_pegasos_epoch,
    kernel_scores,
)
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.kernel_problem import (
    KernelFunction,
    KernelProblem,
    diagonal_of,
)


def code(name, *parameters, **named):
    return KernelFunction(name, *parameters, **named).code()


PRECOMPUTED, WIDE = code("precomputed"), code("gaussian", gamma=1.0)
KERNELS = [code("linear"), code("polynomial", 3, 1.0), code("gaussian", gamma=0.5)]
SHAPES = [*KERNELS, code("polynomial", 2, 0.0), code("polynomial", 3, 1.0, 0.3)]
EACH = pytest.mark.parametrize("kernel", KERNELS, ids=str)
BOTH = pytest.mark.parametrize("intercept", [False, True])


def problem(n=60, p=4, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0.3, 1.0, -1.0)


def epochs_of(n, epochs, seed=2):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.permutation(n) for _ in range(epochs)])


def fit(gram, y, rows, lam, intercept=False, pieces=1):
    counts, g, alpha, t = np.zeros(len(y), dtype=np.int64), np.zeros(len(y)), 0.0, 0
    for part in np.array_split(rows, pieces):
        alpha, violations = kernel_pegasos_epoch(
            gram, y, y, part, lam, t, counts, g, alpha, intercept
        )
        assert 0 <= violations <= len(part)
        t += len(part)
    return counts, g, alpha


def matrix_of(kernel, X):
    """All rows, asked for one after the other."""
    gram, K = gram_of(kernel, X), np.zeros((len(X), len(X)))
    for i in range(len(X)):
        add_gram_row(K[i], 1.0, gram, i)
    return K


def support_scores(kernel, X, y, counts, scale, new, alpha=0.0):
    kept = counts > 0
    return kernel_scores(kernel, X[kept], (counts / scale * y)[kept], new, alpha)


@EACH
@pytest.mark.parametrize("places", [0, 3, 25])
def test_the_budget_changes_nothing(kernel, places):
    X, y = problem()
    rows = epochs_of(60, 8)
    full, small = gram_of(kernel, X), gram_of(kernel, X, places * 8 * 60 + 16_384)
    expected, found = (fit(gram, y, rows, 0.05, True) for gram in (full, small))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    counts, g, _ = expected
    sums = matrix_of(kernel, X) @ (counts * y)
    np.testing.assert_allclose(g, sums, rtol=1e-11, atol=1e-11)
    assert full.computed == np.count_nonzero(counts) <= small.computed <= counts.sum()
    assert len(small.values) == max(1, places)
    assert np.count_nonzero(small.place >= 0) == max(1, places) - 1


@BOTH
def test_a_run_may_be_cut_anywhere(intercept):
    X, y = problem()
    rows = epochs_of(60, 5)
    whole = fit(gram_of(WIDE, X), y, rows, 0.1, intercept)
    cut = fit(gram_of(WIDE, X), y, rows, 0.1, intercept, pieces=7)
    for ours, theirs in zip(cut, whole, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def r_options(kernel):
    options = kernel._asdict()
    name = ["linear", "polynomial", "gaussian"][options.pop("kind")]
    return options | {"kernel": name}


@pytest.mark.parametrize("seed", [1, 443])
@pytest.mark.parametrize("lam", [1e-3, 0.1, 1.0])
@BOTH
@pytest.mark.parametrize("kernel", SHAPES, ids=str)
def test_counts_and_intercept_are_those_of_r(r, kernel, intercept, lam, seed):
    X, y = problem(seed=seed)
    rng = RRandom(seed)
    rows = np.concatenate([rng.permutation(60) for _ in range(4)])
    counts, _, alpha = fit(gram_of(kernel, X), y, rows, lam, intercept)
    r.eval(f"set.seed({seed})")
    options = r_options(kernel)
    theirs = r.call(
        "kernel_pegasos",
        X=X, y=y, lambda_=lam, epochs=4, intercept=intercept, **options
    )  # fmt: skip
    np.testing.assert_array_equal(rows + 1, theirs["rows"])
    np.testing.assert_array_equal(counts, theirs["counts"])
    assert counts.sum() == theirs["violations"][0]
    assert alpha.hex() == theirs["alpha"][0].hex()
    new = problem(30, seed=99)[0]
    ours = support_scores(kernel, X, y, counts, lam * 240, new, alpha)
    scores = r.call(
        "kernel_scores", new, X, y, counts, alpha, lam, len(rows), **options
    )
    rtol = 1e-13 if kernel.kind == KernelKind.GAUSSIAN else 0.0
    np.testing.assert_allclose(ours, scores, rtol=rtol, atol=rtol)


def test_precomputed_counts_are_those_of_r(r):
    X, y = problem()
    K, rows = matrix_of(WIDE, X), epochs_of(60, 4)
    counts, _, alpha = fit(gram_of(PRECOMPUTED, K), y, rows, 0.1, True)
    theirs = r.call(
        "kernel_pegasos_rows", K, y, 0.1, rows + 1, "precomputed", intercept=True
    )
    np.testing.assert_array_equal(counts, theirs["counts"])
    assert alpha.hex() == theirs["alpha"][0].hex()
    scores = r.call(
        "kernel_scores", K, X, y, counts, alpha, 0.1, len(rows), "precomputed"
    )
    ours = support_scores(PRECOMPUTED, K, y, counts, 24.0, K[:, counts > 0], alpha)
    np.testing.assert_allclose(ours, scores, rtol=1e-14)


@EACH
def test_weighted_counts_are_those_of_r(r, kernel):
    X, y = problem()
    w = np.random.default_rng(5).uniform(0.0, 2.0, 60) * (np.arange(60) % 7 > 0)
    counts, g, rows = np.zeros(60, dtype=np.int64), np.zeros(60), epochs_of(60, 4)
    alpha, violations = kernel_pegasos_epoch(
        gram_of(kernel, X), y, w * y, rows, 0.1, 0, counts, g, 0.0, True
    )
    options = r_options(kernel)
    theirs = r.call(
        "kernel_pegasos_rows",
        X=X, y=y, lambda_=0.1, rows=rows + 1, intercept=True, weights=w, **options
    )  # fmt: skip
    np.testing.assert_array_equal(counts, theirs["counts"])
    assert violations == theirs["violations"][0]
    assert alpha.hex() == theirs["alpha"][0].hex()


FUNCTIONS = [
    KernelFunction("linear"),
    KernelFunction("polynomial", 1, 0.0),
    KernelFunction("polynomial", 3, 1.5),
    KernelFunction("gaussian", gamma=0.3),
]


def normal(n, p, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_matrix_is_symmetric_in_every_bit(function):
    K = matrix_of(function.code(), normal(WIDTH + 9, 5))
    np.testing.assert_array_equal(K, K.T)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_the_diagonal_that_bounds_rounding_is_no_less_and_little_more(function, scale):
    """Of a kernel, and of the same matrix where that is given."""
    kernel = function.code()
    X = scale * normal(20, 4)
    K = matrix_of(kernel, X)
    y, given = np.where(X[:, 0] > 0.0, 1.0, -1.0), KernelFunction("precomputed")
    problems = (
        KernelProblem(X, y, 1.0, kernel=function),
        KernelProblem(K, y, 1.0, kernel=given),
    )
    for size in map(diagonal_of, problems):
        assert (np.diag(K) <= size).all()
        # above it by 1% of a product, of its power with the offset, and of the whole
        assert (size <= 1.01**4 * np.diag(K) + 1e-300).all()


@pytest.mark.parametrize("budget", [0, 10_000, 2**20, 2**29])
def test_memory_stays_within_the_budget_but_for_one_row(budget):
    gram = gram_of(KERNELS[0], normal(1500, 2))
    gram = gram_of(KERNELS[0], gram.X, budget)
    least = gram.blocks.nbytes + gram.values[:1].nbytes
    assert gram.blocks.nbytes + gram.values.nbytes <= max(budget, least)
    assert len(gram.values) >= 1
