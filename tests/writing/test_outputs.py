"""Files that are written: whole or not at all, and what they may replace."""

import errno
import os
import socket
import stat
import subprocess
import sys

import pytest

from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.writing import checked_path, checked_place, is_same, outputs, paths
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


def test_what_is_replaced_keeps_its_owner_where_that_is_allowed(earlier):
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    os.chown(earlier, 1234, 4321)
    write(earlier)
    assert (earlier.stat().st_uid, earlier.stat().st_gid) == (1234, 4321)


def test_a_part_of_a_private_file_is_private(earlier):
    earlier.chmod(0o600)
    with outputs() as files:
        files.open(checked_place(earlier, NOTE)).write(b"note")
        (part,) = paths._parts
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


def test_other_names_of_a_file_keep_its_earlier_content(earlier, tmp_path):
    os.link(earlier, tmp_path / "other")
    write(earlier)
    assert contents(tmp_path) == {"a.txt": b"note: new", "other": EARLIER}


def test_an_unknown_file_is_replaced_only_on_demand(earlier, tmp_path):
    for content in (b"mine", b"", b"\0\xff"):
        earlier.write_bytes(content)
        with pytest.raises(DataError, match=r"no note of .* --overwrite \(overwrite=T"):
            write(earlier)
        assert contents(tmp_path) == {"a.txt": content}
    write(earlier, overwrite=True)
    assert contents(tmp_path) == {"a.txt": b"note: new"}


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_read_only_file_stays(earlier, tmp_path, overwrite):
    earlier.chmod(0o444)
    with pytest.raises(DataError, match="is read-only; give another path"):
        write(earlier, overwrite=overwrite)
    assert contents(tmp_path) == {"a.txt": EARLIER}


def test_a_file_that_this_user_may_not_write_stays(earlier, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(DataError, match="is read-only; give another path"):
        write(earlier, overwrite=True)


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_is_no_device_pipe_socket_or_folder(tmp_path, overwrite):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
    names = {
        "/dev/null": "a device",
        "/dev/stdout": "a|an",
        "/dev/fd/1": "a|an",
        "link": "a device",
        "pipe": "a pipe",
        "socket": "a socket",
        "folder": "a folder",
        "folder/": "a folder",
        "new/": "a folder",
        ".": "a folder",
        "folder/..": "a folder",
    }
    before = {path: path.lstat() for path in tmp_path.iterdir()}
    for name, what in names.items():
        with pytest.raises(DataError, match=f"cannot be written to .*: it is ({what})"):
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


def test_an_open_file_is_written_into_from_where_it_stands(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"mine\n")
    (tmp_path / "link").symlink_to("/dev/fd/9")
    with open(path, "ab") as handle:
        for name in (f"/dev/fd/{handle.fileno()}", f"/proc/self/fd/{handle.fileno()}"):
            write(name, "note\n", PIPED)
    assert path.read_bytes() == b"mine\nnote\nnote\n"
    with pytest.raises(DataError, match="not open for writing"):
        write("/dev/fd/987", kind=PIPED)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("nosuch/a.txt", "the folder .*nosuch is not there"),
        ("a.txt/b.txt", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("x" * 300, "File name too long"),
        ("dangling", "the folder .*nowhere is not there"),
        ("/proc/a.txt", r"the folder /proc takes no files \("),
    ],
)
def test_places_without_a_file_are_found_at_once(earlier, tmp_path, path, reason):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nowhere/a.txt")
    with pytest.raises(DataError, match=reason) as found:
        checked_place(os.path.join(tmp_path, path), NOTE)
    assert str(found.value).endswith("; give another path.")


def test_a_folder_that_is_mounted_twice_is_one(tmp_path, monkeypatch):
    """A link that is not followed stands for the mount, which no path tells."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to(tmp_path / "a")
    monkeypatch.setattr(os.path, "realpath", os.path.abspath)
    assert is_same(str(tmp_path / "a" / "x"), str(tmp_path / "b" / "x"))
    assert not is_same(str(tmp_path / "a" / "x"), str(tmp_path / "b" / "y"))
    assert not is_same(str(tmp_path / "a" / "x"), str(tmp_path / "x"))


@pytest.mark.parametrize("length", [200, 240, 250, 255])
def test_a_name_may_be_as_long_as_the_system_allows(tmp_path, length):
    write(tmp_path / ("x" * length))
    assert [len(name) for name in contents(tmp_path)] == [length]


@pytest.mark.parametrize(
    "path", [3, None, True, b"a.txt", 2.5, "", "a\0b", "a\ud800b", [], object()]
)
def test_what_is_no_path_is_an_error_of_one_line(path):
    with pytest.raises(OptionError) as found:
        checked_place(path, NOTE)
    assert "\n" not in str(found.value)
    assert str(found.value).isprintable()


def test_a_path_of_other_bytes_is_a_path(tmp_path):
    name = os.fsdecode(b"caf\xe9.txt")
    write(tmp_path / name)
    assert checked_path(tmp_path / name) == str(tmp_path / name)
    assert contents(tmp_path) == {name: b"note: new"}


def test_a_working_folder_that_is_gone(tmp_path):
    code = (
        "import os, sys; from pegasos_stats.writing import Kind, checked_place\n"
        "from pegasos_stats.errors import DataError\n"
        "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')\n"
        "try: checked_place('a.txt', Kind('note', 'note', bool))\n"
        "except DataError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout == (
        "The note cannot be written to a.txt: the working folder is no longer there; "
        "give another path.\n"
    )


def test_a_file_that_appears_meanwhile_stays(tmp_path):
    path = tmp_path / "a.txt"
    with pytest.raises(DataError, match="is no note"):
        write_while(path, lambda: path.write_bytes(b"mine"))
    assert contents(tmp_path) == {"a.txt": b"mine"}
    path.unlink()
    write_while(path, lambda: path.write_bytes(b"note of another run"))
    assert contents(tmp_path) == {"a.txt": b"note: new"}


def test_a_file_that_becomes_another_meanwhile_stays(earlier, tmp_path):
    with pytest.raises(DataError, match="is no note"):
        write_while(earlier, lambda: earlier.write_bytes(b"mine"))
    assert contents(tmp_path) == {"a.txt": b"mine"}


def test_without_hard_links_a_file_that_appears_stays_too(tmp_path, monkeypatch):
    def refused(*args):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    write(tmp_path / "new.txt")
    assert contents(tmp_path) == {"new.txt": b"note: new"}
    path = tmp_path / "b.txt"
    with pytest.raises(DataError, match="is no note"):
        write_while(path, lambda: path.write_bytes(b"mine"))
    assert path.read_bytes() == b"mine"


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


@pytest.mark.parametrize("call", ["link", "replace"])
def test_one_of_several_that_cannot_be_put_takes_the_others_back(
    call, tmp_path, monkeypatch
):
    """As where names run out: the first has its place, the second finds none."""
    paths = [tmp_path / "new" / name for name in "ab"]
    real, calls = getattr(os, call), []

    def full(part, path):
        calls.append(path)
        if len(calls) == 2:
            raise OSError(errno.EIO, "Input/output error")
        real(part, path)

    def both():
        with outputs() as files:
            files.make_folder(
                checked_place(tmp_path / "c", NOTE), str(tmp_path / "new")
            )
            for path in paths:
                place = checked_place(path, NOTE, overwrite=call == "replace")
                files.write(place, "note: new")

    monkeypatch.setattr(os, call, full)
    if call == "link":
        monkeypatch.setattr(os, "open", _no_claim(os.open))
    with pytest.raises(DataError, match="Input/output error"):
        both()
    assert not list(tmp_path.iterdir())
    both()
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"a", "b"}


def _no_claim(real):
    def claimed(path, *rest):
        if not str(path).endswith(".part"):
            raise OSError(errno.EIO, "Input/output error")
        return real(path, *rest)

    return claimed


def test_a_text_that_is_no_unicode(tmp_path):
    with pytest.raises(DataError, match=r"'\\ud800' is no character of UTF-8"):
        write(tmp_path / "a.txt", "note \ud800")
    assert contents(tmp_path) == {}
