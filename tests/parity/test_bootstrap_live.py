"""The bootstrap against R as it runs: rows by ==, refits of the log loss, intervals."""

import warnings

import numpy as np
import pytest

from pegasos_stats.errors import UndefinedMetricWarning
from pegasos_stats.models.inference.bootstrap import bootstrap, resampled_rows
from pegasos_stats.models.inference.options import INTERVALS, Bootstrap
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.solver_runs import run_sdca
from tests.parity.test_bootstrap_golden import ATOL

SIZES = [2, 3, 64, 65, 1000, 40_000, 65_536, 70_000]  # one and two words for a number


def seeded(r, seed, kind="Rejection"):
    r.eval(f"seed_generator({seed}, '{kind}')")


@pytest.mark.parametrize("kind", ["Rejection", "Rounding"])
@pytest.mark.parametrize("n", SIZES)
def test_rows_are_those_of_r(r, n, kind):
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
    fit = run_sdca(problem, SDCA(tol=1e-9, seed=1))
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
        if interval == "envelope":  # and what the refits may be off by
            limits += np.outer(found.solver_noise, [-1.0, 1.0])
        # The same formulas on the same numbers: rounding alone.
        np.testing.assert_allclose(found.conf_int(0.9, interval), limits, rtol=1e-12)
