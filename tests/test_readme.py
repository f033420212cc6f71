"""The README: its code runs and prints what it says."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


@pytest.fixture(scope="module")
def blocks():
    text = README.read_text(encoding="utf-8")
    return re.findall(r"```(\w*)\n(.*?)```", text, flags=re.DOTALL)


def test_the_ten_lines_print_what_they_say(blocks, capsys):
    (code,) = [body for language, body in blocks if language == "python"]
    exec(compile(code, "README.md", "exec"), {})
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    (expected,) = [body for language, body in blocks if language == ""]
    lines = expected.splitlines()
    assert printed[-len(lines) :] == lines


def test_the_summary_is_what_is_printed(blocks):
    import pegasos_stats as ps

    train, _ = ps.datasets.load_digits56()
    model = ps.svm("digit ~ p34 + p43 + p12", train, lam=0.01)
    (expected,) = [body for language, body in blocks if language == "text"]
    printed = str(model.fit(ps.SDCA(tol=1e-8, seed=1)).summary())
    shown = [line for line in expected.splitlines() if "gap:" not in line]
    assert shown == [line for line in printed.splitlines() if "gap:" not in line]


def test_the_figure_is_there():
    (path,) = re.findall(r"!\[.*?\]\((.*?)\)", README.read_text(encoding="utf-8"))
    assert (README.parent / path).stat().st_size > 10_000
