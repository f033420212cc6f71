"""Files of the command line: data that it reads, and places that it writes to."""

import csv
import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import errors, writing
from pegasos_stats.data import files
from pegasos_stats.data.design import Design, missing_cure, unscaled
from pegasos_stats.data.files import NUMBERS, TEXT, Kinds, as_text, is_text
from pegasos_stats.data.language.formula import in_backticks
from pegasos_stats.data.language.formula_design import MANY, FormulaDesign
from pegasos_stats.data.scan import files as scans
from pegasos_stats.data.scan.levels import columns_of_outcome
from pegasos_stats.data.user_data import convert_errors
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.output.cli.options import FileFitting, Parity, ReadingOptions
from pegasos_stats.output.report import report

STANDARD_INPUT = "-"
FORMATS = {pd.DataFrame: "csv", files.Svmlight: "svmlight", scans.Scan: "files"}
NO_PREDICTORS = ("weights", "freq_weights", "offset")  # options that name columns
HEADER = ["row", "predicted", "score"]  # the first is the column of --id, if given
PROBABILITY = "probability_"  # of each of two levels, after the score
BEGIN = 100_000  # bytes that hold the header

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
    data: pd.DataFrame | files.Svmlight | scans.Scan
    style: files.CsvStyle = files.COMMAS

    @property
    def format(self) -> str:
        """``"csv"``, ``"svmlight"``, or ``"files"`` that are read block by block."""
        return FORMATS[type(self.data)]

    @property
    def columns(self) -> list[str]:
        """Names of the columns; none of an svmlight file."""
        names = getattr(self.data, "kinds", getattr(self.data, "columns", ()))
        return [str(name) for name in names]

    @property
    def zero_based(self) -> bool | None:
        """Whether an svmlight file counts features from 0; None for CSV."""
        return getattr(self.data, "zero_based", None)

    @property
    def labelled(self) -> Any:
        """What a model takes as data with labels: a frame, or labels and rows."""
        if not isinstance(self.data, files.Svmlight):
            return self.data
        return self.data.X if self.data.y is None else (self.data.y, self.data.X)

    @property
    def predictors(self) -> Any:
        """What a fit takes as new data, without labels that are in no column."""
        return getattr(self.data, "X", self.data)

    def named_by(self, column: str | None) -> "InputRows":
        """These rows, named by a column, which is no predictor then."""
        if column is None:
            return self
        if column not in self.columns:
            near = errors.did_you_mean(column, self.columns)
            raise DataError(f"--id {column} is no column of {self.path}{near}.")
        if not isinstance(self.data, pd.DataFrame):
            return self
        names = self.data[column]
        names = as_text(names) if names.dtype.kind in "biuf" else names
        return replace(self, data=self.data.set_index(column).set_axis(pd.Index(names)))


def kinds_of(train: InputRows) -> Kinds:
    """What the columns of the training data hold, by which test data are read."""
    if isinstance(train.data, pd.DataFrame):
        columns = train.data.items()
        return {str(n): TEXT if is_text(c) else NUMBERS for n, c in columns}
    return getattr(train.data, "kinds", {})


def style_of(reading: ReadingOptions, known: Mapping[str, Any]) -> files.CsvStyle:
    """How CSV files are written: as the options say, or as it is known of a model."""
    usual = asdict(files.COMMAS)
    found = {n: getattr(reading, n) or known.get(n, usual[n]) for n in usual}
    return files.CsvStyle(**found)


def read_data(
    path: str,
    options: ReadingOptions,
    style: files.CsvStyle,
    n_features: int | None = None,
    zero_based: bool | None = None,
    dense: bool = False,
    kinds: Kinds | None = None,
) -> InputRows:
    """Read a CSV or svmlight file; or name files that are read block by block.

    The columns of a CSV file are of the `kinds`, if these are known.

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
        files.IN_MEMORY[path] = sys.stdin.buffer.read()
    if options.memory is not None or are_scanned(path):
        found = scans.scan(path, memory=options.memory or scans.MEMORY)
        other = options.format == "svmlight" and not found.is_svmlight
        if other or style != files.COMMAS:
            raise OptionError(
                f"{path} is read block by block; --sep, --decimal, --encoding, "
                "--na-values, --keep-na, --thousands, --strip and --format are for a "
                "file that is read at once."
            )
        return InputRows(path, found)
    is_csv = options.format == "csv"
    if options.format == "auto":
        is_csv = not files.looks_like_svmlight(path)
    if is_csv:
        return InputRows(path, files.read_csv(path, style, kinds, options.id), style)
    sparse = files.read_svmlight(path, n_features, zero_based=zero_based)
    if sparse.n_dropped:
        features = errors.counted(sparse.n_dropped, "feature")
        text = f"{features} of {path} left out, beyond the {n_features:,} of the fit."
        errors.warn_caller(text, errors.PegasosStatsWarning)
    return InputRows(path, replace(sparse, X=sparse.X.toarray()) if dense else sparse)


def are_scanned(path: str) -> bool:
    """Whether a path stands for files that are read block by block.

    Examples
    --------
    >>> are_scanned("rows/*.csv"), are_scanned("a.parquet"), are_scanned("a.csv")
    (True, True, False)
    """
    by_rows = scans.ending_of(path) not in (None, *scans.SEPARATORS, *scans.SVMLIGHT)
    return by_rows or scans.is_pattern(path) or os.path.isdir(path)


def read_rows(path: str) -> NDArray[np.int64]:
    """Read row numbers, counted from zero, one a line.

    Raises
    ------
    DataError
        If the file is not there, is empty, or holds something else.
    """
    refused = DataError(
        f"The file {path} has no row numbers; give one a line, counted from zero."
    )
    with files.opened(path) as handle, convert_errors(refused):
        rows = np.array(handle.read().split(), dtype=np.int64)
    if not rows.size:
        raise refused
    return rows


# ----------------------------------------------------------------- formula


def formula_for(options: FileFitting | Parity, train: InputRows) -> str | None:
    """The formula given, or that of the outcome on all other columns.

    The outcome of svmlight files that are read block by block is their label. Columns
    of weights, offsets, groups and names are no predictors. None for an svmlight file
    that is read at once.

    Raises
    ------
    OptionError
        If outcome and formula are both missing for a CSV file, or name two outcomes, or
        one is given for an svmlight file.
    """
    outcome, formula = options.training.outcome, options.training.formula
    if train.format == "svmlight":
        if outcome or formula:
            raise OptionError(
                f"{train.path} is an svmlight file, whose labels stand in front of the "
                f"rows; leave {'--outcome' if outcome else '--formula'} out."
            )
        return None
    if outcome is None and formula is None:
        if not getattr(train.data, "is_svmlight", False):
            raise OptionError(
                f"{train.path} has columns with names; name its two-level column with "
                "--outcome, or the model with --formula."
            )
        outcome = files.LABEL_NAME
    if outcome is None:
        return formula
    if formula is not None:
        left, _, right = formula.rpartition("~")
        if left.strip() not in ("", outcome):
            raise OptionError(
                f"--outcome {outcome} and --formula '{formula}' name two outcomes; "
                "leave --outcome out."
            )
        return f"{in_backticks(outcome)} ~ {right}"
    if outcome not in train.columns:
        near = errors.did_you_mean(outcome, train.columns)
        cure = missing_cure([outcome], pd.Index(train.columns))
        raise DataError(
            f"--outcome {outcome} is no column of {train.path}{near}: {cure}."
        )
    apart: list[object] = [getattr(options.model, name) for name in NO_PREDICTORS]
    apart.append(options.reading.id)
    if isinstance(options, FileFitting):
        apart.append(options.errors.groups)
    names = [in_backticks(name) for name in map(str, apart) if name in train.columns]
    return " - ".join([f"{in_backticks(outcome)} ~ .", *names])


def check_outcome(design: Design, train: InputRows, test: InputRows) -> None:
    """Raise `DataError` where test data have no column of the outcome."""
    one_column = files.separator_in(test.columns, "")  # of several
    if design.formula is None or test.format == "svmlight" or one_column:
        return
    nothing = pd.DataFrame({name: [] for name in train.columns})
    wanted = columns_of_outcome(str(design.formula), nothing, "files")
    if missing := [name for name in wanted if name not in test.columns]:
        raise DataError(
            f"--test {test.path} has no column {errors.listing(missing)}, the outcome; "
            "save the model by --save a.model, and predict rows without labels by "
            f"pegasos-stats predict a.model {test.path}."
        )


def check_numbers(design: Design, train: InputRows) -> None:
    """Raise `DataError` for a column of numbers that an option reads, and text else.

    Raises
    ------
    DataError
        Naming the options.
    """
    inner = unscaled(design)
    if not isinstance(inner, FormulaDesign) or scans.ending_of(train.path) not in (
        None,
        *scans.SEPARATORS,
    ):
        return
    style = train.style
    read = files.cell_reader(style.decimal, style.thousands, style.strip)
    for name in {*inner.codings} & {*inner.variables}:
        levels = [str(level) for level in inner.codings[name].levels]
        first = next((level for level in levels if read(level) is None), "")
        if len(levels) <= MANY or not first:
            continue
        if options := files.options_that_read(levels, style.decimal):
            at_once = "" if train.format == "csv" else "without --memory, and "
            raise DataError(
                f"The column {name!r} of {train.path} is text, as {first!r} is no "
                f"number: {len(levels):,} levels. Read it {at_once}by {options}; or "
                f"write C({in_backticks(name)}) in --formula if its levels are meant."
            )


# ----------------------------------------------------------------- written


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


NO_TEXT = (".xlsx", ".xls", ".ods", ".parquet", ".feather")  # no names of CSV files
PREDICTIONS = writing.Kind("file of predictions", is_predictions)


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
    others = {file: "over a file that is read" for p in inputs for file in _files_of(p)}
    for path, kind in places:
        if path is None:
            continue
        if writing.checked_path(path) == "-":
            raise OptionError(f"No {kind.noun} is written to -; give a path.")
        outputs = [path, report.rows_beside(path)] if kind is report.REPORT else [path]
        for file in outputs:
            for other, what in others.items():
                if writing.is_same(file, other):
                    where = writing.shown_path(file)
                    raise OptionError(f"The file {where} would be written {what}.")
        if kind is report.REPORT:
            report.checked_page(path, overwrite=overwrite)
        else:
            writing.validated_output_path(path, kind, overwrite)
        others |= dict.fromkeys(outputs, "twice")


def _files_of(path: str | None) -> list[str]:
    """The files that a path stands for, if they are there."""
    with suppress(DataError):
        if path and are_scanned(path):
            return scans.matched(path)
    return [path] if path and os.path.isfile(path) else []
