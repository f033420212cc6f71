"""Notes where case or accents decide which level of text comes first."""

import unicodedata
from collections.abc import Sequence

import numpy as np
import pandas as pd

from pegasos_stats.data.design import Design
from pegasos_stats.data.formula import unwrapped
from pegasos_stats.data.formula_design import FormulaDesign
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.errors import shown
from pegasos_stats.models.notes.note import Note
from pegasos_stats.solvers.problem import Problem


def level_order(coding: LabelCoding, design: Design) -> list[Note]:
    """Note levels that R's usual locale has in another order than code points.

    Levels of the outcome, and first levels of factors whose baseline no `relevel` or
    contrast names.
    """
    found = []
    ordered = isinstance(coding.dtype, pd.CategoricalDtype) and coding.dtype.ordered
    if coding.rule == "factor" and not ordered and other_first(coding.levels):
        negative, positive = coding.levels
        text = (
            f"The levels of {shown(coding.name)} are in code point order, "
            f"{shown(negative)} first; R's usual locale has {shown(positive)} "
            f"first. For that give coding=({positive!r}, {negative!r})."
        )
        found.append(Note("level order", "note", text))
    for name, levels in _factors(design).items():
        if first := other_first(levels):
            text = (
                f"The baseline of {shown(name)} is {shown(levels[0])}, first in "
                f"code point order; R's usual locale has {shown(first)} first, "
                f"which relevel({name}, ref={first!r}) makes the baseline."
            )
            found.append(Note("level order", "note", text))
    return found


def other_first(levels: Sequence[object]) -> str:
    """The level that is first by letters, if by code points another one is; or "".

    Examples
    --------
    >>> other_first(["Malignant", "benign"]), other_first(["Zoe", "\u00c9va"])
    ('benign', '\u00c9va')
    >>> other_first(["a", "b"]), other_first(["b", "A"])  # an order of categories
    ('', '')
    """
    if not len(levels) or not all(isinstance(level, str) for level in levels):
        return ""
    texts = [str(level) for level in levels]
    first = min(texts, key=_by_letters)
    return "" if texts != sorted(texts) or first == texts[0] else first


def other_reference(problem: Problem, design: Design) -> str:
    """`relevel` with a level of both outcomes, where the first has one; else ""."""
    names = list(design.names)
    for name, levels in _factors(design).items():
        made = [
            [names.index(f"{term}[T.{level}]") for level in levels[1:]]
            for term in (name, f"C({name})")
            if all(f"{term}[T.{level}]" in names for level in levels[1:])
        ]
        if not made or not made[0]:
            continue
        X = problem.X[:, made[0]]
        X = X if isinstance(X, np.ndarray) else X.toarray()
        there = X.min(axis=0) < X
        if np.unique(problem.y[~there.any(axis=1)]).size != 1:
            continue
        for level, rows in zip(levels[1:], there.T, strict=True):
            if np.unique(problem.y[rows]).size == 2:
                return f"relevel({name}, ref={level!r})"
    return ""


def _by_letters(text: str) -> tuple[str, str, str]:
    """Letters without case and accents, then with accents, small ones first."""
    apart = unicodedata.normalize("NFD", text)
    letters = "".join(c for c in apart if not unicodedata.combining(c))
    return letters.casefold(), apart.casefold(), apart.swapcase()


def _factors(design: Design) -> dict[str, list[object]]:
    """Levels of the columns that are factors by themselves, or by `C()` alone."""
    if isinstance(design, ScaledDesign):
        design = design.design
    if not isinstance(design, FormulaDesign):
        return {}
    states = design.spec.encoder_state.items()
    columns = {
        name if name in design.variables else unwrapped(name): state["categories"]
        for name, (_, state) in states
        if "categories" in state
    }
    return {name: [*v] for name, v in columns.items() if name in design.variables}
