"""Files made to harm: every byte counts, nothing is believed, memory is bounded."""

import io
import os
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from pegasos_stats.errors import DataError
from pegasos_stats.persist import archive, load, save
from pegasos_stats.persist.archive import parse_json, unpack, write_npz
from tests.persist.hostile_files import (
    DESCRIBED,
    MIB,
    check_refused,
    members_of,
    npy,
    resealed,
    rezipped,
    saved_in,
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return saved_in(tmp_path_factory.mktemp("saved"))


@pytest.fixture
def members(saved):
    return members_of(saved)


def test_every_bit_that_is_flipped_is_noticed(saved):
    content = bytearray(saved.read_bytes())
    unpack(io.BytesIO(content))
    refused = 0
    for place in range(len(content)):
        content[place] ^= 1 << (place % 8)
        try:
            unpack(io.BytesIO(content))
        except Exception:  # load makes a DataError of any
            refused += 1
        content[place] ^= 1 << (place % 8)
    assert refused == len(content)


def test_bytes_behind_and_in_front_are_refused(saved, tmp_path):
    content = saved.read_bytes()
    check_refused(tmp_path / "a", content + b"\n")
    check_refused(tmp_path / "a", b"\n" + content)
    check_refused(tmp_path / "a", content[:60] + b"\0" + content[60:])
    for front in (b"PK\x03\x04 hidden", content[:200], content):
        check_refused(tmp_path / "a", resealed(front + content))
    at = content.index(b"PK\x01\x02")
    check_refused(tmp_path / "a", resealed(content[:at] + b"hidden" + content[at:]))


def test_members_are_those_that_were_written(members, tmp_path):
    path = tmp_path / "a"
    with pytest.warns(UserWarning, match="Duplicate"):
        doubled = rezipped([*members, members[-1]])
    check_refused(path, doubled)
    check_refused(path, rezipped([*members, ("further.npy", members[1][1])]))
    check_refused(path, rezipped([*members, ("note.txt", b"hello")]))
    check_refused(path, rezipped([*members, ("../../up.npy", members[1][1])]))
    check_refused(path, rezipped(members[:-1]))
    check_refused(path, rezipped([(n.replace("f8", "F8"), c) for n, c in members]))
    names = dict(members)
    names["f8.npy"], names["i1.npy"] = names["i1.npy"], names["f8.npy"]
    check_refused(path, rezipped(list(names.items())))
    for packing in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        check_refused(path, rezipped(members, packing=packing))
    many = [(f"m{'x' * i}.npy", b"") for i in range(100)]
    check_refused(path, rezipped([*members, *many]))


def test_a_local_header_that_differs_is_refused(saved, tmp_path):
    content = bytearray(saved.read_bytes())
    at = content.index(b"f8.npy")
    content[at : at + 6] = b"g8.npy"
    check_refused(tmp_path / "a", resealed(content))


@pytest.mark.parametrize(
    ("descr", "shape"),
    [
        ("'|O'", "(2,)"),
        ("'<U5'", "(2,)"),
        ("'|S5'", "(2,)"),
        ("'|V8'", "(2,)"),
        ("'<c16'", "(2,)"),
        ("'<M8[ns]'", "(2,)"),
        ("[('a', '<f8')]", "(2,)"),
        ("'<f8'", "(-2,)"),
        ("'<f8'", "(1000000000000,)"),
        ("'<f8'", "(4294967296, 4294967296, 2)"),
        ("'<f8'", "(" + "9" * 400 + ",)"),
        ("'<f8'", "()"),
        ("'<f8'", "(2, 1)"),
        ("'<f8'", "[2]"),
        ("'<f8'", "(True,)"),
        ("'<f8'", "2"),
        ("'<f8'", "(2,)" + " " * 60000),
        ("'<f4'", "(4,)"),
        ("'<i8'", "(2,)"),
        ("'>u8'", "(2,)"),
        ("'<f8'", "(" * 500),
        ("__import__('os').abort()", "(2,)"),
    ],
)
def test_descriptions_of_arrays_are_not_believed(descr, shape, members, tmp_path):
    member = npy(DESCRIBED % (descr, shape), b"\0" * 16)
    changed = [(n, member if n == "f8.npy" else c) for n, c in members]
    check_refused(tmp_path / "a", rezipped(changed))


def test_paths_that_are_no_regular_files_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "link").symlink_to("/dev/zero")
    for name in ("pipe", "loop", "link", "no/such", "x" * 5000, "a\nb"):
        with pytest.raises(DataError) as caught:
            load(tmp_path / name)
        assert len(str(caught.value).splitlines()) == 1
    for path in ("/dev/zero", "/dev/null", "/dev/tty", "/", "."):
        with pytest.raises(DataError):
            load(path)


def test_an_archive_with_offsets_of_64_bits_is_read(monkeypatch):
    """Of 2 GiB and more; the limits are lowered, since no test needs such a file."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1000)
    monkeypatch.setattr(archive, "LARGE", 1000)
    content = write_npz({"a": np.arange(500.0)})
    assert b"PK\x06\x06" in content
    found = archive.read_npz(io.BytesIO(content))
    np.testing.assert_array_equal(found["a"], np.arange(500.0))


def test_a_huge_directory_takes_no_memory(tmp_path):
    """A hundred thousand members, of which zipfile would make objects."""
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", *[0] * 16)
    entries, comment = 10**5, b"pegasos_stats sha256 " + b"0" * 64
    end = (b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(entry) * entries, 4, len(comment))
    content = b"PK\x03\x04" + entry * entries + archive.END.pack(*end) + comment
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="members"):
            archive.read_npz(io.BytesIO(resealed(content)))
        assert tracemalloc.get_traced_memory()[1] < 2 * len(content) + MIB
    finally:
        tracemalloc.stop()


def test_members_that_share_their_bytes_are_refused(members, tmp_path):
    """A directory that names the same bytes many times."""
    content = rezipped(members)
    at = content.index(b"PK\x01\x02")
    end = content.index(b"PK\x05\x06")
    facts = struct.pack("<2HL", *[7 * len(members)] * 2, 7 * (end - at))
    last = content[end : end + 8] + facts + content[end + 16 :]
    check_refused(tmp_path / "a", resealed(content[:at] + content[at:end] * 7 + last))


@pytest.mark.parametrize("width", [0, 3, 1000])
def test_a_header_has_four_mib_and_a_kib_for_every_row_or_column(width):
    arrays = {"a": np.zeros(width)}
    most = archive.MOST_BYTES + archive.BYTES_EACH * width
    text = b'"' + b"x" * (most - 2) + b'"'
    assert len(parse_json(text, arrays)) == most - 2
    with pytest.raises(ValueError, match=f"its header has {most + 1:,} bytes"):
        parse_json(text[:-1] + b'x"', arrays)


def test_the_same_fit_gives_the_same_bytes(saved, tmp_path):
    save(load(saved), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()
