"""Joint tests by resamples: a statistic is by a covariance that it has no part in."""

import numpy as np
import pytest

from pegasos_stats.models.inference.joint_tests import resampled_test, statistics_of
from pegasos_stats.models.inference.options import Bootstrap
from pegasos_stats.models.inference.resamples import BootstrapResult


def resampled(estimates, estimate):
    return BootstrapResult(
        estimate=estimate,
        estimates=estimates,
        covariance=np.cov(estimates, rowvar=False),
        seed=1,
        n_left_out=0,
        n_not_converged=0,
        relative_gap=0.0,
        distance=0.0,
        options=Bootstrap(len(estimates), seed=1, interval="symmetric"),
    )


def test_a_resample_is_left_out_of_the_covariance_of_its_statistic():
    rng = np.random.default_rng(1)
    apart = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 4)) + 0.3  # not about 0
    root = np.linalg.cholesky(np.linalg.inv(np.cov(apart, rowvar=False)))
    expected = [
        row @ np.linalg.solve(np.cov(np.delete(apart, i, 0), rowvar=False), row)
        for i, row in enumerate(apart)
    ]
    np.testing.assert_allclose(statistics_of(apart @ root), expected, rtol=1e-10)


def test_a_direction_of_one_resample_alone_is_infinitely_far():
    images = np.zeros((5, 2))
    images[:4, 0] = [1.0, -1.0, 2.0, -2.0]
    images[4, 1] = 1.0
    whitened = images / images.std(axis=0, ddof=1)
    found = statistics_of(whitened)
    assert np.isinf(found[4])
    assert np.isfinite(found[:4]).all()


def test_a_joint_test_of_many_holds_its_size():
    # Theta and its resamples are normal, so 5% are rejected; p-values, twice those of
    # one side, are somewhat larger. Were each resample part of the covariance that
    # measures it, a fifth would be, far above the bound of 3 errors above 5%.
    rng, m, rejected = np.random.default_rng(2), 30, 0
    for _ in range(300):
        theta = rng.normal(size=m)
        found = resampled(theta + rng.normal(size=(199, m)), theta)
        rejected += resampled_test(found, np.eye(m), np.zeros(m)).pvalue <= 0.05
    assert 1 <= rejected <= 300 * (0.05 + 3.0 * np.sqrt(0.05 * 0.95 / 300))


def test_the_p_value_counts_the_side_with_more():
    rng = np.random.default_rng(3)
    theta = np.array([1.0, -0.6])
    draws = theta + rng.normal(size=(99, 2)) * [0.8, 0.5]
    found = resampled(draws, theta)
    q = np.array([0.2, -0.1])
    V = found.covariance
    own = (theta - q) @ np.linalg.solve(V, theta - q)
    counts = [0, 0]
    for i, row in enumerate(draws):
        others = np.cov(np.delete(draws, i, 0), rowvar=False)
        apart = row - theta
        if apart @ np.linalg.solve(others, apart) >= own:
            counts[int(apart @ np.linalg.solve(V, theta - q) > 0.0)] += 1
    assert counts[0] != counts[1]
    joint = resampled_test(found, np.eye(2), q)
    assert joint.pvalue == pytest.approx(2.0 * (1 + max(counts)) / 100.0)
    assert joint.statistic == pytest.approx(own)
