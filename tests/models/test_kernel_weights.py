"""Weights of rows, and one scale for predictors, in kernel models."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.rng import RRandom

SOLVER = ps.Pegasos(epochs=10, seed=443)


def rings(n=120, seed=0):
    """Two rings, a third of the rows in the outer one."""
    rng = np.random.default_rng(seed)
    angle, outer = rng.uniform(0, 2 * np.pi, n), np.arange(n) % 3 == 0
    radius = 1.0 + 0.8 * outer + 0.4 * rng.standard_normal(n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X, np.where(outer, "outer", "inner")


def weights_of(n, seed=3):
    return np.random.default_rng(seed).uniform(0.2, 3.0, n)


def test_balanced_and_by_level_and_by_column_are_the_same():
    X, y = rings()
    counts = {level: (y == level).sum() for level in ("inner", "outer")}
    each = {level: len(y) / (2.0 * count) for level, count in counts.items()}
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y, w=[each[k] for k in y])
    fits = [
        ps.KernelSVM(y, X, lam=0.1, weights=weights).fit(SOLVER).solution
        for weights in ("balanced", each, frame["w"])
    ]
    model = ps.kernel_svm("y ~ a + b", frame, lam=0.1, weights="w")
    fits.append(model.fit(SOLVER).solution)
    for found in fits[1:]:  # weights that differ by rounding
        assert found.counts.tolist() == fits[0].counts.tolist()
        np.testing.assert_allclose(found.g, fits[0].g, rtol=1e-12)
    plain = ps.KernelSVM(y, X, lam=0.1).fit(SOLVER)
    assert (
        ps.KernelSVM(y, X, lam=0.1, weights=[2.0] * len(y)).fit(SOLVER).solution.alpha
        == plain.solution.alpha
    )


def test_rows_of_weight_zero_are_not_there():
    """Such rows change nothing, so predictions do not need them."""
    X, y = rings()
    w = np.where(np.arange(len(y)) < 60, 1.0, 0.0)
    order = np.tile(RRandom(1).permutation(120), (5, 1))
    given = {"lam": 0.1, "gamma": 0.5, "weights": w}
    result = ps.KernelSVM(y, X, **given).fit(ps.Pegasos(order=order))
    assert result.n_support == (result.counts[:60] > 0).sum()
    moved = X.copy()
    moved[60:] += 1.0
    other = ps.KernelSVM(y, moved, **given).fit(ps.Pegasos(order=order))
    assert other.counts[:60].tolist() == result.counts[:60].tolist()
    # the mean of 1 of the weights and the scores are the same numbers
    assert other.intercept == result.intercept
    new = X[:7] + 0.3
    assert (
        other.decision_function(new).tolist() == result.decision_function(new).tolist()
    )


def test_cross_validation_weighs_and_scales_the_rows_of_each_fold():
    X, y = rings()
    w, fold = weights_of(len(y)), np.arange(len(y)) % 4
    solver = ps.Pegasos(epochs=5, order="sequential")
    options = {"lam": 0.1, "standardize": True, "gamma": 0.5}
    model = ps.KernelSVM(y, X, weights=w, **options)
    found = ps.cross_validate(model, solver, folds=fold, metrics="error_rate")
    for k in range(4):
        known, held_out = fold != k, fold == k
        by_hand = ps.KernelSVM(y[known], X[known], weights=w[known], **options)
        wrong = by_hand.fit(solver).predict(X[held_out]).to_numpy() != y[held_out]
        error = np.average(wrong, weights=w[held_out])
        # a mean of the same numbers, summed in another order
        assert found.by_fold["error_rate"][k] == pytest.approx(error, rel=1e-12)


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "linear"])
def test_standardize_is_scaling_by_hand(kernel):
    X, y = rings()
    X = X * [100.0, 0.01] + [5.0, -3.0]
    new = X[:10] * 1.1
    options = {"kernel": kernel, "lam": 0.1}
    scaled = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    by_hand = ps.KernelSVM(y, scaled, **options).fit(SOLVER)
    result = ps.KernelSVM(y, X, standardize=True, **options).fit(SOLVER)
    assert result.counts.tolist() == by_hand.counts.tolist()
    # columns of size 100 scaled in other steps: rounding of 1e-14, summed
    new_by_hand = (new - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    np.testing.assert_allclose(
        result.decision_function(new), by_hand.decision_function(new_by_hand), rtol=1e-9
    )
    assert "standardized" in str(result.summary(details=True))
    assert np.allclose(result.augment()["x1"], X[:, 0], rtol=1e-12)


def test_a_precomputed_kernel_is_not_scaled():
    X, y = rings()
    with pytest.raises(OptionError, match="standardize=True"):
        ps.KernelSVM(y, X @ X.T, kernel="precomputed", standardize=True, lam=1.0)
