"""Every error and warning of the package, in one tree."""

import os
import re
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np

HERE = f"{Path(__file__).parent}{os.sep}"
BETWEEN = ("contextlib", "functools", "joblib", "numba", "numpy", "sklearn")  # callers
ADDRESS = " object at 0x"  # of what has no text of its own
# Controls, halves of characters, ends of lines and signs of direction of Unicode.
HIDDEN = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e"
    "\\u2066-\\u2069\\ud800-\\udfff]"
)
LONGEST = 120  # characters of a value in a message


class PegasosStatsError(Exception):
    """Base of all errors that the package raises on purpose."""


class DataError(PegasosStatsError, ValueError):
    """The data cannot be used: a value, a shape or a type is not allowed."""


class ColumnError(DataError):
    """A column is missing, is not numeric, or holds a value that is not allowed."""


class LabelError(DataError):
    """The labels or levels of the outcome cannot be used; two levels are needed."""


class FormulaError(PegasosStatsError, ValueError):
    """A formula cannot be read, or does not describe a two-level outcome.

    Attributes
    ----------
    reason : str
        What is wrong with the formula, without its text.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason or message


class OptionError(PegasosStatsError, ValueError):
    """An option has a value that is not allowed, or options contradict each other.

    Parameters
    ----------
    reason : str
        What is wrong, and what is allowed.
    option : str
        Name of the option in Python, if the error is about a single one; the message
        then begins with the option and its value.
    value : object
        The value that was given.

    Attributes
    ----------
    reason, option, value
        As the parameters; reason and value as text.

    Examples
    --------
    >>> str(OptionError("is not allowed; give a number above zero.", "lam", -1.0))
    'lam=-1.0 is not allowed; give a number above zero.'
    """

    def __init__(self, reason: str, option: str = "", value: object = None) -> None:
        self.reason, self.option, self.value = reason, option, shown(value)
        super().__init__(f"{option}={self.value} {reason}" if option else reason)


class SeedError(OptionError):
    """A seed that R's ``set.seed`` would refuse."""


class CallError(PegasosStatsError, TypeError):
    """A call with an argument that the function does not have, or without one."""


class MissingAttributeError(PegasosStatsError, AttributeError):
    """An attribute that a model or a result does not have."""


class MissingKeyError(PegasosStatsError, KeyError):
    """A name that is not among the statistics of a table."""

    __str__ = Exception.__str__  # without the quotes of a KeyError


class DependencyError(PegasosStatsError, ImportError):
    """A library that only this function needs is not installed."""


class PegasosStatsWarning(UserWarning):
    """Base of all warnings of the package."""


class ColumnWarning(PegasosStatsWarning):
    """A column was probably misread, such as dates as text, or has unseen levels."""


class ConvergenceWarning(PegasosStatsWarning):
    """A solver stopped before it reached its tolerance."""


class UndefinedMetricWarning(PegasosStatsWarning):
    """A statistic is not defined for these data and is NaN."""


def warn_caller(message: str, category: type[PegasosStatsWarning]) -> None:
    """Warn at the line of the user's code that called the package.

    Files of libraries that call it back, or wrap its functions, are passed over.
    """
    modules = [sys.modules[name] for name in BETWEEN if name in sys.modules]
    files = [getattr(module, "__file__", None) or HERE for module in modules]
    passed = HERE, *(file.removesuffix("__init__.py") for file in files)
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(passed):
        frame, level = frame.f_back, level + 1
    warnings.warn(category(visible(message)), stacklevel=level)


def visible(text: str) -> str:
    r"""Text whose control characters, and signs of direction, are written as escapes.

    Names and levels of a file may hold some, which steer a terminal or turn the words
    of a page round. Ends of lines and tabs stay.

    Examples
    --------
    >>> print(visible("age\x1b[2J\u202e"))
    age\u001b[2J\u202e
    """
    return HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _shortened(text: str) -> str:
    """Text for a message, its end left out where it is long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def one_line(text: object, longest: int = 200) -> str:
    r"""Words of other code in one line, cut where they are long; its type if none.

    Examples
    --------
    >>> one_line(ValueError("No such\n thing.")), one_line(KeyError())
    ('No such thing', 'KeyError')
    """
    try:
        line = " ".join(str(text).split()).rstrip(".")
    except Exception:  # code of others
        line = ""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    line = line or type(text).__name__
    return line if len(line) <= longest else f"{line[:longest]}..."


def listing(items: Iterable[object], limit: int = 5) -> str:
    """Write the first few items of a list for an error message.

    Examples
    --------
    >>> listing(["a", "b", "c"])
    "'a', 'b', 'c'"
    >>> listing(range(9), limit=3)
    '0, 1, 2 and 6 more'
    """
    found = list(items)
    more = len(found) - limit
    first = ", ".join(shown(item) for item in found[:limit])
    return first + (f" and {more} more" if more > 0 else "")


def nearest(name: object, known: Iterable[object], alike: float = 0.85) -> str:
    """The known name most similar to a wrong one; empty if none is similar.

    Examples
    --------
    >>> nearest("F1", ["kappa", "f1"]), nearest("sandwitch", ["sandwich"])
    ('f1', 'sandwich')
    >>> nearest("robust", ["nonrobust"]), nearest(1, ["f1"])
    ('', '')
    """
    from difflib import get_close_matches  # needed for a message alone

    if not isinstance(name, str):
        return ""
    folded = {each.casefold(): each for each in known if isinstance(each, str)}
    found = get_close_matches(name[:LONGEST].casefold(), folded, 1, alike)
    return folded[found[0]] if found else ""


def did_you_mean(name: object, known: Iterable[object], alike: float = 0.85) -> str:
    """Ask for the `nearest` name, in brackets after a wrong one.

    Examples
    --------
    >>> did_you_mean("F1", ["kappa", "f1"]), did_you_mean("r2", ["kappa", "f1"])
    (" (did you mean 'f1'?)", '')
    """
    found = nearest(name, known, alike)
    return f" (did you mean {found!r}?)" if found else ""


def shown(value: object) -> str:
    """Write any value for an error message: in one line, cut if it is long.

    Examples
    --------
    >>> shown("a"), shown(np.float64(2.5)), shown(np.arange(3)), shown("b" * 500)[-5:]
    ("'a'", '2.5', 'array([0, 1, 2])', 'bb...')
    """
    unread = f"an object of type {type(value).__name__}"
    try:
        whole = repr(plain(value))
        text = " ".join(whole.split())
        text.encode()
    except Exception:  # code of others
        return unread
    table = "\n" in whole and not isinstance(value, np.ndarray)
    if (table and len(text) > LONGEST) or ADDRESS in text or not text.isprintable():
        return unread
    return _shortened(text)


def counted(number: int, noun: str) -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row"), counted(2, "pass")
    ('1 row', '1,200 rows', '2 passes')
    """
    plural = "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{'' if number == 1 else plural}"


def plain(item: object) -> object:
    """Convert a numpy scalar to a Python scalar, so that ``5`` is shown as ``5``."""
    return item.item() if isinstance(item, np.generic) else item
