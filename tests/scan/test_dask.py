"""Fits from a frame of Dask: what fits of the same rows in memory are, anywhere."""

import dask
import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.dask import rows
from pegasos_stats.data.scan import rows as blocks
from pegasos_stats.errors import PegasosStatsError
from tests.scan.scan_files import LAM, SOLVER

pytestmark = pytest.mark.slow

BALANCED = {"weights": "balanced", "standardize": True}
CASES = [
    (ps.svm, "y ~ . - w", BALANCED),
    (ps.svm, "y == 'yes' ~ x0 + ifelse(x2 > 0, 'up', 'down')", {"weights": "balanced"}),
    (ps.logit, "y ~ log(abs(x0)) + C(k) * x1 + g - 1", {"weights": "w"}),
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case[1])
def both(request, there):
    model, formula, options = request.param
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(blocks, "STREAM_BLOCK", 2000)  # several blocks in a partition
        far = model(formula, there, lam=LAM, **options).fit(SOLVER, cov_type="sandwich")
        far.bse  # noqa: B018, computed while the scheduler is this one
        near = model(formula, there.compute(), lam=LAM, **options)
    return far, near.fit(SOLVER, cov_type="sandwich")


def assert_as_near_as_certified(far, near):
    """Fits of the same rows are as near each other as their gaps say."""
    # By strong convexity each is so far from the optimum, of penalised coefficients.
    apart = sum(np.sqrt(2.0 * each.gap / LAM) for each in (far, near))
    assert np.linalg.norm(far.coef - near.coef) <= apart
    # Both objectives lie between the minimum and their gap above it.
    assert abs(far.objective - near.objective) <= max(far.gap, near.gap)


def test_coefficients_and_their_errors_are_those_of_rows_in_memory(both):
    far, near = both
    assert list(far.params.index) == list(near.params.index)
    assert_as_near_as_certified(far, near)
    assert far.converged
    assert far.relative_gap <= SOLVER.tol
    assert 4 <= far.n_reads <= 10
    # Both optima are known to a relative gap of 1e-8, coefficients to about 1e-4.
    assert far.bse.to_numpy() == pytest.approx(near.bse.to_numpy(), rel=5e-3)


def test_predictions_are_made_partition_by_partition(fitted, there, tmp_path):
    here = there.compute()
    ps.save(fitted, tmp_path / "fit")
    for fit in (fitted, ps.load(tmp_path / "fit")):
        for method in ("decision_function", "predict", "predict_proba"):
            told = method == "predict"
            options = {"threshold": 0.7, "ties": "positive"} if told else {}
            found = getattr(fit, method)(there, **options)
            assert type(found).__module__.startswith("dask")
            with dask.config.set(scheduler="synchronous"):
                rows_of_it = found.compute()
            expected = getattr(fit, method)(here, **options)
            assert rows_of_it.equals(expected.astype(rows_of_it.dtypes))
            assert rows_of_it.isna().to_numpy().any()


@pytest.mark.parametrize(
    ("formula", "options"),
    [("y ~ x0", {"offset": "x1"}), ("y ~ x0 + offset(x1 / 2)", {"weights": "w"})],
)
def test_an_offset_is_read_in_each_partition(formula, options, data, there, tmp_path):
    near = ps.logit(formula, data, lam=LAM, **options).fit(SOLVER, cov_type="none")
    if "weights" in options:  # one of the two as it is loaded
        ps.save(near, tmp_path / "a.model")
        near = ps.load(tmp_path / "a.model")
    rows = there.compute()
    for method in ("decision_function", "predict", "predict_proba", "augment"):
        ask = getattr(near, method)
        assert ask(there).compute().equals(ask(rows)), method
    assert near.confusion(there).table.equals(near.confusion(rows).table)


def test_confusion_counts_all_partitions(fitted, there):
    here = there.compute()
    with dask.config.set(scheduler="synchronous"):
        far, new = fitted.confusion(there), there[there["x1"] > 0.0]
        of_new, of_fit = fitted.confusion(new), fitted.confusion()
    assert far.source == of_fit.source == "training"
    assert (far.table.iloc[:, :2].to_numpy() == of_fit.table.to_numpy()).all()
    near = fitted.confusion(here[here["x1"] > 0.0])
    assert of_new.table.equals(near.table)
    assert of_new.overall.equals(near.overall)


ARRAY = dask.array.ones((4, 2))
SEQUENCE = ps.Pegasos(order="sequential")
REFUSED = {
    "Column 'z' not found": lambda there: ps.svm("y ~ z", there),
    "weights='v'": lambda there: ps.svm("y ~ x0", there, weights="v"),
    "depends on all rows": lambda there: ps.svm("y ~ scale(x0)", there),
    "the array has 2 columns: name each": lambda there: rows(ARRAY, columns=["a"]),
    "2,400 in 'x0'": lambda there: ps.svm("y ~ x0", there.assign(x0=np.nan)),
    "data.compute": lambda there: ps.kernel_svm("y ~ x0", there),
    r"dask\.rows": lambda there: ps.svm("y ~ .", ARRAY),
    "Pegasos": lambda there: ps.svm("y ~ x0", there, lam=1.0).fit(SEQUENCE),
}


@pytest.mark.parametrize("named", REFUSED)
def test_what_does_not_go_is_named(named, there):
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(PegasosStatsError, match=named),
    ):
        REFUSED[named](there)


def test_rows_that_find_no_room_at_home_are_worked_on_where_they_are(there):
    """Of some 800 rows near the margin no more than 60 may come."""
    fits = []
    ways = ("synchronous", 2400), ("synchronous", 60), ("threads", 60)
    for scheduler, most in ways:
        with dask.config.set(scheduler=scheduler):
            svm = ps.svm("y ~ . - w", there, lam=LAM, **BALANCED)
            svm.problem.X.max_retained_rows = most
            fits.append(svm.fit(SOLVER))
    at_home, small, threads = (fit.certificate for fit in fits)
    assert small.relative_gap <= SOLVER.tol
    assert small.dual_objective <= at_home.objective
    assert at_home.dual_objective <= small.objective
    # The risk is strongly convex: ||beta - beta*||^2 <= 2 gap / lam, for both.
    apart = np.linalg.norm(fits[1].solution.beta - fits[0].solution.beta)
    assert apart <= 2.0 * np.sqrt(2.0 * SOLVER.tol / LAM)
    assert small == threads
    for name in ("beta", "alpha", "dual"):
        one, other = (getattr(fit.solution, name) for fit in fits[1:])
        assert np.array_equal(one, other)


def test_each_partition_is_augmented_where_it_is(fitted, there):
    here = there.compute()
    for data in (there, there.drop(columns="y")):
        lazy = fitted.augment(data, ties="negative")
        with dask.config.set(scheduler="synchronous"):
            far = lazy.compute()
        near = fitted.augment(here[list(data.columns)], ties="negative")
        assert list(lazy.columns) == list(near.columns)
        pd.testing.assert_frame_equal(far, near, check_exact=True)
        assert (far.dtypes == lazy.dtypes).all()
