"""Symmetric intervals: levels that resamples cannot give, and those of a tie."""

from dataclasses import replace

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.models.inference.options import Bootstrap
from pegasos_stats.models.inference.resamples import BootstrapResult

TIGHT = ps.SDCA(tol=1e-10, epochs=2000, seed=1)


def resampled(estimates, estimate, noise=0.0):
    estimates = np.asarray(estimates, dtype=float).reshape(len(estimates), -1)
    k = estimates.shape[1]
    return BootstrapResult(
        estimate=np.full(k, estimate),
        estimates=estimates,
        covariance=np.atleast_2d(np.cov(estimates, rowvar=False)),
        seed=1,
        n_left_out=0,
        n_not_converged=0,
        relative_gap=0.0,
        distance=0.0,
        options=Bootstrap(len(estimates), seed=1, interval="symmetric"),
        tolerance=np.full(k, noise),
    )


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
    with pytest.raises(OptionError, match="takes 39 resamples, and there are 9"):
        result.tidy()


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
    (note,) = (note for note in result.notes_on_errors() if "of the tie" in note.text)
    assert all(repr(name) in note.text for name in names)
    normal = result.with_covariance(Bootstrap(399, seed=1))
    assert not [n for n in normal.notes_on_errors() if "of the tie" in n.text]


def test_numbers_of_a_file_that_somebody_made_up_are_no_warnings_of_numpy():
    found = resampled(np.zeros((79, 2)), 1e308, 1e308)
    found = replace(found, estimates=np.full((79, 2), -1e308))
    assert np.isinf(found.conf_int()).any()
    found.p_values(np.zeros(2))
    found.combined(np.full((1, 2), 1e308))
    assert not (found.pinned & found.nearly_pinned).any()
