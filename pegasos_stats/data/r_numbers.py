"""Numbers written as R writes them: ``round``, ``format`` and ``format.pval``."""

import math
from collections.abc import Sequence

SMALLEST = 2.220446049250313e-16  # .Machine$double.eps


def r_round(x: float, digits: int) -> float:
    """Round to a number of decimals, as R does since 4.0.

    Of the two neighbours with so many decimals the nearer one as a double; halfway the
    one whose last digit is even.

    Examples
    --------
    >>> r_round(0.15, 1), r_round(2.675, 2), r_round(-0.5, 0)
    (0.1, 2.67, -0.0)
    """
    if not math.isfinite(x):
        return x
    scale = 10.0**digits
    below = math.floor(x * scale)
    low, high = below / scale, math.ceil(x * scale) / scale
    nearer = (high - x) - (x - low)
    found = low if nearer > 0 or (nearer == 0 and below % 2 == 0) else high
    return math.copysign(found, x)


def r_format(values: Sequence[float], digits: int) -> list[str]:
    """Write numbers to one common precision and width, as ``format(x, digits)``.

    The precision is the smallest with which every number has at least `digits`
    significant ones, trailing zeros aside; NaN is written NA.

    Examples
    --------
    >>> r_format([0.95, 0.97333333, 1.0, float("nan")], 4)
    ['0.9500', '0.9733', '1.0000', '    NA']
    >>> r_format([1.25e-12], 4)
    ['1.25e-12']
    """
    finite = [x for x in values if math.isfinite(x)]
    parts = [_significant(x, digits) for x in finite]
    decimals = max((max(0, n - power - 1) for n, power in parts), default=0)
    mantissa = max((n - 1 for n, _ in parts), default=0)
    fixed, scientific = (
        [f"{x:.{places}{style}}" for x in finite]
        for places, style in ((decimals, "f"), (mantissa, "e"))
    )
    shorter = _width(fixed) <= _width(scientific)
    written = iter(fixed if shorter else scientific)
    special = {math.inf: "Inf", -math.inf: "-Inf"}
    texts = [
        next(written) if math.isfinite(x) else special.get(x, "NA") for x in values
    ]
    return [text.rjust(_width(texts)) for text in texts]


def r_number(x: float) -> str:
    """Write one number with up to 15 digits, as ``paste(x)``.

    Examples
    --------
    >>> r_number(0.5), r_number(1.0), r_number(1e-4)
    ('0.5', '1', '1e-04')
    """
    return r_format([x], 15)[0]


def format_pval(values: Sequence[float], digits: int) -> list[str]:
    """Write p-values together, as ``format.pval``.

    Examples
    --------
    >>> format_pval([1e-140, 0.2109], 4), format_pval([0.0, 0.0], 4)
    (['<2e-16', '0.2109'], ['< 2.2e-16', '< 2.2e-16'])
    """
    shown = [p for p in values if p >= SMALLEST]
    fixed = [p for p in shown if p >= 1e-4]
    tiny = [p for p in shown if p < 1e-4]
    texts = dict(zip(fixed, r_format(fixed, digits), strict=True))
    texts |= dict(zip(tiny, r_format(tiny, digits), strict=True))
    below = _below(list(texts.values()), max(1, digits - 2))
    return ["NA" if p != p else texts.get(p, below) for p in values]


def _below(others: Sequence[str], digits: int) -> str:
    """Write a p-value below `SMALLEST`, such as ``<2e-16``, to fit in with `others`."""
    width = _width(others)
    if others and digits > 1 and digits + 6 > width:
        digits = max(1, width - 7)
    apart = "" if digits == 1 and width <= 6 else " "
    return f"<{apart}{r_format([SMALLEST], digits)[0]}"


def _significant(x: float, digits: int) -> tuple[int, int]:
    """Significant digits without trailing zeros, and the power of ten."""
    mantissa, power = f"{x:.{digits - 1}e}".split("e")
    return max(1, len(mantissa.strip("-").replace(".", "").rstrip("0"))), int(power)


def _width(texts: Sequence[str]) -> int:
    return max(map(len, texts), default=0)
