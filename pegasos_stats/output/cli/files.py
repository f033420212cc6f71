"""Files of the command line: data that it reads, and places that it writes to."""

import csv
import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from keyword import iskeyword
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import writing
from pegasos_stats.data.design import missing_cure
from pegasos_stats.data.files import (
    COMMAS,
    IN_MEMORY,
    UNREADABLE,
    CsvStyle,
    opened,
    read_csv,
    unreadable,
)
from pegasos_stats.data.scan.files import (
    MEMORY,
    SEPARATORS,
    SVMLIGHT,
    Scan,
    ending_of,
    is_pattern,
    matched,
    scan,
)
from pegasos_stats.data.svmlight import (
    LABEL_NAME,
    Svmlight,
    looks_like_svmlight,
    read_svmlight,
)
from pegasos_stats.errors import (
    DataError,
    OptionError,
    PegasosStatsWarning,
    counted,
    did_you_mean,
    warn_caller,
)
from pegasos_stats.output.cli.options import (
    FitOptions,
    Parity,
    ReadingOptions,
    ReportOptions,
)
from pegasos_stats.output.report import report
from pegasos_stats.writing import is_same, shown_path

STANDARD_INPUT = "-"

# -------------------------------------------------------------------- read


@dataclass(frozen=True)
class InputRows:
    """Rows of a file.

    Attributes
    ----------
    path : str
    data : DataFrame, Svmlight or Scan
        Of a CSV file; of an svmlight file; or of files that are read block by block.
    style : CsvStyle
        How a CSV file is written.
    """

    path: str
    data: pd.DataFrame | Svmlight | Scan
    style: CsvStyle = COMMAS

    @property
    def format(self) -> str:
        """``"csv"``, ``"svmlight"``, or ``"files"`` that are read block by block."""
        if isinstance(self.data, Scan):
            return "files"
        return "svmlight" if isinstance(self.data, Svmlight) else "csv"

    @property
    def columns(self) -> list[str]:
        """Names of the columns; none of an svmlight file."""
        if isinstance(self.data, Svmlight):
            return []
        names = self.data.kinds if isinstance(self.data, Scan) else self.data.columns
        return [str(name) for name in names]

    @property
    def zero_based(self) -> bool | None:
        """Whether an svmlight file counts features from 0; None for CSV."""
        return self.data.zero_based if isinstance(self.data, Svmlight) else None

    @property
    def split(self) -> tuple[Any, Any]:
        """InputRows, and their labels where these are in no column."""
        both = (self.data.X, self.data.y) if isinstance(self.data, Svmlight) else None
        return both or (self.data, None)

    @property
    def labelled(self) -> Any:
        """What a model takes as data with labels: a frame, or labels and rows."""
        X, y = self.split
        return X if y is None else (y, X)

    def named_by(self, column: str | None) -> "InputRows":
        """These rows, named by a column, which is no predictor then."""
        if column is None:
            return self
        if column not in self.columns:
            raise DataError(
                f"--id {column} is no column of {self.path}"
                f"{did_you_mean(column, self.columns)}; give one of its columns."
            )
        if not isinstance(self.data, pd.DataFrame):
            return self
        return replace(self, data=self.data.set_index(column))


def style_of(
    reading: ReadingOptions, about: Mapping[str, Any] | None = None
) -> CsvStyle:
    """How CSV files are written: as the options say, or those of a saved model."""
    known = asdict(COMMAS) | dict(about or {})
    return CsvStyle(**{n: getattr(reading, n) or known[n] for n in asdict(COMMAS)})


def read_data(
    path: str,
    options: ReadingOptions,
    style: CsvStyle,
    n_features: int | None = None,
    zero_based: bool | None = None,
    dense: bool = False,
) -> InputRows:
    """Read a CSV or svmlight file; or name files that are read block by block.

    Raises
    ------
    DataError
        If the file is not there or cannot be read.
    OptionError
        If options are for files that are read at once, and these are not.
    """
    if path == STANDARD_INPUT:
        if sys.stdin is None or sys.stdin.closed:
            raise OptionError("Standard input is closed; give a file in place of -.")
        IN_MEMORY[path] = sys.stdin.buffer.read()
    if options.memory is not None or are_scanned(path):
        found = scan(path, memory=options.memory or MEMORY)
        other = options.format == "svmlight" and not found.is_svmlight
        if other or style != COMMAS:
            raise OptionError(
                f"{path} is read block by block; --sep, --decimal, --encoding, "
                "--na-values and --format are for a file that is read at once."
            )
        return InputRows(path, found)
    is_svmlight = options.format == "svmlight" or (
        options.format == "auto" and looks_like_svmlight(path)
    )
    if not is_svmlight:
        return InputRows(path, read_csv(path, style), style)
    sparse = read_svmlight(path, n_features, zero_based=zero_based)
    if sparse.n_dropped:
        warn_caller(
            f"{counted(sparse.n_dropped, 'feature')} of {path} left out, beyond the "
            f"{n_features:,} of the fit.",
            PegasosStatsWarning,
        )
    return InputRows(path, replace(sparse, X=sparse.X.toarray()) if dense else sparse)


def are_scanned(path: str) -> bool:
    """Whether a path stands for files that are read block by block.

    Examples
    --------
    >>> are_scanned("rows/*.csv"), are_scanned("a.parquet"), are_scanned("a.csv")
    (True, True, False)
    """
    by_rows = ending_of(path) not in (None, *SEPARATORS, *SVMLIGHT)
    return by_rows or is_pattern(path) or os.path.isdir(path)


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
            rows = np.array([int(word) for word in words], dtype=np.int64)
        except UNREADABLE as error:
            raise DataError(unreadable(path, error)) from None
        except (ValueError, OverflowError):
            rows = np.empty(0, dtype=np.int64)
    if not rows.size:
        raise DataError(
            f"The file {path} has no row numbers; give one a line, counted from zero."
        )
    return rows


# ----------------------------------------------------------------- formula


def formula_for(
    options: FitOptions | ReportOptions | Parity, train: InputRows
) -> str | None:
    """The formula given, or that of the outcome on all other columns.

    The outcome of svmlight files that are read block by block is their label. Columns
    of weights, offsets, groups and names are no predictors. None for an svmlight file
    that is read at once.

    Raises
    ------
    OptionError
        If outcome and formula are both missing for a CSV file, or both given, or one is
        given for an svmlight file.
    """
    outcome, formula = options.training.outcome, options.training.formula
    if isinstance(train.data, Svmlight):
        if outcome or formula:
            raise OptionError(
                f"{train.path} is an svmlight file, whose labels stand in front of the "
                f"rows; leave {'--outcome' if outcome else '--formula'} out."
            )
        return None
    if formula is not None:
        left, _, right = formula.rpartition("~")
        if outcome is None or left.strip() == outcome:
            return formula
        if left.strip():
            raise OptionError(
                f"--outcome {outcome} and --formula '{formula}' name two outcomes; "
                "leave --outcome out."
            )
        return f"{_quoted(outcome)} ~ {right}"
    if outcome is None and isinstance(train.data, Scan) and train.data.is_svmlight:
        outcome = LABEL_NAME
    if outcome is None:
        raise OptionError(
            f"{train.path} has columns with names; name its two-level column with "
            "--outcome, or the model with --formula."
        )
    if outcome not in (columns := train.columns):
        raise DataError(
            f"--outcome {outcome} is no column of {train.path}"
            f"{did_you_mean(outcome, columns)}: "
            f"{missing_cure([outcome], pd.Index(columns))}."
        )
    model = options.model
    groups = None if isinstance(options, Parity) else options.errors.groups
    offset = None if model.kernel else model.offset  # of a kernel it is a number
    apart = model.weights, model.freq_weights, offset, groups, options.reading.id
    names = [_quoted(str(name)) for name in apart if name in train.columns]
    return " - ".join([f"{_quoted(outcome)} ~ .", *names])


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


PREDICTIONS = writing.Kind("file of predictions", is_predictions, streams=True)


def check_places(
    inputs: Sequence[str | None],
    overwrite: bool,
    *places: tuple[str | None, writing.Kind],
) -> None:
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
    >>> check_places(["new.csv"], False, ("out.csv", PREDICTIONS))
    """
    read = [file for path in inputs if path for file in _files_of(path)]
    written: list[str] = []
    for path, kind in places:
        if path is None:
            continue
        if writing.checked_path(path) == "-":
            raise OptionError(f"No {kind.noun} is written to -; give a path.")
        files = [path, report.rows_beside(path)] if kind is report.REPORT else [path]
        for what, others in (("over a file that is read", read), ("twice", written)):
            both = (file for file in files for one in others if is_same(file, one))
            if (file := next(both, None)) is not None:
                raise OptionError(
                    f"The file {shown_path(file)} would be written {what}; give two."
                )
        if kind is report.REPORT:
            report.checked_page(path, overwrite=overwrite)
        else:
            writing.validated_output_path(path, kind, overwrite)
        written += files


def _files_of(path: str) -> list[str]:
    """The files that a path stands for, if they are there."""
    with suppress(DataError):
        if are_scanned(path):
            return matched(path)
    return [path] if os.path.isfile(path) else []
