"""A run in Python and in R, and the comparison of all its results.

Beside this file stands ``r_reference/R/configurations.R``.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Rows, Vector
from pegasos_stats.compiled.arithmetic.risk import scores
from pegasos_stats.data.labels import signs_of
from pegasos_stats.errors import ConvergenceWarning
from pegasos_stats.metrics.confusion import confusion
from pegasos_stats.solvers.kernel_problem import scores_of_kernel
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.studies.parity.session import R
from pegasos_stats.studies.parity.setup import Setup

# Everything without exp() is the same in every bit. Twelve digits of the largest step,
# w ||x|| / lam, where a slope of the log loss enters: exp() of the two may round
# differently, and where w (||x||^2 + 1) / lam is large the first steps magnify that.
LOG_RTOL = 1e-12

# Newton's method for a dual weight of the log loss ends with a step of 1e-8: its square
# is what is left, of the weight; what is summed over rows cancels and may be smaller.
SDCA_LOG_RTOL = 1e-10

# The two sides rescale dual weights in another order where beta is projected, and
# where steps are not 1 / (lam t).
PROJECTED_RTOL = 1e-10

# What best_intercept() states for the log loss, beside the difference of the scores.
REFIT_RTOL = 1e-14

Run = dict[str, Any]

NAMES = {  # what is compared, in this order, in words
    "levels": "levels",
    "y": "coding of the outcome",
    "weights": "weights",
    "rows": "rows drawn",
    "n_iter": "steps",
    "violations": "violations",
    "beta": "coefficients",
    "a": "dual weights",
    "counts": "violations of each row",
    "g": "sums of the kernel",
    "alpha": "intercept",
    "scores": "scores",
    "table": "confusion table",
}


@dataclass(frozen=True, eq=False)
class Compared:
    """One thing that both sides gave.

    Attributes
    ----------
    name : str
        A key of `NAMES`.
    how : "every bit", "to rounding" or "differs"
    words : str
        What differs, and where it begins; empty if nothing does.
    """

    name: str
    how: str
    words: str = ""

    @property
    def equal(self) -> bool:
        """Whether the two agree, bit for bit or within the tolerance."""
        return self.how != "differs"


def in_r(r: R, setup: Setup) -> Run:
    """What the reference gives."""
    r.set("given", setup.in_r())
    return dict(r.eval("run_configuration(given)"))


def in_python(r: R, setup: Setup) -> Run:
    """The same by the public face, with the names of R; levels as R writes them."""
    problem = setup.problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = setup.model.fit(setup.solver)
    found = result.solution
    n_epochs = found.n_epochs  # SDCA counts visits alone
    if not isinstance(setup.solver, Pegasos):
        n_epochs = found.n_iter // problem.n
    pair = result._rows.labels(), result.predict()  # those of weight 0 too, as in R
    table = confusion(*pair, levels=result.coding.levels).table
    run = {
        "levels": as_text(r, setup.levels),
        "y": problem.y,
        "weights": problem.row_weights,
        "rows": np.concatenate(epochs_of(setup)[:n_epochs]) + 1,
        "n_iter": found.n_iter,
        "n_epochs": n_epochs,
        "violations": found.n_violations,
        "alpha": found.alpha,
        "table": table.to_numpy(),
    }
    if setup.kernel is not None:
        at = scores_of_kernel(problem, found, problem.X)
        return run | {"counts": found.counts, "g": found.g, "scores": at}
    at = scores(problem.rows, found.beta, found.alpha)
    if problem.offset is not None:
        at = at + problem.offset
    return run | {"beta": found.beta, "a": found.dual, "scores": at}


def as_text(r: R, values: list[Any]) -> list[str]:
    """Labels as R writes them."""
    return [str(text) for text in r.call("as.character", pd.Series(values))]


def epochs_of(setup: Setup) -> list[Rows]:
    """Rows of each epoch that the run may have, counted from zero."""
    n, solver = setup.problem.n, setup.solver
    rng = solver.generator()
    if not isinstance(solver, Pegasos):
        return [rng.permutation(n) for _ in range(solver.epochs)]
    if isinstance(solver.start, str) and solver.start == "random":
        rng.rnorm(setup.problem.p)
    return list(solver.passes.rows(n, rng))


def compared(setup: Setup, ours: Run, theirs: Run) -> list[Compared]:
    """All that both sides gave, one by one."""
    known = [name for name in NAMES if name in ours and name != "table"]
    found = [difference(setup, name, ours, theirs) for name in known]
    return [*found, _tables(setup, ours, theirs)]


def difference(setup: Setup, name: str, ours: Run, theirs: Run) -> Compared:
    """Compare one of the things."""
    if name == "levels":
        here, there = list(ours[name]), list(theirs[name])
        if here == there:
            return Compared(name, "every bit")
        return Compared(name, "differs", f"{here} here, {there} in R")
    left, right = (
        np.atleast_1d(np.asarray(run[name], dtype=np.float64)) for run in (ours, theirs)
    )
    if left.shape != right.shape:
        return Compared(name, "differs", f"{left.size} here, {right.size} in R")
    apart = np.flatnonzero(left.view(np.int64) != right.view(np.int64))
    if not apart.size:
        return Compared(name, "every bit")
    allowed = tolerance(setup, name, ours, theirs)
    farthest = np.abs(left - right).max()
    if farthest <= allowed:
        return Compared(name, "to rounding")
    at = int(apart[0])
    many = f"{apart.size:,} of {left.size:,} differ, first {_place(setup, name, at)}: "
    words = (many if left.size > 1 else "") + f"{left[at]!r} here, {right[at]!r} in R"
    over = f"; {farthest:g} apart, {allowed:g} allowed" if allowed > 0.0 else ""
    return Compared(name, "differs", words.replace("np.float64", "") + over)


def _place(setup: Setup, name: str, at: int) -> str:
    """Where in an array something differs, as the user counts."""
    if name == "beta":
        return str(setup.model.names[at])
    return f"{'visit' if name == 'rows' else 'row'} {at + 1}"


def tolerance(setup: Setup, name: str, ours: Run, theirs: Run) -> float:
    """Allowed difference of the two; 0 if every bit should agree."""
    solver, problem, loss = setup.solver, setup.problem, setup.problem.loss
    pegasos = solver if isinstance(solver, Pegasos) else None
    own_order = pegasos is not None and (pegasos.project or not pegasos.has_own_steps)
    if name == "a" and own_order:
        return PROJECTED_RTOL * float(np.abs(theirs["a"]).max())
    if loss != "log" or name not in ("beta", "alpha", "a", "scores"):
        return 0.0
    largest, radius = float(np.max(theirs["weights"])), problem.radius
    steps: dict[str, float] = {
        "beta": radius / problem.lam,
        "alpha": 1.0 / problem.lam,
        "scores": (radius * radius + 1.0) / problem.lam,
        "a": len(theirs["y"]),
    }
    if pegasos is None:
        return SDCA_LOG_RTOL * largest * (1.0 if name == "a" else steps[name])
    allowed: float = LOG_RTOL * largest * steps[name]
    if name in ("alpha", "scores") and pegasos.refit_intercept:
        allowed += LOG_RTOL * largest * steps["scores"]
        allowed += REFIT_RTOL * (1.0 + float(np.abs(theirs["scores"]).max()))
    return allowed


def sums_apart(setup: Setup, run: Run) -> Vector:
    """How far scores of two orders of summation may be apart, for each row."""
    problem, eps = setup.problem, np.finfo(np.float64).eps
    if setup.kernel is not None:
        return np.zeros(problem.n)
    size = abs(problem.X) @ np.abs(run["beta"]) + abs(run["alpha"])
    return np.asarray((problem.p + 2.0) * eps * (size + np.abs(problem.row_offsets)))


def _tables(setup: Setup, ours: Run, theirs: Run) -> Compared:
    """Tables; those of the log loss but for rows whose score is 0 to rounding."""
    left, right = ours["table"], np.asarray(theirs["table"])
    if np.array_equal(left, right):
        return Compared("table", "every bit")
    allowed = tolerance(setup, "scores", ours, theirs)
    ties = setup.solver.ties
    sides = [signs_of(np.asarray(run["scores"]), ties) for run in (ours, theirs)]
    moved = (sides[0] != sides[1]) & ~(np.isnan(sides[0]) & np.isnan(sides[1]))
    if (
        allowed > 0.0
        and moved.any()
        and (np.abs(theirs["scores"][moved]) <= allowed).all()
    ):
        return Compared("table", "to rounding")
    words = f"{left.tolist()} here, {right.tolist()} in R"
    return Compared("table", "differs", words)
