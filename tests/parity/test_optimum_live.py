"""The optimum, its errors and that of kernels are those of R in this process."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from tests.parity.linear_fits import (
    LAM,
    MODELS,
    frame_of,
    hand_over,
    in_both,
    without_warnings,
)

# ---- The R package's default fits, their errors and predictions beside Python's.

TOL = 1e-13
# Coefficients are known to sqrt(2 gap / lam) on both sides: some 1e-6 for lam = 1/n.
COEF = 1e-5


@pytest.fixture(scope="module")
def data(r):
    """A row is missing, and the outcome is text."""
    for generic in ("logLik", "nobs"):  # which AIC() and BIC() look up
        r.eval(
            f'registerS3method("{generic}", "linear_results", {generic}.linear_results)'
            "\nNULL"
        )
    frame = frame_of(3, 90)
    frame = frame.assign(y=np.where(frame.y > 0.0, "yes", "no"))
    frame.loc[5, "x"] = np.nan
    hand_over(r, frame)
    return frame


@without_warnings
@pytest.mark.parametrize("kind", ["svm", "ridge", "squared hinge"])
@pytest.mark.parametrize("name", [*MODELS][:-1])
def test_optima_and_predicted_factors_are_the_same(r, data, kind, name):
    ours = in_both(r, data, kind, name, TOL, cov_type=None)
    objective, dual = r.eval("unlist(fit$certificate[1:2])")
    assert ours.objective == pytest.approx(objective, rel=1e-11)
    lam = LAM if kind == "ridge" else 1.0 / ours.nobs
    assert r.eval("fit$lam")[0] == lam
    gaps = max(0.0, objective - dual) + max(0.0, ours.objective - ours.dual_objective)
    apart = np.linalg.norm(ours.coef - r.eval("fit$beta"))
    assert apart <= np.sqrt(2.0 * gaps / lam) * 1.5 + 1e-7
    np.testing.assert_allclose(ours.params, r.eval("coef(fit)"), rtol=COEF, atol=COEF)
    labels = ours.predict(data)
    theirs = r.eval("predict(fit, data)")
    assert [*labels.fillna("NA")] == [each or "NA" for each in theirs]
    assert list(r.eval("levels(predict(fit, data))")) == ["no", "yes"]
    if kind == "ridge":
        chances = ours.predict_proba(data)["yes"]
        found = r.eval('predict(fit, data, type = "response")')
        np.testing.assert_allclose(chances, found, rtol=COEF)


def test_errors_at_the_default_tolerance_are_near(r, data):
    ours = in_both(r, data, "ridge", tol=1e-6)
    np.testing.assert_allclose(ours.bse, r.eval("sqrt(diag(vcov(fit)))"), rtol=1e-3)
    criteria = r.eval("c(logLik(fit), AIC(fit), BIC(fit))")
    np.testing.assert_allclose([ours.llf, ours.aic, ours.bic], criteria, rtol=1e-4)


@without_warnings
@pytest.mark.parametrize("name", ["plain", "column", "balanced"])
def test_resamples_of_the_hinge_are_the_same(r, data, name):
    bootstrap = ps.Bootstrap(60, tol=1e-12)
    ours = in_both(r, data, "svm", name, TOL, cov_type=bootstrap)
    r.eval("draws <- bootstrap_fit(fit, 60, tol = 1e-12)\nNULL")
    theirs = r.eval("vcov(fit, resamples = draws)")
    np.testing.assert_allclose(ours.cov_params(), theirs, rtol=1e-4, atol=1e-4)
    envelope = r.eval("confint(fit, resamples = draws)")
    np.testing.assert_allclose(ours.conf_int(), envelope, rtol=1e-3, atol=1e-3)


@without_warnings
@pytest.mark.parametrize("seed", range(12))
def test_separated_coefficients_have_no_errors(r, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(15, 60))
    g, h = rng.integers(0, 3, (2, n))
    x = rng.normal(size=n) * 10.0 ** rng.integers(-2, 3)
    y = (g + h + rng.normal(size=n) > 1.5 + seed % 3).astype(float)
    frame = pd.DataFrame({"x": x, "g": (g > 0) + 0.0, "h": h - 1.0, "y": y})
    hand_over(r, frame)
    ours = in_both(r, frame, "ridge", "y ~ x + g * h", 1e-12).bse
    theirs = r.eval("suppressWarnings(sqrt(diag(vcov(fit))))")
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)


# ---- The optimum of a kernel machine against a plain run of pairs in R.

KERNELS = {
    "gaussian": {"gamma": 0.4},
    "polynomial": {"degree": 3, "offset": 0.5},
    "linear": {},
}


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_pairs_in_r_come_to_the_same_optimum(r, kernel, weighted):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((70, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(70) > 0.4, 1.0, -1.0)
    w = rng.uniform(0.1, 3.0, 70) if weighted else np.ones(70)
    w /= w.mean()
    options = {"kernel": kernel, **KERNELS[kernel]}
    weights = w if weighted else None
    model = ps.KernelSVM(y, X, lam=0.02, weights=weights, standardize=False, **options)
    result = model.fit(ps.Optimum(tol=1e-9, seed=1))
    r.set("X", X)
    r.set("y", y)
    r.set("w", w)
    given = ", ".join(
        [
            f'kernel = "{kernel}"',
            *map("{0[0]} = {0[1]}".format, KERNELS[kernel].items()),
        ]
    )
    given = f"lambda = 0.02, {given}, weights = w"
    r.eval(f"fit <- kernel_pairs(X, y, {given}, tol = 1e-7)")
    found = r.eval(f"kernel_certificate(X, y, fit$alpha, fit$a, {given})")
    # both are within their gaps of one optimum: 1e-9 of it, and 1e-7 of a margin
    assert found["objective"][0] == pytest.approx(result.objective, rel=1e-6)
    assert found["objective"][0] >= result.dual_objective
    assert found["dual_objective"][0] <= result.objective
    scores = r.eval("fit$g / (0.02 * 70)")
    ours = result.decision_function() - result.intercept
    # ||f - f*||^2 <= 2 gap / lam of both, and |f(x)|^2 <= ||f||^2 K(x, x)
    gaps = [found["objective"][0] - found["dual_objective"][0], result.gap]
    inner = np.square(X).sum(axis=1)
    squares = {"gaussian": 1.0, "polynomial": (inner + 0.5) ** 3, "linear": inner}
    apart = np.sqrt(squares[kernel]) * np.sqrt(2.0 * np.array(gaps) / 0.02).sum()
    assert (np.abs(scores - ours) <= apart).all()
