"""``--formula``: the model of the command line, as R and Python write it."""

import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.output.cli import main
from tests.output.command_line import params_of, run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train, _ = ps.datasets.load_digits56()
    train = train.assign(id=[f"P{i:03}" for i in range(200)])
    train.to_csv("train.csv", index=False)
    return tmp_path


FORMULAS = ["digit ~ p34 + p43", "digit ~ . - id", "digit ~ p34 * C(p43)"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_gives_the_fit_of_python(formula, folder, capsys):
    run_of_r = "--lambda", "1", "--epochs", "20", "--seed", "1"
    fit = "fit", "train.csv", "--formula", formula, *run_of_r, "--json"
    printed = run(capsys, *fit)
    model = ps.svm(formula, pd.read_csv("train.csv"), lam=1.0)
    expected = model.fit(ps.Pegasos(epochs=20, seed=1))
    assert params_of(printed) == expected.params.to_dict()


def test_a_saved_formula_predicts(folder, capsys):
    fitting = ["--formula", FORMULAS[0], "--save", "a.model"]
    fitted = run(capsys, "fit", "train.csv", *fitting).out
    predicted = run(capsys, "predict", "a.model", "train.csv").err
    # A saved model does not hold its rows, so that it cannot know them again.
    table = fitted[fitted.index("Predicted") : fitted.index("No interval")]
    assert table.strip() in predicted


def test_a_report_repeats_the_formula(folder, capsys):
    given = ["--formula", FORMULAS[1], "--lambda", "1", "--epochs", 2, "-o", "page.md"]
    run(capsys, "report", "train.csv", *given)
    page = (folder / "page.md").read_text(encoding="utf-8")
    assert "--formula 'digit ~ . - id'" in page


BAD = {
    "both": (["train.csv", "--outcome", "digit"], "x ~ .", "digit"),
    "svmlight": (["train.svm"], "y ~ .", "leave --formula out"),
    "no outcome": (["train.csv"], "p34", "'outcome ~ terms'"),
    "no column": (["train.csv"], "digit ~ p99", "p99"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_formula_that_makes_no_sense_is_one_line(case, folder, capsys):
    (folder / "train.svm").write_text("1 1:1\n0 2:1\n")
    arguments, formula, words = BAD[case]
    assert main(["fit", *arguments, "--formula", formula]) == 2
    printed = capsys.readouterr().err
    assert words in printed
    assert printed.count("\n") == 1


def test_unseen_levels_of_test_data_are_an_error_or_missing(tmp_path, capsys):
    train = pd.DataFrame({"y": ["n", "p"] * 20, "x": range(40), "g": [*"uuvv"] * 10})
    train.to_csv(tmp_path / "train.csv", index=False)
    test = pd.DataFrame({"y": ["n", "p", "p"], "x": [1, 2, 3], "g": ["u", "w", "v"]})
    test.to_csv(tmp_path / "test.csv", index=False)
    paths = tmp_path / "train.csv", "--test", tmp_path / "test.csv"
    options = "--outcome", "y", "--solver", "sdca", "--lambda", 0.1
    assert main([str(word) for word in ("fit", *paths, *options)]) == 2
    assert "'w', in 1 row (1)" in capsys.readouterr().err
    model = tmp_path / "model"
    found = run(capsys, "fit", *paths, *options, "--unseen", "missing", "--save", model)
    text = (
        "1 row without a prediction, for levels that did not occur at fit: 'w' in "
        "column 'g'"
    )
    assert found.err.count(text) == 1
    given = "predict", model, tmp_path / "test.csv"
    assert main([str(word) for word in given]) == 2
    capsys.readouterr()
    printed = run(capsys, *given, "--unseen", "missing")
    assert printed.err.count(text) == 1
    assert printed.out.splitlines()[2] == "1,,"
    page = tmp_path / "page.html"
    given = "report", *paths, *options, "--unseen", "missing", "-o", page
    assert text in run(capsys, *given).err


def test_unseen_names_of_rows_are_refused_unless_left_out(folder, capsys):
    _, test = ps.datasets.load_digits56()
    test.assign(id=[f"Q{i:03}" for i in range(163)]).to_csv("test.csv", index=False)
    given = ["fit", "train.csv", "--test", "test.csv"]
    assert main([*given, "--outcome", "digit"]) == 2
    assert "'id'" in capsys.readouterr().err
    assert run(capsys, *given, "--formula", "digit ~ . - id").err == ""
