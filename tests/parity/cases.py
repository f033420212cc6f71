"""The cases that R and Python share, listed in ``r_reference/cases.csv``.

Beside this file stands ``r_reference/R/cases.R``.
"""

import csv
import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pegasos_stats as ps
from pegasos_stats.kernels.pegasos import pegasos_epoch, scores
from pegasos_stats.labels import signs_of
from pegasos_stats.objective import primal

REFERENCE = Path(__file__).parents[2] / "r_reference"

# The objective is not part of the reference arithmetic: R sums it in a loop and numpy
# in pairs. Margins lose up to four digits where columns span six powers of ten.
OBJECTIVE_RTOL = 1e-12


@dataclass(frozen=True)
class Case:
    """One line of cases.csv."""

    name: str
    data: str
    n: int
    p: int
    data_seed: int | None
    seed: int
    sample_kind: str
    lam: float
    epochs: int
    intercept: bool
    coding: str | tuple[str, ...]


@dataclass(frozen=True)
class Fit:
    """What is compared: see ``run_case`` of cases.R."""

    violations: int
    n_iter: int
    alpha: float
    beta: np.ndarray
    table: pd.DataFrame
    objective: float


def _case(line: dict[str, str]) -> Case:
    negative, _, positive = line["coding"].partition("/")
    return Case(
        name=line["name"],
        data=line["data"],
        n=int(line["n"]),
        p=int(line["p"]),
        data_seed=int(line["data_seed"]) if line["data_seed"] else None,
        seed=int(line["seed"]),
        sample_kind=line["sample_kind"].lower(),
        lam=float(line["lambda"]),
        epochs=int(line["epochs"]),
        intercept={"TRUE": True, "FALSE": False}[line["intercept"]],
        coding=(negative, positive) if positive else negative,
    )


def read_cases() -> list[Case]:
    with (REFERENCE / "cases.csv").open(encoding="utf-8", newline="") as file:
        return [_case(line) for line in csv.DictReader(file)]


@functools.cache
def golden(file: str) -> Any:
    """Values that ``r_reference/golden.R`` wrote."""
    return json.loads((REFERENCE / "golden" / file).read_text(encoding="utf-8"))


def from_hex(numbers: list[str]) -> np.ndarray:
    return np.array([float.fromhex(number) for number in numbers])


def case_data(case: Case) -> tuple[pd.DataFrame, "pd.Series[Any]"]:
    """Features and labels: measured ones from R's file, drawn ones drawn again."""
    if case.data_seed is not None:
        return drawn_data(case)
    columns = dict(golden("data.json")[case.data])
    labels = pd.Series(columns.pop("labels"), name="label")
    return pd.DataFrame({k: from_hex(v) for k, v in columns.items()}), labels


def drawn_data(case: Case) -> tuple[pd.DataFrame, "pd.Series[Any]"]:
    n, p = case.n, case.p
    rng = ps.RRandom(case.data_seed)
    X = rng.rnorm(n * p).reshape((n, p), order="F")
    labels = np.where(X[:, 0] + rng.rnorm(n) > 0, "b", "a")
    labels[-1] = "a"
    labels[0] = "b"
    frame = pd.DataFrame(changed(case, X), columns=[f"x{j + 1}" for j in range(p)])
    return frame, pd.Series(labels, name="label")


def changed(case: Case, X: np.ndarray) -> np.ndarray:
    match case.data:
        case "normal" | "one row":
            return X
        case "duplicated rows":
            return np.tile(X[: len(X) // 2], (2, 1))
        case "zero row":
            X[2] = 0.0
        case "constant column":
            X[:, -1] = 2.5
        case "whole numbers":
            return np.floor(2.0 * X)
        case "wide range":
            return X * [10.0 ** (2 * j - 5) for j in range(case.p)]
        case _:
            raise ValueError(f"cases.csv names the data {case.data!r}")
    return X


@functools.cache
def fit(case: Case) -> Fit:
    """Fit by the public face, or by the kernel where one row has only one label."""
    return fit_by_kernel(case) if case.n == 1 else fit_by_model(case)


def fit_by_model(case: Case) -> Fit:
    X, labels = case_data(case)
    model = ps.SVM(
        labels, X, lam=case.lam, intercept=case.intercept, coding=case.coding
    )
    return as_fit(case, model.fit(solver(case)))


def fit_by_formula(case: Case) -> Fit:
    X, labels = case_data(case)
    formula = "label ~ ." if case.intercept else "label ~ . - 1"
    model = ps.svm(
        formula, data=X.assign(label=labels), lam=case.lam, coding=case.coding
    )
    return as_fit(case, model.fit(solver(case)))


def solver(case: Case) -> ps.Pegasos:
    return ps.Pegasos(case.epochs, seed=case.seed, sample_kind=case.sample_kind)


def as_fit(case: Case, result: ps.Results) -> Fit:
    return Fit(
        violations=result.n_violations,
        n_iter=result.n_iter,
        alpha=result.intercept,
        beta=result.coef.to_numpy(),
        table=result.confusion().table,
        objective=result.objective,
    )


def fit_by_kernel(case: Case) -> Fit:
    """The same without a model, for labels that are the second of `case.coding`."""
    X = case_data(case)[0].to_numpy(copy=True)
    y, rows = np.ones(case.n), rows_drawn(case)
    beta = np.zeros(case.p)
    alpha, violations = pegasos_epoch(
        X, y, rows - 1, case.lam, 0, beta, 0.0, case.intercept
    )
    predicted = np.where(signs_of(scores(X, beta, alpha)) > 0, *case.coding[::-1])
    table = ps.confusion([case.coding[1]] * case.n, predicted, levels=case.coding).table
    objective = primal(X, y, beta, alpha, case.lam)
    return Fit(violations, len(rows), alpha, beta, table, objective)


def table_of(counts: Any, actual: Any, predicted: Any) -> pd.DataFrame:
    """A table of R as `ps.ConfusionMatrix.table` has it, with text for labels."""
    columns = ["NA" if label is None else label for label in predicted]
    return pd.DataFrame(
        np.asarray(counts, dtype=np.int64),
        index=pd.Index(list(actual), name="Actual"),
        columns=pd.Index(columns, name="Predicted"),
    )


def rows_drawn(case: Case) -> np.ndarray:
    """All rows in the order of the steps, counted from 1 as in R."""
    rng = ps.RRandom(case.seed, sample_kind=case.sample_kind)
    return np.concatenate([rng.sample_int(case.n) for _ in range(case.epochs)])


def assert_same_fit(ours: Fit, theirs: Fit) -> None:
    assert ours.n_iter == theirs.n_iter
    assert ours.violations == theirs.violations
    assert_same_bits(ours.beta, theirs.beta, "beta")
    assert_same_bits(ours.alpha, theirs.alpha, "alpha")
    assert_same_table(ours.table, theirs.table)
    np.testing.assert_allclose(ours.objective, theirs.objective, rtol=OBJECTIVE_RTOL)


def assert_same_table(ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    """Equality of counts, of the labels as text, and of the names of the axes."""
    as_text = ours.rename(index=str, columns=str)
    assert as_text.to_dict("split") == theirs.to_dict("split")
    assert (ours.index.name, ours.columns.name) == ("Actual", "Predicted")


def assert_same_bits(ours: Any, theirs: Any, what: str) -> None:
    """Equality in every bit, signs of zero included."""
    left, right = (np.atleast_1d(np.array(v, dtype=np.float64)) for v in (ours, theirs))
    assert left.shape == right.shape, what
    differs = np.flatnonzero(left.view(np.int64) != right.view(np.int64))
    if differs.size:
        j = differs[0]
        raise AssertionError(
            f"{what}: {differs.size} of {left.size} numbers differ, first at {j}: "
            f"{left.flat[j].hex()} here, {right.flat[j].hex()} in R"
        )
