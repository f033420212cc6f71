"""Words for what a formula may not do, and for what it may."""

from pegasos_stats.errors import FormulaError

POWERS = "write powers as x**2, not x^2"
ALLOWED = (
    "allowed are columns, numbers, text, arithmetic, comparisons and functions such as "
    "log, np.sqrt, scale and poly; compute other columns in the data before, or give "
    "functions={'name': f}"
)


def refusal(formula: str, what: str) -> FormulaError:
    """The error for something that a formula may not do, with what it may."""
    return refused(formula, f"{what}; {ALLOWED}.")


def unusable(formula: str, reason: str) -> FormulaError:
    """The error for a formula that cannot be read or computed."""
    return refused(formula, f"cannot be used: {reason}.")


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
