"""Files that the command line reads and writes predictions of."""

import bz2
import io
import json

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from tests.output.command_line import params_of, refused, run
from tests.scan.scan_files import frame_of, written

# ---- Files that the command line reads block by block: fits, tests and predictions.

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
    solver = ps.Optimum(tol=1e-8)
    return ps.svm(FORMULA, ps.scan(rows), lam=0.01, weights="w").fit(solver)


def test_a_folder_or_a_pattern_is_fitted_as_in_python(rows, result, tmp_path, capsys):
    saved = ["--save", tmp_path / "a.model"]
    given = [*MODEL, "--weights", "w", "--progress", "--json", *saved]
    for train in (rows, rows / "*.parquet"):
        found = run(capsys, "fit", train, *given, "--test", rows / "part1.parquet")
        assert params_of(found) == result.params.to_dict()
        facts = json.loads(found.out)
        assert (facts["solver"], facts["nobs"]) == ("Optimum", result.nobs)
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


def test_predictions_of_files_are_those_of_frames(rows, data, result, tmp_path, capsys):
    model, out = tmp_path / "a.model", tmp_path / "out.csv"
    ps.save(result, model, about={"format": "files"})
    data.to_csv(tmp_path / "rows.csv", index=False)
    at_once = run(capsys, "predict", model, tmp_path / "rows.csv")
    printed = run(capsys, "predict", model, rows)
    assert_same(printed.out, at_once.out)
    assert printed.err == at_once.err.replace(str(tmp_path / "rows.csv"), str(rows))
    csv = tmp_path / "rows.csv"
    found = run(capsys, "predict", model, csv, "--memory", "64MiB", "-o", out)
    assert_same(out.read_text(), printed.out)
    assert found.out.replace(str(csv), str(rows)).startswith(printed.err)
    assert found.out.endswith(f"\nPredictions written to {out}\n")
    frame = pd.read_csv(io.StringIO(printed.out), index_col="row")
    scores = result.decision_function(data)
    np.testing.assert_allclose(frame["score"], scores, **OF_A_PRODUCT)
    data.drop(columns="y").to_parquet(tmp_path / "bare.parquet")
    found = run(capsys, "predict", model, tmp_path / "bare.parquet")
    assert_same(found.out, printed.out)
    assert "Note       the data contain no outcome" in found.err
    new = data.assign(g=data["g"].where(data.index != 1, "new"))
    new.to_parquet(tmp_path / "new.parquet")
    words = ["predict", model, tmp_path / "new.parquet"]
    assert "did not occur" in refused(capsys, words)
    found = run(capsys, *words, "--unseen", "missing")
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
    table = expected.confusion(ps.scan(tmp_path / "b.svm"))
    assert test == table.counts[:, :2].tolist()
    for option in (["--memory", "64MiB"], []):
        found = run(capsys, "predict", model, tmp_path / "a.svm", *option)
        assert found.out.startswith("row,predicted,score\n0,")
        assert "Misclassified" in found.err
    formula = ["--formula", "label ~ x1 + x3"]
    few = run(capsys, "fit", tmp_path / "*.svm", *formula, "--json")
    assert list(params_of(few)) == ["Intercept", "x1", "x3"]


def test_what_files_cannot_do_is_refused_in_one_line(rows, data, tmp_path, capsys):
    data[["y", "x0"]].to_csv(tmp_path / "apart.csv", index=False, sep=";")
    train = ["fit", rows, "--outcome", "y"]
    for words, named in [
        ([*train, "--kernel", "gaussian"], "Scan"),
        ([*train, "--sep", ";"], f"{rows} is read block by block; omit --sep"),
        (["fit", tmp_path / "apart*.csv", "--formula", "y ~ x0"], "sep=';'"),
        (["fit", rows], "--outcome"),
        (["fit", rows / "*.csv", "--outcome", "y"], f"No file matches '{rows}/*.csv'"),
        ([*train, "--save", rows / "part0.parquet"], "is not a model"),
        ([*train, "--solver", "pegasos", "--lambda", "1"], "order="),
        ([*train, "--memory", "0.5 MB"], "memory='0.5 MB' is not allowed"),
    ]:
        assert named in refused(capsys, words)


# ---- CSV files with other separators and decimals than commas and points.

SEMICOLONS = ["--sep", ";", "--decimal", ","]


def test_commas_semicolons_and_tabs_are_the_same_fit(capsys, tmp_path):
    train, _ = ps.datasets.load_digits56()
    rows = train[["digit", "p34", "p43", "p26"]].assign(p34=train["p34"] / 8.0)
    rows.to_csv(tmp_path / "usual.csv", index=False)
    rows.to_csv(tmp_path / "german.csv", index=False, sep=";", decimal=",")
    rows.to_csv(tmp_path / "tabs.csv", index=False, sep="\t")
    given = ["--outcome", "digit", "--cov-type", "none", "--json"]
    german = [*SEMICOLONS, "--save", tmp_path / "m.model"]
    files = {"usual.csv": [], "german.csv": german, "tabs.csv": ["--sep", "tab"]}
    fits = [run(capsys, "fit", tmp_path / x, *given, *files[x]) for x in files]
    assert params_of(fits[0]) == params_of(fits[1]) == params_of(fits[2])
    # A saved model knows how its files are written.
    german = run(capsys, "predict", tmp_path / "m.model", tmp_path / "german.csv").out
    other = [tmp_path / "usual.csv", "--sep", ",", "--decimal", "."]
    assert run(capsys, "predict", tmp_path / "m.model", *other).out == german
    assert german.count("\n") == 201


# ---- Predictions on the command line, by models that it or Python has saved.


def saved_fit(capsys, folder, train, *options):
    path = folder / "a.model"
    given = ["--lambda", "1", "--epochs", 2, "--seed", 1]
    given += [] if "--kernel" in options else ["--cov-type", "none"]
    run(capsys, "fit", train, "--save", path, *given, *options)
    return path


def test_predict_writes_every_digit_and_tells_of_the_table(files, tmp_path, capsys):
    train, test = ps.datasets.load_digits56()
    result = ps.svm("digit ~ .", train, lam=1.0).fit(ps.Pegasos(epochs=2, seed=1))
    model = saved_fit(capsys, tmp_path, files / "train.csv", "--outcome", "digit")
    out = tmp_path / "out.csv"
    printed = run(capsys, "predict", model, files / "test.csv", "-o", out)
    found = pd.read_csv(out, index_col="row", dtype={"score": str})
    assert found["score"].map(float).tolist() == result.decision_function(test).tolist()
    assert found["predicted"].tolist() == result.predict(test).tolist()
    assert str(result.confusion(test)) in printed.out
    assert f"Predictions written to {out}" in printed.out
    assert printed.err == ""


def test_what_is_saved_and_is_no_fit_is_refused_by_its_type(files, tmp_path, capsys):
    train, _ = ps.datasets.load_digits56()
    model = ps.svm("digit ~ p34", train, lam=1.0)
    ps.save(ps.cross_validate(model, folds=2, seed=1), tmp_path / "m")
    said = refused(capsys, ["predict", tmp_path / "m", files / "test.csv"])
    assert f"The file {tmp_path / 'm'} contains a CrossVal" in said


def test_predict_without_labels(files, tmp_path, capsys):
    model = saved_fit(capsys, tmp_path, files / "train.csv", "--outcome", "digit")
    _, test = ps.datasets.load_digits56()
    bare, holes = tmp_path / "bare.csv", tmp_path / "holes.csv"
    test.drop(columns="digit").to_csv(bare, index=False)
    test.assign(p00=[None] * 3 + [0] * 160).to_csv(holes, index=False)
    printed = run(capsys, "predict", model, bare)
    assert "the data contain no outcome" in printed.err
    assert "Misclassified" not in printed.err
    printed = run(capsys, "predict", model, holes, "--unlabelled")
    assert printed.out.splitlines()[1] == "0,,"
    assert "163, 3 of them without a prediction" in printed.err
    assert "Misclassified" not in printed.err


@pytest.mark.parametrize("kernel", [[], ["--kernel", "polynomial"]])
def test_svmlight_features_beyond_the_fit_are_noted(kernel, files, tmp_path, capsys):
    train, test = files / "train.svm.bz2", files / "test.svm"
    note = f"{test}: 1 feature beyond the 63 of the model ignored"
    trimmed = tmp_path / "trimmed.svm"
    lines = bz2.decompress(train.read_bytes()).decode().splitlines()
    kept = [" ".join(w for w in ln.split() if not w.startswith("64:")) for ln in lines]
    trimmed.write_text("\n".join(kept))
    model = saved_fit(capsys, tmp_path, trimmed, *kernel)
    printed = run(capsys, "predict", model, test)
    assert "beyond the" in printed.err
    assert "Misclassified" in printed.err
    fit = run(capsys, "fit", trimmed, "--test", test, *kernel)
    assert note.split("beyond")[1] in fit.err


def test_a_model_counted_from_zero_reads_data_so(tmp_path, capsys):
    train, data = tmp_path / "train.svm", tmp_path / "data.svm"
    train.write_text("0 0:1 1:2\n1 1:-1 2:1\n" * 4)
    data.write_text("0 1:1\n")
    model = saved_fit(capsys, tmp_path, train)
    printed = run(capsys, "predict", model, data).out
    with_zero = tmp_path / "zero.svm"
    with_zero.write_text("0 0:0 1:1\n")
    assert run(capsys, "predict", model, with_zero).out == printed
