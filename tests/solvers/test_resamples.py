"""Many resamples at once, beside a fit of each alone."""

from dataclasses import replace

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.problem import LossName, Problem
from pegasos_stats.solvers.resamples import HingeResamples, SmoothResamples
from pegasos_stats.solvers.solver_runs import run_linear

TOL = 1e-9
KINDS = "plain", "ties", "weights", "offset", "no intercept", "rare", "scales", "one"


def example(kind: str, loss: LossName, n: int = 400) -> Problem:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 4))
    level = 2.2 if kind == "rare" else 0.3
    y = np.where(X[:, 0] + rng.normal(size=n) > level, 1.0, -1.0)
    if kind == "ties":
        X = np.round(X)
    if kind == "scales":
        X *= np.array([1e3, 1.0, 1e-2, 1.0])
    if kind == "one":  # separable
        y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
    weights = rng.poisson(2.0, n).astype(np.float64) if kind == "weights" else None
    if weights is not None:
        weights /= weights.mean()
    offset = rng.normal(size=n) if kind == "offset" else None
    free = kind != "no intercept"
    return Problem(X, y, 1.0 / n, loss, free, weights=weights, offset=offset)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["hinge", "log", "squared_hinge"])
def test_resamples_have_the_optimum_of_a_fit_with_their_weights(
    kind: str, loss: LossName
) -> None:
    problem = example(kind, loss)
    n, p = problem.n, problem.p
    fit = run_linear(problem, Optimum(tol=1e-6, seed=1))
    kind = HingeResamples if loss == "hinge" else SmoothResamples
    together = kind(problem, fit, TOL)
    drawn = np.random.default_rng(2).multinomial(n, np.full(n, 1.0 / n), size=6)
    weights = drawn * problem.row_weights
    penalties = np.full((6, p), problem.lam)
    first, *_ = together(weights, penalties)
    together.look_near(first, 2.0)
    found, gaps, risks = together(weights, penalties)
    assert (gaps <= TOL * risks).all()
    for w, estimate, gap in zip(weights, found, gaps, strict=True):
        alone = replace(problem, weights=w / w.mean())
        best = run_linear(alone, Optimum(tol=TOL, seed=1))
        # Each is within sqrt(2 gap / lam) of the optimum; no risk is above 1.
        apart = np.sqrt(2.0 * gap / problem.lam) + np.sqrt(2.0 * TOL / problem.lam)
        assert np.linalg.norm(estimate[1:] - best.beta) <= apart


def test_a_penalty_of_its_own_is_a_column_of_another_scale() -> None:
    problem = example("plain", "hinge")
    scale = np.array([2.0, 0.5, 1.0, 3.0])
    fit = run_linear(problem, Optimum(tol=1e-6, seed=1))
    together = HingeResamples(problem, fit, TOL)
    ones = np.ones((1, problem.n))
    found, gaps, risks = together(ones, problem.lam * scale[None] ** 2)
    best = run_linear(replace(problem, X=problem.X / scale), Optimum(tol=TOL, seed=1))
    assert (gaps <= TOL * risks).all()
    apart = 2.0 * np.sqrt(2.0 * TOL / problem.lam)
    assert np.linalg.norm(found[0, 1:] * scale - best.beta) <= apart


@pytest.mark.filterwarnings("ignore::pegasos_stats.errors.UndefinedMetricWarning")
def test_two_rows_that_no_resample_moves_are_fitted() -> None:
    found = ps.SVM(["a", "b"], [[0.0], [1.0]], lam=0.5).fit()
    drawn = found.covariance.estimates[:, 1]
    np.testing.assert_allclose(drawn, found.coef["x1"], atol=1e-3)
