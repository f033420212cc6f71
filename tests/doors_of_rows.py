"""Doors whose arguments are about rows, groups, effects, thresholds and studies."""

from functools import cache
from types import SimpleNamespace
from typing import Any

import pegasos_stats as ps
from tests.door import (
    DATA,
    DATA_KINDS,
    FOLDS,
    MODEL_KINDS,
    QUICK,
    ROUGH,
    Door,
    X,
    Y,
    fitted,
    looked_at,
    made,
    of,
    read_aloud,
)
from tests.nasty import N, labels, rows, st

OF_ROWS = {"weights": None, "freq_weights": None, "offset": None}
SVM, LOGIT = ps.SVM(Y, X, lam=1.0), ps.Logit(Y, X, lam=1.0)
GROUPS = list("abc" * (N // 3))
ROW_KINDS = {name: st.one_of(labels(), rows()) for name in [*OF_ROWS, "groups"]}
KINDS = DATA_KINDS | ROW_KINDS


@cache
def studied() -> SimpleNamespace:
    """One of each thing that is made of several fits."""
    logit, svm = made().logit, made().svm
    both = {"a": logit, "b": svm}
    return SimpleNamespace(
        errors=ps.compare_errors(both, ROUGH, folds=2, seed=1),
        validated=ps.cross_validate(logit, ROUGH, folds=2, seed=1),
        chosen=made().log.thresholds(folds=2, seed=1, metric="f1"),
    )


def by_arrays(maker: Any) -> Any:
    """Fit arrays quickly, and look at all that the fit says."""
    return fitted(lambda **options: maker(**{"lam": 1.0} | options))


def by_formula(maker: Any) -> Any:
    """Fit a formula quickly, and look at all that the fit says."""
    return fitted(lambda **options: maker("y ~ u + v", DATA, **{"lam": 1.0} | options))


def of_several(thing: str, method: str) -> Any:
    """A method of one of the things studied."""
    return lambda **options: getattr(getattr(studied(), thing), method)(**options)


def fit_again(model: str) -> Any:
    """Fit one of the models, and look at all that the fit says."""
    return lambda **options: looked_at(getattr(made(), model).fit(ROUGH, **options))


AT = {"variables": None, "data": None, "at": None, "scale": "response"}
EFFECTS = AT | {"contrasts": "reference", "change": None, "dummy": False}
AVERAGED = {"weights": None, "offset": None}
COVARIANCE = {"refine": None, "cov_type": "default", "groups": None}
MODELS = [
    Door(
        "SVM rows", by_arrays(ps.SVM), {"y": Y, "X": X} | OF_ROWS, MODEL_KINDS | KINDS
    ),
    Door(
        "Logit rows",
        by_arrays(ps.Logit),
        {"y": Y, "X": X} | OF_ROWS,
        MODEL_KINDS | KINDS,
    ),
    Door("svm rows", by_formula(ps.svm), OF_ROWS | {"functions": None}, KINDS),
    Door("logit rows", by_formula(ps.logit), OF_ROWS | {"functions": None}, KINDS),
    Door(
        "kernel_svm rows",
        by_formula(ps.kernel_svm),
        {"weights": None, "freq_weights": None, "gamma": None, "memory": 2**20},
        KINDS,
    ),
]
FITS = [
    Door("svm.fit covariance", fit_again("svm"), COVARIANCE, KINDS),
    Door("logit.fit covariance", fit_again("logit"), COVARIANCE, KINDS),
    Door(
        "Cluster",
        lambda **o: made().log.with_covariance(ps.Cluster(**o), GROUPS).bse,
        {"bandwidth": "silverman", "correction": "HC1", "use_t": True},
    ),
    Door(
        "hinge.with_covariance",
        lambda **options: made().hinge.with_covariance(**options).bse,
        {"cov_type": ps.Bootstrap(replicates=5, seed=1), "groups": GROUPS},
        KINDS,
    ),
]
STARTS = [
    Door(
        "Pegasos start",
        lambda **o: made().svm.fit(ps.Pegasos(**{"epochs": 2, "seed": 1} | o)),
        {"start": "zero", "first_step": 1, "step": "pegasos", "change_tol": 0.0},
    ),
    Door(
        "SDCA algorithm",
        lambda **o: made().svm.fit(ps.SDCA(**{"epochs": 2, "seed": 1} | o)),
        {"algorithm": "newton", "arithmetic": None, "gap_tol": None, "start": "zero"},
    ),
]
EFFECTS_DOORS = [
    Door("log.margins", read_aloud(of("log", "margins")), EFFECTS | AVERAGED, KINDS),
    Door("hinge.margins", read_aloud(of("hinge", "margins")), EFFECTS, KINDS),
    Door("log.predictions", read_aloud(of("log", "predictions")), AT | AVERAGED, KINDS),
    Door("log.to_sql", of("log", "to_sql"), {"dialect": "ansi"}),
]
CUT = {"data": None, "threshold": None, "offset": None}
THRESHOLDS = [
    Door("log.predict threshold", of("log", "predict"), CUT, KINDS),
    Door(
        "log.confusion threshold",
        of("log", "confusion"),
        CUT | {"actual": None, "weights": None, "freq_weights": None},
        KINDS,
    ),
    Door("log.augment threshold", of("log", "augment"), CUT | {"actual": None}, KINDS),
    Door(
        "log.thresholds",
        read_aloud(of("log", "thresholds")),
        {"metric": None, "cost": None, "folds": 2, "seed": 1, "groups": None},
        KINDS,
    ),
    Door("thresholds.plot", of_several("chosen", "plot"), {"ax": None}),
    Door(
        "calibrated.confusion",
        of("calibrated", "confusion"),
        {"data": None, "threshold": 0.5, "offset": None},
        KINDS,
    ),
    Door(
        "calibrated.predict threshold",
        of("calibrated", "predict"),
        {"data": X, "threshold": 0.5, "offset": None},
        KINDS,
    ),
    Door(
        "validated.confusion threshold",
        of_several("validated", "confusion"),
        {"repeat": 1, "threshold": None},
    ),
    Door(
        "confusion weights",
        ps.confusion,
        {"actual": Y, "predicted": Y[::-1], "freq_weights": None, "weights": None},
        KINDS,
    ),
]
STUDIES = [
    Door(
        "compare_models",
        read_aloud(ps.compare_models),
        {"results": {"a": LOGIT.fit(QUICK), "b": SVM.fit(QUICK)}, "terms": None}
        | {"brackets": "std_error", "stars": False, "conf_level": 0.95}
        | {"cross_validations": None},
    ),
    Door(
        "compare_errors",
        read_aloud(ps.compare_errors),
        {"models": {"a": LOGIT, "b": SVM}, "solver": ROUGH}
        | FOLDS
        | {"metric": "error_rate", "groups": None},
        KINDS,
    ),
    Door("errors.summary", of_several("errors", "summary"), {"alpha": 0.05}),
    Door("errors.tidy", of_several("errors", "tidy"), {"conf_level": 0.95}),
    Door(
        "cross_validate groups",
        read_aloud(ps.cross_validate),
        {"model": SVM, "solver": ROUGH, "groups": None, "lambda_path": None}
        | FOLDS
        | {"metrics": None},
        KINDS,
    ),
    Door(
        "Folds.stratified groups",
        ps.Folds.stratified,
        {"y": Y, "k": 2, "groups": None},
        KINDS,
    ),
    Door("path.plot_coefficients", of("path", "plot_coefficients"), {"named": 6}),
    Door("study.plot", of("study", "plot"), {"excess": False}),
]
DOORS = [*MODELS, *FITS, *STARTS, *EFFECTS_DOORS, *THRESHOLDS, *STUDIES]
