"""Notes on every fit: certificate, coding, penalty, course of the run."""

import math
from collections.abc import Mapping

from pegasos_stats.advice import Cure
from pegasos_stats.data.labels import LabelCoding, near_ties
from pegasos_stats.errors import counted
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.notes.note import Note, Topic
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.objective import Certificate, zero_objective
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.shortfall import Shortfall
from pegasos_stats.solvers.solutions import scores_of
from pegasos_stats.solvers.solver import Solver
from pegasos_stats.tables import significant


def decided_by_rounding(problem: Problem, found: Solution) -> list[Note]:
    """That ties of the hinge hold rows at a score of 0, next to which it is chance."""
    if problem.loss != "hinge":
        return []
    near = near_ties(scores_of(problem, found, problem.X, problem.offset))
    tied, n = int((near & (problem.row_weights > 0.0)).sum()), problem.n_weighed
    if not tied:
        return []
    text = (
        f"Ties hold {tied:,} of {counted(n, 'training row')} at a score of 0: which "
        "level they are predicted to have is decided by the rounding of the solver, "
        "and may be another with another seed. So may as many errors."
    )
    return [Note("labels", "note", text)]


def about_fit(
    problem: Problem,
    certificate: Certificate,
    solver: Solver,
    coding: LabelCoding,
    standardized: bool,
    training: ConfusionMatrix,
    shortfall: Shortfall,
    cures: Mapping[Topic, Cure | None],
    reach: float = math.inf,
) -> tuple[Note, ...]:
    """What there is to say of every fit, and of its table of the training rows.

    ``cures`` are those of the topics in `standing`.
    """
    run, answers = (cures.get(topic) for topic in STANDING)
    return (
        certified(certificate.objective, shortfall),
        signs(coding),
        penalised(problem, standardized),
        *probabilities(problem),
        *ran_away(problem, certificate, solver, run),
        *falls_short(problem, certificate, shortfall, run),
        *one_answer(problem, training, answers, reach),
        *repeated(solver),
    )


STANDING: tuple[Topic, Topic] = ("run", "predictions")  # of warnings with cures
FLAT = 1e-3  # of a margin of 1: a move of the scores that is next to none
CHANCE = 1.96  # standard errors of the number of errors, within which rows do not count


def is_worse_than_none(problem: Problem, at: Certificate) -> bool:
    """Whether a fit is worse than the model that is all zero."""
    return at.objective > zero_objective(problem)


def is_one_answer(training: ConfusionMatrix) -> bool:
    """Whether all training rows are predicted alike."""
    answers = training.counts.sum(axis=0)
    return bool((answers > 0).sum() == 1 and not answers[-1])


def is_too_short(problem: Problem, shortfall: Shortfall) -> bool:
    """Whether more labels change at the minimum than the number of errors may vary.

    That has a standard error of ``sqrt(e (1 - e / n))``, for ``e`` errors of ``n``;
    with none or one it is taken as 1.
    """
    n, errors = problem.n, max(1, shortfall.errors)
    return shortfall.changed > CHANCE * math.sqrt(errors * (1.0 - errors / n))


TINY = 1e-4  # of the objective, about which there is no more to say
UNCERTIFIED = (
    "Nothing is certified: the numbers are so large that rounding could hide any gap; "
    "bring the predictors to a common scale."
)


def certified(objective: float, shortfall: Shortfall) -> Note:
    """How far the objective of a fit is from its minimum."""
    if shortfall.at_most == math.inf:
        return Note("certificate", "note", UNCERTIFIED)
    text = (
        f"Certified by duality: the objective is {above(objective, shortfall)}, which "
        f"is not below {significant(shortfall.lower, 6)}."
    )
    return Note("certificate", "note", text)


def above(objective: float, shortfall: Shortfall) -> str:
    """How far an objective is above its minimum, in words.

    Examples
    --------
    >>> above(0.271, Shortfall(0.26779, 0.26781, 0.003465, 0.003471))
    '0.2678 above its minimum'
    >>> above(0.271, Shortfall(0.25, 0.2678, 0.0032, 0.021))
    'between 0.25 and 0.2678 above its minimum'
    >>> above(0.271, Shortfall(0.0, 0.02, 0.251, 0.271))
    'at most 0.02 above its minimum'
    """
    if shortfall.at_most < TINY * objective:
        return "less than 0.01% above its minimum"
    ends = shortfall.at_least, shortfall.at_most
    low, high = (significant(end, 4) for end in ends)
    if low == high:
        return f"{low} above its minimum"
    if shortfall.at_least > 0.1 * shortfall.at_most:
        return f"between {low} and {high} above its minimum"
    return f"at most {high} above its minimum"


def signs(coding: LabelCoding) -> Note:
    """Which level a positive score predicts."""
    negative, positive = coding.levels
    text = f"A positive score predicts {positive!r}, a negative one {negative!r}."
    return Note("labels", "note", text)


def penalised(problem: Problem, standardized: bool) -> Note:
    """What is penalised, and on which scale."""
    is_kernel = isinstance(problem, KernelProblem)
    what = "The length of the function is" if is_kernel else "Coefficients are"
    free = ", the intercept is not" if problem.intercept else "; there is no intercept"
    text = f"{what} penalised{free}."
    if standardized and is_kernel:
        text += " It is a function of standardized predictors."
    elif standardized:
        text += (
            " They are those of standardized predictors; params_original has those of "
            "the predictors as they were."
        )
    return Note("penalty", "note", text)


def probabilities(problem: Problem) -> list[Note]:
    """For which population probabilities are, where weights make a difference."""
    if problem.loss != "log" or problem.weights is None:
        return []
    text = "Probabilities are for a population in which rows count by their weights."
    if problem.prior_shift:
        added = significant(problem.prior_shift, 3)
        usual = significant(1.0 / (1.0 + math.exp(problem.prior_shift)), 3)
        text = (
            "Probabilities are for levels as frequent as in the data: the weights of "
            f"the classes add {added} to the score, and predict_proba() takes that out "
            "of the log odds. Without a threshold of your own labels follow the sign "
            "of the score: the level coded +1 is predicted where its probability is "
            f"above {usual}."
        )
    return [Note("probabilities", "note", text)]


def ran_away(
    problem: Problem, at: Certificate, solver: Solver, cure: Cure | None
) -> list[Note]:
    """Note that a fit is worse than the model that is all zero, if it is."""
    if not is_worse_than_none(problem, at):
        return []
    moving = problem.intercept and not solver.refit_intercept
    text = (
        f"the objective is above {zero_objective(problem):.4g}, that of the model that "
        "is all zero: "
    )
    what = "intercept" if moving else "coefficients"
    text += (
        f"the {what} ran away in the first, large steps."
        if solver.has_own_steps
        else "the steps were too large."
    )
    return [Note("run", "warning", text, cure)]


def falls_short(
    problem: Problem, at: Certificate, shortfall: Shortfall, cure: Cure | None
) -> list[Note]:
    """Note that predictions are not those at the minimum, if many are not."""
    worse = is_worse_than_none(problem, at)  # which says as much
    if worse or not is_too_short(problem, shortfall):
        return []
    where = "at" if shortfall.reached else "nearer to"
    text = (
        f"the objective is {above(at.objective, shortfall)}: {where} the minimum "
        f"{shortfall.changed:,} of {counted(problem.n, 'training row')} would "
        "get another label."
    )
    return [Note("run", "warning", text, cure)]


def one_answer(
    problem: Problem, training: ConfusionMatrix, cure: Cure | None, reach: float
) -> list[Note]:
    """Note that all training rows are predicted alike, if they are.

    ``reach`` is by how much one standard deviation of every predictor moves a score, at
    most.
    """
    if not is_one_answer(training):
        return []
    level = training.levels[int(training.counts.sum(axis=0).argmax())]
    text = (
        f"every training row is predicted {level}: the error rate is that of always "
        "answering so."
    )
    if problem.loss == "hinge" and reach < FLAT:
        text = (
            f"the fit is degenerate: every training row is predicted {level}, and "
            "coefficients are next to 0: one standard deviation of every predictor "
            f"moves a score by {significant(reach, 2)} at most. The hinge loss has "
            "such an optimum where a class is rare, predictors say little, or the "
            "penalty is strong."
        )
    return [Note("predictions", "warning", text, cure)]


def repeated(solver: Solver) -> list[Note]:
    """Note that the seed repeats the fit, where random numbers were used."""
    if not solver.uses_random_numbers:
        return []
    seed = "The seed was drawn; it" if solver.seed is None else "The seed"
    also = "" if solver.to_optimum else ", in R too"
    text = f"{seed} repeats this fit{also}."
    return [Note("seed", "note", text)]
