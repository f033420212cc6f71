"""Summaries of fits: header, table, details and notes."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from pegasos_stats import tables
from pegasos_stats.checks import check_count
from pegasos_stats.errors import counted
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.notes import Note, above, is_converged, most_important, ranked
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.losses import LOSSES
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem

if TYPE_CHECKING:
    from pegasos_stats.models.results import Results

INTERCEPT = "Intercept"
WEIGHTED = {
    "rows": "weighted rows",
    "levels": "weighted classes",
    "balanced": "balanced classes",
}


def summary_of(
    result: "Results",
    table: pd.DataFrame,
    notes: Sequence[Note] = (),
    *,
    likelihood: Sequence[str] = (),
    details: bool = False,
    more: tables.Fields = (),
    footer: str = "",
) -> tables.Summary:
    """Summary of a fit: header, table and at most three notes.

    Parameters
    ----------
    result : Results
    table : DataFrame
        Cells as text.
    notes : sequence of Note
        Notes on the table, in addition to `result.notes`.
    likelihood : sequence of str
        Further items of the header.
    details : bool
        Whether to add the solver, the certificate and all notes.
    more : sequence of (name, value)
        Further details.
    footer : str
        Text below the table, such as reference levels or omitted coefficients.
    """
    every = [*result.notes, *notes]
    shown = ranked(every) if details else most_important(every)
    # The footer names the columns without an estimate, shown as "-" in the table.
    shown = [note for note in shown if note.topic != "estimability"]
    return tables.Summary(
        header_lines(result, likelihood),
        table,
        [note.sentence for note in shown],
        left=[*model_lines(result), *more] if details else (),
        right=solver_lines(result) if details else (),
        footer=" ".join([footer] * bool(footer) + [tables.MORE] * (not details)),
    )


def header_lines(
    result: "Results", likelihood: Sequence[str] = (), addition: str = ""
) -> list[str]:
    """Model, outcome, rows, training error, convergence, penalty and likelihood.

    These are usually three lines. `addition` is appended to the name of the model.
    """
    problem, dropped = result.problem, result.dropped.total
    model = title_of(problem)
    if isinstance(problem, KernelProblem):
        model = f"Kernel {model[:1].lower()}{model[1:]} ({problem.kernel})"
    first = [model + addition, outcome(result)]
    if (room := tables.TEXT_WIDTH - len(first[0])) > len(first[1]) + 1:
        first = [first[0] + first[1].rjust(room)]
    # If the seed was drawn, the arguments do not contain it, so it is shown.
    is_random_seed = result.solver.seed is None and result.seed is not None
    penalty = f"lambda {problem.lambda_text}" if problem.lam else "maximum likelihood"
    ran = ", then ".join(run.name for run in result.solution.methods)
    end = convergence(result)
    facts = [
        f"n {result.nobs:,}" + f" ({dropped:,} dropped)" * (dropped > 0),
        training_error(result.training_table),
        f"{ran}, {end}" if ran else end,
        *([WEIGHTED[problem.weights_of]] if problem.weights is not None else []),
        *([f"seed {result.seed}"] if is_random_seed else []),
        *([] if problem.has_firth else [penalty]),
        *likelihood,
    ]
    return [*first, *tables.filled(facts)]


def title_of(problem: Problem) -> str:
    """Name of the model.

    Examples
    --------
    >>> import numpy as np
    >>> problem = Problem(np.eye(2), np.array([-1.0, 1.0]), 0.0, "log")
    >>> title_of(problem)
    'Logistic regression'
    """
    if problem.has_firth:
        flic = " (FLIC)" * (problem.penalty == "flic")
        return f"Logistic regression, Firth's penalty{flic}"
    return LOSSES[problem.loss].title if problem.lam else "Logistic regression"


def outcome(result: "Results", width: int = tables.TEXT_WIDTH) -> str:
    """Outcome and modelled level; long names are shortened in the middle."""
    names = [str(result.coding.name), *map(str, result.coding.levels)]
    below, above = result.problem.label_counts
    for longest in range(max(map(len, names)), 0, -1):
        name, negative, positive = (tables.cut(text, longest) for text in names)
        line = f"{name}: {negative} or {positive}, modelled: {positive}, "
        line += f"{above:,} of {below + above:,}"
        if len(line) <= width:
            break
    return line


def training_error(table: ConfusionMatrix) -> str:
    """Training error rate, and the error rate of always predicting the larger class.

    Examples
    --------
    >>> from pegasos_stats.metrics.confusion import confusion
    >>> training_error(confusion(["a"] * 7 + ["b"], ["a"] * 8))
    "training error 12.5% (12.5% if always 'a')"
    """
    totals = table.counts.sum(axis=1)
    level, n = str(table.levels[int(totals.argmax())]), totals.sum()
    rate = tables.percent(table.error_rate) if table.n_classified else "unknown"
    share = tables.percent(float((n - totals.max()) / n))
    return f"training error {rate} ({share} if always '{tables.cut(level, 20)}')"


def convergence(result: "Results") -> str:
    """Whether the fit converged, and if not, a bound on its distance to the minimum."""
    if is_converged(result):
        return "converged"
    if result.problem.has_firth:
        return "not converged"
    if result.shortfall.at_most == math.inf:
        return "not converged: no certificate"
    return f"not converged: objective {above(result.shortfall)}"


def model_lines(result: "Results") -> tables.Fields:
    """Model, rows and number of misclassified training rows."""
    errors = errors_of(result.training_table)
    return [*problem_lines(result), ("Training errors:", errors)]


def problem_lines(of: "Results") -> tables.Fields:
    """Model and rows."""
    problem, coding = of.problem, of.coding
    weights, weightless = problem.weights, problem.n_weightless
    (negative, positive), (below, above) = coding.levels, problem.label_counts
    lines = [
        ("Outcome:", coding.name),
        ("Negative (-1):", f"{negative} ({counted(below, 'row')})"),
        ("Positive (+1):", f"{positive} ({counted(above, 'row')})"),
        ("Loss:", problem.loss),
        ("lambda:", problem.lambda_text),
        ("Intercept:", "free" if problem.intercept else "none"),
    ]
    if of.scaling is not None:
        lines.append(("Predictors:", "standardized"))
    if weights is not None:
        low, high = tables.significant(weights.min()), tables.significant(weights.max())
        lines.append(("Row weights:", f"{low} to {high}"))
    if of.offsets is not None:
        lines.append(("Offset:", str(of.offsets)))
    lines.append(("No. Observations:", f"{problem.n_weighed:,}"))
    if weightless:
        lines.append(("Rows of weight 0:", f"{weightless:,}"))
    if of.counted is not None:
        lines.append(("Counted:", str(of.counted)))
    return [*lines, ("Rows dropped (NA):", str(of.dropped))]


def solver_lines(result: "Results") -> tables.Fields:
    """Solver, steps, random numbers and certificate."""
    solver, goals = result.solver, (result.refinement or result.solver).goals
    if not result.problem.lam:
        goals = "1e-09 standard errors"
    svm = result.problem.loss != "log"
    # Newton steps use all rows: margin violations over such steps are meaningless.
    by_visit = result.refinement is None and solver.visits_rows
    wrong = f"{result.n_violations:,}"
    return [
        ("Solver:", result.solver_name),
        *method_lines(result),
        *([("Form:", solver.options)] if solver.options else []),
        *([("Tolerance:", goals)] if goals else []),
        *([("Steps:", f"{result.n_iter:,}")] if solver.visits_rows else []),
        *([("Margin violations:", wrong)] if by_visit else []),
        *([("Support rows:", f"{result.n_support:,}")] if svm else []),
        *random_lines(result),
        *certificate_lines(result),
    ]


def certificate_lines(result: "Results") -> tables.Fields:
    """Objective, duality gaps, and for a linear SVM a bound on the coefficients.

    Empty with Firth's penalty, for which there is no lower bound of the objective.
    """
    problem = result.problem
    if problem.has_firth:
        return []
    lines = [
        ("Objective:", tables.significant(result.objective, 6)),
        ("Duality gap:", tables.significant(result.gap, 3)),
        ("Relative gap:", tables.significant(result.relative_gap, 3)),
    ]
    if problem.loss != "log" and not isinstance(problem, KernelProblem):
        bound = math.sqrt(
            2.0 * max(0.0, result.gap) / problem.lam
        )  # of ||beta - beta*||
        lines.append(("Coefficients off by:", f"at most {bound:.2g}"))
    return lines


def method_lines(result: "Results") -> tables.Fields:
    """The methods that ran, one per line, with their numbers of iterations."""
    runs = result.solution.methods
    lines = [f"{run.name}, {counted(run.iterations, run.unit)}" for run in runs]
    return [("then" if i else "Method:", line) for i, line in enumerate(lines)]


def random_lines(result: "Results") -> tables.Fields:
    """Order in which rows were visited, seed and random number generator, if any."""
    solver, order = result.solver, result.solver.order_name
    if result.seed is None:
        rows = [("Rows:", order)] if isinstance(solver, Pegasos) else []
        return [*rows, ("Random numbers:", "none")] if result.solution.methods else rows
    kind = solver.sample_kind.capitalize()
    return [
        ("Order:", order),
        ("Seed:", str(result.seed)),
        ("RNG:", f"Mersenne-Twister, {kind}"),
    ]


def errors_of(table: ConfusionMatrix) -> str:
    """Number and rate of the misclassified rows of a table, as text."""
    undecided = f", {table.n_undecided:,} undecided" if table.n_undecided else ""
    if not table.n_classified:
        return f"0 of 0{undecided}"
    return f"{table.n_errors:,} ({tables.percent(table.error_rate)}){undecided}"


def largest(tidy: pd.DataFrame, limit: int | None) -> tuple[pd.DataFrame, str]:
    """The intercept and the `limit` largest coefficients by absolute value.

    Returns
    -------
    shown : DataFrame
        In the order of `tidy`.
    footer : str
        How many coefficients are shown, and how to show all; empty if all are shown.

    Raises
    ------
    OptionError
        If the limit is neither None nor a whole number above zero.
    """
    if limit is None:
        return tidy, ""
    check_count("max_terms", limit)
    shown, p = largest_terms(tidy, limit), int((tidy["term"] != INTERCEPT).sum())
    if len(shown) == len(tidy):
        return tidy, ""
    return shown, f"Largest {limit} of {p:,} terms (all: max_terms=None)."


def largest_terms(table: pd.DataFrame, limit: int | None) -> pd.DataFrame:
    """Return the intercept and the `limit` largest terms by absolute value.

    Parameters
    ----------
    table : DataFrame
        With columns ``term`` and ``estimate``. Of estimates with equal absolute values
        the first one has priority.
    limit : int or None
        ``None`` for all terms.

    Returns
    -------
    DataFrame
        In the order of `table`.

    Examples
    --------
    >>> table = pd.DataFrame({"term": ["Intercept", "a", "b"], "estimate": [0, 1, -2]})
    >>> largest_terms(table, 1)["term"].tolist()
    ['Intercept', 'b']
    """
    slopes = table.loc[table["term"] != INTERCEPT, "estimate"]
    by_size = slopes.abs().sort_values(ascending=False, kind="stable")
    largest = slice(len(slopes)) if limit is None else slice(limit)
    return table.drop(index=by_size.index.difference(by_size.index[largest]))
