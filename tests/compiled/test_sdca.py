"""The kernels of SDCA: single steps, guards, smoothed sums, Newton directions."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from pegasos_stats.arrays import read_only
from pegasos_stats.compiled import sdca
from pegasos_stats.compiled.risk import Loss
from pegasos_stats.solvers.sums import kernel_rows

LOSSES = [int(Loss.HINGE), int(Loss.LOG)]


def data(n, p, seed=0, gaps=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    if gaps:
        X[rng.random((n, p)) < 0.6] = 0.0
        X[n // 2] = 0.0
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)
    return X, y, rng


def epoch(X, y, rows, lam, state, loss=0):
    sdca.sdca_epoch(X, y, read_only(rows), lam, loss, 0.0, False, state)


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
        epoch(kernel_rows(form(X)), y.astype(np.int8), rows, lam, state)
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
    order = read_only(rng.permutation(50))
    sdca.sgd_epoch(rows, labels, order, 0.01, loss, 0.0, state)
    for _ in range(3):
        epoch(rows, labels, rng.permutation(50), 0.01, state, loss)
    image = (state.a * y) @ X / (0.01 * 50)
    np.testing.assert_allclose(state.w[:6], image, rtol=1e-10, atol=1e-10)
    assert (state.a >= 0).all()
    assert (state.a <= weights).all()
    again = sdca.start(rows, 6, weights)
    sdca.set_weights(rows, y, 0.01, state.a, again)
    np.testing.assert_allclose(again.w[:6], image, rtol=1e-12, atol=1e-12)
