"""Coordinate steps that leave out rows: the hinge without intercept."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse import random as random_sparse
from sklearn.svm import LinearSVC

from pegasos_stats.compiled import dual
from pegasos_stats.compiled.dual.shrinking import (
    COUNT,
    SEED,
    passes,
    shrunk_passes,
    shuffle,
    whole_passes,
)
from pegasos_stats.solvers.objective import certificate, primal
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.refining import run_sdca
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_coordinates import Plain
from pegasos_stats.solvers.shrinking import FEWEST, LEAST_COLUMNS, PASSES, Shrinking

ROUNDING = 1e-12


def sparse_problem(seed, lam=1e-3, n=150, p=400, noise=1.0, **given):
    rng = np.random.default_rng(seed)
    X = csr_array(random_sparse(n, p, 0.05, "csr", None, rng, rng.standard_normal))
    score = X @ rng.standard_normal(p) + noise * rng.standard_normal(n)
    y = np.where(score > 0.0, 1.0, -1.0)
    return Problem(X, y, lam, "hinge", False, **given)


def solved(problem, tol, seed=1):
    steps = Shrinking(Plain(problem, SDCA(seed=seed), None), SDCA(tol=tol, seed=seed))
    for _ in range(500):
        if steps.gap.relative_gap <= tol:
            return steps
        steps.step()
    raise AssertionError(steps.gap)


@pytest.mark.parametrize("lam", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("n", [80, 600])
def test_the_optimum_is_that_of_liblinear(lam, n):
    problem = sparse_problem(1, lam, n)
    at = certificate(problem, *solved(problem, 1e-8).best())
    assert at.relative_gap <= 1e-8 + ROUNDING
    same = {"loss": "hinge", "dual": True, "fit_intercept": False}
    C = 1.0 / (lam * n)
    other = LinearSVC(C=C, tol=1e-9, max_iter=100_000, random_state=1, **same)
    beta = other.fit(problem.X, problem.y).coef_.ravel()
    assert at.objective <= primal(problem, beta, 0.0) + at.gap


def test_rows_left_out_come_back_and_the_dual_never_falls():
    problem = sparse_problem(2, n=300)
    n, rows = problem.n, np.arange(problem.n)
    state = dual.sdca.start(problem.rows, problem.p, problem.row_weights, True)
    numbers, before, fewest = passes(n, 5), 0.0, n
    for _ in range(40):
        given = problem.rows, problem.y, rows, problem.lam, 1.0
        ended = shrunk_passes(*given, 1e-6, state, numbers)
        assert sorted(rows) == list(range(n))
        assert state.a.min() >= 0.0
        assert state.a.max() <= 1.0
        reached = state.a.mean() - problem.lam / 2.0 * (state.w @ state.w)
        assert reached >= before - ROUNDING
        before, fewest = reached, min(fewest, int(numbers[COUNT]))
        if ended:
            assert numbers[COUNT] == n
    assert fewest < n
    image = problem.X.T @ (state.a * problem.y) / (problem.lam * n)
    # 40 passes of 300 updates, each with the rounding of numbers of order 10
    np.testing.assert_allclose(state.w[: problem.p], image, atol=1e-10)


def test_weights_of_rows_bound_their_dual_weights():
    rng = np.random.default_rng(3)
    w = rng.exponential(size=150)
    w[::7] = 0.0
    problem = sparse_problem(3, 1e-2, weights=w / w.mean())
    beta, _, a = solved(problem, 1e-8).best()
    assert (a <= problem.row_weights).all()
    assert not a[::7].any()
    assert certificate(problem, beta, 0.0, a).relative_gap <= 1e-8 + ROUNDING


def test_a_row_of_zeros_has_its_full_weight():
    problem = sparse_problem(4)
    X = problem.X.toarray()
    X[:3] = 0.0
    problem = Problem(csr_array(X), problem.y, problem.lam, "hinge", False)
    _, _, a = solved(problem, 1e-6).best()
    np.testing.assert_array_equal(a[:3], 1.0)


def test_the_seed_repeats_the_steps():
    problem = sparse_problem(5)
    one, two, other = (solved(problem, 1e-6, seed).best()[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("form", ["sparse", "dense", "float32"])
@pytest.mark.parametrize("n", [150, 600])
@pytest.mark.parametrize("lam", [1e-2, 1e-5])
@pytest.mark.parametrize("noise", [0.0, 3.0])
def test_a_run_reaches_its_tolerance(form, n, lam, noise):
    given = sparse_problem(6, lam, n, noise=noise)
    X = given.X if form == "sparse" else given.X.toarray()
    X = X.astype(np.float32) if form == "float32" else X
    problem = Problem(X, given.y, lam, "hinge", False)
    found = run_sdca(problem, SDCA(seed=1))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert at.relative_gap <= 1e-6


def test_newton_steps_follow_where_passes_would_take_long():
    problem = sparse_problem(7, 1e-5, n=2000, p=LEAST_COLUMNS, noise=3.0)
    assert Shrinking.serves(problem)
    found = run_sdca(problem, SDCA(seed=1))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert at.relative_gap <= 1e-6
    assert found.n_iter < 2 * PASSES * problem.n


def test_passes_go_on_where_newton_steps_would_take_long():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((400, 300))
    y = np.where(X[:, :10].sum(1) > 0.0, 1.0, -1.0)
    problem = Problem(X, y, 1e-5, "hinge", False)  # rows that can be separated
    found = run_sdca(problem, SDCA(seed=1))
    at = certificate(problem, found.beta, found.alpha, found.dual)
    assert at.relative_gap <= 1e-6
    assert found.n_iter > 2 * PASSES * problem.n


@pytest.mark.parametrize(
    ("serves", "changed"),
    [
        (True, {}),
        (False, {"p": LEAST_COLUMNS - 1}),
        (False, {"offset": np.full(150, 0.1)}),
        (False, {"lam": 1e-160}),
    ],
)
def test_which_problems_are_served(serves, changed):
    assert Shrinking.serves(sparse_problem(9, **changed)) is serves


def test_few_dense_rows_have_pairs():
    given = sparse_problem(9)
    dense = Problem(given.X.toarray(), given.y, given.lam, "hinge", False)
    assert not Shrinking.serves(dense)


def test_a_step_visits_no_more_than_is_left_to_the_tolerance():
    problem = sparse_problem(8, 1e-4, n=600, noise=3.0)
    steps = Shrinking(Plain(problem, SDCA(seed=1), None), SDCA(tol=1e-6, seed=1))
    shares = []
    while steps.gap.relative_gap > 1e-6:
        before = float(steps._state.scalars[dual.sdca.STEPS])
        most = max(FEWEST, steps.left()) if steps.looks > 1 else PASSES
        steps.step()
        visits = float(steps._state.scalars[dual.sdca.STEPS]) - before
        # the pass in which the visits come to their limit is ended
        assert visits < (min(PASSES, most) + 1.0) * problem.n
        shares.append(most / PASSES)
    assert min(shares) < 1.0


def test_whole_passes_are_epochs_in_an_order_of_their_own():
    problem = sparse_problem(9)
    n, count, loss = problem.n, 3, int(problem.loss_code)
    given = problem.rows, problem.y.astype(np.int8)
    state, other = (
        dual.sdca.start(problem.rows, problem.p, problem.row_weights, True)
        for _ in range(2)
    )
    rows, numbers, order = np.arange(n), passes(n, 5), np.arange(n)
    whole_passes(*given, rows, problem.lam, loss, count, numbers, state)
    seed, orders = int(passes(n, 5)[SEED]), []
    for _ in range(count):
        seed = shuffle(order, n, seed)
        orders.append(order.copy())
        dual.sdca.sdca_epoch(*given, order, problem.lam, other, loss=loss, fast=True)
    assert numbers[SEED] == seed
    assert all(sorted(each) == list(range(n)) for each in orders)
    assert not np.array_equal(orders[0], orders[1])
    np.testing.assert_array_equal(state.a, other.a)
    np.testing.assert_array_equal(state.w, other.w)
    np.testing.assert_array_equal(state.scalars, other.scalars)
