"""What rounding may do to margins, against exact arithmetic."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos_stats import compiled
from pegasos_stats.solvers.rounding import Rounding
from tests.problems import problems
from tests.solvers.exactly import fractions

SIGNS = pytest.mark.parametrize("sign", [-1.0, 1.0])


def off_by(problem, beta, alpha):
    """How far the computed scores are from those of exact arithmetic, at most."""
    known = np.zeros(problem.n) if problem.offset is None else problem.offset
    found = compiled.risk.scores(problem.X, beta, alpha) + known
    exact = fractions(problem.X) @ fractions(beta) + Fraction(alpha) + fractions(known)
    return float(np.abs(fractions(found) - exact).max())


def far_from_zero(problem, seed, away, sign, has_offset):
    """The problem with columns far away, and a line whose scores are small again."""
    rng = np.random.default_rng(seed)
    X = problem.X + away * sign
    beta = rng.uniform(0.5, 1.5, problem.p)
    alpha = -float((X @ beta).mean())
    offset = None
    if has_offset:  # it takes most of the scores, and the intercept none
        offset, alpha = alpha + rng.standard_normal(problem.n), 0.0
    return replace(problem, X=X, offset=offset), beta, alpha


@SIGNS
@pytest.mark.parametrize("has_offset", [False, True])
@given(problem=problems(forms=["dense"]), seed=st.integers(0, 99))
def test_scores_are_rounded_by_no_more_than_the_reach(problem, seed, sign, has_offset):
    """Columns on either side of zero, which the intercept or the offset takes away."""
    for away in (0.0, 1e3, 1e9):
        far, beta, alpha = far_from_zero(problem, seed, away, sign, has_offset)
        reach = Rounding(far, beta, alpha).reach
        assert 0.0 <= off_by(far, beta, alpha) <= reach
