"""The penalty of a model: a number, 1/n, or one chosen by cross-validation."""

from typing import Literal

from pegasos_stats.checks import check_penalty
from pegasos_stats.errors import OptionError
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import LamRule, Problem
from pegasos_stats.solvers.solver import Solver

Lam = float | Literal["cv"] | None


def penalty_of(lam: object, n: float) -> tuple[float, LamRule]:
    """Return the penalty of a model and where it is from.

    Parameters
    ----------
    lam : float, "cv" or None
        None for ``1 / n``, the C = 1 of LIBSVM, which also stands for ``"cv"`` until a
        fit chooses.
    n : float
        Rows of the model, by their frequencies.

    Raises
    ------
    OptionError
        If `lam` is none of these, or not above zero.

    Examples
    --------
    >>> penalty_of(None, 200), penalty_of(0.1, 200), penalty_of("cv", 200)
    ((0.005, '1/n'), (0.1, 'given'), (0.005, 'cv'))
    """
    if lam is None:
        return 1.0 / n, "1/n"
    if isinstance(lam, str) and lam == "cv":
        return 1.0 / n, "cv"
    if isinstance(lam, str):
        raise OptionError(
            "is not allowed; give a number above zero, or 'cv' for the best by "
            "cross-validation.",
            "lam",
            lam,
        )
    return check_penalty(lam), "given"


def check_has_penalty(problem: Problem, solver: Solver) -> None:
    """Raise `OptionError` for Pegasos on a problem whose lambda is the default."""
    if isinstance(solver, Pegasos) and problem.lam_rule == "1/n":
        raise OptionError(
            "Pegasos takes steps of 1/(lambda t) and has no default lam; give lam=, "
            "such as lam=1.0, or leave the solver out for the optimum."
        )
