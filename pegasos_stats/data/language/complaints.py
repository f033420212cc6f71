"""What formulaic says of a formula that it cannot read, in our words, with a cure."""

import re

from pegasos_stats.data.language.syntax import POWERS, unusable
from pegasos_stats.errors import FormulaError

ANSI_COLOUR = re.compile(r"\x1b\[[0-9;]*m|[⧛⧚]")
SIDE = r"""(?:[\w.]+|'[^']*'|"[^"]*")"""
COMPARED = re.compile(rf"{SIDE}\s*(?:[<>!=]=|[<>])\s*{SIDE}(?!\s*[\w.(])")

TERMS = "terms are joined by +, as in 'y ~ a + b'"
BRACKETS = "a bracket is opened or closed without its other half; write both"
COMPUTED = "what is computed of columns stands in I()"
WORDS = (
    "there is no + or other operator between {0}; a name that is no single word stands "
    "in backticks, as in `a b`"
)

# What is said, by what formulaic says; {0} is what its first group found.
COMPLAINTS = (
    (r"'xor'", POWERS),
    (r"Unknown operator '[<>=]|Unknown operator '!'.*!=", "{compared}"),
    (
        r"Unknown operator '([&!])",
        f"'{{0}}' is no operator of terms; {COMPUTED}, as in I(a & b)",
    ),
    (
        r"Unknown operator '(#+)'",
        "'{0}' is Stata's; write a * b for a##b, a:b for a#b, C(g) for i.g, and x for "
        "c.x",
    ),
    (
        r"Unknown operator '(\S+)'",
        f"'{{0}}' is no operator of terms; {TERMS}, and {COMPUTED}",
    ),
    (r"matching context marker|Expected: [)\]}]", BRACKETS),
    (r"Expected: %", f"'%' stands alone; {COMPUTED}, as in I(x % 2)"),
    (r"Expected: (\S)", "the quote {0} is not closed; write it at both ends"),
    (
        r"Operator `(\S+)` (?:has insuffient|is |must )",
        "'{0}' lacks a term on one of its sides; add the term, or take it out",
    ),
    (r"Missing operator between (`.*?` and `.*?`)\.", WORDS),
    (r"Unexpected character ('.*?') following token (`.*?`)", WORDS),
    (
        r"String literals are not valid",
        "text is no term; write names of columns without quotes, or in backticks",
    ),
    (
        r"Numeric literals|different numerical scaling",
        f"a number is no term and multiplies none; {COMPUTED}, as in I(2 * x)",
    ),
)


def cannot_use(formula: str, error: Exception) -> FormulaError:
    """Make a `FormulaError` of an exception that another library raised.

    Examples
    --------
    >>> print(cannot_use("y ~ a + x>0", ValueError("Unknown operator '>'.")))
    The formula 'y ~ a + x>0' cannot be used: a comparison is no term; write I(x>0).
    """
    reason = " ".join(ANSI_COLOUR.sub("", str(error)).split()).rstrip(".")
    for pattern, words in COMPLAINTS:
        if match := re.search(pattern, reason):
            found = " and ".join(match.groups())
            reason = words.format(found, compared=_compared(formula))
            break
    reason = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in reason)
    return unusable(formula, reason or type(error).__name__)


def _compared(formula: str) -> str:
    """What to write in place of a comparison, if it is one of two words."""
    match = COMPARED.search(formula.partition("~")[2])
    if match is None:
        return f"a comparison is no term; {COMPUTED}, as in I(x > 0)"
    return f"a comparison is no term; write I({match[0]})"
