"""What a report is about: a fit, the rows it is judged on, where the data came from."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.data.counts import column_of_counts, repeated
from pegasos_stats.data.design import Design
from pegasos_stats.data.files import COMMAS, CsvStyle, opened, read_csv
from pegasos_stats.data.formula import outcome_of, unwrapped
from pegasos_stats.data.formula_design import FormulaDesign
from pegasos_stats.data.labels import signs_of
from pegasos_stats.data.sample import aligned_labels
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.errors import DataError, LabelError, OptionError, plain
from pegasos_stats.metrics.caret import ConfusionReport
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.solvers.kernel_problem import KernelFunction, KernelProblem
from pegasos_stats.writing import checked_path, shown_path

Path = str | PathLike[str]
Fitted = LinearResults | KernelResults


@dataclass(frozen=True, eq=False)
class Origin:
    """Where the data came from.

    Attributes
    ----------
    python : sequence of str
        Lines that make the objects which the other expressions name.
    train : str
        Expression of the training data, for a model with a formula.
    labels, rows : str
        Expressions of labels and predictors, for a model without.
    test : str or None
        Expression of the held-out data.
    weights : str
        Expression of weights that differ from row to row.
    table : DataFrame or None
        The training data, where R can read their file too.
    file : str
        That file, in CSV.
    row_names : bool
        Whether its first column names the rows.
    r_rows : str
        Index of the training rows in it, as R writes it; empty if all are.
    command : str
        The command line, if that is where the fit was made.
    """

    python: Sequence[str] = ()
    train: str = "train"
    labels: str = "y"
    rows: str = "X"
    test: str | None = None
    weights: str = "weights"
    table: pd.DataFrame | None = None
    file: str = ""
    row_names: bool = False
    r_rows: str = ""
    command: str = ""


def of_memory(formula: str | None, tested: bool) -> Origin:
    """Objects that are in memory already; how they came there is not known."""
    names = [*(["y", "X"] if formula is None else ["train"]), *(["test"] * tested)]
    verb = "are" if len(names) > 1 else "is"
    known = f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]
    return Origin(
        [f"# {known} {verb} the data of this report"], test="test" if tested else None
    )


def of_csv(
    train: Path,
    table: pd.DataFrame,
    test: Path | None = None,
    *,
    weights: str = "weights",
    command: str = "",
    style: CsvStyle = COMMAS,
) -> Origin:
    """CSV files, of which `table` is the content of the one for training.

    The lines of R read the file itself only if it has commas and decimal points.
    """
    named = names_rows(train, style)
    index = style.arguments + (", index_col=0" if named else "")
    files = {"train": train} | ({} if test is None else {"test": test})
    lines = [
        f"{k} = pd.read_csv({literal(fspath(v))}{index})" for k, v in files.items()
    ]
    return Origin(
        lines,
        test=None if test is None else "test",
        weights=weights,
        table=table if style == COMMAS else None,
        file=fspath(train),
        row_names=named,
        command=command,
    )


def names_rows(path: Path, style: CsvStyle = COMMAS) -> bool:
    """Whether the first column of a CSV file, without a name, names the rows."""
    with opened(path) as handle:
        header = pd.read_csv(handle, nrows=0, sep=style.sep)
    return str(header.columns[0]).startswith("Unnamed: 0")


def literal(value: object) -> str:
    """Write a label or a name as Python does, text in double quotes.

    Examples
    --------
    >>> literal("a b"), literal(5), literal(("no", "yes"))
    ('"a b"', '5', '("no", "yes")')
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))})"
    return repr(plain(value))


def checked_source(source: Path | None, result: Fitted, tested: bool) -> Origin:
    """Where the user says that the data came from: a CSV file, or nowhere.

    Parameters
    ----------
    source : path or None
    result : Results
    tested : bool
        Whether there are held-out data.

    Raises
    ------
    DataError
        If the file cannot be read.
    OptionError
        If other data are in it.
    """
    formula = result.design.formula
    if source is None:
        return of_memory(formula, tested)
    name = checked_path(source)
    table = read_csv(name)
    if not holds_data_of(result, each_as_counted(result, table)):
        raise OptionError(
            f"The file {shown_path(name)} does not hold the data of the fit; give the "
            "path of the CSV file that the training data were read from."
        )
    known, outcome = of_csv(name, table), literal(result.coding.name)
    return replace(
        known,
        python=[*known.python, *(["# test is the held-out data"] * tested)],
        labels=f"train[{outcome}]",
        rows=f"train.drop(columns={outcome})",
        test="test" if tested else None,
    )


def holds_data_of(result: Fitted, table: pd.DataFrame) -> bool:
    """Whether a table has the labels and the numbers of the fit, row by row."""
    try:
        matrix = result.design.matrix(table)
        formula, name = result.design.formula, result.coding.name
        functions = result.design.functions
        labels = (
            table[name] if formula is None else outcome_of(formula, table, functions)
        )
        y = result.coding.encode(labels)[matrix.kept]
    except (DataError, LabelError, KeyError):
        return False
    known = ~np.isnan(y)
    if not np.array_equal(y[known], result.problem.y):
        return False
    return bool((abs(matrix.values[known] - result.problem.X)).max() == 0)


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows with labels, and what a fit predicts for them.

    Attributes
    ----------
    name : str
        ``"training"`` or ``"test"``.
    rows : int
        All rows of the data, those left out at fit with them.
    table : ConfusionMatrix
    scores : Series or None, shape (n,)
        None for the training rows of a model that was loaded from a file.
    data : object
        What the fit takes as data; None for its own rows.
    labels : Series or None
        Labels that came beside the data, not in them.
    """

    name: str
    rows: int
    table: ConfusionMatrix
    scores: "pd.Series[float] | None"
    data: object = None
    labels: "pd.Series[Any] | None" = None

    @property
    def report(self) -> ConfusionReport:
        """All statistics of the table; those that are not defined are NaN."""
        return self.table.summary()

    @property
    def error_rate(self) -> float:
        """Error rate; NaN, without a warning, where no row was classified."""
        known = self.table.n_classified
        return self.table.n_errors / known if known else math.nan

    @property
    def largest_class(self) -> tuple[object, float]:
        """The level of most classified rows, and the error rate of always naming it."""
        counts = self.table.counts[:, :-1].sum(axis=1)
        if not counts.sum():
            return None, math.nan
        at = int(counts.argmax())
        return self.table.levels[at], 1.0 - float(counts[at]) / float(counts.sum())

    @property
    def codes(self) -> NDArray[np.intp]:
        """Position of each row's actual level, -1 where it is missing."""
        if self.table.scored is None:
            return np.empty(0, dtype=np.intp)
        return self.table.scored.codes

    @property
    def n_unscored(self) -> int:
        """Rows with a label and without a score, for a missing predictor."""
        if self.scores is None:
            return 0
        return int((self.scores.isna().to_numpy() & (self.codes >= 0)).sum())

    @property
    def n_ties(self) -> int:
        """Rows with a label and no prediction, as their score is exactly 0."""
        return self.table.n_undecided - self.n_unscored


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is about.

    Attributes
    ----------
    result : Results
    training : Judged
    test : Judged or None
    origin : Origin
        Where the data came from.
    image_shape : pair of int or None
        Rows and columns of the image whose pixels the predictors are.
    """

    result: Fitted
    training: Judged
    test: Judged | None
    origin: Origin
    image_shape: tuple[int, int] | None = None

    @property
    def judged(self) -> list[Judged]:
        """Training rows, and test rows if there are any."""
        return [self.training] if self.test is None else [self.training, self.test]

    @property
    def held_out(self) -> Judged:
        """The rows that errors are quoted for: test rows where there are any."""
        return self.training if self.test is None else self.test

    @property
    def kernel(self) -> KernelFunction | None:
        """The kernel of a kernel model."""
        problem = self.result.problem
        return problem.kernel if isinstance(problem, KernelProblem) else None

    @property
    def is_kernel(self) -> bool:
        """Whether the fit has a kernel in the place of coefficients."""
        return self.kernel is not None

    @property
    def is_logistic(self) -> bool:
        """Whether the fit gives probabilities."""
        return self.result.problem.loss == "log"

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Weights of the training rows, if they differ."""
        return self.result.problem.weights

    @property
    def is_scaled(self) -> bool:
        """Whether the predictors were standardized."""
        return isinstance(self.result.design, ScaledDesign)

    @property
    def has_rows(self) -> bool:
        """Whether the training rows are there; a loaded model has none."""
        return self.training.scores is not None


def factor_levels(design: Design) -> dict[str, list[str]]:
    """Levels of each column that became a factor, the reference level first."""
    if isinstance(design, ScaledDesign):
        design = design.design
    if not isinstance(design, FormulaDesign):
        return {}
    return {
        unwrapped(name): [str(level) for level in state["categories"]]
        for name, (_, state) in design.spec.encoder_state.items()
        if "categories" in state
    }


def training_rows(result: Fitted) -> Judged:
    """The rows of the fit, with its predictions of them."""
    rows = result.nobs + result.dropped.total
    try:
        scores = result.decision_function()
    except DataError:  # loaded from a file, which holds no training rows
        return Judged("training", rows, result.training_table, None)
    return Judged("training", rows, result.confusion(), scores)


def each_as_counted(result: Fitted, table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table, each as often as the column of counts of the fit says."""
    counts = column_of_counts(None, result.counted, table)
    if counts is None:
        return table
    try:
        return table.iloc[repeated(counts, table, table.index)]
    except DataError:  # other data
        return table


def held_out_rows(result: Fitted, test: object) -> Judged:
    """Held-out rows, with the predictions of the fit.

    Parameters
    ----------
    result : Results
    test : DataFrame or pair (y, X)

    Raises
    ------
    ColumnError
        If the data have no column of the outcome, or lack a predictor.
    DataError
        If labels and rows do not fit together.
    """
    labels, data = None, test
    if isinstance(test, tuple) and len(test) == 2:
        labels, data = aligned_labels(*test), test[1]
    scores = result.decision_function(data)
    table = result.confusion(data, labels)
    counts = column_of_counts(None, result.counted, data)
    if counts is not None:
        scores = scores.iloc[repeated(counts, data, scores.index)]
    return Judged("test", len(scores), table, scores, data, labels)


def misclassified(result: Fitted, rows: Judged) -> pd.DataFrame:
    """Misclassified rows, those farthest on the wrong side first.

    Returns
    -------
    DataFrame
        Columns ``row`` (its label), ``actual``, ``predicted`` and ``score``.
    """
    columns = ["row", "actual", "predicted", "score"]
    if rows.scores is None:
        return pd.DataFrame(columns=columns)
    scores = np.asarray(rows.scores, dtype=np.float64)
    levels = np.array(result.coding.levels, dtype=object)
    signs = signs_of(scores, result.solver.ties)
    decided = (rows.codes >= 0) & ~np.isnan(signs)
    wrong = np.flatnonzero(decided & ((signs > 0) != (rows.codes > 0)))
    worst = wrong[np.argsort(-np.abs(scores[wrong]), kind="stable")]
    actual = rows.codes[worst]
    names = [str(name) for name in rows.scores.index[worst]]
    found = (names, levels[actual], levels[1 - actual], scores[worst])
    return pd.DataFrame(dict(zip(columns, found, strict=True)))
