"""The losses are finite everywhere, and slope and conjugate belong to the value."""

import math

import numpy as np
import pytest

from pegasos_stats.compiled.arithmetic.losses import (
    Loss,
    dual_entropy,
    loss_value,
    slope,
    violated,
)

MARGINS = [-1e6, -700.5, -30.0, -1.0, -1e-9, 0.0, 1e-9, 0.5, 1.0, 1.5, 30.0, 746.0, 1e6]


@pytest.mark.parametrize("m", MARGINS)
def test_hinge_is_the_textbook_formula(m):
    assert loss_value(Loss.HINGE, m) == max(0.0, 1.0 - m)
    assert slope(Loss.HINGE, m) == (1.0 if m < 1.0 else 0.0)


@pytest.mark.parametrize("m", MARGINS)
def test_log_loss_neither_overflows_nor_loses_digits(m):
    assert loss_value(Loss.LOG, m) == pytest.approx(np.logaddexp(0.0, -m), rel=1e-15)
    assert slope(Loss.LOG, m) == pytest.approx(
        math.exp(-np.logaddexp(0.0, m)), rel=1e-9
    )


@pytest.mark.parametrize("m", [-20.0, -1.0, 0.0, 0.3, 8.0])
def test_log_slope_is_minus_the_derivative(m):
    h = 1e-6
    change = loss_value(Loss.LOG, m + h) - loss_value(Loss.LOG, m - h)
    assert slope(Loss.LOG, m) == pytest.approx(-change / (2 * h), rel=1e-6)


@pytest.mark.parametrize("loss", list(Loss))
@pytest.mark.parametrize("m", [-3.0, 0.0, 0.4, 2.0])
def test_fenchel_young_equality_holds_at_the_slope(loss, m):
    # loss(m) = max over a in [0, 1] of dual_entropy(a) - a m, attained at a = s(m)
    a, value = slope(loss, m), loss_value(loss, m)
    assert value == pytest.approx(dual_entropy(loss, a) - a * m, abs=1e-12)
    for other in np.linspace(0.0, 1.0, 11):
        assert dual_entropy(loss, other) - other * m <= value + 1e-12


def test_violations_are_margins_below_one_or_misclassified_rows():
    assert violated(Loss.HINGE, 0.999)
    assert not violated(Loss.HINGE, 1.0)
    assert violated(Loss.LOG, -1e-12)
    assert not violated(Loss.LOG, 0.0)
