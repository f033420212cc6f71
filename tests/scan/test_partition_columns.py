"""Columns of partitions hold what the same columns hold in memory."""

from datetime import date
from decimal import Decimal

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import pegasos_stats as ps
from pegasos_stats.dask import rows
from pegasos_stats.errors import ColumnError
from tests.scan.test_same_as_in_memory import CLOSE, data_of, fitted

N = 600
CODES = np.random.default_rng(1).integers(0, 4, N)
LACKING = [None if i % 50 == 0 else int(code) for i, code in enumerate(CODES)]


def there(data, parts=3):
    """Partitions that hold objects as they are."""
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_pandas(data, npartitions=parts, sort=False)


def in_parts(*parts):
    """Partitions of these frames, whose types may differ."""
    with dask.config.set({"dataframe.convert-string": False}):
        given = [dask.delayed(part) for part in parts]
        return dd.from_delayed(given, meta=parts[0].iloc[:0], verify_meta=False)


def objects(values):
    return pd.Series(list(values), dtype=object)


COLUMNS = {
    "whole numbers": objects(LACKING),
    "decimals": objects(Decimal(int(code)) / 4 for code in CODES),
    "decimals of arrow": pd.Series(
        [Decimal(int(code)) / 4 for code in CODES],
        dtype=pd.ArrowDtype(pa.decimal128(6, 2)),
    ),
    "numbers and booleans": objects(True if v == 1 else int(v) for v in CODES),
    "booleans": objects(None if v is None else v > 1 for v in LACKING),
    "dates": objects(date(2020, 1, 1 + code) for code in CODES),
    "sparse, some missing": pd.Series(
        pd.arrays.SparseArray(np.where(CODES == 1, np.nan, CODES * 1.0))
    ),
    "the other byte order": pd.Series(CODES.astype(">i4")),
    "intervals": pd.cut(pd.Series(CODES), [-1, 0, 2, 9]),
    "dictionary of arrow": pd.Series(
        [None if v is None else "dacb"[v] for v in LACKING],
        dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())),
    ),
    "ordered": pd.Series(pd.Categorical(CODES, categories=[3, 1, 2, 0], ordered=True)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_read_as_in_memory(name):
    data = data_of(N)
    data["o"] = COLUMNS[name]
    expected, found = fitted("y ~ x + o", data), fitted("y ~ x + o", there(data))
    assert list(found.params.index) == list(expected.params.index)
    np.testing.assert_allclose(found.params, expected.params, atol=CLOSE)
    assert found.dropped.total == expected.dropped.total
    with dask.config.set(scheduler="synchronous"):
        scores = found.decision_function(there(data)).compute()
        assert found.confusion(there(data)).table.equals(found.confusion(data).table)
    pd.testing.assert_series_equal(scores, found.decision_function(data))


def test_numbers_may_be_of_other_types_in_other_partitions():
    data = data_of(N)
    data["o"] = CODES > 1
    first, second, third = data[:200], data[200:400], data[400:]
    whole = second.astype({"o": int}).astype({"o": object})
    parts = first.astype({"o": object}), whole, third.astype({"o": float})
    expected = fitted("y ~ x + o", data.astype({"o": float}))
    found = fitted("y ~ x + o", in_parts(*parts))
    assert list(found.params.index) == list(expected.params.index)
    np.testing.assert_allclose(found.params, expected.params, atol=CLOSE)


def refused(formula, data):
    with dask.config.set(scheduler="synchronous"), pytest.raises(ColumnError) as found:
        ps.logit(formula, data, lam=1.0)
    return str(found.value)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("complex128", CODES + 1j),
        ("interval[int64, right]", pd.interval_range(0, N)),
        ("period[D]", pd.period_range("2020-01", periods=N, freq="D")),
        ("timedelta64[s]", CODES.astype("timedelta64[s]")),
        ("datetime64[s, UTC]", pd.to_datetime(CODES, unit="s", utc=True).as_unit("s")),
    ],
)  # fmt: skip
def test_types_without_numbers_are_refused_by_name(kind, values):
    data = data_of(N)
    data["o"] = values
    assert f"'o' is of type {kind}" in refused("y ~ o", there(data))
    assert "'o'" in refused("y ~ o", data)
    assert fitted("y ~ x", there(data)).nobs == N


def test_objects_of_an_array_stay_what_they_are():
    data = data_of(N)[["y", "x"]].astype(object)
    array = dask.array.from_array(data.to_numpy(), chunks=(250, 2))
    found = fitted("y ~ x", rows(array, columns=["y", "x"]))
    expected = fitted("y ~ x", data)
    assert list(found.params.index) == ["Intercept", "x"]
    np.testing.assert_allclose(found.params, expected.params, atol=CLOSE)


def test_numbers_and_text_in_one_column_are_refused():
    data = data_of(N)
    data["o"] = objects("a" if i % 2 else 1 for i in range(N))
    assert "'o' contains values of the types int, str" in refused("y ~ o", there(data))
    parts = data[:300].copy(), data[300:].copy()
    parts[0]["o"], parts[1]["o"] = objects([1] * 300), objects(["a"] * 300).to_numpy()
    assert "'o' contains numbers and text" in refused("y ~ o", in_parts(*parts))
