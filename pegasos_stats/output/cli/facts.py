"""Facts about a fit for the command line: lines to read, and values for JSON."""

import json
import math
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.data.formula import unwrapped
from pegasos_stats.data.formula_design import FormulaDesign
from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.errors import counted
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.options import offered

NO_FACTS = ("seed", "steps", "ties")  # seed and steps are told as those of the run


def factors(result: Results) -> dict[str, int]:
    """Number of levels of each column that became a factor."""
    design = result.design
    if isinstance(design, ScaledDesign):
        design = design.design
    if not isinstance(design, FormulaDesign):
        return {}
    return {
        unwrapped(name): len(state["categories"])
        for name, (_, state) in design.spec.encoder_state.items()
        if "categories" in state
    }


def strict_json(content: Any) -> str:
    """Write JSON without NaN and infinity, which become null.

    Examples
    --------
    >>> json.loads(strict_json([1.5, float("nan")]))
    [1.5, None]
    """
    return json.dumps(_finite(content), indent=2, allow_nan=False) + "\n"


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content


def is_kernel(result: Results) -> bool:
    """Whether a fit is one of a kernel model."""
    return isinstance(result, KernelResults)


def model_facts(result: Any) -> dict[str, Any]:
    """What is minimised."""
    problem = result.problem
    return {
        "loss": problem.loss,
        "lambda": problem.lam,
        "intercept": problem.intercept,
        "kernel": str(problem.kernel) if is_kernel(result) else None,
        "weighted": getattr(problem, "weights", None) is not None,
        "standardized": isinstance(result.design, ScaledDesign),
    }


def solver_facts(result: Any) -> dict[str, Any]:
    """How it is minimised."""
    solver, refinement = result.solver, result.refinement
    names = [name for name in offered(type(solver)) if name not in NO_FACTS]
    facts = {name: getattr(solver, name) for name in names}
    if isinstance(facts.get("order"), np.ndarray):
        facts["order"] = "rows"
    refine = None if refinement is None else refinement.tol
    return {"solver": solver.name, **facts, "refine": refine, "seed": result.seed}


def fitted_facts(result: Any) -> dict[str, Any]:
    """What was found."""
    facts = {
        "n_iter": result.n_iter,
        "n_violations": result.n_violations,
        "objective": result.objective,
        "dual_objective": result.dual_objective,
        "gap": result.gap,
        "relative_gap": result.relative_gap,
    }
    if is_kernel(result):
        return facts | {"n_support": result.n_support, "alpha": result.intercept}
    original = result.params_original.to_dict()
    return facts | {"params": result.params.to_dict(), "params_original": original}


def outcome_line(result: Results) -> str:
    """Name the outcome and the coding of its levels."""
    negative, positive = result.coding.levels
    return f"Outcome    {result.coding.name}: {negative} is -1, {positive} is +1"


def size(result: Any) -> str:
    """How large the fit is."""
    free = "an intercept" if result.problem.intercept else "no intercept"
    if is_kernel(result):
        return f"{counted(result.n_support, 'support row')} and {free}"
    return f"{counted(len(result.coef), 'coefficient')} and {free}"


def factors_line(result: Results) -> list[str]:
    """Name the columns that became factors: a single '?' makes a column one."""
    found = [f"{k} ({counted(n, 'level')})" for k, n in factors(result).items()]
    return [f"Factors    {', '.join(found)}"] if found else []


def model_line(result: Results) -> str:
    """Name what is minimised."""
    facts = model_facts(result)
    words = [
        f"{facts['loss']} loss, lambda = {facts['lambda']:g}",
        *(["weighted rows"] if facts["weighted"] else []),
        *(["standardized features"] if facts["standardized"] else []),
    ]
    return f"Model      {', '.join(words)}"


def solver_line(result: Any) -> str:
    """Name the solver, its options, and what it did."""
    solver, then = result.solver, result.refinement
    seed = "no seed needed" if result.seed is None else f"seed {result.seed}"
    options = [seed, *solver.words("said")]
    if solver.to_optimum:
        options.append(f"to a relative gap of {solver.tol:g}")
    last = "" if then is None else f", then SDCA to a relative gap of {then.tol:g}"
    return (
        f"Solver     {solver.name}, {solver.order_name}, {', '.join(options)}{last}: "
        f"{result.n_violations:,} margin violations in {result.n_iter:,} steps"
    )


def written_trace(trace: pd.DataFrame) -> str:
    """Write the trace as a table."""
    return "Trace\n" + trace.to_string(index=False, float_format="{:.6g}".format)


def label_counts(table: ConfusionMatrix) -> dict[str, int]:
    """Count the actual labels of a table, by level."""
    totals = table.counts.sum(axis=1)
    return {str(k): int(n) for k, n in zip(table.levels, totals, strict=True)}


def written_counts(table: ConfusionMatrix) -> str:
    """Write the counts of the actual labels."""
    counts = label_counts(table)
    return ", ".join(f"{level}: {count:,}" for level, count in counts.items())


def table_facts(table: ConfusionMatrix) -> dict[str, Any]:
    """What a confusion table says."""
    return {
        "actual": [str(level) for level in table.table.index],
        "predicted": [str(level) for level in table.table.columns],
        "table": table.table.to_numpy().tolist(),
        "n_errors": table.n_errors,
        "n_undecided": table.n_undecided,
        "error_rate": table.error_rate if table.n_classified else None,
        "interval_exact": list(table.error_interval("exact")),
        "interval_wilson": list(table.error_interval("wilson")),
        "misclassified_rows": [str(row) for row in table.errors.index],
    }
