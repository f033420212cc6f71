"""Tables and all their statistics are what they were; caret's are in tests/parity."""

import numpy as np
import pytest

from tests.frozen.rows import read
from tests.frozen.tables import CASES, statistics

FROZEN = read("tables")
RTOL = 1e-9  # quantiles of scipy differ by 1e-12 or so from version to version


def test_every_table_is_frozen_and_no_other():
    assert list(FROZEN) == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_statistics_are_the_frozen_ones(name):
    frozen, found = FROZEN[name], statistics(name)
    np.testing.assert_allclose(found["counts"], frozen["counts"], rtol=RTOL)
    assert found["statistics"].keys() == frozen["statistics"].keys()
    for key, values in found["statistics"].items():
        expected = frozen["statistics"][key]
        np.testing.assert_allclose(values, expected, rtol=RTOL, atol=RTOL, err_msg=key)
