"""Kernel models at their optimum: working sets, and what its fits give."""

import numpy as np
import pytest
from sklearn.svm import SVC

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.solvers.kernel_ascent import KernelAscent

TIGHT = ps.Optimum(tol=1e-7, seed=1)
PEER = 1e-5  # of an objective: SVC at its tolerance of 1e-6 is nearer than that
KERNELS = [
    {"kernel": "gaussian", "gamma": 0.7},
    {"kernel": "polynomial", "degree": 3, "offset": 0.5},
    {"kernel": "linear"},
    {"kernel": "precomputed"},
]


def data(n=150, seed=0):
    """Two levels of different sizes, that a curve tells apart; some rows twice."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    X[5:10] = X[:5]
    y = np.where(X[:, 0] * X[:, 1] + 0.4 * rng.standard_normal(n) > 0.3, "yes", "no")
    return X, y, rng.uniform(0.0, 3.0, n) * (rng.random(n) > 0.1)


def gram(X, Z, kernel):
    if kernel["kernel"] == "gaussian":
        apart = ((X[:, None] - Z[None]) ** 2).sum(axis=2)
        return np.exp(-kernel["gamma"] * apart)
    inner = X @ Z.T
    if kernel["kernel"] == "polynomial":
        return (inner + kernel["offset"]) ** kernel["degree"]
    return inner


def model_of(kernel, lam, weighted, **options):
    """A model of 150 rows, and the values of its kernel."""
    X, y, w = data()
    K = gram(X, X, kernel)
    rows = K if kernel["kernel"] == "precomputed" else X
    options |= {"lam": lam, "weights": w if weighted else None}
    return ps.KernelSVM(y, rows, standardize=False, **options, **kernel), K


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("lam", [0.5, 0.02])
@pytest.mark.filterwarnings("ignore:Solver terminated early")  # of the peer
def test_the_optimum_is_that_of_scikit_learn(kernel, weighted, lam):
    model, K = model_of(kernel, lam, weighted)
    result = model.fit(TIGHT)
    assert result.converged
    w = model.problem.row_weights
    n, y = len(K), model.problem.y
    peer = SVC(kernel="precomputed", C=1 / (lam * n), tol=1e-6, max_iter=200_000)
    peer.fit(K[np.ix_(w > 0, w > 0)], y[w > 0], sample_weight=w[w > 0])
    a = np.zeros(n)
    a[np.flatnonzero(w > 0)[peer.support_]] = peer.dual_coef_[0]  # a_i y_i / (lam n)
    scores = K @ a
    risks = [np.maximum(0.0, 1 - y * (scores + b)) @ w / n for b in y - scores]
    best = 0.5 * lam * (a @ scores) + min(risks)
    assert result.objective <= best * (1 + 1e-12) + result.gap
    assert result.dual_objective <= best * (1 + PEER)
    assert result.objective == pytest.approx(best, rel=PEER)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_certificate_is_what_the_definitions_say(kernel, intercept):
    model, K = model_of(kernel, 0.01, weighted=True, intercept=intercept)
    result = model.fit(ps.Optimum(tol=1e-6, seed=3))
    n, signs, a = len(K), model.problem.y, result.solution.dual
    w = model.problem.row_weights
    assert (a >= 0).all()
    assert (a <= w).all()
    if intercept:
        assert a[signs > 0].sum() == pytest.approx(a[signs < 0].sum(), rel=1e-14)
    else:
        assert result.intercept == 0.0
    scores = K @ (a * signs) / (0.01 * n)
    np.testing.assert_allclose(  # sums of 150 numbers in another order
        result.decision_function(), scores + result.intercept, rtol=1e-11, atol=1e-11
    )
    penalty = 0.5 * (a * signs) @ scores / n
    risk = w @ np.maximum(0.0, 1 - signs * (scores + result.intercept)) / n
    assert result.objective == pytest.approx(penalty + risk, rel=1e-12)
    # less a bound of rounding, which is largest for a matrix that is given
    assert result.dual_objective == pytest.approx(a.mean() - penalty, rel=1e-8)
    assert 0.0 < result.relative_gap <= 1e-6
    coefficients = (a * signs / (0.01 * n))[a > 0]
    assert result.dual_coef.to_numpy() == pytest.approx(coefficients, rel=1e-14)
    assert result.n_support == (a > 0).sum()


def test_without_a_solver_a_fit_goes_to_the_optimum():
    X, y, _ = data()
    model = ps.KernelSVM(y, X, lam=0.01)
    result = model.fit()
    assert isinstance(result.solver, ps.Optimum)
    assert result.relative_gap <= 1e-6
    steps = model.fit(ps.Pegasos(epochs=200, seed=1))
    assert steps.objective > result.objective
    assert steps.dual_objective <= result.dual_objective + result.gap
    again = model.fit(ps.Optimum(seed=result.seed))
    assert again.objective == result.objective
    assert (again.dual_coef == result.dual_coef).all()


@pytest.mark.parametrize("intercept", [True, False])
def test_working_sets_smaller_than_the_rows_come_to_the_same_optimum(intercept):
    X, y, _ = data(900)
    options = {"lam": 0.001, "gamma": 0.5, "intercept": intercept}
    fits = [
        ps.KernelSVM(y, X, memory=memory, **options).fit(TIGHT)
        for memory in (1, 900 * 8 * 100, 2**29)  # 64 rows, 100, and a set of 512
    ]
    best = min(fit.objective for fit in fits)
    assert all(fit.converged for fit in fits)
    for fit in fits:
        assert fit.objective <= best * (1 + 1e-7)
        assert fit.dual_objective <= best


def test_pegasos_is_refined():
    X, y, w = data()
    model = ps.KernelSVM(y, X, lam=0.01, weights=w)
    rough = ps.Pegasos(epochs=3, seed=5)
    result = model.fit(rough, refine=1e-6, trace=True)
    first, trace = model.fit(rough), result.trace
    assert result.relative_gap <= 1e-6
    assert result.converged
    assert result.n_iter > first.n_iter == 450
    assert result.n_violations > first.n_violations
    assert (result.seed, result.solver_name) == (5, "Pegasos, then Optimum")
    assert trace["epoch"].tolist() == list(range(1, len(trace) + 1))
    assert trace["objective"].iloc[2] == first.objective
    assert trace["objective"].iloc[-1] == result.objective
    assert "Pegasos, then Optimum" in str(result.summary(details=True))
    with pytest.raises(OptionError, match=r"refine=0\.1 continues a run of Pegasos"):
        model.fit(TIGHT, refine=0.1)


def test_a_path_goes_on_from_where_it_is():
    X, y, w = data(400)
    model = ps.KernelSVM(y, X, gamma=0.5, weights=w, lam=1.0)
    path = ps.lambda_path(model, [0.3, 1e-2, 1e-3, 1e-4], TIGHT, folds=None, seed=1)
    assert (path.fits["relative_gap"] <= 1e-7).all()
    for lam, objective in zip(path.lambdas, path.fits["objective"], strict=True):
        alone = ps.KernelSVM(y, X, gamma=0.5, weights=w, lam=lam).fit(TIGHT)
        assert objective == pytest.approx(alone.objective, rel=2e-7)
        assert objective >= alone.dual_objective


def test_rows_in_single_precision_reach_a_gap_below_its_rounding():
    """Scores are summed anew in double precision, as in iterative refinement."""
    X, y, _ = data(800)
    model = ps.KernelSVM(y, X, gamma=0.1, lam=0.01)
    assert KernelAscent(model.problem, TIGHT)._cache.rows.dtype == np.float32
    result = model.fit(ps.Optimum(tol=1e-10))
    assert result.relative_gap <= 1e-10 < np.finfo(np.float32).eps


@pytest.mark.parametrize("scale", [1e-24, 1e24])
def test_values_beyond_single_precision_are_stored_in_double(scale):
    """The penalty goes with the square of the scale: the model is the same."""
    X, y, _ = data()
    options = {"kernel": "linear", "standardize": False}
    fits = [
        ps.KernelSVM(y, c * X, lam=0.01 * c * c, **options).fit(TIGHT)
        for c in (1.0, scale)
    ]
    assert fits[1].relative_gap <= TIGHT.tol
    assert fits[1].objective == pytest.approx(fits[0].objective, rel=2 * TIGHT.tol)
