"""What is 0 but for the solver is shown as 0, and a constant column not at all."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from tests.output.command_line import run

SOLVER = ps.Optimum(gap_tol=1e-7, seed=1)
MODELS = pytest.mark.parametrize("make", [ps.svm, ps.logit])


def rows():
    """Each row twice, with b and -b: the coefficient of b is 0 at the optimum."""
    rng = np.random.default_rng(5)
    a = rng.normal(size=60)
    y = np.where(a + rng.normal(size=60) > 0.0, "yes", "no")
    half = pd.DataFrame({"y": y, "a": a, "b": 1000.0 * rng.normal(size=60)})
    return pd.concat([half, half.assign(b=-half["b"])], ignore_index=True)


DATA = rows()


def moved(result, by):
    """The fit with this coefficient of b."""
    beta = result.solution.beta.copy()
    beta[1] = by
    return replace(result, solution=replace(result.solution, beta=beta))


def row_of(text, term="b"):
    return next(line for line in text.splitlines() if line.split()[:1] == [term])


@MODELS
@pytest.mark.parametrize("cov_type", ["none", None])
def test_the_limit_is_1e_5_of_a_score_for_a_standard_deviation(make, cov_type):
    result = make("y ~ a + b", DATA, lam=0.01).fit(SOLVER, cov_type=cov_type)
    deviation = DATA["b"].std()
    below, above = (moved(result, f * 1e-5 / deviation) for f in (0.99, 1.01))
    summary = below.summary()
    for shown in (str(summary), below._repr_html_(), summary.to_latex()):
        assert "e-08" not in shown.split("converged")[0]
    assert row_of(str(summary)).split()[1] == "0.0000"
    assert float(row_of(str(above.summary())).split()[1]) > 0.0
    assert below.params["b"] == 0.99e-5 / deviation
    assert below.tidy()["estimate"].iloc[2] == 0.0
    assert above.tidy()["estimate"].iloc[2] == above.params["b"]


@MODELS
def test_a_zero_has_the_statistic_0_and_its_interval_everywhere(make, tmp_path, capsys):
    data = DATA.assign(tiny=1e-7 * np.random.default_rng(6).normal(size=len(DATA)))
    result = make("y ~ a + b + tiny", data, lam=0.01).fit(ps.Optimum(seed=1))
    table = result.tidy().set_index("term")
    # Each row is there with b and with -b: no effect, but for the solver.
    assert table.loc["b", ["estimate", "statistic"]].tolist() == [0.0, 0.0]
    assert table.loc["b", "p_value"] == pytest.approx(1.0, abs=1e-6)
    assert table.loc["b", "conf_low"] < 0.0 < table.loc["b", "conf_high"]
    assert table.loc["a", "statistic"] == result.tvalues["a"]
    limits = table[["conf_low", "conf_high"]]
    assert (result.conf_int().to_numpy() == limits).all(axis=None)
    test = result.t_test("b = 1").tidy()  # of another value it is none of 0
    assert test["statistic"].iloc[0] < -1.0
    data.to_csv(tmp_path / "rows.csv", index=False)
    options = "--formula", "y ~ a + b + tiny", "--loss", result.problem.loss
    options = *options, "--lambda", "0.01"
    for more in ((), ("--memory", "64MiB")):
        given = tmp_path / "rows.csv", *options, "--coefficients", *more
        assert row_of(run(capsys, "fit", *given).out).split()[1] == "0.0000"
        printed = json.loads(run(capsys, "fit", *given, "--json").out)
        found = next(row for row in printed["coefficients"] if row["term"] == "b")
        assert found["estimate"] == 0.0
        assert found["statistic"] in (0.0, None)  # the hinge has no errors from files


# A constant column beside the intercept is left out of tables, with a note.
CONSTANT = DATA[["y", "a"]].assign(const=1.0)


def shown(result):
    assert any("Constant" in n.text and "'const'" in n.text for n in result.notes)
    return list(result.summary().params.index)


@MODELS
def test_summaries_of_all_doors_leave_a_constant_out(make, tmp_path, capsys):
    CONSTANT.to_csv(tmp_path / "rows.csv", index=False)
    formula, arrays = "y ~ a + const", ps.SVM if make is ps.svm else ps.Logit
    models = [
        make(formula, CONSTANT, lam=0.01),
        make(formula, CONSTANT, lam=0.01, standardize=True),
        arrays(CONSTANT["y"], CONSTANT[["a", "const"]], lam=0.01),
        make(formula, ps.scan(tmp_path / "rows.csv"), lam=0.01),
    ]
    for model in models:
        assert shown(model.fit(SOLVER)) == ["Intercept", "a"]
    assert list(models[0].fit().params.index) == ["Intercept", "a", "const"]
    options = "--formula", formula, "--coefficients"
    lines = run(capsys, "fit", tmp_path / "rows.csv", *options).out.splitlines()
    assert not [line for line in lines if line.startswith("const ")]


def test_a_constant_stays_in_the_place_of_the_intercept_or_if_it_has_a_coefficient():
    result = ps.logit("y ~ 0 + a + const", CONSTANT).fit()
    assert list(result.summary().params.index) == ["a", "const"]
    run = ps.svm("y ~ a + const", CONSTANT, lam=0.1).fit(ps.Pegasos(3, seed=1))
    assert run.params["const"] != 0.0
    assert shown(run) == ["Intercept", "a", "const"]
