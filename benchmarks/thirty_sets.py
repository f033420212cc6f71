"""Check fits, certificates and warnings on about forty data sets, with scikit-learn.

    OPENBLAS_NUM_THREADS=1 python benchmarks/thirty_sets.py [--bad] [--only wine]

Every data set of `data_sets.py` is fitted in original units and standardized, with the
hinge and the log loss, with and without intercept, for lam from 1e-1 to 1e-5. Each case
is fitted by ``model.fit()``, and by two epochs of Pegasos with ``refine=1e-6``. SVC,
liblinear (without intercept) and LogisticRegression minimise the same objective. A case
is marked with

* ``x`` if scikit-learn's objective is below ours by more than our certified gap,
* ``d`` if the certified bound exceeds an objective that either program reached, if the
  gap is negative, or if the objective differs from the objective of the coefficients in
  long double precision,
* ``c`` if the fit has not converged, or warns that it has not,
* ``s`` if liblinear is faster on the same problem. The times are medians of
  ``--repeats`` alternating runs, until the objective is at most ours times 1 + 1e-6. If
  the default tolerance of liblinear does not reach this objective, tolerances that
  decrease by factors of ten and larger numbers of epochs are tried, until a fit takes
  ten times as long as ours. The time at the default tolerance is also printed.

``--bad`` prints only marked cases. Missing data sets are listed. Compilation is not
timed.
"""

import argparse
import os
import statistics
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402, the number of threads is read when it is loaded
from data_sets import SETS, Data  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.svm import SVC, LinearSVC  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

import pegasos_stats as ps  # noqa: E402

LAMBDAS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
TOL = 1e-6
SEED = 1
SVC_ROWS, SVC_STEPS = 700, 100_000  # limits for SVC, which is slow on unscaled data
ROUNDING = 1e-11  # relative rounding error of an objective
TOLERANCES = 10.0 ** -np.arange(1, 6)  # of liblinear, relative to its default
EPOCHS = (1000, 10_000, 100_000)  # maximum epochs of liblinear, first its default
GIVEN_UP = 10.0  # maximum time of a fit by liblinear, relative to our time


@dataclass(frozen=True)
class Case:
    """A data set, a model and a way to fit it."""

    data: Data
    loss: str
    lam: float
    intercept: bool
    standardize: bool
    poor: bool

    def model(self) -> ps.SVM | ps.Logit:
        """Build the model, without fitting it."""
        X, y = self.data
        given: dict[str, Any] = {
            "lam": self.lam,
            "intercept": self.intercept,
            "standardize": self.standardize,
        }
        return (ps.SVM if self.loss == "hinge" else ps.Logit)(y, X, **given)

    def fitting(self) -> dict[str, Any]:
        """Return the arguments of ``fit``."""
        if not self.poor:
            return {"solver": ps.Optimum(seed=SEED)}
        return {"solver": ps.Pegasos(epochs=2, seed=SEED), "refine": TOL}


def told(case: Case) -> tuple[Any, set[str]]:
    """Return a fit, and the topics and categories of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = case.model().fit(**case.fitting())
    found = {note.topic for note in result.notes if note.severity == "warning"}
    return result, found | {warning.category.__name__ for warning in caught}


def peer(problem: Any) -> tuple[Any, bool]:
    """Return a classifier of scikit-learn for the same objective, or None.

    Also returns whether it is liblinear, whose times are compared.
    """
    C, free = 1.0 / (problem.lam * problem.n), problem.intercept
    if problem.loss == "hinge":
        if not free:
            same = {"dual": True, "fit_intercept": False, "random_state": SEED}
            return LinearSVC(C=C, loss="hinge", **same), True
        if problem.n > SVC_ROWS:
            return None, False
        return SVC(kernel="linear", C=C, tol=1e-8, max_iter=SVC_STEPS), False
    if not free:
        same = LogisticRegression(C=C, solver="liblinear", fit_intercept=False)
        return same, True
    dense = isinstance(problem.X, np.ndarray) and problem.p <= 300
    solver = "newton-cholesky" if dense else "lbfgs"
    return LogisticRegression(C=C, solver=solver, tol=1e-12, max_iter=1000), False


def objective(problem: Any, beta: Any, alpha: float) -> float:
    """Compute ``lam/2 ||beta||^2 + mean loss`` in long double precision."""
    wide = np.longdouble
    beta = np.ravel(beta.toarray() if hasattr(beta, "toarray") else beta).astype(wide)
    X = problem.X if isinstance(problem.X, np.ndarray) else problem.X.astype(wide)
    margin = problem.y * (X @ beta + wide(alpha))
    if problem.loss == "hinge":
        losses = np.maximum(0.0, 1.0 - margin)
    else:
        losses = np.logaddexp(wide(0.0), -margin)
    return float(problem.lam / 2.0 * beta @ beta + losses.mean())


def timed(run: Callable[[], Any]) -> float:
    began = time.thread_time()
    run()
    return time.thread_time() - began


class Ratios(NamedTuple):
    """Time of liblinear divided by ours: at its default tolerance, to our objective.

    NaN if liblinear does not solve this problem; infinite if it does not reach our
    objective.
    """

    default: float
    equal: float


NO_RATIOS = Ratios(np.nan, np.nan)


def against(case: Case, repeats: int) -> tuple[float, Ratios]:
    """Return the objective that scikit-learn reaches, or NaN, and time ratios."""
    model, solver = case.model(), case.fitting()["solver"]
    problem = model.problem
    other, same = peer(problem)
    if other is None:
        return np.nan, NO_RATIOS
    X = problem.X.copy()
    try:
        other.fit(X, problem.y)
    except ValueError:  # overflow
        return np.nan, NO_RATIOS
    alpha = float(np.ravel(other.intercept_)[0]) if problem.intercept else 0.0
    reached = objective(problem, other.coef_, alpha)
    if not same or not repeats:
        return reached, NO_RATIOS
    goal = (1.0 + TOL) * model.fit(solver).objective
    pairs = [
        (timed(lambda: model.fit(solver)), timed(lambda: other.fit(X, problem.y)))
        for _ in range(repeats)
    ]
    ours, theirs = map(statistics.median, zip(*pairs, strict=True))
    equal = theirs if reached <= goal else time_to(goal, problem, X, ours, repeats)
    return reached, Ratios(theirs / ours, equal / ours)


def time_to(goal: float, problem: Any, X: Any, ours: float, repeats: int) -> float:
    """Return the time of liblinear to an objective; infinite if it takes too long."""
    other, _ = peer(problem)
    default = other.tol
    for epochs in EPOCHS:
        for share in TOLERANCES:
            other.set_params(tol=share * default, max_iter=epochs)
            spent = timed(lambda: other.fit(X, problem.y))
            if objective(problem, other.coef_, 0.0) <= goal:
                again = [timed(lambda: other.fit(X, problem.y)) for _ in range(repeats)]
                return statistics.median(again)
            if spent > GIVEN_UP * ours:
                return np.inf
            if np.max(other.n_iter_) >= epochs:
                break
    return np.inf


@dataclass(frozen=True)
class Outcome:
    """Marks, time ratios and printed line of a case."""

    marks: str
    ratios: Ratios
    line: str


def judged(case: Case, best: float, theirs: float, ratios: Ratios) -> Outcome:
    """Fit a case and compare it with the objective of scikit-learn and the best one."""
    result, found = told(case)
    problem, at = result.problem, result.certificate
    true = objective(problem, result.solution.beta, result.solution.alpha)
    best, excess = min(best, true), (at.objective - theirs) / at.objective
    slack = ROUNDING * at.objective
    bad = {
        "x": at.objective > theirs + max(at.gap, 0.0) + slack,
        "d": at.gap < 0.0
        or at.dual_objective > best + slack
        or abs(true - at.objective) > 1e-7 * at.objective,
        "c": not result.converged or "ConvergenceWarning" in found,
        "s": ratios.equal < 1.0,
    }
    marks = "".join(mark for mark, is_so in bad.items() if is_so)
    line = (
        f"{at.objective:10.4g} gap {at.relative_gap:8.1e} excess {excess:9.1e} "
        f"liblinear {ratios.default:5.1f} times, {ratios.equal:5.1f} to our objective"
    )
    line += "".join(f"; {text}" for text in sorted(found))
    return Outcome(marks, ratios, line)


def cases_of(data: Data, options: argparse.Namespace) -> Iterator[tuple[Case, Case]]:
    """Yield all cases of a data set, in pairs: by ``fit()`` and with ``refine=``."""
    for standardize in (False, True):
        for loss in options.loss:
            for intercept in (True, False):
                for lam in options.lam:
                    given = data, loss, lam, intercept, standardize
                    yield Case(*given, poor=False), Case(*given, poor=True)


def try_set(name: str, data: Data, options: argparse.Namespace) -> list[Outcome]:
    """Run the cases of a data set; print all, or only the marked cases."""
    found = []
    for plain, poor in cases_of(data, options):
        theirs, ratios = against(plain, options.repeats)
        best = np.fmin(theirs, np.inf)
        for case, times in ((plain, ratios), (poor, NO_RATIOS)):
            found.append(judged(case, best, theirs, times))
            if found[-1].marks or not options.bad:
                kind = "std" if case.standardize else "raw"
                free = "free" if case.intercept else "none"
                route = "refine" if case.poor else "zero"
                print(
                    f"{found[-1].marks:3} {name:<16} {kind} {case.loss:<5} {free} "
                    f"{case.lam:5g} {route:<6} {found[-1].line}",
                    flush=True,
                )
    return found


def summed(outcomes: list[Outcome]) -> str:
    """Return the numbers of cases without and with marks, and the time ratios."""
    marks = Counter(mark for each in outcomes for mark in each.marks)
    text = f"{sum(not each.marks for each in outcomes)} of {len(outcomes)} cases "
    text += "without marks" + "".join(f", {n} {mark}" for mark, n in marks.items())
    found = [each.ratios for each in outcomes if each.ratios.default > 0.0]
    if found:
        default, equal = np.array(found).T
        late = f"{np.mean(np.isinf(equal)):.0%} stopped"
        text += f"; liblinear to our objective: {time_of(equal)}, {late}; "
        text += f"at its default tolerance, to any objective: {time_of(default)}"
    return text


def time_of(ratios: np.ndarray) -> str:
    """Return quantiles of time ratios; infinite ratios count as the largest."""
    tenth, middle = np.quantile(ratios, [0.1, 0.5], method="lower")
    return (
        f"{middle:.1f} times our time in the median, {tenth:.1f} times in a tenth, "
        f"faster in {np.mean(ratios < 1.0):.0%}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    only = "parts of names of data sets"
    parser.add_argument("--only", nargs="+", default=[""], help=only)
    parser.add_argument("--lam", type=float, nargs="+", default=LAMBDAS)
    parser.add_argument("--loss", nargs="+", default=["hinge", "log"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--bad", action="store_true")
    options = parser.parse_args()
    outcomes: list[Outcome] = []
    for name, make in SETS.items():
        if not any(part in name for part in options.only):
            continue
        try:
            data = make()
        except (ImportError, FileNotFoundError) as error:
            print(f"{name} is not available: {error}")
            continue
        found = try_set(name, data, options)
        outcomes += found
        print(f"{name}: {summed(found)}", flush=True)
    print(f"ALL: {summed(outcomes)}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1), np.errstate(all="ignore"):
        main()
