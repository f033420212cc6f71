"""Errors name rows as the user knows them, and count no more than was counted."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError, DataError, LabelError
from tests.scan.test_same_as_in_memory import dask_here, data_of, placed

N, WRONG = 600, 451
HOMES = ["parquet", "csv", "dask"]
CASES = {
    "infinite": ("y ~ x", {}, ("x", np.inf), ColumnError),
    "computed": ("y ~ I(1 / x)", {}, ("x", 0.0), ColumnError),
    "label": ("y ~ x", {}, ("y", "maybe"), LabelError),
    "weight": ("y ~ x", {"weights": "w"}, ("w", -1.0), DataError),
    "offset": ("y ~ x", {"offset": "w"}, ("w", np.inf), DataError),
}


def rows_of(home, folder):
    """How an error calls the row that is wrong, which is in the second half."""
    return str(WRONG) if home == "dask" else f"{WRONG - 300} of {folder}/part1.{home}"


def told(case, home, folder, data):
    formula, options, _, error = CASES[case]
    there = placed(data, home, folder)
    with dask_here(), pytest.raises(error) as found:
        ps.logit(formula, there, **options)
    return str(found.value)


def wrong(case):
    data = data_of(N).assign(w=1.0)
    data.loc[[3, 7], "g"] = None  # rows that are not complete do not count less
    name, value = CASES[case][2]
    data.loc[WRONG, name] = value
    return data


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("home", HOMES)
def test_rows_are_called_as_the_user_knows_them(case, home, tmp_path):
    text = told(case, home, tmp_path, wrong(case))
    called = rows_of(home, tmp_path)
    assert f" in row {called}; " in text


@pytest.mark.parametrize("home", ["csv", "dask"])
def test_predictions_of_pieces_count_what_they_saw(home, tmp_path):
    data = data_of(N)
    result = ps.logit("y ~ g", data, lam=0.1).fit()
    data.loc[[WRONG, WRONG + 1], "g"] = "new"
    there = placed(data, home, tmp_path)
    called = f"{WRONG}, {WRONG + 1}"
    if home == "csv":
        called = f"{WRONG - 300}, {WRONG - 299} of {tmp_path}/part1.csv"
    for ask in (result.confusion, lambda rows: result.predict(rows).compute()):
        with dask_here(), pytest.raises(ColumnError, match=f"in the rows {called}"):
            ask(there)
