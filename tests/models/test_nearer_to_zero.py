"""Few rows and a strong penalty: coefficients of samples are nearer to 0."""

from dataclasses import replace

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.models.inference.bootstrap_options import Bootstrap
from pegasos_stats.models.inference.choosing import Reasons
from pegasos_stats.models.inference.joint_tests import resampled_test, steadied
from tests.models.made_resamples import resampled

OPTIMUM = ps.SDCA(tol=1e-8, epochs=2000, seed=1)
N, STRONG, WEAK = 300, 0.3, 0.003


def drawn(seed, p=30, n=N):
    """Rows of which one predictor has an effect."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return rng.random(n) < 1.0 / (1.0 + np.exp(-2.0 * X[:, 0])), X


def fitted(seed, lam, p=30, n=N):
    return ps.SVM(*drawn(seed, p, n), lam=lam).fit(OPTIMUM)


def test_the_default_resamples_and_says_why():
    result = fitted(1, STRONG)
    assert isinstance(result.cov_type, Bootstrap)
    said = " ".join(note.text for note in result.notes_on_errors())
    assert "biased towards 0" in said
    assert result.covariance.nearer


@pytest.mark.parametrize(("lam", "p"), [(WEAK, 30), (STRONG, 3)])
def test_a_weak_penalty_or_many_rows_do_not(lam, p):
    result = fitted(1, lam, p)
    assert not isinstance(result.cov_type, Bootstrap)
    assert not Reasons(result.problem, result.solution).is_nearer_to_zero


def test_samples_are_nearer_to_0_and_the_formula_does_not_know():
    """The population is a large draw without the predictors that have no effect."""
    (true,) = fitted(0, STRONG, p=1, n=100_000).coef
    each = [fitted(seed, STRONG) for seed in range(1, 41)]
    off = np.array([result.coef.iloc[0] - true for result in each])
    assert off.mean() < -0.5 * off.std()
    errors = [result.with_covariance("HC3").bse.iloc[1] for result in each]
    covered = np.abs(off) <= 1.96 * np.array(errors)
    assert covered.mean() < 0.9  # 0.95 of 40 is that low in 8% of cases
    assert Reasons(each[0].problem, each[0].solution).is_nearer_to_zero


def test_joint_tests_measure_distances_half_by_the_rows():
    rng = np.random.default_rng(3)
    draws = rng.standard_normal((99, 2)) * [1.0, 0.1]
    found = replace(resampled(draws, 0.3, reference=np.eye(2)), nearer=True)
    V = steadied(found.covariance, found.reference, 0.5)
    away, none = np.full(2, 0.3), np.zeros(2)
    joint = resampled_test(found, np.eye(2), none)
    assert joint.statistic == pytest.approx(away @ np.linalg.solve(V, away))
