"""Dense rows with few columns: fits and certificates by numpy."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from pegasos_stats.errors import ConvergenceWarning
from pegasos_stats.parallel import library, one_thread
from pegasos_stats.solvers import hinge_proximal
from pegasos_stats.solvers.certificate import feasible
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.optimum_run import run_to_optimum
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.smooth_newton import SmoothRisk, SmoothSteps
from pegasos_stats.solvers.solver_runs import certificate_of
from tests.processes import in_process
from tests.solvers.exactly import both_objectives
from tests.solvers.solved import solved

pytestmark = pytest.mark.slow

TOL = 1e-7
LOSSES = pytest.mark.parametrize("loss", ["hinge", "log"])


@pytest.fixture(autouse=True)
def an_active_set(monkeypatch):
    """Let the hinge with 4,000 rows use an active set, as with more entries."""
    monkeypatch.setattr(hinge_proximal, "ENTRIES", 12_000)


def rows(n, p=4, seed=5, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    scores = X @ rng.standard_normal(p) - 0.5 + noise * rng.logistic(size=n)
    return X, np.where(scores > 0.0, 1.0, -1.0)


def problems(loss, n):
    X, y = rows(n)
    rng = np.random.default_rng(6)
    weights = rng.exponential(size=n)
    weights[:20] = 0.0
    weights /= weights.mean()
    offset = 3.0 * rng.standard_normal(n)
    twice = np.column_stack([X, X[:, 0], np.ones(n), np.zeros(n)])
    apart, sides = rows(n, noise=0.0)
    rare = np.where(np.arange(n) % 97 == 3, 1.0, -1.0)
    yield "plain", Problem(X, y, 1e-3, loss)
    yield "single", Problem(X.astype(np.float32), y, 1e-3, loss)
    yield "through zero", Problem(X, y, 1e-5, loss, intercept=False)
    yield "weights", Problem(X, y, 1e-5, loss, weights=weights)
    yield "offset", Problem(X, y, 1e-5, loss, offset=offset)
    both = {"weights": weights, "offset": offset}
    yield "both", Problem(X, y, 1e-3, loss, intercept=False, **both)
    yield "scales", Problem(X * 10.0 ** np.arange(-3, 4, 2), y, 1e-3, loss)
    yield "repeated", Problem(twice, y, 1e-6, loss)
    yield "discrete", Problem(np.round(X), y, 1e-2, loss)
    yield "sorted", Problem(X[np.argsort(y)], np.sort(y), 1e-5, loss)
    yield "rare", Problem(X + 0.5 * rare[:, None], rare, 1e-2, loss)
    yield "large penalty", Problem(X, y, 1e6, loss)
    yield "small penalty", Problem(X, y, 1e-9, loss)
    yield "separable", Problem(apart, sides, 1e-6, loss)


def hard_problems(n):
    """Of the log loss: columns that nearly depend, a rare class, next to no penalty."""
    X, y = rows(n, 8)
    Q = np.linalg.qr(np.random.default_rng(6).standard_normal((8, 8)))[0]
    twice = np.where(np.arange(n) < 2, 1.0, -1.0)
    yield "dependent", Problem(X * np.logspace(-4.0, 0.0, 8) @ Q, y, 1e-8, "log")
    yield "one label only twice", Problem(X, twice, 1e-4, "log")
    yield "tiny penalty", Problem(X, y, 1e-12, "log")


CASES = [
    pytest.param(problem, id=f"{problem.loss}-{n}-{name}")
    for n in (400, 4000)
    for loss in ("hinge", "log")
    for name, problem in problems(loss, n)
] + [
    pytest.param(problem, id=f"log-4000-{name}")
    for name, problem in hard_problems(4000)
]


@pytest.mark.parametrize("problem", CASES)
def test_the_optimum_is_that_of_sparse_rows(problem):
    """Whose equations are solved by conjugate gradients."""
    sparse = replace(problem, X=csr_array(problem.X))
    found, at = solved(problem, Optimum(tol=TOL, seed=1), warn=False)
    other = run_to_optimum(sparse, Optimum(tol=TOL, seed=1), warn=False)
    assert 0.0 <= at.gap <= TOL * at.objective
    assert (found.dual >= 0.0).all()
    assert (found.dual <= problem.row_weights).all()
    assert problem.intercept or found.alpha == 0.0
    there = certificate_of(problem, other)
    assert at.dual_objective <= there.objective  # both bound the same minimum
    assert there.dual_objective <= at.objective


@pytest.mark.parametrize("problem", CASES)
def test_equal_calls_have_equal_bits_and_no_seed_matters(problem):
    one, two = (
        run_to_optimum(problem, Optimum(tol=1e-4, seed=seed)) for seed in (1, 2)
    )
    np.testing.assert_array_equal(one.beta, two.beta)
    np.testing.assert_array_equal(one.dual, two.dual)
    assert one.alpha == two.alpha


@LOSSES
@pytest.mark.parametrize("kind", ["plain", "weights", "offset"])
@pytest.mark.parametrize("away", [0.0, 1e7])
def test_certificates_are_true_in_exact_arithmetic(loss, kind, away):
    """Of many rows, so that sums have blocks; of rough fits and of close ones."""
    n = 700
    X, y = rows(n, 3)
    rng = np.random.default_rng(9)
    given = {"weights": rng.integers(1, 3, n) * 1.0, "offset": rng.standard_normal(n)}
    given = {name: value for name, value in given.items() if name == kind}
    problem = Problem(X + away, y, 1e-4, loss, **given)
    for tol in (1e-1, 1e-6, 1e-11):
        found = run_to_optimum(problem, Optimum(tol=tol, seed=1), warn=False)
        at = certificate_of(problem, found, tol)
        a = feasible(found.dual, y, True, problem.weights)
        P, D = both_objectives(problem, found.beta, found.alpha, a)
        assert float(P) == pytest.approx(at.objective, rel=1e-9)
        assert Fraction(at.dual_objective) <= D  # and so are both below the minimum
        assert Fraction(at.gap) >= P - D


@LOSSES
def test_a_start_is_gone_on_from(loss):
    problem = Problem(*rows(2000), 1e-3, loss)
    found = run_to_optimum(problem, Optimum(tol=1e-9, seed=1))
    again, at = solved(problem, Optimum(tol=1e-8, seed=1), dual=found.dual)
    assert at.gap <= 1e-8 * at.objective
    assert again.n_iter < found.n_iter


ALONE = """
import sys
import numpy as np, pandas as pd
import pegasos_stats as ps
rng = np.random.default_rng(0)
d = pd.DataFrame(rng.normal(size=(1000, 10)), columns=[f"x{j}" for j in range(10)])
d["y"] = np.where(d.x0 + rng.normal(size=1000) > 0, "a", "b")
for model in (ps.svm, ps.logit):
    for options in ({}, {"weights": "balanced"}, {"intercept": False}):
        result = model("y ~ .", d, lam=1e-3, **options).fit()
        assert result.relative_gap <= 1e-6
        result.params, result.predict(d), result.confusion(), repr(result)
late = "numba", "statsmodels", "scipy.stats", "scipy.interpolate"
print([name for name in late if name in sys.modules])
"""


def test_a_fit_of_few_columns_compiles_nothing():
    assert in_process(ALONE).stdout.strip() == "[]"


def test_one_thread_is_a_limit_until_the_last_fit_has_ended():
    found = library()
    if found is None:
        pytest.skip("numpy has another BLAS")
    before = found.threads()
    with one_thread():
        with one_thread():
            assert (found.threads(), found.fits) == (1, 2)
        assert found.threads() == 1
    assert (found.threads(), found.fits) == (before, 0)


@pytest.mark.parametrize("as_rows", [np.asarray, csr_array])
@pytest.mark.parametrize("loss", ["log", "squared_hinge"])
def test_the_first_step_from_the_null_model_has_the_best_length(loss, as_rows):
    X, y = rows(300, 20, noise=0.2)
    offset = np.random.default_rng(2).standard_normal(300)
    for given in ({}, {"offset": offset}, {"weights": np.arange(300) / 149.5}):
        problem = Problem(as_rows(X), y, 1e-3, loss, **given)
        steps = SmoothSteps(problem)
        start = steps.theta
        next(steps.walk)
        risks = [
            SmoothRisk(problem)(start + t * (steps.theta - start)).risk
            for t in (0.95, 1.0, 1.05)  # the length is computed to about 1%
        ]
        assert min(risks) == risks[1]


def test_few_steps_from_the_null_model_reach_the_gap():
    X, y = rows(300, 25, noise=0.2)
    found, at = solved(Problem(X, y, 1e-3, "log"), Optimum(tol=1e-5))
    assert at.relative_gap <= 1e-5
    assert found.n_epochs <= 5  # 7 if the first step has Newton's length


def test_the_sample_of_periodic_rows_has_both_classes():
    """Every tenth row is positive; rows 0, 10, 20, ... would be of one class."""
    positive = np.arange(20_000) % 10 == 0
    X = np.random.default_rng(0).standard_normal((20_000, 4)) + 0.7 * positive[:, None]
    problem = Problem(X, np.where(positive, 1.0, -1.0), 1e-4)
    fit = run_to_optimum(problem, Optimum())
    assert fit.n_epochs <= 3


def test_a_row_of_weight_0_does_not_change_the_method():
    """Conjugate gradients from 151 columns on, whether or not all rows are bent."""
    X, y = rows(3_000, p=200)
    weights = np.ones(3_000)
    weights[0] = 0.0
    for w in (None, weights):
        risk = SmoothRisk(Problem(X, y, 1e-3, "log", weights=w))
        at = risk(np.zeros(201))
        risk.direction(at.gradient)
        assert risk.last_hessian is None
        assert risk.count > 30.0


def test_only_the_default_tolerance_may_be_missed_without_a_warning():
    X, y = rows(400, p=30)
    problem = Problem(X, y, 1e-3)
    with pytest.warns(ConvergenceWarning, match="tol=0.0001"):
        run_to_optimum(problem, Optimum(tol=1e-4, epochs=14))
