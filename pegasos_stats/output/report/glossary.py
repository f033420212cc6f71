"""The words of a report, explained."""

from pegasos_stats.output.report.document import Pairs, Section, Text, prose
from pegasos_stats.output.report.subject import Subject

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
            "$\\log(1 + e^{-m_i})$: minus the logarithm of the probability that the "
            "fit gives to the actual label."
        ),
    ),
    (
        "Margin violation",
        "A visit of a row whose margin was below 1 (with the log loss, below 0).",
    ),
    (
        "Duality gap",
        "The objective of the fit less a lower bound on that of any model. It bounds "
        "what a longer fit could gain, whatever the optimum is.",
    ),
    (
        "95% interval of a rate",
        "Clopper and Pearson's, exact in that it covers the rate on new rows of the "
        "same kind at least 95 times in 100.",
    ),
    (
        "No-information rate",
        "The share of the more frequent level: the accuracy of always naming it.",
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
        "of the other level.",
    ),
]
LOSSES = {"hinge": "Log loss", "log": "Hinge loss"}  # the one that is not used


def glossary(subject: Subject) -> Section:
    """Words that a newcomer may not know."""
    unused = LOSSES[subject.result.problem.loss]
    rows: list[tuple[Text, Text]] = [pair for pair in WORDS if pair[0] != unused]
    return Section("Words", "words", [Pairs(rows)])
