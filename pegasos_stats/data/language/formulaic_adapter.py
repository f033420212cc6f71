"""Formulaic's reader of terms, which leaves what stands in them as text.

This module is imported where formulaic is needed.
"""

from collections.abc import Callable, Iterable, MutableMapping
from typing import TypeAlias

from formulaic.parser import DefaultFormulaParser
from formulaic.parser.algos.tokenize import tokenize
from formulaic.parser.parser import DefaultOperatorResolver
from formulaic.parser.types import Operator, OrderedSet, Term, Token
from formulaic.parser.utils import merge_operator_tokens, replace_tokens

from pegasos_stats.data.language.expressions import (
    check_names,
    formatted,
    unusable,
)
from pegasos_stats.errors import FormulaError

Terms: TypeAlias = OrderedSet[Term]
Join: TypeAlias = Callable[[Terms, Terms], Terms]

MOST_PRODUCTS = 250_000  # some seconds


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
