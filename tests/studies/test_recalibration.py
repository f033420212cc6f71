"""Slope, intercept, smooth curve and ICI, against statsmodels and R."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit
from statsmodels.nonparametric.smoothers_lowess import lowess

import pegasos_stats as ps

FITTED = 1e-9  # two optima, and the information at each
ROUNDING = 1e-9  # theirs have weight 1 within a thousandth of the width


def drawn(seed, n=400):
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
    happened, p = drawn(seed, 60 * 4**seed)
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
    happened, p = drawn(7)
    y, q = (", ".join(map(repr, x.tolist())) for x in (happened, p))
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
    happened, p = drawn(3, n)
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
    happened, p = drawn(5, 200)
    y, q = (", ".join(map(repr, x.tolist())) for x in (happened, p))
    expected = r.eval(
        f"local({{p <- c({q}); s <- lowess(p, c({y}), iter = 0, delta = 0)\n"
        "mean(abs(s$y - s$x))})"
    )[0]
    assert ps.reliability(happened, p).ici == pytest.approx(expected, rel=ROUNDING)


def test_many_rows_have_nearly_the_same_ici():
    happened, p = drawn(1, 12_000)
    smooth = lowess(happened, p, frac=2 / 3, it=0, delta=1e-3, return_sorted=False)
    expected = np.abs(smooth - p).mean()
    assert ps.reliability(happened, p).ici == pytest.approx(expected, rel=1e-3)


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
    happened, p = drawn(9)
    far = expit(40.0 * logit(p))
    far = np.clip(far, 1e-300, 1.0 - 1e-16)
    found = ps.reliability(happened, far)
    expected = of_glm(happened, sm.add_constant(logit(far)))
    assert found.slope == pytest.approx(expected[0], rel=1e-6)
    rare = np.full(400, 1e-12)
    expected = logit(happened.mean()) - logit(1e-12)
    assert ps.reliability(happened, rare).intercept == pytest.approx(expected)
