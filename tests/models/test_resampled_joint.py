"""Joint tests by resamples: a statistic is by a covariance that it has no part in."""

from dataclasses import replace

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.models.inference.joint_tests import (
    TOWARDS,
    resampled_test,
    statistics_of,
    steadied,
    whitening,
)
from tests.models.made_resamples import resampled


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
    # Theta and its resamples are normal, so 5% are rejected. Were each resample part of
    # the covariance that measures it, a fifth would be, far above the bound of 3 errors
    # above 5%; were p-values twice those of one side, 2%, below the other.
    rng, m, rejected = np.random.default_rng(2), 30, 0
    for _ in range(300):
        theta = rng.normal(size=m)
        found = resampled(theta + rng.normal(size=(199, m)), theta)
        rejected += resampled_test(found, np.eye(m), np.zeros(m)).pvalue <= 0.05
    error = np.sqrt(0.05 * 0.95 / 300)
    assert 300 * (0.05 - 2.0 * error) <= rejected <= 300 * (0.05 + 3.0 * error)


def test_all_resamples_as_far_count_and_for_one_hypothesis_the_side_with_more():
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
    assert joint.pvalue == pytest.approx((1 + sum(counts)) / 100.0)
    assert joint.statistic == pytest.approx(own)
    first = draws[:, 0] - theta[0]
    sides = (first >= 0.8).sum(), (first <= -0.8).sum()
    assert sides[0] != sides[1]
    one, again = np.eye(2)[[0]], np.eye(2)[[0, 0]]  # said twice it is one hypothesis
    for R in (one, again):
        found_one = resampled_test(found, R, np.full(len(R), q[0]))
        assert found_one.pvalue == pytest.approx(2.0 * (1 + max(sides)) / 100.0)


def drawn(rng, m=99, k=3):
    """Resamples about an estimate, correlated, and a reference of another shape."""
    estimate, root = rng.normal(size=k), rng.normal(size=(k, k))
    reference = np.cov(rng.normal(size=(2 * k, k)), rowvar=False)
    return estimate + rng.normal(size=(m, k)) @ root, estimate, reference


@pytest.mark.parametrize("hardly", [False, True])
def test_another_coding_of_a_factor_has_the_same_test(hardly):
    rng = np.random.default_rng(4)
    draws, estimate, reference = drawn(rng)
    recode = np.array([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.5, 0.0, 2.0]])
    other = resampled(
        draws @ recode.T, recode @ estimate, reference=recode @ reference @ recode.T
    )
    plain = resampled(draws, estimate, reference=reference)
    plain, other = (replace(each, hardly=hardly) for each in (plain, other))
    zero = np.zeros(3)
    one = resampled_test(plain, np.eye(3), zero)
    two = resampled_test(other, np.eye(3), zero)
    assert one.pvalue == two.pvalue
    # Covariances of condition 3e3 at most, solved in doubles.
    assert one.statistic == pytest.approx(two.statistic, rel=1e-9)
    back = resampled_test(other, np.linalg.inv(recode), zero)
    assert back.statistic == pytest.approx(one.statistic, rel=1e-9)


def test_a_direction_without_spread_among_resamples_does_not_decide():
    # All resamples lie on a plane, as where rows tie at the margin, and the true values
    # beside it: without the reference they are infinitely far, or left out.
    rng = np.random.default_rng(5)
    draws, estimate, reference = drawn(rng)
    normal = np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0)
    draws -= np.outer((draws - estimate) @ normal, normal) * (1.0 - 1e-4)
    found, away = (
        resampled(draws, estimate, reference=reference),
        estimate - 0.1 * normal,
    )
    inverse = np.linalg.inv(reference)
    scale = np.trace(found.covariance @ inverse) / 3
    bound = 0.01 * (normal @ inverse @ normal) / (TOWARDS * scale)
    assert resampled_test(found, np.eye(3), away).statistic <= bound
    plain = resampled_test(resampled(draws, estimate), np.eye(3), away)
    assert plain.statistic > 1e4 * bound


def test_the_statistic_of_a_resample_is_by_the_others_and_the_reference():
    rng = np.random.default_rng(6)
    draws, estimate, reference = drawn(rng)
    apart, V = draws - estimate, np.cov(draws, rowvar=False)
    scale = np.trace(V @ np.linalg.inv(reference)) / 3
    expected = []
    for i, row in enumerate(apart):
        others = np.cov(np.delete(draws, i, 0), rowvar=False)
        middle = (1.0 - TOWARDS) * others + TOWARDS * scale * reference
        expected.append(row @ np.linalg.solve(middle, row))
    root = np.linalg.cholesky(np.linalg.inv(steadied(V, reference)))
    found = statistics_of(apart @ root, 1.0 - TOWARDS)
    # 97 of 98 degrees of freedom are left of V, which may be all of a direction or none
    np.testing.assert_allclose(found, expected, rtol=1.0 / 97.0)


def test_where_levels_are_hardly_told_apart_distances_are_by_the_reference_alone():
    # Resamples on an arc about 0, where the loss limits the length of coefficients:
    # by their covariance 0 is far away, as towards it they hardly vary.
    rng = np.random.default_rng(9)
    angle = rng.normal(0.0, 0.8, 199)
    draws, estimate = np.column_stack([np.cos(angle), np.sin(angle)]), [1.0, 0.0]
    reference = np.array([[2.0, 0.3], [0.3, 1.0]])
    found = replace(
        resampled(draws, estimate, reference=reference), hardly=True, agreeing=1.0
    )
    null = np.array([0.1, 0.2])
    inverse = np.linalg.inv(reference)
    own, apart = estimate - null, draws - estimate
    far = ((apart @ inverse) * apart).sum(axis=1)
    as_far = 1.25 * far >= own @ inverse @ own  # however many resamples agree
    joint = resampled_test(found, np.eye(2), null)
    assert joint.pvalue == pytest.approx((1 + as_far.sum()) / 200.0)
    scale = np.trace(found.covariance @ inverse) / 2.0
    assert joint.statistic == pytest.approx(own @ inverse @ own / scale)
    told = resampled_test(replace(found, hardly=False), np.eye(2), null)
    assert told.statistic > 1.5 * joint.statistic


@pytest.mark.parametrize(
    ("agreeing", "sides"), [(0.0, 1.0), (0.001, 1.5), (0.002, 2.0), (1.0, 2.0)]
)
def test_where_resamples_agree_those_as_far_count_up_to_twice(agreeing, sides):
    rng = np.random.default_rng(12)
    draws, estimate, reference = drawn(rng)
    found = resampled(draws, estimate, reference=reference)
    found = replace(found, agreeing=agreeing)
    for far in (1e-3, 0.5, 2.0):
        null = estimate - far * np.sqrt(np.diag(found.covariance))
        root = np.linalg.cholesky(np.linalg.inv(steadied(found.covariance, reference)))
        own = np.square((estimate - null) @ root).sum()
        others = statistics_of((draws - estimate) @ root, 1.0 - TOWARDS)
        expected = min(1.0, sides * (1 + (others >= own).sum()) / 100.0)
        assert resampled_test(found, np.eye(3), null).pvalue == pytest.approx(expected)


def test_corners_that_some_resamples_reach_are_not_rejected():
    """4% of the resamples are at another corner: neither test is below 5% there."""
    estimate, corner = np.array([1.0, -1.0]), np.array([0.0, 0.0])
    draws = np.tile(estimate, (199, 1))
    draws[:7] = corner
    found = replace(resampled(draws, estimate, reference=np.eye(2)), agreeing=0.9)
    assert found.p_values(corner).min() > 0.05
    assert resampled_test(found, np.eye(2), corner).pvalue > 0.05
    once = replace(found, agreeing=0.0)
    assert resampled_test(once, np.eye(2), corner).pvalue == pytest.approx(8.0 / 200.0)


def test_one_hypothesis_needs_no_reference():
    rng = np.random.default_rng(7)
    draws, estimate, reference = drawn(rng)
    R, q = np.array([[1.0, -1.0, 0.0]]), np.array([0.3])
    one = resampled_test(resampled(draws, estimate, reference=reference), R, q)
    two = resampled_test(resampled(draws, estimate), R, q)
    assert (one.statistic, one.pvalue) == (two.statistic, two.pvalue)


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_the_reference_is_of_the_rows_and_is_saved(far, tmp_path):
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.integers(0, 3, 90), far + rng.normal(size=90)])
    y, w = np.where(rng.random(90) < 0.5, 1, 0), rng.uniform(0.5, 2.0, 90)
    fit = ps.SVM(y, X, lam=0.1, weights=w).fit(
        ps.SDCA(tol=1e-8, seed=1),
        cov_type=ps.Bootstrap(39, seed=1, interval="symmetric"),
    )
    Z = np.column_stack([np.ones(90), X[:, 0], X[:, 1] - far])
    turn = np.array([[1.0, 0.0, -far], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    expected = turn @ np.linalg.inv((Z.T * (w / w.mean())) @ Z / 90.0) @ turn.T
    # a centre of 1e6 leaves 10 digits of a difference of 1
    np.testing.assert_allclose(fit.covariance.reference, expected, rtol=1e-6)
    ps.save(fit, tmp_path / "fit")
    back = ps.load(tmp_path / "fit").wald_test("x1 = x2 = 0")
    assert back.pvalue == fit.wald_test("x1 = x2 = 0").pvalue
    plain = fit.with_covariance(ps.Bootstrap(39, seed=1, interval="percentile"))
    assert plain.covariance.reference is None


@pytest.mark.parametrize(
    ("diagonal", "rank"),
    [([5e-324, 1.0], 2), ([1e308, 1e-308], 2), ([-1e-20, 1.0], 1), ([np.nan, 1.0], 0)],
)
def test_variances_of_any_size_are_brought_to_1(diagonal, rank):
    whiten = whitening(np.diag(diagonal))
    assert len(whiten) == rank
    image = whiten @ np.diag(diagonal) @ whiten.T if rank else np.zeros((0, 0))
    np.testing.assert_allclose(image, np.eye(rank), rtol=1e-3)  # a subnormal's digits
