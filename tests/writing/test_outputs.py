"""A kind of file, and how it is written."""

import errno
import io
import os
import socket
import stat
import tempfile

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos_stats.errors import DataError, PegasosStatsError
from pegasos_stats.output.cli.files import PREDICTIONS, is_predictions
from pegasos_stats.output.report.report import REPORT
from pegasos_stats.persist.archive import MODEL
from pegasos_stats.writing import (
    Kind,
    checked_path,
    outputs,
    validated_output_path,
)

NOTE = Kind("note", lambda handle: handle.read(4) == b"note")
EARLIER = b"note: the earlier one"


def write(path, text="note: new", kind=NOTE, **options):
    with outputs() as files:
        files.write(validated_output_path(path, kind, **options), text)


def write_while(path, meanwhile):
    """Write a file; something else happens before it is put in its place."""
    with outputs() as files:
        files.write(validated_output_path(path, NOTE), "note: new")
        meanwhile()


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# ---- Files that are written: whole or not at all, and what they may replace.


@pytest.fixture
def earlier(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(EARLIER)
    return path


def test_a_new_file_has_the_mode_that_open_would_give(tmp_path):
    before = os.umask(0o027)
    write(tmp_path / "a.txt")
    os.umask(before)
    assert contents(tmp_path) == {"a.txt": b"note: new"}
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


def test_what_is_replaced_keeps_its_mode(earlier):
    for mode in (0o777, 0o600):
        earlier.chmod(mode)
        with outputs() as files:
            files.open(validated_output_path(earlier, NOTE)).write(b"note: new")
            (part,) = files.parts
            assert mode == 0o777 or stat.S_IMODE(os.stat(part).st_mode) == 0o600
        assert earlier.read_bytes() == b"note: new"
        assert stat.S_IMODE(earlier.stat().st_mode) == mode


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
    earlier.unlink()  # what the link names is made
    write(there / "link")
    assert earlier.read_bytes() == b"note: new"


def test_an_unknown_file_is_replaced_only_on_demand(earlier, tmp_path):
    for content in (b"mine", b"", b"\0\xff"):
        earlier.write_bytes(content)
        with pytest.raises(DataError, match=r"not a note of .* overwrite=True"):
            write(earlier)
        assert contents(tmp_path) == {"a.txt": content}
    write(earlier, overwrite=True)
    assert contents(tmp_path) == {"a.txt": b"note: new"}


def test_a_file_is_no_device_pipe_socket_or_folder(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
    names = ["/dev/null", "link", "pipe", "socket", "folder", "folder/", "new/", "."]
    here = list(tmp_path.iterdir())
    before = {p: (p.lstat().st_mode, p.lstat().st_ino) for p in here}
    for name in [*names, "folder/.."]:
        for overwrite in (False, True):
            with pytest.raises(DataError, match="cannot be written to"):
                write(os.path.join(tmp_path, name), overwrite=overwrite)
    assert before == {p: (p.lstat().st_mode, p.lstat().st_ino) for p in here}
    assert set(here) == set(tmp_path.iterdir())
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("nosuch/a.txt", "the folder .*nosuch does not exist"),
        ("a.txt/b.txt", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("x" * 300, "File name too long"),
        ("dangling", "the folder .*nowhere does not exist"),
    ],
)
def test_places_without_a_file_are_found_at_once(earlier, tmp_path, path, reason):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nowhere/a.txt")
    with pytest.raises(DataError, match=reason) as found:
        validated_output_path(os.path.join(tmp_path, path), NOTE)
    assert str(found.value).endswith("; use another path.")


def test_a_file_that_appears_meanwhile_stays(tmp_path):
    path = tmp_path / "a.txt"
    with pytest.raises(DataError, match="is not a note"):
        write_while(path, lambda: path.write_bytes(b"mine"))
    assert contents(tmp_path) == {"a.txt": b"mine"}
    path.unlink()
    write_while(path, lambda: path.write_bytes(b"note of another run"))
    assert contents(tmp_path) == {"a.txt": b"note: new"}


def test_several_files_are_put_in_their_places_together(tmp_path):
    places = [validated_output_path(tmp_path / name, NOTE) for name in "ab"]

    def both(last):
        with outputs() as files:
            files.write(places[0], "note: new")
            files.write(places[1], last)

    with pytest.raises(DataError, match=r"cannot be written to .*b: "):
        both("note \ud800")
    assert contents(tmp_path) == {}
    both("note: new")
    assert contents(tmp_path) == {"a": b"note: new", "b": b"note: new"}


# ---- Files that are written while calls fail, and by several threads at once.

CALLS = ["open", "fsync", "replace", "chmod", "stat", "close", "unlink"]
FAILURES = [
    OSError(errno.ENOSPC, "No space left on device"),
    PermissionError(errno.EACCES, "Permission denied"),
    KeyboardInterrupt(),
    MemoryError(),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("there", [True, False])
def test_whichever_call_fails_the_file_is_the_earlier_or_the_new_one(
    name, failure, there, tmp_path, monkeypatch
):
    """The first, the second ... call fails, until the writing needs no more calls."""
    path = tmp_path / "a.txt"
    before = EARLIER if there else None
    real = getattr(os, name)
    for last in range(1, 30):
        path.unlink(missing_ok=True)
        if there:
            path.write_bytes(EARLIER)
        calls = 0

        def failing(*args, last=last, **options):
            nonlocal calls
            calls += 1
            if calls == last:
                raise failure
            return real(*args, **options)

        raised = None
        with monkeypatch.context() as patched:
            patched.setattr(os, name, failing)
            try:
                write(path)
            except BaseException as error:
                raised = error
        found = path.read_bytes() if path.exists() else None
        assert isinstance(raised, DataError | type(failure) | None)
        assert not isinstance(raised, OSError)
        allowed = {b"note: new" if raised is None else before}
        if raised is not None and not isinstance(raised, DataError):
            allowed.add(b"note: new")  # interrupted, maybe after the renaming
        assert found in allowed
        if name != "unlink":  # a part that cannot be removed stays
            assert {*contents(tmp_path)} <= {"a.txt"}
        if calls < last:
            return
    raise AssertionError("the calls never end")


# ---- Files that are written, at random: content, failures, paths.

pytestmark = pytest.mark.fuzz


@given(st.text() | st.binary() | st.integers() | st.none() | st.floats())
def test_a_path_is_a_place_or_an_error_of_one_line(path):
    inside = path
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(path, str) and path:
            inside = os.path.join(folder, path.replace("..", "__").lstrip("/"))
        try:
            said = validated_output_path(inside, NOTE).shown
        except PegasosStatsError as error:
            said = str(error)
        assert said.isprintable()
        assert os.listdir(folder) == []


@pytest.mark.parametrize("kind", [MODEL, REPORT, PREDICTIONS])
@given(content=st.binary(max_size=400))
def test_what_is_at_random_is_never_known(kind, content):
    assert not kind.is_own(io.BytesIO(content))
    assert not kind.is_own(io.BytesIO(b"PK\x03\x04" + content))


# A carriage return within a label ends the line for csv.reader, not for csv.writer:
# such predictions are taken for another file, and need --overwrite.
labels = st.characters(exclude_categories=["Cs"], exclude_characters="\r")
levels = st.text(labels, min_size=1, max_size=20)


@given(levels=st.lists(levels, min_size=2, max_size=2, unique=True))
def test_predictions_are_known_by_their_header_whatever_the_levels(levels):
    frame = pd.DataFrame({"predicted": levels, "score": [1.0, 2.0]})
    for level in levels:
        frame[f"probability_{level}"] = 0.5
    text = frame.to_csv(index_label="row", lineterminator="\n")
    assert is_predictions(io.BytesIO(text.encode()))
    mine = frame.assign(mine=1).to_csv(index_label="row", lineterminator="\n")
    assert not is_predictions(io.BytesIO(mine.encode()))


def test_other_names_of_a_file_keep_its_earlier_content(earlier, tmp_path):
    os.link(earlier, tmp_path / "other")
    write(earlier)
    assert contents(tmp_path) == {"a.txt": b"note: new", "other": EARLIER}


def test_a_path_of_other_bytes_is_a_path(tmp_path):
    name = os.fsdecode(b"caf\xe9.txt")
    write(tmp_path / name)
    assert checked_path(tmp_path / name) == str(tmp_path / name)
    assert contents(tmp_path) == {name: b"note: new"}
