"""Where a report is written: as a whole, and never over another file."""

import os
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import IO, Literal, NamedTuple

from pegasos_stats import writing
from pegasos_stats.checks import check_choice
from pegasos_stats.errors import OptionError
from pegasos_stats.output.report import rendering

Format = Literal["html", "markdown"]

FORMATS: tuple[Format, ...] = ("html", "markdown")
ENDS: dict[str, Format] = {
    "": "html",
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
}
BEGINS = (rendering.beginning(), rendering.MARK)
BEGIN = 2000  # bytes that hold any of these


def _begins(*begins: str) -> Callable[[IO[bytes]], bool]:
    """A test of the first characters of a file, with any kind of line ends."""

    def known(handle: IO[bytes]) -> bool:
        text = handle.read(BEGIN).decode("utf-8", errors="replace")
        return text.replace("\r\n", "\n").startswith(begins)

    return known


CSV_ENDS = "_misclassified.csv"

REPORT = writing.Kind("report", _begins(*BEGINS))
CSV = writing.Kind("list of misclassified rows", _begins("row,actual,predicted,score"))


class PagePlace(NamedTuple):
    """Where a report is to be written; `checked_page` makes one.

    Attributes
    ----------
    place : Place
    csv : Place
        Of the misclassified rows.
    format : "html" or "markdown"
    """

    place: writing.Place
    csv: writing.Place
    format: Format


def format_of(path: Path) -> Format:
    """The format that the end of a path asks for.

    Raises
    ------
    OptionError
        If it is neither HTML's nor Markdown's.

    Examples
    --------
    >>> format_of(Path("fit.html")), format_of(Path("fit.md"))
    ('html', 'markdown')
    """
    end = path.suffix.lower()
    if end not in ENDS:
        raise OptionError(
            f"The path {writing.shown_path(str(path))} ends in {end!a}, which is no "
            "format of a report; give one that ends in .html or .md."
        )
    return ENDS[end]


def checked_page(
    path: str | PathLike[str], format: Format | None = None, overwrite: bool = False
) -> PagePlace:
    """Check where a report is to be written, before it is made.

    Raises
    ------
    OptionError
        If the path is none, or asks for no format of a report.
    DataError
        If no file can be written there, or one that is no report is there.
    """
    place = writing.checked_place(path, REPORT, overwrite)
    whole = Path(os.path.abspath(writing.checked_path(path)))
    format = format_of(whole) if format is None else format
    check_choice("format", format, FORMATS)
    beside = whole.with_name(f"{whole.stem}{CSV_ENDS}")
    return PagePlace(place, writing.checked_place(str(beside), CSV, overwrite), format)
