"""Input and output files of the command line."""

import csv
import io
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import IO, Any

import pandas as pd

from pegasos_stats import errors, writing
from pegasos_stats.data import files
from pegasos_stats.data.design import missing_cure
from pegasos_stats.data.files import NUMBERS, TEXT, Kinds, as_text, is_text
from pegasos_stats.data.language.formula import in_backticks
from pegasos_stats.data.scan import files as scans
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.output.cli.options import FileFitting, Parity, ReadingOptions
from pegasos_stats.output.report import report

STANDARD_INPUT = "-"
FORMATS = {pd.DataFrame: "csv", files.Svmlight: "svmlight", scans.Scan: "files"}
NO_PREDICTORS = ("weights", "freq_weights", "offset")  # options with a column's name
HEADER = ["row", "predicted", "score"]  # the column of --id replaces "row"
PROBABILITY = "probability_"  # prefix of the columns of the two classes
HEADER_BYTES = 100_000  # maximum length of a header

# -------------------------------------------------------------------- read


@dataclass(frozen=True)
class InputRows:
    """Rows of a file.

    Attributes
    ----------
    path : str
    data : DataFrame, Svmlight or Scan
        A CSV file, an svmlight file, or files that are read block by block.
    style : CsvStyle
        Separator, decimal mark and encoding of a CSV file.
    """

    path: str
    data: pd.DataFrame | files.Svmlight | scans.Scan
    style: files.CsvStyle = files.COMMAS

    @property
    def format(self) -> str:
        """``"csv"``, ``"svmlight"``, or ``"files"`` for files read block by block."""
        return FORMATS[type(self.data)]

    @property
    def columns(self) -> list[str]:
        """Column names; empty for an svmlight file."""
        names = getattr(self.data, "kinds", getattr(self.data, "columns", ()))
        return [str(name) for name in names]

    @property
    def zero_based(self) -> bool | None:
        """Whether an svmlight file numbers features from 0; None for CSV."""
        return getattr(self.data, "zero_based", None)

    @property
    def labelled(self) -> Any:
        """Data with labels: a frame or files, or the pair (labels, rows)."""
        if not isinstance(self.data, files.Svmlight):
            return self.data
        return self.data.X if self.data.y is None else (self.data.y, self.data.X)

    @property
    def predictors(self) -> Any:
        """Data without svmlight labels, for predictions."""
        return getattr(self.data, "X", self.data)

    def named_by(self, column: str | None) -> "InputRows":
        """Use a column as row names, instead of as a predictor."""
        if column is None:
            return self
        if column not in self.columns:
            near = errors.did_you_mean(column, self.columns)
            raise DataError(f"--id {column} is not a column of {self.path}{near}.")
        if not isinstance(self.data, pd.DataFrame):
            return self
        names = self.data[column]
        names = as_text(names) if names.dtype.kind in "biuf" else names
        return replace(self, data=self.data.set_index(column).set_axis(pd.Index(names)))


def kinds_of(train: InputRows) -> Kinds:
    """Types of the training columns, which the test data must have."""
    if isinstance(train.data, pd.DataFrame):
        columns = train.data.items()
        return {str(n): TEXT if is_text(c) else NUMBERS for n, c in columns}
    return getattr(train.data, "kinds", {})


def style_of(reading: ReadingOptions, saved: Mapping[str, Any]) -> files.CsvStyle:
    """Format of CSV files: each property from the options, else from `saved`."""
    usual = asdict(files.COMMAS)
    style = {n: getattr(reading, n) or saved.get(n, usual[n]) for n in usual}
    return files.CsvStyle(**style)


def read_data(
    path: str,
    options: ReadingOptions,
    style: files.CsvStyle,
    n_features: int | None = None,
    zero_based: bool | None = None,
    dense: bool = False,
    kinds: Kinds | None = None,
) -> InputRows:
    """Read a CSV or svmlight file, or prepare files that are read block by block.

    `kinds` states the types of the columns of a CSV file.

    Raises
    ------
    DataError
        If the file does not exist or cannot be read.
    OptionError
        If an option does not apply to files that are read block by block, or if
        standard input is closed.
    """
    if path == STANDARD_INPUT:
        if sys.stdin is None or sys.stdin.closed:
            raise OptionError("Standard input is closed; pass a file instead of -.")
        files.IN_MEMORY[path] = sys.stdin.buffer.read()
    if options.memory is not None or are_scanned(path):
        source = scans.scan(path, memory=options.memory or scans.MEMORY)
        is_mismatch = options.format == "svmlight" and not source.is_svmlight
        if is_mismatch or style != files.COMMAS:
            raise OptionError(
                f"{path} is read block by block; omit --sep, --decimal, --encoding, "
                "--na-values, --keep-na, --thousands, --strip and --format, which "
                "apply only to a file that is read at once."
            )
        return InputRows(path, source)
    is_csv = options.format == "csv"
    if options.format == "auto":
        is_csv = not files.looks_like_svmlight(path)
    if is_csv:
        return InputRows(path, files.read_csv(path, style, kinds, options.id), style)
    sparse = files.read_svmlight(path, n_features, zero_based=zero_based)
    if sparse.n_dropped:
        features = errors.counted(sparse.n_dropped, "feature")
        text = f"{path}: {features} beyond the {n_features:,} of the model ignored."
        errors.warn_caller(text, errors.PegasosStatsWarning)
    return InputRows(path, replace(sparse, X=sparse.X.toarray()) if dense else sparse)


def are_scanned(path: str) -> bool:
    """Return whether the files of a path are read block by block.

    Examples
    --------
    >>> are_scanned("rows/*.csv"), are_scanned("a.parquet"), are_scanned("a.csv")
    (True, True, False)
    """
    by_rows = scans.ending_of(path) not in (None, *scans.SEPARATORS, *scans.SVMLIGHT)
    return by_rows or scans.is_pattern(path) or os.path.isdir(path)


# ----------------------------------------------------------------- formula


def formula_for(options: FileFitting | Parity, train: InputRows) -> str | None:
    """Formula of the options, or of the outcome on all other columns.

    The outcome of svmlight files that are read block by block is the label of each
    line. Columns of weights, offsets, groups and row names are not predictors. Returns
    None for an svmlight file that is read at once, which needs no formula.

    Raises
    ------
    OptionError
        If a CSV file has neither outcome nor formula, if outcome and formula disagree,
        or if one of them is passed for an svmlight file.
    DataError
        If the outcome is not a column of the file.
    """
    outcome, formula = options.training.outcome, options.training.formula
    if train.format == "svmlight":
        if outcome or formula:
            raise OptionError(
                f"{train.path} is an svmlight file, which begins each line with the "
                f"label; omit {'--outcome' if outcome else '--formula'}."
            )
        return None
    if outcome is None and formula is None:
        if not getattr(train.data, "is_svmlight", False):
            raise OptionError(
                f"{train.path} has named columns; specify the outcome with --outcome, "
                "or outcome and predictors with --formula."
            )
        outcome = files.LABEL_NAME
    if outcome is None:
        return formula
    if formula is not None:
        left, _, right = formula.rpartition("~")
        if left.strip() not in ("", outcome):
            raise OptionError(
                f"--outcome {outcome} and --formula '{formula}' name two outcomes; "
                "omit --outcome."
            )
        return f"{in_backticks(outcome)} ~ {right}"
    if outcome not in train.columns:
        near = errors.did_you_mean(outcome, train.columns)
        cure = f"its header has {errors.listing(train.columns, 8)}"
        if files.separator_in(train.columns, ""):
            cure = missing_cure(train.columns)
        raise DataError(
            f"--outcome {outcome} is not a column of {train.path}{near}: {cure}."
        )
    columns: list[object] = [getattr(options.model, name) for name in NO_PREDICTORS]
    columns.append(options.reading.id)
    if isinstance(options, FileFitting):
        columns.append(options.errors.groups)
    names = [in_backticks(name) for name in map(str, columns) if name in train.columns]
    return " - ".join([f"{in_backticks(outcome)} ~ .", *names])


# ----------------------------------------------------------------- written


def is_predictions(handle: IO[bytes]) -> bool:
    r"""Return whether a file has the header of predictions.

    Examples
    --------
    >>> is_predictions(io.BytesIO(b"row,predicted,score\n0,6,1.5\n"))
    True
    >>> is_predictions(io.BytesIO(b"row,predicted,score,mine\n0,6,1,2\n"))
    False
    """
    try:
        text = handle.read(HEADER_BYTES).decode("utf-8", errors="replace")
        header = next(csv.reader(io.StringIO(text, newline="")), [])
    except csv.Error:
        return False
    more = header[len(HEADER) :]
    is_probability = [name.startswith(PROBABILITY) for name in more]
    return header[1 : len(HEADER)] == HEADER[1:] and is_probability in (
        [],
        [True, True],
    )


NO_TEXT = (  # endings of formats other than text
    *(".xlsx", ".xls", ".ods", ".docx", ".pdf", ".html", ".json", ".parquet"),
    *(".feather", ".arrow", ".dta", ".rds", ".gz", ".bz2", ".xz", ".zip"),
)
PREDICTIONS = writing.Kind("file of predictions", is_predictions)


def check_places(
    inputs: Sequence[str | None],
    overwrite: bool,
    *places: tuple[str | None, writing.Kind],
) -> None:
    """Check the output files of a command, before it reads and fits.

    Raises
    ------
    OptionError
        If an output is an input or another output, or is standard output.
    DataError
        If a file cannot be written, or would replace a file that the package did not
        write.

    Examples
    --------
    >>> check_places(["new.csv"], False, ("out.csv", PREDICTIONS))
    """
    files = [(path, kind) for path, kind in places if path is not None]
    used = {os.path.realpath(writing.checked_path(path)) for path in inputs if path}
    for path, _ in files:
        if (real := os.path.realpath(writing.checked_path(path))) in used:
            where = writing.shown_path(path)
            raise OptionError(
                f"{where} is also an input or another output; use another path."
            )
        used.add(real)
    for path, kind in files:
        if path == "-":
            raise OptionError(f"The {kind.noun} cannot be written to -; use a path.")
        if kind is report.REPORT:
            report.checked_page(path, overwrite=overwrite)
        else:
            writing.validated_output_path(path, kind, overwrite)
