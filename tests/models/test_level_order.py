"""Where case or accents decide which level is first, a note says so at every door."""

import re

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import FormulaError
from tests.output.command_line import run


def rows(seed=4):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=80)
    dx = np.where(x + rng.normal(size=80) > 0.0, "Malignant", "benign")
    ward = rng.choice(["Zürich", "aarau", "Bern"], size=80)
    return pd.DataFrame({"dx": dx, "x": x, "ward": ward})


DATA = rows()
PLAIN = DATA.assign(dx=DATA["dx"].str.lower(), ward=DATA["ward"].str.lower())


def notes_on_order(result):
    return [note.text for note in result.notes if note.topic == "level order"]


@pytest.mark.parametrize("make", [ps.svm, ps.logit, ps.kernel_svm])
def test_the_outcome_and_the_baseline_are_named(make):
    found = notes_on_order(make("dx ~ x + ward", DATA, lam=0.1).fit(ps.SDCA(seed=1)))
    assert len(found) == 2
    assert "coding=('benign', 'Malignant')" in found[0]
    assert "relevel(ward, ref='aarau')" in found[1]
    assert not notes_on_order(make("dx ~ x + ward", PLAIN, lam=0.1).fit())


def test_arrays_files_dask_and_the_command_line_have_the_note(tmp_path, capsys):
    of_arrays = ps.SVM(DATA["dx"], DATA[["x"]], lam=0.1).fit()
    assert len(notes_on_order(of_arrays)) == 1
    DATA.to_csv(tmp_path / "rows.csv", index=False)
    formula = "dx ~ x + ward"
    scanned = ps.svm(formula, ps.scan(tmp_path / "rows.csv"), lam=0.1).fit()
    assert len(notes_on_order(scanned)) == 2
    shown = run(capsys, "fit", tmp_path / "rows.csv", "--formula", formula).out
    assert "coding=('benign', 'Malignant')" in " ".join(shown.split())
    frame = pytest.importorskip("dask.dataframe").from_pandas(DATA, npartitions=3)
    assert len(notes_on_order(ps.svm(formula, frame, lam=0.1).fit())) == 2


@pytest.mark.parametrize("memory", [(), ("--memory", "64MiB")])
def test_relevel_of_the_outcome_names_its_first_level(tmp_path, capsys, memory):
    DATA.to_csv(tmp_path / "rows.csv", index=False)
    formula = "relevel(dx, ref='benign') ~ x"
    given = ps.svm("dx ~ x", DATA, lam=0.1, coding=("benign", "Malignant")).fit()
    result = ps.svm(formula, DATA, lam=0.1).fit()
    assert result.coding.levels == ("benign", "Malignant")
    np.testing.assert_array_equal(result.params, given.params)
    assert result.confusion(DATA).n_errors == given.confusion(DATA).n_errors
    options = "--formula", formula, "--lam", "0.1", *memory
    shown = run(capsys, "fit", tmp_path / "rows.csv", *options).out
    assert re.search(r"benign \(-1\).*Malignant \(\+1\)", shown)
    numbers = DATA.assign(z=(DATA["dx"] == "Malignant").astype(int))
    for ref in ("1", "'1'"):
        model = ps.svm(f"relevel(factor(z), ref={ref}) ~ x", numbers, lam=0.1)
        assert model.coding.levels == (1, 0)
    for wrong in ("relevel(dx, ref='none') ~ x", "C(dx, levels=['a', 'b']) ~ x"):
        with pytest.raises(FormulaError, match="Malignant"):
            ps.svm(wrong, DATA, lam=0.1)
