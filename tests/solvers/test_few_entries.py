"""Dense rows of which nearly all entries are 0 are solved as sparse ones."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.problem import Problem
from tests.solvers.solved import solved


def factors(n=300, levels=40, count=3, seed=1, dtype=np.float64):
    """Indicators of the levels of some factors but the first, and labels."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, levels, (count, n))
    X = np.hstack([np.eye(levels, dtype=dtype)[each][:, 1:] for each in drawn])
    score = X @ rng.standard_normal(X.shape[1]) + rng.logistic(size=n)
    return np.ascontiguousarray(X), np.where(score > 0.0, 1.0, -1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_rows_are_the_same_numbers(dtype):
    problem = Problem(*factors(dtype=dtype), lam=0.1)
    found = problem.with_best_storage
    assert isinstance(found.X, csr_array)
    assert found.X.dtype == dtype
    np.testing.assert_array_equal(found.X.toarray(), problem.X)
    assert found.X.nnz == np.count_nonzero(problem.X)
    assert found is problem.with_best_storage


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_fit_is_that_of_the_sparse_rows(loss, intercept, weighted):
    X, y = factors()
    w = np.random.default_rng(2).exponential(size=len(y)) if weighted else None
    w = None if w is None else w / w.mean()
    given = Problem(X, y, 1e-3, loss, intercept, weights=w)
    dense, at = solved(given, Optimum(seed=1))
    sparse, _ = solved(replace(given, X=csr_array(X)), Optimum(seed=1))
    np.testing.assert_array_equal(dense.beta, sparse.beta)
    np.testing.assert_array_equal(dense.dual, sparse.dual)
    assert dense.alpha == sparse.alpha
    assert at.relative_gap <= 1e-6
