"""Average effects and average predictions of a linear fit."""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from pegasos_stats.checks import check_choice, check_flag
from pegasos_stats.data.counts import column_of_counts
from pegasos_stats.data.labels import Level
from pegasos_stats.data.scan.elsewhere import Elsewhere
from pegasos_stats.data.weights import numbers_of_rows
from pegasos_stats.errors import DataError, OptionError, counted, listing, plain
from pegasos_stats.models.effects import changes
from pegasos_stats.models.effects.estimands import Estimand, Heights, tested
from pegasos_stats.models.effects.margins import Margins
from pegasos_stats.models.effects.rows import (
    Place,
    Rows,
    levels_of,
    new_rows,
    training_rows,
    value_text,
    written,
)
from pegasos_stats.models.inference.estimating import has_rows, why_none
from pegasos_stats.models.inference.options import Bootstrap
from pegasos_stats.models.notes.note import Note
from pegasos_stats.tables import significant

if TYPE_CHECKING:
    from pegasos_stats.models.linear_effects import LinearEffects

Scale = Literal["response", "link"]
Key = tuple[str, str, Place, str]  # predictor, contrast or value, at= what, label

SCALES: tuple[Scale, ...] = ("response", "link")
RESAMPLES = Bootstrap(399, seed=1, interval="symmetric")  # of shares, which are steps
FIVE = (0.0, 0.25, 0.5, 0.75, 1.0)
OVER_ROWS = "Means over the rows, in which other predictors have their own values."
AT_MEANS = "Predictors are at their means, factors at the shares of their levels."
NUMBERS = "one number for each row"
NO_RESAMPLES = (
    "There are no standard errors: those of shares are from resamples of the training "
    "rows, which a saved model does not hold; fit with cov_type='bootstrap', and ask "
    "for result.bse before saving."
)
NONE_IN_FILES = (
    "There are no standard errors: those of shares are from resamples of the training "
    "rows in memory, and those of the fit are in files; fit a sample of them that is "
    "read into memory."
)
TIES = {"na": 0.5, "positive": 1.0, "negative": 0.0}


@np.errstate(over="ignore", invalid="ignore")
def margins_of(
    result: "LinearEffects",
    variables: object,
    data: object,
    at: object,
    contrasts: changes.Contrasts,
    change: object,
    scale: Scale,
    dummy: bool,
    weights: object,
    offset: object,
) -> Margins:
    """Effects, see `LinearEffects.margins`."""
    check_choice("contrasts", contrasts, changes.CONTRASTS)
    check_flag("dummy", dummy)
    heights = heights_of(result, scale)
    rows = rows_of(result, data, weights, dummy, offset)
    names = rows.checked(variables)
    sloping = heights.curve != "share" and isinstance(change, Mapping | None)
    steps = changes.without_slopes(rows, names) if sloping else names
    moved = changes.checked_changes(change, rows, names, steps)
    at_means = isinstance(at, str) and at == "mean"

    def found() -> Iterable[tuple[Key, Estimand]]:
        for place in [{}] if at_means else rows.places(at):
            here = rows.at_means().at_known({}) if at_means else rows.at_known(place)
            each = changes.effects(here, rows, names, moved, contrasts, lowered)
            for name, contrast, estimand in each:
                key = str(name), contrast, place, f"{name}: {contrast}"
                yield key, estimand
        for name, count in lowered.items():
            much = moved[name][0].removeprefix("+ ")
            notes.append(
                f"Where a term has no value for {name} + {much}, in "
                f"{counted(count, 'row')}, the change is that from {name} - {much}."
            )

    lowered: dict[Level, int] = {}
    kinds = {change is None for _, change in moved.values()}
    notes = [AT_MEANS if at_means else OVER_ROWS]
    notes += ["dY/dX is the derivative of the prediction."] * (True in kinds)
    notes += ["+ is the change if each value is increased by this amount."] * (
        False in kinds
    )
    notes += [
        f"{name} is in a step function, which has no derivative: it is changed by one "
        "standard deviation unless change= is given."
        for name in steps
        if sloping and moved[name][1] is not None
    ]
    if still := [name for name, (_, change) in moved.items() if change == 0.0]:
        notes.append(
            f"{listing(still)} {'is' if len(still) == 1 else 'are'} the same in all "
            "rows: the standard deviation is 0, and so is the effect, unless change= "
            "is given."
        )
    title = "Marginal Effects at Means" if at_means else "Average Marginal Effects"
    return estimated(result, found(), rows, heights, title, "contrast", notes)


@np.errstate(over="ignore", invalid="ignore")
def predictions_of(
    result: "LinearEffects",
    variables: object,
    data: object,
    at: object,
    scale: Scale,
    weights: object,
    offset: object,
) -> Margins:
    """Predictions, see `LinearEffects.predictions`."""
    heights = heights_of(result, scale)
    rows = rows_of(result, data, weights, False, offset)
    names = [] if variables is None else rows.checked(variables)
    at_means = isinstance(at, str) and at == "mean"
    base = rows.at_means() if at_means else rows
    values = [_values(rows, name) for name in names]
    settings = [
        (place, dict(zip(names, chosen, strict=True)))
        for place in ([{}] if at_means else rows.places(at))
        for chosen in product(*values)
    ]
    stream = base.batches(
        base.at_known(place | chosen).frame for place, chosen in settings
    )
    term = ":".join(str(name) for name in names) or "all rows"

    def found() -> Iterable[tuple[Key, Estimand]]:
        for (place, chosen), Z in zip(settings, stream, strict=True):
            value = ", ".join(value_text(each) for each in chosen.values())
            key = term, value, place, written(chosen) or term
            yield key, Estimand(base.shares, Z, offset=base.offset)

    notes = [AT_MEANS if at_means else OVER_ROWS]
    title = "Predictions at Means" if at_means else "Average Predictions"
    return estimated(result, found(), rows, heights, title, "value", notes)


def heights_of(result: "LinearEffects", scale: Scale) -> Heights:
    """What a prediction of the fit is, on this scale."""
    check_choice("scale", scale, SCALES)
    problem = result.problem
    if scale == "link":
        return Heights("score")
    if problem.loss == "log":
        return Heights("probability", problem.prior_shift)
    return Heights("share", tie=TIES[result.solver.ties])


def rows_of(
    result: "LinearEffects",
    data: object,
    weights: object,
    dummy: bool,
    offset: object = None,
) -> Rows:
    """Rows to average over: those of the fit, or the complete ones of new data.

    Raises
    ------
    DataError
        If there are none.
    """
    design, problem = result.design, result.problem
    if data is None:
        if not has_rows(problem):
            files = isinstance(problem.X, Elsewhere)
            why = "those of the fit are in files; give data=, rows in memory."
            if not files:
                why = "a loaded fit does not hold those it was made of; give data=."
            raise DataError(f"Effects are averaged over rows, and {why}")
        if weights is not None:
            raise OptionError(
                "weights= are of the rows of data=; give both, or neither: the rows of "
                "the fit count as they did there."
            )
        frame = training_rows(design, problem.X, result.unread)
        known = result._rows.matrix(offset=offset).offset
        each = problem.outcome_weights
    else:
        given = result._rows.frame(data)
        matrix = result._rows.matrix(given, offset=offset)
        kept, known = np.flatnonzero(matrix.kept), matrix.offset
        frame = new_rows(design, given, kept)
        each = np.ones(len(frame))
        if weights is None:
            weights = column_of_counts(None, result.counted, given)
        if weights is not None:
            index = given.index
            each = numbers_of_rows("weights", weights, given, index, NUMBERS)[kept]
    if not (np.isfinite(each).all() and each.sum() > 0.0):
        raise DataError(
            "weights are missing in a complete row, or 0 in all; give a number of 0 or "
            "more for each row, above 0 for some."
        )
    levels = levels_of(design, frame, dummy)
    shares = each / each.sum()
    return Rows(design, problem.intercept, frame, shares, levels, offsets=known)


def estimated(
    result: "LinearEffects",
    found: Iterable[tuple[Key, Estimand]],
    rows: Rows,
    heights: Heights,
    title: str,
    column: str,
    notes: list[str],
) -> Margins:
    """Estimate all, with errors of the fit; of shares from resamples."""
    theta = np.asarray(result.params, dtype=np.float64)
    missing = why_none(result.problem, result.cov_type)
    from_rows = isinstance(result.cov_type, Bootstrap) or heights.curve != "share"
    if from_rows and result.has_covariance:
        missing = []
    elif not (from_rows or missing) and isinstance(result.problem.X, Elsewhere):
        missing = [Note("standard errors", "note", NONE_IN_FILES)]
    elif not (from_rows or missing):
        result = result.with_covariance(RESAMPLES)
    elif result.has_covariance:
        missing = [Note("standard errors", "note", NO_RESAMPLES)]
    errors = None
    if not missing:  # for predictors as the fit has standardized them
        errors = result._errors.covariance.original(np.eye(len(theta)))
    keys: list[Key] = []

    def named() -> Iterable[tuple[str, Estimand]]:
        for key, estimand in found:
            keys.append(key)
            *_, place, label = key
            yield (f"{label} at {written(place)}" if place else label), estimand

    tests = tested(theta, errors, named(), heights)
    if errors is not None:
        notes = [*notes, f"Standard errors: {errors.description}; rows as given."]
    notes = [*notes, *(note.sentence for note in missing)]
    problem, positive = result.problem, result.coding.positive
    outcomes = {
        "probability": f"probability of {plain(positive)}",
        "share": f"share predicted {plain(positive)}",
        "score": "log odds" if problem.loss == "log" else "score",
    }
    header = [
        (f"{result.coding.name}:", outcomes[heights.curve]),
        ("Averaged over:", f"{len(rows.frame):,} rows"),
        ("Loss:", problem.loss),
        ("lambda:", significant(problem.lam, 6)),
    ]
    table = pd.DataFrame(
        {
            "term": [term for term, *_ in keys],
            column: [contrast for _, contrast, *_ in keys],
        }
        | {f"at_{name}": [place[name] for *_, place, _ in keys] for name in keys[0][2]}
    )
    return Margins(table, tests, title, header, notes)


def _values(rows: Rows, name: Level) -> list[object]:
    """Levels of a factor; of numbers the smallest, quartiles and the largest."""
    if name in rows.levels:
        return list(rows.levels[name])
    return [float(v) for v in np.quantile(rows.numbers(name), FIVE)]
