"""How fits, models and designs are saved, and conditions for objects from files.

Predictors of the training rows are not written, only their shape and digest, and the
support rows of a kernel fit. The conditions, in addition to types and shapes, must hold
for an object to be usable. If one is false or raises an exception, the file is damaged.
Checks that the classes make themselves are not repeated.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Integers, Mask
from pegasos_stats.data.design import Design, FrameDesign, ScaledDesign
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.language.formula import (
    Call,
    Constant,
    read_expression,
    read_outcome,
)
from pegasos_stats.data.language.formula_design import (
    FormulaDesign,
    fields_of,
    names_of_terms,
)
from pegasos_stats.data.language.vocabulary import State
from pegasos_stats.data.sample import Counts, MissingRowCounts, Offset, Sample
from pegasos_stats.data.scan.source import MissingRows
from pegasos_stats.errors import DataError
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.inference import wald
from pegasos_stats.models.inference.options import Bootstrap, Cluster, Sandwich
from pegasos_stats.models.inference.wald import BootstrapResult
from pegasos_stats.models.kernel import KernelResults, KernelSVM
from pegasos_stats.models.linear import SVM, Logit, Model
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import Results
from pegasos_stats.persist import codec
from pegasos_stats.persist.archive import Json, Value
from pegasos_stats.persist.codec import ArrayReader, ArrayWriter, Codec, Rule
from pegasos_stats.solvers import kernel_problem as kernels
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.problem import Problem, with_cached
from pegasos_stats.solvers.solver_runs import OptimalityBounds
from pegasos_stats.studies.calibration import CalibratedResults
from pegasos_stats.studies.fold_fits import LARGER_IS_BETTER, MEASURES, Metric

MAX_SAVED_COEFFICIENTS = 256  # their covariance is half a megabyte
COMPUTED = ("certificate", "shortfall", "training_table", "_on_predictors")
ERRORS = ("actual", "predicted")
COMPUTED_LINEAR = ("cov_type", "constants", "null_space")
OF_SAMPLE = ("index", "design", "coding", "dropped", "counted", "offsets")
TRACE = {"epoch", "steps", "objective", "gap", "training_error", "cpu_seconds"}
DIVISORS = ("norms2", "scale")
WITH_TIES = ("bs", "ns")  # their knots are quantiles, which may be equal


def without_rows(result: Results) -> Results:
    """Return a fit as `load` returns it.

    Results that need the training rows are computed first, except a covariance that is
    slow to compute and a bound tighter than the certificate's. No resamples are drawn.
    """
    linear, problem = isinstance(result, LinearResults), result.problem
    names = COMPUTED + COMPUTED_LINEAR * linear
    if problem.source.is_missing and {*names} <= {*vars(result)}:
        return result
    X, index = MissingRows.of(problem.X), pd.RangeIndex(problem.n)
    counts, nothing = result.training_table.counts, pd.DataFrame(columns=ERRORS)
    table = ConfusionMatrix(result.coding.levels, counts, nothing, source="training")
    # No solver runs for saving: use the certificate unless a better bound is cached.
    near = vars(result).get("shortfall", OptimalityBounds.certified(result.certificate))
    replaced = {"training_table": table, "shortfall": near}
    computed = {n: replaced[n] if n in replaced else getattr(result, n) for n in names}
    others: dict[str, Value] = {"index": index, "full_model": None}
    if isinstance(result, LinearResults):
        if result.has_covariance or _is_quick(result):
            computed["estimated"] = result.estimated
            if result._is_profiled:
                computed["profiled"] = result.profiled
                if result.scaling is not None:
                    computed["_profiled_original"] = result._profiled_original
        groups = result.groups and replace(result.groups, codes=(), by_name=False)
        others |= {"errors_by": result.cov_type, "groups": groups}
        others |= {"lines": None, "unread": None}
    elif isinstance(result, KernelResults) and result.columns is None:
        rows = kernels.support_of(result.problem, result.solution)[0].astype(np.int64)
        X = replace(X, rows=rows, values=problem.X[rows]) if len(rows) else X
    bare = replace(result, problem=replace(problem, X=X), **others)
    return with_cached(bare, **computed)


def _is_quick(result: LinearResults) -> bool:
    """Return whether saving computes the covariance."""
    problem = result.problem
    is_small = problem.p <= MAX_SAVED_COEFFICIENTS and wald.is_quick(problem)
    return isinstance(result.cov_type, Sandwich) and problem.has_rows and is_small


@dataclass(frozen=True)
class SavedModel:
    """What a file contains of a model: its problem and its labels, without its rows."""

    problem: Problem | KernelProblem
    index: pd.Index
    design: Design
    coding: LabelCoding
    dropped: MissingRowCounts
    kept: Mask
    counted: Counts | None
    offsets: Offset | None
    columns: Integers | None

    _field_rules = "problem.X np, index n, kept m"

    def _conditions(self) -> Iterator[object]:
        return of_columns(self.problem, self.columns, self.design)


MODELS: dict[str, type[Model]] = {"SVM": SVM, "Logit": Logit, "KernelSVM": KernelSVM}


def model_out(model: Model, writer: ArrayWriter) -> Json:
    """Write a model: its options and labels, without its rows.

    Raises
    ------
    DataError
        If its class or its formula cannot be saved.
    """
    kind = type(model).__name__
    if MODELS.get(kind) is not type(model):
        raise DataError(
            f"A model of type {kind} cannot be saved; use one that ps.svm(), "
            "ps.logit() or ps.kernel_svm() returns."
        )
    saved = SavedModel(
        problem=replace(model.problem, X=MissingRows.of(model.problem.X)),
        columns=getattr(model, "_columns", None),
        kept=model._sample.complete,
        **{name: getattr(model._sample, name) for name in OF_SAMPLE},
    )
    return [kind, codec.write(SavedModel, saved, writer)]


def model_back(stored: Json, reader: ArrayReader) -> Model:
    """Undo `model_out`."""
    kind, saved = MODELS[stored[0]], codec.restore(SavedModel, stored[1], reader)
    problem = saved.problem
    is_kernel, losses = kind is KernelSVM, getattr(kind, "_losses", ("hinge",))
    if isinstance(problem, KernelProblem) != is_kernel or problem.loss not in losses:
        raise ValueError(f"a {stored[0]} has another problem")
    model = kind.__new__(kind)
    model.problem = problem
    if isinstance(model, KernelSVM):
        model._columns = saved.columns
    names = "X", "y", "weights", "weights_of", "offset"
    model._sample = Sample(
        **{name: getattr(problem, name) for name in names},
        complete=saved.kept,
        **{name: getattr(saved, name) for name in OF_SAMPLE},
    )
    return model


def metric_out(metric: Metric, writer: ArrayWriter) -> Json:
    """Write the name of a metric, and whether it is a function of the user."""
    if metric.own:
        writer.use(metric.name, metric.function)
    return [metric.name, metric.own]


def metric_back(stored: Json, reader: ArrayReader) -> Metric:
    """Undo `metric_out`."""
    name, own = stored
    function = reader.function(name) if own else MEASURES[name]
    return Metric(name, function, not own and name in LARGER_IS_BETTER, own)


# ------------------------------------------ conditions on several fields of an object

Conditions: TypeAlias = Iterator[object]


def of_design(design: FrameDesign | FormulaDesign) -> Conditions:
    """Names are unique, the formula can be parsed, and fields refer to its terms."""
    names = design.names
    yield len(set(names)) == len(names) and "Intercept" not in names
    columns: Value = getattr(design, "variables", None) or design.columns
    if design.formula is not None:
        read_outcome(design.formula, columns, design.functions)
    if isinstance(design, FormulaDesign):
        variables = set(design.variables)
        factors = {factor for term in design.terms for factor in term.factors}
        texts = {text for text, _ in factors}
        yield {*design.numeric, *design.types} <= variables
        yield {*design.codings, *design.fields, *design.spanning} <= texts
        calls = dict[str, Call]()
        for text, kind in factors:
            used = set() if (text, kind) == ("1", "number") else {text}
            if kind == "expression":
                parsed = read_expression(text, variables, text, design.functions)
                used = parsed.columns
                calls |= {
                    call.key: call for call in parsed.calls if call.function.state
                }
            yield used <= variables
        # A missing state would be estimated again from new rows, without an error.
        yield design.state.keys() == calls.keys()
        for key, call in calls.items():
            yield from of_state(call, design.state[key], design.fields.get(key))
        yield design.columns == names_of_terms(
            design.terms, design.spanning, design.codings, design.fields
        )


def of_state(call: Call, state: State, labels: list[Hashable] | None) -> Conditions:
    """A saved state is usable for the transformation of a call.

    The call is evaluated on a grid of numbers between the bounds of the saved state.
    The saved state must have the same names, types and sizes as the state of the grid.
    Its numbers must be finite, its divisors not 0, and its knots in increasing order.
    """
    bounds = [state.get("lower_bound", 0.0), state.get("upper_bound", 1.0)]
    ends = state.get("boundary") or state.get("breaks") or bounds
    yield np.isfinite(ends).all()
    sizes = [len(part) for part in state.values() if isinstance(part, list | dict)]
    size = min(10 + 3 * max(sizes, default=0), 5000)
    grid: Value = pd.Series(np.linspace(ends[0], ends[-1], size))
    centre: Value = state.get("center", state.get("scale"))
    if shape := np.shape(centre):  # of several columns
        grid = pd.DataFrame(dict.fromkeys(range(*shape), grid))
    first, again = call.function.words.partition(" ")[0], dict[str, State]()
    of_grid = replace(call, arguments=call.arguments | {first: Constant(grid)})
    value = of_grid.evaluate(pd.DataFrame(index=grid.index), again)
    yield labels is None or len(fields_of(value)) == len(labels)
    yield state.keys() == again[call.key].keys()
    for name, part in again[call.key].items():
        saved = state[name]
        yield type(saved) is type(part)
        if isinstance(part, dict):
            yield saved.keys() == part.keys()
            saved, part = [*saved.values()], [*part.values()]
        if part is not None:
            numbers = np.asarray(saved)
            yield numbers.shape == np.shape(part) and np.isfinite(numbers).all()
            yield name not in DIVISORS or (numbers != 0.0).all()
        if isinstance(state[name], list):
            steps = np.diff(numbers)
            ordered = (steps > 0.0) | (steps == 0.0) & (call.name in WITH_TIES)
            # Knots that the formula lists may have any order.
            yield ordered.all() or state[name] == part


def of_offset(offset: Offset) -> Conditions:
    """The offset is not empty, and its expressions can be parsed."""
    for term in offset.terms:
        read_expression(term, (), term, offset.functions)
    yield offset.parts


def of_fit(result: Results) -> Conditions:
    """An offset has a source, and a trace that is not empty has all its columns."""
    yield (result.offsets is None) == (result.problem.offset is None)
    yield result.trace is None or not len(result.trace) or {*result.trace} >= TRACE
    near = vars(result).get("shortfall")
    yield near is None or near.errors <= result.problem.n


def of_linear(result: LinearResults) -> Conditions:
    """Standard errors agree with the options of the fit."""
    yield from of_fit(result)
    options, estimated = result.cov_type, vars(result).get("estimated")
    k = result.problem.p + result.problem.intercept
    yield len(result.null_space.directions) == k
    yield options == result.errors_by
    if isinstance(options, Cluster):
        yield result.groups is not None
    for name in ("profiled", "_profiled_original"):
        table = vars(result).get(name)
        yield table is None or len(table.limits) == len(result.params)
    if estimated is not None:
        yield len(estimated.matrix) == k
        yield options == getattr(estimated, "options", options)
        yield isinstance(estimated, BootstrapResult) == isinstance(options, Bootstrap)


def of_kernel_fit(result: KernelResults) -> Conditions:
    """A kernel fit has counts or dual weights, and stores its support rows.

    With a precomputed kernel it stores positions of columns instead.
    """
    yield from of_fit(result)
    problem, fit = result.problem, result.solution
    is_optimum = (result.refinement or result.solver).to_optimum
    yield (fit.dual is None, fit.counts is None) == (not is_optimum, is_optimum)
    yield is_optimum or fit.n_iter >= 1
    yield from of_columns(problem, result.columns, result.design)
    if result.columns is None:
        rows = np.flatnonzero(kernels.multiples(problem, fit)[0])
        yield np.array_equal(problem.X.rows, rows)


def of_columns(problem: Problem, columns: Value, design: Design) -> Conditions:
    """Each column has a name; a precomputed kernel has one column per training row."""
    width, n = len(design.names), problem.n
    kernel = getattr(problem, "kernel", None)
    if kernel is None or kernel.name != "precomputed":
        yield columns is None and width == problem.p
    else:
        yield problem.p == n == len(np.unique(columns)) and columns.shape == (n,)
        yield (columns >= 0).all() and (columns < width).all()


def with_losses(result: CalibratedResults) -> CalibratedResults:
    """Return a calibrated fit with its losses computed from the training rows."""
    assert result._losses is not None
    return result


codec.CONCRETE |= {
    Results: (LinearResults, KernelResults),
    Design: (FrameDesign, FormulaDesign, ScaledDesign),
}
codec.FORMS |= {
    Model: Codec(model_out, model_back),
    Metric: Codec(metric_out, metric_back),
    "signs": Codec(  # labels, -1 and +1, in one byte
        lambda y, writer: writer.put(y.astype(np.int8)),
        lambda stored, reader: reader.take(stored).astype(np.float64),
    ),
}
codec.NAMES |= {"Model": Model}
OF_ROWS = {"X": MissingRows, "y": "signs"}
OF_LINEAR = *COMPUTED, *COMPUTED_LINEAR, "estimated", "profiled", "_profiled_original"
codec.RULES |= {
    "CalibratedResults": Rule(prepared=with_losses, computed=("_losses",)),
    "FormulaDesign": Rule(of_design),
    "FrameDesign": Rule(of_design),
    "KernelProblem": Rule(hints=OF_ROWS),
    "KernelResults": Rule(of_kernel_fit, without_rows, COMPUTED),
    "LinearResults": Rule(of_linear, without_rows, OF_LINEAR),
    "MissingRows": Rule(prepared=MissingRows.of),
    "Offset": Rule(of_offset),
    "Problem": Rule(hints=OF_ROWS),
    "ScoredLabels": Rule(hints={"codes": NDArray[np.signedinteger]}),  # one byte a row
}
