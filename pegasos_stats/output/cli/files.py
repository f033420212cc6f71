"""Files of the command line: data that it reads, and places that it writes to."""

import csv
import io
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from keyword import iskeyword
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import writing
from pegasos_stats.arrays import DataColumn
from pegasos_stats.data.design import Design, missing_cure
from pegasos_stats.data.files import (
    COMMAS,
    IN_MEMORY,
    UNREADABLE,
    CsvStyle,
    check_header,
    opened,
    read_csv,
    unreadable,
)
from pegasos_stats.data.language.design import blanked_for
from pegasos_stats.data.scan.files import MEMORY, Scan, scan
from pegasos_stats.data.scan.formats import SEPARATORS, ending_of
from pegasos_stats.data.scan.formats_svmlight import SVMLIGHT
from pegasos_stats.data.scan.paths import is_pattern, matched
from pegasos_stats.data.svmlight import (
    LABEL_NAME,
    Svmlight,
    looks_like_svmlight,
    read_svmlight,
)
from pegasos_stats.errors import DataError, OptionError, counted, did_you_mean, listing
from pegasos_stats.output.cli.options import Options
from pegasos_stats.output.cli.streams import no_part_left
from pegasos_stats.output.report.output_path import REPORT, checked_page
from pegasos_stats.persist.archive import MODEL

STANDARD_INPUT = "-"

# -------------------------------------------------------------------- read


@dataclass(frozen=True)
class Rows:
    """Rows of a file.

    Attributes
    ----------
    path : str
    frame : DataFrame or None
        Of a CSV file.
    sparse : Svmlight or None
        Of an svmlight file.
    scan : Scan or None
        Files that are read block by block.
    dense : bool
        Whether sparse rows are wanted as an array.
    style : CsvStyle
        How a CSV file is written.
    unseen : str
        Which levels that did not occur at fit became missing values, in words.
    """

    path: str
    frame: pd.DataFrame | None = None
    sparse: Svmlight | None = None
    scan: Scan | None = None
    dense: bool = False
    style: CsvStyle = COMMAS
    unseen: str = ""

    @property
    def format(self) -> str:
        """``"csv"``, ``"svmlight"``, or ``"files"`` that are read block by block."""
        if self.scan is not None:
            return "files"
        return "csv" if self.sparse is None else "svmlight"

    @property
    def columns(self) -> list[str]:
        """Names of the columns; none of an svmlight file."""
        if self.scan is not None:
            return list(self.scan.kinds)
        return [] if self.frame is None else [str(name) for name in self.frame.columns]

    @property
    def zero_based(self) -> bool | None:
        """Whether an svmlight file counts features from 0; None for CSV."""
        return None if self.sparse is None else self.sparse.zero_based

    @property
    def labels(self) -> "DataColumn | None":
        """Labels that are beside the rows, not in a column."""
        return None if self.sparse is None else self.sparse.y

    @property
    def note(self) -> str:
        """Features of the file that the training data do not have, in words."""
        if self.sparse is None or not self.sparse.n_dropped:
            return ""
        beyond = counted(self.sparse.n_dropped, "feature")
        known = self.sparse.X.shape[1]
        return f"{beyond} of {self.path} left out, beyond the {known:,} of the fit"

    @cached_property
    def X(self) -> Any:  # noqa: N802
        """What a model takes as data."""
        if self.sparse is None:
            return self.frame if self.scan is None else self.scan
        return self.sparse.X.toarray() if self.dense else self.sparse.X

    @property
    def labelled(self) -> Any:
        """What a model takes as data with labels: a frame, or labels and rows."""
        return self.X if self.sparse is None else (self.sparse.y, self.X)

    def named_by(self, column: str | None, needed: bool = True) -> "Rows":
        """These rows, named by a column, which is no predictor then."""
        if column is None or (not needed and column not in self.columns):
            return self
        if column not in self.columns:
            raise DataError(
                f"--id {column} is no column of {self.path}"
                f"{did_you_mean(column, self.columns)}; give one of its columns."
            )
        if self.frame is None:
            return self
        return replace(self, frame=self.frame.set_index(column))

    def known_to(self, design: Design, unseen: str) -> "Rows":
        """These rows, unseen levels being missing values if they are to be missing."""
        if unseen != "missing":
            return self
        if self.scan is not None:
            raise OptionError(
                f"--unseen missing does not go with {self.path}, which is read block "
                "by block for its errors; leave it out."
            )
        found = None if self.frame is None else blanked_for(design, self.frame)
        return (
            self
            if found is None
            else replace(self, frame=found.data, unseen=found.text)
        )


@contextmanager
def standard_input(options: Options) -> Iterator[None]:
    """Hold what standard input has, where a file of data is called ``-``.

    Raises
    ------
    OptionError
        If two files are called so, or there is no standard input.
    """
    names = [options.train, options.test, options.data]
    if names.count(STANDARD_INPUT) > 1:
        raise OptionError("Standard input is read once; give a file for one of both.")
    if STANDARD_INPUT in names:
        if sys.stdin is None or sys.stdin.closed:
            raise OptionError("Standard input is closed; give a file in place of -.")
        IN_MEMORY[STANDARD_INPUT] = sys.stdin.buffer.read()
    try:
        yield
    finally:
        IN_MEMORY.pop(STANDARD_INPUT, None)


def style_of(options: Options, about: Mapping[str, Any] | None = None) -> CsvStyle:
    """How CSV files are written: as the options say, or those of a saved model."""
    known = asdict(COMMAS) | dict(about or {})
    return CsvStyle(**{n: getattr(options, n) or known[n] for n in asdict(COMMAS)})


def read_data(
    path: str,
    format_: str = "auto",
    n_features: int | None = None,
    zero_based: bool | None = None,
    dense: bool = False,
    style: CsvStyle = COMMAS,
    memory: str | None = None,
) -> Rows:
    """Read a CSV or svmlight file; or name files that are read block by block.

    Raises
    ------
    DataError
        If the file is not there or cannot be read.
    OptionError
        If options are for files that are read at once, and these are not.
    """
    if memory is not None or are_scanned(path):
        found = scan(path, memory=memory or MEMORY)
        other = format_ == "svmlight" and not found.is_svmlight
        if other or style != COMMAS:
            why = "" if are_scanned(path) else ", as --memory asks"
            which = "--format" if other else "--sep, --decimal, --encoding, --na-values"
            raise OptionError(
                f"{path} is read block by block{why}, and {which} are for a file that "
                "is read at once; leave one of them out."
            )
        return Rows(path, scan=found)
    if format_ == "auto":
        format_ = "svmlight" if looks_like_svmlight(path) else "csv"
        if format_ == "csv" and path.endswith((".vw", ".vw.gz")):
            raise DataError(
                f"{path} is a file of Vowpal Wabbit, whose format is not read; give "
                "CSV or svmlight."
            )
    if format_ == "csv":
        frame = read_csv(path, style)
        check_header(path, frame.columns, style)
        return Rows(path, frame=frame, style=style)
    sparse = read_svmlight(path, n_features, zero_based=zero_based)
    return Rows(path, sparse=sparse, dense=dense)


def are_scanned(path: str) -> bool:
    """Whether a path stands for files that are read block by block.

    Examples
    --------
    >>> are_scanned("rows/*.csv"), are_scanned("a.parquet"), are_scanned("a.csv")
    (True, True, False)
    """
    by_rows = ending_of(path) not in (None, *SEPARATORS, *SVMLIGHT)
    return by_rows or is_pattern(path) or os.path.isdir(path)


def read_alike(path: str, format_: str, train: Rows) -> Rows:
    """Read a file for a model that was fitted on `train`.

    Raises
    ------
    DataError
        If it is not of the same format.
    """
    rows = read_data(
        path,
        format_,
        n_features=None if train.sparse is None else train.sparse.X.shape[1],
        zero_based=train.zero_based,
        dense=train.dense,
        style=train.style,
        memory=None if train.scan is None else f"{train.scan.memory}B",
    )
    check_alike(path, rows.format, f"{train.path} is", train.format)
    return rows


def check_alike(path: str, found: str, whose: str, known: str) -> None:
    """Raise `DataError` if one format has columns with names and the other has not."""
    if (found == "svmlight") != (known == "svmlight"):
        raise DataError(
            f"The file {path} is {found} and {whose} {known}; give both in one format."
        )


def read_rows(path: str) -> NDArray[np.int64]:
    """Read row numbers, counted from zero, one a line.

    Raises
    ------
    DataError
        If the file is not there, is empty, or holds something else.
    """
    with opened(path) as handle:
        try:
            words = handle.read().split()
        except UNREADABLE as error:
            raise DataError(unreadable(path, error)) from None
    wrong = next(
        (word for word in words if not re.fullmatch(b"[0-9]{1,18}", word)), b""
    )
    if wrong:
        raise DataError(
            f"The file {path} holds {wrong[:30].decode('latin-1')!r}; give one row "
            "number a line, counted from zero."
        )
    if not words:
        raise DataError(f"The file {path} has no row numbers; give one a line.")
    return np.array([int(word) for word in words], dtype=np.int64)


# ----------------------------------------------------------------- formula


def formula_for(options: Options, train: Rows) -> str | None:
    """The formula given, or that of the outcome on all other columns.

    The outcome of svmlight files that are read block by block is their label. Columns
    of weights, offsets, groups and names are no predictors. None for an svmlight file
    that is read at once.

    Raises
    ------
    OptionError
        If outcome and formula are both missing for a CSV file, or both given, or one is
        given for an svmlight file.
    DataError
        If there is no such column.
    """
    outcome, formula = options.outcome, options.formula
    if outcome is not None and formula is not None:
        *left, right = formula.split("~", 1)
        if "".join(left).strip() not in ("", outcome):
            raise OptionError(
                f"--outcome {outcome} and --formula '{formula}' name two outcomes; "
                "leave --outcome out."
            )
        formula, outcome = f"{_quoted(outcome)} ~ {right}", None
    if train.sparse is not None:
        for flag, value in {"--outcome": outcome, "--formula": formula}.items():
            if value is not None:
                raise OptionError(
                    f"{train.path} is an svmlight file, whose labels stand in front of "
                    f"the rows; leave {flag} out."
                )
        return None
    if formula is not None:
        return formula
    if outcome is None and train.scan is not None and train.scan.is_svmlight:
        outcome = LABEL_NAME
    if outcome is None:
        raise OptionError(
            f"{train.path} has columns with names; name its two-level column with "
            "--outcome, or the model with --formula."
        )
    if outcome not in (columns := train.columns):
        raise DataError(
            f"--outcome {outcome} is no column of {train.path}"
            f"{did_you_mean(outcome, columns)}, which has {listing(columns)}: "
            f"{missing_cure([outcome], pd.Index(columns))}."
        )
    offset = None if options.kernel else options.offset  # of a kernel it is a number
    apart = options.weights, options.freq_weights, offset, options.groups, options.id
    left_out = "".join(
        f" - {_quoted(name)}"
        for name in apart
        if name is not None and name != "balanced" and name in train.columns
    )
    return f"{_quoted(outcome)} ~ .{left_out}"


def _quoted(name: str) -> str:
    """Put a column's name in quotes, if a formula needs them."""
    plain = name.isidentifier() and name.isascii() and not iskeyword(name)
    return name if plain else f"`{name}`"


# ----------------------------------------------------------------- written

HEADER = ["row", "predicted", "score"]  # the first is the column of --id, if given
PROBABILITY = "probability_"  # of each of two levels, after the score
BEGIN = 100_000  # bytes that hold the header


def is_predictions(handle: IO[bytes]) -> bool:
    r"""Whether a file has the header line of predictions.

    Examples
    --------
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


@no_part_left()
def check_places(options: Options) -> None:
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
    >>> check_places(Options(command="predict", data="new.csv", output="out.csv"))
    """
    table = options.command == "predict"
    written: dict[str, list[str]] = {}
    for flag, path, kind in (
        ("--save", options.save, MODEL),
        ("--output", options.output, PREDICTIONS if table else REPORT),
        ("--report", options.report, REPORT),
    ):
        if path is None:
            continue
        if writing.checked_path(path) == "-":
            raise OptionError(
                f"{flag} - is no file, and no {kind.noun} is written to standard "
                "output; give a path, or ./- for a file of that name."
            )
        _check_apart(flag, [path], written, options)
        if kind is REPORT:
            files = checked_page(path, overwrite=options.overwrite).files
        else:
            place = writing.checked_place(path, kind, options.overwrite)
            files = [place.path, place.folder]
        _check_apart(flag, files, written, options)
        written[flag] = files


def _check_apart(
    flag: str, files: list[str], written: Mapping[str, list[str]], options: Options
) -> None:
    """Raise `OptionError` for a file that is read, or that another option writes."""
    sources = _sources(options)
    for file in files:
        shown = writing.shown_path(file)
        if any(writing.is_same(file, source) for source in sources):
            raise OptionError(
                f"{flag} {shown} would write over a file that is read; give another "
                "path."
            )
        for other, taken in written.items():
            if any(writing.is_same(file, one) for one in taken):
                raise OptionError(
                    f"{flag} and {other} would both write to {shown}; give two paths."
                )


def _sources(options: Options) -> list[str]:
    """Files that a command reads."""
    given = options.train, options.test, options.data, options.model, options.rows
    return [file for path in given if path for file in _files_of(path)]


def _files_of(path: str) -> list[str]:
    """The files that a path stands for, if they are there."""
    with suppress(DataError):
        if are_scanned(path):
            return matched(path)
    return [path] if os.path.isfile(path) else []
