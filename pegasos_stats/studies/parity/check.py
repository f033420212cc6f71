"""Comparison of a fit with the same fit by the R reference."""

import warnings
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from pegasos_stats.arrays import DataColumn, Predictors, Rows, Vector
from pegasos_stats.compiled.arithmetic.risk import scores
from pegasos_stats.compiled.pegasos.pegasos_literal import dual_weights
from pegasos_stats.data.labels import Level, signs_of
from pegasos_stats.errors import ConvergenceWarning, OptionError, counted
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.metrics.confusion import confusion
from pegasos_stats.models.base import Model, checked_solver
from pegasos_stats.solvers.kernel_problem import KernelFunction, scores_of_kernel
from pegasos_stats.solvers.kernel_run import KernelVisitor
from pegasos_stats.solvers.options import declared, values_of
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.pegasos_run import Visitor
from pegasos_stats.solvers.problem import kernel_rows
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_coordinates import Plain
from pegasos_stats.studies.parity.r_session import R, RValue, Via, r_at_hand
from pegasos_stats.studies.selection.fold_fits import checked_model
from pegasos_stats.tables import header_html, lines_html, params_html, params_text

IN_R = (str, bool, int, float, np.generic)  # labels that R has too


@dataclass(frozen=True, eq=False)
class Setup:
    """A run that both sides can do.

    Attributes
    ----------
    model : SVM, Logit or KernelSVM
    solver : Pegasos or SDCA
        With a seed, and a start in the order of the columns.
    X : float64 array or CSR array, shape (n_rows, p)
        As R is given it; of a precomputed kernel (n_rows, n_rows).
    labels : Series, shape (n_rows,)
        Rows without a label are left out by both sides.
    coding : str or Series
        "factor", "first-seen", or the two levels.
    weights, offset : float64 array, shape (n_rows,), or None; weights in words as well
    """

    model: Any
    solver: Pegasos | SDCA
    X: Predictors
    labels: DataColumn
    coding: "str | DataColumn"
    weights: "Vector | DataColumn | None" = None
    offset: Vector | None = None

    @property
    def problem(self) -> Any:
        """What is minimised."""
        return self.model.problem

    @property
    def kernel(self) -> KernelFunction | None:
        """The kernel; None of a linear model."""
        return getattr(self.problem, "kernel", None)

    @property
    def levels(self) -> list[Level]:
        """The two levels; what R has no type for, such as a date, as text."""
        levels = list(self.model.coding.levels)
        if all(isinstance(level, IN_R) for level in levels):
            return levels
        return [
            level.isoformat() if isinstance(level, date) else str(level)
            for level in levels
        ]

    @property
    def state(self) -> tuple[str, str]:
        """Names of the arrays that a run changes in every step."""
        return ("beta", "a") if self.kernel is None else ("counts", "g")

    def ended_at(self, n_epochs: int | None) -> "Setup":
        """The same without a tolerance that R lacks: as many epochs as were run."""
        if isinstance(self.solver, Pegasos) or n_epochs is None:
            return self
        values = values_of(self.solver) | {"epochs": n_epochs}
        return replace(self, solver=SDCA(**values | {"tol": 0.0, "gap_tol": None}))

    def in_r(self) -> dict[str, object]:
        """The list that `run_configuration` of ``configurations.R`` takes."""
        solver, X = self.solver, self.X
        if not isinstance(X, np.ndarray):
            X = {
                "p": X.shape[1],
                "ends": X.indptr.astype(np.float64),
                "columns": X.indices.astype(np.float64) + 1.0,
                "values": X.data.astype(np.float64),
            }
        name = "kernel" if self.kernel is not None else solver.name.lower()
        return {
            "solver": name,
            "X": X if isinstance(X, dict) else X.astype(np.float64),
            "labels": self.labels,
            "coding": self.coding,
            "weights": self.weights,
            "offset": self.offset,
            "seed": solver.seed,
            "sample_kind": solver.sample_kind.capitalize(),
            "ties": solver.ties,
            "arguments": self._arguments(),
        }

    def _arguments(self) -> dict[str, object]:
        """Options of the solver and of the model by their names in R."""
        solver, problem = self.solver, self.problem
        values = values_of(solver)
        given: dict[str, object] = {"lambda": problem.lam}
        if not isinstance(solver, Pegasos):
            kept = {name: values[name] for name in ("epochs", "start")}
            return given | kept | {"loss": problem.loss}
        given["intercept"] = problem.intercept
        if self.kernel is not None:
            names = ["epochs", "order", "steps", "refit_intercept"]
            given |= {"kernel": self.kernel.name, **self.kernel.parameters}
        else:
            options = declared(type(solver)).values()
            names = [option.name for option in options if option.in_r]
            given["loss"] = problem.loss
        given |= {name: values[name] for name in names}
        if not isinstance(solver.order, str):
            given["order"] = solver.order + 1
        return given | {"epochs": values["epochs"] or 1}


def setup_of(model: object, solver: Pegasos | SDCA | None) -> Setup:
    """What both sides are given, of a model and a solver.

    Raises
    ------
    OptionError
        If it is no model, or the reference has no counterpart.
    """
    model = checked_model(model, in_memory=False).at_chosen_lambda()
    solver = model.in_columns(checked_solver(solver, Pegasos))
    _check_in_r(model, solver)
    if solver.uses_random_numbers and solver.seed is None:
        solver = solver.with_seed(1)
    problem, coding = model.problem, model.coding
    labels = coding.decode(problem.y).reset_index(drop=True)
    given = Setup(model, solver, problem.X, labels, coding.rule)
    low, high = levels = given.levels
    in_r = levels == list(coding.levels)
    if not in_r:
        given = replace(given, labels=pd.Series(np.where(problem.y > 0.0, high, low)))
    by_rule = in_r and (
        coding.rule == "factor"
        or (coding.rule == "first-seen" and not model.dropped.total)
    )
    return replace(
        given,
        coding=coding.rule if by_rule else pd.Series(levels),
        weights=problem.weights,
        offset=getattr(problem, "offset", None),
    )


def _check_in_r(model: Model, solver: Pegasos | SDCA) -> None:
    """Raise `OptionError` for what the reference lacks."""
    X = model.problem.X
    if not (isinstance(X, np.ndarray) or issparse(X)):
        raise OptionError(
            "The R reference does not read rows from files; give a model on a data "
            "frame."
        )
    if getattr(solver, "arithmetic", None) == "fast":
        raise OptionError(
            "is not in the R reference; give arithmetic='reference'.",
            "arithmetic",
            "fast",
        )
    if isinstance(solver, SDCA) and (
        solver.algorithm != "perm" or hasattr(model.problem, "kernel")
    ):
        raise OptionError(
            "The R reference has SDCA with algorithm='perm' alone, for linear models "
            "without intercept; give that, or solver='Pegasos'."
        )


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

Run = dict[str, RValue]

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

Epochs = list[Rows]

BLAS = "another BLAS sums x'beta in another order: R uses {}"

NEAR = 1e-9  # of a margin: within it another order of summation may move it over 1


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


@dataclass(frozen=True, eq=False)
class Divergence:
    """Where two runs part.

    Attributes
    ----------
    words : str
    step : int or None
        Counted from 1; None where it is before the first step or after the last.
    here, there : float64 array
        Margins of the rows of this step before it, in Python and in R.
    """

    words: str
    step: int | None = None
    here: Vector | None = None
    there: Vector | None = None


class PairedRuns:
    """Both runs, repeated from the start up to any step."""

    def __init__(self, r: R, setup: Setup, theirs: Run) -> None:
        self._r, self._setup, self._weights = r, setup, theirs
        ran = int(theirs["n_epochs"][0]) if "n_epochs" in theirs else None
        self.epochs, self.size = epochs_of(setup)[:ran], batch_size(setup)
        self.steps = sum(-(-len(rows) // self.size) for rows in self.epochs)
        r.set("given", setup.in_r())
        r.set("n_epochs", len(self.epochs))
        r.eval("given$n_epochs <- n_epochs")

    def differ_after(self, step: int) -> str | None:
        """Quantities that differ after a number of steps."""
        cut = first_steps(self.epochs, self.size, step)
        ours = python_state(self._setup, cut)
        theirs = {**self._weights, **self._r_state("state_after(given, cut)", cut)}
        for name in [*self._setup.state, "alpha"]:
            found = difference(self._setup, name, ours, theirs)
            if not found.equal:
                return f"{name}: {found.words}"
        return None

    def described(self, step: int) -> Divergence:
        """What is known of a step: where, at which rows, with which margins."""
        before = first_steps(self.epochs, self.size, step - 1)
        cut = first_steps(self.epochs, self.size, step)
        rows = cut[-1][len(before[-1]) if len(before) == len(cut) else 0 :]
        here = python_margins(self._setup, before, rows)
        self._r.set("rows", rows + 1)
        there = self._r_state("margins_after(given, cut, rows)", before)
        words = (
            f"First at step {step:,}, in epoch {len(cut):,}: row "
            f"{', '.join(str(row + 1) for row in rows)}; margin {_digits(here)} here, "
            f"{_digits(there)} in R; then {self.differ_after(step)}."
        )
        return Divergence(words, step, here, np.asarray(there, dtype=np.float64))

    def _r_state(self, code: str, epochs: Epochs) -> RValue:
        cut = {f"epoch{k}": rows + 1 for k, rows in enumerate(epochs)}
        self._r.set("cut", cut)
        return self._r.eval(code)


@dataclass(frozen=True, eq=False, repr=False)
class ParityCheck:
    """A run in Python beside the same run in R.

    Attributes
    ----------
    table : DataFrame
        One row for each quantity that both computed, by name: columns ``python``, ``r``
        (text) and ``same``, which is "every bit", "to rounding" or "differs".
    coefficients : DataFrame
        Columns ``python`` and ``r``, the intercept first; rows by name. For a kernel
        model the violation count of each row.
    equal : bool
        Whether nothing differs.
    parting : str
        The first step that differs, with its row and margins; empty if all are equal.
    reason : str
        Why the runs differ, as far as is known; empty if all are equal.
    r : dict
        Version of R, how it was called, its BLAS and its kinds of random numbers.
    ran_python, ran_r : dict
        All compared quantities, by their names in the R reference; rows are counted
        from 1.

    Examples
    --------
    >>> table = pd.DataFrame({"python": ["3"], "r": ["3"], "same": ["every bit"]})
    >>> ParityCheck(table, table, "svm", "", "", {"version": "4.2.2"}, {}, {}).equal
    True
    """

    table: pd.DataFrame
    coefficients: pd.DataFrame
    title: str
    parting: str
    reason: str
    r: dict[str, str]
    ran_python: Run = field(default_factory=dict)
    ran_r: Run = field(default_factory=dict)

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not bool((self.table["same"] == "differs").any())

    @property
    def verdict(self) -> str:
        """The result of the comparison in one sentence."""
        if not self.equal:
            apart = self.table.index[self.table["same"] == "differs"]
            return f"Python and R differ in: {', '.join(apart)}."
        rounded = self.table.index[self.table["same"] == "to rounding"]
        if rounded.empty:
            return "Python and R are the same in every bit."
        return f"Python and R are the same; to rounding alone in: {', '.join(rounded)}."

    @property
    def _facts(self) -> list[tuple[str, str]]:
        return [(f"{name}:", value) for name, value in self.r.items()]

    @property
    def _said(self) -> list[str]:
        return [line for line in (self.verdict, self.parting, self.reason) if line]

    def __str__(self) -> str:
        facts = [f"{name} {value}" for name, value in self._facts]
        return "\n".join([self.title, *facts, *params_text(self.table), *self._said])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = header_html(self.title, self._facts, []), params_html(self.table)
        return "\n".join([*parts, lines_html(self._said)])

    def to_json_dict(self) -> dict[str, object]:
        """Verdict, table and reasons as values of JSON."""
        return {
            "equal": self.equal,
            "table": self.table.rename_axis("name").reset_index().to_dict("records"),
            "parting": self.parting,
            "reason": self.reason,
            "r": self.r,
        }


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
    labels = result._labels()  # those of weight 0 too, as in R
    table = confusion(labels, result.predict(), levels=result.coding.levels).table
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


def as_text(r: R, values: list[object]) -> list[str]:
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
    far = np.abs(theirs["scores"]) > allowed
    here, there = (
        signs_of(np.asarray(run["scores"])[far], setup.solver.ties)
        for run in (ours, theirs)
    )
    if allowed > 0.0 and not far.all() and np.array_equal(here, there, equal_nan=True):
        return Compared("table", "to rounding")
    words = f"{left.tolist()} here, {right.tolist()} in R"
    return Compared("table", "differs", words)


def first_divergence(r: R, setup: Setup, ours: Run, theirs: Run) -> Divergence:
    """Epoch, step, rows, margins and coefficients where the two runs part.

    Parameters
    ----------
    r : R
    setup : Setup
    ours, theirs : dict
        What `sides.in_python` and `sides.in_r` gave.
    """
    for name in ("levels", "y", "weights"):
        if not difference(setup, name, ours, theirs).equal:
            return Divergence("The runs differ before their first step.")
    size = batch_size(setup)
    count = min(len(ours["rows"]), len(theirs["rows"]))
    apart = np.flatnonzero(ours["rows"][:count] != theirs["rows"][:count])
    if apart.size:
        at = int(apart[0])
        row, other = int(ours["rows"][at]), int(theirs["rows"][at])
        step = at // size + 1
        return Divergence(
            f"Step {step:,} visits row {row:,} here and {other:,} in R.", step
        )
    plain = setup
    if isinstance(setup.solver, Pegasos):
        plain = replace(setup, solver=replace(setup.solver, refit_intercept=False))
    sides = PairedRuns(r, plain, theirs)
    if sides.differ_after(sides.steps) is None:
        return Divergence(
            f"All {sides.steps:,} steps are the same; what is made of them differs."
        )
    steps = range(1, sides.steps + 1)
    return sides.described(
        1 + bisect_left(steps, True, key=lambda at: sides.differ_after(at) is not None)
    )


def batch_size(setup: Setup) -> int:
    """Rows in a step."""
    return int(getattr(setup.solver, "batch_size", 1))


def first_steps(epochs: Epochs, size: int, count: int) -> Epochs:
    """Rows of the first `count` steps, by epochs; the last one may be cut."""
    found: Epochs = []
    for rows in epochs:
        if count <= 0:
            break
        found.append(rows[: count * size])
        count -= -(-len(rows) // size)
    return found


def _digits(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:.17g}" for number in numbers)


def python_state(setup: Setup, epochs: Epochs) -> Run:
    """The state after the steps at these rows."""
    problem, solver = setup.problem, setup.solver
    if not isinstance(solver, Pegasos):
        run = Plain(problem, solver, None)
        for rows in epochs:
            run.epoch(rows)
        found = run.solution(None)
        return {"beta": found.beta, "alpha": 0.0, "a": found.dual}
    if setup.kernel is not None:
        steps = KernelVisitor(problem, solver)
        for rows in epochs:
            steps.visit(rows)
        counted = steps.solution(None)
        return {"counts": counted.counts, "g": counted.g, "alpha": counted.alpha}
    visitor = Visitor(problem, solver, solver.generator())
    for rows in epochs:
        visitor.visit(rows)
        visitor.epoch += 1
    beta, alpha = visitor.last()
    return {"beta": beta, "alpha": alpha, "a": dual_weights(visitor._state)}


def python_margins(setup: Setup, before: Epochs, rows: Rows) -> Vector:
    """Margins of these rows, seen from the state before."""
    problem, solver = setup.problem, setup.solver
    seen = np.zeros(len(rows))
    if setup.kernel is not None:
        if before:
            state = python_state(setup, before)
            unit = 1.0 / (problem.lam * sum(map(len, before)))
            seen = unit * state["g"][rows] + state["alpha"]
        return np.asarray(problem.y[rows] * seen)
    if before:
        state = python_state(setup, before)
        beta, alpha = state["beta"], state["alpha"]
    elif isinstance(solver, Pegasos):
        beta, alpha = Visitor(problem, solver, solver.generator()).begun_with
    else:
        beta, alpha = np.zeros(problem.p), 0.0
    seen = scores(kernel_rows(problem.X[rows]), beta, alpha) + problem.row_offsets[rows]
    return np.asarray(problem.y[rows] * seen)


@suggest_arguments
def check_against_r(
    model: object, solver: Pegasos | SDCA | None = None, *, via: Via | None = None
) -> ParityCheck:
    """Run a fit in Python and with the R reference in an installed R, and compare.

    The reference, the same algorithms in base R, comes with the package. Numbers are
    passed to R and back as doubles, not as decimal text. R needs about 50 microseconds
    for each row visited.

    Parameters
    ----------
    model : SVM, Logit or KernelSVM
        With the data, not fitted.
    solver : Pegasos or SDCA, optional
        ``Pegasos()`` by default; a missing seed is 1. If SDCA has a tolerance, R runs
        as many epochs as Python needed.
    via : "rpy2" or "Rscript", optional
        How R is called; by default rpy2 if it can be imported, else Rscript.

    Returns
    -------
    ParityCheck

    Raises
    ------
    DependencyError
        If R is not installed.
    OptionError
        If the reference lacks a feature of the fit: the fast arithmetic, SDCA with
        Newton steps or a kernel, rows that are read from files.
    DataError
        If R stops with an error.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> check = ps.check_against_r(  # doctest: +SKIP
    ...     ps.svm("digit ~ .", train, lam=1.0), ps.Pegasos(epochs=2, seed=443)
    ... )
    >>> check.equal  # doctest: +SKIP
    True
    """
    setup = setup_of(model, solver)
    with r_at_hand(via) as r:
        return checked_in(r, setup)


def checked_in(r: R, setup: Setup) -> ParityCheck:
    """Compare the two sides in an R that is there."""
    facts = dict(r.eval("r_facts()"))
    ours = in_python(r, setup)
    setup = setup.ended_at(ours["n_epochs"])
    by_r = {"levels": levels_in_r(r, setup)}
    levels = difference(setup, "levels", ours, by_r)
    if not levels.equal:  # the other things are compared in our order
        setup = replace(setup, coding=pd.Series(setup.levels))
    theirs = in_r(r, setup)
    found = [levels, *compared(setup, ours, theirs)[1:]]
    found = [_summed(setup, each, ours, theirs) for each in found]
    parting, reason = "", ""
    if any(each.name == "scores" and each.how == "to rounding" for each in found):
        reason = BLAS.format(_blas(facts)) + "." if setup.problem.loss != "log" else ""
    if not levels.equal:
        parting = f"Before the first step: the levels are {levels.words}."
        reason = (
            "another order of levels: R sorts text by its locale "
            f"({facts['collate'][0]}), Python by code point; give coding=(negative, "
            "positive) and, in R, factor(levels = ...)."
        )
    elif not all(each.equal for each in found):
        parted = first_divergence(r, setup, ours, theirs)
        parting, reason = parted.words, _reason(setup, parted, ours, theirs, facts)
    return ParityCheck(
        _table(found, ours, theirs | by_r),
        _coefficients(setup, ours, theirs),
        f"{setup.solver.name} in Python and in R",
        parting,
        reason[:1].upper() + reason[1:],
        {
            "R": f"{facts['version'][0]}, by {r.name}",
            "BLAS of R": _blas(facts),
            "Random numbers": ", ".join(facts["kinds"]),
        },
        ours,
        theirs,
    )


def levels_in_r(r: R, setup: Setup) -> list[str]:
    """Levels in the order in which R has them, by its own locale."""
    return [str(each) for each in r.call("label_levels", setup.labels, setup.coding)]


def _blas(facts: Run) -> str:
    return f"{facts['blas'][0] or 'not known'} (matprod {facts['matprod'][0]})"


def _summed(setup: Setup, each: Compared, ours: Run, theirs: Run) -> Compared:
    """Scores that differ as sums in another order do are the same to rounding."""
    if each.name != "scores" or each.equal:
        return each
    apart = np.abs(ours["scores"] - theirs["scores"])
    summed = bool((apart <= sums_apart(setup, ours)).all())
    return Compared("scores", "to rounding") if summed else each


def _reason(
    setup: Setup, parted: Divergence, ours: Run, theirs: Run, facts: Run
) -> str:
    """Why two runs part, as far as it can be known."""
    if parted.step is not None and parted.here is None:
        return (
            f"another RNGkind: that of R {facts['version'][0]} is "
            f"{', '.join(facts['kinds'])}; give sample_kind='rounding' or "
            "'rejection', as there."
        )
    if parted.here is not None and parted.there is not None:
        near = np.abs(parted.here - parted.there) <= NEAR * (1.0 + np.abs(parted.here))
        if setup.problem.loss == "log":
            return (
                "exp() of R and of Python rounds differently, and the first steps "
                "magnify that where lam is small beside the squares of the rows."
            )
        moved = (parted.here < 1.0) != (parted.there < 1.0)
        if (near & moved).any():
            return f"the margin is 1 to rounding, and {BLAS.format(_blas(facts))}."
    return "the reason is not known; please report it, with the data if you may."


def _table(found: list[Compared], ours: Run, theirs: Run) -> pd.DataFrame:
    rows = {
        NAMES[each.name]: (
            _cell(each.name, ours[each.name]),
            _cell(each.name, theirs[each.name]),
            each.how,
        )
        for each in found
    }
    columns = ["python", "r", "same"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _cell(name: str, value: RValue) -> str:
    """A value in a few signs: one number, levels, a table, or how many there are."""
    if name == "levels":
        return ", ".join(map(str, value))
    array = np.asarray(value)
    if name == "table":
        return " / ".join(" ".join(str(int(n)) for n in row) for row in array)
    if array.size == 1:
        return f"{array.flat[0]:.10g}"
    return counted(array.size, "row" if name == "rows" else "number")


def _coefficients(setup: Setup, ours: Run, theirs: Run) -> pd.DataFrame:
    name = setup.state[0]
    terms = list(setup.model.names) if name == "beta" else list(range(len(ours[name])))
    sides = {
        "python": np.concatenate([[ours["alpha"]], ours[name]]),
        "r": np.concatenate([np.atleast_1d(theirs["alpha"]), theirs[name]]),
    }
    found = pd.DataFrame(sides, index=["Intercept", *terms])
    return found if setup.problem.intercept else found.iloc[1:]
