"""Fits of every kind, saved, and what is refused when their files are edited."""

import json

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError
from pegasos_stats.models.persist import load, save
from tests.models.saved_models import taken_apart

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
    model = ps.logit("y ~ a", X.assign(y=Y), lam=0.01)
    return model.fit(ps.Pegasos(epochs=3, seed=1), refine=1e-3)


def bootstrapped():
    result = ps.SVM(Y, X, lam=0.1).fit(ps.SDCA(tol=1e-8, seed=2))
    result = result.with_covariance(TINY)
    assert len(result.estimated.estimates) > 0
    return result


def kernel():
    model = ps.KernelSVM(Y, X, gamma=0.5, weights=WEIGHTS, memory=2**20, lam=1.0)
    return model.fit(ps.Pegasos(epochs=3, seed=4), trace=True)


def gram():
    K = X.to_numpy() @ X.to_numpy().T
    return ps.KernelSVM(Y, K, kernel="precomputed", lam=1.0).fit(
        ps.Pegasos(epochs=3, seed=5)
    )


FITS = {f.__name__: f for f in (linear, refined, bootstrapped, kernel, gram)}


def saved_in(folder):
    """For each fit its result, path, header and arrays."""
    found = {}
    for name, fit in FITS.items():
        result, path = fit(), folder / name
        save(result, path)
        found[name] = result, path, *taken_apart(path)
    return found


def edited(header, place, value):
    """A copy of a header with another value at this place, of pairs the named one."""
    tree = json.loads(json.dumps(header))
    parent = tree["fit"]
    for step in place[:-1]:
        parent = child(parent, step)
    key = place[-1]
    if isinstance(parent, dict) and parent.get("type") == "dict":
        next(pair for pair in parent["value"] if pair[0] == key)[1] = value
    else:
        parent[key] = value
    return tree


def child(parent, step):
    if isinstance(parent, dict) and parent.get("type") == "dict":
        return next(pair[1] for pair in parent["value"] if pair[0] == step)
    return parent[step]


def check_refused(path, content, reason):
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        load(path)
    assert str(caught.value) == (
        f"The file {path} is damaged or incomplete ({reason}); save it again."
    )


NAN = {"type": "float", "value": "nan"}
