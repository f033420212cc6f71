"""Coefficients below the accuracy of solvers are shown as 0, and stay what they are."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from tests.output.command_line import run

SOLVER = ps.SDCA(gap_tol=1e-7, seed=1)


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


@pytest.mark.parametrize("make", [ps.svm, ps.logit])
@pytest.mark.parametrize("cov_type", ["none", None])
def test_the_limit_is_1e_5_of_a_score_for_a_standard_deviation(make, cov_type):
    result = make("y ~ a + b", DATA, lam=0.01).fit(SOLVER, cov_type=cov_type)
    deviation = DATA["b"].std()
    below, above = (moved(result, f * 1e-5 / deviation) for f in (0.99, 1.01))
    for shown in (
        str(below.summary()),
        below._repr_html_(),
        below.summary().to_latex(),
    ):
        assert "e-08" not in shown.split("converged")[0]
    assert row_of(str(below.summary())).split()[1] == "0.0000"
    assert float(row_of(str(above.summary())).split()[1]) > 0.0
    assert below.params["b"] == 0.99e-5 / deviation
    assert below.tidy()["estimate"].iloc[2] == 0.0
    assert above.tidy()["estimate"].iloc[2] == above.params["b"]


@pytest.mark.parametrize("make", [ps.svm, ps.logit])
def test_a_zero_has_the_statistic_0_and_its_interval_everywhere(make, tmp_path, capsys):
    data = DATA.assign(tiny=1e-7 * np.random.default_rng(6).normal(size=len(DATA)))
    result = make("y ~ a + b + tiny", data).fit(ps.SDCA(seed=1))
    table = result.tidy().set_index("term")
    # Each row is there with b and with -b: no effect, but for the solver.
    assert table.loc["b", ["estimate", "statistic"]].tolist() == [0.0, 0.0]
    assert table.loc["b", "p_value"] == pytest.approx(1.0, abs=1e-6)
    assert table.loc["b", "conf_low"] < 0.0 < table.loc["b", "conf_high"]
    assert table.loc["a", "statistic"] == result.tvalues["a"]
    limits = table[["conf_low", "conf_high"]].to_numpy()
    assert (result.conf_int().to_numpy() == limits).all()
    test = result.t_test("b = 1").tidy()  # of another value it is none of 0
    assert test["statistic"].iloc[0] < -1.0
    data.to_csv(tmp_path / "rows.csv", index=False)
    options = "--formula", "y ~ a + b + tiny", "--loss", result.problem.loss
    for more in ((), ("--memory", "64MiB")):
        given = tmp_path / "rows.csv", *options, "--coefficients", *more
        assert row_of(run(capsys, "fit", *given).out).split()[1] == "0.0000"
        printed = json.loads(run(capsys, "fit", *given, "--json").out)
        found = next(row for row in printed["coefficients"] if row["term"] == "b")
        assert found["estimate"] == 0.0
        assert found["statistic"] in (0.0, None)  # the hinge has no errors from files
