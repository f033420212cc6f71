"""Coefficients with standard errors on the command line: those of the fit in Python."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.tables import params_text
from tests.models.test_groups import hospitals
from tests.output.command_line import run, strict

FITS = {
    "--lambda 0.01": lambda data: ps.svm("died ~ age + site", data, lam=0.01).fit(
        ps.SDCA(seed=1)
    ),
    "--loss log --groups hospital --lambda 0.01": lambda data: ps.logit(
        "died ~ age + site", data, lam=0.01
    ).fit(ps.SDCA(seed=1), groups="hospital"),
    "--cov-type none --lambda 1": lambda data: ps.svm(
        "died ~ age + site", data, lam=1.0
    ).fit(ps.SDCA(seed=1), cov_type="none"),
    "--standardize --lambda 1 --epochs 2": lambda data: ps.svm(
        "died ~ age + site", data, standardize=True, lam=1.0
    ).fit(ps.Pegasos(2, seed=1)),
}


@pytest.fixture
def table(tmp_path):
    path, data = tmp_path / "h.csv", hospitals()
    data["site"] = np.resize(["north", "south", "west"], len(data))
    data.to_csv(path, index=False)
    return path, data


@pytest.mark.parametrize("given", FITS)
def test_they_are_those_of_the_fit(given, table, capsys):
    path, data = table
    result = FITS[given](data)
    asked = "fit", path, "--formula", "died~age+site", *given.split(), "--seed", "1"
    printed = run(capsys, *asked, "--coefficients").out
    cells, *_ = result.coefficient_cells()
    assert "\n".join(params_text(cells)) in printed
    found = strict(run(capsys, *asked, "--coefficients", "--json").out)
    expected = result.coefficient_table()
    for name, values in expected.items():
        shown = [None if value != value else value for value in values]
        assert [row[name] for row in found["coefficients"]] == shown
    assert len(found["coefficient_notes"]) == len(result.notes_on_errors())
    for note in found["coefficient_notes"]:
        assert "fit(" not in note  # options, and not Python


def test_they_are_printed_for_who_asks(table, capsys):
    path, _ = table
    asked = "fit", path, "--formula", "died~age"
    assert "[0.025" not in run(capsys, *asked).out
    assert "coefficients" not in strict(run(capsys, *asked, "--json").out)
