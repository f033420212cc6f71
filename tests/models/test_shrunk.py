"""The sandwich of few rows, drawn towards that of the logistic model."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.models.inference.bread_and_meat import meat_of
from pegasos_stats.models.inference.choosing import default_options
from pegasos_stats.models.inference.degrees_of_freedom import degrees_of_freedom
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.models.inference.shrinkage import drawn_to_model, model_meat
from pegasos_stats.solvers.problem import Problem
from tests.models.fitted_problems import at

TIGHT = ps.SDCA(tol=1e-12, epochs=2000, seed=1)
WEIGHTS = ["none", "given", "balanced"]


def rows(n=120, p=3, rare=40):
    y = np.where(np.arange(n) < rare, 1.0, -1.0)
    return np.random.default_rng(8).normal(size=(n, p)) + 0.3 * y[:, None], y


def rows_apart(n=120, p=3, rare=25):
    """Rows of which those with the largest size of the first predictor are rare."""
    X, _ = rows(n, p)
    order = np.argsort(-np.abs(X[:, 0]))
    y = np.full(n, -1.0)
    y[order[:rare]] = 1.0
    return X, y


def problem_of(X, y, weights):
    high, low = len(y) / 2 / (y > 0).sum(), len(y) / 2 / (y < 0).sum()
    given = 0.5 + np.arange(len(y)) % 3
    w = {"none": None, "given": given / given.mean()}.get(
        weights, np.where(y > 0, high, low)
    )
    asked = weights == "balanced"
    return Problem(X, y, lam=0.1, loss="log", weights=w, balanced=asked)


def fitted_slopes(problem):
    """Slope weights of some coefficients, which need not be those of the optimum."""
    p = 1.0 / (1.0 + np.exp(0.4 - problem.X @ np.linspace(0.2, 0.8, problem.p)))
    return np.where(problem.y > 0, 1.0 - p, p), p


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_model_has_the_mean_of_the_scores_over_labels(weights):
    X, y = rows()
    problem = problem_of(X, y, weights)
    s, p = fitted_slopes(problem)
    Z, n, w = np.column_stack([np.ones(len(y)), X]), len(y), problem.row_weights
    classes = {1.0: p, -1.0: 1.0 - p}
    if (
        weights == "balanced"
    ):  # the odds of the fit are those of the rows times high/low
        odds = p / (1.0 - p) * w[y < 0][0] / w[y > 0][0]
        classes = {1.0: odds / (1.0 + odds), -1.0: 1.0 / (1.0 + odds)}
    expected = np.zeros((4, 4))
    for sign, probable in classes.items():
        weight = w[y == sign][0] if weights == "balanced" else w
        g = -sign * (1.0 - p if sign > 0 else p)[:, None] * Z
        if weights == "balanced":
            g = g - np.average(g, axis=0, weights=probable)
        expected += (g.T * (probable * weight**2)) @ g / n
    np.testing.assert_allclose(model_meat(problem, s), expected, rtol=1e-10)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_share_is_noise_in_the_distance_to_the_model(weights):
    X, y = rows_apart()
    problem = problem_of(X, y, weights)
    s, _ = fitted_slopes(problem)
    stretch, n = np.linspace(1.0, 1.1, len(y)), len(y)
    meat = meat_of(problem, s, stretch)
    Z, w = np.column_stack([np.ones(n), X]), problem.row_weights
    g = -(s * y)[:, None] * Z
    groups = [y < 0, y > 0] if weights == "balanced" else [y != 0]
    for group in groups:
        g[group] -= np.average(g[group], axis=0, weights=w[group])
    g *= (w * stretch)[:, None]
    root = np.linalg.cholesky(model_meat(problem, s))
    each = np.linalg.solve(root, g.T).T
    outer = each[:, :, None] * each[:, None, :]
    mean = outer.mean(axis=0)
    scale = np.trace(mean) / 4
    noise = np.square(outer - mean).sum() / n**2
    share = min(1.0, noise / np.square(mean - scale * np.eye(4)).sum())
    drawn = drawn_to_model(problem, s, stretch, meat)
    assert drawn.share == pytest.approx(share, rel=1e-9)
    assert 0.0 < share < 1.0
    np.testing.assert_allclose(drawn.target, scale * model_meat(problem, s), rtol=1e-9)
    turn = np.array([[2.0, 0.0, 1.0], [0.0, 1e-2, 0.0], [0.0, 0.0, 1.0]])
    other = problem_of(X @ turn, y, weights)
    turned = drawn_to_model(other, s, stretch, meat_of(other, s, stretch))
    assert turned.share == pytest.approx(share, rel=1e-6)  # of scales 1e2 apart
    more = problem_of(np.column_stack([X, X[:, 0]]), y, weights)  # nothing new
    again = drawn_to_model(more, s, stretch, meat_of(more, s, stretch))
    assert again.share == pytest.approx(share, rel=1e-6)  # eigenvalues above 1e-10


def test_many_rows_are_not_drawn_to_a_model_that_does_not_hold():
    rng, shares = np.random.default_rng(2), []
    for n in (100, 1000, 10_000):
        x = rng.standard_normal(n)
        y = np.where(np.abs(x) + 0.3 * rng.standard_normal(n) > 1.0, 1.0, -1.0)
        problem = Problem(x[:, None], y, lam=0.1, loss="log")
        p = (y > 0).mean()
        s = np.where(y > 0, 1.0 - p, p)
        shares.append(drawn_to_model(problem, s, 1.0, meat_of(problem, s)).share)
    assert shares[0] > 5.0 * shares[1] > 25.0 * shares[2]  # about by 1 / n


@pytest.mark.parametrize("weights", [None, "balanced"])
def test_its_covariance_degrees_of_freedom_and_words(weights):
    X, y = rows_apart()
    fit = ps.Logit(y, X, lam=0.05, weights=weights).fit(TIGHT)
    assert fit.cov_type == Sandwich(correction="shrunk")
    found, plain = fit.covariance, fit.with_covariance("HC2").covariance
    problem = fit.problem
    f = fit.params.iloc[0] + X @ fit.params.to_numpy()[1:]
    s = 1.0 / (1.0 + np.exp(y * f))
    inverse = np.linalg.inv(found.bread)
    Z, w = np.column_stack([np.ones(len(y)), X]), problem.row_weights
    leverage = w * s * (1 - s) * np.einsum("ij,jk,ik->i", Z, inverse, Z) / len(y)
    stretch = 1.0 / np.sqrt(1.0 - leverage)
    drawn = drawn_to_model(problem, s, stretch, plain.meat)
    a = drawn.share
    assert 0.05 < a < 0.999
    mixed = (1.0 - a) * plain.meat + a * drawn.target
    np.testing.assert_allclose(found.meat, mixed, rtol=1e-6)  # of the fit's tolerance
    expected = inverse @ mixed @ inverse / len(y)
    np.testing.assert_allclose(found.joint, expected, rtol=1e-6)
    ratios = np.sqrt(np.maximum(np.diag(plain.matrix) / np.diag(expected), 1.0))
    assert ratios.max() > 1.0 == ratios.min()
    raised = expected * np.outer(ratios, ratios)
    np.testing.assert_allclose(found.matrix, raised, rtol=1e-6)
    df = degrees_of_freedom(problem, s, stretch, plain.meat) / (1.0 - a) ** 2
    assert found.df == pytest.approx(df, rel=1e-6)
    assert found.description == (
        f"sandwich, HC2 drawn {a:.0%} of the way to the model, errors not below HC2's; "
        f"intervals and tests allow for bias; Student's t, {df:.3g} degrees of freedom"
    )
    joint = fit.wald_test(np.eye(4)[1:])
    assert joint.df_denom == pytest.approx(df - 2.0, rel=1e-6)
    same = fit.with_covariance("jackknife").covariance.bias
    np.testing.assert_array_equal(found.bias, same)


def test_drawn_all_the_way_it_is_tested_by_the_normal_distribution():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 30))
    y = np.where(rng.random(200) < 1.0 / (1.0 + np.exp(-X[:, 0])), 1.0, -1.0)
    fit = ps.Logit(y, X, lam=0.1).fit(TIGHT)
    assert "drawn 100% of the way" in fit.covariance.description
    assert fit.covariance.description.endswith("; normal")
    assert np.isinf(fit.covariance.df)
    assert fit.wald_test(np.eye(31)[1:]).distribution == "chi2"


def test_intervals_do_not_depend_on_standardizing_where_the_penalty_is_nothing():
    X, y = rows()
    X = X * [1.0, 20.0, 0.1] + [0.0, 5.0, 1.0]
    plain = ps.Logit(y, X, lam=1e-9).fit(TIGHT)
    scaled = ps.Logit(y, X, lam=1e-9, standardize=True).fit(TIGHT)
    for fit in (plain, scaled):
        assert fit.cov_type == Sandwich(correction="shrunk")
    columns = ["estimate", "std_error", "conf_low", "conf_high"]
    found, known = scaled.tidy(original=True)[columns], plain.tidy()[columns]
    # of the penalties, which differ, and the tolerance of the fits
    np.testing.assert_allclose(found[1:], known[1:], rtol=1e-4)
    # and of slopes raised to HC2 before the intercept is taken back
    size = known["std_error"][0]
    np.testing.assert_allclose(found[:1], known[:1], atol=0.01 * size)


def test_no_more_rows_than_coefficients_are_left_to_the_jackknife():
    X, y = rows(n=12, p=11, rare=6)
    problem = Problem(X, y, lam=0.1, loss="log")
    assert default_options(*at(problem)) == Sandwich(correction="jackknife")
    fewer = Problem(X[:, :10], y, lam=0.1, loss="log")
    assert default_options(*at(fewer)) == Sandwich(correction="shrunk")
    fit = ps.Logit(y, X, lam=0.1).fit(TIGHT)
    few, plain = fit.with_covariance("shrunk"), fit.with_covariance("HC2")
    np.testing.assert_allclose(few.bse, plain.bse, rtol=1e-9)
    assert "drawn 0% of the way" in few.covariance.description


def test_a_factor_of_ten_rows_to_a_level_is_covered():
    """Levels all of whose rows have one label leave the other estimates no variance."""
    levels = np.repeat(np.arange(20), 10)
    X = (levels[:, None] == np.arange(1, 20)).astype(float)
    true = np.concatenate([[0.0], np.linspace(-1.5, 1.5, 19)])
    cells = np.column_stack([np.ones(20), np.vstack([np.zeros(19), np.eye(19)])])
    p, lam = 1.0 / (1.0 + np.exp(-cells @ true)), 0.001
    J, target = np.diag([0.0] + [lam] * 19), true.copy()
    for _ in range(20):  # Newton's steps to the minimiser in the population
        fitted = 1.0 / (1.0 + np.exp(-cells @ target))
        H = (cells.T * (fitted * (1.0 - fitted))) @ cells / 20 + J
        target += np.linalg.solve(H, cells.T @ (p - fitted) / 20 - J @ target)
    rng, hypothesis = np.random.default_rng(1), (np.eye(20)[1:], target[1:])
    held, rejected = {}, {}
    for _ in range(60):
        y = np.where(rng.random(200) < p[levels], 1.0, -1.0)
        fit = ps.Logit(y, X, lam=lam).fit(ps.SDCA(tol=1e-8, epochs=2000, seed=1))
        for name in ("shrunk", "jackknife"):
            other = fit.with_covariance(name)
            low, high = other.conf_int().to_numpy().T
            held.setdefault(name, []).append((low <= target) & (target <= high))
            p_value = other.wald_test(hypothesis).pvalue
            rejected.setdefault(name, []).append(p_value <= 0.05)
    # Each by 300 samples: 0.955 and 0.93 covered, 4% and 50% rejected; three standard
    # errors of 60 samples of 5% are 8.4%.
    assert np.mean(held["shrunk"]) > 0.93
    assert np.mean(rejected["shrunk"]) < 0.05 + 0.084
    assert np.mean(rejected["jackknife"]) > 0.25


@pytest.mark.filterwarnings("ignore:The fit may be too far:UserWarning")
def test_rows_that_are_all_alike_have_the_standard_error_of_a_share():
    """Nothing is apart there, and the noise is rounding, which may be below 0."""
    result = ps.Logit(["a", "b"] * 6, np.zeros((12, 2)), lam=1.0).fit(
        ps.Pegasos(1, seed=1)
    )
    assert "drawn 100% of the way" in result.covariance.description
    # At a share p the bread is p (1 - p), and the scores 1 - p and -p of half the rows
    # each have the variance 1/4, to which HC2 adds the factor 12/11 of a leverage 1/12.
    p = 1.0 / (1.0 + np.exp(-result.params["Intercept"]))
    error = np.sqrt(12 / 11 / 4 / 12) / (p * (1.0 - p))
    assert result.bse["Intercept"] == pytest.approx(error, rel=1e-12)  # rounding
