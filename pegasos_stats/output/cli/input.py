"""Data files of the command line: CSV or svmlight by their content, others by name."""

import argparse
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from keyword import iskeyword
from typing import Any

import pandas as pd

from pegasos_stats.data.design import Design
from pegasos_stats.data.files import (
    COMMAS,
    IN_MEMORY,
    SEPARATED,
    CsvStyle,
    check_header,
    read_csv,
    separator_in,
)
from pegasos_stats.data.formula import outcome_of
from pegasos_stats.data.formula_design import blanked_for
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
from pegasos_stats.errors import (
    ColumnError,
    DataError,
    FormulaError,
    OptionError,
    counted,
    did_you_mean,
)
from pegasos_stats.models.results import Results

STANDARD_INPUT = "-"


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
    dense : bool
        Whether sparse rows are wanted as an array.
    style : CsvStyle
        How a CSV file is written.
    unseen : str
        Which levels that did not occur at fit became missing values, in words.
    scan : Scan or None
        Files that are read block by block.
    """

    path: str
    frame: pd.DataFrame | None = None
    sparse: Svmlight | None = None
    dense: bool = False
    style: CsvStyle = COMMAS
    unseen: str = ""
    scan: Scan | None = None

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

    def named_by(self, column: str | None, needed: bool = True) -> "Rows":
        """These rows, named by a column, which is no predictor then."""
        if column is None or (not needed and column not in self.columns):
            return self
        if len(self.columns) == 1 and column not in self.columns:
            raise DataError(_no_outcome_message(column, self))
        if column not in self.columns:
            raise DataError(
                f"--id {column} is no column of {self.path}"
                f"{did_you_mean(column, self.columns)}; give one of its columns."
            )
        if self.frame is None:
            return self
        return replace(self, frame=self.frame.set_index(column))

    def known_to(self, design: Design, unseen: str | None) -> "Rows":
        """These rows, unseen levels being missing values if they are to be missing."""
        if self.scan is not None and unseen == "missing":
            raise OptionError(
                f"--unseen missing does not go with {self.path}, which is read block "
                "by block for its errors; leave it out."
            )
        if self.frame is None or unseen != "missing":
            return self
        found = blanked_for(design, self.frame)
        if found is None:
            return self
        return replace(self, frame=found.data, unseen=found.text)

    def labelled(self) -> Any:
        """What a model takes as data with labels: a frame, or labels and rows."""
        return self.X if self.sparse is None else (self.sparse.y, self.X)

    def labels(self, result: Results) -> "pd.Series[Any] | None":
        """Labels of the rows, if there are any."""
        if self.sparse is not None:
            return self.sparse.y
        frame, formula = self.frame, result.design.formula
        assert frame is not None  # labels of files are read where they are counted
        if formula is None:
            name = result.coding.name
            return frame[name] if name in frame.columns else None
        try:
            return outcome_of(formula, frame, result.design.functions)
        except (ColumnError, FormulaError):
            return None


@contextmanager
def standard_input(options: argparse.Namespace) -> Iterator[None]:
    """Hold what standard input has, where a file of data is called ``-``.

    Raises
    ------
    OptionError
        If two files are called so, or there is no standard input.
    """
    names = [getattr(options, name, None) for name in ("train", "test", "data")]
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


def style_of(
    options: argparse.Namespace, about: Mapping[str, Any] | None = None
) -> CsvStyle:
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
            flags = (
                "--format" if other else "--sep, --decimal, --encoding or --na-values"
            )
            if memory is not None and not are_scanned(path):
                raise OptionError(
                    f"--memory has {path} read block by block, and {flags} is for one "
                    "file that is read at once; leave one of them out."
                )
            raise OptionError(
                f"{path} is read block by block, as the ending says (.parquet, .arrow, "
                f".csv, .tsv), and {flags} is for one file that is read at once; leave "
                "it out."
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


def files_of(path: str) -> list[str]:
    """The files that a path stands for, if they are there."""
    with suppress(DataError):
        if are_scanned(path):
            return matched(path)
    return [path] if os.path.isfile(path) else []


def read_alike(path: str, format_: str, train: Rows) -> Rows:
    """Read a file for a model that was fitted on `train`.

    Raises
    ------
    DataError
        If it is not of the same format.
    """
    n_features = None if train.sparse is None else train.sparse.X.shape[1]
    memory = None if train.scan is None else f"{train.scan.memory}B"
    given = n_features, train.zero_based, train.dense, train.style, memory
    rows = read_data(path, format_, *given)
    if not are_alike(rows.format, train.format):
        raise DataError(
            f"The file {path} is {rows.format} and {train.path} is {train.format}; "
            "give both in one format."
        )
    return rows


def are_alike(one: str, other: str) -> bool:
    """Whether both formats have columns with names, or neither has.

    Examples
    --------
    >>> are_alike("csv", "files"), are_alike("csv", "svmlight")
    (True, False)
    """
    return (one == "svmlight") == (other == "svmlight")


def formula_for(
    outcome: str | None,
    train: Rows,
    apart: Sequence[str | None] = (),
    formula: str | None = None,
) -> str | None:
    """The formula given, or that of the outcome on all other columns.

    The outcome of svmlight files that are read block by block is their label. Columns
    `apart`, such as that of weights, are no predictors. None for an svmlight file that
    is read at once.

    Raises
    ------
    OptionError
        If outcome and formula are both missing for a CSV file, or both given, or one is
        given for an svmlight file.
    DataError
        If there is no such column.
    """
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
            f"{train.path} has columns with names; name its two-level one with "
            "--outcome, or the model with --formula."
            if train.scan
            else f"{train.path} is a CSV file; name its two-level column with "
            "--outcome, or the model with --formula."
        )
    if outcome not in train.columns:
        raise DataError(_no_outcome_message(outcome, train))
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


def _no_outcome_message(outcome: str, train: Rows) -> str:
    path, columns = train.path, train.columns
    header = ", ".join(columns[-8:])
    if len(columns) == 1:
        mark = separator_in(columns, train.style.sep)
        signs = f"'{mark}'".replace("'\t'", "tab") if mark else "';' or --sep tab"
        there = f", separated by {SEPARATED[mark]}" if mark else ""
        return (
            f"The column {outcome} is not in {path}, which has the single column "
            f"{header!r}{there}; give --sep {signs}, and --decimal ',' if numbers are "
            "like 1,5."
        )
    last = ", the last ones" if len(columns) > 8 else ":"
    cure = "give one of them to --outcome"
    if any(re.fullmatch(r"-?[\d.]+", name) for name in columns):
        cure = "the first line of the file has to be a header, names of columns"
    return (
        f"The column {outcome} is not in {path}{did_you_mean(outcome, columns)}, which "
        f"has {counted(len(columns), 'column')}{last} {header}; {cure}."
    )
