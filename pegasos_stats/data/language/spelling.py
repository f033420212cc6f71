"""The spelling of formulas: quotes, words of R, and names that need backticks."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise
from keyword import iskeyword
from typing import Any

LITERAL = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
WORD = re.compile(r"[^\W\d][\w.]*|\.[\w.]+")
OF_R = {
    "factor": "C",
    "as.factor": "C",
    "as.numeric": "as_numeric",
    "as.integer": "as_integer",
    "as.logical": "as_logical",
    "as.character": "as_character",
}
CALLED = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, OF_R))})\(")
IN = re.compile(r"%in%")
CONNECTIVE = re.compile(r"[&|]")
QUOTED = re.compile(rf"({LITERAL}|`[^`]*`)")


def normal_form(name: str) -> str:
    """A name as Python's parser writes it."""
    return unicodedata.normalize("NFKC", name)


def is_word(name: Any) -> bool:
    """Whether a name can stand in an expression as it is."""
    known = isinstance(name, str) and name.isidentifier() and not iskeyword(name)
    return known and normal_form(name) == name


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
    """
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


def with_quotes(text: str, columns: Any) -> str:
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
