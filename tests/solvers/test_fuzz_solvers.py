"""Solvers on rare levels, weights, columns off zero and ties, beside other optimisers.

Pegasos is written down here in plain numpy; the optimum of Optimum is that of scipy and
of libsvm; what the solution does not depend on is a law of the problem.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit

import pegasos_stats as ps
from pegasos_stats.checks import (
    check_count,
    check_flag,
    check_fraction,
    check_nonnegative,
    check_positive,
)
from pegasos_stats.errors import OptionError
from pegasos_stats.solvers.certificate import primal
from pegasos_stats.solvers.optimum_run import run_to_optimum
from pegasos_stats.solvers.pegasos_run import run_pegasos
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
    if average == "none":  # beta is X' (a y) / (lam n)
        image = (found.dual * problem.y) @ dense(problem) / (problem.lam * n)
        np.testing.assert_allclose(image, found.beta, atol=1e-10 * scale)
    if average == "none" and not project:
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


OPTIMUM = ps.Optimum(tol=1e-6, epochs=5000, seed=1)


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
    found = run_to_optimum(problem, OPTIMUM, warn=False)
    least = primal(problem, found.beta, found.alpha)
    for other in same:
        at = run_to_optimum(other, OPTIMUM, warn=False)
        # Each is within 1e-6 of its least value; in 24 bits a shift rounds the rows.
        assert primal(other, at.beta, at.alpha) == pytest.approx(least, rel=5e-6)


CHECKS = {
    check_positive: ([5e-324, 1, np.float32(2), 1.7e308], [0, -5e-324, np.inf, np.nan]),
    check_nonnegative: ([0, 0.0, 5e-324, 1.7e308], [-5e-324, np.inf, np.nan]),
    check_fraction: ([5e-324, 0.5, 1.0 - 1e-16], [0, 1, 0.0, 1.0, 1.5, np.nan]),
    check_count: ([1, np.int8(3), 2**31 - 1], [0, -1, 1.0, np.inf]),
    check_flag: ([True, False, np.True_], [0, 1, "yes", None, np.nan]),
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
        shown = value.item() if isinstance(value, np.generic) else value
        with pytest.raises(OptionError, match=f"^name={re.escape(repr(shown))} "):
            check("name", value)
    if check is check_count:
        with pytest.raises(OptionError, match=r"=2147483648 .* 2147483647"):
            check("name", 2**31)
