"""Lines of Python that repeat a fit."""

import json
import re

import numpy as np

from pegasos_stats.errors import plain
from pegasos_stats.models.inference.options import chosen_options
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.output.report.facts import Facts, Fitted
from pegasos_stats.solvers.options import given

LONGEST = 88  # characters of a line
GIVEN = "weights", "freq_weights", "offset", "groups", "order", "start", "step"
CLASSES = {
    "svm": ("svm", "SVM"),
    "logit": ("logit", "Logit"),
    "kernel_svm": ("kernel_svm", "KernelSVM"),
}


def python_lines(facts: Facts) -> str:
    """Lines that fit the model again, from data that are in memory."""
    result, by_formula = facts.result, facts.result.design.formula is not None
    kind = "svm" if facts.kernel is None else "kernel_svm"
    model = CLASSES[kind if not facts.is_logistic else "logit"][not by_formula]
    of_model, of_fit = model_arguments(facts), fit_arguments(result)
    written = re.split(r"[(), ]", " ".join(of_model + of_fit))
    named = [name for name in GIVEN if f"{name}={name}" in written]
    first = "train" if by_formula else "y, X"
    return "\n".join(
        [
            "import pegasos_stats as ps",
            "",
            f"# {', '.join([first, *named])}: as they were given to the fit",
            call(f"model = ps.{model}", of_model),
            call("result = model.fit", of_fit),
            "print(result.summary())",
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


def model_arguments(facts: Facts) -> list[str]:
    """Arguments of the model, as they are written; defaults are left out."""
    result, kernel = facts.result, facts.kernel
    problem, coding, formula = result.problem, result.coding, result.design.formula
    counts, offset = result.counted, result.offsets
    found = ["y", "X"] if formula is None else [literal(formula), "train"]
    if problem.lam_rule != "1/n" or problem.lam != 1.0 / problem.n_weighed:
        by_cv = result.lambda_path is not None
        found.append('lam="cv"' if by_cv else f"lam={problem.lam!r}")
    if not problem.intercept:
        found.append("intercept=False")
    if kernel is not None:
        found.append(f'kernel="{kernel.name}"')
        found += [f"{name}={value!r}" for name, value in kernel.parameters.items()]
    if coding.rule != "factor":
        rule = coding.levels if coding.rule == "explicit" else coding.rule
        found.append(f"coding={literal(rule)}")
    if problem.weights is not None:
        name = literal("balanced") if problem.balanced else "weights"
        found.append(f"weights={name}")
    if counts is not None:
        name = literal(counts.column) if counts.column else "freq_weights"
        found.append(f"freq_weights={name}")
    if offset is not None and (offset.column or offset.given):
        found.append(f"offset={literal(offset.column) if offset.column else 'offset'}")
    if result.scaling is not None:
        found.append("standardize=True")
    if result.design.functions:
        pairs = ", ".join(
            f"{literal(name)}: {name}" for name in result.design.functions
        )
        found.append(f"functions={{{pairs}}}")
    return found


def fit_arguments(result: Fitted) -> list[str]:
    """Arguments of ``fit``: the solver with its seed, and the refinement."""
    found = [solver_call(result)]
    if result.refinement is not None:
        found.append(f"refine={result.refinement.tol!r}")
    if not isinstance(result, LinearResults):
        return found
    if result.groups is not None and not result.groups.by_name:
        found.append("groups=groups")
    elif result.groups is not None:
        names = list(result.groups.names)
        found.append(f"groups={literal(names[0] if len(names) == 1 else names)}")
    if result.cov_type is None:
        found.append('cov_type="none"')
    elif result.cov_type != chosen_options("default", result.problem, result.groups):
        found.append(f"cov_type=ps.{result.cov_type!r}")
    return found


def solver_call(result: Fitted) -> str:
    """The solver as a call, with the seed of the run and what is not the default.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> solver_call(ps.svm("digit ~ .", train, lam=1.0).fit(ps.Pegasos(seed=443)))
    'ps.Pegasos(epochs=20, seed=443)'
    """
    options = given(result.solver.with_seed(result.seed))
    written = [
        f"{name}={name if isinstance(value, np.ndarray) else literal(plain(value))}"
        for name, value in options.items()
    ]
    return f"ps.{result.solver.name}({', '.join(written)})"


def literal(value: object) -> str:
    """Write a label or a name as Python does, text in double quotes.

    Examples
    --------
    >>> literal("a b"), literal(5), literal(("no", "yes"))
    ('"a b"', '5', '("no", "yes")')
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))})"
    return repr(plain(value))
