"""Fits that are found side by side are those that are found one by one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.solvers.objective import primal
from pegasos_stats.solvers.shared.folded_rows import FoldedRows
from pegasos_stats.solvers.shared.hinge_path import hinge_path
from pegasos_stats.solvers.shared.log_path import log_path
from pegasos_stats.solvers.solver_runs import run_sdca
from pegasos_stats.studies.selection import fold_fits
from pegasos_stats.studies.selection.fold_fits import Task, shared_fits

EXACT = ps.SDCA(epochs=1000, tol=1e-11, seed=1)
TIGHT = ps.SDCA(epochs=1000, tol=1e-7, seed=1)
LAMBDAS = np.array([1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4])
KINDS = {"hinge": ps.SVM, "log": ps.Logit}
PATHS = {"hinge": hinge_path, "log": log_path}
LOSSES = pytest.mark.parametrize("loss", ["hinge", "log"])


def drawn(seed, n=400, p=4, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.where(X @ rng.normal(size=p) + noise * rng.logistic(size=n) > 0.3, 1, -1)
    return rng, X, y


def data(name):
    """X, y and options of the model."""
    rng, X, y = drawn(3)
    n, options = len(y), {}
    if name == "weights":
        options["weights"] = rng.integers(0, 4, n).astype(float)
    elif name == "offset":
        options["offset"] = 2.0 * rng.normal(size=n)
    elif name == "no intercept":
        options["intercept"] = False
    elif name == "standardize":
        X, options["standardize"] = X * [1.0, 1e3, 1e-2, 1.0] + [0, 50, 0, 3], True
    elif name == "separable":
        _, X, y = drawn(3, noise=0.0)
    elif name == "rare":
        y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 2.0, 1, -1)
    elif name == "constant":
        X = np.column_stack([X, np.full(n, 3.0), np.arange(n) == 7])
    elif name == "twice":
        X = np.column_stack([X, X[:, :2]])
    elif name == "far from zero":
        X = X + 1000.0
    elif name == "discrete":
        X = np.sign(X) * (np.abs(X) > 0.5)
    elif name == "wide":
        _, X, y = drawn(3, 400, 104)
    elif name == "many":
        _, X, y = drawn(3, 3000, 6)
    return X, y, options


def fold_of(n, k=5):
    return np.arange(n) * 7 % k


DATA = pytest.mark.parametrize(
    "name",
    [
        *("plain", "weights", "offset", "no intercept", "standardize", "separable"),
        *("rare", "constant", "twice", "far from zero", "discrete", "wide", "many"),
    ],
)


@DATA
@LOSSES
def test_certificates_hold_and_are_within_the_tolerance(loss, name):
    X, y, options = data(name)
    if loss == "hinge" and name == "wide":
        X = X[:, :15]
    model = KINDS[loss](y, X, lam=1.0, **options)
    given = ps.lambda_path(model, LAMBDAS[:1], folds=fold_of(len(y)), seed=1)
    for tol in (1e-3, 1e-6):
        splits = None, *given.folds.splits
        tasks = [Task(split, ps.SDCA(epochs=1000, tol=tol)) for split in splits]
        found = shared_fits(model, tasks, LAMBDAS)
        assert all(fit is not None for fits in found for fit in fits)
        for split, fits in zip(splits[:2], found, strict=False):
            problem = model.problem
            if split is not None:
                problem, X_test, _ = fold_fits.training(model, split)
            for j in range(0, len(LAMBDAS), 3):
                at = replace(problem, lam=float(LAMBDAS[j]))
                one = run_sdca(at, EXACT, warn=False)
                least = primal(at, one.beta, one.alpha)
                gap = fits[j].certificate
                assert gap.relative_gap <= tol
                assert gap.dual_objective <= least * (1.0 + 1e-12)
                assert least <= gap.objective * (1.0 + 1e-10)
                if split is None:
                    value = primal(at, *fits[j].solution)
                    assert value == pytest.approx(gap.objective, rel=1e-12)
                    continue
                offset = model.problem.offset
                offset = None if offset is None else offset[split.test]
                scores = fits[j].scores
                alone = X_test @ one.beta + one.alpha
                alone += 0.0 if offset is None else offset
                # ||beta - beta*||^2 <= 2 gap / lam, and as much for the intercept
                reach = np.sqrt(2.0 * gap.gap / at.lam) * np.linalg.norm(
                    X_test - X_test.mean(axis=0), axis=1
                )
                if loss == "log":
                    assert (np.abs(scores - alone) <= 3.0 * reach + 0.05).all()


@LOSSES
def test_lambda_and_losses_are_those_of_fits_made_one_by_one(loss, monkeypatch):
    _, X, y = drawn(5, 600, 5)
    model = KINDS[loss](y, X, lam=1.0)
    grid = ps.lambda_grid(model, 12, 1e-3)
    given = {"solver": TIGHT, "folds": 6, "repeats": 2, "seed": 3}
    metric = f"{loss}_loss"
    together = ps.lambda_path(model, grid, **given, metric=metric)
    monkeypatch.setattr(fold_fits, "suits", lambda *_: False)
    alone = ps.lambda_path(model, grid, **given, metric=metric)
    assert together.lambda_min == alone.lambda_min
    assert together.lambda_1se == alone.lambda_1se
    assert together.by_fold.columns.tolist() == alone.by_fold.columns.tolist()
    for name in ("repeat", "fold", "lam", "n_train", "n_test", "weight", "seed"):
        assert together.by_fold[name].equals(alone.by_fold[name])
    both = (
        path.by_fold.set_index(["repeat", "fold", "lam"]) for path in (together, alone)
    )
    for a, b in zip(*(each["objective"] for each in both), strict=True):
        assert a == pytest.approx(b, rel=2e-7)
    np.testing.assert_allclose(together.table[metric], alone.table[metric], rtol=2e-3)
    np.testing.assert_allclose(
        together.fits["training_error"], alone.fits["training_error"], atol=0.005
    )


@LOSSES
def test_whole_weights_are_rows_that_are_repeated(loss):
    rng, X, y = drawn(8, 300, 4)
    w = rng.integers(1, 4, len(y))
    at = np.repeat(np.arange(len(y)), w)
    fold = fold_of(len(y))
    weighed = KINDS[loss](y, X, lam=1.0, weights=w.astype(float)).problem
    repeated = KINDS[loss](y[at], X[at], lam=1.0).problem
    a = PATHS[loss](FoldedRows(weighed, fold, 5), LAMBDAS, 1e-8)
    b = PATHS[loss](FoldedRows(repeated, fold[at], 5), LAMBDAS, 1e-8)
    for one, other in zip(a, b, strict=True):
        np.testing.assert_allclose(one.objective, other.objective, rtol=2e-8)


def test_columns_that_are_constant_where_a_fold_is_fitted_have_the_coefficient_0():
    _, X, y = drawn(3)
    fold = fold_of(len(y))
    X = np.column_stack([X, np.full(len(y), 3.0), fold == 2])
    for loss, kind in KINDS.items():
        rows = FoldedRows(kind(y, X, lam=1.0).problem, fold, 5)
        for point in PATHS[loss](rows, LAMBDAS, 1e-6):
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
    found = ps.cross_validate(model, TIGHT, folds=np.arange(200) % 5, seed=1)
    for j, split in enumerate(found.folds.splits):
        part = frame.iloc[split.train]
        one = ps.logit("y ~ a + b + c", part, **given).fit(EXACT)
        scores = one.decision_function(frame.iloc[split.test])
        np.testing.assert_allclose(found.scores.iloc[split.test], scores, atol=2e-3)
        assert found.by_fold["objective"][j] == pytest.approx(one.objective, rel=1e-7)


def test_groups_and_given_folds_are_held_out_as_one_by_one(monkeypatch):
    rng, X, y = drawn(9, 300, 4)
    model = ps.Logit(y, X, lam=0.01)
    pairs = [
        (np.arange(0, 200), np.arange(200, 250)),
        (np.arange(50, 250), np.arange(50)),
    ]
    options = [
        {"folds": 5, "groups": rng.integers(0, 30, 300)},
        {"folds": fold_of(300), "lambda_path": [0.1, 0.01]},
        {"folds": pairs},
    ]
    found = [ps.cross_validate(model, TIGHT, seed=1, **each) for each in options]
    monkeypatch.setattr(fold_fits, "suits", lambda *_: False)
    for each, one in zip(options, found, strict=True):
        alone = ps.cross_validate(model, TIGHT, seed=1, **each)
        same = np.isnan(one.scores) & np.isnan(alone.scores)
        near = np.abs(one.scores - alone.scores) < 1e-2
        assert (same | near).all()
        assert one.by_fold["n_train"].equals(alone.by_fold["n_train"])
        if "lam" in one.by_fold:
            assert one.by_fold["lam"].equals(alone.by_fold["lam"])


def test_fits_that_are_not_certified_are_made_alone(monkeypatch):
    _, X, y = drawn(9, 300, 4)
    model = ps.Logit(y, X, lam=0.01)
    usual = ps.lambda_path(model, LAMBDAS, TIGHT, folds=5, seed=1)

    def missing(*given):
        found = shared_fits(*given)
        return [[None if j % 3 == 1 else f for j, f in enumerate(fs)] for fs in found]

    monkeypatch.setattr(fold_fits, "shared_fits", missing)
    other = ps.lambda_path(model, LAMBDAS, TIGHT, folds=5, seed=1)
    assert (other.by_fold["relative_gap"] <= TIGHT.tol).all()
    np.testing.assert_allclose(
        usual.table["log_loss"], other.table["log_loss"], rtol=1e-3
    )
    np.testing.assert_allclose(
        usual.fits["objective"], other.fits["objective"], rtol=2e-7
    )
    assert other.coefficients.shape == usual.coefficients.shape
