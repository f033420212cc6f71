"""Fits that are very close to their optimum."""

import numpy as np

import pegasos_stats as ps

CLOSE = ps.SDCA(epochs=1000, tol=1e-10, seed=1)


def wide_fit():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 1100))
    return ps.Logit(rng.integers(0, 2, 40), X, lam=1.0).fit(CLOSE)
