"""Reports and figures at a threshold: the tables, the figures, and where it is from."""

import re

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from tests.output.command_line import run
from tests.output.figures import axes

pytestmark = pytest.mark.usefixtures("empty_figures")
SOLVER = ps.SDCA(seed=1)


def sample(n, seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 2)), columns=["x", "z"])
    data["y"] = np.where(data["x"] + rng.normal(size=n) > 0.9, "yes", "no")
    return data


TRAIN, TEST = sample(120, 1), sample(80, 2)


@pytest.fixture(scope="module")
def logit():
    weights = {"no": 1.0, "yes": 3.0}
    return ps.logit("y ~ x", TRAIN, lam=0.01, weights=weights).fit(SOLVER)


@pytest.fixture(scope="module")
def svm():
    return ps.svm("y ~ x", TRAIN, lam=0.01).fit(SOLVER)


def listed(result, data, threshold):
    """Labels of misclassified rows, the farthest beyond the threshold first."""
    values = result.decision_function(data)
    if result.problem.loss == "log":
        values = result.predict_proba(data)["yes"]
    beyond = values - threshold
    wrong = (beyond > 0) != (data["y"] == "yes")
    far = beyond[wrong].abs().sort_values(ascending=False, kind="stable")
    return [str(row) for row in far.index]


def test_tables_errors_and_rows_are_those_of_the_threshold(logit, svm):
    for result, threshold in ((logit, 0.8), (svm, -0.4)):
        found = result.report(TEST, threshold=threshold, positive="yes").to_markdown()
        table = result.confusion(TEST, threshold=threshold, positive="yes")
        assert table.n_errors != result.confusion(TEST).n_errors
        caption = f"Test data: {table.n_errors} of 80 rows misclassified"
        assert caption in found
        assert f"{result.confusion(threshold=threshold).n_errors} of 120 rows" in found
        sensitivity = f"{table.by_class['sensitivity']:.4f}"
        (line,) = (x for x in found.splitlines() if x.startswith("| Sensitivity (yes)"))
        assert line.split("|")[3].split()[0] == sensitivity
        rows = found.split("## Misclassified rows")[1].splitlines()
        names = [x.split("|")[1].strip() for x in rows if x.startswith("| ")]
        given = listed(result, TEST, threshold)
        assert [name for name in names if name.isdigit()][:10] == given[:10]


@pytest.mark.parametrize("threshold", [1.2, "0.5"])
def test_a_threshold_is_a_probability(logit, threshold):
    with pytest.raises(OptionError, match=re.escape(f"threshold={threshold!r}")):
        logit.report(TEST, threshold=threshold)


def test_that_of_another_fit_is_refused(logit, svm):
    found = svm.thresholds(folds=2, seed=1)
    with pytest.raises(OptionError, match=r"thresholds\(\)"):
        logit.report(TEST, threshold=found)


def test_figures_are_those_of_the_threshold(logit, svm):
    for result, threshold in ((logit, 0.8), (svm, -0.4)):
        ax = result.plot.margins(TEST, threshold=threshold, ax=axes())
        wrong = result.confusion(TEST, threshold=threshold).table
        _, texts = ax.get_legend_handles_labels()
        assert texts == [
            f"no: {wrong.loc['no'].sum()} rows, {wrong.loc['no', 'yes']} below 0",
            f"yes: {wrong.loc['yes'].sum()} rows, {wrong.loc['yes', 'no']} below 0",
            "Threshold",
        ]
        assert "the score less that of the" in ax.get_xlabel().replace("\n", " ")
        ax = result.plot.confusion(TEST, threshold=threshold, ax=axes())
        assert ax.get_title().startswith(
            f"{wrong.loc['no', 'yes'] + wrong.loc['yes', 'no']} of"
        )
    with pytest.raises(OptionError, match="threshold=1 predicts all rows alike"):
        logit.plot.margins(TEST, threshold=1, ax=axes())
    page = logit.report(TEST, threshold=1.0).to_markdown()
    assert "Margins of the test rows" not in page
    assert "ROC curve" in page


def test_the_command_line_writes_and_prints_it(tmp_path, capsys):
    for name, rows in (("train", TRAIN), ("test", TEST)):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    page = tmp_path / "a.md"
    out, err = run(
        capsys,
        *("report", tmp_path / "train.csv", "--formula", "y ~ x", "--loss", "log"),
        *("--lambda", "0.01", "--test", tmp_path / "test.csv"),
        *("--threshold", "0.3", "-o", page),
    )
    assert err == ""
    result = ps.logit("y ~ x", TRAIN, lam=0.01).fit(SOLVER)
    errors = result.confusion(TEST, threshold=0.3).n_errors
    assert f"Test       {errors} of 80 wrong" in out
    assert "Threshold  0.3\n" in out
    assert f"Test data: {errors} of 80 rows misclassified" in page.read_text()
    assert "--threshold 0.3" in page.read_text()
