"""``pegasos-stats report`` and ``demo --report``: a page from files."""

import html
import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.output.cli import main
from tests.output.command_line import run

pytestmark = pytest.mark.usefixtures("empty_figures")

SVMLIGHT = "\n".join(f"{i % 2} 1:{i % 2 + i / 50} 2:{i / 20}" for i in range(40)) + "\n"


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
    shown = run(capsys, "report", digits / "train.csv", *options, "--epochs", 2)
    assert f"Report     {page}" in shown.out
    assert "Test" in shown.out
    (command,) = listings(page, "sh")
    assert command.replace(" \\\n   ", "").startswith("pegasos-stats report ")
    assert f"'{page}'" in command


def test_its_lines_of_python_run(digits, capsys):
    page = digits / "report.html"
    options = ["--outcome", "digit", "--test", digits / "test.csv", "-o", page]
    run(capsys, "report", digits / "train.csv", *options, "--epochs", 2)
    (code,) = listings(page, "python")
    exec(code, {})
    printed = capsys.readouterr().out
    assert "Misclassified" in printed


def test_svmlight_files_have_reports(tmp_path, capsys):
    train, page = tmp_path / "train.txt", tmp_path / "report.html"
    train.write_text(SVMLIGHT)
    options = ["--test", train, "-o", page, "--solver", "sdca"]
    run(capsys, "report", train, *options)
    code = listings(page, "python")[0]
    variables = {}
    exec(code, variables)
    assert variables["result"].relative_gap < 1e-3


def test_a_weights_column_is_named(tmp_path, capsys):
    path, page = tmp_path / "train.csv", tmp_path / "report.html"
    rows = [f"{i % 2},{i % 7},{1 + i % 3}" for i in range(30)]
    path.write_text("y,x,w\n" + "\n".join(rows) + "\n")
    run(capsys, "report", path, "--outcome", "y", "--weights", "w", "-o", page)
    code = listings(page, "python")[0]
    assert 'ps.svm("y ~ . - w", train, lam=1.0, weights="w")' in code
    exec(code, {})


def test_markdown_by_the_name_of_the_file(digits, capsys):
    page = digits / "report.md"
    run(capsys, "report", digits / "train.csv", "--outcome", "digit", "-o", page)
    assert page.read_text(encoding="utf-8").startswith("<!-- written by pegasos_stats")


def test_a_file_that_is_no_report_is_left_alone(digits, capsys):
    train = digits / "train.csv"
    before = train.read_bytes()
    arguments = ["report", str(train), "--outcome", "digit", "-o", str(train)]
    assert main(arguments) == 2
    assert "is no report" in capsys.readouterr().err
    assert train.read_bytes() == before


def test_the_demo_ends_with_a_report(tmp_path, capsys):
    page = tmp_path / "demo.html"
    shown = run(capsys, "demo", "--report", page)
    assert shown.out.endswith(f"Report     {page}\n")
    assert "Coefficients at the places of their pixels" in page.read_text("utf-8")


@pytest.mark.r
def test_the_lines_of_r_of_the_demo_run_and_find_its_coefficients(tmp_path, capsys):
    page = tmp_path / "demo.html"
    run(capsys, "demo", "--report", page)
    (code,) = listings(page, "r")
    code += '\nwriteLines(c("HERE", sprintf("%a", c(alpha, beta))))\n'
    done = subprocess.run(
        ["Rscript", "--vanilla", "-"], input=code, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = [float.fromhex(x) for x in done.stdout.split("HERE\n")[1].split()]
    train, _ = ps.datasets.load_digits56()
    fit = ps.svm("digit ~ .", train, lam=1.0).fit(ps.Pegasos(epochs=20, seed=443))
    assert found == fit.params.tolist()


@pytest.mark.parametrize("shape", ["8", "8x", "8x8x8"])
def test_a_shape_is_rows_and_columns(shape, capsys):
    with pytest.raises(SystemExit):
        main(["report", "train.csv", "--image-shape", shape])
    assert "rows and columns" in capsys.readouterr().err


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


@pytest.mark.parametrize("kernel", [False, True])
def test_lines_about_an_svmlight_file_make_the_same_rows_of_it(
    kernel, tmp_path, capsys
):
    train, page, model = (tmp_path / name for name in ("a.txt", "a.html", "a.model"))
    train.write_text(SVMLIGHT)
    options = ["--kernel", "gaussian"] * kernel + ["--epochs", 2, "--seed", 1]
    run(capsys, "report", train, *options, "-o", page)
    run(capsys, "fit", train, *options, "--save", model)
    variables = {}
    exec(listings(page, "python")[0], variables)
    again, rows = variables["result"], ps.read_svmlight(train).X
    assert sp.issparse(again.problem.X) == (not kernel)  # which kernels do not take
    assert abs(again.problem.X - (rows.toarray() if kernel else rows)).max() == 0.0
    assert again.intercept == ps.load(model).intercept


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


def test_a_report_is_of_the_optimum_unless_a_run_is_described(tmp_path, capsys):
    assert "By SDCA" in studied(tmp_path, "--lambda", "0.1")[1]
    assert "By Pegasos" in studied(tmp_path, "--epochs", "2")[1]
    assert "By Pegasos" in studied(tmp_path, "--solver", "pegasos")[1]
    assert "By Pegasos" in studied(tmp_path, "--kernel", "linear")[1]
    assert "By Pegasos" in studied(tmp_path, "--profile", "r_script")[1]
    assert capsys.readouterr().err == ""


def test_lambda_is_chosen_and_errors_are_out_of_fold(tmp_path, capsys):
    code, page = studied(tmp_path, "--cv", "3", "--rule", "min", "--loss", "log")
    assert code == 0
    assert "was chosen among 30 values" in page
    assert "rule “min”: the best mean log" in page
    assert "Lambda was chosen anew in each fold" in page
    code, page = studied(tmp_path, "--cv", "3", "--lambda", "0.1")
    assert "was given" in page
    assert "misclassified by fits that had not seen them" in page
    small = str(tmp_path / "small.csv")
    code, page = studied(tmp_path, "--cv", "3", "--test", small)
    assert "was chosen among" in page
    assert "by fits that had not seen them" not in page
    assert "out-of-fold error" not in page
    capsys.readouterr()


def test_the_positive_class_is_the_one_that_is_named(tmp_path, capsys):
    assert "Sensitivity (6)" in studied(tmp_path, "--lambda", "0.1")[1]
    named = studied(tmp_path, "--lambda", "0.1", "--positive", "5")[1]
    assert "Sensitivity (5)" in named
    (tmp_path / "page.md").unlink()
    code, page = studied(tmp_path, "--positive", "7")
    assert (code, page) == (2, "")
    assert capsys.readouterr().err == (
        "pegasos-stats: --positive '7' is not among the levels; give one of 5, 6.\n"
    )
