"""Names, levels and places that nothing can be written for: errors of ours."""

import errno
import io
import os
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import PegasosStatsError
from pegasos_stats.output.cli import main

N = 40
DRAW = np.random.default_rng(0)
Y, X = DRAW.integers(0, 2, N), DRAW.normal(size=N)


class Unordered:
    def __lt__(self, other):
        raise RuntimeError("no order")


class Unwritten:
    def __str__(self):
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    "name",
    ["a\ud800", "u" * 10**6, Unordered(), Unwritten()],
    ids=["half", "long", "order", "text"],
)
def test_names_that_cannot_be_used_are_refused(name):
    frame = pd.DataFrame({"y": Y, "x": X})
    frame.columns = pd.Index(["y", name], dtype=object)
    with pytest.raises(PegasosStatsError):
        ps.logit("y ~ .", frame, lam=0.1)
    if not isinstance(name, Unordered):
        with pytest.raises(PegasosStatsError):
            ps.Logit(Y, frame.iloc[:, 1:], lam=0.1)


@pytest.mark.parametrize("formula", ["y ~ g", "g ~ y"])
def test_levels_that_are_books_are_refused(formula):
    book = "u" * 10**6
    frame = pd.DataFrame({"y": Y, "g": pd.Series([book, "b"] * (N // 2), dtype=object)})
    with pytest.raises(PegasosStatsError):
        ps.logit(formula, frame, lam=0.1)


@pytest.mark.parametrize("value", [{"a": 1}, [1, 2]], ids=["struct", "list"])
@pytest.mark.parametrize("formula", ["y ~ .", "s ~ x"])
def test_dictionaries_of_arrow_that_hold_no_levels(formula, value):
    levels = pa.array([value, type(value)(value)])
    column = pa.DictionaryArray.from_arrays(pa.array(Y.astype(np.int32)), levels)
    with pytest.raises(PegasosStatsError):
        ps.logit(formula, pa.table({"y": Y, "x": X, "s": column}), lam=0.1)


def test_files_whose_names_are_options_or_no_text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"y": Y, "x": X}).to_csv("--a.csv", index=False)
    odd = os.fsdecode(b"\xff.html")
    words = ["--outcome", "y", "--lam", "0.1"]
    assert main(["fit", *words, "--", "--a.csv"]) == 0
    assert main(["report", *words, "--output", odd, "--", "--a.csv"]) == 0
    assert os.path.getsize(odd) > 1000
    assert main(["fit", "--", "--a.csv", *words]) == 2
    assert "no further argument" in capsys.readouterr().err


class Full(io.StringIO):
    def write(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("stream", [None, Full()], ids=["closed", "full"])
@pytest.mark.parametrize("words", [["--help"], ["fit", "a.csv", "--outcome", "y"]])
def test_standard_output_that_is_closed_or_full(
    stream, words, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"y": Y, "x": X}).to_csv("a.csv", index=False)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", stream)
        code = main(words)
    said = capsys.readouterr().err
    assert "unexpected" not in said
    if words != ["--help"] or stream:
        assert code == 2
        assert "Standard output cannot be written" in said
