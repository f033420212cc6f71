"""What is drawn, and runs that follow what is drawn, every option written out.

R's own numbers are in ``tests/rng`` and ``r_reference/golden``: the generator, folds,
whole groups in folds, rows of resamples.
"""

from typing import Any

import pandas as pd

import pegasos_stats as ps
from tests.frozen import rows
from tests.frozen.fits import (
    CUBIC,
    GAUSSIAN,
    GIVEN,
    KERNEL_MODEL,
    LINEAR,
    MODEL,
    NEWTON,
    QUADRATIC,
    gram,
)

STEPS: dict[str, Any] = {
    "epochs": 5,
    "seed": 443,
    "order": "shuffle",
    "steps": None,
    "batch_size": 1,
    "project": False,
    "average": "none",
    "refit_intercept": False,
    "arithmetic": "reference",
    "sample_kind": "rejection",
    "ties": "na",
    "intercept": None,
    "start": "zero",
    "first_step": 1,
    "step": "pegasos",
    "tol": 0.0,
    "change_tol": 0.0,
}
FOLDS: dict[str, Any] = {"folds": 4, "repeats": 1, "groups": None, "seed": 443}
PLAIN: dict[str, Any] = {"workers": 1, "progress": False}
NO_CHOICE = {"lambda_path": None, "rule": "1se"}
METRICS = {"metrics": ["error_rate", "hinge_loss"]}
DATA = rows.frame()
N = 40
X = rows.normal(N, 4, 41)
WEIGHTS = {"weights": rows.uniform(N, 42)}

# name: kernel, options of the model, options of Pegasos
RUNS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "linear": (LINEAR, {}, {}),
    "quadratic": (QUADRATIC, {}, {}),
    "cubic, in order": (CUBIC, {}, {"order": "sequential"}),
    "quadratic, replace": (
        QUADRATIC,
        {},
        {"order": "replace", "steps": 200, "epochs": None},
    ),
    "quadratic, rounding": (QUADRATIC, {}, {"sample_kind": "rounding"}),
    "quadratic, no intercept": (QUADRATIC, {"intercept": False}, {}),
    "quadratic, weights": (QUADRATIC, WEIGHTS, {}),
    "quadratic, refit": (QUADRATIC, {}, {"refit_intercept": True}),
    "precomputed": (GIVEN, {}, {}),
    "gaussian": (GAUSSIAN, {}, {}),
}


def run(name: str) -> dict[str, Any]:
    """Dual weights, intercept and violations of a run of kernel Pegasos."""
    function, changed, steps = RUNS[name]
    K = gram(N) if function is GIVEN else X
    given = KERNEL_MODEL | {"lam": 0.1} | changed
    y = rows.labels(X, 43)
    model = ps.KernelSVM(y, K, memory=2**29, **function, **given)
    fit = model.fit(ps.Pegasos(**STEPS | steps))
    weights = fit.dual_coef
    return {
        "dual_coef": {str(row): float(w) for row, w in weights.items()},
        "intercept": float(fit.intercept),
        "violations": int(fit.n_violations),
    }


def runs() -> dict[str, Any]:
    """All runs of kernel Pegasos."""
    return {name: run(name) for name in RUNS}


def model(loss: str = "hinge") -> Any:
    """Build a model of 157 complete rows."""
    build = {"hinge": ps.svm, "log": ps.logit}[loss]
    return build("y ~ a + b + g", DATA, functions=None, **MODEL)


def assignments(folds: ps.Folds) -> list[str]:
    """For each repetition the fold of each row, a digit."""
    return ["".join(str(fold) for fold in line) for line in folds.assignment]


def folds() -> dict[str, list[str]]:
    """Folds of each kind."""
    complete = DATA.dropna()
    of_y: dict[str, dict[str, Any]] = {
        "stratified": {"groups": None, "repeats": 1, "sample_kind": "rejection"},
        "repeated": {"groups": None, "repeats": 3, "sample_kind": "rejection"},
        "rounding": {"groups": None, "repeats": 2, "sample_kind": "rounding"},
        "grouped": {
            "groups": complete["school"].to_numpy(),
            "repeats": 1,
            "sample_kind": "rejection",
        },
    }
    found = {
        name: assignments(ps.Folds.stratified(complete["y"], 5, seed=443, **options))
        for name, options in of_y.items()
    }
    steps, newton = ps.Pegasos(**STEPS), ps.Optimum(**NEWTON)
    for name, given in {"by number": {}, "by group": {"groups": "school"}}.items():
        options = FOLDS | given | PLAIN | NO_CHOICE
        cv = ps.cross_validate(model(), steps, **options, metrics=["error_rate"])
        found[f"cross-validation {name}"] = assignments(cv.folds)
    calibrated = ps.calibrate(model(), newton, **FOLDS | {"repeats": 2} | PLAIN)
    return found | {"calibration": assignments(calibrated.validation.folds)}


def validations() -> dict[str, dict[str, list[float]]]:
    """What cross-validation gives: of runs that draw in each fold, and of optima."""
    steps, newton = ps.Pegasos(**STEPS), ps.Optimum(**NEWTON)
    found = {}
    for name, loss, solver, given in (
        ("runs", "hinge", steps, {"repeats": 2}),
        ("optima", "hinge", newton, {"repeats": 2}),
        ("log loss by group", "log", newton, {"groups": "school"}),
    ):
        metrics = ["error_rate", f"{loss}_loss", "auc"]
        options = FOLDS | given | PLAIN | NO_CHOICE
        cv = ps.cross_validate(model(loss), solver, **options, metrics=metrics)
        found[name] = columns(cv.by_fold, metrics)
    metrics = ["error_rate", "hinge_loss"]
    options = FOLDS | PLAIN | {"metrics": metrics, "metric": "hinge_loss"}
    path = ps.lambda_path(model(), [1.0, 0.1, 0.01, 0.001], newton, **options)
    found["path"] = columns(path.table, [*metrics, "hinge_loss_se"])
    found["path"]["chosen"] = [float(path.lambda_min), float(path.lambda_1se)]
    return found


def columns(table: pd.DataFrame, names: list[str]) -> dict[str, list[float]]:
    """Columns of a table."""
    return {name: [float(value) for value in table[name]] for name in names}
