"""The sample of a fit: labels, predictors and groups of the complete rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats import errors
from pegasos_stats.arrays import DataColumn, Mask, Predictors, Vector, owned
from pegasos_stats.checks import check_choice, check_flag
from pegasos_stats.data import labels as outcomes
from pegasos_stats.data import user_data
from pegasos_stats.data import weights as row_options
from pegasos_stats.data.design import (
    Design,
    FrameDesign,
    ModelMatrix,
    ScaledDesign,
    Scaling,
    row_labels,
)
from pegasos_stats.data.labels import Coding, LabelCoding
from pegasos_stats.data.language.formula import (
    check_functions,
    offset_terms,
    outcome_of,
)
from pegasos_stats.data.language.formula_design import (
    FormulaDesign,
    design_of,
    warn_of_columns,
)
from pegasos_stats.data.language.vocabulary import as_levels
from pegasos_stats.data.weights import Counts, Offset, Positions, RowOptions, WeightsOf
from pegasos_stats.errors import counted, listing, shown
from pegasos_stats.foreign_names import own_value

NaAction = Literal["drop", "raise"]

MOST_NAMED = 5  # columns with missing values in a message
GROUPS_ALLOWED = "one label for each row of the data, or a list of two such"
COLUMNS = (str, pd.Series, np.ndarray, pd.Index, pd.Categorical, list, tuple)
MOST = 2  # ways of grouping
FOR_ERRORS = "usually 30 or more: standard errors are from their differences"
ONE_STRATUM = "or leave strata= out"
FOR_FOLDS = "as folds keep each whole, or leave groups out"


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of the rows of a fit, in one way or two.

    Attributes
    ----------
    names : tuple of str
        Of the columns, one for each way; empty where labels have no name.
    numbers : tuple of int
        How many groups there are.
    codes : tuple of int arrays, shape (n,)
        Group of every row, numbered from 0 as they first appear. A loaded fit, which
        has no rows, has none.
    by_name : bool
        Whether the names of columns were given, and not labels.
    strata : int array, shape (n,), or None
        Stratum of each row, in which its group lies.
    strata_number : int
        Number of strata; 0 without strata.
    strata_name : str
        Name of their column.
    """

    names: tuple[str, ...]
    numbers: tuple[int, ...]
    codes: tuple[NDArray[np.intp], ...] = ()
    by_name: bool = False
    strata: NDArray[np.intp] | None = None
    strata_number: int = 0
    strata_name: str = ""

    _field_rules = "numbers several, codes code"

    @property
    def fewest(self) -> int:
        """Number of groups; of two ways the smaller."""
        return min(self.numbers)

    def df(self, k: int) -> float:
        """Degrees of freedom of t with ``k`` coefficients."""
        if self.strata_number:
            return self.fewest - self.strata_number + 1.0 - k
        return self.fewest - 1.0

    def among(self, rows: Positions) -> "Groups":
        """Those of some rows, numbered anew.

        Examples
        --------
        >>> groups = Groups(("",), (3,), (np.array([0, 1, 2, 2]),))
        >>> found = groups.among(np.array([1, 3]))
        >>> found.numbers, found.codes[0].tolist()
        ((2,), [0, 1])
        """
        coded = [pd.factorize(codes[rows]) for codes in self.codes]
        numbers = tuple(len(levels) for _, levels in coded)
        codes = tuple(codes for codes, _ in coded)
        if self.strata is None:
            return replace(self, numbers=numbers, codes=codes)
        strata, levels = pd.factorize(self.strata[rows])
        return replace(
            self,
            numbers=numbers,
            codes=codes,
            strata=strata,
            strata_number=len(levels),
        )

    def __str__(self) -> str:
        each = zip(self.numbers, self.names, strict=True)
        words = [f"{n:,} groups" + f" of {name}" * bool(name) for n, name in each]
        text = " and ".join(words)
        if self.strata_number:
            text += f" in {self.strata_number:,} strata"
            text += f" of {self.strata_name}" * bool(self.strata_name)
        return text


@dataclass(frozen=True, eq=False)
class RowIndex:
    """Where the rows of a fit stand in the data.

    Attributes
    ----------
    positions : int array, shape (n,)
        Of every row of the fit among the rows of the data.
    index : Index
        Row labels of the data, rows that were left out included.
    labelled : bool
        Whether the data have row labels of their own.
    frame : DataFrame or None
        The data, where columns can be looked up.
    """

    positions: Positions
    index: pd.Index
    labelled: bool
    frame: pd.DataFrame | None = None

    @classmethod
    def of(cls, data: object, positions: Positions, index: pd.Index) -> "RowIndex":
        """Remember the data, with their columns if they have any."""
        if isinstance(data, pd.DataFrame):
            return cls(positions, data.index, True, data.copy(deep=False))
        return cls(positions, index, isinstance(data, pd.Series))

    def groups(self, given: object, why: str = FOR_ERRORS) -> Groups:
        """Read the groups of the rows.

        Parameters
        ----------
        given : str, Series, array or list, shape (n,); or two of them
            Labels of the groups, one for each row of the data, rows that were left
            out included; or the name of a column. A frame or an array may have two
            columns.
        why : str
            Why there have to be two groups, for a message.

        Raises
        ------
        ColumnError
            If there is no column of this name.
        DataError
            If there is not one label for each row, one is missing in a row of the fit,
            or all rows are of one group.
        OptionError
            If there are more than two ways.

        Examples
        --------
        >>> lines = RowIndex(np.array([0, 1, 3]), pd.RangeIndex(4), False)
        >>> groups = lines.groups(["b", "a", "c", "b"])
        >>> str(groups), groups.codes[0].tolist()
        ('2 groups', [0, 1, 0])
        """
        ways = _ways(given)
        if not 0 < len(ways) <= MOST:
            raise errors.OptionError(
                f"groups are of {len(ways)} kinds; give groups of one kind or two."
            )
        found = [self._coded(way, why) for way in ways]
        names, numbers, codes = zip(*found, strict=True)
        by_name = all(isinstance(way, str) for way in ways)
        return Groups(names, numbers, codes, by_name)

    def stratified(self, groups: Groups | None, strata: object) -> Groups:
        """Groups in strata; without groups each row is one.

        The same label in two strata is two groups, as with ``nest = TRUE`` of R's
        survey.

        Raises
        ------
        DataError
            If a stratum has one group alone, or as for `groups`.

        Examples
        --------
        >>> lines = RowIndex(np.arange(4), pd.RangeIndex(4), False)
        >>> str(lines.stratified(None, ["a", "a", "b", "b"]))
        '4 groups in 2 strata'
        """
        (way, *others), n = _ways(strata), len(self.positions)
        if others:
            raise errors.OptionError("strata= takes one column of labels.")
        name, number, codes = self._coded(way, ONE_STRATUM, "strata")
        if groups is None:
            groups = Groups(("",), (n,), (np.arange(n),))
        if len(groups.codes) > 1:
            raise errors.OptionError("strata= goes with groups of one kind.")
        pairs = codes * np.int64(groups.numbers[0]) + groups.codes[0]
        nested, units = pd.factorize(pairs)
        sizes = np.bincount(units // groups.numbers[0], minlength=number)
        if (sizes < 2).any():
            alone = self.index[self.positions[codes == int(sizes.argmin())]]
            raise errors.DataError(
                f"The stratum of row {shown(alone[0])} has one group alone, so its "
                "variance is not defined; merge it with another stratum."
            )
        return replace(
            groups,
            numbers=(len(units),),
            codes=(nested,),
            strata=codes,
            strata_number=number,
            strata_name=name,
        )

    def _coded(
        self, way: object, why: str, argument: str = "groups"
    ) -> tuple[str, int, NDArray[np.intp]]:
        """Name, number and codes of groups in one way."""
        given = isinstance(way, pd.Series) and self.labelled
        if isinstance(way, str):
            way = row_options.column_named(argument, way, self.frame, GROUPS_ALLOWED)
        labels = user_data.column_of_labels(way, argument)
        user_data.check_aligned(argument, labels, self.index, given)
        name = "" if labels.name is None else str(labels.name)
        of = f" of {name}" if name else ""
        codes, levels = pd.factorize(labels.iloc[self.positions])
        if (codes < 0).any():
            rows = pd.unique(self.index[self.positions[codes < 0]])
            raise errors.DataError(
                f"{argument}{of} are missing in {counted(len(rows), 'row')} of the fit "
                f"({listing(rows)}); fill them, or leave these rows out of the data."
            )
        if len(levels) < 2:
            raise errors.DataError(
                f"{argument}{of} are {shown(levels[0])} in all rows; give two at "
                f"least, {why}."
            )
        return name, len(levels), codes


def _ways(given: object) -> list[object]:
    """The ways of grouping: columns, or the items of a list that are lists or names."""
    if isinstance(given, pd.DataFrame):
        return [given.iloc[:, j] for j in range(given.shape[1])]
    if isinstance(given, np.ndarray) and given.ndim == 2:
        return [given[:, j] for j in range(given.shape[1])]
    if not isinstance(given, list | tuple) or not 0 < len(given) <= MOST + 1:
        return [given]
    are_columns = all(isinstance(item, COLUMNS) for item in given)
    return list(given) if are_columns else [given]


@dataclass(frozen=True)
class MissingRowCounts:
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

    _field_rules = "outcome nonnegative, predictors nonnegative"

    @property
    def total(self) -> int:
        """All rows left out."""
        return self.outcome + self.predictors

    @property
    def by_column(self) -> str:
        """Columns with missing values, those with the most first, in words.

        Examples
        --------
        >>> MissingRowCounts(1, 2, (("y", 1), ("age", 2))).by_column
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
    dropped : MissingRowCounts
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
    lines : RowIndex or None
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
    dropped: MissingRowCounts
    kept: Mask
    weights: Vector | None = None
    raw_weights: Vector | None = None
    weights_of: WeightsOf = "rows"
    counted: Counts | None = None
    lines: RowIndex | None = None
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
    given = RowOptions.of(weights, freq_weights, X, matrix.index, offset, asked)
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
    frame = user_data.as_data(data)
    known = check_functions(functions, frame.columns)
    asked = Offset.asked(offset, offset_terms(formula, frame, known), known)
    given = RowOptions.of(weights, freq_weights, frame, frame.index, offset, asked)
    if given.counts is not None:
        frame = frame.iloc[given.rows]
    labels = outcome_of(formula, frame, known)
    labels = user_data.column_of_labels(labels, _name_of(labels))
    usable = labels.notna().to_numpy(dtype=bool)
    for name, rows in given.lacking.items():
        if name != "weights":
            usable = usable & ~rows
    design, matrix, kept = design_of(formula, frame, usable, intercept, known)
    if isinstance(design, FormulaDesign):
        warn_of_columns(design.doubtful)
    sample = _complete(
        labels, design, matrix, coding, na_action, given, standardize, kept
    )
    return sample, kept


def aligned_labels(y: object, X: object) -> DataColumn:
    """View `y` as a Series on the rows of `X`.

    Raises
    ------
    DataError
        If the two do not have the same rows.
    """
    table = isinstance(y, np.ndarray | pd.DataFrame) and y.ndim == 2 and y.shape[1] > 1
    if table and isinstance(X, np.ndarray | pd.Series) and X.ndim == 1:
        raise errors.DataError("Labels come first, predictors second; give y, then X.")
    index = row_labels(X)
    labels = user_data.column_of_labels(y)
    if not isinstance(y, pd.Series | pd.DataFrame) and len(labels) == len(index):
        labels = labels.set_axis(index)
    user_data.check_aligned(
        "y", labels, index, isinstance(X, pd.DataFrame | pd.Series), "X"
    )
    return labels.set_axis(index)


def _complete(
    labels: DataColumn,
    design: Design,
    matrix: ModelMatrix,
    coding: Coding,
    na_action: NaAction,
    given: RowOptions,
    standardize: bool,
    intercept: bool,
) -> Sample:
    """Keep the rows that lack nothing; code labels, weigh rows, scale predictors."""
    usable = labels.notna().to_numpy(dtype=bool)
    kept = usable & matrix.kept
    name = _name_of(labels)
    lacking = {name: int((~usable).sum())}
    lacking |= {column: len(rows) for column, rows in matrix.missing.items()}
    for part, absent in given.lacking.items():
        kept = kept & ~absent
        lacking[part] = int(absent.sum())
    missing = tuple((column, count) for column, count in lacking.items() if count)
    others = int((usable & ~kept).sum())
    dropped = MissingRowCounts(int((~usable).sum()), others, missing)
    _check_rows(kept, matrix.index, na_action, dropped)
    index, rows = matrix.index.copy(deep=True), given.rows
    if not kept.all():
        labels, index, rows = labels[kept], index[kept], rows[kept]
    if not usable.all() and isinstance(labels.dtype, np.dtype):
        labels = as_levels(labels)  # whole numbers beside missing ones were floats
    levels = outcomes.coding_of(labels, coding, name)
    if levels.rule == "factor":
        levels = outcomes.as_in_formula(levels, design.formula, design.functions)
    y = outcomes.coded(labels, levels)
    each = given.weights
    each = each[kept] if isinstance(each, np.ndarray) else each
    raw = row_options.weights_of_rows(each, y, levels)
    weights = row_options.row_weights(raw, y, levels)
    X = user_data.selected(matrix.values, kept[matrix.kept])
    check_flag("standardize", standardize)
    if standardize:
        count = row_options.rows_of_weights(raw)
        scaling = Scaling.of(X, intercept, weights, count)
        X, design = scaling.apply(X), ScaledDesign(design, scaling)
    else:
        if isinstance(X, np.ndarray):  # a memory map may be of any size
            cure = "write the rows to files and give ps.scan(...)"
            user_data.check_memory(X.nbytes, "A copy of the predictors", cure)
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
        weights_of=row_options.kind_of(given.weights),
        counted=given.counts,
        lines=RowIndex.of(given.data, rows, given.index),
        offset=None if given.offset is None else given.offset[kept],
        offsets=given.offsets,
    )


def _name_of(labels: DataColumn) -> str:
    """Name of the outcome; ``y`` if it has none."""
    name = "y" if labels.name is None else str(labels.name)
    if not user_data.is_valid_text(name):
        raise errors.LabelError(
            f"The outcome {name!r} has a name that is not valid text; rename it."
        )
    return name


def _check_rows(
    kept: Mask, index: pd.Index, na_action: object, dropped: MissingRowCounts
) -> None:
    na_action = own_value("na_action", na_action)
    check_choice("na_action", na_action, ("drop", "raise"))
    if na_action == "raise" and not kept.all():
        raise some_missing(dropped, f" ({listing(index[~kept])})")
    if not kept.any():
        raise no_rows(len(kept), dropped.by_column)


def some_missing(dropped: MissingRowCounts, rows: str = "") -> errors.DataError:
    """The error for missing values where ``na_action="raise"``."""
    return errors.DataError(
        f"There are missing values in {counted(dropped.total, 'row')}{rows}: "
        f"{dropped.by_column}; fill them, or leave the rows out with na_action='drop'."
    )


def no_rows(total: int, missing: str = "") -> errors.DataError:
    """The error for data without a complete row."""
    return errors.DataError(
        f"None of {counted(total, 'row')} is complete{missing and f' ({missing})'}; "
        "give data with values for the outcome and all predictors."
    )
