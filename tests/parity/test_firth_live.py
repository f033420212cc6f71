"""Firth's penalty against R's brglm2; profiles of the likelihood against R's glm."""

import numpy as np
import pytest

from pegasos_stats.models.inference.profile import Profile
from pegasos_stats.solvers.firth import fit_likelihood, orthonormal_rows

UNITS = [1e-6, 1e-3, 1.0, 1e3, 1e6]
# The endometrial cancers of Heinze & Schemper (2002): what R's brglm prints, and limits
# of logistf, which ends at changes of 1e-5.
ENDOMETRIAL = [3.77456, 2.92927, -0.03475, -2.60416]
LIMITS = [
    [1.0825371, 7.20928050],
    [0.6097244, 7.85463171],
    [-0.1244587, 0.04045547],
    [-4.3651832, -1.23272106],
]


def rows_of(r, X, y, weights=None, offset=None):
    """Hand the data to R too."""
    n = len(y)
    r.set("X", {f"x{j}": column for j, column in enumerate(X.T)})
    r.set("y", y)
    r.set("w", np.ones(n) if weights is None else weights)
    r.set("o", np.zeros(n) if offset is None else offset)
    r.eval(
        "data <- data.frame(X)\nform <- reformulate(names(data), 'y')\n"
        "data$y <- as.numeric(y)\ndata$w <- as.numeric(w)\ndata$o <- as.numeric(o)\n"
        "NULL"
    )
    return orthonormal_rows(X, 2.0 * y - 1.0, True, weights, offset)


def data_of(kind, unit=1.0):
    rng = np.random.default_rng(sum(map(ord, kind)))
    n = 30 if "separated" in kind else 150
    x, z, u = rng.normal(size=n), rng.integers(0, 2, n), rng.integers(0, 4, n)
    scores = x - z + u / 2.0 if kind != "separated" else 9.0 * x + 4.0 * z
    y = (scores + rng.logistic(size=n) > (4.0 if kind == "rare" else 0.5)) + 0.0
    if kind == "half separated":
        y[z == 1] = 1.0
    X = np.column_stack([x * unit, z, u / unit])
    counts = rng.integers(0, 4, n).astype(float) if kind == "counts" else None
    return X, y, counts, rng.normal(size=n) if kind == "offset" else None


def brglm2(r):
    r.eval(
        "theirs <- glm(form, binomial, data, weights = w, offset = o,"
        " method = brglm2::brglm_fit, type = 'AS_mean', epsilon = 1e-10,"
        " maxit = 10000)\nNULL"
    )
    return r.eval("coef(theirs)"), r.eval("vcov(theirs)")


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "kind", ["plain", "rare", "counts", "offset", "half separated", "separated"]
)
def test_estimates_and_errors_are_those_of_brglm2(r, kind, unit):
    fit = fit_likelihood(rows_of(r, *data_of(kind, unit)))
    theta, covariance = brglm2(r)
    tight = {"rtol": 1e-8, "atol": 1e-10}  # theirs ends at steps of 1e-10
    np.testing.assert_allclose(fit.theta, theta, **tight)
    errors = np.sqrt(np.diag(covariance.reshape(4, 4)))
    np.testing.assert_allclose(fit.std_error, errors, **tight)


def test_the_endometrial_table_is_the_published_one(r):
    r.eval("data(endometrial, package = 'brglm2')\nNULL")
    X = np.column_stack([r.eval(f"endometrial${name}") for name in ("NV", "PI", "EH")])
    profile = Profile(rows_of(r, X, r.eval("endometrial$HG")), firth=True)
    theta, _ = brglm2(r)
    np.testing.assert_allclose(profile.fit.theta, theta, rtol=1e-8)
    np.testing.assert_array_equal(profile.fit.theta.round(5), ENDOMETRIAL)
    np.testing.assert_allclose(profile.limits(), LIMITS, rtol=1e-5)


@pytest.mark.parametrize("kind", ["plain", "rare", "counts", "offset"])
def test_limits_and_tests_of_the_likelihood_are_those_of_glm(r, kind):
    profile = Profile(rows_of(r, *data_of(kind)), firth=False)
    limits = profile.limits()
    r.set("limits", limits.ravel())
    r.eval(
        "theirs <- glm(form, binomial, data, weights = w, offset = o,"
        " epsilon = 1e-14)\n"
        "Z <- cbind(1, as.matrix(data[names(X)]))\n"
        "loss <- function(j, b) glm.fit(Z[, -j], data$y, data$w, family = binomial(),"
        " offset = data$o + b * Z[, j], control = list(epsilon = 1e-14, maxit = 100))"
        "$deviance - deviance(theirs)\n"
        "limits <- matrix(limits, ncol = 2, byrow = TRUE)\nNULL"
    )
    np.testing.assert_allclose(profile.fit.theta, r.eval("coef(theirs)"), rtol=1e-8)
    roots = r.eval("sapply(1:4, function(j) sapply(limits[j, ], loss, j = j))")
    np.testing.assert_allclose(roots, r.eval("qchisq(0.95, 1)")[0], rtol=1e-8)
    at_zero = r.eval("sapply(1:4, loss, b = 0)")
    np.testing.assert_allclose(profile.table().statistic ** 2, at_zero, rtol=1e-8)
    p_values = r.eval("pchisq(sapply(1:4, loss, b = 0), 1, lower.tail = FALSE)")
    np.testing.assert_allclose(profile.table().p_value, p_values, rtol=1e-7)
    # the profiles of MASS and later R are interpolated
    theirs = r.eval("suppressMessages(as.vector(t(confint(theirs))))")
    np.testing.assert_allclose(limits.ravel(), theirs, rtol=1e-3, atol=1e-3)
