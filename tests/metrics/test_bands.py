"""Bands that hold for a whole curve."""

import subprocess

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

import pegasos_stats as ps
from pegasos_stats.metrics.scores import band_of_roc, beta_bounds, calibration_band

# A population: scores of both classes, and the ROC curve.
POPULATIONS = {
    "normal": (1.0, 1.0),
    "unequal variances": (1.5, 2.0),
    "no difference": (0.0, 1.0),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("population", "n", "share"),
    [
        ("normal", 150, 0.5),
        ("unequal variances", 150, 0.5),
        ("unequal variances", 600, 0.3),
        ("no difference", 600, 0.3),
    ],
)
def test_a_simultaneous_band_contains_the_whole_curve(population, n, share):
    mean, deviation = POPULATIONS[population]
    rng, samples = np.random.default_rng(4), 40
    codes = (np.arange(n) < share * n).astype(int)
    inside, ratios = 0, []
    for _ in range(samples):
        scores = np.where(codes, mean, 0) + rng.standard_normal(n) * np.where(
            codes, deviation, 1
        )
        x, low, high = band_of_roc(codes, scores).to_numpy().T
        curve = stats.norm.sf((stats.norm.isf(x) - mean) / deviation)
        inside += (curve[1:] <= high[:-1]).all() and (curve[:-1] >= low[1:]).all()
        ratios.append(width(x, low, high) / pointwise_width(mean, deviation, codes))
    # With a coverage of 0.95, fewer than 34 of 40 have a probability of 0.014.
    assert inside >= 34
    assert 1.2 < np.mean(ratios) < 1.9


AT = np.linspace(0.05, 0.95, 19)


def width(x, low, high):
    """Mean width of a band of steps."""
    first, second = np.searchsorted(x, AT, side="right") - 1, np.searchsorted(x, AT)
    return (high[first] - low[second]).mean()


def pointwise_width(mean, deviation, codes):
    """Mean width of pointwise 95% intervals, by the delta method, at the truth."""
    quantile = stats.norm.isf(AT)
    true = stats.norm.sf((quantile - mean) / deviation)
    slope = stats.norm.pdf((quantile - mean) / deviation) / deviation
    slope /= stats.norm.pdf(quantile)
    m, n = codes.sum(), (1 - codes).sum()
    variances = true * (1 - true) / m + slope**2 * AT * (1 - AT) / n
    return 2 * 1.96 * np.sqrt(variances).mean()


def test_bounds_of_one_score_are_quantiles_of_a_uniform_number():
    low, high = beta_bounds(1, 0.1)
    assert np.allclose(low, [0, 0.05])
    assert np.allclose(high, [0.95, 1])


def test_a_band_of_tied_scores_contains_the_curve():
    rng = np.random.default_rng(1)
    actual = rng.integers(0, 2, 200)
    scores = np.round(rng.standard_normal(200) + actual)
    band = ps.roc_band(actual, scores)
    curve = ps.metrics.scores.roc_curve(actual, scores)
    x, low, high = band.to_numpy().T
    at = np.searchsorted(x, curve.false_positive, side="right") - 1
    assert (low[at] <= curve.true_positive).all()
    assert (curve.true_positive <= high[at]).all()
    assert (np.diff(band.to_numpy(), axis=0) >= 0).all()


def test_a_calibration_band_is_by_limits_of_clopper_and_pearson():
    rng = np.random.default_rng(2)
    p = rng.choice([0.1, 0.25, 0.4, 0.7], 80)
    happened = (rng.random(80) < p).astype(int)
    values = np.unique(p)
    k = values.size
    low, high = np.zeros(k), np.ones(k)
    for i in range(k):
        for j in range(i, k):
            own = happened[(p >= values[i]) & (p <= values[j])]
            # Two-sided intervals have half their level on each side.
            limits = proportion_confint(
                own.sum(), own.size, 2 * 0.05 / (k * (k + 1)), "beta"
            )
            low[j:] = np.maximum(low[j:], np.nan_to_num(limits[0]))
            high[: i + 1] = np.minimum(high[: i + 1], limits[1])
    band = calibration_band(p, happened).iloc[1:-1]
    assert np.allclose(band["probability"], values)
    assert np.allclose(band["low"], low, rtol=1e-10)
    assert np.allclose(band["high"], high, rtol=1e-10)


@pytest.mark.r
def test_the_worked_example_of_its_authors(tmp_path):
    # README of their package calibrationband 0.2: ranges of miscalibration are 0.0396
    # to 0.299, 0.693 to 0.951, 0.0389 to 0.0393, and two shorter ones.
    path = tmp_path / "rows.csv"
    script = (
        "set.seed(123); x <- runif(10000); "
        "y <- rbinom(10000, 1, 1 / (1 + ((1 / x * (1 - x))^1.8))); "
        f'write.csv(data.frame(x = sprintf("%.17g", x), y = y), "{path}", '
        "row.names = FALSE, quote = FALSE)"
    )
    subprocess.run(["Rscript", "--vanilla", "-e", script], check=True)
    rows = pd.read_csv(path)
    x, low, high = calibration_band(rows["x"].to_numpy(), rows["y"].to_numpy()).T.values
    at = np.linspace(0, 1, 10000)
    first, second = np.searchsorted(x, at, side="right") - 1, np.searchsorted(x, at)
    outside = np.r_[False, (high[second] < at) | (low[first] > at), False]
    starts, ends = np.flatnonzero(np.diff(outside)).reshape(-1, 2).T
    longest = np.argsort(starts - ends)[:3]
    assert starts.size == 5
    assert at[starts[longest]].round(4).tolist() == [0.0396, 0.693, 0.0389]
    assert at[ends[longest] - 1].round(3).tolist() == [0.299, 0.951, 0.039]


def test_the_figures_draw_both_bands():
    train, test = ps.datasets.load_digits56()
    result = ps.logit("digit ~ p34 + p43", train).fit()
    ax = result.plot.roc(test, band="simultaneous", ax=Figure().subplots())
    assert len(ax.collections) == 1
    with pytest.raises(ps.errors.OptionError, match="band"):
        result.plot.roc(test, band="pointwise")
    with pytest.raises(ps.errors.OptionError, match="seed=-1"):
        ps.roc_band([0, 1], [0.1, 0.9], seed=-1)
    p = result.predict_proba(test)
    found = ps.reliability(test["digit"], p, band=True)
    plain = ps.reliability(test["digit"], p)
    assert plain.band is None
    axes = [each.plot(ax=Figure().subplots()) for each in (found, plain)]
    assert len(axes[0].collections) == len(axes[1].collections) + 1
