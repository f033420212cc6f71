"""Names of other packages for the features of this one, and what to write instead.

Functions and classes that take arguments from the user are marked by `answering`:
an argument that they do not have brings a `CallError` with the line to write, and
frames of other libraries come in as pandas' own.
Results and models ask `answer_for` before they say that an attribute is not there.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from pegasos_stats.errors import CallError, MissingAttributeError, nearest, shown
from pegasos_stats.other_frames import are_among, called

Call = TypeVar("Call", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)

BY_SOLVER = "the solver has it: fit(ps.{}({}=...))"
LAMBDA = "give lam=1/(n*C), with n the number of rows"
SEED = BY_SOLVER.format("Pegasos", "seed")
EPOCHS = BY_SOLVER.format("SDCA", "epochs")
COV_TYPE = "give cov_type= to fit()"
GROUPS = "give groups= to fit()"

# Arguments, by the name that e1071, glmnet, glm, scikit-learn or statsmodels give them.
ARGUMENTS: dict[str, str] = {
    "C": LAMBDA,
    "cost": LAMBDA.replace("C", "cost"),
    "lambda_": "give lam=",
    "lambd": "give lam=",
    "reg_lambda": "give lam=",
    "alpha": "give lam= for the penalty; alpha is the intercept here",
    "nu": "give lam= for the penalty; there is no nu-SVM here",
    "l1_ratio": "the penalty is that of ridge regression, lam/2 ||beta||^2, alone",
    "penalty": "the penalty is that of ridge regression, lam/2 ||beta||^2; give lam=",
    "family": "ps.logit() has the log loss, ps.svm() the hinge",
    "loss": "ps.svm() has the hinge, ps.logit() the log loss",
    "class_weight": 'give weights="balanced" or weights={level: weight}',
    "sample_weight": "give weights=",
    "case_weights": "give freq_weights= for counts, weights= for others",
    "var_weights": "give weights=",
    "random_state": SEED,
    "seed": SEED,
    "epochs": EPOCHS,
    "max_iter": EPOCHS,
    "maxiter": EPOCHS,
    "n_iter": EPOCHS,
    "tol": BY_SOLVER.format("SDCA", "tol"),
    "batch_size": BY_SOLVER.format("Pegasos", "batch_size"),
    "solver": "give it to fit(), such as fit(ps.SDCA())",
    "method": "give a solver to fit(), such as fit(ps.SDCA())",
    "fit_intercept": "give intercept=",
    "intercept_scaling": "the intercept is not penalised here; leave it out",
    "scale": "give standardize=",
    "normalize": "give standardize=",
    "standardise": "give standardize=",
    "missing": 'give na_action="drop" or "raise"',
    "subset": "give the rows alone, such as data.query(...)",
    "probability": "give the model to ps.calibrate(), or fit ps.logit()",
    "kernel": 'ps.kernel_svm() takes it, such as kernel="gaussian"',
    "gamma": 'ps.kernel_svm() takes it, with kernel="gaussian"',
    "degree": 'ps.kernel_svm() takes it, with kernel="polynomial"',
    "coef0": 'give offset=, with kernel="polynomial"',
    "cachesize": "give memory=, in bytes",
    "cache_size": "give memory=, in bytes",
    "cov_kwds": COV_TYPE,
    "cov": COV_TYPE,
    "vcov": COV_TYPE,
    "cluster": GROUPS,
    "clusters": GROUPS,
    "disp": "give progress=True for a progress bar",
    "verbose": "give progress=True for a progress bar",
    "newdata": "give data=",
    "new_data": "give data=",
    "exog": "give data=",
    "X": "give data=",
    "type": 'predict(data) gives labels (type="class"), predict_proba(data) '
    'probabilities (type="response"), decision_function(data) scores (type="link")',
    "nfolds": "give folds=",
    "cv": "give folds=",
    "k": "give folds=",
    "cutoff": "give threshold=",
    "n_jobs": "give workers=",
    "scoring": "give metrics=",
    "y_true": "give the actual labels first, then the predicted ones",
    "y_pred": "give the actual labels first, then the predicted ones",
    "labels": "give levels=",
    "pos_label": "give positive=",
}

OF_MODEL = "the model has it: ps.svm(formula, data, {}=...)"
DATA = "the model has the data: SVM(y, X), then fit()"
SOLVERS = {
    "max_iter": "give epochs=",
    "n_iter": "give epochs=",
    "random_state": "give seed=",
    "shuffle": 'give order="shuffle"',
    "lam": OF_MODEL.format("lam"),
    "weights": OF_MODEL.format("weights"),
    "intercept": OF_MODEL.format("intercept"),
    "fit_intercept": OF_MODEL.format("intercept"),
}
# Where a function means something else by a name.
IN_CALL: dict[str, dict[str, str]] = {
    "fit": {
        "X": DATA,
        "y": DATA,
        "data": DATA,
        "lam": OF_MODEL.format("lam"),
        "weights": OF_MODEL.format("weights"),
        "sample_weight": OF_MODEL.format("weights"),
    },
    "Pegasos": SOLVERS,
    "SDCA": SOLVERS,
}

# Attributes of models and results.
ATTRIBUTES: dict[str, str] = {
    "coef_": "coef",
    "intercept_": "intercept",
    "classes_": "coding.levels",
    "n_iter_": "n_iter",
    "support_": "n_support",
    "n_features_in_": "design.names",
    "feature_names_in_": "design.names",
    "coefficients": "params",
    "coefs": "coef",
    "beta": "coef",
    "vcov": "cov_params()",
    "confint": "conf_int()",
    "get_margeff": "margins()",
    "avg_slopes": "margins()",
    "avg_comparisons": "margins()",
    "avg_predictions": "predictions()",
    "std_errors": "bse",
    "se": "bse",
    "stderr": "bse",
    "pvalue": "pvalues",
    "zvalues": "tvalues",
    "fittedvalues": "decision_function()",
    "fitted_values": "decision_function()",
    "linear_predictors": "decision_function()",
    "predict_log_proba": "predict_proba()",
    "score": "confusion(data).error_rate",
    "accuracy": "confusion(data).error_rate",
    "confusion_matrix": "confusion()",
    "n_obs": "nobs",
    "lambda_": "problem.lam",
    "lam": "problem.lam",
    "to_file": "ps.save(result, path)",
    "save": "ps.save(result, path)",
}


OF_A_FIT = (
    *("params", "coef", "intercept", "bse", "pvalues", "tvalues", "conf_int"),
    *("cov_params", "predict", "predict_proba", "decision_function", "confusion"),
    *("summary", "tidy", "glance", "augment", "report", "plot", "gap", "relative_gap"),
    *("objective", "certificate"),
)
_OWN = ("self", "cls")


def answering(call: Call) -> Call:
    """Let a function or method answer for arguments that it does not have.

    Frames and columns of other libraries it gets as pandas' own, and rows that it
    returns go back in kind, see `pegasos_stats.other_frames`.

    Raises
    ------
    CallError
        From the function, for such an argument, or for one that is missing.

    Examples
    --------
    >>> @answering
    ... def svm(formula, data, *, lam=1.0):
    ...     return lam
    >>> svm("y ~ x", None, C=2.0)
    Traceback (most recent call last):
    pegasos_stats.errors.CallError: svm() has no argument C; give lam=1/(n*C), ...
    """
    signature = inspect.signature(call)

    @wraps(call)
    def checked(*given: Any, **named: Any) -> Any:
        try:
            bound = signature.bind(*given, **named)
        except TypeError as error:
            name = _name_of(checked, signature, given)
            raise CallError(_answer(name, signature, given, named, error)) from None
        if are_among(bound.arguments.values()):
            return called(call, bound)
        return call(*given, **named)

    return cast(Call, checked)


def answering_class(made: Class) -> Class:
    """Let a class answer for arguments that its ``__init__`` does not have."""
    made.__init__ = answering(made.__init__)  # type: ignore[misc]
    return made


def renamed(name: str, method: Call) -> Call:
    """Return a bound method as a function of another name, which its errors give."""
    plain: Any = method
    bound = inspect.signature(method)

    @wraps(plain)
    def function(*given: Any, **named: Any) -> Any:
        return plain(*given, **named)

    function.__name__ = function.__qualname__ = name
    function.__signature__ = bound  # type: ignore[attr-defined]
    return answering(cast(Call, function))


def _name_of(
    call: Callable[..., Any], signature: inspect.Signature, given: tuple[Any, ...]
) -> str:
    """Name of a call as the user wrote it: of a class for its ``__init__``."""
    name = call.__name__
    if next(iter(signature.parameters), "") not in ("self", "cls") or not given:
        return name
    owner = given[0] if isinstance(given[0], type) else type(given[0])
    if name == "__init__":
        return owner.__name__
    return f"{owner.__name__}.{name}" if owner is given[0] else name


def _answer(
    name: str,
    signature: inspect.Signature,
    given: tuple[Any, ...],
    named: dict[str, Any],
    error: TypeError,
) -> str:
    """What a call has to be, in one sentence."""
    parameters = [
        each for each in signature.parameters.values() if each.name not in _OWN
    ]
    known = [each.name for each in parameters]
    for other in named:
        if other in known:
            continue
        cures = ARGUMENTS | IN_CALL.get(name, {})
        if other == "cov_kwds" and isinstance(named[other], dict):
            cures |= {other: GROUPS} if "groups" in named[other] else {}
        if other in cures:
            return f"{name}() has no argument {other}; {cures[other]}."
        if near := nearest(other, known, 0.7):
            return f"{name}() has no argument {other}; give {near}=."
        taken = ", ".join(known)
        return f"{name}() has no argument {shown(other)[1:-1]}; it takes {taken}."
    by_place = [each.name for each in parameters if each.kind is not each.KEYWORD_ONLY]
    count = len(given) - (len(signature.parameters) - len(parameters))
    if count > len(by_place):
        if name == "fit":
            return f"fit() takes {by_place[0]} and got {count} values; {DATA}."
        extra = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        cure = f"others by name, such as {extra[0]}=..." if extra else "no others"
        return (
            f"{name}() takes {' and '.join(by_place)} by position and got {count} "
            f"values; give {cure}."
        )
    needed = [each.name for each in parameters if each.default is each.empty]
    missing = [each for each in needed if each not in (*by_place[:count], *named)]
    if missing:
        return f"{name}() lacks {' and '.join(missing)}; give {' and '.join(needed)}."
    return f"{name}(): {error}; give each argument once."


def answer_for(owner: object, name: str) -> MissingAttributeError:
    """The error for an attribute that a result does not have.

    Examples
    --------
    >>> print(answer_for(object(), "coefs"))
    'object' object has no attribute 'coefs'
    """
    text, here = f"{type(owner).__name__!r} object has no attribute {name!r}", ""
    if name in ATTRIBUTES:
        first = ATTRIBUTES[name].partition(".")[0].partition("(")[0]
        if (
            first == "ps"
            or hasattr(type(owner), first)
            or first in getattr(owner, "__dict__", {})
        ):
            here = f"; here it is {ATTRIBUTES[name]}."
    return MissingAttributeError(text + here)


def answer_before_fit(owner: object, name: str) -> MissingAttributeError:
    """The error for an attribute that a model does not have, though its fit may."""
    text = f"{type(owner).__name__!r} object has no attribute {name!r}"
    if name in ATTRIBUTES or name in OF_A_FIT:
        here = ATTRIBUTES.get(name, name)
        text += f"; a model is not fitted yet: fit() gives a result, which has {here}."
    return MissingAttributeError(text)
