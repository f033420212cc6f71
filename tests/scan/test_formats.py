"""Parquet, CSV and Arrow: the same rows give the same bits."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import pegasos_stats as ps
from pegasos_stats.data.scan import files
from pegasos_stats.errors import ColumnError, DataError
from tests.scan.scan_files import frame_of

SOLVER = ps.SDCA(tol=1e-6, seed=1)


def parquet(data, file):
    data.to_parquet(f"{file}.parquet", index=False, row_group_size=70)


def csv(data, file):
    data.to_csv(f"{file}.csv", index=False)


def csv_with_row_names(data, file):
    data.to_csv(f"{file}.csv")


def tabs(data, file):
    data.to_csv(f"{file}.TSV", index=False, sep="\t")


def packed(data, file):
    data.to_csv(f"{file}.csv.gz", index=False)


def arrow(data, file):
    table = pa.Table.from_pandas(data)
    with pa.ipc.new_file(f"{file}.arrow", table.schema) as sink:
        sink.write_table(table, max_chunksize=90)


def stream(data, file):
    table = pa.Table.from_pandas(data)
    with pa.ipc.new_stream(f"{file}.arrows", table.schema) as sink:
        sink.write_table(table, max_chunksize=110)


def feather(data, file):
    data.reset_index(drop=True).to_feather(f"{file}.feather")


CSV_WRITERS = [csv, csv_with_row_names, tabs, packed]


@pytest.fixture(scope="module")
def data():
    found = frame_of(900)
    found["flag"] = found["x0"] > 0.3
    found["quoted"] = np.where(found["k"] == 1, 'a "b",\nc', "d")
    found["flag2"] = found["flag"].where(found["k"] != 2)  # booleans and missing
    found.loc[[20, 30], "k"] = np.nan  # whole numbers as doubles, in pandas
    return found


@pytest.fixture(scope="module")
def fitted(data, tmp_path_factory):
    def fit(write):
        folder = tmp_path_factory.mktemp(write.__name__)
        for i, part in enumerate((data[:400], data[400:450], data[450:])):
            write(part, folder / f"part{i}")
        scan = ps.scan(str(folder / "*"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(files, "MOST_ROWS", 128)
            patch.setattr(files, "BLOCK", 4000)
            formula = "y ~ x0 + x1 * flag + g + C(k) + quoted"
            result = ps.svm(formula, scan, lam=0.01, weights="w").fit(SOLVER)
            return result, result.decision_function(scan)

    return fit


@pytest.fixture(scope="module")
def of_parquet(fitted):
    return fitted(parquet)


@pytest.mark.parametrize("write", [*CSV_WRITERS, arrow, stream, feather])
def test_every_format_gives_the_bits_of_parquet(write, fitted, of_parquet):
    (result, scores), (other, of_other) = fitted(write), of_parquet
    assert list(result.params.index) == list(other.params.index)
    assert (result.params == other.params).all()
    assert result.certificate == other.certificate
    assert (result.solution.dual == other.solution.dual).all()
    assert result.dropped == other.dropped
    assert scores.equals(of_other)
    assert result.n_reads - other.n_reads == (write in CSV_WRITERS)  # for types


def test_types_of_csv_hold_all_values_of_all_files(tmp_path):
    (tmp_path / "a.csv").write_text("i,d,b,t,m,n,z\n1,1,True,1,,,\n2,3,false,2,,,\n")
    (tmp_path / "b.csv").write_text(
        "i,d,b,t,m,n,z\n3,1e3,TRUE,True,4,.5,NA\n,-.5,,x,5,7,\n"
    )
    scan = ps.scan(str(tmp_path / "*.csv"))
    types = {name: str(held) for name, held in scan.types["CSV"].items()}
    assert types == {
        **{"i": "int64", "d": "double", "b": "bool", "t": "string"},
        **{"m": "int64", "n": "double", "z": "null"},
    }
    assert scan.n_reads == 1
    first, second = scan.frames(list("tbdn"))
    assert first["t"].tolist() == ["1", "2"]
    assert first["b"].tolist() == [True, False]
    assert first["d"].tolist() == [1.0, 3.0]
    assert first["n"].isna().all()
    assert second["t"].tolist() == ["True", "x"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv.gz", b"y,x\n0,1\n1,2\n"),
        ("a.arrow", b""),
        ("a.arrow", b"ARROW1 and nothing that is one"),
        ("a.feather", b"y,x\n0,1\n1,2\n"),
    ],
)
def test_files_that_are_broken(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=rf"{name} cannot be read as (CSV:|Arrow \()"):
        ps.svm("y ~ x", ps.scan(tmp_path / name), lam=1.0)


def test_csv_files_without_rows_or_header(tmp_path):
    nothing = tmp_path / "a.csv"
    nothing.write_text("y,x\n")
    with pytest.raises(DataError, match=r"^None of 0 rows is complete; "):
        ps.svm("y ~ x", ps.scan(nothing), lam=1.0)
    (tmp_path / "b.csv").write_text("y,x\nno,1\nyes,2\nyes,3\nno,2.5\n")
    assert ps.svm("y ~ x", ps.scan(str(tmp_path / "*.csv")), lam=1.0).problem.n == 4
    (tmp_path / "c.csv").write_text("yes,4\nno,5\n")
    with pytest.raises(ColumnError, match=r"'y', 'x' not found in .*c\.csv"):
        ps.svm("y ~ x", ps.scan(str(tmp_path / "*.csv")), lam=1.0)
    with pytest.raises(ColumnError, match=r"^Column 'x' not found; the data have "):
        ps.svm("y ~ x", ps.scan(tmp_path / "c.csv"), lam=1.0)


def test_formats_may_be_mixed(tmp_path, data):
    csv(data[:300], tmp_path / "a")
    arrow(data[300:], tmp_path / "b")
    scan = ps.scan(str(tmp_path / "*"))
    here = ps.svm("y ~ x0 + C(k) + g + flag", data, lam=0.01)
    there = ps.svm("y ~ x0 + C(k) + g + flag", scan, lam=0.01)
    assert there.names == here.names
    assert (there.problem.y == here.problem.y).all()


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_labels_of_rows_that_pandas_wrote_are_no_columns(ending, tmp_path):
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"x": rng.standard_normal(60), "y": np.arange(60) % 2})
    data.index = pd.Index(np.arange(60) * 3, name="id")
    file = tmp_path / f"a.{ending}"
    if ending == "parquet":
        data.to_parquet(file)
    else:
        with pa.OSFile(str(file), "w") as sink:
            table = pa.Table.from_pandas(data)
            with pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
    assert list(ps.scan(file).kinds) == ["x", "y"]
    assert ps.svm("y ~ .", ps.scan(file), lam=1.0).names == ("x",)


CSV_TEXT = b"y,x,g\n" + b"".join(b"%c,%d.5,c\n" % (b"ab"[i % 2], i) for i in range(8))
DAMAGED = {
    "byte of another encoding": (CSV_TEXT + b"a,1,\xe9\n", "UTF-8"),
    "nothing": (b"", "[Ee]mpty"),
    "gzip": (gzip.compress(CSV_TEXT), ""),
    "open quote": (CSV_TEXT + b'a,1,"c\n', "never closed"),
    "open quote at the end": (CSV_TEXT + b'a,1,"c\nb,2,c', "never closed"),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_what_is_wrong_with_a_csv_file_is_named(what, tmp_path):
    content, named = DAMAGED[what]
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(DataError, match=rf"a\.csv cannot be read as CSV: .*{named}"):
        ps.svm("y ~ x", ps.scan(tmp_path / "a.csv"), lam=1.0)


def test_types_may_be_stated(tmp_path):
    (tmp_path / "a.csv").write_text("y,zip\n0,02134\n1,10001\n1,02134\n0,10001\n")
    given = {"zip": "text", "y": "numbers"}
    scan = ps.scan(tmp_path / "a.csv", types=given)
    assert ps.svm("y ~ zip", scan, lam=1.0).names == ("zip[T.10001]",)
    assert scan.n_reads == 0
    some = ps.scan(tmp_path / "a.csv", types={"zip": "text"})
    assert some.n_reads == 1
    assert ps.svm("y ~ zip", ps.scan(tmp_path / "a.csv"), lam=1.0).names == ("zip",)


@pytest.mark.parametrize("end", [b'a,1,"c\nd"', b'a,1,"c\n"\n', b'a,1,5" pipe\n'])
def test_quotes_that_are_closed_or_within_a_cell(end, tmp_path):
    (tmp_path / "a.csv").write_bytes(CSV_TEXT + end)
    assert ps.svm("y ~ x", ps.scan(tmp_path / "a.csv"), lam=1.0).problem.n == 9
