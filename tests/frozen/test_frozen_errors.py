"""Standard errors and intervals are what they were, by every kind that stays."""

import numpy as np
import pytest

from tests.frozen.errors import CASES, numbers
from tests.frozen.rows import read

FROZEN = read("errors")
# In standard errors, which are 0.2 or so. Coefficients are within sqrt(2 gap / lam) of
# the optimum, 1e-5 at a relative gap of 1e-12, and the sandwich moves as they do.
# Resamples are fitted to 1e-10, within 1e-4 of theirs. Copies of a row at the margin
# share its dual weight in any way, on which the scores of the hinge depend.
SANDWICH, RESAMPLES, COPIES = 2e-4, 2e-3, 5e-3


def test_every_case_is_frozen_and_no_other():
    assert list(FROZEN) == list(CASES)
    assert len(CASES) >= 30


@pytest.mark.parametrize("name", CASES)
def test_errors_and_intervals_are_the_frozen_ones(name):
    frozen, found = FROZEN[name], numbers(name)
    error = np.array(frozen["std_error"])
    tolerance = RESAMPLES if "bootstrap" in name else SANDWICH
    tolerance = COPIES if name == "hinge, freq_weights, sandwich" else tolerance
    for key, values in found.items():
        change = np.abs(np.array(values) - frozen[key]) / error
        assert change.max() <= tolerance, key
