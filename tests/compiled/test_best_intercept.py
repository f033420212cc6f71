"""The intercept found by walking is the one found by sorting."""

import numpy as np
import pytest

from pegasos_stats.compiled.arithmetic.best_intercept import middle_intercept
from pegasos_stats.solvers.objective import best_intercept


@pytest.mark.parametrize("seed", range(40))
def test_walking_finds_what_sorting_finds(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    scores = rng.standard_normal(n)
    if seed % 2:
        scores = np.round(scores)  # kinks that coincide
    y = np.concatenate([[1.0, -1.0], rng.choice([-1.0, 1.0], n - 2)])
    weights = rng.integers(1, 4, n).astype(float) if seed % 3 else np.ones(n)
    expected = best_intercept(scores, y, "hinge", weights)
    for near in (expected, -100.0, 100.0, float(scores[0])):
        # The kinks are the same numbers, and so is their mean.
        assert middle_intercept(scores, y, weights, near) == expected
