"""Standard errors follow the laws of the problem: levels, signs, rows, units."""

import numpy as np
import pytest

import pegasos_stats as ps

TIGHT = ps.SDCA(tol=1e-11, epochs=1000, seed=1)
# Coefficients are at the optimum to sqrt(2 gap / lam), some 1e-5, and covariances are
# smooth in them: those of the hinge weigh rows near the margin by a smooth kernel.
RTOL = 1e-4
ERRORS = {ps.Logit: ["HC0", "HC1", "HC2", "HC3", "nonrobust"], ps.SVM: ["sandwich"]}
CASES = [(kind, name) for kind, names in ERRORS.items() for name in names]


@pytest.fixture(scope="module")
def rows():
    """A rare level, columns to one side of zero, uneven weights and an offset."""
    rng = np.random.default_rng(5)
    n = 90
    X = rng.standard_normal((n, 3)) * [1.0, 0.3, 2.0] - [1.5, 0.0, 4.0]
    score = X @ [1.0, -2.0, 0.5] + 1.2 * rng.logistic(size=n)
    y = score > np.quantile(score, 0.7)
    return X, y, rng.uniform(0.2, 3.0, n), 0.7 * rng.standard_normal(n) - 0.4


def estimates(kind, X, y, weights, offset, errors, lam=0.05):
    if errors == "nonrobust":
        weights = None  # with which the model has no probabilities of the data
    model = kind(y, X, lam=lam, weights=weights, offset=offset)
    result = model.fit(TIGHT, cov_type=errors)
    order = [*range(1, len(result.params)), 0]  # the intercept last
    ends = result.conf_int().to_numpy()[order]
    cov = result.cov_params().to_numpy()[np.ix_(order, order)]
    return result.params.to_numpy()[order], cov, ends


def assert_are(found, theta, cov, ends):
    unit = np.sqrt(np.diag(cov))
    np.testing.assert_allclose(found[0] / unit, theta / unit, atol=RTOL)
    np.testing.assert_allclose(
        found[1] / np.outer(unit, unit), cov / np.outer(unit, unit), atol=RTOL
    )
    np.testing.assert_allclose(
        found[2] / unit[:, None], ends / unit[:, None], atol=RTOL
    )


@pytest.mark.parametrize(("kind", "errors"), CASES)
def test_exchanged_levels_turn_every_sign(kind, errors, rows):
    X, y, w, z = rows
    theta, cov, ends = estimates(kind, X, y, w, z, errors)
    assert_are(estimates(kind, X, ~y, w, -z, errors), -theta, cov, -ends[:, ::-1])


@pytest.mark.parametrize(("kind", "errors"), CASES)
def test_columns_of_the_other_sign_have_coefficients_of_the_other(kind, errors, rows):
    X, y, w, z = rows
    theta, cov, ends = estimates(kind, X, y, w, z, errors)
    signs = np.array([-1.0, 1.0, -1.0, 1.0])
    ends = np.where(signs[:, None] < 0.0, -ends[:, ::-1], ends)
    expected = theta * signs, cov * np.outer(signs, signs), ends
    assert_are(estimates(kind, X * signs[:3], y, w, z, errors), *expected)


@pytest.mark.parametrize(("kind", "errors"), CASES)
def test_rows_in_another_order_are_the_same_rows(kind, errors, rows):
    X, y, w, z = rows
    expected = estimates(kind, X, y, w, z, errors)
    o = np.random.default_rng(0).permutation(y.size)
    assert_are(estimates(kind, X[o], y[o], 4.0 * w[o], z[o], errors), *expected)


@pytest.mark.parametrize(("kind", "errors"), CASES)
def test_other_units_of_all_columns_are_the_same_fit(kind, errors, rows):
    """``X / 4`` with ``lam / 16`` has coefficients four times as large."""
    X, y, w, z = rows
    theta, cov, ends = estimates(kind, X, y, w, z, errors)
    s = np.array([4.0, 4.0, 4.0, 1.0])
    found = estimates(kind, X / 4.0, y, w, z, errors, lam=0.05 / 16.0)
    assert_are(found, theta * s, cov * np.outer(s, s), ends * s[:, None])
