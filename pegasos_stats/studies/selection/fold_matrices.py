"""The rows of a fold as numbers: what is learnt of them comes from those to fit."""

from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np

from pegasos_stats.arrays import Predictors, Rows
from pegasos_stats.data.columns import Mask, selected
from pegasos_stats.data.design import ModelMatrix
from pegasos_stats.data.formula_design import FormulaDesign
from pegasos_stats.data.scaling import ScaledDesign, Scaling
from pegasos_stats.data.weights import mean_one
from pegasos_stats.errors import DataError, counted
from pegasos_stats.models.base import Model
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.studies.selection.folds import Split

ONE_AT_A_TIME = Lock()  # formulas are evaluated with the filters of warnings changed


def training(model: Model, split: Split) -> tuple[Problem, Predictors, Mask]:
    """Return the problem of the rows to fit, and the predictors of those held out.

    What was estimated from all rows is estimated again from those to fit: what the
    transforms of a formula keep, such as the mean of ``scale()`` and the knots of
    ``bs()``; the scaling of ``standardize=True``; and the mean of the weights.

    Returns
    -------
    problem : Problem
    held_out : array, shape (m, p)
    scored : bool array, shape (n_test,)
        Which of the rows held out these are: a transform may have no value for a row,
        as ``cut(x, 3)`` beyond the range of the rows to fit.

    Raises
    ------
    DataError
        If a transform has no value for any row to fit.
    """
    whole, rows = model.problem, split.train
    scored = np.ones(len(split.test), dtype=bool)
    anew = _learnt_anew(model, split)
    if anew is None:
        X, held_out = _taken(whole, rows, rows), _taken(whole, split.test, rows)
    else:
        fitted, tested = anew
        X, rows = fitted.values, rows[fitted.kept]
        held_out, scored = tested.values, tested.kept
    if getattr(model, "scaling", None) is not None:
        # Scaled columns scaled again are the columns scaled once.
        scaling = Scaling.of(X, whole.intercept)
        X, held_out = scaling.apply(X), scaling.apply(held_out)
    weights = None if whole.weights is None else mean_one(whole.weights[rows])
    offset = None if whole.offset is None else whole.offset[rows]
    given = {"X": X, "y": whole.y[rows], "weights": weights, "offset": offset}
    return replace(whole, **given), held_out, scored


def _learnt_anew(model: Model, split: Split) -> tuple[ModelMatrix, ModelMatrix] | None:
    """Rows to fit and rows held out, by what transforms find in the rows to fit.

    None where the formula has no such transform, or there is none.

    Raises
    ------
    DataError
        As for `training`.
    """
    design, lines = model.design, model._sample.lines
    if isinstance(design, ScaledDesign):
        design = design.design
    if not isinstance(design, FormulaDesign) or not design.learns:
        return None
    assert lines is not None
    assert lines.frame is not None  # formulas are of frames
    fitted, tested = (
        lines.frame.iloc[lines.positions[rows]] for rows in (split.train, split.test)
    )
    with ONE_AT_A_TIME:
        learnt = design.learnt_on(fitted)
        found = learnt.matrix(fitted)
        if not found.kept.any():
            raise DataError(
                f"Fold {split.fold!r} of repeat {split.repeat} has "
                f"{counted(split.n_train, 'row')} to fit, and none has a value in all "
                "terms of the formula; give larger folds, or take out the transform."
            )
        return found, learnt.matrix(learnt.without_unseen(tested).data)


def _taken(problem: Problem, rows: Rows, columns: Rows) -> Any:
    """Take rows of the predictors, and these columns of a precomputed kernel."""
    if isinstance(problem, KernelProblem) and problem.kernel.name == "precomputed":
        return np.ascontiguousarray(problem.X[np.ix_(rows, columns)])
    if np.array_equal(rows, np.arange(problem.n)):
        return selected(problem.X, np.ones(problem.n, dtype=bool))
    taken = problem.X[rows]
    return np.ascontiguousarray(taken) if isinstance(taken, np.ndarray) else taken
