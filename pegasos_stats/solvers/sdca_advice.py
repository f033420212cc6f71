"""What may help a run of SDCA: longer runs to try, and how to write them down."""

import math
from collections.abc import Iterator
from dataclasses import replace

from pegasos_stats.advice import Cure, Setting, Together, one_of, said
from pegasos_stats.errors import ConvergenceWarning, counted, warn_caller
from pegasos_stats.solvers.objective import Certificate
from pegasos_stats.solvers.options import values_of
from pegasos_stats.solvers.rounding import CLOSEST
from pegasos_stats.solvers.sdca import DEFAULT_EPOCHS, DEFAULT_TOL, SDCA

MOST_EPOCHS = 1000  # that are tried where others have not done
NEAR = 1e-3  # relative gap of a run that need not warn of the default tolerance
WAYS = ("algorithm", "start", "arithmetic")  # in which a run goes on, however long
USUAL = SDCA()


def longer_runs(solver: SDCA, tol: float) -> Iterator[SDCA]:
    """Runs to a tolerance that may get there, those like the solver first."""
    kinds = [replace(solver, tol=tol, gap_tol=None)]
    if solver.algorithm == "perm":
        kinds.append(replace(kinds[0], algorithm="newton", arithmetic=None))
    for kind in kinds:
        for epochs in sorted({solver.epochs, DEFAULT_EPOCHS, MOST_EPOCHS}):
            found = replace(kind, epochs=epochs)
            if epochs >= solver.epochs and values_of(found) != values_of(solver):
                yield found


def surely(solver: SDCA, tol: float) -> Together:
    """Settings that reach a tolerance on nearly all data, where none can be tried.

    Examples
    --------
    >>> [each.named for each in surely(SDCA(algorithm="perm", epochs=200), 1e-8)]
    ["algorithm='newton'", 'epochs=200', 'tol=1e-08']
    """
    sums = None if solver.algorithm == "perm" else solver.arithmetic
    steps = replace(solver, algorithm="newton", arithmetic=sums)
    epochs = max(solver.epochs, DEFAULT_EPOCHS)
    return call_of(replace(steps, epochs=epochs, tol=tol, gap_tol=None), solver)


def call_of(solver: SDCA, before: SDCA) -> Together:
    """Settings that make a solver of the usual one, or of another.

    Examples
    --------
    >>> perm = SDCA(algorithm="perm", epochs=5)
    >>> [each.named for each in call_of(SDCA(tol=1e-8), perm)]
    ["algorithm='newton'", 'epochs=100', 'tol=1e-08']
    """
    epochs = {solver.epochs, before.epochs} != {USUAL.epochs}
    named = [Setting("epochs", solver.epochs)] if epochs else []
    return (*ways_of(solver, before), *named, Setting("tol", solver.tol))


def ways_of(solver: SDCA, before: SDCA = USUAL) -> Together:
    """Settings of how a run goes on, if not in the usual way, or that of another."""
    found = []
    for name in WAYS:
        value = getattr(solver, name)
        usual = {getattr(USUAL, name), getattr(before, name)}
        if value is not None and usual != {value}:
            found.append(Setting(name, value))
    return tuple(found)


def warn_of(
    at: Certificate,
    solver: SDCA,
    rounded: bool,
    taken_as: str,
    enough: Together | None = None,
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
    enough : tuple of Setting, optional
        What reaches it.
    closest : float
        Relative gap up to which rounding is the cause.
    epochs : int, optional
        That there were, if not all that there might have been.
    hint : str
        What else may reach it, after a semicolon.
    """
    goal, near = Setting(taken_as, solver.tol, call="tol={}"), at.relative_gap
    if not solver.tol > 0.0:
        goal, near, taken_as = Setting("gap_tol", solver.gap_tol), at.gap, "gap_tol"
    gaps = f"the relative gap is {at.relative_gap:.2g}, the gap {at.gap:.2g}"
    others = () if enough is None else (enough,)
    cure = within_reach(near, solver, taken_as, others)
    if rounded:
        text = said(
            "SDCA has reached ",
            goal,
            f" for centred columns only: {gaps}, because columns far from zero leave "
            "few digits to a score.",
        )
        centred = "Centre the predictors, as by {}."
        cure = one_of([Setting("standardize", True)], centred)
    elif at.relative_gap <= closest:
        text = said(
            "SDCA has not reached ",
            goal,
            f": {gaps}, as near as rounding lets a certificate tell.",
        )
    else:
        after = counted(epochs or solver.epochs, "epoch")
        text = said("SDCA has not reached ", goal, f" after {after}: {gaps}{hint}.")
    warn_caller(text, ConvergenceWarning, cure)


def near_enough(at: Certificate, solver: SDCA) -> bool:
    """Whether a run to the default tolerance is near it."""
    return solver.tol == DEFAULT_TOL and at.relative_gap <= NEAR


def within_reach(
    gap: float, solver: SDCA, taken_as: str = "tol", others: tuple[Together, ...] = ()
) -> Cure | None:
    """A tolerance that a run to this gap reaches, beside other cures.

    It is the power of ten above the gap; none for a run that is nowhere near.

    Examples
    --------
    >>> print(within_reach(3e-5, SDCA(algorithm="perm")).written())
    Try SDCA(algorithm='perm', tol=0.0001).
    """
    if 0.0 < gap < 0.1:
        tol = 10.0 ** math.ceil(math.log10(gap))
        kept = ways_of(solver) if taken_as == "tol" else ()
        others = (*others, (*kept, Setting(taken_as, tol)))
    return Cure(others) if others else None
