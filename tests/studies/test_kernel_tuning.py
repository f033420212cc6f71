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
    assert repr(found) == (
        "<KernelTuning: 6 pairs of gamma and lambda, best error_rate at gamma 2, lam "
        "0.001>"
    )


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
    ("options", "message"),
    [
        (
            {"gammas": [1.0, 1.0]},
            "gammas=[1.0, 1.0] are not allowed; give a list of different numbers above "
            "zero.",
        ),
        (
            {"gammas": 3},
            "gammas=3 are not allowed; give a list of different numbers above zero.",
        ),
        (
            {"folds": None},
            "folds=None leaves nothing to choose by; give folds=10, or take "
            "lambda_path().",
        ),
    ],
)
def test_what_cannot_be_tuned_is_named(model, options, message):
    with pytest.raises(OptionError) as caught:
        ps.tune_kernel(model, **options)
    assert str(caught.value) == message


def test_a_model_without_gamma_is_named():
    X, y = waves(20)
    for model in (ps.SVM(y, X, lam=1.0), ps.KernelSVM(y, X, kernel="linear", lam=1.0)):
        with pytest.raises(OptionError) as caught:
            ps.tune_kernel(model)
        assert str(caught.value) == (
            "The model has no gamma to choose; give one with a Gaussian kernel, such "
            "as ps.kernel_svm(formula, data)."
        )
