"""Weights of the rows against R: the same sum, the same bits."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.weights import mean_one, r_sum
from tests.parity.equality import assert_same_bits

DRAWN = {
    "uniform": lambda rng, n: rng.uniform(0.0, 2.0, n),
    "wide": lambda rng, n: rng.lognormal(0.0, 4.0, n),
    "zeros": lambda rng, n: rng.integers(0, 3, n).astype(float),
    "tenths": lambda rng, n: rng.integers(1, 9, n) / 10.0,
    "largest": lambda rng, n: rng.uniform(0.6, 1.0, n) * np.finfo(float).max,
    "smallest": lambda rng, n: rng.integers(1, 9, n) * 5e-324,
    "far apart": lambda rng, n: 10.0 ** rng.uniform(-150.0, 150.0, n),
}
LEVELS = {"a": 0.3, "b": 7.1}


@pytest.mark.parametrize("n", [2, 3, 7, 100, 2**16 + 3])
@pytest.mark.parametrize("kind", DRAWN)
def test_numbers_for_each_row(r, kind, n):
    for seed in range(20 if n < 1000 else 2):
        w = DRAWN[kind](np.random.default_rng(seed), n)
        w[:2] = w.max() or 1.0
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
        theirs = r.call("row_weights", w, y)
        model = ps.SVM(y, np.arange(n, dtype=float)[:, None], weights=w, lam=1.0)
        assert_same_bits(model.problem.row_weights, theirs, kind)
        assert_same_bits(r_sum(w), r.call("sum", w), "sum")


@pytest.mark.parametrize("weights", ["balanced", {"a": 1e308, "b": 1e307}, LEVELS])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.7])
def test_weights_of_each_level(r, weights, share):
    for n in range(10, 60):
        labels = np.where(np.arange(n) < share * n, "b", "a")
        model = ps.SVM(
            labels, np.arange(n, dtype=float)[:, None], weights=weights, lam=1.0
        )
        given = weights
        if isinstance(weights, dict):
            given = {"negative": weights["a"], "positive": weights["b"]}
        theirs = r.call("row_weights", given, model.problem.y)
        assert_same_bits(model.problem.row_weights, theirs, "weights")


def test_weights_scaled_once_keep_their_bits(r):
    for seed in range(200):
        w = np.random.default_rng(seed).uniform(0.0, 2.0, 30)
        once = mean_one(w)
        assert_same_bits(mean_one(once), once, "weights")
        assert_same_bits(r.call("mean_one", once), once, "weights in R")


def test_columns_of_every_type_are_the_numbers_of_r(r):
    w = pd.Series(np.arange(1, 21) / 4.0)
    X, y = np.arange(20.0)[:, None], np.resize([-1.0, 1.0], 20)
    theirs = r.call("row_weights", w.to_numpy(), y)
    for column in (w, w.astype("Float64"), w.astype(np.float32), w.astype("category")):
        frame = pd.DataFrame({"x": X[:, 0], "w": column, "y": y})
        model = ps.svm("y ~ x", frame, weights="w", lam=1.0)
        assert_same_bits(model.problem.row_weights, theirs, str(column.dtype))
