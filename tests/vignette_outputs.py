"""Compare what the cells of two notebooks printed.

Text has to be the same. Numbers with a decimal point or an exponent may differ by one
unit of their last digit: rounding to the digits that are printed can tip either way.
Two numbers below 1e-6 are equal, as gaps at the optimum are rounding errors. Integers
have to be equal, and so has every character of a cell with the tag ``exact``.
"""

import re
from decimal import Decimal

from execute import code_cells, figure_of, missing_needs, needs

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?![\w.]|-\d)")
TAG = re.compile(r"<style.*?</style>|<[^>]*>", re.DOTALL)
NEGLIGIBLE = Decimal("1e-6")
DIGITS = 6  # printed in a cell that is not exact


def printed(cell):
    """Text of a cell's outputs, as text and as a table, without that of figures."""
    parts = []
    for output in cell.outputs:
        data = output.get("data", {})
        if not figure_of(output):
            parts.append(output.get("text") or data.get("text/plain", ""))
            parts.append(TAG.sub(" ", data.get("text/html", "")))
    return "".join(parts)


def compared(notebook, missing=frozenset()):
    """Cells whose output is compared on a machine that misses these."""
    for cell in code_cells(notebook):
        if "varies" not in tags(cell) and not needs(cell) & missing:
            yield cell


def tags(cell):
    return cell.metadata.get("tags", [])


def differences(before, after):
    """Lines that say which cells print something else, and what."""
    missing = missing_needs()
    pairs = zip(compared(before, missing), compared(after, missing), strict=True)
    return [
        f"{cell.id}:\n{printed(cell)}\nis now\n{printed(now)}"
        for cell, now in pairs
        if not same_text(printed(cell), printed(now), exact="exact" in tags(cell))
    ]


def same_text(before, after, exact=False):
    """Whether two texts are the same, numbers within one unit of the last digit."""
    if exact:
        return before == after
    numbers = NUMBER.findall(before), NUMBER.findall(after)
    words = [NUMBER.sub("#", text).split() for text in (before, after)]
    return (
        words[0] == words[1]
        and len(numbers[0]) == len(numbers[1])
        and all(map(same_number, *numbers))
    )


def same_number(before, after):
    if not (is_rounded(before) and is_rounded(after)):
        return before == after
    one, other = Decimal(before), Decimal(after)
    unit = max(Decimal(1).scaleb(x.as_tuple().exponent) for x in (one, other))
    return abs(one - other) <= unit or max(abs(one), abs(other)) < NEGLIGIBLE


def is_rounded(number):
    """Whether digits were cut off: not so in an integer, nor in numpy's "6."."""
    return bool(re.search(r"\.\d|[eE]", number))


def significant(number):
    """Count the digits of a number that are not leading zeros."""
    return len(re.sub(r"[eE].*|\D", "", number).lstrip("0"))
