"""Notes on every fit: certificate, coding, penalty, convergence, predictions."""

import math

from pegasos_stats.data.labels import LabelCoding, near_ties
from pegasos_stats.errors import counted
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.notes.note import Note
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.objective import Certificate, zero_objective
from pegasos_stats.solvers.problem import Problem, Solution
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.shortfall import Shortfall
from pegasos_stats.solvers.solutions import scores_of
from pegasos_stats.solvers.solver import Solver
from pegasos_stats.tables import significant

FLAT = 1e-3  # of a margin of 1: predictors that move scores by less have no effect
CHANCE = 1.96  # standard errors of the number of errors, within which rows do not count
TINY = 1e-4  # of the objective, about which there is no more to say
UNCERTIFIED = (
    "Nothing is certified: the numbers are so large that rounding could hide any gap; "
    "bring the predictors to a common scale."
)
HINGE = ". For probabilities or a ranking use the log loss (ps.logit, --loss log)"
LOGISTIC = (
    "; probabilities rank the rows all the same. For labels choose a threshold "
    "(result.thresholds(), --threshold)"
)
BALANCED = "weights='balanced'"


def decided_by_rounding(problem: Problem, found: Solution) -> list[Note]:
    """Note that the hinge holds rows at a score of 0, whose labels are chance."""
    if problem.loss != "hinge":
        return []
    near = near_ties(scores_of(problem, found, problem.X, problem.offset))
    tied, n = int((near & (problem.row_weights > 0.0)).sum()), problem.n_weighed
    if not tied:
        return []
    text = (
        f"Ties hold {tied:,} of {counted(n, 'training row')} at a score of 0; rounding "
        "decides their predicted level, which may change with the seed."
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
    reach: float = math.inf,
) -> tuple[Note, ...]:
    """Notes on a fit, and on its table of the training rows.

    ``reach`` is by how much one standard deviation of every predictor moves a score, at
    most.
    """
    cure = towards_optimum(solver)
    return (
        certified(certificate.objective, shortfall),
        signs(coding),
        penalised(problem, standardized),
        *probabilities(problem),
        *diverged(problem, certificate, solver, cure),
        *not_converged(problem, certificate, shortfall, cure),
        *constant_prediction(problem, training, reach, standardized),
        *repeated(solver),
    )


def towards_optimum(solver: Solver) -> str:
    """What takes a fit to its optimum: the default solver, or more of the same."""
    if isinstance(solver, SDCA):
        return "Give more epochs, tol=1e-6 and the default algorithm."
    return "Leave the solver out for the optimum, or give refine=1e-6."


def is_worse_than_none(problem: Problem, at: Certificate) -> bool:
    """Whether a fit is worse than the model that is all zero."""
    return at.objective > zero_objective(problem)


def is_constant(training: ConfusionMatrix) -> bool:
    """Whether all training rows are predicted as one level."""
    answers = training.counts.sum(axis=0)
    return bool((answers > 0).sum() == 1 and not answers[-1])


def is_too_short(problem: Problem, shortfall: Shortfall) -> bool:
    """Whether more labels change at the minimum than the number of errors may vary.

    That has a standard error of ``sqrt(e (1 - e / n))``, for ``e`` errors of ``n``;
    with none or one it is taken as 1.
    """
    n, errors = problem.n, max(1, shortfall.errors)
    return shortfall.changed > CHANCE * math.sqrt(errors * (1.0 - errors / n))


def certified(objective: float, shortfall: Shortfall) -> Note:
    """How far the objective of a fit is from its minimum."""
    if shortfall.at_most == math.inf:
        return Note("certificate", "note", UNCERTIFIED)
    text = (
        f"Certified by duality: the objective is {above(objective, shortfall)}, which "
        f"is at least {significant(shortfall.lower, 6)}."
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
            " They are those of standardized predictors; params_original has them on "
            "the original scale."
        )
    return Note("model", "note", text)


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


def diverged(
    problem: Problem, at: Certificate, solver: Solver, cure: str
) -> list[Note]:
    """Note that a fit is worse than the model that is all zero, if it is."""
    if not is_worse_than_none(problem, at):
        return []
    moving = problem.intercept and not solver.refit_intercept
    what = "intercept" if moving else "coefficients"
    why = "the steps were too large."
    if solver.has_own_steps:
        why = f"the {what} diverged in the first steps, which are large."
    text = (
        f"the objective is above {zero_objective(problem):.4g}, that of the model that "
        f"is all zero: {why} {cure}"
    )
    return [Note("run", "warning", text)]


def not_converged(
    problem: Problem, at: Certificate, shortfall: Shortfall, cure: str
) -> list[Note]:
    """Note that predictions are not those at the minimum, if many are not."""
    worse = is_worse_than_none(problem, at)  # which says as much
    if worse or not is_too_short(problem, shortfall):
        return []
    where = "at" if shortfall.reached else "nearer to"
    text = (
        f"not converged: {where} the minimum {shortfall.changed:,} of "
        f"{counted(problem.n, 'training row')} would be predicted otherwise. {cure}"
    )
    return [Note("run", "warning", text)]


def constant_prediction(
    problem: Problem, training: ConfusionMatrix, reach: float, standardized: bool
) -> list[Note]:
    """Note that all training rows are predicted as one level, if they are."""
    if not is_constant(training):
        return []
    level = str(training.levels[int(training.counts.sum(axis=0).argmax())])
    text = f"every row is predicted {level!r}"
    if problem.lam_rule == "cv" and (problem.loss == "hinge" or reach < FLAT):
        text = f"the best fit by cross-validation uses no predictor: {text}"
    hinge = problem.loss == "hinge"
    text += HINGE if hinge else LOGISTIC
    if not problem.weighted:
        text += f"; for a balanced rule {BALANCED}" if hinge else f" or {BALANCED}"
    text += "."
    if isinstance(problem, KernelProblem) and not standardized:
        text += " Predictors on different scales need standardize=True."
    if problem.lam_rule == "given" and problem.lam * problem.n > 1.0:
        text += " A smaller lam= may help too (1/n)."
    return [Note("predictions", "warning", text)]


def no_predictor_helps(metric: str) -> Note:
    """Note that the best lambda of a path is one at which no predictor is used."""
    text = (
        "Cross-validation found no use for the predictors: at no lambda of the path is "
        f"the mean {metric.replace('_', ' ')} smaller than without them."
    )
    return Note("penalty", "warning", text)


def repeated(solver: Solver) -> list[Note]:
    """Note that the seed repeats the fit, where random numbers were used."""
    if not solver.uses_random_numbers:
        return []
    seed = "The seed was drawn; it" if solver.seed is None else "The seed"
    also = "" if solver.to_optimum else ", in R too"
    text = f"{seed} repeats this fit{also}."
    return [Note("seed", "note", text)]
