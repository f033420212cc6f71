"""Mean, spread and quantiles over the runs of a study: functions of its record."""

import pandas as pd

from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA

MEASURES = (
    "objective",
    "gap",
    "relative_gap",
    "violations",
    "training_error",
    "test_error",
    "cpu_seconds",
)
QUANTILES = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}


def measures_of(runs: pd.DataFrame) -> list[str]:
    """Measures that a record has: without held-out rows there is no test error."""
    return [name for name in MEASURES if name in runs.columns]


def statistics_by_epoch(runs: pd.DataFrame) -> pd.DataFrame:
    """Statistics over the runs that reached an epoch, see `SolverComparison.tidy`.

    Missing values, such as an error rate of no decided row, are not counted.
    """
    measures = pd.CategoricalDtype(measures_of(runs))
    long = runs.melt(["solver", "epoch"], list(measures.categories), "measure")
    long = long.astype({"measure": measures, "value": "float64"})
    keys = ["solver", "epoch", "measure"]
    values = long.groupby(keys, observed=True)["value"]
    columns = {"n_runs": values.count(), "mean": values.mean(), "sd": values.std()}
    columns |= {name: values.quantile(share) for name, share in QUANTILES.items()}
    return pd.DataFrame(columns).reset_index()


def at_the_end(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation over the runs, each at its last epoch."""
    last = runs.groupby(["solver", "run"], observed=True).tail(1)
    by_solver = last.groupby("solver", observed=True)
    columns = {
        "n_runs": by_solver.size(),
        "epochs_min": by_solver["epoch"].min(),
        "epochs_max": by_solver["epoch"].max(),
    }
    for name in measures_of(runs):
        columns[f"{name}_mean"] = by_solver[name].mean()
        columns[f"{name}_sd"] = by_solver[name].std()
    return pd.DataFrame(columns).reset_index()


def runs_at_tolerance(runs: pd.DataFrame, solver: Pegasos | SDCA) -> int | None:
    """Count the runs of one solver that reached its tolerance; None if it has none.

    They ended before the last epoch allowed, or with a gap that is small enough.
    """
    if not solver.stops:
        return None
    last = runs.groupby("run").tail(1)
    near = last["gap"] <= solver.tol * last["objective"]
    if solver.gap_tol:
        near |= last["gap"] <= solver.gap_tol
    return int((near | (last["epoch"] < solver.epochs)).sum())
