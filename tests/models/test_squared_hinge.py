"""The squared hinge beside scipy, numpy, files, and R."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import CallError, OptionError
from pegasos_stats.solvers.intercept import best_intercept
from pegasos_stats.studies.parity import checked_in, setup_of

SOLVER = ps.Optimum(tol=1e-10, seed=1)
SHAPES = [(200, 5, 1 / 200), (5000, 20, 1e-4), (40, 100, 1e-2), (300, 4, 1e-8)]
SQUARED: Any = {"loss": "squared_hinge"}
FORMULA = "y ~ x0 + x1 * x2 + g"


def rows(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    score = X @ rng.normal(size=p) / np.sqrt(p) + 0.5
    return X, np.where(score + rng.logistic(size=n) > 0.0, 1.0, -1.0)


def frame(n, seed=0):
    (X, y), rng = rows(n, 3, seed), np.random.default_rng(seed)
    data = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    data["g"], data["w"] = rng.choice(["a", "b", "c"], n), rng.uniform(0.2, 3.0, n)
    data["o"] = rng.normal(size=n) / 2.0
    return data.assign(y=np.where(y > 0.0, "yes", "no"))


def risk(theta, X, y, lam, w=1.0, offset=0.0):
    """Objective and gradient at ``beta, alpha``, as the formula says."""
    short = np.maximum(0.0, 1.0 - y * (X @ theta[:-1] + theta[-1] + offset))
    value = lam / 2.0 * theta[:-1] @ theta[:-1] + np.mean(w * short * short)
    slopes = -2.0 * w * short * y / len(y)
    return value, np.append(lam * theta[:-1] + slopes @ X, slopes.sum())


def least(X, y, lam, w=1.0, offset=0.0):
    options = {"maxiter": 10**5, "maxfun": 10**6, "ftol": 1e-16, "gtol": 1e-10}
    given = X, y, lam, w, offset
    zero = np.zeros(X.shape[1] + 1)
    return minimize(risk, zero, given, "L-BFGS-B", jac=True, options=options).fun


@pytest.mark.parametrize(("n", "p", "lam"), SHAPES)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_the_optimum_is_that_of_scipy(form, n, p, lam):
    X, y = rows(n, p)
    fit = ps.SVM(y, form(X), lam=lam, **SQUARED).fit(SOLVER)
    theta = np.append(fit.coef, fit.intercept)
    assert fit.objective == pytest.approx(risk(theta, X, y, lam)[0], rel=1e-13)
    assert fit.objective == pytest.approx(least(X, y, lam), rel=1e-7)
    assert 0.0 <= fit.gap <= 1e-9 * fit.objective
    assert fit.dual_objective <= least(X, y, lam)


def test_weights_and_offsets_are_those_of_the_formula():
    (X, y), rng = rows(400, 6), np.random.default_rng(1)
    w, offset = rng.integers(0, 4, 400).astype(float), rng.normal(size=400)
    given = {"weights": w, "offset": offset, "lam": 0.01}
    fit = ps.SVM(y, X, **given, **SQUARED).fit(SOLVER)
    best = least(X, y, 0.01, w / w.mean(), offset)
    assert fit.objective == pytest.approx(best, rel=1e-8)
    assert fit.relative_gap <= 1e-10


@pytest.mark.parametrize("seed", range(5))
def test_the_intercept_is_the_best_one(seed):
    rng = np.random.default_rng(seed)
    scores, w = rng.normal(size=31) * 10.0**seed, rng.uniform(0.0, 2.0, 31)
    y = np.where(rng.random(31) < 0.3, 1.0, -1.0)
    found = best_intercept(scores, y, "squared_hinge", w)
    slopes = 2.0 * w * np.maximum(0.0, 1.0 - y * (scores + found))
    assert abs(slopes @ y) <= 1e-12 * slopes.sum() + 1e-12

    def value(alpha):
        return w @ np.maximum(0.0, 1.0 - y * (scores + alpha)) ** 2

    assert value(found) <= minimize_scalar(value).fun * (1.0 + 1e-12)


# ---- Standard errors.


@pytest.mark.parametrize(("seed", "n", "weighted"), [(0, 200, False), (1, 90, True)])
def test_hc3_is_that_of_numpy(seed, n, weighted):
    data = frame(n, seed)
    given = {"weights": "w"} if weighted else {}
    fit = ps.svm("y ~ x0 + x1 + x2", data, lam=0.01, **given, **SQUARED).fit(SOLVER)
    Z = np.column_stack([np.ones(n), data[["x0", "x1", "x2"]]])
    y = np.where(data["y"] == "yes", 1.0, -1.0)
    w = np.asarray(data["w"] / data["w"].mean()) if weighted else np.ones(n)
    short = np.maximum(0.0, 1.0 - y * (Z @ fit.params))
    curved = 2.0 * w * (short > 0.0)
    H = (Z.T * curved) @ Z / n + 0.01 * np.diag([0.0, 1.0, 1.0, 1.0])
    inverse = np.linalg.inv(H)
    scores = -(2.0 * w * short * y)[:, None] * Z
    # weights are ratios: their mean is estimated too
    scores -= w[:, None] * scores.sum(axis=0) / n
    h = curved * np.einsum("ij,jk,ik->i", Z, inverse, Z) / n
    scores /= (1.0 - h)[:, None]
    covariance = inverse @ (scores.T @ scores) @ inverse / n**2
    np.testing.assert_allclose(fit.bse, np.sqrt(np.diag(covariance)), rtol=1e-6)
    assert "HC3" in str(fit.summary())
    np.testing.assert_allclose(fit.tidy()["std_error"], fit.bse)


# ---- Files, saved fits, folds.


@pytest.mark.parametrize(
    "given", [{}, {"weights": "w"}, {"offset": "o"}, {"standardize": True}]
)
def test_a_fit_from_files_is_that_in_memory(tmp_path, given):
    parts = [frame(3000)[part::3] for part in range(3)]
    for i, part in enumerate(parts):
        part.to_parquet(tmp_path / f"{i}.parquet", index=False)
    whole, scan = pd.concat(parts), ps.scan(str(tmp_path / "*.parquet"))
    found, expected = (
        ps.svm(FORMULA, rows, lam=1e-3, **given, **SQUARED).fit(SOLVER)
        for rows in (scan, whole)
    )
    assert found.objective == pytest.approx(expected.objective, rel=1e-9)
    assert found.relative_gap <= 1e-8
    assert found.n_reads <= 12
    np.testing.assert_allclose(found.params, expected.params, atol=1e-5)
    np.testing.assert_allclose(found.bse, expected.bse, rtol=1e-4)
    assert found.confusion().counts.tolist() == expected.confusion().counts.tolist()
    run = ps.Pegasos(2, order="sequential")
    streamed, home = (
        ps.svm("y ~ x0 + x1", rows, lam=5.0, **SQUARED).fit(run)
        for rows in (scan, whole)
    )
    assert streamed.params.tolist() == home.params.tolist()
    assert streamed.gap == pytest.approx(home.gap, rel=1e-9)


def test_tables_pages_and_files_are_of_this_loss(tmp_path):
    data = frame(200)
    fit = ps.svm(FORMULA, data, **SQUARED).fit()
    short = np.maximum(0.0, 1.0 - fit.augment()["margin"])
    np.testing.assert_allclose(fit.augment()["loss"], short**2, rtol=1e-12)
    assert np.isnan(fit.llf)
    fit.report(data, str(tmp_path / "page.md"))
    page = (tmp_path / "page.md").read_text()
    assert "loss='squared_hinge'" in page
    assert "max(0, 1 − mᵢ)²" in page
    errors = fit.bse
    ps.save(fit, tmp_path / "fit.model")
    back = ps.load(tmp_path / "fit.model")
    assert back.glance()["loss"].item() == "squared_hinge"
    assert back.bse.equals(errors)
    assert back.predict(data).tolist() == fit.predict(data).tolist()


def test_folds_and_a_path_are_fitted_with_this_loss():
    data, lambdas = frame(200), [0.5, 0.05, 0.005]
    model = ps.svm(FORMULA, data, **SQUARED)
    found = ps.cross_validate(model, folds=5, seed=1)
    assert list(found.mean.index) == ["error_rate", "squared_hinge_loss", "auc"]
    path = ps.lambda_path(model, lambdas, folds=5, seed=1)
    for lam in lambdas:
        one = ps.svm(FORMULA, data, lam=lam, **SQUARED).fit()
        np.testing.assert_allclose(path.coefficients.loc[lam], one.params, atol=0.02)
    chosen = ps.svm(FORMULA, data, lam="cv", **SQUARED).fit()
    assert chosen.problem.loss == "squared_hinge"


# ---- R.


def test_runs_have_the_bits_of_r(r):
    data = frame(60)
    X = csr_array(np.where(data[["x0", "x1"]] > 0.3, data[["x0", "x1"]], 0.0))
    labels = data["y"]
    given = {"lam": 2.0, **SQUARED}
    model = ps.svm("y ~ x0 * g + offset(o)", data, weights="w", **given)
    through_zero = ps.SVM(labels, X, intercept=False, **given)
    for built, solver in [
        (model, ps.Pegasos(3, seed=443)),
        (model, ps.Pegasos(2, seed=1, batch_size=7, average="all", project=False)),
        (ps.svm("y ~ x1", data, **given), ps.Pegasos(2, seed=2, project=True)),
        (model, ps.Pegasos(order="replace", steps=50, seed=2, refit_intercept=True)),
        (model, ps.Pegasos(9, seed=1, tol=0.05)),
        (ps.SVM(labels, X, **given), ps.Pegasos(2, seed=-3)),
        (ps.SVM(labels, X, **given), ps.Pegasos(2, seed=3, step=0.05)),
        (through_zero, ps.SDCA(seed=4, tol=1e-2)),
    ]:
        one = checked_in(r, setup_of(built, solver))
        assert one.equal, one
        same = one.table["same"].drop("dual weights")
        assert set(same) == {"every bit"}, one


def test_a_run_has_a_certificate_and_is_refined():
    data = frame(200)
    model = ps.svm("y ~ x0 + x1", data, lam=2.0, **SQUARED)
    run = model.fit(ps.Pegasos(20, seed=443))
    best = model.fit(SOLVER)
    assert run.dual_objective <= best.objective <= run.objective
    assert run.relative_gap < 0.01
    assert model.fit(ps.Pegasos(2, seed=1), refine=1e-9).relative_gap <= 1e-9


# ---- What is refused.


def test_other_models_refuse_it():
    for build, given, error in [
        (ps.logit, SQUARED, OptionError),
        (ps.svm, {"loss": "log"}, OptionError),
        (ps.kernel_svm, SQUARED, CallError),
    ]:
        with pytest.raises(error, match="loss"):
            build("y ~ x0", frame(40), **given)
