"""The printed form of a study."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from pegasos_stats.errors import counted
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.solver import Solver
from pegasos_stats.tables import Fields, significant

TITLE = "Comparison of Solvers"


def model_facts(problem: Problem, outcome: str) -> Fields:
    """What was minimised, in names and values."""
    return [
        ("Outcome:", outcome),
        ("Loss:", problem.loss),
        ("lambda:", significant(problem.lam, 6)),
        ("Intercept:", "free" if problem.intercept else "none"),
        ("No. Observations:", f"{problem.n:,}"),
    ]


def end_table(last: pd.DataFrame) -> pd.DataFrame:
    """Cells of the summary: means, with standard deviations in brackets.

    Parameters
    ----------
    last : DataFrame
        As `SolverComparison.glance` gives it.
    """
    errors = "test" if "test_error_mean" in last.columns else "training"
    rows = [_cells(line, errors) for _, line in last.iterrows()]
    return pd.DataFrame(rows, index=last["solver"].astype(str).rename(None))


def _cells(line: "pd.Series[Any]", errors: str) -> dict[str, str]:
    low, high = line["epochs_min"], line["epochs_max"]
    return {
        "epochs": str(low) if low == high else f"{low}-{high}",
        "objective": _with_spread(line, "objective", 1.0, 5),
        "gap": significant(line["gap_mean"], 3),
        f"{errors} error %": _with_spread(line, f"{errors}_error", 100.0, 3),
        "CPU ms": _with_spread(line, "cpu_seconds", 1000.0, 3),
    }


def _with_spread(line: "pd.Series[Any]", name: str, scale: float, digits: int) -> str:
    mean, sd = scale * line[f"{name}_mean"], scale * line[f"{name}_sd"]
    if math.isnan(sd):
        return significant(mean, digits)
    return f"{significant(mean, digits)} ({significant(sd, 2)})"


def tolerance_of(solver: Solver) -> str:
    """Tolerance in words.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> tolerance_of(ps.SDCA(tol=1e-6, gap_tol=0.1))
    'a relative gap of 1e-06 or a gap of 0.1'
    """
    words = [f"a relative gap of {solver.tol:g}"] if solver.tol > 0.0 else []
    words += [f"a gap of {solver.gap_tol:g}"] if solver.gap_tol else []
    return " or ".join(words)


def study_notes(
    last: pd.DataFrame,
    tolerances: Mapping[str, str],
    limits: tuple[float, float],
    n_runs: int,
    seed: int,
    workers: int,
) -> list[str]:
    """What the numbers of the summary are.

    Parameters
    ----------
    last : DataFrame
        As `SolverComparison.glance` gives it.
    tolerances : mapping of solver to its tolerance in words
        Of the solvers that have one.
    limits : pair of float
        Best dual objective and least objective of all epochs.
    n_runs, seed, workers : int
    """
    low, high = (significant(value, 8) for value in limits)
    reached = last.set_index(last["solver"].astype(str))["n_reached"]
    return [
        "Means over the runs, each at its last epoch; standard deviations in brackets.",
        f"Certified by duality: the optimum lies between {low} and {high}.",
        *(
            f"{name} stops at {words}: {counted(int(reached[name]), 'run')} of "
            f"{n_runs:,} reached it."
            for name, words in tolerances.items()
        ),
        "CPU time of the updates alone, in "
        + ("one thread." if workers == 1 else f"{workers} threads side by side."),
        "Seeds: sample.int(2147483647, "
        f"{n_runs}) after set.seed({seed}) in R, the same for every solver.",
    ]
