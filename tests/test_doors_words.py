"""Text that cannot be written, and other limits of what is taken or shown."""

import re

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError, DataError, LabelError, OptionError

HALF = "\ud800"  # of a surrogate pair
X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 5.0], "b": [2.0, 1.0, 0.0, -1.0]})
Y = ["n", "p", "p", "n"]


NAMED = X.set_axis(pd.Index([HALF, "b"], dtype=object), axis=1)
FIT = ps.SVM(Y, X, lam=1.0).fit(ps.SDCA(seed=1))
DOORS = {
    "name of a column": (ColumnError, lambda: ps.SVM(Y, NAMED, lam=1.0)),
    "name of the outcome": (
        *(LabelError, lambda: ps.SVM(pd.Series(Y, name=HALF), X, lam=1.0)),
    ),
    "level": (LabelError, lambda: ps.SVM(["n", HALF, HALF, "n"], X, lam=1.0)),
    "cell": (ColumnError, lambda: ps.SVM(Y, [[HALF, 1.0]] * 4, lam=1.0)),
    "name of a fit": (OptionError, lambda: ps.compare_models({HALF: FIT})),
    "title": (OptionError, lambda: FIT.report("no.md", title=HALF)),
}


@pytest.mark.parametrize("door", DOORS)
def test_text_that_cannot_be_written_is_refused_at_the_door(door):
    kind, call = DOORS[door]
    with pytest.raises(kind, match=re.escape(repr(HALF))):
        call()


@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-300])
def test_a_kernel_that_is_zero_is_one(size):
    K = np.zeros((4, 4))
    K[0, 0] = size
    result = ps.KernelSVM(Y, K, kernel="precomputed", lam=1.0).fit(
        ps.Pegasos(epochs=1, seed=1)
    )
    assert result.objective >= result.objective - result.gap >= 0.0


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e300])
def test_a_kernel_with_a_value_below_zero_is_none(size):
    swapped = np.array([[0.0, 1.0], [1.0, 0.0]])
    for K in (np.diag([1.0, 1.0, 1.0, -1e-6]), np.kron(np.eye(2), swapped)):
        with pytest.raises(DataError, match="not positive semi-definite"):
            ps.KernelSVM(Y, size * K, kernel="precomputed", lam=1.0)
