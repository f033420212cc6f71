"""Groups of rows on the command line, and in the report that repeats a fit."""

import pytest

from pegasos_stats.output.cli import main
from tests.models.test_groups import hospitals
from tests.output.command_line import run


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "h.csv"
    hospitals().to_csv(path, index=False)
    return path


def test_the_report_repeats_groups(table, capsys):
    out = table.parent / "page.md"
    given = "--outcome died --groups hospital --weights weight --loss log --solver sdca"
    run(capsys, "report", table, *given.split(), "-o", out)
    text = out.read_text()
    assert "24 groups of hospital" in text
    assert "--groups hospital" in text
    assert "`died ~ . - weight - hospital`" in text  # the groups are no predictor


@pytest.mark.parametrize("given", ["--groups hospital", "--cov-type HC0"])
def test_kernels_have_no_standard_errors(table, capsys, given):
    words = f"--outcome died --kernel gaussian --gamma 1 {given}".split()
    assert main(["fit", str(table), *words]) == 2
    option = given.split()[0][2:].replace("-", "_")
    assert option in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["--loss log", "--kernel gaussian --gamma 0.01"])
def test_folds_of_a_report_keep_groups_whole(table, capsys, kind):
    out = table.parent / "page.md"
    given = f"--formula died~age --groups hospital --cv 4 --lambda 0.1 {kind}"
    run(capsys, "report", table, *given.split(), "-o", out)
    rows = len(hospitals())
    assert f"4 stratified folds of {rows} rows in 24 groups" in out.read_text()
