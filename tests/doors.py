"""The doors of the package: what is called, with ordinary values for every argument.

A property test puts anything in the place of one or two of them.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import pegasos_stats as ps
from tests.door import (
    DATA,
    DATA_KINDS,
    FLAGS,
    FOLDS,
    GIVEN,
    KERNEL,
    MODEL,
    MODEL_KINDS,
    NEW,
    QUICK,
    ROUGH,
    SOLVERS,
    TABLED,
    Door,
    X,
    Y,
    drawn,
    figure,
    fitted,
    made,
    of,
)
from tests.nasty import N, labels, rows

MODELS = [
    Door("SVM", fitted(ps.SVM), {"y": Y, "X": X} | MODEL, MODEL_KINDS),
    Door("Logit", fitted(ps.Logit), {"y": Y, "X": X} | MODEL, MODEL_KINDS),
    Door(
        "KernelSVM",
        fitted(ps.KernelSVM),
        {"y": Y, "X": X} | MODEL | KERNEL,
        MODEL_KINDS,
    ),
    Door(
        "KernelSVM gaussian",
        ps.KernelSVM,
        {"y": Y, "X": X, "kernel": "gaussian", "gamma": 0.5},
        MODEL_KINDS,
    ),
    Door(
        "svm",
        lambda formula, **o: fitted(lambda **p: ps.svm(formula, **p))(**o),
        {"formula": "y ~ u", "data": DATA, "lam": 1.0, "coding": "factor"},
        {"data": rows()},
    ),
    Door(
        "LabelCoding", ps.LabelCoding.from_labels, {"labels": Y}, {"labels": labels()}
    ),
]
SOLVER_OPTIONS = {"epochs": 1, "seed": 1, "sample_kind": "rejection", "ties": "na"}
LONG = 10_000  # epochs or steps, which nobody waits for


def ran(solver: Any) -> Any:
    """Fit, unless so much is asked for that it would rightly take long."""
    length = getattr(solver, "steps", None) or solver.epochs
    return made().svm.fit(solver) if length <= LONG else solver


SOLVERS_DOORS = [
    Door(
        "Pegasos",
        lambda **options: ran(ps.Pegasos(**options)),
        SOLVER_OPTIONS
        | {"order": "shuffle", "steps": None, "batch_size": 1, "project": False}
        | {"average": "none", "refit_intercept": False, "arithmetic": "reference"}
        | {"intercept": None},
        {"order": st.sampled_from(["sequential", [0, 1], np.arange(N)[None, ::-1]])},
    ),
    Door(
        "Pegasos.paper",
        lambda **options: ran(ps.Pegasos.paper(**options)),
        {"steps": 3, "batch_size": 1, "project": False, "seed": 1},
    ),
    Door(
        "SDCA",
        lambda **options: ran(ps.SDCA(**options)),
        SOLVER_OPTIONS | {"tol": 0.9, "gap_tol": None, "start": "zero"},
    ),
    Door(
        "Sandwich",
        lambda **o: made().hinge.with_covariance(ps.Sandwich(**o)).bse,
        {"bandwidth": "silverman", "correction": "HC0"},
    ),
    Door(
        "Bootstrap",
        lambda **o: made().log.with_covariance(ps.Bootstrap(**o)).bse,
        {"replicates": 3, "seed": 1, "interval": "normal", "sample_kind": "rejection"}
        | {"tol": 1e-3, "workers": 1},
    ),
]
FITS = [
    Door(
        f"{model}.fit",
        of(model, "fit"),
        {"solver": QUICK, "trace": True, "test": None, "progress": False} | more,
        {"solver": SOLVERS, "test": st.tuples(labels(), rows()), "trace": FLAGS},
    )
    for model, more in (
        ("svm", {"refine": None, "cov_type": "sandwich", "groups": None}),
        ("logit", {"refine": None, "cov_type": "default", "groups": None}),
        ("kernel", {}),
    )
]
RESULTS = [
    Door(f"{fit}.{method}", of(fit, method), options, DATA_KINDS)
    for fit in ("hinge", "log", "kernel_fit")
    for method, options in (
        ("decision_function", {"data": None}),
        ("predict", {"data": None, "ties": "na"}),
        ("confusion", GIVEN | {"ties": "na"} | TABLED),
        ("augment", GIVEN | {"ties": None, "prefix": "."}),
    )
]
INFERENCE = [
    Door("log.predict_proba", of("log", "predict_proba"), {"data": None}, DATA_KINDS),
    Door("log.conf_int", of("log", "conf_int"), {"alpha": 0.05}),
    Door("boot.conf_int", of("boot", "conf_int"), {"alpha": 0.05}),
    Door(
        "log.t_test",
        of("log", "t_test"),
        {"r_matrix": "u = v"},
        {"r_matrix": st.text("uv=+-*/() 19e.,^`", max_size=12)},
    ),
    Door("log.wald_test", of("log", "wald_test"), {"r_matrix": "u = v = 0"}),
    Door(
        "log.tidy",
        of("log", "tidy"),
        {"conf_level": 0.9, "original": False, "exponentiate": True},
    ),
    Door("log.summary", of("log", "summary"), {"alpha": 0.05, "max_terms": 3}),
    Door(
        "log.with_covariance",
        of("log", "with_covariance"),
        {"cov_type": "default", "groups": None},
    ),
    Door("tests.summary_frame", of("tests", "summary_frame"), {"alpha": 0.05}),
    Door("tests.tidy", of("tests", "tidy"), {"conf_level": 0.95}),
]
INTERVAL = {"method": "exact", "level": 0.95}
TABLES = [
    Door(
        "confusion",
        lambda **options: (ps.confusion(**options).summary(), ps.confusion(**options)),
        {"actual": Y, "predicted": Y[::-1], "levels": None, "scores": None}
        | {"probabilities": None}
        | TABLED,
        {"actual": labels(), "predicted": labels(), "scores": labels()},
    ),
    Door("matrix.tidy", of("matrix", "tidy"), INTERVAL),
    Door("matrix.conf_int", of("matrix", "conf_int"), INTERVAL),
    Door("matrix.error_interval", of("matrix", "error_interval"), INTERVAL),
    Door("matrix.summary", of("matrix", "summary"), {"mode": None}),
    Door(
        "compare_predictions",
        lambda **options: str(ps.compare_predictions(**options)),
        {"actual": Y, "predicted_a": Y, "predicted_b": Y[::-1], "level": 0.9}
        | {"names": ("one", "other")},
        {"actual": labels(), "predicted_a": labels(), "predicted_b": labels()},
    ),
    Door(
        "reliability",
        ps.reliability,
        {"actual": Y, "probabilities": np.linspace(0, 1, N), "bins": 3, "level": 0.9}
        | {"strategy": "uniform", "positive": "b"},
        {"actual": labels(), "probabilities": rows()},
    ),
]
SELECTION = [
    Door(
        "cross_validate",
        ps.cross_validate,
        {"model": ps.SVM(Y, X, lam=1.0), "solver": ROUGH, "metrics": "error_rate"}
        | FOLDS,
        {"folds": st.one_of(labels(), rows())},
    ),
    Door(
        "lambda_path",
        ps.lambda_path,
        {
            "model": ps.SVM(Y, X, lam=1.0),
            "lambdas": [1, 0.1],
            "solver": ROUGH,
            "metric": None,
        }
        | {"metrics": None}
        | FOLDS,
        {
            "lambdas": st.lists(
                st.sampled_from([5e-324, 1e-160, 1.0, 1e300]), max_size=3
            )
        },
    ),
    Door(
        "tune_kernel",
        ps.tune_kernel,
        {
            "model": ps.KernelSVM(Y, X, lam=1.0),
            "gammas": [0.1, 1.0],
            "lambdas": [1, 0.1],
        }
        | {"solver": ROUGH, "metric": None, "metrics": None}
        | FOLDS,
    ),
    Door(
        "calibrate",
        ps.calibrate,
        {"model": ps.SVM(Y, X, lam=1.0), "solver": ROUGH} | FOLDS,
    ),
    Door(
        "lambda_grid",
        ps.lambda_grid,
        {"model": ps.SVM(Y, X, lam=1.0), "count": 3, "ratio": 0.1},
    ),
    Door(
        "Folds.stratified",
        ps.Folds.stratified,
        {"y": Y, "k": 2, "repeats": 1, "seed": 1, "sample_kind": "rejection"},
        {"y": labels()},
    ),
    Door(
        "compare_solvers",
        ps.compare_solvers,
        {
            "model": ps.SVM(Y, X, lam=1.0),
            "solvers": {"P": QUICK},
            "runs": 1,
            "test": None,
        }
        | {"seed": 1, "workers": 1, "progress": False},
        {"test": st.tuples(labels(), rows())},
    ),
    Door("study.solver", of("study", "solver"), {"name": "P", "run": 1}),
    Door(
        "validated.confusion", of("validated", "confusion"), {"repeat": 1, "ties": "na"}
    ),
    Door("path.by", of("path", "by"), {"metric": "auc"}),
    Door("path.best_model", of("path", "best_model"), {"rule": "min"}),
    Door("path.refit", of("path", "refit"), {"rule": "min"}),
    Door("calibrated.predict", of("calibrated", "predict"), {"data": X}, DATA_KINDS),
    Door(
        "calibrated.predict_proba",
        of("calibrated", "predict_proba"),
        {"data": X},
        DATA_KINDS,
    ),
    Door(
        "calibrated.reliability",
        of("calibrated", "reliability"),
        {"bins": 2, "strategy": "uniform", "level": 0.9},
    ),
]
CODING = [
    Door(
        "coding.encode",
        of("coding", "encode"),
        {"labels": pd.Series(Y)},
        {"labels": labels()},
    ),
    Door(
        "coding.decode",
        of("coding", "decode"),
        {"signs": np.ones(N)},
        {"signs": labels()},
    ),
    Door(
        "coding.predicted",
        of("coding", "predicted"),
        {"scores": pd.Series(np.ones(N)), "ties": "na"},
        {"scores": labels()},
    ),
    Door(
        "coding.probabilities",
        of("coding", "probabilities"),
        {"scores": pd.Series(np.ones(N))},
        {"scores": labels()},
    ),
]
DRAWS = [
    Door("RRandom", ps.RRandom, {"seed": 1, "sample_kind": "rejection"}),
    *(
        Door(f"RRandom.{method}", drawn(method), options)
        for method, options in (
            ("runif", {"n": 3, "min": 0.0, "max": 1.0}),
            ("rnorm", {"n": 3, "mean": 0.0, "sd": 1.0}),
            ("rexp", {"n": 3, "rate": 1.0}),
            ("permutation", {"n": 3}),
            ("sample_int", {"n": 3, "size": 2, "replace": False, "prob": None}),
            ("sample", {"x": [1, 2], "size": 1, "replace": False, "prob": None}),
            ("set_state", {"state": ps.RRandom(1).get_state()}),
        )
    ),
]
FIGURES = [
    Door(f"plot.{method}", figure("log", method), options | {"ax": NEW}, DATA_KINDS)
    for method, options in (
        ("margins", GIVEN),
        ("roc", GIVEN),
        ("confusion", GIVEN),
        ("coefficients", {"max_terms": 2}),
        ("coefficient_image", {"shape": (1, 2)}),
    )
]


def in_folder(call: Callable[..., Any]) -> Callable[..., Any]:
    """Call with a path in a folder that is removed afterwards."""

    def called(**options: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            return call(Path(folder) / "fit.md", **options)

    return called


def reloaded(path: Path, **options: Any) -> Any:
    """Save a fit, and load it."""
    ps.save(**options, path=path)
    return ps.load(path)


def saved_before(path: Path, **options: Any) -> Any:
    """Load what was saved."""
    ps.save(made().svm.fit(QUICK), path)
    return ps.load(path, **options)


def read_again(path: Path, **options: Any) -> Any:
    """Write rows of numbers, and read them."""
    path.write_text("1 1:2 2:3\n-1 2:1\n")
    return ps.read_svmlight(path, **options)


ASKED = {"title": "A fit", "image_shape": (1, 2), "overwrite": True}
FILES = [
    Door(
        "save",
        in_folder(lambda path, result, **o: reloaded(path, result=result, **o)),
        {
            "result": ps.SVM(Y, X, lam=1.0).fit(QUICK),
            "about": {"a": 1},
            "overwrite": False,
        },
    ),
    Door(
        "load",
        in_folder(saved_before),
        {"functions": None},
    ),
    Door(
        "read_svmlight",
        in_folder(read_again),
        {"n_features": 2, "zero_based": False},
    ),
    Door(
        "report",
        in_folder(lambda path, **options: ps.report(path=path, **options)),
        {"result": ps.SVM(Y, X, lam=1.0).fit(QUICK), "test": (Y, X), "format": "html"}
        | ASKED,
        {"test": st.tuples(labels(), rows())},
    ),
]
DOORS = [
    *FILES,
    *MODELS,
    *SOLVERS_DOORS,
    *FITS,
    *RESULTS,
    *INFERENCE,
    *TABLES,
    *SELECTION,
    *CODING,
    *DRAWS,
    *FIGURES,
]
