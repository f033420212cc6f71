"""Guards: margins that two ways of summing put on different sides of 1.

Each row has a first product near 1 and many of less than half a unit of its last place:
from the first entry to the last they are all lost, side by side most of them are not.
"""

import numpy as np
from scipy.sparse import csr_array

from pegasos_stats.compiled.pegasos import VIOLATIONS, StepRule, pegasos_epoch, start
from pegasos_stats.compiled.rows import row_dot, row_dot_fast
from pegasos_stats.solvers.sums import kernel_rows

P = 400
UNIT = 2.0**-53
LOST = 0.99 * UNIT  # beside a number from 1 to 2


def row(first, product):
    """Coefficients and a row with these products, the first one of 1 times itself."""
    w, x = np.full(P, np.sqrt(abs(product))), np.full(P, np.sqrt(abs(product)))
    w[0], x[0] = first, 1.0
    return w, np.copysign(x, product) if product < 0 else x


def test_the_guard_of_sparse_pegasos_covers_its_sums():
    w, x = row(1.0, LOST)
    X = kernel_rows(csr_array(np.vstack([x, x])))
    lam = 1.0 + 40.0 * UNIT  # divides 1 below 1, and not 1 with half of the others
    assert row_dot(X, 0, w) / lam < 1.0 <= row_dot_fast(X, 0, w) / lam
    state = start(2, P, 0.0)
    rows, y = np.array([0, 1]), np.ones(2, dtype=np.int8)
    pegasos_epoch(X, y, rows, StepRule(lam, intercept=False), state)
    assert state.scalars[VIOLATIONS] == 2.0
