"""What coefficients mean: odds ratios, tests of terms, criteria of the likelihood."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

import pegasos_stats as ps

# At lam = 1e-10 the optimum is that far from the one without penalty: 3e-9 measured.
TINY, PEER = 1e-10, 1e-6
OPTIMUM = ps.Optimum(tol=1e-12, epochs=1000, seed=1)
FORMULA = "affair ~ C(religious) + educ + age * children"


@pytest.fixture(scope="module")
def affairs():
    data = sm.datasets.fair.load_pandas().data
    return data.assign(affair=(data["affairs"] > 0).astype(int)).iloc[::7]


@pytest.fixture(scope="module")
def both(affairs):
    """Our fit, and that of statsmodels."""
    ours = ps.logit(FORMULA, affairs, lam=TINY).fit(OPTIMUM, cov_type="nonrobust")
    return ours, smf.logit(FORMULA, affairs).fit(disp=0, tol=1e-14, maxiter=100)


def test_criteria_without_penalty_are_those_of_statsmodels(both):
    ours, theirs = both
    assert ours.df_effective == pytest.approx(len(theirs.params), rel=PEER)
    for name in ("llf", "llnull", "prsquared", "aic", "bic"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=PEER)


def test_tests_of_terms_are_those_of_statsmodels(both):
    ours, theirs = both
    table = ours.wald_test_terms().set_index("term")
    peer = theirs.wald_test_terms(scalar=True).table
    assert table.index.tolist() == peer.index.tolist()
    np.testing.assert_allclose(table["statistic"], peer["statistic"], rtol=PEER)
    np.testing.assert_allclose(table["p_value"], peer["pvalue"], rtol=1e-4)
    assert table["df"].tolist() == [1, 3, 1, 1, 1, 1]
    assert (table["df_denom"] == np.inf).all()


def test_tests_of_terms_follow_the_groups(affairs):
    model = ps.logit("affair ~ C(religious) + educ", affairs, lam=0.01)
    result = model.fit(OPTIMUM, groups="occupation")
    table = result.wald_test_terms()
    assert table["df_denom"].tolist() == [5, 3, 5]  # M - q of six groups
    religious = [f"C(religious)[T.{level}]" for level in (2, 3, 4)]
    joint = result.wald_test([f"{name} = 0" for name in religious])
    assert table["statistic"][1] == pytest.approx(joint.statistic, rel=1e-12)
    assert table["p_value"][1] == pytest.approx(joint.pvalue, rel=1e-12)
    boot = result.with_covariance(ps.Bootstrap(39, seed=1)).wald_test_terms()
    assert boot["df_denom"].isna().all()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shift", [0.0, 1e5])
def test_effective_degrees_of_freedom(affairs, intercept, shift):
    X = affairs[["age", "educ", "children"]] + shift * intercept
    y, lam = affairs["affair"], 0.3
    result = ps.Logit(y, X, lam=lam, intercept=intercept).fit(OPTIMUM)
    Z = np.column_stack([np.ones(len(X)), X - shift * intercept])[:, not intercept :]
    chance = result.predict_proba()[1].to_numpy()
    free = Z.T @ (Z * (chance * (1.0 - chance))[:, None]) / len(X)
    J = np.diag([0.0] * intercept + [1.0] * 3)
    expected = np.trace(np.linalg.solve(free + lam * J, free))
    # columns at 1e5 keep five digits less of their differences
    assert result.df_effective == pytest.approx(expected, rel=1e-6 if shift else 1e-10)
    assert 1.0 < result.df_effective < 3.0 + intercept
    row = result.glance().iloc[0]
    loss = -np.where(y == 1, np.log(chance), np.log(1.0 - chance)).sum()
    assert row["llf"] == pytest.approx(-loss, rel=1e-9)
    assert row["aic"] == pytest.approx(2 * loss + 2 * expected, rel=1e-6)
    assert row["bic"] == pytest.approx(2 * loss + np.log(len(X)) * expected, rel=1e-6)
    share = y.mean()
    null = len(y) * (share * np.log(share) + (1 - share) * np.log(1 - share))
    assert row["prsquared"] == pytest.approx(1.0 + loss / null, rel=1e-6)


def test_odds_ratios_have_intervals(both):
    ours, theirs = both
    plain, odds = ours.tidy(), ours.tidy(conf_level=0.5, exponentiate=True)
    np.testing.assert_allclose(odds["estimate"], np.exp(theirs.params), rtol=PEER)
    limits = np.exp(theirs.conf_int(0.5))
    np.testing.assert_allclose(odds[["conf_low", "conf_high"]], limits, rtol=PEER)
    same = ["term", "std_error", "statistic", "p_value"]
    pd.testing.assert_frame_equal(odds[same], plain[same])
    bare = ours.with_covariance("none").tidy(exponentiate=True)
    assert bare["estimate"].equals(odds["estimate"])
    assert bare["conf_low"].isna().all()


# Standard errors follow the laws of the problem: levels, signs, rows, units.
# Coefficients are at the optimum to sqrt(2 gap / lam), some 1e-5, and covariances are
# smooth in them: those of the hinge weigh rows near the margin by a smooth kernel.
