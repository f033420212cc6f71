"""Errors of CSV files name the line and the separator, in memory and by --memory."""

import numpy as np
import pytest

from pegasos_stats.output.cli import main

X = np.random.default_rng(8).normal(size=300)
LINES = [f"{'ab'[int(x > 0.0)]},{x:.3f},1\n" for x in X]


def with_line(text):
    return "y,x,k\n" + "".join([*LINES[:200], text, *LINES[201:]])


EUROPEAN = "y;x;k\n" + "".join(LINES).replace(",", ";").replace(".", ",")


@pytest.mark.parametrize("memory", [(), ("--memory", "64MiB")])
@pytest.mark.parametrize(
    ("text", "named"),
    [
        (with_line("a,1\n"), "line 202"),
        (with_line("a,1,2,3\n"), "line 202"),
        (with_line('a,"1,2\n'), "line 202"),
        (with_line('a,1,"2\n'), "line 202"),
        (EUROPEAN, "semicolons"),
        (EUROPEAN, "--sep ';'"),
        ("y\tx\tk\n" + "".join(LINES).replace(",", "\t"), "tabs"),
        ("y|x|k\n" + "".join(LINES).replace(",", "|"), "bars"),
    ],
)
def test_the_line_and_the_separator_are_named(tmp_path, capsys, memory, text, named):
    path = tmp_path / "rows.csv"
    path.write_text(text, encoding="utf-8")
    assert main(["fit", str(path), "--formula", "y ~ x", "--lam", "0.1", *memory]) == 2
    assert named in capsys.readouterr().err
