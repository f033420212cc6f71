"""Fits, models and designs in files, and what objects from a file have to hold.

Of training rows only their shape is written. Conditions beyond the types are asked for
one after the other; where one does not hold, or raises, the file is damaged. What the
classes check themselves when they are made is not repeated.
"""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import NoReturn, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pegasos_stats.arrays import Dense, Integers, Mask, Matrix
from pegasos_stats.data.design import Design, FrameDesign
from pegasos_stats.data.digests import rows_digest
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.language.expressions import read_expression
from pegasos_stats.data.language.factors import FactorCoding, SuspiciousFactor
from pegasos_stats.data.language.formula import read_outcome
from pegasos_stats.data.language.formula_design import FormulaDesign, names_of_terms
from pegasos_stats.data.language.vocabulary import Functions
from pegasos_stats.data.sample import MissingRowCounts, Sample
from pegasos_stats.data.scaling import ScaledDesign, Scaling
from pegasos_stats.data.weights import Counts, Offset
from pegasos_stats.errors import DataError, FormulaError, listing, plain, shown
from pegasos_stats.metrics.confusion import ConfusionMatrix, ScoredLabels
from pegasos_stats.metrics.inputs import positive_position
from pegasos_stats.models.base import Model
from pegasos_stats.models.inference import wald
from pegasos_stats.models.inference.options import Bootstrap, Cluster, seconds_of
from pegasos_stats.models.inference.wald import (
    BootstrapResult,
    Covariance,
    Estimate,
)
from pegasos_stats.models.kernel import KernelResults, KernelSVM
from pegasos_stats.models.linear import SVM, Logit
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import Results
from pegasos_stats.persist.archive import Json, Value
from pegasos_stats.persist.codec import (
    BOUNDS,
    CONCRETE,
    FORMS,
    NAMES,
    RULES,
    ArrayReader,
    ArrayWriter,
    Codec,
    Rule,
    codec_for,
)
from pegasos_stats.solvers.kernel_problem import (
    KernelFunction,
    KernelProblem,
    KernelSolution,
    checked_kernel,
    multiples,
    support_of,
)
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.pegasos import Pegasos, check_rows
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.solver_runs import OptimalityBounds
from pegasos_stats.studies.calibration import (
    CalibratedResults,
    Recalibration,
    Reliability,
)
from pegasos_stats.studies.selection.fold_fits import LARGER_IS_BETTER, MEASURES, Metric
from pegasos_stats.studies.selection.folds import Folds, Split

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
        raise DataError(
            "The training rows are not in the file of a fit or a study; give data, as "
            "in predict(data), ask for standard errors before saving, or fit the model "
            "again."
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
    if set(y.ravel().tolist()) != {-1, 1}:
        raise ValueError("y holds other numbers than -1 and 1")
    return y.astype(np.float64)


@dataclass(frozen=True)
class SavedModel:
    """A model in a file: its problem and its labels."""

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
    return [kind, codec_for(SavedModel).out(saved, writer)]


def model_back(stored: Json, reader: ArrayReader) -> Model:
    """Undo `model_out`."""
    name, parts = stored
    kind, saved = MODELS[name], codec_for(SavedModel).back(parts, reader)
    problem = saved.problem
    is_kernel = isinstance(problem, KernelProblem)
    losses = getattr(kind, "_losses", ("hinge",))
    if is_kernel != (kind is KernelSVM) or problem.loss not in losses:
        raise ValueError(f"a {name} has another problem")
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
    name, own = stored
    if own:
        return Metric(name, reader.function(name), own=True)
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
    Model: Codec(model_out, model_back),
    Metric: Codec(metric_out, metric_back),
}
NAMES |= {"Model": Model}
SIGNS = Codec(signs_out, signs_back)


Conditions: TypeAlias = Iterator[object]

SHA256 = re.compile("[0-9a-f]{64}")
ROUNDING = 1e-6  # of weights, whose mean is 1, summed in another order
SAME_SUM = 1e-9  # relative, of the weights of both classes, to rounding
LARGEST_SEED = 2**31 - 1
LARGEST = 1e300  # of a number, whose products with others would overflow
ROUNDED = 1e-6  # of the largest number of a matrix
SLACK = 1e-6  # relative, of an objective, for its rounding
FEW_ROWS, FEWEST = 2**16, 0.01  # of folds: rows, and the share that they name of more
TRACE = "epoch steps objective gap violations training_error test_error cpu_seconds"
WHOLE = ("epoch", "steps", "violations")  # columns of a trace, others are of numbers


def of_missing_rows(X: MissingRows) -> Conditions:
    """Rows are within their shape, in rising order, and known by a digest."""
    n, p = X.shape
    yield X.digest is None or SHA256.fullmatch(X.digest)
    yield all(low < high for low, high in pairwise([-1, *X.rows.tolist(), n]))
    yield X.values.shape == (len(X.rows), p if len(X.rows) else 0)


def of_problem(problem: Problem) -> Conditions:
    """There is a label for each row; weights have the mean 1, balanced ones balance."""
    y, weights = problem.y, problem.weights
    yield len(y) == problem.n
    yield weights is None or abs(weights.mean() - 1.0) <= ROUNDING
    if problem.weights_of != "rows":
        w = np.ones(len(y)) if weights is None else weights
        each = [w[y < 0.0], w[y > 0.0]]
        low, high = (float(found.sum()) for found in each)
        yield all(np.ptp(found) == 0.0 for found in each)
        yield not problem.balanced or abs(high - low) <= SAME_SUM * high
    yield not isinstance(problem, KernelProblem) or problem.loss == "hinge"


def of_kernel(kernel: KernelFunction) -> Conditions:
    """It has the parameters of its name, and they are allowed."""
    given = kernel.name, kernel.degree, kernel.offset, kernel.gamma
    yield checked_kernel(*given, X=np.ones((1, 1))) == kernel


def of_coding(coding: LabelCoding) -> Conditions:
    """Labels are coded and given back."""
    yield coding.rule in ("factor", "first-seen", "explicit")
    pair = coding.decode(np.array([-1.0, 1.0]))
    yield [plain(level) for level in pair] == list(coding.levels)
    yield coding.encode(pair).tolist() == [-1.0, 1.0]
    coding.encode(coding.decode(np.array([np.nan, 1.0])))
    hash(str(coding.levels))  # an impossible date has no text


def of_design(design: Design) -> Conditions:
    """Coefficients have names of their own, and a formula is one of the language."""
    names = design.names
    yield len(set(names)) == len(names) and "Intercept" not in names
    if isinstance(design, FormulaDesign):
        check_formula(design)
    elif isinstance(design, FrameDesign):
        check_outcome(design.formula, design.columns, design.functions)


def of_factor(coding: FactorCoding) -> Conditions:
    """Levels differ, and each column has a name."""
    levels, names, matrix = coding.levels, coding.names, coding.matrix
    yield len(set(levels)) == len(levels)
    if matrix is None:
        yield len(names) in (0, len(levels) - 1) and coding.base in range(len(levels))
    else:
        yield matrix.shape == (len(levels), len(names)) and np.isfinite(matrix).all()


def of_scaled(design: ScaledDesign) -> Conditions:
    """It is scaled once, each column."""
    yield not isinstance(design.design, ScaledDesign)
    yield len(design.scaling.centre) == len(design.names)


def of_covariance(found: Covariance) -> Conditions:
    """Numbers are those of a sandwich, or it is not defined."""
    k, undefined = len(found.matrix), np.isnan(found.matrix).all()
    yield found.prior is None or found.prior.shape == (k + 1,)
    yield undefined or np.isfinite([found.matrix, found.bread]).all()
    for square in (found.matrix, found.fixed):
        if square is not None and np.isfinite(square).all():
            yield from _of_variances(square)
    yield found.bandwidth != 0.0 or undefined
    yield found.df > 0.0
    yield from _of_directions(found)


def of_bootstrap(found: BootstrapResult) -> Conditions:
    """Numbers are those of a bootstrap."""
    yield from _of_variances(found.covariance)
    yield found.n_left_out + len(found.estimates) == found.options.replicates
    yield from _of_directions(found)


def _of_variances(matrix: Matrix) -> Conditions:
    """It is symmetric, and no variance is below zero.

    Its other eigenvalues may be below zero: of two kinds of groups it is a difference.
    """
    largest = np.abs(matrix).max(initial=0.0)
    yield largest <= LARGEST
    yield (np.diag(matrix) >= -ROUNDED * largest).all()
    yield (np.abs(matrix / 2.0 - matrix.T / 2.0) <= ROUNDED * largest).all()


def _of_directions(found: Estimate) -> Conditions:
    """Directions are not 0, and there for a reason."""
    free = np.zeros((1, 0)) if found.unbounded is None else found.unbounded
    yield free.any(axis=0).all()
    yield free.size or not found.separated


def of_fit(result: Results, computed: tuple[str, ...]) -> Conditions:
    """What fits of all kinds have, field by field and together."""
    problem, solver, found = result.problem, result.solver, result.solution
    yield not set(computed) - set(vars(result)) - {"estimated"}
    n, at, near = problem.n, result.certificate, result.shortfall
    yield result.index.equals(pd.RangeIndex(n))
    yield (result.offsets is None) == (problem.offset is None)
    yield problem.intercept or found.alpha == 0.0
    drawn = solver.uses_random_numbers or result.refinement is not None
    yield found.seed is not None or not drawn
    yield result.refinement is None or not solver.to_optimum
    if isinstance(solver, Pegasos):
        check_rows(solver.order, n)
        size = getattr(solver.start, "size", None)
        yield size in (None, problem.p + problem.intercept)
    yield at.errors + sum(at.at_zero) <= n
    yield near.upper <= at.objective
    yield max(near.changed, near.errors) <= n
    yield result._on_predictors[0] >= 0.0
    yield from _of_training_table(result.training_table, result.coding, problem)
    trace: Value = result.trace
    if trace is not None and len(trace.columns):
        names = [*trace.columns]
        yield names == [n for n in TRACE.split() if n != "test_error" or n in names]
        types = ["i8" if name in WHOLE else "f8" for name in names]
        yield [dtype.str[1:] for dtype in trace.dtypes] == types


def _of_training_table(
    table: ConfusionMatrix, coding: LabelCoding, problem: Problem
) -> Conditions:
    """Counts are those of the training rows; those of weight 0 may be among them."""
    y = problem.y
    weighed = y if problem.weights is None else y[problem.weights > 0.0]
    there = [[int((v == sign).sum()) for sign in (-1.0, 1.0)] for v in (y, weighed)]
    yield table.counts.sum(axis=1).tolist() in there
    yield table.source == "training" and table.scored is None
    yield table.levels == coding.levels


def of_linear(result: LinearResults) -> Conditions:
    """A linear fit: coefficients, dual weights, covariance, groups."""
    yield from of_fit(result, COMPUTED_LINEAR)
    problem, found, p = result.problem, result.solution, result.problem.p
    yield len(result.design.names) == p
    yield (len(found.beta), len(found.dual)) == (p, problem.n)
    at, known, options = result.certificate, vars(result), result.errors_by
    with np.errstate(over="ignore"):
        penalty = problem.lam / 2.0 * float(found.beta @ found.beta)
    yield penalty <= (at.objective + at.rounding) * (1.0 + SLACK)
    yield len(known["_spread"]) == p
    yield options == known["cov_type"]
    if (groups := result.groups) is None:
        yield not isinstance(options, Cluster)
    else:
        most = {Cluster: 2, Bootstrap: 1}.get(type(options), 0)
        yield 0 < len(groups.numbers) <= most
        yield len(groups.numbers) == len(groups.names) and not groups.codes
    if (estimated := known.get("estimated")) is not None:
        yield len(estimated.matrix) == p + problem.intercept
        resampled = isinstance(estimated, BootstrapResult)
        yield resampled == isinstance(options, Bootstrap)
        yield estimated.options == options if resampled else options is not None


def of_kernel_fit(result: KernelResults) -> Conditions:
    """A kernel fit: counts or dual weights, support rows or columns."""
    yield from of_fit(result, COMPUTED)
    problem, found, n = result.problem, result.solution, result.problem.n
    is_optimum = (result.refinement or result.solver).to_optimum
    each, other = (found.dual, found.counts)[:: 1 if is_optimum else -1]
    yield other is None and each is not None and len(each) == n
    yield is_optimum or found.n_iter >= 1
    yield from of_columns(problem, result.columns, result.design)
    if result.columns is None:
        rows = np.flatnonzero(multiples(problem, found)[0])
        yield np.array_equal(problem.X.rows, rows)


def of_columns(problem: Problem, columns: Value, design: Design) -> Conditions:
    """Columns are named; of a precomputed kernel those of the rows are known."""
    width, n = len(design.names), problem.n
    kernel = getattr(problem, "kernel", None)
    if kernel is None or kernel.name != "precomputed":
        yield columns is None and width == problem.p
        return
    yield columns is not None and columns.shape == (n,) and problem.p == n
    yield (columns >= 0).all() and (columns < width).all()
    yield len(np.unique(columns)) == n


def of_model(saved: SavedModel) -> Conditions:
    """A model: its rows have labels, and its columns names."""
    yield len(saved.index) == saved.problem.n
    yield (saved.offsets is None) == (saved.problem.offset is None)
    yield from of_columns(saved.problem, saved.columns, saved.design)


def of_split(split: Split) -> Conditions:
    """Rows are there."""
    for rows in (split.test, split.given):
        yield rows is None or rows.max(initial=0) < split.n


def of_folds(folds: Folds) -> Conditions:
    """Folds are of the same rows, and of some."""
    n, repeats = folds.n, [split.repeat for split in folds.splits]
    yield repeats and all(split.n == n for split in folds.splits)
    yield sum(len(s.test) for s in folds.splits) >= FEWEST * (n - FEW_ROWS)
    yield repeats == sorted(repeats) and {*repeats} == {*range(1, repeats[-1] + 1)}
    yield folds.groups is None or folds.groups.shape == (n,)


def of_matrix(matrix: ConfusionMatrix) -> Conditions:
    """A table fits its levels, and its rows their scores."""
    k, counts, scored = len(matrix.levels), matrix.counts, matrix.scored
    yield k >= 2 and counts.shape == (k, k + 1)
    positive_position(matrix.levels, matrix.choices.positive)
    if scored is not None:
        yield scored.codes.max(initial=-1) < k
        yield scored.probabilities is None or scored.probabilities.shape[1] == k


def of_reliability(found: Reliability) -> Conditions:
    """A table has its columns, of numbers."""
    bins = "low", "high", "n", "mean_predicted", "observed", "conf_low", "conf_high"
    yield tuple(found.table.columns) == bins
    yield all(getattr(d, "kind", "") in "iuf" for d in found.table.dtypes)
    n, shares = found.table["n"], found.table.drop(columns="n").to_numpy(np.float64)
    yield ((n >= 0) & (n < np.inf) & (n % 1 == 0)).all()
    yield are_shares(shares)


def are_shares(shares: Matrix | None) -> bool:
    """Whether all are missing or from 0 to 1."""
    return shares is None or not ((shares < 0.0) | (shares > 1.0)).any()


def with_losses(found: CalibratedResults) -> CalibratedResults:
    """A calibrated fit that knows its losses, which need the training rows."""
    assert found._losses is not None
    return found


MOST = float(np.finfo(np.float64).max)
BOUNDS |= {
    name: bound
    for bound, names in (
        ((-MOST, MOST), "offset beta dual g estimates reference unbounded"),
        ((-MOST, MOST), "values centre dual_objective"),
        ((0.0, MOST), "weights objective errors at_zero n_left_out separated seconds"),
        ((0.0, MOST), "bandwidth outcome predictors counts test given"),
        ((0.0, MOST), "n_iter n_violations n_epochs"),
        ((0.0, np.inf), "rounding rows at_least lower changed _spread"),
        ((0.0, 1.0), "agreeing"),
        ((5e-324, MOST), "lam scale"),
        ((1.0, MOST), "lines memory shape"),
        ((2.0, MOST), "numbers"),
        ((-1.0, MOST), "codes"),
        ((-LARGEST, LARGEST), "alpha"),
        ((-LARGEST_SEED, LARGEST_SEED), "seed"),
    )
    for name in names.split()
}
EACH_ROW = "y n, weights n, offset n"
OF_ROWS = {"X": MissingRows, "y": SIGNS}
RULES |= {
    BootstrapResult: Rule(
        of_bootstrap,
        "estimate k, estimates mk, covariance kk, tolerance k, fixed mk, reference kk, "
        "priors m, unbounded kq",
        gone=("collinear",),
    ),
    CalibratedResults: Rule(prepared=with_losses, computed=("_losses",)),
    Certificate: Rule(lambda at: [at.dual_objective <= at.objective]),
    ConfusionMatrix: Rule(of_matrix),
    Covariance: Rule(
        of_covariance,
        "matrix kk, bread kk, newton_step k, fixed kk, unbounded kq",
        gone=("collinear",),
    ),
    SuspiciousFactor: Rule(gone=("outcome",)),
    MissingRowCounts: Rule(lambda found: [all(n > 0 for _, n in found.missing)]),
    Folds: Rule(of_folds),
    FactorCoding: Rule(of_factor, "matrix lc"),
    FormulaDesign: Rule(of_design),
    FrameDesign: Rule(of_design),
    KernelFunction: Rule(of_kernel),
    KernelProblem: Rule(of_problem, EACH_ROW, hints=OF_ROWS),
    KernelResults: Rule(of_kernel_fit, prepared=without_rows, computed=COMPUTED),
    KernelSolution: Rule(
        lambda found: [found.dual is None or (found.dual >= 0.0).all()],
        "counts n, g n, dual n",
    ),
    LabelCoding: Rule(of_coding),
    LinearResults: Rule(
        of_linear, "_spread p, constants p", without_rows, COMPUTED_LINEAR
    ),
    MissingRows: Rule(of_missing_rows, "rows r, values rp", MissingRows.of),
    Offset: Rule(of_offset),
    Problem: Rule(of_problem, EACH_ROW, hints=OF_ROWS),
    Reliability: Rule(of_reliability, later=(*Recalibration._fields, "ici")),
    SavedModel: Rule(of_model, "kept m"),
    ScaledDesign: Rule(of_scaled),
    Scaling: Rule(shapes="centre p, scale p"),
    ScoredLabels: Rule(
        lambda scored: [are_shares(scored.probabilities)],
        "codes n, scores n, probabilities nk, weights n",
    ),
    OptimalityBounds: Rule(lambda near: [near.at_least <= near.at_most]),
    Solution: Rule(shapes="beta p, dual n"),
    Split: Rule(of_split, "test t, given g"),
}
