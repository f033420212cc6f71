"""Rows for the classifiers."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def rows():
    """Unbalanced, of different spread, with labels that are text, and weights."""
    draw = np.random.default_rng(3)
    X = draw.normal(size=(90, 4)) * [1.0, 30.0, 0.2, 5.0] + [0.0, 100.0, -3.0, 0.0]
    score = X[:, 0] + 0.05 * (X[:, 1] - 100.0) - 0.8 + draw.normal(size=90)
    y = np.where(score > 0.0, "ill", "well")  # sorted, "ill" comes first
    weights = draw.integers(0, 4, 90).astype(float)
    assert 15 < (y == "ill").sum() < 40
    return X, y, weights
