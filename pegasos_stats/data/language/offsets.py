"""The terms ``offset(x)`` of a formula, which have no coefficient."""

from typing import TYPE_CHECKING

from pegasos_stats.data.language.syntax import refused

if TYPE_CHECKING:
    from formulaic import SimpleFormula
    from formulaic.parser.types import Factor, Term

CALL = "offset("


def expressions_in(terms: "SimpleFormula") -> tuple[str, ...]:
    """What stands in each ``offset()``."""
    found = [term.factors[0].expr for term in terms if _is_offset(term)]
    return tuple(str(expr).removeprefix(CALL).removesuffix(")") for expr in found)


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
    return is_call and str(factor.expr).startswith(CALL)


def _is_offset(term: "Term") -> bool:
    return len(term.factors) == 1 and _calls_offset(term.factors[0])
