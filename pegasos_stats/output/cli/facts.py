"""What the command line says of a fit: lines to read, values for JSON, warnings."""

import json
import math
import warnings

import numpy as np

from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.errors import UndefinedMetricWarning, counted
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.notes import above, is_constant
from pegasos_stats.models.results import Results
from pegasos_stats.models.summaries import counts_by_visit
from pegasos_stats.output.option_names import as_options
from pegasos_stats.output.report.subject import Fitted, factor_levels
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.options import offered
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.studies.threshold_results import scale_of
from pegasos_stats.tables import significant

NO_FACTS = ("seed", "steps", "ties")  # of seed and steps those of the run are told
TOLD = ("probabilities", "columns", "level order", "penalty")  # topics of hints

Facts = dict[str, object]  # by name, for JSON


def strict_json(content: object) -> str:
    """Write JSON without NaN and infinity, which become null.

    Examples
    --------
    >>> json.loads(strict_json([1.5, float("nan")]))
    [1.5, None]
    """
    return json.dumps(_finite(content), indent=2, allow_nan=False) + "\n"


def _finite(content: object) -> object:
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content


def model_facts(result: Fitted) -> Facts:
    """What is minimised."""
    problem = result.problem
    kernel = problem.kernel if isinstance(problem, KernelProblem) else None
    return {
        "loss": problem.loss,
        "lambda": problem.lam,
        "lambda_rule": problem.lam_rule,
        "intercept": problem.intercept,
        "kernel": str(kernel) if kernel else None,
        "weighted": problem.weights is not None,
        "counted_in": None if result.counted is None else result.counted.lines,
        "standardized": isinstance(result.design, ScaledDesign),
    }


def solver_facts(result: Fitted) -> Facts:
    """How it is minimised."""
    solver, refinement = result.solver, result.refinement
    names = [name for name in offered(type(solver)) if name not in NO_FACTS]
    facts = {name: getattr(solver, name) for name in names}
    if isinstance(facts.get("order"), np.ndarray):
        facts["order"] = "rows"
    refine = None if refinement is None else refinement.tol
    return {"solver": solver.name, **facts, "refine": refine, "seed": result.seed}


def fitted_facts(result: Fitted) -> Facts:
    """What was found."""
    facts: Facts = {
        "n_iter": result.n_iter,
        "n_violations": result.n_violations,
        "objective": result.objective,
        "dual_objective": result.dual_objective,
        "gap": result.gap,
        "relative_gap": result.relative_gap,
        "above_minimum": [result.shortfall.at_least, result.shortfall.at_most],
    }
    if isinstance(result, KernelResults):
        return facts | {"n_support": result.n_support, "alpha": result.intercept}
    original = result.params_original.to_dict()
    return facts | {"params": result.params.to_dict(), "params_original": original}


def threshold_line(result: Results, threshold: float | None) -> list[str]:
    """What labels are predicted by, where a threshold was given."""
    if threshold is None:
        return []
    scale, above = scale_of(result.problem), result.coding.positive
    of = f"the probability of {above}" if scale.name == "probability" else "the score"
    usual = significant(scale.usual, 6)
    return [f"Threshold  {threshold:g} of {of}, as given; the usual one is {usual}"]


def table_facts(table: ConfusionMatrix) -> Facts:
    """What a confusion table says; rows that are not new have no intervals."""
    is_new = table.source == "new"
    of_class: Facts = {}
    if table.choices.mode is not None:
        with warnings.catch_warnings():  # what is not defined is null
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            found = table.by_class.to_dict()
        of_class = {"positive": str(table.positive), "by_class": found}
    return {
        **of_class,
        "actual": [str(level) for level in table.table.index],
        "predicted": [str(level) for level in table.table.columns],
        "table": table.table.to_numpy().tolist(),
        "n_errors": table.n_errors,
        "n_undecided": table.n_undecided,
        "error_rate": table.error_rate if table.n_classified else None,
        "rows": table.source,
        "interval_exact": list(table.error_interval("exact")) if is_new else None,
        "interval_wilson": list(table.error_interval("wilson")) if is_new else None,
        "misclassified_rows": [str(row) for row in table.errors.index],
    }


def label_counts(table: ConfusionMatrix) -> dict[str, int]:
    """Count the actual labels of a table, by level."""
    totals = table.counts.sum(axis=1)
    return {str(k): int(n) for k, n in zip(table.levels, totals, strict=True)}


def outcome_line(result: Results) -> str:
    """The outcome and the coding of its levels."""
    negative, positive = result.coding.levels
    return f"Outcome    {result.coding.name}: {negative} is -1, {positive} is +1"


def size(result: Fitted) -> str:
    """How large the fit is."""
    free = "an intercept" if result.problem.intercept else "no intercept"
    if isinstance(result, KernelResults):
        return f"{counted(result.n_support, 'support row')} and {free}"
    return f"{counted(len(result.coef), 'coefficient')} and {free}"


def counted_in(result: Fitted) -> str:
    """In how many rows of the data the rows of the fit are counted, if they are."""
    return "" if result.counted is None else f" (counted in {result.counted})"


def factors_line(result: Fitted) -> list[str]:
    """The columns that became factors, which a single '?' among numbers may do."""
    levels = factor_levels(result.design).items()
    found = [f"{name} ({counted(len(each), 'level')})" for name, each in levels]
    return [f"Factors    {', '.join(found)}"] if found else []


def model_line(result: Fitted) -> str:
    """What is minimised, in a line."""
    facts = model_facts(result)
    words = [
        f"{facts['loss']} loss, lambda = {result.problem.lambda_text}",
        *(["weighted rows"] if facts["weighted"] else []),
        *([] if result.offsets is None else [f"offset {result.offsets}"]),
        *(["standardized features"] if facts["standardized"] else []),
    ]
    return f"Model      {', '.join(words)}"


def solver_line(result: Fitted) -> str:
    """The solver, its options, and what it did."""
    solver, then = result.solver, result.refinement
    seed = "no seed needed" if result.seed is None else f"seed {result.seed}"
    options = [seed, *solver.words("said")]
    if solver.to_optimum:
        options.append(f"to a relative gap of {solver.tol:g}")
    early = isinstance(solver, Pegasos) and solver.may_end_early
    after = f" of {counted(result.n_epochs or 0, 'epoch')}" if early else ""
    last = "" if then is None else f", then SDCA to a relative gap of {then.tol:g}"
    wrong = f"{result.n_violations:,} margin violations in " * counts_by_visit(result)
    return (
        f"Solver     {solver.name}, {solver.order_name}, {', '.join(options)}{last}: "
        f"{wrong}{counted(result.n_iter, 'step')}{after}"
    )


def objective_line(result: Fitted) -> str:
    """The objective, and how far it is above its minimum."""
    least, most = result.objective, result.shortfall
    where = "nothing is certified"
    if most.at_most < math.inf:
        where = above(least, most)
    return f"Objective  {significant(least, 6)}, {where}"


def cautions(
    result: Fitted,
    threshold: float | None = None,
    training: ConfusionMatrix | None = None,
) -> list[str]:
    """What to look at before a fit is believed, one after the other.

    With a threshold rows are predicted as in the table of the training data.
    """
    alike = []
    if threshold is not None and training is not None and is_constant(training):
        only = training.levels[int(training.counts.sum(axis=0).argmax())]
        alike = [f"every row is predicted {str(only)!r} at this threshold."]
    return alike + [
        as_options(note.text)
        for note in result.notes
        if note.severity == "warning"
        and (threshold is None or note.topic != "predictions")
    ]


def hints(result: Fitted) -> list[str]:
    """What another option would change, constant columns, whose probabilities."""
    notes = [
        note for note in result.notes if note.severity == "note" and note.topic in TOLD
    ]
    return [as_options(note.text) for note in notes]
