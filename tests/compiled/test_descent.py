"""The read of the log loss, against the formulas in numpy."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from pegasos_stats.arrays import read_only
from pegasos_stats.compiled import dual
from pegasos_stats.compiled.arithmetic.lanes import padded
from pegasos_stats.solvers.problem import kernel_rows


@pytest.mark.parametrize("form", ["float64", "float32", "sparse"])
@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize(("n", "p"), [(1, 1), (7, 3), (50, 8), (131, 21)])
def test_a_read_is_what_the_formulas_say(n, p, form, offset):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, p)).astype("f4" if form == "float32" else "f8")
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    weights = rng.integers(0, 3, n).astype(float)
    known = rng.standard_normal(n) if offset else np.zeros(0)
    w, image, a, sums = np.zeros(padded(p)), np.ones(padded(p)), np.ones(n), np.ones(3)
    w[:p] = rng.standard_normal(p)
    w_before = w[:p].copy()
    rows = kernel_rows(csr_array(X) if form == "sparse" else X)
    given = map(read_only, (y, weights, known))
    dual.descent.look(rows, *given, w, 0.25, 16, a, image, sums)
    X = X.astype(float)
    margins = y * (X @ w_before + 0.25 + (known if offset else 0.0))
    slopes = weights / (1.0 + np.exp(margins))
    close = {"rtol": 1e-12, "atol": 1e-12}  # rounding of sums of at most 131 numbers
    np.testing.assert_allclose(a, slopes, **close)
    np.testing.assert_allclose(image[:p], X.T @ (slopes * y), **close)
    risk = weights @ np.logaddexp(0.0, -margins)
    np.testing.assert_allclose(sums, [risk, slopes @ y, (margins < 0.0).sum()], **close)
    assert not image[p:].any()
