"""Comparison of a fit with the same fit by the R reference."""

import warnings
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from pegasos_stats.arrays import DataColumn, Predictors, Rows, Vector
from pegasos_stats.compiled.arithmetic.risk import scores
from pegasos_stats.data.labels import Level, signs_of
from pegasos_stats.errors import ConvergenceWarning, OptionError, counted
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.metrics.confusion import confusion
from pegasos_stats.models.base import checked_solver
from pegasos_stats.solvers.kernel_problem import KernelFunction, scores_of_kernel
from pegasos_stats.solvers.options import declared, values_of
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
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
        levels = self.model.coding.levels
        return [each if isinstance(each, IN_R) else str(each) for each in levels]

    @property
    def state(self) -> tuple[str, ...]:
        """Names of the numbers that a run changes in every step."""
        return (*(("beta", "a") if self.kernel is None else ("counts", "g")), "alpha")

    def ended_at(self, n_epochs: int) -> "Setup":
        """The same without a tolerance that R lacks: as many epochs as were run."""
        if isinstance(self.solver, Pegasos):
            return self
        solver = replace(self.solver, epochs=n_epochs, tol=0.0, gap_tol=None)
        return replace(self, solver=solver)

    def in_r(self) -> dict[str, object]:
        """The list that `run_configuration` of ``configurations.R`` takes."""
        solver, problem, values = self.solver, self.problem, values_of(self.solver)
        X: Any = self.X
        if not isinstance(X, np.ndarray):
            X = {
                "p": X.shape[1],
                "ends": X.indptr.astype(np.float64),
                "columns": X.indices.astype(np.float64) + 1.0,
                "values": X.data.astype(np.float64),
            }
        arguments: dict[str, object] = {"lambda": problem.lam}
        if not isinstance(solver, Pegasos):
            names = ["epochs", "start"]
            arguments["loss"] = problem.loss
        elif self.kernel is None:
            options = declared(type(solver)).values()
            names = [option.name for option in options if option.in_r]
            arguments |= {"loss": problem.loss, "intercept": problem.intercept}
        else:
            names = ["epochs", "order", "steps", "refit_intercept"]
            arguments |= {"intercept": problem.intercept, "kernel": self.kernel.name}
            arguments |= self.kernel.parameters
        arguments |= {name: values[name] for name in names}
        if not isinstance(arguments.get("order", ""), str):
            arguments["order"] = values["order"] + 1
        arguments["epochs"] = values["epochs"] or 1
        return {
            "solver": "kernel" if self.kernel is not None else solver.name.lower(),
            "X": X if isinstance(X, dict) else X.astype(np.float64),
            "labels": self.labels,
            "coding": self.coding,
            "weights": self.weights,
            "offset": self.offset,
            "seed": solver.seed,
            "sample_kind": solver.sample_kind.capitalize(),
            "ties": solver.ties,
            "arguments": arguments,
        }


def setup_of(model: object, solver: Pegasos | SDCA | None) -> Setup:
    """What both sides are given, of a model and a solver.

    Raises
    ------
    OptionError
        If it is no model, or the reference has no counterpart.
    """
    model = checked_model(model, in_memory=False).at_chosen_lambda()
    solver = model.in_columns(checked_solver(solver, Pegasos))
    problem, coding = model.problem, model.coding
    if not (isinstance(problem.X, np.ndarray) or issparse(problem.X)):
        raise OptionError("The R reference reads no files; give a data frame.")
    if getattr(solver, "arithmetic", None) == "fast":
        raise OptionError("is not in the R reference.", "arithmetic", "fast")
    if isinstance(solver, SDCA) and (
        solver.algorithm != "perm" or hasattr(problem, "kernel")
    ):
        raise OptionError(
            "The R reference has SDCA with algorithm='perm' alone, for linear models "
            "without intercept; give that, or solver='Pegasos'."
        )
    if solver.uses_random_numbers and solver.seed is None:
        solver = solver.with_seed(1)
    labels = coding.decode(problem.y).reset_index(drop=True)
    given = Setup(model, solver, problem.X, labels, coding.rule, problem.weights)
    given = replace(given, offset=getattr(problem, "offset", None))
    low, high = levels = given.levels
    if levels != list(coding.levels):
        given = replace(given, labels=pd.Series(np.where(problem.y > 0.0, high, low)))
    elif coding.rule == "factor" or (
        coding.rule == "first-seen" and not model.dropped.total
    ):
        return given
    return replace(given, coding=pd.Series(levels))


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


class Compared(NamedTuple):
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
        apart, rounded = (
            ", ".join(self.table.index[self.table["same"] == how])
            for how in ("differs", "to rounding")
        )
        if apart:
            return f"Python and R differ in: {apart}."
        if rounded:
            return f"Python and R are the same; to rounding alone in: {rounded}."
        return "Python and R are the same in every bit."

    @property
    def _sentences(self) -> list[str]:
        return [line for line in (self.verdict, self.parting, self.reason) if line]

    def __str__(self) -> str:
        facts = [f"{name}: {value}" for name, value in self.r.items()]
        table = params_text(self.table)
        return "\n".join([self.title, *facts, *table, *self._sentences])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        facts = header_html(self.title, list(self.r.items()), [])
        return facts + params_html(self.table) + lines_html(self._sentences)

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
        "levels": r.call("as.character", pd.Series(setup.levels)).tolist(),
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
    place = setup.model.names[at] if name == "beta" else f"number {at + 1}"
    words = f"{apart.size:,} of {left.size:,} differ, first {place}: "
    return Compared(name, "differs", f"{words}{left[at]} here, {right[at]} in R")


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


def first_difference(r: R, setup: Setup, ours: Run, theirs: Run) -> str:
    """Where two runs part: the first step after which they differ, in words.

    Both are repeated up to single steps, by bisection: Pegasos with the rows of these
    steps as its order, one epoch, the last iterate; SDCA, and batches that end with
    their epoch, up to whole epochs.
    """
    for name in ("levels", "y", "weights"):
        if not difference(setup, name, ours, theirs).equal:
            return "The runs differ before their first step."
    rows, solver = ours["rows"] - 1, setup.solver
    size = solver.batch_size if isinstance(solver, Pegasos) else 1
    count = min(len(rows), len(theirs["rows"]))
    apart = np.flatnonzero(ours["rows"][:count] != theirs["rows"][:count])
    if apart.size:
        at = int(apart[0])
        row, other = int(ours["rows"][at]), int(theirs["rows"][at])
        step = at // size + 1
        return f"Step {step:,} visits row {row:,} here and {other:,} in R."
    epochs = ours["n_epochs"]
    by_epoch = not isinstance(solver, Pegasos) or (
        solver.steps is None and len(rows) // epochs % size > 0
    )
    unit, total = ("epoch", epochs) if by_epoch else ("step", len(rows) // size)

    def differ_after(at: int) -> str:
        """What differs after this many epochs or steps; empty if nothing does."""
        if isinstance(solver, Pegasos):
            order = rows.reshape(epochs, -1)[:at] if by_epoch else rows[: at * size]
            same = {"order": order, "epochs": 1, "steps": None, "average": "none"}
            same |= {"tol": 0.0, "change_tol": 0.0, "refit_intercept": False}
            part = replace(setup, solver=replace(solver, **same))
        else:
            part = setup.ended_at(at)
        mine, other = in_python(r, part), in_r(r, part)
        each = (difference(part, name, mine, other) for name in setup.state)
        words = [f"{NAMES[found.name]}: {found.words}" for found in each if found.words]
        return words[0] if words else ""

    if not differ_after(total):
        return f"After all {total:,} {unit}s the two are the same; the rest differs."
    steps = range(1, total + 1)
    at = 1 + bisect_left(steps, True, key=lambda at: bool(differ_after(at)))
    visits = ""
    if not by_epoch:
        listed = ", ".join(map(str, rows[(at - 1) * size : at * size] + 1))
        visits = f", at row {listed}"
    return f"First after {unit} {at:,}{visits}; {differ_after(at)}."


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
    blas = f"{facts['blas'][0] or 'not known'} (matprod {facts['matprod'][0]})"
    ours = in_python(r, setup)
    setup = setup.ended_at(ours["n_epochs"])
    by_r = r.call("label_levels", setup.labels, setup.coding)  # in the locale of R
    by_r = {"levels": [str(each) for each in by_r]}
    levels = difference(setup, "levels", ours, by_r)
    if not levels.equal:  # the other things are compared in our order
        setup = replace(setup, coding=pd.Series(setup.levels))
    theirs = in_r(r, setup)
    found = [levels, *compared(setup, ours, theirs)[1:]]
    found = [_summed(setup, each, ours, theirs) for each in found]
    apart, parting, reason = [each.name for each in found if not each.equal], "", ""
    if apart == ["levels"]:
        parting = f"Before the first step: the levels are {levels.words}."
        reason = (
            "Another order of levels: R sorts text by its locale "
            f"({facts['collate'][0]}), Python by code point; give coding=(negative, "
            "positive) and, in R, factor(levels = ...)."
        )
    elif apart:
        parting = first_difference(r, setup, ours, theirs)
        reason = (
            f"Sums and exp() may round differently (the BLAS of R is {blas}), and a "
            "margin of 1 falls on either side; if that is not it, please report it."
        )
        if "rows" in apart:
            reason = (
                f"Another RNGkind: that of R is {', '.join(facts['kinds'])}; give "
                "sample_kind='rounding' or 'rejection', as there."
            )
    return ParityCheck(
        _table(found, ours, theirs | by_r),
        _coefficients(setup, ours, theirs),
        f"{setup.solver.name} in Python and in R",
        parting,
        reason,
        {
            "R": f"{facts['version'][0]}, by {r.name}",
            "BLAS of R": blas,
            "Random numbers": ", ".join(facts["kinds"]),
        },
        ours,
        theirs,
    )


def _summed(setup: Setup, each: Compared, ours: Run, theirs: Run) -> Compared:
    """Scores that differ as sums in another order do are the same to rounding."""
    problem, eps = setup.problem, np.finfo(np.float64).eps
    if each.name != "scores" or each.equal or setup.kernel is not None:
        return each
    size = abs(problem.X) @ np.abs(ours["beta"]) + abs(ours["alpha"])
    allowed = (problem.p + 2.0) * eps * (size + np.abs(problem.row_offsets))
    summed = bool((np.abs(ours["scores"] - theirs["scores"]) <= allowed).all())
    return Compared("scores", "to rounding") if summed else each


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
