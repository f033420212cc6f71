"""The warning of SDCA that it has not reached its tolerance."""

import math

from pegasos_stats.errors import ConvergenceWarning, counted, warn_caller
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.rounding import CLOSEST
from pegasos_stats.solvers.sdca import DEFAULT_TOL, SDCA

NEAR = 1e-3  # relative gap of a run that need not warn of the default tolerance


def warn_of(
    at: Certificate,
    solver: SDCA,
    rounded: bool,
    taken_as: str,
    closest: float = CLOSEST,
    epochs: int | None = None,
    hint: str = "",
) -> None:
    """Warn that the tolerance was not reached.

    Parameters
    ----------
    at : Certificate
        Computed from the rows.
    solver : SDCA
    rounded : bool
        Whether it was reached for centred columns.
    taken_as : str
        By which option the tolerance was given.
    closest : float
        Relative gap up to which rounding is the cause.
    epochs : int, optional
        That there were, if not all that there might have been.
    hint : str
        What else may reach it, after a semicolon.
    """
    goal, near = f"{taken_as}={solver.tol:g}", at.relative_gap
    if not solver.tol > 0.0:
        taken_as, goal, near = "gap_tol", f"gap_tol={solver.gap_tol:g}", at.gap
    gaps = f"the relative gap is {at.relative_gap:.2g}, the gap {at.gap:.2g}"
    larger = ""
    if 0.0 < near < 0.1:
        larger = f" Give {taken_as}={10.0 ** math.ceil(math.log10(near)):g}."
    if rounded:
        text = (
            f"SDCA has reached {goal} for centred columns only: {gaps}, because "
            "columns far from zero leave few digits to a score. Centre the "
            "predictors, as by standardize=True."
        )
    elif at.relative_gap <= closest:
        text = (
            f"SDCA has not reached {goal}: {gaps}, as near as rounding lets a "
            f"certificate tell.{larger}"
        )
    else:
        after = counted(epochs or solver.epochs, "epoch")
        text = (
            f"SDCA has not reached {goal} after {after}: {gaps}{hint}. Give more "
            f"epochs, or standardize=True where predictors differ in scale.{larger}"
        )
    warn_caller(text, ConvergenceWarning)


def near_enough(at: Certificate, solver: SDCA) -> bool:
    """Whether a run to the default tolerance is near it."""
    return solver.tol == DEFAULT_TOL and at.relative_gap <= NEAR
