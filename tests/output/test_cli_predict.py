"""Predictions on the command line, by models that it or Python has saved."""

import bz2
import io
import json

import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.output.cli import main
from tests.output.command_line import run, strict


def saved_fit(capsys, folder, train, *options):
    path = folder / "a.model"
    given = "--lambda", "1", "--epochs", 2, "--seed", 1
    if "--kernel" not in options:
        given += "--cov-type", "none"
    run(capsys, "fit", train, "--save", path, *given, *options)
    return path


def test_predict_writes_every_digit_and_prints_the_table(files, tmp_path, capsys):
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
    model, path = (
        ps.svm("digit ~ p34", ps.datasets.load_digits56()[0], lam=1.0),
        tmp_path / "m",
    )
    for study in (ps.cross_validate(model, folds=2, seed=1), ps.calibrate(model)):
        ps.save(study, path, overwrite=True)
        assert main(["predict", str(path), str(files / "test.csv")]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert (
            f"The file {path} holds a result of the type {type(study).__name__}" in err
        )


def test_predictions_alone_go_to_standard_output(files, tmp_path, capsys):
    model = saved_fit(
        capsys, tmp_path, files / "train.csv", "--outcome", "digit", "--loss", "log"
    )
    printed = run(capsys, "predict", model, files / "named_rows.csv")
    found = pd.read_csv(io.StringIO(printed.out), index_col="row")
    assert list(found) == ["predicted", "score", "probability_5", "probability_6"]
    assert len(found) == 200
    assert "Misclassified" in printed.err


def test_predict_without_labels(files, tmp_path, capsys):
    model = saved_fit(capsys, tmp_path, files / "train.csv", "--outcome", "digit")
    _, test = ps.datasets.load_digits56()
    bare, holes = tmp_path / "bare.csv", tmp_path / "holes.csv"
    test.drop(columns="digit").to_csv(bare, index=False)
    test.assign(p00=[None] * 3 + [0] * 160).to_csv(holes, index=False)
    printed = run(capsys, "predict", model, bare)
    assert "no labels among the data" in printed.err
    assert "Misclassified" not in printed.err
    printed = run(capsys, "predict", model, holes, "--unlabelled")
    assert printed.out.splitlines()[1] == "0,,"
    assert "163, 3 of them without a prediction" in printed.err
    assert "Misclassified" not in printed.err


def test_predict_as_json(files, tmp_path, capsys):
    model = saved_fit(capsys, tmp_path, files / "train.csv", "--outcome", "digit")
    content = strict(run(capsys, "predict", model, files / "test.csv", "--json").out)
    assert content["rows"] == len(content["predictions"]) == 163
    assert set(content["predictions"][0]) == {"row", "predicted", "score"}
    assert content["confusion"]["actual"] == ["5", "6"]


@pytest.mark.parametrize("kernel", [[], ["--kernel", "polynomial"]])
def test_svmlight_features_beyond_the_fit_are_noted(kernel, files, tmp_path, capsys):
    train, test = files / "train.svm.bz2", files / "test.svm"
    note = f"1 feature of {test} left out, beyond the 63 of the fit"
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
    printed = run(capsys, "predict", model, data, "--json")
    with_zero = tmp_path / "zero.svm"
    with_zero.write_text("0 0:0 1:1\n")
    again = run(capsys, "predict", model, with_zero, "--json")
    assert (
        json.loads(printed.out)["predictions"] == json.loads(again.out)["predictions"]
    )


def test_labels_that_are_not_the_levels_are_noted(files, tmp_path, capsys):
    model = saved_fit(capsys, tmp_path, files / "train.svm.bz2")
    data = tmp_path / "d.svm"
    data.write_text("-1 1:1\n-1 2:1\n")
    printed = run(capsys, "predict", model, data)
    assert "are not all among the model's levels, 5, 6: predictions" in printed.err


def test_a_model_predicts_data_of_its_own_format_only(files, tmp_path, capsys):
    model = saved_fit(capsys, tmp_path, files / "train.svm.bz2")
    assert main(["predict", str(model), str(files / "test.csv")]) == 2
    assert "65 columns" in capsys.readouterr().err
