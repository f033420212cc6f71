"""Lines of Python that repeat a fit."""

import json

import numpy as np

from pegasos_stats.data.counts import Counts
from pegasos_stats.data.offset import Offset
from pegasos_stats.errors import plain
from pegasos_stats.models.inference.options import chosen_options
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.output.report.facts import Fitted, Study
from pegasos_stats.solvers.options import given

LONGEST = 88  # characters of a line
SHORT = 20  # numbers of an array that are written out


def python_lines(study: Study) -> str:
    """Lines that fit the model again, from data that are in memory.

    Parameters
    ----------
    study : Study
    """
    result = study.result
    names = ["y, X" if result.design.formula is None else "train"]
    if _weights(study) == "weights":
        names.append("weights")
    if result.counted is not None and not result.counted.column:
        names.append("freq_weights")
    if result.offsets is not None and result.offsets.given:
        names.append("offset")
    if _groups(result) == "groups=groups":
        names.append("groups")
    return "\n".join(
        [
            "import pegasos_stats as ps",
            "",
            f"# {', '.join(names)}: as they were given to the fit",
            *_array_lines(result),
            call(f"model = ps.{_model(study)}", model_arguments(study)),
            call("result = model.fit", fit_arguments(result)),
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


def _model(study: Study) -> str:
    """Name of the function, or the class, that made the model."""
    by_formula = study.result.design.formula is not None
    if study.kernel is not None:
        return "kernel_svm" if by_formula else "KernelSVM"
    if study.is_logistic:
        return "logit" if by_formula else "Logit"
    return "svm" if by_formula else "SVM"


def model_arguments(study: Study) -> list[str]:
    """Arguments of the model, as they are written; defaults are left out."""
    result = study.result
    problem, coding, formula = result.problem, result.coding, result.design.formula
    data = ["y", "X"] if formula is None else [literal(formula), "train"]
    rule = coding.levels if coding.rule == "explicit" else coding.rule
    weights = _weights(study)
    kernel = []
    if study.kernel is not None:
        parameters = study.kernel.parameters.items()
        kernel = [
            f'kernel="{study.kernel.name}"',
            *(f"{k}={v!r}" for k, v in parameters),
        ]
    pairs = ", ".join(f"{literal(name)}: {name}" for name in result.design.functions)
    return [
        *data,
        *_lambda(result),
        *([] if problem.intercept else ["intercept=False"]),
        *kernel,
        *([] if rule == "factor" else [f"coding={literal(rule)}"]),
        *([f"weights={weights}"] if weights else []),
        *(
            []
            if result.counted is None
            else [f"freq_weights={_counts(result.counted)}"]
        ),
        *_offset(result.offsets),
        *(["standardize=True"] if study.result.scaling is not None else []),
        *([f"functions={{{pairs}}}"] if pairs else []),
    ]


def _lambda(result: Fitted) -> list[str]:
    """The argument for lambda; none where it is 1/n of the rows."""
    problem = result.problem
    if problem.lam_rule == "1/n" and problem.lam == 1.0 / problem.n_weighed:
        return []
    return ['lam="cv"' if result.lambda_path is not None else f"lam={problem.lam!r}"]


def _counts(counts: Counts) -> str:
    return literal(counts.column) if counts.column else "freq_weights"


def _offset(offset: Offset | None) -> list[str]:
    """The argument for the offset, where it is not all in the formula."""
    if offset is None or not (offset.column or offset.given):
        return []
    return [f"offset={literal(offset.column) if offset.column else 'offset'}"]


def _weights(study: Study) -> str:
    """Weights of a call: by level where each level has one weight, else by name."""
    weights, result = study.result.problem.weights, study.result
    if result.problem.balanced:
        return literal("balanced")
    if weights is None:
        return ""
    each = [np.unique(weights[result.problem.y == sign]) for sign in (-1.0, 1.0)]
    if any(len(values) > 1 for values in each):
        return "weights"
    low, high = (float(values[0]) for values in each)
    first, second = (literal(level) for level in result.coding.levels)
    return f"{{{first}: {low!r}, {second}: {high!r}}}"


def fit_arguments(result: Fitted) -> list[str]:
    """Arguments of ``fit``: the solver with its seed, and the refinement."""
    refinement = result.refinement
    refine = [] if refinement is None else [f"refine={refinement.tol!r}"]
    arguments = [solver_call(result), *refine]
    if not isinstance(result, LinearResults):
        return arguments
    arguments += filter(None, [_groups(result)])
    if result.cov_type == chosen_options("default", result.problem, result.groups):
        return arguments
    if result.cov_type is None:
        return [*arguments, 'cov_type="none"']
    return [*arguments, f"cov_type=ps.{result.cov_type!r}"]


def _groups(result: Fitted) -> str:
    """The argument for the groups of a fit; empty if there are none."""
    groups = result.groups if isinstance(result, LinearResults) else None
    if groups is None:
        return ""
    if not groups.by_name:
        return "groups=groups"
    names = list(groups.names)
    return f"groups={literal(names[0] if len(names) == 1 else names)}"


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
