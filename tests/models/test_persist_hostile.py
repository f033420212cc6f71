"""Files made to harm: every byte counts, nothing is believed, memory is bounded."""

import io
import json
import math
import os
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

from pegasos_stats.errors import DataError, PegasosStatsError
from pegasos_stats.models.persist import container, load, save
from pegasos_stats.models.persist.archive import unpacked_archive
from pegasos_stats.models.persist.container import is_model, sealed
from tests.data.hostile_files import (
    DESCRIBED,
    MIB,
    check_refused,
    members_of,
    npy,
    resealed,
    rezipped,
    saved_in,
    zeros,
)
from tests.models.saved_models import taken_apart


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return saved_in(tmp_path_factory.mktemp("saved"))


@pytest.fixture
def parts(saved):
    return taken_apart(saved)


@pytest.fixture
def members(saved):
    return members_of(saved)


def test_every_bit_that_is_flipped_is_noticed(saved):
    content = bytearray(saved.read_bytes())
    assert unpacked_archive(bytes(content)).checked
    refused = 0
    for place in range(len(content)):
        content[place] ^= 1 << (place % 8)
        try:
            unpacked_archive(bytes(content))
        except Exception:  # load makes a DataError of any
            refused += 1
        content[place] ^= 1 << (place % 8)
    assert refused == len(content)


def test_bytes_behind_and_in_front_are_refused(saved, tmp_path):
    content = saved.read_bytes()
    check_refused(tmp_path / "a", content + b"\n")
    check_refused(tmp_path / "a", b"\n" + content)
    check_refused(tmp_path / "a", content[:60] + b"\0" + content[60:])


def test_the_same_fit_gives_the_same_bytes(saved, tmp_path):
    save(load(saved), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_numpy_opens_the_file(saved):
    with np.load(saved) as archive:
        assert set(archive.files) >= {"header", "y", "beta", "dual"}


def test_the_helper_makes_files_that_load(members, tmp_path):
    (tmp_path / "a").write_bytes(rezipped(members))
    assert load(tmp_path / "a").nobs == 10


def test_members_are_those_that_were_written(members, tmp_path):
    path = tmp_path / "a"
    with pytest.warns(UserWarning, match="Duplicate"):
        doubled = rezipped([*members, members[-1]])
    check_refused(path, doubled)
    check_refused(path, rezipped([*members, ("further.npy", members[1][1])]))
    check_refused(path, rezipped([*members, ("note.txt", b"hello")]))
    check_refused(path, rezipped([*members, ("../../up.npy", members[1][1])]))
    check_refused(path, rezipped(members[:-1]))
    renamed = [(n.replace("beta", "Beta"), c) for n, c in members]
    check_refused(path, rezipped(renamed))
    names = dict(members)
    names["beta.npy"], names["dual.npy"] = names["dual.npy"], names["beta.npy"]
    check_refused(path, rezipped(list(names.items())))
    check_refused(path, rezipped(members, packing=zipfile.ZIP_DEFLATED))
    many = [(f"m{'x' * i}.npy", b"") for i in range(100)]
    check_refused(path, rezipped([*members, *many]))


def test_a_local_header_that_differs_is_refused(saved, tmp_path):
    content = bytearray(saved.read_bytes())
    at = content.index(b"beta.npy")
    content[at : at + 8] = b"zeta.npy"
    check_refused(tmp_path / "a", resealed(content))


@pytest.mark.parametrize(
    "packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED]
)
def test_other_packing_is_refused(members, packing, tmp_path):
    check_refused(tmp_path / "a", rezipped(members, packing=packing))


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
        ("'<f4'", "(4,)"),
        ("'<i8'", "(2,)"),
        ("'>u8'", "(2,)"),
        ("'<f8'", "(" * 500),
        ("__import__('os').abort()", "(2,)"),
    ],
)
def test_descriptions_of_arrays_are_not_believed(descr, shape, members, tmp_path):
    member = npy(DESCRIBED % (descr, shape), b"\0" * 16)
    changed = [(n, member if n == "beta.npy" else c) for n, c in members]
    check_refused(tmp_path / "a", rezipped(changed))


def test_a_long_description_is_not_read(members, tmp_path):
    member = npy(DESCRIBED % ("'<f8'", "(2,)") + " " * 60000, b"\0" * 16)
    changed = [(n, member if n == "beta.npy" else c) for n, c in members]
    check_refused(tmp_path / "a", rezipped(changed))


def bomb(members, name, described, size, stated):
    """An archive of format 1 with a member that inflates to far more."""
    content = zeros(size)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for other, bytes_ in members:
            if other != name:
                archive.writestr(other, bytes_)
        archive.writestr(name, b"")
    plain = out.getvalue()
    first = zlib.compressobj(9, zlib.DEFLATED, -15)
    start = first.compress(described) + first.flush(zlib.Z_FULL_FLUSH)
    at = plain.rindex(b"PK\x03\x04")
    end = plain.index(name.encode(), at) + len(name)
    central = plain.index(b"PK\x01\x02", end)
    return patched(plain[:end], start + content, plain[central:], name, stated)


def patched(before, content, after, name, stated):
    """Sizes and places of the last member set to those of its content."""
    sizes = struct.pack("<LL", len(content), stated)
    before, after = bytearray(before), bytearray(after)
    local = len(before) - len(name) - 30
    before[local + 8 : local + 10] = struct.pack("<H", 8)
    before[local + 18 : local + 26] = sizes
    last = after.rindex(b"PK\x01\x02")
    after[last + 10 : last + 12] = struct.pack("<H", 8)
    after[last + 20 : last + 28] = sizes
    end = after.rindex(b"PK\x05\x06")
    after[end + 16 : end + 20] = struct.pack("<L", len(before) + len(content))
    return bytes(before) + content + bytes(after)


def test_a_bomb_is_not_inflated(members, parts, tmp_path):
    header, _ = parts
    old = {k: v for k, v in header.items() if k != "digest"} | {"version": 1}
    text = json.dumps(old).encode()
    described = npy(DESCRIBED % ("'|u1'", f"({len(text)},)"), text)
    plain = [(n, described if n == "header.npy" else c) for n, c in members]
    huge, size = 256 * MIB, 256 * MIB // 8
    for name in ("beta.npy", "dual.npy", "further.npy"):
        start = npy(DESCRIBED % ("'<f8'", f"({size},)"))
        made = bomb(plain, name, start, huge, len(start) + huge)
        assert len(made) < MIB
        check_refused(tmp_path / "a", made)
        # a size that is right for the fit, while far more is there
        count = 2 if name == "beta.npy" else 10
        start = npy(DESCRIBED % ("'<f8'", f"({count},)"))
        made = bomb(plain, name, start, huge, len(start) + 8 * count)
        check_refused(tmp_path / "a", made)
    start = npy(DESCRIBED % ("'|u1'", f"({huge},)"))
    made = bomb(plain, "header.npy", start, huge, len(start) + huge)
    check_refused(tmp_path / "a", made)


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


@pytest.mark.parametrize("path", [3, None, b"a", 2.5, [], "a\0b", "", "\ud800", math])
def test_what_is_no_path_is_refused(path, saved):
    with pytest.raises(PegasosStatsError):
        load(path)
    with pytest.raises(PegasosStatsError):
        save(load(saved), path)


def test_an_archive_of_another_is_not_ours(tmp_path):
    check_refused(tmp_path / "a", sealed({"beta": np.zeros(2)}))


def test_an_archive_with_offsets_of_64_bits_is_read(saved, tmp_path, monkeypatch):
    """Of 2 GiB and more; the limits are lowered, since no test needs such a file."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1000)
    monkeypatch.setattr(container, "LARGE", 1000)
    arrays = {"header": np.zeros(3, np.uint8), "a": np.arange(500.0)}
    content = container.sealed(arrays)
    assert b"PK\x06\x06" in content
    found = container.Container(io.BytesIO(content))
    np.testing.assert_array_equal(found.array("a"), arrays["a"])


@pytest.mark.parametrize("field", [32, 40])  # members, and bytes of the directory
def test_a_directory_of_64_bits_is_bounded_too(field, monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1000)
    monkeypatch.setattr(container, "LARGE", 1000)
    content = bytearray(container.sealed({"a": np.arange(500.0)}))
    at = content.index(b"PK\x06\x06")
    opened = container.archive_in(io.BytesIO(content))
    assert opened.namelist() == ["a.npy"]
    content[at + field : at + field + 8] = (2**17).to_bytes(8, "little")
    with pytest.raises(ValueError, match="members"):
        container.archive_in(io.BytesIO(content))


def test_a_file_with_a_huge_directory_is_no_model_and_takes_no_memory():
    """A hundred thousand members, of which zipfile would make objects."""
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", *[0] * 16)
    entries = 10**5
    end = (b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(entry) * entries, 4, 0)
    content = b"PK\x03\x04" + entry * entries + container.END.pack(*end)
    tracemalloc.start()
    try:
        assert not is_model(io.BytesIO(content))
        assert tracemalloc.get_traced_memory()[1] < MIB
    finally:
        tracemalloc.stop()


def archive_of(count):
    handle = io.BytesIO()
    with zipfile.ZipFile(handle, "w") as archive:
        for number in range(count):
            archive.writestr(f"{number}.npy", b"")
    return handle


@pytest.mark.parametrize("count", [1, container.MOST_MEMBERS])
def test_as_many_members_are_read_as_may_be(count):
    names = container.archive_in(archive_of(count)).namelist()
    assert names == [f"{number}.npy" for number in range(count)]


@pytest.mark.parametrize("count", [container.MOST_MEMBERS + 1, 10_000])
def test_more_members_than_may_be_are_refused(count):
    with pytest.raises(ValueError, match=rf"^it has {count} members$"):
        container.archive_in(archive_of(count))
