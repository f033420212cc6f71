"""The command line says what is seldom meant: one answer for all rows, text, names."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from tests.output.command_line import run

N = 60
NUMBERS = [f"{i / 4}" for i in range(N)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


PART = (np.arange(N) % 3 == 0) * 1.0


def warned(capsys, *options, command="fit", **columns):
    """Warnings about a model of a few columns."""
    y = np.where(np.arange(N) % 3 == 0, "no", "yes")
    pd.DataFrame({"y": y, **columns}).to_csv("d.csv", index=False)
    given = command, "d.csv", "--outcome", "y", *options
    if command == "fit":
        return json.loads(run(capsys, *given, "--json").out)["warnings"]
    out = run(capsys, *given).out
    return [line[11:] for line in out.split("\n") if line.startswith("Warning")]


def test_one_answer_for_every_row_is_said(capsys):
    (line,) = warned(capsys, "--lambda", 10, "--solver", "sdca", x=PART)
    assert "every row is predicted 'yes'" in line
    assert {"--weights"} == set(re.findall("--[a-z-]+", line))


def hinted(capsys, *options, **columns):
    y = np.where(np.arange(N) % 3 == 0, "no", "yes")
    pd.DataFrame({"y": y, **columns}).to_csv("d.csv", index=False)
    given = "fit", "d.csv", "--outcome", "y", "--solver", "sdca", *options, "--json"
    return json.loads(run(capsys, *given).out)["hints"]


def test_scales_are_notes_with_options_of_the_command(capsys):
    columns = {"x": np.arange(N) * 1000.0, "z": (np.arange(N) % 2).astype(float)}
    hints = hinted(capsys, "--lambda", 1, **columns)
    assert any("--standardize" in hint for hint in hints)


def test_missing_values_are_counted_by_column(capsys):
    x = [f"{i}" if i > 2 else "" for i in range(N)]
    pd.DataFrame({"y": ["n", "p"] * 30, "x": x}).to_csv("d.csv", index=False)
    given = "fit", "d.csv", "--outcome", "y", "--solver", "sdca"
    assert run(capsys, *given).out.count("3 in 'x'") == 1
    assert json.loads(run(capsys, *given, "--json").out)["missing"] == {"x": 3}


def test_only_what_a_kernel_takes_is_named(capsys):
    lines = warned(capsys, "--lambda", 100, "--kernel", "gaussian", x=np.arange(N) / N)
    assert any("every row" in line for line in lines)


def test_two_answers_are_not(capsys):
    options = ["--solver", "sdca", "--lambda", 0.01]
    assert not warned(capsys, *options, x=np.arange(N) % 3 == 0)


@pytest.mark.parametrize("command", ["fit", "report"])
def test_names_of_rows_are_said(command, capsys):
    names = [f"P{i}" for i in range(N)]
    lines = warned(capsys, command=command, name=names)
    assert any(
        line.startswith("the column 'name' has 60 levels in 60 rows, as names of rows")
        for line in lines
    )


WORDS = {
    "question mark": "?",
    "thousands": "1,234",
}


@pytest.mark.parametrize("case", WORDS)
def test_words_among_numbers_are_said(case, capsys):
    word = WORDS[case]
    lines = warned(capsys, x=[*NUMBERS[:-3], word, word, word])
    text = f"the column 'x' is text, as {word!r} (row 57) is no number: 58 levels"
    assert any(line.startswith(text) for line in lines)


ORDINARY = {
    "text": ["u", "v", "w"] * 20,
    "ages": ["25-34", "35-44", "45+"] * 20,
    "numbers as levels": ["0", "1", "2+"] * 20,
    "missing": [*NUMBERS[:-3], "NA", "", "n/a"],
}


@pytest.mark.parametrize("case", ORDINARY)
def test_factors_that_are_meant_are_not_said(case, capsys):
    lines = warned(capsys, x=ORDINARY[case])
    assert not any("the column" in line for line in lines)


def test_options_that_help_are_options_of_the_command(capsys):
    lines = warned(capsys, "--lambda", 1e-5, "--epochs", 1, x=np.arange(N))
    x = np.where(np.arange(N) % 3 == 0, 1.0, 0.0)
    lines += warned(capsys, "--lambda", 100, "--solver", "sdca", x=x)
    named = set(re.findall("--[a-z-]+", " ".join(lines)))
    assert named >= {"--refine", "--weights"}
    assert named <= set(re.findall("--[a-z-]+", run(capsys, "fit", "--help").out))


def test_json_has_them(capsys):
    columns = {"y": ["n", "p"] * 30, "x": np.arange(N)}
    pd.DataFrame(columns).to_csv("d.csv", index=False)
    given = "--outcome", "y", "--solver", "pegasos", "--lambda", 1, "--seed", 443
    printed = run(capsys, "fit", "d.csv", *given, "--json")
    (line,) = (w for w in json.loads(printed.out)["warnings"] if "all zero" in w)
    assert "--refine 1e-6" in line
