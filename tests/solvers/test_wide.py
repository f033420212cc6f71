"""More columns than rows: best lengths, pairs, and the runs that use them."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from sklearn.svm import SVC, LinearSVC

from pegasos_stats.compiled.dual.pairs import pair_steps
from pegasos_stats.errors import ConvergenceWarning
from pegasos_stats.solvers.lengths import lengths
from pegasos_stats.solvers.methods import is_wide
from pegasos_stats.solvers.objective import certificate, feasible, primal
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.refining import run_sdca
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.wide import MOST_SPARSE, PairSteps, Wide, inner_products

ROUNDING = 1e-12


def wide_problem(seed, loss="hinge", lam=1e-3, n=40, p=100, form=np.asarray):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = np.where(X[:, :3].sum(1) + rng.standard_normal(n) > 0, 1.0, -1.0)
    return Problem(form(X), y, lam, loss)


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("lam", [1e-4, 1e-2, 1.0])
def test_lengths_are_certified_and_the_best_of_all(loss, lam):
    problem = wide_problem(1, loss, lam)
    rng = np.random.default_rng(2)
    a = feasible(rng.random(problem.n), problem.y, True)
    image = problem.X.T @ (a * problem.y) / (lam * problem.n)
    beta = 0.01 * rng.standard_normal(problem.p) + 0.1 * image / np.linalg.norm(image)
    given = problem.X @ beta, 0.3, beta @ beta, a, image @ image
    found = lengths(problem, *given)
    at = certificate(problem, found.fit * beta, found.alpha, found.dual * a)
    assert found.at.objective == pytest.approx(at.objective, rel=ROUNDING)
    assert found.at.dual_objective == pytest.approx(at.dual_objective, rel=ROUNDING)
    if loss == "log":
        assert (found.fit, found.dual) == (1.0, 1.0)
        return
    assert (found.dual * a).max() <= 1.0 + ROUNDING
    alpha = found.alpha / found.fit
    other = minimize_scalar(
        lambda s: primal(problem, s * beta, s * alpha), bounds=(0, 1e3)
    )
    # scipy's own tolerance in s is 1e-5, and P is at least as good here
    assert found.at.objective <= other.fun * (1 + 1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_many_sparse_rows_that_separate_end_in_pairs(intercept):
    """Rare words on the scale of their deviation, as `standardize=True` makes them."""
    rng = np.random.default_rng(1)
    n = MOST_SPARSE + 100
    words = np.minimum(rng.zipf(1.4, (n, 20)) - 1, 2999)
    given = np.ones(words.size), (np.repeat(np.arange(n), 20), words.ravel())
    X = csr_array(given, shape=(n, 3000))
    scale = np.sqrt(np.asarray(X.multiply(X).mean(axis=0)).ravel())
    X.data /= scale[X.indices]
    y = np.where(X @ rng.standard_normal(3000) > 0.0, 1.0, -1.0)
    problem = Problem(X, y, 1e-6, "hinge", intercept)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        found = run_sdca(problem, SDCA(tol=1e-6, seed=1))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert at.relative_gap <= 1e-6
    assert at.errors == 0


@pytest.mark.parametrize("seed", range(5))
def test_pairs_find_the_optimum_with_the_weights_in_balance(seed):
    problem = wide_problem(seed, lam=1e-3)
    pairs = PairSteps(problem, np.zeros(problem.n))
    for _ in range(200):
        pairs.step()
    at = certificate(problem, *pairs.best())
    beta, _, a = pairs.best()
    assert at.relative_gap <= 1e-9
    assert pairs.gap.objective == pytest.approx(at.objective, rel=1e-9)
    assert abs(a @ problem.y) <= ROUNDING * problem.n
    C = 1 / (problem.lam * problem.n)
    other = SVC(kernel="linear", C=C, tol=1e-10).fit(problem.X, problem.y)
    # both are within 1e-9 of the least risk: ||difference||^2 <= 4 gap / lam
    np.testing.assert_allclose(beta, other.coef_.ravel(), atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_single_steps_find_the_optimum_without_intercept(seed):
    wide = wide_problem(seed, lam=1e-3)
    problem = Problem(wide.X, wide.y, wide.lam, intercept=False)
    pairs = PairSteps(problem, np.zeros(problem.n))
    for _ in range(200):
        pairs.step()
    assert certificate(problem, *pairs.best()).relative_gap <= 1e-9
    assert pairs.best()[1] == 0.0


@pytest.mark.parametrize("intercept", [True, False])
def test_few_sparse_rows_take_pairs_as_dense_ones_do(intercept):
    wide = wide_problem(1, lam=1e-3)
    dense = Problem(wide.X, wide.y, wide.lam, intercept=intercept)
    sparse = Problem(csr_array(wide.X), wide.y, wide.lam, intercept=intercept)
    found = []
    for problem in (dense, sparse):
        pairs = PairSteps(problem, np.zeros(problem.n))
        for _ in range(20):
            pairs.step()
        found.append(pairs.gap.objective)
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    assert Wide(sparse, SDCA(seed=1), None)._may_pair
    n = MOST_SPARSE + 1
    many = Problem(
        csr_array(np.eye(n, n + 1)), np.where(np.arange(n) % 3, 1.0, -1.0), 1
    )
    assert not Wide(many, SDCA(seed=1), None)._may_pair


@pytest.mark.parametrize(
    ("scale", "lam", "pairs"),
    [(1.0, 1e-300, True), (1.0, 5e-324, False), (1e5, 1e-300, False)],
)
def test_pairs_are_taken_while_scores_stay_within_the_doubles(scale, lam, pairs):
    X, y = scale * np.array([[0.0, 0.6, 0.8], [0.0, -0.6, 0.0]]), np.array([1.0, -1.0])
    problem = Problem(X, y, lam)
    assert Wide(problem, SDCA(seed=1), None)._may_pair is pairs
    with np.errstate(over="raise"):
        fit = run_sdca(problem, SDCA(tol=1e-13, epochs=100, seed=1), warn=False)
    at = certificate(problem, fit.beta, fit.alpha, fit.dual)
    assert at.objective <= 1.0  # the loss of all zeros


def test_a_pair_step_never_lowers_the_dual():
    problem = wide_problem(3, lam=0.1)
    n, scale = problem.n, problem.lam * problem.n
    K, y, a, f = problem.X @ problem.X.T, problem.y, np.zeros(n), np.zeros(n)
    before = 0.0
    for _ in range(300):
        pair_steps(K, y, np.ones(n), scale, 1, a, f)
        dual = a.mean() - (a * y) @ f / n / 2
        assert dual >= before - ROUNDING
        assert a.min() >= 0.0
        assert a.max() <= 1.0
        before = dual
    # 300 updates, each with the rounding of numbers of order 1
    np.testing.assert_allclose(f, K @ (a * y) / scale, atol=1e-12)


def test_rows_that_are_the_same_do_not_stop_the_pairs():
    X = np.repeat(np.random.default_rng(0).standard_normal((10, 60)), 3, 0)
    y = np.where(np.arange(30) % 7 < 3, 1.0, -1.0)
    problem = Problem(X, y, 1e-3)
    pairs = PairSteps(problem, np.zeros(30))
    for _ in range(50):
        pairs.step()
    assert pairs.gap.relative_gap <= 1e-3


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("form", [np.asarray, csr_array, np.float32])
@pytest.mark.parametrize("lam", [1.0, 1e-3, 1e-6])
def test_every_form_of_rows_comes_to_a_small_gap(loss, form, lam):
    problem = wide_problem(5, loss, lam, n=60, p=300, form=form)
    found = run_sdca(problem, SDCA(seed=1, tol=1e-6, epochs=1000))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert -ROUNDING <= at.relative_gap <= 1e-6


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_one_row_of_a_class_and_columns_of_different_scales(loss):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((50, 120)) * 10.0 ** rng.uniform(-2, 2, 120)
    y = np.where(np.arange(50) == 7, 1.0, -1.0)
    problem = Problem(X, y, 1e-2, loss)
    found = run_sdca(problem, SDCA(seed=1))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert -ROUNDING <= at.relative_gap <= 1e-3


def test_columns_of_zeros_leave_the_intercept():
    problem = Problem(np.zeros((6, 9)), np.array([1.0, 1, 1, 1, -1, -1]), 0.1)
    found = run_sdca(problem, SDCA(seed=1))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    # four rows against two: the two are given up, each at a loss of 2
    assert at.objective == pytest.approx(2 / 3, rel=1e-6)
    assert at.relative_gap <= 1e-3


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_trace_does_not_change_the_run(form):
    problem = wide_problem(6, form=form)
    one = run_sdca(problem, SDCA(seed=3))
    two = run_sdca(problem, SDCA(seed=3), lambda moment: None)
    np.testing.assert_array_equal(one.beta, two.beta)
    assert one.n_iter == two.n_iter


def test_a_limit_of_epochs_gives_the_last_state_with_its_certificate():
    problem = wide_problem(7, form=csr_array, lam=1e-4)
    with pytest.warns(ConvergenceWarning, match="after 3 epochs"):
        found = run_sdca(problem, SDCA(seed=1, epochs=3, tol=1e-9))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert 0.0 < at.relative_gap < 1.0


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_every_epoch_is_run_with_tolerance_zero(loss, form):
    problem = wide_problem(9, loss, lam=0.1, form=form)
    seen = []
    found = run_sdca(problem, SDCA(seed=1, epochs=80, tol=0), seen.append)
    assert [moment.epoch for moment in seen] == list(range(1, 81))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert abs(at.relative_gap) <= 1e-6


def test_no_warning_if_the_last_epoch_reaches_the_tolerance():
    problem = wide_problem(10, loss="log", form=csr_array)
    whole = run_sdca(problem, SDCA(seed=1, tol=1e-2))
    epochs = whole.n_iter // problem.n
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_sdca(problem, SDCA(seed=1, tol=1e-2, epochs=epochs))


def test_dual_weights_to_begin_with_save_epochs():
    problem = wide_problem(8, form=csr_array, n=100, p=400, lam=1e-2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = run_sdca(problem, SDCA(seed=1, tol=1e-4))
        again = run_sdca(problem, SDCA(seed=2, tol=1e-3), dual=first.dual)
        anew = run_sdca(problem, SDCA(seed=2, tol=1e-3))
    assert again.n_iter <= anew.n_iter


def test_a_coarser_tolerance_takes_fewer_steps():
    """The next look at the gap is planned for the tolerance, not for a finer one."""
    problem = wide_problem(1, "log")
    runs = [run_sdca(problem, SDCA(tol=tol, seed=1)) for tol in (0.3, 0.05, 0.01, 1e-6)]
    steps = [run.n_iter for run in runs]
    assert steps == sorted(set(steps))


@pytest.mark.parametrize("epochs", [1, 2, 3, 10])
def test_epochs_in_one_go_are_as_many_as_asked_for_and_observed_one_by_one(epochs):
    problem = replace(wide_problem(11, "log", 1e-5), intercept=False)
    solver = SDCA(epochs=epochs, tol=0.0, seed=1)
    assert run_sdca(problem, solver).n_iter == epochs * problem.n
    seen = []
    run_sdca(problem, solver, lambda moment: seen.append(moment.solution.n_iter))
    assert seen == [(1 + k) * problem.n for k in range(epochs)]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n", [100, 120, 124, 126, 149, 151])
def test_nearly_as_many_columns_as_rows_are_solved_by_pairs(intercept, n):
    problem = replace(wide_problem(12, lam=1e-4, n=n), intercept=intercept)
    assert is_wide(problem) == (n < (125 if intercept else 150))
    assert is_wide(replace(problem, X=csr_array(problem.X))) == (n < 100)
    found = run_sdca(problem, SDCA(seed=1, tol=1e-6))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert at.relative_gap <= 1e-6
    C = 1.0 / (problem.lam * n)
    if intercept:
        other = SVC(kernel="linear", C=C, tol=1e-8).fit(problem.X, problem.y)
        alpha = float(other.intercept_[0])
    else:
        same = {"loss": "hinge", "fit_intercept": False, "random_state": 1}
        other = LinearSVC(C=C, tol=1e-8, max_iter=1_000_000, **same)
        other.fit(problem.X, problem.y)
        alpha = 0.0
    theirs = primal(problem, other.coef_.ravel(), alpha)
    assert at.dual_objective <= theirs
    assert at.objective <= theirs + at.gap


def test_few_columns_have_no_pairs():
    problem = wide_problem(13, n=60, p=60)
    assert not is_wide(problem)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_inner_products_of_sparse_rows_are_those_of_scipy(dtype):
    rng = np.random.default_rng(7)
    X = rng.random((90, 300)) * (rng.random((90, 300)) < 0.05)
    X = csr_array(X.astype(dtype))
    found = inner_products(Problem(X, np.ones(90), lam=1.0))
    wide = X.astype(np.float64)
    # Of 15 entries or so in each row; entries are below 1.
    np.testing.assert_allclose(found, (wide @ wide.T).toarray(), rtol=1e-14)
