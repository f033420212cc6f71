"""One file has one reading: at once in memory, and block by block."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.files import COMMAS
from pegasos_stats.errors import ConvergenceWarning, DataError
from pegasos_stats.output.cli.files import read_data
from pegasos_stats.output.cli.options import ReadingOptions

pytest.importorskip("pyarrow")


def lines_of(n=40):
    rng = np.random.default_rng(11)
    y = np.resize(["no", "yes", "yes", "no"], n)
    numbers = np.round(rng.standard_normal((n, 2)) + (y == "yes")[:, None], 2)
    return [[label, *map(str, row)] for label, row in zip(y, numbers, strict=True)]


def cells(*texts, column=1, only=None):
    """Other texts in a column, or in one row of it; in place of {} what was there."""

    def change(rows):
        for i, row in enumerate(rows):
            if only in (None, i):
                row[column] = texts[i % len(texts)].format(row[column])

    return change


def one_cell(text, column=1):
    return cells(text, column=column, only=4)


def long(rows):
    rows[6].append("1")


# What the column of labels, and the terms, are in both readings.
READ = {
    "plus and minus one": (cells("+1", "-1", column=0), (-1, 1), 2),
    "one and plus two": (cells("1", "+2", column=0), (1, 2), 2),
    "leading zeros": (cells("01", "02", column=0), (1, 2), 2),
    "blanks around numbers": (cells(" {}  "), ("no", "yes"), 2),
    "a tab before a number": (one_cell("\t1.5"), ("no", "yes"), 2),
    "plus": (one_cell("+1.5"), ("no", "yes"), 2),
    "quoted": (one_cell('"1.5"'), ("no", "yes"), 2),
    "missing": (one_cell("NA"), ("no", "yes"), 2),
    "text": (one_cell("abc"), ("no", "yes"), None),
    "a point": (one_cell("."), ("no", "yes"), None),
    "a no-break space": (one_cell("\u00a01.5"), ("no", "yes"), None),
    "NAN": (one_cell("NAN"), ("no", "yes"), None),
    "hexadecimal": (one_cell("0x1f"), ("no", "yes"), None),
    "underscores": (one_cell("1_000"), ("no", "yes"), None),
    "booleans": (cells("True", "False"), ("no", "yes"), 2),
    "booleans and numbers": (cells("True", "1"), ("no", "yes"), 2),
}
REFUSED = {
    "a byte of zero": (one_cell("1.\x005"), "bytes of zero"),
    "a label with a byte of zero": (one_cell("n\x00o", 0), "bytes of zero"),
    "a long row": (long, "Expected 3 columns, got 4|4 fields instead of 3"),
}


def written(folder, change):
    rows = lines_of()
    change(rows)
    text = "".join(",".join(row) + "\n" for row in [["y", "x", "z"], *rows])
    (folder / "rows.csv").write_bytes(text.encode())
    return str(folder / "rows.csv")


def model_of(file, memory):
    read = read_data(file, ReadingOptions(memory=memory), COMMAS)
    return ps.logit("y ~ .", read.data, lam=0.1)


@pytest.mark.filterwarnings("ignore::pegasos_stats.errors.ColumnWarning")
@pytest.mark.parametrize("what", READ)
def test_cells_are_read_alike(what, tmp_path):
    change, levels, width = READ[what]
    file = written(tmp_path, change)
    whole, parts = (model_of(file, memory) for memory in (None, "64MiB"))
    assert whole.problem.n == parts.problem.n
    assert whole.names == parts.names
    assert width in (None, len(whole.names))
    assert width is not None or len(whole.names) > 20  # a factor
    assert repr(whole.coding.levels) == repr(parts.coding.levels) == repr(levels)
    fits = [m.fit(ps.Optimum(tol=1e-9, seed=1)).params for m in (whole, parts)]
    np.testing.assert_allclose(*fits, atol=1e-3)


@pytest.mark.parametrize("what", REFUSED)
def test_files_that_are_no_table_are_refused_alike(what, tmp_path):
    change, due = REFUSED[what]
    file = written(tmp_path, change)
    for memory in (None, "64MiB"):
        with pytest.raises(DataError, match=due):
            model_of(file, memory)


@pytest.mark.parametrize("labels", [("+1", "-1"), ("1", "0"), ("+1.5", "2")])
def test_labels_of_svmlight_are_read_alike(labels, tmp_path):
    file = tmp_path / "rows.svm"
    one, two = labels
    file.write_text(f"{one} 1:0.5 2:1\n{two} 1:2 2:0.5\n{one} 1:1\n{two} 2:2\n")
    y, X = ps.read_svmlight(file)
    whole = ps.SVM(y, X, lam=0.1)
    parts = ps.svm("label ~ .", ps.scan(file), lam=0.1)
    assert repr(whole.coding.levels) == repr(parts.coding.levels)


def test_features_of_new_rows_are_counted_as_those_of_the_fit(tmp_path):
    rows = "+1 {0}:0.5 {1}:1\n-1 {0}:2 {1}:0.5\n+1 {0}:1\n-1 {1}:2\n"
    from_one, from_zero = tmp_path / "one.svm", tmp_path / "zero.svm"
    from_one.write_text(rows.format(1, 2))
    from_zero.write_text(rows.format(0, 1))
    one, zero = (
        ps.svm("label ~ .", ps.scan(file), lam=0.1).fit(cov_type=None)
        for file in (from_one, from_zero)
    )
    expected = one.decision_function(ps.scan(from_one))
    assert zero.decision_function(ps.scan(from_zero)).equals(expected)
    with pytest.raises(DataError, match="have the index 0"):
        one.decision_function(ps.scan(from_zero))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("ending", ["feather", "svm"])
def test_a_fit_of_features_whose_squares_overflow_is_told(ending, tmp_path):
    x = np.random.default_rng(1).normal(size=60)
    x[7] = 1e160
    file, data = tmp_path / f"rows.{ending}", pd.DataFrame({"label": x > 0.0, "x1": x})
    if ending == "svm":
        file.write_text("".join(f"{2 * (v > 0) - 1} 1:{v!r}\n" for v in x.tolist()))
    else:
        data.to_feather(file)
    model = ps.logit("label ~ .", ps.scan(file), lam=0.1)
    with pytest.warns(ConvergenceWarning):
        assert not model.fit(cov_type=None).converged
