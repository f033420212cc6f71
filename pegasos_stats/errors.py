"""All exceptions and warnings of the package."""

import os
import re
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np

HERE = f"{Path(__file__).parent}{os.sep}"
WRAPPERS = (
    "contextlib",
    "functools",
    "joblib",
    "numba",
    "numpy",
    "sklearn",
)  # libraries that call the package, or decorate its functions
ADDRESS = " object at 0x"  # in the default repr of an object
# Control characters, surrogates, line separators and direction marks of Unicode.
HIDDEN = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e"
    "\\u2066-\\u2069\\ud800-\\udfff]"
)
MAX_SHOWN = 120  # characters of a value in a message


class PegasosStatsError(Exception):
    """Base class of the package's own exceptions that reach the user."""


class DataError(PegasosStatsError, ValueError):
    """The data cannot be used: a value, a shape or a type is not allowed."""


class ColumnError(DataError):
    """A column is missing, is not numeric, or contains a value that is not allowed."""


class LabelError(DataError):
    """The classes of the outcome cannot be used; two are needed."""


class FormulaError(PegasosStatsError, ValueError):
    """A formula cannot be read or computed.

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
        Value of the option.

    Attributes
    ----------
    reason, option, value
        As the parameters; reason and value as text.

    Examples
    --------
    >>> str(OptionError("is not allowed; use a number above zero.", "lam", -1.0))
    'lam=-1.0 is not allowed; use a number above zero.'
    """

    def __init__(self, reason: str, option: str = "", value: object = None) -> None:
        self.reason, self.option, self.value = reason, option, shown(value)
        super().__init__(f"{option}={self.value} {reason}" if option else reason)


class SeedError(OptionError):
    """A seed that R's ``set.seed`` does not accept."""


class CallError(PegasosStatsError, TypeError):
    """A call with an unknown argument, or without a required one."""


class MissingAttributeError(PegasosStatsError, AttributeError):
    """An attribute that a model or a result does not have."""


class MissingKeyError(PegasosStatsError, KeyError):
    """A name that is not among the statistics of a table."""

    __str__ = Exception.__str__  # a KeyError would add quotes


class DependencyError(PegasosStatsError, ImportError):
    """An optional library, which only some functions need, is not installed."""


class PegasosStatsWarning(UserWarning):
    """Base class of all warnings of the package."""


class ColumnWarning(PegasosStatsWarning):
    """A column was probably misread, such as dates as text, or has unseen levels."""


class ConvergenceWarning(PegasosStatsWarning):
    """A solver did not reach its tolerance, or a fit is too far from its optimum."""


class UndefinedMetricWarning(PegasosStatsWarning):
    """A statistic is not defined for these data and is NaN."""


def warn_caller(message: str, category: type[PegasosStatsWarning]) -> None:
    """Warn at the line of the user's code that called the package.

    Frames of libraries that call the package or wrap its functions are skipped.
    """
    modules = [sys.modules[name] for name in WRAPPERS if name in sys.modules]
    files = [getattr(module, "__file__", None) or HERE for module in modules]
    passed = HERE, *(file.removesuffix("__init__.py") for file in files)
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(passed):
        frame, level = frame.f_back, level + 1
    warnings.warn(category(visible(message)), stacklevel=level)


def visible(text: str) -> str:
    r"""Write control characters and direction marks of a text as escapes.

    In names and levels from a file these characters could control a terminal or reorder
    the text of a page. Line feeds and tabs are not changed.

    Examples
    --------
    >>> print(visible("age\x1b[2J\u202e"))
    age\u001b[2J\u202e
    """
    return HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _shortened(text: str) -> str:
    """Return a text for a message, cut at the end if it is long."""
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def one_line(text: object, longest: int = 200) -> str:
    r"""Return a text, such as the message of an exception, on one line.

    The line has at most `longest` characters. An empty text is replaced by the name of
    its type.

    Examples
    --------
    >>> one_line(ValueError("No such\n thing.")), one_line(KeyError())
    ('No such thing', 'KeyError')
    """
    try:
        line = " ".join(str(text).split()).rstrip(".")
    except Exception:  # foreign code may raise anything
        line = ""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    line = line or type(text).__name__
    return line if len(line) <= longest else f"{line[:longest]}..."


def listing(items: Iterable[object], limit: int = 5) -> str:
    """Write the first `limit` items of a list for an error message.

    Examples
    --------
    >>> listing(["a", "b", "c"])
    "'a', 'b', 'c'"
    >>> listing(range(9), limit=3)
    '0, 1, 2 and 6 more'
    """
    values = list(items)
    more = len(values) - limit
    first = ", ".join(shown(item) for item in values[:limit])
    return first + (f" and {more} more" if more > 0 else "")


def nearest(
    name: object, candidates: Iterable[object], similarity: float = 0.85
) -> str:
    """Return the candidate most similar to a wrong name, or an empty text.

    Examples
    --------
    >>> nearest("F1", ["kappa", "f1"]), nearest("sandwitch", ["sandwich"])
    ('f1', 'sandwich')
    >>> nearest("robust", ["nonrobust"]), nearest(1, ["f1"])
    ('', '')
    """
    from difflib import get_close_matches  # needed only for a message

    if not isinstance(name, str):
        return ""
    folded = {n.casefold(): n for n in candidates if isinstance(n, str)}
    matches = get_close_matches(name[:MAX_SHOWN].casefold(), folded, 1, similarity)
    return folded[matches[0]] if matches else ""


def did_you_mean(
    name: object, candidates: Iterable[object], similarity: float = 0.85
) -> str:
    """Return a question with the `nearest` name, in brackets, or an empty text.

    Examples
    --------
    >>> did_you_mean("F1", ["kappa", "f1"]), did_you_mean("r2", ["kappa", "f1"])
    (" (did you mean 'f1'?)", '')
    """
    suggestion = nearest(name, candidates, similarity)
    return f" (did you mean {suggestion!r}?)" if suggestion else ""


def shown(value: object) -> str:
    """Write any value for an error message, on one line, cut if it is long.

    Examples
    --------
    >>> shown("a"), shown(np.float64(2.5)), shown(np.arange(3)), shown("b" * 500)[-5:]
    ("'a'", '2.5', 'array([0, 1, 2])', 'bb...')
    """
    type_only = f"an object of type {type(value).__name__}"
    try:
        whole = repr(plain(value))
        text = " ".join(whole.split())
        text.encode()
    except Exception:  # foreign code may raise anything
        return type_only
    table = "\n" in whole and not isinstance(value, np.ndarray)
    if (table and len(text) > MAX_SHOWN) or ADDRESS in text or not text.isprintable():
        return type_only
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
    """Convert a numpy scalar to Python, so that ``np.int64(5)`` is shown as ``5``."""
    return item.item() if isinstance(item, np.generic) else item
