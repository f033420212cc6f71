"""A constant column beside the intercept is left out of tables, with a note."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from tests.output.command_line import run


def rows():
    rng = np.random.default_rng(6)
    x = rng.normal(size=60)
    y = np.where(x + rng.normal(size=60) > 0.0, "yes", "no")
    return pd.DataFrame({"y": y, "x": x, "const": 1.0})


DATA = rows()


def shown(result):
    assert any("Constant" in n.text and "'const'" in n.text for n in result.notes)
    return list(result.summary().params.index)


@pytest.mark.parametrize("make", [ps.svm, ps.logit])
def test_summaries_of_all_doors_leave_it_out(make, tmp_path, capsys):
    formula, given = "y ~ x + const", {"lam": 0.1}
    arrays = ps.SVM if make is ps.svm else ps.Logit
    DATA.to_csv(tmp_path / "rows.csv", index=False)
    results = [
        make(formula, DATA, **given),
        make(formula, DATA, standardize=True, **given),
        arrays(DATA["y"], DATA[["x", "const"]], **given),
        make(formula, ps.scan(tmp_path / "rows.csv"), **given),
    ]
    assert [shown(model.fit(ps.SDCA(seed=1))) for model in results] == [
        ["Intercept", "x"]
    ] * 4
    assert list(results[0].fit().params.index) == ["Intercept", "x", "const"]
    options = "--formula", formula, "--lam", "0.1", "--coefficients"
    lines = run(capsys, "fit", tmp_path / "rows.csv", *options).out.splitlines()
    assert not [line for line in lines if line.startswith("const ")]


def test_in_the_place_of_the_intercept_it_stays():
    result = ps.logit("y ~ 0 + x + const", DATA, lam=0.1).fit()
    assert list(result.summary().params.index) == ["x", "const"]


def test_a_run_that_gives_it_a_coefficient_shows_it():
    result = ps.svm("y ~ x + const", DATA, lam=0.1).fit(ps.Pegasos(3, seed=1))
    assert result.params["const"] != 0.0
    assert shown(result) == ["Intercept", "x", "const"]
