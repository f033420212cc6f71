"""SDCA: golden numbers of R, and R in this process."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_run import run_sdca
from tests.parity.cases import REFERENCE, Fit, case_data, fit_of_r, from_hex, golden
from tests.parity.equality import assert_inputs_of_r, assert_same_bits
from tests.parity.sdca_cases import (
    LOG_RTOL,
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
def test_data_lambda_and_rows_are_those_of_r(case):
    found = golden("sdca.json")[case.name]
    assert_inputs_of_r(case, rows_drawn(case), found)
    assert found["n_iter"] == len(rows_drawn(case))


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


# ---- SDCA without intercept against R as it runs: the hinge in every bit.

EACH_OF_LIVE = pytest.mark.parametrize(
    "case", read_sdca_cases(), ids=lambda case: case.name
)
DATA = ["normal", "gaps", "whole numbers", "wide range"]


def drawn(data, seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(3, 60)), int(rng.integers(1, 40))
    X = rng.standard_normal((n, p))
    if data == "gaps":
        X[rng.random((n, p)) < 0.6] = 0.0
        X[0] = 0.0
    if data == "whole numbers":
        X = np.round(X)
    if data == "wide range":
        X *= 10 ** rng.uniform(-3, 3, p)
    return X, rng.choice([-1.0, 1.0], n), 10 ** rng.uniform(-4, 1)


@pytest.fixture(scope="module")
def r_cases(r):
    r.set("path", str(REFERENCE / "sdca_cases.csv"))
    r.eval("sdca_cases <- read_cases(path)")
    return r


def in_r(r_cases, case: SdcaCase) -> tuple[Fit, np.ndarray, np.ndarray]:
    """Fit, dual weights, and rows visited."""
    found = r_cases.eval(f"run_sdca_case(sdca_cases[['{case.name}']])")
    return fit_of_r(found), found["a"], found["rows"]


@EACH_OF_LIVE
def test_cases_are_those_of_r(r_cases, case):
    X, labels = case_data(case)
    data = r_cases.eval(f"case_data(sdca_cases[['{case.name}']])")
    assert_same_bits(X.to_numpy(), data["X"], "X")
    assert labels.tolist() == data["labels"].tolist()
    found, dual, rows = in_r(r_cases, case)
    assert rows_drawn(case).tolist() == rows.tolist()
    assert_same_sdca(case, fit(case), (found, dual))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("start", ["zero", "sgd"])
@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("data", DATA)
def test_dual_weights_and_coefficients_are_those_of_r(
    r, data, loss, start, storage, weighted
):
    for seed in range(5):
        check(r, seed, data, loss, start, storage, weighted)


def check(r, seed, data, loss, start, storage, weighted):
    X, y, lam = drawn(data, seed)
    w = np.random.default_rng(seed).choice([0.0, 0.5, 1.5], len(y)) if weighted else 1.0
    w = np.broadcast_to(w, len(y)).copy()
    rows = X if storage == "dense" else csr_array(X)
    solver = SDCA(epochs=4, tol=0, start=start, seed=seed)
    problem = Problem(rows, y, lam, loss, False, weights=w if weighted else None)
    ours = run_sdca(problem, solver)
    r.set("data", {"X": X, "y": y, "w": w})
    r.eval("rows <- data$X" if storage == "dense" else "rows <- sparse_rows(data$X)")
    r.call("seed_generator", seed)
    asked = f"{lam!r}, 4, '{loss}', '{start}', data$w"
    theirs = r.eval(f"sdca(rows, data$y, {asked})")
    for name, value in (("beta", ours.beta), ("a", ours.dual)):
        if loss == "hinge":
            np.testing.assert_array_equal(value, theirs[name])
        else:
            scale = np.abs(theirs[name]).max()
            np.testing.assert_allclose(
                value, theirs[name], rtol=0, atol=LOG_RTOL * scale
            )
    if loss == "hinge":
        assert ours.n_violations == theirs["violations"]
