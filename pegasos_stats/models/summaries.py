"""The summary of a fit: header lines, coefficients, notes; and the details."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from pegasos_stats.checks import check_count
from pegasos_stats.errors import counted
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.notes import TINY, Note, most_important, ranked
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.tables import (
    WIDTH,
    Fields,
    Summary,
    cut,
    estimate_cells,
    filled,
    significant,
)

if TYPE_CHECKING:
    from pegasos_stats.models.base import Model

INTERCEPT = "Intercept"
TITLES = {
    "hinge": "Support vector machine",
    "log": "Penalised logistic regression",
}
MORE = "More: summary(details=True)"


def summary_of(
    result: Results,
    table: pd.DataFrame,
    notes: Sequence[Note] = (),
    *,
    likelihood: Sequence[str] = (),
    details: bool = False,
    more: Fields = (),
    footer: str = "",
) -> Summary:
    """A table under the header of every fit, with at most three notes on both.

    Parameters
    ----------
    result : Results
    table : DataFrame
        Of text.
    notes : sequence of Note
        On the table; those on the fit are `result.notes`.
    likelihood : sequence of str
        Further items of the header.
    details : bool
        Whether to add the solver, the certificate and all notes.
    more : sequence of (name, value)
        Further details.
    footer : str
        What the table leaves out.
    """
    every = [*result.notes, *notes]
    shown = ranked(every) if details else most_important(every)
    return Summary(
        header_lines(result, likelihood),
        table,
        [note.sentence for note in shown],
        left=[*model_lines(result), *more] if details else (),
        right=solver_lines(result) if details else (),
        footer=" ".join([footer] * bool(footer) + [MORE] * (not details)),
    )


def without_errors(result: Results, tidy: pd.DataFrame) -> Summary:
    """The summary of a fit whose standard errors were not computed yet."""
    shown, footer = largest(tidy, 30)
    text = "For standard errors, p-values and intervals see summary()."
    notes = [Note("standard errors", "note", text)]
    return summary_of(result, estimate_cells(shown), notes, footer=footer)


def header_lines(
    result: Results, likelihood: Sequence[str] = (), addition: str = ""
) -> list[str]:
    """Model, outcome, rows, training error, penalty and convergence, in lines.

    They are three, unless names or numbers are long. The `addition` follows the name of
    the model.
    """
    problem, table = result.problem, result.training_table
    model = TITLES[problem.loss]
    if isinstance(problem, KernelProblem):
        model = f"Kernel {model[:1].lower()}{model[1:]} ({problem.kernel})"
    first = [model + addition, outcome(result)]
    if (room := WIDTH - len(first[0])) > len(first[1]) + 1:
        first = [first[0] + first[1].rjust(room)]
    rate = f"{table.error_rate:.1%}" if table.n_classified else "unknown"
    # A reader has to see a seed that is in no argument.
    drawn = result.solver.seed is None and result.solver.uses_random_numbers
    rows = [
        f"n {result.nobs:,} ({result.dropped.total:,} dropped)",
        f"training error {rate} ({always(table)})",
        *([f"seed {result.seed}"] if drawn else []),
    ]
    fit = [f"lambda {problem.lambda_text}", convergence(result)]
    layouts = [
        [first, rows, [*fit, *likelihood]],
        [first, [*rows, *likelihood[-1:]], [*fit, *likelihood[:-1]]],
        [[*first, *rows, *fit, *likelihood]],
    ]
    written = [[line for row in each for line in filled(row)] for each in layouts]
    return min(written, key=len)


def outcome(result: Results, width: int = WIDTH) -> str:
    """The outcome and the counts of its levels; long names are cut in the middle."""
    names = [str(result.coding.name), *map(str, result.coding.levels)]
    numbers = [counted(n, "row") for n in result.problem.label_counts]

    def written(name: str, negative: str, positive: str) -> str:
        first, second = numbers
        return f"{name}: {negative} (-1) {first}, {positive} (+1) {second}"

    room = width - len(written("", "", ""))
    longest = room
    while sum(len(cut(name, longest)) for name in names) > room:
        longest -= 1
    return written(*(cut(name, longest) for name in names))


def always(table: ConfusionMatrix) -> str:
    """The error rate of predicting the more frequent level for all rows."""
    totals = table.counts.sum(axis=1)
    level, share = table.levels[int(totals.argmax())], totals.max() / totals.sum()
    return f'always "{cut(str(level), 20)}" {1.0 - share:.1%}'


def is_converged(result: Results) -> bool:
    """Whether the fit is at its optimum: to its tolerance, or certified to 0.01%."""
    if result.converged is not None:
        return result.converged
    return result.shortfall.at_most < TINY * result.objective


def convergence(result: Results) -> str:
    """Whether the fit is at its optimum, and if not how far it is, certified."""
    if is_converged(result):
        return "converged"
    low, high = (
        significant(end, 2)
        for end in (result.shortfall.at_least, result.shortfall.at_most)
    )
    if result.shortfall.at_most == math.inf:
        return "not converged: no certificate"
    most = "" if low == high else "up to "
    return f"not converged: objective {most}{high} above its minimum"


def model_lines(result: Results) -> Fields:
    """What was minimised, on which rows, and the errors on them."""
    errors = errors_of(result.training_table)
    return [*problem_lines(result), ("Training errors:", errors)]


def problem_lines(of: "Results | Model") -> Fields:
    """What is minimised, and on which rows."""
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
        low, high = (significant(float(w)) for w in (weights.min(), weights.max()))
        lines.append(("Row weights:", f"{low} to {high}"))
    if of.offsets is not None:
        lines.append(("Offset:", str(of.offsets)))
    lines.append(("No. Observations:", f"{problem.n_weighed:,}"))
    if weightless:
        lines.append(("Rows of weight 0:", f"{weightless:,}"))
    if of.counted is not None:
        lines.append(("Counted:", str(of.counted)))
    return [*lines, ("Rows dropped (NA):", str(of.dropped))]


def solver_lines(result: Results) -> Fields:
    """How it was minimised, and how near the fit is to the optimum."""
    solver, drawn = result.solver, result.solver.uses_random_numbers
    kind = solver.sample_kind.capitalize()
    hinge = result.problem.loss == "hinge"
    early = isinstance(solver, Pegasos) and solver.may_end_early
    # Newton steps look at all rows: violations over such steps would say nothing.
    by_visit = result.refinement is None and solver.visits_rows
    wrong = f"{result.n_violations:,}"
    return [
        ("Solver:", result.solver_name),
        ("Order:", solver.order_name),
        ("Form:", solver.options or "plain"),
        *([("Epochs:", f"{result.n_epochs:,}, {solver.goals}")] if early else []),
        ("Steps:", f"{result.n_iter:,}"),
        *([("Margin violations:", wrong)] if by_visit else []),
        *([("Support rows:", f"{result.n_support:,}")] if hinge else []),
        ("Seed:", str(result.seed) if drawn else "none needed"),
        ("RNG:", f"Mersenne-Twister, {kind}" if drawn else "-"),
        ("Objective:", significant(result.objective, 6)),
        ("Duality gap:", significant(result.gap, 3)),
        ("Relative gap:", significant(result.relative_gap, 3)),
    ]


def errors_of(table: ConfusionMatrix) -> str:
    """Number and rate of the errors of a table, in words."""
    undecided = f", {table.n_undecided:,} undecided" if table.n_undecided else ""
    if not table.n_classified:
        return f"0 of 0{undecided}"
    return f"{table.n_errors:,} ({table.error_rate:.2%}){undecided}"


def coefficient_cells(
    tidy: pd.DataFrame, alpha: float, resampled: bool
) -> pd.DataFrame:
    """The table of a summary: estimate, error, p-value and interval, as text.

    Parameters
    ----------
    tidy : DataFrame
        With the columns of ``result.tidy()``.
    alpha : float
        The intervals are of level ``1 - alpha``.
    resampled : bool
        Whether errors are standard deviations of a bootstrap.
    """
    cells = estimate_cells(tidy, ["p"], alpha)
    cells["p"] = [
        "<0.001" if p < 0.0005 else f"{p:.3f}" for p in tidy["p_value"].to_numpy()
    ]
    cells = cells.replace("nan", "-")
    return cells.rename(columns={"std err": "boot sd"}) if resampled else cells


def largest(tidy: pd.DataFrame, limit: int | None) -> tuple[pd.DataFrame, str]:
    """The intercept and the `limit` largest coefficients by absolute value.

    Returns
    -------
    shown : DataFrame
        In the order of `tidy`.
    footer : str
        That there are more, if there are.

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
    """The intercept and so many terms, the largest by absolute value.

    Parameters
    ----------
    table : DataFrame
        With columns ``term`` and ``estimate``; of equal ones the first is larger.
    limit : int or None
        ``None`` keeps all.

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
    kept = slice(len(slopes)) if limit is None else slice(limit)
    return table.drop(index=by_size.index.difference(by_size.index[kept]))
