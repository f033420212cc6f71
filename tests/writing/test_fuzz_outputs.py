"""Files that are written, at random: content, failures, paths."""

import errno
import io
import os
import tempfile
from pathlib import Path
from unittest import mock

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos_stats.errors import DataError, PegasosStatsError
from pegasos_stats.output.cli.files import PREDICTIONS, is_predictions
from pegasos_stats.output.report.output_path import FIGURE, REPORT
from pegasos_stats.persist.archive import MODEL
from pegasos_stats.writing import Kind, checked_place, outputs

pytestmark = pytest.mark.fuzz

NOTE = Kind("note", "note", lambda handle: handle.read(4) == b"note")
CALLS = ["open", "fsync", "replace", "chmod", "stat"]
ERRORS = [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EDQUOT, errno.EROFS, errno.EPERM]
NAMES = ["a", "b", "c"]


class Failing:
    """One call of the system that fails from some time on, or once."""

    def __init__(self, name, first, last, number):
        self.real, self.calls = getattr(os, name), 0
        self.range, self.number = range(first, last), number

    def __call__(self, *args, **options):
        self.calls += 1
        if self.calls in self.range:
            raise OSError(self.number, os.strerror(self.number))
        return self.real(*args, **options)


failing = st.tuples(
    st.sampled_from(CALLS),
    st.integers(1, 8),
    st.integers(1, 8),
    st.sampled_from(ERRORS),
)
contents = st.none() | st.sampled_from([b"note 1", b"mine", b""])
characters = st.characters(exclude_categories=["Cs"])
texts = st.text(characters).map(lambda text: f"note {text}")


def written_together(folder, texts, overwrite, failing):
    """Write texts to files together; what is said where that fails."""
    name, first, more, number = failing
    failing = Failing(name, first, first + more, number)
    try:
        with mock.patch.object(os, name, failing), outputs() as files:
            for own, text in texts.items():
                place = checked_place(os.path.join(folder, own), NOTE, overwrite)
                files.write(place, text)
    except DataError as error:
        return str(error)
    return ""


@given(
    before=st.fixed_dictionaries(dict.fromkeys(NAMES, contents)),
    new=st.dictionaries(st.sampled_from(NAMES), texts, min_size=1),
    overwrite=st.booleans(),
    failing=failing,
)
def test_every_file_is_the_earlier_or_the_new_one(before, new, overwrite, failing):
    there = {name: text for name, text in before.items() if text is not None}
    made = {name: text.encode() for name, text in new.items()}
    with tempfile.TemporaryDirectory() as folder:
        for name, content in there.items():
            Path(folder, name).write_bytes(content)
        said = written_together(folder, new, overwrite, failing)
        found = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    assert "\n" not in said
    if not said:
        assert found == there | made
    for name in NAMES:
        assert found.get(name) in (there.get(name), made.get(name))
        if there.get(name) in (b"mine", b"") and not overwrite:
            assert found[name] == there[name]
    assert set(found) <= set(there) | set(made)


@given(st.text() | st.binary() | st.integers() | st.none() | st.floats())
def test_a_path_is_a_place_or_an_error_of_one_line(path):
    inside = path
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(path, str) and path:
            inside = os.path.join(folder, path.replace("..", "__").lstrip("/"))
        try:
            said = checked_place(inside, NOTE).shown
        except PegasosStatsError as error:
            said = str(error)
        assert said.isprintable()
        assert os.listdir(folder) == []


@pytest.mark.parametrize("kind", [MODEL, REPORT, FIGURE, PREDICTIONS])
@given(content=st.binary(max_size=400))
def test_what_is_at_random_is_never_known(kind, content):
    assert not kind.known(io.BytesIO(content))
    assert not kind.known(io.BytesIO(b"PK\x03\x04" + content))


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
