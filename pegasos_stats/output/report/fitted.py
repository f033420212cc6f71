"""How a fit was computed, how far from the optimum it is, and its coefficients."""

import math
from typing import Any

import numpy as np
import pandas as pd

from pegasos_stats.errors import counted
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.notes.fits import UNCERTIFIED, above
from pegasos_stats.models.summaries import counts_by_visit
from pegasos_stats.output.report import document as doc
from pegasos_stats.output.report import drawing
from pegasos_stats.output.report.document import Text, prose
from pegasos_stats.output.report.formatting import number
from pegasos_stats.output.report.origin import Fitted
from pegasos_stats.output.report.subject import Subject
from pegasos_stats.session import session_info
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.selection.path_results import end_of_path

STEPS = {
    "hinge": r"1 \;\mathrm{if}\; m_i < 1,\ \mathrm{else}\ 0",
    "log": r"\dfrac{1}{1 + e^{m_i}}",
}
SIZES = {
    "pegasos": r"\dfrac{1}{\lambda t}",
    "1/(lambda n)": r"\dfrac{1}{\lambda n}",
    "1/sqrt(t)": r"\dfrac{1}{\sqrt{t}}",
}
GENERATORS = {
    "rejection": "R's: Mersenne-Twister, inversion, rejection (R's default since 3.6)",
    "rounding": "R's: Mersenne-Twister, inversion, rounding (as R before 3.6)",
}
PANEL = 2.1  # inches of each panel of the trace


def fitting(subject: Subject) -> doc.Section:
    """Solver, seed, generator, versions, run time."""
    solver = subject.result.solver
    blocks: list[doc.Block] = [doc.Paragraph(_method(subject))]
    if isinstance(solver, Pegasos) and not subject.is_kernel:
        blocks += _step(subject, solver, averaged=solver.batch_size > 1)
    blocks += [doc.Paragraph(_choice(subject)), doc.Definitions(_facts(subject))]
    return doc.Section("How it was fitted", "fitted", blocks)


def _choice(subject: Subject) -> Text:
    """How lambda was chosen."""
    path, lam = subject.path, subject.result.problem.lam
    start = prose(r"$\lambda$ = {} ", number(lam, 6))
    if path is None or path.folds is None:
        return (
            *start,
            "was given. Standard errors, intervals and p-values take it as fixed "
            "beforehand: if the training rows had a part in choosing it, they may be "
            "too small. Errors on test rows hold unless these had a part in it.",
        )
    rule = "1se" if lam == path.marks().get("1se") else "min"
    least = prose(
        r"the best mean {}, at $\lambda$ = {}", path.metric, number(path.lambda_min)
    )
    words = {
        "1se": "the largest value within a standard error of ",
        "min": "",
    }
    rough = " That standard error is rough: fits of different folds share rows."
    ends = float(path.lambdas[-1]), float(path.lambdas[0])
    low, high = map(number, ends)
    return (
        *start,
        f"was chosen among {counted(len(path.lambdas), 'value')} from {low} to {high} "
        f"by cross-validation of the training rows ({path.folds.description}) and the "
        f"rule “{rule}”: {words[rule]}",
        *least,
        f".{rough * (rule == '1se')} Standard errors, intervals and p-values take "
        "lambda as fixed, and may be too small.",
        f" It is {at_end}." if (at_end := end_of_path(path, lam)) else "",
    )


def _method(subject: Subject) -> str:
    """The solver in a sentence or two."""
    solver, refinement = subject.result.solver, subject.result.refinement
    if isinstance(solver, SDCA) and subject.is_kernel:
        return (
            "By SDCA, dual coordinate ascent: it takes some hundred rows at a time, "
            "moves their weights to the best values in pairs, and "
            f"{_end(solver, subject.result)}."
        )
    if isinstance(solver, SDCA):
        more = ", then in many rows at once," if solver.algorithm == "newton" else ""
        return (
            "By SDCA, stochastic dual coordinate ascent: it raises the dual objective "
            f"row by row{more} and {_end(solver, subject.result)}."
        )
    then = ""
    if refinement is not None:
        then = f" SDCA goes on from there and {_end(refinement, subject.result)}."
    if subject.is_kernel:
        return (
            "By Pegasos with a kernel: rows are visited one by one, and a row whose "
            f"margin is below 1 gains in weight.{then}"
        )
    smaller = isinstance(solver.step, str) and solver.step != "1/(lambda n)"
    return (
        "By Pegasos, stochastic sub-gradient descent: the rows are visited one by one "
        "or in small batches, and each visit takes a step"
        f"{', large at first, then smaller' * smaller}.{then}"
    )


def _end(solver: SDCA, result: Fitted) -> str:
    """Where SDCA stops: at a gap, or with the last of its epochs."""
    goals = [f"the relative duality gap is at most {number(solver.tol)}"]
    if solver.gap_tol:
        goals = goals * (solver.tol > 0.0)
        goals.append(f"the duality gap is at most {number(solver.gap_tol)}")
    if result.converged:
        return f"stops where {' or '.join(goals)}"
    last = f"stops after {counted(solver.epochs, 'epoch')}"
    early = solver.tol > 0.0 or solver.gap_tol
    return f"{last}, before {' or '.join(goals)}" if early else last


def _step(subject: Subject, solver: Pegasos, averaged: bool) -> list[doc.Block]:
    """A step of Pegasos as mathematics; `averaged` over the rows of a batch."""
    problem = subject.result.problem
    weight = "" if subject.weights is None else "w_i "
    mean = r"\dfrac{1}{|A|}\;\sum_{i\in A} " if averaged else ""
    update = (
        rf"\beta \leftarrow \beta - \eta\left(\lambda\beta - {mean}{weight}s_i y_i x_i"
        r"\right)"
    )
    free = rf",\qquad \alpha \leftarrow \alpha + \eta\,{mean}{weight}s_i y_i"
    eta = r"\eta_t \;\mathrm{as\ given}"
    if isinstance(solver.step, str):
        eta = SIZES[solver.step]
    elif isinstance(solver.step, float):
        eta = f"{solver.step:g}"
    sizes = rf"\eta = {eta},\qquad s_i = {STEPS[problem.loss]}"
    batch = " for a batch $A$ of rows" if averaged else ""
    first = solver.first_step
    steps = rf"$t = {first}, {first + 1}, \ldots$"
    sentence = f"Step {steps}{batch}, at a row $i$ of the order:"
    return [
        doc.Paragraph(prose(sentence)),
        doc.Formula(update + (free if problem.intercept else "")),
        doc.Formula(sizes),
    ]


def _facts(subject: Subject) -> list[tuple[Text, Text]]:
    """Options of the run, its random numbers, its time, and the versions."""
    result = subject.result
    solver, drawn = result.solver, result.solver.uses_random_numbers
    violations: Text = f"{result.n_violations:,}"
    seed = f"{result.seed}" + ("" if solver.seed is not None else ", drawn")
    found: list[tuple[Text, Text]] = [
        ("Solver", result.solver_name),
        ("Order of the rows", solver.order_name),
        ("Form", solver.options or "plain"),
        *_epochs(result),
        ("Steps", f"{result.n_iter:,}"),
        *([("Margin violations", violations)] * counts_by_visit(result)),
        ("Seed", seed if drawn else "none needed: nothing is drawn"),
    ]
    if drawn:
        found.append(("Random numbers", GENERATORS[solver.sample_kind]))
    found += [("Arithmetic", _arithmetic(result)), *_run_time(result)]
    session = session_info()
    libraries = [f"{name} {version}" for name, version in session.versions.items()]
    return [*found, ("Versions", ", ".join(libraries)), ("System", session.system)]


def _epochs(result: Fitted) -> list[tuple[Text, Text]]:
    """How many epochs were run, where a tolerance may have ended them."""
    solver = result.solver
    if not (isinstance(solver, Pegasos) and solver.may_end_early):
        return []
    return [("Epochs", f"{result.n_epochs:,}, {solver.goals}")]


def _run_time(result: Fitted) -> list[tuple[Text, Text]]:
    """How long the fit took, where that is known."""
    found: list[tuple[Text, Text]] = []
    if result.seconds is not None:
        seconds = f"{result.seconds:.2g} s, with loading of the compiled code"
        found.append(("Run time", seconds))
    if result.trace is not None and len(result.trace):
        spent = float(result.trace["cpu_seconds"].iloc[-1])
        found.append(("Processor time of the steps", f"{spent:.2g} s"))
    return found


def _arithmetic(result: Fitted) -> str:
    """Whether the numbers are those of R."""
    solver = result.solver
    sums = solver.sums if isinstance(solver, SDCA) else solver.arithmetic
    if sums == "fast" or result.refinement is not None:
        return "double precision, summed as it suits the machine"
    if result.problem.loss == "log":
        return "double precision in R's order of operations: R's numbers to 12 digits"
    return "double precision in R's order of operations: R's numbers, bit for bit"


def optimum(subject: Subject) -> doc.Section:
    """The certificate in words, as numbers, and over the epochs."""
    result = subject.result
    rows: list[tuple[Text, Text]] = [
        ("Objective", number(result.objective, 8)),
        ("Dual objective, a lower bound", number(result.dual_objective, 8)),
    ]
    if result.gap < math.inf:
        rows.append(("Duality gap", number(result.gap, 4)))
        if result.relative_gap < math.inf:
            rows.append(("Relative gap", number(result.relative_gap)))
        known = result.shortfall
        if known.lower > result.dual_objective:
            bounds = number(known.lower, 8), number(known.upper, 8)
            rows.append(("Minimum, from going on", prose("{} to {}", *bounds)))
        if isinstance(result, LinearResults):
            rows.append(_distance(result))
    blocks: list[doc.Block] = [doc.Paragraph(_certified(result)), doc.Definitions(rows)]
    if result.trace is not None and len(result.trace) > 1:
        caption = "Objective, duality gap and errors after every epoch."
        blocks.append(doc.Picture(_trace_figure(result, result.trace), caption))
    return doc.Section("How far from the minimum", "optimum", blocks)


def _certified(result: Fitted) -> Text:
    """What duality says of a fit, unless its numbers are too large for a bound."""
    known = result.shortfall
    if known.at_most == math.inf:
        return UNCERTIFIED
    return prose(
        "The objective of the fit is {}. By duality no other coefficients have, at "
        "this λ and with these predictors, one below {}: it is {}. This is about the "
        "objective, not about how good the model is.",
        number(result.objective, 6),
        number(known.lower, 6),
        above(result.objective, known),
    )


def _distance(result: LinearResults) -> tuple[Text, Text]:
    """How far the coefficients are from the best ones at most, by strong convexity.

    ``delta`` is how far the objective is above its minimum, at most.
    """
    bound = float(np.sqrt(2.0 * result.shortfall.at_most / result.problem.lam))
    size = float(np.linalg.norm(result.solution.beta))
    name = r"$\Vert\beta - \beta^{*}\Vert$ is at most $\sqrt{2\,\delta/\lambda}$"
    value = r"{}, where $\Vert\beta\Vert$ = {}"
    return prose(name), prose(value, number(bound, 3), number(size, 3))


def _trace_figure(result: Fitted, trace: pd.DataFrame) -> doc.Figure:
    """Objective, gap and errors over the epochs."""
    first, last = (number(trace["gap"].iloc[at], 3) for at in (0, -1))
    alt = (
        f"Objective, duality gap and error rate over {len(trace)} epochs; the gap goes "
        f"from {first} to {last}"
    )

    def draw(figure: Any) -> None:
        result.plot.trace(ax=figure.subplots(3, 1, sharex=True))

    return drawing.drawn(draw, alt, drawing.WIDTH, 3 * PANEL)
