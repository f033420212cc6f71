"""The command line, as a newcomer calls it."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.output.cli import main
from tests.output.command_line import params_of, run


def test_fit_prints_tables_counts_and_errors(files, capsys):
    train, test = str(files / "train.csv"), str(files / "test.csv")
    code = main(["fit", train, "--outcome", "digit", "--test", test])
    printed = capsys.readouterr().out
    data, new = ps.datasets.load_digits56()
    result = ps.svm("digit ~ .", data, lam=1.0).fit()
    assert code == 0
    assert "digit: 5 (-1) 100 rows, 6 (+1) 100 rows" in printed
    assert str(result.confusion(data)) in printed
    assert str(result.confusion(new)) in printed


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


BAD_INPUT = {
    "no file": (["fit", "nosuch.csv", "--outcome", "y"], "nosuch.csv is not there"),
    "a folder": (["fit", ".", "--outcome", "y"], "./binary.csv cannot be read as CSV"),
    "empty": (["fit", "empty.csv", "--outcome", "y"], "cannot be read as CSV"),
    "ragged": (["fit", "ragged.csv", "--outcome", "a"], "cannot be read as CSV"),
    "binary": (["fit", "binary.csv", "--outcome", "a"], "cannot be read as CSV"),
    "semicolon": (["fit", "semicolon.csv", "--outcome", "b"], "--sep ';'"),
    "no column": (
        ["fit", "train.csv", "--outcome", "Digit"],
        "--outcome Digit is no column",
    ),
    "three levels": (["fit", "three.csv", "--outcome", "digit"], "3 levels, 0, 1, 2"),
    "infinite": (["fit", "infinite.csv", "--outcome", "digit"], "'p00' holds infinite"),
    "lambda": (
        ["fit", "train.csv", "--outcome", "digit", "--lambda", "-1"],
        "--lambda -1",
    ),
    "epochs": (
        ["fit", "train.csv", "--outcome", "digit", "--epochs", "0"],
        "--epochs 0 is",
    ),
    "epochs text": (["demo", "--epochs", "many"], "'many'"),
    "seed": (["demo", "--seed", "2147483648"], "seed"),
    "no data": (["fit"], "--train requires"),
    "no command": ([], "COMMAND"),
    "unknown command": (["frobnicate"], "frobnicate"),
    "unknown option": (["demo", "--frobnicate"], "--frobnicate"),
    "no outcome for CSV": (["fit", "train.csv"], "name its two-level column"),
    "outcome for svmlight": (
        ["fit", "train.svm.bz2", "--outcome", "y"],
        "leave --outcome out",
    ),
    "mixed formats": (
        ["fit", "train.svm.bz2", "--test", "test.csv"],
        "The data have 65 columns",
    ),
    "bad svmlight": (["fit", "twice.svm"], "Line 1 of twice.svm has the same index"),
    "wrong format": (["fit", "train.csv", "--format", "svmlight"], "Line 1 of"),
    "counted from zero": (
        ["fit", "train.svm.bz2", "--test", "zero.svm"],
        "zero.svm has the index 0",
    ),
    "steps": (["demo", "--order", "replace"], "--steps"),
    "steps of the paper": (["demo", "--profile", "paper"], "--steps"),
    "steps elsewhere": (["demo", "--steps", "5"], "--steps 5 goes with --"),
    "size of steps": (["demo", "--step", "1/t"], "--step: '1/t'"),
    "rows and order": (
        ["demo", "--rows", "rows.txt", "--order", "shuffle"],
        "exclude each other",
    ),
    "rows": (["demo", "--rows", "words.txt"], "words.txt"),
    "no rows": (["demo", "--rows", "empty.csv"], "has no row numbers"),
    "average": (["demo", "--average", "some"], "'some' is not"),
    "average too long": (["demo", "--average", "21"], "more epochs than the run has"),
    "batch": (["demo", "--batch-size", "0"], "--batch-size 0 is"),
    "kernel and log": (["demo", "--kernel", "linear", "--loss", "log"], "hinge only"),
    "gamma": (["demo", "--gamma", "1"], "gamma"),
    "degree": (["demo", "--kernel", "gaussian", "--degree", "2"], "--degree 2 makes"),
    "kernel option": (
        ["demo", "--kernel", "linear", "--project"],
        "--project makes no",
    ),
    "refit": (
        ["demo", "--no-intercept", "--refit-intercept"],
        "--refit-intercept makes",
    ),
    "save": (["demo", "--save", "no/such/model"], "cannot be written to no/such/model"),
    "no model": (["predict", "nosuch", "test.csv"], "nosuch is not there"),
    "not a model": (["predict", "train.csv", "test.csv"], "is not a model saved"),
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


def test_packed_csv_and_svmlight_give_the_same_fit(files, capsys):
    given = "--json --lambda 1 --epochs 2 --seed 1"
    fits = [
        run(capsys, "fit", files / name, *outcome, *given.split())
        for name, outcome in [
            ("train.csv", ["--outcome", "digit"]),
            ("train.csv.gz", ["--outcome", "digit"]),
            ("train.svm.bz2", []),
        ]
    ]
    plain, packed, sparse = (list(params_of(fit).values()) for fit in fits)
    assert plain == packed
    np.testing.assert_allclose(sparse, plain, rtol=1e-10, atol=1e-14)


SOLVERS = {
    "--order sequential": {"order": "sequential"},
    "--order replace --steps 300": {"order": "replace", "steps": 300},
    "--batch-size 7 --project": {"batch_size": 7, "project": True},
    "--average all --refit-intercept": {"average": "all", "refit_intercept": True},
    "--epochs 4 --average 2": {"epochs": 4, "average": 2},
    "--arithmetic fast": {"arithmetic": "fast"},
    "--rows rows.txt": {"order": np.array([3, 0, 199])},
    "--start random --first-step 50": {"start": "random", "first_step": 50},
    "--step 1/sqrt(t) --epochs 2": {"step": "1/sqrt(t)", "epochs": 2},
    "--step 0.25 --epochs 2": {"step": 0.25, "epochs": 2},
    "--change-tol 0.25": {"change_tol": 0.25},
    "--profile minibatch": {"batch_size": 100, "epochs": 10},
    "--profile r_script --epochs 3": {"epochs": 3},
    "--profile paper --steps 50": {"order": "replace", "steps": 50},
}


@pytest.mark.parametrize("words", SOLVERS)
def test_options_of_the_solver(words, files, capsys, monkeypatch):
    monkeypatch.chdir(files)
    train, _ = ps.datasets.load_digits56()
    solver = ps.Pegasos(seed=443, **SOLVERS[words])
    expected = ps.svm("digit ~ .", train, lam=0.1).fit(solver)
    printed = run(capsys, "demo", "--lambda", 0.1, "--json", *words.split())
    assert params_of(printed) == expected.params.to_dict()


def test_a_run_that_ends_early_says_after_how_many_epochs(capsys):
    options = ["--lambda", 20, "--tol", 0.5, "--seed", 4]
    model = ps.svm("digit ~ .", ps.datasets.load_digits56()[0], lam=20.0)
    found = model.fit(ps.Pegasos(seed=4, tol=0.5))
    printed = run(capsys, "demo", *options).out
    assert re.search(rf"Epochs: +{found.n_epochs}, ", printed)
    assert re.search(rf"Steps: +{found.n_iter:,}\n", printed)


def test_the_homework_form_has_no_intercept(capsys):
    train, _ = ps.datasets.load_digits56()
    for lam, given in {1e-4: [], 1.0: ["--lambda", 1]}.items():
        model = ps.svm("digit ~ .", train, lam=lam, intercept=False)
        expected = model.fit(ps.Pegasos.homework())
        printed = run(capsys, "demo", "--profile", "homework", "--json", *given)
        assert params_of(printed) == expected.params.to_dict()
    assert "Intercept" not in params_of(printed)
    assert re.search("Intercept: +none", run(capsys, "demo", "--no-intercept").out)


def test_log_loss_trace_and_progress(capsys):
    train, test = ps.datasets.load_digits56()
    solver = ps.Pegasos(epochs=3, seed=443)
    expected = (
        ps.logit("digit ~ .", train, lam=1.0).fit(solver, trace=True, test=test).trace
    )
    options = ["--loss", "log", "--epochs", 3, "--trace"]
    found = json.loads(run(capsys, "demo", *options, "--json").out)
    assert found["loss"] == "log"
    trace = pd.DataFrame(found["trace"]).drop(columns="cpu_seconds")
    assert trace.equals(expected.drop(columns="cpu_seconds"))
    printed = run(capsys, "demo", *options, "--progress")
    assert "test_error" in printed.out
    assert "3/3" in printed.err


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("--kernel linear", {"kernel": "linear"}),
        ("--kernel gaussian --gamma 0.01", {"kernel": "gaussian", "gamma": 0.01}),
        (
            "--kernel polynomial --degree 3 --offset 0",
            {"kernel": "polynomial", "degree": 3, "offset": 0.0},
        ),
    ],
)
def test_kernels(words, options, capsys):
    train, test = ps.datasets.load_digits56()
    model = ps.kernel_svm("digit ~ .", train, lam=1.0, **options)
    expected = model.fit(ps.Pegasos(epochs=2, seed=443))
    found = json.loads(run(capsys, "demo", *words.split(), "--epochs", 2, "--json").out)
    assert found["n_support"] == expected.n_support
    assert found["objective"] == expected.objective
    table = expected.confusion(test).table.to_numpy().tolist()
    assert found["confusion"]["test"]["table"] == table


def test_a_runaway_fit_is_warned_of(files, capsys):
    options = ["--lambda", "1e-5", "--epochs", 1]
    printed = run(capsys, "demo", *options).out
    assert "The objective is above 1, that of the model" in printed
    assert "--refine 1e-6" in printed


JHU = {"easy": (100, 100), "bio": (194, 200), "speech": (85, 100), "nlp": (232, 300)}


@pytest.mark.parametrize("name", JHU)
def test_published_results_of_the_jhu_sets(name, data_folder, capsys):
    train = data_folder / f"jhu_{name}.train{'.gz' if name == 'speech' else ''}"
    options = ["--lambda", "1e-4", "--profile", "homework", "--json"]
    printed = run(
        capsys, "fit", train, "--test", data_folder / f"jhu_{name}.dev", *options
    )
    found = json.loads(printed.out)["confusion"]["test"]
    correct, total = JHU[name]
    assert found["n_errors"] == total - correct
    assert sum(map(sum, found["table"])) == total
