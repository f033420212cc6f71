"""Files that are no CSV: one sentence that says what to do."""

import bz2
import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pegasos_stats.data.files import looks_like_svmlight, read_csv, read_svmlight
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.output.cli import main

TEXT = "größe,y\n1,a\n2,b\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.csv").write_bytes(TEXT.encode("latin-1"))
    (tmp_path / "utf16.csv").write_bytes(TEXT.encode("utf-16"))
    (tmp_path / "zip.csv").write_bytes(b"PK\x03\x04\0 and no more")
    (tmp_path / "model.csv").write_bytes(b"pegasos_stats model    \n\0")
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n1,2,3,4\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "nul.csv").write_bytes(b"y,a\nn\0x,1\np,2\n")
    (tmp_path / "quote.csv").write_text('y,a\nn,1\n"p,2\nn,3\n')
    packed = bytes(os.urandom(999).hex(), "ascii")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(packed)[:500])
    (tmp_path / "cut.bz2").write_bytes(bz2.compress(packed)[:500])


WRONG = {
    "latin.csv": "UTF-8",
    "utf16.csv": "in UTF-16; save it as 'CSV UTF-8'",
    "zip.csv": "a workbook or a zip archive",
    "model.csv": "a saved model",
    "ragged.csv": "line 3 has 4 fields instead of 2",
    "empty.csv": "it is empty",
    "nul.csv": "bytes of zero",
    "quote.csv": "EOF inside string",
    "cut.gz": "ended before the end",
    "cut.bz2": "ended before the end",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name, folder):
    with pytest.raises(DataError, match=f"^The file {name} .*{WRONG[name]}"):
        read_csv(name)


@pytest.mark.parametrize("more", [1, 2])
@pytest.mark.parametrize("rows", [8, 1])
def test_rows_longer_than_the_header_name_nobody(more, rows, folder, capsys):
    lines = ["y,u", *("ab"[i % 2] + f",{i}" for i in range(8))]
    Path("good.csv").write_text("\n".join(lines))
    for i in range(1, rows + 1):
        lines[i] += ",1" * more
    Path("long.csv").write_text("\n".join(lines))
    for words in (["long.csv"], ["good.csv", "--test", "long.csv"]):
        assert main(["fit", *words, "--outcome", "y"]) == 2
        assert "long.csv cannot be read as CSV: " in capsys.readouterr().err


def test_a_number_that_no_float_holds_is_infinite_to_a_fit(folder, capsys):
    Path("far.csv").write_text("y,a\n" + "n,1\np,1e400\n")
    assert main(["fit", "far.csv", "--outcome", "y"]) == 2
    assert "Column 'a' holds infinite values in row 1; " in capsys.readouterr().err


READERS = [read_csv, read_svmlight, looks_like_svmlight]


@pytest.mark.parametrize("reader", READERS)
def test_a_path_that_leads_to_no_file_is_named(reader, folder, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    known = {
        "empty.csv/x": "^The file empty.csv/x does not exist; pass the path of a data",
        ".": "^The file . is a folder; pass the path of a data file.$",
        "loop": "^The file loop cannot be read: Too many levels of symbolic links.$",
        "x" * 300: "cannot be read: File name too long.$",
        "pipe": "^The file pipe is a pipe or a device; write it to a file, and use",
        os.devnull: "^The file /dev/null is a pipe or a device",
        "a\nb": r"^The file 'a\\nb' does not exist",
    }
    for path, said in known.items():
        with pytest.raises(DataError, match=said):
            reader(path)
    for path in ("", "\ud800", "\0"):
        with pytest.raises(OptionError):
            reader(path)


WIDE = """
import resource, sys
from pegasos_stats.output.cli import main
resource.setrlimit(resource.RLIMIT_AS, (3 * 10**9, 3 * 10**9))
codes = [main(["fit", name]) for name in ("one", "two")]
print(codes)
"""


def test_an_index_of_300_million_under_a_limit_of_memory(tmp_path):
    (tmp_path / "one").write_text("1 1:1 300000000:1\n-1 2:1\n")
    (tmp_path / "two").write_text("1 1:1 2147483646:1\n-1 2:1\n")
    run = {"cwd": tmp_path, "capture_output": True, "text": True, "check": True}
    done = subprocess.run([sys.executable, "-c", WIDE], **run)
    assert done.stdout == "[2, 2]\n"
    one, two = done.stderr.splitlines()
    assert "A model of 300,000,000 columns needs about 30.0 GB of memory" in one
    assert "A model of 2,147,483,646 columns" in two


@pytest.mark.parametrize("pack", [None, gzip.compress])
def test_a_name_that_is_twice_in_a_header_is_refused(pack, tmp_path, capsys):
    path = tmp_path / "rows.csv"
    for header, twice in (("x.1,x.1,y", "x.1"), ('y,"a,b","a,b"', "a,b")):
        text = f"{header}\n1,2,3\n4,5,6\n".encode()
        path.write_bytes(pack(text) if pack else text)
        assert main(["fit", str(path), "--outcome", "y"]) == 2
        said = f"Column {twice!r} occurs more than once in {path}; rename the columns."
        assert said in capsys.readouterr().err
    text = b"x,x.1,y,\n1,2,u,\n3,4,v,\n"  # names of its own
    path.write_bytes(pack(text) if pack else text)
    assert list(read_csv(str(path)).columns) == ["x", "x.1", "y"]
