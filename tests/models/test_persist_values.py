"""Values in JSON: everything comes back with its type."""

import datetime
import json

import numpy as np
import pandas as pd
import pytest

from pegasos_stats.errors import DataError
from pegasos_stats.models.persist.values import packed, unpacked


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
    found = unpacked(json.loads(json.dumps(packed(value), allow_nan=False)))
    assert type(found) is type(value)
    assert repr(found) == repr(value)


def test_missing_values_and_arrays_come_back():
    assert unpacked(packed(pd.NA)) is pd.NA
    assert unpacked(packed(pd.NaT)) is pd.NaT
    assert np.isnan(unpacked(packed(float("nan"))))
    array = np.array([[0.1, np.nan], [np.inf, -1]], dtype=np.float32)
    np.testing.assert_array_equal(
        unpacked(json.loads(json.dumps(packed(array)))), array
    )


@pytest.mark.parametrize("value", [1j, np.complex64(1j), object(), np.longdouble(0.1)])
@pytest.mark.parametrize("within", [lambda v: v, lambda v: [v], lambda v: {1: (v,)}])
def test_other_values_are_refused(value, within):
    with pytest.raises(DataError, match="which a saved model cannot hold; convert it"):
        packed(within(value))
