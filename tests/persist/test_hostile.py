"""Files made to harm: every byte counts, nothing is believed, memory is bounded."""

import os

import numpy as np
import pytest

from pegasos_stats.errors import DataError
from pegasos_stats.persist import archive, load, save
from pegasos_stats.persist.archive import json_text, parse_json, unpack
from tests.persist.hostile_files import check_refused, resealed, saved_in
from tests.persist.parts import put_together, taken_apart


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return saved_in(tmp_path_factory.mktemp("saved"))


def test_every_bit_that_is_flipped_is_noticed(saved, tmp_path):
    content = bytearray(saved.read_bytes())
    for place in range(len(content)):
        content[place] ^= 1 << (place % 8)
        if place < len(archive.MARK):
            check_refused(tmp_path / "a", bytes(content))
        else:
            with pytest.raises(ValueError, match="digest"):
                unpack(content)
        content[place] ^= 1 << (place % 8)
    unpack(content)


def test_bytes_behind_in_front_and_between_are_refused(saved, tmp_path):
    content, path = saved.read_bytes(), tmp_path / "a"
    check_refused(path, content + b"\n")
    check_refused(path, b"\n" + content)
    for place in (archive.DIGEST_END, archive.TEXT_START, 500, len(content)):
        for more in (b"\0", b" ", b"\0" * 8, content):
            check_refused(path, resealed(content[:place] + more + content[place:]))
        check_refused(path, resealed(content[:place] + content[place + 1 :])[:-1])
    for length in range(archive.TEXT_START):
        check_refused(path, content[:length])


@pytest.mark.parametrize(
    "sizes",
    [
        None,
        [],
        {},
        {"O": 2},
        {"U5": 2},
        {"c16": 2},
        {"M8[ns]": 2},
        {"f8,f8": 2},
        {"f8": -1},
        {"f8": -(2**70)},
        {"f8": 10**12},
        {"f8": 2**64},
        {"f8": "2"},
        {"f8": 2.0},
        {"f8": True},
        {"f8": [2]},
        {"f4": 4},
        {"i8": 2},
        {"f8": 1, "i8": 1},
        {">f8": 2},
        {"__import__('os').abort()": 2},
    ],
    ids=str,
)
def test_sizes_of_arrays_are_not_believed(sizes, saved, tmp_path):
    header, arrays = taken_apart(saved)
    numbers = {"f8": arrays["f8"][:2]}
    for changed in (header | {"arrays": sizes}, {"arrays": {"f8": 2}}):
        check_refused(tmp_path / "a", put_together(json_text(changed), numbers))
    header.pop("arrays")
    check_refused(tmp_path / "a", put_together(json_text(header), numbers))


def test_a_text_longer_than_the_file_takes_no_memory(saved, tmp_path):
    content, at = saved.read_bytes(), archive.DIGEST_END
    for length in (2**63, 2**64 - 1, len(content), 0):
        changed = content[:at] + length.to_bytes(8, "little") + content[at + 8 :]
        check_refused(tmp_path / "a", resealed(changed))


def test_arrays_that_are_not_aligned_are_read_as_written():
    """In another order than `save` writes: numbers of eight bytes behind one byte."""
    numbers = {"i1": np.ones(1, np.int8), "f8": np.arange(3.0)}
    text = json_text({"arrays": {"i1": 1, "f8": 3}})
    _, found = unpack(put_together(text, numbers))
    assert all(array.flags.aligned for array in found.values())
    assert found["f8"].tolist() == [0.0, 1.0, 2.0]


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


@pytest.mark.parametrize("width", [0, 3, 1000])
def test_a_header_has_four_mib_and_a_kib_for_every_byte_of_arrays(width):
    most = archive.MOST_BYTES + archive.BYTES_EACH * width
    text = b'"' + b"x" * (most - 2) + b'"'
    assert len(parse_json(text, width)) == most - 2
    with pytest.raises(ValueError, match=f"its header has {most + 1:,} bytes"):
        parse_json(text[:-1] + b'x"', width)


def test_the_same_fit_gives_the_same_bytes(saved, tmp_path):
    save(load(saved), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()
