"""Every Pegasos kernel against the definition, the reference ones bit for bit."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from pegasos_stats.arrays import read_only
from pegasos_stats.compiled.pegasos import (
    VIOLATIONS,
    StepRule,
    begin,
    block_epoch,
    iterate,
    literal_epoch,
    pegasos_epoch,
    scaled_epoch,
    sparse_epoch,
    start,
)
from pegasos_stats.compiled.risk import Loss, slope
from pegasos_stats.compiled.rows import CSR
from pegasos_stats.solvers.sums import kernel_rows

pytestmark = pytest.mark.slow

FAST = 1e-10  # what the fast arithmetic promises; rounding alone is some 1e-13
EXP = 1e-12  # log loss: sums of exponentials that differ in the last place


def definition(X, y, epochs, lam, loss, k, intercept, project, average):
    """Pegasos as the paper writes it, one operation after the other."""
    beta, alpha, t = np.zeros(X.shape[1]), 0.0, 0
    sums, alphas = np.zeros(X.shape[1]), 0.0
    for rows in epochs:
        for first in range(0, len(rows), k):
            batch = rows[first : first + k]
            t += 1
            eta = 1.0 / (lam * t)
            g, h = np.zeros(X.shape[1]), 0.0
            for i in batch:
                score = 0.0
                for j in range(X.shape[1]):
                    score += float(X[i, j]) * beta[j]
                s = slope(int(loss), y[i] * (score + alpha))
                g = g + (s * y[i]) * X[i].astype(float)
                h = h + s * y[i]
            beta = beta - eta * (lam * beta - g / len(batch))
            if intercept:
                alpha = alpha + eta * (h / len(batch))
            if project:
                norm2 = 0.0
                for b in beta:
                    norm2 += b * b
                limit = 1.0 / np.sqrt(lam)
                if np.sqrt(norm2) > limit:
                    beta = (limit / np.sqrt(norm2)) * beta
            sums, alphas = sums + beta, alphas + alpha
    return (sums / t, alphas / t) if average else (beta, alpha)


def problem(n, p, seed, digits=1):
    """Rounded normals: with few digits many margins are exactly 1."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, p)), digits)
    y = np.where(X @ rng.standard_normal(p) + rng.standard_normal(n) > 0, 1, -1)
    return X, y.astype(np.int8), [rng.permutation(n) for _ in range(3)]


def sparse(X):
    return kernel_rows(csr_array(X))


def run(X, y, epochs, lam, p, average=False, **options):
    values = X.data if isinstance(X, CSR) else X
    radius = np.sqrt(p) * np.abs(values).max(initial=0.0)  # no less than the largest
    state = start(len(y), p, radius, options.get("batch_size", 1))
    rule = StepRule(lam, average=average, **options)
    for rows in epochs:
        pegasos_epoch(X, y, rows, rule, state)
    return state, iterate(state)


def assert_close(got, want, rtol):
    scale = max(np.abs(want[0]).max(), 1e-300)
    assert np.abs(got[0] - want[0]).max() <= rtol * scale
    assert got[1] == pytest.approx(want[1], rel=rtol, abs=rtol)


def assert_same_bits(got, want):
    np.testing.assert_array_equal(got[0], want[0])
    assert got[1] == want[1]


OPTIONS = list(
    itertools.product(Loss, (1, 5, 100), (True, False), (False, True), (False, True))
)


@pytest.mark.parametrize("lam", [1.0, 1e-3])
@pytest.mark.parametrize(("loss", "k", "intercept", "project", "average"), OPTIONS)
def test_every_option_is_the_definition(loss, k, intercept, project, average, lam):
    if loss == Loss.SQUARED_HINGE and lam < 1.0:
        lam = 5.0  # its slopes have no bound: steps of 1 / (lam t) grow without end
    for n, p in ((37, 3), (50, 21), (23, 1)):
        X, y, epochs = problem(n, p, seed=n)
        want = definition(X, y, epochs, lam, loss, k, intercept, project, average)
        options = {"loss": int(loss), "batch_size": k, "intercept": intercept}
        options |= {"project": project, "average": average}
        got = run(X, y, epochs, lam, p, **options)[1]
        if loss == Loss.HINGE:
            assert_same_bits(got, want)
        assert_close(got, want, EXP)
        for rows, fast in ((X, True), (sparse(X), False), (sparse(X), True)):
            got = run(rows, y, epochs, lam, p, fast=fast, **options)[1]
            assert_close(got, want, FAST)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(1, 70),
    p=st.integers(1, 70),
    digits=st.integers(0, 2),
    lam=st.sampled_from([2.0, 1.0, 0.5, 0.1, 1e-2, 1e-4, 1e-8]),
    intercept=st.booleans(),
)
def test_margins_near_one_have_the_bits_of_the_definition(
    seed, n, p, digits, lam, intercept
):
    X, y, epochs = problem(n, p, seed, digits)
    want = definition(X, y, epochs, lam, Loss.HINGE, 1, intercept, False, False)
    got = run(X, y, epochs, lam, p, intercept=intercept)[1]
    assert_same_bits(got, want)


def test_margins_of_exactly_one_are_decided_as_written():
    # beta = 1 after the first step at lam = 1, so the margin of a row of 1 is 1
    X, y = np.ones((9, 1)), np.ones(9, dtype=np.int8)
    rows = np.arange(9)
    for fast in (False, True):
        state, (beta, alpha) = run(X, y, [rows], 1.0, 1, intercept=False, fast=fast)
        want = definition(X, y, [rows], 1.0, Loss.HINGE, 1, False, False, False)
        assert_close((beta, alpha), want, FAST)
        assert state.scalars[VIOLATIONS] == round(beta[0] * 9)


@pytest.mark.parametrize("lam", [1e-3, 1e-12])
def test_bits_where_the_rounding_bound_is_wide(lam):
    X, y, epochs = problem(60, 300, seed=5, digits=8)
    X[7] *= 1e6
    want = definition(X, y, epochs, lam, Loss.HINGE, 1, True, False, False)
    assert_same_bits(run(X, y, epochs, lam, 300)[1], want)


NONE = read_only(np.zeros(0))


def plain_problem(dtype, digits, weighted, offset, seed):
    """Rows, labels, and states with or without case weights and an offset."""
    X, y, epochs = problem(203, 13, seed, digits)
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.0, 0.5, 1.0, 7.0], len(y)) if weighted else None
    known = offset * rng.standard_normal(len(y)) if offset else None
    X = X.astype(dtype)
    radius = float(np.sqrt((X.astype(float) ** 2).sum(axis=1).max()))
    states = [start(len(y), 13, radius, 1, weights, known) for _ in range(2)]
    # as `pegasos_epoch` passes them, so that no kernel is compiled for another type
    return read_only(X), y, read_only(np.concatenate(epochs)), states


def assert_same_states(states):
    for name in ("w", "weights", "scalars"):
        np.testing.assert_array_equal(*(getattr(state, name) for state in states))


@pytest.mark.parametrize("lam", [1.0, 1e-6])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("dtype", "digits"), [("f8", 0), ("f8", 8), ("f4", 8)])
def test_blocks_of_four_have_the_bits_of_single_steps(
    dtype, digits, weighted, offset, intercept, lam
):
    X, y, rows, states = plain_problem(dtype, digits, weighted, offset, seed=digits)
    rule = StepRule(lam, intercept=intercept)
    literal_epoch(X, y, rows, rule, NONE, states[0])
    block_epoch(X, y, rows, rule, states[1])
    assert_same_states(states)


@pytest.mark.parametrize("loss", list(Loss))
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_of_four_are_single_steps_in_fast_arithmetic(loss, weighted):
    lam = 5.0 if loss == Loss.SQUARED_HINGE else 1e-3
    X, y, rows, states = plain_problem("f8", 8, weighted, 1.0, seed=3)
    rule = StepRule(lam, int(loss), fast=True)
    scaled_epoch(X, y, rows, rule, NONE, states[0])
    block_epoch(X, y, rows, rule, states[1])
    assert_close(iterate(states[1]), iterate(states[0]), FAST)
    largest = states[0].weights.max()
    np.testing.assert_allclose(*(s.weights / largest for s in states), atol=FAST)
    assert states[1].scalars[VIOLATIONS] == states[0].scalars[VIOLATIONS]


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_plain_steps_of_sparse_rows_have_the_bits_of_the_general_loop(
    weighted, intercept, exact
):
    X, y, rows, states = plain_problem("f8", 0, weighted, 1.0, seed=4)
    X = sparse(X)
    for state in states:
        begin(state, np.linspace(-1.0, 1.0, 13), 0.5, 0.0)
    rule = StepRule(1e-3, intercept=intercept, fast=not exact)
    scaled_epoch(X, y, rows, rule, NONE, states[0])
    sparse_epoch(X, y, rows, rule, states[1])
    assert_same_states(states)


def test_projection_with_a_tiny_penalty_neither_underflows_nor_drifts():
    X, y, epochs = problem(400, 5, seed=8)
    for rows, fast in ((X, False), (X, True), (sparse(X), False)):
        for average in (False, True):
            want = definition(X, y, epochs, 1e-9, Loss.HINGE, 1, True, True, average)
            options = {"project": True, "average": average, "fast": fast}
            assert_close(run(rows, y, epochs, 1e-9, 5, **options)[1], want, FAST)


def numbers_of_every_kernel():
    """For `test_without_numba`."""
    X, y, epochs = problem(33, 6, seed=9)
    out = []
    for rows, fast in ((X, False), (X, True), (sparse(X), False), (sparse(X), True)):
        for options in ({}, {"loss": int(Loss.LOG), "batch_size": 4, "project": True}):
            beta, alpha = run(rows, y, epochs, 0.1, 6, fast=fast, **options)[1]
            out += [*beta, alpha]
    return [float(number) for number in out]
