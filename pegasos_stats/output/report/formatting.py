"""Numbers, shares and lists of names as a report writes them."""

import math
from collections.abc import Sequence

from pegasos_stats.metrics.intervals import Interval
from pegasos_stats.tables import significant

UNDEFINED = "NA"
NBSP = "\N{NO-BREAK SPACE}"  # an interval stays on one line
SMALLEST = 1e-4  # share that is written in digits


def number(value: float, digits: int = 4) -> str:
    """Write a number with `digits` significant digits and a real minus sign.

    Examples
    --------
    >>> number(-0.69526668), number(float("nan")), number(1234.0, 6)
    ('−0.6953', 'NA', '1234')
    """
    if math.isnan(value):
        return UNDEFINED
    return significant(value, digits).replace("-", "−")


def decimals(value: float) -> str:
    """Write a share or a statistic with four decimals.

    Examples
    --------
    >>> decimals(0.9877), decimals(1.0), decimals(-0.25)
    ('0.9877', '1.0000', '−0.2500')
    """
    text = UNDEFINED if math.isnan(value) else f"{value:.4f}"
    return text.replace("-", "−")


def percent(share: float) -> str:
    """Write a share in percent.

    Examples
    --------
    >>> percent(0.057), percent(0.4966), percent(1e-6), percent(2e-9), percent(0.0)
    ('5.70%', '49.7%', '0.000100%', '2.00e−07%', '0%')
    """
    if math.isnan(share):
        return UNDEFINED
    hundredths = 100.0 * share
    if hundredths in (0.0, 100.0):
        return f"{hundredths:.0f}%"
    if hundredths >= 10.0:
        return f"{hundredths:.1f}%"
    return f"{hundredths:#.3g}%".replace("-", "−")


def limits(interval: Interval) -> str:
    """Write an interval of shares in percent.

    Examples
    --------
    >>> limits(Interval(0.0002, 0.0337))
    '0.0200% to 3.37%'
    """
    return f"{percent(interval.low)} to {percent(interval.high)}"


def bracketed(value: float, interval: Interval | None) -> str:
    r"""Write a share or a statistic, with its interval where there is one.

    Examples
    --------
    >>> bracketed(0.5, Interval(0.25, 0.75)), bracketed(0.5, None)
    ('0.5000 [0.2500,\xa00.7500]', '0.5000')
    """
    if interval is None or math.isnan(interval.low):
        return decimals(value)
    low, high = decimals(interval.low), decimals(interval.high)
    return f"{decimals(value)} [{low},{NBSP}{high}]"


def shortened(items: Sequence[object], limit: int = 12) -> str:
    """Write a list of names; of a long one the first and the last.

    Examples
    --------
    >>> shortened(["a", "b", "c"]), shortened([f"x{i}" for i in range(30)], 4)
    ('a, b, c', 'x0, x1, x2, …, x29')
    """
    names = [str(item) for item in items]
    if len(names) > limit:
        names = [*names[: limit - 1], "…", names[-1]]
    return ", ".join(names)


def p_value(value: float) -> str:
    r"""Write a p-value.

    Examples
    --------
    >>> p_value(0.0123), p_value(1e-20), p_value(float("nan"))
    ('0.0123', '<\xa00.0001', 'NA')
    """
    return f"<{NBSP}0.0001" if value < 1e-4 else decimals(value)


WRITERS = number, percent, decimals, limits, shortened  # of a template
