"""Whether SDCA reaches the optimum, from zero and through refine=, beside scikit-learn.

    python benchmarks/optimum_trial.py [--tol 1e-6] [--repeats 1] [--only wine] [--bad]

Every data set is fitted as it is and standardized, with the hinge and the log loss,
with and without intercept, for lam from 1e-1 to 1e-5; from zero, and by a poor run of
Pegasos refined. Prints the relative gap that was reached, how far the objective is from
the best one of scikit-learn's (LinearSVC, SVC, LogisticRegression by liblinear and
newton-cholesky) in units of ours, the processor time, and how many times that liblinear
takes where it has the same problem, which is without intercept. In front stand ``g``
if the gap is not within the tolerance, ``x`` if scikit-learn is better by more than the
gap, ``s`` if liblinear is faster; ``--bad`` prints those cases alone. The sets are
those that come with scikit-learn and statsmodels, generated ones, and those of the
folder that PEGASOS_STATS_DATA names, where it is set. Compilation is not timed.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.sparse import random as random_sparse
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from pegasos_stats.solvers.objective import certificate, primal
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Problem
from pegasos_stats.solvers.refining import checked_refinement, run_refined
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.sdca_run import run_sdca

LAMBDAS = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5]
POOR = Pegasos(epochs=2, seed=1)
SMALL = 700  # rows up to which SVC is asked
SVC_STEPS = 100_000
ROUNDING = 1e-12


def of_levels(frame: Any, levels: tuple[int, int]) -> tuple[Any, Any]:
    rows = np.isin(frame.target, levels)
    return frame.data[rows], np.where(frame.target[rows] == levels[1], 1.0, -1.0)


def bundled() -> Iterator[tuple[str, Any, Any]]:
    wine, iris = datasets.load_wine(), datasets.load_iris()
    digits, cancer = datasets.load_digits(), datasets.load_breast_cancer()
    yield "cancer", cancer.data, np.where(cancer.target == 1, 1.0, -1.0)
    yield "wine 0/1", *of_levels(wine, (0, 1))
    yield "wine 1/2", *of_levels(wine, (1, 2))
    yield "iris 0/1", *of_levels(iris, (0, 1))
    yield "iris 1/2", *of_levels(iris, (1, 2))
    yield "digits 3/8", *of_levels(digits, (3, 8))
    yield "digits 1/7", *of_levels(digits, (1, 7))
    diabetes = datasets.load_diabetes(scaled=False)
    split = np.where(diabetes.target > np.median(diabetes.target), 1.0, -1.0)
    yield "diabetes", diabetes.data, split
    try:
        from statsmodels import datasets as more
    except ImportError:
        return
    fair = more.fair.load_pandas().data.sample(800, random_state=1)
    affairs = np.where(fair.pop("affairs") > 0, 1.0, -1.0)
    yield "fair", fair.to_numpy(float), affairs
    spector = more.spector.load_pandas().data
    yield "spector", spector.to_numpy(float)[:, :3], 2.0 * spector["GRADE"] - 1.0
    anes = more.anes96.load_pandas().data
    yield "anes96", anes.drop(columns="vote").to_numpy(float), 2.0 * anes["vote"] - 1.0
    star = more.star98.load_pandas().data
    above = np.where(star["NABOVE"] > star["NBELOW"], 1.0, -1.0)
    yield "star98", star.iloc[:, 2:].to_numpy(float), above


def generated() -> Iterator[tuple[str, Any, Any]]:
    rng = np.random.default_rng(0)
    X, y = datasets.make_classification(600, 40, n_informative=10, random_state=1)
    yield "600x40", X, 2.0 * y - 1.0
    X, y = datasets.make_classification(
        400, 60, n_informative=5, n_redundant=40, flip_y=0.2, random_state=2
    )
    yield "redundant", X, 2.0 * y - 1.0
    X, y = datasets.make_moons(500, noise=0.3, random_state=1)
    yield "moons", X, 2.0 * y - 1.0
    X = rng.standard_normal((300, 5))
    yield "separable", X, np.where(X[:, 0] + 0.1 > 0, 1.0, -1.0)
    yield "rare", X, np.where(np.arange(300) < 6, 1.0, -1.0)
    noisy = np.where(X[:, 0] + rng.standard_normal(300) > 0, 1.0, -1.0)
    scales = X * [1e-6, 1.0, 1e3, 1e6, 1e-2]
    yield "scales", scales, noisy
    dates = X * [1.0, 1.0, 10.0, 1e15, 1.0] + [0.0, 0.0, 2010.0, 1.7e18, 1e4]
    yield "dates", dates, noisy
    seconds = X * [1.0, 1.0, 10.0, 1e7, 1.0] + [0.0, 0.0, 2010.0, 1.7e9, 1e4]
    yield "seconds", seconds, noisy
    yield "constant", np.column_stack([X, np.full(300, 1e4), np.zeros(300)]), noisy
    yield "binary", np.where(X > 0.5, 1.0, 0.0), noisy
    yield "counts", np.floor(np.exp(2.0 * X)), noisy
    wide = rng.standard_normal((160, 3000))
    yield "160x3000", wide, np.where(wide[:, :9].sum(1) > 0, 1.0, -1.0)
    yield "wide raw", np.exp(wide[:80, :1000]), np.where(wide[:80, 0] > 0, 1.0, -1.0)
    X = csr_array(random_sparse(400, 2000, 0.01, "csr", None, rng, rng.random))
    yield "sparse", X, np.where(X @ rng.standard_normal(2000) > 0, 1.0, -1.0)
    X = csr_array(random_sparse(600, 30, 0.3, "csr", None, rng, rng.standard_normal))
    sign = np.where(X @ rng.standard_normal(30) + rng.standard_normal(600) > 0, 1.0, -1)
    X.data *= (10.0 ** rng.uniform(-3, 5, 30))[X.indices]
    yield "sparse far", X, sign


def from_folder() -> Iterator[tuple[str, Any, Any]]:
    folder = os.environ.get("PEGASOS_STATS_DATA")
    if folder is None:
        return
    files = {
        "a9a": "a9a.gz",
        "ijcnn1": "ijcnn1.bz2",
        "bio": "jhu_bio.train",
        "speech": "jhu_speech.train.gz",
        "nlp": "jhu_nlp.train",
        "reuters": "reuters_acq.train.gz",
    }
    for name, file in files.items():
        X, y = datasets.load_svmlight_file(str(Path(folder) / file))
        X, y = X[:1500], np.where(y > 0, 1.0, -1.0)[:1500]
        yield name, X.toarray() if name in ("bio", "speech") else csr_array(X), y


def standardized(X: Any) -> Any:
    if issparse(X):
        most = np.abs(X).max(axis=0).toarray().ravel()
        X = X.copy()
        X.data /= np.where(most > 0.0, most, 1.0)[X.indices]
        return X
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)


def rows_of(X: Any) -> Any:
    if not issparse(X):
        return np.ascontiguousarray(X, dtype=np.float64)
    X = csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def timed(run: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    times = []
    for _ in range(repeats):
        begin = time.thread_time()
        found = run()
        times.append(time.thread_time() - begin)
    return min(times), found


def peers(problem: Problem) -> Iterator[tuple[bool, Any]]:
    """Whether it is liblinear with the same problem, and a model."""
    C, free = 1.0 / (problem.lam * problem.n), problem.intercept
    if problem.loss == "hinge":
        if free and problem.n <= SMALL:
            yield False, SVC(kernel="linear", C=C, max_iter=SVC_STEPS)
        if not free:
            yield True, LinearSVC(C=C, loss="hinge", dual=True, fit_intercept=False)
        return
    if not free:
        yield True, LogisticRegression(C=C, solver="liblinear", fit_intercept=False)
    dense = problem.p <= 300 and not issparse(problem.X)
    solver = "newton-cholesky" if dense else "lbfgs"
    yield False, LogisticRegression(C=C, solver=solver, fit_intercept=free)


def theirs(problem: Problem, repeats: int) -> tuple[float, float]:
    """The least objective, and the time of liblinear."""
    least, seconds = np.inf, np.nan
    for is_liblinear, model in peers(problem):
        given = problem.X, problem.y
        try:
            spent, _ = timed(
                lambda model=model, given=given: model.fit(*given), repeats
            )
        except ValueError:  # where scikit-learn overflows
            continue
        beta = model.coef_
        beta = np.ravel(beta.toarray() if hasattr(beta, "toarray") else beta)
        alpha = float(np.ravel(model.intercept_)[0]) if problem.intercept else 0.0
        least = min(least, primal(problem, np.ascontiguousarray(beta), alpha))
        seconds = spent if is_liblinear else seconds
    return least, seconds


def runs(problem: Problem, tol: float) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "zero", lambda: run_sdca(problem, SDCA(seed=1, tol=tol))
    refinement = checked_refinement(tol, POOR)
    yield "refine", lambda: run_refined(problem, POOR, refinement)


def try_out(name: str, problem: Problem, options: argparse.Namespace) -> list[bool]:
    """Print the cases of one problem; whether each is as it should be."""
    least, seconds = theirs(problem, options.repeats)
    fine = []
    for route, run in runs(problem, options.tol):
        try:
            spent, found = timed(run, options.repeats)
            at = certificate(problem, found.beta, found.alpha, found.dual)
            gap, excess = at.relative_gap, (at.objective - least) / at.objective
        except Exception as error:
            print(f"{name} {route}: {type(error).__name__}: {error}")
            fine.append(False)
            continue
        ratio = seconds / spent
        slow = ratio < 1.0 and seconds < np.inf and route == "zero"
        bad = gap > options.tol, excess > gap + ROUNDING, slow
        fine.append(not any(bad))
        if options.bad and fine[-1]:
            continue
        marks = "".join(m if b else " " for m, b in zip("gxs", bad, strict=True))
        kind = "free" if problem.intercept else "none"
        print(
            f"{marks} {name:<14} {problem.loss:<5} {kind} {problem.lam:5g} {route:<6} "
            f"gap {gap:8.1e} excess {excess:9.1e} {spent * 1e3:8.2f} ms "
            f"liblinear {ratio:5.1f} times, {found.n_iter} steps",
            flush=True,
        )
    return fine


def compile_all() -> None:
    """Run every kernel once."""
    rng = np.random.default_rng(0)
    for X in (rng.standard_normal((30, 3)), rng.standard_normal((12, 40))):
        y = np.where(np.arange(len(X)) % 3 > 0, 1.0, -1.0)
        for rows in (X, rows_of(csr_array(X))):
            for loss in ("hinge", "log"):
                for intercept in (True, False):
                    problem = Problem(rows, y, 1e-4, loss, intercept)
                    for _, run in runs(problem, 1e-8):
                        run()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--only", default="", help="part of the name of a set")
    parser.add_argument("--lam", type=float, nargs="+", default=LAMBDAS)
    parser.add_argument("--loss", nargs="+", default=["hinge", "log"])
    parser.add_argument("--intercept", type=int, nargs="+", default=[1, 0])
    parser.add_argument("--bad", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    compile_all()
    fine = []
    for make in (bundled, generated, from_folder):
        for name, X, y in make():
            if options.only not in name:
                continue
            for kind, rows in (("raw", X), ("std", standardized(X))):
                for loss in options.loss:
                    for intercept in options.intercept:
                        for lam in options.lam:
                            given: Any = rows_of(rows), np.asarray(y, float), lam, loss
                            problem = Problem(*given, bool(intercept))
                            fine += try_out(f"{name} {kind}", problem, options)
    print(f"{sum(fine)} of {len(fine)} cases as they should be")


if __name__ == "__main__":
    with threadpool_limits(1), np.errstate(all="ignore"):
        main()
