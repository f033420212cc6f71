"""SDCA: golden numbers of R, and R in this process."""

import numpy as np
import pytest

from tests.parity.cases import REFERENCE, Fit, case_data, fit_of_r, from_hex, golden
from tests.parity.equality import assert_inputs_of_r, assert_same_bits
from tests.parity.sdca_cases import (
    SdcaCase,
    assert_same_sdca,
    fit,
    fit_by_formula,
    read_sdca_cases,
    rows_drawn,
)

# ---- Fits of SDCA against the golden values that R wrote: no R is needed.

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
def test_data_rows_and_fit_are_those_of_r(case):
    found = golden("sdca.json")[case.name]
    assert_inputs_of_r(case, rows_drawn(case), found)
    assert found["n_iter"] == len(rows_drawn(case))
    assert_same_sdca(case, fit(case), golden_fit(case))
    if case in BY_FORMULA:
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


# ---- SDCA without intercept against R as it runs: the hinge in every bit.


@pytest.fixture(scope="module")
def r_cases(r):
    r.set("path", str(REFERENCE / "sdca_cases.csv"))
    r.eval("sdca_cases <- read_cases(path)")
    return r


@EACH
def test_cases_are_those_of_r(r_cases, case):
    X, labels = case_data(case)
    data = r_cases.eval(f"case_data(sdca_cases[['{case.name}']])")
    assert_same_bits(X.to_numpy(), data["X"], "X")
    assert labels.tolist() == data["labels"].tolist()
    found = r_cases.eval(f"run_sdca_case(sdca_cases[['{case.name}']])")
    assert rows_drawn(case).tolist() == found["rows"].tolist()
    assert_same_sdca(case, fit(case), (fit_of_r(found), found["a"]))
