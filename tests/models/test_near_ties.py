"""Rows that ties of the hinge hold at a score of 0: rounding decides their labels."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.labels import near_ties


def rows(n, seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"a": rng.integers(0, 5, n), "b": rng.integers(0, 2, n)})
    data["g"] = rng.choice(list("uvw"), n)
    odds = 0.5 * data["a"] + data["b"] - 1.0 * (data["g"] == "v") - 1.5
    return data.assign(y=np.where(odds + rng.logistic(size=n) > 0.0, "yes", "no"))


@pytest.fixture(scope="module")
def data():
    """Few values: the optimum is a corner at which the scores of many rows are 0."""
    return rows(500, 11)


def held(fit):
    return [note for note in fit.notes if note.text.startswith("Ties hold")]


def corner(data):
    """A fit with ties at 0, of several small models."""
    for formula in ("y ~ a + b + g", "y ~ b + g", "y ~ a + g", "y ~ a + b"):
        for lam in (0.1, 0.03, 0.01, 0.003):
            model = ps.svm(formula, data, lam=lam)
            fit = model.fit(ps.SDCA(tol=1e-10, epochs=2000, seed=1))
            scores = fit.decision_function().to_numpy()
            if 5 <= (np.abs(scores) < 1e-5).sum() < 400 and np.ptp(scores) > 0.5:
                return model
    raise AssertionError("no model has ties at 0")


def test_a_fit_says_that_rounding_decides_rows_that_ties_hold_at_zero(data, tmp_path):
    model = corner(data)
    fits = [model.fit(ps.SDCA(seed=seed)) for seed in (1, 2, 3)]
    for fit in fits:
        scores = fit.decision_function().to_numpy()
        near = (np.abs(scores) <= 1e-5) & (scores != 0.0)
        (note,) = held(fit)
        assert note.text.startswith(f"Ties hold {near.sum()} of 500 training rows at a")
        assert note.text in " ".join(str(fit.summary(details=True)).split())
        ps.save(fit, tmp_path / "fit.model", overwrite=True)
        (loaded,) = held(ps.load(tmp_path / "fit.model"))
        assert loaded.text == note.text
    # Shares count such rows half: they do not depend on the seed.
    shares = [fit.predictions().estimates.effect[0] for fit in fits]
    np.testing.assert_allclose(shares, shares[0], rtol=1e-12)  # sums of 500 numbers


def test_smooth_scores_are_no_ties(data):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 2))
    y = np.where(X[:, 0] + rng.logistic(size=400) > 0.0, "p", "q")
    assert not held(ps.SVM(y, X, lam=0.01).fit(ps.SDCA(seed=1)))
    assert not held(ps.logit("y ~ a + b", data, lam=0.01).fit(ps.SDCA(seed=1)))
    for lam in (1e3, 1e6):  # all scores are next to 0
        assert not held(ps.SVM(y, X, lam=lam).fit(ps.SDCA(seed=1)))
    scores = rng.normal(size=1_000_000)
    assert not near_ties(scores).any()
    scores[:2000] = rng.normal(0.0, 1e-7, 2000)
    assert near_ties(scores).sum() >= 2000
