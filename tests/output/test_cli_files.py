"""Files that the command line reads block by block: fits, tests and predictions."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from tests.output.cli_folders import refused
from tests.output.command_line import params_of, run
from tests.scan.scan_files import frame_of, written

FORMULA = "y ~ x0 + x2 + g"
MODEL = ["--formula", FORMULA, "--lambda", 0.01, "--tol", 1e-8]


@pytest.fixture(scope="module")
def data():
    return frame_of(800)


@pytest.fixture(scope="module")
def rows(data, tmp_path_factory):
    """A folder of Parquet files, with files that are none of them."""
    folder = tmp_path_factory.mktemp("rows")
    written(data, folder, parts=2)
    for name in ("_SUCCESS", "notes.txt", ".part0.parquet.crc"):
        (folder / name).write_text("")
    return folder


@pytest.fixture(scope="module")
def result(rows):
    solver = ps.SDCA(tol=1e-8)
    return ps.svm(FORMULA, ps.scan(rows), lam=0.01, weights="w").fit(solver)


def test_a_folder_or_a_pattern_is_fitted_as_in_python(rows, result, tmp_path, capsys):
    saved = ["--save", tmp_path / "a.model"]
    given = [*MODEL, "--weights", "w", "--progress", "--json", *saved]
    for train in (rows, rows / "*.parquet"):
        found = run(capsys, "fit", train, *given, "--test", rows / "part1.parquet")
        assert params_of(found) == result.params.to_dict()
        facts = json.loads(found.out)
        assert (facts["solver"], facts["rows_used"]) == ("SDCA", result.nobs)
        assert "relative gap" in found.err
        test = result.confusion(ps.scan(rows / "part1.parquet"))
        assert facts["confusion"]["test"]["table"] == test.counts[:, :2].tolist()
    assert ps.load(tmp_path / "a.model").params.equals(result.params)


# The BLAS of numpy 2.0 rounds the product of a row by its place in the block.
OF_A_PRODUCT = {"rtol": 1e-12, "atol": 1e-14}


def assert_same(one, other):
    """Assert that two files of predictions are the same but for rounding."""
    frames = [pd.read_csv(io.StringIO(text), index_col="row") for text in (one, other)]
    pd.testing.assert_frame_equal(*frames, **OF_A_PRODUCT)


def test_pegasos_over_files_is_that_of_python(rows, capsys):
    given = ["--formula", FORMULA, "--lambda", 0.01, "--json"]
    solver = ["--order", "sequential", "--epochs", 2]
    found = run(capsys, "fit", rows, *given, *solver)
    fit = ps.Pegasos(order="sequential", epochs=2)
    result = ps.svm(FORMULA, ps.scan(rows), lam=0.01).fit(fit)
    assert params_of(found) == result.params.to_dict()


def test_predictions_of_files_are_those_of_frames(rows, data, result, tmp_path, capsys):
    model, out = tmp_path / "a.model", tmp_path / "out.csv"
    ps.save(result, model, about={"format": "files"})
    data.to_csv(tmp_path / "rows.csv", index=False)
    at_once = run(capsys, "predict", model, tmp_path / "rows.csv")
    printed = run(capsys, "predict", model, rows)
    assert_same(printed.out, at_once.out)
    assert printed.err == at_once.err.replace(str(tmp_path / "rows.csv"), str(rows))
    csv = tmp_path / "rows.csv"
    for where in (rows, csv):
        found = run(capsys, "predict", model, where, "--memory", "64MiB", "-o", out)
        assert_same(out.read_text(), printed.out)
        assert found.out.replace(str(where), str(rows)).startswith(printed.err)
        assert found.out.endswith(f"\nPredictions written to {out}\n")
    frame = pd.read_csv(io.StringIO(printed.out), index_col="row")
    scores = result.decision_function(data)
    np.testing.assert_allclose(frame["score"], scores, **OF_A_PRODUCT)
    data.drop(columns="y").to_parquet(tmp_path / "bare.parquet")
    found = run(capsys, "predict", model, tmp_path / "bare.parquet")
    assert_same(found.out, printed.out)
    assert "Note       no labels among the data" in found.err
    new = data.assign(g=data["g"].where(data.index != 1, "new"))
    new.to_parquet(tmp_path / "new.parquet")
    told = refused(capsys, ["predict", model, tmp_path / "new.parquet"])
    assert "did not occur" in told
    found = run(
        capsys, "predict", model, tmp_path / "new.parquet", "--unseen", "missing"
    )
    assert found.out.splitlines()[2] == "1,,"
    assert "did not occur" in found.err


def test_svmlight_files_are_read_block_by_block_on_request(tmp_path, capsys):
    lines = "1 1:2 3:1\n-1 1:1\n1 2:3 1:1\n-1 3:-2\n" * 30
    for name in ("a.svm", "b.svm"):
        (tmp_path / name).write_text(lines)
    model = tmp_path / "a.model"
    scan = ps.scan(tmp_path / "*.svm")
    expected = ps.svm("label ~ .", scan, lam=0.1).fit()
    given = ["--lambda", 0.1, "--json", "--save", model]
    found = run(capsys, "fit", tmp_path / "*.svm", *given, "--test", tmp_path / "b.svm")
    assert params_of(found) == expected.params.to_dict()
    test = json.loads(found.out)["confusion"]["test"]["table"]
    assert (
        test == expected.confusion(ps.scan(tmp_path / "b.svm")).counts[:, :2].tolist()
    )
    for option in (["--memory", "64MiB"], []):
        found = run(capsys, "predict", model, tmp_path / "a.svm", *option)
        assert found.out.startswith("row,predicted,score\n0,")
        assert "Misclassified" in found.err
    given = ["--memory", "64MiB", "--format", "svmlight", "--lambda", 0.1, "--json"]
    one = run(capsys, "fit", tmp_path / "a.svm", *given)
    assert params_of(one).keys() == expected.params.to_dict().keys()
    formula = ["--formula", "label ~ x1 + x3"]
    few = run(capsys, "fit", tmp_path / "*.svm", *formula, "--json")
    assert list(params_of(few)) == ["Intercept", "x1", "x3"]


def test_what_files_cannot_do_is_refused_in_one_line(rows, data, tmp_path, capsys):
    data.to_csv(tmp_path / "rows.csv", index=False)
    apart, few = tmp_path / "apart.csv", ["--memory", "64MiB"]
    data[["y", "x0"]].to_csv(apart, index=False, sep=";")
    train = ["fit", rows, "--outcome", "y"]
    for words, named in [
        ([*train, "--kernel", "gaussian"], "Scan"),
        ([*train, "--sep", ";"], f"{rows} is read block by block; --sep"),
        (
            ["fit", apart, "--outcome", "y", *few, "--sep", ";"],
            "read block by block; --sep",
        ),
        (["fit", apart, "--outcome", "y", *few], "--sep ';'"),
        (["fit", tmp_path / "apart*.csv", "--formula", "y ~ x0"], "--sep ';'"),
        (["fit", apart, "--formula", "y ~ x0"], "--sep ';'"),
        (["fit", rows, "--formula", "y ~ scale(x0)"], "calls scale()"),
        (["fit", rows], "--outcome"),
        (["fit", rows / "*.csv", "--outcome", "y"], f"No file matches '{rows}/*.csv'"),
        ([*train, "--save", rows / "part0.parquet"], "over a file that is read"),
        ([*train, "--solver", "pegasos", "--lambda", "1"], "--order 'sequential'"),
        ([*train, "--memory", "0.5 MB"], "--memory '0.5 MB' is not allowed"),
    ]:
        assert named in refused(capsys, words)
