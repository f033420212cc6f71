"""--cv, --lambda cv and --positive of fit and predict."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.output.cli import main
from tests.output.command_line import run, strict


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A file of 60 rows, 24 of them a 7."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    score = frame["a"] + rng.normal(size=60)
    frame["y"] = np.where(score >= score.nlargest(24).iloc[-1], 7, 5)
    path = tmp_path_factory.mktemp("small") / "small.csv"
    frame.to_csv(path, index=False)
    return path


OPTIMUM = ["--outcome", "y", "--solver", "sdca", "--loss", "log"]


def test_a_lambda_that_is_chosen_is_chosen_anew_in_each_fold(small, capsys):
    frame = pd.read_csv(small)
    given = [*OPTIMUM, "--lambda", "cv", "--cv", 3, "--seed", 2]
    found = strict(run(capsys, "fit", small, *given, "--json").out)
    path = ps.lambda_path(ps.logit("y ~ .", frame), folds=10, seed=1)
    assert found["lambda"] == path.lambda_min != path.lambda_1se
    assert "30 values" in found["lambda_chosen"]
    assert "log_loss" in found["lambda_chosen"]
    model = ps.logit("y ~ .", frame)
    nested = ps.cross_validate(model, folds=3, seed=2, lambda_path=True, rule="min")
    table = found["confusion"]["out-of-fold"]
    assert table["table"] == nested.confusion().table.to_numpy().tolist()
    assert (table["rows"], table["interval_exact"]) == ("out of fold", None)


def test_a_lambda_that_is_given_is_validated(small, capsys):
    given = [*OPTIMUM, "--cv", 3, "--lambda", 0.1, "--positive", 7]
    printed = run(capsys, "fit", small, *given).out
    assert "best lambda" not in printed
    assert "y: 5 (-1) 36 rows, 7 (+1) 24 rows" in printed
    told, folds = printed.split("Out-of-fold data\n")
    for part in (told, folds):
        assert part.count("'Positive' Class : 7") == 1
        assert "Sensitivity 95% CI" not in part  # of rows that are not new
    frame = pd.read_csv(small)
    fit = ps.logit("y ~ .", frame, lam=0.1).fit(ps.SDCA(seed=443))
    seen = fit.confusion(positive=7, mode="sens_spec")
    assert str(seen) in told


def test_predict_tells_of_the_positive_class(small, tmp_path, capsys):
    model = tmp_path / "a.model"
    run(capsys, "fit", small, *OPTIMUM, "--save", model)
    other = tmp_path / "other.csv"
    frame = pd.read_csv(small).iloc[:41]
    frame.to_csv(other, index=False)
    predict = ["predict", model, other, "--positive", 7]
    found = strict(run(capsys, *predict, "--json").out)["confusion"]
    table = ps.load(model).confusion(frame, positive=7, mode="sens_spec")
    assert found["positive"] == "7"
    assert found["rows"] == "new"
    assert found["by_class"] == table.by_class.to_dict()
    assert found["by_class"]["sensitivity"] != found["by_class"]["specificity"]
    assert str(table) in run(capsys, *predict, "-o", tmp_path / "out.csv").out
    assert main([str(word) for word in [*predict[:-1], "8"]]) == 2
    assert "--positive '8'" in capsys.readouterr().err


def test_a_saved_model_knows_its_training_rows(small, tmp_path, capsys):
    model = tmp_path / "a.model"
    run(capsys, "fit", small, *OPTIMUM, "--save", model)
    printed = run(capsys, "predict", model, small, "-o", tmp_path / "out.csv").out
    assert "No interval    the fit has seen these rows" in printed
    assert "95% interval" not in printed
