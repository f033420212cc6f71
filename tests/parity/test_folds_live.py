"""Folds, seeds and a whole cross-validation against R as it runs."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.rng import RRandom
from pegasos_stats.studies.folds import draw_folds, grouped_folds

# Fits are equal in every bit; held-out scores are summed in another order.
RTOL = 1e-12


@pytest.mark.parametrize("kind", ["Rejection", "Rounding"])
@pytest.mark.parametrize("seed", range(10))
def test_folds_and_seeds_are_those_of_r(r, seed, kind):
    draw = np.random.default_rng(seed)
    n, repeats = int(draw.integers(4, 300)), int(draw.integers(1, 4))
    k = int(draw.integers(2, min(n, 20) + 1))
    y = draw.integers(0, draw.integers(2, 6), n)
    r.call("seed_generator", seed, kind)
    folds = r.call("repeated_folds", y, k, repeats)
    seeds = r.call("fit_seeds", k * repeats)
    rng = RRandom(seed, sample_kind=kind.lower())
    codes = np.unique(y, return_inverse=True)[1]
    assert (draw_folds(codes, k, repeats, rng).assignment == folds).all()
    ours = rng.sample_int(2**31 - 1, k * repeats)
    assert ours.tolist() == seeds.tolist()


@pytest.mark.parametrize("seed", range(10))
def test_folds_of_whole_groups_are_those_of_r(r, seed):
    draw = np.random.default_rng(seed)
    n = int(draw.integers(10, 300))
    groups = np.unique(draw.integers(0, n // 3, n) ** 2 // 4, return_inverse=True)[1]
    y = draw.integers(0, draw.integers(2, 5), n)
    k = int(draw.integers(2, min(groups.max() + 1, 12) + 1))
    r.call("seed_generator", seed, "Rejection")
    theirs = r.call("grouped_folds", y, groups, k)
    codes = np.unique(y, return_inverse=True)[1]
    first = {g: i for i, g in enumerate(dict.fromkeys(groups.tolist()))}
    numbered = np.array([first[g] for g in groups.tolist()])
    ours = grouped_folds(codes, numbered, k, RRandom(seed))
    assert ours.tolist() == theirs.tolist()


SCRIPT = """
{{
  seed_generator({seed})
  folds <- stratified_folds(y, {k})
  seeds <- fit_seeds({k})
  out_of_fold <- numeric(length(y))
  for (j in 1:{k}) {{
    seed_generator(seeds[j])
    fit <- pegasos(X[folds != j, , drop = FALSE], y[folds != j], {lam!r}, 3)
    held_out <- X[folds == j, , drop = FALSE]
    out_of_fold[folds == j] <- scores(held_out, fit$beta, fit$alpha)
  }}
  out_of_fold
}}
"""


@pytest.mark.parametrize(("seed", "n", "p", "k"), [(443, 60, 4, 5), (1, 47, 1, 10)])
def test_a_cross_validation_by_pegasos_is_that_of_a_script_in_r(r, seed, n, p, k):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, p))
    y = np.where(X[:, 0] + draw.normal(size=n) > 0.5, 1.0, -1.0)
    r.set("X", X)
    r.set("y", y)
    theirs = r.eval(SCRIPT.format(seed=seed, k=k, lam=0.05))
    model = ps.SVM(y, X, lam=0.05)
    ours = ps.cross_validate(model, ps.Pegasos(epochs=3), folds=k, seed=seed)
    np.testing.assert_allclose(ours.scores, theirs, rtol=RTOL, atol=RTOL)
    wrong = int((np.sign(theirs) != y).sum())
    assert ours.mean["error_rate"] == pytest.approx(wrong / n, rel=1e-14)  # a mean
    assert ours.confusion().n_errors == wrong
