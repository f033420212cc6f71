"""The command line, as a newcomer calls it."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.cli import main


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    train, test = ps.datasets.load_digits56()
    train.to_csv(folder / "train.csv", index=False)
    test.to_csv(folder / "test.csv", index=False)
    train.to_csv(folder / "named_rows.csv")
    train.assign(digit=np.arange(len(train)) % 3).to_csv(folder / "three.csv")
    train.assign(p00=np.inf).to_csv(folder / "infinite.csv")
    (folder / "empty.csv").write_text("")
    (folder / "semicolon.csv").write_text("a;b\n1;2\n")
    (folder / "ragged.csv").write_text("a,b\n1,2\n1,2,3,4\n")
    (folder / "binary.csv").write_bytes(b"\xff\xfe\x00\x81" * 9)
    return folder


def test_fit_prints_tables_counts_and_errors(files, capsys):
    train, test = str(files / "train.csv"), str(files / "test.csv")
    code = main(["fit", train, "--outcome", "digit", "--test", test])
    printed = capsys.readouterr().out
    data, new = ps.datasets.load_digits56()
    result = ps.svm("digit ~ .", data).fit(ps.Pegasos(epochs=20, seed=443))
    assert code == 0
    assert "training 5: 100, 6: 100; test 5: 82, 6: 81" in printed
    assert str(result.confusion(data)) in printed
    assert str(result.confusion(new)) in printed
    assert "Fitted in" in printed


def test_json_has_the_same_numbers(files, capsys):
    train = str(files / "train.csv")
    options = ["--lambda", "0.1", "--epochs", "3", "--seed", "7", "--json"]
    assert main(["fit", train, "--outcome", "digit", *options]) == 0
    content = json.loads(capsys.readouterr().out)
    data, _ = ps.datasets.load_digits56()
    result = ps.svm("digit ~ .", data, lam=0.1).fit(ps.Pegasos(epochs=3, seed=7))
    assert content["params"] == result.params.to_dict()
    table = result.confusion().table.to_numpy().tolist()
    assert content["confusion"]["training"]["table"] == table
    assert content["label_counts"]["training"] == {"5": 100, "6": 100}


def test_a_first_column_without_name_holds_row_names(files, capsys):
    options = ["--outcome", "digit", "--json"]
    main(["fit", str(files / "named_rows.csv"), *options])
    with_names = json.loads(capsys.readouterr().out)["params"]
    main(["fit", str(files / "train.csv"), *options])
    assert with_names == json.loads(capsys.readouterr().out)["params"]


def test_demo_runs_on_the_packaged_data(capsys):
    assert main(["demo"]) == 0
    assert "Misclassified" in capsys.readouterr().out


BAD_INPUT = {
    "no file": (["fit", "nosuch.csv", "--outcome", "y"], "nosuch.csv is not there"),
    "a folder": (["fit", ".", "--outcome", "y"], "is a folder"),
    "empty": (["fit", "empty.csv", "--outcome", "y"], "cannot be read as CSV"),
    "ragged": (["fit", "ragged.csv", "--outcome", "a"], "cannot be read as CSV"),
    "binary": (["fit", "binary.csv", "--outcome", "a"], "cannot be read as CSV"),
    "semicolon": (["fit", "semicolon.csv", "--outcome", "b"], "separated by commas"),
    "no column": (["fit", "train.csv", "--outcome", "Digit"], "Digit is not in"),
    "three levels": (["fit", "three.csv", "--outcome", "digit"], "3 levels, 0, 1, 2"),
    "infinite": (["fit", "infinite.csv", "--outcome", "digit"], "'p00' holds infinite"),
    "lambda": (["fit", "train.csv", "--outcome", "digit", "--lambda", "-1"], "lam=-1"),
    "epochs": (["fit", "train.csv", "--outcome", "digit", "--epochs", "0"], "epochs=0"),
    "epochs text": (["demo", "--epochs", "many"], "invalid int value: 'many'"),
    "seed": (["demo", "--seed", "2147483648"], "seed"),
    "no outcome": (["fit", "train.csv"], "--outcome"),
    "no command": ([], "COMMAND"),
    "unknown command": (["frobnicate"], "invalid choice: 'frobnicate'"),
    "unknown option": (["demo", "--frobnicate"], "--frobnicate"),
    "test column": (
        ["fit", "train.csv", "--outcome", "digit", "--test", "semicolon.csv"],
        "not found",
    ),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_one_line_and_exit_code_2(case, files, capsys, monkeypatch):
    arguments, words = BAD_INPUT[case]
    monkeypatch.chdir(files)
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    assert code == 2
    assert out == ""
    assert words in err
    assert err.count("\n") == 1


def test_the_installed_command_shows_no_traceback():
    run = subprocess.run(
        [sys.executable, "-m", "pegasos_stats", "fit", "nosuch.csv", "--outcome", "y"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1


def test_text_predictors_become_factors(tmp_path, capsys):
    frame = pd.DataFrame({"y": ["n", "p"] * 6, "g": list("uvw") * 4})
    frame.to_csv(tmp_path / "d.csv", index=False)
    assert main(["fit", str(tmp_path / "d.csv"), "--outcome", "y", "--json"]) == 0
    params = json.loads(capsys.readouterr().out)["params"]
    assert list(params) == ["Intercept", "g[T.v]", "g[T.w]"]
