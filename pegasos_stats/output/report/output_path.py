"""Where a report is written: as a whole, and never over another file."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Literal

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
FIGURES = re.compile(r"figure-\d+\.svg")
# The tag before the mark may be long.
MARKED = re.compile(rf"<svg\b[^>]*>\s*{re.escape(rendering.MARK)}")
BEGIN = 2000  # bytes that hold any of these


def _known(begins: Callable[[str], object]) -> Callable[[IO[bytes]], bool]:
    """A test of the first characters of a file, with any kind of line ends."""

    def known(handle: IO[bytes]) -> bool:
        text = handle.read(BEGIN).decode("utf-8", errors="replace")
        return bool(begins(text.replace("\r\n", "\n")))

    return known


CSV_BEGINS = "row,actual,predicted,score"
CSV_ENDS = "_misclassified.csv"

REPORT = writing.Kind("report", "report", _known(lambda text: text.startswith(BEGINS)))
FIGURE = writing.Kind("figure of the report", "figure", _known(MARKED.match))
CSV = writing.Kind(
    "list of misclassified rows",
    "list of misclassified rows",
    _known(lambda text: text.startswith(CSV_BEGINS)),
)


@dataclass(frozen=True)
class PagePlace:
    """Where a report is to be written; `checked_page` makes one.

    Attributes
    ----------
    place : Place
    csv : Place
        Of the misclassified rows.
    format : "html" or "markdown"
    folder : str or None
        Of the figures, for Markdown.
    overwrite : bool
        Whether files that the package did not write may be replaced.
    """

    place: writing.Place
    csv: writing.Place
    format: Format
    folder: str | None
    overwrite: bool

    @property
    def figures(self) -> list[str]:
        """Files in the folder that have names of figures."""
        try:
            names = [] if self.folder is None else os.listdir(self.folder)
        except OSError:  # there is none yet, or nobody may look into it
            return []
        return [
            os.path.join(str(self.folder), n) for n in names if FIGURES.fullmatch(n)
        ]

    def figure(self, name: str) -> writing.Place:
        """Where a figure is to be written."""
        path = os.path.join(str(self.folder), name)
        return writing.checked_place(path, FIGURE, self.overwrite)

    @property
    def files(self) -> list[str]:
        """All that is written, and the folder of the figures."""
        folder = [] if self.folder is None else [self.folder]
        return [self.place.path, self.csv.path, *self.figures, *folder]


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
        If no file can be written there, or one that is no report, or no figure of one,
        is there.
    """
    place = writing.checked_place(path, REPORT, overwrite)
    whole = Path(os.path.abspath(writing.checked_path(path)))
    format = format_of(whole) if format is None else format
    check_choice("format", format, FORMATS)
    folder = None
    if format == "markdown":
        folder = str(whole.with_name(f"{whole.stem}_files"))
    beside = whole.with_name(f"{whole.stem}{CSV_ENDS}")
    csv = writing.checked_place(str(beside), CSV, overwrite)
    page = PagePlace(place, csv, format, folder, overwrite)
    if folder is None:
        return page
    try:
        os.lstat(folder)
    except FileNotFoundError:
        return page
    except OSError as error:
        raise place.failed(error) from None
    writing.check_folder(place, folder)
    for figure in page.figures:
        writing.checked_place(figure, FIGURE, overwrite)
    return page
