"""The default solver: its options, and the method for each kind of problem.

=====================================  ================================================
Problem                                Method, file
=====================================  ================================================
``lam = 0``                            Newton, ``maximum_likelihood``
``penalty="firth"``                    Fisher scoring, ``firth``
kernel                                 SMO on working sets, ``kernel_ascent``
rows in files, Dask: hinge             proximal Newton on the active rows, which one
                                       pass stores; before, Newton on a smoothed hinge
                                       (``streamed/hinge``, ``streamed/few_reads``)
rows in files, Dask: other losses      Newton, one pass a step, from the solution of a
                                       sample (``streamed/few_reads``)
hinge, dense, ``n < 2 p``,             SMO on the Gram matrix, ``wide``
``n <= 4000``, no offset
``n < p``, or hinge, dense,            dual coordinate ascent, ``wide``
``n < 2 p``; no offset
hinge, dense, ``n >= 60 p``,           proximal Newton on the active rows,
``n p >= 2^17``, 5% of each class      ``hinge_proximal``
hinge                                  proximal Newton, ``hinge_proximal``
log, squared hinge, ``n >= 4000``,     L-BFGS with the Hessian of a sample,
10 sampled rows per column             ``smooth_newton``
log, squared hinge, dense,             L-BFGS with the diagonal of the Hessian, then
60 columns or more                     Newton, ``smooth_newton``
log, squared hinge                     Newton, ``smooth_newton``
=====================================  ================================================

The first matching line applies; the first line also applies to rows in files. `lam` is
the penalty of the fit: with the log loss the default is 0 if the maximum likelihood
estimate exists, else 1/n. `Problem.with_best_storage` decides whether rows are dense.
With more than 150 dense columns, conjugate gradients compute the Newton steps of smooth
losses.

`first_method` starts a run. If a method has stalled, `next_method` continues with SMO,
interior points (small problems) or Newton steps over all rows. The next table lists
milliseconds to a relative gap of 1e-6 on one thread (``benchmarks/methods.py``): first
with the method of the table above, then with Newton steps over all rows from the null
model.

===================================  ======  ===========================================
hinge, 300 x 3,000                       16  151
hinge, 1,000 x 10,000                   433  not reached in 100 steps
log, 300 x 3,000                        5.7  18
log, 1,000 x 10,000                     129  987
hinge, 20,000 x 30; 400,000 x 10     12; 51  13; 211
log, 20,000 x 30; 100,000 x 50      4.3; 28  18; 129
log, 20,000 x 200                        57  90
===================================  ======  ===========================================
"""

import math
from dataclasses import dataclass

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_count, check_nonnegative
from pegasos_stats.data.labels import Ties
from pegasos_stats.errors import ConvergenceWarning, counted, warn_caller
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.rng import SampleKind
from pegasos_stats.solvers.certificate import Certificate, feasible
from pegasos_stats.solvers.hinge_proximal import Hinge
from pegasos_stats.solvers.intercept import refitted
from pegasos_stats.solvers.interior import InteriorSteps
from pegasos_stats.solvers.options import (
    DEFAULT_EPOCHS,
    DEFAULT_TOL,
    Goal,
    Method,
    Solver,
    check_sample_kind,
    check_seed,
    checked_tol,
    option,
)
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.rounding import CLOSEST
from pegasos_stats.solvers.sdca import SDCA, AveragedCoordinates
from pegasos_stats.solvers.smooth_newton import SmoothSteps
from pegasos_stats.solvers.wide import (
    PairSteps,
    WideCoordinates,
    is_wide,
    pairs_serve,
)

NEAR = 1e-3  # relative gap below which no warning is given at the default tolerance


@suggest_arguments
@dataclass(frozen=True, eq=False)
class Optimum(Solver):
    """Solver that stops at a given relative duality gap. The default solver.

    It chooses a method by loss and data, and changes to another if the first is slow;
    ``result.summary(details=True)`` names the methods that ran. An epoch is one step of
    the method.

    * More rows than columns, hinge: the proximal-point method with Newton steps. With
      many dense rows it first fits a sample of them. Then it fixes the dual weights of
      rows far from the margin and solves for the other rows. It then frees rows
      that were fixed wrongly, and solves again, until the tolerance is reached.
    * More rows than columns, other losses: Newton steps. With a penalty and many rows,
      L-BFGS from the solution of a sample; with a penalty and 60 dense columns or more,
      L-BFGS first.
    * More columns than rows: dual coordinate ascent while it reduces the gap, then
      Newton steps. Rows are visited in random order, from `seed`.
    * Hinge, at most 4,000 dense rows, fewer than twice as many rows as columns: SMO on
      pairs of rows.
    * With an offset: always the methods for more rows than columns.
    * Kernels: SMO on working sets of 512 rows; the first is random if there are more
      rows.

    The intercept is not penalised, and the dual variables satisfy
    ``sum_i a_i y_i = 0``. Repeated calls return identical results on one machine.

    Parameters
    ----------
    tol : float, default 1e-6
        Stop at this relative duality gap, ``gap / objective``; 0 runs all epochs. In
        most fits with the default, the distance of the coefficients from the optimum is
        small compared with their standard errors.
    gap_tol : float, optional
        Stop at this absolute gap as well; with ``tol=0``, only at this gap.
    epochs : int, default 100
        Maximum number of epochs; for warnings see `SVM.fit`.
    seed : int, default 1
        As for R's ``set.seed()``; used only by methods that draw rows at random.
    sample_kind : "rejection" or "rounding"
        R's ``sample.kind``: ``"rounding"`` repeats R before 3.6.
    ties : "na", "positive" or "negative"
        Default of ``predict(ties=)``: the label of a score of exactly 0.

    Raises
    ------
    OptionError
        If an option is not allowed.
    SeedError
        If R would refuse the seed.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi & Sundararajan, *A dual coordinate descent method for
    large-scale linear SVM*, ICML (2008).

    Examples
    --------
    >>> Optimum(tol=1e-8).epochs
    100
    """

    tol: float = option(DEFAULT_TOL, check=checked_tol)
    gap_tol: float | None = option(None, check=check_nonnegative)
    epochs: int = option(DEFAULT_EPOCHS, check=check_count)
    seed: int = option(1, check=check_seed)
    sample_kind: SampleKind = option("rejection", check=check_sample_kind)
    ties: Ties = option("na")

    name = "Optimum"
    to_optimum = True
    refit_intercept = True  # the best intercept is part of the optimum
    visits_rows = False
    arithmetic = "fast"


AnySolver = Optimum | Pegasos | SDCA


def first_method(
    problem: Problem, solver: Optimum | SDCA, dual: Vector | None
) -> Method:
    """Choose the first method of a run, which starts from `dual` unless it is None.

    SDCA visits the rows in the order that R's random numbers determine.
    """
    if isinstance(solver, SDCA):
        return AveragedCoordinates(problem, solver, dual)
    if is_wide(problem):
        if isinstance(problem.X, np.ndarray) and pairs_serve(problem):
            return PairSteps(problem, dual)
        return WideCoordinates(problem, solver, dual)
    if dual is None:
        return newton_method(problem, solver)
    dual = feasible(dual, problem.y, problem.intercept, problem.dual_upper_bounds)
    beta = (dual * problem.y) @ problem.X / (problem.lam * problem.n)
    alpha = refitted(problem, beta) if problem.intercept else 0.0
    return newton_method(problem, solver, (beta, alpha, dual))


def next_method(
    problem: Problem, solver: Optimum | SDCA, method: Method
) -> Method | None:
    """Choose the successor of a method that has stalled; None if it has not.

    Coordinate ascent is succeeded by SMO on the Gram matrix, if the loss is the hinge
    and there are at most 4,000 rows and no more rows than columns; otherwise by Newton
    steps. SMO and proximal Newton steps are succeeded by the interior-point method if
    the problem is small; otherwise by Newton steps over all rows.
    """
    if not method.has_stalled:
        return None
    has_pairs = problem.n <= problem.p and pairs_serve(problem)
    if isinstance(method, WideCoordinates) and has_pairs:
        return PairSteps(problem, method.state.a)
    if isinstance(method, PairSteps | Hinge) and InteriorSteps.serves(problem):
        return InteriorSteps(problem, *method.best())
    return newton_method(problem, solver, method.best())


def newton_method(
    problem: Problem,
    solver: Optimum | SDCA,
    start: tuple[Vector, float, Vector] | None = None,
) -> Method:
    """Return Newton's method for the loss, with an optional starting point."""
    theta = None if start is None else np.append(start[0], start[1])
    goal = Goal(solver.tol, solver.gap_tol)
    if problem.loss != "hinge":
        return SmoothSteps(problem, theta, goal=goal)
    at = None if start is None or theta is None else (theta, start[2])
    return Hinge(problem, goal, at)


def warn_of(
    at: Certificate,
    solver: Optimum | SDCA,
    taken_as: str,
    is_close: bool = False,
    epochs: int | None = None,
    hint: str = "",
) -> None:
    """Warn that the tolerance was not reached.

    Parameters
    ----------
    at : Certificate
        Computed from the rows.
    solver : Optimum or SDCA
    taken_as : str
        Name of the option that sets the tolerance.
    is_close : bool
        Whether rounding prevents convergence.
    epochs : int, optional
        Number of epochs run, if fewer than the maximum.
    hint : str
        Advice on how to reach the tolerance, appended to the gaps.
    """
    goal, near = f"{taken_as}={solver.tol:g}", at.relative_gap
    if not solver.tol > 0.0:
        taken_as, goal, near = "gap_tol", f"gap_tol={solver.gap_tol:g}", at.gap
    gaps = f"the relative gap is {at.relative_gap:.2g}, the gap {at.gap:.2g}{hint}"
    cure = "more epochs, or standardize=True if predictors differ in scale"
    if is_close or at.relative_gap <= CLOSEST:
        gaps += ", the smallest that rounding allows"
        cure = "standardize=True if columns are far from zero"
    if 0.0 < near < 0.1:
        cure += f", or {taken_as}={10.0 ** math.ceil(math.log10(near)):g}"
    after = counted(epochs or solver.epochs, "epoch")
    text = f"{solver.name} has not reached {goal} after {after}: {gaps}. Use {cure}."
    warn_caller(text, ConvergenceWarning)


def near_enough(
    at: Certificate, solver: Optimum | SDCA, default: float = DEFAULT_TOL
) -> bool:
    """Whether a run with the default tolerance nearly reached it."""
    return solver.tol in (DEFAULT_TOL, default) and at.relative_gap <= NEAR
