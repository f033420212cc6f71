"""The lines of Python that repeat a fit."""

from typing import Any

import numpy as np

from pegasos_stats.errors import plain
from pegasos_stats.output.report.origin import literal
from pegasos_stats.output.report.r_data import SHORT_ORDER
from pegasos_stats.output.report.subject import Subject
from pegasos_stats.solvers.options import given
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA

LONGEST = 88


def python_lines(subject: Subject) -> str:
    """Lines that read the data, fit the model again and print its coefficients.

    Parameters
    ----------
    subject : Subject
    """
    result, origin = subject.result, subject.origin
    loading = list(origin.python)
    imports = ["import pegasos_stats as ps"]
    if any("pd." in line for line in loading):
        imports.insert(0, "import pandas as pd")
    shown = "result.dual_coef" if subject.is_kernel else "result.params"
    return "\n".join(
        [
            *imports,
            "",
            *loading,
            *_order_lines(result.solver),
            *_weights_lines(subject),
            call(f"model = ps.{_model(subject)}", model_arguments(subject)),
            call("result = model.fit", fit_arguments(result)),
            f"print({shown})",
            *([f"print(result.confusion({origin.test}))"] if origin.test else []),
        ]
    )


def call(function: str, arguments: list[str]) -> str:
    """Write a call on one line, or, where that is too long, an argument a line.

    Examples
    --------
    >>> print(call("x = f", ["a", "b=1"]))
    x = f(a, b=1)
    """
    line = f"{function}({', '.join(arguments)})"
    if len(line) <= LONGEST:
        return line
    inner = "".join(f"    {argument},\n" for argument in arguments)
    return f"{function}(\n{inner})"


def _model(subject: Subject) -> str:
    """Name of the function, or the class, that made the model."""
    by_formula = subject.result.design.formula is not None
    if subject.is_kernel:
        return "kernel_svm" if by_formula else "KernelSVM"
    if subject.is_logistic:
        return "logit" if by_formula else "Logit"
    return "svm" if by_formula else "SVM"


def model_arguments(subject: Subject) -> list[str]:
    """Arguments of the model, as they are written; defaults are left out."""
    result, origin = subject.result, subject.origin
    problem, coding = result.problem, result.coding
    formula = result.design.formula
    data = [origin.labels, origin.rows]
    if formula is not None:
        data = [literal(formula), origin.train]
    rule = coding.levels if coding.rule == "explicit" else coding.rule
    weights = _weights(subject)
    pairs = ", ".join(f"{literal(name)}: {name}" for name in result.design.functions)
    return [
        *data,
        f"lam={problem.lam!r}",
        *([] if problem.intercept else ["intercept=False"]),
        *_kernel_arguments(subject),
        *([] if rule == "factor" else [f"coding={literal(rule)}"]),
        *([f"weights={weights}"] if weights else []),
        *(["standardize=True"] if subject.is_scaled else []),
        *([f"functions={{{pairs}}}"] if pairs else []),
    ]


def _kernel_arguments(subject: Subject) -> list[str]:
    if not subject.is_kernel:
        return []
    kernel = subject.result.problem.kernel
    written = [f"{name}={value!r}" for name, value in kernel.parameters.items()]
    return [f'kernel="{kernel.name}"', *written]


def _weights(subject: Subject) -> str:
    """Weights of a call: by level where each level has one, else as they came."""
    weights, result = subject.weights, subject.result
    if weights is None:
        return ""
    each = [np.unique(weights[result.problem.y == sign]) for sign in (-1.0, 1.0)]
    if any(len(values) > 1 for values in each):
        return subject.origin.weights
    low, high = (float(values[0]) for values in each)
    counts = [(result.problem.y == sign).sum() for sign in (-1.0, 1.0)]
    if [low, high] == [result.nobs / (2.0 * count) for count in counts]:
        return literal("balanced")
    first, second = (literal(level) for level in result.coding.levels)
    return f"{{{first}: {low!r}, {second}: {high!r}}}"


def _weights_lines(subject: Subject) -> list[str]:
    named = _weights(subject) == "weights"
    return ["# weights: one for each row, as they were given"] * named


def fit_arguments(result: Any) -> list[str]:
    """Arguments of ``fit``: the solver with its seed, and the refinement."""
    refinement = result.refinement
    refine = [] if refinement is None else [f"refine={refinement.tol!r}"]
    return [solver_call(result), *refine, *_covariance(result)]


def _covariance(result: Any) -> list[str]:
    """How standard errors are estimated, where it is not the default."""
    if not hasattr(result, "cov_type"):
        return []
    chosen = result.cov_type
    if chosen is None:
        return ['cov_type="none"']
    usual = type(chosen).__name__ == "Sandwich" and chosen == type(chosen)()
    return [] if usual else [f"cov_type=ps.{chosen!r}"]


def solver_call(result: Any) -> str:
    """The solver as a call, with the seed of the run and what is not the default.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> solver_call(ps.svm("digit ~ .", train).fit(ps.Pegasos(seed=443)))
    'ps.Pegasos(epochs=20, seed=443)'
    """
    options = given(result.solver.with_seed(result.seed))
    written = [f"{name}={_written(plain(value))}" for name, value in options.items()]
    return f"ps.{result.solver.name}({', '.join(written)})"


def _written(value: Any) -> str:
    return "order" if isinstance(value, np.ndarray) else literal(value)


def _order_lines(solver: Pegasos | SDCA) -> list[str]:
    """Lines for rows that were given one by one."""
    order = getattr(solver, "order", None)
    if not isinstance(order, np.ndarray):
        return []
    if order.size <= SHORT_ORDER:
        return ["import numpy as np", f"order = np.array({order.tolist()!r})"]
    return [
        "# order: the rows to visit, counted from 0, as result.solver.order has them"
    ]
