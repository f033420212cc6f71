"""Errors for an outcome that does not have two levels, with the lines that help."""

import re
from collections.abc import Sequence

import numpy as np

from pegasos_stats.data.foreign import position_of
from pegasos_stats.data.formula import split_formula
from pegasos_stats.errors import LabelError, counted, listing, plain, shown

PLAIN = re.compile(r"[\w.]+")  # name of a column, not an expression
MANY = 10  # levels; more different numbers are a quantity
LONGEST = 200  # letters of a name, a level or a formula that is repeated
EACH = (
    "Or each against the others, with sklearn.multiclass and pegasos_stats.sklearn: "
    "OneVsRestClassifier(SVMClassifier()).fit(X, y)."
)


def not_two_levels(
    levels: Sequence[object], name: str, formula: str | None
) -> LabelError:
    """The error for an outcome of one level, or of three and more."""
    said = f"The outcome {shown(name)} has {counted(len(levels), 'level')}, "
    said += f"{listing(levels)}; exactly two are needed"
    if len(levels) == 1:
        return LabelError(f"{said}: take data in which both classes occur.")
    if same := alike(levels):
        return LabelError(f"{said}.{same}")
    return LabelError(f"{said}. {fewer_levels(levels, name, formula)}")


def alike(levels: Sequence[object]) -> str:
    """Which texts are the same but for blanks at their ends or capitals, in words.

    Examples
    --------
    >>> alike(["Yes", "no", "yes "])
    " 'Yes', 'yes ' are the same but for blanks or capitals: write them alike."
    """
    texts = [level for level in levels if isinstance(level, str)]
    bare = [text.strip().casefold() for text in texts]
    same = [text for text, one in zip(texts, bare, strict=True) if bare.count(one) > 1]
    if not same:
        return ""
    return (
        f" {listing(same)} are the same but for blanks or capitals: write them alike."
    )


def not_the_pair(
    found: Sequence[object],
    pair: Sequence[object],
    coding: object,
    name: str,
    formula: str | None,
) -> LabelError:
    """The error for labels that are not the pair that ``coding=`` names."""
    said = (
        f"The outcome {shown(name)} has the levels {listing(found)} and "
        f"coding={shown(coding)} was given; both levels and no other must occur."
    )
    missing = [level for level in pair if position_of(level, found) < 0]
    if len(found) < 3 or missing:
        return LabelError(said + alike(found))
    return LabelError(f"{said} {fewer_levels([*pair, *found], name, formula)}")


def fewer_levels(levels: Sequence[object], name: str, formula: str | None) -> str:
    """What to do with an outcome of these levels.

    Parameters
    ----------
    levels : sequence
        Three or more, in order.
    name : str
        Of the outcome.
    formula : str or None
        That of the model, if it has one.

    Examples
    --------
    >>> print(fewer_levels(["a", "b", "c"], "y", "y ~ x"))
    Keep the rows of two of them, or one against the others: 'I(y == "a") ~ x'.
    """
    plainly = "Keep the rows of two of them, or recode the column."
    found = [plain(level) for level in levels]
    if not all(type(level) in (str, int, float) for level in found):
        return plainly
    if any(isinstance(level, int) and abs(level) >= 10**LONGEST for level in found):
        return plainly  # too many digits to be written, or to be a double
    first, second = (_literal(level) for level in found[:2])
    outcome, right = split_formula(formula) if formula is not None else (name, "")
    if max(map(len, (first, second, name, outcome))) > LONGEST:
        return plainly
    is_quantity = len(found) > MANY and not isinstance(found[0], str)
    middle = f"{float(np.median([found])):.6g}" if is_quantity else ""
    numbers = "Numbers make two levels by a comparison:"
    if formula is None and is_quantity:
        return f"{numbers} np.asarray(y) > {middle} for y."
    if formula is None:
        return (
            f"Keep two of them: keep = np.isin(y, [{first}, {second}]), then "
            "np.asarray(y)[keep] and X[keep]. Or one against the others: "
            f"np.asarray(y) == {first} for y. {EACH}"
        )
    right = right if len(right) <= LONGEST else "..."
    if is_quantity:
        return f"{numbers} '{outcome} > {middle} ~ {right}'."
    asked = f"'I({outcome} == {first}) ~ {right}'"
    return f"Keep the rows of two of them, or one against the others: {asked}."


def _literal(value: object) -> str:
    """A level as Python and formulas have it, text in double quotes."""
    if not isinstance(value, str):
        return repr(value)
    return '"' + repr(value)[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
