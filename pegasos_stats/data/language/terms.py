"""Terms of a formula, by the grammar of Wilkinson and Rogers as R has it.

``a * b`` is ``a + b + a:b``, ``a / b`` is ``a + a:b``, and ``(a + b)^2`` has all
products of two. What is computed, as in ``log(x)`` or ``{x > 0}``, stays text.

References
----------
Wilkinson, G. N. and Rogers, C. E. (1973). Symbolic description of factorial models for
analysis of variance. Applied Statistics 22, 392-399.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from pegasos_stats.data.language.expressions import (
    CLOSING,
    NESTED,
    check_names,
    signs_in,
    unusable,
)
from pegasos_stats.errors import FormulaError

MOST_PRODUCTS = 250_000  # some seconds
TERMS = (
    "; terms are joined by + and stand in backticks where a name is no word; what is "
    "computed or compared stands in I(), as in I(x > 0)"
)
STATA = "; write a * b for a##b, a:b for a#b, C(g) for i.g, and x for c.x"
PARTS = (
    "; it has several parts, and there are no random effects: give one list of terms, "
    "with C(g), or fit(groups='g')"
)
TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9.]*[0-9][0-9.]*(?![\w.]))|`(?P<quoted>[^`]+)`"
    r"|(?P<sign>\*\*|%in%|[-+*/:^()]|\.(?![\w.]))|(?P<name>[\w.]+)|(?P<other>.))",
    re.DOTALL,
)


class Factor(NamedTuple):
    """A factor of a term.

    Attributes
    ----------
    text : str
    kind : "number", "column" or "expression"
    """

    text: str
    kind: Literal["number", "column", "expression"]


class Term(NamedTuple):
    """A product of factors.

    Examples
    --------
    >>> str(Term((Factor("a", "column"), Factor("log(b)", "expression"))))
    'a:log(b)'
    """

    factors: tuple[Factor, ...]

    def __str__(self) -> str:
        return ":".join(factor.text for factor in self.factors)


Terms: TypeAlias = dict[frozenset[str], Term]  # by the texts of their factors


class TermReader:
    """Reads a list of terms by recursive descent, a method for each precedence.

    Parameters
    ----------
    text : str
    formula : str
        The formula that it is part of, for messages.
    others : callable
        Gives the columns that ``.`` stands for.
    expression : callable
        Writes what is computed, so that equal expressions look alike.

    Attributes
    ----------
    names : list of str
        Columns that stand in the terms by their names, behind a minus too.

    Examples
    --------
    >>> reader = TermReader("a*b + log(x) - b", "y ~ .", list, str)
    >>> [str(term) for term in reader.terms()], reader.names
    (['1', 'a', 'log(x)', 'a:b'], ['a', 'b', 'b'])
    """

    def __init__(
        self,
        text: str,
        formula: str,
        others: Callable[[], Iterable[str]],
        expression: Callable[[str], str],
    ) -> None:
        self.names: list[str] = []
        self._formula, self._others, self._expression = formula, others, expression
        self._products = 0
        self._tokens = self._read(text.rstrip())
        self._kind, self._token = next(self._tokens)

    def terms(self) -> tuple[Term, ...]:
        """The terms, an intercept in front, those of fewer factors first.

        Raises
        ------
        FormulaError
            If they cannot be read.
        ColumnError
            If a name cannot be that of a column.
        """
        try:
            found = self._sum(_single(Factor("1", "number")))
        except RecursionError:
            raise unusable(self._formula, NESTED) from None
        if self._kind != "end":
            raise self._unexpected()
        terms = sorted(found.values(), key=_degree)
        if any(
            "number" in dict(term.factors).values() for term in terms if _degree(term)
        ):
            raise unusable(
                self._formula, f"numbers stand in I(), as in I(2 * x){TERMS}"
            )
        return tuple(terms)

    def _read(self, text: str) -> Iterator[tuple[str, str]]:
        """Tokens and their kinds; a call, or what stands in braces, is one."""
        at = 0
        while found := TOKEN.match(text, at):
            kind = str(found.lastgroup)
            token, at = found[kind], found.end()
            brace = token == "{"
            if brace or (kind == "name" and text[at : at + 1] == "("):
                start = found.start(kind)
                at = self._behind_brackets(text, found.end() - brace)
                token = self._expression(text[start + brace : at - brace])
                kind = "expression"
            yield token if kind == "sign" else kind, token
        yield "end", ""

    def _behind_brackets(self, text: str, start: int) -> int:
        for at, sign, depth in signs_in(text, start):
            if depth == 0 and sign in CLOSING:
                return at + 1
        raise unusable(self._formula, f"a bracket is not closed{TERMS}")

    def _next(self, *kinds: str) -> str:
        """The next token, if it is of one of these kinds; else no text."""
        if self._kind not in kinds:
            return ""
        token = self._token
        self._kind, self._token = next(self._tokens)
        return token

    def _unexpected(self) -> FormulaError:
        hints = {"|": PARTS, "~": PARTS, "#": STATA}
        token = repr(self._token) if self._token else "the end"
        hint = hints.get(self._token, TERMS)
        return unusable(self._formula, f"it cannot be read at {token}{hint}")

    def _sum(self, found: Terms) -> Terms:
        signs = self._signs() or "+"
        while signs:
            part, minus = self._product(), signs.count("-") % 2 == 1
            if list(part) == [frozenset("0")]:  # as -1
                part, minus = _single(Factor("1", "number")), not minus
            for key, term in part.items():
                if minus:
                    found.pop(key, None)
                else:
                    found.setdefault(key, term)
            signs = self._signs()
        return found

    def _signs(self) -> str:
        signs = ""
        while sign := self._next("+", "-"):
            signs += sign
        return signs

    def _product(self) -> Terms:
        found = self._interaction()
        while sign := self._next("*", "/", "%in%"):
            other = self._interaction()
            if sign == "*":
                found = _union(found, other, self._crossed(found, other))
                continue
            outer, inner = (found, other) if sign == "/" else (other, found)
            factors = {f.text: f for term in outer.values() for f in term.factors}
            whole = {frozenset(factors): Term(tuple(factors.values()))}
            found = _union(outer, self._crossed(whole, inner))
        return found

    def _interaction(self) -> Terms:
        found = self._power()
        while self._next(":"):
            found = self._crossed(found, self._power())
        return found

    def _power(self) -> Terms:
        """``(a + b)^2``: products of terms, until no new ones come."""
        found = terms = self._operand()
        if self._next("**", "^"):
            power = self._next("number")
            if not power.isdigit() or len(power) > 9 or int(power) == 0:
                text = "a power of terms is a whole number from 1"
                raise unusable(self._formula, text)
            for _ in range(int(power) - 1):
                longer = self._crossed(found, terms)
                if len(longer) == len(found):
                    break
                found = longer
        return found

    def _operand(self) -> Terms:
        kind, token = self._kind, self._token
        if self._next("("):
            found = self._sum({})
            if not self._next(")"):
                raise self._unexpected()
            return found
        if self._next("."):
            return _union(*(_single(Factor(n, "column")) for n in self._others()))
        if self._next("quoted", "name"):
            check_names([token])
            self.names.append(token)
            return _single(Factor(token, "column"))
        if not self._next("number", "expression"):
            raise self._unexpected()
        return _single(Factor(token, "number" if kind == "number" else "expression"))

    def _crossed(self, left: Terms, right: Terms) -> Terms:
        self._products += len(left) * len(right)
        if self._products > MOST_PRODUCTS:
            text = f"it has more than {MOST_PRODUCTS:,} products of terms"
            raise unusable(self._formula, text)
        found: Terms = {}
        for one in left.values():
            for other in right.values():
                factors = {f.text: f for f in (*one.factors, *other.factors)}
                found.setdefault(frozenset(factors), Term(tuple(factors.values())))
        return found


def _degree(term: Term) -> int:
    return 0 if str(term) == "1" else len(term.factors)


def _single(factor: Factor) -> Terms:
    return {frozenset([factor.text]): Term((factor,))}


def _union(*parts: Terms) -> Terms:
    found: Terms = {}
    for part in parts:
        for key, term in part.items():
            found.setdefault(key, term)
    return found
