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

SOLVER = ps.Optimum(tol=1e-6, seed=1)


def arrow(data, file, new=pa.ipc.new_file):
    table = pa.Table.from_pandas(data)
    with new(file, table.schema) as sink:
        sink.write_table(table, max_chunksize=90)


CSV_WRITERS = {
    "csv": lambda data, file: data.to_csv(file, index=False),
    "names.csv": lambda data, file: data.to_csv(file),
    "TSV": lambda data, file: data.to_csv(file, index=False, sep="\t"),
    "csv.gz": lambda data, file: data.to_csv(file, index=False),
}
WRITERS = CSV_WRITERS | {
    "parquet": lambda data, file: data.to_parquet(file, row_group_size=70),
    "arrow": arrow,
    "arrows": lambda data, file: arrow(data, file, pa.ipc.new_stream),
    "feather": lambda data, file: data.reset_index(drop=True).to_feather(file),
}


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
    def fit(ending):
        folder = tmp_path_factory.mktemp("files")
        for i, part in enumerate((data[:400], data[400:450], data[450:])):
            WRITERS[ending](part, f"{folder}/part{i}.{ending}")
        scan = ps.scan(str(folder / "*"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(files, "PIECE_ROWS", 128)
            patch.setattr(files, "CSV_BLOCK", 4000)
            formula = "y ~ x0 + x1 * flag + g + C(k) + quoted"
            result = ps.svm(formula, scan, lam=0.01, weights="w").fit(SOLVER)
            return result, result.decision_function(scan)

    return fit


@pytest.fixture(scope="module")
def of_parquet(fitted):
    return fitted("parquet")


@pytest.mark.slow
@pytest.mark.parametrize("ending", [each for each in WRITERS if each != "parquet"])
def test_every_format_gives_the_bits_of_parquet(ending, fitted, of_parquet):
    (result, scores), (other, of_other) = fitted(ending), of_parquet
    assert list(result.params.index) == list(other.params.index)
    assert (result.params == other.params).all()
    assert result.certificate == other.certificate
    assert (result.solution.dual == other.solution.dual).all()
    assert result.dropped == other.dropped
    assert scores.equals(of_other)
    assert result.n_reads - other.n_reads == (ending in CSV_WRITERS)  # for types


def test_types_of_csv_hold_all_values_of_all_files(tmp_path):
    (tmp_path / "a.csv").write_text("i,d,b,t,m,n,z\n1,1,True,1,,,\n2,3,false,2,,,\n")
    more = "i,d,b,t,m,n,z\n3,1e3,TRUE,True,4,.5,NA\n,-.5,,x,5,7,\n"
    (tmp_path / "b.csv").write_text(more)
    scan = ps.scan(str(tmp_path / "*.csv"))
    types = [f"{name} {held}" for name, held in scan.types["CSV"].items()]
    assert types[:4] == ["i int64", "d double", "b bool", "t string"]
    assert types[4:] == ["m int64", "n double", "z null"]
    assert scan.n_reads == 1
    first, second = scan.frames(list("tbdn"))
    assert first["t"].tolist() == ["1", "2"]
    assert first["b"].tolist() == [True, False]
    assert first["d"].tolist() == [1.0, 3.0]
    assert first["n"].isna().all()
    assert second["t"].tolist() == ["True", "x"]


def test_csv_files_without_rows_or_header(tmp_path):
    nothing = tmp_path / "a.csv"
    nothing.write_text("y,x\n")
    with pytest.raises(DataError, match=r"^None of 0 rows is complete: "):
        ps.svm("y ~ x", ps.scan(nothing), lam=1.0)
    (tmp_path / "b.csv").write_text("y,x\nno,1\nyes,2\nyes,3\nno,2.5\n")
    assert ps.svm("y ~ x", ps.scan(str(tmp_path / "*.csv")), lam=1.0).problem.n == 4
    (tmp_path / "c.csv").write_text("yes,4\nno,5\n")
    with pytest.raises(ColumnError, match=r"'y', 'x' not found in .*c\.csv"):
        ps.svm("y ~ x", ps.scan(str(tmp_path / "*.csv")), lam=1.0)
    with pytest.raises(ColumnError, match=r"^Column 'x' not found; the data have "):
        ps.svm("y ~ x", ps.scan(tmp_path / "c.csv"), lam=1.0)


def test_formats_may_be_mixed(tmp_path, data):
    data[:300].to_csv(tmp_path / "a.csv", index=False)
    arrow(data[300:], f"{tmp_path}/b.arrow")
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
    file = f"{tmp_path}/a.{ending}"
    WRITERS[ending](data, file)
    assert list(ps.scan(file).kinds) == ["x", "y"]
    assert ps.svm("y ~ .", ps.scan(file), lam=1.0).names == ("x",)


CSV_TEXT = b"y,x,g\n" + b"".join(b"%c,%d.5,c\n" % (b"ab"[i % 2], i) for i in range(8))
DAMAGED = [
    ("a.csv.gz", b"y,x\n0,1\n1,2\n", "CSV: "),
    ("a.arrow", b"", r"Arrow \("),
    ("a.arrow", b"ARROW1 and nothing that is one", r"Arrow \("),
    ("a.feather", b"y,x\n0,1\n1,2\n", r"Arrow \("),
    ("a.csv", CSV_TEXT + b"a,1,\xe9\n", "CSV: .*save it as 'CSV UTF-8'.$"),
    ("a.csv", CSV_TEXT.decode().encode("utf-16"), "CSV: .*save it as 'CSV UTF-8'.$"),
    ("a.csv", b"", "CSV: .*[Ee]mpty"),
    ("a.csv", gzip.compress(CSV_TEXT, mtime=0), "CSV: "),
    ("a.csv", CSV_TEXT + b'a,1,"c\n', "CSV: .*never closed"),
    ("a.csv", CSV_TEXT + b'a,1,"c\nb,2,c', "CSV: .*never closed"),
]


@pytest.mark.parametrize(("name", "content", "named"), DAMAGED)
def test_what_is_wrong_with_a_file_is_named(name, content, named, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=f"{name} cannot be read as {named}"):
        ps.svm("y ~ x", ps.scan(tmp_path / name), lam=1.0)


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
