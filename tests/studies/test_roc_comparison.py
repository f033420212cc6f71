"""DeLong's test of two areas, against R's pROC and by hand."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError, UndefinedMetricWarning

ROUNDING = 1e-12  # the same sums in another order

ACTUAL = np.repeat(["no", "yes"], [9, 7])
A = np.array([1, 2, 2, 3, 3, 4, 5, 6, 7, 3, 4, 5, 6, 7, 8, 9], dtype=float)
B = np.array([1, 3, 1, 2, 2, 5, 4, 4, 6, 6, 4, 7, 3, 8, 8, 9], dtype=float)
# roc.test(roc(ACTUAL, A, direction = "<"), roc(ACTUAL, B, direction = "<")) of pROC
# 1.18.0: both areas, statistic, p-value, interval of the difference.
OF_PROC = [0.79365079365079361, 0.87301587301587302, -0.737543889008621]
OF_PROC += [0.46079166349975559, -0.29027143965613478, 0.13154128092597614]


def drawn(seed, n=150):
    rng = np.random.default_rng(seed)
    actual = np.where(rng.random(n) < 0.3, "yes", "no")
    signal = (actual == "yes") + rng.normal(size=n)
    a, b = (np.round(signal + rng.normal(size=n), 1) for _ in range(2))
    return actual, a, b


def test_the_test_is_that_of_proc():
    found = ps.compare_roc(ACTUAL, A, B, scale="plain")
    values = [found.area_a, found.area_b, found.statistic, found.pvalue]
    np.testing.assert_allclose([*values, *found.interval], OF_PROC, rtol=ROUNDING)


@pytest.mark.parametrize("seed", range(3))
def test_the_test_is_that_of_proc_in_this_session(seed, r):
    if not r.eval('nzchar(system.file(package = "pROC"))')[0]:
        pytest.skip("R's package pROC is not installed")
    actual, a, b = drawn(seed)
    vectors = [f"c({str(x.tolist())[1:-1]})" for x in (a, b)]
    labels = str(actual.tolist())[1:-1]
    expected = r.eval(
        f"local({{y <- c({labels}); of <- function(s) pROC::roc(y, s, quiet = TRUE, "
        f"levels = c('no', 'yes'), direction = '<')\n"
        f"t <- pROC::roc.test(of({vectors[0]}), of({vectors[1]}), method = 'delong')\n"
        "c(t$estimate, t$statistic, t$p.value, t$conf.int)})"
    )
    found = ps.compare_roc(actual, a, b, scale="plain")
    values = [found.area_a, found.area_b, found.statistic, found.pvalue]
    np.testing.assert_allclose([*values, *found.interval], expected, rtol=ROUNDING)


@pytest.mark.slow
def test_the_test_rejects_as_often_as_it_says():
    rng, yes = np.random.default_rng(3), np.repeat([False, True], [60, 40])
    small = 0
    for _ in range(400):
        signal = yes + rng.normal(size=100)
        a, b = (signal + rng.normal(size=100) for _ in range(2))
        small += ps.compare_roc(yes, a, b).pvalue < 0.05
    assert 0.02 < small / 400 < 0.083  # three Monte Carlo errors of 0.011


def test_two_fits_are_compared_by_their_scores_on_new_rows():
    train, test = ps.datasets.load_digits56()
    fits = [ps.logit(f"digit ~ {x}", train).fit() for x in ("p34", "p34 + p43")]
    scores = [fit.decision_function(test) for fit in fits]
    for positive in (None, 5):
        found = ps.compare_roc(*fits, test, positive=positive)
        sign = 1.0 if positive is None else -1.0
        a, b = (sign * each for each in scores)
        expected = ps.compare_roc(test["digit"], a, b, positive=positive)
        pd.testing.assert_frame_equal(found.tidy(), expected.tidy())
        assert found.levels == expected.levels
    auc = fits[0].confusion(test).conf_int().set_index("term").loc["auc"]
    line = found.tidy().iloc[0]
    for name in ("estimate", "conf_low", "conf_high"):
        assert line[name] == pytest.approx(auc[name], rel=ROUNDING)
    with pytest.raises(DataError, match="The data are training rows of the first fit"):
        ps.compare_roc(*fits, train)
    second = ps.svm("digit ~ .", test.iloc[:100], lam=1.0).fit()
    with pytest.raises(DataError, match=r"^100 of the rows are .* of the second fit"):
        ps.compare_roc(fits[0], second, test)
    with pytest.raises(OptionError, match="Pass two fits and data"):
        ps.compare_roc(fits[0], scores[1], test)
    other = ps.logit("y ~ p34", test.assign(y=test["p43"] > 5)).fit()
    with pytest.raises(OptionError, match="one outcome"):
        ps.compare_roc(fits[0], other, test)


def test_scores_in_one_order_do_not_differ():
    found = ps.compare_roc(ACTUAL, A, np.exp(A))  # pROC: Z = 0, p = 1, from 0 to 0
    assert (found.statistic, found.pvalue) == (0.0, 1.0)
    assert found.interval == (0.0, 0.0)


def test_without_variance_there_is_no_test():
    with pytest.warns(UndefinedMetricWarning, match="pvalue"):
        found = ps.compare_roc(ACTUAL, ACTUAL == "yes", np.zeros(16))
    assert found.difference == 0.5
    assert np.isnan([found.pvalue, *found.interval]).all()
    with pytest.warns(UndefinedMetricWarning, match="pvalue"):
        ps.compare_roc(["no", "no", "yes"], [1, 2, 3], [3, 1, 2])


def test_rows_that_lack_a_label_or_a_score_are_left_out():
    actual = [*ACTUAL, None, "yes", "no"]
    found = ps.compare_roc(actual, [*A, 1, np.nan, 2], [*B, 1, 2, None])
    assert (found.nobs, found.n_left_out) == (16, 3)
    assert found.tidy().equals(ps.compare_roc(ACTUAL, A, B).tidy())


def test_exchanging_scores_or_levels_changes_the_sign():
    one, other = ps.compare_roc(ACTUAL, A, B), ps.compare_roc(ACTUAL, B, A)
    assert other.statistic == -one.statistic
    mirrored = ps.compare_roc(ACTUAL, -A, -B, positive="no")
    assert mirrored.difference == pytest.approx(one.difference, rel=ROUNDING)
    assert mirrored.pvalue == pytest.approx(one.pvalue, rel=ROUNDING)


def test_a_level_of_several_is_compared_with_all_others():
    actual = np.array(list("abc" * 10))
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 30)) + (actual == "b")
    found = ps.compare_roc(actual, a, b, positive="b")
    expected = ps.compare_roc(actual == "b", a, b)
    assert found.tidy().equals(expected.tidy())
    with pytest.raises(OptionError, match="'a', 'b', 'c'"):
        ps.compare_roc(actual, a, b)


def test_what_cannot_be_compared_is_refused():
    both = pd.Categorical(["no"] * 3 + ["yes"], ["no", "yes"])
    with pytest.raises(DataError, match="'yes'"):
        ps.compare_roc(both, [1, 2, 3, None], [1, 2, 3, 4])
    with pytest.raises(DataError, match="15"):
        ps.compare_roc(ACTUAL, A, B[1:])
    shifted = pd.Series(B, index=range(1, 17))
    with pytest.raises(DataError, match="row labels"):
        ps.compare_roc(pd.Series(ACTUAL), pd.Series(A), shifted)
    with pytest.raises(OptionError, match="names"):
        ps.compare_roc(ACTUAL, A, B, names=("A", "A"))


def test_intervals_of_differences_stay_between_minus_one_and_one():
    """On Fisher's scale, by the delta method."""
    found = ps.compare_roc(ACTUAL, A, B)
    d, s = found.difference, found.std_error
    ends = np.tanh(np.arctanh(d) + np.array([-1, 1]) * 1.959963985 * s / (1 - d**2))
    np.testing.assert_allclose(found.interval, ends, rtol=1e-9)
    few = ps.compare_roc([0, 0, 0, 1, 1, 1], [4, 5, 3, 1, 6, 2], [1, 2, 5, 4, 6, 3])
    assert -1.0 < few.interval.low < few.difference < few.interval.high < 1.0


@pytest.mark.parametrize("seed", range(3))
def test_groups_of_one_row_are_delong_s(seed):
    actual, a, b = drawn(seed)
    alone = ps.compare_roc(actual, a, b, groups=np.arange(150)).tidy()
    plain = ps.compare_roc(actual, a, b).tidy()
    numbers = ["estimate", "std_error", "conf_low", "conf_high"]
    np.testing.assert_allclose(alone[numbers], plain[numbers], rtol=ROUNDING)


def test_variances_of_groups_are_obuchowski_s():
    """By the definition, with a loop over groups."""
    actual, a, b = drawn(5)
    groups, yes = np.arange(150) // 4, actual == "yes"
    wins = np.greater.outer(a[yes], a[~yes]) + np.equal.outer(a[yes], a[~yes]) / 2
    wins -= np.greater.outer(b[yes], b[~yes]) + np.equal.outer(b[yes], b[~yes]) / 2
    of_yes, of_no = wins.mean(axis=1), wins.mean(axis=0)
    d, m, n = wins.mean(), yes.sum(), (~yes).sum()
    sums = np.array(
        [
            (
                (of_yes[groups[yes] == g] - d).sum(),
                (of_no[groups[~yes] == g] - d).sum(),
            )
            for g in range(groups.max() + 1)
        ]
    )
    i10, i01 = (len(np.unique(groups[own])) for own in (yes, ~yes))
    i = groups.max() + 1
    expected = i10 / (i10 - 1) * (sums[:, 0] ** 2).sum() / m**2
    expected += i01 / (i01 - 1) * (sums[:, 1] ** 2).sum() / n**2
    expected += 2 * i / (i - 1) * (sums[:, 0] * sums[:, 1]).sum() / (m * n)
    found = ps.compare_roc(actual, a, b, groups=groups)
    assert found.std_error**2 == pytest.approx(expected, rel=1e-10)


@pytest.mark.slow
def test_with_groups_the_test_rejects_as_often_as_it_says():
    """Five rows of a person share one error; without groups 0.05 becomes 0.3."""
    rng, yes = np.random.default_rng(8), np.repeat([False, True], [150, 150])
    groups, rejected = np.arange(300) // 5, {"alone": 0, "groups": 0}
    for _ in range(300):
        shared = rng.normal(size=(2, 60))[:, groups]
        a, b = (yes + own + 0.5 * rng.normal(size=300) for own in shared)
        rejected["alone"] += ps.compare_roc(yes, a, b).pvalue < 0.05
        rejected["groups"] += ps.compare_roc(yes, a, b, groups=groups).pvalue < 0.05
    assert rejected["alone"] / 300 > 0.2
    assert 0.02 < rejected["groups"] / 300 < 0.1  # four Monte Carlo errors of 0.0126


def test_groups_of_two_fits_are_named_by_their_column():
    train, test = ps.datasets.load_digits56()
    fits = [ps.logit(f"digit ~ {x}", train).fit() for x in ("p34", "p34 + p43")]
    labelled = test.assign(writer=np.arange(len(test)) % 20)
    found = ps.compare_roc(*fits, labelled, groups="writer")
    given = ps.compare_roc(*fits, test, groups=np.arange(len(test)) % 20)
    assert found.tidy().equals(given.tidy())
    with pytest.raises(DataError, match="one value for each row"):
        ps.compare_roc(ACTUAL, A, B, groups=[1, 2])
    actual, groups = pd.Series(ACTUAL), pd.Series(np.arange(16) // 4)
    with pytest.raises(DataError, match="row labels of groups"):
        ps.compare_roc(actual, A, B, groups=groups[::-1])
