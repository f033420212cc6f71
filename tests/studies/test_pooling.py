"""Rubin's rules: by hand, as by R's mice, and as by MICE of statsmodels."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import t as student
from statsmodels.imputation.mice import MICE, MICEData

import pegasos_stats as ps
from pegasos_stats.errors import OptionError

EXACT = ps.Optimum(tol=1e-12, seed=1)
# pool.vector() of mice 3.19.10, for glm() of R 4.2.2 fitted to the frames below.
MICE_R = {
    "estimate": [0.247731577702915, 0.902749236150648, -1.007117625638150],
    "t": [0.0924436750548063, 0.1517862591917232, 0.1108468051508751],
    "df": [27.8236129189629, 12.5661563049622, 62.1622436796780],
    "riv": [0.3083373158929893, 0.7038623924235496, 0.0776862987431248],
    "lambda": [0.2356711164219432, 0.4130981442828759, 0.0720861894910682],
    "fmi": [0.285264840920594, 0.488505565899223, 0.100566295703197],
}
CLOSE = 1e-6  # of the penalty, 1e-9: 4e-8 measured


@pytest.fixture(scope="module")
def frames():
    """Four frames that differ where a value was missing."""
    rng = np.random.default_rng(5)
    columns = {"x": rng.standard_normal(80), "z": rng.standard_normal(80)}
    base = pd.DataFrame(columns)
    chance = 1 / (1 + np.exp(-base["x"] + 0.5 * base["z"]))
    base["y"] = (rng.random(80) < chance).astype(int)
    missing, found = rng.random(80) < 0.4, []
    for _ in range(4):
        frame = base.copy()
        frame.loc[missing, "x"] += rng.normal(0, 0.7, missing.sum())
        found.append(frame)
    return found


def fits_of(frames, **given):
    options = {"lam": 1e-9, **given}
    models = [ps.logit("y ~ x + z", frame, **options) for frame in frames]
    return [model.fit(EXACT, cov_type="nonrobust") for model in models]


@pytest.fixture(scope="module")
def pooled(frames):
    return ps.pool(fits_of(frames))


def test_numbers_are_those_of_mice_in_r(pooled):
    table = pooled.tidy()
    np.testing.assert_allclose(table["std_error"] ** 2, MICE_R["t"], CLOSE)
    for name in ("estimate", "df", "riv", "lambda", "fmi"):
        np.testing.assert_allclose(table[name], MICE_R[name], CLOSE)


def test_tests_and_intervals_are_by_student(pooled):
    table = pooled.tidy(conf_level=0.9)
    ratio, df = table["estimate"] / table["std_error"], table["df"]
    np.testing.assert_allclose(table["statistic"], ratio, 1e-12)
    np.testing.assert_allclose(table["p_value"], 2 * student.sf(abs(ratio), df), 1e-9)
    reach = student.ppf(0.95, df) * table["std_error"]
    np.testing.assert_allclose(table["conf_high"] - table["estimate"], reach, 1e-9)
    limits = table[["conf_low", "conf_high"]]
    np.testing.assert_array_equal(pooled.conf_int(0.1), limits)
    odds = pooled.tidy(exponentiate=True)
    assert odds["estimate"].tolist() == np.exp(pooled.params).tolist()
    assert odds["conf_low"].tolist() == np.exp(pooled.conf_int()[0]).tolist()
    assert odds["std_error"].tolist() == pooled.bse.tolist()
    assert f"{pooled.params['x']:.3f}" in str(pooled.summary())


def test_covariances_are_those_of_mice_in_statsmodels(frames, pooled):
    binomial = {"family": sm.families.Binomial()}
    chain = MICE("y ~ x + z", sm.GLM, MICEData(frames[0]), init_kwds=binomial)
    models = [sm.GLM.from_formula("y ~ x + z", frame, **binomial) for frame in frames]
    chain.results_list = [model.fit(tol=1e-12) for model in models]
    chain.exog_names, chain.endog_names = models[0].exog_names, "y"
    peer = chain.combine()
    np.testing.assert_allclose(pooled.params, peer.params, CLOSE)
    np.testing.assert_allclose(pooled.cov_params(), peer.cov_params(), CLOSE)
    np.testing.assert_allclose(pooled.tidy()["lambda"], peer.frac_miss_info, CLOSE)


def test_frames_that_agree_have_no_missing_information(frames):
    fits = fits_of([frames[0]] * 3)
    table = ps.pool(fits).tidy()
    np.testing.assert_allclose(table["std_error"], fits[0].bse, 1e-12)
    assert (table["lambda"] < 1e-12).all()
    complete = 80 - 3
    expected = (complete + 1) / (complete + 3) * complete
    np.testing.assert_allclose(table["df"], expected, 1e-9)


def test_scaled_predictors_are_pooled_on_their_own_scale(frames, pooled):
    scaled = ps.pool(fits_of(frames, standardize=True))
    np.testing.assert_allclose(scaled.params, pooled.params, CLOSE)
    np.testing.assert_allclose(scaled.bse, pooled.bse, CLOSE)


def test_clusters_and_resamples_are_pooled_too(frames):
    groups = np.arange(80) % 12
    clustered = ps.pool([ps.logit("y ~ x", f).fit(groups=groups) for f in frames])
    assert clustered.df_complete == 11
    models = [ps.logit("y ~ x + z", frame, lam=0.1) for frame in frames]
    fits = [model.fit(cov_type=ps.Bootstrap(49)) for model in models]
    found, matrices = ps.pool(fits), [fit.covariance.matrix for fit in fits]
    B = np.cov([fit.params for fit in fits], rowvar=False)
    np.testing.assert_allclose(found.cov_params(), np.mean(matrices, 0) + 1.25 * B)
    squared = {"loss": "squared_hinge", "lam": 0.1}
    smooth = ps.pool([ps.svm("y ~ x + z", f, **squared).fit() for f in frames])
    with pytest.raises(OptionError, match="odds"):
        smooth.tidy(exponentiate=True)


def test_fits_of_different_models_are_refused(frames):
    first, other = fits_of(frames[:1])[0], frames[1]
    for word, model in {
        "terms": ps.logit("y ~ x", other, lam=1e-9),
        "lam": ps.logit("y ~ x + z", other),
        "loss": ps.svm("y ~ x + z", other, lam=1e-9, loss="squared_hinge"),
        "levels": ps.logit("y ~ x + z", other, lam=1e-9, coding=(1, 0)),
    }.items():
        with pytest.raises(OptionError, match=f"differ in {word}"):
            ps.pool([first, model.fit(cov_type="none")])


def imputed(m=6):
    """Frames without random numbers, which R computes as well."""
    i, found = np.arange(120), []
    for k in range(m):
        x = np.sin(i) + np.where(i % 4 == 0, 0.5 * np.sin(10 * k + i), 0)
        frame = pd.DataFrame({"g": np.array([*"uvw"])[i % 3], "x": x})
        frame["z"] = np.cos(3 * i)
        score = np.sin(7 * i) + 0.8 * np.sin(i) - 0.5 * frame["z"]
        found.append(frame.assign(y=(score + 0.6 * (i % 3 == 1) > 0).astype(int)))
    return found


def fits_with_factor(m=6):
    models = [ps.logit("y ~ x + z + g", frame) for frame in imputed(m)]
    return [model.fit(cov_type="nonrobust") for model in models]


def test_tests_of_terms_are_those_of_mitml():
    """R 4.2.2, mitml 0.4-4, testModels(method = "D1", df.com = 115)."""
    table = ps.pool(fits_with_factor()).wald_test_terms().set_index("term")
    columns = ["statistic", "df", "df_denom", "p_value"]
    of_g = [1.998619382, 2, 113.0300384, 0.140283333]
    of_x = [19.23773101, 1, 31.76946215, 0.0001185207575]
    np.testing.assert_allclose(table.loc["g", columns].astype(float), of_g, rtol=1e-8)
    np.testing.assert_allclose(table.loc["x", columns].astype(float), of_x, rtol=1e-8)


def test_a_joint_test_does_not_depend_on_the_coding():
    pooled = ps.pool(fits_with_factor())
    one = pooled.wald_test("g[T.v] = g[T.w] = 0")
    other = pooled.wald_test(["g[T.w] = 0", "g[T.v] - g[T.w] = 0"])
    assert one.statistic == pytest.approx(other.statistic, rel=1e-10)
    assert one.df_denom == pytest.approx(other.df_denom, rel=1e-8)


def test_few_imputations_have_at_most_the_degrees_of_complete_data():
    table = ps.pool(fits_with_factor(3)).wald_test_terms()
    assert (table["df_denom"] <= 115).all()


def by_hand(estimates, variances):
    """Rubin's rules: estimate, variance, degrees of freedom."""
    m, estimates = len(estimates), np.array(estimates)
    between = (1 + 1 / m) * estimates.var(axis=0, ddof=1)
    total = np.mean(variances, axis=0) + between
    return estimates.mean(axis=0), total, (m - 1) * (total / between) ** 2


def test_margins_and_predictions_are_pooled():
    fits = fits_with_factor()
    for parts in ([f.margins() for f in fits], [f.predictions("g") for f in fits]):
        tables = [part.tidy() for part in parts]
        mean, total, df = by_hand(
            [table["estimate"] for table in tables],
            [table["std_error"] ** 2 for table in tables],
        )
        found = ps.pool(parts).tidy()
        np.testing.assert_allclose(found["estimate"], mean, rtol=1e-12)
        np.testing.assert_allclose(found["std_error"] ** 2, total, rtol=1e-12)
        np.testing.assert_allclose(found["df"], df, rtol=1e-10)
        half = student.ppf(0.975, df) * np.sqrt(total)
        np.testing.assert_allclose(found["conf_high"], mean + half, rtol=1e-10)
    assert found["p_value"].isna().all()
    assert list(found["value"]) == ["u", "v", "w"]
    with pytest.raises(OptionError, match="differ"):
        ps.pool([fits[0].margins("x"), fits[1].margins("z")])


def test_error_rates_have_wilson_s_intervals_for_imputed_data():
    """The limits ``p`` solve ``(q - p)^2 = t^2 (1 + riv) p (1 - p) / n``."""
    fits, frames = fits_with_factor(), imputed()
    pairs = [
        (fit.predict(d), fit.decision_function(d))
        for fit, d in zip(fits, frames, strict=True)
    ]
    tables = [
        ps.confusion(d["y"], label, scores=score)
        for d, (label, score) in zip(frames, pairs, strict=True)
    ]
    found = ps.pool(tables).tidy().set_index("term")
    rates = np.array([table.error_rate for table in tables])
    mean, total, df = by_hand(rates, rates * (1 - rates) / 120)
    row = found.loc["error_rate"]
    assert row["estimate"] == pytest.approx(mean, rel=1e-12)
    assert row["std_error"] == pytest.approx(np.sqrt(total), rel=1e-12)
    t = student.ppf(0.975, df)
    for p in (row["conf_low"], row["conf_high"]):
        right = t**2 * (1 + row["riv"]) * p * (1 - p) / 120
        assert (mean - p) ** 2 == pytest.approx(right, rel=1e-8)
    sensitivity = np.mean([table["sensitivity"] for table in tables])
    assert found.loc["sensitivity", "estimate"] == pytest.approx(sensitivity)
    areas = np.array([table["auc"] for table in tables])
    on_logit = np.log(areas / (1 - areas)).mean()
    pooled = 1 / (1 + np.exp(-on_logit))
    assert found.loc["auc", "estimate"] == pytest.approx(pooled, rel=1e-12)


def test_copies_of_rows_in_clusters_add_no_information():
    """By ``p (1 - p) / (m - 1)``, and DeLong's variance of single rows."""
    y, x, label = (np.array(v) for v in ([0, 1] * 6, range(12), [0, 0, 1, 1] * 3))
    tables = [
        ps.confusion(
            *(np.repeat(v, k) for v in (y, label)), scores=np.repeat(x, k), groups=g
        )
        for k, g in ((1, None), (3, np.repeat(range(12), 3)))
    ]
    alone, copies = (ps.pool([t, t]).tidy().set_index("term") for t in tables)
    p = alone["estimate"].drop("auc")
    m = np.array([12, 6, 6, 6, 6])
    expected = np.sqrt(p * (1 - p) / (m - 1))
    ours = copies["std_error"].drop("auc")
    np.testing.assert_allclose(ours, expected, rtol=1e-12)
    assert copies.loc["auc", "std_error"] == pytest.approx(
        alone.loc["auc", "std_error"]
    )
    assert (copies["df"] < 11).all()  # clusters less one


def test_areas_and_their_difference_are_pooled():
    parts = [ps.compare_roc(d["y"], d["x"], -d["z"]) for d in imputed()]
    found = ps.pool(parts).tidy().set_index("term")
    differences = np.array([part.difference for part in parts])
    slopes = 1 - differences**2
    errors = np.array([part.std_error for part in parts]) / slopes
    mean, total, df = by_hand(np.arctanh(differences), errors**2)
    row = found.loc["A - B"]
    assert row["estimate"] == pytest.approx(np.tanh(mean), rel=1e-12)
    half = student.ppf(0.975, df) * np.sqrt(total)
    assert row["conf_low"] == pytest.approx(np.tanh(mean - half), rel=1e-10)
    assert -1 < row["conf_low"] < row["conf_high"] < 1


def test_ratios_are_pooled_on_the_log_scale(frames):
    fits = [ps.logit("y ~ x + z", frame).fit() for frame in frames]
    ratios, logs = (
        ps.pool([fit.margins("x", comparison=name) for fit in fits]).tidy().iloc[0]
        for name in ("ratio", "lnratio")
    )
    for column in ("estimate", "conf_low", "conf_high"):
        assert ratios[column] == pytest.approx(np.exp(logs[column]), rel=1e-9)
    assert ratios["p_value"] == pytest.approx(logs["p_value"], rel=1e-9)
    kinds = [fits[0].margins("x", comparison=c) for c in ("ratio", "lnratio")]
    with pytest.raises(OptionError, match="comparison="):
        ps.pool(kinds)


def test_what_has_no_normal_estimates_or_intervals_is_not_pooled(frames):
    """Student's t does not go with estimates that jump from corner to corner."""
    fit, hinge = ps.logit("y ~ x", frames[0]).fit(), ps.svm("y ~ x", frames[0], lam=0.1)
    weighted = ps.confusion([0, 1, 1], [0, 1, 0], weights=[1.0, 2.0, 3.0])
    resampled = hinge.fit(cov_type=ps.Bootstrap(99, seed=1))
    for part, words in (
        (hinge.fit(cov_type="none"), r"ps\.logit\(\)"),
        (resampled.margins("x"), "nearly normal"),
        (fit.confusion(frames[0]), "no intervals"),
        (weighted, "no intervals"),
        (fit.confusion(frames[1], prevalence=0.1), "prevalence"),
    ):
        with pytest.raises(OptionError, match=words):
            ps.pool([part, part])


def test_what_has_other_classes_is_not_pooled():
    """Sensitivity of one class is specificity of the other."""
    y, a, b = [0, 0, 1, 1], [0, 2, 1, 3], [1, 2, 0, 3]
    tables = [ps.confusion(y, [0, 1, 0, 1], positive) for positive in (0, 1)]
    several = [ps.confusion(list("abc"), list("abb"))] * 2
    for parts in (tables, several):
        with pytest.raises(OptionError, match="two levels and positive class"):
            ps.pool(parts)
    areas = [ps.compare_roc(y, a, b, positive=level) for level in (0, 1)]
    with pytest.raises(OptionError, match="positive="):
        ps.pool(areas)
