"""Reports in files: written as a whole, and never over something else."""

import os
from pathlib import Path
from typing import Literal

from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.plotting.figures import Figure
from pegasos_stats.reporting.document import Document
from pegasos_stats.reporting.html import GENERATOR, written_html
from pegasos_stats.reporting.markdown import MARK, written_markdown

Format = Literal["html", "markdown"]

FORMATS: tuple[Format, ...] = ("html", "markdown")
ENDS: dict[str, Format] = {
    "": "html",
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
}
MARKS = (f'<meta name="generator" content="{GENERATOR}">', MARK)
BEGIN = 1000  # characters that hold the mark


def format_of(path: Path) -> Format:
    """Return the format that the end of a path asks for.

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
            f"The path {path} ends in {path.suffix!r}, which is no format of a report; "
            "give one that ends in .html or .md."
        )
    return ENDS[end]


def write_html(document: Document, path: Path) -> None:
    """Write a document to one file, which loads nothing; `check_place` comes first.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    _put(path, written_html(document))


def write_markdown(document: Document, path: Path) -> None:
    """Write a document to a file, and its figures to a folder beside it.

    For ``report.md`` the figures are ``report_files/figure-1.svg`` and so on.
    `check_place` comes first.

    Raises
    ------
    DataError
        If a file cannot be written.
    """
    figures: dict[str, str] = {}
    folder = f"{path.stem}_files"

    def address(figure: Figure) -> str:
        name = f"{folder}/figure-{len(figures) + 1}.svg"
        figures[name] = figure.svg
        return name

    text = written_markdown(document, address)
    for name, svg in figures.items():
        _put(path.parent / name, svg)
    _put(path, text)


def check_place(path: Path) -> None:
    """Raise `DataError` if something else than a report stands where one is to be."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; give the path of a file for the report.")
    if not path.exists():
        return
    try:
        with open(path, encoding="utf-8", errors="replace") as handle:
            begin = handle.read(BEGIN)
    except OSError as error:
        raise DataError(_failed(path, error)) from None
    if not any(mark in begin for mark in MARKS):
        raise DataError(
            f"The file {path} is there and is no report of pegasos_stats; give another "
            "path, or remove it first."
        )


def _put(path: Path, text: str) -> None:
    """Write a file beside its place, then put it there."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if path.parent.name.endswith("_files"):
            path.parent.mkdir(exist_ok=True)
        try:
            beside.write_text(text, encoding="utf-8", newline="\n")
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(_failed(path, error)) from None


def _failed(path: Path, error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"The report cannot be written to {path}: {reason}; give another path."
