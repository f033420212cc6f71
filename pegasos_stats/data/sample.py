"""The sample of a fit: labels and predictors of the complete rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from pegasos_stats.arrays import DataColumn, Mask, Predictors, Vector, owned
from pegasos_stats.checks import check_flag
from pegasos_stats.data.columns import selected
from pegasos_stats.data.data_frame import as_data
from pegasos_stats.data.design import Design, FrameDesign, ModelMatrix, row_labels
from pegasos_stats.data.foreign import check_aligned, column_of_labels, is_valid_text
from pegasos_stats.data.groups import Lines
from pegasos_stats.data.labels import (
    Coding,
    LabelCoding,
    as_in_formula,
    coded,
    coding_of,
)
from pegasos_stats.data.language.design import design_of, doubtful_in
from pegasos_stats.data.language.formula import (
    check_functions,
    offset_terms,
    outcome_of,
)
from pegasos_stats.data.scaling import ScaledDesign, Scaling
from pegasos_stats.data.suspect_columns import warn_of_columns
from pegasos_stats.data.weights import (
    Counts,
    Offset,
    Positions,
    WeightsOf,
    check_some,
    given_weights,
    kind_of,
    missing_in,
    repeated,
    row_weights,
    rows_of_weights,
    total,
    weights_of_rows,
    whole_counts,
)
from pegasos_stats.errors import (
    DataError,
    LabelError,
    OptionError,
    counted,
    listing,
    shown,
)
from pegasos_stats.foreign_names import foreign_value, own_value

NaAction = Literal["drop", "raise"]

MOST_NAMED = 5  # columns with missing values in a message


@dataclass(frozen=True)
class Dropped:
    """Rows left out at fit: without an outcome, and without a predictor or weight.

    Attributes
    ----------
    outcome, predictors : int
    missing : tuple of pairs (str, int)
        Names of columns, and how many values each lacks, in all rows of the data.
    """

    outcome: int
    predictors: int
    missing: tuple[tuple[str, int], ...] = ()

    @property
    def total(self) -> int:
        """All rows left out."""
        return self.outcome + self.predictors

    @property
    def by_column(self) -> str:
        """Columns with missing values, those with the most first, in words.

        Examples
        --------
        >>> Dropped(1, 2, (("y", 1), ("age", 2))).by_column
        "2 in 'age', 1 in 'y'"
        """
        most = sorted(self.missing, key=lambda pair: -pair[1])
        first = ", ".join(f"{n:,} in {shown(name)}" for name, n in most[:MOST_NAMED])
        more = len(most) - MOST_NAMED
        return first + (f" and in {counted(more, 'more column')}" if more > 0 else "")

    def __str__(self) -> str:
        missing_outcome = f" ({self.outcome:,} without outcome)" if self.outcome else ""
        return f"{self.total:,}{missing_outcome}"


@dataclass(frozen=True, eq=False)
class Sample:
    """Complete rows with their labels.

    Attributes
    ----------
    X : float64 or float32 array, or CSR array, shape (n, p)
    y : float64 array, shape (n,), of -1 and +1
    index : Index, shape (n,)
        Row labels of the data.
    design : Design
    coding : LabelCoding
    dropped : Dropped
    kept : bool array
        Which rows of the data these are.
    weights : float64 array, shape (n,), or None
        Weights of the rows, with mean 1; None if all are 1.
    raw_weights : float64 array, shape (n,), or None
        The same as they were given.
    weights_of : "rows", "levels" or "balanced"
        As of `Problem`.
    counted : Counts or None
        How rows were counted, where each stands for several.
    lines : Lines or None
        Where the rows stand in the data.
    offset : float64 array, shape (n,), or None
        Known part of each score.
    offsets : Offset or None
        Where that is from.
    """

    X: Predictors
    y: Vector
    index: pd.Index
    design: Design
    coding: LabelCoding
    dropped: Dropped
    kept: Mask
    weights: Vector | None = None
    raw_weights: Vector | None = None
    weights_of: WeightsOf = "rows"
    counted: Counts | None = None
    lines: Lines | None = None
    offset: Vector | None = None
    offsets: Offset | None = None

    @property
    def n_weighed(self) -> int:
        """Number of rows with a weight above 0."""
        if self.weights is None:
            return int(self.y.size)
        return int((self.weights > 0.0).sum())


def sample_of_arrays(
    y: object,
    X: object,
    intercept: bool,
    coding: Coding,
    na_action: NaAction,
    weights: object = None,
    freq_weights: object = None,
    standardize: bool = False,
    offset: object = None,
) -> Sample:
    """Bring labels and a frame or an array together.

    Raises
    ------
    DataError, ColumnError, LabelError, OptionError
        As described for `SVM`.
    """
    labels = aligned_labels(y, X)
    design = FrameDesign.from_data(X)
    matrix = design.matrix(X)
    asked = Offset.asked(offset)
    given = _EachRow.of(weights, freq_weights, X, matrix.index, offset, asked)
    if given.counts is not None:
        labels, matrix = labels.iloc[given.rows], matrix.taken(given.rows)
    return _complete(
        labels, design, matrix, coding, na_action, given, standardize, intercept
    )


def sample_of_formula(
    formula: str,
    data: object,
    intercept: bool,
    coding: Coding,
    na_action: NaAction,
    weights: object = None,
    freq_weights: object = None,
    functions: Mapping[str, Callable[..., object]] | None = None,
    standardize: bool = False,
    offset: object = None,
) -> tuple[Sample, bool]:
    """Evaluate a formula on a frame; also tell whether it has an intercept."""
    frame = as_data(data)
    known = check_functions(functions, frame.columns)
    asked = Offset.asked(offset, offset_terms(formula, frame, known), known)
    given = _EachRow.of(weights, freq_weights, frame, frame.index, offset, asked)
    if given.counts is not None:
        frame = frame.iloc[given.rows]
    labels = outcome_of(formula, frame, known)
    labels = column_of_labels(labels, _name_of(labels))
    usable = labels.notna().to_numpy(dtype=bool) & ~given.uncounted
    for values in given.offset.values():
        usable = usable & ~np.isnan(values)
    design, matrix, kept = design_of(formula, frame, usable, intercept, known)
    warn_of_columns(doubtful_in(design))
    sample = _complete(
        labels, design, matrix, coding, na_action, given, standardize, kept
    )
    return sample, kept


@dataclass(frozen=True, eq=False)
class _EachRow:
    """Which rows of the data are taken, how often each counts, and what it weighs.

    Weights are a number for each row taken, or as for `class_weights`; the offset is
    the sum of its parts.
    """

    data: object
    index: pd.Index
    rows: Positions
    weights: object
    counts: Counts | None
    uncounted: Mask  # rows whose count is missing
    offset: Mapping[str, Vector]
    offsets: Offset | None

    @classmethod
    def of(
        cls,
        weights: object,
        freq_weights: object,
        data: object,
        index: pd.Index,
        offset: object,
        offsets: Offset | None,
    ) -> "_EachRow":
        each = given_weights(weights, data, index)
        rows, counts = np.arange(len(index)), None
        uncounted = np.zeros(len(index), dtype=bool)
        if freq_weights is not None:
            rows = repeated(freq_weights, data, index, missing=1)
            uncounted = np.isnan(whole_counts(freq_weights, data, index))[rows]
            counts = Counts.of(freq_weights, len(index))
        weights = weights if each is None else each[rows]
        parts = {} if offsets is None else offsets.by_part(data, offset)
        check_some(parts)
        parts = {name: values[rows] for name, values in parts.items()}
        return cls(data, index, rows, weights, counts, uncounted, parts, offsets)

    def rows_of(self, kept: Mask) -> Positions:
        """The rows that are kept, without a copy where all are."""
        return self.rows if kept.all() else self.rows[kept]


def aligned_labels(y: object, X: object) -> DataColumn:
    """View `y` as a Series on the rows of `X`.

    Raises
    ------
    DataError
        If the two do not have the same rows.
    """
    table = isinstance(y, np.ndarray | pd.DataFrame) and y.ndim == 2 and y.shape[1] > 1
    if table and isinstance(X, np.ndarray | pd.Series) and X.ndim == 1:
        raise DataError("Labels come first, predictors second; give y, then X.")
    index = row_labels(X)
    labels = column_of_labels(y)
    if not isinstance(y, pd.Series | pd.DataFrame) and len(labels) == len(index):
        labels = labels.set_axis(index)
    check_aligned("y", labels, index, isinstance(X, pd.DataFrame | pd.Series), "X")
    return labels.set_axis(index)


def _complete(
    labels: DataColumn,
    design: Design,
    matrix: ModelMatrix,
    coding: Coding,
    na_action: NaAction,
    given: _EachRow,
    standardize: bool,
    intercept: bool,
) -> Sample:
    """Keep the rows that lack nothing; code labels, weigh rows, scale predictors."""
    usable = labels.notna().to_numpy(dtype=bool)
    each = given.weights if isinstance(given.weights, np.ndarray) else None
    kept = usable & matrix.kept & ~given.uncounted
    if each is not None:
        kept &= ~np.isnan(each)
    offset = total(given.offset) if given.offset else None
    if offset is not None:
        kept &= ~np.isnan(offset)
    name = _name_of(labels)
    without = [(name, int((~usable).sum()))]
    without += [(column, len(rows)) for column, rows in matrix.missing.items()]
    if each is not None:
        without.append(("weights", int(np.isnan(each).sum())))
    without.append(("freq_weights", int(given.uncounted.sum())))
    lacking = missing_in(given.offset)
    without += [(k, len(v)) for k, v in lacking.items() if k not in matrix.missing]
    dropped = Dropped(
        int((~usable).sum()),
        int((usable & ~kept).sum()),
        tuple((column, count) for column, count in without if count),
    )
    _check_rows(kept, matrix.index, na_action, dropped)
    index = matrix.index.copy(deep=True)
    if not kept.all():
        labels, index = labels[kept], index[kept]
    levels = coding_of(labels, coding, name)
    if levels.rule == "factor":
        levels = as_in_formula(levels, design.formula, design.functions)
    y = coded(labels, levels)
    raw = weights_of_rows(given.weights if each is None else each[kept], y, levels)
    weights = row_weights(raw, y, levels)
    X = selected(matrix.values, kept[matrix.kept])
    check_flag("standardize", standardize)
    if standardize:
        scaling = Scaling.of(X, intercept, weights, rows_of_weights(raw))
        X, design = scaling.apply(X), ScaledDesign(design, scaling)
    else:
        X = owned(X, given.data)
    return Sample(
        X=X,
        y=y,
        index=index,
        design=design,
        coding=levels,
        dropped=dropped,
        kept=kept,
        weights=weights,
        raw_weights=raw,
        weights_of=kind_of(given.weights),
        counted=given.counts,
        lines=Lines.of(given.data, given.rows_of(kept), given.index),
        offset=None if offset is None else offset[kept],
        offsets=given.offsets,
    )


def _name_of(labels: DataColumn) -> str:
    """Name of the outcome; ``y`` if it has none."""
    name = "y" if labels.name is None else str(labels.name)
    if not is_valid_text(name):
        raise LabelError(
            f"The outcome {name!r} has a name that is not valid text; rename it."
        )
    return name


def _check_rows(
    kept: Mask, index: pd.Index, na_action: object, dropped: Dropped
) -> None:
    na_action = own_value("na_action", na_action)
    if not isinstance(na_action, str) or na_action not in ("drop", "raise"):
        reason = "is not known; give 'drop' or 'raise'."
        here = foreign_value("na_action", na_action)
        raise OptionError(here or reason, "na_action", na_action)
    if na_action == "raise" and not kept.all():
        raise some_missing(dropped, f" ({listing(index[~kept])})")
    if not kept.any():
        raise no_rows(len(kept), dropped.by_column)


def some_missing(dropped: Dropped, rows: str = "") -> DataError:
    """The error for missing values where ``na_action="raise"``."""
    return DataError(
        f"There are missing values in {counted(dropped.total, 'row')}{rows}: "
        f"{dropped.by_column}; fill them, or leave the rows out with na_action='drop'."
    )


def no_rows(total: int, missing: str = "") -> DataError:
    """The error for data without a complete row."""
    return DataError(
        f"None of {counted(total, 'row')} is complete{missing and f' ({missing})'}; "
        "give data with values for the outcome and all predictors."
    )
