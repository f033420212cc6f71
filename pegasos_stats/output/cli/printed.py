"""What the command line prints of a fit, of a report, and of predictions."""

import json
import math
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pegasos_stats.data.scaling import ScaledDesign
from pegasos_stats.errors import UndefinedMetricWarning, counted
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.notes import (
    above,
    factor_levels,
    is_constant,
    listed,
    most_important,
)
from pegasos_stats.models.results import Results
from pegasos_stats.models.summaries import counts_by_visit
from pegasos_stats.output.cli.options import as_options
from pegasos_stats.output.report.facts import Fitted
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.options import declared
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.studies.selection.cross_validation import CrossValidation
from pegasos_stats.studies.thresholds import scale_of
from pegasos_stats.tables import note_text, params_text, significant
from pegasos_stats.writing import shown_path

# Fields of a solver that JSON has otherwise, or not at all.
NO_FACTS = ("seed", "steps", "ties", "gap_tol", "sample_kind", "intercept", "name")
HINTS = ("probabilities", "columns", "level order", "penalty")  # topics of notes

Facts = dict[str, object]  # by name, for JSON


@dataclass(frozen=True)
class Printed:
    """What a command writes to standard output and standard error.

    Attributes
    ----------
    out, err : str
    code : int
        The exit code.
    """

    out: str
    err: str = ""
    code: int = 0


@dataclass(frozen=True)
class Evaluated:
    """A fit and what was asked about it.

    Attributes
    ----------
    title : str
    result : LinearResults or KernelResults
    tables : dict of ConfusionMatrix
        By the name of the data.
    validation : CrossValidation or None
    threshold : float or None
        Of the tables.
    notes : list of str
        What happened to the test data, in words.
    unseen : list of str
        Levels of the test data that the fit did not see, in words.
    """

    title: str
    result: Fitted
    tables: dict[str, ConfusionMatrix]
    validation: CrossValidation | None
    threshold: float | None
    notes: list[str]
    unseen: list[str]

    @property
    def cautions(self) -> list[str]:
        """What to look at before the fit is believed.

        With a threshold rows are predicted as in the table of the training data.
        """
        found, table = [], self.tables["training"]
        if self.threshold is not None and is_constant(table):
            only = table.levels[int(table.counts.sum(axis=0).argmax())]
            found = [f"every row is predicted {str(only)!r} at this threshold."]
        topics = () if self.threshold is None else ("predictions",)
        return (
            found
            + [
                as_options(note.text)
                for note in self.result.notes
                if note.severity == "warning" and note.topic not in topics
            ]
            + self.unseen
        )

    @property
    def hints(self) -> list[str]:
        """What another option would change, constant columns, whose probabilities."""
        return [
            as_options(note.text)
            for note in self.result.notes
            if note.severity == "note" and note.topic in HINTS
        ]

    @property
    def chosen(self) -> str:
        """How ``--lambda cv`` chose lambda, in words; empty where it did not."""
        path = self.result.lambda_path
        if path is None:
            return ""
        return (
            f"the best of {counted(len(path.lambdas), 'value')} by 10-fold "
            f"cross-validation of the training rows, by {path.metric}"
        )


# ----------------------------------------------------------------- to read


def fit_text(found: Evaluated, saved: str | None, coefficients: bool) -> str:
    """Label counts, tables, errors and run time of a fit."""
    result = found.result
    counts = []
    for name, table in found.tables.items():
        if table.source != "out of fold":  # the training rows again
            each = [f"{level}: {n:,}" for level, n in label_counts(table).items()]
            counts.append(f"{name} {', '.join(each)}")
    factors = [
        f"{name} ({counted(len(levels), 'level')})"
        for name, levels in factor_levels(result.design).items()
    ]
    problem = result.problem
    kernel = problem.kernel if isinstance(problem, KernelProblem) else ""
    lines = [
        found.title,
        outcome_line(result),
        f"Labels     {'; '.join(counts)}",
        _rows_line(result),
        *_labelled("Missing", result.dropped.by_column),
        *_labelled("Factors", ", ".join(factors)),
        *_labelled("Features", *found.notes),
        _model_line(result),
        *_labelled("Lambda", found.chosen),
        *_labelled("Kernel", kernel),
        _solver_line(result),
        _objective_line(result),
        *_threshold_line(found),
        *_labelled("Warning", *found.cautions),
        *_labelled("Note", *found.hints),
        "",
    ]
    if result.trace is not None:
        rows = result.trace.to_string(index=False, float_format="{:.6g}".format)
        lines += ["Trace", rows, ""]
    if coefficients and isinstance(result, LinearResults):
        cells, notes = result.coefficient_cells(max_terms=None)
        lines += ["Coefficients", *params_text(cells)]
        for note in listed(most_important(notes)):
            lines += note_text(as_options(note))
        lines.append("")
    tables = [f"{name.capitalize()} data\n{t}" for name, t in found.tables.items()]
    lines.append("\n\n".join(tables))
    if saved:
        lines += ["", f"Model saved in {shown_path(saved)}"]
    return "\n".join(lines) + "\n"


def report_text(found: Evaluated, path: object) -> str:
    """What ``report`` prints: the errors, what to look at, and where the report is."""
    lines = [found.title, outcome_line(found.result), _model_line(found.result)]
    lines += _threshold_line(found)
    for name, table in found.tables.items():
        rate = f" ({table.n_errors / n:.2%})" if (n := table.n_classified) else ""
        lines += _labelled(
            name.capitalize(), f"{table.n_errors:,} of {n:,} wrong{rate}"
        )
    lines += [*_labelled("Warning", *found.cautions), report_line(path)]
    return "\n".join(lines) + "\n"


def report_line(path: object) -> str:
    """Where a report is."""
    return f"Report     {path}"


def outcome_line(result: Results) -> str:
    """The outcome and the coding of its levels."""
    negative, positive = result.coding.levels
    return f"Outcome    {result.coding.name}: {negative} is -1, {positive} is +1"


def _labelled(name: str, *texts: object) -> list[str]:
    """Lines with a name before each text that is not empty."""
    return [f"{name:<10} {text}" for text in texts if str(text)]


def _rows_line(result: Fitted) -> str:
    problem = result.problem
    if isinstance(result, KernelResults):
        size = counted(result.n_support, "support row")
    else:
        size = counted(len(result.coef), "coefficient")
    free = "an intercept" if problem.intercept else "no intercept"
    times = "" if result.counted is None else f" (counted in {result.counted})"
    weightless = f", {n:,} of weight 0" if (n := problem.n_weightless) else ""
    return (
        f"Rows       {result.nobs:,} used{times}, {result.dropped} dropped for missing "
        f"values{weightless}; {size} and {free}"
    )


def _model_line(result: Fitted) -> str:
    """What is minimised, in a line."""
    words = [
        f"{result.problem.loss} loss, lambda = {result.problem.lambda_text}",
        *(["weighted rows"] if result.problem.weights is not None else []),
        *([] if result.offsets is None else [f"offset {result.offsets}"]),
        *(["standardized features"] * isinstance(result.design, ScaledDesign)),
    ]
    return f"Model      {', '.join(words)}"


def _solver_line(result: Fitted) -> str:
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


def _objective_line(result: Fitted) -> str:
    """The objective, and how far it is above its minimum."""
    least, most = result.objective, result.shortfall
    known = most.at_most < math.inf
    where = above(least, most) if known else "nothing is certified"
    return f"Objective  {significant(least, 6)}, {where}"


def _threshold_line(found: Evaluated) -> list[str]:
    """What labels are predicted by, where a threshold was given."""
    result, threshold = found.result, found.threshold
    if threshold is None:
        return []
    scale, above = scale_of(result.problem), result.coding.positive
    of = f"the probability of {above}" if scale.name == "probability" else "the score"
    usual = significant(scale.usual, 6)
    return [f"Threshold  {threshold:g} of {of}, as given; the usual one is {usual}"]


# ------------------------------------------------------------ for programs


def fit_json(found: Evaluated, coefficients: bool) -> str:
    """The same numbers and the coefficients, for programs."""
    result, trace = found.result, found.result.trace
    levels = factor_levels(result.design)
    content: Facts = {
        "outcome": result.coding.name,
        "levels": [str(level) for level in result.coding.levels],
        "label_counts": {k: label_counts(t) for k, t in found.tables.items()},
        "factors": {name: len(each) for name, each in levels.items()},
        "rows_used": result.nobs,
        "rows_dropped": result.dropped.total,
        "rows_of_weight_0": result.problem.n_weightless,
        "missing": dict(result.dropped.missing),
        **result_facts(result),
        "trace": None if trace is None else trace.to_dict(orient="records"),
        "confusion": {k: _table_facts(t) for k, t in found.tables.items()},
        "notes": found.notes,
        "warnings": found.cautions,
        "hints": found.hints,
    }
    if coefficients and isinstance(result, LinearResults):
        _, notes = result.coefficient_cells(max_terms=None)
        table = result.coefficient_table().to_dict(orient="records")
        content["coefficients"] = table
        content["coefficient_notes"] = [as_options(note) for note in listed(notes)]
    if found.chosen:
        content["lambda_chosen"] = found.chosen
    return strict_json(content)


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


def result_facts(result: Fitted) -> Facts:
    """What is minimised, how, and what was found."""
    problem, solver, then = result.problem, result.solver, result.refinement
    kernel = problem.kernel if isinstance(problem, KernelProblem) else None
    names = [name for name in declared(type(solver)) if name not in NO_FACTS]
    options = {name: getattr(solver, name) for name in names}
    if isinstance(options.get("order"), np.ndarray):
        options["order"] = "rows"
    facts: Facts = {
        "loss": problem.loss,
        "lambda": problem.lam,
        "lambda_rule": problem.lam_rule,
        "intercept": problem.intercept,
        "kernel": str(kernel) if kernel else None,
        "weighted": problem.weights is not None,
        "counted_in": None if result.counted is None else result.counted.lines,
        "standardized": isinstance(result.design, ScaledDesign),
        "solver": solver.name,
        **options,
        "refine": None if then is None else then.tol,
        "seed": result.seed,
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


def _table_facts(table: ConfusionMatrix) -> Facts:
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


# ------------------------------------------------------------- predictions


@dataclass(frozen=True)
class Predicted:
    """Predictions, with the confusion table where labels are known.

    Attributes
    ----------
    title : str
    result : Results
    table : ConfusionMatrix or None
    n_rows : int
    counts : dict of int
        Rows that are predicted as each level.
    notes : list of str
    written : str or None
        Where the predictions were written.
    """

    title: str
    result: Results
    table: ConfusionMatrix | None
    n_rows: int
    counts: dict[str, int]
    notes: list[str]
    written: str | None

    def as_text(self) -> str:
        """Counts, and the confusion table if there is one, to read."""
        shown = ", ".join(f"{level}: {count:,}" for level, count in self.counts.items())
        missing = self.n_rows - sum(self.counts.values())
        lines = [
            self.title,
            outcome_line(self.result),
            f"Rows       {self.n_rows:,}, {missing:,} of them without a prediction",
            f"Predicted  {shown}",
            *_labelled("Note", *self.notes),
            *([] if self.table is None else ["", str(self.table)]),
        ]
        if self.written:
            lines += ["", f"Predictions written to {shown_path(self.written)}"]
        return "\n".join(lines) + "\n"

    def as_json(self, predictions: pd.DataFrame | None) -> str:
        """The same for programs, with the predictions unless they are in a file."""
        content: Facts = {
            "outcome": self.result.coding.name,
            "levels": [str(level) for level in self.result.coding.levels],
            "rows": self.n_rows,
            "predicted_counts": self.counts,
            "confusion": None if self.table is None else _table_facts(self.table),
            "notes": self.notes,
        }
        if predictions is not None:
            labels = predictions["predicted"].astype(object)
            texts = labels.map(str, na_action="ignore")
            frame = predictions.assign(predicted=texts)
            frame.insert(0, "row", [str(row) for row in frame.index])
            frame = frame.astype(object).where(frame.notna(), None)
            content["predictions"] = frame.to_dict(orient="records")
        return strict_json(content)


def csv_of(predictions: pd.DataFrame, header: bool = True) -> str:
    """Predictions as CSV; scores with 17 digits."""
    shown = predictions.copy()
    for name in shown.columns[1:]:
        shown[name] = [
            "" if math.isnan(value) else f"{value:.17g}" for value in shown[name]
        ]
    first = str(shown.index.name or "row")
    return str(shown.to_csv(index_label=first, lineterminator="\n", header=header))
