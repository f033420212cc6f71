"""Formulaic's terms and matrices, without its evaluation of text.

Formulaic reads how terms are joined and codes factors; what stands in a term is
computed from our own tree. This module is imported where formulaic is needed.
"""

import math
from collections.abc import Callable, Iterable, MutableMapping
from typing import Any

import numpy as np
import pandas as pd
from formulaic import ModelSpec, SimpleFormula
from formulaic.materializers import PandasMaterializer
from formulaic.materializers.types import EvaluatedFactor
from formulaic.parser import DefaultFormulaParser
from formulaic.parser.algos.tokenize import tokenize
from formulaic.parser.parser import DefaultOperatorResolver
from formulaic.parser.types import Factor, Operator, OrderedSet, Term, Token
from formulaic.parser.utils import merge_operator_tokens, replace_tokens

from pegasos_stats.data.language.arithmetic import as_real
from pegasos_stats.data.language.evaluation import Evaluation, column_value
from pegasos_stats.data.language.nodes import Functions
from pegasos_stats.data.language.plain import matrix_with_columns
from pegasos_stats.data.language.reading import formatted, read_expression
from pegasos_stats.data.language.refusing import unusable
from pegasos_stats.errors import FormulaError

MOST_PRODUCTS = 250_000  # some seconds
MOST_COLUMNS = 100_000  # of products of factors, some seconds


class TermParser(DefaultFormulaParser):  # type: ignore[misc]
    """Reads one list of terms, and leaves what stands in them as text."""

    def __init__(self, formula: str) -> None:
        super().__init__(operator_resolver=_Operators(formula))
        self._formula = formula

    def get_tokens_from_formula(
        self, formula: str, *, context: MutableMapping[str, Any]
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
        elif token.kind is Token.Kind.OPERATOR and set(token.token) & set("|~"):
            raise FormulaError(
                f"The formula {self._formula!r} has several parts; give one list of "
                "terms."
            )
        return token


class _Operators(DefaultOperatorResolver):  # type: ignore[misc]
    """Formulaic's operators, with a limit to the products of terms."""

    def __init__(self, formula: str) -> None:
        super().__init__()
        self._formula = formula
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
        return found

    def _limited(self, join: Callable[..., Any]) -> Callable[..., Any]:
        def joined(left: OrderedSet[Term], right: OrderedSet[Term]) -> Any:
            self._check(left, right)
            return join(left, right)

        return joined

    def _check(self, left: OrderedSet[Term], right: OrderedSet[Term]) -> None:
        self._products += len(left) * len(right)
        if self._products > MOST_PRODUCTS:
            raise unusable(
                self._formula, f"it has more than {MOST_PRODUCTS:,} products of terms"
            )

    def _power(self, terms: OrderedSet[Term], power: OrderedSet[Term]) -> Any:
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


def _whole(power: OrderedSet[Term]) -> int | None:
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

    def __init__(self, frame: pd.DataFrame, formula: str, functions: Functions) -> None:
        super().__init__(frame)
        self._formula = formula
        self._functions = functions
        self._products = 0

    def matrix(self, spec: SimpleFormula | ModelSpec) -> Any:
        """Matrix of the terms, without the rows in which a factor has no level."""
        return matrix_with_columns(spec, self.data, self._coded)

    def _coded(self, spec: SimpleFormula | ModelSpec) -> Any:
        return self.get_model_matrix(spec, na_action="ignore", output="pandas")

    def _lookup(self, name: str) -> tuple[Any, set[Any]]:
        return as_real(self.data[name]), set()

    def _evaluate(
        self, expr: str, metadata: Any, spec: ModelSpec
    ) -> tuple[Any, set[Any]]:
        columns = self.data.columns
        tree = read_expression(expr, columns, self._formula, self._functions)
        found = column_value(tree, Evaluation(self.data, spec.transform_state))
        return as_real(found), set()

    def _evaluate_factor(
        self, factor: Factor, spec: ModelSpec, drop_rows: set[int]
    ) -> EvaluatedFactor:
        found = super()._evaluate_factor(factor, spec, drop_rows)
        values = found.values.__wrapped__
        if isinstance(values, pd.Series) and values.dtype.kind not in "biuf":
            drop_rows.update(np.flatnonzero(values.isna()).tolist())
        return found

    def _get_columns_for_term(
        self, factors: list[dict[str, Any]], spec: ModelSpec, scale: float = 1
    ) -> dict[str, Any]:
        if len(factors) > 1:
            self._products += math.prod(map(len, factors))
        if self._products > MOST_COLUMNS:
            what = f"its products of factors have more than {MOST_COLUMNS:,} columns"
            raise unusable(self._formula, what)
        found: dict[str, Any] = super()._get_columns_for_term(factors, spec, scale)
        return found
