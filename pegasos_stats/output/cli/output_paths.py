"""Paths the command line writes to: never a file that it reads, nor one file twice."""

import argparse
import csv
import io
from typing import IO

from pegasos_stats import writing
from pegasos_stats.errors import OptionError
from pegasos_stats.models.persist.archive import MODEL
from pegasos_stats.output.cli.input import files_of
from pegasos_stats.output.cli.process import no_part_left
from pegasos_stats.output.report.output_path import REPORT, PagePlace, checked_page

READ = ("train", "test", "data", "model", "rows")
HEADER = ["row", "predicted", "score"]  # the first is the column of --id, if given
PROBABILITY = "probability_"  # of each of two levels, after the score
BEGIN = 100_000  # bytes that hold the header


def is_predictions(handle: IO[bytes]) -> bool:
    r"""Whether a file has the header line of predictions.

    Examples
    --------
    >>> import io
    >>> is_predictions(io.BytesIO(b"row,predicted,score\n0,6,1.5\n"))
    True
    >>> is_predictions(io.BytesIO(b"row,predicted,score,mine\n0,6,1,2\n"))
    False
    """
    try:
        text = handle.read(BEGIN).decode("utf-8", errors="replace")
        header = next(csv.reader(io.StringIO(text, newline="")), [])
    except csv.Error:
        return False
    more = header[len(HEADER) :]
    known = [name.startswith(PROBABILITY) for name in more]
    return header[1 : len(HEADER)] == HEADER[1:] and known in ([], [True, True])


PREDICTIONS = writing.Kind(
    "predictions", "file of predictions", is_predictions, streams=True
)

# Options that name a file to write, by command.
WRITTEN: dict[str, dict[str, tuple[str, writing.Kind]]] = {
    "fit": {"save": ("--save", MODEL)},
    "demo": {"save": ("--save", MODEL), "report": ("--report", REPORT)},
    "report": {"output": ("--output", REPORT)},
    "predict": {"output": ("--output", PREDICTIONS)},
}


@no_part_left()
def check_places(options: argparse.Namespace) -> None:
    """Check the files that a command will write, before anything is read or fitted.

    Raises
    ------
    OptionError
        If a file that is read would be written over, or two outputs are one file.
    DataError
        If a file cannot be written, or one that the package did not write is there
        and is not to be overwritten.

    Examples
    --------
    >>> given = {"command": "predict", "data": "new.csv", "output": "out.csv"}
    >>> check_places(argparse.Namespace(**given, overwrite=False))
    """
    pages: list[tuple[str, PagePlace]] = []
    files: list[tuple[str, writing.Place]] = []
    for name, (flag, kind) in WRITTEN[options.command].items():
        path = getattr(options, name, None)
        if path is None:
            continue
        _check_against_read(flag, path, kind, options)
        if kind is REPORT:
            page = checked_page(path, overwrite=options.overwrite)
            for source in filter(page.writes, _sources(options)):
                raise OptionError(
                    f"{flag} {page.place.shown} would write a figure over a file that "
                    f"is read, {writing.shown_path(source)}; give another path."
                )
            pages.append((flag, page))
        else:
            files.append((flag, writing.checked_place(path, kind, options.overwrite)))
    for flag, page in pages:
        for other, place in files:
            _check_apart(flag, page, other, place)


def predictions_path(given: str | None) -> str | None:
    """The file for predictions; None, ``-`` or ``/dev/stdout`` is standard output.

    Examples
    --------
    >>> predictions_path("out.csv"), predictions_path("-")
    ('out.csv', None)
    """
    if given in ("-", "/dev/stdout"):
        return None
    return given


def _sources(options: argparse.Namespace) -> list[str]:
    """Files that a command reads."""
    given = [getattr(options, name, None) for name in READ]
    return [file for path in given if path for file in files_of(path)]


def _check_against_read(
    flag: str, path: str, kind: writing.Kind, options: argparse.Namespace
) -> None:
    name = writing.checked_path(path)
    if name == "-":
        raise OptionError(
            f"{flag} - is no file, and no {kind.noun} is written to standard output; "
            "give a path, or ./- for a file of that name."
        )
    if any(writing.is_same(name, source) for source in _sources(options)):
        what = "" if kind.is_at(name) else f" is no {kind.one}: it"
        raise OptionError(
            f"{flag} {writing.shown_path(name)}{what} would write over a file that is "
            "read; give another path."
        )


def _check_apart(flag: str, page: PagePlace, other: str, place: writing.Place) -> None:
    """Raise `OptionError` if a report and another file would be at one place."""
    if page.writes(place.path):
        raise OptionError(
            f"{flag} {page.place.shown} and {other} {place.shown} would be written to "
            "one file; give two paths."
        )
    if page.folder is not None and any(
        writing.is_same(page.folder, path) for path in (place.path, place.folder)
    ):
        raise OptionError(
            f"{other} {place.shown} is in the folder of the figures of {flag} "
            f"{page.place.shown}; give another path."
        )
