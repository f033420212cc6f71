"""Fits, models and designs in files: what they are without their training rows."""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Integers, Mask
from pegasos_stats.data.design import Design, FrameDesign
from pegasos_stats.data.digests import rows_digest
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.language.design import FormulaDesign, names_of_terms
from pegasos_stats.data.language.expressions import read_expression
from pegasos_stats.data.language.formula import read_outcome
from pegasos_stats.data.language.vocabulary import Functions
from pegasos_stats.data.sample import Dropped, Sample
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.data.weights import Counts, Offset
from pegasos_stats.errors import DataError, FormulaError, listing, shown
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.base import Model
from pegasos_stats.models.inference import wald
from pegasos_stats.models.inference.options import Bootstrap, seconds_of
from pegasos_stats.models.kernel import KernelSVM
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.linear import SVM, Logit
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import Results
from pegasos_stats.persist.archive import Json, Value
from pegasos_stats.persist.codec import CONCRETE, FORMS, NAMES, form_of
from pegasos_stats.persist.values import ArrayReader, ArrayWriter, Form, items
from pegasos_stats.solvers.kernel_problem import KernelProblem, support_of
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.studies.selection.fold_fits import (
    LARGER_IS_BETTER,
    MEASURES,
    Metric,
)

MOST_COEFFICIENTS = 256  # whose covariance is computed to be saved: half a megabyte
QUICK = 3.0  # seconds that resamples may take for it
NUMBER = re.compile(r"\d+\.?\d*|\.\d+", re.ASCII)
COMPUTED = ("certificate", "shortfall", "training_table", "_on_predictors")
COMPUTED_LINEAR = (*COMPUTED, "cov_type", "_spread", "constants", "estimated")


@dataclass(frozen=True, eq=False)
class MissingRows:
    """In the place of the training rows, which are not saved: only their shape.

    Attributes
    ----------
    shape : pair of int
    digest : str or None
        Of all rows, by which they are known.
    rows : int array, shape (k,)
        Rows that are there none the less, in rising order, and `values`, theirs.
    values : float array, shape (k, p)
    is_study : bool
        Whether they are those of a model in a study, and not of a fit.
    """

    shape: tuple[int, int]
    digest: str | None = None
    rows: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    values: Dense = field(default_factory=lambda: np.empty((0, 0)))
    is_study: bool = False

    @classmethod
    def of(cls, X: Value, is_study: bool = False) -> "MissingRows":
        """What is left of rows; of missing ones themselves."""
        if isinstance(X, cls):
            return X
        n, p = (int(size) for size in X.shape)
        return cls((n, p), rows_digest(X), is_study=is_study)

    def __getitem__(self, rows: NDArray[np.intp] | slice) -> np.ndarray:
        asked = np.arange(self.shape[0])[rows]
        if not len(asked):
            return np.empty((0, self.shape[1]))
        if not np.isin(asked, self.rows).all():
            self._refuse()
        found: np.ndarray = self.values[np.searchsorted(self.rows, asked)]
        return found

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def __array__(self, *args: object, **options: object) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        if self.is_study:
            raise DataError(
                "The training rows are not in the file of a study; build the model "
                "from its data again, with the lam that was chosen, and fit it."
            )
        raise DataError(
            "The training rows are not in a saved model; give data, as in "
            "predict(data), and ask for standard errors, as by result.bse, before "
            "saving."
        )


def without_rows(result: Results) -> Results:
    """A fit as it comes back from a file.

    What it would compute from its training rows is computed, but for a covariance that
    is not there and would take long.
    """
    problem = result.problem
    if isinstance(problem.X, MissingRows) and {*COMPUTED} <= {*vars(result)}:
        return result
    X = MissingRows.of(problem.X)
    given: dict[str, Value] = {"index": pd.RangeIndex(problem.n), "model": None}
    counts = result.training_table.counts
    nothing = pd.DataFrame(columns=["actual", "predicted"])
    known: dict[str, Value] = {
        **{name: getattr(result, name) for name in COMPUTED},
        "training_table": ConfusionMatrix(
            result.coding.levels, counts, nothing, source="training"
        ),
    }
    if isinstance(result, KernelResults):
        if result.columns is None:
            rows = support_of(result.problem, result.solution)[0].astype(np.int64)
            if len(rows):
                X = replace(X, rows=rows, values=problem.X[rows])
    else:
        assert isinstance(result, LinearResults)
        known |= {n: getattr(result, n) for n in ("cov_type", "_spread", "constants")}
        if result.has_covariance or _is_quick(result):
            known["estimated"] = result.estimated
        groups = result.groups and replace(result.groups, codes=(), by_name=False)
        given |= {"errors_by": result.cov_type, "groups": groups}
        given |= {"lines": None, "unread": None}
    given["problem"] = replace(problem, X=X)
    bare = replace(result, **given)
    vars(bare).update(known)
    return bare


def _is_quick(result: LinearResults) -> bool:
    """Whether the covariance is computed to be saved."""
    options, problem = result.cov_type, result.problem
    if options is None or problem.p > MOST_COEFFICIENTS or not problem.has_rows:
        return False
    if isinstance(options, Bootstrap):
        by_default = result.errors_by == "default"
        return by_default and seconds_of(problem, options.replicates) <= QUICK
    return wald.is_quick(problem)


def signs_out(y: NDArray[np.float64], writer: ArrayWriter) -> Json:
    """Write labels, -1 and +1, in a byte each."""
    return writer.put(y.astype(np.int8))


def signs_back(stored: Json, reader: ArrayReader) -> NDArray[np.float64]:
    """Undo `signs_out`."""
    y = reader.take(stored)
    if y.dtype != np.int8 or y.ndim != 1 or set(np.unique(y).tolist()) != {-1, 1}:
        raise ValueError("y holds other numbers than -1 and 1")
    return y.astype(np.float64)


def rows_out(X: Value, writer: ArrayWriter) -> Json:
    """Write what is left of rows."""
    return form_of(MissingRows).out(MissingRows.of(X), writer)


@dataclass(frozen=True)
class SavedModel:
    """A model in a file: its problem and its labels."""

    problem: Problem | KernelProblem
    index: pd.Index
    design: Design
    coding: LabelCoding
    dropped: Dropped
    kept: Mask
    counted: Counts | None
    offsets: Offset | None
    columns: Integers | None


MODELS: dict[str, type[Model]] = {"SVM": SVM, "Logit": Logit, "KernelSVM": KernelSVM}


def model_out(model: Model, writer: ArrayWriter) -> Json:
    """Write a model: its options and labels, without its rows.

    Raises
    ------
    DataError
        If it is of no known class, or its formula cannot be saved.
    """
    kind = type(model).__name__
    if MODELS.get(kind) is not type(model):
        raise DataError(f"A {kind} cannot be saved; give one of ps.svm() or the like.")
    sample, problem = model._sample, model.problem
    names = [f.name for f in fields(SavedModel) if f.name not in ("problem", "columns")]
    saved = SavedModel(
        problem=replace(problem, X=MissingRows.of(problem.X, is_study=True)),
        columns=getattr(model, "_columns", None),
        **{name: getattr(sample, name) for name in names},
    )
    return [kind, form_of(SavedModel).out(saved, writer)]


def model_back(stored: Json, reader: ArrayReader) -> Model:
    """Undo `model_out`."""
    name, parts = items(stored, "a model", 2)
    kind, saved = MODELS[name], form_of(SavedModel).back(parts, reader)
    problem = saved.problem
    is_kernel = isinstance(problem, KernelProblem)
    if is_kernel != (kind is KernelSVM):
        raise ValueError(f"a {name} has a {type(problem).__name__}")
    if problem.loss != getattr(kind, "loss", "hinge"):
        raise ValueError(f"a {name} has the loss {problem.loss}")
    model: Value = kind.__new__(kind)
    model.problem = problem
    if is_kernel:
        model._columns = saved.columns
    model._sample = Sample(
        X=problem.X,
        y=problem.y,
        index=saved.index,
        design=saved.design,
        coding=saved.coding,
        dropped=saved.dropped,
        kept=saved.kept,
        weights=problem.weights,
        weights_of=problem.weights_of,
        counted=saved.counted,
        offset=problem.offset,
        offsets=saved.offsets,
    )
    found: Model = model
    return found


def metric_out(metric: Metric, writer: ArrayWriter) -> Json:
    """Write a metric: its name, and whether it is a function of the user."""
    if metric.own:
        writer.use(metric.name, metric.function)
    return [metric.name, metric.own]


def metric_back(stored: Json, reader: ArrayReader) -> Metric:
    """Undo `metric_out`."""
    name, own = items(stored, "a metric", 2)
    if own is True:
        return Metric(name, reader.function(name), own=True)
    if own is not False:
        raise ValueError(f"a metric is {stored!r}")
    return Metric(name, MEASURES[name], name in LARGER_IS_BETTER)


def check_formula(design: FormulaDesign) -> None:
    """Raise an exception for a formula that is none of the language.

    Raises
    ------
    DataError
        If it does more than compute with columns.
    ValueError
        If its coefficients are not the columns of its terms.
    """
    check_outcome(design.formula, design.variables, design.functions)
    variables = set(design.variables)
    for text, kind in {factor for term in design.terms for factor in term.factors}:
        used = {text}
        if kind == "number" and NUMBER.fullmatch(text):
            continue
        if kind == "expression":
            with _in_a_file(f"The term {shown(text)}"):
                read = read_expression(text, variables, text, design.functions)
            used = read.columns
        if unknown := used - variables:
            raise DataError(
                f"The term {shown(text)} cannot be part of a saved model: it uses "
                f"{listing(sorted(unknown))}, which is no column of the model."
            )
    found = names_of_terms(design.terms, design.spanning, design.codings, design.fields)
    if design.columns != found:
        raise ValueError("its coefficients are not the columns of its terms")


def check_outcome(
    formula: str | None, columns: Collection[object], functions: Functions
) -> None:
    """Raise `DataError` for an outcome that does more than compute with columns."""
    if formula is not None:
        with _in_a_file(f"The formula {shown(formula)}"):
            read_outcome(formula, columns, functions)


def of_offset(offset: Offset) -> Iterator[object]:
    """It is from one place, and computed from columns."""
    for term in offset.terms:
        with _in_a_file(f"The offset {shown(term)}"):
            read_expression(term, (), term, offset.functions)
    yield not (offset.column and offset.given)
    yield offset.column or offset.given or offset.terms


@contextmanager
def _in_a_file(what: str) -> Iterator[None]:
    """Refuse a text of a file that is none of the language of formulas."""
    try:
        yield
    except FormulaError as error:
        text = f"{what} cannot be part of a saved model: it {error.reason}"
        raise DataError(text) from None


CONCRETE |= {
    Results: (LinearResults, KernelResults),
    Design: (FrameDesign, FormulaDesign, ScaledDesign),
}
FORMS |= {
    Model: Form(model_out, model_back),
    Metric: Form(metric_out, metric_back),
}
NAMES |= {"Model": Model}
MISSING_ROWS = Form(
    rows_out, lambda stored, reader: form_of(MissingRows).back(stored, reader)
)
SIGNS = Form(signs_out, signs_back)
