"""Where the offset of a fit is from, as JSON and back."""

from pegasos_stats.data.language.expressions import Functions
from pegasos_stats.data.offset import Offset
from pegasos_stats.models.persist import designs, header
from pegasos_stats.models.persist.header import Json, items


def packed_offset(offset: Offset) -> list[Json]:
    """Column, whether numbers were given, expressions, and functions they may call."""
    names = sorted(offset.functions) if offset.terms else []
    return [offset.column, offset.given, list(offset.terms), names]


def unpacked_offset(stored: Json, functions: Functions) -> Offset | None:
    """Undo `packed_offset`; None where earlier files, or fits without one, say nothing.

    Raises
    ------
    ValueError
        If it is not as it was written.
    DataError
        If an expression does more than compute with columns.
    """
    if stored is None:
        return None
    column, given, terms, names = items(stored, "the offset", 4)
    column, given = header.text(column, "a name"), header.flag(given, "the offset")
    terms = tuple(header.text(term, "an offset") for term in items(terms, "offsets"))
    own = designs.functions_of(names, functions)
    for term in terms:
        designs.check_offset(term, own)
    if (bool(column) and given) or not (column or given or terms):
        raise ValueError("the offset is from nowhere, or from two places")
    return Offset(column, given, terms, own)
