"""The question and the data of a report, and a glossary."""

from typing import Any

import numpy as np

from pegasos_stats.errors import counted
from pegasos_stats.models.summaries import counts_by_visit
from pegasos_stats.output.report import document as doc
from pegasos_stats.output.report.document import Math, Strong, Text, prose
from pegasos_stats.output.report.formatting import joined, number
from pegasos_stats.output.report.predictors import (
    missing_blocks,
    newness,
    predictors_by_class,
)
from pegasos_stats.output.report.subject import Judged, Subject, factor_levels

CODED = "contrasts with their first level."
CODED_BY_FORMULA = (
    "Text and categories became contrasts: those that the formula names, and others "
    + CODED
)
WEIGHTLESS = 3  # of the lines that count rows, where rows have weights of 0
LOSSES = {
    "hinge": r"\max\left(0,\,1 - m_i\right)",
    "log": r"\log\left(1 + e^{-m_i}\right)",
}
NAMES = {
    "hinge": "support vector machine",
    "log": "penalised logistic regression",
}
RULES = {
    "factor": "in the order of R's factor()",
    "first-seen": "the first in the data is coded −1",
    "explicit": "in the order given",
}
WORDS: list[tuple[str, Text]] = [
    (
        "Margin",
        prose(
            "The score of a row times its code: $m_i = y_i \\cdot \\mathrm{score}_i$. "
            "Above 0 the row is on the right side, and the larger the surer."
        ),
    ),
    (
        "Hinge loss",
        prose(
            "$\\max(0, 1 - m_i)$: a row costs nothing once its margin is 1, and the "
            "more the farther it is on the wrong side."
        ),
    ),
    (
        "Log loss",
        prose(
            "$\\log(1 + e^{-m_i})$ in the fit: minus the logarithm of the probability "
            "of the actual label. In the tables weights of the classes, if there are "
            "any, are first taken out of the probabilities."
        ),
    ),
    (
        "Margin violation",
        "A visit of a row whose margin was below 1 (with the log loss, below 0). A "
        "step visits one row, or all rows of its batch.",
    ),
    (
        "Duality gap",
        "The objective of the fit less a lower bound on that of any model. It bounds "
        "what a longer fit could gain, whatever the optimum is.",
    ),
    (
        "95% interval",
        "Of a rate Clopper and Pearson's, exact in that it covers the rate on new rows "
        "of the same kind at least 95 times in 100. Of balanced accuracy it is made of "
        "Wilson's, of kappa and Matthews' correlation on Fisher's scale, and of the "
        "area under the ROC curve DeLong's on the scale of the log odds: these cover "
        "nearly 95 times in 100, with some 20 rows or more of each level and some "
        "errors: less if nearly all rows are predicted right.",
    ),
    (
        "No-information rate",
        "The share of the more frequent level in the rows judged: the accuracy of "
        "always naming it. The p-value beside it takes the share as known, as caret "
        "does, and it is of the same rows: where the accuracy is near it, the p-value "
        "is too small if the rarer level is predicted often (in simulations up to 12% "
        "are below 0.05 where accuracy and share are the same), and too large if it is "
        "predicted seldom.",
    ),
    (
        "Kappa",
        "Agreement of actual and predicted labels beyond that of chance; 1 is perfect, "
        "0 is chance.",
    ),
    (
        "McNemar's test",
        "Whether one level is taken for the other more often than the other way round; "
        "a small p-value says so.",
    ),
    (
        "Sensitivity, specificity",
        "The shares of the positive class, and of the other, that are predicted right.",
    ),
    (
        "Area under the ROC curve",
        "The probability that a row of the level coded +1 has a larger score than one "
        "of the other level, equal scores counted half; the same for either level as "
        "the positive one.",
    ),
    (
        "Holm's adjustment",
        "Of p-values that are looked at together: among coefficients that are 0, the "
        "chance that any adjusted one is below 0.05 is at most 5%.",
    ),
    (
        "Calibration error",
        "Distance of the mean probability and the observed share in each of ten bins "
        "of probabilities, averaged over the bins by their numbers of rows. It is "
        "above 0 for right probabilities too, as shares of few rows vary by chance.",
    ),
]


def question(subject: Subject) -> doc.Section:
    """The question in words, in the language of formulas, and as mathematics."""
    result = subject.result
    negative, positive = (Strong(str(level)) for level in result.coding.levels)
    predictors = counted(len(result.design.names), "predictor")
    asked = prose(
        "Which rows have {} = {}, and which {}, judging by {}?",
        doc.Code(result.coding.name),
        positive,
        negative,
        predictors,
    )
    formula = result.design.formula
    in_words = [] if formula is None else prose(" As a formula: {}", doc.Code(formula))
    coded = prose(
        "{} is coded −1 and {} is coded +1. Each row has a score {}; a score above "
        "0 predicts {}, one below 0 predicts {}.",
        negative,
        positive,
        _score(subject),
        positive,
        negative,
    )
    first = doc.Paragraph((*asked, *in_words))
    blocks = [first, doc.Paragraph(coded), *_model(subject)]
    return doc.Section("What was asked", "asked", blocks)


def model_name(subject: Subject) -> str:
    """What was fitted, in words."""
    kernel = "kernel " if subject.is_kernel else ""
    return kernel + NAMES[subject.result.problem.loss]


def _score(subject: Subject) -> Math:
    linear = "f(x)" if subject.is_kernel else r"x'\beta"
    free = r" + \alpha" if subject.result.problem.intercept else ""
    known = "" if subject.result.offsets is None else " + o"
    return Math(linear + free + known)


def _model(subject: Subject) -> list[doc.Block]:
    """The function that is minimised, and its symbols."""
    problem = subject.result.problem
    over = "f" if subject.is_kernel else r"\beta"
    free = r",\ \alpha" if problem.intercept else ""
    size = rf"\Vert {over}\Vert^{{2}}"
    weight = "" if subject.weights is None else r"w_i\,"
    objective = (
        rf"\min_{{{over}{free}}}\;\; \dfrac{{\lambda}}{{2}}\,{size}"
        rf"\;+\;\dfrac{{1}}{{n}}\;\sum_{{i=1}}^{{n}}\, {weight}{LOSSES[problem.loss]}"
    )
    return [
        doc.Paragraph(prose("A {} was fitted:", Strong(model_name(subject)))),
        doc.Formula(objective),
        doc.Definitions(_symbols(subject)),
    ]


def _symbols(subject: Subject) -> list[tuple[Text, Text]]:
    problem = subject.result.problem
    size = counted(len(subject.result.design.names), "coefficient")
    unknown: tuple[Text, Text] = (Math(r"\beta"), f"the {size} of the predictors")
    if subject.kernel is not None:
        unknown = (Math("f"), f"a function made of the kernel {subject.kernel}")
    margin = _score(subject).tex.replace("x'", "x_i'").replace("(x)", "(x_i)")
    penalty = "the penalty; the larger, the smaller the coefficients as a whole"
    free = "the intercept, which is not penalised"
    found: list[tuple[Text, Text]] = [
        (prose(r"$\lambda$ = {}", number(problem.lam, 6)), penalty),
        unknown,
        (Math(r"\alpha"), free if problem.intercept else "no intercept: fixed at 0"),
        (
            prose(rf"$m_i = y_i\left({margin}\right)$"),
            "the margin of a row: below 0 the row is on the wrong side",
        ),
        (Math("n"), f"{problem.n:,} training rows"),
    ]
    if subject.result.offsets is not None:
        known = f"the offset of a row, {subject.result.offsets}: a known part of it"
        found.append((Math("o"), known))
    if subject.weights is not None:
        low, high = (number(float(w)) for w in np.quantile(subject.weights, [0, 1]))
        found.append(
            (Math("w_i"), f"the weight of a row, {low} to {high}, with mean 1")
        )
    return found


def data(subject: Subject) -> doc.Section:
    """Rows, missing values, levels and their coding, predictors."""
    columns = ["", *(rows.name.capitalize() for rows in subject.with_data)]
    blocks: list[doc.Block] = [
        doc.Table(columns, _row_counts(subject)),
        *missing_blocks(subject),
        *newness(subject),
        doc.Definitions(_predictors(subject)),
    ]
    factors = factor_levels(subject.result.design)
    if factors:
        rows: list[list[Text]] = [
            [name, joined(levels)] for name, levels in factors.items()
        ]
        coded = "contr." in (subject.result.design.formula or "")
        caption = CODED_BY_FORMULA if coded else "Text and categories became " + CODED
        blocks.append(doc.Table(["Factor", "Levels"], rows, caption, words=(1,)))
    blocks += predictors_by_class(subject)
    return doc.Section("The data", "data", blocks)


def _row_counts(subject: Subject) -> list[list[Text]]:
    negative, positive = (Strong(str(c)) for c in subject.result.coding.levels)
    names: list[Text] = [
        "Rows",
        "Left out: no label",
        "Left out: a predictor is missing",
        prose("Used, labelled {}, coded −1", negative),
        prose("Used, labelled {}, coded +1", positive),
    ]
    columns = [_counts(subject, rows) for rows in subject.with_data]
    if subject.result.problem.n_weightless:
        names.insert(WEIGHTLESS, "Left out: weight 0")
    return [
        [name, *(f"{column[at]:,}" for column in columns)]
        for at, name in enumerate(names)
    ]


def _counts(subject: Subject, rows: Judged) -> list[int]:
    """Counts of all rows, of those left out for each reason, and of each level used.

    What was left out, for want of a predictor, is not counted again as of its level.
    """
    table, dropped = rows.table, subject.result.dropped
    by_level = table.counts.sum(axis=1)
    all_weightless = subject.result.problem.n_weightless
    if rows.data is None:
        left_out, weightless = [dropped.outcome, dropped.predictors], all_weightless
    else:
        codes, weightless = rows.codes[rows.is_unscored], 0
        by_level = by_level - np.bincount(codes, minlength=len(by_level))
        left_out = [table.n_unlabelled, len(codes)]
    found = [rows.rows, *left_out, *map(int, by_level)]
    if all_weightless:
        found.insert(WEIGHTLESS, weightless)
    return found


def _predictors(subject: Subject) -> list[tuple[Text, Text]]:
    result = subject.result
    names = list(result.design.names)
    found: list[tuple[Text, Text]] = [
        ("Outcome", f"{result.coding.name}; levels {RULES[result.coding.rule]}"),
        (counted(len(names), "predictor"), joined(names)),
    ]
    constant = constant_columns(result.problem.X) if subject.has_rows else 0
    if constant:
        same = f"{constant:,}, with one value in all training rows"
        found.append(("Without information", same))
    if subject.is_scaled:
        found.append(("Scale", "standardized, see the coefficients"))
    return found


def constant_columns(X: Any) -> int:
    """Number of columns that are the same in all rows of a dense or sparse matrix.

    Examples
    --------
    >>> constant_columns(np.array([[1.0, 2.0], [1.0, 3.0]]))
    1
    """
    low, high = X.min(axis=0), X.max(axis=0)
    if not isinstance(X, np.ndarray):
        low, high = low.toarray(), high.toarray()
    return int((low == high).sum())


def glossary(subject: Subject) -> doc.Section:
    """Words that a newcomer may not know."""
    unused = {"Log loss" if subject.result.problem.loss == "hinge" else "Hinge loss"}
    if not counts_by_visit(subject.result):
        unused.add("Margin violation")
    rows: list[tuple[Text, Text]] = [pair for pair in WORDS if pair[0] not in unused]
    return doc.Section("Words", "words", [doc.Definitions(rows)])
