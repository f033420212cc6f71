"""Count tables and caret's statistics of them.

Beside this file stands ``r_reference/R/caret.R``.
"""

import numpy as np
import pandas as pd

from pegasos_stats.metrics.caret import CARET_NAMES
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.metrics.inputs import Choices, checked_choices

# Sums and quotients of a few terms, in another order; kappa is small by cancellation.
RTOL = 1e-12
ATOL = 1e-12
# Small p-values relative to their size: with a million rows the last bit of the
# no-information rate moves a p-value of 1e-69 by 5e-12 of itself. Below 1e-300 doubles
# lose digits.
P_RTOL = 1e-10
P_ATOL = 1e-300

LETTERS = ("a", "b", "c", "d", "e")
OVERALL = list(CARET_NAMES)[:7]
BY_CLASS = list(CARET_NAMES)[7:]
P_VALUES = ["accuracy_p_value", "mcnemar_p_value"]


def matrix_of(counts, choices: Choices | None = None) -> ConfusionMatrix:
    """A table of the first letters, by caret's rule, all rows with a prediction."""
    square = np.asarray(counts, dtype=np.int64)
    k = len(square)
    levels = LETTERS[:k]
    choices = choices or checked_choices(levels, event_level="first")
    padded = np.column_stack([square, np.zeros(k, dtype=np.int64)])
    return ConfusionMatrix(levels, padded, pd.DataFrame(), choices=choices)


def assert_overall(matrix: ConfusionMatrix, theirs) -> None:
    ours, theirs = matrix._overall, dict(zip(OVERALL, theirs, strict=True))
    for name in OVERALL:
        pair = ours[name], theirs[name]
        np.testing.assert_allclose(*pair, RTOL, ATOL, err_msg=name)
        if name in P_VALUES:
            np.testing.assert_allclose(*pair, P_RTOL, P_ATOL, err_msg=name)


def assert_by_class(matrix: ConfusionMatrix, theirs) -> None:
    classes = matrix.summary().classes.values()  # NA for an F measure of 0, as caret
    ours = np.array([list(terms.values()) for terms in classes])
    expected = np.asarray(theirs, dtype=float).reshape(ours.shape)
    np.testing.assert_allclose(ours, expected, RTOL, ATOL)
