"""Building a model copies its rows once at most, by the bytes that are allocated."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps

N, P = 20_000, 80
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, P))
Y = np.where(X[:, 0] > 0.0, 1, -1)
FRAME = pd.DataFrame(X.copy(), columns=[f"x{j}" for j in range(P)])
BY_COLUMN = pd.DataFrame({name: FRAME[name].to_numpy().copy() for name in FRAME})
FROZEN = X.copy()
FROZEN.flags.writeable = False
NONE = 0.4  # of X; labels, row names and the like are a few columns
ONE = 1.4 if pd.__version__ >= "3" else 2.4  # before, pandas copies a frame itself


def peak(build):
    """Largest number of bytes at any time, in those of X."""
    build()  # what is imported and kept at the first call
    tracemalloc.start()
    try:
        model = build()
        assert not model.problem.X.flags.writeable
        return tracemalloc.get_traced_memory()[1] / X.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "rows", [X, np.asfortranarray(X), FRAME, BY_COLUMN], ids=["C", "F", "frame", "dict"]
)
def test_rows_are_copied_once(rows):
    assert peak(lambda: ps.Logit(Y, rows, lam=1.0)) < ONE
    assert peak(lambda: ps.SVM(Y, rows, lam=1.0, weights=np.ones(N))) < ONE


def test_rows_that_nobody_can_write_to_are_not_copied():
    assert peak(lambda: ps.Logit(Y, FROZEN, lam=1.0)) < NONE
    assert np.shares_memory(ps.Logit(Y, FROZEN, lam=1.0).problem.X, FROZEN)


@pytest.mark.parametrize("frame", [FRAME, BY_COLUMN], ids=["frame", "dict"])
def test_rows_of_a_formula_are_copied_once(frame):
    data = frame.assign(y=Y)
    assert peak(lambda: ps.logit("y ~ .", data, lam=1.0)) < ONE
