"""The cases that R and Python share, listed in ``r_reference/cases.csv``.

Beside this file stands ``r_reference/R/cases.R``.
"""

import csv
import dataclasses
import functools
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.compiled.risk import scores
from pegasos_stats.data.labels import signs_of
from pegasos_stats.solvers.pegasos_run import run_pegasos
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.solver_runs import certificate_of

REFERENCE = Path(__file__).parents[2] / "r_reference"

ORDERS = ("shuffle", "sequential", "replace", "subset")
YES = {"TRUE": True, "FALSE": False}


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
    epochs: int | None
    intercept: bool
    coding: str | tuple[str, ...]
    loss: str
    order: str | tuple[tuple[int, ...], ...]
    steps: int | None
    batch_size: int
    project: bool
    average: str | int
    refit: bool
    ties: str
    storage: str
    profile: str
    weights: str
    start: str | tuple[float, ...]
    first_step: int
    step: str | float | tuple[float, ...]
    tol: float
    change_tol: float
    offset: str


@dataclass(frozen=True)
class Fit:
    """What is compared: see ``run_case`` of cases.R."""

    violations: int
    n_iter: int
    alpha: float
    beta: np.ndarray
    table: pd.DataFrame
    objective: float
    dual_objective: float

    @property
    def gap(self) -> float:
        return self.objective - self.dual_objective


def _case(line: dict[str, str]) -> Case:
    whole = ("n", "seed", "p", "batch_size", "first_step")
    numbers, answers = ("tol", "change_tol"), ("intercept", "project", "refit")
    found = common_fields(line)
    found |= {name: int(line[name]) for name in whole}
    found |= {name: float(line[name]) for name in numbers}
    found |= {name: YES[line[name]] for name in answers}
    found |= {name: _number(line[name]) for name in ("epochs", "steps")}
    average = line["average"]
    return Case(
        **found,
        order=_order(line["order"]),
        average=int(average) if average.isdigit() else average,
        profile=line["profile"],
        start=_word_or_numbers(line["start"]),
        step=_step(line["step"]),
    )


def common_fields(line: dict[str, str]) -> dict[str, Any]:
    """What lines of cases.csv and of sdca_cases.csv have both."""
    negative, _, positive = line["coding"].partition("/")
    text = ("name", "data", "loss", "ties", "storage", "weights", "offset")
    return {name: line[name] for name in text} | {
        "data_seed": _number(line["data_seed"]),
        "sample_kind": line["sample_kind"].lower(),
        "lam": float(line["lambda"]),
        "coding": (negative, positive) if positive else negative,
    }


def _word_or_numbers(text: str) -> str | tuple[float, ...]:
    if any(letters in text for letters in ("zero", "random", "lambda", "sqrt", "peg")):
        return text
    return tuple(float(number) for number in text.split())


def _step(text: str) -> str | float | tuple[float, ...]:
    found = _word_or_numbers(text)
    return found[0] if len(found) == 1 and not isinstance(found, str) else found


def _number(text: str) -> int | None:
    return int(text) if text else None


def _order(text: str) -> str | tuple[tuple[int, ...], ...]:
    """A word, or rows, here counted from zero: a tuple for each epoch."""
    if text in ORDERS:
        return text
    return tuple(tuple(int(i) - 1 for i in rows.split()) for rows in text.split(";"))


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
    """Features and labels of a case, which the caller may change."""
    X, labels = first_data(case)
    return X.copy(), labels.copy()


@functools.cache
def first_data(case: Case) -> tuple[pd.DataFrame, "pd.Series[Any]"]:
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
        case "huge":
            return 1000.0 * X
        case "gaps":
            X[np.abs(X) < 1.0] = 0.0
            X[1] = 0.0
        case _:
            raise ValueError(f"cases.csv names the data {case.data!r}")
    return X


def stored(case: Case, X: pd.DataFrame) -> Any:
    """Rows as the case stores them."""
    if case.storage == "dense":
        return X
    values = X.to_numpy()
    entries = values != 0.0
    if case.storage == "sparse with zeros":
        entries[:, ::2] = True
    rows, columns = np.nonzero(entries)
    return csr_array((values[entries], (rows, columns)), shape=X.shape)


@functools.cache
def fit(case: Case, arithmetic: str = "reference") -> Fit:
    return fit_rows(case, stored(case, case_data(case)[0]), arithmetic)


def fit_rows(case: Case, X: Any, arithmetic: str = "reference") -> Fit:
    """Fit by the public face, or by the kernel where one row has only one label."""
    use = dataclasses.replace(solver(case), arithmetic=arithmetic)
    return fit_by_kernel(case, X, use) if case.n == 1 else fit_by_model(case, X, use)


def fit_by_model(case: Case, X: Any, use: ps.Pegasos) -> Fit:
    model = {"hinge": ps.SVM, "log": ps.Logit}[case.loss]
    labels, given = case_data(case)[1], given_of(case)
    return fit_of(model(labels, X, intercept=case.intercept, **given), use)


def fit_of(model: Any, use: ps.Pegasos) -> Fit:
    with warnings.catch_warnings():  # of runs that end at their limit
        warnings.simplefilter("ignore", ps.errors.ConvergenceWarning)
        return as_fit(model.fit(use))


def given_of(case: Any) -> dict[str, Any]:
    """Options that a model takes, of a formula or not."""
    given = {"lam": case.lam, "coding": case.coding}
    return given | {"weights": weights(case), "offset": offset(case)}


def weights(case: Case) -> Any:
    """Weights of the rows as a model takes them."""
    if case.weights in ("", "balanced"):
        return case.weights or None
    return np.resize([float(w) for w in case.weights.split()], case.n)


def offset(case: Case) -> Any:
    """Offset of the rows as a model takes it."""
    if not case.offset:
        return None
    return np.resize([float(o) for o in case.offset.split()], case.n)


def fit_by_formula(case: Case) -> Fit:
    X, labels = case_data(case)
    if case.storage != "dense":
        X = X.astype(pd.SparseDtype(float, 0.0))
    model = {"hinge": ps.svm, "log": ps.logit}[case.loss]
    formula = "label ~ ." if case.intercept else "label ~ . - 1"
    data = X.assign(label=labels)
    return fit_of(model(formula, data=data, **given_of(case)), solver(case))


def solver(case: Case) -> ps.Pegasos:
    """The solver, by its named form if the case has one."""
    match case.profile:
        case "":
            return solver_in_full(case)
        case "paper":
            options = {"batch_size": case.batch_size, "project": case.project}
            return ps.Pegasos.paper(case.steps, **options, seed=case.seed)
        case "r_script":
            return ps.Pegasos.r_script(case.epochs, seed=case.seed)
        case "homework":
            return ps.Pegasos.homework(case.epochs)
        case "minibatch":
            options = {"batch_size": case.batch_size, "seed": case.seed}
            return ps.Pegasos.minibatch(case.epochs, **options)
        case _:
            raise ValueError(f"cases.csv names the form {case.profile!r}")


def solver_in_full(case: Case) -> ps.Pegasos:
    names = ("epochs", "seed", "steps", "batch_size", "project", "average", "ties")
    names += ("sample_kind", "start", "first_step", "step", "tol", "change_tol")
    given: dict[str, Any] = {name: getattr(case, name) for name in names}
    order = case.order if isinstance(case.order, str) else np.array(case.order)
    return ps.Pegasos(order=order, refit_intercept=case.refit, **given)


def all_rows(result: ps.Results) -> ps.ConfusionMatrix:
    """The table of the training rows as R has it: those of weight 0 are there too."""
    pair = result._labels(), result.predict()
    found = ps.confusion(*pair, levels=result.coding.levels)
    if not result.problem.n_weightless:
        assert (found.counts == result.confusion().counts).all()
    return found


def as_fit(result: ps.Results) -> Fit:
    return Fit(
        violations=result.n_violations,
        n_iter=result.n_iter,
        alpha=result.intercept,
        beta=result.coef.to_numpy(),
        table=all_rows(result).table,
        objective=result.objective,
        dual_objective=result.dual_objective,
    )


def fit_by_kernel(case: Case, X: Any, use: ps.Pegasos) -> Fit:
    """The same without a model, for labels that are the second of `case.coding`."""
    if isinstance(X, pd.DataFrame):
        X = X.to_numpy(copy=True)
    problem = Problem(X, np.ones(case.n), case.lam, case.loss, case.intercept)
    return fit_of_solution(case, problem, run_pegasos(problem, use))


def fit_of_solution(case: Any, problem: Problem, found: Solution) -> Fit:
    """What is compared of a solution for labels that are all the second."""
    signs = signs_of(scores(problem.rows, found.beta, found.alpha), case.ties)
    predicted = np.where(signs > 0, *case.coding[::-1])
    actual = [case.coding[1]] * case.n
    table = ps.confusion(actual, predicted, levels=case.coding).table
    at = certificate_of(problem, found)
    counts = found.n_violations, found.n_iter
    risks = at.objective, at.dual_objective
    return Fit(*counts, found.alpha, found.beta, table, *risks)


def table_of(counts: Any, actual: Any, predicted: Any) -> pd.DataFrame:
    """A table of R as `ps.ConfusionMatrix.table` has it, with text for labels."""
    columns = ["NA" if label is None else label for label in predicted]
    return pd.DataFrame(
        np.asarray(counts, dtype=np.int64),
        index=pd.Index(list(actual), name="Actual"),
        columns=pd.Index(columns, name="Predicted"),
    )


def fit_of_r(found: dict[str, Any]) -> Fit:
    """A fit of R, as it runs or of golden values, whose numbers are text."""
    names = "violations", "n_iter", "alpha", "objective", "dual_objective"
    one = {name: np.ravel(found[name])[0] for name in names}
    beta = found["beta"]
    if isinstance(one["alpha"], str):
        one["alpha"], beta = float.fromhex(one["alpha"]), from_hex(beta)
    table = table_of(found["table"], found["actual"], found["predicted"])
    return Fit(beta=beta, table=table, **one)


def rows_drawn(case: Case) -> np.ndarray:
    """All rows in the order of the steps, counted from 1 as in R."""
    use = solver(case)
    rng = use.generator()
    if case.start == "random":
        rng.rnorm(case.p)  # before the first row
    rows = np.concatenate([*use.passes.rows(case.n, rng)]) + 1
    ends_early = case.tol > 0.0 or case.change_tol > 0.0
    return rows[: fit(case).n_iter * case.batch_size] if ends_early else rows
