"""Kernel fits and prepared columns: rare levels, weights, columns below zero, limits.

The matrix of kernel values is written down by scikit-learn, and everything else follows
from it by dense algebra.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import pairwise

import pegasos_stats as ps
from pegasos_stats.data.scaling import Scaling
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.solvers import kernel_problem
from pegasos_stats.solvers.centring import FAR, centred, far_centre, moved
from pegasos_stats.solvers.kernel_problem import checked_gram, checked_kernel
from pegasos_stats.solvers.objective import best_intercept, primal
from pegasos_stats.solvers.problem import Problem, Solution
from tests.problems import problems

SEEDS = st.integers(0, 2**32 - 1)
KERNELS = {
    "linear": ({}, pairwise.linear_kernel, {}),
    "polynomial": (
        {"degree": 3, "offset": 0.5},
        pairwise.polynomial_kernel,
        {"degree": 3, "gamma": 1.0, "coef0": 0.5},
    ),
    "gaussian": ({"gamma": 0.3}, pairwise.rbf_kernel, {"gamma": 0.3}),
}


def drawn(seed, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 30))
    X = rng.standard_normal((n, 3)) * [1.0, 0.5, 2.0] - [1.0, 0.0, 0.5]
    y = np.where(rng.random(n) < rng.choice([0.15, 0.85]), 1, 0)
    y[:4] = [1, 0, 1, 0]
    w = rng.integers(0, 4, n).astype(float)
    w[:4] += 1.0
    return X, y, w if weighted else None, rng


def literal(K, y, w, rows, lam, intercept):
    """Kernel Pegasos, the whole sum at every step."""
    counts, alpha = np.zeros(len(y)), 0.0
    for t, i in enumerate(rows, start=1):
        f = alpha + (w * counts * y) @ K[:, i] / (lam * (t - 1)) if t > 1 else 0.0
        assume(abs(y[i] * f - 1.0) > 1e-7)  # nearer, rounding may decide
        if y[i] * f < 1.0:
            counts[i] += 1
            alpha += intercept * w[i] * y[i] / (lam * t)
    return counts, alpha


@pytest.mark.fuzz
@given(seed=SEEDS, weighted=st.booleans(), intercept=st.booleans())
@pytest.mark.parametrize("kernel", [*KERNELS, "precomputed"])
def test_kernel_pegasos_is_its_definition(kernel, seed, weighted, intercept):
    X, y, w, rng = drawn(seed, weighted)
    options, of, theirs = KERNELS["gaussian" if kernel == "precomputed" else kernel]
    K, new = of(X, **theirs), rng.standard_normal((5, 3))
    K_new = of(new, X, **theirs)
    given_rows, given_new = (K, K_new) if kernel == "precomputed" else (X, new)
    options = {} if kernel == "precomputed" else options
    lam, n = 0.2, len(y)
    rows = np.array([rng.permutation(n) for _ in range(3)])
    model = ps.KernelSVM(
        y, given_rows, lam=lam, kernel=kernel, intercept=intercept, weights=w, **options
    )
    result = model.fit(ps.Pegasos(order=rows))
    signs = np.where(y > 0, 1.0, -1.0)
    mean_one = np.ones(n) if w is None else w / w.mean()
    counts, alpha = literal(K, signs, mean_one, rows.ravel(), lam, intercept)
    found = result.solution
    np.testing.assert_array_equal(found.counts, counts)
    assert found.alpha == pytest.approx(alpha, rel=1e-9, abs=1e-12)
    b = mean_one * counts * signs / (lam * 3 * n)
    scores = K @ b + alpha
    at_new = K_new @ b + alpha
    scale = 1.0 + np.abs(at_new).max()
    np.testing.assert_allclose(
        result.decision_function(given_new), at_new, atol=1e-9 * scale
    )
    objective = lam / 2 * b @ K @ b + np.mean(
        mean_one * np.maximum(0.0, 1.0 - signs * scores)
    )
    assert result.objective == pytest.approx(objective, rel=1e-9)
    # No function does better than the bound, whatever its size.
    for size in (0.0, 0.5, 0.9, 1.0, 1.5):
        f = size * (K @ b)
        best = best_intercept(f, signs, "hinge", mean_one) if intercept else 0.0
        risk = np.mean(mean_one * np.maximum(0.0, 1.0 - signs * (f + best)))
        at = lam / 2 * size * size * (b @ K @ b) + risk
        assert result.objective - result.gap <= at * (1.0 + 1e-12)


def test_parameters_of_kernels_have_limits_and_defaults():
    rows = np.array([[1.0, 3.0], [1.0, 3.0]])  # of variance 1

    def parts(*args):
        found = checked_kernel(*args)
        return found.name, found.degree, found.offset, found.gamma

    assert parts("polynomial", None, None, None, rows) == ("polynomial", 2, 1.0, None)
    assert parts("polynomial", 1, 0, None) == ("polynomial", 1, 0.0, None)
    assert parts("gaussian", None, None, None, rows) == ("gaussian", None, None, 0.5)
    assert parts("linear", None, None, None, rows) == ("linear", None, None, None)
    most = kernel_problem.MOST_DEGREES
    assert parts("polynomial", most, 5e-324, None)[1:3] == (most, 5e-324)
    said = f"^degree={most + 1} is not allowed; give at most {most}\\.$"
    with pytest.raises(OptionError, match=said):
        checked_kernel("polynomial", most + 1, None, None)
    for name, option, owner in (
        ("linear", "degree", "polynomial"),
        ("gaussian", "offset", "polynomial"),
        ("polynomial", "gamma", "gaussian"),
    ):
        options = {"degree": None, "offset": None, "gamma": None} | {option: 3}
        with pytest.raises(OptionError) as caught:
            checked_kernel(name, *options.values())
        assert str(caught.value) == (
            f"{option}=3 makes no sense for kernel={name!r}; it belongs to "
            f"kernel={owner!r}."
        )
    for wrong in (-5e-324, True, np.nan, "1"):
        said = "^offset is of type str" if wrong == "1" else "^offset="
        with pytest.raises(OptionError, match=said):
            checked_kernel("polynomial", None, wrong, None)


@pytest.mark.parametrize("by_pairs", [False, True])
def test_a_matrix_is_a_kernel_up_to_rounding_and_not_beyond(by_pairs, monkeypatch):
    if by_pairs:
        monkeypatch.setattr(kernel_problem, "CHOLESKY_ROWS", 1)
    kept = np.ones(2, dtype=bool)
    for beyond, allowed in ((0.5e-10, True), (5e-10, False)):
        r = 4.0 * (1.0 + beyond)
        K = np.array([[4.0, -r], [-r, 4.0]])
        if allowed:
            np.testing.assert_array_equal(checked_gram(K, kept), K)
        else:
            with pytest.raises(DataError, match="not positive semi-definite"):
                checked_gram(K, kept)
    for apart, allowed in ((0.9e-8, True), (2e-8, False)):
        K = np.array([[4.0, -2.0], [-2.0 * (1.0 + apart), 4.0]])
        if allowed:
            checked_gram(K, kept)
        else:
            with pytest.raises(DataError, match="not symmetric"):
                checked_gram(K, kept)
    for near, allowed in ((3.9e-12, True), (4.1e-12, False)):
        K = np.array([[4.0, 0.0], [near, 4.0]])
        if allowed:
            found = [[4.0, near / 2], [near / 2, 4.0]]
            np.testing.assert_array_equal(checked_gram(K, kept), found)
        else:
            with pytest.raises(DataError, match="not symmetric"):
                checked_gram(K, kept)
    with pytest.raises(DataError, match="positive semi-definite"):
        checked_gram(np.diag([1.0, -1e-300]), kept)
    checked_gram(np.diag([1.0, 0.0]), kept)
    with pytest.raises(DataError, match=r"has shape \(3, 2\); give the square matrix"):
        checked_gram(np.eye(2), np.array([True, True, False]))
    wide = np.array([[2.0, 9.0, 1.0], [1.0, 9.0, 3.0]])
    used = checked_gram(wide, np.array([True, False, True]))
    np.testing.assert_array_equal(used, [[2.0, 1.0], [1.0, 3.0]])


@pytest.mark.fuzz
@given(seed=SEEDS, sign=st.sampled_from([-1.0, 1.0]), near=st.booleans())
def test_a_column_is_far_beyond_thirty_deviations_on_either_side(seed, sign, near):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 90))
    X = rng.standard_normal((n, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X[:, 1] += sign * FAR * (0.99 if near else 1.01)
    X[:, 2] = sign * 1e6  # constant: any distance is far
    y = np.where(np.arange(n) % 3, 1.0, -1.0)
    found = far_centre(Problem(X, y, 1.0))
    mean = 0.0 if near else X[:, 1].mean()
    # Means: sums in another order.
    np.testing.assert_allclose(found, [0.0, mean, sign * 1e6], rtol=1e-12)
    if near:
        assert far_centre(Problem(X[:, :2], y, 1.0)) is None
    assert far_centre(Problem(X, y, 1.0, intercept=False)) is None
    assert far_centre(Problem(sp.csr_array(X), y, 1.0)) is None


def test_far_columns_are_told_by_rows_from_all_of_the_data():
    X = np.r_[np.zeros(500), np.full(500, -100.0)][:, None]
    X = X + np.random.default_rng(1).standard_normal((1000, 1))
    y = np.where(np.arange(1000) % 3, 1.0, -1.0)
    assert far_centre(Problem(X, y, 1.0)) is None
    assert far_centre(Problem(X[500:], y[500:], 1.0)) is not None


@pytest.mark.fuzz
@given(problem=problems(forms=("dense",), intercept=True), seed=SEEDS)
def test_moving_the_rows_moves_the_intercept_alone(problem, seed):
    rng = np.random.default_rng(seed)
    centre = rng.standard_normal(problem.p) * 10.0 - 5.0
    beta, alpha = rng.standard_normal(problem.p), 0.7
    found = Solution(beta, alpha, np.zeros(problem.n), 1, 0, None)
    near = centred(problem, centre)
    back = moved(found, centre)
    at = primal(near, beta, alpha)
    assert primal(problem, back.beta, back.alpha) == pytest.approx(at, rel=1e-9)
    assert moved(found, None) is found


@pytest.mark.fuzz
@given(problem=problems(forms=("dense", "sparse")), power=st.integers(-300, 300))
def test_scaling_is_by_mean_and_deviation(problem, power):
    X = problem.X * 2.0**power
    rows = X.toarray() if sp.issparse(X) else X
    small = rows / 2.0**power
    found = Scaling.of(X, problem.intercept)
    deviations = small.std(axis=0, ddof=1)
    flat = deviations <= 1e-12 * np.abs(small.mean(axis=0))
    centre = small.mean(axis=0)
    if sp.issparse(X) or not problem.intercept:
        centre = np.zeros(problem.p)
    expected = np.where(flat, 1.0, deviations * 2.0**power)
    np.testing.assert_allclose(found.scale, expected, rtol=1e-9)
    np.testing.assert_allclose(found.centre / 2.0**power, centre, atol=1e-12 * 50)
    scaled = found.apply(X)
    assert sp.issparse(scaled) == sp.issparse(X)
    dense = scaled.toarray() if sp.issparse(scaled) else scaled
    np.testing.assert_allclose(
        dense, (rows - found.centre) / found.scale, rtol=1e-9, atol=1e-9
    )
    back = found.unapply(scaled)
    back = back.toarray() if sp.issparse(back) else back
    np.testing.assert_allclose(back / 2.0**power, small, atol=1e-11 * 50)
    beta = np.linspace(-1.0, 2.0, problem.p)
    original, alpha = found.undone(beta, 0.3)
    np.testing.assert_allclose(
        rows @ original + alpha, dense @ beta + 0.3, rtol=1e-8, atol=1e-8
    )
    theta = np.r_[0.3, beta] if problem.intercept else beta
    image = found.undoing(problem.intercept) @ theta
    pair = np.r_[alpha, original] if problem.intercept else original
    np.testing.assert_allclose(image, pair, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("size", [0.5e-12, 2e-12])
def test_a_column_is_constant_up_to_the_rounding_of_its_mean(size):
    values = np.tile([-1.0, 1.0], 10) * size / np.std(np.tile([-1.0, 1.0], 10), ddof=1)
    values = -1.0 + values  # rounded to 1e-16, far below
    found = Scaling.of(values[:, None]).scale[0]
    assert (found == 1.0) == (size < 1e-12)
