"""Notes on a fit: facts that users may have to act on."""

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from pegasos_stats import tables
from pegasos_stats.arrays import Vector
from pegasos_stats.data.design import Design, unscaled
from pegasos_stats.data.language.formula import factored
from pegasos_stats.data.language.formula_design import FormulaDesign, doubtful_in
from pegasos_stats.errors import counted, shown
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.solvers.intercept import zero_objective
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.solver_runs import OptimalityBounds

if TYPE_CHECKING:
    from pegasos_stats.models.results import Results

# Topics that a summary shows, the most important first; notes on other topics, such as
# "certificate", "inference" and "rows", are among its details.
RANKED = (
    *("predictions", "separation", "groups", "run", "shrinkage", "resamples"),
    "few events",
    "level order",
    *("columns", "penalty", "standard errors"),
)
MOST_NOTES = 3  # in a summary
UNEVEN = 10.0  # kernel predictors need standard deviations between 1/10 and 10
FEW = 10  # minimum rows of the rarer class per coefficient, and minimum groups
LISTED = 3  # maximum number of names in a note
UNVERIFIED = (
    "Nothing is certified: the precomputed kernel has too many rows to verify that it "
    "is positive semi-definite."
)
UNCERTIFIED = (
    "Nothing is certified: the numbers are so large that rounding could hide any gap; "
    "rescale the predictors."
)
NOT_CONCAVE = "Not certified: the likelihood with Firth's penalty may not be concave."


@dataclass(frozen=True)
class Note:
    """A fact about a fit that users may have to act on.

    Attributes
    ----------
    topic : str
        Subject of the note. A summary shows one note per topic.
    severity : "note" or "warning"
        A warning is a reason not to trust the numbers.
    text : str
        Sentences. The text of a warning begins with a small letter, because it follows
        a word such as ``WARNING:``.
    """

    topic: str
    severity: Literal["note", "warning"]
    text: str

    @property
    def sentence(self) -> str:
        """The text, beginning with a capital."""
        return self.text[:1].upper() + self.text[1:]


def most_important(notes: Iterable[Note], most: int = MOST_NOTES) -> list[Note]:
    """The notes of a summary: one for each topic, in the order of `RANKED`.

    The note on the kind of standard errors is always included, because the table cannot
    be interpreted without it.

    Examples
    --------
    >>> notes = [Note("rows", "note", "1"), Note("penalty", "note", "2")]
    >>> notes += [Note("separation", "warning", "3"), Note("penalty", "note", "4")]
    >>> [note.text for note in most_important(notes)]
    ['3', '2']
    """
    by_topic = {note.topic: note for note in reversed([*notes])}
    notes_by_rank = [by_topic[topic] for topic in RANKED if topic in by_topic]
    if RANKED[-1] not in by_topic:
        return notes_by_rank[:most]
    return [*notes_by_rank[:-1][: most - 1], notes_by_rank[-1]]


def ranked(notes: Iterable[Note]) -> list[Note]:
    """All notes, topics in `RANKED` first."""
    return sorted(
        notes, key=lambda n: RANKED.index(n.topic) if n.topic in RANKED else len(RANKED)
    )


FOR_PREDICTIONS = Note(
    "shrinkage",
    "note",
    "Firth's penalty pulls probabilities towards 1/2: for predictions use "
    "penalty='flic'.",
)


def about_fit(result: "Results") -> list[Note]:
    """Notes on a fit and its data."""
    return [note for about in ABOUT_FIT for note in about(result)]


def certified(result: "Results") -> Iterator[Note]:
    """Note the distance of the objective from its minimum."""
    bounds, text = result.shortfall, UNCERTIFIED
    if result.problem.has_firth:
        text = NOT_CONCAVE
    if not getattr(result.problem, "verified", True):
        text = UNVERIFIED
    if bounds.at_most < math.inf:
        text = (
            f"Certified by duality: the objective is {above(bounds)}, which is at "
            f"least {tables.significant(bounds.lower, 6)}."
        )
    yield Note("certificate", "note", text)


def above(shortfall: OptimalityBounds) -> str:
    """Distance of an objective from its minimum, as text.

    Examples
    --------
    >>> above(OptimalityBounds(0.26779, 0.26781, 0.003465, 0.003471))
    '0.27 above its minimum'
    >>> above(OptimalityBounds(0.25, 0.2678, 0.0032, 0.021))
    'up to 0.27 above its minimum'
    """
    ends = shortfall.at_least, shortfall.at_most
    low, high = (tables.significant(end, 2) for end in ends)
    return f"{'' if low == high else 'up to '}{high} above its minimum"


def not_converged(result: "Results") -> Iterator[Note]:
    """Note that many training rows are classified differently at the minimum.

    Many means more than 1.96 standard errors of the number of misclassified rows. The
    standard error is ``sqrt(e (1 - e / n))`` for ``e`` misclassified rows out of ``n``,
    with ``e`` at least 1. If the objective is above its value at zero coefficients, the
    note states this instead.
    """
    bounds, n = result.shortfall, result.problem.n
    zero, errors = zero_objective(result.problem), max(1, bounds.errors)
    cure = "Call fit() without a solver, or pass refine=1e-6."
    if isinstance(result.solver, Optimum):
        cure = "Use more epochs or tol=1e-6."
    if result.objective > zero:
        text = (
            f"the objective exceeds {zero:.4g}, its value at zero coefficients: the "
            f"steps were too large. {cure}"
        )
        yield Note("run", "warning", text)
    elif bounds.changed > 1.96 * math.sqrt(errors * (1.0 - errors / n)):
        text = (
            f"not converged: at or near the minimum {bounds.changed:,} of "
            f"{counted(n, 'training row')} would be classified differently. {cure}"
        )
        yield Note("run", "warning", text)


def constant_prediction(result: "Results") -> Iterator[Note]:
    """Note that all training rows are predicted as one class."""
    problem, table = result.problem, result.training_table
    answers = table.counts.sum(axis=0)
    if (answers > 0).sum() != 1 or answers[-1]:
        return
    level = str(table.levels[int(answers.argmax())])
    text = f"every training row is predicted {level!r}"
    if problem.lam_rule == "cv":
        text = f"in the best fit by cross-validation {text}"
    if needs_scaling(result):
        text += ". Scale the predictors first: standardize=True"
    if problem.loss == "log":
        text += ". Probabilities still rank the rows; for labels pass threshold=, "
        text += "chosen by the costs of errors"
    else:
        text += ". For probabilities, a ranking or a threshold use the log loss "
        text += "(ps.logit)"
        if problem.weights is None:
            text += "; weights='balanced' gives both classes of an SVM equal weight"
    yield Note("predictions", "warning", f"{text}.")


def needs_scaling(result: "Results") -> bool:
    """Whether a kernel model has predictors with standard deviations far from 1."""
    kernel = getattr(result.problem, "kernel", None)
    if getattr(kernel, "name", "precomputed") == "precomputed":
        return False
    moments = result._moments if result.scaling is None else None
    if moments is None:
        return False
    spread = moments[1][moments[1] > 0.0]
    return not ((spread > 1.0 / UNEVEN) & (spread < UNEVEN)).all()


def no_predictor_helps(result: "Results") -> Iterator[Note]:
    """Note that no lambda of a path improves on the intercept-only model."""
    path = result.lambda_path
    if path is not None and result.problem.loss == "log" and path.is_best_at_largest:
        text = (
            "Cross-validation: no lambda of the path has a smaller mean "
            f"{path.metric.replace('_', ' ')} than the model without predictors."
        )
        yield Note("penalty", "warning", text)


def columns_and_rows(result: "Results") -> Iterator[Note]:
    """Note columns that were probably misread, and excluded rows."""
    for column in doubtful_in(result.design):
        yield Note("columns", "warning", column.text)
    if (dropped := result.dropped).missing:
        text = (
            f"{counted(dropped.total, 'row')} with missing values were excluded: "
            f"{dropped.by_column}."
        )
        yield Note("rows", "note", text)


def level_order(result: "Results") -> Iterator[Note]:
    """Note levels that R's usual locale sorts differently from code points.

    These are levels of the outcome, and of factors whose reference level neither
    `relevel` nor a contrast sets.
    """
    coding, inner = result.coding, unscaled(result.design)
    variables = inner.variables if isinstance(inner, FormulaDesign) else ()
    factors = [
        (name, levels, f"relevel({name}, ref={other_first(levels)!r})")
        for name, levels in factor_levels(inner).items()
        if name in variables
    ]
    ordered = isinstance(coding.dtype, pd.CategoricalDtype) and coding.dtype.ordered
    if coding.rule == "factor" and not ordered:
        levels = [*coding.levels]
        factors.insert(0, (coding.name, levels, f"coding={coding.levels[::-1]}"))
    for name, levels, cure in factors:
        if first := other_first(levels):
            text = (
                f"The first level of {shown(name)} is {shown(levels[0])}, by code "
                f"points; in R's usual locale it is {shown(first)}. To use that order "
                f"pass {cure}."
            )
            yield Note("level order", "note", text)


def single_levels(result: "Results") -> Iterator[Note]:
    """Note factors with one level, which R's ``contrasts`` refuse."""
    for name, levels in factor_levels(result.design).items():
        if len(levels) == 1:
            text = f"{shown(name)} is {shown(levels[0])} in all training rows"
            yield Note("columns", "note", f"{text}: it has no coefficient of its own.")


ABOUT_FIT = (
    *(certified, not_converged, constant_prediction),
    *(no_predictor_helps, columns_and_rows, single_levels, level_order),
)


def other_first(levels: Sequence[object]) -> str:
    """Return the first level in R's usual locale if code points put another one first.

    The result is empty if both orders have the same first level, or if `levels` are not
    text sorted by code points.

    Examples
    --------
    >>> other_first(["Malignant", "benign"]), other_first(["Zoe", "\u00c9va"])
    ('benign', '\u00c9va')
    >>> other_first(["a", "b"]), other_first(["b", "A"])  # "b", "A": not sorted
    ('', '')
    """
    if not len(levels) or not all(isinstance(level, str) for level in levels):
        return ""
    texts = [str(level) for level in levels]
    first = min(texts, key=_by_letters)
    return "" if texts != sorted(texts) or first == texts[0] else first


def _by_letters(text: str) -> tuple[str, str, str]:
    """Sort key: letters without case and accents; for ties accents, then case."""
    decomposed = unicodedata.normalize("NFD", text)
    letters = "".join(c for c in decomposed if not unicodedata.combining(c))
    return letters.casefold(), decomposed.casefold(), decomposed.swapcase()


def factor_levels(design: Design) -> dict[str, list[object]]:
    """Levels of each column that became a factor, in their order."""
    inner = unscaled(design)
    if not isinstance(inner, FormulaDesign):
        return {}
    return {
        factored(text, inner.variables) if coding.base == 0 else text: [*coding.levels]
        for text, coding in inner.codings.items()
    }


def shrinkage(name: str, shift: float) -> Note:
    """Note how far the penalty moves the coefficient that it moves most.

    Examples
    --------
    >>> shrinkage("age", 3.13).text
    'The penalty moves age by about 3.1 standard errors.'
    """
    text = f"The penalty moves {name} by about {shift:.1f} standard errors."
    return Note("shrinkage", "note", text)


def uneven_scales(
    lam: float, spread: Vector, names: tuple[str, ...], by_default: bool
) -> list[Note]:
    """Note that the penalty strongly shrinks predictors of small standard deviation.

    A standard deviation is small if the penalty at least halves the coefficient of a
    logistic regression. With the default lambda there is a note if the smallest
    standard deviation is small and the largest is not, as for ``poly()`` next to other
    columns. With another lambda the smallest must be small, and the largest at least
    100 times the smallest. The tenth of the predictors that varies least is ignored,
    because such predictors may be almost constant.
    """
    ordered = np.argsort(spread, kind="stable")
    ordered = ordered[spread[ordered] > 0.0]
    if not ordered.size:
        return []
    least, most = ordered[ordered.size // 10], ordered[-1]
    small = 2.0 * math.sqrt(lam)  # below, a logistic coefficient is at least halved
    n_shrunken = int((spread[ordered] < small).sum())
    large = small if by_default else 100.0 * spread[least]
    if not spread[least] < small or not large <= spread[most] < math.inf:
        return []
    low, high = (tables.without_power(spread[j], 2) for j in (least, most))
    text = (
        "Predictors differ in scale (standard deviation "
        f"{low} for {names[least]}, {high} for {names[most]}), so that the penalty "
        f"shrinks {n_shrunken} of {counted(len(spread), 'coefficient')} strongly. "
        "Try standardize=True."
    )
    return [Note("penalty", "note", text)]


def perfect_training_fit(table: ConfusionMatrix, k: int) -> list[Note]:
    """Note that a logistic fit predicts all training rows correctly.

    There is no note if the number of rows is at most ``2 k``, for k coefficients: then
    a perfect fit is likely by chance (Cover, IEEE Transactions on Electronic Computers,
    1965).

    Examples
    --------
    >>> from pegasos_stats.metrics.confusion import confusion
    >>> table = confusion([0, 1] * 50, [0, 1] * 50)
    >>> [len(perfect_training_fit(table, k)) for k in (3, 60)]
    [1, 0]
    """
    if table.n_errors or table.n_undecided or table.n_classified <= 2 * k:
        return []
    text = (
        "All training rows are predicted correctly: does a predictor contain the "
        "outcome?"
    )
    return [Note("separation", "note", text)]


def is_converged(result: "Results") -> bool:
    """Whether the solver reached its tolerance.

    A fit by a solver without a tolerance has converged if its objective is certified to
    be at most 0.01% above the minimum.
    """
    if result.converged is not None:
        return result.converged
    return result.shortfall.at_most < 1e-4 * result.objective
