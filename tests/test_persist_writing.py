"""Saved models and the file system: places that cannot be written, failed writes."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError
from pegasos_stats.persist import load, save


@pytest.fixture(scope="module")
def data():
    return pd.DataFrame({"y": [0, 1] * 5, "a": range(10), "b": range(5, 15)})


def fitted(formula, frame):
    return ps.svm(formula, frame).fit(ps.Pegasos(epochs=2, seed=1))


def test_missing_files_folders_and_places_that_cannot_be_written(data, tmp_path):
    with pytest.raises(DataError, match="is not there"):
        load(tmp_path / "none")
    with pytest.raises(DataError, match="is a folder"):
        load(tmp_path)
    result = fitted("y ~ a", data)
    with pytest.raises(DataError, match=r"cannot be written to .*give another path"):
        save(result, tmp_path / "no" / "such" / "folder")
    with pytest.raises(DataError, match="it is a folder"):
        save(result, tmp_path)
    with pytest.raises(DataError, match="A str cannot be saved"):
        save("text", tmp_path / "a.model")


def test_a_failed_save_leaves_the_file_that_was_there(data, tmp_path, monkeypatch):
    path = tmp_path / "a.model"
    save(fitted("y ~ a", data), path)
    before = path.read_bytes()

    def full(handle, **arrays):
        handle.write(b"PK half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(DataError, match="No space left on device"):
        save(fitted("y ~ b", data), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
