"""Average effects and predictions are those of statsmodels, R and the definition."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import expit

import pegasos_stats as ps

REFERENCE = Path(__file__).parents[2] / "r_reference"
# At lam = 1e-10 the optimum is that far from the one without penalty; R's derivatives
# are differences with steps of 1e-5, and rounding of 1e-16 is 1e-11 of them, twice.
TINY, PEER, OF_R = 1e-10, 1e-7, 2e-6
OPTIMUM = ps.Optimum(tol=1e-12, epochs=1000, seed=1)


@pytest.fixture(scope="module")
def data():
    """As in r_reference/golden_margins.R."""
    i = np.arange(1, 241)
    data = pd.DataFrame({"x": (37 * i) % 101 / 20 + 0.2, "z": (59 * i) % 83 / 40 - 1.0})
    data["g"], data["b"] = np.array(list("abcccbc"))[i * i % 7], i % 3 == 0
    g, x = data["g"], data["x"]
    score = 0.4 * x - data["z"] + (g == "b") - 0.5 * (g == "c") * np.log(x)
    score += 0.6 * data["b"] - 1.0
    data["y"] = np.where((53 * i) % 97 / 97 < expit(score), "yes", "no")
    data["school"], data["w"] = i % 23, 0.5 + i % 4
    return data


@pytest.fixture(scope="module")
def fit(data):
    formula = "y ~ x + I(x ** 2) + log(x):g + g + z + b"
    return ps.logit(formula, data, lam=TINY).fit(OPTIMUM, cov_type="nonrobust")


@pytest.fixture(scope="module")
def golden():
    return json.loads((REFERENCE / "golden" / "margins.json").read_text())


def pairs(found):
    """Estimate and standard error by what each is called in print."""
    table = found.tidy()
    numbers = table[["estimate", "std_error"]].to_numpy()
    return dict(zip(found.estimates.hypotheses, numbers, strict=True))


def test_effects_are_those_of_glm_in_r(fit, golden):
    found = pairs(fit.margins(contrasts="pairwise"))
    contrasts = ["x: dY/dX", "g: b - a", "g: c - a", "g: c - b", "z: dY/dX"]
    assert list(found) == [*contrasts, "b: True - False"]  # in the formula's order
    found |= pairs(fit.margins("x", at={"x": 2, "g": "c"}))
    found |= pairs(fit.margins("z", change=0.5))
    found |= pairs(fit.predictions("g")) | pairs(fit.predictions(at={"x": 2.0}))
    for name, peer in golden.items():
        ours = name.replace("TRUE - FALSE", "True - False").replace("slope", "dY/dX")
        ours = "all rows at x = 2" if ours == "x = 2" else ours
        np.testing.assert_allclose(found[ours], peer, rtol=OF_R, atol=OF_R * peer[1])


@pytest.fixture(scope="module")
def numbers(data):
    X = data[["x", "z", "b"]].assign(b=data["b"].astype(int))
    return ps.Logit(data["y"], X, lam=TINY), sm.add_constant(X)


NORMAL = ps.Cluster(correction="CR1", use_t=False)


@pytest.mark.parametrize("kind", ["nonrobust", "HC0", "CR1"])
def test_effects_are_those_of_statsmodels(numbers, data, kind):
    model, X = numbers
    ours, theirs = {"cov_type": kind}, {"cov_type": kind}
    if kind == "CR1":
        ours = {"groups": data["school"], "cov_type": NORMAL}
        theirs = {"cov_type": "cluster", "cov_kwds": {"groups": data["school"]}}
    result, y = model.fit(OPTIMUM, **ours), (data["y"] == "yes").astype(float)
    peer = sm.Logit(y, X).fit(disp=0, tol=1e-14, **theirs)
    for at, dummy in [(None, False), (None, True), ("mean", False), ("mean", True)]:
        table = result.margins(at=at, dummy=dummy).tidy()
        effects = peer.get_margeff(at=at or "overall", dummy=dummy)
        assert table["term"].tolist() == ["x", "z", "b"]
        assert table["contrast"].tolist()[2] == ("1 - 0" if dummy else "dY/dX")
        np.testing.assert_allclose(table["estimate"], effects.margeff, rtol=PEER)
        np.testing.assert_allclose(table["std_error"], effects.margeff_se, rtol=PEER)
        np.testing.assert_allclose(table["p_value"], effects.pvalues, rtol=1e-5)
        limits = table[["conf_low", "conf_high"]].to_numpy()
        np.testing.assert_allclose(limits, effects.conf_int(), rtol=1e-5, atol=1e-8)


def test_student_s_t_of_clusters_goes_on_to_effects(numbers, data):
    model, _ = numbers
    found = model.fit(OPTIMUM, cov_type="cluster", groups=data["school"]).margins("x")
    assert found.estimates.df_denom == 22
    low, high = found.estimates.conf_int()[0]
    assert (high - low) / found.estimates.sd[0] == pytest.approx(2 * 2.073873, rel=1e-6)


def test_standardized_predictors_have_the_same_effects(fit, data):
    model = ps.logit(fit.design.formula, data, lam=TINY, standardize=True)
    scaled = model.fit(OPTIMUM, cov_type="nonrobust").margins().estimates
    plain = fit.margins().estimates
    np.testing.assert_allclose(scaled.effect, plain.effect, atol=1e-7)
    # Scaling is fixed: errors are those of the coefficients on the scale of the fit.
    np.testing.assert_allclose(scaled.sd, plain.sd, rtol=1e-5)


def changed(result, data, name, value, weights=None):
    """The mean probability where a predictor has this value, by the definition."""
    each = result.predict_proba(data.assign(**{name: value})).iloc[:, 1]
    return np.average(each, weights=weights)


def test_rows_count_as_in_the_fit(data):
    weighted = ps.logit("y ~ x + g", data, lam=0.01, weights="w").fit(OPTIMUM)
    found = weighted.margins("g").estimates.effect
    by_hand = [changed(weighted, data, "g", level, data["w"]) for level in "abc"]
    np.testing.assert_allclose(found, np.array(by_hand[1:]) - by_hand[0], rtol=1e-12)
    given = weighted.margins("g", data, weights="w").estimates.effect
    np.testing.assert_allclose(given, found, rtol=1e-12)
    plain = weighted.margins("g", data).estimates.effect
    assert np.abs(plain - found).max() > 1e-5


def test_weights_of_classes_neither_weigh_rows_nor_shift_probabilities(data):
    model = ps.logit("y ~ x + g", data, lam=0.01, weights={"no": 1, "yes": 5})
    result = model.fit(OPTIMUM)
    assert result.problem.prior_shift > 1.0
    found = result.predictions("g").estimates.effect
    by_hand = [changed(result, data, "g", level) for level in "abc"]
    np.testing.assert_allclose(found, by_hand, rtol=1e-12)


def test_counts_are_rows(data):
    counts = data.assign(n=np.arange(len(data)) % 3)
    table = ps.logit("y ~ x + g", counts, lam=0.01, freq_weights="n").fit(OPTIMUM)
    rows = counts.iloc[np.repeat(np.arange(len(data)), counts["n"])]
    peer = ps.logit("y ~ x + g", rows, lam=0.01).fit(OPTIMUM).margins().estimates
    for margins in (table.margins(), table.margins(data=counts)):
        found = margins.estimates
        np.testing.assert_allclose(found.effect, peer.effect, rtol=1e-9)
        np.testing.assert_allclose(found.sd, peer.sd, rtol=1e-9)


def test_log_odds_of_levels_are_contrasts_of_coefficients(data):
    result = ps.logit("y ~ x + g", data, lam=0.01).fit(OPTIMUM)
    found = result.margins("g", scale="link", contrasts="pairwise")
    peer = result.t_test(["g[T.b] = 0", "g[T.c] = 0", "g[T.c] = g[T.b]"])
    np.testing.assert_allclose(found.estimates.effect, peer.effect, rtol=1e-12)
    np.testing.assert_allclose(found.estimates.sd, peer.sd, rtol=1e-12)
    # and have the intervals of the coefficients
    table, effects = result.tidy(), result.margins(scale="link").tidy()
    table = table.set_index("term").loc[["x", "g[T.b]", "g[T.c]"]]
    effects = effects.drop(columns=["term", "contrast"])
    np.testing.assert_allclose(table, effects, rtol=1e-9)  # sums in another order


def test_the_reference_level_is_that_of_the_coding(data):
    formula = "y ~ x + C(g, contr.treatment(base='b'))"
    result = ps.logit(formula, data, lam=0.01).fit(OPTIMUM)
    assert result.margins("g").keys["contrast"].tolist() == ["a - b", "c - b"]


def test_resamples_of_the_fit_give_resamples_of_effects(data):
    boot = ps.Bootstrap(39, seed=2, interval="percentile")
    result = ps.logit("y ~ x + g", data, lam=0.01).fit(OPTIMUM, cov_type=boot)
    found = result.margins("g").estimates
    rows = np.column_stack([np.ones(len(data)), data["x"]])
    each = [
        np.mean(expit(rows @ theta[:2] + theta[2]) - expit(rows @ theta[:2]))
        for theta in result.covariance.estimates
    ]
    assert found.sd[0] == pytest.approx(np.std(each, ddof=1), rel=1e-9)
    ends = np.quantile(each, [0.025, 0.975])
    np.testing.assert_allclose(found.conf_int()[0], ends, rtol=1e-9)


def test_shares_of_a_hinge_fit_change_by_steps(data):
    boot = ps.Bootstrap(39, seed=2, tol=1e-10)
    result = ps.svm("y ~ x + z + g", data, lam=0.05).fit(OPTIMUM, cov_type=boot)
    found = result.margins(["z", "g"])
    assert found.keys["contrast"].tolist() == ["+ 1 sd", "b - a", "c - a"]

    def share(**values):
        return (result.decision_function(data.assign(**values)) > 0).mean()

    moved = share(z=data["z"] + data["z"].std())
    by_hand = [moved - share(), *(share(g=level) - share(g="a") for level in "bc")]
    np.testing.assert_allclose(found.estimates.effect, by_hand, atol=1e-12)
    assert abs(by_hand[0]) > 0.1
    assert by_hand[1] > 0.0
    rows = np.column_stack([np.ones(len(data)), *result.problem.X.T])
    column = 1 + result.design.names.index("z")
    other = rows + np.eye(rows.shape[1])[column] * data["z"].std()

    def positive(scores):  # ties of a resample hold rows at 0 but for the solver
        return np.where(np.abs(scores) <= 1e-5, 0.5, scores > 0.0).mean()

    each = [
        positive(other @ theta) - positive(rows @ theta)
        for theta in result.covariance.estimates
    ]
    assert found.estimates.sd[0] == pytest.approx(np.std(each, ddof=1), rel=1e-9)
    assert result.predictions().estimates.effect[0] == pytest.approx(share(), rel=1e-12)


def test_derivatives_stay_within_the_range_of_the_data(data):
    terms = "bs(x, df=5) + log(z + 1.0000001)"  # z is -0.975 at least
    result = ps.logit(f"y ~ {terms}", data, lam=0.01).fit(OPTIMUM)
    h = 1e-5
    inner = data[data["x"].between(0.3, 5.0)]
    up, down = (changed(result, inner, "x", inner["x"] + s * h) for s in (1, -1))
    found = result.margins("x", inner).estimates.effect[0]
    assert found == pytest.approx((up - down) / (2 * h), rel=1e-6)
    assert np.isfinite(result.margins(data=data).estimates.effect).all()
    # Small and large values: the derivative of log(u) is 1 / u.
    far = pd.DataFrame({"u": np.geomspace(1e-9, 1e9, 120), "y": data["y"][:120]})
    logs = ps.logit("y ~ log(u)", far, lam=0.01).fit(OPTIMUM)
    p = logs.predict_proba()["yes"]
    by_hand = (p * (1 - p) / far["u"]).mean() * logs.params.iloc[1]
    assert logs.margins().estimates.effect[0] == pytest.approx(by_hand, rel=1e-8)


def test_an_offset_stays_that_of_its_row(data):
    timed = data.assign(t=0.5 + np.arange(len(data)) % 7)
    result = ps.logit("y ~ x + g + offset(log(t))", timed, lam=0.01).fit(OPTIMUM)
    found = result.margins()
    by_level = [changed(result, timed, "g", level) for level in "abc"]
    up, down = (changed(result, timed, "x", timed["x"] + h) for h in (1e-5, -1e-5))
    by_hand = [(up - down) / 2e-5, *np.subtract(by_level[1:], by_level[0])]
    np.testing.assert_allclose(found.estimates.effect, by_hand, rtol=1e-7)
    X = np.column_stack([np.ones(len(data)), result.problem.X])
    names, theta = list(result.params.index), result.params.to_numpy()

    def slope(theta):
        p = expit(X @ theta + np.log(timed["t"]))
        return np.mean(p * (1.0 - p)) * theta[names.index("x")]

    steps = 1e-6 * np.eye(len(theta))
    g = np.array([slope(theta + h) - slope(theta - h) for h in steps]) / 2e-6
    sd = np.sqrt(g @ result.cov_params().to_numpy() @ g)
    assert found.estimates.sd[0] == pytest.approx(sd, rel=1e-6)
    new = timed.iloc[:50].assign(t=3.0)
    missing = pd.concat([new, new.iloc[:5].assign(t=np.nan)], ignore_index=True)
    mean = result.predict_proba(new)["yes"].mean()
    assert result.predictions(data=new).estimates.effect[0] == pytest.approx(mean)
    assert result.predictions(data=missing).estimates.effect[0] == pytest.approx(mean)
    at_means = result.margins("g", at="mean").estimates.effect[0]
    base = theta[0] + theta[names.index("x")] * data["x"].mean()
    base += np.log(timed["t"]).mean()
    by_hand = expit(base + theta[names.index("g[T.b]")]) - expit(base)
    assert at_means == pytest.approx(by_hand, rel=1e-9)


def test_new_rows_bring_the_offset_that_was_given_as_numbers(data):
    known, new = np.log(1.0 + data["z"] ** 2), data.iloc[50:120]
    result = ps.logit("y ~ x + g", data, lam=0.01, offset=known).fit(OPTIMUM)
    found = result.predictions(data=new, offset=known.loc[new.index])
    chances = result.predict_proba(new, offset=known.loc[new.index])["yes"]
    assert found.tidy()["estimate"].iloc[0] == pytest.approx(chances.mean(), abs=1e-14)
    whole = result.margins(data=data, offset=known).tidy()["estimate"]
    np.testing.assert_allclose(whole, result.margins().tidy()["estimate"], rtol=1e-7)
    with pytest.raises(ps.errors.OptionError, match="training rows already have"):
        result.margins(offset=known)


def test_predictions_are_at_each_of_few_values_once(data):
    i = np.arange(len(data))
    some = data.assign(treated=i % 2, k=i // 7 % 3)
    result = ps.logit("y ~ x + k + treated + g", some, lam=1e-3).fit()
    assert result.predictions("treated").tidy()["value"].tolist() == ["0", "1"]
    assert result.predictions("k").tidy()["value"].tolist() == ["0", "1", "2"]
    assert len(result.predictions("x").tidy()) == 5


def test_booleans_of_which_one_is_missing_are_booleans(data):
    """``read_csv`` gives objects, nullable columns have a dtype of their own."""
    b = data["b"].astype(object)
    found = []
    for missing, values in ((None, b), (pd.NA, data["b"].astype("boolean"))):
        given = data.assign(b=values.where(np.arange(240) != 3, missing))
        fit = ps.logit("y ~ x + b", given, lam=0.01).fit(OPTIMUM)
        found.append((fit.margins().tidy(), fit.predictions("b").tidy()))
    for one, other in zip(*found, strict=True):
        pd.testing.assert_frame_equal(one, other)
    assert found[0][0]["contrast"].tolist() == ["dY/dX", "True - False"]


RATIOS = {  # estimate and standard error, for v and w against u
    "ratio": [(1.3691264021202931, 0.2248704), (1.09087531559201, 0.2008348)],
    "lnratio": [(0.3141728737607968, 0.1642437), (0.08698041580301291, 0.1841043)],
    "lnor": [(0.7846920115659635, 0.4045425), (0.1839326451899923, 0.3889449)],
}


def waves():
    """Rows without random numbers, which another program computes as well."""
    i = np.arange(120)
    frame = pd.DataFrame({"g": np.array([*"uvw"])[i % 3], "x": np.sin(i)})
    score = np.sin(7 * i) + 0.8 * frame["x"] - 0.5 * np.cos(3 * i) + 0.6 * (i % 3 == 1)
    return frame.assign(z=np.cos(3 * i), y=(score > 0).astype(int))


@pytest.mark.parametrize("comparison", RATIOS)
def test_ratios_are_those_of_marginaleffects(comparison):
    """marginaleffects 0.6.0 in Python, avg_comparisons() of statsmodels' logit.

    Its standard errors have derivatives by differences of 1e-6.
    """
    result = ps.logit("y ~ x + z + g", waves()).fit(cov_type="nonrobust")
    table = result.margins("g", comparison=comparison).tidy()
    estimates, errors = zip(*RATIOS[comparison], strict=True)
    np.testing.assert_allclose(table["estimate"], estimates, rtol=1e-10)
    np.testing.assert_allclose(table["std_error"], errors, rtol=1e-5)


@pytest.mark.parametrize("variable", ["x", "g"])
@pytest.mark.parametrize("comparison", RATIOS)
def test_ratios_are_by_their_formulas(comparison, variable):
    """Two means over the rows, compared; derivatives by complex steps."""
    frame = waves()
    result = ps.logit("y ~ x + z + g", frame).fit(cov_type="HC3")

    def mean(theta, changed):
        score = theta[0] + theta[1] * changed["x"] + theta[2] * changed["z"]
        score = score + theta[3] * (changed["g"] == "v")
        score = score + theta[4] * (changed["g"] == "w")
        return (1.0 / (1.0 + np.exp(-score))).mean()

    def value(theta):
        low, high = frame.assign(g="u"), frame.assign(g="v")
        if variable == "x":
            low, high = frame, frame.assign(x=frame["x"] + 1.0)
        p, q = mean(theta, high), mean(theta, low)
        if comparison == "lnor":
            return np.log(p / (1.0 - p) / (q / (1.0 - q)))
        return p / q if comparison == "ratio" else np.log(p / q)

    names = ["Intercept", "x", "z", "g[T.v]", "g[T.w]"]
    theta = result.params[names].to_numpy()
    V = result.cov_params().loc[names, names].to_numpy()
    steps = 1e-30j * np.eye(5)
    gradient = np.array([value(theta + step).imag / 1e-30 for step in steps])
    row = result.margins(variable, comparison=comparison).tidy().iloc[0]
    assert row["estimate"] == pytest.approx(value(theta), rel=1e-10)
    assert row["std_error"] == pytest.approx(np.sqrt(gradient @ V @ gradient), rel=1e-8)
    logarithm = {"ratio": "lnratio"}.get(comparison, comparison)
    other = result.margins(variable, comparison=logarithm).tidy().iloc[0]
    assert row["statistic"] == pytest.approx(
        other["estimate"] / other["std_error"], rel=1e-10
    )
    if comparison == "ratio":
        assert row["conf_low"] == pytest.approx(np.exp(other["conf_low"]), rel=1e-10)


def test_ratios_of_a_predictor_of_0_and_1_compare_these():
    """marginaleffects 0.6.0 compares 1 with 0 too: 1.025986242780, 0.025654338062."""
    i = np.arange(300)
    data = pd.DataFrame({"x": np.sin(i), "z": np.cos(3 * i), "k": i % 3})
    score = np.sin(7 * i) + 0.4 * data["x"] - 0.5 * data["z"] + 0.3 * (i % 3 == 1)
    data = data.assign(y=(score > 0) * 1, t=(np.sin(11 * i) > 0.2) * 1)
    result = ps.logit("y ~ t + x*z + C(k)", data).fit(cov_type="nonrobust")
    expected = {"ratio": 1.025986242780, "lnratio": 0.025654338062}
    for comparison, value in expected.items():
        row = result.margins("t", comparison=comparison).tidy().iloc[0]
        assert row["estimate"] == pytest.approx(value, rel=1e-9)
    assert result.margins("t", comparison="ratio").tidy()["contrast"][0] == "1 / 0"
    more = result.margins("t", comparison="ratio", change=1).tidy()
    assert more["contrast"][0] == "+ 1"
