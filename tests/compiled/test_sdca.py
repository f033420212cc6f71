"""The kernels of SDCA: single steps, guards, smoothed sums, Newton directions."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from pegasos_stats.compiled.arithmetic.lanes import padded
from pegasos_stats.compiled.arithmetic.losses import Loss
from pegasos_stats.compiled.dual import newton, sdca, smooth
from pegasos_stats.solvers.problem import kernel_rows

LOSSES = [int(Loss.HINGE), int(Loss.LOG)]


def data(n, p, seed=0, gaps=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    if gaps:
        X[rng.random((n, p)) < 0.6] = 0.0
        X[n // 2] = 0.0
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)
    return X, y, rng


def literal_epoch(X, y, rows, lam, a, beta):
    n = len(y)
    for i in rows:
        dot = 0.0
        norm2 = 0.0
        for j in range(X.shape[1]):
            dot += X[i, j] * beta[j]
            norm2 += X[i, j] * X[i, j]
        new = 1.0
        if norm2 > 0.0:
            new = min(1.0, max(0.0, a[i] + lam * n * (1.0 - y[i] * dot) / norm2))
        d = (new - a[i]) * y[i] / (lam * n)
        for j in range(X.shape[1]):
            beta[j] += d * X[i, j]
        a[i] = new


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
def test_every_bit_is_that_of_the_written_operations(form, lam):
    X, y, rng = data(60, 37, gaps=True)
    state = sdca.start(kernel_rows(form(X)), 37, np.ones(60))
    a, beta = np.zeros(60), np.zeros(37)
    for _ in range(8):
        rows = rng.permutation(60)
        sdca.sdca_epoch(kernel_rows(form(X)), y.astype(np.int8), rows, lam, state)
        literal_epoch(X, y, rows, lam, a, beta)
    np.testing.assert_array_equal(state.a, a)
    np.testing.assert_array_equal(state.w[:37], beta)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_step_maximises_the_dual_along_its_coordinate(loss):
    rng = np.random.default_rng(1)
    for _ in range(200):
        a, w = rng.random(), 1.0 + rng.random()
        m, q = rng.normal() * 10 ** rng.uniform(-1, 2), 10 ** rng.uniform(-3, 4)
        best = sdca.dual_step(loss, a, m, 1.0, q, w)

        def value(new, a=a, m=m, q=q, w=w):
            d = new - a
            if loss == Loss.HINGE:
                reward = new
            else:
                s = new / w
                reward = -w * sum(v * math.log(v) for v in (s, 1 - s) if v > 0)
            return reward - m * d - q / 2 * d * d

        assert 0.0 <= best <= w
        around = np.clip(best + np.array([-1e-4, 1e-4]), 0.0, w)
        assert all(
            value(best) >= value(new) - 1e-9 * (1 + abs(m) + q) for new in around
        )


def test_a_zero_row_takes_its_whole_weight():
    assert sdca.dual_step(int(Loss.HINGE), 0.3, 0.0, 1.0, 0.0, 2.0) == 2.0
    assert sdca.dual_step(int(Loss.LOG), 0.3, 0.0, 1.0, 0.0, 2.0) == 1.0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_beta_is_the_image_of_the_weights(loss, form):
    X, y, rng = data(50, 6, gaps=True)
    rows, labels = kernel_rows(form(X)), y.astype(np.int8)
    weights = rng.exponential(size=50)
    state = sdca.start(rows, 6, weights)
    sdca.sgd_epoch(rows, labels, rng.permutation(50), 0.01, loss, 0.0, state)
    for _ in range(3):
        sdca.sdca_epoch(rows, labels, rng.permutation(50), 0.01, state, loss=loss)
    image = (state.a * y) @ X / (0.01 * 50)
    np.testing.assert_allclose(state.w[:6], image, rtol=1e-10, atol=1e-10)
    assert (state.a >= 0).all()
    assert (state.a <= weights).all()
    again = sdca.start_from(rows, 6, weights, y, 0.01, state.a)
    np.testing.assert_allclose(again.w[:6], image, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_smoothed_slope_and_direction_agree_with_dense_algebra(loss):
    X, y, rng = data(40, 5)
    lam, gamma = 0.01, 0.7
    a, weights = rng.random(40), 1.0 + rng.random(40)
    at = smooth.smooth(y, weights, a, loss, 5)
    w = np.zeros(padded(5))
    w[:5] = 0.3 * rng.standard_normal(5)
    f = X @ w[:5]
    count = smooth.see_rows(X, f, 0.2, gamma, at)
    np.testing.assert_allclose(at.image[:5], (at.a * y) @ X)
    gradient = lam * w - at.image / 40
    slope = -at.sums[smooth.BALANCE] / 40
    to = newton.direction(5)
    # Conjugate gradients of 6 unknowns end after 6 products, but for rounding.
    move = newton.newton_direction(
        X, count, lam, gradient, slope, True, 1e-12, 6, at, to
    )
    Z = np.column_stack([X, np.ones(40)])[at.active[:count]]
    H = (Z.T * at.h[:count]) @ Z / 40 + np.diag([lam] * 5 + [0.0])
    H[5, 5] *= 1.0 + newton.RIDGE
    want = -np.linalg.solve(H, [*gradient[:5], slope])
    np.testing.assert_allclose([*to.d[:5], move], want, rtol=1e-6)


@pytest.mark.parametrize(("far", "is_made"), [(0.0, True), (1e6, False)])
@pytest.mark.parametrize("free", [True, False])
def test_the_matrix_of_sparse_rows_gives_the_same_direction(free, far, is_made):
    n, p, lam = 400, 18, 0.01
    rng = np.random.default_rng(3)
    X = np.where(rng.random((n, p)) < 0.3, rng.standard_normal((n, p)), 0.0)
    X[:, 4] += far
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    at = smooth.smooth(y, np.ones(n), np.zeros(n), 1, p)
    rows = kernel_rows(csr_array(X))
    count = smooth.see_rows(rows, np.zeros(n), 0.1, 1.0, at)
    gradient, slope = np.zeros(padded(p)), 0.2 if free else 0.0
    gradient[:p] = rng.standard_normal(p)
    to = newton.direction(p, is_sparse=True)
    # Conjugate gradients of 19 unknowns end after as many products, but for rounding.
    move = newton.newton_direction(
        rows, count, lam, gradient, slope, free, 1e-12, 60, at, to
    )
    assert to.hessian.any() == is_made
    Z = np.column_stack([X, np.ones(n)])
    H = (Z.T * at.h) @ Z / n + np.diag([lam] * p + [0.0])
    if is_made:
        np.testing.assert_allclose(
            to.hessian[:p, :p], H[:p, :p] - lam * np.eye(p), atol=1e-15
        )
        np.testing.assert_allclose(to.column[:p], H[p, :p], atol=1e-15)
    H[p, p] *= 1.0 + newton.RIDGE
    d = np.array([*to.d[:p], move])
    # With a far column the equations are known to 1e12 times the rounding.
    tolerance = 1e-6 if is_made else 1e-2
    left = (H @ d + [*gradient[:p], slope])[: p + free]
    assert np.abs(left / np.sqrt(np.diag(H))[: p + free]).max() < tolerance
    assert free or move == 0.0


def test_without_active_rows_the_direction_leaves_alpha():
    X, y, _ = data(6, 3)
    at = smooth.smooth(y, np.ones(6), np.zeros(6), 0, 3)
    to = newton.direction(3)
    gradient = np.array([1.0, 2.0, 3.0, 0.0])
    assert (
        newton.newton_direction(X, 0, 0.5, gradient, 0.1, True, 1e-9, 9, at, to) == 0.0
    )
    np.testing.assert_allclose(to.d, -2.0 * gradient)
