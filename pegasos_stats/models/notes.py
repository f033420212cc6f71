"""What there is to say of a fit beside its numbers: a note for each fact."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pegasos_stats.arrays import Vector
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.errors import counted, listing
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.objective import Certificate, zero_objective
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.solver import Solver
from pegasos_stats.tables import significant

Topic = Literal[
    "certificate",
    "labels",
    "penalty",
    "run",
    "predictions",
    "seed",
    "standard errors",
    "terms",
]
Severity = Literal["note", "warning"]

FEW = 5  # rows to a coefficient, with fewer of which intervals are too short


@dataclass(frozen=True)
class Setting:
    """An option that may help: the value to give it, or how to change it.

    Attributes
    ----------
    name : str
        As Python names it.
    value : str, bool or float, optional
    change : str
        Such as ``"a larger"``, where there is no value.
    """

    name: str
    value: str | bool | float | None = None
    change: str = ""


@dataclass(frozen=True)
class Cure:
    """What may help: settings, of which one may do.

    Attributes
    ----------
    settings : tuple of Setting
    sentence : str
        With ``{}`` for the settings.
    """

    settings: tuple[Setting, ...]
    sentence: str = "Try {}."


@dataclass(frozen=True)
class Note:
    """A fact about a fit that its numbers alone do not say.

    Attributes
    ----------
    topic : str
        What it is about; who shows notes chooses them by it.
    severity : "note" or "warning"
        A warning is a reason not to trust the numbers.
    text : str
        Sentences. That of a warning begins with a small letter, as it goes on after a
        word such as ``WARNING:``.
    cure : Cure, optional
    """

    topic: Topic
    severity: Severity
    text: str
    cure: Cure | None = None

    def written(self, spell: Callable[[Setting], str] | None = None) -> str:
        """Text and cure, with settings as Python spells them, or as `spell` does.

        Examples
        --------
        >>> more = Setting("epochs", change="more"), Setting("lam", change="a larger")
        >>> Note("run", "warning", "the fit ran away.", Cure(more)).written()
        'the fit ran away. Try more epochs or a larger lambda.'
        """
        if self.cure is None:
            return self.text
        *first, last = map(spell or in_python, self.cure.settings)
        listed = f"{', '.join(first)} or {last}" if first else last
        return f"{self.text} {self.cure.sentence.format(listed)}"

    @property
    def sentence(self) -> str:
        """Text and cure, beginning with a capital."""
        written = self.written()
        return written[:1].upper() + written[1:]


# Who takes an option, where it is not the model.
TAKEN_BY = {
    "refine": "fit(solver, {})",
    "refit_intercept": "Pegasos({})",
    "tol": "SDCA({})",
}


def in_python(setting: Setting) -> str:
    """Spell a setting as Python does.

    Examples
    --------
    >>> in_python(Setting("tol", 1e-8)), in_python(Setting("weights", "balanced"))
    ('SDCA(tol=1e-8)', "weights='balanced'")
    """
    if setting.change:
        return f"{setting.change} {'lambda' if setting.name == 'lam' else setting.name}"
    if setting.name == "solver":
        return f"{setting.value}()"
    value = repr(setting.value)
    if isinstance(setting.value, float):
        value = f"{setting.value:.0e}".replace("e-0", "e-")
    return TAKEN_BY.get(setting.name, "{}").format(f"{setting.name}={value}")


def listed(notes: Iterable[Note]) -> list[str]:
    """Notes as a summary lists them, warnings first."""
    ordered = sorted(notes, key=lambda note: note.severity != "warning")
    return [
        f"WARNING: {note.written()}" if note.severity == "warning" else note.written()
        for note in ordered
    ]


def about_fit(
    problem: Problem,
    certificate: Certificate,
    solver: Solver,
    refinement: Solver | None,
    coding: LabelCoding,
    standardized: bool,
    training: ConfusionMatrix,
) -> tuple[Note, ...]:
    """What there is to say of every fit, and of its table of the training rows."""
    to_optimum = solver.to_optimum or refinement is not None
    untried = untried_options(problem, to_optimum, standardized)
    return (
        certified(certificate),
        signs(coding),
        penalised(problem, standardized),
        *ran_away(problem, certificate, solver, untried),
        *one_answer(problem, training, untried),
        *repeated(solver),
    )


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
        f"{'intercept' if moving else 'coefficients'} ran away in the first, large "
        "steps."
    )
    options = [
        *untried,
        *([Setting("refit_intercept", True)] if moving else []),
        Setting("epochs", change="more"),
        Setting("lam", change="a larger"),
    ]
    return [Note("run", "warning", text, Cure(tuple(options)))]


def one_answer(
    problem: Problem, training: ConfusionMatrix, untried: Sequence[Setting]
) -> list[Note]:
    """Note that all training rows are predicted alike, if they are."""
    answers = training.counts.sum(axis=0)
    if (answers > 0).sum() != 1 or answers[-1]:
        return []
    level = training.levels[int(answers.argmax())]
    text = (
        f"every training row is predicted {level}: the error rate is that of always "
        "answering so."
    )
    options = [
        *untried,
        *([Setting("weights", "balanced")] if problem.weights is None else []),
        Setting("lam", change="a smaller"),
    ]
    return [Note("predictions", "warning", text, Cure(tuple(options)))]


def untried_options(
    problem: Problem, to_optimum: bool, standardized: bool
) -> list[Setting]:
    """Options that the fit did not take, and that often help."""
    kernel = problem.kernel if isinstance(problem, KernelProblem) else None
    found = []
    if not standardized and (kernel is None or kernel.name != "precomputed"):
        found.append(Setting("standardize", True))
    if not to_optimum and kernel is None:
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


def too_far(distance: float, errors: Vector, remedy: Setting) -> Note:
    """Note that a fit is too far from its optimum for these standard errors.

    Parameters
    ----------
    distance : float
        How far coefficients may be from the optimum, at most.
    errors : float64 array
        Standard errors of the coefficients that may be too far.
    remedy : Setting
        What goes on to the optimum.
    """
    known = distance < math.inf
    most = f"up to {significant(distance, 2)}" if known else "how much is not known"
    text = (
        "the fit may be too far from its optimum for these standard errors. "
        f"{counted(len(errors), 'coefficient')} may be off by more than a quarter of "
        f"the standard error: by {most}, the smallest error being "
        f"{significant(errors.min(), 2)}."
    )
    cure = Cure((remedy,), "{} goes on to the optimum.")
    return Note("standard errors", "warning", text, cure)


def not_there(remedy: Setting) -> Note:
    """Note that standard errors may be undefined for want of an optimal fit."""
    text = "Standard errors are those at the optimum, and this fit is not there:"
    return Note("standard errors", "note", text, Cure((remedy,), "{} goes on to it."))


def few_rows(n: int, k: int) -> list[Note]:
    """Note that n rows are few for k coefficients."""
    if n >= FEW * k:
        return []
    text = (
        f"{counted(n, 'row')} for {counted(k, 'coefficient')}. Standard errors are for "
        f"many rows to each; with fewer than {FEW} intervals are too short, and with "
        "one or two they mean nothing."
    )
    return [Note("standard errors", "warning", text)]


def resampled(why: str, done: bool) -> list[Note]:
    """Note why rows are resampled, or that they had better be."""
    text = f"{why}: the formula would give intervals that are too short."
    if done:
        return [Note("standard errors", "note", text[:1].upper() + text[1:])]
    text = f"{why}: these intervals may be too short."
    better = Setting("cov_type", "default")
    cure = Cure((better,), "{} resamples rows instead, unless that takes very long.")
    return [Note("standard errors", "warning", text, cure)]


def pinned(names: Sequence[str]) -> list[Note]:
    """That coefficients have no spread to test them with."""
    verb, it = ("is", "It has") if len(names) == 1 else ("are", "They have")
    text = (
        f"{listing(names)} {verb} pinned: the same in all resamples, held by a tie of "
        f"rows at the margin. {it} no z and no p-value."
    )
    return [Note("standard errors", "note", text)]


def shrunk(names: Sequence[str]) -> list[Note]:
    """Note that small p-values may be the penalty's."""
    several = len(names) > 1
    text = (
        f"the penalty is strong: {listing(names)} {'stand' if several else 'stands'} "
        "in for predictors that are shrunk. Without the penalty "
        f"{'coefficients' if several else 'the coefficient'} would be nearer to 0, by "
        "more than a standard error: a small p-value is no evidence of an effect of "
        "its own."
    )
    return [Note("penalty", "warning", text)]


def estimated_by(method: str, remarks: Iterable[Note]) -> list[Note]:
    """How standard errors were estimated, remarks on that, and what they are of."""
    of = (
        "For this lambda, standard errors and intervals are for the minimiser of the "
        "penalised risk in the population, not of the unpenalised one: what the "
        "penalty shrinks stays shrunk. A p-value tests that a coefficient of this "
        "minimiser is 0; lambda is taken as fixed beforehand."
    )
    return [
        Note("standard errors", "note", f"Standard errors: {method}."),
        *remarks,
        Note("standard errors", "note", of),
    ]
