"""Intervals cover, in a small simulation: benchmarks/zoo.py is larger."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.models.inference.options import Sandwich
from pegasos_stats.models.inference.sandwich import sandwich
from pegasos_stats.models.inference.wald import estimates
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca_run import run_sdca

# Minimisers of the penalised risk in the population below at lam = 0.001, by
# quadrature: the score of a row is normal in each class.
TARGETS = {
    "hinge": [-0.92760228, 1.28519088, 0.00398619, 0.0, 0.0],
    "log": [-1.37574770, 1.95396708, 0.01548054, 0.0, 0.0],
}
N, LAM, REPLICATIONS = 500, 0.001, 150
# Four standard errors of a share of 0.95 in so many replications.
SLACK = 4.0 * np.sqrt(0.95 * 0.05 / REPLICATIONS)


def sample(seed):
    """20% of y = 1, x normal given y, its first two features correlated by 0.5."""
    rng = np.random.default_rng([443, seed])
    y = np.where(rng.random(N) < 0.2, 1.0, -1.0)
    X = rng.standard_normal((N, 4))
    X[:, 1] = 0.5 * X[:, 0] + np.sqrt(0.75) * X[:, 1]
    return X + y[:, None] * np.array([1.0, 0.5, 0.0, 0.0]), y


def intervals(loss, **options):
    """Estimates, lower and upper limits, each of shape (replications, 5)."""
    found = []
    for seed in range(REPLICATIONS):
        X, y = sample(seed)
        problem = Problem(X, y, LAM, loss)
        fit = run_sdca(problem, ps.SDCA(tol=1e-6, epochs=1000, seed=1))
        chosen = Sandwich(**options)
        se = sandwich(problem, fit, chosen).std_error
        by = estimates(np.array([fit.alpha, *fit.beta]), se)
        found.append([by.estimate, by.conf_low, by.conf_high, se])
    return np.array(found).transpose(1, 0, 2)


def coverage(low, high, loss):
    target = TARGETS[loss]
    return ((low <= target) & (target <= high)).mean(axis=0)


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_every_coefficient_is_covered_with_one_row_in_five_of_a_class(loss):
    estimate, low, high, se = intervals(loss)
    covered = coverage(low, high, loss)
    assert (np.abs(covered - 0.95) <= SLACK).all()
    # Four standard errors of a standard deviation of so many numbers.
    ratio = np.median(se, axis=0) / estimate.std(axis=0)
    assert (np.abs(ratio - 1.0) <= 4.0 / np.sqrt(2.0 * REPLICATIONS)).all()
