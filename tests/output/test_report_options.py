"""Reports of the command line, with offsets and at thresholds."""

import html
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.models.results import score_at
from pegasos_stats.output.cli import main
from tests.output.command_line import run
from tests.output.figures import axes

# ---- ``pegasos-stats report`` and ``demo --report``: a page from files.

pytestmark = [pytest.mark.usefixtures("empty_figures"), pytest.mark.slow]


def listings(path, language):
    text = Path(path).read_text(encoding="utf-8")
    listing = rf'<pre class="{language}"[^>]*><code>(.*?)</code>'
    return [html.unescape(code) for code in re.findall(listing, text, re.DOTALL)]


def test_a_page_from_two_files(files, tmp_path, capsys):
    page = tmp_path / "a page.html"
    options = ["--outcome", "digit", "--test", files / "test.csv", "-o", page]
    options += ["--lambda", "1", "--epochs", 2]
    shown = run(capsys, "report", files / "train.csv", *options)
    assert f"Report written to {page}" in shown.out
    assert "Test" in shown.out
    (command,) = listings(page, "sh")
    assert command.replace(" \\\n   ", "").startswith("pegasos-stats report ")
    assert f"'{page}'" in command


def test_the_demo_ends_with_a_report(tmp_path, capsys):
    page = tmp_path / "demo.html"
    shown = run(capsys, "demo", "--epochs", 5, "--cov-type", "none", "--report", page)
    assert shown.out.endswith(f"Report written to {page}\n")
    assert "an image of 8 by 8 pixels" in page.read_text("utf-8")


def test_a_format_that_is_none_is_refused(svm, tmp_path):
    page = tmp_path / "page.pdf"
    with pytest.raises(OptionError, match="ends in"):
        svm.report(path=page)
    assert not page.exists()
    svm.report(path=page, format="html")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def studied(tmp_path, *options):
    """What the report of a small file says, with options."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    frame["y"] = np.where(frame["a"] + rng.normal(size=60) > 0, 6, 5)
    frame.to_csv(tmp_path / "small.csv", index=False)
    page = tmp_path / "page.md"
    command = ["report", str(tmp_path / "small.csv"), "--outcome", "y"]
    code = main([*command, "-o", str(page), *options])
    return code, page.read_text(encoding="utf-8") if page.exists() else ""


def test_the_positive_class_is_the_one_that_is_named(tmp_path, capsys):
    assert "Sensitivity (6)" in studied(tmp_path, "--lambda", "0.1")[1]
    named = studied(tmp_path, "--lambda", "0.1", "--positive", "5")[1]
    assert "Sensitivity (5)" in named
    (tmp_path / "page.md").unlink()
    code, page = studied(tmp_path, "--positive", "7")
    assert (code, page) == (2, "")
    assert "positive=" in capsys.readouterr().err


def test_names_of_rows_are_on_the_page_with_an_id_alone(tmp_path, capsys):
    """Costs name both classes, and give the threshold of tables and page."""
    assert "| Row |" not in studied(tmp_path)[1]
    frame = pd.read_csv(tmp_path / "small.csv")
    frame["who"] = [f"patient {i}" for i in range(60)]
    frame.to_csv(tmp_path / "named.csv", index=False)
    page = str(tmp_path / "page.md")
    command = ["report", str(tmp_path / "named.csv"), "--formula", "y ~ a + b"]
    costs = ["--cost", "5=1", "--cost", "6=3", "-o", page]
    assert main([*command, "--id", "who", *costs]) == 0
    text = Path(page).read_text(encoding="utf-8")
    assert re.search(r"\| patient \d+ \| [56] \|", text)
    assert "a probability of '6' above 0.25 are" in text
    assert "The tables use the threshold 0.25," in capsys.readouterr().out
    for wrong in (["7=1", "5=2"], ["5=x", "6=1"], ["5=1"], ["5=0", "6=0"]):
        given = [word for pair in wrong for word in ("--cost", pair)]
        assert main([*command, *given, "-o", page]) == 2
        assert "--cost 5=1 --cost 6=5" in capsys.readouterr().err or "5=0" in given


def test_errors_are_out_of_fold_where_there_is_no_test(tmp_path, capsys):
    code, page = studied(tmp_path, "--cv", "3", "--lambda", "cv")
    assert code == 0
    assert "chosen from 30 values" in page
    assert "Cross-validated error" in page
    small = pd.read_csv(tmp_path / "small.csv")
    small.assign(a=small["a"] + 0.5).to_csv(tmp_path / "new.csv", index=False)
    _, page = studied(tmp_path, "--cv", "3", "--test", str(tmp_path / "new.csv"))
    assert "Cross-validated error" not in page
    capsys.readouterr()


# ---- Reports and figures of fits whose offset was numbers: test rows bring theirs.

SOLVER = ps.Optimum(seed=1)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["x", "z"])
    noise = rng.normal(size=90)
    data["y"] = np.where(data["x"] + 2 * data["z"] + noise > 0.8, "yes", "no")
    return data[:60], data[60:]


@pytest.fixture(scope="module")
def fits(rows):
    offsets = rows[0]["z"].to_numpy(), "z"
    models = [ps.logit("y ~ x", rows[0], lam=0.01, offset=z) for z in offsets]
    return [model.fit(SOLVER) for model in models]


def test_the_report_is_that_of_a_column(rows, fits, tmp_path):
    _, test = rows
    by_number, by_name = fits
    found = by_number.report(test, offset=test["z"]).to_markdown()
    expected = by_name.report(test).to_markdown()
    one, other = (re.findall(r"^\| Error.*$", text, re.M) for text in (found, expected))
    assert one == other != []
    made = ps.report(by_number, test, tmp_path / "a.md", offset="z")
    assert made.path == tmp_path / "a.md"


def test_figures_take_the_offset_of_new_rows(rows, fits):
    _, test = rows
    for name in ("roc", "scores", "confusion"):
        texts = []
        for fit, offset in zip(fits, (test["z"], None), strict=True):
            ax = getattr(fit.plot, name)(test, offset=offset, ax=Figure().subplots())
            texts.append([text.get_text() for text in ax.findobj(match=has_text)])
        assert texts[0] == texts[1] != []


def has_text(artist):
    return hasattr(artist, "get_text")


# ---- Reports and figures at a threshold.


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
        options = {"threshold": threshold, "positive": "yes", "row_names": True}
        found = result.report(TEST, **options).to_markdown()
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


def test_figures_are_those_of_the_threshold(logit, svm):
    for result, threshold in ((logit, 0.8), (svm, -0.4)):
        ax = result.plot.scores(TEST, threshold=threshold, ax=axes())
        table = result.confusion(TEST, threshold=threshold).table
        (no, no_as_yes), (yes_as_no, yes) = table.to_numpy()
        _, texts = ax.get_legend_handles_labels()
        of_no = f"no: {no + no_as_yes} rows, {no_as_yes} above"
        of_yes = f"yes: {yes + yes_as_no} rows, {yes} above"
        assert texts[:2] == [of_no, of_yes]
        (mark,) = (x for x in ax.get_lines() if x.get_label().startswith("Threshold"))
        cut = score_at(threshold, result.problem)
        assert list(mark.get_xdata()) == [cut, cut]
        ax = result.plot.confusion(TEST, threshold=threshold, ax=axes())
        assert ax.get_title().startswith(f"{no_as_yes + yes_as_no} of")
    with pytest.raises(OptionError, match="threshold=1 predicts all rows alike"):
        logit.plot.scores(TEST, threshold=1, ax=axes())
    page = logit.report(TEST, threshold=1.0).to_markdown()
    assert "Scores of the test rows" not in page
    assert "ROC curve" in page


def test_the_command_line_writes_and_prints_it(tmp_path, capsys):
    for name, rows in (("train", TRAIN), ("test", TEST)):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    page = tmp_path / "a.md"
    given = ["--loss", "log", "--lambda", "0.01", "--threshold", "0.3", "-o", page]
    files = [tmp_path / "train.csv", "--test", tmp_path / "test.csv"]
    out, err = run(capsys, "report", *files, "--formula", "y ~ x", *given)
    assert err == ""
    result = ps.logit("y ~ x", TRAIN, lam=0.01).fit(SOLVER)
    errors = result.confusion(TEST, threshold=0.3).n_errors
    assert f"Misclassified  {errors} of 80" in out
    assert "The tables use the threshold 0.3," in out
    assert f"Test data: {errors} of 80 rows misclassified" in page.read_text()
    assert "--threshold 0.3" in page.read_text()


def test_a_page_of_the_command_line_has_no_words_of_python(tmp_path, capsys):
    assert "logistic regression" in studied(tmp_path)[1]
    _, page = studied(tmp_path, "--loss", "hinge", "--cv", "3")
    assert "Support vector machine" in page
    assert "pegasos-stats report" in page
    assert not re.search(r"\bps\.|\w\(\w*=|=True|result\.|import ", page)
    capsys.readouterr()


def test_the_misclassified_rows_are_not_written_over_the_data(tmp_path, capsys):
    data = tmp_path / "page_misclassified.csv"
    data.write_text("row,actual,predicted,score\n" + "1,a,b,0.5\n2,b,a,0.1\n" * 9)
    before = data.read_bytes()
    page = str(tmp_path / "page.html")
    assert main(["report", str(data), "--outcome", "actual", "-o", page]) == 2
    assert "is also an input or another output" in capsys.readouterr().err
    assert data.read_bytes() == before
