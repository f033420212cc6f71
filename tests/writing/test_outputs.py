"""Files that are written: whole or not at all, and what they may replace."""

import os
import socket
import stat
import subprocess

import pytest

from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.writing import checked_place, is_same, outputs
from tests.writing.written_files import (
    EARLIER,
    NOTE,
    PIPED,
    contents,
    write,
    write_while,
)


@pytest.fixture
def earlier(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(EARLIER)
    return path


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


def test_a_new_file_has_the_mode_that_open_would_give(tmp_path, umask):
    write(tmp_path / "a.txt")
    assert contents(tmp_path) == {"a.txt": b"note: new"}
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o777, 0o640])
def test_what_is_replaced_keeps_its_mode(earlier, mode):
    earlier.chmod(mode)
    write(earlier)
    assert earlier.read_bytes() == b"note: new"
    assert stat.S_IMODE(earlier.stat().st_mode) == mode


def test_a_part_of_a_private_file_is_private(earlier):
    earlier.chmod(0o600)
    with outputs() as files:
        files.open(checked_place(earlier, NOTE)).write(b"note")
        (part,) = files.parts
        assert stat.S_IMODE(os.stat(part).st_mode) == 0o600


def test_a_link_stays_and_what_it_leads_to_is_replaced(earlier, tmp_path):
    there = tmp_path / "there"
    there.mkdir()
    (there / "link").symlink_to(os.path.join("..", "second"))
    (tmp_path / "second").symlink_to("a.txt")
    write(there / "link")
    assert (there / "link").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert not earlier.is_symlink()
    assert earlier.read_bytes() == b"note: new"


def test_a_link_that_leads_nowhere_makes_what_it_names(tmp_path):
    (tmp_path / "link").symlink_to("made.txt")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert contents(tmp_path)["made.txt"] == b"note: new"


def test_an_unknown_file_is_replaced_only_on_demand(earlier, tmp_path):
    for content in (b"mine", b"", b"\0\xff"):
        earlier.write_bytes(content)
        with pytest.raises(DataError, match=r"no note of .* overwrite=True"):
            write(earlier)
        assert contents(tmp_path) == {"a.txt": content}
    write(earlier, overwrite=True)
    assert contents(tmp_path) == {"a.txt": b"note: new"}


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_is_no_device_pipe_socket_or_folder(tmp_path, overwrite):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
    names = ["/dev/null", "link", "pipe", "socket", "folder", "folder/", "new/", "."]
    before = {path: path.lstat() for path in tmp_path.iterdir()}
    for name in [*names, "folder/.."]:
        with pytest.raises(DataError, match="cannot be written to"):
            write(os.path.join(tmp_path, name), overwrite=overwrite)
    after = {path: path.lstat() for path in tmp_path.iterdir()}
    assert {p: (s.st_mode, s.st_ino) for p, s in before.items()} == {
        p: (s.st_mode, s.st_ino) for p, s in after.items()
    }
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_devices_and_pipes_take_what_may_be_streamed(tmp_path):
    write("/dev/null", kind=PIPED)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    write(pipe, kind=PIPED)
    assert reading.communicate()[0] == b"note: new"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(DataError, match="No space left on device"):
        write("/dev/full", kind=PIPED)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("nosuch/a.txt", "the folder .*nosuch is not there"),
        ("a.txt/b.txt", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("x" * 300, "File name too long"),
        ("dangling", "the folder .*nowhere is not there"),
    ],
)
def test_places_without_a_file_are_found_at_once(earlier, tmp_path, path, reason):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nowhere/a.txt")
    with pytest.raises(DataError, match=reason) as found:
        checked_place(os.path.join(tmp_path, path), NOTE)
    assert str(found.value).endswith("; give another path.")


@pytest.mark.parametrize(
    "path", [3, None, True, b"a.txt", 2.5, "", "a\0b", "a\ud800b", [], object()]
)
def test_what_is_no_path_is_an_error_of_one_line(path):
    with pytest.raises(OptionError) as found:
        checked_place(path, NOTE)
    assert "\n" not in str(found.value)
    assert str(found.value).isprintable()


def test_a_file_that_appears_meanwhile_stays(tmp_path):
    path = tmp_path / "a.txt"
    with pytest.raises(DataError, match="is no note"):
        write_while(path, lambda: path.write_bytes(b"mine"))
    assert contents(tmp_path) == {"a.txt": b"mine"}
    path.unlink()
    write_while(path, lambda: path.write_bytes(b"note of another run"))
    assert contents(tmp_path) == {"a.txt": b"note: new"}


def test_links_and_other_names_are_the_same_file(earlier, tmp_path):
    (tmp_path / "link").symlink_to("a.txt")
    os.link(earlier, tmp_path / "other")
    for name in ("link", "other", "./a.txt"):
        assert is_same(str(earlier), os.path.join(tmp_path, name))
    assert not is_same(str(earlier), str(tmp_path / "new"))
    assert is_same(str(tmp_path / "new"), os.path.join(tmp_path, ".", "new"))


def test_several_files_are_put_in_their_places_together(tmp_path):
    places = [checked_place(tmp_path / name, NOTE) for name in "ab"]

    def both(last):
        with outputs() as files:
            files.write(places[0], "note: new")
            files.write(places[1], last)

    with pytest.raises(DataError, match=r"cannot be written to .*b: "):
        both("note \ud800")
    assert contents(tmp_path) == {}
    both("note: new")
    assert contents(tmp_path) == {"a": b"note: new", "b": b"note: new"}
