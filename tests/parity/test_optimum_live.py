"""The optimum, its errors and that of kernels are those of R in this process."""

import warnings

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps

# ---- The R package's default fits, their errors and predictions beside Python's.

TOL = 1e-13
LAM = 0.01  # of the log loss; the others take 1/n
# Coefficients are known to sqrt(2 gap / lam) on both sides: some 1e-6 for lam = 1/n.
COEF = 1e-5
VCOV = 1e-6  # relative to the largest entry
MODELS = {
    "plain": ("y ~ x + z + g", {}),
    "column": ("y ~ x + z + g", {"weights": "w"}),
    "balanced": ("y ~ x + z", {"weights": "balanced"}),
    "offset": ("y ~ x + offset(z / 2)", {}),
    "through zero": ("y ~ x + z - 1", {}),
    "far": ("y ~ I(x + 1000) + z", {}),
}


@pytest.fixture(scope="module")
def data(r):
    rng = np.random.default_rng(3)
    n = 90
    x, z = rng.normal(size=(2, n))
    g = rng.choice(["a", "b", "c"], n)
    y = np.where(x - z / 2.0 + rng.logistic(size=n) > 0.8, "yes", "no")
    w = rng.integers(0, 4, n).astype(float)
    x[5] = np.nan
    frame = pd.DataFrame({"x": x, "z": z, "g": g, "y": y, "w": w})
    r.set("columns", {name: frame[name].to_numpy() for name in frame})
    for generic in ("logLik", "nobs"):  # which AIC() and BIC() look up
        r.eval(
            f'registerS3method("{generic}", "linear_results", {generic}.linear_results)'
            "\nNULL"
        )
    r.eval("data <- as.data.frame(columns, stringsAsFactors = TRUE)\nNULL")
    return frame


def python_fit(loss, name, data, **fit):
    formula, options = MODELS[name]
    if loss == "squared_hinge":
        options = {**options, "loss": loss}
    if loss == "logit":
        options = {**options, "lam": LAM}
    function = ps.logit if loss == "logit" else ps.svm
    model = function(formula, data, **options)
    return model.fit(ps.Optimum(tol=TOL, epochs=1000), **fit)


def fit_in_r(r, loss, name, tol=TOL):
    formula, options = MODELS[name]
    weights = {"w": "w", "balanced": '"balanced"'}.get(options.get("weights"), "NULL")
    call = "svm" if loss == "squared_hinge" else loss
    of = f', loss = "{loss}"' if loss == "squared_hinge" else ""
    of = f", lam = {LAM}" if loss == "logit" else of
    r.eval(
        f"fit <- suppressWarnings({call}({formula}, data, weights = {weights},"
        f" solver = Optimum({tol}){of}))\nNULL"
    )


@pytest.mark.parametrize("loss", ["svm", "logit", "squared_hinge"])
@pytest.mark.parametrize("name", MODELS)
def test_optima_and_predicted_factors_are_the_same(r, data, loss, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ps.errors.ConvergenceWarning)
        ours = python_fit(loss, name, data, cov_type=None)
    fit_in_r(r, loss, name)
    objective, dual = r.eval("unlist(fit$certificate[1:2])")
    assert ours.objective == pytest.approx(objective, rel=1e-11)
    lam = LAM if loss == "logit" else 1.0 / ours.nobs
    assert r.eval("fit$lam")[0] == lam
    gaps = max(0.0, objective - dual) + max(0.0, ours.objective - ours.dual_objective)
    apart = np.linalg.norm(ours.coef - r.eval("fit$beta"))
    assert apart <= np.sqrt(2.0 * gaps / lam) * 1.5 + 1e-7
    np.testing.assert_allclose(ours.params, r.eval("coef(fit)"), rtol=COEF, atol=COEF)
    labels = ours.predict(data)
    theirs = r.eval("predict(fit, data)")
    assert [*labels.fillna("NA")] == [each or "NA" for each in theirs]
    assert list(r.eval("levels(predict(fit, data))")) == ["no", "yes"]
    if loss == "logit":
        chances = ours.predict_proba(data)["yes"]
        found = r.eval('predict(fit, data, type = "response")')
        np.testing.assert_allclose(chances, found, rtol=COEF)


@pytest.mark.parametrize("cov_type", ["HC3", "HC2", "HC1", "HC0", "nonrobust"])
@pytest.mark.parametrize("name", MODELS)
def test_covariances_and_intervals_are_the_same(r, data, cov_type, name):
    fit_in_r(r, "logit", name)
    if cov_type == "nonrobust" and "weights" in MODELS[name][1]:
        with pytest.raises(ps.errors.DataError, match="does not go with weights"):
            r.eval(f'vcov(fit, "{cov_type}")')
        return
    ours = python_fit("logit", name, data, cov_type=cov_type)
    V = ours.cov_params().to_numpy()
    theirs = r.eval(f'vcov(fit, "{cov_type}")')
    np.testing.assert_allclose(V, theirs, rtol=VCOV, atol=VCOV * np.abs(V).max())
    limits = r.eval(f'confint(fit, level = 0.9, type = "{cov_type}")')
    np.testing.assert_allclose(ours.conf_int(alpha=0.1), limits, rtol=COEF, atol=COEF)


def test_errors_at_the_default_tolerance_are_near(r, data):
    ours = python_fit("logit", "plain", data)
    fit_in_r(r, "logit", "plain", 1e-6)
    np.testing.assert_allclose(ours.bse, r.eval("sqrt(diag(vcov(fit)))"), rtol=1e-3)
    criteria = r.eval("c(logLik(fit), AIC(fit), BIC(fit))")
    np.testing.assert_allclose([ours.llf, ours.aic, ours.bic], criteria, rtol=1e-4)


@pytest.mark.parametrize("name", ["plain", "column", "balanced"])
def test_resamples_of_the_hinge_are_the_same(r, data, name):
    bootstrap = ps.Bootstrap(60, tol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so few resamples
        ours = python_fit("svm", name, data, cov_type=bootstrap)
        limits = ours.conf_int()
    fit_in_r(r, "svm", name)
    r.eval("draws <- bootstrap_fit(fit, 60, tol = 1e-12)\nNULL")
    theirs = r.eval("vcov(fit, resamples = draws)")
    np.testing.assert_allclose(ours.cov_params(), theirs, rtol=1e-4, atol=1e-4)
    envelope = r.eval("confint(fit, resamples = draws)")
    np.testing.assert_allclose(limits, envelope, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("seed", range(12))
def test_separated_coefficients_have_no_errors(r, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(15, 60))
    g, h = rng.integers(0, 3, (2, n))
    x = rng.normal(size=n) * 10.0 ** rng.integers(-2, 3)
    y = (g + h + rng.normal(size=n) > 1.5 + seed % 3).astype(float)
    frame = pd.DataFrame({"x": x, "g": (g > 0) + 0.0, "h": h - 1.0, "y": y})
    r.set("columns", {name: frame[name].to_numpy() for name in frame})
    r.eval(
        "fit <- logit(y ~ x + g * h, as.data.frame(columns), 0.01, Optimum(1e-12))\n"
        "errors <- suppressWarnings(sqrt(diag(vcov(fit))))\nNULL"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = ps.logit("y ~ x + g * h", frame, lam=0.01).fit(ps.Optimum(tol=1e-12))
        ours = fit.bse
    np.testing.assert_allclose(ours, r.eval("errors"), rtol=1e-4)


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
