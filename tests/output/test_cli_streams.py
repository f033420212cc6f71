"""Whatever standard output and standard error are: one line and an exit code."""

import csv
import io
import os
import subprocess
import sys

import pytest

from pegasos_stats.output.cli import main, program

ROWS = "y,a\nß,1\nä,2\nß,3\nä,5\n"
FIT = [
    "fit",
    "d.csv",
    "--outcome",
    "y",
    "--lambda",
    "1",
    "--epochs",
    "1",
    "--seed",
    "1",
]


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(ROWS, encoding="utf-8")
    assert main([*FIT, "--save", "m"]) == 0
    capsys.readouterr()
    return tmp_path


def stream(encoding, errors="strict"):
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=errors, newline="")


class Full(io.TextIOBase):
    """A stream on a full disk."""

    encoding = "utf-8"

    def write(self, text):
        raise OSError(28, "No space left on device")


def outcome(monkeypatch, arguments, out=None, err=None):
    """Exit code, standard output and standard error of a run."""
    out = stream("utf-8") if out is None else out
    err = stream("ascii", "backslashreplace") if err is None else err
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = stop.code
    for one in (out, err):
        one.flush()
    shown = [one.buffer.getvalue().decode(one.encoding) for one in (out, err)]
    return code, *shown


@pytest.mark.parametrize("encoding", ["ascii", "iso8859-5", "cp1250"])
@pytest.mark.parametrize("errors", ["strict", "surrogateescape", "replace"])
def test_text_is_written_with_escapes_which_is_said(
    encoding, errors, folder, monkeypatch
):
    (folder / "d.csv").write_text(
        ROWS.replace("ß", "😀").replace("ä", "x"), encoding="utf-8"
    )
    code, out, err = outcome(monkeypatch, FIT, stream(encoding, errors))
    assert code == 0
    assert "x (-1) 2 rows, \\U0001f600 (+1) 2 rows" in out
    assert f"standard output is {encoding}, which has no '\\U0001f600'" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("errors", ["strict", "surrogateescape", "replace"])
def test_predictions_are_never_altered(errors, folder, monkeypatch):
    arguments = ["predict", "m", "d.csv"]
    code, out, err = outcome(monkeypatch, arguments, stream("ascii", errors))
    assert (code, out) == (2, "")
    assert "PYTHONUTF8=1" in err
    assert err.count("\n") == 1
    code, out, _ = outcome(monkeypatch, arguments, stream("latin-1"))
    assert code == 0
    assert {row["predicted"] for row in csv.DictReader(io.StringIO(out))} <= {"ß", "ä"}


def closed():
    made = stream("utf-8")
    made.close()
    return made


@pytest.mark.parametrize("arguments", [FIT, ["predict", "m", "d.csv"], ["--help"]])
def test_without_standard_output_nothing_is_begun(arguments, folder, monkeypatch):
    monkeypatch.setattr("pegasos_stats.output.cli.commands.read_data", None)
    for missing in (None, closed()):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", missing)
            patch.setattr(sys, "stderr", io.StringIO())
            assert main(arguments) == 2
            assert "Standard output is closed" in sys.stderr.getvalue()


@pytest.mark.parametrize("bad", [None, Full()])
@pytest.mark.parametrize("arguments", [[*FIT, "--progress"], ["fit", "no"], ["x"], []])
def test_standard_error_that_cannot_be_written_is_no_failure(
    bad, arguments, folder, monkeypatch
):
    monkeypatch.setattr(sys, "stderr", bad)
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = stop.code
    assert code == (0 if "--progress" in arguments else 2)
    assert sys.stderr is bad


def test_a_message_is_one_line_without_control_characters(capsys):
    program.say("a\nb\r\x1b[31m\u202e\udcff")
    assert capsys.readouterr().err == "pegasos-stats: a b\\r\\x1b[31m\\u202e\\udcff\n"
    program.say("x" * 10**6)
    assert len(capsys.readouterr().err) < 2100


# What only a process can show: how Python ends.
ENDINGS = r"""
import os, sys
from pegasos_stats.output.cli import main
name, arguments = sys.argv[1], sys.argv[2:]
def full(number):
    os.dup2(os.open("/dev/full", os.O_WRONLY), number)
def broken(number):
    read, write = os.pipe(); os.close(read); os.dup2(write, number)
if name == "out full": full(1)
if name == "out broken": broken(1)
if name == "err full": full(2)
if name == "err broken": broken(2)
sys.exit(main(arguments))
"""
CODES = {
    "out full": (2, "pegasos-stats: Standard output cannot be written: No space left"),
    "out broken": (141, ""),
    "err full": (2, ""),
    "err broken": (2, ""),
}


@pytest.mark.parametrize("name", CODES)
def test_python_ends_without_a_word_of_its_own(name, folder):
    code, begin = CODES[name]
    # A line of error goes to standard error, all else to standard output.
    arguments = ["fit", "nosuch.csv"] if name.startswith("err") else FIT
    done = subprocess.run(
        [sys.executable, "-c", ENDINGS, name, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == code
    assert done.stderr.startswith(begin)
    assert done.stderr.count("\n") == bool(begin)
