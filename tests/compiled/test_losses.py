"""The losses are finite everywhere, and slope and conjugate belong to the value."""

import math

import numpy as np
import pytest
from numba import njit

from pegasos_stats.compiled.risk import Loss, loss_value, slope, violated
from pegasos_stats.compiled.sdca import log_step

MARGINS = [-1e6, -700.5, -30.0, -1.0, -1e-9, 0.0, 1e-9, 0.5, 1.0, 1.5, 30.0, 746.0, 1e6]


@pytest.mark.parametrize("m", MARGINS)
def test_log_loss_neither_overflows_nor_loses_digits(m):
    assert loss_value(Loss.LOG, m) == pytest.approx(np.logaddexp(0.0, -m), rel=1e-15)
    assert slope(Loss.LOG, m) == pytest.approx(
        math.exp(-np.logaddexp(0.0, m)), rel=1e-9
    )


def test_violations_are_margins_below_one_or_misclassified_rows():
    assert violated(Loss.HINGE, 0.999)
    assert not violated(Loss.HINGE, 1.0)
    assert violated(Loss.LOG, -1e-12)
    assert not violated(Loss.LOG, 0.0)


@njit
def steps_of(a, m, q, w, found):
    for i in range(a.size):
        found[i] = log_step(a[i], m[i], q[i], w[i])


def test_a_step_of_the_log_loss_stays_at_the_best_value():
    """Weights and changes of the margin of every size."""
    rng, n = np.random.default_rng(1), 60_000
    w = np.where(rng.random(n) < 0.5, 1.0, 10.0 ** rng.uniform(-6, 4, n))
    q = 10.0 ** rng.uniform(-8, 14, n)
    m = rng.uniform(-30.0, 30.0, n)
    a = w / (1.0 + np.exp(m))  # the best value, whatever `q`
    found = np.zeros(n)
    steps_of(a, m, q, w, found)
    # The margin of a rounded weight moves by the rounding of exp() and of ``a q``.
    np.testing.assert_allclose(found, a, rtol=1e-14)


@pytest.mark.parametrize("m", MARGINS)
def test_hinge_is_the_textbook_formula(m):
    assert loss_value(Loss.HINGE, m) == max(0.0, 1.0 - m)
    assert slope(Loss.HINGE, m) == (1.0 if m < 1.0 else 0.0)
