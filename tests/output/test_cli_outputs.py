"""What the command line writes: into what, over what, and how it ends."""

import csv
import os
import stat
import subprocess

import pytest

from tests.output.cli_folders import (
    DEMO,
    FIT,
    PREDICT,
    REPORT,
    contents,
    nothing_is_read,
    refused,
)
from tests.output.command_line import run

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
    assert "--overwrite" in said
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


def test_labels_with_commas_and_lines_are_known_again(folder, capsys):
    labels = ["c\nd"] * 5 + ["a,b"] * 5
    rows = "".join(f'"{label}",{i}\n' for i, label in enumerate(labels))
    (folder / "odd.csv").write_text("y,a\n" + rows)
    fitting = ["--outcome", "y", "--solver", "sdca", "--seed", "1", "--loss", "log"]
    run(capsys, "fit", "odd.csv", *fitting, "--save", "odd.model")
    for _ in range(2):
        run(capsys, "predict", "odd.model", "odd.csv", "-o", "out.csv")
    lines = csv.DictReader((folder / "out.csv").read_text().splitlines(keepends=True))
    assert [line["predicted"] for line in lines] == labels


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
    shown = run(capsys, *PREDICT)
    for name in ("-", "/dev/stdout"):
        assert run(capsys, *PREDICT, "-o", name) == shown
    assert not (folder / "-").exists()


BOTH = {
    "one path": ["--save", "x.md", "--report", "x.md"],
    "another spelling": ["--save", "./here/../x.md", "--report", "x.md"],
    "a link": ["--save", "link", "--report", "x.md"],
    "an absolute path": ["--save", "{folder}/x.html", "--report", "x.html"],
}


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
@pytest.mark.parametrize("case", BOTH)
def test_two_outputs_are_not_written_to_one_path(
    case, overwrite, folder, capsys, monkeypatch
):
    nothing_is_read(monkeypatch)
    (folder / "link").symlink_to("x.md")
    (folder / "here").mkdir()
    before = contents(folder)
    words = [word.format(folder=folder) for word in BOTH[case]]
    assert "two paths" in refused(capsys, [*DEMO, *words, *overwrite])
    assert contents(folder) == before


OVER = {
    "predictions over data": [*PREDICT, "-o", "./train.csv"],
    "over the model": [*PREDICT, "-o", "a.model"],
    "a model over data": [*FIT, "--save", "train.csv"],
    "over test data": [*FIT, "--test", "link.csv", "--save", "train.csv"],
    "rows": [*FIT, "--rows", "rows.txt", "--save", "rows.txt"],
    "a hard link of the data": [*FIT, "--save", "hard.csv"],
    "a page over the data": [*REPORT, "-o", "train.csv"],
    "a page over test data": [*REPORT, "--test", "a.md", "-o", "a.md"],
}


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
@pytest.mark.parametrize("case", OVER)
def test_what_is_read_is_not_written_over(case, overwrite, folder, capsys):
    (folder / "rows.txt").write_text("0\n1\n")
    (folder / "a.md").write_text("<!-- written by pegasos_stats -->\n")
    os.link("train.csv", "hard.csv")
    (folder / "link.csv").symlink_to("train.csv")
    before = contents(folder)
    assert "over a file that is read" in refused(capsys, [*OVER[case], *overwrite])
    assert contents(folder) == before


def test_a_name_that_is_too_long_is_found_at_once(folder, capsys, monkeypatch):
    nothing_is_read(monkeypatch)
    long = "z" * 250 + ".md"
    assert "File name too long" in refused(capsys, [*REPORT, "-o", long])
    assert not (folder / long).exists()


def test_a_report_that_fails_leaves_no_page(folder, capsys, monkeypatch):
    def full(number):
        raise OSError(28, "No space left on device")

    before = contents(folder)
    monkeypatch.setattr(os, "fsync", full)
    assert "No space left" in refused(capsys, [*REPORT, "-o", "x.md"])
    assert contents(folder) == before
