"""Columns of other libraries that models cannot use, and frames that are none."""

import datetime as dt

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import pegasos_stats as ps

DAYS = [dt.date(1, 1, 1), dt.date(9999, 12, 31), None, dt.date(2020, 2, 29)]
TIMES = pl.Series([dt.datetime(2020, 1, day) for day in range(1, 9)])
HOSTILE = pl.DataFrame(
    {
        "y": ["n", "p", "p", "n"] * 2,
        "x": [0.5, 1.5, -1.0, 2.0, 0.0, 3.0, 1.0, 0.2],
        "list": [[1, 2], [3], None, []] * 2,
        "struct": [{"a": 1}] * 8,
        "decimal": pl.Series([1.5, 2.25, None, 4] * 2).cast(pl.Decimal(8, 2)),
        "zone": TIMES.dt.replace_time_zone("Europe/Berlin"),
        "long": [dt.timedelta(hours=h) for h in range(8)],
        "day": DAYS * 2,
        "time": [dt.time(1)] * 8,
        "bytes": [b"a", None] * 4,
        "none": [None] * 8,
        "object": pl.Series([{1}, None] * 4, dtype=pl.Object),
        "huge": pl.Series([2**100, None] * 4, dtype=pl.Int128),
    }
)


def test_columns_that_no_model_can_use_are_in_nobodys_way():
    result = ps.svm("y ~ x", HOSTILE, lam=1.0).fit(ps.Optimum(seed=1))
    found, known = result.augment(HOSTILE), HOSTILE.drop("object")
    assert found.select(known.columns).equals(known)
    assert found.schema["object"] == pl.Object
    assert found["object"].to_list() == HOSTILE["object"].to_list()
    one = HOSTILE.select("y", "decimal").to_pandas().astype({"decimal": float})
    decimal = ps.svm("y ~ decimal", HOSTILE, lam=1.0).problem.X
    assert np.array_equal(decimal, ps.svm("y ~ decimal", one, lam=1.0).problem.X)
    huge = ps.SVM(HOSTILE["y"], HOSTILE[["huge"]], lam=1.0).problem.X
    assert huge.tolist() == [[2.0**100]] * 4


TWICE = pa.table([["n", "p"], [1, 2], [3, 4]], names=["y", "x", "x"])


@pytest.mark.parametrize(
    ("data", "terms", "named"),
    [
        (HOSTILE, "list", "'list'.*values of type ndarray"),
        (HOSTILE, "zone", r"'zone'.*type datetime64\[us, Europe/Berlin\]"),
        (HOSTILE, "none", "'none'.*missing: 8"),
        (TWICE, "x", "'x' occurs more than once"),
        (HOSTILE.lazy(), "x", r"data\.collect\(\), or ps\.scan\("),
        (nw.from_native(HOSTILE.lazy()), "x", r"data\.collect\(\)"),
        (TWICE.to_reader(), "x", "RecordBatchReader"),
    ],
)
def test_what_cannot_be_used_is_named(data, terms, named):
    with pytest.raises(ps.errors.DataError, match=named):
        ps.svm(f"y ~ {terms}", data, lam=1.0)
