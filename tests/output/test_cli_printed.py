"""What the command line prints, as a whole: of a fit before its tables, and after."""

import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.models.notes import above
from pegasos_stats.output.cli import main
from pegasos_stats.output.cli.options import COMMANDS, parser

DATA = pd.DataFrame(
    {
        "y": ["no", "yes"] * 10,
        "g": list("uvwu") * 5,
        "x": [i % 7 - 3.0 for i in range(20)],
        "w": [1.0, 2.0] * 10,
    }
)
DATA.loc[3, "x"] = None
PEGASOS = ps.Pegasos(epochs=3, seed=2)

# Options of the command, the same fit in Python, and the lines that it prints; numbers
# that a fit finds are asked of that in Python.
FITS = {
    "--formula y~g+x --loss log --lambda 0.5 --standardize --weights w --solver sdca": (
        lambda: ps.logit("y ~ g + x", DATA, lam=0.5, standardize=True, weights="w").fit(
            ps.SDCA(seed=1)
        ),
        "3 coefficients and an intercept",
        [
            "Factors    g (3 levels)",
            "Model      log loss, lambda = 0.5, weighted rows, standardized features",
            "Solver     SDCA, shuffle, seed 1, to a relative gap of 1e-06: {1} steps",
        ],
    ),
    "--formula y~x --kernel gaussian --gamma 0.5 --lambda 1 --epochs 3": (
        lambda: ps.kernel_svm("y ~ x", DATA, kernel="gaussian", gamma=0.5, lam=1.0).fit(
            PEGASOS
        ),
        "19 support rows and an intercept",
        [
            "Model      hinge loss, lambda = 1",
            "Kernel     gaussian, gamma 0.5",
            "Solver     Pegasos, shuffle, 3 epochs, seed 2: {0} in {1} steps",
        ],
    ),
    "--formula y~x --lambda 1 --epochs 3 --refine 1e-6 --no-intercept": (
        lambda: ps.svm("y ~ x", DATA, intercept=False, lam=1.0).fit(
            PEGASOS, refine=1e-6
        ),
        "1 coefficient and no intercept",
        [
            "Model      hinge loss, lambda = 1",
            "Solver     Pegasos, shuffle, 3 epochs, seed 2, then SDCA to a relative "
            "gap of 1e-06: {1} steps",
        ],
    ),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    DATA.to_csv("small.csv", index=False)


@pytest.mark.parametrize("words", FITS)
@pytest.mark.usefixtures("folder")
def test_a_fit_is_told_in_these_lines(words, capsys):
    fitted, size, lines = FITS[words]
    result = fitted()
    seed = str(result.seed)
    assert main(["fit", "small.csv", *words.split(), "--seed", seed]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    head, table = out.split("\n\nTraining data\n")
    violations = f"{result.n_violations} margin violations"
    known = result.shortfall
    expected = [
        "pegasos-stats: small.csv",
        "Outcome    y: no is -1, yes is +1",
        "Labels     training no: 10, yes: 9",
        f"Rows       19 used, 1 dropped for missing values; {size}",
        "Missing    1 in 'x'",
        *(line.format(violations, result.n_iter) for line in lines),
        f"Objective  {result.objective:.6g}, {above(result.objective, known)}",
    ]
    told = ("Warning ", "Note ")  # tested with what brings them
    found = [line for line in head.split("\n") if not line.startswith(told)]
    assert found == expected
    assert table == f"{result.confusion()}\n"


def test_every_option_of_every_command_is_explained():
    assert {*COMMANDS} == {"compile", "demo", "fit", "parity", "predict", "report"}
    for name in COMMANDS:
        for action in parser(name)._actions:
            assert action.help, (name, action.dest)
