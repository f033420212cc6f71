"""What is left by commands that fail, are interrupted, or run side by side."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pegasos_stats.errors import DependencyError
from pegasos_stats.output.cli import main
from tests.output.cli_folders import FIT, PREDICT, PROGRAM
from tests.output.command_line import run


def test_predictions_that_do_not_fit_leave_the_earlier_ones(folder):
    """The limit stands for a full disk: writing fails in the middle of the file."""
    (folder / "out.csv").write_text("row,predicted,score\nearlier\n")
    (folder / "out.csv").chmod(0o640)
    done = subprocess.run(
        [*PROGRAM, *PREDICT, "-o", "out.csv"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        env={  # the caches of numba and of Python are files too
            **os.environ,
            "NUMBA_DISABLE_JIT": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
    )
    assert done.returncode == 2
    assert "cannot be written to out.csv: File too large" in done.stderr
    assert (folder / "out.csv").read_text() == "row,predicted,score\nearlier\n"
    assert not list(folder.glob(".*"))


# A process is ended by a signal in the middle of a file that it writes anew.
ENDED = """
import os, signal, sys
from pegasos_stats.output.cli.program import no_part_left
from pegasos_stats.writing import Kind, checked_place, outputs

number = int(sys.argv[1])
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
kind = Kind("note", lambda handle: handle.read(4) == b"note")
with no_part_left(), outputs() as files:
    files.open(checked_place("a.txt", kind)).write(b"note 2")
    os.kill(os.getpid(), number)
"""


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL]
)
def test_a_signal_leaves_the_earlier_file_and_no_part(number, tmp_path):
    (tmp_path / "a.txt").write_text("note 1")
    command = [sys.executable, "-c", ENDED, str(int(number))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True)
    assert done.returncode in (128 + number, -number)
    assert (tmp_path / "a.txt").read_text() == "note 1"
    parts = [path.name for path in tmp_path.iterdir() if path.name != "a.txt"]
    assert len(parts) == (number == signal.SIGKILL)
    assert all(name.startswith(".pegasos_stats-") for name in parts)


def test_handlers_of_the_caller_stay(folder, capsys):
    def mine(number, frame):
        raise AssertionError("no signal was sent")

    before = signal.signal(signal.SIGTERM, mine)
    try:
        run(capsys, *PREDICT, "-o", "out.csv")
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)
    run(capsys, *PREDICT, "-o", "out.csv")
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_fit_is_ended_at_once(folder):
    """No handler waits for compiled code to come to its end."""
    command = [*PROGRAM, *FIT[:-1], "100000000", "--save", "b.model"]
    running = subprocess.Popen(command)
    time.sleep(6)  # it is fitting; if it still starts, the signal ends it as well
    running.send_signal(signal.SIGTERM)
    assert running.wait(timeout=10) == -signal.SIGTERM
    assert not (folder / "b.model").exists()
    assert not list(folder.glob(".*"))


def test_a_report_that_cannot_be_made_leaves_no_model(folder, capsys, monkeypatch):
    def failing(*given, **options):
        raise DependencyError("no figures")

    monkeypatch.setattr("pegasos_stats.output.report.report.report", failing)
    assert main(["demo", "--save", "d.model", "--report", "d.html"]) == 2
    assert capsys.readouterr() == ("", "pegasos-stats: no figures\n")
    assert not Path("d.model").exists()
    assert not Path("d.html").exists()
