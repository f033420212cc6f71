"""What a summary says about every fit: its header and its notes."""

import math
from typing import Any

from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.errors import counted
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.fits import Fit
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.objective import zero_objective
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.tables.layout import Pairs
from pegasos_stats.tables.numbers import significant

TITLES = {
    "hinge": "Support Vector Machine Results",
    "log": "Penalised Logistic Regression Results",
}


def model_lines(fit: Fit, training: ConfusionMatrix) -> Pairs:
    """What was minimised, on which rows, and the errors on them."""
    negative, positive = fit.coding.levels
    problem = fit.problem
    counts = {sign: int((problem.y == sign).sum()) for sign in (-1.0, 1.0)}
    scaled = isinstance(fit.design, ScaledDesign)
    return [
        ("Outcome:", fit.coding.name),
        ("Negative (-1):", f"{negative} ({counted(counts[-1.0], 'row')})"),
        ("Positive (+1):", f"{positive} ({counted(counts[1.0], 'row')})"),
        ("Loss:", problem.loss),
        ("lambda:", significant(problem.lam, 6)),
        ("Intercept:", "free" if problem.intercept else "none"),
        *([("Predictors:", "standardized")] if scaled else []),
        *weights_line(getattr(problem, "weights", None)),
        ("No. Observations:", f"{fit.nobs:,}"),
        ("Rows dropped (NA):", str(fit.dropped)),
        ("Training errors:", errors_of(training)),
    ]


def solver_lines(fit: Fit) -> Pairs:
    """How it was minimised, and how near the fit is to the optimum."""
    solver, drawn = fit.solver, fit.solver.uses_random_numbers
    kind = solver.sample_kind.capitalize()
    hinge = fit.problem.loss == "hinge"
    return [
        ("Solver:", fit.solver_name),
        ("Order:", solver.order_name),
        ("Form:", solver.options or "plain"),
        ("Steps:", f"{fit.n_iter:,}"),
        ("Margin violations:", f"{fit.n_violations:,}"),
        *([("Support rows:", f"{fit.n_support:,}")] if hinge else []),
        ("Seed:", str(fit.seed) if drawn else "none needed"),
        ("RNG:", f"Mersenne-Twister, {kind}" if drawn else "-"),
        ("Objective:", significant(fit.objective, 6)),
        ("Duality gap:", significant(fit.gap, 3)),
        ("Relative gap:", significant(fit.relative_gap, 3)),
    ]


def is_no_warning(note: str) -> bool:
    """Sort key that puts warnings first."""
    return not note.startswith("WARNING")


def _penalised(fit: Fit) -> str:
    """What is penalised, and on which scale."""
    is_kernel = isinstance(fit.problem, KernelProblem)
    what = "The length of the function is" if is_kernel else "Coefficients are"
    free = (
        ", the intercept is not" if fit.problem.intercept else "; there is no intercept"
    )
    if not isinstance(fit.design, ScaledDesign):
        return f"{what} penalised{free}."
    of = "It is a function" if is_kernel else "They are those"
    original = "; params_original has those of the predictors as they were"
    end = "" if is_kernel else original
    return f"{what} penalised{free}. {of} of standardized predictors{end}."


def notes_of(fit: Fit) -> list[str]:
    """What the numbers of every fit mean."""
    negative, positive = fit.coding.levels
    notes = [
        certified(fit),
        f"A positive score predicts {positive!r}, a negative one {negative!r}.",
        _penalised(fit),
    ]
    if fit.objective > zero_objective(fit.problem):
        notes.append(ran_away(fit))
    if fit.solver.uses_random_numbers:
        source = "drawn, not given" if fit.solver.seed is None else "given"
        also = ", in R too" if isinstance(fit.solver, Pegasos) else ""
        notes.append(f"The seed was {source}; it repeats this fit{also}.")
    return notes


UNCERTIFIED = (
    "Nothing is certified: the numbers are so large that rounding could hide any gap; "
    "bring the predictors to a common scale."
)


def certified(fit: Fit) -> str:
    """How far the fit is from the optimum, in words."""
    share = fit.relative_gap
    if fit.gap == math.inf:
        return UNCERTIFIED
    most = "less than 0.01%" if share < 1e-4 else f"at most {share:.2%}"
    gained = f"{most} of the objective"
    if share == math.inf:  # of an objective of 0
        gained = f"at most {significant(fit.gap, 3)}"
    return (
        "Certified by duality: the optimum is not below "
        f"{significant(fit.dual_objective, 6)}, so {gained} could be gained."
    )


def ran_away(fit: Fit) -> str:
    """That the fit is worse than none, why, and what to do."""
    refit = fit.problem.intercept and not fit.solver.refit_intercept
    cause = "the intercept ran away" if refit else "the coefficients ran away"
    if hasattr(fit.problem, "kernel"):
        cure = "Give intercept=False, more epochs or a larger lambda."
    else:
        cure = "Take SDCA, or fit(..., refine=1e-6), for the exact optimum; or give "
        cure += "Pegasos(refit_intercept=True), " if refit else ""
        cure += "centred predictors, more epochs or a larger lambda."
    return (
        f"WARNING: the objective is above {zero_objective(fit.problem):.4g}, that "
        f"of the model that is all zero: {cause} in the first, large steps. {cure}"
    )


def errors_of(table: ConfusionMatrix) -> str:
    """Number and rate of the errors of a table, in words."""
    undecided = f", {table.n_undecided:,} undecided" if table.n_undecided else ""
    if not table.n_classified:
        return f"0 of 0{undecided}"
    return f"{table.n_errors:,} ({table.error_rate:.2%}){undecided}"


def weights_line(weights: Any) -> Pairs:
    """The line of a header for the weights of the rows; none where all are 1."""
    if weights is None:
        return []
    low, high = (significant(float(w)) for w in (weights.min(), weights.max()))
    return [("Row weights:", f"{low} to {high}")]
