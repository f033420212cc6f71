"""Checks of the arguments of `confusion` and other metrics: labels, scores, options."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Codes, DataColumn, Mask, Vector
from pegasos_stats.checks import check_choice, check_positive, number_of
from pegasos_stats.data.labels import Level, distinct, factor_levels, positions
from pegasos_stats.data.user_data import (
    check_aligned,
    column_of_labels,
    floats_of,
    is_single,
    position_of,
)
from pegasos_stats.errors import (
    DataError,
    LabelError,
    OptionError,
    counted,
    listing,
    plain,
    shown,
)

Mode = Literal["sens_spec", "prec_recall", "everything"]
EventLevel = Literal["second", "first"]
Levels = Sequence[Level]

MODES = ("sens_spec", "prec_recall", "everything")
EVENT_LEVELS = ("second", "first")
BY_RATES = ("sensitivity", "specificity", "pos_pred_value", "neg_pred_value")
BY_PRECISION = ("precision", "recall")
SUM_TOLERANCE = 1e-6  # maximum difference between 1 and the sum of probabilities
MOST_OTHERS = 10  # predicted labels that are not actual; more suggest scores
LARGEST_BETA = 1e100  # of the F measure; its square is finite


def printed_terms(names: Iterable[str], mode: Mode) -> list[str]:
    """Return the statistics of a class that caret prints in this mode.

    Examples
    --------
    >>> printed_terms(["sensitivity", "recall", "f2", "prevalence"], "prec_recall")
    ['recall', 'f2', 'prevalence']
    """
    if mode == "everything":
        return list(names)
    if mode == "prec_recall":
        return [name for name in names if name not in BY_RATES]
    f_measures = re.compile(r"f\d")
    return [n for n in names if n not in BY_PRECISION and not f_measures.match(n)]


def side_by_side(
    actual: object, predicted: object, name: str = "predicted"
) -> pd.DataFrame:
    """Put actual and predicted labels into one frame with the same rows.

    Scores may replace the predictions; `name` is for messages.

    Raises
    ------
    DataError
        If the lengths or row labels differ.
    """
    left = column_of_labels(actual, "actual")
    right = column_of_labels(predicted, name)
    if len(left) != len(right):
        pair_counts = f"{len(left):,} actual and {len(right):,} predicted labels"
        raise DataError(f"There are {pair_counts}; pass one of both for each row.")
    both_labelled = isinstance(actual, pd.Series) and isinstance(predicted, pd.Series)
    if both_labelled and not left.index.equals(right.index):
        raise DataError("The row labels of actual and predicted differ; align them.")
    index = left.index if isinstance(actual, pd.Series) else right.index
    sides = {"actual": left.set_axis(index), "predicted": right.set_axis(index)}
    return pd.DataFrame(sides)


def levels_of(pairs: pd.DataFrame) -> list[Level]:
    """Return the levels of both columns: categories in order, or sorted values.

    Raises
    ------
    OptionError
        If more than `MOST_OTHERS` predicted levels are not actual levels.
    LabelError
        If the values have no order.
    """
    levels: list[Level] = []
    for side in ("actual", "predicted"):
        if isinstance(pairs[side].dtype, pd.CategoricalDtype):
            return [plain(v) for v in pairs[side].cat.categories]
        side_levels = [plain(value) for value in distinct(pairs[side].dropna())]
        unknown = [value for value in side_levels if levels and value not in levels]
        if len(unknown) > MOST_OTHERS:
            raise OptionError(
                f"The predicted labels include {listing(unknown)}, which are not "
                "actual labels; convert scores to labels by a threshold."
            )
        levels += side_levels
    try:
        return sorted(set(levels))
    except Exception:  # comparing values of other libraries may raise anything
        unordered = list({shown(level): level for level in levels}.values())
        raise LabelError(
            f"The labels {listing(unordered)} cannot be sorted; convert them to one "
            "type."
        ) from None


def checked_levels(levels: object) -> list[Level]:
    """Return ``levels=`` as a list, or raise `OptionError`."""
    labels: list[Level] = []
    if isinstance(levels, tuple | list | np.ndarray | pd.Series | pd.Index):
        several = getattr(levels, "ndim", 1) == 1
        labels = [plain(level) for level in levels] if several else []
    if not labels or not all(map(is_single, labels)) or len(set(labels)) < len(labels):
        why = "is not allowed; pass a list of different labels."
        raise OptionError(why, "levels", levels)
    return labels


def codes_of(labels: DataColumn, levels: Levels) -> Codes:
    """Return the position of each label among the levels, -1 where it is missing.

    Raises
    ------
    LabelError
        If a label is not one of the levels.
    """
    codes = positions(labels, levels)
    unknown = (codes < 0) & labels.notna().to_numpy(dtype=bool)
    if unknown.any():
        values, rows = labels[unknown].unique(), labels.index[unknown]
        where = f"{counted(len(rows), 'row')} ({listing(rows)})"
        raise LabelError(
            f"The {labels.name} labels include {listing(values)} in {where}, but the "
            f"levels are {listing(levels)}; drop or recode these rows."
        )
    return codes


def checked_probabilities(
    probabilities: object, levels: Levels, n: int, index: pd.Index | None
) -> Vector:
    """Return probabilities as an array of shape (n, k), a column for each level.

    Raises
    ------
    DataError
        If values are not probabilities, or rows or levels differ.
    """
    k = len(levels)
    if isinstance(probabilities, pd.DataFrame):
        named = levels_named(probabilities.columns, levels)
        columns = [position_of(column, levels) for column in named]
        if sorted(columns) != list(range(k)):
            own = listing(probabilities.columns)
            raise DataError(
                f"The columns {own} are not the levels {listing(levels)}; name each "
                "column after a level."
            )
        probabilities = probabilities.iloc[:, np.argsort(columns)]
    values = numbers("probabilities", probabilities, (n, k), index)
    if values.ndim == 1:
        values = np.column_stack([1.0 - values, values])
    rows = pd.RangeIndex(n) if index is None else index
    for is_wrong, why in (
        (((values < 0.0) | (values > 1.0)).any(axis=1), "are not between 0 and 1"),
        (np.abs(values.sum(axis=1) - 1.0) > SUM_TOLERANCE, "do not add up to 1"),
    ):
        wrong = np.flatnonzero(is_wrong)
        if wrong.size:
            where = f"{counted(wrong.size, 'row')} ({listing(rows[wrong])})"
            raise DataError(
                f"The probabilities of {where} {why}; pass probabilities between 0 and "
                "1 that add up to 1 in each row."
            )
    return values


class Events(NamedTuple):
    """Whether each row is an event, its score or probability, and the two levels.

    Attributes
    ----------
    codes : int array, shape (n,)
        1 for the positive level, 0 for another one, -1 where the label is missing.
    values : float64 array, shape (n,)
        Scores or probabilities of the positive level, NaN where missing.
    negative, positive : labels
        The positive level and the other one, or ``"not ..."`` for several other levels.
    """

    codes: Codes
    values: Vector
    negative: object
    positive: object

    @property
    def is_complete(self) -> Mask:
        """Rows with a label and a value."""
        return np.asarray((self.codes >= 0) & ~np.isnan(self.values))


def events_of(
    actual: object,
    values: object,
    positive: object = None,
    name: Literal["scores", "probabilities"] = "probabilities",
) -> Events:
    """Pair labels with the scores or probabilities of one level.

    Parameters
    ----------
    actual : Series or array, shape (n,)
    values : DataFrame, or Series or array of shape (n,)
        Probabilities with a column for each of two levels; or scores or probabilities
        of the positive level.
    positive : label, optional
        The second level by default.
    name : "scores" or "probabilities"

    Raises
    ------
    DataError
        If the rows differ, or the values are not numbers.
    OptionError
        If there are not two levels, or `positive` is not one of them.

    Examples
    --------
    >>> events_of(["no", "yes", None], [0.2, 0.7, 0.1]).codes.tolist()
    [0, 1, -1]
    """
    frame = values if isinstance(values, pd.DataFrame) else None
    if frame is not None and frame.shape[1] != 2:
        raise OptionError(
            f"The {name} have the columns {listing(frame.columns)}; pass one column "
            f"for each of two classes, or only the {name} of the positive class."
        )
    pairs = side_by_side(actual, values if frame is None else frame.iloc[:, 0], name)
    labels = pairs["actual"]
    if frame is None:
        levels = factor_levels(labels.dropna(), "actual")
    else:
        actual_levels = list(map(plain, distinct(labels.dropna())))
        levels = checked_levels(levels_named(frame.columns, actual_levels))
        codes_of(labels, levels)  # raises for labels without a column
    if len(levels) != 2 and (frame is not None or positive is None):
        error = DataError if len(levels) == 1 else OptionError
        named = listing(levels) or "none"
        cure = "pass labels of two levels"
        if len(levels) > 2 and frame is None:
            cure += ", or positive= to compare one level with the others"
        raise error(f"The labels have the levels {named}; {cure}.")
    at = plain(levels[positive_position(levels, positive)])
    non_events = [plain(level) for level in levels if plain(level) != at]
    codes = np.where(labels.isna(), -1, positions(labels, [at]) == 0)
    if name == "scores" and frame is None:
        positive_values = numbers(name, values, (len(pairs),), pairs.index)
    else:
        pair = [None, at] if frame is None else levels
        by_class = checked_probabilities(values, pair, len(pairs), pairs.index)
        positive_values = by_class[:, pair.index(at)]
    negative = non_events[0] if len(non_events) == 1 else f"not {at}"
    return Events(codes.astype(np.intp), positive_values, negative, at)


def clusters_of(groups: object, n: int, *sides: object) -> Codes:
    """Number the cluster of each of `n` rows from 0.

    Parameters
    ----------
    groups : Series or array, shape (n,)
    n : int
    *sides : objects
        Labels and scores. The row labels of `groups` must be those of the first one
        that has row labels.

    Raises
    ------
    DataError
        If a row has no cluster, or row labels differ.
    """
    indexes = [s.index for s in sides if isinstance(s, pd.Series | pd.DataFrame)]
    labels, index = column_of_labels(groups, "groups"), [*indexes, pd.RangeIndex(n)][0]
    labelled = bool(indexes) and isinstance(groups, pd.Series)
    check_aligned("groups", labels, index, labelled)
    codes = np.asarray(pd.factorize(labels)[0])
    if (codes < 0).any():
        raise DataError("groups= has missing labels; pass a label for each row.")
    return codes


def check_both_levels(events: Events, used: Mask) -> Codes:
    """Return the codes of the rows used; raise `DataError` unless both levels occur."""
    codes = events.codes[used]
    for code, level in ((0, events.negative), (1, events.positive)):
        if not (codes == code).any():
            raise DataError(
                f"No row of class {level!r} has a score; pass rows of both classes."
            )
    return codes


def levels_named(columns: pd.Index, levels: Levels) -> list[Level]:
    """Return the levels that column names denote, as such or as text.

    Some libraries allow only text as column names. Other names are unchanged.

    Examples
    --------
    >>> levels_named(pd.Index(["6", "5", "x"]), [5, 6])
    [6, 5, 'x']
    """
    written = {str(level): level for level in levels if level not in list(columns)}
    return [written.get(column, column) for column in columns]


def numbers(
    name: str, values: object, shape: tuple[int, ...], index: pd.Index | None
) -> Vector:
    """Return numbers as an array of this shape; (n,) is allowed in place of (n, 2)."""
    if isinstance(values, pd.Series | pd.DataFrame) and not (
        index is None or values.index.equals(index)
    ):
        raise DataError(
            f"The row labels of the {name} and of the outcome differ; align them."
        )
    refused = DataError(f"The {name} are not numbers; pass one for each row.")
    array = floats_of(values, refused)
    one_of_two = name == "probabilities" and shape[1:] == (2,)
    if array.shape != shape and not (one_of_two and array.shape == shape[:1]):
        raise DataError(
            f"The {name} have the shape {array.shape}; pass an array of shape {shape}."
        )
    return array


@dataclass(frozen=True)
class Choices:
    """Options of a confusion report.

    Attributes
    ----------
    positive : label, optional
        Positive class of a table of two levels; by default the second level.
    prevalence : tuple of float, optional
        Prevalence of the positive class or, with more than two levels, of each class.
    beta : float, default 1.0
        Weight of recall against precision in the F measure.
    mode : "sens_spec", "prec_recall", "everything" or None
        Printed statistics of a class.
    """

    positive: object = None
    prevalence: tuple[float, ...] | None = None
    beta: float = 1.0
    mode: Mode | None = None

    _field_rules = "beta finite"


DEFAULTS = Choices()


def positive_position(
    levels: Levels, positive: object = None, event_level: EventLevel | None = None
) -> int:
    """Return the position of the positive class, by default the second level.

    Parameters
    ----------
    levels : sequence
        The levels in the order of the table.
    positive : label, optional
        The level that is the positive class.
    event_level : "second" or "first", optional
        Position of the positive class; ``"first"`` is caret's rule.

    Raises
    ------
    OptionError
        If there is no such level, or the two arguments contradict each other.

    Examples
    --------
    >>> positive_position([5, 6]), positive_position([5, 6], 5)
    (1, 0)
    >>> positive_position([5, 6], event_level="first")
    0
    """
    if event_level is not None:
        check_choice("event_level", event_level, EVENT_LEVELS)
    by_order = 0 if event_level == "first" else len(levels) - 1
    if positive is None:
        return by_order
    at = position_of(positive, levels)
    if at < 0:
        why = f"is not among the levels {listing(levels)}."
        raise OptionError(why, "positive", positive)
    if event_level is not None and at != by_order:
        why = f"is not the {event_level} level; omit positive= or event_level=."
        raise OptionError(why, "positive", positive)
    return at


def checked_choices(
    levels: Levels,
    positive: object = None,
    event_level: EventLevel | None = None,
    *,
    prevalence: object = None,
    beta: float = 1.0,
    mode: Mode | None = None,
) -> Choices:
    """Return the options for a table of these levels.

    Raises
    ------
    OptionError
        If an option is not allowed, or not for this number of levels.
    """
    if mode is not None:
        check_choice("mode", mode, MODES)
    several = len(levels) > 2
    if positive is not None and several:
        why = f"is only for two levels; by_class describes each of {len(levels)}."
        raise OptionError(why, "positive", positive)
    at = positive_position(levels, positive, event_level)
    shares = None if prevalence is None else _checked_prevalence(levels, prevalence)
    beta = check_positive("beta", beta)
    if beta > LARGEST_BETA:
        why = f"is not allowed; pass at most {LARGEST_BETA:g}."
        raise OptionError(why, "beta", beta)
    return Choices(None if several else levels[at], shares, beta, mode)


def _checked_prevalence(levels: Levels, prevalence: object) -> tuple[float, ...]:
    """Return one prevalence or, with more than two levels, one per level."""
    shares: list[object] = [prevalence]
    if len(levels) > 2:
        of_levels: list[tuple[Hashable, object]] = []
        if isinstance(prevalence, Mapping | pd.Series):
            of_levels = list(prevalence.items())
        at = [position_of(key, levels) for key, _ in of_levels]
        if sorted(at) != list(range(len(levels))):
            why = "is not allowed; pass a dict or Series with one number per level."
            raise OptionError(why, "prevalence", prevalence)
        shares = [of_levels[place][1] for place in np.argsort(at)]
    prevalences = tuple(map(number_of, shares))
    if not all(0.0 <= share <= 1.0 for share in prevalences):
        why = "is not allowed; pass numbers from 0 to 1."
        raise OptionError(why, "prevalence", prevalence)
    return prevalences
