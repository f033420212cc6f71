"""What objects from a file have to hold beyond their types: one check for each class.

Each raises ValueError, of which `archive.opened` makes the sentence that the file is
damaged. What the classes check themselves when they are made is not repeated.
"""

import re
from itertools import pairwise

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Matrix
from pegasos_stats.data.design import Design, FrameDesign
from pegasos_stats.data.groups import Groups
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.language.design import FormulaDesign
from pegasos_stats.data.language.term_coding import FactorCoding
from pegasos_stats.data.sample import Dropped
from pegasos_stats.data.scaling import ScaledDesign, Scaling
from pegasos_stats.data.weights import Counts, Offset
from pegasos_stats.errors import plain
from pegasos_stats.metrics.inputs import positive_position
from pegasos_stats.metrics.matrix import ConfusionMatrix
from pegasos_stats.metrics.scores import Scored
from pegasos_stats.models.inference.covariance import (
    BootstrapResult,
    Covariance,
    Estimate,
)
from pegasos_stats.models.inference.options import Bootstrap, Cluster, CovType
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import Results
from pegasos_stats.persist.archive import Value
from pegasos_stats.persist.codec import RULES, Rule
from pegasos_stats.persist.fits import (
    COMPUTED,
    COMPUTED_LINEAR,
    MISSING_ROWS,
    SIGNS,
    MissingRows,
    SavedModel,
    check_formula,
    check_offset,
    check_outcome,
    without_rows,
)
from pegasos_stats.solvers.kernel_problem import (
    KernelFunction,
    KernelProblem,
    KernelSolution,
    checked_kernel,
    multiples,
)
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.orders import check_rows
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.shortfall import Shortfall
from pegasos_stats.studies.calibration import CalibratedResults
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
    """Rows are within their shape, in rising order, and known by a digest."""
    n, p = X.shape
    _require(X.digest is None or SHA256.fullmatch(X.digest), "the digest is none")
    rising = all(low < high for low, high in pairwise([-1, *X.rows.tolist(), n]))
    _require(rising, "support rows are not in order")
    size = (len(X.rows), p if len(X.rows) else 0)
    _require(X.values.shape == size, f"support rows have the shape {X.values.shape}")


def check_problem(problem: Problem) -> None:
    """There is a label for each row; weights have the mean 1, balanced ones balance."""
    y, weights = problem.y, problem.weights
    _require(len(y) == problem.n, f"there are {len(y)} labels of {problem.n} rows")
    if weights is not None:
        near = abs(weights.mean() - 1.0) <= ROUNDING
        _require(near, "weights do not have the mean 1")
    if problem.balanced:
        w = np.ones(len(y)) if weights is None else weights
        each = [w[y < 0.0], w[y > 0.0]]
        low, high = (float(found.sum()) for found in each)
        good = all(np.ptp(found) == 0.0 for found in each)
        _require(
            good and abs(high - low) <= SAME_SUM * high, "weights are not balanced"
        )
    is_kernel = isinstance(problem, KernelProblem)
    _require(not is_kernel or problem.loss == "hinge", "a kernel has another loss")


def check_kernel(kernel: KernelFunction) -> None:
    """It has the parameters of its name, and they are allowed."""
    same = (
        checked_kernel(
            kernel.name, kernel.degree, kernel.offset, kernel.gamma, X=np.ones((1, 1))
        )
        == kernel
    )
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


def check_factor(coding: FactorCoding) -> None:
    """Levels differ, and each column has a name."""
    levels, names = coding.levels, coding.names
    shape = (len(levels), len(names))
    if coding.matrix is None:
        good = len(names) in (0, len(levels) - 1) and coding.base in range(len(levels))
    else:
        good = coding.matrix.shape == shape and bool(np.isfinite(coding.matrix).all())
    _require(good and len(set(levels)) == len(levels), "a factor has other contrasts")


def check_scaled(design: ScaledDesign) -> None:
    """It is scaled once, each column."""
    _require(not isinstance(design.design, ScaledDesign), "predictors are scaled twice")
    size = len(design.scaling.centre)
    _require(size == len(design.names), f"there are scales of {size} columns")


def check_dropped(dropped: Dropped) -> None:
    """Numbers of missing values are above zero."""
    _require(all(n > 0 for _, n in dropped.missing), "a column lacks less than nothing")


def check_certificate(found: Certificate) -> None:
    """Its lower bound is not above the objective."""
    ordered = found.dual_objective <= found.objective
    _require(ordered, f"the objective {found.objective} is below its bound")


def check_shortfall(found: Shortfall) -> None:
    """Bounds are in order."""
    ordered = found.at_least <= found.at_most
    _require(ordered, f"the distance is {found.at_least} and more")


def check_covariance(found: Covariance) -> None:
    """Numbers are those of a sandwich, or it is not defined."""
    k, undefined = len(found.matrix), np.isnan(found.matrix).all()
    _require(found.prior is None or found.prior.shape == (k + 1,), "priors are not k")
    for name in ("matrix", "bread"):
        good = undefined or np.isfinite(getattr(found, name)).all()
        _require(good, f"the {name} of the covariance is not finite")
    for square in (found.matrix, found.fixed):
        if square is not None and np.isfinite(square).all():
            _check_variances(square)
    _require(found.bandwidth != 0.0 or undefined, "the width is 0")
    _require(found.df > 0.0, f"df is {found.df}")
    _check_separated(found)


def check_bootstrap(found: BootstrapResult) -> None:
    """Numbers are those of a bootstrap."""
    _check_variances(found.covariance)
    left = found.n_left_out + len(found.estimates)
    asked = found.options.replicates
    _require(left == asked, f"{left} of {asked} resamples are there")
    _check_separated(found)


def _check_variances(matrix: Matrix) -> None:
    """Raise ValueError for a matrix that is not symmetric, or variances below zero.

    Its other eigenvalues may be below zero: of two kinds of groups it is a difference.
    """
    largest = np.abs(matrix).max(initial=0.0)
    _require(largest <= LARGEST, f"a covariance is {largest:g}")
    _require((np.diag(matrix) >= -ROUNDED * largest).all(), "a variance is below zero")
    apart = np.abs(matrix / 2.0 - matrix.T / 2.0)
    _require((apart <= ROUNDED * largest).all(), "a covariance is not symmetric")


def _check_separated(found: Estimate) -> None:
    """Raise ValueError for directions that are 0, or without a reason."""
    free, alike = (
        np.zeros((1, 0)) if each is None else each
        for each in (found.unbounded, found.collinear)
    )
    _require(free.any(axis=0).all() and alike.any(axis=0).all(), "a direction is 0")
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
    free = problem.intercept or found.alpha == 0.0
    _require(free, f"there is no intercept and it is {found.alpha}")
    drawn = solver.uses_random_numbers or result.refinement is not None
    _require(found.seed is not None or not drawn, "the seed is not there")
    refined = result.refinement is not None and solver.to_optimum
    _require(not refined, f"{type(solver).__name__} is refined")
    if isinstance(solver, Pegasos):
        check_rows(solver.order, n)
        size = getattr(solver.start, "size", None)
        width = problem.p + problem.intercept
        _require(size in (None, width), f"the start has {size} numbers")
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


def _check_trace(trace: Value) -> None:
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
    sizes = len(found.beta), len(found.dual)
    _require(sizes == (p, problem.n), f"coefficients and dual weights are {sizes}")
    at = result.certificate
    with np.errstate(over="ignore"):
        penalty = problem.lam / 2.0 * float(found.beta @ found.beta)
    most = (at.objective + at.rounding) * (1.0 + SLACK)
    _require(penalty <= most, f"the penalty is {penalty}, and the objective {most}")
    known = vars(result)
    _require(len(known["_spread"]) == p, "deviations are not of all columns")
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
    _require(good, f"groups are {groups.numbers}")


def check_kernel_fit(result: KernelResults) -> None:
    """A kernel fit: counts or dual weights, support rows or columns."""
    check_fit(result, COMPUTED)
    problem, found, n = result.problem, result.solution, result.problem.n
    is_optimum = (result.refinement or result.solver).to_optimum
    each = found.dual if is_optimum else found.counts
    other = found.counts if is_optimum else found.dual
    _require(each is not None and other is None, "it has no counts or dual weights")
    assert each is not None
    _require(len(each) == n, f"counts or dual weights are {len(each)} of {n} rows")
    _require(is_optimum or found.n_iter >= 1, "there are counts without a step")
    check_columns(problem, result.columns, result.design)
    rows = np.flatnonzero(multiples(problem, found)[0])
    stored = len(problem.X.rows) if result.columns is None else len(rows)
    same = stored == len(rows) and (
        result.columns is not None or (problem.X.rows == rows).all()
    )
    _require(same, "support rows are others")


def check_columns(problem: Problem, columns: Value, design: Design) -> None:
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
    same = (saved.offsets is None) == (saved.problem.offset is None)
    _require(same, "an offset is lost")
    check_columns(saved.problem, saved.columns, saved.design)


def check_split(split: Split) -> None:
    """Rows are there."""
    for rows in (split.test, split.given):
        good = rows is None or rows.max(initial=0) < split.n
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
    good = k >= 2 and counts.shape == (k, k + 1) and (counts >= 0).all()
    _require(good, f"a table of {k} levels has the shape {counts.shape}")
    positive_position(matrix.levels, matrix.choices.positive)
    if matrix.scored is not None:
        p, codes = matrix.scored.probabilities, matrix.scored.codes
        _require(codes.max(initial=-1) < k, f"rows are of other levels than {k}")
        _require(p is None or p.shape[1] == k, f"probabilities are not of {k} levels")


def check_scored(scored: Scored) -> None:
    """Probabilities are shares."""
    if scored.probabilities is not None:
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


MOST = float(np.finfo(np.float64).max)
FINITE, COUNT, POSITIVE = (-MOST, MOST), (0.0, MOST), (5e-324, MOST)
NOT_NEGATIVE, SHARE, ONE_OR_MORE = (0.0, np.inf), (0.0, 1.0), (1.0, MOST)
MODEST, SEED = (-LARGEST, LARGEST), (-LARGEST_SEED, LARGEST_SEED)
OF_RUN = {MODEST: "alpha", SEED: "seed"}
STEPS = "n_iter n_violations n_epochs"
OF_PROBLEM = {POSITIVE: "lam", COUNT: "weights", FINITE: "offset"}
EACH_ROW = "y n, weights n, offset n"
OF_ROWS = {"X": MISSING_ROWS, "y": SIGNS}
RULES |= {
    BootstrapResult: Rule(
        check_bootstrap,
        "estimate k, estimates mk, covariance kk, tolerance k, fixed mk, reference kk, "
        "priors m, unbounded kq, collinear kr",
        {
            FINITE: "estimate estimates reference unbounded collinear",
            COUNT: "n_left_out separated",
            SEED: "seed",
            SHARE: "agreeing",
        },
    ),
    CalibratedResults: Rule(prepared=with_losses, computed=("_losses",)),
    Certificate: Rule(
        check_certificate,
        bounds={
            COUNT: "objective errors at_zero",
            FINITE: "dual_objective",
            NOT_NEGATIVE: "rounding",
        },
    ),
    ConfusionMatrix: Rule(check_matrix),
    Counts: Rule(bounds={ONE_OR_MORE: "lines"}),
    Covariance: Rule(
        check_covariance,
        "matrix kk, bread kk, newton_step k, fixed kk, unbounded kq, collinear kr",
        {
            FINITE: "unbounded collinear",
            COUNT: "separated bandwidth",
            NOT_NEGATIVE: "rows",
        },
    ),
    Dropped: Rule(check_dropped, bounds={COUNT: "outcome predictors"}),
    Folds: Rule(check_folds),
    FactorCoding: Rule(check_factor, "matrix lc"),
    FormulaDesign: Rule(check_formula_design),
    FrameDesign: Rule(check_frame_design),
    Groups: Rule(bounds={(2.0, MOST): "numbers"}),
    KernelFunction: Rule(check_kernel),
    KernelProblem: Rule(
        check_problem, EACH_ROW, OF_PROBLEM | {ONE_OR_MORE: "memory"}, hints=OF_ROWS
    ),
    KernelResults: Rule(
        check_kernel_fit,
        bounds={COUNT: "seconds"},
        prepared=without_rows,
        computed=COMPUTED,
    ),
    KernelSolution: Rule(
        shapes="counts n, g n, dual n",
        bounds=OF_RUN | {FINITE: "g", COUNT: f"{STEPS} counts dual"},
    ),
    LabelCoding: Rule(check_coding),
    LinearResults: Rule(
        check_linear,
        "_spread p, constants p",
        {COUNT: "seconds", NOT_NEGATIVE: "_spread"},
        without_rows,
        COMPUTED_LINEAR,
    ),
    MissingRows: Rule(
        check_missing_rows,
        "rows r, values rp",
        {ONE_OR_MORE: "shape", FINITE: "values"},
    ),
    Offset: Rule(check_offset),
    Problem: Rule(check_problem, EACH_ROW, OF_PROBLEM, hints=OF_ROWS),
    Reliability: Rule(check_reliability),
    SavedModel: Rule(check_model, "kept m"),
    ScaledDesign: Rule(check_scaled),
    Scaling: Rule(
        shapes="centre p, scale p", bounds={FINITE: "centre", POSITIVE: "scale"}
    ),
    Scored: Rule(
        check_scored,
        "codes n, scores n, probabilities nk, weights n",
        {(-1.0, MOST): "codes", COUNT: "weights"},
    ),
    Shortfall: Rule(
        check_shortfall, bounds={NOT_NEGATIVE: "at_least lower changed errors"}
    ),
    Solution: Rule(
        shapes="beta p, dual n", bounds=OF_RUN | {COUNT: STEPS, FINITE: "beta dual"}
    ),
    Split: Rule(check_split, "test t, given g", {COUNT: "test given"}),
}
