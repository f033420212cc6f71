"""Files that are written, at random: content, failures, paths."""

import io
import os
import tempfile

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos_stats.errors import PegasosStatsError
from pegasos_stats.output.cli.files import PREDICTIONS, is_predictions
from pegasos_stats.output.report.report import REPORT
from pegasos_stats.persist.archive import MODEL
from pegasos_stats.writing import Kind, checked_place

pytestmark = pytest.mark.fuzz

NOTE = Kind("note", lambda handle: handle.read(4) == b"note")


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


@pytest.mark.parametrize("kind", [MODEL, REPORT, PREDICTIONS])
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
