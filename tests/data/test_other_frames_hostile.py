"""Columns of other libraries that models cannot use, and frames that are none."""

import datetime as dt

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import pegasos_stats as ps

HOSTILE = pl.DataFrame(
    {
        "y": ["n", "p", "p", "n"] * 2,
        "x": [0.5, 1.5, -1.0, 2.0, 0.0, 3.0, 1.0, 0.2],
        "list": [[1, 2], [3], None, []] * 2,
        "struct": [{"a": 1}] * 8,
        "decimal": pl.Series([1.5, 2.25, None, 4] * 2).cast(pl.Decimal(8, 2)),
        "zone": pl.Series(
            [dt.datetime(2020, 1, d) for d in range(1, 9)]
        ).dt.replace_time_zone("Europe/Berlin"),
        "long": [dt.timedelta(hours=h) for h in range(8)],
        "day": [dt.date(1, 1, 1), dt.date(9999, 12, 31), None, dt.date(2020, 2, 29)]
        * 2,
        "time": [dt.time(1)] * 8,
        "bytes": [b"a", None] * 4,
        "none": [None] * 8,
        "object": pl.Series([{1}, None] * 4, dtype=pl.Object),
        "huge": pl.Series([2**100, None] * 4, dtype=pl.Int128),
    }
)


def test_columns_that_no_model_can_use_are_in_nobodys_way():
    result = ps.svm("y ~ x", HOSTILE, lam=1.0).fit(ps.SDCA(seed=1))
    found = result.augment(HOSTILE)
    assert (
        found.drop("object")
        .select(HOSTILE.drop("object").columns)
        .equals(HOSTILE.drop("object"))
    )
    assert found.schema["object"] == pl.Object
    assert found["object"].to_list() == HOSTILE["object"].to_list()
    one = HOSTILE.select("y", "decimal").to_pandas().astype({"decimal": float})
    decimal = ps.svm("y ~ decimal", HOSTILE, lam=1.0).problem.X
    assert np.array_equal(decimal, ps.svm("y ~ decimal", one, lam=1.0).problem.X)
    assert (
        ps.SVM(HOSTILE["y"], HOSTILE[["huge"]], lam=1.0).problem.X.tolist()
        == [[2.0**100]] * 4
    )


TWICE = pa.Table.from_arrays(
    [pa.array(["n", "p"]), pa.array([1, 2]), pa.array([3, 4])], names=["y", "x", "x"]
)


@pytest.mark.parametrize(
    ("column", "named"),
    [
        ("list", "values of type ndarray"),
        ("zone", r"type datetime64\[us, Europe/Berlin\]"),
        ("none", "missing: 8"),
    ],
)
def test_columns_that_cannot_be_used_are_named(column, named):
    with pytest.raises(ps.errors.DataError, match=f"'{column}'.*{named}"):
        ps.svm(f"y ~ {column}", HOSTILE, lam=1.0)


@pytest.mark.parametrize(
    ("door", "named"),
    [
        (lambda: ps.SVM(HOSTILE["y"], HOSTILE[["x", "bytes"]], lam=1.0), "'bytes'"),
        (lambda: ps.svm("y ~ x", TWICE, lam=1.0), "'x' occurs more than once"),
        (lambda: ps.svm("y ~ x", HOSTILE.lazy(), lam=1.0), r"data\.collect\(\)"),
        (
            lambda: ps.SVM(HOSTILE["y"], nw.from_native(HOSTILE.lazy()), lam=1.0),
            r"data\.collect\(\)",
        ),
        (lambda: ps.svm("y ~ x", TWICE.to_reader(), lam=1.0), "RecordBatchReader"),
    ],
)
def test_what_cannot_be_used_is_named(door, named):
    with pytest.raises(ps.errors.DataError, match=named):
        door()
