"""Maximum likelihood and Firth's penalty in the R package, against R's own fits."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

# Both are at the optimum to rounding; columns that are nearly as far from 0 as they are
# wide cost some digits.
RTOL = 1e-8
UNITS = [1e-6, 1e-3, 1.0, 1e3, 1e6]


@pytest.fixture
def data(r):
    rng = np.random.default_rng(11)
    n = 150
    x, z, u = rng.normal(size=(3, n))
    g = rng.choice(["a", "b", "c"], n)
    frame = pd.DataFrame({"x": x, "z": z + x / 2.0, "u": u + 1.0, "g": g})
    frame["y"] = (x - z + (g == "c") + rng.logistic(size=n) > 0.5) + 0.0
    hand_over(r, frame)
    return frame


def hand_over(r, frame):
    r.set("columns", {name: frame[name].to_numpy() for name in frame})
    r.eval("data <- as.data.frame(columns, stringsAsFactors = TRUE)\nNULL")


def in_units(r, data, unit):
    hand_over(r, data.assign(x=data.x * unit, u=data.u / unit))
    return "y ~ x + z + u + g"


@pytest.mark.parametrize("unit", UNITS)
def test_maximum_likelihood_is_that_of_glm_in_all_units(r, data, unit):
    formula = in_units(r, data, unit)
    r.eval(
        f"fit <- logit({formula}, data)\n"
        f"theirs <- glm({formula}, binomial, data, epsilon = 1e-12)\n"
        # glm's errors are those of the weights one step before its coefficients
        "theirs <- update(theirs, start = coef(theirs))\nNULL"
    )
    np.testing.assert_allclose(r.eval("coef(fit)"), r.eval("coef(theirs)"), rtol=RTOL)
    np.testing.assert_allclose(
        r.eval('sqrt(diag(vcov.linear_results(fit, "nonrobust")))'),
        r.eval("sqrt(diag(vcov(theirs)))"),
        rtol=RTOL,
    )
    ours, theirs = r.eval("c(deviance.linear_results(fit), deviance(theirs))")
    assert ours == pytest.approx(theirs, rel=1e-12)
    gap = r.eval("fit$certificate$gap")[0]
    assert 0.0 <= gap < 1e-14


def test_limits_of_the_profile_are_roots_of_the_deviance_of_glm(r, data):
    formula = "y ~ x + z"
    r.eval(
        f"fit <- logit({formula}, data)\ntheirs <- glm({formula}, binomial, data)\n"
        'limits <- confint.linear_results(fit, method = "profile")\n'
        "held <- function(rest, add) {\n"
        "  data$add <- add\n"
        "  deviance(glm(rest, binomial, data, offset = add, epsilon = 1e-14))\n"
        "}\nNULL"
    )
    roots = r.eval(
        "c(sapply(limits[1, ], function(b) held(y ~ x + z - 1, rep(b, nrow(data)))),"
        " sapply(limits[2, ], function(b) held(y ~ z, b * data$x)),"
        " sapply(limits[3, ], function(b) held(y ~ x, b * data$z)))"
        " - deviance(theirs) - qchisq(0.95, 1)"
    )
    np.testing.assert_allclose(roots, 0.0, atol=1e-8)
    theirs = r.eval("suppressMessages(confint(theirs))")  # interpolates
    np.testing.assert_allclose(r.eval("limits"), theirs, rtol=1e-3)


def separated(rng, n):
    """Rows of few values, of which some may be predicted with certainty."""
    x, z, u = rng.normal(size=n), rng.integers(0, 2, n), rng.integers(0, 4, n)
    y = 2.0 * x + 3.0 * z - u + rng.logistic(size=n) > 0.0
    y[:2] = True, False
    return pd.DataFrame({"x": x * 1e3, "z": z + 0.0, "u": u + 0.0, "y": y + 0.0})


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("few", [False, True], ids=["many", "few"])
def test_estimates_with_firths_penalty_are_those_of_brglm2(r, data, unit, few):
    if not r.eval('requireNamespace("brglm2", quietly = TRUE)')[0]:
        pytest.skip("brglm2 of R is not installed")
    formula = in_units(r, data, unit)
    if few:  # rows that are separated, or nearly
        hand_over(r, separated(np.random.default_rng(int(np.log10(unit)) + 9), 16))
        formula = "y ~ x + z + u"
    r.eval(
        f'fit <- logit({formula}, data, penalty = "firth")\n'
        f"theirs <- glm({formula}, binomial, data, method = brglm2::brglm_fit,"
        ' type = "AS_mean", epsilon = 1e-10, maxit = 10000)\nNULL'
    )
    tight = {"rtol": RTOL, "atol": 1e-10}
    np.testing.assert_allclose(r.eval("coef(fit)"), r.eval("coef(theirs)"), **tight)
    ours = r.eval("sqrt(diag(vcov.linear_results(fit)))")
    np.testing.assert_allclose(ours, r.eval("sqrt(diag(vcov(theirs)))"), **tight)


@pytest.mark.parametrize("seed", range(30))
def test_an_estimate_exists_where_a_linear_programme_separates_no_row(r, seed):
    rng = np.random.default_rng(seed)
    frame = separated(rng, int(rng.integers(8, 60)))
    hand_over(r, frame)
    r.eval("fit <- logit(y ~ x + z + u, data)\nNULL")
    Z = np.column_stack([np.ones(len(frame)), frame.x / 1e3, frame.z, frame.u])
    A = np.where(frame.y > 0.0, 1.0, -1.0)[:, None] * Z
    n, k = A.shape  # the largest sum of s in [0, 1] with A b >= s: rows are separated
    answer = linprog(
        np.append(np.zeros(k), -np.ones(n)),
        A_ub=np.hstack([-A, np.eye(n)]),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * k + [(0.0, 1.0)] * n,
    )
    count = round(-answer.fun)
    assert r.eval("sum(all_separated(fit))")[0] == count
    if count == 0:
        assert r.eval("fit$lam")[0] == 0.0
        return
    assert r.eval("fit$lam")[0] == 1.0 / n
    assert "does not exist" in r.eval("fit$note")[0]
    assert np.isnan(r.eval("suppressWarnings(vcov.linear_results(fit))")).all()


@pytest.mark.parametrize("lam", [1e-3, 1e-2, 1e-1])
def test_what_a_penalty_moved_is_a_step_towards_none(r, data, lam):
    r.eval(f"fit <- logit(y ~ x + z, data, {lam}, Optimum(1e-13))\nNULL")
    theta = r.eval("coef(fit)")
    Z = np.column_stack([np.ones(len(data)), data.x, data.z])
    p = 1.0 / (1.0 + np.exp(-Z @ theta))
    information = (Z.T * (p * (1.0 - p))) @ Z
    step = np.linalg.solve(
        information, Z.T @ (data.y - p)
    )  # of Newton, without penalty
    shift = np.abs(step) / np.sqrt(np.diag(np.linalg.inv(information)))
    found = r.eval("penalty_shift(fit)")
    assert found["by"][0] == pytest.approx(shift[1:].max(), rel=1e-5)
    assert found["name"][0] == ["x", "z"][int(shift[1:].argmax())]
