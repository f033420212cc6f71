"""Terms that are columns of numbers: their matrix, without work for each of them.

Formulaic takes a millisecond for a column. Thirty thousand genes need none of what it
does in that time. This module is imported where formulaic is needed.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
from formulaic import ModelMatrix, ModelSpec, SimpleFormula
from formulaic.materializers.base import EncodedTermStructure
from formulaic.materializers.types import EvaluatedFactor, ScopedFactor, ScopedTerm
from formulaic.parser.types import Factor, Term

Spec = Any  # SimpleFormula of formulaic at fit, ModelSpec on new data


def matrix_with_columns(
    spec: Spec, frame: pd.DataFrame, build: Callable[[Spec], Any]
) -> Any:
    """The matrix that `build` makes, which is asked for the other terms alone.

    Terms that are columns of numbers by their names are taken as they are, unless they
    stand in another term too: then they decide how its factors are coded.

    Parameters
    ----------
    spec : formulaic.SimpleFormula, formulaic.ModelSpec
        The terms at fit; what the fit left of them on new data.
    frame : DataFrame
        Complete rows in plain dtypes.
    build : callable
        Makes a matrix of formulaic's.
    """
    terms = list(spec.formula if isinstance(spec, ModelSpec) else spec)
    alone = _columns_alone(spec, terms, frame)
    if not alone:
        return build(spec)
    places = [i for i, term in enumerate(terms) if _name_of(term) not in alone]
    coded = build(_part(spec, [terms[i] for i in places], places))
    if not alone.isdisjoint(coded.columns):
        return build(spec)
    return _joined(terms, places, coded, frame)


def _columns_alone(spec: Spec, terms: list[Term], frame: pd.DataFrame) -> set[str]:
    """Names of the columns of numbers that are a term, and in no other."""
    numbers = {name for name, d in frame.dtypes.items() if d.kind in "fiub"}
    found = {name for term in terms if (name := _name_of(term)) in numbers}
    for term in terms:
        if len(term.factors) > 1:
            found -= {factor.expr for factor in term.factors}
    if isinstance(spec, ModelSpec):
        for term, part in zip(terms, spec.structure or [], strict=True):
            if not _is_column(part, _name_of(term)):
                found.discard(_name_of(term))
    return found


def _name_of(term: Term) -> Any:
    """Name of the column that is a term; None of other terms."""
    (factor, *others) = term.factors
    by_name = not others and factor.eval_method.value == "lookup"
    return factor.expr if by_name else None


def _is_column(part: EncodedTermStructure, name: str) -> bool:
    """Whether a part of the structure is what `_column` makes of a name."""
    scopes = [(s.scale, [(f.factor.expr, f.reduced) for f in s.factors])
              for s in part.scoped_terms]  # fmt: skip
    return list(part.columns) == [name] and scopes == [(1, [(name, False)])]


def _column(term: Term) -> EncodedTermStructure:
    """What formulaic keeps of a column of numbers."""
    scoped = ScopedTerm([ScopedFactor(EvaluatedFactor(term.factors[0], None))])
    return EncodedTermStructure(term, [scoped], [term.factors[0].expr])


def _part(spec: Spec, terms: list[Term], places: list[int]) -> Spec:
    """Some of the terms, with what is known of them."""
    formula = SimpleFormula(terms, _ordering="none")
    if not isinstance(spec, ModelSpec):
        return formula
    known = [spec.structure[i] for i in places] if spec.structure else None
    return replace(spec, formula=formula, structure=known)


def _joined(
    terms: list[Term], places: list[int], coded: Any, frame: pd.DataFrame
) -> ModelMatrix:
    """The coded terms, and columns in the places of the others."""
    spec = coded.model_spec
    structure = dict(zip(places, spec.structure, strict=True))
    parts = [structure.get(i) or _column(term) for i, term in enumerate(terms)]
    names = [name for part in parts for name in part.columns]
    alone = frame.loc[coded.index, [n for n in names if n not in coded.columns]]
    numbers: Any = {name: (Factor.Kind.NUMERICAL, {}) for name in alone.columns}
    whole = replace(
        spec,
        formula=SimpleFormula(terms, _ordering="none"),
        structure=parts,
        encoder_state=spec.encoder_state | numbers,
    )
    return ModelMatrix(pd.concat([coded.__wrapped__, alone], axis=1)[names], whole)
