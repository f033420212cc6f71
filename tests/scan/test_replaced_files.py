"""Files that others replace or damage: never labels of some rows, numbers of others."""

import os
import struct

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError

pa = pytest.importorskip("pyarrow")
SOLVER = ps.Optimum(tol=1e-4, seed=1)
ENDINGS = ["parquet", "arrow", "csv", "svm"]
PLANS = ["in place", "moved", "same size and time"]


def rows_of(seed, n=300):
    """Two classes, told apart by x1 for seed 1 and by x2 for others."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = np.where(X[:, int(seed != 1)] > 0, 1, -1)
    return pd.DataFrame({"label": y, "x1": X[:, 0].round(3), "x2": X[:, 1].round(3)})


def written(data, file):
    if file.suffix == ".parquet":
        data.to_parquet(file, index=False)
    elif file.suffix == ".arrow":
        data.to_feather(file, compression="uncompressed")
    elif file.suffix == ".csv":
        data.to_csv(file, index=False)
    else:
        lines = (f"{y} 1:{a} 2:{b}\n" for y, a, b in data.itertuples(index=False))
        file.write_text("".join(lines))


def replaced(file, plan):
    """Put other rows into a file; all that the old ones had stays, if it can."""
    old = os.stat(file)
    target = file if plan == "in place" else file.with_name(f"new{file.suffix}")
    written(rows_of(2), target)
    if plan != "in place":
        if plan == "same size and time":
            with open(target, "r+b") as handle:
                handle.truncate(old.st_size)
            os.utime(target, ns=(old.st_atime_ns, old.st_mtime_ns))
        os.replace(target, file)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_files_replaced_before_the_fit_are_an_error(ending, plan, tmp_path):
    file = tmp_path / f"rows.{ending}"
    written(rows_of(1), file)
    model = ps.svm("label ~ x1 + x2", ps.scan(file), lam=0.1)
    replaced(file, plan)
    with pytest.raises(DataError, match="have changed since they were first read"):
        model.fit(SOLVER)


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
def test_files_replaced_after_the_fit_are_an_error_and_a_new_model_reads_them(
    ending, tmp_path
):
    file = tmp_path / f"rows.{ending}"
    written(rows_of(1), file)
    scan = ps.scan(file)
    model = ps.svm("label ~ x1 + x2", scan, lam=0.1)
    first = model.fit(SOLVER, cov_type="sandwich")
    assert abs(first.params["x1"]) > 5 * abs(first.params["x2"])
    replaced(file, "moved")
    with pytest.raises(DataError, match="have changed since"):
        _ = first.bse
    second = ps.svm("label ~ x1 + x2", scan, lam=0.1).fit(SOLVER)
    alone = ps.svm("label ~ x1 + x2", ps.scan(file), lam=0.1).fit(SOLVER)
    np.testing.assert_array_equal(second.params, alone.params)
    assert abs(second.params["x2"]) > 5 * abs(second.params["x1"])


def test_a_file_replaced_while_it_is_read_is_an_error(tmp_path, monkeypatch):
    from pegasos_stats.data.scan import files

    file = tmp_path / "rows.parquet"
    written(rows_of(1), file)
    scan = ps.scan(file)
    fitted = ps.svm("label ~ x1 + x2", scan, lam=0.1).fit(SOLVER)
    usual = files.of_equal_size

    def meanwhile(batches, rows):
        yield from usual(batches, rows)
        replaced(file, "moved")

    monkeypatch.setattr(files, "of_equal_size", meanwhile)
    with pytest.raises(DataError, match="have changed"):
        fitted.predict(scan)
    with pytest.raises(DataError, match="have changed"):
        ps.svm("label ~ x1 + x2", scan, lam=0.1)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask itself
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files_of_dask_replaced_before_the_fit_are_an_error(ending, tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    file = tmp_path / f"rows.{ending}"
    written(rows_of(1), file)
    frame = getattr(dask, f"read_{ending}")(str(file))
    model = ps.svm("label ~ x1 + x2", frame, lam=0.1)
    replaced(file, "moved")
    with pytest.raises(DataError, match="have changed since they were first read"):
        model.fit(SOLVER)


def in_arrow(file, rng, **columns):
    """Write a table of labels, numbers and these columns."""
    n = len(columns["g"])
    y = pa.array(np.where(rng.random(n) < 0.5, "no", "yes"))
    table = pa.table({"y": y, "x": rng.standard_normal(n), **columns})
    with pa.ipc.new_file(str(file), table.schema) as writer:
        writer.write_table(table)
    return table


def damaged(folder, what):
    """A file of Arrow with a text, or a level, that is not where it should be."""
    rng = np.random.default_rng(1)
    texts = np.array(["ab", "cde", "fghijk"])[np.arange(200) % 3]
    names = pa.array(texts)
    file = folder / "rows.arrow"
    in_arrow(file, rng, g=names, d=names.dictionary_encode())
    raw = bytearray(file.read_bytes())
    if what == "text":
        at = raw.find(b"abcdefghijkabcdefghijk")
        raw[at + 4] = 0xFF
    else:
        found = names if what == "offset" else names.dictionary_encode().indices
        buffer = found.buffers()[1].to_pybytes()[: 4 * 200]
        at = raw.find(buffer) + 4 * 100
        raw[at : at + 4] = struct.pack("<i", -7 if what == "negative" else 10**6)
    file.write_bytes(raw)
    return file


@pytest.mark.parametrize("what", ["offset", "text", "index", "negative"])
@pytest.mark.parametrize("door", ["scan", "table", "predict"])
def test_damaged_files_of_arrow_are_refused(what, door, tmp_path):
    file = damaged(tmp_path, what)
    formula = "y ~ x + g" if what in ("offset", "text") else "y ~ x + d"
    good = pd.DataFrame({"y": ["no", "yes"] * 9, "x": np.arange(18.0)})
    good["g"] = good["d"] = ["ab", "cde", "fghijk"] * 6
    rows, model = ps.scan(file), ps.svm(formula, good, lam=0.1).fit(SOLVER)
    if door == "table":
        rows = pa.ipc.open_file(pa.OSFile(str(file))).read_all()
    with pytest.raises(DataError, match=r"cannot be read as Arrow|is damaged"):
        model.predict(rows) if door == "predict" else ps.svm(formula, rows, lam=0.1)


@pytest.mark.parametrize("levels", [["a", None, "b"], ["a", "b", "a"], [1, 2, 1]])
def test_levels_that_are_missing_or_stand_twice(levels, tmp_path):
    """A dictionary of Arrow may hold them; they mean what their values mean."""
    places = pa.array(np.arange(120) % 3, pa.int32())
    file, g = tmp_path / "rows.arrow", pa.array(levels)
    g = pa.DictionaryArray.from_arrays(places, g)
    table = in_arrow(file, np.random.default_rng(2), g=g)
    plain = table.select(["y", "x"]).to_pandas()
    plain["g"] = pd.Categorical([levels[i % 3] for i in range(120)])
    for formula in ("y ~ x + g", "g ~ x"):
        due = ps.logit(formula, plain, lam=0.1)
        found = ps.logit(formula, ps.scan(file), lam=0.1)
        assert (found.names, found.problem.n) == (due.names, due.problem.n)
        assert found.coding.levels == due.coding.levels


def test_what_pandas_wrote_may_be_nested_without_end(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.Table.from_pandas(rows_of(1), preserve_index=False)
    file = tmp_path / "rows.parquet"
    pq.write_table(table.replace_schema_metadata({"pandas": "[" * 100_000}), file)
    assert ps.svm("label ~ x1 + x2", ps.scan(file), lam=0.1).problem.n == 300
