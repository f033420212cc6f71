"""Sums over the rows with twice the digits, beside exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from pegasos_stats.compiled.risk import Loss, risk_and_image_exactly
from pegasos_stats.solvers.certificate import row_sums
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sums import kernel_rows
from tests.solvers.exactly import fractions, loss_of


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("loss", list(Loss))
@pytest.mark.parametrize("far", [0.0, 1e9])
def test_sums_are_those_of_fractions_to_their_stated_error(form, loss, far):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(31, 5)) + far * rng.choice([0.0, 1.0], 5)
    y = np.where(rng.random(31) < 0.2, 1, -1).astype(np.int8)
    beta, weights = rng.normal(size=5), rng.uniform(0.1, 4.0, 31)
    beta[4] -= (X.mean(axis=0) @ beta) / X.mean(axis=0)[4] if far else 0.0
    alpha = 0.3 - float(np.median(X @ beta))  # margins on both sides of 0 and 1
    a = weights * rng.choice([0.0, 0.4, 1.0], 31)
    given = (kernel_rows(form(X)), y.astype(np.float64), beta, alpha)
    seen = risk_and_image_exactly(*given, int(loss), a, weights)
    m = y.astype(object) * (fractions(X) @ fractions(beta) + Fraction(alpha))
    total = fractions(weights) @ [loss_of(loss.name.lower(), each) for each in m]
    image = (fractions(a) * y.astype(object)) @ fractions(X)
    assert 0 < (m > 1).sum() < 31
    found = Fraction(seen.loss) + Fraction(seen.loss_rest)
    # The log loss of a margin is the library's, a square is rounded: to two units in
    # the last place of each.
    rounding = 0 if loss == Loss.HINGE else 2 * Fraction(1, 2**52) * total
    assert abs(found - total) <= Fraction(seen.loss_error) + rounding
    most = 1e-20 * (1.0 + far) * 31 * 4
    assert seen.loss_error <= (
        most if loss != Loss.SQUARED_HINGE else 1e-25 * seen.loss
    )
    apart = abs(fractions(seen.image) + fractions(seen.image_rest) - image).sum()
    assert apart <= Fraction(seen.image_error)
    # two roundings of what one rounding of the sums so far left, in rows and columns
    assert seen.image_error <= 31 * 5 * 2 * 31 * 4.0 * (4.0 + far) * 2.0**-105


@pytest.mark.parametrize("form", ["float64", "float32", "sparse"])
@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("n", [1, 6, 131])
def test_sums_of_one_pass_are_what_the_formulas_say(n, loss, form):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 7)).astype("f4" if form == "float32" else "f8")
    X[::5] = 0.0  # a score of 0, with the offset of such a row
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    w, known = rng.integers(0, 3, n) * 1.0, rng.standard_normal(n)
    known[::5] = -0.25
    a = w * rng.choice([0.0, 0.3, 1.0], n)
    beta = rng.standard_normal(7)
    rows = csr_array(X) if form == "sparse" else X
    problem = Problem(rows, y, 1.0, loss, weights=w, offset=known)
    seen = row_sums(problem, beta, 0.25, a, 0.125)
    m = y * (X.astype(float) @ beta + 0.25 + known)
    values = np.maximum(0.0, 1.0 - m) if loss == "hinge" else np.logaddexp(0.0, -m)
    share = np.divide(a, w, out=np.zeros(n), where=w > 0.0)
    inner = np.where((share == 0.0) | (share == 1.0), 0.5, share)
    logs = -inner * np.log(inner) - (1.0 - inner) * np.log1p(-inner)
    rewards = share if loss == "hinge" else np.where(inner == share, logs, 0.0)
    close = {"rtol": 1e-12, "atol": 1e-12}  # rounding of sums of at most 131 numbers
    np.testing.assert_allclose(seen.loss, w @ values, **close)
    np.testing.assert_allclose(seen.entropy, w @ rewards, **close)
    np.testing.assert_allclose(seen.image, X.astype(float).T @ (a * y), **close)
    if loss == "hinge":
        np.testing.assert_allclose(seen.exposed, w[m < 1.125].sum(), **close)
    np.testing.assert_allclose(seen.dual, a.sum(), **close)
    np.testing.assert_allclose(seen.offset_sum, a * y @ known, **close)
    np.testing.assert_allclose(seen.offset_size, a @ abs(known), **close)
    assert seen.errors == (m < 0.0).sum()
    assert seen.at_zero == tuple((y[m == 0.0] == k).sum() for k in (-1.0, 1.0))
