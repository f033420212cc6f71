"""The command line with SDCA, refinement, weights and scaling."""

import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.output.cli import main
from tests.output.command_line import params_of, run, strict


@pytest.fixture
def digits():
    return ps.datasets.load_digits56()[0]


def test_sdca_is_the_solver_of_the_package(capsys, digits):
    options = ["--solver", "sdca", "--tol", "1e-5", "--start", "sgd", "--lambda", "0.1"]
    printed = run(capsys, "demo", *options, "--json")
    solver = ps.SDCA(tol=1e-5, start="sgd", seed=443)
    result = ps.svm("digit ~ .", digits, lam=0.1).fit(solver)
    assert params_of(printed) == result.params.to_dict()
    facts = strict(printed.out)
    assert facts["solver"] == "SDCA"
    assert facts["relative_gap"] <= 1e-5


def test_refine_goes_on_from_pegasos(capsys, digits):
    printed = run(capsys, "demo", "--refine", "1e-6", "--json")
    result = ps.svm("digit ~ .", digits, lam=1.0).fit(ps.Pegasos(seed=443), refine=1e-6)
    assert params_of(printed) == result.params.to_dict()
    assert strict(printed.out)["refine"] == 1e-6


@pytest.mark.parametrize(
    ("options", "solver"),
    [
        ([], ps.SDCA()),
        (["--start", "zero"], ps.SDCA()),
        (["--start", "sgd"], ps.SDCA(start="sgd")),
        (["--start", "random", "--seed", "1"], ps.Pegasos(start="random", seed=1)),
        (["--epochs", "2", "--seed", "1"], ps.Pegasos(2, seed=1)),
    ],
)
def test_options_say_which_solver_of_a_file(capsys, digits, tmp_path, options, solver):
    path = tmp_path / "train.csv"
    digits.to_csv(path, index=False)
    given = "--outcome", "digit", "--lambda", "1", *options, "--json"
    printed = run(capsys, "fit", path, *given)
    result = ps.svm("digit ~ .", pd.read_csv(path), lam=1.0).fit(solver)
    assert params_of(printed) == result.params.to_dict()


def test_options_of_rows_in_files_are_named_as_options(capsys, digits, tmp_path):
    path = tmp_path / "train.parquet"
    digits.to_parquet(path)
    asked = ["fit", str(path), "--outcome", "digit", "--algorithm", "perm"]
    assert main(asked) == 2
    assert "--algorithm" in capsys.readouterr().err


def test_weights_and_scaling(capsys, digits, tmp_path):
    path = tmp_path / "train.csv"
    digits.assign(w=[1, 2] * 100).to_csv(path, index=False)
    options = [
        "--weights",
        "w",
        "--standardize",
        "--lambda",
        "1",
        "--epochs",
        "20",
        "--seed",
        "1",
    ]
    printed = run(capsys, "fit", path, "--outcome", "digit", *options, "--json")
    data = pd.read_csv(path)
    model = ps.svm("digit ~ . - w", data, weights="w", standardize=True, lam=1.0)
    result = model.fit(ps.Pegasos(seed=1))
    assert params_of(printed) == result.params.to_dict()
    facts = strict(printed.out)
    assert facts["params_original"] == result.params_original.to_dict()


def test_a_scaled_model_predicts_from_its_file(capsys, digits, tmp_path):
    path, model = tmp_path / "train.csv", tmp_path / "m"
    digits.to_csv(path, index=False)
    fitted = ["fit", path, "--outcome", "digit", "--standardize", "--save", model]
    table = strict(run(capsys, *fitted, "--json").out)["confusion"]["training"]
    again = strict(run(capsys, "predict", model, path, "--json").out)
    assert table["table"] in [t["table"] for t in tables_of(again)]


def tables_of(facts):
    """Every confusion table in the facts, however deep."""
    if isinstance(facts, dict):
        if "table" in facts and "actual" in facts:
            yield facts
        for value in facts.values():
            yield from tables_of(value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--solver", "sdca", "--batch-size", "3"], "batch_size"),
        (["--solver", "sdca", "--refine", "0.1"], "refine"),
        (["--change-tol", "0.1", "--solver", "sdca"], "change_tol"),
        (["--start", "sgd"], "--start 'sgd'"),
        (["--solver", "sdca", "--tol", "2"], "--tol 2.0 is"),
        (["--refine", "0"], "--refine 0.0 is"),
        (
            ["--kernel", "linear", "--solver", "sdca", "--start", "sgd"],
            "--start 'sgd'",
        ),
        (["--weights", "nothing"], "--weights"),
    ],
)
def test_options_that_do_not_go_together(capsys, options, message):
    assert main(["demo", *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
