"""How to repeat a fit: the command line, Python, R."""

import math

import numpy as np

from pegasos_stats.data.counts import Counts
from pegasos_stats.data.offset import Offset
from pegasos_stats.data.scan.elsewhere import Elsewhere
from pegasos_stats.errors import plain
from pegasos_stats.models.inference.estimating import chosen_options
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.output.report import document as doc
from pegasos_stats.output.report.document import Listing, Paragraph, Text, prose
from pegasos_stats.output.report.origin import Fitted, literal
from pegasos_stats.output.report.r_data import SHORT_ORDER
from pegasos_stats.output.report.r_lines import RLines, r_lines
from pegasos_stats.output.report.subject import Subject
from pegasos_stats.solvers.options import given

LONGEST = 88
ROOT = (
    "They call the functions of the folder `r_reference` of the package's sources, "
    "from the folder above it."
)


def repeating(subject: Subject) -> doc.Section:
    """Lines that repeat the fit; where R cannot, lines that check it."""
    blocks: list[doc.Block] = []
    if subject.origin.command:
        blocks += [
            Paragraph("On the command line:"),
            Listing(subject.origin.command, "sh"),
        ]
    blocks += [
        Paragraph("In Python, the same fit with the same numbers:"),
        Listing(python_lines(subject), "python"),
        *_in_r(subject),
    ]
    return doc.Section("To repeat it", "repeat", blocks)


def _in_r(subject: Subject) -> list[doc.Block]:
    lines = r_lines(subject)
    blocks: list[doc.Block] = [Paragraph(_introduction(subject, lines))]
    if lines.python:
        blocks += [
            Paragraph("First Python writes the numbers of the fit, every bit of them:"),
            Listing(lines.python, "python"),
            Paragraph("Then, in R:"),
        ]
    return [*blocks, *([Listing(lines.r, "r")] if lines.r else [])]


def _introduction(subject: Subject, lines: RLines) -> Text:
    """What the lines of R do, and how near they come."""
    digits = "to 12 digits" if subject.is_logistic else "bit for bit"
    if lines.kind == "loop":
        return f"In R, without any package: it prints the same coefficients, {digits}."
    if lines.kind == "reference":
        what = "counts" if subject.is_kernel else "coefficients"
        return prose("In R: it prints the same {}, {}. " + ROOT, what, digits)
    if lines.kind == "check":
        return prose(
            "R has no counterpart of this solver, but it can check the fit: these "
            "lines compute objective, dual objective and duality gap from the data. "
            + ROOT
        )
    if isinstance(X := subject.result.problem.X, Elsewhere):
        return (
            f"The rows of the fit are in {X.noun} that were read block by block: there "
            "are no lines of R that repeat it."
        )
    if not subject.has_rows:
        return (
            "The fit was loaded from a file, which holds no training rows: there are "
            "no lines of R that repeat it."
        )
    if subject.result.problem.offset is not None:
        return "The fit has an offset, which the lines of R do not take."
    return "The data are too large to be passed to R as text."


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
    named = _weights(subject) == "weights"
    by_number = result.counted is not None and not result.counted.column
    known = result.offsets is not None and result.offsets.given
    grouped = _groups(result) == "groups=groups"
    cut = ""
    if subject.deciding is not None:
        value = subject.deciding.value
        written = repr(value) if math.isfinite(value) else f'float("{value}")'
        cut = f", threshold={written}"
    shown = "result.dual_coef" if subject.is_kernel else "result.params"
    return "\n".join(
        [
            *imports,
            "",
            *loading,
            *_given_lines(result),
            *(["# weights: one for each row, as they were given"] * named),
            *(["# freq_weights: how many rows each row stands for"] * by_number),
            *(["# offset: a number for each row, as they were given"] * known),
            *(
                ["# groups: one label for each row, or two, as they were given"]
                * grouped
            ),
            call(f"model = ps.{_model(subject)}", model_arguments(subject)),
            call("result = model.fit", fit_arguments(result)),
            f"print({shown})",
            *([f"print(result.confusion({origin.test}{cut}))"] if origin.test else []),
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
    kernel = []
    if subject.kernel is not None:
        parameters = subject.kernel.parameters.items()
        kernel = [
            f'kernel="{subject.kernel.name}"',
            *(f"{k}={v!r}" for k, v in parameters),
        ]
    pairs = ", ".join(f"{literal(name)}: {name}" for name in result.design.functions)
    return [
        *data,
        f"lam={problem.lam!r}",
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
        *(["standardize=True"] if subject.is_scaled else []),
        *([f"functions={{{pairs}}}"] if pairs else []),
    ]


def _counts(counts: Counts) -> str:
    return literal(counts.column) if counts.column else "freq_weights"


def _offset(offset: Offset | None) -> list[str]:
    """The argument for the offset, where it is not all in the formula."""
    if offset is None or not (offset.column or offset.given):
        return []
    return [f"offset={literal(offset.column) if offset.column else 'offset'}"]


def _weights(subject: Subject) -> str:
    """Weights of a call: by level where each level has one weight, else by name."""
    weights, result = subject.weights, subject.result
    if result.problem.balanced:
        return literal("balanced")
    if weights is None:
        return ""
    each = [np.unique(weights[result.problem.y == sign]) for sign in (-1.0, 1.0)]
    if any(len(values) > 1 for values in each):
        return subject.origin.weights
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
    given = result.problem, result.solution, result.scaling, result.groups
    arguments += filter(None, [_groups(result)])
    if result.cov_type == chosen_options("default", *given):
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


GIVEN = {
    "order": "the rows to visit, counted from 0",
    "start": "the coefficients to begin with",
    "step": "the sizes of the steps",
}


def _given_lines(result: Fitted) -> list[str]:
    """Lines for options that are arrays: rows, a start, sizes of steps."""
    lines = []
    for name, what in GIVEN.items():
        value = getattr(result.solver, name, None)
        if isinstance(value, np.ndarray):
            short = f"{name} = np.array({value.tolist()!r})"
            long = f"# {name}: {what}, as result.solver.{name} has them"
            lines.append(short if value.size <= SHORT_ORDER else long)
    needed = any(line.startswith(tuple(GIVEN)) for line in lines)
    return ["import numpy as np", *lines] if needed else lines
