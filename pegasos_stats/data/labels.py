"""Coding of a two-level outcome as -1 and +1, and back to the original values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import DataColumn
from pegasos_stats.checks import check_choice, check_threshold
from pegasos_stats.data import user_data
from pegasos_stats.data.language.formula import (
    Call,
    Column,
    Constant,
    Operation,
    read_outcome,
    refused,
    split_formula,
)
from pegasos_stats.data.language.vocabulary import Functions
from pegasos_stats.errors import LabelError, OptionError, counted, listing, plain, shown
from pegasos_stats.foreign_names import suggest_arguments

MORE_LEVELS = (
    "exactly two are needed. Select the rows of two levels, or compare one with the "
    "others: I(y == 'a') or I(y > 5) in a formula; in Python also np.asarray(y) == "
    "'a', or sklearn's OneVsRestClassifier(SVMClassifier())."
)
ONE_LEVEL = "exactly two are needed: both classes must occur in the data."

Ties = Literal["na", "positive", "negative"]
Level: TypeAlias = Any  # text, a number, a boolean, a date: equal to itself, not NaN
Coding = str | tuple[Level, Level]
Dtype = np.dtype[np.generic] | pd.api.extensions.ExtensionDtype

TIES: tuple[Ties, ...] = ("na", "positive", "negative")
NULLABLE = {"i": "Int64", "u": "UInt64", "b": "boolean"}
IGNORE_OVERFLOW = np.errstate(over="ignore")  # in comparisons of integers
FACTORS = ("C(", "factor(", "as.factor(", "relevel(")
AT_ZERO = 1e-5  # smaller absolute scores may be 0 at the exact optimum
OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "==": "!=", "!=": "=="}
KEEP_TRUTH = ("C", "relevel", "as_numeric", "as_integer", "as_logical")


@dataclass(frozen=True)
class LabelCoding:
    """Coding of a two-level outcome: the first level is -1, the second +1.

    Attributes
    ----------
    negative, positive : object
        The levels, as in the data.
    dtype : numpy or pandas dtype
        Type of the labels, which `decode` restores.
    name : str
        Name of the outcome.
    rule : str
        Rule of the order: ``"factor"``, ``"first-seen"`` or ``"explicit"``.

    Examples
    --------
    >>> coding = LabelCoding.from_labels(pd.Series(["six", "five", "six"]))
    >>> coding.levels
    ('five', 'six')
    >>> coding.encode(pd.Series(["five", "six", None]))
    array([-1.,  1., nan])
    >>> coding.decode(np.array([1.0, -1.0])).tolist()
    ['six', 'five']
    """

    negative: Level
    positive: Level
    dtype: Dtype
    name: str = "y"
    rule: str = "factor"

    @classmethod
    @suggest_arguments
    def from_labels(
        cls,
        labels: DataColumn,
        coding: Coding = "factor",
        name: str = "y",
    ) -> "LabelCoding":
        """Find the two levels of a column of labels.

        Parameters
        ----------
        labels : Series, shape (n,)
            Strings, numbers, booleans or a Categorical; missing values are ignored.
        coding : "factor", "first-seen" or a pair (negative, positive)
            ``"factor"`` is the order of R's ``factor()``: the order of the categories
            or, without categories, of the sorted values, strings by code point.
            ``"first-seen"`` codes the first label in the data as -1. A pair is used as
            it is.
        name : str
            Name of the outcome, for messages and tables.

        Raises
        ------
        LabelError
            If there are not exactly two levels, or the pair does not contain them.
        OptionError
            If `coding` is not allowed.
        """
        return coding_of(user_data.column_of_labels(labels, name), coding, name)

    @property
    def levels(self) -> tuple[Level, Level]:
        """The two levels: (negative, positive)."""
        return self.negative, self.positive

    @property
    def described(self) -> str:
        """Name and coding of the outcome, such as ``digit (5 = -1, 6 = +1)``."""
        return f"{self.name} ({self.negative!r} = -1, {self.positive!r} = +1)"

    @suggest_arguments
    def encode(self, labels: DataColumn) -> NDArray[np.float64]:
        """Code labels as -1 and +1, missing ones as NaN.

        Parameters
        ----------
        labels : Series, shape (n,)

        Returns
        -------
        float64 array, shape (n,)

        Raises
        ------
        LabelError
            If a label is not one of the two levels.
        """
        return coded(user_data.column_of_labels(labels, self.name), self)

    def decode(
        self, signs: NDArray[np.float64], index: pd.Index | None = None
    ) -> DataColumn:
        """Convert -1 and +1 to labels of the original type; NaN becomes missing.

        If a value is missing, integer and boolean labels become pandas' nullable type
        of the same kind; other types that cannot hold missing values, such as bytes
        of numpy, become object.

        Parameters
        ----------
        signs : float64 array, shape (n,)
        index : Index, optional

        Returns
        -------
        Series, shape (n,), named after the outcome
        """
        signs = np.asarray(user_data.column_of_scores(signs), dtype=np.float64)
        missing = np.isnan(signs)
        pair = pd.Series(list(self.levels), dtype=self.dtype)
        if missing.any():
            pair = pair.astype(_nullable_dtype(self.dtype))
        places = np.where(missing, -1, signs > 0).astype(np.intp)
        values = pair.array.take(places, allow_fill=True)
        return pd.Series(values, index=index, name=self.name, dtype=pair.dtype)

    def predicted(
        self, scores: DataColumn, ties: Ties, threshold: float = 0.0
    ) -> DataColumn:
        """Predict labels from scores, by a threshold.

        Parameters
        ----------
        scores : Series, shape (n,)
            Scores above the threshold predict the second level, scores below it the
            first.
        ties : "na", "positive" or "negative"
            Label of a score equal to the threshold: missing, the second level or the
            first.
        threshold : float, default 0.0

        Raises
        ------
        OptionError
            If the threshold is not a number, or `ties` is not allowed.
        """
        column = user_data.column_of_scores(scores)
        cut = check_threshold(threshold, is_probability=False)
        signs = signs_of(np.asarray(column, dtype=np.float64), ties, cut)
        return self.decode(signs, column.index)

    def probabilities(self, scores: DataColumn) -> pd.DataFrame:
        """Logistic probabilities of both levels, ``1 / (1 + exp(-score))``.

        Parameters
        ----------
        scores : Series, shape (n,)
            Larger scores mean a higher probability of the second level.

        Returns
        -------
        DataFrame, a column for each level, on the index of `scores`
        """
        from scipy.special import expit

        negative, positive = self.levels
        column = user_data.column_of_scores(scores)
        z = column.to_numpy()
        return pd.DataFrame({negative: expit(-z), positive: expit(z)}, column.index)

    def _conditions(self) -> Iterator[object]:
        """Coding and decoding reproduce the labels."""
        pair = self.decode(np.array([-1.0, 1.0]))
        yield [plain(level) for level in pair] == list(self.levels)
        yield self.encode(pair).tolist() == [-1.0, 1.0]
        self.encode(self.decode(np.array([np.nan, 1.0])))
        hash(str(self.levels))  # an impossible date cannot be converted to text


def coding_of(labels: DataColumn, coding: Coding, name: str) -> LabelCoding:
    """Find the two levels of a checked column, as `LabelCoding.from_labels` does."""
    present = labels.dropna()
    by_rule = isinstance(coding, str)
    if by_rule and coding not in ("factor", "first-seen"):
        raise _unknown_coding(coding)
    in_order = coding == "factor"
    distinct_levels = factor_levels(present, name) if in_order else distinct(present)
    if not distinct_levels:
        text = f"The outcome {shown(name)} has no value; it needs two levels."
        raise LabelError(text)
    levels = distinct_levels if by_rule else _checked_pair(coding)
    at = sorted(user_data.position_of(level, distinct_levels) for level in levels)
    if len(distinct_levels) != 2 or at != [0, 1]:
        request = "" if by_rule else f" and coding={shown(coding)} was passed"
        end = {1: ONE_LEVEL, 2: "use these two."}.get(len(distinct_levels), MORE_LEVELS)
        raise LabelError(
            f"The outcome {shown(name)} has {counted(len(distinct_levels), 'level')}, "
            f"{listing(distinct_levels)}{request}; {end}"
        )
    negative, positive = map(plain, levels)
    rule = str(coding) if by_rule else "explicit"
    return LabelCoding(negative, positive, labels.dtype, name, rule)


def _checked_pair(coding: Level) -> list[Level]:
    """Two different levels, or `OptionError`."""
    ordered = isinstance(coding, tuple | list | np.ndarray | pd.Series | pd.Index)
    pair = list(coding) if ordered and getattr(coding, "ndim", 1) == 1 else []
    single = all(map(user_data.is_single, pair))
    if len(pair) != 2 or not single or user_data.position_of(pair[0], pair[1:]) == 0:
        raise _unknown_coding(coding)
    return pair


def _unknown_coding(coding: object) -> OptionError:
    return OptionError(
        f"coding={shown(coding)} is not allowed; use 'factor', 'first-seen' or a pair "
        "of different levels (negative, positive)."
    )


def as_in_formula(
    coding: LabelCoding, formula: str | None, functions: Functions | None = None
) -> LabelCoding:
    """Return the coding with the reference level of ``relevel()`` in the outcome.

    Raises
    ------
    FormulaError
        If ``relevel()`` does not name a level, or ``C()`` has further arguments.
    """
    outcome = "" if formula is None else split_formula(formula)[0]
    if formula is None or not outcome.startswith(FACTORS):
        return coding
    expression = read_outcome(formula, (), functions)
    if not isinstance(expression, Call) or expression.name not in ("C", "relevel"):
        return coding
    if len(expression.arguments) == 1:
        return coding
    level = getattr(list(expression.arguments.values())[1], "value", None)
    at = user_data.position_of(level, coding.levels)
    if at < 0 and isinstance(level, str):  # R's levels of numbers are texts
        at = user_data.position_of(level, [str(value) for value in coding.levels])
    if expression.name == "C" or at < 0:
        raise refused(
            formula,
            f"has the outcome {outcome} with the levels {listing(coding.levels)}; use "
            "relevel(y, ref=...) with one of these levels; in Python also "
            "coding=(negative, positive).",
        )
    first, second = coding.levels[at], coding.levels[1 - at]
    return replace(coding, negative=first, positive=second, rule="explicit")


LOGICAL = {*OPPOSITE, "in", "not_in", "&", "|", "not"}


def class_names(
    coding: LabelCoding, formula: str | None, functions: Functions | None = None
) -> tuple[str, str]:
    """Names of both classes; for a logical outcome, the condition and its opposite.

    Examples
    --------
    >>> coding = LabelCoding(False, True, np.dtype(bool), "y == 'ill'")
    >>> class_names(coding, "(y == 'ill') ~ x")
    ('not ill', 'ill')
    >>> class_names(coding, "affairs > 0 ~ x")
    ('affairs <= 0', 'affairs > 0')
    >>> class_names(LabelCoding(5, 6, np.dtype(int)), "digit ~ x")
    ('5', '6')
    """
    levels = coding.levels
    if not all(level in (0, 1) for level in levels):
        return str(levels[0]), str(levels[1])
    expression, text = None, coding.name
    if formula is not None:
        text = split_formula(formula)[0]
        expression = read_outcome(formula, (), functions)
        while isinstance(expression, Call) and expression.name in KEEP_TRUTH:
            expression = next(iter(expression.arguments.values()))
    named: dict[bool, str] = {}
    match expression:
        case Operation("==" | "!=" as sign, (Column(), Constant(str(value)))):
            named = {sign == "==": value, sign != "==": f"not {value}"}
        case Operation(sign, (Column(name), Constant(value))) if sign in OPPOSITE:
            signs = {True: sign, False: OPPOSITE[sign]}
            named = {is_so: f"{name} {signs[is_so]} {value}" for is_so in signs}
        case Operation("not", (Column(name),)):
            named = {True: f"not {name}", False: name}
        case Operation(signs) if LOGICAL.issuperset(signs.split()):
            named = {True: text, False: f"not ({text})"}
        case None | Column() if all(isinstance(level, bool) for level in levels):
            named = {True: coding.name, False: f"not {coding.name}"}
    first, second = (named.get(bool(level), str(level)) for level in levels)
    return first, second


@IGNORE_OVERFLOW
def coded(labels: DataColumn, coding: LabelCoding) -> NDArray[np.float64]:
    """Code a checked column as -1 and +1, as `LabelCoding.encode` does."""
    codes = positions(labels, coding.levels)
    missing = labels.isna().to_numpy(dtype=bool)
    unknown = (codes < 0) & ~missing
    if unknown.any():
        others = labels[unknown]
        raise LabelError(
            f"The outcome {shown(coding.name)} contains {listing(others.unique())} "
            f"{user_data.in_the_rows(others.index)}; the levels of the model are "
            f"{listing(coding.levels)}: drop or recode these rows."
        )
    return np.where(missing, np.nan, 2.0 * codes - 1.0)


@IGNORE_OVERFLOW
def positions(labels: DataColumn, levels: Sequence[Level]) -> NDArray[np.intp]:
    """Position of each label among the levels; -1 for other labels."""
    dtype = labels.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        values, codes = labels.to_numpy(), np.full(len(labels), -1, dtype=np.intp)
        for position, level in enumerate(levels):
            codes[values == level] = position
        return codes
    # Use hashes only: get_indexer() compares levels, which may raise an exception.
    level_array = np.empty(len(levels), dtype=object)
    for position, level in enumerate(levels):  # one by one: numpy unpacks sequences
        level_array[position] = level
    rows = labels.astype(object).to_numpy()
    codes, _ = pd.factorize(np.concatenate([level_array, rows]), use_na_sentinel=False)
    codes = codes[len(levels) :]
    return np.where(codes < len(levels), codes, -1).astype(np.intp, copy=False)


def _nullable_dtype(dtype: Dtype) -> Dtype:
    """Return `dtype`, or a similar dtype that allows missing values."""
    if isinstance(dtype, np.dtype) and dtype.kind not in "fcmMO":
        return pd.api.types.pandas_dtype(NULLABLE.get(dtype.kind, "object"))
    is_fixed = isinstance(dtype, pd.SparseDtype | pd.IntervalDtype)
    return np.dtype(object) if is_fixed else dtype


def signs_of(
    scores: NDArray[np.float64], ties: Ties = "na", threshold: float = 0.0
) -> NDArray[np.float64]:
    """Return -1 for scores below the threshold, +1 above; at it, see `ties`.

    Parameters
    ----------
    scores : float64 array, shape (n,)
    ties : "na", "positive" or "negative"
        Result for a score equal to the threshold: NaN, +1 or -1.
    threshold : float, default 0.0

    Returns
    -------
    float64 array, shape (n,), NaN where the score is NaN

    Raises
    ------
    OptionError
        If `ties` is not allowed.

    Examples
    --------
    >>> signs_of(np.array([-2.0, 0.0, 3.0]), ties="positive")
    array([-1.,  1.,  1.])
    """
    check_choice("ties", ties, TIES)
    at = {"na": np.nan, "positive": 1.0, "negative": -1.0}[ties]
    below = np.where(scores < threshold, -1.0, np.nan)
    return np.select([scores > threshold, scores == threshold], [1.0, at], below)


@IGNORE_OVERFLOW
def distinct(labels: DataColumn) -> list[Level]:
    """Distinct values in order of appearance, of labels without missing values."""
    is_wide = labels.dtype == np.longdouble  # which pandas does not compare
    return list((labels.astype(object) if is_wide else labels).unique())


@IGNORE_OVERFLOW
def factor_levels(labels: DataColumn, name: str) -> list[Level]:
    """Levels that occur, in the order of the categories, or else sorted."""
    values = distinct(labels)
    if isinstance(labels.dtype, pd.CategoricalDtype):
        return [level for level in labels.cat.categories if level in values]
    try:
        return sorted(values)
    except Exception:  # foreign values may raise anything
        kinds = sorted({type(value).__name__ for value in values})
        raise LabelError(
            f"The outcome {shown(name)} mixes values of types {', '.join(kinds)}, "
            "which have no order; pass coding=(negative, positive)."
        ) from None
