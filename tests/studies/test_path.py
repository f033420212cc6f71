"""The path of lambda, and fits that are found side by side."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.solvers.certificate import certificate, primal
from pegasos_stats.solvers.optimum_run import run_to_optimum
from pegasos_stats.solvers.path import FoldedRows, fold_path
from pegasos_stats.studies import fold_fits
from pegasos_stats.studies.cross_validation import null_dual
from pegasos_stats.studies.fold_fits import (
    Task,
    at_lambda,
    next_dual,
    path_solutions,
    shared_fits,
)

pytestmark = pytest.mark.slow

# ---- The path of lambda: certificates, where it begins, warm starts, what is chosen.

mpl.use("Agg")

TIGHT = ps.Optimum(epochs=1000, tol=1e-10, seed=1)


LOSSES = pytest.mark.parametrize("make", [ps.SVM, ps.Logit])


@pytest.fixture(scope="module")
def path(svm):
    return ps.lambda_path(svm, folds=5, repeats=2, seed=2)


@LOSSES
@pytest.mark.parametrize("shape", [(60, 5), (30, 80)])
def test_every_fit_of_a_path_is_certified(make, shape):
    rng = np.random.default_rng(1)
    X = rng.normal(size=shape)
    y = X[:, 0] + 0.5 * rng.normal(size=shape[0]) > 0.2
    model = make(y, X)
    solver = ps.Optimum(epochs=1000, tol=1e-6)
    path = ps.lambda_path(model, solver=solver, folds=None, seed=1)
    assert (path.fits["relative_gap"] <= 1e-6).all()
    assert (np.diff(path.fits["norm"]) >= -1e-3 * path.fits["norm"][:-1]).all()
    for line in path.fits.iloc[::7].itertuples():
        lam = line.lam
        again = replace(model.problem, lam=lam)
        ((_, one),) = path_solutions(again, replace(solver, seed=9), np.array([lam]))
        at = certificate(again, one.beta, one.alpha, one.dual)
        assert abs(at.objective - line.objective) <= 2e-6 * at.objective  # both gaps


@LOSSES
def test_each_fit_of_a_path_begins_where_the_one_before_ended(make):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 3))
    model = make(X[:, 0] > rng.normal(size=40), X)
    lambdas, solver = np.array([0.7, 0.2, 0.03]), ps.Optimum(epochs=3, tol=1e-3, seed=1)
    found = [fit for _, fit in path_solutions(model.problem, solver, lambdas)]
    for i, lam in enumerate(lambdas):
        at = replace(model.problem, lam=float(lam))
        dual = next_dual(found[i - 1], lambdas[i - 1], at) if i else None
        one = run_to_optimum(at, solver, dual=dual, warn=False)
        np.testing.assert_array_equal(one.beta, found[i].beta)
        np.testing.assert_array_equal(one.dual, found[i].dual)


def test_where_levels_are_separated_the_next_dual_is_the_solution():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20, 60))
    y = np.resize([-1.0, 1.0], 20)
    lam = 1e-4
    problem = ps.SVM(y, X, lam=lam).problem
    ((_, last),) = path_solutions(problem, TIGHT, np.array([lam]))
    assert last.dual.max() < 1.0  # no row is inside the margins
    then = replace(problem, lam=lam / 10)
    at = certificate(then, last.beta, last.alpha, next_dual(last, lam, then))
    assert at.relative_gap < 1e-6  # that of the fit is 1e-10, and errors add up


@pytest.mark.parametrize("intercept", [True, False])
def test_beyond_the_largest_lambda_the_solution_is_known(intercept):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3))
    y = np.where(np.arange(40) % 2, 1.0, -1.0)
    model = ps.SVM(y, X, intercept=intercept, lam=1.0)
    a = null_dual(model.problem)
    assert (a == 1.0).all()
    for factor, known in ((1.01, True), (0.4, False)):
        lam = ps.lambda_grid(model)[0] * factor
        at = replace(model.problem, lam=lam)
        beta = X.T @ (a * y) / (lam * 40)
        scores = X @ beta
        alpha = -(scores.max() + scores.min()) / 2 if intercept else 0.0
        gap = certificate(at, beta, alpha, a).relative_gap
        assert (gap < 1e-14) == known  # rounding of the sums


def test_lambdas_are_checked(svm):
    grid = ps.lambda_grid(svm, 7, 1e-3)
    assert (np.diff(grid) < 0).all()
    assert grid[-1] / grid[0] == pytest.approx(1e-3, rel=1e-3)  # four digits
    path = ps.lambda_path(svm, [0.1, 10, 1], folds=None, seed=1)
    assert path.lambdas.tolist() == [10, 1, 0.1]
    for wrong in ([], [1, 1], [0.0], [-1], ["a"], 1.0, [np.nan], [[1, 2]]):
        with pytest.raises(OptionError, match="lambdas"):
            ps.lambda_path(svm, wrong)
    with pytest.raises(OptionError, match="ratio"):
        ps.lambda_grid(svm, ratio=2)


@pytest.mark.parametrize("metric", ["error_rate", "hinge_loss", "auc"])
def test_the_choices_are_those_of_the_table(path, metric):
    chosen, table = replace(path, metric=metric), path.table
    sign = -1.0 if metric == "auc" else 1.0
    loss, error = sign * table[metric], table[f"{metric}_se"]
    best = loss.idxmin()  # the first of several: the largest lambda
    assert chosen.lambda_min == table["lam"][best]
    near = table["lam"][loss <= loss[best] + error[best]]
    assert chosen.lambda_1se == near.max()
    assert chosen.best_model("min").problem.lam == chosen.lambda_min
    assert chosen.best_model().problem.lam == chosen.lambda_1se
    assert path.model.problem.lam == 0.05


def test_the_refit_is_a_fit_by_the_solver_of_the_path(path):
    result = path.refit("min")
    assert path.solver.tol == 1e-3
    exact = replace(path.solver, tol=1e-6)
    again = path.best_model("min").fit(exact)
    assert (result.params == again.params).all()
    assert [*path.coefficients] == ["Intercept", "a", "b", "c", "d"]


def test_coefficients_are_those_of_the_columns_as_they_were():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) * [1, 100] + [5, 0]
    y = X[:, 0] + X[:, 1] / 100 + rng.normal(size=60) > 5
    model = ps.Logit(y, X, standardize=True, lam=1.0)
    path = ps.lambda_path(model, folds=4, seed=1, solver=TIGHT)
    result = path.refit("min")
    there = path.coefficients.loc[path.lambda_min]
    # sqrt(2 gap / lam) of two fits at a relative gap of 1e-10
    np.testing.assert_allclose(there, result.params, atol=1e-3)


def test_without_folds_there_is_nothing_to_choose(svm):
    path = ps.lambda_path(svm, [1.0, 0.1], folds=None, seed=1)
    for use in (path.tidy, path.plot, path.refit, lambda: path.lambda_min):
        with pytest.raises(OptionError, match="not cross-validated"):
            use()
    assert path.summary().params.columns[:2].tolist() == ["norm", "training_error"]
    assert path.plot_coefficients().get_xscale() == "log"
    with pytest.raises(OptionError, match="repeats="):
        ps.lambda_path(svm, folds=None, repeats=2)


def test_a_single_fold_has_no_standard_error(svm):
    halves = [(np.arange(60), np.arange(60, 120))]
    path = ps.lambda_path(svm, [1.0, 0.1], folds=halves)
    assert path.lambda_min in (1.0, 0.1)
    with pytest.raises(OptionError, match="single fold"):
        _ = path.lambda_1se
    assert "lambda_1se:" not in str(path.summary())
    rates = path.tidy().query("term == 'error_rate'")
    assert rates["std_error"].isna().all()
    drawn = path.plot().get_lines()[0]
    assert drawn.get_xdata().tolist() == [1.0, 0.1]
    assert drawn.get_ydata().tolist() == rates["estimate"].tolist()


# ---- Fits that are found side by side are those that are found one by one.

EXACT = ps.Optimum(epochs=1000, tol=1e-11, seed=1)
NEAR = ps.Optimum(epochs=1000, tol=1e-7, seed=1)
LAMBDAS = np.array([1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4])


def drawn(seed, n=400, p=4, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.where(X @ rng.normal(size=p) + noise * rng.logistic(size=n) > 0.3, 1, -1)
    return rng, X, y


OPTIONS = {
    "weights": {"weights": np.arange(400) % 4 * 1.0},
    "offset": {"offset": 2.0 * np.sin(np.arange(400))},
    "no intercept": {"intercept": False},
    "scales": {"standardize": True},
}
COLUMNS = {
    "constant": lambda X: np.column_stack([X, 0.0 * X[:, 0] + 3.0, X[:, 0] == X[7, 0]]),
    "twice": lambda X: np.column_stack([X, X[:, :2]]),
    "far from zero": lambda X: X + 1000.0,
    "discrete": lambda X: np.sign(X) * (np.abs(X) > 0.5),
    "scales": lambda X: X * [1.0, 1e3, 1e-2, 1.0] + [0, 50, 0, 3],
}
DRAWN = {"separable": {"noise": 0.0}, "wide": {"p": 104}, "many": {"n": 3000, "p": 6}}


def data(name):
    """X, y and options of the model."""
    rng, X, y = drawn(3, **DRAWN.get(name, {}))
    if name == "rare":
        y = np.where(X[:, 0] + 0.5 * rng.normal(size=len(y)) > 2.0, 1, -1)
    return COLUMNS.get(name, np.asarray)(X), y, OPTIONS.get(name, {})


def fold_of(n, k=5):
    return np.arange(n) * 7 % k


@pytest.mark.parametrize("name", sorted({"rare", *OPTIONS, *COLUMNS, *DRAWN}))
@LOSSES
def test_certificates_hold_and_are_within_the_tolerance(make, name):
    X, y, options = data(name)
    if make is ps.SVM and name == "wide":
        X = X[:, :15]
    model = make(y, X, lam=1.0, **options)
    given = ps.lambda_path(model, LAMBDAS[:1], folds=fold_of(len(y)), seed=1)
    for tol in (1e-3, 1e-6):
        splits = None, *given.folds.splits
        tasks = [Task(split, ps.Optimum(epochs=1000, tol=tol)) for split in splits]
        found = shared_fits(model, tasks, LAMBDAS)
        assert all(fit is not None for fits in found for fit in fits)
        for split, fits in zip(splits[:2], found, strict=False):
            problem = model.problem
            if split is not None:
                problem, X_test, _ = fold_fits.training(model, split)
            for j in range(0, len(LAMBDAS), 3):
                at = replace(problem, lam=float(LAMBDAS[j]))
                one = run_to_optimum(at, EXACT, warn=False)
                least = primal(at, one.beta, one.alpha)
                gap = fits[j].certificate
                assert gap.relative_gap <= tol
                assert gap.dual_objective <= least * (1.0 + 1e-12)
                assert least <= gap.objective * (1.0 + 1e-10)
                if split is None:
                    value = primal(at, *fits[j].solution)
                    assert value == pytest.approx(gap.objective, rel=1e-12)
                    continue
                alone = X_test @ one.beta + one.alpha
                if model.problem.offset is not None:
                    alone += model.problem.offset[split.test]
                # ||beta - beta*||^2 <= 2 gap / lam, and as much for the intercept
                size = np.linalg.norm(X_test - X_test.mean(axis=0), axis=1)
                reach = np.sqrt(2.0 * gap.gap / at.lam) * size
                if make is ps.Logit:
                    apart = np.abs(fits[j].scores - alone)
                    assert (apart <= 3.0 * reach + 0.05).all()


@LOSSES
def test_lambda_and_losses_are_those_of_fits_made_one_by_one(make, monkeypatch):
    _, X, y = drawn(5, 600, 5)
    model = make(y, X, lam=1.0)
    grid = ps.lambda_grid(model, 12, 1e-3)
    metric = f"{model.problem.loss}_loss"
    given = {"folds": 6, "repeats": 2, "seed": 3, "metric": metric}
    together = ps.lambda_path(model, grid, NEAR, **given)
    monkeypatch.setattr(fold_fits, "suits", lambda *_: False)
    alone = ps.lambda_path(model, grid, NEAR, **given)
    assert together.lambda_min == alone.lambda_min
    assert together.lambda_1se == alone.lambda_1se
    one, other = together.by_fold, alone.by_fold
    assert one.columns.tolist() == other.columns.tolist()
    for name in ("repeat", "fold", "lam", "n_train", "n_test", "weight", "seed"):
        assert one[name].equals(other[name])
    np.testing.assert_allclose(one["objective"], other["objective"], rtol=2e-7)
    np.testing.assert_allclose(together.table[metric], alone.table[metric], rtol=2e-3)
    apart = together.fits["training_error"] - alone.fits["training_error"]
    assert apart.abs().max() <= 0.005


@LOSSES
def test_whole_weights_are_rows_that_are_repeated(make):
    rng, X, y = drawn(8, 300, 4)
    w = rng.integers(1, 4, len(y))
    at = np.repeat(np.arange(len(y)), w)
    fold = fold_of(len(y))
    weighed = make(y, X, lam=1.0, weights=w.astype(float)).problem
    repeated = make(y[at], X[at], lam=1.0).problem
    a = fold_path(FoldedRows(weighed, fold, 5), LAMBDAS, 1e-8)
    b = fold_path(FoldedRows(repeated, fold[at], 5), LAMBDAS, 1e-8)
    for one, other in zip(a, b, strict=True):
        np.testing.assert_allclose(one.objective, other.objective, rtol=2e-8)


@LOSSES
def test_columns_that_are_constant_where_a_fold_is_fitted_are_left_out(make):
    _, X, y = drawn(3)
    fold = fold_of(len(y))
    X = np.column_stack([X, np.full(len(y), 3.0), fold == 2])
    rows = FoldedRows(make(y, X, lam=1.0).problem, fold, 5)
    for point in fold_path(rows, LAMBDAS, 1e-6):
        assert (point.theta[:, 4] == 0.0).all()
        assert point.theta[2, 5] == 0.0
        assert (point.theta[[0, 1, 3, 4], 5] != 0.0).any()


@pytest.mark.parametrize("factor", [1.0, 0.3])
def test_the_scale_of_a_fold_is_that_of_the_rows_that_are_fitted(factor):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(200, 3)) * [1, 40, 1], columns=list("abc"))
    frame["c"] = np.arange(200) % 5 == 2  # nearly only in one fold
    frame.loc[0, "c"] = True
    frame["y"] = np.where(frame["a"] + rng.logistic(size=200) > 0, "yes", "no")
    frame["w"] = rng.integers(0, 4, 200) * factor
    given = {"lam": 0.1, "standardize": True, "weights": "w"}
    model = ps.logit("y ~ a + b + c", frame, **given)
    found = ps.cross_validate(model, NEAR, folds=np.arange(200) % 5, seed=1)
    for j, split in enumerate(found.folds.splits):
        part = frame.iloc[split.train]
        one = ps.logit("y ~ a + b + c", part, **given).fit(EXACT)
        scores = one.decision_function(frame.iloc[split.test])
        np.testing.assert_allclose(found.scores.iloc[split.test], scores, atol=2e-3)
        assert found.by_fold["objective"][j] == pytest.approx(one.objective, rel=1e-7)


def test_groups_and_given_folds_are_held_out_as_one_by_one(monkeypatch):
    rng, X, y = drawn(9, 300, 4)
    model = ps.Logit(y, X, lam=0.01)
    row = np.arange(300)
    pairs = [(row[:200], row[200:250]), (row[50:250], row[:50])]
    options = [{"folds": 5, "groups": rng.integers(0, 30, 300)}, {"folds": pairs}]
    options += [{"folds": fold_of(300), "lambda_path": [0.1, 0.01]}]
    found = [ps.cross_validate(model, NEAR, seed=1, **each) for each in options]
    monkeypatch.setattr(fold_fits, "suits", lambda *_: False)
    for each, one in zip(options, found, strict=True):
        alone = ps.cross_validate(model, NEAR, seed=1, **each)
        same = np.isnan(one.scores) & np.isnan(alone.scores)
        near = np.abs(one.scores - alone.scores) < 1e-2
        assert (same | near).all()
        assert one.by_fold["n_train"].equals(alone.by_fold["n_train"])
        if "lam" in one.by_fold:
            assert one.by_fold["lam"].equals(alone.by_fold["lam"])


def test_fits_that_are_not_certified_are_made_alone(monkeypatch):
    _, X, y = drawn(9, 300, 4)
    model = ps.Logit(y, X, lam=0.01)
    usual = ps.lambda_path(model, LAMBDAS, NEAR, folds=5, seed=1)

    def missing(*given):
        found = shared_fits(*given)
        return [[None if j % 3 == 1 else f for j, f in enumerate(fs)] for fs in found]

    monkeypatch.setattr(fold_fits, "shared_fits", missing)
    other = ps.lambda_path(model, LAMBDAS, NEAR, folds=5, seed=1)
    assert (other.by_fold["relative_gap"] <= NEAR.tol).all()
    for of, name, near in (("table", "log_loss", 1e-3), ("fits", "objective", 2e-7)):
        one, two = (getattr(path, of)[name] for path in (usual, other))
        np.testing.assert_allclose(one, two, rtol=near)
    assert other.coefficients.shape == usual.coefficients.shape


def test_pegasos_begins_every_fit_at_zero(svm):
    path = ps.lambda_path(svm, [1.0, 0.1], ps.Pegasos(epochs=3), folds=3, seed=4)
    for lam in path.lambdas:
        fit = at_lambda(svm, lam).fit(ps.Pegasos(epochs=3, seed=4))
        assert (path.coefficients.loc[lam] == fit.params).all()
