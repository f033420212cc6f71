"""Numbers and text as R reads them."""

import math
import re
from typing import Any

from pegasos_stats.errors import plain

DECIMAL = re.compile(r"\s*([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?\s*")
EXACT_POWER = 27  # 10^27 is a number of R's extended precision, 10^28 is not
BITS = 64  # of the significand in extended precision


def r_number(value: Any) -> str:
    """Write a number so that R reads the same bits: in decimals, else in hexadecimal.

    Examples
    --------
    >>> r_number(0.25), r_number(443), r_number(1 / 3), r_number(1e-4)
    ('0.25', '443', '0.3333333333333333', '0.0001')
    """
    value = plain(value)
    if float(value).is_integer():
        return str(int(value))
    text = repr(float(value))
    return text if r_reads_exactly(text) else float(value).hex()


def r_text(text: str) -> str:
    r"""Write a text as a literal of R.

    Examples
    --------
    >>> print(r_text('a "b"'))
    "a \"b\""
    """
    marked = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{marked}"'


def r_reads_exactly(text: str) -> bool:
    """Whether R makes of a decimal number the float64 that is nearest to it.

    R takes the digits as a whole number ``m``, divides by a power of ten in extended
    precision, 64 bits, and rounds the quotient to 53 bits. The second rounding goes
    wrong for about one in 4,000 numbers with many digits.

    Examples
    --------
    >>> r_reads_exactly("0.1"), r_reads_exactly("-1.25e-3"), r_reads_exactly("one")
    (True, True, False)
    """
    found = DECIMAL.fullmatch(text)
    if found is None or not (found[2] or found[3]):
        return False
    digits, power = int(found[2] + found[3]), int(found[4] or 0) - len(found[3])
    if digits.bit_length() > BITS or abs(power) > EXACT_POWER:
        return False
    if power >= 0:
        whole: int = digits * 10**power
        return whole < 2**53
    same: bool = twice_rounded(digits, 10**-power) == abs(float(text))
    return same


def twice_rounded(numerator: int, denominator: int) -> float:
    """Round a quotient to 64 bits, then to 53, halves to even.

    Examples
    --------
    >>> twice_rounded(1, 10) == 0.1
    True
    """
    if numerator == 0:
        return 0.0
    shift = BITS + 1 - numerator.bit_length() + denominator.bit_length()
    quotient, rest = divmod(numerator << max(shift, 0), denominator << max(-shift, 0))
    extra = quotient.bit_length() - BITS
    kept, low = quotient >> extra, quotient & ((1 << extra) - 1)
    half = 1 << (extra - 1)
    kept += low > half or (low == half and (rest > 0 or kept & 1))
    return math.ldexp(float(kept), extra - shift)
