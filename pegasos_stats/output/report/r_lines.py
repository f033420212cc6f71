"""The lines of R that repeat a fit, or check what cannot be repeated.

Pegasos on dense rows, one row a step, is short enough to be written out. Other forms
call the functions of ``r_reference``. What R has no counterpart for is checked: R finds
the duality gap of the coefficients from the data.
"""

from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Literal

import numpy as np

from pegasos_stats.output.report import r_data
from pegasos_stats.output.report.origin import Fitted
from pegasos_stats.output.report.r_data import given_in_r, order_in_r, r_number
from pegasos_stats.output.report.subject import Subject
from pegasos_stats.solvers.kernel_problem import KernelFunction
from pegasos_stats.solvers.options import declared, given
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.solver import Solver

Kind = Literal["loop", "reference", "check", "none"]

WIDTH = 80
LARGEST_TABLE = 5_000_000  # numbers that are passed to R as text
LOOP = {"epochs", "order", "steps"}  # options that the loop of a few lines covers
# Options set before a call in R, or without any effect on the coefficients.
BESIDE = {"seed", "sample_kind", "ties", "intercept"}
HELD = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"  # no line ends within an argument
SOURCE = 'for (file in list.files("r_reference/R", full.names = TRUE)) source(file)'


@dataclass(frozen=True)
class RLines:
    """How R repeats or checks a fit.

    Attributes
    ----------
    python : str
        Lines of Python that write what R reads; empty if R needs none.
    r : str
        Lines of R; empty if there are none.
    kind : "loop", "reference", "check" or "none"
    """

    python: str
    r: str
    kind: Kind


def r_lines(subject: Subject) -> RLines:
    """Lines of R for a fit.

    Parameters
    ----------
    subject : Subject

    Returns
    -------
    RLines
        Without lines, of kind ``"none"``, where the training rows are not there or too
        many to be passed as text, or there is an offset.
    """
    n, p = subject.result.problem.X.shape
    offset = subject.result.problem.offset is not None
    if not subject.has_rows or offset or n * (p + 2) > LARGEST_TABLE:
        return RLines("", "", "none")
    kind = kind_of(subject)
    direct = kind != "check" and r_data.reads_alike(subject)
    writing = [] if direct else r_data.writing_lines(subject, kind == "check")
    writing += r_data.order_file_lines(getattr(subject.result.solver, "order", None))
    writing += r_data.given_file_lines(subject.result.solver)
    reading = r_data.read_csv_lines if direct else r_data.read_matrix_lines
    lines = [
        *([SOURCE] * (kind != "loop")),
        *reading(subject),
        *_body(subject, kind),
    ]
    return RLines("\n".join(writing), "\n".join(lines), kind)


def kind_of(subject: Subject) -> Kind:
    """How R treats a fit: as a loop, by the reference, or as a check."""
    result, solver = subject.result, as_run(subject.result)
    if subject.is_kernel:
        to_optimum = (result.refinement or solver).to_optimum
        return "check" if to_optimum else "reference"
    if isinstance(solver, SDCA):
        in_r = solver.algorithm == "perm" and subject.weights is None
        return "reference" if in_r else "check"
    changed = set(given(solver)) - BESIDE
    if result.refinement is not None or not changed <= _arguments(solver):
        return "check"
    dense = isinstance(result.problem.X, np.ndarray)
    simple = changed <= LOOP and isinstance(solver.order, str)
    return "loop" if dense and simple else "reference"


def as_run(result: Fitted) -> Pegasos | SDCA:
    """The solver with as many epochs or steps as the run had, and no tolerance.

    With lists of rows, one for each epoch, R looks at the tolerances itself.
    """
    solver = result.solver
    if not isinstance(solver, Pegasos) or not solver.may_end_early:
        return solver
    if np.ndim(solver.order) == 2:
        return solver
    plain = replace(solver, tol=0.0, change_tol=0.0)
    if solver.steps is not None:
        return replace(plain, steps=result.n_iter)
    return replace(plain, epochs=result.n_epochs)


def _arguments(solver: Solver) -> set[str]:
    """Options that are arguments of the function in R too."""
    return {option.name for option in declared(type(solver)).values() if option.in_r}


def _body(subject: Subject, kind: Kind) -> list[str]:
    """The lines after those that read the data."""
    solver, kernel = as_run(subject.result), subject.kernel
    if kind == "check" and kernel is not None:
        return _check_kernel(subject, kernel)
    if kind == "check":
        return _check(subject)
    if not isinstance(solver, Pegasos):
        return [*_seeding(subject), *_sdca(subject, solver.start)]
    if kind == "loop":
        return _loop(subject, solver)
    if kernel is not None:
        return [*_seeding(subject), *_kernel_pegasos(subject, solver, kernel)]
    return [*_seeding(subject), *_pegasos(subject, solver)]


def _seeding(subject: Subject) -> list[str]:
    solver, seed = subject.result.solver, subject.result.seed
    if seed is None:
        return []
    kind = solver.sample_kind.capitalize()
    chosen = f'RNGkind("Mersenne-Twister", "Inversion", "{kind}")'
    if solver.sample_kind == "rounding":  # of which R warns
        chosen = f"suppressWarnings({chosen})"
    return [chosen, f"set.seed({seed})"]


def _loop(subject: Subject, solver: Pegasos) -> list[str]:
    """Pegasos, written out."""
    free, weighted = subject.result.problem.intercept, subject.weights is not None
    slope = f"if (m < 1) {'w[i]' if weighted else '1'} else 0"
    if subject.is_logistic:
        slope = "if (m > 0) exp(-m) / (1 + exp(-m)) else 1 / (1 + exp(m))"
        slope = f"w[i] * ({slope})" if weighted else slope
    shown = "c(Intercept = alpha, beta)" if free else "beta"
    return [
        f"lambda <- {r_number(subject.result.problem.lam)}",
        *_seeding(subject),
        f"rows <- {_rows(solver)}",
        "",
        "beta <- setNames(rep(0, ncol(X)), colnames(X))",
        "alpha <- 0",
        "for (t in seq_along(rows)) {",
        "  i <- rows[t]",
        "  eta <- 1 / (lambda * t)",
        "  m <- y[i] * (drop(X[i, ] %*% beta) + alpha)",
        f"  s <- {slope}",
        "  beta <- beta - eta * (lambda * beta - s * y[i] * X[i, ])",
        *(["  alpha <- alpha + eta * (s * y[i])"] * free),
        "}",
        f"print({shown}, digits = 17)",
    ]


def _rows(solver: Pegasos) -> str:
    """Rows visited, in order."""
    n = "length(y)"
    if not isinstance(solver.order, str):
        return f"rep(t({order_in_r(np.atleast_2d(solver.order))}), {solver.epochs})"
    if solver.order == "sequential":
        return f"rep(1:{n}, {solver.epochs})"
    if solver.order == "replace":
        draws = f"function(step) sample({n}, {solver.batch_size}, replace = TRUE)"
        return f"c(sapply(1:{solver.steps}, {draws}))"
    return f"unlist(lapply(1:{solver.epochs}, function(epoch) sample(1:{n}, {n})))"


def _pegasos(subject: Subject, solver: Pegasos) -> list[str]:
    result = subject.result
    arguments = _arguments(solver)
    changed = {
        name: f"{name} = {_in_r(name, value)}"
        for name, value in given(solver).items()
        if name in arguments
    }
    options = [
        f"lambda = {r_number(result.problem.lam)}",
        *([changed.pop("epochs")] if "epochs" in changed else []),
        f'loss = "{result.problem.loss}"',
        *([] if result.problem.intercept else ["intercept = FALSE"]),
        *changed.values(),
        *([] if subject.weights is None else ["weights = w"]),
    ]
    return [
        *_call("fit <- pegasos", options),
        "print(c(fit$alpha, fit$beta), digits = 17)",
    ]


def _in_r(name: str, value: object) -> str:
    """The value of an option as R writes it."""
    if isinstance(value, np.ndarray):
        order = name == "order"
        return order_in_r(np.atleast_2d(value)) if order else given_in_r(name, value)
    if isinstance(value, float):
        return r_number(value)
    if isinstance(value, str):
        return f'"{value}"'
    return _truth(value) if isinstance(value, bool | np.bool_) else str(value)


def _sdca(subject: Subject, start: str) -> list[str]:
    result = subject.result
    options = [
        f"lambda = {r_number(result.problem.lam)}",
        f"epochs = {result.n_iter // result.problem.n}",
        f'loss = "{result.problem.loss}"',
        f'start = "{start}"',
    ]
    return [
        *_call("fit <- sdca", options),
        "print(fit$beta, digits = 17)",
    ]


def _kernel_pegasos(
    subject: Subject, solver: Pegasos, kernel: KernelFunction
) -> list[str]:
    problem = subject.result.problem
    options = [
        f"lambda = {r_number(problem.lam)}",
        "rows = rows",
        f'kernel = "{kernel.name}"',
        *[f"{name} = {r_number(v)}" for name, v in kernel.parameters.items()],
        f"intercept = {_truth(problem.intercept)}",
        *([] if subject.weights is None else ["weights = w"]),
    ]
    return [
        f"rows <- {_rows(solver)}",
        *_call("fit <- kernel_pegasos_rows", options),
        *([] if solver.refit_intercept else ["print(fit$alpha, digits = 17)"]),
        "print(fit$counts)",
    ]


def _check(subject: Subject) -> list[str]:
    """R finds primal and dual objective of what Python found."""
    result = subject.result
    options = [
        "beta, alpha, a",
        f"lambda = {r_number(result.problem.lam)}",
        f'loss = "{result.problem.loss}"',
        f"intercept = {_truth(result.problem.intercept)}",
        *([] if subject.weights is None else ["weights = w"]),
    ]
    return [
        'beta <- read.csv("beta.csv")$beta',
        'a <- read.csv("dual.csv")$dual',
        f"alpha <- {r_number(result.intercept)}",
        *_call("found <- certificate", options),
        "print(unlist(found), digits = 10)",
    ]


def _check_kernel(subject: Subject, kernel: KernelFunction) -> list[str]:
    """The same of a kernel, whose function is made of the dual weights."""
    problem = subject.result.problem
    options = [
        "alpha, a",
        f"lambda = {r_number(problem.lam)}",
        f'kernel = "{kernel.name}"',
        *[f"{name} = {r_number(v)}" for name, v in kernel.parameters.items()],
        *([] if subject.weights is None else ["weights = w"]),
    ]
    return [
        'a <- read.csv("dual.csv")$dual',
        f"alpha <- {r_number(subject.result.intercept)}",
        *_call("found <- kernel_certificate", options),
        "print(unlist(found), digits = 10)",
    ]


def _call(function: str, options: list[str]) -> list[str]:
    """A call with the data and options, on as many lines as it takes."""
    held = [option.replace(" = ", HELD) for option in options]
    line = f"{function}(X, y, {', '.join(held)})"
    found = wrap(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return [each.replace(HELD, " = ") for each in found]


def _truth(value: bool | np.bool_) -> str:
    return "TRUE" if value else "FALSE"
