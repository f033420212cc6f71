"""Calibrated fits and reliability: cross-fitting, tables, scikit-learn."""

import itertools
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.svm import SVC
from statsmodels.nonparametric.smoothers_lowess import lowess

import pegasos_stats as ps
from pegasos_stats.errors import DataError, LabelError, OptionError
from pegasos_stats.metrics.intervals import proportion_interval
from pegasos_stats.studies.calibration import distance_by_chance, fit_sigmoid

mpl.use("Agg")

TIGHT = ps.Optimum(epochs=1000, tol=1e-10, seed=1)


@pytest.fixture(scope="module")
def calibrated(data):
    return ps.calibrate(ps.svm("y ~ a + b + c", data, lam=0.05), TIGHT, seed=443)


def test_the_whole_is_that_of_scikit_learn(data, calibrated):
    X, y = data[["a", "b", "c"]].to_numpy(), data["y"].to_numpy()
    folds = list(calibrated.validation.folds)  # 96 rows to fit in each
    assert {len(train) for train, test in folds} == {96}
    # their fit on all rows has the C of the folds, so lambda differs there: 96/120
    peer = CalibratedClassifierCV(
        SVC(kernel="linear", C=1 / (0.05 * 96), tol=1e-10), cv=folds, ensemble=False
    ).fit(X, y)
    inner = peer.calibrated_classifiers_[0].calibrators[0]
    # out-of-fold scores of two optima agree to sqrt(2 gap / lam), 2e-4 here
    assert pytest.approx(inner.a_, rel=1e-3) == calibrated.sigmoid.A
    assert pytest.approx(inner.b_, abs=1e-3) == calibrated.sigmoid.B


def test_probabilities_are_the_sigmoid_of_the_scores(data, calibrated):
    result, sigmoid = calibrated.result, calibrated.sigmoid
    same = ps.svm("y ~ a + b + c", data, lam=0.05).fit(TIGHT)
    assert (result.params == same.params).all()
    scores = result.decision_function(data)
    expected = 1 / (1 + np.exp(sigmoid.A * scores + sigmoid.B))
    found = calibrated.predict_proba(data)
    assert found.columns.tolist() == ["no", "yes"]
    np.testing.assert_allclose(found["yes"], expected, rtol=1e-14)
    assert (found.sum(axis=1) - 1).abs().max() < 1e-15
    assert (calibrated.predict(data) == found.idxmax(axis=1)).all()
    new = data.iloc[:3].assign(b=[0.0, np.nan, 1.0])
    assert calibrated.predict_proba(new)["yes"].isna().tolist() == [False, True, False]
    assert calibrated.predict(new).isna().tolist() == [False, True, False]


@pytest.fixture(scope="module")
def repeated(data):
    model = ps.svm("y ~ a + b", data, lam=0.05, weights="w")
    return ps.calibrate(model, folds=4, repeats=3, seed=1)


def test_repeats_and_weights_go_into_the_sigmoid(repeated):
    problem, scores = repeated.result.problem, repeated.validation.scores_by_repeat
    y, weights = np.tile(problem.y, 3), np.tile(problem.weights, 3) / 3
    once = fit_sigmoid(y, scores.to_numpy().T.ravel(), weights)
    assert pytest.approx((once.A, once.B)) == (repeated.sigmoid.A, repeated.sigmoid.B)
    assert repeated.result.solver.seed == 1


def test_one_fold_gives_no_sigmoid_for_its_rows(data):
    model = ps.svm("y ~ a + b", data, lam=1.0)
    with pytest.raises(DataError, match="at least two folds"):
        ps.calibrate(model, folds=[(np.arange(60), np.arange(60, 120))])


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_reliability_is_the_calibration_curve_of_scikit_learn(strategy):
    rng = np.random.default_rng(1)
    p = rng.random(500)
    came = (rng.random(500) < p**1.3).astype(int)
    found = ps.reliability(came, p, 8, strategy=strategy).table
    observed, predicted = calibration_curve(came, p, n_bins=8, strategy=strategy)
    np.testing.assert_allclose(found["observed"], observed, rtol=1e-13)
    np.testing.assert_allclose(found["mean_predicted"], predicted, rtol=1e-13)
    assert found["n"].sum() == 500
    line = found.iloc[3]
    count = round(line["n"] * line["observed"])
    limits = proportion_interval(count, int(line["n"]), "wilson")
    assert (line["conf_low"], line["conf_high"]) == limits


def test_reliability_of_a_logistic_fit(data):
    result = ps.logit("y ~ a + b + c", data, lam=0.01).fit(TIGHT)
    frame = result.predict_proba(data)
    found = ps.reliability(data["y"], frame)
    assert found.positive == "yes"
    same = ps.reliability(data["y"], frame["yes"], positive="yes")
    assert found.table.equals(same.table)
    other = ps.reliability(data["y"], frame, positive="no")
    assert other.brier_score == pytest.approx(found.brier_score)
    np.testing.assert_allclose(other.table["n"], found.table["n"][::-1])
    terms = result.confusion(data).overall
    assert found.log_loss == pytest.approx(terms["log_loss"], rel=1e-12)
    assert found.brier_score == pytest.approx(terms["brier_score"], rel=1e-12)


def test_bins_hold_their_upper_end_and_may_be_empty():
    p = np.array([0.0, 0.5, 0.7500001, 1.0])
    found = ps.reliability([0, 1, 0, 1], p, 4)
    assert found.table["n"].tolist() == [1, 1, 0, 2]
    assert found.table.loc[2, "observed":].isna().all()
    assert found.calibration_error == pytest.approx((0.5 + 2 * 0.37500005) / 4)
    assert "NA" in str(found)
    assert "<table" in found._repr_html_()
    constant = ps.reliability([0, 1], [0.3, 0.3], strategy="quantile")
    assert constant.table["n"].tolist() == [2]


@pytest.mark.parametrize("many", [0.02, 0.98])
def test_a_probability_of_many_rows_has_a_quantile_bin_of_its_own(many):
    """Its distance and that of the others do not cancel: (19 + 19) / 1000."""
    p = np.repeat([many, 0.5], [950, 50])
    came = np.r_[np.arange(950) < 950 * many + 19, np.arange(50) < 6]
    found = ps.reliability(came, p, strategy="quantile")
    assert sorted(found.table["n"]) == [50, 950]
    assert found.calibration_error == pytest.approx(0.038)


def test_rows_that_lack_something_are_left_out_and_counted():
    found = ps.reliability(
        pd.Series(["a", None, "b", "b"]), [0.1, 0.2, np.nan, 0.7], positive="b"
    )
    assert found.n_left_out == found.table["n"].sum() == 2
    assert "2 rows with a missing value" in str(found)
    one = ps.reliability(["a", None, "b", "b"], [0.1, 0.2, 0.3, 0.7], positive="b")
    assert "1 row with a missing value" in str(one)


COLUMNS = pd.DataFrame({0: [0.5, 1], 1: [0.5, 0]})


@pytest.mark.parametrize(
    ("actual", "p", "given", "error", "message"),
    [
        ([0, 1], [0.5, 1.5], {}, DataError, "between 0 and 1"),
        ([None, None], [0.1, 0.2], {}, OptionError, "levels"),
        ([0, 1], [np.nan] * 2, {}, DataError, "No row"),
        (list("abc"), [0.5] * 3, {}, OptionError, "'a', 'b', 'c'"),
        ([0, 2], COLUMNS, {}, LabelError, "2"),
        ([0, 1], [0.1, 0.2], {"positive": 2}, OptionError, "positive=2"),
        ([0, 1], [0.1, 0.2], {"bins": [0, 1, 0.5]}, OptionError, "bins="),
        ([0, 1], [0.1, 0.2], {"strategy": "equal"}, OptionError, "strategy"),
    ],
)
def test_wrong_input_is_refused(actual, p, given, error, message):
    with pytest.raises(error, match=message):
        ps.reliability(actual, p, **given)


def test_losses_are_means_over_the_repeats_by_the_weights_of_the_rows(data, repeated):
    came, w = data["y"] == "yes", data["w"]
    table = repeated.tidy().set_index("term")["estimate"]
    chances = expit(repeated.logits.to_numpy().T)
    for name, peer in (("brier_score", brier_score_loss), ("log_loss", log_loss)):
        by_repeat = [peer(came, p, sample_weight=w) for p in chances]
        assert len(by_repeat) == 3
        assert table[name] == pytest.approx(np.mean(by_repeat), rel=1e-12)


def test_new_rows_bring_the_offset_that_was_given_as_numbers():
    data = pd.DataFrame({"x": np.arange(60.0) % 7, "y": list("aabab" * 12)})
    known = np.sin(np.arange(60.0))
    found = ps.calibrate(ps.svm("y ~ x", data, lam=0.1, offset=known), seed=1)
    again = found.predict_proba(data, offset=known)
    np.testing.assert_allclose(again, found.predict_proba(), rtol=1e-12)
    assert found.predict(data, offset=known).equals(found.predict())
    assert not found.predict_proba(data, offset=-known).equals(again)


@pytest.mark.parametrize("threshold", [0.5, 0.3])
def test_tables_are_those_of_the_probabilities(data, calibrated, threshold):
    new = data.assign(a=data["a"] + 0.1, b=data["b"] - 0.3).iloc[:90]
    seen = new["y"], calibrated.predict_proba(new)["yes"]
    unseen = data["y"], calibrated.probabilities["yes"]
    of_new = calibrated.confusion(new, threshold=threshold, positive="yes")
    tables = [of_new, calibrated.confusion(threshold=threshold)]
    for table, (actual, chance) in zip(tables, (seen, unseen), strict=True):
        predicted = np.where(chance > threshold, "yes", "no")
        expected = pd.crosstab(np.asarray(actual), predicted)
        assert table.table.loc["no", "yes"] == expected.loc["no", "yes"]
        assert table.table.loc["yes", "no"] == expected.loc["yes", "no"]
        assert table.n_classified == len(actual)
    assert [table.source for table in tables] == ["new", "out of fold"]
    assert calibrated.confusion(data).source == "training"
    counted = calibrated.confusion(new, new["y"], freq_weights="w")
    assert counted.n_classified == new["w"].sum()


@pytest.mark.parametrize(
    ("p", "rel"),
    [
        ([0.3] * 7, 1e-12),  # exact where all are the same
        ([0.02], 1e-12),
        # Else the shape is taken from that of the mean, the nearer they are the better.
        ([0.11, 0.14, 0.18, 0.19, 0.12], 0.01),
        ([0.05, 0.3, 0.5, 0.9, 0.6, 0.2], 0.03),
    ],
)
def test_distances_by_chance_are_those_of_all_outcomes(p, rel):
    mean, p = 0.0, np.array(p)
    for outcome in itertools.product([0.0, 1.0], repeat=p.size):
        y = np.array(outcome)
        mean += np.prod(np.where(y > 0.0, p, 1.0 - p)) * abs(y.sum() - p.sum())
    assert distance_by_chance(p) == pytest.approx(mean, rel=rel)


@pytest.mark.slow
def test_right_probabilities_have_the_calibration_error_that_chance_gives():
    rng, errors, expected = np.random.default_rng(6), [], []
    for _ in range(200):
        p = rng.beta(2.0, 3.0, 80)
        found = ps.reliability((rng.random(80) < p).astype(int), p)
        errors.append(found.calibration_error)
        expected.append(found.error_by_chance)
    # four standard errors of the mean of 200
    slack = 4.0 * np.std(errors) / np.sqrt(200)
    assert np.mean(errors) == pytest.approx(np.mean(expected), abs=slack)


# ---- Platt's sigmoid: the regularised likelihood, and scores of any size.


def drawn(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 200))
    scores = rng.normal(size=n) * 10 ** rng.uniform(-3, 3)
    y = np.where(rng.random(n) < expit(scores), 1.0, -1.0)
    y[:2] = [-1.0, 1.0]
    return y, scores, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("seed", range(12))
def test_the_sigmoid_is_at_the_optimum(seed):
    y, scores, weights = drawn(seed)
    found = fit_sigmoid(y, scores, weights)
    upper, lower = weights[y > 0].sum(), weights[y < 0].sum()
    targets = np.where(y > 0, (upper + 1) / (upper + 2), 1 / (lower + 2))
    gradient = weights * (targets - expit(found.logits(scores)))
    rounding = 1e-6 * weights.sum()  # the decrement is its square: 1e-14 of the loss
    assert abs(gradient @ scores) <= rounding * np.abs(scores).max()
    assert abs(gradient.sum()) <= rounding


def test_extreme_scores_give_a_finite_sigmoid():
    y = np.resize([-1.0, 1.0], 20)
    for scores in (y, 1e8 * y, 1e-8 * y, -y):
        found = fit_sigmoid(y, scores)
        # separated: the targets themselves, (10 + 1) / (10 + 2) and its complement
        assert found.logits(scores) == pytest.approx(y * np.log(11), rel=1e-6)
    for scores in (np.zeros(20), np.full(20, 3.0)):
        found = fit_sigmoid(y, scores)  # ten of each: an even chance
        assert found.logits(scores) == pytest.approx(np.zeros(20), abs=1e-6)
    lonely = fit_sigmoid(np.ones(4), np.arange(4.0))
    assert lonely.logits(np.zeros(1)) == pytest.approx(np.log(5), rel=1e-6)


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1.0, 1e200, 1.7e308])
def test_a_sigmoid_is_finite_whatever_the_size_of_the_scores(size):
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    scores = size * np.array([-1.0, 0.0, 0.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fit_sigmoid(y, scores)
        logits = found.logits(scores)
    assert found.A <= 0.0
    assert np.isfinite([found.A, found.B, *logits]).all()


# ---- Slope, intercept, smooth curve and ICI, against statsmodels and R.

FITTED = 1e-9  # two optima, and the information at each
ROUNDING = 1e-9  # theirs have weight 1 within a thousandth of the width


def events(seed, n=400):
    rng = np.random.default_rng(seed)
    score = 1.5 * rng.normal(size=n) - 1.0
    happened = (rng.random(n) < expit(score)).astype(int)
    return happened, expit(1.3 * score + 0.2)


def of_glm(happened, columns, offset=None):
    """The last coefficient of a logistic regression, with its interval."""
    model = sm.GLM(happened, columns, sm.families.Binomial(), offset=offset)
    fit = model.fit(tol=1e-14)
    return [fit.params[-1], *fit.conf_int()[-1]]


@pytest.mark.parametrize("seed", range(4))
def test_slope_and_intercept_are_those_of_glm(seed):
    happened, p = events(seed, 60 * 4**seed)
    found = ps.reliability(happened, p)
    slope = of_glm(happened, sm.add_constant(logit(p)))
    intercept = of_glm(happened, np.ones(p.size), logit(p))
    np.testing.assert_allclose([found.slope, *found.slope_interval], slope, FITTED)
    np.testing.assert_allclose(
        [found.intercept, *found.intercept_interval], intercept, FITTED, FITTED
    )
    lines = found.tidy().set_index("term")
    assert lines.loc["slope"].tolist() == [found.slope, *found.slope_interval]
    assert lines.loc["ici", "estimate"] == found.ici


def test_slope_and_intercept_are_those_of_glm_in_r(r):
    happened, p = events(7)
    y, q = (str(x.tolist())[1:-1] for x in (happened, p))
    expected = r.eval(
        f"local({{y <- c({y}); z <- qlogis(c({q}))\n"
        "tight <- glm.control(1e-14)\n"
        "c(coef(glm(y ~ z, binomial, control = tight))[2],\n"
        "  coef(glm(y ~ 1, binomial, offset = z, control = tight)))})"
    )
    found = ps.reliability(happened, p)
    np.testing.assert_allclose([found.slope, found.intercept], expected, FITTED)


@pytest.mark.parametrize("n", [20, 100, 900])
@pytest.mark.parametrize("digits", [16, 2])
def test_the_ici_is_the_mean_distance_from_lowess(n, digits):
    happened, p = events(3, n)
    p = np.clip(np.round(p, digits), 0.01, 0.99)
    smooth = lowess(happened, p, frac=2 / 3, it=0, delta=0.0, return_sorted=False)
    found = ps.reliability(happened, p)
    assert found.ici == pytest.approx(np.abs(smooth - p).mean(), rel=ROUNDING)
    order = np.argsort(p)
    curve = np.interp(found.smooth["probability"], p[order], smooth[order])
    np.testing.assert_allclose(
        found.smooth["observed"], np.clip(curve, 0, 1), rtol=0, atol=ROUNDING
    )


def test_the_curve_is_lowess_of_r(r):
    happened, p = events(5, 200)
    y, q = (str(x.tolist())[1:-1] for x in (happened, p))
    expected = r.eval(
        f"local({{p <- c({q}); s <- lowess(p, c({y}), iter = 0, delta = 0)\n"
        "mean(abs(s$y - s$x))})"
    )[0]
    assert ps.reliability(happened, p).ici == pytest.approx(expected, rel=ROUNDING)


def test_many_rows_have_nearly_the_same_ici():
    happened, p = events(1, 12_000)
    smooth = lowess(happened, p, frac=2 / 3, it=0, delta=1e-3, return_sorted=False)
    expected = np.abs(smooth - p).mean()
    assert ps.reliability(happened, p).ici == pytest.approx(expected, rel=1e-3)


@pytest.mark.slow
def test_right_probabilities_have_slope_1_and_intercept_0():
    rng = np.random.default_rng(2)
    held = np.zeros(2)
    for _ in range(300):
        p = expit(rng.normal(size=150))
        found = ps.reliability((rng.random(150) < p).astype(int), p)
        slope, intercept = found.slope_interval, found.intercept_interval
        held += [slope.low < 1 < slope.high, intercept.low < 0 < intercept.high]
    assert (held / 300 > 0.91).all()  # 0.95, less 3 standard errors of 0.013
    assert (held / 300 < 0.99).all()


@pytest.mark.parametrize(
    ("happened", "p", "intercept"),
    [
        ([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9], True),  # separated: no finite slope
        ([0, 1, 0, 1], [0.3, 0.3, 0.3, 0.3], True),  # one probability
        ([0, 1, 0, 1], [0.0, 0.3, 0.6, 0.9], False),  # a probability of 0
        ([1, 1, 1, 1], [0.1, 0.3, 0.6, 0.9], False),  # events alone
    ],
)
def test_what_is_not_defined_is_missing(happened, p, intercept):
    found = ps.reliability(happened, p, positive=1)
    assert np.isnan([found.slope, *found.slope_interval, found.ici]).all()
    assert np.isfinite([found.intercept, *found.intercept_interval]).all() == intercept
    assert "Slope" not in str(found)


def test_far_probabilities_converge():
    happened, p = events(9)
    far = expit(40.0 * logit(p))
    far = np.clip(far, 1e-300, 1.0 - 1e-16)
    found = ps.reliability(happened, far)
    expected = of_glm(happened, sm.add_constant(logit(far)))
    assert found.slope == pytest.approx(expected[0], rel=1e-6)
    rare = np.full(400, 1e-12)
    expected = logit(happened.mean()) - logit(1e-12)
    assert ps.reliability(happened, rare).intercept == pytest.approx(expected)


def test_losses_of_the_rows_of_the_fit_stand_beside_them(data, calibrated):
    given = data["y"] == "yes", calibrated.predict_proba()["yes"]
    found = calibrated.tidy().set_index("term")["in_sample"]
    assert found["brier_score"] == pytest.approx(brier_score_loss(*given))
    assert found["log_loss"] == pytest.approx(log_loss(*given))
    assert calibrated.probabilities.index.equals(data.index)


def test_one_of_several_levels():
    found = ps.reliability(list("abca"), [0.9, 0.1, 0.2, 0.6], 2, positive="a")
    assert found.table["observed"].tolist() == [0.0, 1.0]


def grouped_rows():
    """Rows without random numbers, which R computes as well."""
    i = np.arange(400)
    g = i // 8
    z = 1.4 * np.sin(7 * i) + 0.8 * np.cos(g)
    y = 0.2 + 0.7 * z + 1.5 * np.sin(13 * i + 2) + np.cos(3 * g) > 0
    return y.astype(int), expit(z), g


def test_calibration_of_groups_is_that_of_club_sandwich():
    """R 4.2.2, clubSandwich 0.5.8: glm(y ~ z) and glm(y ~ offset(z)), binomial,
    vcovCR(type = "CR3"), coefficient -+ qt(0.975, 49) times its root."""
    actual, p, groups = grouped_rows()
    found = ps.reliability(actual, p, groups=groups)
    slope = 0.954720432598, 0.635924134515, 1.27351673068
    intercept = 0.263485668535, -0.13639327045, 0.663364607521
    ours = [found.slope, *found.slope_interval]
    np.testing.assert_allclose(ours, slope, rtol=1e-8)  # R rounds its matrix roots
    ours = [found.intercept, *found.intercept_interval]
    np.testing.assert_allclose(ours, intercept, rtol=1e-8)
    assert np.isnan(found.error_by_chance)
    assert found.smooth[["conf_low", "conf_high"]].isna().all(axis=None)


def test_shares_of_a_bin_are_rates_of_grouped_rows():
    actual, p, groups = grouped_rows()
    table = ps.reliability(actual, p, bins=4, groups=groups).table
    own = p <= 0.25
    alone = ps.confusion(1 - actual[own], np.ones(own.sum()), groups=groups[own])
    expected = alone.error_interval(method="wilson")
    np.testing.assert_allclose(table.loc[0, ["conf_low", "conf_high"]], expected)


def test_groups_of_one_row_are_no_groups_nearly():
    actual, p, _ = grouped_rows()
    alone = ps.reliability(actual, p, groups=np.arange(400))
    fit = sm.GLM(actual, sm.add_constant(logit(p)), family=sm.families.Binomial())
    robust = fit.fit(cov_type="HC0").conf_int()[1]  # CR3 divides by 1 - leverage
    np.testing.assert_allclose(alone.slope_interval, robust, atol=0.02)


def test_a_band_is_not_for_groups():
    actual, p, groups = grouped_rows()
    with pytest.raises(OptionError, match="independent rows"):
        ps.reliability(actual, p, groups=groups, band=True)
    with pytest.raises(DataError, match="groups"):
        ps.reliability(actual, p, groups=groups[:-1])


def test_rows_out_of_fold_have_groups_too(data, calibrated):
    groups = np.arange(len(data)) // 5
    rows = calibrated.validation.actual, calibrated.probabilities
    expected = ps.reliability(*rows, groups=groups)
    assert calibrated.reliability(groups=groups).slope_interval == (
        expected.slope_interval
    )
    assert calibrated.reliability().slope_interval != expected.slope_interval
