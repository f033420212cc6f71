"""Rows and a model that several tests of studies share."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps


@pytest.fixture(scope="package")
def data():
    """120 rows of two levels, of which the first of four predictors tells."""
    rng = np.random.default_rng(11)
    frame = pd.DataFrame(rng.normal(size=(120, 4)), columns=["a", "b", "c", "d"])
    frame["y"] = np.where(frame["a"] + rng.normal(size=120) > 0, "yes", "no")
    frame["w"] = rng.integers(1, 4, 120)
    return frame.set_index("r" + frame.index.astype(str))


@pytest.fixture(scope="package")
def svm(data):
    return ps.svm("y ~ a + b + c + d", data, lam=0.05)
