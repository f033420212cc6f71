"""Columns of other libraries that models cannot use, and frames that are none."""

import datetime as dt
import sys

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


DATES = "give numbers, such as days since a date, or categories."
PARTS = "give numbers, text or categories, such as a column for each part."
TWICE = pa.Table.from_arrays(
    [pa.array(["n", "p"]), pa.array([1, 2]), pa.array([3, 4])], names=["y", "x", "x"]
)
QUERY = "a query that has no rows yet; give its rows: data.collect()."


@pytest.mark.parametrize(
    ("door", "words"),
    [
        (
            lambda: ps.svm("y ~ list", HOSTILE, lam=1.0),
            f"Column 'list' holds values of type ndarray; {PARTS}",
        ),
        (
            lambda: ps.svm("y ~ struct", HOSTILE, lam=1.0),
            f"Column 'struct' holds values of type dict; {PARTS}",
        ),
        (
            lambda: ps.svm("y ~ object", HOSTILE, lam=1.0),
            f"Column 'object' holds values of type set; {PARTS}",
        ),
        (
            lambda: ps.svm("y ~ zone", HOSTILE, lam=1.0),
            f"Column 'zone' is of type datetime64[us, Europe/Berlin]; {DATES}",
        ),
        (
            lambda: ps.svm("y ~ long", HOSTILE, lam=1.0),
            f"Column 'long' is of type timedelta64[us]; {DATES}",
        ),
        (
            lambda: ps.svm("y ~ day", HOSTILE, lam=1.0),
            f"Column 'day' is of type datetime64[ms]; {DATES}",
        ),
        (
            lambda: ps.SVM(HOSTILE["y"], HOSTILE[["x", "bytes"]], lam=1.0),
            "Column 'bytes' is not numeric: it holds \"b'a'\" in 4 rows (0, 2, 4, 6); "
            "give numbers, or make it a factor of the model: C(...) in a formula.",
        ),
        (
            lambda: ps.svm("y ~ none", HOSTILE, lam=1.0),
            "No row is complete: 'none' holds no value at all; leave it out of the "
            "model.",
        ),
        (
            lambda: ps.svm("y ~ x", HOSTILE.head(0), lam=1.0),
            "No row is complete in the outcome and 'x'; give data with values for all "
            "of them.",
        ),
        (
            lambda: ps.SVM(["n", "p"], TWICE.select([]), lam=1.0),
            "X has no columns; give at least one predictor.",
        ),
        (
            lambda: ps.svm("y ~ x", TWICE, lam=1.0),
            "The column name 'x' occurs more than once; rename the columns.",
        ),
        (
            lambda: ps.svm("y ~ x", HOSTILE.lazy(), lam=1.0),
            f"The data are a LazyFrame of polars, {QUERY}",
        ),
        (
            lambda: ps.SVM(HOSTILE["y"], nw.from_native(HOSTILE.lazy()), lam=1.0),
            f"The data are a LazyFrame of narwhals, {QUERY}",
        ),
        (
            lambda: ps.svm("y ~ x", pl.col("y"), lam=1.0),
            "data is of type Expr; a formula needs a data frame with named columns.",
        ),
        (
            lambda: ps.svm("y ~ x", TWICE.to_reader(), lam=1.0),
            "data is of type RecordBatchReader; a formula needs a data frame with "
            "named columns.",
        ),
        (
            lambda: (
                ps.SVM([1, "a"] * 4, HOSTILE["x"], coding=(1, "a"), lam=1.0)
                .fit(ps.SDCA(seed=1))
                .predict(HOSTILE["x"])
            ),
            "The labels are of the types int, str, which a column of polars cannot "
            "hold together; give the data as pandas' own.",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(door, words):
    with pytest.raises(ps.errors.DataError) as caught:
        door()
    assert str(caught.value).startswith(words.split(";")[0])


def test_names_that_occur_twice_are_kept_where_nobody_asks_for_them():
    twice = TWICE.append_column("z", pa.array([0.5, 0.25]))
    result = ps.svm("y ~ z", twice, lam=1.0).fit(ps.SDCA(seed=1))
    assert result.augment(twice).column_names[:4] == ["y", "x", "x", "z"]
    assert result.augment(twice)[1].to_pylist() == [1, 2]


def test_levels_of_a_dictionary_that_occur_twice_or_are_missing():
    codes = pa.array([0, 1, 2, 3, None, 0])
    levels = pa.array(["b", "a", "b", None])
    column = pa.DictionaryArray.from_arrays(codes, levels, safe=False)
    table = pa.table({"y": pa.array([0, 1, 1, 0, 1, 1]), "g": column})
    assert ps.svm("y ~ g", table, lam=1.0).names == ("g[T.a]",)
    assert ps.svm("y ~ g", table, lam=1.0).dropped.total == 2


def test_what_reads_them_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ps.errors.DependencyError) as caught:
        ps.svm("y ~ x", HOSTILE, lam=1.0)
    assert str(caught.value) == (
        "The data are a DataFrame of polars, and pyarrow is not installed, which reads "
        "them; install it by pip install 'pegasos_stats[frames]', or give pandas' own."
    )
