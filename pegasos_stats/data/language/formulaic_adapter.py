"""Formulaic's terms and matrices, without its evaluation of text.

Formulaic reads how terms are joined and codes factors; what stands in a term is
computed from our own tree. This module is imported where formulaic is needed.
"""

import math
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import replace
from itertools import combinations
from typing import TypeAlias

import numpy as np
import pandas as pd
from formulaic import ModelMatrix, ModelSpec, SimpleFormula
from formulaic.materializers import PandasMaterializer
from formulaic.materializers.base import EncodedTermStructure
from formulaic.materializers.types import EvaluatedFactor, ScopedFactor, ScopedTerm
from formulaic.parser import DefaultFormulaParser
from formulaic.parser.algos.tokenize import tokenize
from formulaic.parser.parser import DefaultOperatorResolver
from formulaic.parser.types import Factor, Operator, OrderedSet, Term, Token
from formulaic.parser.utils import merge_operator_tokens, replace_tokens

from pegasos_stats.data.language.expressions import (
    check_names,
    formatted,
    unusable,
)
from pegasos_stats.data.language.values import Value, as_real, unwrapped_value
from pegasos_stats.data.language.vocabulary import State
from pegasos_stats.errors import FormulaError

Spec: TypeAlias = SimpleFormula | ModelSpec  # terms at fit; what it left of them
Kinds: TypeAlias = dict[str, tuple[Factor.Kind, dict[str, object]]]
Terms: TypeAlias = OrderedSet[Term]
Join: TypeAlias = Callable[[Terms, Terms], Terms]

MOST_PRODUCTS = 250_000  # some seconds
MOST_COLUMNS = 100_000  # of products of factors, some seconds
MOST_PARTS = 600_000  # sets of factors within all terms, some seconds
MOST_NEW_PARTS = 300  # within one term and in no earlier one, whose cube is the time


class TermParser(DefaultFormulaParser):  # type: ignore[misc]
    """Reads one list of terms, and leaves what stands in them as text."""

    def __init__(self, formula: str) -> None:
        self.taken_out: list[str] = []  # names behind a minus
        super().__init__(operator_resolver=_Operators(formula, self.taken_out))
        self._formula = formula

    def get_tokens_from_formula(
        self, formula: str, *, context: MutableMapping[str, object]
    ) -> Iterable[Token]:
        """Tokens of the terms, with an intercept in front."""
        context["__formulaic_variables_used_lhs__"] = []
        one = Token("1", kind=Token.Kind.VALUE)
        plus, minus = (Token(sign, kind=Token.Kind.OPERATOR) for sign in "+-")
        tokens = [self._checked(token) for token in tokenize(formula)]
        without = replace_tokens(tokens, "0", [minus, one], kind=Token.Kind.VALUE)
        return list(merge_operator_tokens([one, plus, *without], symbols={"+", "-"}))

    def _checked(self, token: Token) -> Token:
        if token.kind is Token.Kind.PYTHON:
            token.token = formatted(token.token, self._formula)
        elif token.token == ".":
            token.kind = Token.Kind.OPERATOR
        elif token.kind is Token.Kind.NAME:
            check_names([token.token])
        elif token.kind is Token.Kind.OPERATOR and set(token.token) & set("|~"):
            cure = "give one list of terms"
            if "|" in token.token:
                cure += "; there are no random effects, but C(g), or fit(groups='g')"
            raise FormulaError(
                f"The formula {self._formula!r} has several parts; {cure}."
            )
        return token


class _Operators(DefaultOperatorResolver):  # type: ignore[misc]
    """Formulaic's operators, with a limit to the products of terms."""

    def __init__(self, formula: str, taken_out: list[str]) -> None:
        super().__init__()
        self._formula, self._taken_out = formula, taken_out
        self._products = 0

    @property
    def operators(self) -> list[Operator]:
        """The operators, those for powers and products with a limit."""
        found: list[Operator] = super().operators
        for operator in found:
            if operator.symbol in ("*", "/", ":", "in"):
                operator._to_terms = self._limited(operator._to_terms)
            elif operator.symbol in ("**", "^"):
                operator._to_terms = self._power
            elif operator.symbol == "-":
                operator._to_terms = self._noted(operator._to_terms)
        return found

    def _limited(self, join: Join) -> Join:
        def joined(left: Terms, right: Terms) -> Terms:
            self._check(left, right)
            return join(left, right)

        return joined

    def _noted(self, take_out: Callable[..., Terms]) -> Callable[..., Terms]:
        def taken_out(*terms: Terms) -> Terms:
            factors = (factor for term in terms[-1] for factor in term.factors)
            names = (f.expr for f in factors if f.eval_method.value == "lookup")
            self._taken_out.extend(names)
            return take_out(*terms)

        return taken_out

    def _check(self, left: Terms, right: Terms) -> None:
        self._products += len(left) * len(right)
        if self._products > MOST_PRODUCTS:
            raise unusable(
                self._formula, f"it has more than {MOST_PRODUCTS:,} products of terms"
            )

    def _power(self, terms: Terms, power: Terms) -> Terms:
        """``(a + b)^2``: products of terms, until no new ones come."""
        exponent = _whole(power)
        if exponent is None:
            raise unusable(self._formula, "a power of terms is a whole number from 1")
        found = terms
        for _ in range(exponent - 1):
            self._check(found, terms)
            longer = OrderedSet(one * other for one in found for other in terms)
            if len(longer) == len(found):
                break
            found = longer
        return found


def _whole(power: Terms) -> int | None:
    """Exponent that is written as a whole number, at least 1."""
    factors = [factor for term in power for factor in term.factors]
    if len(factors) != 1 or factors[0].eval_method.value != "literal":
        return None
    text = factors[0].expr
    known = text.isascii() and text.isdigit() and len(text) < 10
    return int(text) or None if known else None


class Materializer(PandasMaterializer):  # type: ignore[misc]
    """Formulaic's matrix of complete rows, in which expressions have been evaluated.

    Parameters
    ----------
    frame : DataFrame
        Complete rows in plain dtypes.
    values : dict
        Values of the expressions in these rows, by their text.
    state : dict
        What transformations found at fit.
    formula : str
    """

    INTERFACE_EXPLICIT_OVERRIDES = False  # formulaic's own mark of what is replaced

    def __init__(
        self,
        frame: pd.DataFrame,
        values: Mapping[str, Value],
        state: Mapping[str, State],
        formula: str,
    ) -> None:
        super().__init__(frame)
        self._values, self._state, self._formula = values, state, formula

    def matrix(self, spec: Spec) -> ModelMatrix:
        """Matrix of the terms."""
        if not isinstance(spec, ModelSpec):
            check_products(self._formula, spec, self.data, self._values)
        return matrix_with_columns(spec, self.data, self._coded)

    def _coded(self, spec: Spec) -> ModelMatrix:
        return self.get_model_matrix(spec, na_action="ignore", output="pandas")

    def _lookup(self, name: str) -> tuple[Value, set[str]]:
        return as_real(self.data[name]), set()

    def _evaluate(
        self, expr: str, metadata: object, spec: ModelSpec
    ) -> tuple[Value, set[str]]:
        spec.transform_state.update(self._state)
        return self._values[expr], set()


def check_products(
    formula: str,
    terms: SimpleFormula,
    frame: pd.DataFrame,
    values: Mapping[str, Value],
) -> None:
    """Refuse products of factors that are too large, before any of them is made."""
    spanned = set[frozenset[str]]()
    columns = parts = 0
    for term in (term for term in terms if len(term.factors) > 1):
        texts = [str(f.expr) for f in term.factors if f.eval_method.value != "literal"]
        found = [values[t] if t in values else frame[t] for t in texts]
        levels = {t: _levels(v) for t, v in zip(texts, found, strict=True)}
        factors = [text for text, count in levels.items() if count]
        wide = (len(v) for v in map(unwrapped_value, found) if isinstance(v, dict))
        width, numbers = math.prod(wide), frozenset(texts) - frozenset(factors)
        parts += 2 ** len(factors)
        _check_few(formula, parts, MOST_PARTS, "products within them")
        own = {
            numbers.union(chosen)
            for size in range(len(factors) + 1)
            for chosen in combinations(factors, size)
        }
        new = own - spanned
        spanned |= own
        columns += width * sum(
            math.prod(levels[t] - 1 for t in each - numbers) for each in new
        )
        _check_few(formula, columns, MOST_COLUMNS, "columns")
        _check_few(
            formula,
            len(new),
            MOST_NEW_PARTS,
            "products within one that are no terms (write a*b for a:b)",
        )


def _check_few(formula: str, count: int, most: int, what: str) -> None:
    if count > most:
        raise unusable(
            formula, f"its products of factors have more than {most:,} {what}"
        )


def _levels(value: Value) -> int:
    """Levels that a factor has in these rows; 0 of numbers."""
    plain = unwrapped_value(value)
    if isinstance(plain, dict):
        return 0
    kind = getattr(getattr(value, "__formulaic_metadata__", None), "kind", None)
    numeric = getattr(plain, "dtype", np.dtype(float)).kind in "biuf"
    factor = kind is Factor.Kind.CATEGORICAL or not numeric
    return int(pd.Series(plain).nunique()) if factor else 0


def matrix_with_columns(
    spec: Spec, frame: pd.DataFrame, build: Callable[[Spec], ModelMatrix]
) -> ModelMatrix:
    """Build a model matrix; plain columns of numbers are copied, not built.

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
    found = {str(name) for name in numbers & {_name_of(term) for term in terms}}
    for term in terms:
        if len(term.factors) > 1:
            found -= {factor.expr for factor in term.factors}
    if isinstance(spec, ModelSpec):
        for term, part in zip(terms, spec.structure or [], strict=True):
            if not _is_column(part, _name_of(term)):
                found.discard(_name_of(term))
    return found


def _name_of(term: Term) -> str | None:
    """Name of the column that is a term; None of other terms."""
    (factor, *others) = term.factors
    by_name = not others and factor.eval_method.value == "lookup"
    return factor.expr if by_name else None


def _is_column(part: EncodedTermStructure, name: str | None) -> bool:
    """Whether a part of the structure is what `_column` makes of a name."""
    scopes = [(s.scale, [(f.factor.expr, f.reduced) for f in s.factors])
              for s in part.scoped_terms]  # fmt: skip
    return list(part.columns) == [name] and scopes == [(1, [(name, False)])]


def _column(term: Term) -> EncodedTermStructure:
    """What formulaic keeps of a column of numbers."""
    scoped = ScopedTerm([ScopedFactor(EvaluatedFactor(term.factors[0], None))])
    return EncodedTermStructure(term, [scoped], [term.factors[0].expr])


def _part(spec: Spec, terms: list[Term], places: list[int]) -> Spec:
    """Return a specification of some of the terms, with their coding if it is known."""
    formula = SimpleFormula(terms, _ordering="none")
    if not isinstance(spec, ModelSpec):
        return formula
    known = [spec.structure[i] for i in places] if spec.structure else None
    return replace(spec, formula=formula, structure=known)


def _joined(
    terms: list[Term], places: list[int], coded: ModelMatrix, frame: pd.DataFrame
) -> ModelMatrix:
    """The coded terms, and columns in the places of the others."""
    spec = coded.model_spec
    structure = dict(zip(places, spec.structure, strict=True))
    parts = [structure.get(i) or _column(term) for i, term in enumerate(terms)]
    names = [name for part in parts for name in part.columns]
    others = [n for n in names if n not in coded.columns]
    # Each selection is a copy of all rows, so none is made that changes nothing.
    rows = frame if coded.index.equals(frame.index) else frame.loc[coded.index]
    alone = rows if others == list(rows.columns) else rows[others]
    numbers: dict[str, tuple[Factor.Kind, dict[str, object]]] = {
        name: (Factor.Kind.NUMERICAL, {}) for name in alone.columns
    }
    whole = replace(
        spec,
        formula=SimpleFormula(terms, _ordering="none"),
        structure=parts,
        encoder_state=spec.encoder_state | numbers,
    )
    found = pd.concat([coded.__wrapped__, alone], axis=1)
    return ModelMatrix(found if names == list(found.columns) else found[names], whole)
