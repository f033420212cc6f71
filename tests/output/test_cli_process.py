"""The command line as a program: help, pipes, interrupts, strict output."""

import pytest

from tests.output.command_line import run, strict


def test_json_is_strict_where_nothing_is_defined(tmp_path, capsys):
    path = tmp_path / "ties.csv"
    path.write_text("y,a\n0,0\n1,0\n")
    options = ["--outcome", "y", "--no-intercept", "--json", "--trace"]
    content = strict(run(capsys, "fit", path, *options).out)
    assert content["confusion"]["training"]["error_rate"] is None
    assert content["confusion"]["training"]["n_undecided"] == 2


@pytest.mark.parametrize("command", [[], ["fit"], ["predict"], ["demo"]])
def test_help_is_readable(command, capsys):
    printed = run(capsys, *command, "--help").out
    assert printed.startswith("Usage: pegasos-stats")
    assert max(map(len, printed.splitlines())) <= 80
