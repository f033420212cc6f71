"""Standard errors by default: by the loss alone, with their intervals and tests."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import f as law_of_f

import pegasos_stats as ps
from pegasos_stats.errors import OptionError, UndefinedMetricWarning
from pegasos_stats.models.inference.options import Sandwich, chosen_options
from pegasos_stats.models.inference.sandwich import sandwich
from pegasos_stats.models.inference.wald import (
    ATOM_SHARE,
    BootstrapResult,
    estimates,
    resampled_test,
)
from pegasos_stats.solvers.optimum_run import run_to_optimum
from pegasos_stats.solvers.problem import Problem

pytestmark = pytest.mark.slow

TIGHT = ps.Optimum(tol=1e-10, epochs=2000, seed=1)


def rows(n=120, tied=False):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((n, 3))
    if tied:
        X = (X > 0.0).astype(float)
    likely = 1.0 / (1.0 + np.exp(-X @ [1.0, -0.8, 0.0]))
    data = pd.DataFrame(X, columns=[*"abc"])
    data["y"] = np.where(rng.random(n) < likely, "yes", "no")
    return data.assign(g=np.arange(n) // 4, h=np.arange(n) % 6)


def fit(model, data=None, lam=0.01, formula="y ~ a + b + c", **given):
    data = rows() if data is None else data
    return model(formula, data, lam=lam).fit(TIGHT, **given)


@pytest.mark.parametrize("tied", [False, True])
def test_the_loss_alone_chooses(tied):
    data = rows(tied=tied)
    assert fit(ps.svm, data).cov_type == ps.Bootstrap()
    assert fit(ps.svm, data, groups="g").cov_type == ps.Bootstrap()
    assert fit(ps.logit, data).cov_type == ps.Sandwich(correction="HC3")
    assert fit(ps.logit, data, groups="g").cov_type == ps.Cluster(correction="CR3")
    both = fit(ps.logit, data, groups=["g", "h"])
    assert both.cov_type == ps.Cluster(correction="CR1")
    with pytest.raises(OptionError, match="'cluster'"):
        fit(ps.svm, data, groups=["g", "h"])
    assert ps.Bootstrap() == ps.Bootstrap(999, 1, "envelope", tol=1e-6)


def test_rows_in_files_have_hc3_or_none(tmp_path):
    rows().to_parquet(tmp_path / "rows.parquet")
    scan = ps.scan(tmp_path / "rows.parquet")
    assert fit(ps.logit, scan).cov_type == ps.Sandwich(correction="HC3")
    none = fit(ps.svm, scan)
    assert none.cov_type is None
    by_name = none.with_covariance("sandwich")
    here = fit(ps.svm, cov_type="sandwich")
    np.testing.assert_allclose(by_name.bse, here.bse, rtol=1e-3)  # of both gaps
    with pytest.raises(OptionError, match="'bootstrap'"):
        none.with_covariance("bootstrap")


@pytest.mark.parametrize(
    ("n", "p", "replicates"),
    [(6_000, 9, 999), (60_000, 9, 399), (200_000, 9, 199), (10**6, 2, 199)],
)
def test_the_number_of_resamples_follows_from_the_size(n, p, replicates):
    X = np.zeros((n, p), dtype=np.float32)
    problem = Problem(X, np.tile([-1.0, 1.0], n // 2), lam=0.01)
    assert chosen_options("default", problem).replicates == replicates
    assert chosen_options("bootstrap", problem).replicates == 999
    sparse = Problem(csr_array(X), problem.y, lam=0.01)
    assert chosen_options("default", sparse).replicates == 999


SQUARED = partial(ps.svm, loss="squared_hinge")
REFUSED = [
    ("HC3", SQUARED, {"cov_type": "nonrobust"}),
    ("cluster", ps.logit, {"cov_type": "cluster"}),
    ("HC3", ps.logit, {"cov_type": "HC3", "groups": "g"}),
    *((kind, ps.svm, {"cov_type": kind}) for kind in ("HC0", "HC3", "nonrobust")),
    ("HC2", ps.svm, {"cov_type": ps.Sandwich(correction="HC2")}),
    ("'cluster'", ps.svm, {"cov_type": "bootstrap", "groups": ["g", "h"]}),
]


@pytest.mark.parametrize(("named", "model", "given"), REFUSED)
def test_what_does_not_go_together_is_refused(named, model, given):
    with pytest.raises(OptionError, match=named):
        fit(model, **given)


def resampled(estimates, estimate=0.0, tolerance=0.0, reference=None):
    """A bootstrap with these estimates of coefficients, a column each."""
    estimates = np.asarray(estimates, dtype=float).reshape(len(estimates), -1)
    k = estimates.shape[1]
    return BootstrapResult(
        estimate=np.full(k, estimate),
        estimates=estimates,
        covariance=np.atleast_2d(np.cov(estimates, rowvar=False)),
        seed=1,
        n_left_out=0,
        relative_gap=0.0,
        distance=0.0,
        options=ps.Bootstrap(len(estimates), seed=1),
        tolerance=np.full(k, tolerance),
        reference=reference,
    )


def test_the_envelope_reaches_the_farther_end_on_both_sides():
    draws = np.random.default_rng(1).exponential(size=(199, 2)) * [1.0, -1.0]
    found = resampled(draws, [0.8, -0.8])
    ends = np.sort(np.abs(draws[:, 0]))
    reach = max(0.8 - ends[4], ends[-5] - 0.8)  # the fifth of each side
    expected = 0.8 + reach * np.array([-1.0, 1.0])
    np.testing.assert_allclose(found.conf_int()[0], expected, rtol=1e-12)
    for kind in ("percentile", "basic"):
        beyond = (found.conf_int(interval=kind) - found.conf_int()) * [1.0, -1.0]
        assert (beyond >= -1e-9).all()


@pytest.mark.parametrize("tolerance", [0.0, 1e-9])
def test_the_p_value_is_the_level_at_which_the_envelope_ends_at_the_value(tolerance):
    found = resampled(np.random.default_rng(2).gumbel(size=(199, 1)), 0.5, tolerance)
    for value in np.linspace(-3.0, 5.0, 33):
        p = float(found.p_values(value)[0])
        for rank in range(1, 100):
            ((low, high),) = found.conf_int(1.0 - 2.0 * rank / 200.0)
            assert (low < value < high) == (p > 2.0 * rank / 200.0)
    assert found.p_values(1e9)[0] == 2.0 / 200.0


def test_a_level_needs_resamples():
    draws = np.random.default_rng(3).standard_normal((39, 1))
    assert np.isfinite(resampled(draws).conf_int(0.95)).all()
    assert np.isnan(resampled(draws[:38]).conf_int(0.95)).all()  # of tables
    for level in (0.96, 1.0):
        with pytest.raises(OptionError, match="level"):
            resampled(draws).conf_int(level)
    few = fit(ps.svm, cov_type=ps.Bootstrap(9))
    assert few.tidy()[["conf_low", "conf_high"]].isna().all(axis=None)
    assert (few.pvalues >= 0.2).all()  # 2 / 10, which needs no interval


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_joint_tests_of_resamples_are_distances_in_the_metric_of_the_rows(far):
    data, w = rows(90), np.random.default_rng(8).uniform(0.5, 2.0, 90)
    data["a"] += far
    model = ps.svm("y ~ a + b", data, lam=0.1, weights=w)
    result = model.fit(TIGHT, cov_type=ps.Bootstrap(99))
    centre = data[["a", "b"]].mean().to_numpy()
    Z = np.column_stack([np.ones(90), data[["a", "b"]] - centre])
    S = np.linalg.inv((Z.T * (w / w.mean())) @ Z / 90.0)
    # A centre of 1e6 leaves 10 digits of a difference of 1.
    np.testing.assert_allclose(result.covariance.reference, S, rtol=1e-6)
    R = np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 2.0]])
    q = R @ result.params.to_numpy() - [0.2, -0.3]
    inverse = np.linalg.inv(R @ S @ R.T)
    away = (result.covariance.estimates - result.params.to_numpy()) @ R.T
    far_ones = np.einsum("ij,jk,ik->i", away, inverse, away)
    own = R @ result.params.to_numpy() - q
    found = result.wald_test((R, q))
    assert found.statistic == pytest.approx(own @ inverse @ own, rel=1e-5)
    count = (far_ones >= own @ inverse @ own).sum()
    assert 0 < count < 99
    assert found.pvalue == (1 + count) / 100.0
    assert (found.distribution, found.df_num) == ("bootstrap", 2)


def test_joint_tests_of_the_log_loss_are_hotellings():
    result = fit(ps.logit)
    theta, V, n, k, q = result.params, result.cov_params(), 120, 4, 3
    W = theta.iloc[1:] @ np.linalg.solve(V.iloc[1:, 1:], theta.iloc[1:])
    F = W * (n - k - q + 1) / (q * (n - k))
    found = result.wald_test("a = b = c = 0")
    assert found.statistic == pytest.approx(F, rel=1e-9)
    assert (found.df_num, found.df_denom) == (3, n - k - q + 1)
    assert found.pvalue == pytest.approx(law_of_f.sf(F, 3, n - k - q + 1), rel=1e-6)
    assert result.wald_test("a = 0").pvalue == pytest.approx(result.pvalues["a"])
    plain = result.with_covariance("HC0").wald_test("a = b = c = 0")
    assert plain.distribution == "chi2"


def test_tests_and_intervals_come_from_the_same_resamples():
    result = fit(ps.svm)
    single, row = result.t_test("a = 0"), result.tidy().set_index("term").loc["a"]
    assert single.pvalue[0] == row["p_value"] == result.pvalues["a"]
    assert single.conf_int()[0].tolist() == row[["conf_low", "conf_high"]].tolist()
    assert fit(ps.svm).tidy().equals(result.tidy())
    assert "boot sd" in result.summary().params
    assert "std err" in result.with_covariance("sandwich").summary().params
    for text in (str(single), str(result.margins("a", scale="link").summary())):
        assert "p-value" in text
        assert "P>|z|" not in text


def test_what_is_pinned_has_no_statistic_and_no_p_value():
    X = np.repeat([[0.0], [1.0]], 60, axis=0)
    y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
    y[:15], y[60:70] = 1.0, -1.0
    result = ps.SVM(y, X, lam=1e-3).fit(TIGHT)
    table = result.tidy().set_index("term")
    assert table[["statistic", "p_value"]].isna().all(axis=None)
    assert (table["std_error"] == 0.0).all()
    np.testing.assert_allclose(table["estimate"], [-1.0, 2.0], rtol=1e-9)
    assert table[["conf_low", "conf_high"]].isna().all(axis=None)
    (note,) = [n for n in result.notes_on_errors() if n.topic == "resamples"]
    assert "no p-value" in note.text
    with pytest.warns(UndefinedMetricWarning, match="the standard error is 0"):
        assert np.isnan(result.wald_test("x1 = 0").pvalue)


def shares_of_one_value(V, close):
    """Largest share of the resamples at one value, of each coefficient."""
    draws = V.estimates if V.fixed is None else V.fixed
    near = np.abs(draws[:, None] - draws) <= close
    return near.mean(axis=1).max(axis=0)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_a_warning_where_one_value_has_a_fortieth_of_the_resamples(tied, standardize):
    model = ps.svm("y ~ a + b + c", rows(tied=tied), standardize=standardize)
    result = model.fit(TIGHT)
    V = result.covariance
    tight = result.with_covariance(ps.Bootstrap(tol=1e-12)).covariance
    # a few resamples of a corner have more noise than is measured on the first ones
    np.testing.assert_allclose(V.atoms, shares_of_one_value(tight, 1e-6), atol=0.06)
    assert (V.atoms >= ATOM_SHARE).all() == (V.atoms >= ATOM_SHARE).any() == tied
    notes = [n for n in result.notes_on_errors() if n.topic == "resamples"]
    assert any(note.severity == "warning" for note in notes) == tied


def test_one_coefficient_with_many_zeros_is_enough():
    """All slopes are 0 in 43 of 999 resamples, which are 0.18% of the pairs."""
    draws = np.random.default_rng(6).normal(size=(999, 3))
    draws[:43, 1] = 0.0
    found = resampled(draws, 0.5, tolerance=1e-9)
    np.testing.assert_allclose(found.atoms, [1 / 999, 43 / 999, 1 / 999])


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_refits_end_when_their_noise_is_a_thousandth_of_the_error(loss):
    data = rows(400)
    make = ps.svm if loss == "hinge" else ps.logit
    result = make("y ~ a + b + c", data, lam=0.01).fit(TIGHT)
    one, two = (
        result.with_covariance(ps.Bootstrap(99, tol=tol)).covariance
        for tol in (1e-3, 1e-12)
    )
    noise = np.abs(one.estimates - two.estimates).max(axis=0)
    # what is measured on 32 resamples holds for 99, but for a factor
    assert (noise <= 4e-3 * two.std_error).all()


def test_the_coding_of_a_factor_does_not_matter():
    rng = np.random.default_rng(5)
    draws, theta = rng.normal(size=(99, 3)), rng.normal(size=3)
    S = np.cov(rng.normal(size=(6, 3)), rowvar=False)
    C = np.array([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.5, 0.0, 2.0]])
    one = resampled(theta + draws, theta, reference=S)
    two = resampled((theta + draws) @ C.T, C @ theta, reference=C @ S @ C.T)
    plain, other = (resampled_test(each, np.eye(3), np.zeros(3)) for each in (one, two))
    assert plain.pvalue == other.pvalue
    assert plain.statistic == pytest.approx(other.statistic, rel=1e-9)


# Intervals cover, in a small simulation: benchmarks/zoo.py is larger.
# Minimisers of the penalised risk in the population below at lam = 0.001, by
# quadrature: the score of a row is normal in each class.
TARGETS = {
    "hinge": [-0.92760228, 1.28519088, 0.00398619, 0.0, 0.0],
    "log": [-1.37574770, 1.95396708, 0.01548054, 0.0, 0.0],
}
N, LAM, REPLICATIONS = 500, 0.001, 150
# Four standard errors of a share of 0.95 in so many replications.
SLACK = 4.0 * np.sqrt(0.95 * 0.05 / REPLICATIONS)


def sample(seed):
    """20% of y = 1, x normal given y, its first two features correlated by 0.5."""
    rng = np.random.default_rng([443, seed])
    y = np.where(rng.random(N) < 0.2, 1.0, -1.0)
    X = rng.standard_normal((N, 4))
    X[:, 1] = 0.5 * X[:, 0] + np.sqrt(0.75) * X[:, 1]
    return X + y[:, None] * np.array([1.0, 0.5, 0.0, 0.0]), y


def intervals(loss):
    """Estimates, their limits and errors, each of shape (replications, 5)."""
    found = []
    for seed in range(REPLICATIONS):
        problem = Problem(*sample(seed), LAM, loss)
        fit = run_to_optimum(problem, ps.Optimum(tol=1e-6, epochs=1000, seed=1))
        se = sandwich(problem, fit, Sandwich()).std_error
        by = estimates(np.array([fit.alpha, *fit.beta]), se)
        found.append([by.estimate, by.conf_low, by.conf_high, se])
    return np.array(found).transpose(1, 0, 2)


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_every_coefficient_is_covered_with_one_row_in_five_of_a_class(loss):
    estimate, low, high, se = intervals(loss)
    covered = (low <= TARGETS[loss]) & (TARGETS[loss] <= high)
    assert (np.abs(covered.mean(axis=0) - 0.95) <= SLACK).all()
    # Four standard errors of a standard deviation of so many numbers.
    ratio = np.median(se, axis=0) / estimate.std(axis=0)
    assert (np.abs(ratio - 1.0) <= 4.0 / np.sqrt(2.0 * REPLICATIONS)).all()


def test_resamples_without_a_maximum_count_as_far_from_every_joint_hypothesis():
    x = np.arange(120.0)
    X = np.column_stack([x % 3, x % 5])
    y = np.where(X.sum(axis=1) + 2.0 * np.sin(x * x) > 3.0, 1.0, -1.0)
    drawn = ps.SVM(y, X, lam=0.1).fit(cov_type=ps.Bootstrap(99, seed=1)).covariance
    finite = resampled_test(drawn, np.eye(3)[1:], np.zeros(2)).pvalue
    pvalue = resampled_test(
        replace(drawn, n_infinite=2), np.eye(3)[1:], np.zeros(2)
    ).pvalue
    assert pvalue == pytest.approx((100 * finite + 2) / 102)
