"""Maximum likelihood and Firth's penalty in the R package, R's glm() and Python."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.models.inference.profile import Profile
from pegasos_stats.solvers.firth import orthonormal_rows
from tests.parity.linear_fits import (
    MODELS,
    frame_of,
    hand_over,
    in_both,
    without_warnings,
)

# Both are at the optimum to rounding; columns that are nearly as far from 0 as they are
# wide cost some digits.
RTOL = 1e-8
UNITS = [1e-6, 1e-3, 1.0, 1e3, 1e6]


@pytest.fixture
def data(r):
    frame = frame_of()
    hand_over(r, frame)
    return frame


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


@without_warnings
@pytest.mark.parametrize("seed", range(30))
def test_an_estimate_exists_where_a_linear_programme_separates_no_row(r, seed):
    rng = np.random.default_rng(seed)
    frame = separated(rng, int(rng.integers(8, 60)))
    hand_over(r, frame)
    ours = in_both(r, frame, "likelihood", "y ~ x + z + u", tol=1e-13)
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
    lam = 0.0 if count == 0 else 1.0 / n
    assert r.eval("sum(all_separated(fit))")[0] == count
    assert r.eval("fit$lam")[0] == ours.model.lam == lam
    # with lam = 1/n, coefficients are known to sqrt(2 gap / lam)
    close = {"rtol": RTOL} if count == 0 else {"rtol": 1e-5, "atol": 1e-5}
    np.testing.assert_allclose(ours.params, r.eval("coef(fit)"), **close)
    errors = r.eval("suppressWarnings(sqrt(diag(vcov.linear_results(fit))))")
    np.testing.assert_allclose(ours.bse, errors, rtol=1e-6)
    if count > 0:
        assert "does not exist" in r.eval("fit$note")[0]
        assert np.isnan(errors).all()


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


# ---- The same in Python.


@without_warnings
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("name", MODELS)
def test_python_and_r_have_the_same_maximum_likelihood(r, data, name, unit):
    if name != "far":
        data = data.assign(x=data.x * unit)
    hand_over(r, data)
    ours = in_both(r, data, "likelihood", name)
    np.testing.assert_allclose(ours.params, r.eval("coef(fit)"), rtol=RTOL)
    assert ours.model.lam == r.eval("fit$lam")[0] == 0.0
    theirs = r.eval(
        "llf <- logLik.linear_results(fit)\n"
        'c(llf, attr(llf, "df"), deviance.linear_results(fit))'
    )
    k = 0.5 * ours.aic + ours.llf
    np.testing.assert_allclose([ours.llf, k, -2.0 * ours.llf], theirs, rtol=1e-10)
    assert 0.0 <= ours.gap < 1e-12
    assert 0.0 <= r.eval("fit$certificate$gap")[0] < 1e-12


# Coefficients of the ridge are known to sqrt(2 gap / lam).
CLOSE = {"likelihood": (1e-7, 1e-10, 0.0), "ridge": (1e-6, 1e-6, 1e-5)}


@without_warnings
@pytest.mark.parametrize("kind", CLOSE)
@pytest.mark.parametrize("name", MODELS)
def test_python_and_r_have_the_same_standard_errors(r, data, name, kind):
    rtol, of_largest, of_limits = CLOSE[kind]
    fit = in_both(r, data, kind, name, 1e-13 if kind == "ridge" else None)
    for cov_type in ("HC3", "HC2", "HC1", "HC0", "nonrobust"):
        in_r = f'vcov.linear_results(fit, "{cov_type}")'
        if cov_type == "nonrobust" and MODELS[name][1]:
            with pytest.raises(DataError, match="does not allow weights"):
                r.eval(in_r)
            with pytest.raises(OptionError, match="does not go with weights"):
                fit.with_covariance(cov_type)
            continue
        ours = fit.with_covariance(cov_type)
        V = ours.cov_params().to_numpy()
        atol = of_largest * np.nanmax(np.abs(V))
        np.testing.assert_allclose(V, r.eval(in_r), rtol=rtol, atol=atol)
        in_r = f'confint.linear_results(fit, level = 0.9, type = "{cov_type}")'
        limits = r.eval(in_r)
        np.testing.assert_allclose(
            ours.conf_int(alpha=0.1), limits, rtol=max(rtol, of_limits), atol=of_limits
        )


@without_warnings
@pytest.mark.parametrize("rows", [40, 150])
def test_python_and_r_have_the_same_resamples_without_penalty(r, data, rows):
    few = data.iloc[:rows]
    hand_over(r, few)
    ours = in_both(r, few, "likelihood", cov_type=ps.Bootstrap(99))
    V, ends = ours.cov_params(), ours.conf_int()
    r.eval(
        "draws <- bootstrap_fit(fit, 99)\n"
        "V <- suppressWarnings(vcov.linear_results(fit, resamples = draws))\nNULL"
    )
    np.testing.assert_allclose(V, r.eval("V"), rtol=1e-5, atol=1e-5)  # NaN with NA
    limits = r.eval("suppressWarnings(confint.linear_results(fit, resamples = draws))")
    # Python adds what its refits may be off by
    np.testing.assert_allclose(ends, limits, rtol=1e-3)


@without_warnings
def test_r_reads_a_fit_with_a_column_that_is_not_estimable(r, data, tmp_path):
    ours = in_both(r, data, "likelihood", "collinear")
    file = tmp_path / "fit.json"
    file.write_text(ours.to_json(), encoding="utf-8")
    scores = r.eval(f"score_fit(read_fit({json.dumps(str(file))}), data)")
    np.testing.assert_allclose(scores, ours.decision_function(data), rtol=1e-12)
    np.testing.assert_allclose(
        r.eval("predict.linear_results(fit, data, 'link')"), scores
    )


def test_python_and_r_say_the_same_of_a_penalty(r, data):
    r.eval("shift <- penalty_shift(logit(y ~ x + z, data, 0.05))\nNULL")
    ours = ps.logit("y ~ x + z", data, lam=0.05).fit()
    theirs = f"{r.eval('shift$name')[0]} by about {r.eval('shift$by')[0]:.1f} standard"
    assert f"The penalty moves {theirs}" in " ".join(str(ours.summary()).split())


@pytest.mark.parametrize("penalty", ["firth", None])
@pytest.mark.parametrize("seed", range(6))
def test_python_and_r_have_the_same_profiles(r, seed, penalty):
    frame = separated(np.random.default_rng(seed), 30)
    hand_over(r, frame)
    firth = ', penalty = "firth"' if penalty else ""
    r.eval(f"fit <- logit(y ~ x + z + u, data{firth})\nNULL")
    if not penalty and r.eval("fit$lam")[0] > 0.0:
        frame = frame.assign(y=frame.y.to_numpy()[::-1].copy())  # no effects
        hand_over(r, frame)
        r.eval("fit <- logit(y ~ x + z + u, data)\nNULL")
    signs = np.where(frame.y > 0.0, 1.0, -1.0)
    rows = orthonormal_rows(frame[["x", "z", "u"]].to_numpy(), signs)
    ours = Profile(rows, firth=bool(penalty))
    limits = r.eval('confint.linear_results(fit, method = "profile")')
    np.testing.assert_allclose(ours.limits(), limits, rtol=1e-7)
    statistic, p_value = r.eval("profile_tests(fit)").T
    np.testing.assert_allclose(ours.table().statistic ** 2, statistic, rtol=1e-7)
    np.testing.assert_allclose(ours.table().p_value, p_value, rtol=1e-6)
