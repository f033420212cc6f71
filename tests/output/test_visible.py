"""What a file's names do to a terminal or a page: nothing."""

import io
import json
import sys

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import HIDDEN
from pegasos_stats.output.cli import main

SHOWN = ("__str__", "_repr_html_", "_repr_markdown_", "_repr_latex_", "to_html")
SHOWN += ("to_latex", "to_markdown")
STEERING = "\x1b[2J\x07\u202e\x9b"


@pytest.fixture(scope="module")
def data():
    draw, n = np.random.default_rng(0), 60
    labels = pd.Index([f"{i}{STEERING}" for i in range(n)], name="id")
    frame = pd.DataFrame({f"x{STEERING}": draw.normal(size=n)}, labels)
    frame["g"] = draw.choice([f"u{STEERING}", "v"], n)
    return frame.assign(y=draw.choice(["no", f"yes{STEERING}"], n))


def test_names_and_levels_are_shown_without_control_characters(data):
    model = ps.logit("y ~ .", data, lam=0.1)
    result = model.fit()
    table = result.confusion(data)
    shown = [model, result, result.summary(details=True), table, table.summary()]
    shown += [result.margins(), ps.compare_models({STEERING: result, "b": result})]
    shown += [ps.cross_validate(model, folds=3), result.report(data)]
    for each in shown:
        for name in SHOWN:
            text = getattr(each, name)() if hasattr(type(each), name) else ""
            assert not HIDDEN.search(text), (type(each), name)
    first, *others = str(result.summary().as_text()).splitlines()[2:9]
    assert {len(line) for line in others if "[T." in line} <= {len(first)}


def test_the_command_line_shows_none_and_its_files_have_the_data(
    data, tmp_path, capsys, monkeypatch
):
    names = ["a.csv", "fit.model", "page.html", "out.csv"]
    rows, model, page, out = (str(tmp_path / name) for name in names)
    data.to_csv(rows)
    fit = ["fit", rows, "--outcome", "y", "--id", "id", "--loss", "log"]
    for words in (
        [*fit, "--coefficients", "--save", model],
        ["report", *fit[1:6], "--output", page],
        [*fit, "--json"],
        ["predict", model, rows, "--output", out],
        ["fit", rows, "--outcome", STEERING],
    ):
        assert main(words) == (0 if STEERING not in words else 2)
        found = capsys.readouterr()
        assert not HIDDEN.search(found.out + found.err)
        if "--json" in words:
            assert json.loads(found.out)["levels"][1].endswith(STEERING)
    with open(page, encoding="utf-8") as handle:
        assert not HIDDEN.search(handle.read())
    assert pd.read_csv(out, index_col=0).index.equals(data.index)
    for at_terminal in (False, True):
        screen = io.StringIO()
        monkeypatch.setattr(screen, "isatty", lambda is_one=at_terminal: is_one)
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", screen)
            assert main(["predict", model, rows]) == 0
        assert bool(HIDDEN.search(screen.getvalue())) != at_terminal
