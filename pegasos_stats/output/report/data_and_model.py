"""Data, model and method of a report, and a glossary."""

import math

import numpy as np

from pegasos_stats.data.counts import column_of_counts, repeated
from pegasos_stats.errors import counted
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.notes import UNCERTIFIED, above
from pegasos_stats.output.report import document as doc
from pegasos_stats.output.report.coefficients import column_of, is_dummy
from pegasos_stats.output.report.document import Math, Text, prose
from pegasos_stats.output.report.formatting import NBSP, joined, number
from pegasos_stats.output.report.repeat import python_lines
from pegasos_stats.output.report.subject import EvaluatedRows, Subject, factor_levels
from pegasos_stats.session import session_info
from pegasos_stats.studies.selection.path_results import end_of_path

MOST = 30  # predictors in the table
LOSSES = {
    "hinge": r"\max\left(0,\,1 - m_i\right)",
    "log": r"\log\left(1 + e^{-m_i}\right)",
}
NAMES = {
    "hinge": "support vector machine",
    "log": "penalised logistic regression",
}
WORDS: list[tuple[Text, Text]] = [
    (
        "95% interval",
        "Of a rate on new rows, by Clopper and Pearson: it covers the true rate at "
        "least 95 times in 100, if the rows are an independent random sample.",
    ),
    ("Always the majority", "The error of predicting the more frequent level only."),
    (
        "AUC",
        "Area under the ROC curve: the probability that a row of one level has a "
        "larger score than a row of the other.",
    ),
    (
        "Odds ratio",
        "The factor by which the odds differ between rows that differ in one "
        "predictor.",
    ),
    (
        "Sensitivity, specificity",
        "The shares of the positive class, and of the other, that are predicted right.",
    ),
    ("Kappa", "Agreement beyond chance: 0 is chance, 1 is perfect."),
    (
        "McNemar's test",
        "Whether one level is taken for the other more often than the reverse.",
    ),
    (
        "No-information rate",
        "The share of the more frequent level: the accuracy of always predicting it.",
    ),
    (
        "Margin",
        "The score, with its sign reversed for the negative level: below 0 the row is "
        "predicted wrong.",
    ),
    (
        "Calibration error",
        "Mean distance of probabilities and observed shares, in ten bins.",
    ),
    (
        "Duality gap",
        "The objective less a lower bound on its minimum: what a better solution "
        "could gain at most.",
    ),
]


def model_name(subject: Subject) -> str:
    """What was fitted, in words."""
    kernel = "kernel " if subject.kernel is not None else ""
    return kernel + NAMES[subject.result.problem.loss]


def data(subject: Subject) -> doc.Section:
    """Rows, missing values, factors, predictors by level."""
    result = subject.result
    sets = [subject.training] + ([] if subject.test is None else [subject.test])
    columns: list[Text] = ["", *(rows.name.capitalize() for rows in sets)]
    counts = [_counts(subject, rows) for rows in sets]
    names = dict.fromkeys(name for each in counts for name in each)
    lines: list[list[Text]] = [
        [name, *(f"{each.get(name, 0):,}" for each in counts)] for name in names
    ]
    facts: list[tuple[Text, Text]] = [
        ("Outcome", result.coding.name),
        ("Predictors", joined(list(result.design.names))),
    ]
    facts += [
        (f"Levels of {name}", joined(levels))
        for name, levels in factor_levels(result.design).items()
    ]
    blocks = [doc.Table(columns, lines), doc.Definitions(facts), *_by_level(subject)]
    return doc.Section("Data", "data", blocks)


def _counts(subject: Subject, rows: EvaluatedRows) -> dict[str, int]:
    """Rows, rows left out, missing values by variable, rows of each level."""
    result, table = subject.result, rows.table
    by_level = table.counts.sum(axis=1)
    found = {"Rows": rows.rows}
    if rows.data is None:
        found["Without an outcome"] = result.dropped.outcome
        found["Without a predictor"] = result.dropped.predictors
        if result.problem.n_weightless:
            found["Of weight 0"] = result.problem.n_weightless
        missing = dict(result.dropped.missing)
    else:
        codes = rows.codes[rows.is_unscored]
        by_level = by_level - np.bincount(codes, minlength=len(by_level))
        found["Without an outcome"] = table.n_unlabelled
        found["Without a predictor"] = len(codes)
        missing = _missing_in(subject, rows)
    for name, count in missing.items():
        found[f"Missing: {name}"] = count
    for level, count in zip(table.levels, by_level, strict=True):
        found[f"Used, '{level}'"] = int(count)
    return found


def _missing_in(subject: Subject, rows: EvaluatedRows) -> dict[str, int]:
    """Test rows without a value, by variable; a row counts as often as it stands."""
    result = subject.result
    matrix = result.design.matrix(rows.data)
    counts = column_of_counts(None, result.counted, rows.data)
    if counts is not None:
        matrix = matrix.taken(repeated(counts, rows.data, matrix.index))
    return {name: len(at) for name, at in matrix.missing.items() if len(at)}


def _by_level(subject: Subject) -> list[doc.Block]:
    """Mean and standard deviation of the predictors by level; of 0 and 1 the share."""
    if not subject.has_rows or subject.has_gram:
        return []
    result = subject.result
    names = list(result.design.names)[:MOST]
    used = result.problem.row_weights > 0.0
    sides = [used & (result.problem.y == sign) for sign in (-1.0, 1.0)]
    lines: list[list[Text]] = []
    for at, name in enumerate(names):
        column = column_of(subject, at)
        share = is_dummy(column)
        lines.append([str(name), *(_described(column[side], share) for side in sides)])
    columns: list[Text] = ["Predictor"]
    for level, side in zip(result.coding.levels, sides, strict=True):
        columns.append(f"'{level}', {counted(int(side.sum()), 'row')}")
    caption = "Training rows: mean (standard deviation); of 0 and 1 the ones (share)"
    if len(names) < len(result.design.names):
        caption += f". The first {MOST} of {len(result.design.names):,} predictors"
    return [doc.Table(columns, lines, caption)]


def _described(
    values: "np.ndarray[tuple[int], np.dtype[np.float64]]", share: bool
) -> str:
    if not len(values):
        return ""
    mean = float(values.mean())
    if share:
        return f"{round(mean * len(values)):,} ({mean:.0%})"
    sd = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return f"{number(mean, 3)}{NBSP}({number(sd, 3)})"


def method(subject: Subject) -> doc.Section:
    """The model, lambda, the solver, and the certificate of its solution."""
    result = subject.result
    formula = result.design.formula
    shown = [] if formula is None else [doc.Paragraph(doc.Code(formula))]
    low, high = result.coding.levels
    blocks: list[doc.Block] = [
        *shown,
        doc.Paragraph(
            f"A {model_name(subject)} gives each row a score; above 0 it is predicted "
            f"'{high}', below 0 '{low}'. It minimises"
        ),
        doc.Formula(_objective(subject)),
        doc.Definitions(_symbols(subject)),
        *_choice(subject),
        doc.Paragraph(_certificate(subject)),
        doc.Definitions(_facts(subject)),
    ]
    return doc.Section("Model, method, certificate", "method", blocks)


def _score(subject: Subject) -> str:
    linear = "f(x_i)" if subject.kernel is not None else r"x_i'\beta"
    free = r" + \alpha" if subject.result.problem.intercept else ""
    return linear + free + ("" if subject.result.offsets is None else " + o_i")


def _objective(subject: Subject) -> str:
    """The function that is minimised, as TeX."""
    problem = subject.result.problem
    over = "f" if subject.kernel is not None else r"\beta"
    free = r",\ \alpha" if problem.intercept else ""
    weight = "" if subject.weights is None else r"w_i\,"
    return (
        rf"\min_{{{over}{free}}}\;\; \dfrac{{\lambda}}{{2}}\,\Vert {over}\Vert^{{2}}"
        rf"\;+\;\dfrac{{1}}{{n}}\;\sum_{{i=1}}^{{n}}\, {weight}{LOSSES[problem.loss]}"
    )


def _symbols(subject: Subject) -> list[tuple[Text, Text]]:
    result, problem = subject.result, subject.result.problem
    lam = problem.lambda_text.replace("-", "\N{MINUS SIGN}", 1)
    unknown: tuple[Text, Text] = (Math(r"\beta"), "coefficients of the predictors")
    if subject.kernel is not None:
        unknown = (Math("f"), f"a function of the kernel {subject.kernel}")
    low, high = result.coding.levels
    found: list[tuple[Text, Text]] = [
        (prose(rf"$m_i = y_i\,({_score(subject)})$"), "margin of a row"),
        (Math("y_i"), f"−1 for '{low}', +1 for '{high}'"),
        (Math(r"\lambda"), f"{lam}; the larger, the smaller the coefficients"),
        unknown,
        (Math("n"), f"{problem.n:,} training rows"),
    ]
    if problem.intercept:
        found.append((Math(r"\alpha"), "intercept, not penalised"))
    if result.offsets is not None:
        found.append((Math("o_i"), f"offset: {result.offsets}"))
    if subject.weights is not None:
        low, high = (number(float(w)) for w in np.quantile(subject.weights, [0, 1]))
        found.append((Math("w_i"), f"weight of a row, {low} to {high}, mean 1"))
    if subject.is_scaled:
        found.append((Math("x_i"), "standardized predictors"))
    return found


def _choice(subject: Subject) -> list[doc.Block]:
    """How lambda was chosen, where a path is known."""
    path, lam = subject.path, subject.result.problem.lam
    if path is None or path.folds is None:
        return []
    rule = "1se" if lam == path.marks().get("1se") else "min"
    end = f" It is {end_of_path(path, lam)}." if end_of_path(path, lam) else ""
    text = (
        f"Lambda was chosen from {counted(len(path.lambdas), 'value')} by "
        f"cross-validation ({path.folds.description}), rule '{rule}', metric "
        f"{path.metric}.{end} Standard errors take it as fixed."
    )
    return [doc.Paragraph(text)]


def _certificate(subject: Subject) -> str:
    """How far the objective is from its minimum, by duality."""
    result, known = subject.result, subject.result.shortfall
    if known.at_most == math.inf:
        return UNCERTIFIED
    return (
        f"The objective is {above(result.objective, known)}, by duality. This is "
        "about the computation, not about how good the model is."
    )


def _facts(subject: Subject) -> list[tuple[Text, Text]]:
    """Objective and gap, solver, seed, run time, versions."""
    result = subject.result
    facts: list[tuple[Text, Text]] = [
        ("Objective", number(result.objective, 8)),
        ("Dual objective", number(result.dual_objective, 8)),
    ]
    if result.gap < math.inf:
        facts.append(("Duality gap", number(result.gap, 4)))
    if result.relative_gap < math.inf:
        facts.append(("Relative gap", number(result.relative_gap)))
    facts += [("Solver", result.solver_name), ("Steps", f"{result.n_iter:,}")]
    if result.converged is not None:
        facts.append(("Converged", "yes" if result.converged else "no"))
    if result.solver.uses_random_numbers:
        facts.append(("Seed", f"{result.seed}"))
    if result.seconds is not None:
        facts.append(("Run time", f"{result.seconds:.2g} s"))
    if isinstance(result, LinearResults):
        facts.append(("Coefficients", f"{len(result.params):,}"))
    versions = session_info().versions.items()
    facts.append(("Versions", ", ".join(f"{name} {v}" for name, v in versions)))
    return facts


def repeat(subject: Subject) -> doc.Section:
    """The command, or the lines of Python, that repeat the fit."""
    listing = doc.Listing(subject.command, "sh")
    if not subject.command:
        listing = doc.Listing(python_lines(subject), "python")
    return doc.Section("To repeat it", "repeat", [listing])


def glossary(subject: Subject) -> doc.Section:
    """Words that a newcomer may not know."""
    return doc.Section("Glossary", "glossary", [doc.Definitions(WORDS)])
