"""What the command line prints of a fit, of a report, and of predictions."""

import json
import warnings
from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from pegasos_stats.errors import UndefinedMetricWarning, counted
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.kernel import KernelResults
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import Results
from pegasos_stats.models.summaries import factor_levels, header_lines, summary_of
from pegasos_stats.output.cli.options import as_options
from pegasos_stats.output.report.facts import Fitted
from pegasos_stats.solvers.options import declared
from pegasos_stats.studies.selection.cross_validation import CrossValidation
from pegasos_stats.tables import note_text
from pegasos_stats.writing import shown_path

# Fields of a solver that JSON has otherwise, or not at all.
NO_FACTS = ("seed", "steps", "ties", "gap_tol", "sample_kind", "intercept", "name")
FOUND = "seed n_iter n_violations objective dual_objective gap relative_gap"

Facts = dict[str, object]  # by name, for JSON


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
    """

    title: str
    result: Fitted
    tables: dict[str, ConfusionMatrix]
    validation: CrossValidation | None
    threshold: float | None

    @property
    def warnings(self) -> list[str]:
        """What to look at before the fit is believed."""
        of_labels = () if self.threshold is None else ("predictions",)
        return [
            as_options(note.text)
            for note in self.result.notes
            if note.severity == "warning" and note.topic not in of_labels
        ]

    @property
    def chosen(self) -> str:
        """How ``--lambda cv`` chose lambda, in words; empty where it did not."""
        path = self.result.lambda_path
        if path is None:
            return ""
        return (
            f"The best lambda of {counted(len(path.lambdas), 'value')} by 10-fold "
            f"cross-validation of the training rows, by {path.metric}."
        )


# ----------------------------------------------------------------- to read


def fit_text(found: Evaluated, coefficients: bool) -> str:
    """The summary of a fit with its details, its trace, and its tables."""
    result = found.result
    summary = summary_of(result, pd.DataFrame(), details=True)
    if coefficients and isinstance(result, LinearResults):
        summary = result.summary(max_terms=None, details=True)
    more = [found.chosen]
    if found.threshold is not None:
        more.append(f"Tables have the threshold {found.threshold:g}.")
    notes = [as_options(note) for note in summary.notes]
    lines = [found.title, str(replace(summary, notes=notes))]
    lines += [line for note in more for line in note_text(note)]
    if result.trace is not None:
        rows = result.trace.to_string(index=False, float_format="{:.6g}".format)
        lines += ["", "Trace", rows]
    for name, table in found.tables.items():
        lines += ["", f"{name.capitalize()} data", str(table)]
    return "\n".join(lines) + "\n"


def report_text(found: Evaluated) -> str:
    """What ``report`` prints: the errors, and what to look at."""
    lines = [found.title, *header_lines(found.result)]
    if found.threshold is not None:
        lines += labelled("Threshold", f"{found.threshold:g}")
    for name, table in found.tables.items():
        rate = f" ({table.n_errors / n:.2%})" if (n := table.n_classified) else ""
        lines += labelled(name.capitalize(), f"{table.n_errors:,} of {n:,} wrong{rate}")
    return "\n".join([*lines, *labelled("Warning", *found.warnings)]) + "\n"


def places_text(saved: str | None, report: str | None) -> str:
    """Where a model and a report were written."""
    text = f"\nModel saved in {shown_path(saved)}\n" if saved else ""
    return f"{text}Report     {shown_path(report)}\n" if report else text


def labelled(name: str, *texts: object) -> list[str]:
    """Lines with a name before each text."""
    return [f"{name:<10} {text}" for text in texts]


# ------------------------------------------------------------ for programs


def fit_json(found: Evaluated, coefficients: bool) -> str:
    """The same numbers and the coefficients, for programs."""
    result, trace = found.result, found.result.trace
    levels = factor_levels(result.design).items()
    content: Facts = {
        "outcome": result.coding.name,
        "levels": [str(level) for level in result.coding.levels],
        "label_counts": {
            k: dict(zip(map(str, t.levels), t.counts.sum(axis=1).tolist(), strict=True))
            for k, t in found.tables.items()
        },
        "factors": {name: len(each) for name, each in levels},
        "rows_used": result.nobs,
        "rows_dropped": result.dropped.total,
        "rows_of_weight_0": result.problem.n_weightless,
        "missing": dict(result.dropped.missing),
        **result_facts(result),
        "trace": None if trace is None else trace.to_dict(orient="records"),
        "confusion": {k: _table_facts(t) for k, t in found.tables.items()},
        "warnings": found.warnings,
        "hints": [as_options(n.text) for n in result.notes if n.severity == "note"],
    }
    if coefficients and isinstance(result, LinearResults):
        table = result.coefficient_table().to_dict(orient="records")
        content["coefficients"] = table
        content["coefficient_notes"] = [
            as_options(note.text) for note in result.notes_on_errors()
        ]
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
    finite = json.loads(json.dumps(content), parse_constant=lambda _: None)
    return json.dumps(finite, indent=2) + "\n"


def result_facts(result: Fitted) -> Facts:
    """What is minimised, how, and what was found."""
    problem, solver, then = result.problem, result.solver, result.refinement
    kernel = getattr(problem, "kernel", None)
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
        "standardized": result.scaling is not None,
        "solver": solver.name,
        **options,
        "refine": None if then is None else then.tol,
        **{name: getattr(result, name) for name in FOUND.split()},
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


# ------------------------------------------------------------- predictions


@dataclass(frozen=True)
class Predicted:
    """What is predicted, all rows together.

    Attributes
    ----------
    result : Results
    n_rows : int
    counts : dict of int
        Rows that are predicted to have each level.
    table : ConfusionMatrix or None
    note : str
        Why there is no table; may be empty.
    """

    result: Results
    n_rows: int
    counts: dict[str, int]
    table: ConfusionMatrix | None
    note: str

    @property
    def facts(self) -> Facts:
        """The same for programs; the rows are `records`."""
        return {
            "outcome": self.result.coding.name,
            "levels": [str(level) for level in self.result.coding.levels],
            "rows": self.n_rows,
            "predicted_counts": self.counts,
            "confusion": None if self.table is None else _table_facts(self.table),
            "notes": [self.note] * bool(self.note),
        }

    def __str__(self) -> str:
        missing = self.n_rows - sum(self.counts.values())
        counts = ", ".join(f"{level}: {n:,}" for level, n in self.counts.items())
        rows = f"{self.n_rows:,}, {missing:,} of them without a prediction"
        lines = [
            *labelled("Outcome", self.result.coding.described),
            *labelled("Rows", rows),
            *labelled("Predicted", counts),
            *labelled("Note", *[self.note] * bool(self.note)),
        ]
        return "\n".join(lines + ([] if self.table is None else ["", str(self.table)]))


def records(predictions: pd.DataFrame) -> list[dict[Hashable, object]]:
    """Predictions for JSON."""
    labels = predictions["predicted"].astype(object)
    frame = predictions.assign(predicted=labels.map(str, na_action="ignore"))
    frame.insert(0, "row", [str(row) for row in frame.index])
    frame = frame.astype(object).where(frame.notna(), None)
    return frame.to_dict(orient="records")


def csv_of(predictions: pd.DataFrame, header: bool = True) -> str:
    """Predictions as CSV; scores with 17 digits."""
    shown = predictions.astype({"predicted": object})
    text = shown.to_csv(
        index_label=str(shown.index.name or "row"),
        lineterminator="\n",
        header=header,
        float_format="%.17g",
    )
    return str(text)
