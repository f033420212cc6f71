"""The optimism bootstrap, compared with rms of R and with its definition."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError, UndefinedMetricWarning

# R 4.2.2, rms 6.5-0: set.seed(1); validate(lrm(y ~ x + z + k, d, x = TRUE, y = TRUE,
# eps = 1e-12, tol = 1e-14, maxit = 100), B = 40): training, test, index.corrected.
RMS = {
    "auc": (0.645985502863, 0.613191919192, 0.581852880975),  # (1 + Dxy) / 2
    "r2": (0.106476049187, 0.065421779306, 0.038962431204),
    "brier_score": (0.228289993014, 0.239320842112, 0.244572384612),
    "slope": (1.0, 0.852999612966, 0.852999612966),
    "intercept": (0.0, 0.070815868370, 0.070815868370),
}


def waves(n=200, effect=1.0):
    """Rows without random numbers, which R computes as well."""
    i = np.arange(n)
    data = pd.DataFrame({"k": np.array([*"uvw"])[i % 3], "x": np.sin(i)})
    data["z"] = np.cos(3 * i)
    score = effect * (0.4 * data["x"] - 0.5 * data["z"]) + 0.3 * (i % 3 == 1)
    score += np.sin(7 * i)
    return data.assign(y=(score > 0).astype(int), g=i % 20)


def test_the_optimism_is_that_of_rms():
    table = ps.validate(ps.logit("y ~ x + z + k", waves()), 40).tidy()
    found = table.set_index("term")[["training", "test", "corrected"]]
    for name, expected in RMS.items():
        np.testing.assert_allclose(found.loc[name], expected, rtol=1e-8, atol=1e-8)


def test_statistics_are_by_their_definitions():
    data = waves()
    model = ps.logit("y ~ x + z + k", data)
    table = ps.validate(model, 5, thresholds=[0.3]).tidy().set_index("term")
    result = model.fit()
    chance = result.predict_proba(data).iloc[:, 1]
    apparent = table["apparent"]
    events, others = chance[data["y"] == 1], chance[data["y"] == 0]
    area = np.greater.outer(events.to_numpy(), others.to_numpy()).mean()
    assert apparent["auc"] == pytest.approx(area, rel=1e-12)
    assert apparent["brier_score"] == pytest.approx(
        np.mean((chance - data["y"]) ** 2), rel=1e-10
    )
    n, null = len(data), result.llnull
    nagelkerke = (1 - np.exp(2 * (null - result.llf) / n)) / (1 - np.exp(2 * null / n))
    assert apparent["r2"] == pytest.approx(nagelkerke, rel=1e-8)
    curve = ps.decision_curve(data["y"], chance, thresholds=[0.3]).table
    benefit = curve.loc[~curve["model"].isin(["all", "none"]), "net_benefit"]
    assert apparent["net_benefit_0.3"] == pytest.approx(float(benefit.iloc[0]))


def resample(data, seed):
    """The first resample, and 5 and 10 folds of its different rows."""
    n = len(data)
    rows = ps.RRandom(seed).sample_int(n, n, replace=True) - 1
    different, copies = np.unique(rows, return_inverse=True)
    folds = [
        ps.Folds.stratified(data["y"].iloc[different], k).assignment[0][copies]
        for k in (5, 10)
    ]
    return data.iloc[rows].reset_index(drop=True), *folds


def test_each_resample_repeats_the_choice_of_lambda():
    """The first resample, by hand: its rows as data, copies of a row in one fold."""
    data = waves(120)
    model = ps.logit("y ~ x + z + k", data, lam="cv")
    found = ps.validate(model, 2, seed=4)
    drawn, _, folds = resample(data, 4)
    drawn_model = ps.logit("y ~ x + z + k", drawn, lam="cv")
    path = ps.lambda_path(drawn_model, folds=folds)
    fit = path.refit("min")
    chance = fit.predict_proba(data).iloc[:, 1]
    np.testing.assert_allclose(found.probabilities[0], chance, atol=1e-4)
    own = model.fit(cov_type=None).predict_proba(data).iloc[:, 1]
    np.testing.assert_allclose(found.original, own, atol=1e-4)


@pytest.mark.parametrize("make", [ps.svm, ps.logit])
def test_each_resample_repeats_the_calibration(make):
    data = waves(120, 3.0)
    model = make("y ~ x + z + k", data, lam=0.01)
    found = ps.validate(model, 2, calibrate=True, seed=4)
    drawn, folds, _ = resample(data, 4)
    again = ps.calibrate(make("y ~ x + z + k", drawn, lam=0.01), folds=folds)
    chance = again.predict_proba(data).iloc[:, 1]
    np.testing.assert_allclose(found.probabilities[0], chance, atol=1e-9)
    own = ps.calibrate(model).predict_proba(data).iloc[:, 1]
    np.testing.assert_allclose(found.original, own, atol=1e-9)


def test_each_resample_repeats_the_choice_of_a_threshold():
    data, cost = waves(120, 3.0), {"false_positive": 1, "false_negative": 4}
    model = ps.logit("y ~ x + z + k", data)
    found = ps.validate(model, 2, cost=cost, seed=4)
    result = model.fit(cov_type=None)
    assert found.threshold == result.thresholds(cost=cost).threshold
    drawn, folds, _ = resample(data, 4)
    fit = ps.logit("y ~ x + z + k", drawn).fit(cov_type=None)
    cut = fit.thresholds(cost=cost, folds=folds).threshold
    assert found.chosen[0] == pytest.approx(cut, rel=1e-9)
    pairs = np.column_stack([found.training[0], found.test[0]])
    rates = dict(zip(found.names, pairs, strict=True))
    for at, rows in enumerate((drawn, data)):
        chance = fit.predict_proba(rows).iloc[:, 1].to_numpy()
        table = ps.confusion(rows["y"], (chance > cut) * 1)
        assert rates["error_rate"][at] == table.error_rate
        assert rates["sensitivity"][at] == table.by_class["sensitivity"].item()
        wrong = table.table.loc[0, 1] + 4 * table.table.loc[1, 0]
        assert rates["cost"][at] == pytest.approx(wrong / 120, rel=1e-12)
    assert "chosen threshold" in str(found.summary())


def test_transforms_are_learned_from_the_resample():
    data = waves(120)
    model = ps.logit("y ~ scale(x) + bs(z, df=4)", data)
    found = ps.validate(model, 2, seed=9)
    rows = ps.RRandom(9).sample_int(120, 120, replace=True) - 1
    drawn = data.iloc[rows].reset_index(drop=True)
    fit = ps.logit("y ~ scale(x) + bs(z, df=4)", drawn).fit(cov_type=None)
    inside = data["z"].between(drawn["z"].min(), drawn["z"].max())
    chance = fit.predict_proba(data[inside]).iloc[:, 1]
    ours = found.probabilities[0][inside]
    np.testing.assert_allclose(ours, chance, atol=1e-9)


def test_the_summary_counts_rows_and_shows_no_negative_zero():
    data = waves().assign(x=lambda d: d["x"].where(np.arange(len(d)) > 4))
    found = ps.validate(ps.logit("y ~ x + z", data), 2)
    intercept = found.names.index("intercept")
    found.apparent[intercept] = -1e-9  # rounding decides its sign
    lines = [line.split() for line in str(found.summary()).splitlines()]
    assert lines[2][-3:] == ["No.", "Observations:", str(len(data) - 5)]
    assert lines[3] == ["Rows", "dropped", "(NA):", "5"]
    assert next(line for line in lines if line[:1] == ["intercept"])[1] == "0.000"


def test_groups_are_drawn_whole():
    data = waves()
    found = ps.validate(ps.logit("y ~ x", data), 2, groups="g", seed=3)
    groups = ps.RRandom(3).sample_int(20, 20, replace=True) - 1
    drawn = pd.concat([data[data["g"] == g] for g in groups])
    fit = ps.logit("y ~ x", drawn).fit(cov_type=None)
    chance = fit.predict_proba(data).iloc[:, 1]
    np.testing.assert_allclose(found.probabilities[0], chance, atol=1e-9)
    assert "20 groups of g" in str(found.summary())


def test_intervals_are_those_of_the_apparent_statistic_less_the_optimism():
    found = ps.validate(ps.logit("y ~ x + z", waves()), 39)
    table = found.tidy(0.9).iloc[0]
    low, high = np.quantile(found.training[:, 0], [0.05, 0.95])
    optimism = found.training[:, 0].mean() - found.test[:, 0].mean()
    assert table["optimism"] == pytest.approx(optimism, rel=1e-12)
    assert table["conf_low"] == pytest.approx(low - optimism, rel=1e-12)
    assert table["conf_high"] == pytest.approx(high - optimism, rel=1e-12)


def test_workers_do_not_change_a_number():
    model = ps.logit("y ~ x + z + k", waves())
    one, two = (ps.validate(model, 10, workers=w).tidy() for w in (1, 2))
    pd.testing.assert_frame_equal(one, two, check_exact=True)


def test_resamples_without_a_slope_do_not_count_for_it():
    """Platt's sigmoid of an SVM without use is constant in some resamples."""
    data = waves(120)
    found = ps.validate(ps.svm("y ~ x + z", data, lam=0.1), 12, calibrate=True)
    undefined = np.isnan(found.training[:, 3])
    assert 0 < undefined.sum() < 12
    row = found.tidy().set_index("term").loc["slope"]
    assert row["training"] == pytest.approx(found.training[~undefined, 3].mean())
    assert (found.training[undefined, 1] == 0).all()  # r2
    assert f"{undefined.sum()} resample" in str(found.summary())


def separable():
    """Few rows, so that some resamples are separated."""
    x = np.array([0.0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    return pd.DataFrame({"x": x, "y": [0, 0, 0, 1, 0, 0, 1, 1, 1, 1]})


def test_separated_resamples_are_counted():
    found = ps.validate(ps.logit("y ~ x", separable()), 60)
    assert 0 < found.n_separated < 60
    assert f"{found.n_separated} resamples had no maximum likelihood" in str(
        found.summary()
    )
    with pytest.warns(UndefinedMetricWarning, match="excluded"):
        given = ps.validate(ps.logit("y ~ x", separable(), lam=0.0), 60)
    assert len(given.training) == 60 - found.n_separated


def test_the_plot_has_a_line_for_each_row():
    from matplotlib.figure import Figure

    found = ps.validate(ps.logit("y ~ x + z", waves()), 10)
    ax = found.plot(ax=Figure().subplots())
    (lines,) = ax.collections
    assert len(lines.get_segments()) == 200
    assert ax.get_xlabel() == "Probability of 1 by the model"


@pytest.mark.parametrize(
    ("model", "options", "match"),
    [
        (ps.svm, {}, "calibrate=True"),
        (ps.logit, {"resamples": 1}, "2 or more"),
        (ps.logit, {"thresholds": 1.5}, "thresholds"),
        (ps.logit, {"thresholds": None}, "thresholds=None"),
        (ps.logit, {"metric": "f1", "cost": {0: 1, 1: 2}}, "excludes cost"),
        (ps.logit, {"groups": ["g", "k"]}, "2 groupings"),
    ],
)
def test_what_is_refused(model, options, match):
    with pytest.raises(OptionError, match=match):
        ps.validate(model("y ~ x", waves()), **options)
