"""Values in JSON: everything comes back with its type."""

import datetime
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.persist.parts import read, written


def again(value):
    """The value, written and read."""
    stored, arrays = written(value, Any)
    return read(json.loads(json.dumps(stored, allow_nan=False)), arrays, Any)


@pytest.mark.parametrize(
    "value",
    [
        [1, -0.0, 0.1, 5e-324, "ß", None, True],
        float("-inf"),
        np.float64(0.1),
        np.float32(0.1),
        np.int16(-3),
        np.bool_(True),
        np.str_("a"),
        {0: (1, 2), "a": {"b": [np.float64(2.0)]}},
        pd.Timestamp("2001-02-03 04:05:06.789", tz="Europe/Berlin"),
        pd.Timestamp("2001-02-03").as_unit("ns"),
        pd.Timedelta("1.5s"),
        pd.Interval(0.5, 2.0, closed="left"),
        datetime.datetime(2001, 2, 3, 4),
        np.datetime64("2001-02-03", "D"),
        2**80,
    ],
)
def test_values_come_back_with_their_type(value):
    found = again(value)
    assert type(found) is type(value)
    assert repr(found) == repr(value)


ARRAYS = [
    np.array([[0.1, np.nan], [np.inf, -1]], dtype=np.float32),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.array([["a", "long"]], dtype="<U9"),
    np.array([1, "a", None, (2, 3)], dtype=object),
    np.arange(3, dtype=">i4"),
]


def test_missing_values_and_arrays_come_back():
    assert again(pd.NA) is pd.NA
    assert again(pd.NaT) is pd.NaT
    assert np.isnan(again(float("nan")))
    for array in ARRAYS:
        found = again(array)
        np.testing.assert_array_equal(found, array)
        assert found.dtype == array.dtype.newbyteorder("=")
        assert found.flags.f_contiguous == array.flags.f_contiguous
