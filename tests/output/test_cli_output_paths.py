"""The command line never writes over what it reads."""

import pytest

import pegasos_stats as ps
from pegasos_stats.output.cli import main
from tests.output.command_line import run


@pytest.fixture
def files(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    train, _ = ps.datasets.load_digits56()
    train.to_csv("train.csv", index=False)
    fitting = ["--outcome", "digit", "--lambda", "1", "--epochs", 1]
    run(capsys, "fit", "train.csv", *fitting, "--save", "a.model")
    (tmp_path / "link.csv").symlink_to("train.csv")
    return tmp_path


FIT = ["fit", "train.csv", "--outcome", "digit"]
OVER = {
    "predictions over data": ["predict", "a.model", "train.csv", "-o", "train.csv"],
    "over a link": ["predict", "a.model", "train.csv", "-o", "link.csv"],
    "written otherwise": ["predict", "a.model", "train.csv", "-o", "./train.csv"],
    "over the model": ["predict", "a.model", "train.csv", "-o", "a.model"],
    "a model over data": [*FIT, "--save", "train.csv"],
    "over test data": [*FIT, "--test", "link.csv", "--save", "train.csv"],
}


@pytest.mark.parametrize("case", OVER)
def test_a_file_that_is_read_is_not_written_over(case, files, capsys):
    before = {path: path.read_bytes() for path in files.iterdir()}
    assert main(OVER[case]) == 2
    printed = capsys.readouterr()
    assert "would write over a file that is read; give another path" in printed.err
    assert printed.err.count("\n") == 1
    assert {path: path.read_bytes() for path in files.iterdir()} == before


def test_earlier_predictions_and_models_are_replaced(files, capsys):
    for _ in range(2):
        run(capsys, *FIT, "--lambda", "1", "--epochs", 1, "--save", "b.model")
        run(capsys, "predict", "b.model", "train.csv", "-o", "out.csv")
    assert (files / "out.csv").read_text().startswith("row,predicted,score")
