"""The cases of SDCA that R and Python share, in ``r_reference/sdca_cases.csv``.

Beside this file stands ``run_sdca_case`` of ``r_reference/R/cases.R``.
"""

import csv
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

import pegasos_stats as ps
from pegasos_stats.solvers.optimum_run import drawn_epochs, run_to_optimum
from pegasos_stats.solvers.problem import Problem
from tests.parity.cases import (
    REFERENCE,
    Fit,
    as_fit,
    case_data,
    common_fields,
    fit_of_solution,
    given_of,
    stored,
)
from tests.parity.equality import (
    DUAL_RTOL,
    OBJECTIVE_RTOL,
    assert_same_bits,
    assert_same_steps,
)

# exp() of R and of Python may differ in the last bit, and Newton's method for a dual
# weight stops at 1e-8: the last step, squared, is what is left.
LOG_RTOL = 1e-10


@dataclass(frozen=True)
class SdcaCase:
    """One line of sdca_cases.csv; the model has no intercept."""

    name: str
    data: str
    n: int
    p: int
    data_seed: int | None
    seed: int
    sample_kind: str
    lam: float
    epochs: int
    coding: str | tuple[str, ...]
    loss: str
    start: str
    ties: str
    storage: str
    weights: str
    offset: str
    average: str | int
    random_stop: int | None


def read_sdca_cases() -> list[SdcaCase]:
    path = REFERENCE / "sdca_cases.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return [_case(line) for line in csv.DictReader(file)]


def _case(line: dict[str, str]) -> SdcaCase:
    whole = {name: int(line[name]) for name in ("n", "p", "seed", "epochs")}
    average, stop = line["average"], line["random_stop"]
    return SdcaCase(
        **common_fields(line),
        **whole,
        start=line["start"],
        average=int(average) if average.isdigit() else average,
        random_stop=int(stop) if stop else None,
    )


def solver(case: SdcaCase) -> ps.SDCA:
    names = ("epochs", "start", "average", "random_stop", "seed", "sample_kind", "ties")
    given: dict[str, Any] = {name: getattr(case, name) for name in names}
    return ps.SDCA(tol=0, **given)


def rows_drawn(case: SdcaCase) -> np.ndarray:
    """All rows in the order of the steps, counted from 1 as in R."""
    use = solver(case)
    return np.concatenate([*drawn_epochs(use, case.n, use.generator())]) + 1


@functools.cache
def fit(case: SdcaCase) -> tuple[Fit, np.ndarray]:
    """Fit, and dual weights."""
    X, labels = case_data(case)
    if case.n == 1:  # without a model, for a label that is the second of the coding
        x = X.to_numpy(copy=True)
        problem = Problem(x, np.ones(1), case.lam, case.loss, intercept=False)
        found = run_to_optimum(problem, solver(case))
        return fit_of_solution(case, problem, found), found.dual
    model = {"hinge": ps.SVM, "log": ps.Logit}[case.loss]
    given = {"intercept": False, **given_of(case)}
    return both(model(labels, stored(case, X), **given).fit(solver(case)))


def fit_by_formula(case: SdcaCase) -> tuple[Fit, np.ndarray]:
    X, labels = case_data(case)
    model = {"hinge": ps.svm, "log": ps.logit}[case.loss]
    data = X.assign(label=labels)
    return both(model("label ~ . - 1", data=data, **given_of(case)).fit(solver(case)))


def both(result: ps.Results) -> tuple[Fit, np.ndarray]:
    return as_fit(result), result.solution.dual


def assert_same_sdca(
    case: SdcaCase, ours: tuple[Fit, Any], theirs: tuple[Fit, Any]
) -> None:
    """Equality in every bit; for the log loss to `LOG_RTOL` of the largest number."""
    (found, dual), (expected, expected_dual) = ours, theirs
    assert_same_steps(found, expected)
    assert found.alpha == expected.alpha == 0.0
    pairs = {"beta": (found.beta, expected.beta), "dual": (dual, expected_dual)}
    for what, (left, right) in pairs.items():
        if case.loss == "hinge":
            assert_same_bits(left, right, what)
        else:
            atol = LOG_RTOL * np.abs(right).max()
            np.testing.assert_allclose(left, right, rtol=0, atol=atol)
    scale = expected.objective
    rtol = OBJECTIVE_RTOL if case.loss == "hinge" else LOG_RTOL
    assert abs(found.objective - scale) <= rtol * scale
    assert abs(found.dual_objective - expected.dual_objective) <= DUAL_RTOL * scale
