"""The header of the summary of every fit."""

from typing import Any

from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.errors import counted
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.fits import Fit
from pegasos_stats.tables import Fields, significant

TITLES = {
    "hinge": "Support Vector Machine Results",
    "log": "Penalised Logistic Regression Results",
}


def model_lines(fit: Fit, training: ConfusionMatrix) -> Fields:
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


def solver_lines(fit: Fit) -> Fields:
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


def errors_of(table: ConfusionMatrix) -> str:
    """Number and rate of the errors of a table, in words."""
    undecided = f", {table.n_undecided:,} undecided" if table.n_undecided else ""
    if not table.n_classified:
        return f"0 of 0{undecided}"
    return f"{table.n_errors:,} ({table.error_rate:.2%}){undecided}"


def weights_line(weights: Any) -> Fields:
    """The line of a header for the weights of the rows; none where all are 1."""
    if weights is None:
        return []
    low, high = (significant(float(w)) for w in (weights.min(), weights.max()))
    return [("Row weights:", f"{low} to {high}")]
