"""The syntax of formulas: words of R, quotes and operators, and what is refused."""

import ast
import re
import unicodedata
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from keyword import iskeyword
from typing import TYPE_CHECKING

from pegasos_stats.errors import ColumnError, FormulaError, listing

if TYPE_CHECKING:
    from formulaic import SimpleFormula
    from formulaic.parser.types import Factor, Term

ANSI_COLOUR = re.compile(r"\x1b\[[0-9;]*m|[⧛⧚]")
TERMS = (
    "; terms are joined by + and stand in backticks where a name is no word; what is "
    "computed or compared stands in I(), as in I(x > 0)"
)
STATA = "; write a * b for a##b, a:b for a#b, C(g) for i.g, and x for c.x"
LITERAL = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
WORD = re.compile(r"[^\W\d][\w.]*|\.[\w.]+")
OF_R = {
    "factor": "C",
    "as.factor": "C",
    "as.numeric": "as_numeric",
    "as.integer": "as_integer",
    "as.logical": "as_logical",
    "as.character": "as_character",
    "is.na": "is_na",
}
CALLED = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, OF_R))})\(")
PACKAGE = re.compile(r"(?<![\w.])(?:base|splines|stats)::(?=[\w.]+\()")
DOTTED = re.compile(r"(?<=[(,\s])[^\W\d]\w*(?:\.\w+)+(?=\s*=(?!=))")
IN = re.compile(r"%in%")
OFFSET = "offset("
CONNECTIVE = re.compile(r"[&|]")
QUOTED = re.compile(rf"({LITERAL}|`[^`]*`)")
POWERS = "write powers as x**2, not x^2"
ALLOWED = (
    "allowed are columns, numbers, text, arithmetic, comparisons and functions such as "
    "log, np.sqrt, scale and poly; compute other columns in the data before, or give "
    "functions={'name': f} in Python"
)
OPERATOR_NAMES = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.And: "&",
    ast.Or: "|",
    ast.USub: "negative",
    ast.UAdd: "positive",
    ast.Invert: "not",
    ast.Not: "not",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}


def normal_form(name: str) -> str:
    """A name as Python's parser writes it."""
    return unicodedata.normalize("NFKC", name)


def is_word(name: object) -> bool:
    """Whether a name can stand in an expression as it is."""
    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
        return False
    return normal_form(name) == name


def sides(text: str) -> list[str]:
    """Pieces of a formula between its tildes, but for those in brackets and quotes.

    Examples
    --------
    >>> sides("`a~b` ~ I(~x)")
    ['`a~b`', 'I(~x)']
    """
    cuts = [at for at, sign, depth, _ in _signs(text) if sign == "~" and not depth]
    edges = [-1, *cuts, len(text)]
    return [text[a + 1 : b].strip() for a, b in pairwise(edges)]


def terms_in_python(text: str) -> str:
    """Terms, with the words of R that Python does not have as it has them.

    Examples
    --------
    >>> terms_in_python("as.factor(a) + I(b %in% c(1, 2)) + x %in% z")
    'C(a) + I(b  in  c(1, 2)) + x %in% z'
    >>> terms_in_python("splines::ns(x, 3, Boundary.knots=c(0, 9))")
    'ns(x, 3, Boundary_knots=c(0, 9))'
    """
    text = _outside_quotes(PACKAGE, "", text)
    text = _outside_quotes(DOTTED, lambda m: m[0].replace(".", "_"), text)
    inside = {at for at, sign, _, called in _signs(text) if sign == "%" and called}
    whole = IN.sub(lambda m: " in " if m.start() in inside else m[0], text)
    return _outside_quotes(CALLED, lambda m: f"{OF_R[m[1]]}(", whole)


def outcome_in_python(text: str) -> str:
    """An outcome, with ``&`` and ``|`` that bind as loosely as in R.

    Examples
    --------
    >>> outcome_in_python("a > 1 & factor(b) %in% c('&')")
    "a > 1  and  C(b)  in  c('&')"
    """
    text = _outside_quotes(CALLED, lambda m: f"{OF_R[m[1]]}(", text)
    text = _outside_quotes(IN, " in ", text)
    words = {"&": " and ", "|": " or "}
    return _outside_quotes(CONNECTIVE, lambda m: words[m[0]], text)


def with_quotes(text: str, columns: Collection[object]) -> str:
    """Put quotes around column names with a dot, as R has them.

    So are names that Python would write in another way (the micro sign as mu).

    Examples
    --------
    >>> with_quotes("log(Sepal.Length) + np.sqrt(x)", ["Sepal.Length", "x"])
    'log(`Sepal.Length`) + np.sqrt(x)'
    """
    names = {
        column
        for column in columns
        if isinstance(column, str) and ("." in column or normal_form(column) != column)
    }

    def quoted(match: re.Match[str]) -> str:
        name = match.group(0)
        return f"`{name}`" if name in names else name

    return _outside_quotes(WORD, quoted, text)


def _outside_quotes(
    pattern: re.Pattern[str],
    replacement: str | Callable[[re.Match[str]], str],
    text: str,
) -> str:
    pieces = QUOTED.split(text)
    pieces[::2] = [pattern.sub(replacement, piece) for piece in pieces[::2]]
    return "".join(pieces)


def _signs(text: str) -> Iterator[tuple[int, str, int, bool]]:
    """Signs outside of quotes: place, depth in brackets, and whether in a call.

    What follows a word in brackets is a call, and so is what stands in braces.
    """
    place, called = 0, [False]
    for number, piece in enumerate(QUOTED.split(text)):
        for at, sign in enumerate(piece if number % 2 == 0 else "", place):
            if sign in ")]}" and len(called) > 1:
                called.pop()
            yield at, sign, len(called) - 1, called[-1]
            if sign in "([{":
                after = text[at - 1 : at]
                opens = sign == "{" or after == "_" or after == "." or after.isalnum()
                called.append(called[-1] or opens)
        place += len(piece)


def refusal(formula: str, what: str) -> FormulaError:
    """The error for something that a formula may not do, with what it may."""
    return refused(formula, f"{what}; {ALLOWED}.")


def check_names(columns: Iterable[Hashable]) -> None:
    """Raise `ColumnError` for names that a formula cannot tell from its own words."""
    wrong: list[Hashable] = []
    for column in columns:
        if not isinstance(column, str) or column == "Intercept":
            wrong.append(column)
            continue
        with suppress(ValueError):  # of a name that is no number
            float(column)
            wrong.append(column)
    if wrong:
        noun, them = ("name", "it") if len(wrong) == 1 else ("names", "them")
        raise ColumnError(
            f"The column {noun} {listing(wrong)} cannot be used in a formula; names "
            f"must be text, no numbers, and not 'Intercept': rename {them}, for "
            "example data.add_prefix('x')."
        )


def unusable(formula: str, reason: str) -> FormulaError:
    """The error for a formula that cannot be read or computed."""
    return refused(formula, f"cannot be used: {reason}.")


def cannot_use(formula: str, error: object, hint: str = "") -> FormulaError:
    """Make a `FormulaError` of what another library says of a formula.

    Examples
    --------
    >>> print(cannot_use("y ~ a + x>0", ValueError("Unknown operator '>'.")))
    The formula 'y ~ a + x>0' cannot be used: Unknown operator '>'.
    """
    reason = ANSI_COLOUR.sub("", str(error)) or type(error).__name__
    reason = " ".join(reason.split()).rstrip(".")
    reason = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in reason)
    return unusable(formula, reason + hint)


def refused(formula: str, reason: str) -> FormulaError:
    """The error for a formula, with the reason apart.

    Examples
    --------
    >>> refused("y ~ 1", "has no predictor; add one.")
    FormulaError("The formula 'y ~ 1' has no predictor; add one.")
    """
    return FormulaError(f"The formula {shown(formula)} {reason}", reason)


def shown(formula: str) -> str:
    """A formula in quotes, in one line, cut where it is very long.

    Examples
    --------
    >>> shown("y ~ x")
    "'y ~ x'"
    """
    return repr(formula if len(formula) <= 500 else formula[:500] + "...")


def expressions_in(terms: "SimpleFormula") -> tuple[str, ...]:
    """What stands in each ``offset()``, a term that has no coefficient."""
    found = [term.factors[0].expr for term in terms if _is_offset(term)]
    return tuple(str(expr).removeprefix(OFFSET).removesuffix(")") for expr in found)


def without_offsets(terms: "SimpleFormula", formula: str) -> "SimpleFormula":
    """Terms that have coefficients.

    Raises
    ------
    FormulaError
        If an ``offset()`` is part of a product.
    """
    if not any(_calls_offset(factor) for term in terms for factor in term.factors):
        return terms
    kept = [term for term in terms if not _is_offset(term)]
    if any(_calls_offset(factor) for term in kept for factor in term.factors):
        raise refused(
            formula, "has offset() in a product; write it as a term of its own."
        )
    return type(terms)(kept, _ordering="none")


def _calls_offset(factor: "Factor") -> bool:
    is_call: bool = factor.eval_method.value == "python"
    return is_call and str(factor.expr).startswith(OFFSET)


def _is_offset(term: "Term") -> bool:
    return len(term.factors) == 1 and _calls_offset(term.factors[0])
