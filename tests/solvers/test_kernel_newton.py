"""Newton steps on dual weights: the equations that they solve, and their bounds."""

import numpy as np
import pytest

from pegasos_stats.solvers.kernel_ascent import newton_steps

FREE = pytest.mark.parametrize("free", [True, False])


def drawn(m, seed):
    """A matrix of condition 10 or so, and slopes of both signs."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, m))
    return A @ A.T / m + np.eye(m), rng.standard_normal(m) - 0.5


@FREE
@pytest.mark.parametrize("size", [1.0, 1e-9])
@pytest.mark.parametrize("seed", range(3))
def test_where_no_bound_is_reached_the_equations_are_solved(free, size, seed):
    """``K d = slope - b``, with ``sum d = 0``: as well for slopes of any size."""
    m = 7
    K, slope = drawn(m, seed)
    u = np.full(m, 0.25)
    bound = np.full(m, 100.0)
    found = newton_steps(K, size * slope, u, -bound, bound, free)
    ones = np.ones((m, 1)) * free
    whole = np.block([[K, ones], [ones.T, np.full((1, 1), 1.0 - free)]])
    d = np.linalg.solve(whole, np.append(slope, 0.0))[:m]
    # 1e-11 of the diagonal is added to K; u + d is rounded by 2^-54 beside d of `size`.
    np.testing.assert_allclose(found - u, size * d, rtol=1e-9, atol=1e-9 * size + 1e-16)


@FREE
@pytest.mark.parametrize("seed", range(5))
def test_weights_stay_within_their_bounds_and_the_dual_does_not_fall(free, seed):
    m, rng = 12, np.random.default_rng(seed)
    K, slope = drawn(m, seed)
    low, high = -rng.uniform(0.0, 0.3, m), rng.uniform(0.0, 0.3, m)
    u = low + (high - low) * rng.uniform(0.1, 0.9, m)
    u[0], slope[0] = high[0], 9.0  # stays at its bound
    before, before_slope = u.copy(), slope.copy()
    found = newton_steps(K, slope, u, low, high, free)
    assert (u == before).all()
    assert (slope == before_slope).all()
    assert (found >= low).all()
    assert (found <= high).all()
    assert found[0] == high[0]
    d = found - u
    if free:  # 80 bisections find the sum to the rounding of 12 numbers
        assert abs(d.sum()) <= 1e-14
    inside = (found > low) & (found < high)
    assert slope @ d - 0.5 * d @ K @ d > 0.0
    assert inside.sum() < (before > low).sum()  # some have come to a bound
