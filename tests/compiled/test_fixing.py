"""The read of the hinge with most rows fixed, against the formulas in numpy."""

import numpy as np
import pytest

from pegasos_stats.arrays import read_only
from pegasos_stats.compiled import dual
from pegasos_stats.compiled.arithmetic.lanes import padded

UNIT = 2.0**-4  # coarse, so that cutting shows


@pytest.mark.parametrize("form", ["f8", "f4"])
@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("delta", [0.4, -1.0])
@pytest.mark.parametrize(("n", "p"), [(1, 1), (50, 8), (131, 21)])
def test_a_read_is_what_the_formulas_say(n, p, delta, offset, form):
    at, rng = dual.fixing, np.random.default_rng(n)
    X = rng.standard_normal((n, p)).astype(form)
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    weights = rng.gamma(2.0, size=n) * (rng.random(n) < 0.9)
    known = rng.standard_normal(n) if offset else np.zeros(0)
    w, alpha, reach = np.zeros(padded(p)), 0.25, 1e-9
    w[:p] = rng.standard_normal(p)
    before = rng.integers(0, 3, n).astype(np.int8)
    state, joined, began = before.copy(), np.zeros(n, dtype=np.int64), np.zeros(n)
    parts, images = np.zeros((2, padded(p))), np.zeros((2, padded(p)))
    sums, counts = np.zeros(at.SUMS), np.zeros(at.COUNTS, dtype=np.int64)
    count = at.look(
        *map(read_only, (X, y, weights, known, w)),
        *(alpha, reach, delta, UNIT, 7, state, joined, began, parts, images),
        *(sums, counts),
    )
    o = known if offset else np.zeros(n)
    f = X.astype(float) @ w[:p] + alpha + o
    m, full = y * f, np.floor(weights / UNIT) * UNIT
    if delta >= 0.0:
        fixed = np.where(m < 1.0 - delta, at.FULL, at.ZERO)
        joins = np.abs(m - 1.0) <= delta
    else:
        fixed = before
        joins = ((before == at.FULL) & (m > 1.0)) | ((before == at.ZERO) & (m < 1.0))
    rows = np.flatnonzero(joins)
    assert joined[:count].tolist() == rows.tolist()
    assert (began[:count] == np.where(fixed == at.FULL, full, 0.0)[rows]).all()
    assert (state == np.where(joins, at.KEPT, fixed)).all()
    a, above = np.where(state == at.FULL, full, 0.0), y > 0.0
    close = {"rtol": 1e-12, "atol": 1e-12}  # rounding of sums of at most 131 numbers
    for side, of_class in enumerate((~above, above)):
        image = X[of_class].astype(float).T @ a[of_class]
        np.testing.assert_allclose(images[side, :p], image, **close)
        assert counts[at.LOW_UNITS + side] * UNIT == a[of_class].sum()
        offsets = a[of_class] @ o[of_class]
        np.testing.assert_allclose(sums[at.LOW + side], offsets, **close)
        table = counts[3 * side : 3 * side + 3].tolist()
        below = int((f[of_class] < 0.0).sum())
        assert table == [below, int(of_class.sum()) - below, 0]
    risk, exposed = weights @ np.maximum(0.0, 1.0 - m), weights[m < 1.0 + reach].sum()
    expected = [risk, exposed, a @ (y * o), a @ np.abs(o)]
    found = sums[[at.LOSS, at.EXPOSED, at.KNOWN, at.KNOWN_SIZE]]
    np.testing.assert_allclose(found, expected, **close)
    assert counts[at.VIOLATIONS] == (m < 1.0).sum()
    assert not images[:, p:].any()
