"""``pegasos-stats report`` and ``demo --report``: a page from files."""

import html
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.output.cli import main
from tests.output.command_line import run

pytestmark = pytest.mark.usefixtures("empty_figures")


@pytest.fixture
def digits(tmp_path):
    train, test = ps.datasets.load_digits56()
    train.to_csv(tmp_path / "train.csv", index=False)
    test.to_csv(tmp_path / "test.csv", index=False)
    return tmp_path


def listings(path, language):
    text = Path(path).read_text(encoding="utf-8")
    found = re.findall(
        rf'<pre class="{language}"[^>]*><code>(.*?)</code>', text, re.DOTALL
    )
    return [html.unescape(code) for code in found]


def test_a_page_from_two_files(digits, capsys):
    page = digits / "a page.html"
    options = ["--outcome", "digit", "--test", digits / "test.csv", "-o", page]
    options += ["--lambda", "1", "--epochs", 2]
    shown = run(capsys, "report", digits / "train.csv", *options)
    assert f"Report     {page}" in shown.out
    assert "Test" in shown.out
    (command,) = listings(page, "sh")
    assert command.replace(" \\\n   ", "").startswith("pegasos-stats report ")
    assert f"'{page}'" in command


def test_the_demo_ends_with_a_report(tmp_path, capsys):
    page = tmp_path / "demo.html"
    shown = run(capsys, "demo", "--report", page)
    assert shown.out.endswith(f"Report     {page}\n")
    assert "an image of 8 by 8 pixels" in page.read_text("utf-8")


@pytest.mark.parametrize("name", ["page.docx", "page.pdf"])
def test_a_format_that_is_none_is_refused_before_the_fit(tmp_path, capsys, name):
    page = tmp_path / name
    assert main(["demo", "--report", str(page)]) == 2
    assert "give one that ends in .html or .md" in capsys.readouterr().err
    train, _ = ps.datasets.load_digits56()
    result = ps.svm("digit ~ p34", train, lam=1.0).fit(ps.Pegasos(epochs=1, seed=1))
    with pytest.raises(OptionError, match="ends in"):
        result.report(path=page)
    assert not page.exists()
    result.report(path=page, format="html")
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
    assert "--positive '7'" in capsys.readouterr().err


def test_the_loss_is_logistic_unless_it_is_named(tmp_path, capsys):
    assert "logistic regression" in studied(tmp_path, "--lambda", "0.1")[1]
    hinge = studied(tmp_path, "--lambda", "0.1", "--loss", "hinge")[1]
    assert "Support vector machine" in hinge
    assert "Kernel support vector" in studied(tmp_path, "--kernel", "linear")[1]
    capsys.readouterr()


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


def test_a_page_of_the_command_line_has_no_words_of_python(tmp_path, capsys):
    _, page = studied(tmp_path, "--loss", "hinge", "--cv", "3")
    assert "pegasos-stats report" in page
    assert not re.search(r"\bps\.|\w\(\w*=|=True|result\.|import ", page)
    capsys.readouterr()


def test_the_misclassified_rows_are_not_written_over_the_data(tmp_path, capsys):
    data = tmp_path / "page_misclassified.csv"
    data.write_text("row,actual,predicted,score\n" + "1,a,b,0.5\n2,b,a,0.1\n" * 9)
    before = data.read_bytes()
    page = str(tmp_path / "page.html")
    assert main(["report", str(data), "--outcome", "actual", "-o", page]) == 2
    assert "over a file that is read" in " ".join(capsys.readouterr().err.split())
    assert data.read_bytes() == before


def test_a_threshold_is_not_advised_beside_one(tmp_path, capsys):
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"x": rng.normal(size=200), "y": np.repeat(["no", "yes"], 100)})
    rows = rows.drop(index=range(115, 200))
    rows.to_csv(tmp_path / "rare.csv", index=False)
    given = "report", tmp_path / "rare.csv", "--outcome", "y", "-o", tmp_path / "a.html"
    assert "every row is predicted" in run(capsys, *given).out
    assert "every row is predicted" not in run(capsys, *given, "--threshold", 0.1).out
