"""What the command line prints, as a whole: of a fit before its tables, and after."""

from dataclasses import fields, is_dataclass

import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.models.summaries import summary_of
from pegasos_stats.output.cli import main
from pegasos_stats.output.cli.options import COMMANDS

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

# Options of the command, and the same fit in Python.
FITS = {
    "--formula y~g+x --loss log --lambda 0.5 --standardize --weights w --solver sdca": (
        lambda: ps.logit("y ~ g + x", DATA, lam=0.5, standardize=True, weights="w").fit(
            ps.SDCA(seed=1)
        )
    ),
    "--formula y~x --kernel gaussian --gamma 0.5 --lambda 1 --epochs 3": (
        lambda: ps.kernel_svm("y ~ x", DATA, kernel="gaussian", gamma=0.5, lam=1.0).fit(
            PEGASOS
        )
    ),
    "--formula y~x --lambda 1 --epochs 3 --refine 1e-6 --no-intercept": (
        lambda: ps.svm("y ~ x", DATA, intercept=False, lam=1.0).fit(
            PEGASOS, refine=1e-6
        )
    ),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    DATA.to_csv("small.csv", index=False)


@pytest.mark.parametrize("words", FITS)
@pytest.mark.usefixtures("folder")
def test_a_fit_is_told_by_its_summary_with_details(words, capsys):
    result = FITS[words]()
    given = ["fit", "small.csv", *words.split(), "--seed", str(result.seed)]
    assert main(given) == 0
    out, err = capsys.readouterr()
    assert err == ""
    head, table = out.split("\n\nTraining data\n")
    details = str(summary_of(result, pd.DataFrame(), details=True)).split("\n")
    assert head.split("\n")[1 : len(details) // 2] == details[: len(details) // 2 - 1]
    assert "1 in 'x'" in head
    assert table == f"{result.confusion()}\n"


def test_every_option_of_every_command_is_explained():
    assert {*COMMANDS} == {"compile", "demo", "fit", "parity", "predict", "report"}
    for kind in COMMANDS.values():
        for each in fields(kind):
            group = type(each.default) if is_dataclass(each.default) else None
            for name in [each.name] if group is None else group.__annotations__:
                texts = [
                    one.__doc__ for one in ([group] if group else kind.__mro__[:-1])
                ]
                assert any(f"    {name}\n        " in text for text in texts), name
