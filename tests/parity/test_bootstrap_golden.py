"""Resamples and refits of the log loss as R wrote them: no R is needed."""

import numpy as np
import pytest

from pegasos_stats.models.inference.bootstrap import bootstrap, resampled_rows
from pegasos_stats.models.inference.options import Bootstrap
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.solver_runs import run_sdca
from tests.parity.cases import from_hex, golden

# Both sides stop when next to nothing can be gained: R at steps of 1e-12, Python at a
# relative gap of 1e-14, which by sqrt(2 gap / lam) is 3e-7; it is met with room.
ATOL = 3e-7

KINDS = pytest.mark.parametrize("kind", ["rejection", "rounding"])


@KINDS
def test_rows_are_those_of_r(kind):
    rng = RRandom(443, sample_kind=kind)
    found = golden("bootstrap.json")[kind]
    rows = np.concatenate(list(resampled_rows(17, 4, rng))) + 1
    assert rows.tolist() == found["rows"]
    many = np.concatenate(list(resampled_rows(1000, 3, rng))) + 1
    assert (many @ np.arange(1, 1001)).tolist() == found["many_rows_sum"]


@KINDS
def test_refits_are_those_of_r(kind):
    data = golden("data.json")["mtcars scaled"]
    X = np.column_stack([from_hex(data[name]) for name in ("wt", "hp", "qsec")])
    problem = Problem(X, np.where(np.array(data["labels"]) == 1, 1.0, -1.0), 0.1, "log")
    fit = run_sdca(problem, SDCA(tol=1e-9, seed=1))
    options = Bootstrap(20, seed=443, sample_kind=kind, tol=1e-14)
    found = bootstrap(problem, fit, options)
    theirs = np.array(golden("bootstrap.json")[kind]["refits"])
    np.testing.assert_allclose(found.estimates, theirs, rtol=0.0, atol=ATOL)
