"""Symmetric intervals: levels that resamples cannot give, and those of a tie."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.models.inference.bootstrap_options import Bootstrap
from pegasos_stats.models.inference.joint_tests import resampled_test
from tests.models.made_resamples import remarks, resampled

TIGHT = ps.SDCA(tol=1e-10, epochs=2000, seed=1)


@pytest.mark.parametrize("m", [39, 199, 999])
def test_the_highest_level_is_that_of_the_smallest_p_value(m):
    found = resampled(np.arange(m), (m - 1) / 2.0)
    smallest = 2.0 / (m + 1)
    assert found.p_values(np.array([10.0 * m])) == pytest.approx(smallest)
    reach = np.array([[0.0, m - 1.0]])  # to the farthest resamples
    np.testing.assert_array_equal(found.conf_int(1.0 - smallest), reach)
    with pytest.raises(OptionError, match="resamples, and there are"):
        found.conf_int(1.0 - 0.99 * smallest)


def test_a_level_too_high_names_the_one_that_there_is():
    X = np.random.default_rng(1).integers(0, 2, (120, 2)).astype(float)
    y = np.where(np.arange(120) % 3 == 0, 1.0, -1.0)
    few = Bootstrap(79, seed=1, interval="symmetric")
    result = ps.SVM(y, X, lam=0.1).fit(TIGHT, cov_type=few)
    with pytest.raises(OptionError) as error:
        result.conf_int(0.001)
    assert str(error.value) == (
        "A symmetric interval of level 0.999 takes 1,999 resamples, and there are 79: "
        "give a level of at most 0.975, or Bootstrap(replicates=1999, "
        "interval='symmetric')."
    )
    with pytest.raises(OptionError, match=r"at most 0\.975\.$"):
        result.conf_int(1e-6)
    with pytest.raises(OptionError, match="takes 1,999 resamples"):
        result.t_test("x1 = 0").conf_int(0.001)
    given = Bootstrap(1999, seed=1, interval="symmetric")
    more = result.with_covariance(given)
    assert np.isfinite(more.conf_int(0.001)).all(axis=None)


def test_tests_need_no_interval():
    """Of 9 resamples none has an interval of 95%, and a p-value is 0.2 at least."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 2))
    y = np.sign(X[:, 0] + rng.standard_normal(200))
    few = Bootstrap(9, seed=1, interval="symmetric")
    result = ps.SVM(y, X, lam=0.1).fit(TIGHT, cov_type=few)
    assert result.t_test("x1 = 0").pvalue[0] == pytest.approx(0.2)
    assert result.tidy()[["conf_low", "conf_high"]].isna().all(axis=None)
    assert result.tidy()["p_value"].tolist() == [*result.pvalues]
    assert "at least 39 resamples" in " ".join(result.summary(details=True).notes)
    with pytest.raises(OptionError, match="takes 19 resamples, and there are 9"):
        result.conf_int(0.1)


def test_an_interval_of_a_tie_is_said_to_be_one():
    """3% of the resamples are elsewhere: not enough for the outer 2.5% of a side."""
    same = np.zeros(199)
    same[:3], same[3:6] = 0.5, -0.5
    apart = np.random.default_rng(1).standard_normal(199)
    one_side = np.where(np.arange(199) < 6, 0.5, 0.0)
    pinned = np.zeros(199)
    found = resampled(np.column_stack([same, apart, one_side, pinned]), 0.0, 1e-5)
    np.testing.assert_array_equal(found.nearly_pinned, [True, False, False, False])
    np.testing.assert_array_equal(found.pinned, [False, False, False, True])
    np.testing.assert_allclose(found.conf_int()[0], [-1e-5, 1e-5], rtol=1e-9)
    assert found.std_error[0] > 1e3 * 1e-5
    few = replace(found, estimates=found.estimates[:20])
    assert not few.nearly_pinned.any()  # they have no interval of 95%


def test_a_summary_names_coefficients_with_the_interval_of_a_tie():
    """Level c is rarely but with rows of one label: in few resamples it breaks away."""
    g = np.repeat([0.0, 1.0], [160, 40])
    y = np.where(np.arange(200) % 10 < 3, 1.0, -1.0)
    X = np.column_stack([g, np.arange(200) % 2])
    many = Bootstrap(399, seed=1, interval="symmetric")
    result = ps.SVM(y, X, lam=0.01).fit(TIGHT, cov_type=many)
    names = result.params.index[result.covariance.nearly_pinned]
    assert len(names)
    (note,) = (note for note in result.notes_on_errors() if "at least 95%" in note.text)
    assert all(repr(name) in note.text for name in names)
    normal = result.with_covariance(Bootstrap(399, seed=1))
    assert not [n for n in normal.notes_on_errors() if "at least 95%" in n.text]


def test_numbers_of_a_file_that_somebody_made_up_are_no_warnings_of_numpy():
    found = resampled(np.zeros((79, 2)), 1e308, 1e308)
    found = replace(found, estimates=np.full((79, 2), -1e308))
    assert np.isinf(found.conf_int()).any()
    found.p_values(np.zeros(2))
    found.combined(np.full((1, 2), 1e308))
    assert not (found.pinned & found.nearly_pinned).any()


def test_symmetric_intervals_reach_to_the_farther_quantile():
    # Of 39 estimates 1 to 39, with 20, the outer 2.5% begin at the first and the last.
    found = resampled(np.arange(1.0, 40.0), estimate=15.0)
    np.testing.assert_allclose(found.conf_int(0.95), [[15.0 - 24.0, 15.0 + 24.0]])
    # 10% on each side: the fourth on each side, 4 and 36.
    np.testing.assert_allclose(found.conf_int(0.8), [[15.0 - 21.0, 15.0 + 21.0]])


def test_a_symmetric_interval_holds_what_its_test_does_not_reject():
    rng = np.random.default_rng(2)
    for skew in (0.0, 1.0, 3.0):
        draws = rng.standard_normal(199)
        found = resampled(np.exp(skew * draws) if skew else draws, 0.7, 1e-3)
        for level in (0.8, 0.95):
            (low, high), alpha = found.conf_int(level)[0], 1.0 - level
            for value in np.linspace(-4.0, 6.0, 301):
                p = found.p_values(np.array([value]))[0]
                assert (low <= value <= high) == (p > alpha * (1.0 + 1e-9))


@pytest.mark.parametrize(
    ("above", "below", "told"),
    [(4, 4, True), (4, 0, True), (5, 0, False), (0, 5, False), (0, 0, False)],
)
def test_an_interval_of_a_tie_is_told_beside_its_standard_error(above, below, told):
    """Ends are the fifth farthest of 199 resamples on each side; none is pinned."""
    draws = np.zeros((199, 2))
    draws[:, 1] = np.random.default_rng(1).standard_normal(199)
    draws[:above, 0], draws[above : above + below, 0] = 0.5, -0.5
    found = replace(resampled(draws, tolerance=1e-6), pull=None)
    nearly = [note for note in remarks(found) if "at least 95%" in note]
    assert bool(nearly) == told
    if told:
        assert "'a'" in nearly[0]
        low, high = found.conf_int()[0]
        assert high - low < 1e-4 < 0.05 < found.std_error[0]
    normal = replace(found, options=Bootstrap(199, seed=1))
    assert not any("at least 95%" in note for note in remarks(normal))


def test_intervals_and_tests_of_resamples_that_agree_are_wider_alike():
    draws = np.random.default_rng(4).standard_normal((199, 2))
    plain = resampled(draws)
    for share, factor in ((0.0, 1.0), (0.0008, 1.1), (0.002, 1.25), (1.0, 1.25)):
        wider = replace(plain, agreeing=share)
        np.testing.assert_allclose(
            wider.conf_int(), factor * plain.conf_int(), rtol=1e-12
        )  # about 0: rounding alone
        null, sides = np.array([1.7, 2.1]), 1.0 + min(1.0, share / 0.002)
        assert (wider.p_values(factor * null) == plain.p_values(null)).all()
        joint = sides * resampled_test(plain, np.eye(2), null).pvalue
        assert resampled_test(wider, np.eye(2), null).pvalue == pytest.approx(joint)
        for column in range(2):
            R, q = np.eye(2)[[column]], null[[column]]
            assert resampled_test(wider, R, q).pvalue == wider.p_values(null)[column]


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.0, ";"), (2e-5, "by 0.25%"), (8e-4, "by 10%"), (1.0, "by 25%")],
)
def test_by_how_much_intervals_are_wider_is_told(share, said):
    found = replace(resampled(np.arange(199.0)), agreeing=share).description
    assert said in found.partition("intervals: symmetric")[2]


def test_nothing_is_said_of_p_values_where_there_are_none():
    pinned = np.zeros((199, 2))
    assert not any("smallest p-value" in text for text in remarks(resampled(pinned)))
    pinned[:, 1] = np.arange(199)
    assert any("smallest p-value" in text for text in remarks(resampled(pinned)))


@pytest.mark.parametrize(("at_zero", "told"), [(4, False), (5, True), (60, True)])
def test_an_interval_that_ends_at_0_is_told_beside_its_p_value(at_zero, told):
    """The fifth lowest of 199 resamples is the end: at 0 if that many are there."""
    rng = np.random.default_rng(1)
    draws = rng.normal(1.0, 0.1, (199, 2))
    draws[:at_zero, 0] = 0.0
    found = resampled(draws, 1.0, 1e-6)
    ends = [note for note in remarks(found) if "coefficient of 0 for 'a'" in note]
    assert bool(ends) == told
    if told:
        assert found.p_values(np.zeros(2))[0] > 0.05
        assert abs(found.conf_int()[0, 0]) < 1e-5
    normal = replace(found, options=Bootstrap(199, seed=1))
    assert not any("coefficient of 0" in note for note in remarks(normal))


def test_intervals_by_ratio_are_symmetric_for_logarithms():
    """A coefficient that is proportional to a rough deviation, of either sign."""
    draws = np.exp(np.random.default_rng(3).normal(size=(199, 2))) * [2.0, -2.0]
    found = resampled(draws, np.array([2.0, -2.0]), 1e-3)
    ratios = replace(found, proportional=np.ones(2, dtype=bool))
    logs = resampled(np.log(np.abs(draws) / 2.0), 0.0, 5e-4)
    expected = np.array([2.0, -2.0])[:, None] * np.exp(logs.conf_int())
    np.testing.assert_allclose(
        ratios.conf_int(), np.sort(expected, axis=1), rtol=1e-12
    )  # rounding alone
    for value in np.linspace(-4.0, 12.0, 81):
        p = ratios.p_values(np.array([value, -value]))
        low, high = ratios.conf_int().T
        held = (low <= [value, -value]) & ([value, -value] <= high)
        assert (held == (p > 0.05 * (1.0 + 1e-9))).all()
        if value > 0.0:
            assert (p == logs.p_values(np.full(2, np.log(value / 2.0)))).all()
    assert (ratios.p_values(np.zeros(2)) == ratios.least_p_value).all()
    assert "symmetric, of 2 coefficients by their logarithms; tests" in (
        ratios.description
    )


def test_a_sign_that_is_in_doubt_has_no_logarithm():
    draws = np.random.default_rng(4).normal(1.0, 1.0, (199, 2))
    draws[:, 1] = np.exp(draws[:, 1])
    found = resampled(draws, 1.0)
    ratios = replace(found, proportional=np.ones(2, dtype=bool))
    assert ratios.by_ratio.tolist() == [False, True]
    assert "of 1 coefficient by its logarithm;" in ratios.description
    same = ratios.conf_int() == found.conf_int()
    assert same.all(axis=1).tolist() == [True, False]
    # Of one coefficient alone, times a number, and not of sums.
    R = np.array([[0.0, 3.0], [1.0, 1.0], [-1.0, 0.0], [0.0, 0.0]])
    assert ratios.combined(R).by_ratio.tolist() == [True, False, False, False]
    np.testing.assert_allclose(
        ratios.combined(R).conf_int()[0], 3.0 * ratios.conf_int()[1], rtol=1e-12
    )  # rounding alone


@pytest.mark.parametrize("model", [ps.SVM, ps.Logit])
def test_standardized_predictors_with_long_tails_have_intervals_by_ratio(
    model, tmp_path
):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 2))
    X[:, 0] = np.exp(X[:, 0])
    y = np.where(2.0 * X[:, 0] - 3.0 + rng.logistic(size=300) > 0.0, 1.0, -1.0)
    solver, by = ps.SDCA(tol=1e-8, seed=1), Bootstrap(99, 1, interval="symmetric")
    found = model(y, X, lam=0.01, standardize=True).fit(solver).with_covariance(by)
    assert found.covariance.by_ratio.tolist() == [False, True, False]
    (low, high), at = found.conf_int().to_numpy()[1], found.params.iloc[1]
    assert at / low == pytest.approx(high / at)
    # On the original scale no deviation is rough.
    row = found.tidy(original=True).iloc[1]
    below, above = row["estimate"] - row["conf_low"], row["conf_high"] - row["estimate"]
    assert below == pytest.approx(above)
    ps.save(found, tmp_path / "fit.model")
    pd.testing.assert_frame_equal(ps.load(tmp_path / "fit.model").tidy(), found.tidy())
    plain = model(y, X, lam=0.01).fit(solver).with_covariance(by)
    assert not plain.covariance.by_ratio.any()
