"""Files in the svmlight format, against scikit-learn's reader and by hand."""

import bz2
import gzip

import numpy as np
import pytest

from pegasos_stats.data.files import looks_like_svmlight, read_svmlight
from pegasos_stats.errors import DataError

TEXT = b"""# a comment
+1 1:0.5 3:2  # first row
-1 qid:7 2:1

-1
+1 3:1e-3 1:-2.25
"""
ROWS = [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [-2.25, 0.0, 1e-3]]
FILES = [
    "a9a.t.gz",
    "reuters_acq.test",
    "rcv1_ccat_vw500.test",
    *[f"jhu_{name}.dev" for name in ("easy", "bio", "speech", "nlp")],
]


def written(folder, content, name="data.txt"):
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", FILES)
def test_equal_to_scikit_learn(name, data_folder):
    from sklearn.datasets import load_svmlight_file

    y, X = read_svmlight(data_folder / name)
    expected, labels = load_svmlight_file(str(data_folder / name))
    assert X.shape == expected.shape
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(X, part), getattr(expected, part))
    np.testing.assert_array_equal(y, labels)
    assert looks_like_svmlight(data_folder / name)


def ends_of_windows(text):
    return text.replace(b"\n", b"\r\n")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, ends_of_windows])
def test_packed_files_are_found_by_content(pack, tmp_path):
    y, X = read_svmlight(written(tmp_path, pack(TEXT)))
    assert X.indices.dtype == np.int32
    assert y.tolist() == [1, -1, -1, 1]
    assert y.dtype == np.int64
    assert X.toarray().tolist() == ROWS


def test_blocks_of_any_size_give_the_same(tmp_path, monkeypatch):
    lines = [f"{i % 2} {i % 7 + 1}:{i / 3!r} 9:{i}" for i in range(1, 200)]
    path = written(tmp_path, "\n".join(lines).encode())
    whole = read_svmlight(path)
    for size in (1, 17, 256):
        monkeypatch.setattr("pegasos_stats.data.files.BYTES_AT_ONCE", size)
        parts = read_svmlight(path)
        assert parts.y.equals(whole.y)
        assert (parts.X != whole.X).nnz == 0


def test_an_index_zero_means_counting_from_zero_as_does_the_option(tmp_path):
    path = written(tmp_path, b"1 0:3 2:1\n0 1:1\n")
    data = read_svmlight(path)
    assert data.zero_based
    assert data.X.toarray().tolist() == [[3, 0, 1], [0, 1, 0]]
    with pytest.raises(DataError, match="index 0"):
        read_svmlight(path, zero_based=False)
    X = read_svmlight(written(tmp_path, b"1 1:3\n0 2:1\n"), zero_based=True).X
    assert X.toarray().tolist() == [[0, 3, 0], [0, 0, 1]]


BAD = {
    "word": (b"1 1:2\n0 abc\n", "Line 2 of "),
    "label": (b"1 1:2\n\nyes 1:2\n", "Line 3 of "),
    "no label": (b"1 1:2\n3:4 1:2\n", "Line 2 of "),
    "two colons": (b"1 1:2:3\n", "Line 1 of "),
    "number in number": (b"1 1:1.5.2\n", "Line 1 of "),
    "shifted": (b"1 1: 2:1-2\n", "Line 1 of "),
    "negative index": (b"1 -1:2\n", "Line 1 of "),
    "huge index": (b"1 99999999999:2\n", "Line 1 of "),
    "huge label": (b"1 1:2\n1e400 1:3\n", "Line 2 of .*finite labels"),
    "infinite label": (b"1 1:2\n-inf 1:3\n", "Line 2 of .*finite labels"),
    "two labels": (b"1,2 1:1\n", "Line 1 of "),
    "twice": (b"# top\n1 1:1\n0 2:1 3:1 2:4\n", "Line 3 of .* the same index twice"),
    "empty": (b"", "has no rows"),
    "truncated gzip": (gzip.compress(TEXT)[:-9], "cannot be read"),
    "broken bzip2": (bz2.compress(TEXT)[:-9], "cannot be read"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_named_in_one_sentence(case, tmp_path):
    content, words = BAD[case]
    path = written(tmp_path, content)
    with pytest.raises(DataError, match=words) as caught:
        read_svmlight(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_line_is_right_in_a_later_block(tmp_path, monkeypatch):
    monkeypatch.setattr("pegasos_stats.data.files.BYTES_AT_ONCE", 20)
    path = written(tmp_path, b"1 1:2\n" * 30 + b"0 x\n")
    with pytest.raises(DataError, match="Line 31 "):
        read_svmlight(path)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        *((text, True) for text in (TEXT, b"-1 \n-1 \n1 3:1\n")),
        *((text, False) for text in (b"", b"1 2 3\n", b"time,y\n12:30,1\n")),
    ],
)
def test_looking_like_svmlight(content, found, tmp_path):
    assert looks_like_svmlight(written(tmp_path, content)) is found


def test_features_beyond_those_asked_for_are_left_out_and_counted(tmp_path):
    path = written(tmp_path, b"1 1:1 8:1 9:1\n0 2:5 9:2\n")
    data = read_svmlight(path, n_features=3)
    assert data.X.toarray().tolist() == [[1, 0, 0], [0, 5, 0]]
    assert data.n_dropped == 2
    assert read_svmlight(path, n_features=12).X.shape == (2, 12)


@pytest.mark.parametrize("label", ["1e300", "-1e300", "9223372036854775808"])
def test_whole_labels_beyond_64_bits_stay_floats(label, tmp_path):
    y = read_svmlight(written(tmp_path, f"{label} 1:1\n2 1:1\n".encode())).y
    assert y.tolist() == [float(label), 2.0]
