"""Fits against the golden values that R wrote: no R is needed."""

import numpy as np
import pytest

from tests.parity.cases import (
    Case,
    Fit,
    case_data,
    fit,
    fit_by_formula,
    fit_of_r,
    golden,
    read_cases,
    rows_drawn,
)
from tests.parity.equality import assert_same_bits, assert_same_fit

CASES = {case.name: case for case in read_cases()}
EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
WITH_TWO_ROWS = [case for case in CASES.values() if case.n > 1]

# Read off R 4.2.2, apart from this repository: intercept and coefficients, training
# table, objective. 1e-14: 100 terms, summed in another order.
PUBLISHED = {
    "iris lambda 1": (
        "-0.90853134131329416 -0.053649999999999927 -0.06150000000000002 "
        "0.30564999999999948 0.22689999999999985",
        [[5, 45], [0, 50]],
        0.82425242567373425,
    ),
    "iris lambda 0.1": (
        "0.98964813180275346 -0.98199999999999932 -0.67000000000000004 "
        "1.2740000000000007 1.0879999999999996",
        [[20, 30], [0, 50]],
        0.79826426590138,
    ),
    "iris lambda 0.01": (
        "-71.191610225233319 2.9049999999999985 1.0750000000000002 "
        "8.3799999999999848 4.9250000000000052",
        [[48, 2], [8, 42]],
        0.8127082952710043,
    ),
}
PUBLISHED_RTOL = 1e-14
MTCARS = (
    "-0.19348055309018097 -0.45258313123997207 -0.128797545395029 -0.22708121993082114"
)


def golden_fit(case: Case) -> Fit:
    return fit_of_r(golden("pegasos.json")[case.name])


def test_every_case_has_golden_values_and_no_other():
    assert list(golden("pegasos.json")) == list(CASES)


@EACH
def test_data_lambda_and_rows_are_those_of_r(case):
    found = golden("pegasos.json")[case.name]
    X = case_data(case)[0].to_numpy()
    assert X.shape == (case.n, case.p)
    assert case.lam == float.fromhex(found["lambda"])
    in_a_loop = np.add.accumulate(X.ravel(order="F"))[-1]
    assert_same_bits(in_a_loop, float.fromhex(found["data_sum"]), "sum of the data")
    rows = rows_drawn(case)
    assert rows[:10].tolist() == found["rows"]
    assert int(rows @ np.arange(1, len(rows) + 1)) == found["rows_sum"]


@EACH
def test_fit_is_that_of_r(case):
    assert_same_fit(case, fit(case), golden_fit(case))


@pytest.mark.parametrize("case", WITH_TWO_ROWS, ids=lambda case: case.name)
def test_formula_gives_the_same_fit(case):
    assert_same_fit(case, fit_by_formula(case), golden_fit(case))


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_fits_of_iris_hold(name):
    params, counts, objective = PUBLISHED[name]
    ours = fit(CASES[name])
    expected = [float(number) for number in params.split()]
    assert_same_bits([ours.alpha, *ours.beta], expected, "params")
    assert ours.table.to_numpy().tolist() == counts
    assert ours.objective == pytest.approx(objective, rel=PUBLISHED_RTOL)


def test_published_fit_of_mtcars_holds():
    ours = fit(CASES["mtcars scaled"])
    expected = [float(number) for number in MTCARS.split()]
    assert_same_bits([ours.alpha, *ours.beta], expected, "params")


def test_scaled_mtcars_are_those_of_r():
    X = case_data(CASES["mtcars raw"])[0].to_numpy()
    centre = [3.2172499999999999, 146.6875, 17.848749999999999]
    sd = [0.97845744298969672, 68.562868489320593, 1.7869432360968429]
    scaled = case_data(CASES["mtcars scaled"])[0].to_numpy()
    assert_same_bits((X - centre) / sd, scaled, "scale(mtcars)")
