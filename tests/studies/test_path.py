"""The path of lambda: certificates, where it begins, warm starts, what is chosen."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ConvergenceWarning, OptionError
from pegasos_stats.solvers.objective import certificate
from pegasos_stats.solvers.solver_runs import run_sdca
from pegasos_stats.studies.selection.fold_fits import (
    at_lambda,
    next_dual,
    path_solutions,
)
from pegasos_stats.studies.selection.lambda_path import end_of_path, null_dual

mpl.use("Agg")

TIGHT = ps.SDCA(epochs=1000, tol=1e-10, seed=1)


@pytest.fixture(scope="module")
def svm():
    rng = np.random.default_rng(11)
    frame = pd.DataFrame(rng.normal(size=(120, 4)), columns=["a", "b", "c", "d"])
    frame["y"] = np.where(frame["a"] + rng.normal(size=120) > 0, "yes", "no")
    return ps.svm("y ~ a + b + c + d", frame, lam=0.05)


@pytest.fixture(scope="module")
def path(svm):
    return ps.lambda_path(svm, folds=5, repeats=2, seed=2)


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("shape", [(60, 5), (30, 80)])
def test_every_fit_of_a_path_is_certified(loss, shape):
    rng = np.random.default_rng(1)
    X = rng.normal(size=shape)
    y = X[:, 0] + 0.5 * rng.normal(size=shape[0]) > 0.2
    model = {"hinge": ps.SVM, "log": ps.Logit}[loss](y, X)
    solver = ps.SDCA(epochs=1000, tol=1e-6)
    path = ps.lambda_path(model, solver=solver, folds=None, seed=1)
    assert (path.fits["relative_gap"] <= 1e-6).all()
    assert (np.diff(path.fits["norm"]) >= -1e-3 * path.fits["norm"][:-1]).all()
    for line in path.fits.iloc[::7].itertuples():
        lam = line.lam
        again = replace(model.problem, lam=lam)
        (one,) = path_solutions(again, replace(solver, seed=9), np.array([lam]))
        at = certificate(again, one.beta, one.alpha, one.dual)
        assert abs(at.objective - line.objective) <= 2e-6 * at.objective  # both gaps


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_each_fit_of_a_path_begins_where_the_one_before_ended(loss):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 3))
    model = {"hinge": ps.SVM, "log": ps.Logit}[loss](X[:, 0] > rng.normal(size=40), X)
    lambdas, solver = np.array([0.7, 0.2, 0.03]), ps.SDCA(epochs=3, tol=1e-3, seed=1)
    found = path_solutions(model.problem, solver, lambdas)
    for i, lam in enumerate(lambdas):
        at = replace(model.problem, lam=float(lam))
        dual = next_dual(found[i - 1], lambdas[i - 1], at) if i else None
        one = run_sdca(at, solver, dual=dual, warn=False)
        np.testing.assert_array_equal(one.beta, found[i].beta)
        np.testing.assert_array_equal(one.dual, found[i].dual)


def test_where_levels_are_separated_the_next_dual_is_the_solution():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20, 60))
    y = np.resize([-1.0, 1.0], 20)
    lam = 1e-4
    problem = ps.SVM(y, X, lam=lam).problem
    (last,) = path_solutions(problem, TIGHT, np.array([lam]))
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
    chosen, table = path.by(metric), path.table
    sign = -1.0 if metric == "auc" else 1.0
    loss, error = sign * table[metric], table[f"{metric}_se"]
    best = loss.idxmin()  # the first of several: the largest lambda
    assert chosen.lambda_min == table["lam"][best]
    near = table["lam"][loss <= loss[best] + error[best]]
    assert chosen.lambda_1se == near.max()
    assert chosen.best_model("min").problem.lam == chosen.lambda_min
    assert chosen.best_model().problem.lam == chosen.lambda_1se
    assert path.model.problem.lam == 0.05


def test_each_line_is_a_cross_validation_at_its_lambda(path):
    for rule in ("min", "1se"):
        model = path.best_model(rule)
        found = ps.cross_validate(model, path.solver, folds=path.folds)
        line = path.table.set_index("lam").loc[model.problem.lam]
        # each of two fits is within sqrt(2 gap / lam) of the optimum
        gap = 1e-3 * line["objective"]
        apart = 2 * np.sqrt(2 * gap / model.problem.lam) * 4  # rows of norm 4 at most
        assert abs(found.mean["hinge_loss"] - line["hinge_loss"]) <= apart
        assert abs(found.mean["error_rate"] - line["error_rate"]) <= 0.02


def test_the_refit_is_a_fit_by_the_solver_of_the_path(path):
    result = path.refit("min")
    assert path.solver.tol == 1e-3
    exact = replace(path.solver, tol=1e-6)
    again = path.best_model("min").fit(exact)
    assert (result.params == again.params).all()
    there = path.coefficients.loc[path.lambda_min]
    gap = 2e-3 * result.objective  # of both fits
    apart = np.linalg.norm(there[1:] - result.coef)
    assert apart <= 2 * np.sqrt(2 * gap / path.lambda_min)
    assert there.index.tolist() == ["Intercept", "a", "b", "c", "d"]


def test_pegasos_begins_every_fit_at_zero(svm):
    path = ps.lambda_path(svm, [1.0, 0.1], ps.Pegasos(epochs=3), folds=3, seed=4)
    for lam in path.lambdas:
        fit = at_lambda(svm, lam).fit(ps.Pegasos(epochs=3, seed=4))
        assert (path.coefficients.loc[lam] == fit.params).all()


def test_standardized_coefficients(svm):
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


def test_what_decides_is_checked(svm, path):
    with pytest.raises(OptionError, match="'log_loss'"):
        ps.lambda_path(svm, metric="log_loss")
    with pytest.raises(OptionError, match="'brier'"):
        path.by("brier")
    with pytest.raises(OptionError, match="rule='best'"):
        path.refit("best")
    own = ps.lambda_path(svm, [1.0, 0.1], folds=3, seed=1, metrics=["auc"])
    assert own.metric == "auc"


def test_gaps_that_are_too_large_warn_once(svm):
    with pytest.warns(ConvergenceWarning, match="in 8 of 8 fits") as caught:
        ps.lambda_path(svm, [1, 0.1], ps.SDCA(epochs=1, tol=1e-12), folds=3, seed=1)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_the_end_of_a_path_at_which_all_coefficients_are_0_has_nothing_beyond():
    """Rare yeses: with these lambdas the hinge says no to all, whatever x and z are."""
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.normal(size=(150, 2)), columns=["x", "z"])
    data["y"] = np.where(np.arange(150) % 10 == 0, "yes", "no")
    path = ps.lambda_path(
        ps.svm("y ~ x + z", data, lam=1.0), [20.0, 10.0], folds=5, seed=1
    )
    assert path.lambda_min == path.lambdas[0]
    assert "all coefficients are 0" in end_of_path(path, path.lambda_min)
    assert "smallest of the path" in end_of_path(path, path.lambdas[-1])
