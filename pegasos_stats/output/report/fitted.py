"""How a fit was found, and how far from the optimum it is."""

import math
from typing import Any

import numpy as np

from pegasos_stats.models.notes import UNCERTIFIED
from pegasos_stats.output.report.document import (
    Block,
    Formula,
    Pairs,
    Paragraph,
    Picture,
    Section,
    Text,
    prose,
)
from pegasos_stats.output.report.drawings import trace_figure
from pegasos_stats.output.report.numbers import at_most, number
from pegasos_stats.output.report.subject import Subject
from pegasos_stats.session import session_info

STEPS = {
    "hinge": r"1 \;\mathrm{if}\; m_i < 1,\ \mathrm{else}\ 0",
    "log": r"\dfrac{1}{1 + e^{m_i}}",
}
GENERATORS = {
    "rejection": "R's: Mersenne-Twister, inversion, rejection (R's default since 3.6)",
    "rounding": "R's: Mersenne-Twister, inversion, rounding (as R before 3.6)",
}


def fitting(subject: Subject) -> Section:
    """Solver, seed, generator, versions, run time."""
    blocks: list[Block] = [Paragraph(_method(subject))]
    if subject.result.solver.name == "Pegasos" and not subject.is_kernel:
        blocks += _step(subject)
    blocks.append(Pairs(_facts(subject)))
    return Section("How it was fitted", "fitted", blocks)


def _method(subject: Subject) -> Text:
    """The solver in a sentence or two."""
    result = subject.result
    then = ""
    if result.refinement is not None:
        goal = number(result.refinement.tol)
        then = f" SDCA went on from there to a relative gap of {goal}."
    if result.solver.to_optimum:
        return (
            "By SDCA, stochastic dual coordinate ascent: it raises the dual objective "
            "row by row, with Newton steps for a free intercept, and stops where the "
            f"relative duality gap is at most {number(result.solver.tol)}."
        )
    if subject.is_kernel:
        return (
            "By Pegasos with a kernel: rows are visited one by one, and a row whose "
            "margin is below 1 gains in weight."
        )
    return (
        "By Pegasos, stochastic sub-gradient descent: the rows are visited one by one "
        "or in small batches, and each visit takes a step, large at first, then "
        f"smaller.{then}"
    )


def _step(subject: Subject) -> list[Block]:
    """The step as mathematics."""
    problem, solver = subject.result.problem, subject.result.solver
    weight = "" if subject.weights is None else "w_i "
    mean = r"\dfrac{1}{|A|}\;\sum_{i\in A} " if solver.batch_size > 1 else ""
    update = (
        rf"\beta \leftarrow \beta - \eta\left(\lambda\beta - {mean}{weight}s_i y_i x_i"
        r"\right)"
    )
    free = rf",\qquad \alpha \leftarrow \alpha + \eta\,{mean}{weight}s_i y_i"
    sizes = rf"\eta = \dfrac{{1}}{{\lambda t}},\qquad s_i = {STEPS[problem.loss]}"
    batch = " for a batch $A$ of rows" if solver.batch_size > 1 else ""
    return [
        Paragraph(
            prose(f"Step $t = 1, 2, \\ldots${batch}, at a row $i$ of the order:")
        ),
        Formula(update + (free if problem.intercept else "")),
        Formula(sizes),
    ]


def _facts(subject: Subject) -> list[tuple[Text, Text]]:
    result = subject.result
    solver, drawn = result.solver, result.solver.uses_random_numbers
    then = "" if result.refinement is None else ", then SDCA"
    found: list[tuple[Text, Text]] = [
        ("Solver", solver.name + then),
        ("Order of the rows", solver.order_name),
        ("Form", solver.options or "plain"),
        ("Steps", f"{result.n_iter:,}"),
        ("Margin violations", f"{result.n_violations:,}"),
        ("Seed", _seed(subject) if drawn else "none needed: nothing is drawn"),
    ]
    if drawn:
        found.append(("Random numbers", GENERATORS[solver.sample_kind]))
    found += [("Arithmetic", _arithmetic(subject)), *_run_time(subject)]
    versions = session_info()
    libraries = [f"{name} {number}" for name, number in versions.versions.items()]
    return [*found, ("Versions", ", ".join(libraries)), ("System", versions.system)]


def _seed(subject: Subject) -> str:
    given = subject.result.solver.seed is not None
    return f"{subject.result.seed}" + ("" if given else ", drawn")


def _arithmetic(subject: Subject) -> str:
    result = subject.result
    parity = result.refinement is None and not result.solver.to_optimum
    if not parity or result.solver.arithmetic == "fast":
        return "double precision, summed as it suits the machine"
    if subject.is_logistic:
        return "double precision in R's order of operations: R's numbers to 12 digits"
    return "double precision in R's order of operations: R's numbers, bit for bit"


def _run_time(subject: Subject) -> list[tuple[Text, Text]]:
    result = subject.result
    found: list[tuple[Text, Text]] = []
    if result.seconds is not None:
        seconds = f"{result.seconds:.2g} s, with loading of the compiled code"
        found.append(("Run time", seconds))
    if result.trace is not None and len(result.trace):
        spent = float(result.trace["cpu_seconds"].iloc[-1])
        found.append(("Processor time of the steps", f"{spent:.2g} s"))
    return found


def optimum(subject: Subject) -> Section:
    """The certificate in words, as numbers, and over the epochs."""
    result = subject.result
    rows: list[tuple[Text, Text]] = [
        ("Objective", number(result.objective, 8)),
        ("Dual objective, a lower bound", number(result.dual_objective, 8)),
    ]
    if result.gap < math.inf:
        rows.append(("Duality gap", number(result.gap, 4)))
        rows += _reach(subject, result.gap)
    if result.relative_gap < math.inf:
        rows.insert(3, ("Relative gap", number(result.relative_gap)))
    blocks: list[Block] = [Paragraph(_certified(result)), Pairs(rows)]
    if result.trace is not None and len(result.trace) > 1:
        caption = "Objective, duality gap and errors after every epoch."
        blocks.append(Picture(trace_figure(result), caption))
    return Section("How far from the optimum", "optimum", blocks)


def _certified(result: Any) -> Text:
    """What duality says of a fit, where the numbers allow it to say anything."""
    if result.gap == math.inf:
        return UNCERTIFIED
    words = (
        "The objective of the fit is {}. By duality no model whatever has one below "
        "{}. So the fit is within {} of the optimum"
    )
    numbers = [
        number(result.objective, 6),
        number(result.dual_objective, 6),
        number(result.gap, 3),
    ]
    if result.relative_gap == math.inf:  # of an objective of 0
        return prose(f"{words}.", *numbers)
    more = ": fitting longer could gain {} of its objective."
    return prose(words + more, *numbers, at_most(result.relative_gap))


def _reach(subject: Subject, gap: float) -> list[tuple[Text, Text]]:
    """How far the coefficients may be from the best ones, by strong convexity."""
    if subject.is_kernel:
        return []
    bound = np.sqrt(2.0 * gap / subject.result.problem.lam)
    size = float(np.linalg.norm(subject.result.solution.beta))
    name = prose(
        r"$\Vert\beta - \beta^{*}\Vert$ is at most $\sqrt{2\,\mathrm{gap}/\lambda}$"
    )
    value = prose(
        r"{}, where $\Vert\beta\Vert$ = {}", number(bound, 3), number(size, 3)
    )
    return [(name, value)]
