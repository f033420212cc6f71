"""Rows that ties of the hinge hold at a score of 0: rounding decides their labels."""

import numpy as np
import pandas as pd

import pegasos_stats as ps


def test_shares_count_rows_that_ties_hold_at_zero_as_half():
    rng, n = np.random.default_rng(11), 500
    data = pd.DataFrame({"a": rng.integers(0, 5, n), "b": rng.integers(0, 2, n)})
    data["g"] = rng.choice(list("uvw"), n)
    odds = 0.5 * data["a"] + data["b"] - 1.0 * (data["g"] == "v") - 1.5
    data["y"] = np.where(odds + rng.logistic(size=n) > 0.0, "yes", "no")
    ties, shares = [], []
    for formula in ("y ~ b + g", "y ~ a + g", "y ~ a + b"):
        model = ps.svm(formula, data, lam=0.01)
        fits = [model.fit(ps.SDCA(seed=seed), cov_type="none") for seed in (1, 2)]
        ties.append(sum((np.abs(f.decision_function()) < 1e-5).sum() for f in fits))
        shares.append([fit.predictions().estimates.effect[0] for fit in fits])
    assert max(ties) > 0
    # They do not depend on the seed: sums of 500 numbers.
    np.testing.assert_allclose(*np.transpose(shares), rtol=1e-12)
