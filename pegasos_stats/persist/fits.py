"""How fits, models and designs are saved, and conditions for objects from files.

Only the shape of the training rows is written. The conditions, beyond types and shapes,
make an object usable; if one is false or raises, the file is damaged. Checks that the
classes make themselves are not repeated.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Integers, Mask, Matrix
from pegasos_stats.data.design import Design, FrameDesign
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.language.expressions import read_expression, refused
from pegasos_stats.data.language.formula import read_outcome
from pegasos_stats.data.language.formula_design import (
    FactorCoding,
    FormulaDesign,
    names_of_terms,
)
from pegasos_stats.data.sample import MissingRowCounts, Sample
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.data.scan.source import MissingRows
from pegasos_stats.data.weights import Counts, Offset
from pegasos_stats.errors import DataError, listing, plain
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.metrics.inputs import positive_position
from pegasos_stats.models.inference import wald
from pegasos_stats.models.inference.bootstrap import TooLongError
from pegasos_stats.models.inference.estimability import NullSpace
from pegasos_stats.models.inference.options import Bootstrap, Cluster, seconds_of
from pegasos_stats.models.inference.wald import BootstrapResult, Covariance
from pegasos_stats.models.kernel import KernelResults, KernelSVM
from pegasos_stats.models.linear import SVM, Logit, Model
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import Results, with_cached
from pegasos_stats.persist import codec
from pegasos_stats.persist.archive import Json, Value
from pegasos_stats.persist.codec import ArrayReader, ArrayWriter, Codec, Rule
from pegasos_stats.persist.states import of_states
from pegasos_stats.solvers import kernel_problem as kernels
from pegasos_stats.solvers.kernel_problem import KernelFunction, KernelProblem
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.solver_runs import OptimalityBounds
from pegasos_stats.studies.calibration import CalibratedResults, Reliability
from pegasos_stats.studies.fold_fits import LARGER_IS_BETTER, MEASURES, Metric
from pegasos_stats.studies.folds import Folds

MAX_SAVED_COEFFICIENTS = 256  # their covariance takes half a megabyte
MAX_SECONDS = 3.0  # for the resamples of such a covariance
COMPUTED = ("certificate", "shortfall", "training_table", "_on_predictors")
ERRORS = ("actual", "predicted")
COMPUTED_LINEAR = ("cov_type", "constants", "null_space")
OF_SAMPLE = ("index", "design", "coding", "dropped", "kept", "counted", "offsets")
# No minimum share of test rows in folds of at most FEW_ROWS rows.
FEW_ROWS, MIN_TEST_SHARE = 2**16, 0.01
VARIANCE_ROUNDING = 1e-6  # relative to the largest element of the matrix
TRACE = {"epoch", "steps", "objective", "gap", "training_error", "cpu_seconds"}
BINS = ["low", "high", "n", "mean_predicted", "observed", "conf_low", "conf_high"]
LARGEST_SEED = 2**31 - 1
FIT = "problem.X np, index n, solution.dual n"


def without_rows(result: Results) -> Results:
    """Return a fit as `load` returns it.

    Results that need the training rows are computed now, except the distance from the
    minimum and a covariance that takes long.
    """
    linear, problem = isinstance(result, LinearResults), result.problem
    names = COMPUTED + COMPUTED_LINEAR * linear
    needed = {*names} - {"null_space"}  # which files of earlier versions lack
    if isinstance(problem.X, MissingRows) and needed <= {*vars(result)}:
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
        estimate = result.estimated if result.has_covariance else None
        if estimate is None and _is_quick(result):
            with suppress(TooLongError):
                estimate = result._estimate(MAX_SECONDS)
        if estimate is not None:
            computed["estimated"] = estimate
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
    """Return whether the covariance is computed for saving."""
    options, problem = result.cov_type, result.problem
    if options is None or problem.p > MAX_SAVED_COEFFICIENTS or not problem.has_rows:
        return False
    if result._is_trivial:
        return False
    if isinstance(options, Bootstrap):
        by_default = result.errors_by == "default"
        return by_default and seconds_of(problem, options.replicates) <= MAX_SECONDS
    return wald.is_quick(problem)


@dataclass(frozen=True)
class SavedModel:
    """Content of a file about a model: its problem and its labels."""

    problem: Problem | KernelProblem
    index: pd.Index
    design: Design
    coding: LabelCoding
    dropped: MissingRowCounts
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
        If its class or its formula cannot be saved.
    """
    kind = type(model).__name__
    if MODELS.get(kind) is not type(model):
        raise DataError(f"A {kind} cannot be saved; give one of ps.svm() or the like.")
    saved = SavedModel(
        problem=replace(model.problem, X=MissingRows.of(model.problem.X)),
        columns=getattr(model, "_columns", None),
        **{name: getattr(model._sample, name) for name in OF_SAMPLE},
    )
    return [kind, codec.write(SavedModel, saved, writer)]


def model_back(stored: Json, reader: ArrayReader) -> Model:
    """Undo `model_out`."""
    kind, saved = MODELS[stored[0]], codec.read(SavedModel, stored[1], reader)
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


# ------------------------------------------ conditions for the fields to go together

Conditions: TypeAlias = Iterator[object]


def of_missing_rows(X: MissingRows) -> Conditions:
    """Rows are within their shape, in rising order."""
    n, p = X.shape
    yield all(low < high for low, high in pairwise([-1, *X.rows.tolist(), n]))
    yield X.values.shape == (len(X.rows), p if len(X.rows) else 0)


def of_kernel(kernel: KernelFunction) -> Conditions:
    """The kernel has the parameters that its name requires, with allowed values."""
    parameters = kernel.name, kernel.degree, kernel.offset, kernel.gamma
    yield kernels.checked_kernel(*parameters, lambda rule: 1.0) == kernel


def of_coding(coding: LabelCoding) -> Conditions:
    """Coding and decoding reproduce the labels."""
    pair = coding.decode(np.array([-1.0, 1.0]))
    yield [plain(level) for level in pair] == list(coding.levels)
    yield coding.encode(pair).tolist() == [-1.0, 1.0]
    coding.encode(coding.decode(np.array([np.nan, 1.0])))
    hash(str(coding.levels))  # an impossible date cannot be converted to text


def of_design(design: FrameDesign | FormulaDesign) -> Conditions:
    """Names of coefficients are unique, and the formula can be parsed."""
    names = design.names
    yield len(set(names)) == len(names) and "Intercept" not in names
    columns: Value = getattr(design, "variables", None) or design.columns
    if design.formula is not None:
        read_outcome(design.formula, columns, design.functions)
    if isinstance(design, FormulaDesign):
        check_terms(design)
        yield from of_states(design)
        yield design.columns == names_of_terms(
            design.terms, design.spanning, design.codings, design.fields
        )


def check_terms(design: FormulaDesign) -> None:
    """Raise FormulaError for terms that are not computed from columns."""
    variables = set(design.variables)
    factors = {factor for term in design.terms for factor in term.factors}
    texts = {text for text, _ in factors}
    for what, names, allowed in (
        ("numeric", design.numeric, variables),
        ("types", design.types, variables),
        ("codings", design.codings, texts),
        ("fields", design.fields, texts),
        ("spanning", design.spanning, texts),
    ):
        if unknown := {*names} - allowed:
            raise refused(design.formula, f"has {what} of {listing(sorted(unknown))}.")
    for text, kind in factors:
        used = set() if (text, kind) == ("1", "number") else {text}
        if kind == "expression":
            used = read_expression(text, variables, text, design.functions).columns
        if unknown := used - variables:
            why = f"uses {listing(sorted(unknown))}, which is no column of the model."
            raise refused(text, why)


def of_offset(offset: Offset) -> Conditions:
    """The offset is computed from columns."""
    for term in offset.terms:
        read_expression(term, (), term, offset.functions)
    yield offset.parts


def of_factor(coding: FactorCoding) -> Conditions:
    """Levels differ, and all columns have names."""
    levels, names, matrix = coding.levels, coding.names, coding.matrix
    yield len(set(levels)) == len(levels) and not pd.isna(pd.Series(levels)).any()
    if matrix is None:
        yield len(names) in (0, len(levels) - 1) and coding.base in range(len(levels))
    else:
        yield matrix.shape == (len(levels), len(names)) and np.isfinite(matrix).all()


def of_covariance(cov: Covariance) -> Conditions:
    """The matrices form a sandwich estimate, or are NaN."""
    yield cov.prior is None or cov.prior.shape == (len(cov.matrix) + 1,)
    yield (cov.basis is None) == (cov.inner is None)
    if not np.isnan(cov.matrix).all():
        yield cov.inner is None or are_variances(cov.inner)
        yield cov.basis is None or np.isfinite(cov.basis).all()
        yield np.isfinite(cov.bread).all() and are_variances(cov.matrix)
        yield cov.fixed is None or are_variances(cov.fixed)


def of_null_space(space: NullSpace) -> Conditions:
    """Directions refer to coefficients."""
    k = len(space.directions)
    yield ((space.columns >= 0) & (space.columns < k)).all()
    yield np.isfinite(space.directions).all()


def of_its_centre(fit: BootstrapResult) -> bool:
    """Return whether the centre is None or has one number per slope."""
    return fit.centre is None or len(fit.centre) == len(fit.matrix) - 1


def are_variances(matrix: Matrix) -> bool:
    """Return whether a matrix is finite and its variances, up to rounding, positive."""
    least = -VARIANCE_ROUNDING * np.abs(matrix).max(initial=0.0)
    return bool(np.isfinite(matrix).all() and (np.diag(matrix) >= least).all())


def of_fit(result: Results) -> Conditions:
    """The offset has a source, and the trace has its columns."""
    yield (result.offsets is None) == (result.problem.offset is None)
    yield result.trace is None or not len(result.trace) or {*result.trace} >= TRACE
    near = vars(result).get("shortfall")
    yield near is None or near.errors <= result.problem.n


def of_linear(result: LinearResults) -> Conditions:
    """Standard errors agree with the options of the fit."""
    yield from of_fit(result)
    options, estimated = result.cov_type, vars(result).get("estimated")
    k = result.problem.p + result.problem.intercept
    yield len(result._null_space.directions) == k
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
    """A kernel fit has counts or dual weights, and support rows or columns."""
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
    """All columns have names; a precomputed kernel has the columns of its rows."""
    width, n = len(design.names), problem.n
    kernel = getattr(problem, "kernel", None)
    if kernel is None or kernel.name != "precomputed":
        yield columns is None and width == problem.p
    else:
        yield problem.p == n == len(np.unique(columns)) and columns.shape == (n,)
        yield (columns >= 0).all() and (columns < width).all()


def of_folds(folds: Folds) -> Conditions:
    """Folds refer to the same rows, and are not empty."""
    n, repeats = folds.n, [split.repeat for split in folds.splits]
    yield repeats and all(split.n == n for split in folds.splits)
    yield sum(len(s.test) for s in folds.splits) >= MIN_TEST_SHARE * (n - FEW_ROWS)
    yield repeats == sorted(repeats) and repeats[-1] <= len(repeats)
    yield {*repeats} == {*range(1, repeats[-1] + 1)}
    yield folds.groups is None or folds.groups.shape == (n,)


def of_matrix(matrix: ConfusionMatrix) -> Conditions:
    """The shape of the table agrees with its levels, and scores with its rows."""
    k, scored = len(matrix.levels), matrix.scored
    yield k >= 2 and matrix.counts.shape == (k, k + 1)
    positive_position(matrix.levels, matrix.choices.positive)
    if scored is not None:
        yield scored.codes.max(initial=-1) < k
        yield scored.probabilities is None or scored.probabilities.shape[1] == k


def of_reliability(curve: Reliability) -> Conditions:
    """The table has its columns, with valid numbers."""
    yield [*curve.table.columns] == BINS
    n, shares = curve.table["n"], curve.table.drop(columns="n").to_numpy(np.float64)
    yield ((n >= 0) & (n < np.inf) & (n % 1 == 0)).all()
    yield are_shares(shares)


def are_shares(shares: Matrix | None) -> bool:
    """Return whether all shares are missing or from 0 to 1."""
    return shares is None or not ((shares < 0.0) | (shares > 1.0)).any()


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
HUGE = float(np.finfo(np.float64).max)
for low, high, names in (
    (-HUGE, HUGE, "offset beta dual g estimates reference unbounded values centre"),
    (-HUGE, HUGE, "dual_objective"),
    (-1e300, 1e300, "alpha"),
    (0.0, HUGE, "weights objective errors at_zero n_left_out separated seconds counts"),
    (0.0, HUGE, "bandwidth outcome predictors test given n_iter n_violations n_epochs"),
    (0.0, np.inf, "rounding rows at_least lower changed tolerance error"),
    (5e-324, HUGE, "scale"),
    (0.0, HUGE, "lam n_infinite"),
    (0.0, np.inf, "divergence"),
    (5e-324, np.inf, "df"),
    (1.0, HUGE, "lines memory shape"),
    (2.0, HUGE, "numbers"),
    (-1.0, HUGE, "codes"),
    (-LARGEST_SEED, LARGEST_SEED, "seed"),
):
    codec.BOUNDS |= dict.fromkeys(names.split(), (low, high))

OF_ROWS = {"X": MissingRows, "y": "signs"}
PROBLEM = Rule(
    lambda problem: [
        (problem.y == -1.0).any() and (problem.y == 1.0).any(),
        ((problem.y == -1.0) | (problem.y == 1.0)).all(),
        problem.lam > 0.0 or problem.loss == "log",  # without a penalty
    ],
    "X np, y n, weights n, offset n",
    hints=OF_ROWS,
)
codec.RULES |= {
    "BootstrapResult": Rule(
        lambda fit: [are_variances(fit.covariance), of_its_centre(fit)],
        "estimate k, estimates mk, covariance kk, tolerance k, fixed mk, reference kk, "
        "priors m, unbounded kq, error k",
    ),
    "CalibratedResults": Rule(prepared=with_losses, computed=("_losses",)),
    "Certificate": Rule(lambda at: [at.dual_objective <= at.objective]),
    "ConfusionMatrix": Rule(of_matrix),
    "Covariance": Rule(
        of_covariance,
        "matrix kk, bread kk, newton_step k, fixed kk, unbounded kq, basis kb, "
        "inner bb",
    ),
    "Folds": Rule(of_folds),
    "FactorCoding": Rule(of_factor, "matrix lc"),
    "FormulaDesign": Rule(of_design),
    "FrameDesign": Rule(of_design),
    "KernelFunction": Rule(of_kernel),
    "KernelProblem": PROBLEM,
    "KernelResults": Rule(
        of_kernel_fit,
        f"{FIT}, solution.counts n",
        without_rows,
        COMPUTED,
    ),
    "KernelSolution": Rule(shapes="counts n, dual n, g n"),
    "LabelCoding": Rule(of_coding),
    "LinearResults": Rule(
        of_linear,
        f"{FIT}, solution.beta p, design.names p, constants p",
        without_rows,
        (*COMPUTED, *COMPUTED_LINEAR, "estimated", "profiled", "_profiled_original"),
    ),
    "MissingRows": Rule(of_missing_rows, "rows r, values rp", MissingRows.of),
    "NullSpace": Rule(of_null_space, "names q, columns q, directions kq"),
    "Offset": Rule(of_offset),
    "Problem": PROBLEM,
    "ProfileTable": Rule(
        lambda table: [table.limits.shape == (len(table.p_value), 2)],
        "statistic k, p_value k",
    ),
    "Reliability": Rule(of_reliability),
    "SavedModel": Rule(
        lambda saved: of_columns(saved.problem, saved.columns, saved.design),
        "problem.X np, index n, kept m",
    ),
    "ScaledDesign": Rule(shapes="names p, scaling.centre p, scaling.scale p"),
    "ScoredLabels": Rule(
        lambda scored: [are_shares(scored.probabilities)],
        "codes n, scores n, probabilities nk, weights n",
        hints={"codes": NDArray[np.signedinteger]},  # one byte per row of files
    ),
    "OptimalityBounds": Rule(lambda near: [near.at_least <= near.at_most]),
    "Split": Rule(lambda one: [one.test.max(initial=0) < one.n], "test t, given g"),
}
