"""Sums over several blocks of rows: what the first sum lost is in the second."""

from fractions import Fraction

import numpy as np
import pytest

from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.reads.rows import added
from pegasos_stats.solvers.reads.seeing import Point, risk_and_image


@pytest.mark.parametrize("first", [1.0, -3.0e9, 2.0**60])
def test_losses_and_entropies_lose_nothing_that_their_rests_do_not_hold(first):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((8, 2)), np.where(np.arange(8) % 3, 1.0, -1.0)
    hinge = int(Problem(X, y, 0.1).loss_code)
    zero = Point(np.zeros(2), 0.0)
    seen = risk_and_image(X, y, zero, hinge, np.zeros(8), np.ones(8))
    values = [first, *rng.standard_normal(6)]
    rests = (2.0**-60 * rng.standard_normal(7)).tolist()
    parts = [
        seen._replace(loss=v, loss_rest=r, entropy=-v, entropy_rest=2 * r)
        for v, r in zip(values, rests, strict=True)
    ]
    found = added(parts)
    exact = sum(map(Fraction, [*values, *rests]))
    # the rests are rounded, seven of them beside what the sums lost
    rounding = 2.0**-50 * (sum(map(abs, rests)) + 2.0**-50 * sum(map(abs, values)))
    error = Fraction(found.loss) + Fraction(found.loss_rest) - exact
    assert abs(float(error)) <= rounding
    exact = sum(map(Fraction, [-v for v in values])) + 2 * sum(map(Fraction, rests))
    error = Fraction(found.entropy) + Fraction(found.entropy_rest) - exact
    assert abs(float(error)) <= 2 * rounding
    assert found.errors == 7 * seen.errors
