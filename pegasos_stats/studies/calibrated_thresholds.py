"""Thresholds of calibrated probabilities, chosen and evaluated on different rows."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from pegasos_stats.errors import OptionError
from pegasos_stats.rng import RRandom
from pegasos_stats.studies.platt import base_rate, fit_sigmoid
from pegasos_stats.studies.selection import fold_fits
from pegasos_stats.studies.selection.folds import Folds
from pegasos_stats.studies.selection.nested import within
from pegasos_stats.studies.selection.side_by_side import run_tasks
from pegasos_stats.studies.threshold_results import Part
from pegasos_stats.studies.thresholds import INNER, inside_rows, rows_of

if TYPE_CHECKING:
    from pegasos_stats.studies.calibrated_results import CalibratedResults


def check_folds_are_drawn(**given: object) -> None:
    """Raise OptionError if folds are asked for that the calibration has drawn."""
    for name, value in given.items():
        if value is not None:
            raise OptionError(
                f"{name}= is of new rows; leave it out, as without new rows the "
                f"folds are those of the calibration, and give {name}= to "
                "ps.calibrate()."
            )


def calibrated_parts(
    found: "CalibratedResults", rng: RRandom, workers: int | None, progress: bool
) -> list[Part]:
    """Probabilities out of fold, and by inner folds those of the rows fitted on.

    A sigmoid of the scores of the inner folds makes them probabilities.
    """
    model, solver = found.validation.model, found.validation.solver
    folds, problem = found.validation.folds, model.problem
    inner = [within(model, folds, s, INNER, 1, rng) for s in folds.splits]
    every = Folds(tuple(s for each in inner for s in each.splits), folds.n)
    lam = np.array([found.result.problem.lam])
    tasks = fold_fits.fold_tasks(model, every, solver, lam, rng)
    fits = run_tasks(tasks, workers, progress)
    fold_fits.warn_of_gaps(solver, [fit.certificates[0] for fit in fits])
    fitting = base_rate if found.without_scores else fit_sigmoid
    logits, parts = found.logits.to_numpy(), []
    for split, inside in zip(
        folds.splits, inside_rows(problem, inner, fits), strict=True
    ):
        labels = np.where(inside.second, 1.0, -1.0)
        sigmoid = fitting(labels, inside.values, inside.weights)
        own = expit(logits[split.test, split.repeat - 1])
        parts.append(
            Part(
                split,
                replace(inside, values=expit(sigmoid.logits(inside.values))),
                rows_of(problem, split.test, own),
            )
        )
    return parts
