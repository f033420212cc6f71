"""Average effects and average predictions of a linear fit."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_choice, check_flag, check_positive, number_of
from pegasos_stats.data.labels import Level
from pegasos_stats.data.weights import column_of_counts, numbers_of_rows
from pegasos_stats.errors import (
    DataError,
    OptionError,
    counted,
    listing,
    plain,
    shown,
)
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.models.effects.estimands import Estimand, Heights, tested
from pegasos_stats.models.effects.margins import SLOPE, Margins
from pegasos_stats.models.effects.rows import (
    Place,
    Rows,
    levels_of,
    new_rows,
    training_rows,
    value_text,
    written,
)
from pegasos_stats.models.inference.options import Bootstrap, Sandwich
from pegasos_stats.models.inference.wald import why_none
from pegasos_stats.models.notes import Note

if TYPE_CHECKING:
    from pegasos_stats.models.linear_results import LinearResults


OVER_ROWS = "Means over the rows, in which other predictors have their own values."
OF_PENALISED = (
    "Estimates, errors and intervals are of the penalised fit, with lambda taken as "
    "fixed beforehand. They are for these rows: for the population that the rows are "
    "from, intervals would be wider."
)
INCREASED = (
    "+ is the change if each value is increased by this amount, or decreased where a "
    "term has no value for more."
)
AT_MEANS = "Predictors are at their means, factors at the shares of their levels."
NO_RESAMPLES = Note(
    "standard errors",
    "note",
    "There are no standard errors: those of shares are from resamples of the training "
    "rows, which are not in memory.",
)
Scale = Literal["response", "link"]
Key = tuple[str, str, Place, str]  # predictor, contrast or value, at= what, label

SCALES: tuple[Scale, ...] = ("response", "link")
RESAMPLES = Bootstrap(399)  # of shares, which are steps
NUMBERS = "one number for each row"
TIES = {"na": 0.5, "positive": 1.0, "negative": 0.0}
Contrasts = Literal["reference", "pairwise"]
Change = float | None

CONTRASTS: tuple[Contrasts, ...] = ("reference", "pairwise")
CENTRAL = float(np.cbrt(np.finfo(float).eps))  # of x: best for central differences
ONE_SIDED = float(np.sqrt(np.finfo(float).eps))  # and for those at an end of the range
JUMP = 1e-3  # of a term, where its predictor moves by some 1e-5 of itself
SMOOTH = 0.75  # of its move is more than a smooth term makes half the way
ROUNDING = 1e-12  # of a term


@suggest_arguments
@np.errstate(over="ignore", invalid="ignore")
def margins(
    self: "LinearResults",
    variables: object = None,
    data: object = None,
    *,
    at: object = None,
    contrasts: Contrasts = "reference",
    change: object = None,
    scale: Scale = "response",
    dummy: bool = False,
    weights: object = None,
    offset: object = None,
) -> Margins:
    """Average marginal effects of the predictors on the probability.

    For a numeric ``x`` this is the mean over the rows of ``dP/dx = P (1 - P)
    df/dx``; the derivative of the score ``f`` includes every term with ``x``, such
    as ``log(x)`` or ``x:g``. For factors and booleans it is the mean change of
    ``P`` from the reference level to each other level. For a hinge fit, which has
    no probabilities, it is the change in the share of rows predicted positive.

    Parameters
    ----------
    variables : str or list of str, optional
        Predictors by their names in the data; all if omitted.
    data : DataFrame or array, optional
        Rows to average over; those of the fit if omitted.
    at : "mean" or mapping of name to values, optional
        ``"mean"``: effects at the means of the predictors, and for factors at the
        shares of their levels. A mapping sets predictors to these values in all
        rows, in every combination.
    contrasts : "reference" or "pairwise"
        Each level against the reference level, or all pairs of levels.
    change : "sd", float or mapping of name to these, optional
        For numeric predictors, the effect of an increase by one standard deviation
        or by this amount, instead of the derivative. Default ``"sd"`` for the hinge
        and for predictors in step functions such as ``I(x > 3)``, which have no
        derivative. Where a term has no value for the increased predictor, as beyond
        the range of a spline, the change is from the value that is smaller by this
        amount.
    scale : "response" or "link"
        ``"link"``: effects on the score, which for the log loss is the log odds.
    dummy : bool, default False
        Whether to treat numeric predictors with only the values 0 and 1 as factors,
        as booleans are.
    weights : array, Series or a column's name, optional
        Weights of the rows of `data` in the means. For the rows of the fit its own
        row weights (not class weights) and ``freq_weights=`` are used.
    offset : array, Series or a column's name, optional
        Offset of the rows of `data`, if that of the fit was given as numbers; or
        instead of the column that the fit used.

    Returns
    -------
    Margins
        With ``tidy()``. Standard errors are by the delta method from the covariance
        of the fit, or from its bootstrap resamples; for hinge shares always from
        resamples, 399 if the fit has none.

    Raises
    ------
    OptionError
        If a name or an option is not known.
    DataError
        If there are no rows, as for a loaded fit without `data`.

    Notes
    -----
    Each row keeps its offset, even if a predictor in the offset is changed.
    Standard errors are conditional on the rows, as in ``get_margeff`` of
    statsmodels and the packages margins and marginaleffects. ``result.plot.margins``
    is something else: it draws the margins ``y f(x)`` of rows.

    References
    ----------
    Bartus, *Estimation of marginal effects using margeff*, Stata Journal 5 (2005).

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> data = pd.DataFrame({"y": list("aabab" * 6), "g": list("uvw" * 10)})
    >>> data["x"] = [float(i % 7) for i in range(30)]
    >>> result = ps.logit("y ~ g + x", data, lam=1e-6).fit(ps.SDCA(seed=1))
    >>> result.margins().tidy()[["term", "contrast", "estimate"]].round(3)
      term contrast  estimate
    0    g    v - u    -0.006
    1    g    w - u    -0.002
    2    x    dY/dX    -0.016
    """
    check_choice("contrasts", contrasts, CONTRASTS)
    check_flag("dummy", dummy)
    heights = heights_of(self, scale)
    rows = rows_of(self, data, weights, dummy, offset)
    names = rows.checked(variables)
    numbers = [name for name in names if name not in rows.levels]
    if contrasts == "pairwise" and variables is not None and numbers:
        raise OptionError(
            f"contrasts='pairwise' compares levels, and {listing(numbers)} is a "
            "number; give the difference to compare, such as change=10."
        )
    sloping = heights.curve != "share" and isinstance(change, Mapping | None)
    steps = without_slopes(rows, names) if sloping else names
    moved = checked_changes(change, rows, names, steps)
    at_means = isinstance(at, str) and at == "mean"

    def found() -> Iterable[tuple[Key, Estimand]]:
        for place in [{}] if at_means else rows.places(at, {*names} & {*rows.levels}):
            here = rows.at_means().at_known({}) if at_means else rows.at_known(place)
            each = effects(here, rows, names, moved, contrasts)
            for name, contrast, estimand in each:
                key = str(name), contrast, place, f"{name}: {contrast}"
                yield key, estimand

    kinds = {change is None for _, change in moved.values()}
    notes = [AT_MEANS if at_means else OVER_ROWS]
    notes += ["dY/dX is the derivative of the prediction."] * (True in kinds)
    notes += [INCREASED] * (False in kinds)
    notes += [
        f"{name} is in a step function, which has no derivative: it is changed by one "
        "standard deviation unless change= is given."
        for name in steps
        if sloping and moved[name][1] is not None
    ]
    title = "Marginal Effects at Means" if at_means else "Average Marginal Effects"
    return estimated(self, found(), rows, heights, title, "contrast", notes)


@suggest_arguments
@np.errstate(over="ignore", invalid="ignore")
def predictions(
    self: "LinearResults",
    variables: object = None,
    data: object = None,
    *,
    at: object = None,
    scale: Scale = "response",
    weights: object = None,
    offset: object = None,
) -> Margins:
    """Average adjusted predictions: mean probabilities by levels of predictors.

    The mean over the rows of the probability of the second level, with the named
    predictors set to the same values in all rows and the others as observed. For a
    hinge fit, the share of rows predicted positive.

    Parameters
    ----------
    variables : str or list of str, optional
        Predictors to set: a factor to each of its levels, a numeric predictor to its
        minimum, quartiles and maximum, or to all values if these are five at most;
        several in every combination. Without any, the mean prediction. Give other
        values by ``at=``.
    data, at, scale, weights, offset
        As for `margins`.

    Returns
    -------
    Margins
        With ``tidy()``, as for `margins`, but without tests.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> data = pd.DataFrame({"y": list("aabab" * 6), "g": list("uvw" * 10)})
    >>> result = ps.logit("y ~ g", data, lam=1e-9).fit(ps.SDCA(seed=1))
    >>> result.predictions("g").tidy()[["term", "value", "estimate"]].round(3)
      term value  estimate
    0    g     u       0.4
    1    g     v       0.4
    2    g     w       0.4
    """
    heights = heights_of(self, scale)
    rows = rows_of(self, data, weights, False, offset)
    names = [] if variables is None else rows.checked(variables)
    at_means = isinstance(at, str) and at == "mean"
    base = rows.at_means() if at_means else rows
    values = [rows.values(name) for name in names]
    settings = [
        (place, dict(zip(names, chosen, strict=True)))
        for place in ([{}] if at_means else rows.places(at, names))
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
    varied = {str(name): name for name in [*names, *settings[0][0]]}
    made = estimated(self, found(), rows, heights, title, "value", notes)
    numeric = {n: name for n, name in varied.items() if name not in rows.levels}
    return replace(made, observed={n: rows.numbers(k) for n, k in numeric.items()})


def heights_of(result: "LinearResults", scale: Scale) -> Heights:
    """What a prediction of the fit is, on this scale."""
    check_choice("scale", scale, SCALES)
    problem = result.problem
    if scale == "link":
        return Heights("score")
    if problem.loss == "log":
        return Heights("probability", problem.prior_shift)
    return Heights("share", tie=TIES[result.solver.ties])


def rows_of(
    result: "LinearResults",
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
    design, problem, are_counts = result.design, result.problem, False
    if data is None:
        if not problem.has_rows:
            raise DataError(
                "Effects are averaged over rows, and those of the fit are in files or "
                "not saved, not in memory; give data=."
            )
        if weights is not None:
            raise OptionError("weights= are of the rows of data=; give both.")
        frame = training_rows(design, problem.X, result.unread)
        known = result._matrix(offset=offset).offset
        each = problem.outcome_weights
    else:
        given = result._frame(data)
        matrix = result._matrix(given, offset=offset)
        kept, known = np.flatnonzero(matrix.kept), matrix.offset
        frame = new_rows(design, given, kept)
        each = np.ones(len(frame))
        if weights is None:
            weights = column_of_counts(None, result.counted, given)
            are_counts = weights is not None
        if weights is not None:
            index = given.index
            each = numbers_of_rows("weights", weights, given, index, NUMBERS)[kept]
    if not (np.isfinite(each).all() and each.sum() > 0.0):
        raise DataError(
            "weights are missing in a complete row, or 0 in all; give one for each row."
        )
    levels = levels_of(design, frame, dummy)
    shares = each / each.sum()
    number = int(each.sum()) if are_counts else len(frame)
    return Rows(design, problem.intercept, frame, shares, number, levels, offsets=known)


def estimated(
    result: "LinearResults",
    found: Iterable[tuple[Key, Estimand]],
    rows: Rows,
    heights: Heights,
    title: str,
    column: str,
    notes: list[str],
) -> Margins:
    """Estimate all, with errors of the fit; of shares from resamples."""
    theta = np.asarray(result.params, dtype=np.float64)
    options, problem = result.cov_type, result.problem
    missing = [] if result.has_covariance else why_none(problem, options)
    if heights.curve == "share" and isinstance(options, Sandwich):
        missing = [] if problem.has_rows else [NO_RESAMPLES]
        result = result.with_covariance(RESAMPLES) if problem.has_rows else result
    errors = None
    if not missing:  # for predictors as the fit has standardized them
        errors = result._errors.covariance.original(np.eye(len(theta)))
    keys: list[Key] = []

    def named() -> Iterable[tuple[str, Estimand]]:
        for key, estimand in found:
            keys.append(key)
            *_, place, label = key
            yield (f"{label} at {written(place)}" if place else label), estimand

    tests = tested(theta, errors, named(), heights, result._noise)
    if errors is not None:
        said = [f"{result._uncertainty.kind}."]
        if np.isnan(errors.matrix).all():
            said = [note.sentence for note in errors.notes]
        said += [note.sentence for note in result._uncertainty.separated()]
        notes = [*notes, *said]
        notes.append(OF_PENALISED)
    notes = [*notes, *(note.sentence for note in missing)]
    positive = result.coding.positive
    outcomes = {
        "probability": f"probability of {plain(positive)}",
        "share": f"share predicted {plain(positive)}",
        "score": "log odds" if problem.loss == "log" else "score",
    }
    header = [
        (f"{result.coding.name}:", outcomes[heights.curve]),
        ("Averaged over:", counted(rows.number, "row")),
        ("Loss:", problem.loss),
        ("lambda:", problem.lambda_text),
    ]
    table = pd.DataFrame(
        {
            "term": [term for term, *_ in keys],
            column: [contrast for _, contrast, *_ in keys],
        }
        | {f"at_{name}": [place[name] for *_, place, _ in keys] for name in keys[0][2]}
    )
    shares = heights.curve != "score"
    return Margins(table, tests, title, header, notes, shares)


def checked_changes(
    change: object, rows: Rows, names: Sequence[Level], steps: Collection[Level]
) -> dict[Level, tuple[str, Change]]:
    """By how much each numeric predictor is moved, with a name of it; None for slopes.

    Parameters
    ----------
    change : None, "sd", number, or mapping of name to one of these
    rows : Rows
    names : list
        Predictors whose effects are asked for.
    steps : collection
        Those that have no slopes: they are moved by a standard deviation, if nothing
        else is said.

    Raises
    ------
    OptionError
    """
    of_names = change if isinstance(change, Mapping) else dict.fromkeys(names, change)
    given = {rows.checked([name])[0]: each for name, each in of_names.items()}
    found: dict[Level, tuple[str, Change]] = {}
    for name in names:
        each = given.get(name)
        each = "sd" if each is None and name in steps else each
        if name in rows.levels:
            continue
        if each is None:
            found[name] = SLOPE, None
        elif isinstance(each, str) and each == "sd":
            found[name] = "+ 1 sd", rows.spread(name)
        elif np.isfinite(number_of(each)):
            found[name] = f"+ {plain(each)}", check_positive("change", each)
        else:
            raise OptionError(
                f"change={shown(change)} is not allowed; give 'sd', a number above "
                "zero, or these by name, such as change={'x': 10}."
            )
    return found


def without_slopes(rows: Rows, names: Sequence[Level]) -> list[Level]:
    """Numeric predictors in terms that are steps, such as ``I(x > 3)``.

    A step stays as it is, or jumps, where its predictor moves by very little.
    """
    found: list[Level] = []
    for name in names if rows.composed else ():
        if name in rows.levels:
            continue
        x = rows.numbers(name)
        others = np.where(rows.valued({name: np.roll(x, 1)}), np.roll(x, 1), x)
        below, above = around(rows, rows, name)
        each = [x, others, below, above, (below + x) / 2.0, (x + above) / 2.0]
        frames = (rows.at({name: values}).frame for values in each)
        base, other, *near = rows.batches(frames)
        size = np.abs(other - base).max(axis=0)
        move, half = (np.abs(b - a).max(axis=0) for a, b in (near[:2], near[2:]))
        stays = (size > 0.0) & (move == 0.0)
        constant = (half > SMOOTH * move) & (move > ROUNDING)
        jumps = np.where(size > 0.0, move > JUMP * size, constant)
        if (stays | jumps).any():
            found.append(name)
    return found


def effects(
    here: Rows,
    whole: Rows,
    names: Sequence[Level],
    changes: Mapping[Level, tuple[str, Change]],
    contrasts: Contrasts,
) -> Iterator[tuple[Level, str, Estimand]]:
    """Name, contrast and estimand of each effect.

    Parameters
    ----------
    here : Rows
        Where effects are taken.
    whole : Rows
        The same rows with their own values, whose range is not left.
    names : list
    changes : dict
        Of numeric predictors, see `checked_changes`.
    contrasts : "reference" or "pairwise"
    """
    pairs: dict[Level, tuple[Vector, Vector]] = {}
    for name, (words, change) in changes.items():
        if change is None:
            pairs[name] = around(here, whole, name)
        else:
            pairs[name] = _changed(here, name, words, change)
    estimand = partial(Estimand, here.shares, offset=here.offset)
    stream = here.batches(
        frame for name in names for frame in _frames(here, name, changes, pairs)
    )
    for name in names:
        if name in here.levels:
            levels = here.levels[name]
            found = [next(stream) for _ in levels]
            for a, b in combinations(range(len(levels)), 2):
                if a == 0 or contrasts == "pairwise":
                    contrast = f"{value_text(levels[b])} - {value_text(levels[a])}"
                    yield name, contrast, estimand(found[b], found[a])
            continue
        contrast, change = changes[name]
        if change is not None:
            low, high = next(stream), next(stream)
            yield name, contrast, estimand(high, low)
            continue
        base, low, high = (next(stream) for _ in range(3))
        width = pairs[name][1] - pairs[name][0]
        if here.averaged:
            width = width[:1]  # the same in all rows
        direction = (high - low) / width[:, None]
        yield name, contrast, estimand(base, direction=direction)


def around(here: Rows, whole: Rows, name: Level) -> tuple[Vector, Vector]:
    """Values just below and above those of a predictor, within its range.

    Steps are relative where all values have one sign, so that ``log(x)`` stays defined;
    else they are relative to the standard deviation too.
    """
    x, known = here.numbers(name), whole.numbers(name)
    spread = whole.spread(name) or 1.0
    one_sign = (known >= 0.0).all() or (known <= 0.0).all()
    small = np.abs(x) if one_sign else np.maximum(np.abs(x), spread)
    size = np.where(small > 0.0, small, spread)
    low, high = x - CENTRAL * size, x + CENTRAL * size
    least, most = float(known.min()), float(known.max())
    if least < most:
        at_start = (x >= least) & (low < least)
        at_end = (x <= most) & (high > most) & ~at_start
        low = np.where(at_start, x, low)
        high = np.where(at_start, x + ONE_SIDED * size, high)
        low = np.where(at_end, x - ONE_SIDED * size, low)
        high = np.where(at_end, x, high)
    down, up = (here.valued({name: values}) for values in (low, high))
    low = np.where(up, low, x - ONE_SIDED * size)
    high = np.where(down, high, x + ONE_SIDED * size)
    return np.where(down, low, x), np.where(up, high, x)


def _changed(
    here: Rows, name: Level, words: str, change: float
) -> tuple[Vector, Vector]:
    """Values before and after a change.

    It is one from ``x``, but where a term has no value for what is larger.
    """
    x = here.numbers(name)
    up = here.valued({name: x + change})
    low, high = np.where(up, x, x - change), np.where(up, x + change, x)
    without = int((~here.valued({name: low})).sum())
    if without:
        much = words.removeprefix("+ ")
        raise DataError(
            f"A term of the formula has no value for {name} + {much} nor for {name} - "
            f"{much}, in {counted(without, 'row')}; give a smaller change=."
        )
    return low, high


def _frames(
    here: Rows,
    name: Level,
    changes: Mapping[Level, tuple[str, Change]],
    pairs: Mapping[Level, tuple[Vector, Vector]],
) -> list[pd.DataFrame]:
    if name in here.levels:
        return [here.at_known({name: v}).frame for v in here.levels[name]]
    each = [here.at({name: values}).frame for values in pairs[name]]
    return each if changes[name][1] is not None else [here.frame, *each]
