"""The optimum of a kernel machine against a plain run of pairs in R."""

import numpy as np
import pytest

import pegasos_stats as ps

KERNELS = {
    "gaussian": {"gamma": 0.4},
    "polynomial": {"degree": 3, "offset": 0.5},
    "linear": {},
}


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_pairs_in_r_come_to_the_same_optimum(r, kernel, weighted):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((70, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(70) > 0.4, 1.0, -1.0)
    w = rng.uniform(0.1, 3.0, 70) if weighted else np.ones(70)
    w /= w.mean()
    options = {"kernel": kernel, **KERNELS[kernel]}
    model = ps.KernelSVM(y, X, lam=0.02, weights=w if weighted else None, **options)
    result = model.fit(ps.SDCA(tol=1e-9, seed=1))
    r.set("X", X)
    r.set("y", y)
    r.set("w", w)
    given = ", ".join(
        [
            f'kernel = "{kernel}"',
            *map("{0[0]} = {0[1]}".format, KERNELS[kernel].items()),
        ]
    )
    given = f"lambda = 0.02, {given}, weights = w"
    r.eval(f"fit <- kernel_pairs(X, y, {given}, tol = 1e-7)")
    found = r.eval(f"kernel_certificate(X, y, fit$alpha, fit$a, {given})")
    # both are within their gaps of one optimum: 1e-9 of it, and 1e-7 of a margin
    assert found["objective"][0] == pytest.approx(result.objective, rel=1e-6)
    assert found["objective"][0] >= result.dual_objective
    assert found["dual_objective"][0] <= result.objective
    scores = r.eval("fit$g / (0.02 * 70)")
    ours = result.decision_function() - result.intercept
    # ||f - f*||^2 <= 2 gap / lam of both, and |f(x)|^2 <= ||f||^2 K(x, x)
    gaps = [found["objective"][0] - found["dual_objective"][0], result.gap]
    inner = np.square(X).sum(axis=1)
    squares = {"gaussian": 1.0, "polynomial": (inner + 0.5) ** 3, "linear": inner}
    apart = np.sqrt(squares[kernel]) * np.sqrt(2.0 * np.array(gaps) / 0.02).sum()
    assert (np.abs(scores - ours) <= apart).all()
