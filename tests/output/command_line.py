"""Calls of the command line; a folder with data and a model to call it in."""

import json
import sys

from pegasos_stats.output.cli import main

# ---- Calls of the command line, for its tests.


def run(capsys, *arguments):
    """Standard output and standard error of a run without errors."""
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr()


def params_of(printed):
    return json.loads(printed.out)["params"]


def strict(text):
    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


# ---- A folder with data and a model, and the commands that write into it.

ROWS = "y,a,b\n" + "".join(f"{i % 2},{i},{i * i % 7}\n" for i in range(20))
FIT = ["fit", "train.csv", "--outcome", "y", "--lambda", "1", "--epochs", "1"]
REPORT = ["report", "train.csv", "--outcome", "y", "--lambda", "1", "--epochs", "1"]
DEMO = ["demo", "--lambda", "1", "--epochs", "1"]
PREDICT = ["predict", "a.model", "train.csv"]
PROGRAM = [sys.executable, "-m", "pegasos_stats"]


def saved_model(folder):
    (folder / "train.csv").write_text(ROWS)
    run_of_r = ["--lambda", "1", "--epochs", "1"]
    arguments = ["fit", str(folder / "train.csv"), "--outcome", "y", *run_of_r]
    assert main([*arguments, "--save", str(folder / "a.model")]) == 0
    return (folder / "a.model").read_bytes()


def filled(folder, model):
    """A folder with data and a model, to work in."""
    (folder / "train.csv").write_text(ROWS)
    (folder / "a.model").write_bytes(model)
    return folder


def contents(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


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
        monkeypatch.setattr(f"pegasos_stats.output.cli.commands.{name}", read)
    monkeypatch.setattr("pegasos_stats.datasets.load_digits56", read)
