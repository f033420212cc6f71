"""Tests of hypotheses, of estimates drawn at random: statsmodels and algebra."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.base.model import LikelihoodModelResults

from pegasos_stats.data.language.hypotheses import constraints
from pegasos_stats.models.inference.wald import wald_test
from tests.models.peers import t_test

pytestmark = pytest.mark.fuzz

SAME = 1e-9  # the same sums in another order, of numbers that cancel in part
SEEDS = st.integers(0, 2**32 - 1)


def estimated(seed, k):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((k + 2, k))
    return rng.standard_normal(k) - 1.0, A.T @ A, rng


@given(seed=SEEDS, k=st.integers(1, 5), df=st.sampled_from([3.0, 40.0, np.inf]))
def test_tests_are_those_of_statsmodels(seed, k, df):
    theta, V, rng = estimated(seed, k)
    assume(np.linalg.cond(V) < 1e6)
    R = rng.standard_normal((rng.integers(1, k + 1), k))
    q = rng.standard_normal(len(R))
    assume(np.linalg.cond(R @ V @ R.T) < 1e6)
    named = SimpleNamespace(data=SimpleNamespace(cov_names=[f"x{i}" for i in range(k)]))
    results = LikelihoodModelResults(named, theta, normalized_cov_params=V)
    results.use_t, results.df_resid = bool(np.isfinite(df)), df
    level = float(rng.uniform(0.5, 0.999))
    one, each = results.t_test((R, q)), t_test(theta, V, R, q, df, level)
    np.testing.assert_allclose(each.estimate, R @ theta, rtol=SAME, atol=SAME)
    np.testing.assert_allclose(each.statistic, one.tvalue.ravel(), rtol=1e-8)
    np.testing.assert_allclose(each.p_value, one.pvalue, rtol=1e-6, atol=1e-300)
    limits = np.column_stack([each.conf_low, each.conf_high])
    np.testing.assert_allclose(limits, one.conf_int(1.0 - level), rtol=1e-7, atol=1e-9)
    joint, found = results.wald_test((R, q), scalar=True), wald_test(theta, V, R, q, df)
    assert found.statistic == pytest.approx(joint.statistic, rel=1e-7)
    assert found.pvalue == pytest.approx(joint.pvalue, rel=1e-5, abs=1e-300)
    assert (found.df_num, found.df_denom) == (len(R), df)


@given(seed=SEEDS)
def test_a_joint_test_asks_for_the_subspace_and_not_its_rows(seed):
    theta, V, rng = estimated(seed, 4)
    R = rng.standard_normal((2, 4))
    mixed = rng.standard_normal((3, 2))
    assume(np.linalg.cond(mixed) < 50 and np.linalg.cond(R @ V @ R.T) < 1e4)
    q = rng.standard_normal(2)
    once, again = wald_test(theta, V, R, q), wald_test(theta, V, mixed @ R, mixed @ q)
    assert once.df_num == again.df_num == 2
    assert again.statistic == pytest.approx(once.statistic, rel=1e-6)


def in_words(row, names):
    parts = [(c, name) for c, name in zip(row, names, strict=True) if c]
    said = "".join(f" {'-' if c < 0 else '+'} {abs(c):g} * {n}" for c, n in parts)
    return said.removeprefix(" + ").strip()


@given(seed=SEEDS, names=st.permutations(["a", "b", "a:b", "C(g)[T.x]", "e1"]))
def test_hypotheses_in_words_are_their_matrix(seed, names):
    rng = np.random.default_rng(seed)
    R = rng.integers(-3, 4, (2, 5)).astype(float)
    q = rng.integers(0, 6, 2) / 4.0
    assume(np.linalg.matrix_rank(R) == 2)
    left = [in_words(row, names) for row in R]
    sides = [f"{a} = {b:g}" for a, b in zip(left, q, strict=True)]
    for said in (", ".join(sides), sides, dict(zip(left, q, strict=True)), (R, q)):
        found = constraints(said, names)
        np.testing.assert_array_equal(found[0], R)
        np.testing.assert_array_equal(found[1], q)
    moved = [f"{a} - {b:g} = 0" for a, b in zip(left, q, strict=True)]
    np.testing.assert_array_equal(constraints(moved, names)[1], q)
    chain = constraints(f"{left[0]} = {left[1]} = {q[0]:g}", names)
    np.testing.assert_array_equal(chain[0], [R[0] - R[1], R[1]])
    np.testing.assert_array_equal(chain[1], [0.0, q[0]])


def test_contradictions_are_told_from_what_follows():
    names = ["a", "b", "c"]
    rows = [np.array(v, dtype=float) for v in ((1, 2, 0), (0, 1, -1), (1, 3, -1))]
    for i, j, k in combinations(range(3), 3):
        R = np.array([rows[i], rows[j], rows[k]])
        assert constraints((R, [1.0, 2.0, 3.0]), names)[0].shape == (3, 3)
        with pytest.raises(Exception, match="contradict each other"):
            constraints((R, [1.0, 2.0, 3.5]), names)
