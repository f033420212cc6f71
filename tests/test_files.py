"""Files that are no CSV: one sentence that says what to do."""

import lzma
import zipfile

import pytest

from pegasos_stats.cli import main
from pegasos_stats.errors import DataError
from pegasos_stats.files import read_csv

TEXT = "größe,y\n1,a\n2,b\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.csv").write_bytes(TEXT.encode("latin-1"))
    (tmp_path / "utf16.csv").write_bytes(TEXT.encode("utf-16"))
    (tmp_path / "mark.csv").write_bytes(TEXT.encode("utf-8-sig"))
    (tmp_path / "d.csv.xz").write_bytes(lzma.compress(TEXT.encode()))
    with zipfile.ZipFile(tmp_path / "d.csv.zip", "w") as archive:
        archive.writestr("d.csv", TEXT)
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n1,2,3,4\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "semi.csv").write_text('"a";"y"\n1,5;2\n')
    (tmp_path / "tabs.csv").write_text("a\ty\n1\t2\n")


WRONG = {
    "latin.csv": "not text in UTF-8; save it as 'CSV UTF-8'",
    "utf16.csv": "not text in UTF-8; save it as 'CSV UTF-8'",
    "d.csv.xz": "is packed by xz; unpack it, or pack it by gzip or bzip2",
    "d.csv.zip": "is packed by zip; unpack it, or pack it by gzip or bzip2",
    "ragged.csv": "line 3 has 4 fields where 2 are expected; quote cells",
    "empty.csv": "it is empty; give a header and rows",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_and_what_to_do(name, folder):
    with pytest.raises(DataError, match=WRONG[name]):
        read_csv(name)


def test_a_byte_order_mark_is_no_part_of_a_name(folder):
    assert list(read_csv("mark.csv")) == ["größe", "y"]


@pytest.mark.parametrize(("name", "found"), [("semi", "semicolons"), ("tabs", "tabs")])
def test_another_separator_is_named(name, found, folder, capsys):
    assert main(["fit", f"{name}.csv", "--outcome", "y"]) == 2
    printed = capsys.readouterr().err
    assert f"separated by commas, not by {found}, or give what separates" in printed
    assert printed.count("\n") == 1
