"""The cases by other arithmetic, other numbers and other storage; named forms; gaps."""

import dataclasses

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.parity.cases import (
    case_data,
    fit,
    fit_rows,
    read_cases,
    solver,
    solver_in_full,
    stored,
)
from tests.parity.equality import assert_close_fit, assert_same_bits, assert_same_steps

CASES = {case.name: case for case in read_cases()}
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
