"""Configurations drawn at random, to be run in R and in Python.

Configuration `number` of `seed` is always the same one.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.solvers.pegasos import BY_STEPS
from pegasos_stats.studies.parity import Setup

VISITS = 600  # of rows in one run, about: R takes 50 us for each
SHARES = {"pegasos": 0.6, "sdca": 0.2, "kernel": 0.2}

# exp() of R and of Python may round differently, and a step on a row moves its margin
# by w ||x||^2 / (lam t) times the change of the slope, which is at most a quarter of
# the change of the margin. So step t magnifies an earlier difference at most
# max(1, w (||x||^2 + 1) / (4 lam t) - 1) times: where w (||x||^2 + 1) / lam is at most
# 16, by 3 at t = 1 and never again. The log loss is drawn in that region alone: X is
# divided by a power of two, and lam has a floor where there is an intercept.
LOG_REACH = 16.0

TEXTS = [("no", "yes"), ("Z", "a"), ("10", "9"), ("é", "z"), ("_x", "x"), ("b c", "b")]
NUMBERS = [(5, 6), (-1, 1), (0, 1), (100000, 99999), (2, -3)]
FRACTIONS = [(0.5, 0.25), (1.0, 2.0), (-0.1, 0.3), (1e5, 1e-5)]


@dataclass(frozen=True)
class Configuration:
    """One of the runs to be compared.

    Attributes
    ----------
    solver : "pegasos", "sdca" or "kernel"
    X : float64 array, shape (n_rows, p), or of a precomputed kernel (n_rows, n_rows)
    labels : Series, shape (n_rows,); missing ones are left out
    coding, weights, loss, lam, intercept, kernel : options of the model
    storage : "dense", "frame", "float32", "sparse" or "sparse with zeros"
    options : options of the solver, rows of an order counted from zero
    """

    seed: int
    number: int
    solver: str
    X: np.ndarray
    labels: Any
    coding: Any
    weights: Any
    loss: str
    lam: float
    intercept: bool
    storage: str
    options: dict[str, Any]
    kernel: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        levels = list(pd.Series(self.labels).dropna().unique())
        options = {k: v for k, v in self.options.items() if k != "order"}
        order = self.options.get("order", "shuffle")
        order = order if isinstance(order, str) else f"rows of shape {order.shape}"
        return (
            f"SEED={self.seed} ONLY={self.number}: {self.solver}, {self.loss}, "
            f"{self.X.shape[0]} x {self.X.shape[1]} {self.storage}, lam {self.lam!r}, "
            f"intercept {self.intercept}, labels {levels} ({self.labels.dtype}), "
            f"coding {self.coding!r}, weights {self.kind_of_weights}, order {order}, "
            f"{options} {self.kernel or ''}".rstrip()
        )

    @property
    def kind_of_weights(self) -> str:
        if isinstance(self.weights, np.ndarray):
            return f"from {np.nanmin(self.weights):g} to {np.nanmax(self.weights):g}"
        return str(self.weights)

    @property
    def stored(self) -> np.ndarray | None:
        """Entries that sparse rows keep, zeros among them; None of dense rows."""
        if not self.storage.startswith("sparse"):
            return None
        kept = self.X != 0.0
        if self.storage == "sparse with zeros":
            kept[:, ::2] = True
        return kept

    def rows(self) -> Any:
        """X as the model takes it."""
        if self.stored is not None:
            places = np.nonzero(self.stored)
            return csr_array((self.X[places], places), shape=self.X.shape)
        if self.storage == "frame":
            return pd.DataFrame(self.X, columns=[f"x{j}" for j in range(self.p)])
        return self.X.astype(np.float32) if self.storage == "float32" else self.X

    @property
    def p(self) -> int:
        return int(self.X.shape[1])

    def model(self) -> Any:
        names = ("lam", "intercept", "coding", "weights")
        given = {name: getattr(self, name) for name in names}
        if self.solver == "kernel":
            given["standardize"] = False  # as R's kernel_pegasos()
            return ps.KernelSVM(self.labels, self.rows(), **given, **self.kernel)
        model = {"hinge": ps.SVM, "log": ps.Logit}[self.loss]
        return model(self.labels, self.rows(), **given)

    def setup(self) -> Setup:
        """What both sides are given: to R labels and weights as they are."""
        model, X = self.model(), self.rows()
        weights: Any = self.weights
        if isinstance(weights, dict):
            low, high = (weights[level] for level in model.coding.levels)
            weights = {"negative": low, "positive": high}
        rows = X if self.stored is not None else np.asarray(X, dtype=np.float64)
        coding = self.coding
        if not isinstance(coding, str):
            coding = pd.Series(list(coding))
        use = partial(ps.SDCA, tol=0)
        solver = (use if self.solver == "sdca" else ps.Pegasos)(**self.options)
        return Setup(model, solver, rows, self.labels, coding, weights)


def draw(seed: int, number: int) -> Configuration:
    """Draw configuration `number` of `seed`."""
    rng = np.random.default_rng([seed, number])
    solver = str(rng.choice(list(SHARES), p=list(SHARES.values())))
    loss = "log" if solver != "kernel" and rng.random() < 0.3 else "hinge"
    intercept = solver != "sdca" and bool(rng.random() < 0.7)
    lam = float(10.0 ** rng.uniform(-6.0, 3.0))
    X, signs = drawn_rows(rng)
    labels, coding = drawn_labels(rng, signs)
    weights = drawn_weights(rng, labels)
    kernel = drawn_kernel(rng, X) if solver == "kernel" else {}
    if kernel.get("kernel") == "precomputed":
        X = (X @ X.T + (X @ X.T).T) / 2.0
    storage = drawn_storage(rng, solver, X)
    if storage == "float32":
        X = X.astype(np.float32).astype(np.float64)
    if loss == "log":
        most = 1.0 if weights is None else float(len(labels))  # of weights of mean 1
        X, lam = within_reach(X, lam, intercept, most)
    n = int(complete(labels, weights).sum())
    options = drawn_sdca(rng, n) if solver == "sdca" else drawn_pegasos(rng, n, solver)
    if not intercept:
        options.pop("refit_intercept", None)
    options["seed"] = drawn_seed(rng)
    options["sample_kind"] = str(rng.choice(["rejection", "rounding"], p=[0.8, 0.2]))
    options["ties"] = str(rng.choice(["na", "positive", "negative"]))
    if solver == "pegasos":
        further = np.random.default_rng([seed, number, 1])
        options |= drawn_form(further, options, lam, loss, X.shape[1] + intercept)
    return Configuration(
        seed, number, solver, X, labels, coding, weights, loss, lam, intercept,
        storage, options, kernel,
    )  # fmt: skip


def drawn_rows(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows with one or two peculiarities, and the sign of each, both occurring."""
    sizes = [rng.integers(2, 9), rng.integers(9, 60), rng.integers(60, 201)]
    n = int(rng.choice(sizes))
    p = int(rng.choice([rng.integers(1, 4), rng.integers(4, 31)]))
    X = rng.standard_normal((n, p))
    noise = rng.uniform(0.0, 2.0) * rng.standard_normal(n)
    signs = np.where(X[:, 0] + noise > rng.choice([0.0, 0.0, 1.0, 2.0, -2.0]), 1, -1)
    first, last = rng.choice(n, 2, replace=False)
    signs[first], signs[last] = 1, -1
    for change in rng.choice(list(CHANGES), int(rng.integers(0, 3)), replace=False):
        X = CHANGES[change](rng, X)
    if rng.random() < 0.15:  # the same row, the same sign or another one
        i, j = rng.integers(0, n, (2, n // 2 + 1))
        X[i] = X[j]
    return np.ascontiguousarray(X), signs


def constant(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    X[:, rng.integers(X.shape[1])] = rng.choice([1.0, 2.5, -1e3])
    return X


def with_gaps(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    X[rng.random(X.shape) < 0.7] = 0.0
    X[rng.integers(len(X))] = 0.0
    return X


def far(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    p = X.shape[1]
    offsets = rng.choice([-1.0, 1.0], p) * 10.0 ** rng.uniform(1.0, 8.0, p)
    return X + offsets * (rng.random(p) < 0.5)


CHANGES = {
    "whole numbers": lambda rng, X: np.round(2.0 * X),
    "halves": lambda rng, X: np.round(4.0 * X) / 2.0,
    "few values": lambda rng, X: (X > 0.0).astype(np.float64),
    "wide range": lambda rng, X: X * 10.0 ** rng.uniform(-4.0, 4.0, X.shape[1]),
    "huge": lambda rng, X: 1000.0 * X,
    "copies of a column": lambda rng, X: X[:, rng.integers(0, X.shape[1], X.shape[1])],
    "constant column": constant,
    "gaps": with_gaps,
    "far": far,
}


def drawn_labels(rng: np.random.Generator, signs: np.ndarray) -> tuple[Any, Any]:
    """Labels of every kind, and a coding of them."""
    kind = str(rng.choice(["text", "number", "fraction", "logical", "categories"]))
    pairs = {"text": TEXTS, "number": NUMBERS, "fraction": FRACTIONS}
    pairs |= {"logical": [(False, True)], "categories": TEXTS[:4] + NUMBERS[:3]}
    pair = list(pairs[kind][rng.integers(len(pairs[kind]))])
    rng.shuffle(pair)
    values: list[Any] = [pair[int(sign > 0)] for sign in signs]
    if kind != "number" and rng.random() < 0.2:
        values = with_missing(rng, values, signs)
    labels: Any = pd.Series(values)
    if kind == "logical" and labels.isna().any():
        labels = labels.astype("boolean")
    if kind == "categories":
        unused = "other" if isinstance(pair[0], str) else 77
        known = [pair[1], unused, pair[0]] if rng.random() < 0.5 else [*pair, unused]
        ordered = bool(rng.random() < 0.3)
        labels = labels.astype(pd.CategoricalDtype(known, ordered=ordered))
    codings = ["factor", "first-seen", tuple(pair), tuple(pair[::-1])]
    return labels, codings[rng.integers(len(codings))]


def with_missing(rng: Any, values: list[Any], signs: np.ndarray) -> list[Any]:
    """Some labels missing; of each sign one stays."""
    stay = {int(np.flatnonzero(signs == sign)[0]) for sign in (-1, 1)}
    gone = set(np.flatnonzero(rng.random(len(values)) < 0.1).tolist()) - stay
    return [None if i in gone else value for i, value in enumerate(values)]


def drawn_weights(rng: np.random.Generator, labels: "pd.Series[Any]") -> Any:
    """None, by row, by level or balanced; every level keeps some."""
    levels = list(labels.dropna().unique())
    kind = rng.choice(["none", "row", "level", "balanced"], p=[0.4, 0.35, 0.15, 0.1])
    if kind == "level":
        return {level: float(10.0 ** rng.uniform(-3.0, 3.0)) for level in levels}
    if kind != "row":
        return None if kind == "none" else "balanced"
    n = len(labels)
    each = [
        rng.uniform(0.0, 2.0, n),
        rng.integers(0, 4, n).astype(np.float64),
        rng.lognormal(0.0, 2.0, n),
        rng.uniform(0.5, 1.7, n) * 1e308,
        rng.integers(1, 9, n) * 5e-324,
        np.full(n, 0.1),
        rng.choice([0.1, 0.3, 0.0], n),
    ]
    weights = each[rng.integers(len(each))]
    largest = weights.max() or 1.0
    if rng.random() < 0.1:
        weights[rng.random(n) < 0.1] = np.nan
    for level in levels:
        weights[np.flatnonzero(labels.isin([level]))[0]] = largest
    return weights


def drawn_kernel(rng: np.random.Generator, X: np.ndarray) -> dict[str, Any]:
    name = str(rng.choice(["linear", "polynomial", "gaussian", "precomputed"]))
    if name == "polynomial":
        offset = float(rng.choice([0.0, 1.0, rng.uniform(0.0, 5.0)]))
        return {"kernel": name, "degree": int(rng.integers(1, 6)), "offset": offset}
    if name == "gaussian":
        return {"kernel": name, "gamma": float(10.0 ** rng.uniform(-3.0, 1.0))}
    return {"kernel": name}


def drawn_storage(rng: np.random.Generator, solver: str, X: np.ndarray) -> str:
    if solver == "kernel":
        return "dense"
    kinds = ["dense", "frame", "float32", "sparse", "sparse with zeros"]
    return str(rng.choice(kinds, p=[0.35, 0.1, 0.15, 0.2, 0.2]))


def drawn_seed(rng: np.random.Generator) -> int:
    seeds = [0, 1, 443, int(rng.integers(-(2**31) + 1, 2**31)), 2**31 - 1, -(2**31) + 1]
    return seeds[rng.choice(6, p=[0.1, 0.1, 0.1, 0.5, 0.1, 0.1])]


def drawn_sdca(rng: np.random.Generator, n: int) -> dict[str, Any]:
    epochs = int(rng.integers(1, max(2, min(8, VISITS // n + 1))))
    options = {"epochs": epochs, "start": str(rng.choice(["zero", "sgd"]))}
    most = epochs - (options["start"] == "sgd")
    if most:
        last = int(rng.integers(1, most + 1))
        ways = {"average": last}, {"average": "all"}, {"random_stop": last}, {}
        options |= ways[rng.integers(4)]
    return options


def drawn_pegasos(rng: np.random.Generator, n: int, solver: str) -> dict[str, Any]:
    """Options of Pegasos; a kernel takes one row a step, and averages nothing."""
    options: dict[str, Any] = {"refit_intercept": bool(rng.random() < 0.3)}
    linear = solver == "pegasos"
    if linear:
        sizes = [1, 1, 1, int(rng.integers(2, 12)), n, n + 3]
        options["batch_size"] = sizes[rng.integers(len(sizes))]
        options["project"] = bool(rng.random() < 0.3)
    order = rng.choice(["shuffle", "sequential", "replace", "subset", "given"])
    epochs = int(rng.integers(1, max(2, min(12, VISITS // n + 1))))
    if order in BY_STEPS:
        size = options.get("batch_size", 1)
        if linear and order == "subset":
            options["batch_size"] = size = min(size, n)
        options["steps"] = int(rng.integers(1, max(2, VISITS // size)))
    else:
        options["epochs"] = epochs
    options["order"] = str(order)
    if order == "given":
        options["epochs"] = int(rng.integers(1, 4))
        shape = [(int(rng.integers(1, 120)),), (epochs, int(rng.integers(1, n + 1)))]
        options["order"] = rng.integers(0, n, shape[rng.integers(2)])
        epochs = options["epochs"] * len(np.atleast_2d(options["order"]))
    if linear:
        last = "all" if order in BY_STEPS else int(rng.integers(1, epochs + 1))
        options["average"] = ["none", "none", "all", last][rng.integers(4)]
    return options


def drawn_form(
    rng: np.random.Generator, options: dict[str, Any], lam: float, loss: str, k: int
) -> dict[str, Any]:
    """Start, size of the steps and tolerances, in half of all runs as by default."""
    plain = {"start": "zero", "first_step": 1, "step": "pegasos"}
    if rng.random() < 0.5:
        return plain
    given = 10.0 ** rng.uniform(-2.0, 1.0) / np.sqrt(lam) * rng.standard_normal(k)
    form: dict[str, Any] = {
        "start": ["zero", "random", given][rng.integers(3)],
        "first_step": [1, 1, 2, int(rng.integers(3, 1000))][rng.integers(4)],
        "step": drawn_step(rng, lam, loss),
    }
    if rng.random() < 0.5:
        name = str(rng.choice(["tol", "change_tol"]))
        form[name] = float(10.0 ** rng.uniform(-3.0, -0.02))
        if not isinstance(options["average"], str):
            form["average"] = "all"
    return form


def drawn_step(rng: np.random.Generator, lam: float, loss: str) -> Any:
    """Sizes with which beta does not grow without end: ``eta lam`` below 2.

    Of the log loss below 1/2, where a step magnifies no earlier difference: it moves
    its margin by at most ``eta LOG_REACH lam / 4`` times the change of the margin.
    """
    most = 0.5 if loss == "log" else 1.9
    one = float(most / lam * 10.0 ** rng.uniform(-4.0, 0.0))
    each = most / lam * 10.0 ** rng.uniform(-4.0, 0.0, 2 * VISITS)
    by_root = "1/sqrt(t)" if lam <= most else "pegasos"
    return ["pegasos", "1/(lambda n)", by_root, one, each][rng.integers(5)]


def complete(labels: "pd.Series[Any]", weights: Any) -> np.ndarray:
    """Rows that have a label and a weight."""
    kept = labels.notna().to_numpy(dtype=bool)
    return kept & ~np.isnan(weights) if isinstance(weights, np.ndarray) else kept


def within_reach(
    X: np.ndarray, lam: float, intercept: bool, weight: float
) -> tuple[np.ndarray, float]:
    """Rows and lam with ``weight (||x||^2 + 1) / lam`` at most `LOG_REACH`."""
    if intercept:
        lam = max(lam, 2.0 * weight / LOG_REACH)
    norm2 = float((X * X).sum(axis=1).max())
    while weight * norm2 > (0.5 if intercept else 1.0) * LOG_REACH * lam:
        X, norm2 = X / 2.0, norm2 / 4.0
    return X, lam
