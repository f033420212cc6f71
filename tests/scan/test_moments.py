"""Moments of columns in pieces: those of all rows at once, of any size."""

import numpy as np
import pytest

from pegasos_stats.data.design import Scaling
from pegasos_stats.data.scan.rows import Columns
from pegasos_stats.data.scan.source import added

SIZES = [1e-300, 1e-170, 1e-160, 1.0, 1e155, 1e160, 1e290]
EPS = np.finfo(float).eps


@pytest.mark.parametrize("pieces", [[500, 1, 0, 299], [800], [10] * 80])
@pytest.mark.parametrize("size", SIZES)
def test_squares_neither_overflow_nor_vanish(size, pieces):
    X = np.random.default_rng(1).standard_normal((800, 3)) * size
    X[:, 1] += 5.0 * size
    X[:, 2] = 7.0 * size
    X[:300, 0] = X[0, 0]  # pieces in which a column is constant
    parts = np.split(X, np.cumsum(pieces)[:-1])
    columns = added(Columns.of([*rows.T]) for rows in parts)
    found, wanted = columns.scaling(intercept=True), Scaling.of(X)
    # Sums of 800 numbers, in any order: 800 roundings of their sizes at most.
    np.testing.assert_allclose(found.centre, wanted.centre, atol=8000 * EPS * size)
    np.testing.assert_allclose(found.scale, wanted.scale, rtol=800 * EPS)
    spread = (X / size).std(axis=0) * size
    np.testing.assert_allclose(columns.spread()[:2], spread[:2], rtol=800 * EPS)
    assert columns.spread()[2] == 0.0
    ends = np.abs(X / size).max(axis=0)
    assert columns.radius(None) / size == pytest.approx(
        np.sqrt(ends @ ends), rel=EPS * 8
    )
