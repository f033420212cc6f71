"""What is computed is what was written down, and what was saved is read."""

import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from tests.frozen import draws, errors, fits, kept, scores, tables
from tests.frozen.rows import read

# ---- Folds, and runs that follow what is drawn, are what they were.
#
# R's own draws are in ``tests/rng``, its folds and the rows of its resamples in
# ``tests/parity``. Runs of kernel Pegasos, which are there compared with R as it runs,
# are frozen here, so that they are without R too.

FROZEN = {name: read(name) for name in ("folds", "validations", "runs")}
EXP_RTOL = 1e-12  # exp() rounds differently from one library to the next
RUNS_ATOL = 1e-12  # held-out scores are summed in another order
# Coefficients are within sqrt(2 gap / lam) = 5e-4 of the optimum, at most.
OPTIMA_ATOL = 1e-3


def test_folds_are_the_frozen_ones():
    assert draws.folds() == FROZEN["folds"]


def test_validations_are_the_frozen_ones():
    found = draws.validations()
    assert found.keys() == FROZEN["validations"].keys()
    for name, columns in FROZEN["validations"].items():
        tolerance = RUNS_ATOL if name == "runs" else OPTIMA_ATOL
        for metric, values in columns.items():
            np.testing.assert_allclose(
                found[name][metric], values, rtol=0.0, atol=tolerance, err_msg=metric
            )


@pytest.mark.parametrize("name", draws.RUNS)
def test_runs_of_kernels_are_the_frozen_ones(name):
    """In every bit; where the kernel has exp(), to its rounding."""
    frozen, found = FROZEN["runs"][name], draws.run(name)
    if name != "gaussian":
        assert found == frozen
        return
    assert found["violations"] == frozen["violations"]
    assert found["intercept"] == pytest.approx(frozen["intercept"], rel=EXP_RTOL)
    assert found["dual_coef"] == pytest.approx(frozen["dual_coef"], rel=EXP_RTOL)


# ---- Standard errors and intervals are what they were, by every kind that stays.

FROZEN_ERRORS = read("errors")
# In standard errors, which are 0.2 or so. Coefficients are within sqrt(2 gap / lam) of
# the optimum, 1e-5 at a relative gap of 1e-12, and the sandwich moves as they do.
# Resamples are fitted to 1e-10, within 1e-4 of theirs. Copies of a row at the margin
# share its dual weight in any way, on which the scores of the hinge depend.
SANDWICH, RESAMPLES, COPIES = 2e-4, 2e-3, 5e-3


def test_every_case_is_frozen_and_no_other():
    assert list(FROZEN_ERRORS) == list(errors.CASES)
    assert len(errors.CASES) >= 30


@pytest.mark.slow
@pytest.mark.parametrize("name", errors.CASES)
def test_errors_and_intervals_are_the_frozen_ones(name):
    frozen, found = FROZEN_ERRORS[name], errors.numbers(name)
    error = np.array(frozen["std_error"])
    tolerance = RESAMPLES if "bootstrap" in name else SANDWICH
    tolerance = COPIES if name == "hinge, freq_weights, sandwich" else tolerance
    for key, values in found.items():
        change = np.abs(np.array(values) - frozen[key]) / error
        assert change.max() <= tolerance, key


# ---- Objects that an earlier version saved are read, and have their numbers.
#
# That every object comes back from its own file in every bit is in
# ``tests/persist``.

FROZEN_KEPT = read("kept")
RTOL = 1e-9  # quantiles of scipy, of which intervals are made


@pytest.mark.parametrize("name", [*kept.FITS, *kept.STUDIES])
def test_a_saved_object_has_its_numbers(name, tmp_path):
    found = ps.load(kept.FOLDER / f"{name}.model", functions=None)
    np.testing.assert_allclose(
        kept.numbers(found), FROZEN_KEPT[name], rtol=RTOL, atol=1e-12
    )
    ps.save(found, tmp_path / name, about=None, overwrite=False)
    again = kept.numbers(ps.load(tmp_path / name, functions=None))
    np.testing.assert_array_equal(again, kept.numbers(found))


def test_a_fit_whose_columns_of_text_were_doubtful_is_read():
    found = ps.load(kept.FOLDER / "doubtful.model")
    new = pd.DataFrame({"lead": ["1", "2"], "day": ["2020-01-10", "2020-01-11"]})
    scores = found.decision_function(new)
    np.testing.assert_array_equal(scores, [-0.4940583185649915, 1.0892750147683419])
    assert [column.kind for column in found.design.doubtful] == [
        "numbers",
        "numbers",
    ]
    assert found.summary().notes


# ---- Objectives and coefficients at the optimum are what they were, to their ...
#
# Runs of Pegasos and of SDCA-perm are frozen in every bit by ``tests/parity``, which
# compares them with golden files of R (``r_reference/golden``): both losses,
# batches, projection, averages, orders, weights, offsets, steps, starts, sparse rows.

FROZEN_OBJECTIVES = read("objectives")
FORMULA_RTOL = 1e-13  # sums of up to 50,000 terms, in another order


@pytest.fixture(scope="module", params=fits.FITS)
def pair(request):
    """A fit, and its frozen values."""
    return (
        fits.FITS[request.param](),
        FROZEN_OBJECTIVES[request.param],
        request.param,
    )


def test_every_fit_is_frozen_and_no_other():
    assert list(FROZEN_OBJECTIVES) == list(fits.FITS)
    assert len(fits.FITS) >= 60


def test_the_fit_is_certified(pair):
    fit, _, name = pair
    assert fit.result.converged
    tol = fits.KERNEL_TOL if name in fits.KERNELS else fits.TOL
    assert fit.result.relative_gap <= (tol)


def test_the_objective_is_that_of_its_formula(pair):
    fit, _, _ = pair
    assert fit.result.objective == pytest.approx(fit.objective, rel=FORMULA_RTOL)


def test_the_objective_is_the_frozen_one(pair):
    """Both are certified: the minimum is below either by its gap at most."""
    fit, frozen, _ = pair
    allowed = fit.result.gap + frozen["gap"]
    assert abs(fit.result.objective - frozen["objective"]) <= allowed


def test_the_coefficients_are_the_frozen_ones(pair):
    """By strong convexity each is within ``sqrt(2 gap / lam)`` of the optimum.

    The intercept is not penalised: what the gap allows it is in the objective alone.
    """
    fit, frozen, name = pair
    gaps = np.array([fit.result.gap, frozen["gap"]])
    allowed = fit.reach * np.sqrt(2.0 * gaps / fit.result.problem.lam).sum()
    change = fit.position - np.array(frozen["position"])
    size = np.abs(change).max() if name in fits.KERNELS else np.linalg.norm(change)
    assert size <= allowed


# ---- The score that a database computes is the frozen score of the fit.

FROZEN_SQL = read("scores")
RTOL_OF_SQL = 1e-10  # sums in another order, and exp() of another library


def in_sqlite(data, expression):
    with closing(sqlite3.connect(":memory:")) as base:
        data.to_sql("given", base, index=False)
        return base.execute(f"SELECT {expression} FROM given").fetchall()


def in_duckdb(data, expression):
    with duckdb.connect() as base:
        base.register("given", data)
        return base.execute(f"SELECT {expression} FROM given").fetchall()


@pytest.mark.parametrize("name", scores.CASES)
@pytest.mark.parametrize("database", [in_sqlite, in_duckdb])
def test_a_database_computes_the_frozen_scores(name, database):
    """Of a row with a missing value it is NULL, as the fit has none."""
    fit, data = scores.fitted(name), scores.NEW
    dialect = database.__name__.removeprefix("in_")
    found = database(data, fit.to_sql(dialect=dialect))
    computed = np.array([np.nan if row[0] is None else row[0] for row in found])
    ours = fit.decision_function(data, unseen="error").to_numpy()
    assert np.isnan(ours).any()
    np.testing.assert_allclose(computed, ours, rtol=RTOL_OF_SQL)
    np.testing.assert_allclose(ours, FROZEN_SQL[name], rtol=RTOL_OF_SQL)


# ---- Tables and all their tables.statistics are what they were; caret's are in ...

FROZEN_TABLES = read("tables")


def test_every_table_is_frozen_and_no_other():
    assert list(FROZEN_TABLES) == list(tables.CASES)


@pytest.mark.parametrize("name", tables.CASES)
def test_statistics_are_the_frozen_ones(name):
    frozen, found = FROZEN_TABLES[name], tables.statistics(name)
    np.testing.assert_allclose(found["counts"], frozen["counts"], rtol=RTOL)
    assert found["statistics"].keys() == frozen["statistics"].keys()
    for key, values in found["statistics"].items():
        expected = frozen["statistics"][key]
        np.testing.assert_allclose(values, expected, rtol=RTOL, atol=RTOL, err_msg=key)
