"""A column as an offset, on the command line and in the report that repeats a fit."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.output.cli import main
from tests.output.command_line import run


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.normal(size=40), "z": rng.normal(size=40)})
    score = frame["x"] + frame["z"] + rng.normal(size=40)
    frame["y"] = np.where(score > 0.4, "up", "down")
    path = tmp_path / "d.csv"
    frame.to_csv(path, index=False)
    return path


def test_a_column_is_an_offset_and_no_predictor(table, tmp_path, capsys):
    model = tmp_path / "fit.model"
    given = "fit", table, "--outcome", "y", "--offset", "z", "--loss", "log", "--json"
    shown = run(capsys, *given[:-1], "--solver", "sdca").out
    assert "lambda 0.025 (1/n)" in shown
    assert re.search(r"Offset: +z ", shown)
    printed = run(capsys, *given, "--solver", "sdca", "--save", model)
    frame = pd.read_csv(table)
    alone = ps.logit("y ~ x", frame, offset="z").fit(ps.SDCA(seed=2))
    # Two orders, each to a gap of 1e-6 by Newton steps, which end far below it.
    params = json.loads(printed.out)["params"]
    assert params == pytest.approx(alone.params.to_dict(), rel=1e-6)
    found = run(capsys, "predict", model, table, "-o", tmp_path / "p.csv")
    assert found.err == ""
    scores = pd.read_csv(tmp_path / "p.csv")["score"]
    np.testing.assert_allclose(scores, alone.decision_function(frame), rtol=1e-6)


def test_new_rows_without_the_column_are_refused(table, tmp_path, capsys):
    model = tmp_path / "fit.model"
    run(capsys, "fit", table, "--outcome", "y", "--offset", "z", "--save", model)
    pd.read_csv(table).drop(columns="z").to_csv(tmp_path / "n.csv", index=False)
    assert main(["predict", str(model), str(tmp_path / "n.csv")]) == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("pegasos-stats: --offset 'z' is no column of the data; ")


def test_of_a_kernel_it_is_a_number(table, capsys):
    given = ["fit", str(table), "--outcome", "y", "--kernel", "polynomial"]
    assert main([*given, "--offset", "z"]) == 2
    said = capsys.readouterr().err.strip()
    assert "offset" in said
    run_of_r = "--lambda", "1", "--epochs", "2", "--seed", "1"
    assert main([*given, "--offset", "0.5", *run_of_r]) == 0
    assert "offset 0.5" in capsys.readouterr().out


def test_the_report_has_it_and_repeats_it(table, capsys):
    page = table.parent / "page.md"
    run(capsys, "report", table, "--outcome", "y", "--offset", "z", "-o", page)
    text = page.read_text()
    assert "--offset z" in text
    assert "offset: z" in text
    assert "`y ~ . - z`" in text
