"""What was asked: the outcome, its coding, and the function that is minimised."""

import numpy as np

from pegasos_stats.errors import counted
from pegasos_stats.output.report.document import (
    Block,
    Code,
    Formula,
    Math,
    Pairs,
    Paragraph,
    Section,
    Strong,
    Text,
    prose,
)
from pegasos_stats.output.report.numbers import number
from pegasos_stats.output.report.subject import Subject

LOSSES = {
    "hinge": r"\max\left(0,\,1 - m_i\right)",
    "log": r"\log\left(1 + e^{-m_i}\right)",
}
NAMES = {
    "hinge": "support vector machine",
    "log": "penalised logistic regression",
}


def question(subject: Subject) -> Section:
    """The question in words, in the language of formulas, and as mathematics."""
    result = subject.result
    negative, positive = (Strong(str(level)) for level in result.coding.levels)
    predictors = counted(len(result.design.names), "predictor")
    asked = prose(
        "Which rows have {} = {}, and which {}, judging by {}?",
        Code(result.coding.name),
        positive,
        negative,
        predictors,
    )
    formula = result.design.formula
    in_words = [] if formula is None else prose(" As a formula: {}", Code(formula))
    coded = prose(
        "{} is coded −1 and {} is coded +1. Each row has a score {}; a score above "
        "0 predicts {}, one below 0 predicts {}.",
        negative,
        positive,
        _score(subject),
        positive,
        negative,
    )
    first = Paragraph((*asked, *in_words))
    blocks = [first, Paragraph(coded), *_model(subject)]
    return Section("What was asked", "asked", blocks)


def model_name(subject: Subject) -> str:
    """What was fitted, in words."""
    kernel = "kernel " if subject.is_kernel else ""
    return kernel + NAMES[subject.result.problem.loss]


def _score(subject: Subject) -> Math:
    linear = "f(x)" if subject.is_kernel else r"x'\beta"
    free = r" + \alpha" if subject.result.problem.intercept else ""
    return Math(linear + free)


def _model(subject: Subject) -> list[Block]:
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
        Paragraph(prose("A {} was fitted:", Strong(model_name(subject)))),
        Formula(objective),
        Pairs(_symbols(subject)),
    ]


def _symbols(subject: Subject) -> list[tuple[Text, Text]]:
    problem = subject.result.problem
    margin = _score(subject).tex.replace("x'", "x_i'").replace("(x)", "(x_i)")
    penalty = "the penalty; the larger, the smaller the coefficients"
    free = "the intercept, which is not penalised"
    found: list[tuple[Text, Text]] = [
        (prose(r"$\lambda$ = {}", number(problem.lam, 6)), penalty),
        _unknowns(subject),
        (Math(r"\alpha"), free if problem.intercept else "no intercept: fixed at 0"),
        (
            prose(rf"$m_i = y_i\left({margin}\right)$"),
            "the margin of a row: below 0 the row is on the wrong side",
        ),
        (Math("n"), f"{problem.n:,} training rows"),
    ]
    if subject.weights is not None:
        low, high = (number(float(w)) for w in np.quantile(subject.weights, [0, 1]))
        found.append(
            (Math("w_i"), f"the weight of a row, {low} to {high}, with mean 1")
        )
    return found


def _unknowns(subject: Subject) -> tuple[Text, Text]:
    """What is sought, as a symbol and in words."""
    if subject.is_kernel:
        kernel = str(subject.result.problem.kernel)
        return Math("f"), f"a function made of the kernel {kernel}"
    size = len(subject.result.design.names)
    return Math(r"\beta"), f"the {counted(size, 'coefficient')} of the predictors"
