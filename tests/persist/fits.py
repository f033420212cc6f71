"""Fits of every kind on small data, and their files."""

import numpy as np
import pandas as pd

import pegasos_stats as ps
from pegasos_stats.persist import save

N = 12
rng = np.random.default_rng(0)
X = pd.DataFrame({"a": rng.normal(size=N) - 3.0, "b": 2.0 * rng.normal(size=N)})
Y = pd.Series(["no"] * 8 + ["yes"] * 4, name="y")
WEIGHTS = np.linspace(0.5, 1.5, N)
ORDER = np.array([[3, 1, 2], [0, 4, 5]])
TINY = ps.Bootstrap(replicates=4, seed=3, workers=1)


def linear():
    model = ps.SVM(Y, X, lam=0.1, weights=WEIGHTS, standardize=True)
    solver = ps.Pegasos(order=ORDER, epochs=2)
    return model.fit(solver, trace=True, cov_type="sandwich")


def refined():
    model = ps.logit("y ~ poly(a, 2) + np.log(b + 9)", X.assign(y=Y), lam=0.01)
    return model.fit(ps.Pegasos(epochs=3, seed=1), refine=1e-3)


def bootstrapped():
    result = ps.SVM(Y, X, lam=0.1).fit(ps.Optimum(tol=1e-8, seed=2))
    result = result.with_covariance(TINY)
    assert len(result.estimated.estimates) > 0
    return result


def kernel():
    model = ps.KernelSVM(Y, X, gamma=0.5, weights=WEIGHTS, memory=2**20, lam=1.0)
    return model.fit(ps.Pegasos(epochs=3, seed=4), trace=True)


def gram():
    K = X.to_numpy() @ X.to_numpy().T
    model = ps.KernelSVM(Y, K, kernel="precomputed", lam=1.0)
    return model.fit(ps.Pegasos(epochs=3, seed=5))


FITS = {f.__name__: f for f in (linear, refined, bootstrapped, kernel, gram)}


def saved_in(folder):
    """For each fit its result and its path."""
    found = {}
    for name, fit in FITS.items():
        found[name] = result, path = fit(), folder / name
        assert result.shortfall.at_least >= 0.0  # computed before it is saved
        save(result, path)
    return found
