"""The command line as a program: help, pipes, interrupts, strict output."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import pegasos_stats
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


@pytest.mark.parametrize("library", ["numpy", "pandas"])
def test_an_interrupt_while_libraries_are_loaded_gives_one_line(library, tmp_path):
    (tmp_path / f"{library}.py").write_text("raise KeyboardInterrupt")
    folders = [str(tmp_path), str(Path(pegasos_stats.__file__).parents[1])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(folders)}

    def ended(*words):
        command = [sys.executable, *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    found = ended("-m", "pegasos_stats", "demo")
    assert (found.stdout, found.stderr) == ("", "pegasos-stats: interrupted\n")
    assert found.returncode in (130, -signal.SIGINT)  # by who catches it
    other = ended("-c", "import pegasos_stats.datasets")
    assert "Traceback" in other.stderr
