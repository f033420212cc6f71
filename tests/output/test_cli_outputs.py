"""What the command line writes: into what, over what, and how it ends."""

import os
import resource
import signal
import subprocess
import sys

import pytest

from pegasos_stats.output.cli import program
from tests.output.command_line import (
    DEMO,
    FIT,
    PREDICT,
    PROGRAM,
    REPORT,
    contents,
    nothing_is_read,
    refused,
    run,
)

pytestmark = pytest.mark.slow

TEXT = {"capture_output": True, "text": True}
WRITING = {
    "a model": [*FIT, "--save", "out"],
    "predictions": [*PREDICT, "-o", "out"],
    "a report": [*REPORT, "-o", "out"],
    "a model of the demo": [*DEMO, "--save", "out"],
    "a report of the demo": [*DEMO, "--report", "out"],
}


@pytest.mark.parametrize("case", WRITING)
def test_another_file_is_refused_before_anything_is_read(
    case, folder, capsys, monkeypatch
):
    nothing_is_read(monkeypatch)
    for content in (b"", b"row,predicted,score,mine\n"):
        (folder / "out").write_bytes(content)
        before = contents(folder)
        said = refused(capsys, WRITING[case])
        assert "The file out exists and is not a " in said
        assert "--overwrite to replace it" in said
        assert contents(folder) == before


@pytest.mark.usefixtures("empty_figures")
@pytest.mark.parametrize("case", ["a model", "predictions", "a report"])
def test_overwrite_replaces_it_and_the_next_run_knows_it(case, folder, capsys):
    (folder / "out").write_bytes(b"mine")
    fast = [] if case == "predictions" else ["--cov-type", "none"]
    run(capsys, *WRITING[case], "--overwrite", *fast)
    assert (folder / "out").read_bytes() != b"mine"
    run(capsys, *WRITING[case], *fast)


@pytest.mark.parametrize("arguments", [[*FIT, "--save"], [*REPORT, "-o"]])
def test_places_that_hold_no_file_are_refused_before_anything_is_read(
    arguments, folder, capsys, monkeypatch
):
    nothing_is_read(monkeypatch)
    (folder / "kept").write_text("mine")
    (folder / "kept").chmod(0o444)
    before = contents(folder)
    for place in ("/dev/null", "new/", "kept", "nosuch/out", "", "train.csv/out", "-"):
        refused(capsys, [*arguments, place])
    assert contents(folder) == before


def test_a_dash_and_the_names_of_standard_output_stand_for_it(folder, capsys):
    shown = run(capsys, *PREDICT)
    for name in ("-", "/dev/stdout"):
        assert run(capsys, *PREDICT, "-o", name) == shown
    assert not (folder / "-").exists()


@pytest.mark.parametrize("other", ["./here/../x.md", "link"])
def test_two_outputs_are_not_written_to_one_path(other, folder, capsys, monkeypatch):
    nothing_is_read(monkeypatch)
    (folder / "link").symlink_to("x.md")
    (folder / "here").mkdir()
    before = contents(folder)
    for overwrite in ([], ["--overwrite"]):
        words = [*DEMO, "--save", other, "--report", "x.md", *overwrite]
        assert "another output" in refused(capsys, words)
    assert contents(folder) == before


OVER = [
    [*PREDICT, "-o", "./train.csv"],
    [*FIT, "--test", "link.csv", "--save", "train.csv"],
    [*REPORT, "--test", "a.md", "-o", "a.md"],
]


def test_an_input_is_not_replaced(folder, capsys):
    (folder / "a.md").write_text("<!-- written by pegasos_stats -->\n")
    (folder / "link.csv").symlink_to("train.csv")
    before = contents(folder)
    for words in OVER:
        assert "is also an input" in refused(capsys, [*words, "--overwrite"])
    assert contents(folder) == before


# ---- What is left by commands that fail, are interrupted, or run side by side.


def test_predictions_that_do_not_fit_leave_the_earlier_ones(folder):
    """The limit stands for a full disk: writing fails in the middle of the file."""
    (folder / "out.csv").write_text("row,predicted,score\nearlier\n")
    (folder / "out.csv").chmod(0o640)
    # The caches of numba and of Python are files too.
    no_caches = {"NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [*PROGRAM, *PREDICT, "-o", "out.csv"],
        **TEXT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        env=os.environ | no_caches,
    )
    assert done.returncode == 2
    assert "cannot be written to out.csv: File too large" in done.stderr
    assert (folder / "out.csv").read_text() == "row,predicted,score\nearlier\n"
    assert not list(folder.glob(".*"))


# ---- Whatever standard output and standard error are: one line and an exit code.


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
sys.exit(main(arguments))
"""
CODES = {
    "out full": (2, "pegasos-stats: Standard output cannot be written: No space left"),
    "out broken": (141, ""),
}


@pytest.mark.parametrize("name", CODES)
def test_python_ends_without_a_word_of_its_own(name, folder):
    code, begin = CODES[name]
    words = [sys.executable, "-c", ENDINGS, name, *PREDICT]
    without = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(words, **TEXT, env=without)
    assert done.returncode == code
    assert done.stderr.startswith(begin)
    assert done.stderr.count("\n") == bool(begin)


def test_one_kind_is_not_replaced_by_another(folder, capsys):
    run(capsys, *PREDICT, "-o", "out.csv")
    assert "is not a model of" in refused(capsys, [*FIT, "--save", "out.csv"])
    (folder / "b.model").write_bytes((folder / "a.model").read_bytes())
    said = refused(capsys, [*PREDICT, "-o", "b.model"])
    assert "is not a file of predictions of" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_signal_leaves_the_earlier_file(number, tmp_path):
    """A process is ended in the middle of a file that it writes anew."""
    (tmp_path / "a.txt").write_text("note 1")
    code = """
import os, sys
from pegasos_stats.writing import Kind, validated_output_path, outputs

kind = Kind("note", lambda handle: handle.read(4) == b"note")
with outputs() as files:
    files.open(validated_output_path("a.txt", kind)).write(b"note 2")
    os.kill(os.getpid(), int(sys.argv[1]))
"""
    command = [sys.executable, "-c", code, str(int(number))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True)
    assert done.returncode == -number
    assert (tmp_path / "a.txt").read_text() == "note 1"
    if number == signal.SIGINT:
        assert contents(tmp_path) == {"a.txt": b"note 1"}
