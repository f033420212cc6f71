"""What objects from a file have to hold beyond their types: one check for each class.

Each raises ValueError, of which `archive.opened` makes the sentence that the file is
damaged. What the classes check themselves when they are made is not repeated.
"""

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Matrix
from pegasos_stats.data.counts import Counts
from pegasos_stats.data.design import Design, FrameDesign
from pegasos_stats.data.formula_design import FormulaDesign
from pegasos_stats.data.groups import Groups
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.offset import Offset
from pegasos_stats.data.sample import Dropped
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.errors import plain
from pegasos_stats.metrics.inputs import positive_position
from pegasos_stats.metrics.matrix import ConfusionMatrix
from pegasos_stats.models.inference.covariance import (
    BootstrapResult,
    Covariance,
    Estimate,
)
from pegasos_stats.models.inference.options import Bootstrap, Cluster, CovType
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import Results
from pegasos_stats.persist.codec import RULES, Rule
from pegasos_stats.persist.fits import (
    COMPUTED,
    COMPUTED_LINEAR,
    MISSING_ROWS,
    SIGNS,
    SPEC,
    MissingRows,
    SavedModel,
    check_formula,
    check_offset,
    check_outcome,
    formula_saved,
    without_rows,
)
from pegasos_stats.solvers.kernel_problem import (
    KernelFunction,
    KernelProblem,
    checked_kernel,
    multiples,
)
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.orders import check_rows
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.shortfall import Shortfall
from pegasos_stats.studies.calibrated_results import CalibratedResults
from pegasos_stats.studies.reliability import Reliability
from pegasos_stats.studies.selection.folds import Folds, Split

SHA256 = re.compile("[0-9a-f]{64}")
RULES_OF_LEVELS = ("factor", "first-seen", "explicit")
ROUNDING = 1e-6  # of weights, whose mean is 1, summed in another order
SAME_SUM = 1e-9  # relative, of the weights of both classes, to rounding
LARGEST_SEED = 2**31 - 1
LARGEST = 1e300  # of a number, whose products with others would overflow
ROUNDED = 1e-6  # of the largest number of a matrix
SLACK = 1e-6  # relative, of an objective, for its rounding
FEW_ROWS, FEWEST = 2**16, 0.01  # of folds: rows, and the share that they name of more
TRACE = {
    "epoch": "i8",
    "steps": "i8",
    "objective": "f8",
    "gap": "f8",
    "violations": "i8",
    "training_error": "f8",
    "test_error": "f8",
    "cpu_seconds": "f8",
}


def _require(good: object, problem: str) -> None:
    """Raise ValueError unless something is so."""
    if not good:
        raise ValueError(problem)


def check_missing_rows(X: MissingRows) -> None:
    """Rows are within their shape, in rising order, and finite."""
    n, p = X.shape
    _require(n >= 1 and p >= 1, f"the rows have the shape {X.shape}")
    _require(X.digest is None or SHA256.fullmatch(X.digest), "the digest is none")
    rows, size = X.rows.tolist(), (len(X.rows), p if len(X.rows) else 0)
    rising = all(low < high for low, high in pairwise([-1, *rows, n]))
    _require(X.rows.ndim == 1 and rising, "support rows are not in order")
    _require(X.values.shape == size, f"support rows have the shape {X.values.shape}")
    _require(np.isfinite(X.values).all(), "a support row is not finite")


def check_problem(problem: Problem) -> None:
    """Labels, weights and offsets are of the rows, and lambda is above zero."""
    n, y, weights = problem.n, problem.y, problem.weights
    _require(0.0 < problem.lam < np.inf, f"lambda is {problem.lam}")
    for name in ("y", "weights", "offset"):
        array = getattr(problem, name)
        _require(array is None or array.shape == (n,), f"{name} is not of {n} rows")
    if problem.offset is not None:
        _require(np.isfinite(problem.offset).all(), "an offset is not finite")
    if weights is not None:
        good = (weights >= 0.0).all() and abs(weights.mean() - 1.0) <= ROUNDING
        _require(good, "weights do not have the mean 1")
    if problem.balanced:
        w = np.ones(n) if weights is None else weights
        each = [w[y < 0.0], w[y > 0.0]]
        low, high = (float(found.sum()) for found in each)
        good = all(np.ptp(found) == 0.0 for found in each)
        _require(
            good and abs(high - low) <= SAME_SUM * high, "weights are not balanced"
        )


def check_kernel_problem(problem: KernelProblem) -> None:
    """As for other problems, and the kernel is one that a model may have."""
    check_problem(problem)
    _require(problem.loss == "hinge", f"a kernel machine has the loss {problem.loss}")
    _require(problem.memory >= 1, f"memory is {problem.memory}")


def check_kernel(kernel: KernelFunction) -> None:
    """It has the parameters of its name, and they are allowed."""
    given = kernel.degree, kernel.offset, kernel.gamma
    same = checked_kernel(kernel.name, *given, X=np.ones((1, 1))) == kernel
    _require(same, f"no kernel is {kernel}")


def check_coding(coding: LabelCoding) -> None:
    """Labels are coded and given back."""
    _require(coding.rule in RULES_OF_LEVELS, f"the rule of levels is {coding.rule!r}")
    pair = coding.decode(np.array([-1.0, 1.0]))
    known = [plain(level) for level in pair] == list(coding.levels)
    same = known and coding.encode(pair).tolist() == [-1.0, 1.0]
    _require(same, f"{coding.levels!r} are not two levels of type {coding.dtype}")
    coding.encode(coding.decode(np.array([np.nan, 1.0])))
    hash(str(coding.levels))  # an impossible date has no text


def check_design(design: Design) -> None:
    """Coefficients have names of their own."""
    names = design.names
    good = len(set(names)) == len(names) and "Intercept" not in names
    _require(good, "two coefficients have one name")


def check_frame_design(design: FrameDesign) -> None:
    """As for all designs; and the formula, if there is one, computes with columns."""
    check_design(design)
    check_outcome(design.formula, design.columns, design.functions)


def check_formula_design(design: FormulaDesign) -> None:
    """As for all designs; and the formula is of the language."""
    check_design(design)
    check_formula(design)


def check_scaled(design: ScaledDesign) -> None:
    """It is scaled once, by finite numbers, and scales are above zero."""
    _require(not isinstance(design.design, ScaledDesign), "predictors are scaled twice")
    centre, scale = design.scaling.centre, design.scaling.scale
    for numbers in (centre, scale):
        good = numbers.shape == (len(design.names),) and np.isfinite(numbers).all()
        _require(good, f"the scales have shape {numbers.shape}")
    _require((scale > 0.0).all(), "the scales are not above zero")


def check_dropped(dropped: Dropped) -> None:
    """Numbers of rows are not below zero."""
    counts = [dropped.outcome, dropped.predictors, *(n for _, n in dropped.missing)]
    _require(min(counts) >= 0, f"rows left out are {counts}")


def check_counts(counts: Counts) -> None:
    """There is a line."""
    _require(counts.lines >= 1, f"lines are {counts.lines}")


def check_certificate(found: Certificate) -> None:
    """Its lower bound is not above the objective."""
    objective, dual = found.objective, found.dual_objective
    ordered = 0.0 <= objective < np.inf and -np.inf < dual <= objective
    _require(ordered, f"the objective is {objective}, its lower bound {dual}")
    _require(found.rounding >= 0.0, f"the rounding is {found.rounding}")
    counts = (found.errors, *found.at_zero)
    _require(min(counts) >= 0, f"the certificate counts {counts}")


def check_shortfall(found: Shortfall) -> None:
    """Bounds are in order, and counts not below zero."""
    bounds = found.at_least, found.at_most
    ordered = 0.0 <= bounds[0] <= bounds[1] and found.lower >= 0.0
    _require(ordered, f"the objective is from {bounds} above its minimum")
    counts = found.changed, found.errors
    _require(min(counts) >= 0, f"the bounds count {counts}")


def check_covariance(found: Covariance) -> None:
    """Numbers are those of a sandwich."""
    k = len(found.matrix)
    _check_shapes(found, k, matrix=2, bread=2, newton_step=1, fixed=2)
    _require(found.prior is None or found.prior.shape == (k + 1,), "priors are not k")
    undefined = np.isnan(found.matrix).all()
    for name in ("matrix", "bread"):
        good = undefined or np.isfinite(getattr(found, name)).all()
        _require(good, f"the {name} of the covariance is not finite")
    for square in (found.matrix, found.fixed):
        if square is not None and np.isfinite(square).all():
            _check_variances(square)
    width = found.bandwidth
    good = width is None or (0.0 <= width < np.inf and (width > 0.0 or undefined))
    _require(good, f"the width is {width}")
    _require(found.df > 0.0, f"df is {found.df}")
    _require(found.rows >= 0.0, f"it is worth {found.rows} rows")
    _check_separated(found, k)


def check_bootstrap(found: BootstrapResult) -> None:
    """Numbers are those of a bootstrap."""
    m, k = len(found.estimates), len(found.estimate)
    _check_shapes(found, k, estimate=1, covariance=2, tolerance=1, reference=2)
    for name, shape in (("estimates", (m, k)), ("fixed", (m, k)), ("priors", (m,))):
        array = getattr(found, name)
        good = array is None or array.shape == shape
        _require(good, f"{name} of {m} resamples have another shape")
    for name in ("estimate", "estimates", "covariance", "reference"):
        array = getattr(found, name)
        good = array is None or np.isfinite(array).all()
        _require(good, f"the {name} of a resample is not finite")
    _check_variances(found.covariance)
    _require(found.n_left_out >= 0, f"{found.n_left_out} resamples were left out")
    left, asked = found.n_left_out + m, found.options.replicates
    _require(left == asked, f"{left} of {asked} resamples are there")
    _require(abs(found.seed) <= LARGEST_SEED, f"the seed is {found.seed}")
    _require(0.0 <= found.agreeing <= 1.0, f"{found.agreeing} is no share")
    _check_separated(found, k)


def _check_shapes(found: Estimate, k: int, **dimensions: int) -> None:
    """Raise ValueError for arrays that are not of k coefficients."""
    for name, number in dimensions.items():
        array = getattr(found, name)
        good = array is None or array.shape == (k,) * number
        _require(good, f"the {name} of {k} coefficients has another shape")


def _check_variances(matrix: Matrix) -> None:
    """Raise ValueError for a matrix that is not symmetric, or variances below zero.

    Its other eigenvalues may be below zero: of two kinds of groups it is a difference.
    """
    largest = np.abs(matrix).max(initial=0.0)
    _require(largest <= LARGEST, f"a covariance is {largest:g}")
    _require((np.diag(matrix) >= -ROUNDED * largest).all(), "a variance is below zero")
    apart = np.abs(matrix / 2.0 - matrix.T / 2.0)
    _require((apart <= ROUNDED * largest).all(), "a covariance is not symmetric")


def _check_separated(found: Estimate, k: int) -> None:
    """Raise ValueError for directions that are no numbers, or without a reason."""
    free, alike = (
        np.zeros((k, 0)) if each is None else each
        for each in (found.unbounded, found.collinear)
    )
    for directions in (free, alike):
        good: object = directions.ndim == 2 and len(directions) == k
        good = good and np.isfinite(directions).all() and directions.any(axis=0).all()
        _require(good, "a direction is 0, not finite, or of other coefficients")
    _require(found.separated >= 0, f"{found.separated} rows are separated")
    good = free.size if found.separated else alike.size or not free.size
    _require(good, "rows are separated by no direction")


def check_fit(result: Results, computed: tuple[str, ...]) -> None:
    """What fits of all kinds have, field by field and together."""
    problem, solver, found = result.problem, result.solver, result.solution
    n, at = problem.n, result.certificate
    missing = set(computed) - set(vars(result)) - {"estimated"}
    _require(not missing, f"it has no {', '.join(sorted(missing))}")
    _require(result.index.equals(pd.RangeIndex(n)), "its labels are others")
    _require((result.offsets is None) == (problem.offset is None), "an offset is lost")
    _require(abs(found.alpha) <= LARGEST, f"the intercept is {found.alpha:g}")
    free = problem.intercept or found.alpha == 0.0
    _require(free, f"there is no intercept and it is {found.alpha}")
    counts = found.n_iter, found.n_violations, found.n_epochs or 0
    _require(min(counts) >= 0, f"steps, violations and epochs are {counts}")
    drawn = solver.uses_random_numbers or result.refinement is not None
    seed = found.seed
    good = not drawn if seed is None else abs(seed) <= LARGEST_SEED
    _require(good, f"the seed is {seed}")
    refined = result.refinement is not None and solver.to_optimum
    _require(not refined, f"{type(solver).__name__} is refined")
    if isinstance(solver, Pegasos):
        check_rows(solver.order, n)
        size = getattr(solver.start, "size", None)
        width = problem.p + problem.intercept
        _require(size in (None, width), f"the start has {size} numbers")
    seconds = result.seconds
    _require(seconds is None or 0.0 <= seconds < np.inf, f"the run took {seconds} s")
    _require(at.errors + sum(at.at_zero) <= n, f"the certificate counts more than {n}")
    near = result.shortfall
    _require(near.upper <= at.objective, "a better fit has a higher objective")
    _require(max(near.changed, near.errors) <= n, f"the bounds count more than {n}")
    _require(result._on_predictors[0] >= 0.0, "predictors move scores by less than 0")
    _check_table(result.training_table, result.coding, problem)
    _check_trace(result.trace)


def _check_table(table: ConfusionMatrix, coding: LabelCoding, problem: Problem) -> None:
    """Counts are those of the training rows; those of weight 0 may be among them."""
    y = problem.y
    weighed = y if problem.weights is None else y[problem.weights > 0.0]
    there = [[int((v == sign).sum()) for sign in (-1.0, 1.0)] for v in (y, weighed)]
    good = table.counts.sum(axis=1).tolist() in there and table.source == "training"
    good = good and table.levels == coding.levels and table.scored is None
    _require(good, f"the training table is not of {there[0]} rows")


def _check_trace(trace: Any) -> None:
    if trace is None or not len(trace.columns):
        return
    names = [*trace.columns]
    whole = [n for n in TRACE if n != "test_error" or n in names]
    types = [dtype.str[1:] for dtype in trace.dtypes]
    good = names == whole and types == [TRACE[name] for name in names]
    _require(good, f"the trace has the columns {names}")


def check_linear(result: LinearResults) -> None:
    """A linear fit: coefficients, dual weights, covariance, groups."""
    check_fit(result, COMPUTED_LINEAR)
    problem, found, p = result.problem, result.solution, result.problem.p
    _require(len(result.design.names) == p, f"{p} columns have other names")
    good = found.beta.shape == (p,) and found.dual.shape == (problem.n,)
    _require(good, "coefficients or dual weights have another shape")
    _require(np.isfinite(found.dual).all(), "a dual weight is not finite")
    at = result.certificate
    with np.errstate(over="ignore"):
        penalty = problem.lam / 2.0 * float(found.beta @ found.beta)
    most = (at.objective + at.rounding) * (1.0 + SLACK)
    _require(penalty <= most, f"the penalty is {penalty}, and the objective {most}")
    known = vars(result)
    spread, constants = known["_spread"], known["constants"]
    good = spread.shape == constants.shape == (p,) and (spread >= 0.0).all()
    _require(good, "deviations of the columns are none")
    options = result.errors_by
    _require(options == known["cov_type"], "it has two kinds of standard errors")
    _check_groups(result.groups, known["cov_type"])
    estimated = known.get("estimated")
    if estimated is None:
        return
    _require(
        len(estimated.matrix) == p + problem.intercept, "a covariance is of others"
    )
    resampled = isinstance(estimated, BootstrapResult)
    good = estimated.options == options if resampled else options is not None
    good = good and resampled == isinstance(options, Bootstrap)
    _require(good, f"a {type(estimated).__name__} is estimated by {options}")


def _check_groups(groups: Groups | None, options: CovType) -> None:
    if groups is None:
        _require(not isinstance(options, Cluster), "clusters have no groups")
        return
    ways = len(groups.numbers)
    most = {Cluster: 2, Bootstrap: 1}.get(type(options), 0)
    good = 0 < ways <= most and ways == len(groups.names) and not groups.codes
    _require(good and min(groups.numbers) >= 2, f"groups are {groups.numbers}")


def check_kernel_fit(result: KernelResults) -> None:
    """A kernel fit: counts or dual weights, support rows or columns."""
    check_fit(result, COMPUTED)
    problem, found, n = result.problem, result.solution, result.problem.n
    is_optimum = (result.refinement or result.solver).to_optimum
    each = found.dual if is_optimum else found.counts
    other = found.counts if is_optimum else found.dual
    _require(each is not None and other is None, "it has no counts or dual weights")
    assert each is not None
    good: object = each.shape == found.g.shape == (n,) and (each >= 0).all()
    good = good and np.isfinite(each).all() and (is_optimum or found.n_iter >= 1)
    _require(good, "a count or dual weight is below zero, or not one for each row")
    check_columns(problem, result.columns, result.design)
    rows = np.flatnonzero(multiples(problem, found)[0])
    stored = len(problem.X.rows) if result.columns is None else len(rows)
    same = stored == len(rows) and (
        result.columns is not None or (problem.X.rows == rows).all()
    )
    _require(same, "support rows are others")


def check_columns(problem: Problem, columns: Any, design: Design) -> None:
    """Columns are named; of a precomputed kernel those of the rows are known."""
    width, n = len(design.names), problem.n
    kernel = getattr(problem, "kernel", None)
    if kernel is None or kernel.name != "precomputed":
        _require(columns is None and width == problem.p, f"{width} names are too many")
        return
    good = columns is not None and columns.shape == (n,) and problem.p == n
    good = good and (columns >= 0).all() and (columns < width).all()
    _require(good and len(np.unique(columns)) == n, f"columns are not {n} of {width}")


def check_model(saved: SavedModel) -> None:
    """A model: its rows have labels, and its columns names."""
    n = saved.problem.n
    _require(len(saved.index) == n, f"there are {len(saved.index)} labels of {n} rows")
    _require(saved.kept.ndim == 1, "rows that are kept have another shape")
    same = (saved.offsets is None) == (saved.problem.offset is None)
    _require(same, "an offset is lost")
    check_columns(saved.problem, saved.columns, saved.design)


def check_split(split: Split) -> None:
    """Rows are there."""
    for rows in (split.test, split.given):
        good = rows is None or (
            rows.ndim == 1 and ((rows >= 0) & (rows < split.n)).all()
        )
        _require(good, f"a fold has rows beyond the {split.n} that there are")


def check_folds(folds: Folds) -> None:
    """Folds are of the same rows, and of some."""
    n, repeats = folds.n, [split.repeat for split in folds.splits]
    good = repeats and all(split.n == n for split in folds.splits)
    named = sum(len(split.test) for split in folds.splits)
    _require(good and named >= FEWEST * (n - FEW_ROWS), f"folds are not of {n} rows")
    good = repeats == sorted(repeats) and {*repeats} == {*range(1, repeats[-1] + 1)}
    _require(good, f"folds are of the repeats {repeats[:10]}")
    groups = folds.groups
    _require(groups is None or groups.shape == (n,), "groups are of other rows")


def check_matrix(matrix: ConfusionMatrix) -> None:
    """A table fits its levels, and its rows their scores."""
    k, counts = len(matrix.levels), matrix.counts
    good: object = k >= 2 and counts.shape == (k, k + 1) and (counts >= 0).all()
    _require(good, f"a table of {k} levels has the shape {counts.shape}")
    positive_position(matrix.levels, matrix.choices.positive)
    scored = matrix.scored
    if scored is None:
        return
    n, codes, weights = scored.codes.size, scored.codes, scored.weights
    good = codes.ndim == 1 and ((codes >= -1) & (codes < k)).all()
    _require(good, f"rows are of other levels than {k}")
    for array in (scored.scores, weights):
        good = array is None or array.shape == (n,)
        _require(good, f"{n} rows have other scores or weights")
    good = weights is None or ((weights >= 0.0) & (weights < np.inf)).all()
    _require(good, "rows have weights that are none")
    if scored.probabilities is not None:
        shape = scored.probabilities.shape
        _require(shape == (n, k), f"probabilities have the shape {shape}")
        _check_shares(scored.probabilities)


def check_reliability(found: Reliability) -> None:
    """A table has its columns, of numbers."""
    bins = "low", "high", "n", "mean_predicted", "observed", "conf_low", "conf_high"
    _require(
        tuple(found.table.columns) == bins, "a reliability table has other columns"
    )
    are_numbers = all(getattr(d, "kind", "") in "iuf" for d in found.table.dtypes)
    _require(are_numbers, "a reliability table has columns that are no numbers")
    n, shares = found.table["n"], found.table.drop(columns="n").to_numpy(np.float64)
    good = ((n >= 0) & (n < np.inf) & (n % 1 == 0)).all()
    _require(good, "a reliability table has numbers of rows that are none")
    _check_shares(shares)


def _check_shares(shares: Matrix) -> None:
    """Raise ValueError for a share that is neither missing nor from 0 to 1."""
    beyond = ((shares < 0.0) | (shares > 1.0)).any()
    _require(not beyond, "a share or probability is not from 0 to 1")


def with_losses(found: CalibratedResults) -> CalibratedResults:
    """A calibrated fit that knows its losses, which need the training rows."""
    assert found._losses is not None
    return found


OF_ROWS = {"X": MISSING_ROWS, "y": SIGNS}
RULES |= {
    BootstrapResult: Rule(check_bootstrap),
    CalibratedResults: Rule(prepared=with_losses, computed=("_losses",)),
    Certificate: Rule(check_certificate),
    ConfusionMatrix: Rule(check_matrix),
    Counts: Rule(check_counts),
    Covariance: Rule(check_covariance),
    Dropped: Rule(check_dropped),
    Folds: Rule(check_folds),
    FormulaDesign: Rule(check_formula_design, formula_saved, hints={"spec": SPEC}),
    FrameDesign: Rule(check_frame_design),
    KernelFunction: Rule(check_kernel),
    KernelProblem: Rule(check_kernel_problem, hints=OF_ROWS),
    KernelResults: Rule(check_kernel_fit, without_rows, COMPUTED),
    LabelCoding: Rule(check_coding),
    LinearResults: Rule(check_linear, without_rows, COMPUTED_LINEAR),
    MissingRows: Rule(check_missing_rows),
    Offset: Rule(check_offset),
    Problem: Rule(check_problem, hints=OF_ROWS),
    Reliability: Rule(check_reliability),
    SavedModel: Rule(check_model),
    ScaledDesign: Rule(check_scaled),
    Shortfall: Rule(check_shortfall),
    Split: Rule(check_split),
}
