"""Input of both sides: a model and a solver, in the terms of the R reference."""

from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from pegasos_stats.arrays import DataColumn, Predictors, Vector
from pegasos_stats.data.labels import Level
from pegasos_stats.errors import OptionError
from pegasos_stats.models.base import Model, checked_solver
from pegasos_stats.solvers.kernel_problem import KernelFunction
from pegasos_stats.solvers.options import declared, values_of
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA

IN_R = (str, bool, int, float, np.generic)  # labels that R has too


@dataclass(frozen=True, eq=False)
class Setup:
    """A run that both sides can do.

    Attributes
    ----------
    model : SVM, Logit or KernelSVM
    solver : Pegasos or SDCA
        With a seed, and a start in the order of the columns.
    X : float64 array or CSR array, shape (n_rows, p)
        As R is given it; of a precomputed kernel (n_rows, n_rows).
    labels : Series, shape (n_rows,)
        Rows without a label are left out by both sides.
    coding : str or Series
        "factor", "first-seen", or the two levels.
    weights, offset : float64 array, shape (n_rows,), or None; weights in words as well
    """

    model: Any
    solver: Pegasos | SDCA
    X: Predictors
    labels: DataColumn
    coding: "str | DataColumn"
    weights: "Vector | DataColumn | None" = None
    offset: Vector | None = None

    @property
    def problem(self) -> Any:
        """What is minimised."""
        return self.model.problem

    @property
    def kernel(self) -> KernelFunction | None:
        """The kernel; None of a linear model."""
        return getattr(self.problem, "kernel", None)

    @property
    def levels(self) -> list[Level]:
        """The two levels; what R has no type for, such as a date, as text."""
        levels = list(self.model.coding.levels)
        if all(isinstance(level, IN_R) for level in levels):
            return levels
        return [
            level.isoformat() if isinstance(level, date) else str(level)
            for level in levels
        ]

    @property
    def state(self) -> tuple[str, str]:
        """Names of the arrays that a run changes in every step."""
        return ("beta", "a") if self.kernel is None else ("counts", "g")

    def ended_at(self, n_epochs: int | None) -> "Setup":
        """The same without a tolerance that R lacks: as many epochs as were run."""
        if isinstance(self.solver, Pegasos) or n_epochs is None:
            return self
        values = values_of(self.solver) | {"epochs": n_epochs}
        return replace(self, solver=SDCA(**values | {"tol": 0.0, "gap_tol": None}))

    def in_r(self) -> dict[str, object]:
        """The list that `run_configuration` of ``configurations.R`` takes."""
        solver, X = self.solver, self.X
        if not isinstance(X, np.ndarray):
            X = {
                "p": X.shape[1],
                "ends": X.indptr.astype(np.float64),
                "columns": X.indices.astype(np.float64) + 1.0,
                "values": X.data.astype(np.float64),
            }
        name = "kernel" if self.kernel is not None else solver.name.lower()
        return {
            "solver": name,
            "X": X if isinstance(X, dict) else X.astype(np.float64),
            "labels": self.labels,
            "coding": self.coding,
            "weights": self.weights,
            "offset": self.offset,
            "seed": solver.seed,
            "sample_kind": solver.sample_kind.capitalize(),
            "ties": solver.ties,
            "arguments": self._arguments(),
        }

    def _arguments(self) -> dict[str, object]:
        """Options of the solver and of the model by their names in R."""
        solver, problem = self.solver, self.problem
        values = values_of(solver)
        given: dict[str, object] = {"lambda": problem.lam}
        if not isinstance(solver, Pegasos):
            kept = {name: values[name] for name in ("epochs", "start")}
            return given | kept | {"loss": problem.loss}
        given["intercept"] = problem.intercept
        if self.kernel is not None:
            names = ["epochs", "order", "steps", "refit_intercept"]
            given |= {"kernel": self.kernel.name, **self.kernel.parameters}
        else:
            options = declared(type(solver)).values()
            names = [option.name for option in options if option.in_r]
            given["loss"] = problem.loss
        given |= {name: values[name] for name in names}
        if not isinstance(solver.order, str):
            given["order"] = solver.order + 1
        return given | {"epochs": values["epochs"] or 1}


def setup_of(model: object, solver: Pegasos | SDCA | None) -> Setup:
    """What both sides are given, of a model and a solver.

    Raises
    ------
    OptionError
        If it is no model, or the reference has no counterpart.
    """
    if not isinstance(model, Model):
        raise OptionError(
            f"model is of type {type(model).__name__}; give a model that is not fitted "
            "yet, such as ps.svm(formula, data)."
        )
    model = model.at_chosen_lambda()
    solver = model.in_columns(checked_solver(solver, Pegasos))
    _check_in_r(model, solver)
    if solver.uses_random_numbers and solver.seed is None:
        solver = solver.with_seed(1)
    problem, coding = model.problem, model.coding
    labels = coding.decode(problem.y).reset_index(drop=True)
    given = Setup(model, solver, problem.X, labels, coding.rule)
    low, high = levels = given.levels
    in_r = levels == list(coding.levels)
    if not in_r:
        given = replace(given, labels=pd.Series(np.where(problem.y > 0.0, high, low)))
    by_rule = in_r and (
        coding.rule == "factor"
        or (coding.rule == "first-seen" and not model.dropped.total)
    )
    return replace(
        given,
        coding=coding.rule if by_rule else pd.Series(levels),
        weights=problem.weights,
        offset=getattr(problem, "offset", None),
    )


def _check_in_r(model: Model, solver: Pegasos | SDCA) -> None:
    """Raise `OptionError` for what the reference lacks."""
    X, arithmetic = model.problem.X, getattr(solver, "arithmetic", None)
    if not (isinstance(X, np.ndarray) or issparse(X)):
        raise OptionError(
            "The rows of the model are read from files a part at a time, which the R "
            "reference does not do; give a model on a data frame."
        )
    if arithmetic == "fast":
        raise OptionError(
            "is not in the R reference, whose sums go from left to right; give "
            "arithmetic='reference'.",
            "arithmetic",
            arithmetic,
        )
    if isinstance(solver, Pegasos):
        return
    if hasattr(model.problem, "kernel"):
        raise OptionError(
            "SDCA with a kernel has no steps in the R reference to compare; give "
            "solver='Pegasos'."
        )
    if solver.algorithm != "perm":
        raise OptionError(
            "SDCA goes on by Newton steps, which the R reference does not have; give "
            "algorithm='perm' for a model without intercept, or solver='Pegasos'."
        )
