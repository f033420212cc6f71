"""Choice of a threshold by scores of rows that no fit has seen; its performance."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pegasos_stats.arrays import Codes, Rows, Vector
from pegasos_stats.checks import (
    check_choice,
    check_count,
    check_nonnegative,
    check_rows_have_own,
)
from pegasos_stats.data.data_frame import as_data
from pegasos_stats.data.design import row_labels
from pegasos_stats.data.foreign import position_of
from pegasos_stats.data.groups import Lines
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.language.design import Unseen
from pegasos_stats.data.scan.files import Scan
from pegasos_stats.data.scan.matrix_in_files import Elsewhere
from pegasos_stats.data.weights import column_of_counts, repeated
from pegasos_stats.errors import DataError, OptionError, shown
from pegasos_stats.metrics.inputs import positive_position
from pegasos_stats.metrics.matrix import ConfusionMatrix
from pegasos_stats.metrics.thresholds import CHOOSING, ScoredRows, Target
from pegasos_stats.models.base import Model
from pegasos_stats.models.predicting import thresholded
from pegasos_stats.models.results import Results
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.selection import fold_fits
from pegasos_stats.studies.selection.fold_fits import Fitted
from pegasos_stats.studies.selection.folds import (
    Folds,
    checked_folds,
    drawn_folds,
    whole_groups,
)
from pegasos_stats.studies.selection.nested import within
from pegasos_stats.studies.selection.side_by_side import run_tasks
from pegasos_stats.studies.threshold_results import (
    Part,
    Thresholds,
    judged,
    scale_of,
)

INNER = 5  # folds of the rows of each fit, by which its threshold is chosen
METRIC = "balanced_accuracy"
LARGEST_COST = 1e100  # whose square is a number
BOTH = ("false_positive", "false_negative")


def chosen_thresholds(
    result: Results,
    data: object = None,
    actual: object = None,
    *,
    metric: str | None = None,
    cost: object = None,
    positive: object = None,
    folds: object = INNER,
    repeats: int = 1,
    groups: object = None,
    seed: int | None = 1,
    unseen: Unseen = "error",
    freq_weights: object = None,
    offset: object = None,
    workers: int | None = None,
    progress: bool = False,
) -> Thresholds:
    """Choose the threshold of a fit, see ``result.thresholds()``."""
    problem, new = result.problem, not (data is None and actual is None)
    target, at = checked_target(metric, cost, positive, result.coding)
    if isinstance(data, Scan):
        as_data(data)  # says that it takes rows in memory
    if new:
        rng = RRandom(seed)
        counts = column_of_counts(freq_weights, result.counted, data)
        table = result.confusion(
            data, actual, unseen=unseen, freq_weights=counts, offset=offset
        )
        rows, codes = new_rows(table, data, counts, groups)
        rows = replace(rows, values=thresholded(rows.values, problem))
        parts, drawn = parts_of(rows, codes, folds, repeats, rng)
    else:
        check_rows_have_own(freq_weights=freq_weights, offset=offset)
        model = result.model
        if model is None:
            X = problem.X
            why = f"A fit of {X.noun}" if isinstance(X, Elsewhere) else "A loaded fit"
            raise DataError(
                f"{why} does not hold the rows to choose a threshold by; give new "
                "rows: thresholds(data)."
            )
        solver = fold_fits.checked_fold_solver(
            model, result.refinement or result.solver, SDCA()
        )
        rng = RRandom(seed, sample_kind=solver.sample_kind)
        if groups is None and (own := getattr(result, "groups", None)) is not None:
            groups = replace(own, codes=own.codes[:1])  # of two kinds the first
        drawn = checked_folds(folds, repeats, model._sample, rng, groups)
        parts = out_of_fold(model, solver, drawn, rng, workers, progress)
    return judged(
        parts,
        drawn,
        rng.seed,
        target,
        scale_of(problem),
        result.coding,
        at,
        out_of_fold=not new,
    )


def out_of_fold(
    model: Model,
    solver: Pegasos | SDCA,
    folds: Folds,
    rng: RRandom,
    workers: int | None,
    progress: bool,
) -> list[Part]:
    """Score the rows of every fold, and by inner folds those that it is fitted on.

    Seeds of the fits are drawn as by `cross_validate`, so that scores are its scores;
    then come the inner folds and the seeds of their fits.
    """
    lam, problem = np.array([model.problem.lam]), model.problem
    tasks = fold_fits.fold_tasks(model, folds, solver, lam, rng)
    inner = [within(model, folds, s, INNER, 1, rng) for s in folds.splits]
    every = Folds(tuple(s for each in inner for s in each.splits), folds.n)
    tasks += fold_fits.fold_tasks(model, every, solver, lam, rng)
    fits = run_tasks(tasks, workers, progress)
    fold_fits.warn_of_gaps(solver, [fit.certificates[0] for fit in fits])
    outer, rest = fits[: len(folds)], fits[len(folds) :]
    parts = []
    for split, fit, inside in zip(
        folds.splits, outer, inside_rows(problem, inner, rest), strict=True
    ):
        outside = rows_of(problem, split.test, fit.scores[0])
        parts.append(
            Part(
                split,
                *(
                    replace(rows, values=thresholded(rows.values, problem))
                    for rows in (inside, outside)
                ),
            )
        )
    return parts


def inside_rows(
    problem: Problem, inner: Sequence[Folds], fits: Sequence[Fitted]
) -> list[ScoredRows]:
    """Rows that each fold is fitted on, with the scores of the fits of their folds.

    Parameters
    ----------
    problem : Problem
    inner : sequence of Folds
        Those of the rows of each fold.
    fits : sequence of Fitted
        One for each split of `inner`, in their order.
    """
    rest, found = iter(fits), []
    for own in inner:
        tested = np.concatenate([split.test for split in own.splits])
        scores = np.concatenate([next(rest).scores[0] for _ in own.splits])
        found.append(rows_of(problem, tested, scores))
    return found


def rows_of(problem: Problem, rows: Rows, scores: Vector) -> ScoredRows:
    """Rows of a problem with their scores."""
    return ScoredRows(scores, problem.y[rows] > 0.0, problem.outcome_weights[rows])


def new_rows(
    table: ConfusionMatrix, data: object, counts: object, groups: object
) -> tuple[ScoredRows, Codes | None]:
    """New rows with label and score, each as often as it counts, and their groups.

    Raises
    ------
    DataError
        If they are rows of the fit, or some are.
    """
    if table.source.endswith("training"):
        some = table.source != "training"
        which = f"{table.n_seen:,} of the rows are" if some else "These are the"
        raise DataError(
            f"{which} rows of the fit, on which scores are too far apart to "
            "choose a threshold; leave data out for scores out of fold, or give new "
            "rows."
        )
    found = table.scored
    assert found is not None  # a fit gives scores
    assert found.scores is not None
    known = (found.codes >= 0) & ~np.isnan(found.scores)
    values = found.scores[known]
    rows = ScoredRows(values, found.codes[known] > 0, np.ones(values.size))
    if groups is None:
        return rows, None
    index = row_labels(data)
    positions = np.arange(len(index))
    if counts is not None:
        positions = repeated(counts, data, index)
    return rows, whole_groups(Lines.of(data, positions[known], index), groups)


def parts_of(
    rows: ScoredRows, codes: Codes | None, folds: object, repeats: object, rng: RRandom
) -> tuple[list[Part], Folds]:
    """Part new rows into folds: a threshold is chosen by all but one, and judged by it.

    Parameters
    ----------
    rows : ScoredRows
    codes : int array or None
        Groups that folds keep whole.
    folds, repeats : int
    rng : RRandom
    """
    drawn = drawn_folds(
        rows.second.astype(np.intp),
        check_count("folds", folds),
        check_count("repeats", repeats),
        rng,
        codes,
    )
    return [
        Part(split, rows.taken(split.train), rows.taken(split.test))
        for split in drawn.splits
    ], drawn


def checked_target(
    metric: object, cost: object, positive: object, coding: LabelCoding
) -> tuple[Target, int]:
    """Read what the threshold is chosen by, and which level is the positive class.

    Parameters
    ----------
    metric : str or None
    cost : dict or None
        By ``"false_positive"`` and ``"false_negative"``, or by the levels: what it
        costs to mistake a row of that level for one of the other.
    positive : label or None
        The second level if None.
    coding : LabelCoding

    Returns
    -------
    target : Target
    positive : int
        Position of the positive class.

    Raises
    ------
    OptionError
        If both or neither make sense, costs are none, or there is no such level.
    """
    at = positive_position(coding.levels, positive)
    if cost is None:
        name = METRIC if metric is None else metric
        check_choice("metric", name, CHOOSING)
        assert isinstance(name, str)
        return Target(name), at
    if metric is not None:
        raise OptionError(
            f"metric={shown(metric)} and cost={shown(cost)} exclude each other; give "
            "one of them."
        )
    levels = coding.levels
    by_error = (levels[1 - at], levels[at])  # a false positive is not one
    keys = list(cost) if isinstance(cost, Mapping) else []
    for names in (by_error, BOTH):
        places = [position_of(key, names) for key in keys]
        if sorted(places) == [0, 1]:
            assert isinstance(cost, Mapping)
            paid = [
                check_nonnegative("cost", cost[keys[places.index(j)]]) for j in (0, 1)
            ]
            if max(paid) > LARGEST_COST:
                cure = f"give numbers of {LARGEST_COST:g} at most."
                raise OptionError(f"is not allowed; {cure}", "cost", cost)
            if any(paid):
                return Target("cost", *paid), at
    raise OptionError(
        f"cost={shown(cost)} is not allowed; give what wrong decisions cost, one of "
        "them above zero: {'false_positive': 1, 'false_negative': 5}, or by the actual "
        f"level, {{{levels[0]!r}: 1, {levels[1]!r}: 5}}."
    )
