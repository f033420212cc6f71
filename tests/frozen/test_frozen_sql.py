"""The score that a database computes is the frozen score of the fit."""

import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pytest

from tests.frozen import scores
from tests.frozen.rows import read

FROZEN = read("scores")
RTOL = 1e-10  # sums in another order, and exp() of another library


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
    np.testing.assert_allclose(computed, ours, rtol=RTOL)
    np.testing.assert_allclose(ours, FROZEN[name], rtol=RTOL)
