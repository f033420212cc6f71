"""Changes of a predictor: from level to level, by a number, infinitesimal."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_positive, number_of
from pegasos_stats.data.labels import Level
from pegasos_stats.errors import DataError, OptionError, counted, plain, shown
from pegasos_stats.models.effects.estimands import Estimand
from pegasos_stats.models.effects.rows import Rows, value_text

Contrasts = Literal["reference", "pairwise"]
Change = float | None

CONTRASTS: tuple[Contrasts, ...] = ("reference", "pairwise")
SLOPE = "dY/dX"
CENTRAL = float(np.cbrt(np.finfo(float).eps))  # of x: best for central differences
ONE_SIDED = float(np.sqrt(np.finfo(float).eps))  # and for those at an end of the range
JUMP = 1e-3  # of a term, where its predictor moves by some 1e-5 of itself
SMOOTH = 0.75  # of its move is more than a smooth term makes half the way
ROUNDING = 1e-12  # of a term


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
    default = None
    given: Mapping[object, object] = {}
    if isinstance(change, Mapping):
        given = {rows.checked([name])[0]: each for name, each in change.items()}
    elif change is not None:
        default = change
    found: dict[Level, tuple[str, Change]] = {}
    for name in names:
        each = given.get(name)
        each = default if each is None else each
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
