"""Fits, certificates and warnings on some forty data sets, beside scikit-learn.

    OPENBLAS_NUM_THREADS=1 python benchmarks/thirty_sets.py [--bad] [--only wine]

Every set of `data_sets.py` is fitted as it is and standardized, with the hinge and the
log loss, with and without intercept, for lam from 1e-1 to 1e-5; by ``model.fit()``, and
by a poor run of Pegasos with ``refine=1e-6``. The same objective is minimised by SVC,
by liblinear without intercept, and by LogisticRegression. A case is marked

* ``x`` if scikit-learn's objective is below ours by more than our certified gap,
* ``d`` if the certified bound is above an objective that someone reached, the gap below
  0, or the objective not that of the coefficients, computed in long double precision,
* ``c`` if the fit has not converged, or says so,
* ``s`` if liblinear is faster to an objective as low as ours, to 1e-6 of it, where it
  has the same problem; processor time, the median of ``--repeats`` runs of each in
  turn. At its default tolerance it often ends far above our objective, and is then
  given a tenth of the tolerance, and again, and ten times the epochs, until it is
  there, or takes ten times as long as we do. The time at the default tolerance, with
  the objective that was reached in it, is printed beside. Both are counted.

``--bad`` prints marked cases alone. Sets that are not there are named. Compilation is
not timed.
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
SVC_ROWS, SVC_STEPS = 700, 100_000  # as many as SVC gets, which is slow on raw data
ROUNDING = 1e-11  # of objectives of columns that are not far from zero
TOLERANCES = 10.0 ** -np.arange(1, 6)  # of liblinear, times its default
EPOCHS = (1000, 10_000, 100_000)  # of liblinear at most, its default first
GIVEN_UP = 10.0  # times our time


@dataclass(frozen=True)
class Case:
    """A problem, and how it is fitted."""

    data: Data
    loss: str
    lam: float
    intercept: bool
    standardize: bool
    poor: bool

    def model(self) -> ps.SVM | ps.Logit:
        """The model, not fitted."""
        X, y = self.data
        given: dict[str, Any] = {
            "lam": self.lam,
            "intercept": self.intercept,
            "standardize": self.standardize,
        }
        return (ps.SVM if self.loss == "hinge" else ps.Logit)(y, X, **given)

    def fitting(self) -> dict[str, Any]:
        """Arguments of fit()."""
        if not self.poor:
            return {"solver": ps.Optimum(seed=SEED)}
        return {"solver": ps.Pegasos(epochs=2, seed=SEED), "refine": TOL}


def told(case: Case) -> tuple[Any, set[str]]:
    """A fit, and what its warnings are about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = case.model().fit(**case.fitting())
    found = {note.topic for note in result.notes if note.severity == "warning"}
    return result, found | {warning.category.__name__ for warning in caught}


def peer(problem: Any) -> tuple[Any, bool]:
    """A model of scikit-learn for the same objective, if there is one.

    And whether it is liblinear with the same problem.
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
    """``lam/2 ||beta||^2 + mean loss`` in long double precision."""
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
    """Liblinear's time by ours: at its default tolerance, and to our objective.

    NaN where it has not the same problem, infinite where it does not get there.
    """

    default: float
    equal: float


NO_RATIOS = Ratios(np.nan, np.nan)


def against(case: Case, repeats: int) -> tuple[float, Ratios]:
    """Scikit-learn's objective by default, NaN for none, and times of liblinear."""
    model, solver = case.model(), case.fitting()["solver"]
    problem = model.problem
    other, same = peer(problem)
    if other is None:
        return np.nan, NO_RATIOS
    X = problem.X.copy()
    try:
        other.fit(X, problem.y)
    except ValueError:  # where it overflows
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
    """Liblinear's time to an objective; infinite if that takes far longer than ours."""
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
    """What became of a case."""

    marks: str
    ratios: Ratios
    line: str


def judged(case: Case, best: float, theirs: float, ratios: Ratios) -> Outcome:
    """Fit a case and hold it against the best objective that is known, and others'."""
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
        f"{at.objective:10.4g} gap {at.relative_gap:8.1e} beside {excess:9.1e} "
        f"liblinear {ratios.default:5.1f} times, {ratios.equal:5.1f} to our objective"
    )
    line += "".join(f"; {text}" for text in sorted(found))
    return Outcome(marks, ratios, line)


def cases_of(data: Data, options: argparse.Namespace) -> Iterator[tuple[Case, Case]]:
    """Every problem of a set: by fit(), and through refine=."""
    for standardize in (False, True):
        for loss in options.loss:
            for intercept in (True, False):
                for lam in options.lam:
                    given = data, loss, lam, intercept, standardize
                    yield Case(*given, poor=False), Case(*given, poor=True)


def try_set(name: str, data: Data, options: argparse.Namespace) -> list[Outcome]:
    """Print the cases of a set, or those that are marked."""
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
    """How many cases are as they should be, and the ratios of times."""
    marks = Counter(mark for each in outcomes for mark in each.marks)
    text = f"{sum(not each.marks for each in outcomes)} of {len(outcomes)} cases as "
    text += "they should be" + "".join(f", {n} {mark}" for mark, n in marks.items())
    found = [each.ratios for each in outcomes if each.ratios.default > 0.0]
    if found:
        default, equal = np.array(found).T
        late = f"{np.mean(np.isinf(equal)):.0%} given up"
        text += f"; liblinear to our objective: {time_of(equal)}, {late}; "
        text += f"at its default tolerance, wherever that ends: {time_of(default)}"
    return text


def time_of(ratios: np.ndarray) -> str:
    """Quantiles of times by ours; infinite ones are larger than any."""
    tenth, middle = np.quantile(ratios, [0.1, 0.5], method="lower")
    return (
        f"{middle:.1f} times our time in the median, {tenth:.1f} times in a tenth, "
        f"faster in {np.mean(ratios < 1.0):.0%}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[""], help="parts of names")
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
            print(f"{name} is left out: {error}")
            continue
        found = try_set(name, data, options)
        outcomes += found
        print(f"{name}: {summed(found)}", flush=True)
    print(f"ALL: {summed(outcomes)}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1), np.errstate(all="ignore"):
        main()
