"""The printed form of a path of lambda."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pegasos_stats.tables import Fields, Summary, significant

if TYPE_CHECKING:
    from pegasos_stats.studies.selection.path_results import LambdaPath

MOST_LINES = 30


def summary_of(path: "LambdaPath") -> Summary:
    """Header, a line for each lambda, notes."""
    return Summary("Lambda Path", _left(path), _right(path), _lines(path), _notes(path))


def _left(path: "LambdaPath") -> Fields:
    problem, coding = path.model.problem, path.model.coding
    marks = path.marks()
    return [
        ("Outcome:", coding.name),
        ("Loss:", problem.loss),
        ("No. Observations:", f"{problem.n:,}"),
        ("Deciding metric:", path.metric if path.by_fold is not None else "none"),
        *[(f"lambda_{name}:", significant(v, 6)) for name, v in marks.items()],
    ]


def _right(path: "LambdaPath") -> Fields:
    gap = float(path.fits["relative_gap"].max())
    return [
        ("Solver:", path.solver.name),
        ("Starts:", "warm" if path.solver.to_optimum else "zero"),
        ("Folds:", "none" if path.folds is None else path.folds.kind),
        ("Seed:", str(path.seed)),
        ("Largest relative gap:", significant(gap, 3)),
    ]


def _lines(path: "LambdaPath") -> pd.DataFrame:
    """The lines of the summary, as text: all, or evenly spaced ones."""
    m, marks = len(path.lambdas), path.marks()
    at = {round(i) for i in np.linspace(0, m - 1, min(m, MOST_LINES))}
    at |= {int(np.flatnonzero(path.lambdas == lam)[0]) for lam in marks.values()}
    names = ["norm" if "norm" in path.fits else "n_support", "training_error"]
    names += [] if path.by_fold is None else [path.metric, f"{path.metric}_se"]
    rows = path.table.iloc[sorted(at)]
    cells = {name: [significant(v) for v in rows[name]] for name in names}
    frame = pd.DataFrame(cells, [significant(v) for v in rows["lam"]])
    frame[""] = [
        ", ".join(name for name, lam in marks.items() if lam == v) for v in rows["lam"]
    ]
    return frame


def _notes(path: "LambdaPath") -> list[str]:
    notes = ["norm and training_error are of the fits on all rows."]
    if path.by_fold is not None:
        notes.append(
            f"lambda_min has the best mean {path.metric} over the folds, "
            "lambda_1se is the largest lambda within a standard error of it."
        )
    if path.marks().get("min") in (path.lambdas[0], path.lambdas[-1]):
        notes.append(
            "lambda_min is at an end of the path; the best one may lie beyond."
        )
    return notes
