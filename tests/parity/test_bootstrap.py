"""The bootstrap: golden numbers of R, and R in this process."""

import warnings

import numpy as np
import pytest

from pegasos_stats.errors import UndefinedMetricWarning
from pegasos_stats.models.inference.bootstrap import bootstrap, resampled_rows
from pegasos_stats.models.inference.options import INTERVALS, Bootstrap
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.optimum_run import run_to_optimum
from pegasos_stats.solvers.problem import Problem
from tests.parity.cases import from_hex, golden

# ---- Resamples and refits of the log loss as R wrote them: no R is needed.

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
    fit = run_to_optimum(problem, Optimum(tol=1e-9, seed=1))
    options = Bootstrap(20, seed=443, sample_kind=kind, tol=1e-14)
    found = bootstrap(problem, fit, options)
    theirs = np.array(golden("bootstrap.json")[kind]["refits"])
    np.testing.assert_allclose(found.estimates, theirs, rtol=0.0, atol=ATOL)


# ---- The bootstrap against R as it runs: rows by ==, refits of the log loss, ...

SIZES = [2, 3, 64, 65, 1000, 40_000, 65_536, 70_000]  # one and two words for a number


def seeded(r, seed, kind="Rejection"):
    r.eval(f"seed_generator({seed}, '{kind}')")


@pytest.mark.parametrize("kind", ["Rejection", "Rounding"])
@pytest.mark.parametrize("n", SIZES)
def test_rows_are_those_of_r_live(r, n, kind):
    seeded(r, n, kind)
    theirs = r.eval(f"bootstrap_rows({n}, 11)")
    ours = resampled_rows(n, 11, RRandom(n, sample_kind=kind.lower()))
    np.testing.assert_array_equal(np.concatenate(list(ours)) + 1, theirs)
    seeded(r, 1)


@pytest.mark.parametrize("weighted", [False, True])
def test_refits_and_intervals_are_those_of_r(r, weighted):
    rng = np.random.default_rng(7)
    n, lam = 14, 0.05
    X = rng.standard_normal((n, 2))
    y = np.where(np.arange(n) < 2, 1.0, -1.0)  # some resamples have one class alone
    w = rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    w /= w.mean()
    problem = Problem(X, y, lam, "log", weights=w if weighted else None)
    fit = run_to_optimum(problem, Optimum(tol=1e-9, seed=1))
    seeded(r, 443)
    theirs = r.call("bootstrap_logit", X, y, lam, 40, w)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = bootstrap(problem, fit, Bootstrap(40, seed=443, tol=1e-14))
    kept = ~np.isnan(theirs).any(axis=1)
    assert found.n_left_out == (~kept).sum() > 0
    np.testing.assert_allclose(found.estimates, theirs[kept], rtol=0.0, atol=ATOL)
    for interval in INTERVALS:
        limits = r.call(
            "bootstrap_interval", found.estimates, found.estimate, interval, 0.9
        )
        # The same formulas on the same numbers: rounding alone.
        np.testing.assert_allclose(found.conf_int(0.9, interval), limits, rtol=1e-12)
