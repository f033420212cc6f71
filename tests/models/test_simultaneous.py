"""Simultaneous intervals of coefficients, contrasts and curves of predictions."""

import subprocess

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import stats

import pegasos_stats as ps
from pegasos_stats.models.inference.wald import max_t_quantile

# The quantile is simulated: its probability has a standard error of 0.0004, and a
# density near 0.12 makes 0.0035 of that.
SIMULATED = 0.012


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], 200))
    X = X.set_axis(["a", "b"], axis=1).assign(g=rng.choice(list("uvw"), 200))
    score = X["a"] - 0.5 * X["b"] + (X["g"] == "v")
    return X.assign(y=(score + rng.logistic(size=200) > 0).astype(int))


@pytest.mark.parametrize("m", [1, 2, 10])
def test_the_quantile_of_independent_numbers_is_sidaks(m):
    sidak = stats.norm.isf((1 - 0.95 ** (1 / m)) / 2)
    assert max_t_quantile(3.0 * np.eye(m), 0.95) == pytest.approx(sidak, abs=SIMULATED)


def test_the_quantile_of_equal_numbers_is_that_of_one():
    t = stats.t.isf(0.025, 5)
    assert max_t_quantile(np.ones((4, 4)), 0.95, 5.0) == pytest.approx(t, abs=0.03)


@pytest.mark.r
def test_intervals_are_those_of_multcomp(data, tmp_path):
    path = tmp_path / "rows.csv"
    data.to_csv(path, index=False)
    script = (
        f'd <- read.csv("{path}", stringsAsFactors = TRUE); '
        "fit <- glm(y ~ a + b + g, binomial, d, epsilon = 1e-12); set.seed(1); "
        "all <- confint(multcomp::glht(fit))$confint; "
        'pairs <- multcomp::glht(fit, multcomp::mcp(g = "Tukey")); '
        'cat(sprintf("%.10g", rbind(all, confint(pairs)$confint)[, -1]))'
    )
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e", script],
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = np.array(done.stdout.split(), float).reshape(2, 8).T
    result = ps.logit("y ~ a + b + g", data).fit(cov_type="nonrobust")
    ours = result.conf_int(method="simultaneous")
    errors = result.bse.to_numpy()[:, None]
    assert (np.abs(ours - theirs[:5]) < SIMULATED * errors).all(axis=None)
    tests = result.t_test(["g[T.v] = 0", "g[T.w] = 0", "g[T.w] - g[T.v] = 0"])
    limits = tests.conf_int(simultaneous=True)
    assert (np.abs(limits - theirs[5:]) < SIMULATED * tests.sd[:, None]).all()


@pytest.mark.parametrize("cov_type", ["HC3", "bootstrap"])
def test_they_are_wider_than_single_ones_and_narrower_than_bonferronis(data, cov_type):
    result = ps.logit("y ~ a + b + g", data).fit(cov_type=cov_type)
    errors = result.bse
    limits = result.conf_int(method="simultaneous")
    reach = (limits[1] - limits[0]) / 2 / errors
    assert reach.max() - reach.min() < 1e-9
    assert stats.norm.isf(0.025) < reach.iloc[0] < stats.norm.isf(0.025 / 5)


def test_bands_of_predictions_hold_the_whole_curve(data):
    # Working and Hotelling's quantile, the root of chi-squared with 2 degrees of
    # freedom, holds for the whole of an infinite line.
    result = ps.logit("y ~ a", data).fit()
    grid = list(np.linspace(-40, 40, 200))
    found = result.predictions(None, at={"a": grid}, scale="link")
    single, band = found.tidy(), found.tidy(simultaneous=True)
    reach = (band["conf_high"] - band["estimate"]) / band["std_error"]
    assert reach.to_numpy() == pytest.approx(np.sqrt(stats.chi2.isf(0.05, 2)), abs=0.02)
    assert (single["std_error"] == band["std_error"]).all()


def test_bands_of_probabilities_end_at_0_and_1(data):
    result = ps.logit("y ~ a + g", data).fit()
    found = result.predictions("a")
    table = found.tidy(simultaneous=True)
    assert table["conf_low"].min() >= 0
    assert table["conf_high"].max() <= 1
    assert (table["conf_low"] <= found.tidy()["conf_low"]).all()
    one, other = (
        result.plot.effect("a", simultaneous=wide, ax=Figure().subplots())
        for wide in (False, True)
    )
    heights = [
        np.ptp(ax.collections[0].get_paths()[0].vertices[:, 1]) for ax in (one, other)
    ]
    assert heights[1] > heights[0]


def test_a_saved_table_has_simultaneous_intervals(data, tmp_path):
    found = ps.logit("y ~ a + b", data).fit().t_test(["a = 0", "b = 0"])
    ps.save(found, tmp_path / "tests.npz")
    loaded = ps.load(tmp_path / "tests.npz")
    limits = found.conf_int(simultaneous=True)
    assert (loaded.conf_int(simultaneous=True) == limits).all()
