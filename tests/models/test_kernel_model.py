"""Kernel models through their public face."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError, DataError, OptionError

SOLVER = ps.Pegasos(epochs=10, seed=443)


def rings(n=100, seed=0):
    rng = np.random.default_rng(seed)
    angle, outer = rng.uniform(0, 2 * np.pi, n), np.arange(n) % 2
    radius = 1.0 + 1.5 * outer + 0.1 * rng.standard_normal(n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X, np.where(outer, "outer", "inner")


@pytest.fixture(scope="module")
def digits():
    return ps.datasets.load_digits56()


def test_linear_counts_are_the_violations_of_linear_pegasos(digits):
    train, test = digits
    linear = ps.svm("digit ~ .", train, intercept=False, lam=10.0).fit(SOLVER)
    kernel = ps.kernel_svm(
        "digit ~ .", train, kernel="linear", intercept=False, lam=10.0
    ).fit(SOLVER)
    # the weight of a row is its number of violations: whole numbers, exactly
    visits = linear.solution.dual * SOLVER.epochs
    assert kernel.counts.tolist() == np.round(visits).astype(int).tolist()
    assert kernel.n_violations == linear.n_violations
    assert kernel.predict(test).equals(linear.predict(test))
    # the same function, summed over rows instead of features
    np.testing.assert_allclose(
        kernel.decision_function(test), linear.decision_function(test), rtol=1e-10
    )
    assert kernel.objective == pytest.approx(linear.objective, rel=1e-10)
    assert kernel.gap == pytest.approx(linear.gap, rel=1e-8)


def test_a_polynomial_separates_rings_that_no_line_separates():
    X, y = rings()
    square = ps.KernelSVM(
        y, X, kernel="polynomial", degree=2, lam=0.01, intercept=False
    )
    assert square.fit(ps.Pegasos(epochs=50, seed=1)).confusion().n_errors == 0
    gaussian = ps.KernelSVM(y, X, kernel="gaussian", gamma=1.0, lam=0.01)
    assert gaussian.fit(ps.Pegasos(epochs=50, seed=1)).confusion().n_errors == 0
    line = ps.SVM(y, X, lam=0.01).fit(ps.Pegasos(epochs=50, seed=1))
    assert line.confusion().n_errors > 20


def test_a_precomputed_kernel_is_the_kernel():
    X, y = rings()
    new, _ = rings(seed=1)
    direct = ps.KernelSVM(y, X, kernel="linear", lam=0.1).fit(SOLVER)
    given = ps.KernelSVM(y, X @ X.T, kernel="precomputed", lam=0.1).fit(SOLVER)
    assert given.counts.tolist() == direct.counts.tolist()
    np.testing.assert_allclose(
        given.decision_function(new @ X.T), direct.decision_function(new), rtol=1e-10
    )


def test_results_do_not_depend_on_the_memory():
    X, y = rings(300)
    fits = [
        ps.KernelSVM(y, X, lam=0.001, memory=memory).fit(SOLVER)
        for memory in (1, 100_000, 10**9)
    ]
    assert len({tuple(fit.counts) for fit in fits}) == 1
    assert len({fit.intercept for fit in fits}) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "sigmoid"}, "kernel='sigmoid'"),
        ({"kernel": "gaussian", "degree": 3}, "degree=3 makes no sense"),
        ({"kernel": "polynomial", "degree": 0}, "degree=0"),
        ({"kernel": "polynomial", "offset": -1.0}, "offset=-1.0"),
        ({"gamma": 0.0}, "gamma=0.0"),
        ({"memory": 0}, "memory=0"),
    ],
)
def test_options_that_make_no_sense_for_the_model(options, words):
    X, y = rings(20)
    with pytest.raises(OptionError, match=words):
        ps.KernelSVM(y, X, **options)


@pytest.mark.parametrize(
    "solver",
    [
        ps.Pegasos(batch_size=2),
        ps.Pegasos(project=True),
        ps.Pegasos(average="all"),
        ps.Pegasos(arithmetic="fast"),
        ps.SDCA(start="sgd"),
        ps.SDCA(arithmetic="fast"),
        ps.SDCA(algorithm="perm"),
    ],
)
def test_options_that_make_no_sense_for_the_solver(solver):
    X, y = rings(20)
    with pytest.raises(OptionError, match="makes no sense for a kernel"):
        ps.KernelSVM(y, X, intercept=False, lam=1.0).fit(solver)


@pytest.mark.parametrize("kernel", ["gaussian", "linear", "precomputed"])
def test_sparse_rows_give_the_fit_of_their_array(kernel):
    X, y = rings(20)
    X[np.abs(X) < 0.5] = 0.0
    given = X @ X.T if kernel == "precomputed" else X
    options = {"kernel": kernel, "lam": 0.1, "standardize": False}
    dense = ps.KernelSVM(y, given, **options).fit(SOLVER)
    sparse = ps.KernelSVM(y, csr_array(given), **options).fit(SOLVER)
    assert sparse.counts.equals(dense.counts)
    assert sparse.certificate == dense.certificate
    assert sparse.predict(csr_array(given)).equals(dense.predict(given))
    framed = pd.DataFrame.sparse.from_spmatrix(csr_array(given))
    assert ps.KernelSVM(y, framed, **options).fit(SOLVER).counts.equals(dense.counts)


@pytest.mark.parametrize("n", [40, 3010])
def test_a_matrix_that_is_no_kernel_is_refused(n):
    y = np.arange(n) % 2
    with pytest.raises(DataError, match="semi-definite"):
        ps.KernelSVM(y, -0.01 * np.eye(n), kernel="precomputed", lam=1.0)
    K = np.ones((n, n)) + np.diag(np.zeros(n))
    K[0, 1] = K[1, 0] = 2.0
    with pytest.raises(DataError, match="semi-definite"):
        ps.KernelSVM(y, K, kernel="precomputed", lam=1.0)


def test_a_row_without_label_leaves_a_precomputed_kernel_on_both_sides():
    X, y = rings()
    labels = pd.Series(y).where(np.arange(100) != 7)
    kept = np.arange(100) != 7
    full = ps.KernelSVM(labels, X @ X.T, kernel="precomputed", lam=0.1).fit(SOLVER)
    part = ps.KernelSVM(
        y[kept], (X @ X.T)[np.ix_(kept, kept)], kernel="precomputed", lam=0.1
    ).fit(SOLVER)
    assert full.counts.tolist() == part.counts.tolist()
    new, _ = rings(seed=1)
    assert full.predict(new @ X.T).tolist() == part.predict(new @ X[kept].T).tolist()


def test_data_that_kernels_do_not_take():
    X, y = rings(20)
    with pytest.raises(DataError, match="square"):
        ps.KernelSVM(y, X, kernel="precomputed", lam=1.0)
    with pytest.raises(DataError, match="not symmetric"):
        ps.KernelSVM(y, np.triu(np.ones((20, 20))), kernel="precomputed", lam=1.0)
    result = ps.KernelSVM(y, X, lam=1.0).fit(SOLVER)
    with pytest.raises(ColumnError, match="fitted on 2"):
        result.predict(np.ones((3, 3)))
