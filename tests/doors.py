"""The doors of the package: what is called, with ordinary values for every argument.

A property test puts anything in the place of one or two of them. A value is ordinary if
the door gives it, or `USUAL` does, or the signature as a default.
"""

import inspect
import tempfile
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from matplotlib.figure import Figure

import pegasos_stats as ps
from tests.nasty import ANYTHING, N, labels, rows

Y = ["a", "b"] * (N // 2)
X = np.random.default_rng(1).normal(size=(N, 2)).round(2)
DATA = pd.DataFrame(X, columns=["u", "v"]).assign(y=Y)
GROUPS = list("abc" * (N // 3))
QUICK = ps.Pegasos(epochs=1, seed=1)
ROUGH = ps.Optimum(seed=1, epochs=20)
UNPENALISED = ps.Logit(Y, X, lam=1e-9).fit()
SVM, LOGIT = ps.SVM(Y, X, lam=1.0), ps.Logit(Y, X, lam=1.0)
NEW = "new axes"

USUAL = {"y": Y, "X": X, "lam": 1.0, "model": SVM, "solver": ROUGH}
USUAL |= {"seed": 1, "folds": 2, "workers": 1, "epochs": 1, "replicates": 5, "ax": NEW}

FLAGS = st.booleans()
EITHER = st.one_of(labels(), rows())
TESTED = ["y", "actual", "labels", "predicted", "predicted_a", "predicted_b", "signs"]
BY_ROWS = ["weights", "freq_weights", "offset", "groups", "folds"]
KINDS = {
    **dict.fromkeys([*TESTED, "scores"], labels()),
    **dict.fromkeys(["data", "X", "probabilities"], rows()),
    **dict.fromkeys(BY_ROWS, EITHER),
    **dict.fromkeys(["intercept", "standardize", "trace"], FLAGS),
    "test": st.tuples(labels(), rows()),
    "solver": st.sampled_from([QUICK, ps.Optimum(seed=1, epochs=2, tol=0.0)]),
    "order": st.sampled_from(["sequential", [0, 1], np.arange(N)[None, ::-1]]),
    "lambdas": st.lists(st.sampled_from([5e-324, 1e-160, 1.0, 1e300]), max_size=3),
    "r_matrix": st.text("uv=+-*/() 19e.,^`", max_size=12),
}


@cache
def made() -> dict[str, Any]:
    """One of each thing that has doors of its own."""
    svm, logit = ps.SVM(Y, X, lam=0.1), ps.logit("y ~ u + v", DATA, lam=0.1)
    near, rough = (
        ps.Optimum(tol=1e-9, epochs=500, seed=1),
        ps.Optimum(seed=1, epochs=50),
    )
    kernel, log = ps.KernelSVM(Y, X, lam=0.1), logit.fit(near)
    twice = {"folds": 2, "seed": 1}
    return {
        "svm": svm,
        "logit": logit,
        "kernel": kernel,
        "hinge": ps.SVM(pd.Series(Y, name="y"), DATA[["u", "v"]], lam=0.1).fit(near),
        "log": log,
        "boot": logit.fit(near, cov_type=ps.Bootstrap(replicates=5, seed=1)),
        "kernel_fit": kernel.fit(QUICK),
        "matrix": ps.confusion(Y, ["a"] * 5 + ["b"] * 7),
        "validated": ps.cross_validate(logit, rough, **twice),
        "path": ps.lambda_path(svm, [1.0, 0.1], rough, **twice),
        "calibrated": ps.calibrate(svm, rough, **twice),
        "study": ps.compare_solvers(svm, {"P": QUICK, "S": rough}, runs=2, seed=1),
        "errors": ps.compare_errors({"a": logit, "b": svm}, ROUGH, **twice),
        "chosen": log.thresholds(metric="f1", **twice),
        "coding": svm.coding,
        "tests": log.t_test("u = v"),
    }


class Door:
    """One callable of the package, by its name among the things made.

    Parameters
    ----------
    name : str
    read : callable, optional
        What is done with its answer.
    **given
        Ordinary values of its own.
    """

    def __init__(
        self, name: str, read: Callable[[Any], Any] | None = None, /, **given: Any
    ) -> None:
        self.name, self.read, self.given = name, read, given

    @property
    def callable(self) -> Callable[..., Any]:
        """What is called."""
        of = {"ps": ps, "random": ps.RRandom(1), "parts": PARTS}
        if self.name.split(".")[0] not in of:
            of |= made()
        found: Callable[..., Any] = attrgetter(self.name)(SimpleNamespace(**of))
        return found

    @property
    def ordinary(self) -> dict[str, Any]:
        """An ordinary value of each argument, but of a path."""
        arguments = inspect.signature(self.callable).parameters
        values = {name: p.default for name, p in arguments.items()} | {
            name: value for name, value in USUAL.items() if name in arguments
        }
        values = {k: v for k, v in values.items() if v is not inspect.Parameter.empty}
        return {k: v for k, v in (values | self.given).items() if k != "path"}

    def odd(self, argument: str) -> st.SearchStrategy[Any]:
        """What may stand in the place of an argument."""
        return st.one_of(KINDS[argument], ANYTHING) if argument in KINDS else ANYTHING

    def call(self, **options: Any) -> Any:
        """Call, and read what is answered."""
        if options.get("ax") is NEW:
            options["ax"] = Figure().subplots()
        found = self.callable(**options)
        if self.read is not None:
            self.read(found)
        return found

    def __str__(self) -> str:
        return self.name


def saved(result: Any, about: Any = None, overwrite: Any = False) -> Any:
    """Save a fit, and load it."""
    with tempfile.TemporaryDirectory() as folder:
        ps.save(result, Path(folder) / "fit", about=about, overwrite=overwrite)
        return ps.load(Path(folder) / "fit")


def loaded(functions: Any = None) -> Any:
    """Load what was saved."""
    with tempfile.TemporaryDirectory() as folder:
        ps.save(made()["svm"].fit(QUICK, cov_type="none"), Path(folder) / "fit")
        return ps.load(Path(folder) / "fit", functions=functions)


def read_again(n_features: Any = 2, zero_based: Any = False) -> Any:
    """Write rows of numbers, and read them."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rows").write_text("1 1:2 2:3\n-1 2:1\n")
        options = {"n_features": n_features, "zero_based": zero_based}
        return ps.read_svmlight(Path(folder) / "rows", **options)


PARTS = SimpleNamespace(
    saved=saved,
    loaded=loaded,
    read_svmlight=read_again,
    decode=lambda signs: made()["coding"].decode(signs),
    predicted=lambda scores, ties: made()["coding"].predicted(scores, ties),
)


def looked_at(result: Any) -> None:
    """Read everything that a fit says of itself."""
    str(result.summary()), repr(result), result.summary()._repr_html_()
    result.predict(), result.confusion(), result.glance(), result.tidy()


def fitted(model: Any) -> None:
    """Fit quickly, and look at all that the fit says."""
    looked_at(model.fit(QUICK))


def aloud(found: Any) -> None:
    """Read all that an answer says in words."""
    str(found), repr(found), found._repr_html_(), found.tidy()


def ran(solver: Any) -> None:
    """Fit, unless so much is asked for that it would rightly take long."""
    if (getattr(solver, "steps", None) or solver.epochs) <= 10_000:
        made()["svm"].fit(solver)


def errors_of(fit: str, groups: Any = None) -> Callable[[Any], Any]:
    """Standard errors of a fit by what a door answers."""
    return lambda kind: made()[fit].with_covariance(kind, groups).bse


POLYNOMIAL = {"kernel": "polynomial", "degree": 2, "offset": 1.0}
ONES = pd.Series(np.ones(N))
GAUSSIAN = ps.KernelSVM(Y, X, lam=1.0)
FITS = {"a": LOGIT.fit(QUICK), "b": SVM.fit(QUICK)}
FORMULA = {"formula": "y ~ u + v", "data": DATA}
DOORS = [
    Door("parts.saved", result=SVM.fit(QUICK)),
    Door("parts.loaded"),
    Door("parts.read_svmlight"),
    Door("ps.report", result=SVM.fit(QUICK), test=(Y, X), image_shape=(1, 2)),
    Door("ps.SVM", fitted),
    Door("ps.Logit", fitted),
    Door("ps.KernelSVM", fitted, **POLYNOMIAL),
    Door("ps.KernelSVM", gamma=0.5),
    Door("ps.svm", fitted, **FORMULA),
    Door("ps.logit", fitted, **FORMULA),
    Door("ps.kernel_svm", fitted, **FORMULA),
    Door("ps.LabelCoding.from_labels", labels=Y),
    Door("ps.Pegasos", ran),
    Door("ps.Pegasos.paper", ran, steps=3),
    Door("ps.Optimum", ran, tol=0.9),
    Door("ps.Sandwich", errors_of("hinge")),
    Door("ps.Bootstrap", errors_of("log"), tol=1e-3),
    Door("ps.Cluster", errors_of("log", GROUPS)),
    Door("svm.fit", looked_at, trace=True),
    Door("logit.fit", looked_at, trace=True),
    Door("kernel.fit", solver=QUICK, trace=True),
    *(
        Door(f"{fit}.{method}")
        for fit in ("hinge", "log", "kernel_fit")
        for method in ("decision_function", "predict", "confusion", "augment")
    ),
    Door("log.predict_proba"),
    Door("log.conf_int"),
    Door("boot.conf_int"),
    Door("log.t_test", r_matrix="u = v"),
    Door("log.wald_test", r_matrix="u = v = 0"),
    Door("log.tidy", exponentiate=True),
    Door("log.summary", str, max_terms=3),
    Door("log.with_covariance", cov_type="default"),
    Door("hinge.with_covariance", cov_type=ps.Bootstrap(replicates=5), groups=GROUPS),
    Door("log.margins", aloud),
    Door("hinge.margins", aloud),
    Door("log.predictions", aloud),
    Door("log.to_sql"),
    Door("log.thresholds", aloud),
    Door("chosen.plot"),
    Door("tests.summary_frame"),
    Door("tests.tidy"),
    Door("ps.confusion", lambda found: found.summary(), actual=Y, predicted=Y[::-1]),
    Door("matrix.tidy"),
    Door("matrix.conf_int"),
    Door("matrix.error_interval"),
    Door("matrix.summary", str),
    Door("ps.compare_predictions", str, actual=Y, predicted_a=Y, predicted_b=Y[::-1]),
    Door("ps.pool", aloud, results=[FITS["a"], FITS["a"]]),
    Door("ps.anova", small=ps.Logit(Y, X[:, :1], lam=1e-9).fit(), large=UNPENALISED),
    Door("ps.compare_roc", aloud, actual=Y, scores_a=X[:, 0], scores_b=X[:, 1]),
    Door("ps.precision_recall", aloud, actual=Y, scores=X[:, 0]),
    Door("ps.decision_curve", aloud, actual=Y, probabilities=np.linspace(0, 1, N)),
    Door("ps.reliability", actual=Y, probabilities=np.linspace(0, 1, N), positive="b"),
    Door("ps.cross_validate", aloud),
    Door("ps.lambda_path", lambdas=[1, 0.1]),
    Door("ps.tune_kernel", model=GAUSSIAN, gammas=[0.1, 1.0], lambdas=[1, 0.1]),
    Door("ps.calibrate"),
    Door("ps.lambda_grid", count=3, ratio=0.1),
    Door("ps.Folds.stratified", k=2),
    Door("ps.compare_solvers", solvers={"P": QUICK}, runs=1),
    Door("ps.compare_models", aloud, results=FITS),
    Door("ps.compare_errors", aloud, models={"a": LOGIT, "b": SVM}),
    Door("errors.summary", str),
    Door("errors.tidy"),
    Door("study.solver", name="P", run=1),
    Door("study.plot", ax=None),
    Door("validated.confusion"),
    Door("path.best_model"),
    Door("path.refit"),
    Door("path.plot_coefficients"),
    Door("calibrated.predict"),
    Door("calibrated.predict_proba"),
    Door("calibrated.confusion"),
    Door("calibrated.reliability", bins=2),
    Door("coding.encode", labels=pd.Series(Y)),
    Door("parts.decode", signs=np.ones(N)),
    Door("parts.predicted", scores=ONES, ties="na"),
    Door("coding.probabilities", scores=ONES),
    Door("ps.RRandom"),
    *(Door(f"random.{method}", n=3) for method in ("runif", "rnorm", "rexp")),
    Door("random.permutation", n=3),
    Door("random.sample_int", n=3, size=2),
    Door("random.sample", x=[1, 2], size=1),
    Door("random.set_state", state=ps.RRandom(1).get_state()),
    *(Door(f"log.plot.{method}") for method in ("scores", "roc", "confusion")),
    Door("log.plot.coefficients", max_terms=2),
    Door("log.plot.coefficient_image", shape=(1, 2)),
]
