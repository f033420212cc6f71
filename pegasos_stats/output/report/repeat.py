"""Lines of Python that repeat a fit."""

import json

import numpy as np

from pegasos_stats.errors import plain
from pegasos_stats.models.inference.options import chosen_options
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.output.report.facts import Facts, Fitted
from pegasos_stats.solvers.options import given

LONGEST = 88  # characters of a line
SHORT = 20  # numbers of an array that are written out
GIVEN = "weights", "freq_weights", "offset", "groups"
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
    named = [name for name in GIVEN if f"{name}={name}" in of_model + of_fit]
    first = "train" if by_formula else "y, X"
    return "\n".join(
        [
            "import pegasos_stats as ps",
            "",
            f"# {', '.join([first, *named])}: as they were given to the fit",
            *_array_lines(result),
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
    counts, offset, weights = result.counted, result.offsets, _weights(result)
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
    if weights:
        found.append(f"weights={weights}")
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


def _weights(result: Fitted) -> str:
    """Weights of a call: by level where each level has one weight, else by name."""
    weights = result.problem.weights
    if result.problem.balanced:
        return literal("balanced")
    if weights is None:
        return ""
    each = [np.unique(weights[result.problem.y == sign]) for sign in (-1.0, 1.0)]
    if any(len(values) > 1 for values in each):
        return "weights"
    pairs = zip(result.coding.levels, each, strict=True)
    inner = ", ".join(f"{literal(level)}: {float(w[0])!r}" for level, w in pairs)
    return f"{{{inner}}}"


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
    written = [f"{name}={_written(name, value)}" for name, value in options.items()]
    return f"ps.{result.solver.name}({', '.join(written)})"


def _written(name: str, value: object) -> str:
    return name if isinstance(value, np.ndarray) else literal(plain(value))


def _array_lines(result: Fitted) -> list[str]:
    """Lines for options of the solver that are arrays: rows, a start, step sizes."""
    lines = [
        f"{name} = np.array({value.tolist()!r})"
        if value.size <= SHORT
        else f"# {name}: result.solver.{name}"
        for name in ("order", "start", "step")
        if isinstance(value := getattr(result.solver, name, None), np.ndarray)
    ]
    return ["import numpy as np", *lines] if lines else []


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
