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
