"""Comparison of a fit with the same fit by the R reference, in an installed R.

R runs as a separate process. ``r_reference/R/session.R`` answers its requests.
"""

import json
import shutil
import subprocess
import warnings
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple, TypeAlias
from weakref import finalize

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from pegasos_stats import compiled, errors
from pegasos_stats.arrays import DataColumn, Predictors, Rows, Vector
from pegasos_stats.checks import LARGEST_R_INTEGER
from pegasos_stats.data.labels import signs_of
from pegasos_stats.errors import DataError, DependencyError, OptionError, counted
from pegasos_stats.foreign_names import suggest_arguments, with_visible_text
from pegasos_stats.metrics.confusion import confusion
from pegasos_stats.models.linear import checked_solver
from pegasos_stats.solvers.kernel_problem import KernelFunction, scores_of_kernel
from pegasos_stats.solvers.optimum import AnySolver, Optimum
from pegasos_stats.solvers.optimum_run import drawn_epochs
from pegasos_stats.solvers.options import declared, values_of
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.fold_fits import checked_model
from pegasos_stats.tables import Cells, Displayed, Lines, Pairs, Part, params_text

# --------------------------------------------------------------------- an installed R

RValue: TypeAlias = Any  # a vector, a list by name or not, None, ...

PACKAGE = Path(__file__).parents[1]
NO_R = (
    "R is not available: {}; install R (in Debian r-base-core), and put Rscript on "
    "the PATH."
)
# Results without exp() agree in every bit, except scores that R sums in another order
# (see `_summed`). exp() of the log loss may round differently in R. The tolerance is
# relative to the largest step, w ||x|| / lam, because large values of
# w (||x||^2 + 1) / lam magnify the difference in the first steps.
LOG_RTOL = 1e-12
# Newton's method for a dual weight of the log loss ends with a relative step of at most
# 1e-8, so its error is about 1e-16. Cancellation in sums over rows magnifies the error.
SDCA_LOG_RTOL = 1e-10
# After projections, or with steps other than 1 / (lam t), Python and R rescale dual
# weights in different orders.
PROJECTED_RTOL = 1e-10
# Tolerance of best_intercept() for the log loss, in addition to that of the scores.
REFIT_RTOL = 1e-14
NAMES = {  # compared quantities, in this order, in words
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


def reference_folder() -> Path:
    """Return the folder of the reference: next to the package, or inside if installed.

    Examples
    --------
    >>> (reference_folder() / "R" / "pegasos.R").is_file()
    True
    """
    inside = PACKAGE / "r_reference"
    return inside if inside.is_dir() else PACKAGE.parent / "r_reference"


def loading_code() -> str:
    """Return R code that loads the reference into a new environment."""
    listed = (reference_folder() / "R").as_posix().replace('"', '\\"')
    return (
        "local({ reference <- new.env()\n"
        f'for (file in list.files("{listed}", "[.]R$", full.names = TRUE))'
        " sys.source(file, reference)\nreference })"
    )


class R:
    """R with the functions of the reference, as a new process for each request.

    A request is a file of R code. ``readBin()`` reads arrays of numbers from files of
    doubles, and ``write_value()`` of the reference writes the answer to a file.

    Raises
    ------
    DependencyError
        If there is no Rscript, or it does not start.
    """

    def __init__(self) -> None:
        self._folder, self._n_files = Path(mkdtemp(prefix="pegasos_stats-")), 0
        finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._start()

    def _start(self) -> None:
        """Find Rscript, and write the R script that answers a request."""
        command = shutil.which("Rscript")
        if command is None:
            raise DependencyError(NO_R.format("Rscript is missing"))
        self._command = [command, "--vanilla", "serve.R"]
        code = (
            'if (!l10n_info()$`UTF-8`) suppressWarnings(Sys.setlocale("LC_CTYPE", '
            f'"C.UTF-8"))\nreference <- {loading_code()}\n'
            'reference$answer_request(".", reference)\n'
        )
        (self._folder / "serve.R").write_text(code, encoding="utf-8")

    def _run(self) -> None:
        """Run ``request.R`` of the folder in R; R writes ``answer.bin``."""
        done = subprocess.run(self._command, cwd=self._folder, capture_output=True)
        if done.returncode:
            last = " ".join(done.stderr.decode(errors="replace").split())[-300:]
            raise DependencyError(NO_R.format(f"Rscript failed ({last})"))

    def eval(self, code: str) -> RValue:
        """Return the value of the last expression of `code`.

        Returns
        -------
        object
            Numbers, text and logical values are arrays of at least one dimension, a
            factor is an array of its labels, a list with names is a dictionary, and
            NULL is None. An integer vector with missing values is an array of floats
            with NaN, a text or logical vector an array of objects with None.

        Raises
        ------
        DataError
            If R stops with an error, or the value is not data, such as a function.
        """
        (self._folder / "request.R").write_bytes(code.encode())
        self._n_files = 0
        self._run()
        answer = value_of((self._folder / "answer.bin").read_bytes())
        if "error" in answer:
            raise DataError(f"R stopped: {' '.join(str(answer['error'][0]).split())}.")
        return answer["value"]

    def call(self, function: str, *args: object, **named: object) -> RValue:
        """Call a function of R; an underscore at the end of a name is removed."""
        arguments = [self._code(value) for value in args]
        for name, value in named.items():
            arguments.append(f"{name.removesuffix('_')} = {self._code(value)}")
        return self.eval(f"{function}({', '.join(arguments)})")

    def set(self, name: str, value: object) -> None:
        """Assign to a variable of R."""
        self.eval(f"{name} <- {self._code(value)}\nNULL")

    def _code(self, value: object) -> str:
        """Write a value as R code.

        None becomes NULL, a dictionary a named list, categories a factor, and missing
        labels of a Series NA. Numbers, booleans and text become vectors or arrays.
        Integers beyond the range of R become doubles.
        """
        if value is None:
            return "NULL"
        if isinstance(value, dict):
            items = (f"{quoted(k)} = {self._code(item)}" for k, item in value.items())
            return f"list({', '.join(items)})"
        if isinstance(value, pd.Series | pd.Categorical | pd.Index):
            return self._labels(pd.Series(value))
        array = np.asarray(value)
        flat = self._vector(array.ravel(order="F"))  # R stores arrays by columns
        return flat if array.ndim < 2 else f"array({flat}, c{array.shape})"

    def _vector(self, flat: np.ndarray) -> str:
        if flat.dtype.kind not in "biuf":
            texts = ("NA" if text is None else quoted(str(text)) for text in flat)
            return f"as.character(c({', '.join(texts)}))"
        place, numbers = self._folder / f"{self._n_files}.bin", flat.astype(np.float64)
        self._n_files += 1
        numbers.tofile(place)
        code = f"readBin({quoted(place.as_posix())}, 'double', {flat.size})"
        if flat.dtype.kind == "b":
            return f"as.logical({code})"
        is_whole = flat.dtype.kind in "iu"
        if is_whole and (np.abs(numbers) <= LARGEST_R_INTEGER).all():
            return f"as.integer({code})"
        if is_whole and [int(x) for x in numbers] != flat.tolist():
            raise DataError(
                "An integer beyond 2^53 has no exact counterpart in R; pass it as text."
            )
        return code

    def _labels(self, labels: DataColumn) -> str:
        """Write categories as a factor, and other labels as values with NA."""
        if isinstance(labels.dtype, pd.CategoricalDtype):
            names, codes = labels.cat.categories, labels.cat.codes.to_numpy() + 1.0
            levels = f"{self._code(np.arange(len(names)) + 1)}, {self._code(names)}"
            ordered = str(labels.cat.ordered).upper()
            return f"factor({self._code(codes)}, {levels}, ordered = {ordered})"
        present = labels.notna().to_numpy(dtype=bool)
        values = self._vector(np.array(labels[present].tolist()))
        if present.all():
            return values
        return f"{values}[{self._code(np.where(present, present.cumsum(), np.nan))}]"


def quoted(text: str) -> str:
    """Write text as R code."""
    return json.dumps(text, ensure_ascii=False)


def value_of(content: bytes) -> RValue:
    """Read a value that ``write_value()`` of the reference wrote."""
    at = 0

    def text() -> str:
        nonlocal at
        begin, at = at, content.index(b"\0", at) + 1
        return content[begin : at - 1].decode()

    def value() -> RValue:
        nonlocal at
        kind, size, shape = text(), int(text()), [int(n) for n in text().split()]
        if kind == "NULL":
            return None
        if kind == "list":
            names = [text() for _ in range(size)]
            items = [value() for _ in names]
            return dict(zip(names, items, strict=True)) if any(names) else items
        values: RValue
        if kind == "character":
            texts = [text() for _ in range(size)]
            values = np.array([t[1:] if t[0] == "+" else None for t in texts], object)
        else:
            values = np.frombuffer(content, np.float64, size, at).copy()
            at += 8 * size
            if kind == "logical":
                values = np.array([None if np.isnan(x) else bool(x) for x in values])
            elif kind == "integer" and not np.isnan(values).any():
                values = values.astype(np.int64)
        return values.reshape(shape, order="F") if shape else values

    return value()


# ------------------------------------------------------------------------ comparison


@dataclass(frozen=True, eq=False)
class Setup:
    """A model and a solver, with the data in the form that R needs.

    Rows without a label are excluded.

    Attributes
    ----------
    model : SVM, Logit or KernelSVM
    solver : Pegasos or SDCA
        With a seed if it draws random numbers, and with a start in column order.
    X : float64 array or CSR array, shape (n_rows, p)
        Predictors; for a precomputed kernel its values, shape (n_rows, n_rows).
    labels : Series, shape (n_rows,)
    coding : str or Series
        How R derives the two levels: "factor", "first-seen", or the levels themselves.
    weights, offset : float64 array, shape (n_rows,), or None; weights also as text
    """

    model: Any
    solver: AnySolver
    X: Predictors
    labels: DataColumn
    coding: "str | DataColumn"
    weights: "Vector | DataColumn | None" = None
    offset: Vector | None = None

    @property
    def problem(self) -> Any:
        """The problem of the model."""
        return self.model.problem

    @property
    def kernel(self) -> KernelFunction | None:
        """The kernel; None for a linear model."""
        return getattr(self.problem, "kernel", None)

    @property
    def levels(self) -> DataColumn:
        """The two levels."""
        return pd.Series(list(self.model.coding.levels))

    @property
    def state(self) -> tuple[str, ...]:
        """Names of the quantities that every step changes."""
        return (*(("beta", "a") if self.kernel is None else ("counts", "g")), "alpha")

    def as_r_list(self) -> dict[str, object]:
        """Return the argument of `run_configuration` of ``configurations.R``."""
        solver, problem, X = self.solver, self.problem, self.X
        values, arguments = values_of(solver), {"lambda": problem.lam}
        if not isinstance(solver, Pegasos):
            names, arguments["loss"] = ["epochs", "start"], problem.loss
            names += ["average", "random_stop"]
        elif self.kernel is None:
            names = [n for n, option in declared(type(solver)).items() if option.in_r]
            arguments |= {"loss": problem.loss, "intercept": problem.intercept}
        else:
            names = ["epochs", "order", "steps", "refit_intercept"]
            arguments |= {"intercept": problem.intercept, "kernel": self.kernel.name}
            arguments |= self.kernel.parameters
        arguments |= {name: values[name] for name in names}
        if isinstance(arguments.get("order"), np.ndarray):
            arguments["order"] = values["order"] + 1
        rows: object = X
        if not isinstance(X, np.ndarray):
            ends, columns = X.indptr.astype(np.float64), X.indices + 1.0
            rows = {"p": X.shape[1], "ends": ends, "columns": columns, "values": X.data}
        return {
            "solver": "kernel" if self.kernel is not None else solver.name.lower(),
            "X": rows,
            "labels": self.labels,
            "coding": self.coding,
            "weights": self.weights,
            "offset": self.offset,
            "seed": solver.seed,
            "sample_kind": solver.sample_kind.capitalize(),
            "ties": solver.ties,
            "arguments": arguments | {"epochs": values["epochs"] or 1},
        }


def setup_of(model: object, solver: AnySolver | None) -> Setup:
    """Return the setup of a model and a solver.

    Raises
    ------
    OptionError
        If `model` is not a model, or the reference lacks a feature of the fit.
    """
    model = checked_model(model, in_memory=False).at_chosen_lambda()
    solver = model.with_start_in_column_order(checked_solver(solver, Pegasos))
    problem, coding = model.problem, model.coding
    if not (isinstance(problem.X, np.ndarray) or issparse(problem.X)):
        raise OptionError("The R reference does not read files; pass a data frame.")
    if isinstance(solver, Optimum):
        raise OptionError(
            "The R reference has only Pegasos and SDCA; pass one of these solvers."
        )
    if solver.arithmetic == "fast":
        why = "is not in the R reference; use 'reference'."
        raise OptionError(why, "arithmetic", "fast")
    if isinstance(solver, SDCA) and hasattr(problem, "kernel"):
        raise OptionError(
            "The R reference has SDCA only for linear models; use ps.Pegasos()."
        )
    if solver.uses_random_numbers and solver.seed is None:
        solver = solver.with_seed(1)
    labels = coding.decode(problem.y).reset_index(drop=True)
    offset = getattr(problem, "offset", None)
    setup = Setup(
        model, solver, problem.X, labels, coding.rule, problem.weights, offset
    )
    dropped = coding.rule == "first-seen" and model.dropped.total
    if coding.rule in ("factor", "first-seen") and not dropped:
        return setup
    return replace(setup, coding=setup.levels)


Run = dict[str, RValue]


class Compared(NamedTuple):
    """Comparison of one quantity.

    Attributes
    ----------
    name : str
        A key of `NAMES`.
    how : "every bit", "to rounding" or "differs"
    words : str
        Description of the difference; empty if the quantities agree.
    """

    name: str
    how: str
    words: str = ""

    @property
    def equal(self) -> bool:
        """Whether both values agree, bit for bit or within the tolerance."""
        return self.how != "differs"


@with_visible_text
@dataclass(frozen=True, eq=False, repr=False)
class ParityCheck(Displayed):
    """Comparison of a run in Python with the same run in R.

    Attributes
    ----------
    table : DataFrame
        One row per compared quantity, with its name as the index. Columns ``python``
        and ``r`` are text; ``same`` is "every bit", "to rounding" or "differs".
    title : str
        Heading, with the name of the solver.
    equal : bool
        Whether nothing differs.
    parting : str
        Where the two runs first differ: usually a step, with the rows that it visits
        and the first unequal number. Empty if nothing differs.
    reason : str
        Probable cause of the difference; empty if nothing differs.
    r : dict
        Version of R, its BLAS, and its random number generators.
    ran_python, ran_r : dict
        Results of both runs, including all compared quantities, by their names in the
        R reference; rows are counted from 1.

    Examples
    --------
    >>> table = pd.DataFrame({"python": ["3"], "r": ["3"], "same": ["every bit"]})
    >>> ParityCheck(table, "svm", "", "", {"version": "4.2.2"}).equal
    True
    """

    table: pd.DataFrame
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
        same = self.table["same"]
        if names := list(self.table.index[same == "differs"]):
            return f"Python and R differ in: {', '.join(names)}."
        if names := list(self.table.index[same == "to rounding"]):
            return f"Python and R are the same, up to rounding in: {', '.join(names)}."
        return "Python and R are the same in every bit."

    @property
    def _sentences(self) -> list[str]:
        return [line for line in (self.verdict, self.parting, self.reason) if line]

    def __str__(self) -> str:
        facts = [f"{name}: {value}" for name, value in self.r.items()]
        table = params_text(self.table)
        return "\n".join([self.title, *facts, *table, *self._sentences])

    __repr__ = __str__

    def _parts(self) -> Sequence[Part]:
        facts = Pairs(self.title, list(self.r.items()))
        return [facts, Cells(self.table), Lines(self._sentences)]

    def to_json_dict(self) -> dict[str, object]:
        """Verdict, table and reasons as values for JSON."""
        return {
            "equal": self.equal,
            "table": self.table.rename_axis("name").reset_index().to_dict("records"),
            "parting": self.parting,
            "reason": self.reason,
            "r": self.r,
        }


def in_r(r: R, setup: Setup) -> Run:
    """Run the reference in R."""
    return dict(r.call("run_configuration", setup.as_r_list()))


def in_python(r: R, setup: Setup) -> Run:
    """Run the fit in Python; return results by the names of R, with levels as in R."""
    problem = setup.problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.ConvergenceWarning)
        result = setup.model.fit(setup.solver)
    solution = result.solution
    n_epochs = solution.n_epochs
    labels = result._labels()  # also of rows of weight 0, as in R
    table = confusion(labels, result.predict(), levels=result.coding.levels).table
    run = {
        "levels": r.call("as.character", setup.levels).tolist(),
        "y": problem.y,
        "weights": problem.row_weights,
        "rows": np.concatenate(epochs_of(setup)[:n_epochs]) + 1,
        "n_iter": solution.n_iter,
        "n_epochs": n_epochs,
        "violations": solution.n_violations,
        "alpha": solution.alpha,
        "table": table.to_numpy(),
    }
    if setup.kernel is not None:
        at = scores_of_kernel(problem, solution, problem.X)
        return run | {"counts": solution.counts, "g": solution.g, "scores": at}
    at = compiled.risk.scores(problem.rows, solution.beta, solution.alpha)
    if problem.offset is not None:
        at = at + problem.offset
    return run | {"beta": solution.beta, "a": solution.dual, "scores": at}


def epochs_of(setup: Setup) -> list[Rows]:
    """Return the rows of all possible epochs, counted from zero."""
    n, solver = setup.problem.n, setup.solver
    rng = solver.generator()
    if not isinstance(solver, Pegasos):
        return list(drawn_epochs(solver, n, rng))
    if isinstance(solver.start, str) and solver.start == "random":
        rng.rnorm(setup.problem.p)
    return list(solver.passes.rows(n, rng))


def compared(setup: Setup, ours: Run, theirs: Run) -> list[Compared]:
    """Compare all quantities."""
    return [difference(setup, name, ours, theirs) for name in NAMES if name in ours]


def difference(setup: Setup, name: str, ours: Run, theirs: Run) -> Compared:
    """Compare one quantity."""
    left, right = (np.atleast_1d(np.asarray(run[name])) for run in (ours, theirs))
    if name in ("levels", "table"):
        if left.tolist() == right.tolist():
            return Compared(name, "every bit")
        if name == "table" and _only_undecided_differ(setup, ours, theirs):
            return Compared(name, "to rounding")
        return Compared(name, "differs", f"{left.tolist()} here, {right.tolist()} in R")
    left, right = left.astype(np.float64), right.astype(np.float64)
    if left.shape != right.shape:
        return Compared(name, "differs", f"{left.size} here, {right.size} in R")
    differing = np.flatnonzero(left.view(np.int64) != right.view(np.int64))
    if not differing.size:
        return Compared(name, "every bit")
    if np.abs(left - right).max() <= tolerance(setup, name, ours, theirs):
        return Compared(name, "to rounding")
    at = int(differing[0])
    place = setup.model.names[at] if name == "beta" else f"number {at + 1}"
    words = f"{differing.size:,} of {left.size:,} differ, first {place}: "
    return Compared(name, "differs", f"{words}{left[at]} here, {right[at]} in R")


def tolerance(setup: Setup, name: str, ours: Run, theirs: Run) -> float:
    """Return the allowed difference; 0 if every bit should agree."""
    solver, problem, scores = setup.solver, setup.problem, "scores"
    pegasos = solver if isinstance(solver, Pegasos) else None
    if name == "a" and pegasos and (pegasos.project or not pegasos.has_own_steps):
        return PROJECTED_RTOL * float(np.abs(theirs["a"]).max())
    if problem.loss != "log" or name not in ("beta", "alpha", "a", scores):
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
    if name in ("alpha", scores) and pegasos.refit_intercept:
        allowed += LOG_RTOL * largest * steps[scores]
        allowed += REFIT_RTOL * (1.0 + float(np.abs(theirs[scores]).max()))
    return allowed


def _only_undecided_differ(setup: Setup, ours: Run, theirs: Run) -> bool:
    """Return whether tables differ only in rows whose score rounds to 0."""
    allowed = tolerance(setup, "scores", ours, theirs)
    far = np.abs(theirs["scores"]) > allowed
    here, there = (
        signs_of(np.asarray(run["scores"])[far], setup.solver.ties)
        for run in (ours, theirs)
    )
    partly = allowed > 0.0 and not far.all()
    return bool(partly and np.array_equal(here, there, equal_nan=True))


# Options for repeating the first steps of Pegasos: no averaging, early stop or refit.
PLAIN: dict[str, Any] = {"epochs": 1, "steps": None, "average": "none", "tol": 0.0}
PLAIN |= {"change_tol": 0.0, "refit_intercept": False}


def first_difference(r: R, setup: Setup, ours: Run, theirs: Run) -> str:
    """Describe the first step after which two runs differ.

    Both runs are repeated up to a step, which bisection determines. Pegasos repeats the
    rows of these steps in one epoch and returns the last iterate. SDCA, and Pegasos
    with an incomplete last batch in each epoch, are repeated up to whole epochs. A run
    with a random stop is not repeated, because the stop is drawn before the rows.
    """
    inputs = ("levels", "y", "weights")
    if not all(difference(setup, name, ours, theirs).equal for name in inputs):
        return "The runs differ before their first step."
    rows, solver, epochs = ours["rows"] - 1, setup.solver, ours["n_epochs"]
    size = getattr(solver, "batch_size", 1)
    pairs = zip(ours["rows"], theirs["rows"], strict=False)
    for at, (here, there) in enumerate(pairs):
        if here != there:
            step = f"{at // size + 1:,}"
            return f"Step {step} visits row {here:,} here and {there:,} in R."
    if getattr(solver, "random_stop", None) is not None:
        return "The visited rows agree; runs with a random stop are not repeated."
    unit, total = "epoch", epochs
    if isinstance(solver, Pegasos) and (
        solver.steps is not None or len(rows) // epochs % size == 0
    ):
        unit, total = "step", len(rows) // size

    def differ_after(at: int) -> str:
        """Describe the difference after epochs or steps; empty if there is none."""
        shorter: AnySolver
        if isinstance(solver, Pegasos):
            order = rows[: at * size]
            if unit == "epoch":
                order = rows.reshape(epochs, -1)[:at]
            shorter = replace(solver, order=order, **PLAIN)
        else:
            assert isinstance(solver, SDCA)
            shorter = replace(solver, epochs=at, average="none")
        part = replace(setup, solver=shorter)
        mine, other = in_python(r, part), in_r(r, part)
        results = (difference(part, name, mine, other) for name in setup.state)
        words = (f"{NAMES[item.name]}: {item.words}" for item in results if item.words)
        return next(words, "")

    if not differ_after(total):
        return f"After all {total:,} {unit}s Python and R agree; other results differ."
    steps = range(1, total + 1)
    at = 1 + bisect_left(steps, True, key=lambda at: bool(differ_after(at)))
    visits = ""
    if unit == "step":
        listed = ", ".join(map(str, rows[(at - 1) * size : at * size] + 1))
        visits = f", at row {listed}"
    return f"First after {unit} {at:,}{visits}; {differ_after(at)}."


@suggest_arguments
def check_against_r(model: object, solver: AnySolver | None = None) -> ParityCheck:
    """Run a fit in Python and in an installed R, and compare the results.

    The R reference, a part of the package, implements the same algorithms in base R.
    Numbers are passed to R and back as doubles, not as decimal text. R needs about 50
    microseconds for each visit of a row.

    Parameters
    ----------
    model : SVM, Logit or KernelSVM
        Model with data, before ``fit()``.
    solver : Pegasos or SDCA, optional
        ``Pegasos()`` by default; a missing seed is 1. If SDCA has a tolerance, R runs
        as many epochs as Python needed.

    Returns
    -------
    ParityCheck

    Raises
    ------
    DependencyError
        If R is not installed.
    OptionError
        If the reference lacks a feature of the fit: `Optimum`, the fast arithmetic,
        SDCA with a kernel, or rows that are read from files.
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
    return checked_in(R(), setup)


def checked_in(r: R, setup: Setup) -> ParityCheck:
    """Run a fit in Python and in R, and compare."""
    facts = dict(r.eval("r_facts()"))
    blas = f"{facts['blas'][0] or 'unknown'} (matprod {facts['matprod'][0]})"
    kinds = ", ".join(facts["kinds"])
    ours = in_python(r, setup)
    if isinstance(setup.solver, SDCA):  # SDCA of the reference has no tolerance
        ended = {"epochs": ours["n_epochs"], "tol": 0.0, "gap_tol": None}
        setup = replace(setup, solver=replace(setup.solver, **ended))
    by_r = r.call("label_levels", setup.labels, setup.coding)  # in the locale of R
    by_r = {"levels": [str(item) for item in by_r]}
    levels = difference(setup, "levels", ours, by_r)
    if not levels.equal:  # compare the other quantities in the order of Python
        setup = replace(setup, coding=setup.levels)
    theirs = in_r(r, setup)
    results = [levels, *compared(setup, ours, theirs)[1:]]
    results = [_summed(setup, item, ours, theirs) for item in results]
    unequal, parting, reason = [item.name for item in results if not item.equal], "", ""
    if unequal == ["levels"]:
        parting = f"Before the first step: the classes are {levels.words}."
        locale = facts["collate"][0]
        reason = f"Another order of levels: R sorts text by its locale ({locale})."
    elif unequal:
        parting = first_difference(r, setup, ours, theirs)
        reason = f"Sums and exp() may round differently (the BLAS of R is {blas})."
        if "rows" in unequal:
            reason = f"R uses another RNGkind: {kinds}."
    reported = theirs | by_r
    rows = {
        NAMES[name]: [_cell(name, ours[name]), _cell(name, reported[name]), how]
        for name, how, _ in results
    }
    return ParityCheck(
        pd.DataFrame.from_dict(rows, orient="index", columns=["python", "r", "same"]),
        f"{setup.solver.name} in Python and in R",
        parting,
        reason,
        {"R": facts["version"][0], "BLAS of R": blas, "Random numbers": kinds},
        ours,
        theirs,
    )


def _summed(setup: Setup, item: Compared, ours: Run, theirs: Run) -> Compared:
    """Accept scores that differ no more than sums in different orders may."""
    problem, eps = setup.problem, np.finfo(np.float64).eps
    if item.name != "scores" or item.equal or setup.kernel is not None:
        return item
    size = abs(problem.X) @ np.abs(ours["beta"]) + abs(ours["alpha"])
    allowed = (problem.p + 2.0) * eps * (size + np.abs(problem.row_offsets))
    summed = bool((np.abs(ours["scores"] - theirs["scores"]) <= allowed).all())
    return Compared("scores", "to rounding") if summed else item


def _cell(name: str, value: RValue) -> str:
    """Write a value briefly: a number, levels, a table, or the number of values."""
    if name == "levels":
        return ", ".join(map(str, value))
    array = np.asarray(value)
    if name == "table":
        return " / ".join(" ".join(str(int(n)) for n in row) for row in array)
    if array.size == 1:
        return f"{array.flat[0]:.10g}"
    return counted(array.size, "row" if name == "rows" else "number")
