"""Standard errors of rows that come in groups."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import f, t

import pegasos_stats as ps
from pegasos_stats.errors import (
    ColumnError,
    DataError,
    OptionError,
    UndefinedMetricWarning,
)
from pegasos_stats.models.inference.wald import at_fixed_scale

# Sums of the same numbers in another order, divided by pivots of about 1.
ROUNDING = 1e-10


def hospitals(n=240, number=24, seed=5):
    rng = np.random.default_rng(seed)
    hospital = rng.permutation(np.arange(n) % number)
    shared = rng.normal(size=number)[hospital]
    age, dose = rng.normal(size=n) + shared, rng.normal(size=n)
    score = 0.8 * age - 0.6 * dose + shared + rng.logistic(size=n)
    data = pd.DataFrame({"age": age, "dose": dose}, [f"r{i}" for i in range(n)])
    data["died"] = np.where(score > 0.7, "yes", "no")
    data["hospital"] = [f"H{each}" for each in hospital]
    return data.assign(weight=rng.integers(1, 4, n))


def fit(data=None, loss=ps.logit, tol=1e-10, **given):
    data = hospitals() if data is None else data
    options = {name: given.pop(name) for name in list(given) if name in MODEL}
    model = loss("died ~ age + dose", data, lam=0.01, **options)
    return model.fit(ps.Optimum(tol=tol, seed=1), **given)


MODEL = ("weights", "freq_weights", "standardize", "na_action")
LOSSES = pytest.mark.parametrize("loss", [ps.svm, ps.logit])


@LOSSES
@pytest.mark.parametrize(
    "options",
    [{}, {"weights": "weight"}, {"weights": "balanced"}, {"standardize": True}],
)
def test_a_group_for_each_row_gives_the_plain_sandwich(loss, options):
    data = hospitals()
    kind = "HC0" if loss is ps.logit else "sandwich"
    plain = fit(data, loss, cov_type=kind, **options)
    each = plain.with_covariance(ps.Cluster(correction="CR0"), groups=data.index)
    factor = len(data) / (len(data) - 1)
    found, expected = (fit.cov_params() for fit in (each, plain))
    np.testing.assert_allclose(found, expected * factor, rtol=ROUNDING)
    found, expected = (at_fixed_scale(f.estimated).matrix for f in (each, plain))
    np.testing.assert_allclose(found, expected * factor, rtol=ROUNDING)


@LOSSES
def test_rows_twice_in_one_group_have_the_errors_of_rows_once(loss):
    data = hospitals()
    options = ps.Cluster(bandwidth=0.4, correction="CR0")
    once = fit(data, loss, cov_type=options, groups=data.index)
    twice = pd.concat([data, data])
    again = fit(twice, loss, cov_type=options, groups=twice.index)
    # two solutions, each within sqrt(2 gap / lam) = 1e-4 of the optimum
    np.testing.assert_allclose(again.params, once.params, atol=2e-4)
    np.testing.assert_allclose(again.bse, once.bse, rtol=1e-3)
    alone = fit(twice, loss, cov_type=ps.Sandwich(bandwidth=0.4))
    np.testing.assert_allclose(alone.bse, once.bse / np.sqrt(2.0), rtol=3e-3)


def test_the_same_groups_are_read_from_all_forms():
    data = hospitals()
    model = ps.logit("died ~ age + dose", data, lam=0.01)
    column, two = data["hospital"], ["hospital", "weight"]
    forms = ["hospital", column, list(column), column.astype("category")]
    forms += [["hospital"], data[["hospital"]], column.to_numpy()]
    results = [model.fit(ps.Optimum(seed=1), groups=form) for form in forms]
    for result in results:
        assert result.bse.equals(results[0].bse)
        assert result.groups.numbers == (24,)
    assert str(results[0].groups) == "24 groups of hospital"
    assert str(results[-1].groups) == "24 groups"
    for form in (two, data[two], (column, data["weight"].to_numpy())):
        assert model.fit(groups=form).groups.numbers == (24, 3)
    told = "24 groups of hospital and 3 groups of weight"
    assert str(model.fit(groups=two).groups) == told


def test_rows_left_out_and_counted_keep_their_groups():
    data = hospitals()
    data.loc[data.index[[3, 50]], "age"] = np.nan
    data.loc[data.index[7], "died"] = None
    complete = data.dropna()
    short, long = fit(complete, groups="hospital"), fit(data, groups="hospital")
    assert long.bse.equals(short.bse)
    assert long.groups.codes[0].tolist() == short.groups.codes[0].tolist()
    repeated = complete.loc[complete.index.repeat(complete["weight"])]
    counted = fit(data, freq_weights="weight", groups=data["hospital"])
    assert counted.bse.equals(fit(repeated, groups="hospital").bse)
    assert not counted.bse.equals(long.bse)
    boot = ps.Bootstrap(20, seed=3)
    again = counted.with_covariance(boot)
    assert again.bse.equals(fit(repeated, groups="hospital", cov_type=boot).bse)


@LOSSES
def test_tests_are_by_t_and_f(loss):
    result = fit(loss=loss, cov_type="CR1", groups="hospital")
    normal = result.with_covariance(ps.Cluster(correction="CR1", use_t=False))
    theta, error = result.params, result.bse
    assert normal.bse.equals(error)
    assert normal.covariance.df == np.inf
    np.testing.assert_allclose(result.pvalues, 2 * t(23).sf(abs(theta / error)))
    high = theta + t(23).ppf(0.975) * error
    np.testing.assert_allclose(result.conf_int()[1], high, rtol=1e-12)
    joint = result.wald_test("age = dose = 0")
    V = result.cov_params().iloc[1:, 1:]
    expected = theta[1:] @ np.linalg.solve(V, theta[1:]) / 2
    assert joint.statistic == pytest.approx(expected, rel=1e-10)
    assert joint.pvalue == pytest.approx(f(2, 23).sf(expected), rel=1e-8)
    assert (joint.df_num, joint.df_denom) == (2, 23)


def test_resamples_are_of_whole_groups():
    """The rows of R's sample(M, M, replace = TRUE), groups in order of appearance."""
    data = hospitals(n=60, number=6)
    options = ps.Bootstrap(3, seed=11, tol=1e-12)
    found = fit(data, cov_type=options, groups="hospital").covariance
    rng, names = ps.RRandom(11), pd.unique(data["hospital"])
    for estimate in found.estimates:
        drawn = rng.sample_int(6, 6, replace=True) - 1
        rows = pd.concat([data[data["hospital"] == names[g]] for g in drawn])
        again = fit(rows.reset_index(), tol=1e-12)
        # both within sqrt(2 gap / lam) = 1e-5 of the optimum
        np.testing.assert_allclose(estimate, again.params, atol=1e-5)


@pytest.mark.parametrize("cov_type", ["cluster", ps.Bootstrap(5, seed=1)])
def test_saved_fits_know_their_groups(tmp_path, cov_type):
    result = fit(groups="hospital", cov_type=cov_type)
    result.bse  # noqa: B018, estimated before it is saved
    ps.save(result, tmp_path / "fit")
    loaded = ps.load(tmp_path / "fit")
    assert loaded.summary().params.equals(result.summary().params)
    assert loaded.summary().notes == result.summary().notes
    assert (loaded.groups.names, loaded.groups.numbers) == (("hospital",), (24,))
    assert loaded.cov_type == result.cov_type
    assert loaded.bse.equals(result.bse)
    with pytest.raises(OptionError, match="does not go with a loaded fit"):
        loaded.with_covariance("cluster", groups=["a"] * 240)


REFUSED = {
    "clinic": "clinic",
    "3 values": [1, 2, 3],
    "'r1', 'r5'": hospitals()["weight"].drop(["r1", "r5"]).reindex(hospitals().index),
    "'one'": ["one"] * 240,
    "labels of groups": hospitals()["hospital"].reset_index(drop=True),
    "3 groupings": hospitals()[["hospital", "weight", "died"]],
}


@pytest.mark.parametrize("named", REFUSED)
def test_groups_that_are_none_are_refused(named):
    with pytest.raises((OptionError, DataError, ColumnError), match=named):
        fit(groups=REFUSED[named])


# Standard errors of groups of rows, and of every usual name, are those of peers.
# At lam = 1e-10 the optimum is that far from the one without penalty, and a gap of
# 1e-12 far less: 3e-9 to 2e-8 measured, of coefficients, standard errors and z.
TINY, PEER = 1e-10, 1e-6
OPTIMUM = ps.Optimum(tol=1e-12, epochs=1000, seed=1)


def spector():
    data = sm.datasets.spector.load_pandas()
    X = data.exog[["GPA", "TUCE", "PSI"]]
    return data.endog, X, np.arange(32) % 11, np.arange(32) // 8


def fair():
    data = sm.datasets.fair.load_pandas().data
    y, X = (data["affairs"] > 0).astype(float), data.drop(columns="affairs")
    return y, X, 10 * data["occupation"] + data["educ"], data["age"]


def anes96():
    data = sm.datasets.anes96.load_pandas().data
    names = ["logpopul", "TVnews", "selfLR", "ClinLR", "DoleLR", "PID", "age", "educ"]
    return data["vote"], data[names], data["popul"], data["income"]


def peer_of(y, X, **given):
    return sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14, maxiter=100, **given)


def assert_same(found, expected):
    """An entry near 0 is what others leave when they cancel: 1e-6 of their errors."""
    errors = np.sqrt(np.diag(expected))
    scale = np.outer(errors, errors)
    np.testing.assert_allclose(found / scale, expected / scale, rtol=PEER, atol=PEER)


FIXED = [2.890436103046187, 0.866412446721659, 0.046509171606416, 0.890119942776157]
DATA = pytest.mark.parametrize("load", [spector, fair, anes96])


def codes(groups):
    return pd.factorize(np.asarray(groups))[0]


@DATA
def test_without_penalty_they_are_those_of_statsmodels(load):
    y, X, one, two = load()
    result = ps.Logit(y, X, lam=TINY).fit(OPTIMUM, cov_type="CR1", groups=one)
    both = result.with_covariance("CR1", groups=[one, two])
    for ours, groups in (
        (result, codes(one)),
        (both, np.column_stack([codes(one), codes(two)])),
    ):
        peer = peer_of(y, X, cov_type="cluster", cov_kwds={"groups": groups})
        np.testing.assert_allclose(ours.params, peer.params, rtol=PEER)
        assert_same(ours.cov_params(), peer.cov_params())
        number = min(len(np.unique(each)) for each in groups.T.reshape(-1, len(y)))
        assert ours.covariance.df == number - 1
        factor = (len(y) - 1) / (len(y) - len(ours.params))
        plain = ours.with_covariance("CR0", [*np.atleast_2d(groups.T)])
        assert_same(factor * plain.cov_params(), ours.cov_params())
    plain = peer_of(y, X)
    nonrobust = result.with_covariance("nonrobust")
    assert_same(nonrobust.cov_params(), plain.cov_params())
    np.testing.assert_allclose(nonrobust.pvalues, plain.pvalues, rtol=1e-4)


def test_two_ways_with_variances_below_zero_are_those_of_the_package_sandwich():
    """R 4.2.2, sandwich 3.0-2, glm(epsilon = 1e-14), vcovCL(type = "HC1", fix = TRUE).

    Without `fix` the third is NaN there, as in statsmodels, and the second 0.664.
    """
    y, X, _, _ = spector()
    ways = [np.arange(32) % 7, np.arange(32) // 7]
    result = ps.Logit(y, X, lam=TINY).fit(OPTIMUM, cov_type="cluster", groups=ways)
    with pytest.warns(UndefinedMetricWarning, match="a variance was negative"):
        np.testing.assert_allclose(result.bse, FIXED, rtol=PEER)


def sines():
    """Rows without random numbers, which R computes as well."""
    i = np.arange(120)
    data = pd.DataFrame({"g": i % 12, "h": i % 12 % 3, "w": 1 + i % 4 / 2})
    data["x"], data["z"] = np.sin(i), np.cos(3 * i)
    score = np.sin(7 * i) + 0.8 * data.x - 0.5 * data.z + 0.6 * np.sin(5 * data.g)
    return data.assign(y=(score > 0).astype(int))


def upper(V):
    return np.asarray(V).T[np.tril_indices(3)]


# R prints 12 digits; both estimates end within 1e-12 standard errors.
OF_R = {"rtol": 1e-10}


def test_cr3_is_that_of_clubsandwich():
    """R 4.2.2, clubSandwich 0.5.8, vcovCR(fit, cluster = g, type = "CR3").

    The fit is ``glm(..., start = coef(fit))``: weights of ``glm()`` are those before
    its last step, which moves the covariance by 1e-7.
    """
    data = sines()
    result = ps.logit("y ~ x + z", data).fit(groups="g")
    expected = [0.08060753068071, -0.00175389574437, 0.04529676992034]
    expected += [0.00127406387985, 0.01867018284896, 0.06753986426592]
    np.testing.assert_allclose(upper(result.cov_params()), expected, **OF_R)
    assert result.covariance.df == 11
    weighted = ps.logit("y ~ x + z", data, weights="w").fit(groups="g")
    expected = [0.286967536414, 0.220313769994, 0.236531172742]
    np.testing.assert_allclose(weighted.bse, expected, **OF_R)


def test_joint_tests_by_cr3_are_hotelling_s():
    result = ps.logit("y ~ x + z", sines()).fit(groups="g")
    theta, V = result.params[1:], result.cov_params().iloc[1:, 1:]
    W, M, q = theta @ np.linalg.solve(V, theta), 12, 2
    joint = result.wald_test("x = z = 0")
    statistic = W * (M - q) / (q * (M - 1))
    assert joint.statistic == pytest.approx(statistic, rel=1e-10)
    assert (joint.df_num, joint.df_denom) == (q, M - q)
    assert joint.pvalue == pytest.approx(f(q, M - q).sf(statistic), rel=1e-8)


SQUARED = partial(ps.svm, loss="squared_hinge")


@pytest.mark.parametrize(
    ("model", "lam"), [(ps.logit, 0.0), (ps.logit, 0.03), (SQUARED, 0.03)]
)
def test_cr3_is_newton_s_step_without_the_group(model, lam):
    """``(n H - B_g)^-1 S_g`` for each group, squared and summed."""
    data = hospitals(n=90, number=9)
    result = model("died ~ age + dose", data, lam=lam).fit(
        ps.Optimum(tol=1e-12), groups="hospital"
    )
    Z = np.column_stack([np.ones(90), data[["age", "dose"]]])
    y = np.where(data["died"] == "yes", 1.0, -1.0)
    m, theta = y * (Z @ result.params), result.params.to_numpy()
    if model is SQUARED:
        slope, second = 2.0 * np.maximum(1.0 - m, 0.0), 2.0 * (m < 1.0)
    else:
        slope = 1.0 / (1.0 + np.exp(m))
        second = slope * (1.0 - slope)
    shrink = lam * np.append(0.0, theta[1:])
    H = (Z * second[:, None]).T @ Z + 90 * lam * np.diag([0.0, 1.0, 1.0])
    V = np.zeros((3, 3))
    for _, rows in data.reset_index().groupby("hospital"):
        at = rows.index
        S = -(slope[at] * y[at]) @ Z[at] + len(at) * shrink
        B = (Z[at] * second[at, None]).T @ Z[at]
        step = np.linalg.solve(H - B, S)
        V += np.outer(step, step)
    np.testing.assert_allclose(result.cov_params(), V, rtol=1e-5, atol=1e-9)


def test_a_coefficient_of_one_group_alone_has_no_error_by_cr3():
    data = sines()
    data["only"] = (data["g"] == 4).astype(float)
    result = ps.logit("y ~ x + z + only", data).fit(groups="g")
    text = " ".join(str(result.summary()).split())
    assert "only one group determines the coefficient of 'only'" in text.lower()
    with pytest.warns(UndefinedMetricWarning, match="the coefficient of 'only'"):
        errors = result.bse
    assert np.isnan(errors["only"])
    assert errors.drop("only").notna().all()
    # the other coefficients: each group is left out in turn, by the definition
    Z = np.column_stack([np.ones(120), data[["x", "z", "only"]]])
    chance = 1.0 / (1.0 + np.exp(-Z @ result.params.to_numpy()))
    W, e = chance * (1.0 - chance), data["y"].to_numpy() - chance
    H, V = (Z * W[:, None]).T @ Z, np.zeros((4, 4))
    for g in range(12):
        at = data["g"].to_numpy() == g
        B = (Z[at] * W[at, None]).T @ Z[at]
        step = np.linalg.pinv(H - B, rcond=1e-10) @ (e[at] @ Z[at])
        V += np.outer(step, step)
    np.testing.assert_allclose(errors.iloc[:3], np.sqrt(np.diag(V))[:3], rtol=1e-8)
    assert np.isnan(result.wald_test("only = 0").pvalue)
    effects = result.margins().tidy()
    assert np.isnan(effects["std_error"].iloc[-1])
    assert result.wald_test("x = z = 0").pvalue < 1.0


def test_strata_are_those_of_the_package_survey():
    """R 4.2.2, survey 4.1-1, svyglm(quasibinomial) with glm's epsilon of 1e-14."""
    data = sines()
    model = ps.logit("y ~ x + z", data, weights="w")
    result = model.fit(groups="g", strata="h")
    expected = [0.0895193421198, -0.0177701172606, 0.0477282549670]
    expected += [-0.0273891362312, 0.0196171640955, 0.0483803507001]
    np.testing.assert_allclose(upper(result.cov_params()), expected, **OF_R)
    assert result.covariance.df == 7
    joint = result.wald_test("x = z = 0")
    assert joint.statistic == pytest.approx(45.6139266814, rel=1e-8)
    assert joint.pvalue == pytest.approx(9.66099491991e-05, rel=1e-7)
    rows = model.fit(strata="h")
    expected = [0.228734983992, 0.352849641513, 0.276064615966]
    np.testing.assert_allclose(rows.bse, expected, **OF_R)
    assert rows.covariance.df == 115
    again = model.fit(groups=data["g"] // 3, strata="h")  # labels repeat in strata
    assert again.bse.equals(result.bse)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"groups": "g", "strata": "g"}, DataError, "only one group"),
        ({"groups": "g", "strata": "h", "cov_type": "CR1"}, OptionError, "strata"),
        ({"groups": ["g", "h"], "strata": "h"}, OptionError, "one column"),
        ({"groups": ["g", "h"], "cov_type": "CR3"}, OptionError, "CR1"),
        ({"strata": "w9"}, ColumnError, "w9"),
        ({"strata": "h", "cov_type": "bootstrap"}, OptionError, "strata"),
        ({"cov_type": "CR3"}, OptionError, "groups"),
    ],
)
def test_groups_and_strata_that_do_not_go_together(options, error, match):
    with pytest.raises(error, match=match):
        ps.logit("y ~ x + z", sines()).fit(**options)


def test_a_report_repeats_the_strata(tmp_path):
    data = sines()
    model = ps.logit("y ~ x + z", data, weights="w")
    for given in ({"groups": "g", "strata": "h"}, {"strata": "h"}):
        model.fit(**given).report(path=tmp_path / "page.md", overwrite=True)
        call = ", ".join(f"{name}={value!r}" for name, value in given.items())
        assert f"model.fit({call})" in (tmp_path / "page.md").read_text()
