"""A threshold of calibrated probabilities: chosen by some rows, judged by others."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from pegasos_stats.checks import check_rows_have_own
from pegasos_stats.data.counts import column_of_counts
from pegasos_stats.errors import OptionError
from pegasos_stats.rng import RRandom
from pegasos_stats.studies.calibrated_table import calibrated_table
from pegasos_stats.studies.platt import base_rate, fit_sigmoid
from pegasos_stats.studies.selection import fold_fits
from pegasos_stats.studies.selection.folds import Folds
from pegasos_stats.studies.selection.nested import within
from pegasos_stats.studies.threshold_results import (
    Part,
    Thresholds,
    judged,
    probability,
)
from pegasos_stats.studies.thresholds import (
    INNER,
    checked_target,
    inside_rows,
    new_rows,
    parts_of,
    rows_of,
)

if TYPE_CHECKING:
    from pegasos_stats.studies.calibrated_results import CalibratedResults


def calibrated_thresholds(
    found: "CalibratedResults",
    data: object = None,
    actual: object = None,
    *,
    metric: str | None = None,
    cost: object = None,
    positive: object = None,
    folds: object = None,
    repeats: int | None = None,
    groups: object = None,
    seed: int | None = None,
    freq_weights: object = None,
    offset: object = None,
    workers: int | None = None,
    progress: bool = False,
) -> Thresholds:
    """Choose a threshold of probabilities, see ``CalibratedResults.thresholds``."""
    result, drawn = found.result, found.validation.folds
    target, at = checked_target(metric, cost, positive, result.coding)
    new = not (data is None and actual is None)
    if new:
        rng = RRandom(seed)
        counts = column_of_counts(freq_weights, result.counted, data)
        table = calibrated_table(found, data, actual, 0.5, None, counts, offset)
        rows, codes = new_rows(table, data, counts, groups)
        size = INNER if folds is None else folds, 1 if repeats is None else repeats
        parts, drawn = parts_of(rows, codes, *size, rng)
    else:
        check_rows_have_own(freq_weights=freq_weights, offset=offset)
        for name, value in (("folds", folds), ("repeats", repeats), ("groups", groups)):
            if value is not None:
                raise OptionError(
                    f"{name}= is of new rows; leave it out, as without new rows the "
                    f"folds are those of the calibration, and give {name}= to "
                    "ps.calibrate()."
                )
        rng = RRandom(seed, sample_kind=found.validation.solver.sample_kind)
        parts = _out_of_fold(found, rng, workers, progress)
    given = rng.seed, target, probability(), result.coding, at
    return judged(parts, drawn, *given, out_of_fold=not new)


def _out_of_fold(
    found: "CalibratedResults", rng: RRandom, workers: int | None, progress: bool
) -> list[Part]:
    """Probabilities out of fold, and by inner folds those of the rows fitted on.

    A sigmoid of the scores of the inner folds makes them probabilities.
    """
    model, solver = found.validation.model, found.validation.solver
    folds, problem = found.validation.folds, model.problem
    inner = [within(model, folds, s, INNER, 1, rng) for s in folds.splits]
    every = Folds(tuple(s for each in inner for s in each.splits), folds.n)
    lam = np.array([problem.lam])
    tasks = fold_fits.fold_tasks(model, every, solver, lam, rng)
    fits = fold_fits.run_tasks(tasks, workers, progress)
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
