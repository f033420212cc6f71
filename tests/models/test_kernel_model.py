"""Kernel models through their public face: weights, scales, what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import pegasos_stats as ps
from pegasos_stats.errors import (
    ColumnError,
    ConvergenceWarning,
    DataError,
    OptionError,
)
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers import kernel_problem

SOLVER = ps.Pegasos(epochs=10, seed=443)


def rings(n=100, seed=0):
    """Two rings, a third of the rows in the outer one."""
    rng = np.random.default_rng(seed)
    angle, outer = rng.uniform(0, 2 * np.pi, n), np.arange(n) % 3 == 0
    radius = 1.0 + 0.8 * outer + 0.4 * rng.standard_normal(n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X, np.where(outer, "outer", "inner")


def test_linear_counts_are_the_violations_of_linear_pegasos():
    train, test = ps.datasets.load_digits56()
    linear = ps.svm("digit ~ .", train, intercept=False, lam=10.0).fit(SOLVER)
    given = {"kernel": "linear", "intercept": False, "lam": 10.0, "standardize": False}
    kernel = ps.kernel_svm("digit ~ .", train, **given).fit(SOLVER)
    # the weight of a row is its number of violations: whole numbers, exactly
    visits = linear.solution.dual * SOLVER.epochs
    assert kernel.counts.tolist() == np.round(visits).astype(int).tolist()
    assert kernel.n_violations == linear.n_violations
    assert kernel.predict(test).equals(linear.predict(test))
    # the same function, summed over rows instead of features
    found, expected = (fit.decision_function(test) for fit in (kernel, linear))
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert kernel.objective == pytest.approx(linear.objective, rel=1e-10)
    assert kernel.gap == pytest.approx(linear.gap, rel=1e-8)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "gaussian", "degree": 3}, "degree=3 makes no sense"),
        ({"kernel": "polynomial", "offset": -1.0}, "offset=-1.0"),
        ({"gamma": 0.0}, "gamma=0.0"),
        ({"memory": 0}, "memory=0"),
        ({"kernel": "precomputed", "standardize": True}, "standardize=True"),
    ],
)
def test_options_that_make_no_sense_for_the_model(options, words):
    X, y = rings(20)
    with pytest.raises(OptionError, match=words):
        ps.KernelSVM(y, X @ X.T, **options)


@pytest.mark.parametrize(
    "solver",
    [
        *(ps.Pegasos(batch_size=2), ps.Pegasos(project=True)),
        *(ps.Pegasos(average="all"), ps.Pegasos(arithmetic="fast")),
        ps.SDCA(),
    ],
)
def test_options_that_make_no_sense_for_the_solver(solver):
    X, y = rings(20)
    with pytest.raises(
        OptionError, match=r"makes no sense for a kernel|SDCA is for linear"
    ):
        ps.KernelSVM(y, X, intercept=False, lam=1.0).fit(solver)


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "precomputed"])
def test_sparse_rows_give_the_fit_of_their_array(kernel):
    X, y = rings(20)
    X[np.abs(X) < 0.5] = 0.0
    given = X @ X.T if kernel == "precomputed" else X
    options = {"kernel": kernel, "lam": 0.1}
    dense = ps.KernelSVM(y, given, **options).fit(SOLVER)
    sparse = ps.KernelSVM(y, csr_array(given), **options).fit(SOLVER)
    assert sparse.counts.equals(dense.counts)
    assert sparse.certificate == dense.certificate
    assert sparse.predict(csr_array(given)).equals(dense.predict(given))
    framed = pd.DataFrame.sparse.from_spmatrix(csr_array(given))
    assert ps.KernelSVM(y, framed, **options).fit(SOLVER).counts.equals(dense.counts)


@pytest.fixture
def few_are_verified(monkeypatch):
    """More than 30 rows are too many for a Cholesky factorisation."""
    monkeypatch.setattr(kernel_problem, "CHOLESKY_ROWS", 30)


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 3010])
def test_a_matrix_that_is_no_kernel_is_refused(n, request):
    if n == 40:
        request.getfixturevalue("few_are_verified")
    X, _ = rings(n)
    large = np.ones((n, n))
    large[0, 1] = large[1, 0] = 2.0
    apart = 1.9 * np.eye(n) - 0.9  # 1 and -0.9: the least eigenvalue is 1.9 - 0.9 n
    sigmoid = np.tanh(0.2 * X @ X.T - 1.0) + 2.0 * np.eye(n)
    near = np.exp(-0.5 * cdist(X, X, "sqeuclidean"))
    near[0, 1] = near[1, 0] = 0.9 - near[0, 1]
    negative = np.diag([1.0] * (n - 1) + [-1e-300])
    for given in (-0.01 * np.eye(n), negative, large, apart, sigmoid, near):
        with pytest.raises(DataError, match="semi-definite"):
            ps.KernelSVM(np.arange(n) % 2, given, kernel="precomputed", lam=1.0)


def test_what_is_not_verified_is_not_certified(few_are_verified, tmp_path):
    X, y = rings(60)
    K = np.exp(-0.5 * cdist(X, X, "sqeuclidean"))
    model = ps.KernelSVM(y, K, kernel="precomputed", lam=0.01)
    result = model.fit()
    assert result.gap == result.relative_gap == np.inf
    assert "Nothing is certified" in str(result.summary(details=True))
    ps.save(result, tmp_path / "fit.model")
    again = ps.load(tmp_path / "fit.model")
    assert again.certificate == result.certificate
    part = ps.KernelSVM(y[:30], K[:30, :30], kernel="precomputed", lam=0.01)
    assert part.fit().relative_gap <= 1e-6
    with pytest.warns(ConvergenceWarning):
        halves = ps.cross_validate(model, folds=2)  # of 30 rows of such a matrix
    assert (halves.by_fold["relative_gap"] == np.inf).all()


def test_a_row_without_label_leaves_a_precomputed_kernel_on_both_sides():
    (X, y), kept, given = rings(), np.arange(100) != 7, {"kernel": "precomputed"}
    labels, K = pd.Series(y).where(kept), X @ X.T
    full = ps.KernelSVM(labels, K, lam=0.1, **given).fit(SOLVER)
    K = K[np.ix_(kept, kept)]
    part = ps.KernelSVM(y[kept], K, lam=0.1, **given).fit(SOLVER)
    assert full.counts.tolist() == part.counts.tolist()
    new, _ = rings(seed=1)
    assert full.predict(new @ X.T).tolist() == part.predict(new @ X[kept].T).tolist()


def test_data_that_kernels_do_not_take():
    X, y = rings(20)
    for given, words in ((X, "square"), (np.triu(np.ones((20, 20))), "not symmetric")):
        with pytest.raises(DataError, match=words):
            ps.KernelSVM(y, given, kernel="precomputed", lam=1.0)
    result = ps.KernelSVM(y, X, lam=1.0).fit(SOLVER)
    with pytest.raises(ColumnError, match="fitted on 2"):
        result.predict(np.ones((3, 3)))


def test_rows_of_weight_zero_are_not_there():
    """Such rows change nothing, so predictions do not need them."""
    X, y = rings(120)
    w = np.where(np.arange(120) < 60, 1.0, 0.0)
    solver = ps.Pegasos(order=np.tile(RRandom(1).permutation(120), (5, 1)))
    given = {"lam": 0.1, "gamma": 0.5, "weights": w}
    result = ps.KernelSVM(y, X, **given).fit(solver)
    assert result.n_support == (result.counts[:60] > 0).sum()
    moved = X + (w == 0.0)[:, None]
    other = ps.KernelSVM(y, moved, **given).fit(solver)
    assert other.counts[:60].tolist() == result.counts[:60].tolist()
    # the mean of 1 of the weights and the scores are the same numbers
    assert other.intercept == result.intercept
    new = X[:7] + 0.3
    assert other.decision_function(new).equals(result.decision_function(new))


def test_cross_validation_weighs_and_scales_the_rows_of_each_fold():
    X, y = rings(120)
    w, fold = np.random.default_rng(3).uniform(0.2, 3.0, 120), np.arange(120) % 4
    solver = ps.Pegasos(epochs=5, order="sequential")
    options = {"lam": 0.1, "standardize": True, "gamma": 0.5}
    model = ps.KernelSVM(y, X, weights=w, **options)
    found = ps.cross_validate(model, solver, folds=fold, metrics="error_rate")
    for k in range(4):
        known, held_out = fold != k, fold == k
        by_hand = ps.KernelSVM(y[known], X[known], weights=w[known], **options)
        wrong = by_hand.fit(solver).predict(X[held_out]).to_numpy() != y[held_out]
        error = np.average(wrong, weights=w[held_out])
        # a mean of the same numbers, summed in another order
        assert found.by_fold["error_rate"][k] == pytest.approx(error, rel=1e-12)


GAMMA = {"gaussian": {"gamma": 0.5}}


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "linear"])
def test_predictors_are_standardized_as_by_hand(kernel):
    X, y = rings()
    X = X * [100.0, 0.01] + [5.0, -3.0]
    centre, scale, new = X.mean(axis=0), X.std(axis=0, ddof=1), X[:10] * 1.1
    options = {"kernel": kernel, "lam": 0.1, **GAMMA.get(kernel, {})}
    by_hand = ps.KernelSVM(y, (X - centre) / scale, standardize=False, **options)
    by_hand = by_hand.fit(SOLVER)
    result = ps.KernelSVM(y, X, **options).fit(SOLVER)
    assert result.counts.tolist() == by_hand.counts.tolist()
    # columns of size 100 scaled in other steps: rounding of 1e-14, summed
    scores = by_hand.decision_function((new - centre) / scale)
    np.testing.assert_allclose(result.decision_function(new), scores, rtol=1e-9)
    assert "standardized" in str(result.summary(details=True))
    assert np.allclose(result.augment()["x1"], X[:, 0], rtol=1e-12)


@pytest.mark.parametrize("standardize", [True, False])
def test_rows_of_weight_zero_do_not_count_in_scale_and_gamma(standardize):
    X, y = rings()
    X = X * [30.0, 1.0]
    kept = np.arange(100) % 7 > 0
    far = np.where(kept[:, None], X, 1e3)
    given = {"standardize": standardize, "lam": 0.1}
    whole = ps.KernelSVM(y, far, weights=kept.astype(float), **given)
    part = ps.KernelSVM(y[kept], X[kept], **given)
    # means and variances of the same numbers, summed in another order
    gamma = part.problem.kernel.gamma
    assert whole.problem.kernel.gamma == pytest.approx(gamma, rel=1e-12)
    assert (gamma == 0.5) == standardize
    np.testing.assert_allclose(whole.problem.X[kept], part.problem.X, rtol=1e-12)
