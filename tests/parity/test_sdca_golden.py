"""Fits of SDCA against the golden values that R wrote: no R is needed."""

import numpy as np
import pytest

from tests.parity.cases import Fit, case_data, fit_of_r, from_hex, golden
from tests.parity.equality import assert_same_bits
from tests.parity.sdca_cases import (
    SdcaCase,
    assert_same_sdca,
    fit,
    fit_by_formula,
    read_sdca_cases,
    rows_drawn,
)

CASES = {case.name: case for case in read_sdca_cases()}
EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
BY_FORMULA = [case for case in CASES.values() if case.n > 1 and case.storage == "dense"]

# beta is summed step by step here and from the dual weights there.
OF_THE_DUAL_RTOL = 1e-12


def golden_fit(case: SdcaCase) -> tuple[Fit, np.ndarray]:
    found = golden("sdca.json")[case.name]
    return fit_of_r(found), from_hex(found["dual"])


def test_every_case_has_golden_values_and_no_other():
    assert list(golden("sdca.json")) == list(CASES)


@EACH
def test_data_lambda_and_rows_are_those_of_r(case):
    found = golden("sdca.json")[case.name]
    X = case_data(case)[0].to_numpy()
    assert X.shape == (case.n, case.p)
    assert case.lam == float.fromhex(found["lambda"])
    in_a_loop = np.add.accumulate(X.ravel(order="F"))[-1]
    assert_same_bits(in_a_loop, float.fromhex(found["data_sum"]), "sum of the data")
    rows = rows_drawn(case)
    assert rows[:10].tolist() == found["rows"]
    assert int(rows @ np.arange(1, len(rows) + 1)) == found["rows_sum"]
    assert found["n_iter"] == len(rows)


@EACH
def test_fit_is_that_of_r(case):
    assert_same_sdca(case, fit(case), golden_fit(case))


@pytest.mark.parametrize("case", BY_FORMULA, ids=lambda case: case.name)
def test_formula_gives_the_same_fit(case):
    assert_same_sdca(case, fit_by_formula(case), golden_fit(case))


@pytest.mark.parametrize("case", BY_FORMULA, ids=lambda case: case.name)
def test_coefficients_of_r_are_those_of_its_dual_weights(case):
    X, labels = case_data(case)
    theirs, dual = golden_fit(case)
    positive = theirs.table.index[1]
    y = np.where(labels.astype(str) == positive, 1.0, -1.0)
    parts = (dual * y)[:, None] * X.to_numpy() / (case.lam * case.n)
    scale = np.abs(parts).sum(axis=0)
    assert (np.abs(parts.sum(axis=0) - theirs.beta) <= OF_THE_DUAL_RTOL * scale).all()


def test_the_cases_reach_every_option():
    for option, values in {
        "loss": {"hinge", "log"},
        "start": {"zero", "sgd"},
        "sample_kind": {"rejection", "rounding"},
        "ties": {"na", "positive", "negative"},
        "storage": {"dense", "sparse", "sparse with zeros"},
    }.items():
        assert {getattr(case, option) for case in CASES.values()} == values
