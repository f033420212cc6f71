"""CSV files with other separators and decimals than commas and points."""

import json

import pytest

import pegasos_stats as ps
from pegasos_stats.data.files import CsvStyle
from pegasos_stats.errors import OptionError
from pegasos_stats.output.cli import main

SEMICOLONS = ["--sep", ";", "--decimal", ","]


@pytest.fixture
def folder(tmp_path):
    """The same rows with commas and points, semicolons and commas, and tabs."""
    train, _ = ps.datasets.load_digits56()
    rows = train[["digit", "p34", "p43", "p26"]].assign(p34=train["p34"] / 8.0)
    rows.to_csv(tmp_path / "usual.csv", index=False)
    rows.to_csv(tmp_path / "german.csv", index=False, sep=";", decimal=",")
    rows.to_csv(tmp_path / "tabs.csv", index=False, sep="\t")
    return tmp_path


def fitted(capsys, folder, name, *options):
    path = str(folder / name)
    given = ["fit", path, "--outcome", "digit", "--json", *options]
    assert main(given) == 0
    found = json.loads(capsys.readouterr().out)
    return found["params"], found["objective"]


def test_all_three_are_the_same_fit(capsys, folder):
    usual = fitted(capsys, folder, "usual.csv")
    assert fitted(capsys, folder, "german.csv", *SEMICOLONS) == usual
    assert fitted(capsys, folder, "tabs.csv", "--sep", "tab") == usual


def test_a_saved_model_knows_how_its_files_are_written(capsys, folder):
    model = str(folder / "m.model")
    fitted(capsys, folder, "german.csv", *SEMICOLONS, "--save", model)
    assert main(["predict", model, str(folder / "german.csv")]) == 0
    german = capsys.readouterr().out
    given = ["predict", model, str(folder / "usual.csv"), "--sep", ","]
    assert main([*given, "--decimal", "."]) == 0
    assert capsys.readouterr().out == german
    assert german.count("\n") == 201


@pytest.mark.parametrize(
    ("given", "words"),
    [(("", "."), "sep=''"), ((";;", "."), "sep=';;'"), ((",", ","), "both ','")],
)
def test_styles_that_are_none(given, words):
    with pytest.raises(OptionError, match=words):
        CsvStyle(*given)
