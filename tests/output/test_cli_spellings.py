"""Errors, warnings and notes of the command line name its options, not Python's."""

import numpy as np
import pandas as pd
import pytest

from pegasos_stats.output.cli import main
from pegasos_stats.output.cli.options import as_options


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A CSV file with columns of many kinds, and two svmlight files."""
    folder = tmp_path_factory.mktemp("spelled")
    rng = np.random.default_rng(1)
    x = rng.standard_normal((60, 3))
    y = np.where(x[:, 0] + 0.3 * rng.standard_normal(60) > 0.5, "yes", "no")
    plain = pd.DataFrame(x, columns=["a", "b", "c"]).assign(
        y=y, half=0.5, one=1, place=np.arange(60) // 6, same="s", many=1e15
    )
    found = {"plain": plain}
    paths = {name: str(folder / f"{name}.csv") for name in found}
    for name, frame in found.items():
        frame.to_csv(paths[name], index=False)
    for name, first in (("one", "1:1 2:2"), ("zero", "0:1 1:2")):
        paths[name] = str(folder / name)
        lines = [f"+1 {first}", "-1 1:3", "+1 1:2 2:1", "-1 2:2"] * 3
        with open(paths[name], "w") as file:
            file.write("\n".join(lines))
    return paths


ERRORS = {
    "Pegasos without a penalty": "--solver pegasos",
    "groups that are not there": "--groups town",
    "cluster alone": "--cov-type cluster",
    "groups with a sandwich": "--groups place --cov-type sandwich",
    "HC3 of the hinge": "--cov-type HC3",
    "nonrobust with weights": "--loss log --weights balanced --cov-type nonrobust",
    "counts that are parts": "--freq-weights half",
    "a kernel to its end": "--kernel gaussian --solver pegasos --tol 0.1",
    "averages of a run that ends": "--tol 0.1 --solver pegasos --average 5",
    "a step of text": "--solver pegasos --step 0",
    "a formula that loops": "--formula y~[i]",
    "a formula of others": "--formula y~open(a)",
    "an offset that is not there": "--offset zz",
    "counts of text": "--freq-weights same",
    "weights below zero": "--weights c",
    "more rows than memory": "--freq-weights many",
    "hardly any penalty": "--lambda 1e-320 --epochs 20",
    "HC3 of groups": "--cov-type HC3 --groups place",
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case, files, capsys):
    words = ERRORS[case].split()
    outcome = [] if "--formula" in words else ["--outcome", "y"]
    assert main(["fit", files["plain"], *outcome, *words]) == 2
    assert_spelled(capsys.readouterr().err)


def test_errors_of_other_commands(files, capsys, tmp_path):
    page = str(tmp_path / "page.html")
    given = ["report", files["plain"], "--outcome", "y", "-o", page]
    for more in (["--cv", "100"], ["--cv", "1"], ["--positive", "may be"]):
        assert main([*given, *more]) == 2
        assert_spelled(capsys.readouterr().err)
    assert main(["fit", files["one"], "--test", files["zero"]]) == 2
    assert_spelled(capsys.readouterr().err)
    shape = ["--formula", "y~a+b", "--image-shape", "3x3", "-o", page]
    assert main(["report", files["plain"], *shape]) == 2
    assert_spelled(capsys.readouterr().err)
    assert main(["predict", files["plain"], files["plain"]]) == 2
    assert_spelled(capsys.readouterr().err)


def assert_spelled(text):
    """One line, in which no option of this program is written as Python's argument."""
    assert text.startswith("pegasos-stats: ")
    assert text.count("\n") == 1
    assert as_options(text) == text
