"""More columns than rows: best lengths, pairs, and the runs that use them."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from pegasos_stats.errors import ConvergenceWarning
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.wide import is_wide, pairs_serve
from tests.solvers.solved import risk_of_a_peer, solved

ROUNDING = 1e-12


def wide_problem(seed, loss="hinge", lam=1e-3, n=40, p=100, form=np.asarray):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = np.where(X[:, :3].sum(1) + rng.standard_normal(n) > 0, 1.0, -1.0)
    return Problem(form(X), y, lam, loss)


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [True, False])
def test_many_sparse_rows_that_separate_end_in_pairs(intercept):
    """Rare words on the scale of their deviation, as `standardize=True` makes them."""
    rng = np.random.default_rng(1)
    n = 1100
    words = np.minimum(rng.zipf(1.4, (n, 20)) - 1, 2999)
    given = np.ones(words.size), (np.repeat(np.arange(n), 20), words.ravel())
    X = csr_array(given, shape=(n, 3000))
    scale = np.sqrt(np.asarray(X.multiply(X).mean(axis=0)).ravel())
    X.data /= scale[X.indices]
    y = np.where(X @ rng.standard_normal(3000) > 0.0, 1.0, -1.0)
    problem = Problem(X, y, 1e-6, "hinge", intercept)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        _, at = solved(problem, Optimum(tol=1e-6, seed=1))
    assert at.relative_gap <= 1e-6
    assert at.errors == 0


@pytest.mark.parametrize(
    ("scale", "lam", "pairs"),
    [(1.0, 1e-300, True), (1.0, 5e-324, False), (1e5, 1e-300, False)],
)
def test_pairs_are_taken_while_scores_stay_within_the_doubles(scale, lam, pairs):
    X, y = scale * np.array([[0.0, 0.6, 0.8], [0.0, -0.6, 0.0]]), np.array([1.0, -1.0])
    problem = Problem(X, y, lam)
    assert pairs_serve(problem) is pairs
    with np.errstate(over="raise"):
        _, at = solved(problem, Optimum(tol=1e-13, epochs=100, seed=1), warn=False)
    assert at.objective <= 1.0  # the loss of all zeros


def test_rows_that_are_the_same_do_not_stop_the_pairs():
    X = np.repeat(np.random.default_rng(0).standard_normal((10, 60)), 3, 0)
    y = np.where(np.arange(30) % 7 < 3, 1.0, -1.0)
    problem = Problem(X, y, 1e-3)
    _, at = solved(problem, Optimum(seed=1, tol=1e-3, epochs=50))
    assert at.relative_gap <= 1e-3


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("form", [np.asarray, csr_array, np.float32])
@pytest.mark.parametrize("lam", [1.0, 1e-3, 1e-6])
def test_every_form_of_rows_comes_to_a_small_gap(loss, form, lam):
    problem = wide_problem(5, loss, lam, n=60, p=300, form=form)
    _, at = solved(problem, Optimum(seed=1, tol=1e-6, epochs=1000))
    assert -ROUNDING <= at.relative_gap <= 1e-6


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n", [100, 150, 198, 202])
def test_nearly_as_many_columns_as_rows_are_solved_by_pairs(intercept, n):
    problem = replace(wide_problem(12, lam=1e-4, n=n), intercept=intercept)
    assert is_wide(problem) == (n < 200)
    _, at = solved(problem, Optimum(seed=1, tol=1e-6))
    assert at.relative_gap <= 1e-6
    theirs = risk_of_a_peer(problem)
    assert at.dual_objective <= theirs
    assert at.objective <= theirs + at.gap
