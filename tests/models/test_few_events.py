"""Standard errors of the log loss where the rarer level has few rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import f, ncf, t

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.models.inference.bread_and_meat import meat_of
from pegasos_stats.models.inference.choosing import default_options
from pegasos_stats.models.inference.degrees_of_freedom import degrees_of_freedom
from pegasos_stats.models.inference.options import Cluster, Sandwich
from pegasos_stats.models.inference.wald import biased, estimates
from pegasos_stats.solvers.problem import Problem
from tests.models.fitted_problems import at

TIGHT = ps.SDCA(tol=1e-12, epochs=2000, seed=1)


def rows(rare, n=200, p=2):
    """Rows of which so many have the label 1, others -1."""
    y = np.where(np.arange(n) < rare, 1.0, -1.0)
    return np.random.default_rng(3).normal(size=(n, p)) + 0.5 * y[:, None], y


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_fewer_than_20_rows_of_the_rarer_level_to_a_coefficient(sign):
    for rare, correction in ((59, "shrunk"), (60, "HC0")):  # three coefficients
        X, y = rows(rare)
        chosen = default_options(*at(Problem(X, sign * y, lam=0.1, loss="log")))
        assert chosen == Sandwich(correction=correction)
    for rare, correction in ((59, "HC3"), (60, "HC0")):  # of the hinge
        X, y = rows(rare)
        apart = Problem(X + 0.5 * y[:, None], sign * y, lam=0.1)  # by the hinge too
        chosen = default_options(*at(apart))
        assert chosen == Sandwich(correction=correction)


def test_groups_keep_their_own_estimate():
    X, y = rows(30)
    fit = ps.Logit(y, X, lam=0.1).fit(TIGHT, groups=np.arange(200) // 4)
    assert fit.cov_type == Cluster()


@pytest.fixture(scope="module")
def weighted():
    X, y = rows(40, n=90, p=3)
    weights = np.linspace(0.5, 2.0, 90)
    return ps.Logit(y, X, lam=0.05, weights=weights, standardize=True).fit(
        TIGHT, cov_type="jackknife"
    )


def test_several_hypotheses_are_tested_by_f(weighted):
    theta, V = weighted.params.to_numpy()[1:], weighted.cov_params().to_numpy()[1:, 1:]
    assert weighted.covariance.description == (
        "sandwich, HC3 (jackknife); intervals and tests allow for bias; Student's t, "
        f"{weighted.covariance.df:.3g} degrees of freedom"
    )
    w = weighted.problem.weights
    all_rows, m, b = w.sum() ** 2 / (w @ w), 3, weighted.covariance.bias[1:]
    off = b @ np.linalg.solve(V, b)
    assert off > 0.01
    for fit, n, away in (
        (weighted, weighted.covariance.df, off),
        (weighted.with_covariance("HC3"), all_rows, 0.0),
    ):
        found, df = fit.wald_test(np.eye(4)[1:]), n - m + 1.0
        statistic = theta @ np.linalg.solve(V, theta) * df / (n * m)
        p = ncf.sf(statistic, m, df, away) if away else f.sf(statistic, m, df)
        assert (found.df_num, found.df_denom) == (m, pytest.approx(df))
        assert found.statistic == pytest.approx(statistic, rel=1e-9)
        assert found.pvalue == pytest.approx(p, rel=1e-9)


def test_one_hypothesis_is_tested_as_its_coefficient_and_others_by_chi_squared(
    weighted,
):
    one = weighted.wald_test(np.eye(4)[2:3])
    assert one.df_denom == weighted.covariance.df
    assert one.pvalue == pytest.approx(weighted.pvalues.iloc[2], rel=1e-9)
    for correction in ("HC0", "HC3"):
        other = weighted.with_covariance(correction)
        assert other.wald_test(np.eye(4)[2:3]).distribution == "chi2"
        assert np.isinf(other.covariance.df)
    plain = weighted.with_covariance("HC0")
    assert plain.wald_test(np.eye(4)[1:]).distribution == "chi2"
    assert (weighted.bse.to_numpy() > plain.bse.to_numpy()).all()


def test_it_is_saved(weighted, tmp_path):
    ps.save(weighted, tmp_path / "fit")
    back = ps.load(tmp_path / "fit").wald_test(np.eye(4)[1:])
    known = weighted.wald_test(np.eye(4)[1:])
    assert back.df_denom == known.df_denom
    assert back.statistic == pytest.approx(known.statistic, rel=1e-12)  # order of sums
    assert ps.load(tmp_path / "fit").conf_int().equals(weighted.conf_int())


def fitted(X, y, w, lam):
    """The penalised log loss by Newton's steps, which nothing of ours is used for."""
    Z, t = np.column_stack([np.ones(len(y)), X]), (y + 1.0) / 2.0
    J, theta = np.diag([0.0] + [lam] * X.shape[1]), np.zeros(X.shape[1] + 1)
    for _ in range(12):
        p = 1.0 / (1.0 + np.exp(-Z @ theta))
        H = (Z.T * (w * p * (1.0 - p))) @ Z / w.sum() + J
        theta += np.linalg.solve(H, Z.T @ (w * (t - p)) / w.sum() - J @ theta)
    return theta


@pytest.mark.parametrize("balanced", [False, True])
def test_the_bias_is_that_of_fits_without_each_row(balanced):
    X, y = rows(50, p=3)
    X = np.exp(0.5 * X)
    given = 0.5 + 0.5 * (np.arange(len(y)) % 4)
    fit = ps.Logit(y, X, lam=0.02, weights="balanced" if balanced else given)
    result = fit.fit(TIGHT, cov_type="jackknife")

    def without(kept):
        share = np.where(y > 0.0, 1.0 / (y[kept] > 0).sum(), 1.0 / (y[kept] < 0).sum())
        w = share if balanced else given
        return fitted(X[kept], y[kept], w[kept], 0.02)

    each = [without(np.arange(len(y)) != row) for row in range(len(y))]
    whole = without(np.full(len(y), True))
    np.testing.assert_allclose(result.params, whole, rtol=1e-5)
    jackknife = (len(y) - 1.0) * (np.mean(each, axis=0) - whole)
    # they differ by the next order: a tenth here, less in more rows
    np.testing.assert_allclose(
        result.covariance.bias, jackknife, atol=0.12 * np.abs(jackknife).max()
    )
    far = ps.Logit(y, X + 1e4, lam=0.02, weights="balanced" if balanced else given)
    there = far.fit(TIGHT, cov_type="jackknife").covariance.bias  # rows about a centre
    bias = result.covariance.bias
    np.testing.assert_allclose(there[1:], bias[1:], rtol=1e-3)
    np.testing.assert_allclose(there[0], bias[0] - 1e4 * bias[1:].sum(), rtol=1e-3)


def test_an_interval_holds_its_share_of_what_the_bias_moves(weighted):
    b, se = weighted.covariance.bias, weighted.bse.to_numpy()
    estimates, law = weighted.params.to_numpy(), t(weighted.covariance.df)
    for alpha in (0.05, 0.3):
        low, high = weighted.conf_int(alpha).to_numpy().T
        c = (high - low) / 2.0
        np.testing.assert_allclose((low + high) / 2.0, estimates, rtol=1e-12)
        share = law.cdf((c - b) / se) - law.cdf((-c - b) / se)
        np.testing.assert_allclose(share, 1.0 - alpha, atol=1e-9)  # of cdf() itself
    p = law.cdf((-np.abs(estimates) - b) / se) + law.sf((np.abs(estimates) - b) / se)
    np.testing.assert_allclose(weighted.pvalues, p, rtol=1e-9)
    sums = weighted.t_test(np.array([[0.0, 1.0, -1.0, 0.0]]))
    np.testing.assert_allclose(sums.bias, b[1] - b[2])


def test_a_bias_of_many_errors_moves_the_interval_by_itself():
    found = biased(np.zeros(2), np.ones(2), np.inf, 0.95, 0.0, np.array([12.0, -9.999]))
    np.testing.assert_allclose(found.conf_high, np.array([12.0, 9.999]) + 1.6448536)
    nothing = biased(np.ones(1), np.zeros(1), np.inf, 0.95, 0.0, np.zeros(1))
    assert nothing.conf_low.tolist() == nothing.conf_high.tolist() == [1.0]


@pytest.mark.parametrize("df", [np.inf, 7.5])
def test_without_bias_it_is_the_usual_interval(df):
    given = np.array([1.0, -4.0]), np.array([0.5, 2.0]), df, 0.9, 0.3
    plain, found = estimates(*given), biased(*given, np.zeros(2))
    # The same formula by another function of scipy, which have 13 digits or more.
    np.testing.assert_allclose(found.conf_low, plain.conf_low, rtol=1e-12)
    np.testing.assert_allclose(found.p_value, plain.p_value, rtol=1e-12)


def centred_scores(problem, s, stretch):
    """The scores of the rows, less their mean in each class or over all rows."""
    Z = np.column_stack([np.ones(problem.n), problem.X])
    w, g = problem.row_weights, -(s * problem.y)[:, None] * Z
    for rows in (
        [problem.y > 0, problem.y < 0] if problem.balanced else [problem.y != 0]
    ):
        g[rows] -= np.average(g[rows], axis=0, weights=w[rows])
    return g * (w * stretch)[:, None]


@pytest.mark.parametrize("weights", ["none", "given", "balanced"])
def test_degrees_of_freedom_are_those_of_the_scores(weights):
    X, y = rows(50, p=3)
    share = np.where(y > 0.0, 200 / 2 / 50, 200 / 2 / 150)
    w = {"none": None, "given": 0.5 + np.arange(200) % 3, "balanced": share}[weights]
    w = None if w is None else w / w.mean()
    s, stretch = np.linspace(0.1, 0.9, 200), np.linspace(1.0, 1.2, 200)

    def found(columns):
        asked = weights == "balanced"
        problem = Problem(columns, y, 0.1, "log", weights=w, balanced=asked)
        meat = meat_of(problem, s, stretch)
        return problem, degrees_of_freedom(problem, s, stretch, meat)

    problem, df = found(X)
    scores = centred_scores(problem, s, stretch)
    white = np.linalg.solve(np.linalg.cholesky(scores.T @ scores), scores.T)
    fourth = np.sum(np.square(white).sum(axis=0) ** 2)
    # Sums of 200 rows by a factor and by an inverse of condition 1e2 at most.
    assert df == pytest.approx(4 * 5 / (fourth - 4 / 200), rel=1e-9)
    turned = found(X @ np.array([[2.0, 0.0, 1.0], [0.0, 1e-3, 0.0], [0.0, 0.0, 1.0]]))
    assert turned[1] == pytest.approx(df, rel=1e-6)  # of scales that are 1e3 apart
    twice = found(np.column_stack([X, X[:, 0]]))  # a column that says nothing new
    assert twice[1] == pytest.approx(df, rel=1e-6)  # eigenvalues above 1e-10


def test_degrees_of_freedom_of_one_coefficient_are_satterthwaites():
    X, y = rows(12, p=1)
    problem = Problem(X, y, lam=0.1, loss="log", intercept=False)
    s = np.where(y > 0.0, 0.9, 0.1)
    c = -s * y * X[:, 0]
    c -= c.mean()
    variance_of_sum = np.sum(c**4) - np.sum(c**2) ** 2 / 200
    df = degrees_of_freedom(problem, s, 1.0, meat_of(problem, s))
    # Sums of 200 rows in another order.
    assert df == pytest.approx(2.0 * np.sum(c**2) ** 2 / variance_of_sum, rel=1e-9)


def test_degrees_of_freedom_lie_between_coefficients_and_rows():
    rng = np.random.default_rng(5)
    for rare, p in ((1, 1), (2, 6), (5, 30), (90, 3)):
        y = np.where(np.arange(180) < rare, 1.0, -1.0)
        problem = Problem(rng.normal(size=(180, p)), y, lam=0.1, loss="log")
        s = np.where(y > 0.0, 1.0 - rare / 180, rare / 180)
        df = degrees_of_freedom(problem, s, 1.0, meat_of(problem, s))
        assert p + 1 < df <= 180
    assert df > 120  # scores are near normal where levels are as frequent
    zeros = Problem(np.zeros((4, 0)), np.array([1.0, 1, 1, -1]), lam=0.1, loss="log")
    nothing = np.zeros((1, 1))  # no score differs from 0
    assert degrees_of_freedom(zeros, np.zeros(4), 1.0, nothing) == 4.0


@pytest.mark.parametrize("model", [ps.SVM, ps.Logit])
def test_a_sparse_matrix_of_zeros_has_a_fit_and_a_summary(model):
    y = np.where(np.arange(15) % 7, "b", "a")
    result = model(y, csr_array((15, 2)), lam=0.1).fit(ps.SDCA(seed=1))
    assert result.params.iloc[1:].tolist() == [0.0, 0.0]
    assert str(result.summary())


@pytest.mark.parametrize("df", [np.inf, 4.0, 1e-300, 1e300, -1.0, np.nan])
def test_a_bias_of_any_size_warns_of_nothing(df):
    sizes = np.array([0.0, 5e-324, 1.0, 1e308, np.inf, np.nan])
    estimate, error, bias = (
        each.ravel() for each in np.meshgrid(sizes, sizes, [*sizes, *-sizes])
    )
    for level in (0.5, 0.95, 1.0 - 1e-16):
        found = biased(estimate, error, df, level, 0.0, bias)
        known = ~np.isnan(found.conf_low) & np.isfinite(estimate)
        inside = (found.conf_low <= estimate) & (estimate <= found.conf_high)
        assert inside[known & ~np.isnan(found.conf_high)].all()


def test_biases_that_matter_are_noted():
    X, y = rows(20, n=40, p=3)
    fit = ps.Logit(y, 3.0 * X, lam=0.001).fit(TIGHT)
    (note,) = [note for note in fit.notes_on_errors() if "biased by" in note.text]
    ratios = (fit.covariance.bias / fit.bse).abs()
    assert f"{ratios.max():.2g} standard errors ({ratios.idxmax()})" in note.text
    plain = fit.with_covariance("HC3").notes_on_errors()
    assert not [note for note in plain if "biased by" in note.text]
    with pytest.raises(OptionError, match="cov_type='jackknife'"):
        ps.SVM(y, X, lam=0.1).fit(TIGHT, cov_type="jackknife")


def test_few_rows_of_a_level_to_a_coefficient_are_noted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    for events, noted in ((24, True), (25, False)):
        fit = ps.Logit(np.arange(300) < events, X, lam=0.1).fit(TIGHT)
        topics = [note.topic for note in fit.notes_on_errors()]
        assert ("few events" in topics) == noted
