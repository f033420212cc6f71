"""Certificates of problems with an offset, in exact arithmetic; and their optimum."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from pegasos_stats.errors import OptionError
from pegasos_stats.solvers.certificate import feasible
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.solver_runs import certificate_of, run_linear
from tests.solvers.exactly import both_objectives
from tests.solvers.solved import solved

LOSSES = pytest.mark.parametrize("loss", ["hinge", "log"])
BOTH = pytest.mark.parametrize("intercept", [True, False])
FORMS = pytest.mark.parametrize("form", ["dense", "float32", "sparse", "wide"])


def drawn(loss="hinge", intercept=True, form="dense", lam=0.02):
    rng = np.random.default_rng(12)
    n, p = (12, 30) if form == "wide" else (40, 3)
    X = rng.normal(size=(n, p)).astype(np.float32 if form == "float32" else float)
    offset = 1.5 * rng.normal(size=n) - 0.4
    y = np.where(X[:, 0] + offset + rng.normal(size=n) > 0.3, 1.0, -1.0)
    w = rng.integers(0, 4, n) + 0.5
    X = csr_array(np.where(np.abs(X) > 0.6, X, 0.0)) if form == "sparse" else X
    given = {"weights": w / w.mean(), "offset": offset}
    return Problem(X, y, lam, loss, intercept, **given)


@LOSSES
@BOTH
@FORMS
def test_certificates_hold_in_exact_arithmetic(loss, intercept, form):
    problem = drawn(loss, intercept, form)
    found, at = solved(problem, Optimum(tol=1e-9, seed=3))
    a = feasible(found.dual, problem.y, intercept, problem.weights)
    primal, dual = both_objectives(problem, found.beta, found.alpha, a)
    assert at.relative_gap <= 1e-9
    assert dual <= primal
    assert Fraction(at.dual_objective) <= dual
    assert primal <= Fraction(at.objective + at.rounding) * (1 + Fraction(1, 10**13))
    # What the bound takes off for rounding is that alone.
    assert at.objective == pytest.approx(float(primal), rel=1e-12)
    assert at.dual_objective == pytest.approx(float(dual), rel=1e-11)


@LOSSES
@BOTH
@FORMS
def test_pegasos_comes_near_the_same_optimum(loss, intercept, form):
    problem = drawn(loss, intercept, form, lam=0.3)
    least = solved(problem, Optimum(tol=1e-9, seed=3))[1].objective
    for arithmetic in ("reference", "fast"):
        solver = Pegasos(400, seed=1, arithmetic=arithmetic, refit_intercept=intercept)
        at = certificate_of(problem, run_linear(problem, solver))
        # 4,800 or 16,000 steps of size 1 / (lam t)
        assert least * (1.0 - 1e-9) <= at.objective <= 1.03 * least
        assert at.dual_objective <= least


@LOSSES
@pytest.mark.parametrize("start", ["zero", "sgd"])
@pytest.mark.parametrize("arithmetic", ["reference", "fast"])
def test_without_intercept_the_gap_closes(loss, start, arithmetic):
    problem = drawn(loss, intercept=False, lam=0.3)
    solver = SDCA(300, tol=1e-6, seed=1, start=start, arithmetic=arithmetic)
    found, at = solved(problem, solver)
    assert 0.0 <= at.relative_gap <= 1e-6
    assert found.alpha == 0.0


def test_a_ball_that_may_leave_the_optimum_out_is_refused():
    with pytest.raises(OptionError, match=r"^project=True"):
        run_linear(drawn(), Pegasos(2, seed=1, project=True))
