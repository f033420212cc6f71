"""Pegasos: golden numbers of R, R in this process, and other arithmetic."""

import dataclasses

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.parity.cases import (
    REFERENCE,
    Case,
    case_data,
    fit,
    fit_by_formula,
    fit_of_r,
    fit_rows,
    golden,
    read_cases,
    rows_drawn,
    solver,
    solver_in_full,
    stored,
)
from tests.parity.equality import (
    assert_close_fit,
    assert_inputs_of_r,
    assert_same_bits,
    assert_same_fit,
    assert_same_steps,
)

pytestmark = pytest.mark.slow

# ---- Fits against the golden values that R wrote: no R is needed.

CASES = {case.name: case for case in read_cases()}
EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())

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


def test_every_case_has_golden_values_and_no_other():
    assert list(golden("pegasos.json")) == list(CASES)


@EACH
def test_data_rows_and_fit_are_those_of_r(case):
    found = golden("pegasos.json")[case.name]
    assert_inputs_of_r(case, rows_drawn(case), found)
    theirs = fit_of_r(found)
    assert_same_fit(case, fit(case), theirs)
    if case.n > 1:
        assert_same_fit(case, fit_by_formula(case), theirs)


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


# ---- The same cases, and more, against R as it runs.


@pytest.fixture(scope="module")
def r_cases(r):
    r.set("path", str(REFERENCE / "cases.csv"))
    r.eval("cases <- read_cases(path)")
    return r


def in_r(r, case: Case) -> dict:
    return r.eval(f"run_case(cases[['{case.name}']])")


def test_the_list_of_cases_is_the_same(r_cases):
    names = [case.name for case in read_cases()]
    assert r_cases.eval("names(cases)").tolist() == names


@EACH
def test_data_rows_and_fit_are_those_of_r_live(r_cases, case):
    X, labels = case_data(case)
    data = r_cases.eval(f"data <- case_data(cases[['{case.name}']])")
    assert_same_bits(X.to_numpy(), data["X"], "X")
    assert labels.tolist() == data["labels"].tolist()
    assert list(X.columns) == r_cases.eval("colnames(data$X)").tolist()
    found = in_r(r_cases, case)
    assert rows_drawn(case).tolist() == found["rows"].tolist()
    assert_same_fit(case, fit(case), fit_of_r(found))


# ---- The cases by other arithmetic, other numbers and other storage; named forms; ...

FORMS = [case for case in CASES.values() if case.profile]
SPARSE = [case for case in CASES.values() if case.storage != "dense"]

# Sums in another order, and v = lam t beta for beta: measured 1e-13 and less, of the
# norm of beta and of |alpha|. Ten digits are what the package promises.
FAST_RTOL = 1e-10

# Here rounding decides: a margin is 1 in exact arithmetic, and 1 or just below it in
# each of the other ones.
MARGIN_OF_ONE = "whole numbers no intercept"
APART_FROM_ONE = [case for case in CASES.values() if case.name != MARGIN_OF_ONE]

by_name = {"ids": lambda case: case.name}
BOTH = ("reference", "fast")


def dense(case):
    return case_data(case)[0]


# Every second case: its options are in other cases too.
@pytest.mark.parametrize("case", APART_FROM_ONE[::2], **by_name)
def test_fast_arithmetic_and_sparse_rows_agree_with_the_reference(case):
    reference = fit(case)
    assert_close_fit(fit(case, "fast"), reference, FAST_RTOL)
    of_dense = reference if case.storage == "dense" else fit_rows(case, dense(case))
    for arithmetic in BOTH:
        ours = fit_rows(case, csr_array(dense(case).to_numpy()), arithmetic)
        assert_close_fit(ours, of_dense, FAST_RTOL)


# Every fifth case: the arithmetic of the rows is the same in all.
@pytest.mark.parametrize("case", [*CASES.values()][::5], **by_name)
def test_float32_gives_what_the_same_numbers_give_in_float64(case):
    single = dense(case).astype(np.float32)
    double = single.astype(np.float64)
    for arithmetic in BOTH:
        ours = fit_rows(case, stored_as(case, single), arithmetic)
        theirs = fit_rows(case, stored_as(case, double), arithmetic)
        assert_same_steps(ours, theirs)
        params = [ours.alpha, *ours.beta], [theirs.alpha, *theirs.beta]
        assert_same_bits(*params, f"params, {arithmetic}")


def stored_as(case, X):
    rows = stored(case, X)
    return rows if case.storage == "dense" else rows.astype(X.dtypes.iloc[0])


@pytest.mark.parametrize("case", SPARSE, **by_name)
def test_stored_zeros_and_unsorted_columns_change_no_bit(case):
    X = csr_array(dense(case).to_numpy())
    full = csr_array(np.ones(X.shape))
    full.data = dense(case).to_numpy().ravel()
    full.indices, full.data = (
        np.ascontiguousarray(part.reshape(X.shape)[:, ::-1].ravel())
        for part in (full.indices, full.data)
    )
    full.has_sorted_indices = False
    ours, theirs = fit_rows(case, full), fit_rows(case, X)
    assert_same_steps(ours, theirs)
    assert_same_bits([ours.alpha, *ours.beta], [theirs.alpha, *theirs.beta], "params")


@pytest.mark.parametrize("case", FORMS, **by_name)
def test_named_forms_are_what_the_columns_of_their_cases_say(case):
    named = dataclasses.asdict(solver(case))
    in_full = dataclasses.asdict(solver_in_full(case))
    assert (named.pop("intercept") is False) == (case.profile == "homework")
    assert in_full.pop("intercept") is None
    if named["order"] == "sequential":
        assert named.pop("seed") is None
        assert in_full.pop("seed") is not None
    assert named == in_full
