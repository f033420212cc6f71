"""Kernel Pegasos beside its definition, linear Pegasos, exact optima and R."""

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.svm import SVC

from pegasos_stats.compiled.pegasos.gram import (
    COMPUTED,
    HITS,
    WIDTH,
    KernelKind,
    add_gram_row,
    gaussian,
    gram_of,
    linear,
    polynomial,
    precomputed,
)
from pegasos_stats.compiled.pegasos.kernel_pegasos import (
    feasible_counts,
    kernel_dual,
    kernel_pegasos_epoch,
    kernel_primal,
    kernel_scores,
    quadratic_form,
    squared_norm,
)
from pegasos_stats.rng import RRandom

KERNELS = [linear(), polynomial(3, 1.0), gaussian(0.5)]
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
    gram, K = gram_of(kernel, X), np.zeros((len(X), len(X)))
    for i in range(len(X)):
        add_gram_row(K[i], 1.0, gram, np.zeros(len(X), dtype=np.int64), i)
    return K


def by_definition(K, y, rows, lam, intercept):
    """Section 3 of the algorithms: the whole sum at every step."""
    counts, alpha = np.zeros(len(y), dtype=np.int64), 0.0
    for t, i in enumerate(rows, start=1):
        f = alpha if t == 1 else (counts * y) @ K[:, i] / (lam * (t - 1)) + alpha
        if y[i] * f < 1.0:
            counts[i] += 1
            alpha += intercept * y[i] / (lam * t)
    return counts, alpha


def linear_pegasos(X, y, rows, lam):
    counts, beta = np.zeros(len(y), dtype=np.int64), np.zeros(X.shape[1])
    for t, i in enumerate(rows, start=1):
        violates = y[i] * (X[i] @ beta) < 1.0
        counts[i] += violates
        beta -= 1.0 / (lam * t) * (lam * beta - violates * y[i] * X[i])
    return counts, beta


def support_scores(kernel, X, y, counts, scale, new, alpha=0.0):
    kept = counts > 0
    return kernel_scores(kernel, X[kept], (counts / scale * y)[kept], new, alpha)


@BOTH
@EACH
def test_counts_are_those_of_the_definition(kernel, intercept):
    X, y = problem()
    rows = epochs_of(60, 6)
    counts, g, alpha = fit(gram_of(kernel, X), y, rows, 0.1, intercept)
    K = matrix_of(kernel, X)
    expected, expected_alpha = by_definition(K, y, rows, 0.1, intercept)
    np.testing.assert_array_equal(counts, expected)
    assert alpha == pytest.approx(expected_alpha, rel=1e-13)
    np.testing.assert_allclose(g, K @ (counts * y), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("lam", [1e-3, 0.1, 1.0])
def test_linear_kernel_is_linear_pegasos(lam, seed):
    X, y = problem(80, 5, seed)
    rows = np.random.default_rng(seed).integers(0, 80, 400)
    counts, g, _ = fit(gram_of(linear(), X), y, rows, lam)
    expected, beta = linear_pegasos(X, y, rows, lam)
    np.testing.assert_array_equal(counts, expected)
    np.testing.assert_allclose(g / (lam * 400), X @ beta, rtol=1e-9, atol=1e-9)
    new = np.random.default_rng(seed).normal(size=(WIDTH + 3, 5))
    scores = support_scores(linear(), X, y, counts, lam * 400, new)
    np.testing.assert_allclose(scores, new @ beta, rtol=1e-9, atol=1e-9)


@EACH
@pytest.mark.parametrize("places", [0, 3, 25])
def test_the_budget_changes_nothing(kernel, places):
    X, y = problem()
    rows = epochs_of(60, 8)
    full, small = gram_of(kernel, X), gram_of(kernel, X, places * 8 * 60 + 16_384)
    expected, found = (fit(gram, y, rows, 0.05, True) for gram in (full, small))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert len(full.owner) == 60
    assert len(small.owner) == max(1, places)
    assert full.tally[COMPUTED] == np.count_nonzero(expected[0])
    assert small.tally[HITS] + small.tally[COMPUTED] == expected[0].sum()


@EACH
def test_precomputed_is_the_same(kernel):
    X, y = problem()
    rows, K = epochs_of(60, 5), matrix_of(kernel, X)
    expected = fit(gram_of(kernel, X), y, rows, 0.1, True)
    found = fit(gram_of(precomputed(), K), y, rows, 0.1, True)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    counts, g, alpha = found
    new = K[:, counts > 0]
    ours = support_scores(precomputed(), K, y, counts, 30.0, new, alpha)
    theirs = support_scores(kernel, X, y, counts, 30.0, X, alpha)
    np.testing.assert_array_equal(ours, theirs)
    dual = kernel_dual(precomputed(), K, y, counts, g, 0.1, 300, True)
    assert dual == kernel_dual(kernel, X, y, counts, g, 0.1, 300, True)


@BOTH
def test_a_run_may_be_cut_anywhere(intercept):
    X, y = problem()
    rows = epochs_of(60, 5)
    whole = fit(gram_of(gaussian(1.0), X), y, rows, 0.1, intercept)
    cut = fit(gram_of(gaussian(1.0), X), y, rows, 0.1, intercept, pieces=7)
    for ours, theirs in zip(cut, whole, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@EACH
def test_scores_of_the_rows_of_the_fit(kernel):
    X, y = problem()
    counts, g, alpha = fit(gram_of(kernel, X), y, epochs_of(60, 5), 0.1, True)
    scores = support_scores(kernel, X, y, counts, 0.1 * 300, X, alpha)
    np.testing.assert_allclose(scores, g / 30.0 + alpha, rtol=1e-10, atol=1e-10)


def test_no_support_row_leaves_the_intercept():
    nothing = np.empty((0, 2))
    scores = kernel_scores(gaussian(1.0), nothing, np.empty(0), np.ones((3, 2)), 0.5)
    assert scores.tolist() == [0.5, 0.5, 0.5]
    assert kernel_scores(linear(), nothing, np.empty(0), nothing, 0.5).shape == (0,)


def test_degree_2_separates_rings_that_no_line_separates():
    rng = np.random.default_rng(3)
    angle, radius = rng.uniform(0, 2 * np.pi, 200), np.repeat([1.0, 2.0], 100)
    radius = radius + rng.uniform(-0.2, 0.2, 200)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    y, rows = np.repeat([-1.0, 1.0], 100), epochs_of(200, 20)
    errors = {}
    for kernel, intercept in ((linear(), True), (polynomial(2, 1.0), False)):
        _, g, alpha = fit(gram_of(kernel, X), y, rows, 0.01, intercept)
        f = g / (0.01 * len(rows)) + alpha
        errors[kernel.degree] = int((y * f <= 0).sum())
    assert errors[2] == 0
    assert errors[1] >= 50


def optimum_without_intercept(K, y, lam):
    """Smallest primal value, by coordinate ascent of the dual until it stands still."""
    n = len(y)
    Q, a = K * np.outer(y, y) / (lam * n), np.zeros(n)
    for _ in range(5000):
        before = a.copy()
        for i in range(n):
            a[i] = np.clip(a[i] + (1.0 - Q[i] @ a) / Q[i, i], 0.0, 1.0)
        if np.abs(a - before).max() < 1e-12:
            break
    return a.mean() - a @ Q @ a / (2.0 * n)


def optimum_with_intercept(K, y, lam):
    """Primal value of scikit-learn's exact solver."""
    svc = SVC(kernel="precomputed", C=1.0 / (lam * len(y)), tol=1e-9).fit(K, y)
    a, rows = svc.dual_coef_[0], svc.support_
    norm2 = a @ K[np.ix_(rows, rows)] @ a
    loss = np.maximum(0.0, 1.0 - y * svc.decision_function(K)).mean()
    return lam / 2.0 * norm2 + loss


@pytest.mark.parametrize("order", ["shuffle", "replace", "cut short"])
@pytest.mark.parametrize("lam", [0.01, 0.1, 1.0])
@BOTH
@EACH
def test_the_optimum_lies_between_dual_and_primal(kernel, intercept, lam, order):
    X, y = problem()
    rows = epochs_of(60, 100)
    if order == "replace":
        rows = np.random.default_rng(4).integers(0, 60, 6000)
    if order == "cut short":
        rows = rows[:91]
    counts, g, alpha = fit(gram_of(kernel, X), y, rows, lam, intercept)
    T = len(rows)
    primal = kernel_primal(y, counts, g, lam, T, alpha)
    dual = kernel_dual(kernel, X, y, counts, g, lam, T, intercept)
    K = matrix_of(kernel, X)
    solve = optimum_with_intercept if intercept else optimum_without_intercept
    optimum = solve(K, y, lam)
    assert dual <= optimum + 1e-7
    assert optimum <= primal + 1e-7
    if kernel.kind == KernelKind.GAUSSIAN and lam == 1.0 and order == "shuffle":
        assert primal - dual < 0.03 * primal


@BOTH
@EACH
@pytest.mark.parametrize("steps", [45, 120, 300])
def test_primal_and_dual_from_the_whole_matrix(kernel, intercept, steps):
    X, y = problem()
    lam, rows = 0.1, np.random.default_rng(8).integers(0, 60, steps)
    counts, g, alpha = fit(gram_of(kernel, X), y, rows, lam, intercept)
    K = matrix_of(kernel, X)
    w = counts * y / (lam * steps)
    norm2 = w @ K @ w
    loss = np.maximum(0.0, 1.0 - y * (K @ w + alpha)).mean()
    assert squared_norm(y, counts, g, lam, steps) == pytest.approx(norm2, rel=1e-11)
    primal = kernel_primal(y, counts, g, lam, steps, alpha)
    assert primal == pytest.approx(lam / 2.0 * norm2 + loss, rel=1e-11)
    a = feasible_counts(y, counts, steps, intercept) * 60 / steps
    assert (a >= 0.0).all()
    assert (a <= 1.0 + 1e-15).all()
    assert not intercept or abs(a @ y) < 1e-12 * a.sum()
    w = a * y / (lam * 60)
    dual = a.mean() - lam / 2.0 * (w @ K @ w)
    found = kernel_dual(kernel, X, y, counts, g, lam, steps, intercept)
    assert found == pytest.approx(dual, rel=1e-9, abs=1e-9)


def test_whole_epochs_are_feasible_as_they_are():
    X, y = problem()
    counts, _, _ = fit(gram_of(linear(), X), y, epochs_of(60, 7), 1.0)
    assert counts.max() == 7
    np.testing.assert_array_equal(feasible_counts(y, counts, 420, False), counts)


def test_one_class_alone_has_the_dual_point_zero():
    X, _ = problem(20)
    y = np.ones(20)
    counts, g, _ = fit(gram_of(linear(), X), y, epochs_of(20, 2), 0.1, True)
    assert kernel_dual(linear(), X, y, counts, g, 0.1, 40, True) == 0.0


@EACH
def test_quadratic_form_goes_over_several_blocks(kernel):
    X, _ = problem(2 * WIDTH + 7)
    v = np.random.default_rng(0).normal(size=len(X))
    v[::5] = 0.0
    K = matrix_of(kernel, X)
    assert quadratic_form(kernel, X, v) == pytest.approx(v @ K @ v, rel=1e-9)
    assert quadratic_form(precomputed(), K, v) == pytest.approx(v @ K @ v, rel=1e-9)
    assert quadratic_form(kernel, X, np.zeros(len(X))) == 0.0


WITHOUT_COMPILER = """
import sys
import numpy as np
from pegasos_stats.compiled.pegasos import gram, kernel_pegasos

n = 40
X = np.sin(np.arange(3.0 * n)).reshape(n, 3)
y = np.where(X[:, 0] * X[:, 1] > 0.05, 1.0, -1.0)
K = X @ X.T
polynomial, gaussian = gram.polynomial(3, 1.0), gram.gaussian(2.0)
for kernel, data in ((polynomial, X), (gaussian, X), (gram.precomputed(), K)):
    counts, g = np.zeros(n, dtype=np.int64), np.zeros(n)
    rows = np.arange(4 * n) * 7 % n
    values = gram.gram_of(kernel, data, 15_000)
    alpha, violations = kernel_pegasos.kernel_pegasos_epoch(
        values, y, y, rows, 0.01, 0, counts, g, 0.0, True
    )
    scores = kernel_pegasos.kernel_scores(kernel, data, counts * y, data, alpha)
    print(violations, alpha.hex(), counts.tolist(), values.tally.tolist())
    print(g.tobytes().hex(), scores.tobytes().hex())
epoch = kernel_pegasos.kernel_pegasos_epoch
print("numba compiled" if epoch.__class__.__name__ != "function" else "")
"""


def test_the_same_bits_without_the_compiler():
    printed = []
    for disabled in ("0", "1"):
        run = subprocess.run(
            [sys.executable, "-c", WITHOUT_COMPILER],
            env={**os.environ, "NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            check=True,
        )
        printed.append(run.stdout.splitlines())
    compiled, plain = printed
    assert compiled[:-1] == plain[:-1]
    assert (compiled[-1], plain[-1]) == ("numba compiled", "")


NAMES = {0: "linear", 1: "polynomial", 2: "gaussian"}


def r_options(kernel):
    return {
        "kernel": NAMES[kernel.kind],
        "degree": kernel.degree,
        "offset": kernel.offset,
        "gamma": kernel.gamma,
    }


@pytest.mark.parametrize("seed", [1, 443])
@pytest.mark.parametrize("lam", [1e-3, 0.1, 1.0])
@BOTH
@pytest.mark.parametrize("kernel", [*KERNELS, polynomial(2, 0.0)], ids=str)
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
    K, rows = matrix_of(gaussian(1.0), X), epochs_of(60, 4)
    counts, _, alpha = fit(gram_of(precomputed(), K), y, rows, 0.1, True)
    theirs = r.call(
        "kernel_pegasos_rows", K, y, 0.1, rows + 1, "precomputed", intercept=True
    )
    np.testing.assert_array_equal(counts, theirs["counts"])
    assert alpha.hex() == theirs["alpha"][0].hex()
    scores = r.call(
        "kernel_scores", K, X, y, counts, alpha, 0.1, len(rows), "precomputed"
    )
    ours = support_scores(precomputed(), K, y, counts, 24.0, K[:, counts > 0], alpha)
    np.testing.assert_allclose(ours, scores, rtol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
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
