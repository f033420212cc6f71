"""Coding of a two-level outcome as -1 and +1, and back to the original values."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import pandas_dtype

from pegasos_stats.errors import LabelError, OptionError, counted, listing, plain

Ties = Literal["na", "positive", "negative"]
Coding = str | tuple[Any, Any]
Dtype = np.dtype[Any] | pd.api.extensions.ExtensionDtype

TIES: tuple[Ties, ...] = ("na", "positive", "negative")
NULLABLE = {"i": "Int64", "u": "UInt64", "b": "boolean"}


@dataclass(frozen=True)
class LabelCoding:
    """Two levels, the first coded -1 and the second +1.

    Attributes
    ----------
    negative, positive : object
        The levels, as they stand in the data.
    dtype : numpy or pandas dtype
        Type of the labels, given back by `decode`.
    name : str
        Name of the outcome.
    rule : str
        How the order was found: ``"factor"``, ``"first-seen"`` or ``"explicit"``.

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

    negative: Any
    positive: Any
    dtype: Dtype
    name: str = "y"
    rule: str = "factor"

    @classmethod
    def from_labels(
        cls, labels: "pd.Series[Any]", coding: Coding = "factor", name: str = "y"
    ) -> "LabelCoding":
        """Find the two levels of a column of labels.

        Parameters
        ----------
        labels : Series, shape (n,)
            Strings, numbers, booleans or a Categorical; missing values are left out.
        coding : "factor", "first-seen" or a pair (negative, positive)
            ``"factor"`` takes R's ``factor()`` order: the order of the categories,
            else sorted values, strings by code point. ``"first-seen"`` codes the
            first label in the data as -1. A pair is taken as given.
        name : str
            Name of the outcome, for messages and tables.

        Raises
        ------
        LabelError
            If there are not exactly two levels, or a pair does not cover them.
        OptionError
            If `coding` is none of the three.
        """
        present = labels.dropna()
        if isinstance(coding, str):
            levels = _levels_by_rule(present, coding, name)
            rule = coding
        else:
            levels = _levels_given(present, coding, name)
            rule = "explicit"
        return cls(plain(levels[0]), plain(levels[1]), labels.dtype, name, rule)

    @property
    def levels(self) -> tuple[Any, Any]:
        """The two levels: (negative, positive)."""
        return self.negative, self.positive

    def encode(self, labels: "pd.Series[Any]") -> NDArray[np.float64]:
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
            If a label is none of the two levels.
        """
        values = labels.astype(object)
        codes = pd.Index(list(self.levels), dtype=object).get_indexer(pd.Index(values))
        missing = labels.isna().to_numpy(dtype=bool)
        unknown = (codes < 0) & ~missing
        if unknown.any():
            raise LabelError(_unknown_message(self, values[unknown]))
        return np.where(missing, np.nan, 2.0 * codes - 1.0)

    def decode(
        self, signs: NDArray[np.float64], index: pd.Index | None = None
    ) -> "pd.Series[Any]":
        """Turn -1 and +1 into labels of the original type; NaN becomes missing.

        Integer and boolean labels cannot hold a missing value: where there is
        one, pandas' nullable type of the same kind is given.

        Parameters
        ----------
        signs : float64 array, shape (n,)
        index : Index, optional

        Returns
        -------
        Series, shape (n,), named after the outcome
        """
        missing = np.isnan(signs)
        pair = pd.Series(list(self.levels), dtype=self.dtype)
        if missing.any() and isinstance(self.dtype, np.dtype):
            pair = pair.astype(pandas_dtype(NULLABLE.get(self.dtype.kind, self.dtype)))
        places = np.where(missing, -1, signs > 0).astype(np.intp)
        values = pd.api.extensions.take(pair.array, places, allow_fill=True)
        return pd.Series(values, index=index, name=self.name, dtype=pair.dtype)


def signs_of(scores: NDArray[np.float64], ties: Ties = "na") -> NDArray[np.float64]:
    """Sign of each score: -1 or +1, and at a score of exactly 0 what `ties` says.

    Parameters
    ----------
    scores : float64 array, shape (n,)
    ties : "na", "positive" or "negative"
        ``"na"`` gives NaN, as R's ``sign()`` leaves the label undecided.

    Returns
    -------
    float64 array, shape (n,), NaN where the score is NaN

    Raises
    ------
    OptionError
        If `ties` is none of the three.

    Examples
    --------
    >>> signs_of(np.array([-2.0, 0.0, 3.0]), ties="positive")
    array([-1.,  1.,  1.])
    """
    if ties not in TIES:
        raise OptionError(f"ties={ties!r} is not known; give one of {listing(TIES)}.")
    at_zero = {"na": np.nan, "positive": 1.0, "negative": -1.0}[ties]
    return np.where(scores == 0.0, at_zero, np.sign(scores))


def _levels_by_rule(labels: "pd.Series[Any]", rule: str, name: str) -> list[Any]:
    """Two levels in the order of ``factor()``, or in order of appearance."""
    if rule == "factor":
        levels = _factor_levels(labels, name)
    elif rule == "first-seen":
        levels = list(labels.unique())
    else:
        raise OptionError(
            f"coding={rule!r} is not known; give 'factor', 'first-seen' or a pair "
            "(negative, positive)."
        )
    if len(levels) != 2:
        raise LabelError(_count_message(levels, name))
    return levels


def _factor_levels(labels: "pd.Series[Any]", name: str) -> list[Any]:
    """Levels in the order of the categories, else sorted."""
    found = labels.unique()
    if isinstance(labels.dtype, pd.CategoricalDtype):
        return [level for level in labels.cat.categories if level in found]
    try:
        return sorted(found)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in found})
        raise LabelError(
            f"The outcome {name!r} mixes values of types {', '.join(kinds)}, which "
            "have no order; convert the column to one type, or give "
            "coding=(negative, positive)."
        ) from None


def _levels_given(
    labels: "pd.Series[Any]", coding: tuple[Any, Any], name: str
) -> list[Any]:
    """Check an explicit pair (negative, positive) against the labels."""
    pair = list(coding)
    if len(pair) != 2 or pair[0] == pair[1]:
        raise OptionError(
            f"coding={coding!r} is not a pair of different levels; give "
            "(negative, positive)."
        )
    found = list(labels.unique())
    if sum(level in found for level in pair) != 2 or len(found) != 2:
        raise LabelError(
            f"The outcome {name!r} has the levels {listing(found)} and "
            f"coding={coding!r} was given; both levels and no other must occur."
        )
    return pair


def _count_message(levels: list[Any], name: str) -> str:
    if not levels:
        return f"The outcome {name!r} has no value; it needs two levels."
    cure = (
        "take data in which both classes occur"
        if len(levels) == 1
        else "keep the rows of two of them, or recode the column"
    )
    return (
        f"The outcome {name!r} has {counted(len(levels), 'level')}, "
        f"{listing(levels)}; exactly two are needed: {cure}."
    )


def _unknown_message(coding: LabelCoding, unknown: "pd.Series[Any]") -> str:
    return (
        f"The outcome {coding.name!r} holds {listing(unknown.unique())} in "
        f"{counted(len(unknown), 'row')} ({listing(unknown.index)}); the model knows "
        f"the levels {listing(coding.levels)} only: drop or recode these rows."
    )
