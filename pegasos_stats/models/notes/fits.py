"""What there is to say of every fit: certificate, coding, penalty, how it ran."""

import math
from collections.abc import Sequence

from pegasos_stats.advice import Setting, one_of
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.notes.note import Note
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.objective import Certificate, zero_objective
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.solver import Solver
from pegasos_stats.tables import significant


def about_fit(
    problem: Problem,
    certificate: Certificate,
    solver: Solver,
    refinement: Solver | None,
    coding: LabelCoding,
    standardized: bool,
    training: ConfusionMatrix,
    reach: float = math.inf,
) -> tuple[Note, ...]:
    """What there is to say of every fit, and of its table of the training rows."""
    to_optimum = solver.to_optimum or refinement is not None
    untried = untried_options(problem, to_optimum, standardized)
    return (
        certified(certificate),
        signs(coding),
        penalised(problem, standardized),
        *probabilities(problem),
        *ran_away(problem, certificate, solver, untried),
        *one_answer(problem, training, untried, reach),
        *repeated(solver),
    )


FLAT = 1e-3  # of a margin of 1: a move of the scores that is next to none
UNCERTIFIED = (
    "Nothing is certified: the numbers are so large that rounding could hide any gap; "
    "bring the predictors to a common scale."
)


def certified(at: Certificate) -> Note:
    """How far a fit is from the optimum, at most."""
    if at.gap == math.inf:
        return Note("certificate", "note", UNCERTIFIED)
    share = at.relative_gap
    most = "less than 0.01%" if share < 1e-4 else f"at most {share:.2%}"
    gained = f"{most} of the objective"
    if share == math.inf:  # of an objective of 0
        gained = f"at most {significant(at.gap, 3)}"
    text = (
        "Certified by duality: the optimum is not below "
        f"{significant(at.dual_objective, 6)}, so {gained} could be gained."
    )
    return Note("certificate", "note", text)


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
        text = (
            "Probabilities are for levels as frequent as in the data: the weights of "
            f"the classes add {added} to the score, and predict_proba() takes that out "
            "of the log odds. Labels go by the sign of the score."
        )
    return [Note("probabilities", "note", text)]


def ran_away(
    problem: Problem, at: Certificate, solver: Solver, untried: Sequence[Setting]
) -> list[Note]:
    """Note that a fit is worse than the model that is all zero, if it is."""
    zero = zero_objective(problem)
    if not at.objective > zero:
        return []
    moving = problem.intercept and not solver.refit_intercept
    text = (
        f"the objective is above {zero:.4g}, that of the model that is all zero: the "
    )
    if not solver.has_own_steps:
        smaller = Setting("step", change="a smaller")
        text += "steps were too large."
        return [Note("run", "warning", text, one_of([*untried, smaller]))]
    what = "intercept" if moving else "coefficients"
    text += f"{what} ran away in the first, large steps."
    options = [
        *untried,
        *([Setting("refit_intercept", True)] if moving else []),
        Setting("epochs", change="more"),
        Setting("lam", change="a larger"),
    ]
    return [Note("run", "warning", text, one_of(options))]


def one_answer(
    problem: Problem,
    training: ConfusionMatrix,
    untried: Sequence[Setting],
    reach: float,
) -> list[Note]:
    """Note that all training rows are predicted alike, if they are.

    Parameters
    ----------
    problem : Problem
    training : ConfusionMatrix
    untried : sequence of Setting
    reach : float
        By how much one standard deviation of every predictor moves a score, at most.
    """
    answers = training.counts.sum(axis=0)
    if (answers > 0).sum() != 1 or answers[-1]:
        return []
    level = training.levels[int(answers.argmax())]
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
    options = [
        *untried,
        *([Setting("weights", "balanced")] if problem.weights is None else []),
        Setting("lam", change="a smaller"),
    ]
    return [Note("predictions", "warning", text, one_of(options))]


def untried_options(
    problem: Problem, to_optimum: bool, standardized: bool
) -> list[Setting]:
    """Options that the fit did not take, and that often help."""
    kernel = problem.kernel if isinstance(problem, KernelProblem) else None
    found = []
    if not standardized and (kernel is None or kernel.name != "precomputed"):
        found.append(Setting("standardize", True))
    if not to_optimum:
        found.append(Setting("solver", "SDCA"))
    return found


def repeated(solver: Solver) -> list[Note]:
    """Note that the seed repeats the fit, where random numbers were used."""
    if not solver.uses_random_numbers:
        return []
    source = "drawn, not given" if solver.seed is None else "given"
    also = "" if solver.to_optimum else ", in R too"
    text = f"The seed was {source}; it repeats this fit{also}."
    return [Note("seed", "note", text)]
