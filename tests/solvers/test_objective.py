"""The regularised risk."""

import numpy as np
import pytest

from pegasos_stats.solvers.objective import primal
from pegasos_stats.solvers.problem import Problem


def test_the_zero_model_has_mean_loss_one():
    X, y = np.ones((4, 2)), np.array([1.0, -1.0, 1.0, -1.0])
    assert primal(Problem(X, y, 3.0), np.zeros(2), 0.0) == 1.0


def test_the_penalty_leaves_the_intercept_alone():
    X, y = np.zeros((2, 1)), np.array([1.0, 1.0])
    assert primal(Problem(X, y, 0.5), np.array([2.0]), 5.0) == pytest.approx(1.0)


def test_scaling_lambda_and_data_leaves_the_objective():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.choice([-1.0, 1.0], 20)
    beta = rng.normal(size=3)
    scaled = primal(Problem(X / 2, y, 0.1 / 4), 2 * beta, 0.3)
    assert primal(Problem(X, y, 0.1), beta, 0.3) == pytest.approx(scaled)
