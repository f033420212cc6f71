"""Kernel fits: rare levels, weights, columns below zero.

The matrix of kernel values is written down by scikit-learn, and everything else follows
from it by dense algebra.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import pairwise

import pegasos_stats as ps
from pegasos_stats.solvers.intercept import best_intercept

SEEDS = st.integers(0, 2**32 - 1)
THEIRS = {"degree": 3, "gamma": 1.0, "coef0": 0.5}
CUBIC = {"degree": 3, "offset": 0.5}, pairwise.polynomial_kernel, THEIRS
KERNELS = {
    "linear": ({}, pairwise.linear_kernel, {}),
    "polynomial": CUBIC,
    "gaussian": ({"gamma": 0.3}, pairwise.rbf_kernel, {"gamma": 0.3}),
}


def drawn(seed, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 30))
    X = rng.standard_normal((n, 3)) * [1.0, 0.5, 2.0] - [1.0, 0.0, 0.5]
    y = np.where(rng.random(n) < rng.choice([0.15, 0.85]), 1, 0)
    y[:4] = [1, 0, 1, 0]
    w = rng.integers(0, 4, n).astype(float)
    w[:4] += 1.0
    return X, y, w if weighted else None, rng


def literal(K, y, w, rows, lam, intercept):
    """Kernel Pegasos, the whole sum at every step."""
    counts, alpha = np.zeros(len(y)), 0.0
    for t, i in enumerate(rows, start=1):
        f = alpha + (w * counts * y) @ K[:, i] / (lam * (t - 1)) if t > 1 else 0.0
        assume(abs(y[i] * f - 1.0) > 1e-7)  # nearer, rounding may decide
        if y[i] * f < 1.0:
            counts[i] += 1
            alpha += intercept * w[i] * y[i] / (lam * t)
    return counts, alpha


@pytest.mark.fuzz
@given(seed=SEEDS, weighted=st.booleans(), intercept=st.booleans())
@pytest.mark.parametrize("kernel", [*KERNELS, "precomputed"])
def test_kernel_pegasos_is_its_definition(kernel, seed, weighted, intercept):
    X, y, w, rng = drawn(seed, weighted)
    known = kernel == "precomputed"
    options, of, theirs = KERNELS["gaussian" if known else kernel]
    K, new = of(X, **theirs), rng.standard_normal((5, 3))
    K_new = of(new, X, **theirs)
    options = {"kernel": kernel, "intercept": intercept} | ({} if known else options)
    lam, n = 0.2, len(y)
    rows = np.array([rng.permutation(n) for _ in range(3)])
    options |= {"lam": lam, "weights": w, "standardize": False}
    model = ps.KernelSVM(y, K if known else X, **options)
    result = model.fit(ps.Pegasos(order=rows))
    signs = np.where(y > 0, 1.0, -1.0)
    mean_one = np.ones(n) if w is None else w / w.mean()
    counts, alpha = literal(K, signs, mean_one, rows.ravel(), lam, intercept)
    found = result.solution
    np.testing.assert_array_equal(found.counts, counts)
    assert found.alpha == pytest.approx(alpha, rel=1e-9, abs=1e-12)
    b = mean_one * counts * signs / (lam * 3 * n)
    at_new = K_new @ b + alpha
    scores = result.decision_function(K_new if known else new)
    scale = 1.0 + np.abs(at_new).max()
    np.testing.assert_allclose(scores, at_new, atol=1e-9 * scale)

    def objective(size, intercept):
        losses = np.maximum(0.0, 1.0 - signs * (size * (K @ b) + intercept))
        return lam / 2 * size * size * (b @ K @ b) + np.mean(mean_one * losses)

    assert result.objective == pytest.approx(objective(1.0, alpha), rel=1e-9)
    # No function does better than the bound, whatever its size.
    for size in (0.0, 0.5, 0.9, 1.0, 1.5):
        f = size * (K @ b)
        best = best_intercept(f, signs, "hinge", mean_one) if intercept else 0.0
        at = objective(size, best)
        assert result.objective - result.gap <= at * (1.0 + 1e-12)
