"""``pegasos-stats parity`` and the plugin of pytest: what they say, without R."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pegasos_stats.output.cli import commands, main
from pegasos_stats.studies.parity import ParityCheck

ROOT = Path(__file__).parents[2]


def made(same):
    table = pd.DataFrame({"python": ["3"], "r": ["4"], "same": [same]}, ["violations"])
    parting = "" if same == "every bit" else "Step 1 visits row 2 here and 3 in R."
    coefficients = pd.DataFrame({"python": [1.0], "r": [1.0]}, ["x"])
    facts = {"R": "4.2.2, by Rscript"}
    return ParityCheck(
        table, coefficients, "Pegasos in Python and in R", parting, "", facts
    )


@pytest.fixture
def file(tmp_path):
    draw = np.random.default_rng(1)
    labels = draw.choice(["no", "yes"], 20)
    data = pd.DataFrame({"y": labels, "x": draw.normal(size=20)})
    data.to_csv(tmp_path / "train.csv", index=False)
    return str(tmp_path / "train.csv")


@pytest.mark.parametrize(("same", "code"), [("every bit", 0), ("differs", 1)])
def test_the_exit_code_says_whether_all_is_the_same(
    file, monkeypatch, capsys, same, code
):
    asked = []

    def check(model, solver, *, via):
        asked.append((model, solver, via))
        return made(same)

    monkeypatch.setattr(commands, "check_against_r", check)
    words = [
        "parity",
        file,
        *["--outcome", "y", "--epochs", "3", "--lambda", "0.5", "--seed", "1"],
    ]
    assert main([*words, "--via", "Rscript"]) == code
    out = capsys.readouterr().out
    assert out.startswith(f"pegasos-stats: {file}\n\nPegasos in Python and in R\n")
    model, solver, via = asked[0]
    given = model.problem.lam, solver.epochs, solver.seed, via
    assert given == (0.5, 3, 1, "Rscript")
    assert main([*words, "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert (found["equal"], found["table"][0]["same"]) == (code == 0, same)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("--refine 1e-3", "--refine"),
        ("--arithmetic fast", "--arithmetic"),
        ("--solver sdca", "--algorithm"),
    ],
)
def test_what_cannot_be_found_out_ends_with_2(file, capsys, given, named):
    assert main(["parity", file, "--outcome", "y", *given.split()]) == 2
    assert named in capsys.readouterr().err


def test_the_plugin_of_pytest(tmp_path):
    """What differs is shown; the package is loaded when a test asks for the fixture."""
    (tmp_path / "test_mine.py").write_text(
        "import sys\n"
        "def test_light():\n"
        "    assert 'pegasos_stats' not in sys.modules\n"
        "def test_same(assert_parity, monkeypatch):\n"
        "    import pegasos_stats as ps\n"
        "    class Check:\n"
        "        equal = True\n"
        "        def __str__(self): return 'Python and R differ in: steps.'\n"
        "    check = Check()\n"
        "    def given(model, solver, *, via): return check\n"
        "    monkeypatch.setattr(ps, 'check_against_r', given, raising=False)\n"
        "    assert assert_parity(1, 2, via='Rscript') is check\n"
        "    check.equal = False\n"
        "    assert_parity(1)\n",
        encoding="utf-8",
    )
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "pegasos_stats_pytest",
         "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert "1 failed, 1 passed" in run.stdout, run.stdout + run.stderr
    assert "Python and R differ in: steps." in run.stdout
