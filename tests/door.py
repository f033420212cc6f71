"""What the doors lead to: one of each thing, and ordinary values for its arguments."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import pegasos_stats as ps
from tests.nasty import ANYTHING, N, labels, rows

Strategy = st.SearchStrategy[Any]

QUICK = ps.Pegasos(epochs=1, seed=1)
Y = ["a", "b"] * (N // 2)
X = np.random.default_rng(1).normal(size=(N, 2)).round(2)
DATA = pd.DataFrame(X, columns=["u", "v"]).assign(y=Y)

SOLVERS = st.sampled_from([QUICK, ps.SDCA(seed=1, epochs=2, tol=0.0)])
NEW = "new axes"
FLAGS = st.booleans()


@dataclass(frozen=True)
class Door:
    """One callable of the package.

    Attributes
    ----------
    name : str
    call : callable
    ordinary : mapping of argument to value
    kinds : mapping of argument to strategy
        Of those that have a kind of their own beside anything.
    """

    name: str
    call: Callable[..., Any]
    ordinary: Mapping[str, Any]
    kinds: Mapping[str, Strategy] = field(default_factory=dict)

    def odd(self, argument: str) -> Strategy:
        """What may stand in the place of an argument."""
        kind = self.kinds.get(argument)
        return ANYTHING if kind is None else st.one_of(kind, ANYTHING)

    def __str__(self) -> str:
        return self.name


@cache
def made() -> SimpleNamespace:
    """One of each thing that has doors of its own."""
    svm, logit = ps.SVM(Y, X, lam=0.1), ps.logit("y ~ u + v", DATA, lam=0.1)
    near = ps.SDCA(tol=1e-9, epochs=500, seed=1)
    kernel = ps.KernelSVM(Y, X, lam=0.1)
    rough = ps.SDCA(seed=1, epochs=50)
    return SimpleNamespace(
        svm=svm,
        logit=logit,
        kernel=kernel,
        hinge=ps.SVM(pd.Series(Y, name="y"), DATA[["u", "v"]], lam=0.1).fit(near),
        log=logit.fit(near),
        boot=logit.fit(near, cov_type=ps.Bootstrap(replicates=5, seed=1)),
        kernel_fit=kernel.fit(QUICK),
        matrix=ps.confusion(Y, ["a"] * 5 + ["b"] * 7),
        validated=ps.cross_validate(logit, rough, folds=2, seed=1),
        path=ps.lambda_path(svm, [1.0, 0.1], rough, folds=2, seed=1),
        calibrated=ps.calibrate(svm, rough, folds=2, seed=1),
        study=ps.compare_solvers(svm, {"P": QUICK, "S": rough}, runs=2, seed=1),
        coding=svm.coding,
        tests=logit.fit(near).t_test("u = v"),
    )


DATA_KINDS = {"data": rows(), "actual": labels(), "test": rows()}
MODEL = {
    "lam": 1.0,
    "intercept": True,
    "coding": "factor",
    "na_action": "drop",
    "weights": None,
    "standardize": False,
}
MODEL_KINDS = {"y": labels(), "X": rows(), "intercept": FLAGS, "standardize": FLAGS}
KERNEL = {"kernel": "polynomial", "degree": 2, "offset": 1.0, "memory": 2**20}
GIVEN = {"data": None, "actual": None}
FOLDS = {"folds": 2, "repeats": 1, "seed": 1, "workers": 1, "progress": False}
ROUGH = ps.SDCA(seed=1, epochs=20)
TABLED = {"positive": None, "mode": None, "prevalence": None, "beta": 1.0}


def fitted(model: type[Any]) -> Callable[..., Any]:
    """Build a model, fit it quickly and look at all that the fit says."""

    def built(**options: Any) -> Any:
        result = model(**options).fit(QUICK)
        looked_at(result)
        return result

    return built


def looked_at(result: Any) -> None:
    """Read everything that a fit says of itself."""
    str(result.summary()), repr(result), result.summary()._repr_html_()
    result.predict(), result.confusion(), result.glance(), result.tidy()


def read_aloud(call: Callable[..., Any]) -> Callable[..., Any]:
    """Call, and read all that the answer says in words."""

    def called(**options: Any) -> Any:
        found = call(**options)
        str(found), repr(found), found._repr_html_(), found.tidy()
        return found

    return called


def drawn(method: str) -> Callable[..., Any]:
    """A method of a new generator."""
    return lambda **options: getattr(ps.RRandom(1), method)(**options)


def of(thing: str, method: str) -> Callable[..., Any]:
    """A method of one of the things made."""
    return lambda **options: getattr(getattr(made(), thing), method)(**options)


def figure(thing: str, method: str) -> Callable[..., Any]:
    """A figure of a fit, on axes of its own."""

    def draw(**options: Any) -> Any:
        from matplotlib.figure import Figure

        if options["ax"] is NEW:
            options["ax"] = Figure().subplots()
        return getattr(getattr(made(), thing).plot, method)(**options)

    return draw
