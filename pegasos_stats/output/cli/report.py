"""What the command line prints: a fit or predictions, to read or as JSON."""

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.output.cli.facts import (
    factors,
    factors_line,
    fitted_facts,
    is_kernel,
    label_counts,
    model_facts,
    model_line,
    outcome_line,
    size,
    solver_facts,
    solver_line,
    strict_json,
    table_facts,
    written_counts,
    written_trace,
)
from pegasos_stats.tables import significant
from pegasos_stats.writing import shown_path


@dataclass(frozen=True)
class FitReport:
    """A fit with its confusion tables.

    Attributes
    ----------
    title : str
    result : Results
    tables : dict of ConfusionMatrix
        By the name of the data.
    notes : list of str
        What happened to the data, in words.
    cautions : list of str
        What to look at before the fit is believed.
    saved : str or None
        Where the model was saved.
    seconds : float
        Run time of the fit.
    """

    title: str
    result: Any
    tables: dict[str, ConfusionMatrix]
    notes: list[str]
    cautions: list[str]
    saved: str | None
    seconds: float

    def as_text(self) -> str:
        """Label counts, tables, errors and run time, to read."""
        parts = [self.title, *self._facts(), ""]
        if self.result.trace is not None:
            parts += [written_trace(self.result.trace), ""]
        for name, table in self.tables.items():
            parts += [f"{name.capitalize()} data", str(table), ""]
        parts.append(f"Fitted in {self.seconds:.2f} s")
        if self.saved:
            parts.append(f"Model saved in {shown_path(self.saved)}")
        return "\n".join(parts) + "\n"

    def as_json(self) -> str:
        """The same numbers and the coefficients, for programs."""
        result, trace = self.result, self.result.trace
        content = {
            "outcome": result.coding.name,
            "levels": [str(level) for level in result.coding.levels],
            "label_counts": {k: label_counts(t) for k, t in self.tables.items()},
            "factors": factors(result),
            "rows_used": result.nobs,
            "rows_dropped": result.dropped.total,
            **model_facts(result),
            **solver_facts(result),
            **fitted_facts(result),
            "trace": None if trace is None else trace.to_dict(orient="records"),
            "confusion": {k: table_facts(t) for k, t in self.tables.items()},
            "notes": self.notes,
            "warnings": self.cautions,
            "run_time_seconds": self.seconds,
        }
        return strict_json(content)

    def _facts(self) -> list[str]:
        result = self.result
        tables = self.tables.items()
        counts = [f"{name} {written_counts(table)}" for name, table in tables]
        return [
            outcome_line(result),
            f"Labels     {'; '.join(counts)}",
            f"Rows       {result.nobs:,} used, {result.dropped} dropped for missing "
            f"values; {size(result)}",
            *factors_line(result),
            *[f"Features   {note}" for note in self.notes],
            model_line(result),
            *([f"Kernel     {result.problem.kernel}"] if is_kernel(result) else []),
            solver_line(result),
            f"Objective  {significant(result.objective, 6)}; the optimum is not below "
            f"{significant(result.dual_objective, 6)}",
            *[f"Warning    {caution}" for caution in self.cautions],
        ]


@dataclass(frozen=True)
class PredictReport:
    """Predictions, with the confusion table where labels are known.

    Attributes
    ----------
    title : str
    result : Results
    predictions : DataFrame
        Columns ``predicted``, ``score`` and, for the log loss, probabilities; on the
        row names of the data.
    table : ConfusionMatrix or None
    notes : list of str
    written : str or None
        Where the predictions were written.
    """

    title: str
    result: Any
    predictions: pd.DataFrame
    table: ConfusionMatrix | None
    notes: list[str]
    written: str | None

    def as_text(self) -> str:
        """Counts, and the confusion table if there is one, to read."""
        counts = self._counts()
        shown = ", ".join(f"{level}: {count:,}" for level, count in counts.items())
        missing = len(self.predictions) - sum(counts.values())
        parts = [
            self.title,
            outcome_line(self.result),
            f"Rows       {len(self.predictions):,}, {missing:,} of them without a "
            "prediction",
            f"Predicted  {shown}",
            *[f"Note       {note}" for note in self.notes],
        ]
        if self.table is not None:
            parts += ["", str(self.table)]
        if self.written:
            parts += ["", f"Predictions written to {shown_path(self.written)}"]
        return "\n".join(parts) + "\n"

    def as_json(self) -> str:
        """The same for programs, with the predictions unless they are in a file."""
        content: dict[str, Any] = {
            "outcome": self.result.coding.name,
            "levels": [str(level) for level in self.result.coding.levels],
            "rows": len(self.predictions),
            "predicted_counts": self._counts(),
            "confusion": None if self.table is None else table_facts(self.table),
            "notes": self.notes,
        }
        if self.written is None:
            content["predictions"] = _records(self.predictions)
        return strict_json(content)

    def as_csv(self) -> str:
        """The predictions; scores with 17 digits."""
        shown = self.predictions.copy()
        for name in shown.columns[1:]:
            shown[name] = [_all_digits(value) for value in shown[name]]
        return str(shown.to_csv(index_label="row", lineterminator="\n"))

    def _counts(self) -> dict[str, int]:
        levels, predicted = self.result.coding.levels, self.predictions["predicted"]
        return {str(level): int((predicted == level).sum()) for level in levels}


def _records(predictions: pd.DataFrame) -> list[dict[str, Any]]:
    """Predictions a row at a time, missing ones as None."""
    labels = predictions["predicted"].astype(object)
    frame = predictions.assign(predicted=labels.map(str, na_action="ignore"))
    frame.insert(0, "row", [str(row) for row in frame.index])
    frame = frame.astype(object).where(frame.notna(), None)
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.to_numpy()]


def _all_digits(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.17g}"
