"""Cross-validation over gamma and lambda of a Gaussian kernel."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError

LAMBDAS = [1e-1, 1e-3]


def waves(n=160, seed=3):
    """Levels that a stiff curve does not tell apart."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (n, 2))
    inside = np.sin(3 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n) > 0.4
    return X, np.where(inside, "in", "out")


@pytest.fixture(scope="module")
def model():
    X, y = waves()
    return ps.KernelSVM(y, X, gamma=2.0, lam=1.0)


@pytest.fixture(scope="module")
def found(model):
    gammas = [2.0, 0.001, 300.0]
    return ps.tune_kernel(model, gammas, LAMBDAS, folds=4, repeats=2, seed=7)


def test_each_gamma_has_the_path_that_it_has_alone(model, found):
    X, y = waves()
    assert found.gammas == (0.001, 2.0, 300.0)
    for gamma, path in zip(found.gammas, found.paths, strict=True):
        assert path.model.problem.kernel.gamma == gamma
        assert path.folds is found.paths[0].folds
        alone = ps.KernelSVM(y, X, gamma=gamma, lam=1.0)
        fits = ps.lambda_path(alone, LAMBDAS, folds=path.folds, seed=7).fits
        np.testing.assert_allclose(fits["objective"], path.fits["objective"], rtol=1e-3)
    assert model.problem.kernel.gamma == 2.0


def test_the_best_pair_is_that_of_the_table(found):
    table = found.table
    assert table[["gamma", "lam"]].to_numpy().tolist() == [
        [gamma, lam] for gamma in found.gammas for lam in LAMBDAS
    ]
    best = table.loc[table["error_rate"].idxmin()]
    assert (found.gamma, found.lam) == (best["gamma"], best["lam"]) == (2.0, 1e-3)
    result = found.refit()
    assert result.problem.kernel.gamma == 2.0
    assert result.problem.lam == 1e-3
    assert result.relative_gap <= 1e-6


def test_a_metric_may_be_better_the_larger_it_is(model):
    by_area = ps.tune_kernel(
        model, [0.001, 2.0, 300.0], LAMBDAS, folds=3, seed=7, metric="auc"
    )
    table = by_area.table
    assert by_area.gamma == table.loc[table["auc"].idxmax(), "gamma"]
    assert by_area.metric == "auc"


def test_gammas_are_multiples_of_that_of_the_model_if_none_are_given(model):
    found = ps.tune_kernel(model, lambdas=[0.1], folds=2, seed=1)
    assert found.gammas == (0.125, 0.5, 2.0, 8.0, 32.0)
    assert isinstance(found.table, pd.DataFrame)


@pytest.mark.parametrize(
    "option", [{"gammas": [1.0, 1.0]}, {"gammas": 3}, {"folds": None}]
)
def test_what_cannot_be_tuned_is_named(model, option):
    with pytest.raises(OptionError, match=f"^{next(iter(option))}="):
        ps.tune_kernel(model, **option)
    X, y = waves(20)
    for other in (ps.SVM(y, X, lam=1.0), ps.KernelSVM(y, X, kernel="linear", lam=1.0)):
        with pytest.raises(OptionError, match="gamma"):
            ps.tune_kernel(other)
