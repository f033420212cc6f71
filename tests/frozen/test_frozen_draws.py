"""Folds, and runs that follow what is drawn, are what they were.

R's own draws are in ``tests/rng``, its folds and the rows of its resamples in
``tests/parity``. Runs of kernel Pegasos, which are there compared with R as it runs,
are frozen here, so that they are without R too.
"""

import numpy as np
import pytest

from tests.frozen import draws
from tests.frozen.rows import read

FROZEN = {name: read(name) for name in ("folds", "validations", "runs")}
EXP_RTOL = 1e-12  # exp() rounds differently from one library to the next
RUNS_ATOL = 1e-12  # held-out scores are summed in another order
# Coefficients are within sqrt(2 gap / lam) = 5e-4 of the optimum, at most.
OPTIMA_ATOL = 1e-3


def test_folds_are_the_frozen_ones():
    assert draws.folds() == FROZEN["folds"]


def test_validations_are_the_frozen_ones():
    found = draws.validations()
    assert found.keys() == FROZEN["validations"].keys()
    for name, columns in FROZEN["validations"].items():
        tolerance = RUNS_ATOL if name == "runs" else OPTIMA_ATOL
        for metric, values in columns.items():
            np.testing.assert_allclose(
                found[name][metric], values, rtol=0.0, atol=tolerance, err_msg=metric
            )


@pytest.mark.parametrize("name", draws.RUNS)
def test_runs_of_kernels_are_the_frozen_ones(name):
    """In every bit; where the kernel has exp(), to its rounding."""
    frozen, found = FROZEN["runs"][name], draws.run(name)
    if name != "gaussian":
        assert found == frozen
        return
    assert found["violations"] == frozen["violations"]
    assert found["intercept"] == pytest.approx(frozen["intercept"], rel=EXP_RTOL)
    assert found["dual_coef"] == pytest.approx(frozen["dual_coef"], rel=EXP_RTOL)
