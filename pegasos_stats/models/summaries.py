"""The summary of a fit: its header, and the coefficients shown."""

from collections.abc import Sequence

import pandas as pd

from pegasos_stats.checks import check_count
from pegasos_stats.data.counts import Counts
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.offset import Offset
from pegasos_stats.data.sample import Dropped
from pegasos_stats.data.scaling import Scaling
from pegasos_stats.errors import counted
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.notes.note import Note, listed
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.tables import Fields, Summary, estimate_cells, significant

INTERCEPT = "Intercept"
BRIEF = 30  # coefficients, as many as summary() shows
TITLES = {
    "hinge": "Support Vector Machine Results",
    "log": "Penalised Logistic Regression Results",
}


def summary_of(
    result: Results,
    table: pd.DataFrame,
    notes: Sequence[Note] = (),
    more: Fields = (),
) -> Summary:
    """A table of coefficients under the header of every fit, with notes on both.

    `more` are further lines of the header.
    """
    title = TITLES[result.problem.loss]
    header = [*model_lines(result), *more], solver_lines(result)
    return Summary(title, *header, table, listed([*result.notes, *notes]))


def brief(result: Results, tidy: pd.DataFrame) -> Summary:
    """What a notebook shows of a fit whose standard errors were not asked for yet."""
    shown, more = largest(tidy, BRIEF)
    text = "summary() has standard errors, intervals and tests as well."
    notes = [Note("standard errors", "note", text), *more]
    return summary_of(result, estimate_cells(shown), notes)


def model_lines(result: Results) -> Fields:
    """What was minimised, on which rows, and the errors on them."""
    given = result.problem, result.coding, result.scaling, result.dropped
    lines = problem_lines(*given, result.counted, result.offsets)
    errors = errors_of(result.training_table)
    return [*lines, ("Training errors:", errors)]


def problem_lines(
    problem: Problem,
    coding: LabelCoding,
    scaling: Scaling | None,
    dropped: Dropped,
    counted_by: Counts | None,
    offsets: Offset | None,
) -> Fields:
    """What is minimised, and on which rows."""
    negative, positive = coding.levels
    weights = problem.weights
    y, weightless = problem.y, problem.n_weightless
    if weights is not None:
        y = y[weights > 0.0]
    counts = {sign: int((y == sign).sum()) for sign in (-1.0, 1.0)}
    lines = [
        ("Outcome:", coding.name),
        ("Negative (-1):", f"{negative} ({counted(counts[-1.0], 'row')})"),
        ("Positive (+1):", f"{positive} ({counted(counts[1.0], 'row')})"),
        ("Loss:", problem.loss),
        ("lambda:", significant(problem.lam, 6)),
        ("Intercept:", "free" if problem.intercept else "none"),
    ]
    if scaling is not None:
        lines.append(("Predictors:", "standardized"))
    if weights is not None:
        low, high = (significant(float(w)) for w in (weights.min(), weights.max()))
        lines.append(("Row weights:", f"{low} to {high}"))
    if offsets is not None:
        lines.append(("Offset:", str(offsets)))
    return [
        *lines,
        ("No. Observations:", f"{problem.n_weighed:,}"),
        *([("Rows of weight 0:", f"{weightless:,}")] if weightless else []),
        *([] if counted_by is None else [("Counted:", str(counted_by))]),
        ("Rows dropped (NA):", str(dropped)),
    ]


def solver_lines(result: Results) -> Fields:
    """How it was minimised, and how near the fit is to the optimum."""
    solver, drawn = result.solver, result.solver.uses_random_numbers
    kind = solver.sample_kind.capitalize()
    hinge = result.problem.loss == "hinge"
    early = isinstance(solver, Pegasos) and solver.may_end_early
    wrong = f"{result.n_violations:,}"
    return [
        ("Solver:", result.solver_name),
        ("Order:", solver.order_name),
        ("Form:", solver.options or "plain"),
        *([("Epochs:", f"{result.n_epochs:,}, {solver.goals}")] if early else []),
        ("Steps:", f"{result.n_iter:,}"),
        *([("Margin violations:", wrong)] if counts_by_visit(result) else []),
        *([("Support rows:", f"{result.n_support:,}")] if hinge else []),
        ("Seed:", str(result.seed) if drawn else "none needed"),
        ("RNG:", f"Mersenne-Twister, {kind}" if drawn else "-"),
        ("Objective:", significant(result.objective, 6)),
        ("Duality gap:", significant(result.gap, 3)),
        ("Relative gap:", significant(result.relative_gap, 3)),
    ]


def counts_by_visit(result: Results) -> bool:
    """Whether steps visit a row, or those of a batch, so that violations go with them.

    A step of Newton's method looks at all rows, and counts the violations of all: their
    sum over such steps says nothing, and may be more than there are steps.
    """
    return result.refinement is None and result.solver.visits_rows


def errors_of(table: ConfusionMatrix) -> str:
    """Number and rate of the errors of a table, in words."""
    undecided = f", {table.n_undecided:,} undecided" if table.n_undecided else ""
    if not table.n_classified:
        return f"0 of 0{undecided}"
    return f"{table.n_errors:,} ({table.error_rate:.2%}){undecided}"


def largest(tidy: pd.DataFrame, limit: int | None) -> tuple[pd.DataFrame, list[Note]]:
    """The intercept and the `limit` largest coefficients by absolute value.

    Returns
    -------
    shown : DataFrame
        In the order of `tidy`.
    notes : list of Note
        That there are more, if there are.

    Raises
    ------
    OptionError
        If the limit is neither None nor a whole number above zero.
    """
    if limit is None:
        return tidy, []
    check_count("max_terms", limit)
    shown, p = largest_terms(tidy, limit), int((tidy["term"] != INTERCEPT).sum())
    if len(shown) == len(tidy):
        return tidy, []
    which = "largest" if limit == 1 else f"{limit} largest"
    text = (
        f"The {which} of {p:,} coefficients by absolute value "
        f"{'is' if limit == 1 else 'are'} shown; all are in params and tidy()."
    )
    return shown, [Note("terms", "note", text)]


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
