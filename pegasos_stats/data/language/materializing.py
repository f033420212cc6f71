"""Formulaic's terms and matrices, without its evaluation of text.

Formulaic reads how terms are joined and codes factors; what stands in a term is
computed from our own tree. This module is imported where formulaic is needed.
"""

import math
import re
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Mapping,
    MutableMapping,
    Sequence,
)
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pandas as pd
from formulaic import ModelMatrix, ModelSpec, SimpleFormula
from formulaic.errors import DataMismatchWarning, FactorEvaluationError
from formulaic.materializers import PandasMaterializer
from formulaic.materializers.base import EncodedTermStructure
from formulaic.materializers.types import EvaluatedFactor, ScopedFactor, ScopedTerm
from formulaic.parser import DefaultFormulaParser
from formulaic.parser.algos.tokenize import tokenize
from formulaic.parser.parser import DefaultOperatorResolver
from formulaic.parser.types import Factor, Operator, OrderedSet, Term, Token
from formulaic.parser.utils import merge_operator_tokens, replace_tokens

from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.language.arithmetic import Value, as_real
from pegasos_stats.data.language.expressions import (
    Computed,
    Evaluation,
    Functions,
    Node,
    column_value,
)
from pegasos_stats.data.language.reading import formatted, read_expression
from pegasos_stats.data.language.syntax import check_names, unusable
from pegasos_stats.errors import FormulaError, listing

Spec: TypeAlias = SimpleFormula | ModelSpec  # terms at fit; what it left of them
Columns: TypeAlias = dict[str, DataColumn]
Kinds: TypeAlias = dict[str, tuple[Factor.Kind, dict[str, object]]]
Terms: TypeAlias = OrderedSet[Term]
Join: TypeAlias = Callable[[Terms, Terms], Terms]
Levels: TypeAlias = Mapping[str, Collection[object]]  # by the text of the factor

OF_BASE = re.compile("Value `(.*)` for `.*Contrasts.base` is not among")
OF_OTHERS = re.compile(r"outside of the nominated levels .*: \{(.*)\}\. They are")
OF_SHAPES = ("PolyContrasts.scores", "Shape of passed values", "matmul", "mismatch")
MOST_LEVELS = 10
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
    """Formulaic's matrix of complete rows, with factors computed from our trees."""

    INTERFACE_EXPLICIT_OVERRIDES = False  # formulaic's own mark of what is replaced

    def __init__(
        self,
        frame: pd.DataFrame,
        formula: str,
        functions: Functions,
        levels: Levels | None = None,
        computed: Computed | None = None,
    ) -> None:
        super().__init__(frame)
        self._computed = {} if computed is None else computed  # in these rows
        self._levels = levels or {}  # of factors whose rows of others are left out
        self._formula = formula
        self._functions = functions
        self._products = 0

    def matrix(self, spec: Spec) -> ModelMatrix:
        """Matrix of the terms, without the rows in which a factor has no level."""
        return matrix_with_columns(spec, self.data, self._coded)

    def _coded(self, spec: Spec) -> ModelMatrix:
        return self.get_model_matrix(spec, na_action="ignore", output="pandas")

    def _lookup(self, name: str) -> tuple[Value, set[str]]:
        return as_real(self.data[name]), set()

    def _evaluate(
        self, expr: str, metadata: object, spec: ModelSpec
    ) -> tuple[Value, set[str]]:
        if expr in self._computed:
            value, found = self._computed[expr]
            spec.transform_state.update(found)
            return as_real(value), set()
        columns = self.data.columns
        tree = read_expression(expr, columns, self._formula, self._functions)
        evaluation = Evaluation(self.data, spec.transform_state)
        return as_real(evaluated(expr, tree, evaluation)), set()

    def _evaluate_factor(
        self, factor: Factor, spec: ModelSpec, drop_rows: set[int]
    ) -> EvaluatedFactor:
        found = super()._evaluate_factor(factor, spec, drop_rows)
        values = found.values.__wrapped__
        if isinstance(values, pd.Series) and values.dtype.kind not in "biuf":
            drop_rows.update(np.flatnonzero(values.isna()).tolist())
        if factor.expr in self._levels:
            known = pd.Series(values).isin(self._levels[factor.expr])
            drop_rows.update(np.flatnonzero(~known).tolist())
        return found

    def _encode_evaled_factor(
        self,
        factor: EvaluatedFactor,
        spec: ModelSpec,
        drop_rows: Sequence[int],
        reduced_rank: bool = False,
    ) -> Columns:
        try:
            found: Columns = super()._encode_evaled_factor(
                factor, spec, drop_rows, reduced_rank
            )
        except (DataMismatchWarning, ValueError) as error:
            at_fit = factor.expr not in spec.encoder_state
            what = _uncoded(str(error), _levels_of(factor.values)) if at_fit else ""
            if not what:
                raise
            raise FactorEvaluationError(f"{factor.expr}: {what}") from None
        return found

    def _get_scoped_terms(
        self, terms: Iterable[Term], ensure_full_rank: bool = True
    ) -> Iterable[tuple[Term, Iterable[ScopedTerm]]]:
        self._check_products(terms)
        found: Iterable[tuple[Term, Iterable[ScopedTerm]]]
        found = super()._get_scoped_terms(terms, ensure_full_rank)
        return found

    def _check_products(self, terms: Iterable[Term]) -> None:
        """Refuse products that are too large, before any column of them is made."""
        columns, parts = 0, 0
        for term in terms:
            factors = [self.factor_cache[factor.expr] for factor in term.factors]
            levels = [_least_levels(factor) for factor in factors]
            if len(factors) > 1:
                columns += math.prod(max(1, each - 1) for each in levels)
            parts += 2 ** sum(each > 0 for each in levels)
            if columns > MOST_COLUMNS:
                raise unusable(self._formula, _too_many("columns", MOST_COLUMNS))
            if parts > MOST_PARTS:
                what = _too_many("products within them", MOST_PARTS)
                raise unusable(self._formula, what)

    @classmethod
    def _simplify_scoped_terms(
        cls, scoped_terms: Iterable[ScopedTerm]
    ) -> OrderedSet[ScopedTerm]:
        scoped = list(scoped_terms)
        if len(scoped) > MOST_NEW_PARTS:
            raise ValueError(
                f"a product of factors has {len(scoped):,} products within it that are "
                f"no terms, and at most {MOST_NEW_PARTS} are allowed: write a*b for a:b"
            )
        return super()._simplify_scoped_terms(scoped)

    def _get_columns_for_term(
        self, factors: list[Columns], spec: ModelSpec, scale: float = 1
    ) -> Columns:
        if len(factors) > 1:
            self._products += math.prod(map(len, factors))
        if self._products > MOST_COLUMNS:
            raise unusable(self._formula, _too_many("columns", MOST_COLUMNS))
        found: Columns = super()._get_columns_for_term(factors, spec, scale)
        return found


def evaluated(expr: str, tree: Node, evaluation: Evaluation) -> Value:
    """Value of a factor; errors name it."""
    splines = [each for name, each in evaluation.state.items() if name in expr]
    ranges = [s for s in splines if {"knots", "lower_bound"} <= s.keys()]  # of fits
    try:
        return column_value(tree, evaluation)
    except ValueError as error:
        if not ranges:
            raise FactorEvaluationError(f"{expr}: {error}") from error
        low, high = ranges[0]["lower_bound"], ranges[0]["upper_bound"]
        raise FactorEvaluationError(
            f"{expr} has no value below {low:.6g} or above {high:.6g}, the range "
            "at fit; leave such rows out, or fit with extrapolation='clip' in it"
        ) from error
    except Exception as error:
        raise FactorEvaluationError(f"{expr}: {error}") from error


def _too_many(what: str, most: int) -> str:
    return f"its products of factors have more than {most:,} {what}"


def _least_levels(factor: EvaluatedFactor) -> int:
    """Levels that a factor has at the least; 0 of numbers."""
    if factor.metadata.kind is not Factor.Kind.CATEGORICAL:
        return 0
    return int(pd.Series(factor.values.__wrapped__).nunique())


def _levels_of(values: Value) -> list[object]:
    """Levels that a factor has in its values."""
    column = pd.Series(getattr(values, "__wrapped__", values))
    return list(column.astype("category").cat.categories)


def _uncoded(reason: str, levels: list[object]) -> str:
    """Why a factor of these levels has no coding; empty if that is not about it."""
    known = f"the levels are {listing(levels, MOST_LEVELS)}"
    if base := OF_BASE.search(reason):
        return f"{base[1]} is no level; {known}, so give one of these"
    if others := OF_OTHERS.search(reason):
        lacked = ", ".join(sorted(others[1].split(", ")))
        return f"levels= lacks {lacked}; {known}, so give them all, or drop rows"
    if any(word in reason for word in OF_SHAPES):
        return f"its contrasts do not go with its levels; {known}, so give one for each"
    return ""


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
