"""Samples of pieces: those with the smallest keys, whatever the pieces are."""

import numpy as np
import pytest

from pegasos_stats.data.scan.sampling import Sampling


@pytest.mark.parametrize("pieces", [(100,), (1, 0, 60, 39), (30, 30, 30, 10)])
@pytest.mark.parametrize("most", [1, 7, 45, 100, 130])
def test_the_smallest_keys_stay_in_their_order(pieces, most):
    rng = np.random.default_rng(most)
    keys = rng.integers(0, 40, 100) / 40.0  # with ties, of which the first stay
    X = rng.standard_normal((100, 3)).astype(np.float32)
    sampling, first = Sampling(np.empty((most, 3), dtype=np.float32)), 0
    for size in pieces:
        rows = np.arange(first, first + size)
        few = rows[keys[rows] < sampling.largest]
        sampling.add(keys[few], few, X[few])
        first += size
    found, expected = sampling.sampled(), np.argsort(keys, kind="stable")[:most]
    assert found.numbers.tolist() == expected.tolist()
    assert (found.keys == keys[expected]).all()
    assert (X[expected] == found.X).all()
    assert found.X.dtype == np.float32
    if most < 100:
        assert sampling.largest == keys[expected].max()
