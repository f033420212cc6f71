"""SDCA without intercept against R as it runs: the hinge in every bit."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from pegasos_stats.problem import Problem
from pegasos_stats.sdca import SDCA
from pegasos_stats.sdca_running import run_sdca

# exp() of R and of Python may differ in the last bit.
LOG_RTOL = 1e-10

DATA = ["normal", "gaps", "whole numbers", "wide range"]


def drawn(data, seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(3, 60)), int(rng.integers(1, 40))
    X = rng.standard_normal((n, p))
    if data == "gaps":
        X[rng.random((n, p)) < 0.6] = 0.0
        X[0] = 0.0
    if data == "whole numbers":
        X = np.round(X)
    if data == "wide range":
        X *= 10 ** rng.uniform(-3, 3, p)
    return X, rng.choice([-1.0, 1.0], n), 10 ** rng.uniform(-4, 1)


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("start", ["zero", "sgd"])
@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("seed", range(5))
def test_weights_and_coefficients_are_those_of_r(r, seed, data, loss, start, storage):
    X, y, lam = drawn(data, seed)
    rows = X if storage == "dense" else csr_array(X)
    solver = SDCA(epochs=4, tol=0, start=start, seed=seed)
    ours = run_sdca(Problem(rows, y, lam, loss, intercept=False), solver)
    r.set("data", {"X": X, "y": y})
    r.eval("rows <- data$X" if storage == "dense" else "rows <- sparse_rows(data$X)")
    r.call("seed_generator", seed)
    theirs = r.eval(f"sdca(rows, data$y, {lam!r}, 4, '{loss}', '{start}')")
    for name, value in (("beta", ours.beta), ("a", ours.dual)):
        if loss == "hinge":
            np.testing.assert_array_equal(value, theirs[name])
        else:
            scale = np.abs(theirs[name]).max()
            np.testing.assert_allclose(
                value, theirs[name], rtol=0, atol=LOG_RTOL * scale
            )
    if loss == "hinge":
        assert ours.n_violations == theirs["violations"]
