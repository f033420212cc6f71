"""The best value of a dual weight of the log loss."""

import numpy as np
import pytest
from numba import njit

from pegasos_stats.compiled.dual.log_steps import log_step, quick_log_step

N = 20_000


@njit
def steps_of(a, m, q, w, quick, exact):
    for i in range(a.size):
        quick[i] = quick_log_step(a[i], m[i], q[i], w[i])
        exact[i] = log_step(a[i], m[i], q[i], w[i])


def stepped(a, m, q, w):
    quick, exact = np.zeros(a.size), np.zeros(a.size)
    steps_of(a, m, q, w, quick, exact)
    return quick, exact


def drawn(seed):
    """Margins, weights and changes of the margin of every size."""
    rng = np.random.default_rng(seed)
    w = np.where(rng.random(N) < 0.5, 1.0, 10.0 ** rng.uniform(-6, 4, N))
    q = 10.0 ** rng.uniform(-8, 14, N)
    a = w * rng.random(N) ** rng.integers(1, 40, N)
    a[:100], a[100:200] = 0.0, w[100:200]
    return a, rng.standard_normal(N) * 10.0 ** rng.uniform(-3, 8, N), q, w


@pytest.mark.parametrize("seed", range(3))
def test_both_steps_end_at_the_same_value(seed):
    a, m, q, w = drawn(seed)
    quick, exact = stepped(a, m, q, w)
    assert (quick >= 0.0).all()
    assert (quick <= w).all()
    # Half the square of a last step of 0.01, in the margin; beyond 1e6 the value is at
    # an end of its range.
    np.testing.assert_allclose(quick, exact, rtol=6e-5, atol=1e-300)


def test_the_best_value_stays():
    """At ``a = w / (1 + exp(m))`` the step is 0, whatever the change of the margin."""
    _, _, q, w = drawn(4)
    m = np.random.default_rng(5).uniform(-30.0, 30.0, N)
    a = w / (1.0 + np.exp(m))
    quick, _ = stepped(a, m, q, w)
    # The margin of a rounded weight moves by the rounding of exp() and of ``a q``.
    np.testing.assert_allclose(quick, a, rtol=1e-14)
