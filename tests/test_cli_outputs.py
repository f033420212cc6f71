"""What the command line writes: into what, over what, and how it ends."""

import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pegasos_stats.cli import main
from pegasos_stats.cli.places import predictions_path
from pegasos_stats.errors import DependencyError
from tests.command_line import run

ROWS = "y,a,b\n" + "".join(f"{i % 2},{i},{i * i % 7}\n" for i in range(20))
FIT = ["fit", "train.csv", "--outcome", "y", "--epochs", "1"]
REPORT = ["report", "train.csv", "--outcome", "y", "--epochs", "1"]
DEMO = ["demo", "--epochs", "1"]
PREDICT = ["predict", "a.model", "train.csv"]
PROGRAM = [sys.executable, "-m", "pegasos_stats"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit")
    (folder / "train.csv").write_text(ROWS)
    arguments = ["fit", str(folder / "train.csv"), "--outcome", "y", "--epochs", "1"]
    assert main([*arguments, "--save", str(folder / "a.model")]) == 0
    return (folder / "a.model").read_bytes()


@pytest.fixture
def folder(tmp_path, monkeypatch, model):
    (tmp_path / "train.csv").write_text(ROWS)
    (tmp_path / "a.model").write_bytes(model)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def refused(capsys, arguments):
    """What is said of arguments that end in one line."""
    assert main([str(word) for word in arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def nothing_is_read(monkeypatch):
    def read(*args, **options):
        raise AssertionError("data were read")

    for name in ("read_data", "load_saved"):
        monkeypatch.setattr(f"pegasos_stats.cli.commands.{name}", read)
    monkeypatch.setattr("pegasos_stats.datasets.load_digits56", read)


WRITING = {
    "a model": [*FIT, "--save", "out"],
    "predictions": [*PREDICT, "-o", "out"],
    "a report": [*REPORT, "-o", "out"],
    "a model of the demo": [*DEMO, "--save", "out"],
    "a report of the demo": [*DEMO, "--report", "out"],
}


@pytest.mark.parametrize("content", [b"", b"mine\n", b"row,predicted,score,mine\n"])
@pytest.mark.parametrize("case", WRITING)
def test_another_file_is_refused_before_anything_is_read(
    case, content, folder, capsys, monkeypatch
):
    nothing_is_read(monkeypatch)
    (folder / "out").write_bytes(content)
    before = contents(folder)
    said = refused(capsys, WRITING[case])
    assert "The file out is there and is no " in said
    assert "--overwrite (overwrite=True in Python)" in said
    assert contents(folder) == before


@pytest.mark.parametrize("case", ["a model", "predictions", "a report"])
def test_overwrite_replaces_it_and_the_next_run_knows_it(case, folder, capsys):
    (folder / "out").write_bytes(b"mine")
    run(capsys, *WRITING[case], "--overwrite")
    assert (folder / "out").read_bytes() != b"mine"
    run(capsys, *WRITING[case])


def test_one_kind_is_not_replaced_by_another(folder, capsys):
    run(capsys, *PREDICT, "-o", "out.csv")
    assert "is no model of" in refused(capsys, [*FIT, "--save", "out.csv"])
    (folder / "b.model").write_bytes((folder / "a.model").read_bytes())
    said = refused(capsys, [*PREDICT, "-o", "b.model"])
    assert "is no file of predictions of" in said


def test_predictions_with_probabilities_are_known_again(folder, capsys):
    run(capsys, *FIT, "--loss", "log", "--save", "log.model")
    for _ in range(2):
        run(capsys, "predict", "log.model", "train.csv", "-o", "out.csv")
    header = (folder / "out.csv").read_text().split("\n")[0]
    assert header == "row,predicted,score,probability_0,probability_1"


def test_labels_with_commas_and_lines_are_known_again(folder, capsys):
    rows = "".join(f'"{"a,b" if i % 2 else "cd"}",{i}\n' for i in range(10))
    (folder / "odd.csv").write_text("y,a\n" + rows)
    fitting = ["--outcome", "y", "--epochs", "1", "--loss", "log"]
    run(capsys, "fit", "odd.csv", *fitting, "--save", "odd.model")
    for _ in range(2):
        run(capsys, "predict", "odd.model", "odd.csv", "-o", "out.csv")


PLACES = {
    "a device": "/dev/null",
    "a pipe": "pipe",
    "a folder": "here",
    "a folder that is to be": "new/",
    "the folder of the data": ".",
    "a read-only file": "kept",
    "no folder": "nosuch/out",
    "a long name": "x" * 300,
    "an empty path": "",
    "a file as a folder": "train.csv/out",
    "standard output": "/dev/stdout",
    "a dash": "-",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
@pytest.mark.parametrize("arguments", [[*FIT, "--save"], [*REPORT, "-o"]])
def test_places_that_hold_no_file_are_refused_before_anything_is_read(
    place, overwrite, arguments, folder, capsys, monkeypatch
):
    nothing_is_read(monkeypatch)
    os.mkfifo("pipe")
    (folder / "here").mkdir()
    (folder / "kept").write_text("mine")
    (folder / "kept").chmod(0o444)
    before = {path: path.lstat().st_ino for path in folder.iterdir()}
    refused(capsys, [*arguments, PLACES[place], *overwrite])
    assert {path: path.lstat().st_ino for path in folder.iterdir()} == before
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_predictions_go_into_devices_and_pipes(folder, capsys):
    run(capsys, *PREDICT, "-o", "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    os.mkfifo("pipe")
    reading = subprocess.Popen(["head", "-1", "pipe"], stdout=subprocess.PIPE)
    run(capsys, *PREDICT, "-o", "pipe")
    assert reading.communicate()[0] == b"row,predicted,score\n"
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
    assert "No space left" in refused(capsys, [*PREDICT, "-o", "/dev/full"])


def test_a_dash_and_the_names_of_standard_output_stand_for_it(folder, capsys):
    (folder / "link").symlink_to("/dev/stdout")
    shown = run(capsys, *PREDICT)
    for name in ("-", "/dev/stdout", "/dev/fd/1", "link"):
        assert predictions_path(name) is None
        assert run(capsys, *PREDICT, "-o", name) == shown
    assert not (folder / "-").exists()


def test_standard_output_in_a_file_is_gone_on_with(folder):
    (folder / "log").write_text("mine\n")
    with open("log", "ab") as log:
        command = [*PROGRAM, *PREDICT, "-o", "/dev/stdout"]
        done = subprocess.run(command, stdout=log, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0
    assert "Rows       20" in done.stderr
    lines = (folder / "log").read_text().splitlines()
    assert lines[:2] == ["mine", "row,predicted,score"]
    assert len(lines) == 22


BOTH = {
    "one path": ["--save", "x.md", "--report", "x.md"],
    "another spelling": ["--save", "./here/../x.md", "--report", "x.md"],
    "a link": ["--save", "link", "--report", "x.md"],
    "an absolute path": ["--save", "{folder}/x.html", "--report", "x.html"],
    "in the folder of the figures": ["--save", "x_files/a.model", "--report", "x.md"],
    "a figure": ["--save", "x_files/figure-1.svg", "--report", "x.md"],
    "the folder of the figures": ["--save", "y_files", "--report", "y.md"],
    "what a figure leads to": ["--save", "led", "--report", "x.md"],
}


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
@pytest.mark.parametrize("case", BOTH)
def test_two_outputs_are_not_written_to_one_path(
    case, overwrite, folder, capsys, monkeypatch
):
    nothing_is_read(monkeypatch)
    (folder / "link").symlink_to("x.md")
    (folder / "here").mkdir()
    (folder / "x_files").mkdir()
    (folder / "led").write_bytes((folder / "a.model").read_bytes())
    if case == "what a figure leads to":
        (folder / "x_files" / "figure-2.svg").symlink_to("../led")
    before = contents(folder)
    words = [word.format(folder=folder) for word in BOTH[case]]
    said = refused(capsys, [*DEMO, *words, *overwrite])
    if overwrite or case != "what a figure leads to":
        assert "two paths" in said or "folder of the figures" in said
    assert contents(folder) == before


OVER = {
    "rows": [*FIT, "--rows", "rows.txt", "--save", "rows.txt"],
    "a hard link of the data": [*FIT, "--save", "hard.csv"],
    "a page over the data": [*REPORT, "-o", "train.csv"],
    "a page over test data": [*REPORT, "--test", "a.md", "-o", "a.md"],
    "a figure over the data": [*REPORT, "-o", "linked.md"],
    "a figure that is data": [
        *["report", "linked_files/figure-2.svg", "--outcome", "y", "-o", "linked.md"]
    ],
}


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
@pytest.mark.parametrize("case", OVER)
def test_what_is_read_is_not_written_over(case, overwrite, folder, capsys):
    (folder / "rows.txt").write_text("0\n1\n")
    (folder / "a.md").write_text("<!-- written by pegasos_stats -->\n")
    os.link("train.csv", "hard.csv")
    (folder / "linked_files").mkdir()
    (folder / "linked_files" / "figure-1.svg").symlink_to("../train.csv")
    (folder / "linked_files" / "figure-2.svg").write_text(ROWS)
    before = contents(folder)
    said = refused(capsys, [*OVER[case], *overwrite])
    assert "over a file that is read" in said or "is no figure of" in said
    if overwrite:
        assert "over a file that is read" in said
    assert contents(folder) == before


@pytest.fixture
def marked(folder, capsys):
    run(capsys, *REPORT, "-o", "x.md")
    return folder


def test_figures_of_an_earlier_report_are_replaced_and_no_others(marked, capsys):
    figures = sorted((marked / "x_files").iterdir())
    assert len(figures) >= 3
    (marked / "x_files" / "notes.txt").write_text("mine")
    run(capsys, *REPORT, "-o", "x.md")
    figures[1].write_text("<svg>mine</svg>")
    before = contents(marked)
    said = refused(capsys, [*REPORT, "-o", "x.md"])
    assert "figure-2.svg is there and is no figure of pegasos_stats" in said
    assert contents(marked) == before
    run(capsys, *REPORT, "-o", "x.md", "--overwrite")
    assert "mine" not in figures[1].read_text()
    assert (marked / "x_files" / "notes.txt").read_text() == "mine"


def test_a_folder_of_figures_that_is_none_is_found_at_once(folder, capsys, monkeypatch):
    nothing_is_read(monkeypatch)
    (folder / "x_files").write_text("mine")
    (folder / "y_files").symlink_to("nowhere")
    for name in ("x.md", "y.md"):
        assert "_files is none" in refused(capsys, [*REPORT, "-o", name])
    long = "z" * 250 + ".md"
    assert "File name too long" in refused(capsys, [*REPORT, "-o", long])
    assert not (folder / long).exists()


def test_a_report_that_fails_leaves_no_figures(folder, capsys, monkeypatch):
    def full(number):
        raise OSError(28, "No space left on device")

    before = contents(folder)
    monkeypatch.setattr(os, "fsync", full)
    assert "No space left" in refused(capsys, [*REPORT, "-o", "x.md"])
    assert contents(folder) == before
    assert not (folder / "x_files").exists()


def test_predictions_that_do_not_fit_leave_the_earlier_ones(folder):
    """The limit stands for a full disk: writing fails in the middle of the file."""
    (folder / "out.csv").write_text("row,predicted,score\nearlier\n")
    (folder / "out.csv").chmod(0o640)
    done = subprocess.run(
        [*PROGRAM, *PREDICT, "-o", "out.csv"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},  # numba's cache is a file too
    )
    assert done.returncode == 2
    assert "cannot be written to out.csv: File too large" in done.stderr
    assert (folder / "out.csv").read_text() == "row,predicted,score\nearlier\n"
    assert not list(folder.glob(".*"))


def test_threads_of_the_command_line_write_one_path(folder, capsys):
    codes = []
    arguments = [*PREDICT, "-o", "out.csv"]
    work = [
        threading.Thread(target=lambda: codes.append(main(arguments))) for _ in range(4)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert codes == [0] * 4
    assert (folder / "out.csv").read_text().count("\n") == 21
    assert not list(folder.glob(".*"))


# A process writes one file again and again, as the commands do, until a signal comes:
# once for each moment of the writing. Prints the status of each process, its number,
# and what it left.
INTERRUPTED = """
import json, os, signal, sys, time
from pegasos_stats.cli.endings import no_part_left
from pegasos_stats.outputs import Kind, checked_place, outputs

for name in ("SIGTERM", "SIGHUP"):  # a job in the background inherits them ignored
    signal.signal(getattr(signal, name), signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

kind = Kind("note", "note", lambda handle: handle.read(4) == b"note")
folder, number = sys.argv[1], int(sys.argv[2])
path, text = os.path.join(folder, "a.txt"), b"note\\n" * 20_000

def write():
    with no_part_left(), outputs() as files:
        handle = files.open(checked_place(path, kind))
        for _ in range(10):
            handle.write(text)

def write_until_ended():
    try:
        write()
        os.write(ready, b"1")
        while True:
            write()
    except KeyboardInterrupt:
        os._exit(130)

for delay in range(40):
    started, ready = os.pipe()
    child = os.fork()
    if child == 0:
        write_until_ended()
    os.read(started, 1)
    time.sleep(delay * 0.00037)
    os.kill(child, number)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    whole = open(path, "rb").read() == text * 10
    print(json.dumps([code, child, whole, sorted(os.listdir(folder))]))
    for name in os.listdir(folder):
        if name != "a.txt":
            os.unlink(os.path.join(folder, name))
"""


def interrupted(folder, number):
    command = [sys.executable, "-c", INTERRUPTED, str(folder), str(int(number))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stderr == ""
    ended = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(ended) == 40
    return ended


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_a_whole_file_and_no_part(number, tmp_path):
    expected = 130 if number == signal.SIGINT else -number
    for code, _, whole, left in interrupted(tmp_path, number):
        assert (code, whole, left) == (expected, True, ["a.txt"])


def test_a_kill_leaves_a_whole_file_and_at_most_a_part(tmp_path):
    for code, process, whole, left in interrupted(tmp_path, signal.SIGKILL):
        assert (code, whole) == (-signal.SIGKILL, True)
        parts = [name for name in left if name != "a.txt"]
        assert len(parts) <= 1
        assert all(name.startswith(f".pegasos_stats-{process}-") for name in parts)


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

    monkeypatch.setattr("pegasos_stats.cli.pages.report_of", failing)
    assert main(["demo", "--save", "d.model", "--report", "d.html"]) == 2
    assert capsys.readouterr() == ("", "pegasos-stats: no figures\n")
    assert not Path("d.model").exists()
    assert not Path("d.html").exists()


def test_a_report_of_the_demonstration_leaves_what_is_printed_as_it_is(folder, capsys):
    assert main(["demo", "--epochs", "2"]) == 0
    alone = capsys.readouterr().out
    assert main(["demo", "--epochs", "2", "--report", "d.md"]) == 0
    more = capsys.readouterr().out
    assert re.sub(r"in .* s\n", "", more) == (
        re.sub(r"in .* s\n", "", alone) + f"Report     {Path.cwd() / 'd.md'}\n"
    )
