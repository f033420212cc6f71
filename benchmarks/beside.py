"""Compare the speed of another version of the package with this version.

    python benchmarks/beside.py COMMIT [--only WORD] [--rounds 5] [--peers]

The other version is checked out into a temporary worktree. Both versions run with this
Python, each in its own process with one thread and its own cache of compiled kernels.
For each case the two versions are timed alternately; the shortest time of each counts.
Prints the milliseconds of both and their ratio. With ``--peers`` it also prints the
time of a peer: SGDClassifier, SVC, or, for an optimum, the fastest classifier of
scikit-learn whose objective is as near to its minimum. Run it on an idle machine: other
work would slow the two versions by different amounts.

Sparse data sets are read from the folder that PEGASOS_STATS_DATA names; without this
variable they are omitted.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DATA = os.environ.get("PEGASOS_STATS_DATA")
SPARSE = ("a9a.gz", "w8a.gz", "ijcnn1.bz2")
SLOWER = 1.25  # a ratio that counts as slower
LONG = 5.0  # seconds; a case that takes longer runs once in each round
SPENT = 0.3  # seconds of repetitions of a case in each round
MOST_ENTRIES = 2e7  # of a dense matrix; peers are not timed on larger ones

Work = Callable[[], object]
DENSE = [
    (300, 5, 1e-2),
    (300, 25, 1e-3),
    (2_000, 20, 1e-3),
    (2_000, 60, 1e-3),
    (20_000, 30, 1e-3),
    (20_000, 200, 1e-3),
    (100_000, 50, 1e-3),
    (400_000, 10, 1e-3),
    (1_000_000, 50, 1e-3),
    (50_000, 300, 1e-3),
    (300, 3_000, 1e-2),
    (1_000, 10_000, 1e-3),
    (600, 600, 1e-3),
]


@cache
def dense(n: int, p: int) -> tuple[Any, Any]:
    """Simulate normal predictors and two classes of equal size."""
    import numpy as np

    rng = np.random.default_rng(n + p)
    X = rng.standard_normal((n, p))
    score = X @ rng.standard_normal(p) / np.sqrt(p) + 0.5 * rng.standard_normal(n)
    return X, np.where(score > np.median(score), 1, -1)


@cache
def text(n: int, p: int) -> tuple[Any, Any]:
    """Simulate a sparse matrix with 40 entries per row on average, as of words."""
    import numpy as np
    import scipy.sparse

    rng = np.random.default_rng(7)
    X = scipy.sparse.random(n, p, 40 / p, format="csr", random_state=7)
    score = X @ rng.standard_normal(p) + 0.1 * rng.standard_normal(n)
    return X, np.where(score > 0, 1, -1)


@cache
def from_file(name: str) -> tuple[Any, Any]:
    import numpy as np
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(os.path.join(DATA or "", name))
    X = X.tocsr()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, np.where(y > 0, 1, -1)


@cache
def patients(n: int) -> Any:
    """Simulate a data frame with two factors and three numeric predictors."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 12, n),
            "pressure": rng.normal(130, 20, n),
            "ward": rng.choice(list("abcdef"), n),
            "sex": rng.choice(["f", "m"], n),
            "dose": rng.gamma(2, 3, n),
        }
    )
    score = 0.04 * (frame.age - 50) + 0.3 * (frame.sex == "m")
    frame["y"] = np.where(score + rng.logistic(size=n) > 0.4, "yes", "no")
    return frame


def pegasos(name: str, X: Any, y: Any, **options: Any) -> Work:
    import pegasos_stats as ps

    model = (ps.Logit if name == "log" else ps.SVM)(y, X, lam=1e-3)
    solver = ps.Pegasos(epochs=5, seed=1, **options)
    return lambda: model.fit(solver)


def sgd(X: Any, y: Any) -> Work:
    from sklearn.linear_model import SGDClassifier

    classifier = SGDClassifier(alpha=1e-3, max_iter=5, tol=None, random_state=0)
    return lambda: classifier.fit(X, y)


def optimum(name: str, X: Any, y: Any, lam: float, tol: float) -> Work:
    import pegasos_stats as ps

    model = (ps.Logit if name == "log" else ps.SVM)(y, X, lam=lam)
    solver = getattr(ps, "Optimum", ps.SDCA)(tol=tol)
    return lambda: model.fit(solver)


def objective(name: str, X: Any, y: Any, w: Any, b: float, lam: float) -> float:
    import numpy as np

    m = y * (X @ w + b)
    losses = np.logaddexp(0, -m) if name == "log" else np.maximum(0, 1 - m)
    return float(lam / 2 * w @ w + losses.mean())


def nearest_peer(name: str, X: Any, y: Any, lam: float, tol: float) -> Work | None:
    """Return the fastest fit of scikit-learn that reaches the minimum to within `tol`.

    `tol` is relative. liblinear also penalises the intercept b by lam b^2 / 2. Its
    objective includes this penalty. At our solution its objective is our minimum plus
    the penalty of our intercept, an upper bound on its minimum; it must be within `tol`
    of this bound.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    if X.shape[0] * X.shape[1] > MOST_ENTRIES and not hasattr(X, "indptr"):
        return None
    minimum = optimum(name, X, y, lam, min(tol, 1e-6))()
    w, b = minimum.coef, float(minimum.intercept)  # type: ignore[attr-defined]
    lowest = objective(name, X, y, w, b, lam)
    same = {"C": 1 / (lam * len(y))}
    if name == "hinge":
        same |= {"loss": "hinge", "max_iter": 20_000}
        makers = [(1.0, lambda t: LinearSVC(tol=t, **same))]
    else:
        names = ["lbfgs", "liblinear"] + ["newton-cholesky"] * (X.shape[1] <= 2000)
        makers = [
            (
                float(solver == "liblinear"),
                lambda t, solver=solver: LogisticRegression(
                    solver=solver, tol=t, max_iter=3000, **same
                ),
            )
            for solver in names
        ]
    times: list[tuple[float, Work]] = []
    for penalised, make in makers:
        limit = (lowest + penalised * lam / 2 * b * b) * (1 + tol)
        for t in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
            start = time.perf_counter()
            fit = make(t).fit(X, y)
            spent = time.perf_counter() - start
            v, c = fit.coef_.ravel(), float(fit.intercept_[0])
            value = objective(name, X, y, v, c, lam) + penalised * lam / 2 * c * c
            if value <= limit:
                times.append((spent, lambda make=make, t=t: make(t).fit(X, y)))
                break
            if spent > LONG:
                break
    return min(times, key=lambda pair: pair[0])[1] if times else None


def frame_cases(n: int) -> Iterator[tuple[str, Callable[[], Work]]]:
    """Yield name and work of each operation of an analysis of a data frame."""
    import pegasos_stats as ps

    formula = "y ~ age * sex + pressure + ward + dose"

    def model(fit: Callable[..., Any] = ps.logit, **options: Any) -> Any:
        return fit(formula, patients(n), **options)

    @cache
    def result() -> Any:
        return model(lam=1e-3).fit()

    def on_result(call: Callable[[Any], object]) -> Callable[[], Work]:
        return lambda: lambda: call(result())

    def on_model(call: Callable[[Any], object], **options: Any) -> Callable[[], Work]:
        return lambda: (lambda m: lambda: call(m))(model(**options))

    yield "model", lambda: lambda: model(lam=1e-3)
    yield "fit", on_model(lambda m: m.fit(), lam=1e-3)
    yield "summary of logit", on_model(lambda m: str(m.fit().summary()), lam=1e-3)
    svm = {"fit": ps.svm, "lam": 1e-3}
    yield "summary of svm", on_model(lambda m: str(m.fit().summary()), **svm)
    yield "maximum likelihood", on_model(lambda m: str(m.fit().summary()))
    yield "predict", on_result(lambda r: r.predict(patients(n)))
    yield "probabilities", on_result(lambda r: r.predict_proba(patients(n)))
    yield "confusion", on_result(lambda r: str(r.confusion(patients(n))))
    yield "margins", on_result(lambda r: r.margins())
    yield (
        "thresholds",
        on_model(
            lambda m: m.fit().thresholds(
                cost={"false_negative": 5, "false_positive": 1}
            ),
            lam=1e-3,
        ),
    )
    folds = on_model(lambda m: ps.cross_validate(m, folds=10), lam=1e-3)
    yield "cross_validate", folds
    yield "lambda by cross-validation", on_model(lambda m: m.fit(), lam="cv")


def path(name: str, n: int, p: int) -> Work:
    import pegasos_stats as ps

    X, y = dense(n, p)
    kind = ps.Logit if name == "log" else ps.SVM
    model = kind(y, X, standardize=True, lam=1e-3)
    return lambda: ps.lambda_path(model, folds=10)


def kernel(n: int, p: int) -> Work:
    import pegasos_stats as ps

    X, y = dense(n, p)
    model = ps.KernelSVM(y, X, lam=1 / n, gamma=1 / p, standardize=False)
    return lambda: model.fit()


def svc(n: int, p: int) -> Work:
    from sklearn.svm import SVC

    return lambda: SVC(gamma=1 / p).fit(*dense(n, p))


def cases() -> Iterator[tuple[str, Callable[[], Work], Callable[[], Work | None]]]:
    """Yield the name of each case, and functions that prepare its work and its peer."""

    def none() -> None:
        return None

    for n, p in ((20_000, 20), (100_000, 100), (20_000, 1_000)):
        for arithmetic in ("reference", "fast"):
            yield (
                f"pegasos {n} x {p} {arithmetic}",
                lambda n=n, p=p, a=arithmetic: pegasos("", *dense(n, p), arithmetic=a),
                lambda n=n, p=p: sgd(*dense(n, p)),
            )
    for words, kind, options in (
        ("average", "hinge", {"average": 5}),
        ("batches of 32", "hinge", {"batch_size": 32}),
        ("log loss", "log", {}),
    ):
        yield (
            f"pegasos 20000 x 20 {words}",
            lambda k=kind, o=options: pegasos(
                k, *dense(20_000, 20), arithmetic="fast", **o
            ),
            none,
        )
    for file in SPARSE if DATA else ():
        yield (
            f"pegasos {file}",
            lambda f=file: pegasos("", *from_file(f), arithmetic="fast"),
            lambda f=file: sgd(*from_file(f)),
        )
    for name, tol in (("hinge", 1e-4), ("log", 1e-5)):
        for n, p, lam in DENSE:
            at = name, (n, p), lam, tol
            yield (
                f"{name} {n} x {p} lam {lam:g}",
                lambda at=at: optimum(at[0], *dense(*at[1]), *at[2:]),
                lambda at=at: nearest_peer(at[0], *dense(*at[1]), at[2], 1e-4),
            )
        for n, p in ((20_000, 2_000), (5_000, 50_000)):
            yield (
                f"{name} text {n} x {p}",
                lambda k=name, n=n, p=p: optimum(k, *text(n, p), 1e-4, 1e-3),
                lambda k=name, n=n, p=p: nearest_peer(k, *text(n, p), 1e-4, 1e-3),
            )
        for file in SPARSE if DATA else ():
            for lam in (1e-3, 1e-4):
                at = name, file, lam
                yield (
                    f"{name} {file} lam {lam:g}",
                    lambda at=at: optimum(at[0], *from_file(at[1]), at[2], 1e-3),
                    lambda at=at: nearest_peer(at[0], *from_file(at[1]), at[2], 1e-3),
                )
        for n, p in ((2_000, 20), (20_000, 30)):
            yield f"path {name} {n} x {p}", lambda k=name, n=n, p=p: path(k, n, p), none
    for n in (1_000, 30_000):
        for words, prepare in frame_cases(n):
            yield f"frame {n} {words}", prepare, none
    for n, p in ((500, 10), (2_000, 10), (8_000, 20)):
        yield (
            f"kernel {n} x {p}",
            lambda n=n, p=p: kernel(n, p),
            lambda n=n, p=p: svc(n, p),
        )


def shortest(work: Work) -> float:
    """Return the seconds of the fastest repetition."""
    best, spent = float("inf"), 0.0
    while (spent < SPENT and best < LONG) or best == float("inf"):
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
        best, spent = min(best, seconds), spent + seconds
    return best


def serve() -> None:
    """Read the names of cases from standard input, one per line, and time each."""
    import warnings

    warnings.simplefilter("ignore")
    known = {name: works for name, *works in cases()}
    print(json.dumps(list(known)), flush=True)
    prepared: dict[tuple[str, int], Work | None] = {}
    for line in sys.stdin:
        name, which = json.loads(line)
        try:
            if (name, which) not in prepared:
                prepared[name, which] = work = known[name][which]()
                if work is not None:
                    work()  # compiles
            work = prepared[name, which]
            answer: object = None if work is None else shortest(work)
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"[:100]
        print(json.dumps(answer), flush=True)


class Version:
    """A process that times cases with the version of the package in a folder."""

    def __init__(self, folder: Path, caches: Path) -> None:
        threads = ("OMP", "OPENBLAS", "NUMBA", "MKL")
        places = {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(caches)}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=caches,
            env=os.environ | places | {f"{name}_NUM_THREADS": "1" for name in threads},
        )
        self.names = self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def seconds(self, name: str, which: int) -> Any:
        """Return the seconds of a case (0) or its peer (1).

        Returns None if there is no peer, and the text of the exception if one occurs.
        """
        assert self.process.stdin
        self.process.stdin.write(json.dumps([name, which]) + "\n")
        self.process.stdin.flush()
        return self._answer()


@contextmanager
def worktree(commit: str, folder: Path) -> Iterator[Path]:
    """Check out a commit into a folder, and remove it afterwards."""
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--detach", "-q", folder, commit], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", folder], check=True)


def compare(old: Version, new: Version, options: argparse.Namespace) -> list[str]:
    """Print a line per case; return the cases that are slower or fail."""
    slower = []
    for name in old.names:
        if not any(word in name for word in options.only.split(",")):
            continue
        times: dict[str, list[Any]] = {"old": [], "new": [], "peer": []}
        for _ in range(options.rounds):
            times["old"].append(old.seconds(name, 0))
            times["new"].append(new.seconds(name, 0))
            times["peer"].append(new.seconds(name, 1) if options.peers else None)
        errors = {who: t[0] for who, t in times.items() if isinstance(t[0], str)}
        if errors:  # the old version may lack a feature that the case uses
            print(f"{name:36} {errors}", flush=True)
            slower += [name] * ("new" in errors)
            continue
        before, after = 1e3 * min(times["old"]), 1e3 * min(times["new"])
        line = f"{name:36} {before:9.2f} {after:9.2f} {after / before:6.2f}"
        if times["peer"][0] is not None:
            line += f"   peer {1e3 * min(times['peer']):9.2f}"
        print(line, flush=True)
        if after > SLOWER * before:
            slower.append(f"{name} {after / before:.2f}")
    return slower


def main() -> None:
    """Compare two versions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="commit of the other version")
    only = "words, separated by commas: run the cases whose names contain one of them"
    parser.add_argument("--only", default="", help=only)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in ("old-cache", "new-cache"):
            (folder / name).mkdir()
        with worktree(options.commit, folder / "old") as checkout:
            old = Version(checkout, folder / "old-cache")
            new = Version(ROOT, folder / "new-cache")
            print(f"{'milliseconds':36} {'old':>9} {'new':>9} {'ratio':>6}")
            slower = compare(old, new, options)
            old.process.kill()
            new.process.kill()
    print(f"{len(slower)} slower than {SLOWER}: {'; '.join(slower)}")


if __name__ == "__main__":
    main()
