"""Dense rows of which nearly all entries are 0 are solved as sparse ones."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from pegasos_stats.solvers.objective import certificate
from pegasos_stats.solvers.problem import FEW, LEAST, OF_A_ROW, Problem
from pegasos_stats.solvers.refining import run_sdca
from pegasos_stats.solvers.sdca import SDCA


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
    found = problem.in_few_entries
    assert isinstance(found.X, csr_array)
    assert found.X.dtype == dtype
    np.testing.assert_array_equal(found.X.toarray(), problem.X)
    assert found.X.nnz == np.count_nonzero(problem.X)
    assert found is problem.in_few_entries


def test_entries_of_a_row_decide():
    X = np.zeros((100, 100))
    most = int(100 / FEW - OF_A_ROW)
    X[:, :most] = 1.0
    y = np.tile([-1.0, 1.0], 50)
    assert isinstance(Problem(X, y, 0.1).in_few_entries.X, csr_array)
    X[0, most] = 1.0
    assert isinstance(Problem(X, y, 0.1).in_few_entries.X, np.ndarray)
    # the first of the rows have few entries, and the others not
    X[50:] = 1.0
    assert isinstance(Problem(X, y, 0.1).in_few_entries.X, np.ndarray)


def test_the_log_loss_on_many_rows_wants_fewer():
    X = np.zeros((LEAST, 100))
    X[:, : int(100 / FEW - OF_A_ROW)] = 1.0
    y = np.tile([-1.0, 1.0], len(X) // 2)
    problem = Problem(X, y, 0.1)
    assert isinstance(problem.in_few_entries.X, csr_array)
    log = replace(problem, loss="log")
    assert log.in_few_entries is log
    few = log.of_rows(np.arange(100))
    assert isinstance(few.in_few_entries.X, csr_array)


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_fit_is_that_of_the_sparse_rows(loss, intercept, weighted):
    X, y = factors()
    w = np.random.default_rng(2).exponential(size=len(y)) if weighted else None
    given = Problem(
        X, y, 1e-3, loss, intercept, weights=None if w is None else w / w.mean()
    )
    dense, sparse = (
        run_sdca(problem, SDCA(seed=1))
        for problem in (given, replace(given, X=csr_array(X)))
    )
    np.testing.assert_array_equal(dense.beta, sparse.beta)
    np.testing.assert_array_equal(dense.dual, sparse.dual)
    assert dense.alpha == sparse.alpha
    at = certificate(given, dense.beta, dense.alpha, dense.dual)
    assert at.relative_gap <= 1e-6


def test_the_bits_of_the_reference_are_those_of_the_dense_rows(monkeypatch):
    def refused(problem):
        raise AssertionError

    monkeypatch.setattr(Problem, "in_few_entries", property(refused))
    problem = Problem(*factors(n=60, levels=20), 0.1, "hinge", False)
    run_sdca(problem, SDCA(algorithm="perm", epochs=3, tol=0.0))
    with pytest.raises(AssertionError):
        run_sdca(problem, SDCA())


def test_wide_rows_of_the_hinge_stay_dense():
    X, y = factors(n=60)
    problem = Problem(X, y, 0.1)
    assert problem.in_few_entries is problem
    assert isinstance(replace(problem, loss="log").in_few_entries.X, csr_array)
