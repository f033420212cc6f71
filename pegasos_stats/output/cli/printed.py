"""What the command line prints of a fit, of a report, and of predictions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.notes import listed, most_important
from pegasos_stats.models.results import Results
from pegasos_stats.output.cli import facts
from pegasos_stats.output.cli.facts import label_counts, outcome_line, strict_json
from pegasos_stats.output.option_names import as_options
from pegasos_stats.output.report.report import Report
from pegasos_stats.output.report.subject import Fitted, factor_levels
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.tables import note_text, params_text
from pegasos_stats.writing import shown_path


@dataclass(frozen=True)
class Printed:
    """What a command writes to standard output and standard error.

    Attributes
    ----------
    out, err : str
    exact : bool
        Whether programs read what goes to standard output.
    code : int
        The exit code.
    """

    out: str
    err: str = ""
    exact: bool = False
    code: int = 0


@dataclass(frozen=True)
class PrintedCoefficients:
    """The coefficients of a fit with their standard errors.

    Attributes
    ----------
    lines : list of str
        To read: a table as that of a summary, and notes on it.
    content : dict
        For programs: the columns of `tidy`, and the notes.
    """

    lines: list[str]
    content: facts.Facts

    @classmethod
    def of(cls, result: LinearResults) -> "PrintedCoefficients":
        """Those of a fit.

        The notes to read are those of a summary, for programs they are all.
        """
        cells, notes = result.coefficient_cells(max_terms=None)
        first = [note_text(as_options(n)) for n in listed(most_important(notes))]
        table = result.coefficient_table().to_dict(orient="records")
        lines = [*params_text(cells), *(line for note in first for line in note)]
        every = [as_options(note) for note in listed(notes)]
        return cls(lines, {"coefficients": table, "coefficient_notes": every})


@dataclass(frozen=True)
class PrintedFit:
    """A fit with its confusion tables, as ``fit`` and ``demo`` print it.

    Attributes
    ----------
    title : str
    result : LinearResults or KernelResults
    tables : dict of ConfusionMatrix
        By the name of the data.
    notes : list of str
        What happened to the data, in words.
    cautions : list of str
        What to look at before the fit is believed.
    saved : str or None
        Where the model was saved.
    chosen : str
        How lambda was chosen; empty where it was given.
    threshold : float or None
        Of the tables.
    coefficients : PrintedCoefficients, optional
    """

    title: str
    result: Fitted
    tables: dict[str, ConfusionMatrix]
    notes: list[str]
    cautions: list[str]
    saved: str | None
    chosen: str = ""
    threshold: float | None = None
    coefficients: PrintedCoefficients | None = None

    def as_text(self) -> str:
        """Label counts, tables, errors and run time, to read."""
        result, counts = self.result, []
        for name, table in self.tables.items():
            if table.source == "out of fold":  # the training rows again
                continue
            each = [f"{level}: {n:,}" for level, n in label_counts(table).items()]
            counts.append(f"{name} {', '.join(each)}")
        problem = result.problem
        kernel = problem.kernel if isinstance(problem, KernelProblem) else None
        missing, weightless = result.dropped.by_column, result.problem.n_weightless
        parts = [
            self.title,
            outcome_line(result),
            f"Labels     {'; '.join(counts)}",
            f"Rows       {result.nobs:,} used{facts.counted_in(result)}, "
            f"{result.dropped} dropped for missing values"
            f"{f', {weightless:,} of weight 0' if weightless else ''}"
            f"; {facts.size(result)}",
            *([f"Missing    {missing}"] if missing else []),
            *facts.factors_line(result),
            *[f"Features   {note}" for note in self.notes],
            facts.model_line(result),
            *([f"Lambda     {self.chosen}"] if self.chosen else []),
            *([f"Kernel     {kernel}"] if kernel else []),
            facts.solver_line(result),
            facts.objective_line(result),
            *facts.threshold_line(result, self.threshold),
            *[f"Warning    {caution}" for caution in self.cautions],
            *[f"Note       {hint}" for hint in facts.hints(result)],
            "",
        ]
        if result.trace is not None:
            rows = result.trace.to_string(index=False, float_format="{:.6g}".format)
            parts += ["Trace", rows, ""]
        if self.coefficients is not None:
            parts += ["Coefficients", *self.coefficients.lines, ""]
        tables = [f"{name.capitalize()} data\n{t}" for name, t in self.tables.items()]
        parts.append("\n\n".join(tables))
        if self.saved:
            parts += ["", f"Model saved in {shown_path(self.saved)}"]
        return "\n".join(parts) + "\n"

    def as_json(self) -> str:
        """The same numbers and the coefficients, for programs."""
        result, trace = self.result, self.result.trace
        levels = factor_levels(result.design)
        content = {
            "outcome": result.coding.name,
            "levels": [str(level) for level in result.coding.levels],
            "label_counts": {k: label_counts(t) for k, t in self.tables.items()},
            "factors": {name: len(each) for name, each in levels.items()},
            "rows_used": result.nobs,
            "rows_dropped": result.dropped.total,
            "rows_of_weight_0": result.problem.n_weightless,
            "missing": dict(result.dropped.missing),
            **facts.model_facts(result),
            **facts.solver_facts(result),
            **facts.fitted_facts(result),
            "trace": None if trace is None else trace.to_dict(orient="records"),
            **({} if self.coefficients is None else self.coefficients.content),
            "confusion": {k: facts.table_facts(t) for k, t in self.tables.items()},
            "notes": self.notes,
            "warnings": self.cautions,
            "hints": facts.hints(result),
            **({"lambda_chosen": self.chosen} if self.chosen else {}),
        }
        return strict_json(content)


def printed_report(
    title: str,
    result: Fitted,
    tables: dict[str, ConfusionMatrix],
    warned: Sequence[str],
    made: Report,
    threshold: float | None,
) -> str:
    """What ``report`` prints: the errors, what to look at, and where the report is."""
    lines = [title, outcome_line(result), facts.model_line(result)]
    lines += facts.threshold_line(result, threshold)
    for name, table in tables.items():
        rate = f" ({table.n_errors / n:.2%})" if (n := table.n_classified) else ""
        lines.append(f"{name.capitalize():<10} {table.n_errors:,} of {n:,} wrong{rate}")
    lines += [f"Warning    {caution}" for caution in warned]
    return "\n".join([*lines, where(made)]) + "\n"


def where(made: Report) -> str:
    """Where a report is."""
    return f"Report     {made.path}"


@dataclass(frozen=True)
class PrintedPredictions:
    """Predictions, with the confusion table where labels are known.

    Attributes
    ----------
    title : str
    result : Results
    rows : int
    counts : dict of int
        Rows that are predicted as each level.
    table : ConfusionMatrix or None
    notes : list of str
    written : str or None
        Where the predictions were written.
    """

    title: str
    result: Results
    rows: int
    counts: dict[str, int]
    table: ConfusionMatrix | None
    notes: list[str]
    written: str | None

    def as_text(self) -> str:
        """Counts, and the confusion table if there is one, to read."""
        shown = ", ".join(f"{level}: {count:,}" for level, count in self.counts.items())
        missing = self.rows - sum(self.counts.values())
        parts = [
            self.title,
            outcome_line(self.result),
            f"Rows       {self.rows:,}, {missing:,} of them without a prediction",
            f"Predicted  {shown}",
            *[f"Note       {note}" for note in self.notes],
        ]
        if self.table is not None:
            parts += ["", str(self.table)]
        if self.written:
            parts += ["", f"Predictions written to {shown_path(self.written)}"]
        return "\n".join(parts) + "\n"

    def as_json(self, predictions: pd.DataFrame | None) -> str:
        """The same for programs, with the predictions unless they are in a file."""
        table = self.table
        content: facts.Facts = {
            "outcome": self.result.coding.name,
            "levels": [str(level) for level in self.result.coding.levels],
            "rows": self.rows,
            "predicted_counts": self.counts,
            "confusion": None if table is None else facts.table_facts(table),
            "notes": self.notes,
        }
        if self.written is None and predictions is not None:
            labels = predictions["predicted"].astype(object)
            texts = labels.map(str, na_action="ignore")
            frame = predictions.assign(predicted=texts)
            frame.insert(0, "row", [str(row) for row in frame.index])
            frame = frame.astype(object).where(frame.notna(), None)
            content["predictions"] = [
                dict(zip(frame.columns, row, strict=True)) for row in frame.to_numpy()
            ]
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


def level_counts(result: Results, predictions: pd.DataFrame) -> dict[str, int]:
    """Rows that are predicted as each level."""
    levels, predicted = result.coding.levels, predictions["predicted"]
    return {str(level): int((predicted == level).sum()) for level in levels}
