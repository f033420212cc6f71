"""Models of the command line: formulas, folds, groups, offsets, SDCA, parity."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.output.cli import commands, main
from pegasos_stats.studies.parity import ParityCheck
from tests.models.test_groups import hospitals
from tests.output.command_line import refused, run, strict


@pytest.mark.usefixtures("empty_figures")
def test_unseen_levels_of_test_data_are_an_error_or_missing(tmp_path, capsys):
    train = pd.DataFrame({"y": ["n", "p"] * 20, "x": range(40), "g": [*"uuvv"] * 10})
    train.to_csv(tmp_path / "train.csv", index=False)
    test = pd.DataFrame({"y": ["n", "p", "p"], "x": [1, 2, 3], "g": ["u", "w", "v"]})
    test.to_csv(tmp_path / "test.csv", index=False)
    paths = tmp_path / "train.csv", "--test", tmp_path / "test.csv"
    options = "--outcome", "y", "--loss", "log", "--lambda", 0.1
    assert "'w', in row 1" in refused(capsys, ["fit", *paths, *options])
    model = tmp_path / "model"
    found = run(capsys, "fit", *paths, *options, "--unseen", "missing", "--save", model)
    text = "1 row without a prediction, for levels that did not occur at fit: 'w' in"
    assert found.err.count(text) == 1
    given = "predict", model, tmp_path / "test.csv"
    printed = run(capsys, *given, "--unseen", "missing")
    assert printed.err.count(text) == 1
    assert printed.out.splitlines()[2] == "1,,,,"
    page = tmp_path / "page.html"
    given = "report", *paths, *options, "--unseen", "missing", "-o", page
    assert text in run(capsys, *given).err


# ---- --cv, --lambda cv and --positive of fit and predict.


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


OPTIMUM = ["--outcome", "y", "--solver", "optimum", "--loss", "log"]


def test_a_lambda_that_is_chosen_is_chosen_anew_in_each_fold(small, capsys):
    frame = pd.read_csv(small)
    given = [*OPTIMUM, "--lambda", "cv", "--cv", 3, "--seed", 2]
    found = strict(run(capsys, "fit", small, *given, "--json").out)
    model = ps.logit("y ~ .", frame)
    path = ps.lambda_path(model, folds=10, seed=1)
    assert found["lam"] == path.lambda_min != path.lambda_1se
    assert found["lambda_rule"] == "cv"
    nested = ps.cross_validate(model, folds=3, seed=2, lambda_path=True, rule="min")
    table = found["confusion"]["out-of-fold"]
    assert table["table"] == nested.confusion().table.to_numpy().tolist()
    assert table["rows"] == "out of fold"
    assert {line["conf_low"] for line in table["statistics"]} == {None}


def test_a_lambda_that_is_given_is_validated(small, capsys):
    given = [*OPTIMUM, "--cv", 3, "--lambda", 0.1, "--positive", 7]
    printed = run(capsys, "fit", small, *given).out
    assert "best lambda" not in printed
    assert "y: 5 or 7, modelled: 7, 24 of 60" in printed
    told, folds = printed.split("Out-of-fold data\n")
    for part in (told, folds):
        assert part.count("'Positive' Class : 7") == 1
        assert "Sensitivity 95% CI" not in part  # of rows that are not new
    frame = pd.read_csv(small)
    fit = ps.logit("y ~ .", frame, lam=0.1).fit(ps.Optimum(seed=443))
    seen = fit.confusion(positive=7, mode="sens_spec")
    assert str(seen) in told


def test_predict_has_a_positive_class_and_knows_its_rows(small, tmp_path, capsys):
    model = tmp_path / "a.model"
    run(capsys, "fit", small, *OPTIMUM, "--save", model)
    other = tmp_path / "other.csv"
    frame = pd.read_csv(small).iloc[:41]
    frame.to_csv(other, index=False)
    predict = ["predict", model, other, "--positive", 7]
    table = ps.load(model).confusion(frame, positive=7, mode="sens_spec")
    assert str(table) in run(capsys, *predict, "-o", tmp_path / "out.csv").out
    assert "positive=" in refused(capsys, [*predict[:-1], "8"])
    printed = run(capsys, "predict", model, small, "-o", tmp_path / "out.csv").out
    assert "No interval    these are training rows of the fit" in printed
    assert "95% interval" not in printed


def test_a_saved_svm_has_the_standard_errors_that_were_printed(small, tmp_path, capsys):
    model = tmp_path / "a.model"
    given = "fit", small, "--outcome", "y", "--save", model
    run(capsys, *given)
    assert not ps.load(model).has_covariance
    for printed in ([], ["--json"]):
        run(capsys, *given, "--coefficients", *printed)
        assert (ps.load(model).bse > 0.0).all()
        model.unlink()


# ---- Groups of rows on the command line, and in the report that repeats a fit.


@pytest.mark.usefixtures("empty_figures")
def test_folds_of_a_report_keep_groups_whole(tmp_path, capsys):
    data, out = hospitals(), tmp_path / "page.md"
    data.to_csv(tmp_path / "h.csv", index=False)
    given = "--formula died~age --groups hospital --cv 4 --lambda 0.1 --loss log"
    run(capsys, "report", tmp_path / "h.csv", *given.split(), "-o", out)
    assert (
        f"{len(data)} rows in 24 groups of hospital and 4 stratified folds"
        in out.read_text()
    )
    given = given.replace("--cv 4", "--cv 24 --overwrite")
    run(capsys, "report", tmp_path / "h.csv", *given.split(), "-o", out)
    assert "24 groups of hospital, each predicted from the other 23" in out.read_text()


# ---- A column as an offset, on the command line and in the report that repeats a fit.


def test_a_column_is_an_offset_and_no_predictor(small, tmp_path, capsys):
    model, frame = tmp_path / "fit.model", pd.read_csv(small)
    given = "fit", small, *["--outcome", "y", "--offset", "b", "--loss", "log"]
    assert "maximum likelihood" in run(capsys, *given).out
    printed = run(capsys, *given, "--json", "--save", model)
    alone = ps.logit("y ~ a", frame, offset="b").fit(ps.Optimum(seed=2))
    # Two orders, each to a gap of 1e-6 by Newton steps, which end far below it.
    params = json.loads(printed.out)["params"]
    assert params == pytest.approx(alone.params.to_dict(), rel=1e-6)
    found = run(capsys, "predict", model, small, "-o", tmp_path / "p.csv")
    assert found.err == ""
    scores = pd.read_csv(tmp_path / "p.csv")["score"]
    np.testing.assert_allclose(scores, alone.decision_function(frame), rtol=1e-6)


def test_of_a_kernel_it_is_a_number(small, capsys):
    given = "--outcome y --kernel polynomial --offset 0.5 --lambda 1 --epochs 2"
    assert "offset 0.5" in run(capsys, "fit", small, *given.split()).out


# ---- ``pegasos-stats parity`` and the plugin of pytest: what they say, without R.

ROOT = Path(__file__).parents[2]


def made(same):
    table = pd.DataFrame({"python": ["3"], "r": ["4"], "same": [same]}, ["violations"])
    parting = "" if same == "every bit" else "Step 1 visits row 2 here and 3 in R."
    facts = {"R": "4.2.2"}
    title = "Pegasos in Python and in R"
    return ParityCheck(table, title, parting, "", facts)


@pytest.mark.parametrize(("same", "code"), [("every bit", 0), ("differs", 1)])
def test_the_exit_code_says_whether_all_is_the_same(
    small, monkeypatch, capsys, same, code
):
    asked = []

    def check(model, solver):
        asked.append((model, solver))
        return made(same)

    monkeypatch.setattr(commands, "check_against_r", check)
    options = "--outcome y --epochs 3 --lambda 0.5 --seed 1"
    words = ["parity", str(small), *options.split()]
    assert main(words) == code
    out = capsys.readouterr().out
    assert out.startswith(f"pegasos-stats: {small}\n\nPegasos in Python and in R\n")
    model, solver = asked[0]
    assert (model.problem.lam, solver.epochs, solver.seed) == (0.5, 3, 1)
    assert main([*words, "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert (found["equal"], found["table"][0]["same"]) == (code == 0, same)


MINE = """
import sys
from unittest.mock import MagicMock
def test_light():
    assert 'pegasos_stats' not in sys.modules
def test_same(assert_parity, monkeypatch):
    import pegasos_stats as ps
    check = MagicMock(equal=True)
    check.__str__.return_value = 'Python and R differ in: steps.'
    def given(model, solver): return check
    monkeypatch.setattr(ps, 'check_against_r', given, raising=False)
    assert assert_parity(1, 2) is check
    check.equal = False
    assert_parity(1)
"""


def test_the_plugin_of_pytest(tmp_path):
    """What differs is shown; the package is loaded when a test asks for the fixture."""
    (tmp_path / "test_mine.py").write_text(MINE, encoding="utf-8")
    options = ["-q", "-p", "pegasos_stats_pytest", "-p", "no:cacheprovider"]
    place = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    words = [sys.executable, "-m", "pytest", *options, tmp_path]
    done = subprocess.run(words, env=os.environ | place, capture_output=True, text=True)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "Python and R differ in: steps." in done.stdout
