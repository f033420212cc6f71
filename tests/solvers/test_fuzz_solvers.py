"""Solvers on rare levels, weights, columns off zero and ties, beside other optimisers.

Pegasos is written down here in plain numpy; the optimum of SDCA is that of scipy and
of libsvm; what the solution does not depend on is a law of the problem.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.svm import SVC

import pegasos_stats as ps
from pegasos_stats.checks import (
    check_choice,
    check_count,
    check_flag,
    check_fraction,
    check_nonnegative,
    check_positive,
)
from pegasos_stats.errors import OptionError
from pegasos_stats.solvers.objective import best_intercept, primal
from pegasos_stats.solvers.orders import checked_order, replaced
from pegasos_stats.solvers.pegasos_run import run_pegasos
from pegasos_stats.solvers.refining import run_sdca
from pegasos_stats.studies.compare_results import runs_at_tolerance
from tests.problems import problems

SEEDS = st.integers(0, 2**32 - 1)
NEAR = 1e-7  # of margins to 1: nearer, rounding may decide whether a row is violated
SAME = 1e-8  # sums in another order over some hundred steps


def dense(problem):
    X = problem.X.toarray() if sp.issparse(problem.X) else problem.X
    return X.astype(np.float64)


def literal(problem, batches, project):
    """Every iterate of Pegasos, how many rows were violated, and the slope weights."""
    X, y, w, lam = dense(problem), problem.y, problem.row_weights, problem.lam
    beta, alpha, violations, iterates = np.zeros(problem.p), 0.0, 0, []
    sums = np.zeros(problem.n)
    for t, batch in enumerate(batches, 1):
        m = y[batch] * (X[batch] @ beta + alpha)
        if problem.loss == "hinge":
            assume(np.abs(m - 1.0).min() > NEAR)
            s, out = (m < 1.0).astype(float), m < 1.0
        else:
            assume(t == 1 or np.abs(m).min() > NEAR)
            s, out = expit(-m), m < 0.0
        violations += int(out.sum())
        s = s * w[batch]
        np.add.at(sums, batch, s / len(batch))
        beta = beta - (lam * beta - (s * y[batch]) @ X[batch] / len(batch)) / (lam * t)
        if problem.intercept:
            alpha = alpha + (s * y[batch]).sum() / len(batch) / (lam * t)
        length = np.sqrt(lam) * np.linalg.norm(beta)
        if project and length > 1.0:
            beta = beta / length
        iterates.append(np.concatenate([[alpha], beta]))
    return np.array(iterates), violations, sums


@pytest.mark.fuzz
@given(
    problem=problems(forms=("dense", "sparse"), largest=24),
    seed=SEEDS,
    batch_size=st.sampled_from([1, 2, 5, 100]),
    project=st.booleans(),
    average=st.sampled_from(["none", "all", 1, 2]),
)
@pytest.mark.parametrize("arithmetic", ["reference", "fast"])
def test_pegasos_is_its_definition(
    problem, seed, batch_size, project, average, arithmetic
):
    rng, n = np.random.default_rng(seed), problem.n
    problem = replace(problem, lam=max(problem.lam, 0.05))
    rows = np.array([rng.integers(0, n, n) for _ in range(3)])  # some come twice
    solver = ps.Pegasos(
        order=rows,
        batch_size=batch_size,
        project=project,
        average=average,
        arithmetic=arithmetic,
    )
    batches = [e[k : k + batch_size] for e in rows for k in range(0, n, batch_size)]
    iterates, violations, sums = literal(problem, batches, project)
    found = run_pegasos(problem, solver)
    an_epoch = len(batches) // 3
    last = {"none": 1, "all": len(batches), 1: an_epoch, 2: 2 * an_epoch}[average]
    expected = iterates[-last:].mean(axis=0)
    scale = np.abs(iterates).max()
    np.testing.assert_allclose(
        np.r_[found.alpha, found.beta], expected, atol=SAME * scale
    )
    assert found.n_iter == len(batches)
    assert found.n_violations == violations
    assert found.seed is None
    # beta is X' (a y) / (lam n) while nothing is projected or averaged.
    if not project and average == "none":
        image = (found.dual * problem.y) @ dense(problem) / (problem.lam * n)
        np.testing.assert_allclose(image, found.beta, atol=SAME * scale)
        # scipy's expit is 0 where the slope is below the normal doubles.
        small = np.finfo(float).tiny
        wanted = sums * n / len(batches)
        np.testing.assert_allclose(found.dual, wanted, rtol=SAME, atol=small)


@pytest.mark.fuzz
@given(problem=problems(intercept=True), seed=st.integers(0, 1000))
def test_the_refitted_intercept_is_the_best_one(problem, seed):
    solver = ps.Pegasos(epochs=2, seed=seed)
    plain = run_pegasos(problem, solver)
    again = run_pegasos(problem, replace(solver, refit_intercept=True))
    np.testing.assert_array_equal(again.beta, plain.beta)
    least = primal(problem, again.beta, again.alpha)
    size = 1.0 + abs(again.alpha)
    for step in (-1.0, -1e-2, -1e-4, 1e-4, 1e-2, 1.0):
        beside = primal(problem, again.beta, again.alpha + step * size)
        # The objective itself is rounded at 1e-16 of its size.
        assert least <= beside * (1.0 + 1e-13)
    assert least <= primal(problem, plain.beta, plain.alpha) * (1.0 + 1e-13)


@pytest.mark.fuzz
@given(seed=SEEDS, loss=st.sampled_from(["hinge", "log"]))
def test_the_best_intercept_weighs_its_rows(seed, loss):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 20))
    y = np.where(rng.random(n) < rng.choice([0.1, 0.5, 0.9]), 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    scores = rng.standard_normal(n).round(1) * rng.choice([0.5, 5.0]) - 4.0
    w = rng.integers(0, 4, n).astype(float)
    w[:2] += 1.0
    found = best_intercept(scores, y, loss, w)
    repeated = np.repeat(np.arange(n), w.astype(int))
    once = best_intercept(scores[repeated], y[repeated], loss)
    tolerance = 1e-6 * (1.0 + abs(once))
    if loss == "hinge":
        m = y * (scores + found)
        inside, outside = w[m < 1.0 - 1e-9], w[m < 1.0 + 1e-9]
        up = y[m < 1.0 - 1e-9] @ inside, y[m < 1.0 + 1e-9] @ outside
        # The sub-differential at the minimiser contains zero.
        gains = np.where(np.abs(m - 1.0) <= 1e-9, w, 0.0)
        slope = up[0]
        assert slope + gains[y > 0].sum() >= -1e-9
        assert slope - gains[y < 0].sum() <= 1e-9
    else:
        assert abs((w * y) @ expit(-y * (scores + found))) <= 1e-6 * w.sum()
    assert found == pytest.approx(once, abs=tolerance)
    assert best_intercept(-scores, -y, loss, w) == pytest.approx(-found, abs=tolerance)
    moved = best_intercept(scores + 2.5, y, loss, w)
    assert moved == pytest.approx(found - 2.5, abs=tolerance)


def log_optimum(problem):
    X, y, w = dense(problem), problem.y, problem.row_weights
    size = X.std(axis=0).clip(1e-3)  # scipy's steps want one scale

    def value(theta):
        beta = theta[1:] / size
        alpha = theta[0] * problem.intercept
        m = y * (X @ beta + alpha)
        g = -(w * y * expit(-m)) / problem.n
        slope = np.r_[g.sum() * problem.intercept, (g @ X + problem.lam * beta) / size]
        risk = w @ np.logaddexp(0.0, -m) / problem.n
        return 0.5 * problem.lam * beta @ beta + risk, slope

    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-9}
    start = np.zeros(problem.p + 1)
    return minimize(value, start, jac=True, method="L-BFGS-B", options=options).fun


SDCA = ps.SDCA(tol=1e-6, epochs=5000, seed=1)


@pytest.mark.fuzz
@given(problem=problems(losses=("log",), forms=("dense", "sparse")))
def test_the_logistic_optimum_is_that_of_scipy(problem):
    problem = replace(problem, lam=max(problem.lam, 0.05))
    found = run_sdca(problem, SDCA, warn=False)
    at, least = primal(problem, found.beta, found.alpha), log_optimum(problem)
    assert at == pytest.approx(least, rel=3e-6)


@pytest.mark.fuzz
@given(problem=problems(losses=("hinge",), forms=("dense",), intercept=True))
def test_the_hinge_optimum_is_that_of_libsvm(problem):
    problem = replace(problem, lam=max(problem.lam, 0.05))
    found = run_sdca(problem, SDCA, warn=False)
    w = problem.row_weights
    peer = SVC(kernel="linear", C=1.0 / (problem.lam * problem.n), tol=1e-6)
    used = w > 0.0  # libsvm leaves them out too
    peer.fit(problem.X[used], problem.y[used], sample_weight=w[used])
    beta = peer.coef_[0]
    alpha = best_intercept(problem.X @ beta, problem.y, "hinge", w)
    least = primal(problem, beta, alpha)
    at = primal(problem, found.beta, found.alpha)
    assert at <= (1.0 + 2e-6) * least  # certified to 1e-6 of itself
    # libsvm ends with a violation of at most tol, and a gap of at most tol mean a_i;
    # its rows of the Gram matrix are of single precision.
    assert at >= least - max(1e-6, 1e-4 * least)


@pytest.mark.fuzz
@given(problem=problems(), seed=SEEDS)
def test_the_least_objective_follows_the_laws_of_the_problem(problem, seed):
    """Rows in any order, levels exchanged, columns shifted, other units: one number."""
    problem = replace(problem, lam=max(problem.lam, 0.05))
    rng = np.random.default_rng(seed)
    order = rng.permutation(problem.n)
    w = problem.weights
    same = [
        replace(
            problem,
            X=problem.X[order],
            y=problem.y[order],
            weights=None if w is None else w[order],
        ),
        replace(problem, y=-problem.y),
        replace(problem, X=4.0 * problem.X, lam=16.0 * problem.lam),
        replace(problem, X=-problem.X),
    ]
    if problem.intercept and not sp.issparse(problem.X):
        same.append(replace(problem, X=problem.X - np.float32(2.0)))
    found = run_sdca(problem, SDCA, warn=False)
    least = primal(problem, found.beta, found.alpha)
    for other in same:
        at = run_sdca(other, SDCA, warn=False)
        # Each is within 1e-6 of its least value; in 24 bits a shift rounds the rows.
        assert primal(other, at.beta, at.alpha) == pytest.approx(least, rel=5e-6)


CHECKS = {
    check_positive: ([5e-324, 1, np.float32(2), 1.7e308], [0, -5e-324, np.inf, np.nan]),
    check_nonnegative: ([0, 0.0, 5e-324, 1.7e308], [-5e-324, np.inf, np.nan]),
    check_fraction: ([5e-324, 0.5, 1.0 - 1e-16], [0, 1, 0.0, 1.0, 1.5, np.nan]),
    check_count: ([1, np.int8(3), 2**31 - 1], [0, -1, 1.0, np.inf]),
    check_flag: ([True, False, np.True_], [0, 1, "yes", None, np.nan]),
}
SENTENCE = {
    check_positive: "a finite number above zero",
    check_nonnegative: "a finite number, 0 or more",
    check_fraction: "a number between 0 and 1",
    check_count: "a whole number above zero",
    check_flag: "True or False",
}


@pytest.mark.parametrize("check", CHECKS)
def test_checks_end_where_they_say(check):
    allowed, refused = CHECKS[check]
    for value in allowed:
        found = check("name", value)
        if found is not None:
            kind = int if check is check_count else float
            assert found == value
            assert type(found) is kind
    booleans = [] if check is check_flag else [True, np.False_]
    for value in [*refused, *booleans, "1", [1.0], 1j]:
        with pytest.raises(OptionError) as caught:
            check("name", value)
        shown = value.item() if isinstance(value, np.generic) else value
        said = f"name={shown!r} is not allowed; give {SENTENCE[check]}."
        assert str(caught.value) == said
    if check is check_count:
        with pytest.raises(OptionError, match=r"=2147483648 .* from 1 to 2147483647"):
            check("name", 2**31)


def test_a_choice_is_one_of_the_texts():
    check_choice("name", "b", ("a", "b"))
    for value in ("c", "", None, 1):
        with pytest.raises(OptionError) as caught:
            check_choice("name", value, ("a", "b"))
        assert (
            str(caught.value) == f"name={value!r} is not known; give one of 'a', 'b'."
        )


@pytest.mark.parametrize("n", [1, 3, 7])
@pytest.mark.parametrize("batch_size", [1, 2, 7, 9])
@pytest.mark.parametrize("steps", [1, 4, 11])
def test_draws_are_made_for_every_step_and_no_more(n, batch_size, steps):
    rng, step_by_step = ps.RRandom(3), ps.RRandom(3)
    parts = list(replaced(n, steps, batch_size, rng))
    expected = [
        step_by_step.sample_int(n, batch_size, replace=True) - 1 for _ in range(steps)
    ]
    np.testing.assert_array_equal(np.concatenate(parts), np.concatenate(expected))
    assert (rng.get_state() == step_by_step.get_state()).all()
    assert all(part.size % batch_size == 0 for part in parts)
    assert max(part.size for part in parts) <= max(n, batch_size)
    solver = ps.Pegasos.paper(steps=steps, batch_size=batch_size)
    assert solver.passes.count(n) == len(parts)
    assert solver.epochs is None


def test_given_rows_are_kept_as_they_are_and_cannot_be_changed():
    given_rows = np.array([[2, 0], [1, 1]], dtype=np.uint8)
    rows = checked_order(given_rows)
    assert rows.dtype == np.int64
    np.testing.assert_array_equal(rows, given_rows)
    with pytest.raises(ValueError, match="read-only"):
        rows[0, 0] = 1
    assert checked_order(np.array([2**62 - 1])).max() == 2**62 - 1
    with pytest.raises(OptionError, match=f"holds the row {2**62}; rows are counted"):
        checked_order(np.array([0, 2**62]))
    with pytest.raises(OptionError, match="holds the row -1; rows are counted"):
        checked_order([0, -1])


def test_a_batch_is_no_larger_than_what_there_is():
    assert ps.Pegasos(batch_size=9).passes.batch(4) == 4
    assert ps.Pegasos(batch_size=3).passes.batch(4) == 3
    drawn = ps.Pegasos.paper(steps=2, batch_size=9)
    assert drawn.passes.batch(4) == 9  # rows may come twice
    lists = ps.Pegasos(order=[[0, 1, 2], [2, 1, 0]], batch_size=9)
    assert lists.passes.batch(100) == 3


def test_the_last_epochs_are_averaged_and_no_others():
    two = ps.Pegasos(order=[[0, 1], [1, 0]], epochs=3, average=4)
    assert two.passes.count(2) == 6
    assert [two.averages(e) for e in range(6)] == [False] * 2 + [True] * 4
    assert ps.Pegasos(order=[[0, 1], [1, 0]], epochs=3, average=6).averages(0)
    assert ps.Pegasos(average="all").averages(0)
    assert not ps.Pegasos(average="none").averages(19)
    with pytest.raises(OptionError, match=r"^average=7 asks for more epochs than"):
        ps.Pegasos(order=[[0, 1], [1, 0]], epochs=3, average=7)


def test_a_solver_says_what_is_not_plain():
    plain = ps.Pegasos()
    assert (plain.options, plain.order_name) == ("", "shuffle, 20 epochs")
    every = ps.Pegasos(
        order=[0, 1],
        batch_size=2,
        project=True,
        average=1,
        refit_intercept=True,
        arithmetic="fast",
    )
    words = "projected, average 1, intercept refitted, fast arithmetic"
    assert every.options == words
    assert every.order_name == "given rows, 1 epoch, batches of 2"
    assert ps.Pegasos.paper(steps=3).order_name == "replace"
    used = {"shuffle": True, "sequential": False}
    assert {o: ps.Pegasos(order=o).uses_random_numbers for o in used} == used
    assert ps.Pegasos.paper(steps=3).uses_random_numbers
    assert not every.uses_random_numbers


def record(*last):
    """Two epochs of each run, whose last has this gap of an objective of 2."""
    lines = [
        {"run": run, "epoch": e, "gap": gap if e == end else 9.0, "objective": 2.0}
        for run, (end, gap) in enumerate(last, 1)
        for e in range(end - 1, end + 1)
    ]
    return pd.DataFrame(lines)


def test_runs_reach_a_tolerance_by_their_gap_or_by_ending_early():
    runs = record((5, 0.2), (5, 0.2 + 1e-9), (4, 0.5), (5, 0.3))
    relative = ps.SDCA(epochs=5, tol=0.1)
    assert runs_at_tolerance(runs, relative) == 2
    absolute = ps.SDCA(epochs=5, tol=0, gap_tol=0.3)
    assert runs_at_tolerance(runs, absolute) == 4
    either = ps.SDCA(epochs=5, tol=0.1, gap_tol=0.1)
    assert runs_at_tolerance(runs, either) == 2
    both = ps.SDCA(epochs=5, tol=0.01, gap_tol=0.25)
    assert runs_at_tolerance(runs, both) == 3
    assert runs_at_tolerance(runs, ps.SDCA(epochs=5, tol=0)) is None
    assert runs_at_tolerance(runs, ps.Pegasos(epochs=5)) is None
