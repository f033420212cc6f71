"""Names of other packages are answered by the line to write here."""

import inspect
import pickle
from copy import copy, deepcopy

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats import other_names
from pegasos_stats.errors import CallError, DataError, OptionError

TRAIN, TEST = ps.datasets.load_digits56()
F = "digit ~ p34 + p43"
Y, X = TRAIN["digit"], TRAIN[["p34", "p43"]]
MODEL = ps.svm(F, TRAIN, lam=1.0)
FIT = MODEL.fit(ps.SDCA(seed=1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ps.svm(F, TRAIN, C=1, lam=1.0),
            "svm() has no argument C; give lam=1/(n*C), with n the number of rows.",
        ),
        (
            lambda: ps.logit(F, TRAIN, class_weight="balanced", lam=1.0),
            'logit() has no argument class_weight; give weights="balanced" or '
            "weights={level: weight}.",
        ),
        (
            lambda: ps.SVM(Y, X, cost=3, lam=1.0),
            "SVM() has no argument cost; give lam=1/(n*cost), with n the number of "
            "rows.",
        ),
        (
            lambda: ps.Logit(Y, X, random_state=1, lam=1.0),
            "Logit() has no argument random_state; the solver has it: "
            "fit(ps.Pegasos(seed=...)).",
        ),
        (
            lambda: ps.SVM.from_formula(F, TRAIN, lambda_=3, lam=1.0),
            "SVM.from_formula() has no argument lambda_; give lam=.",
        ),
        (
            lambda: ps.svm(F, TRAIN, lamda=3, lam=1.0),
            "svm() has no argument lamda; give lam=.",
        ),
        (
            lambda: ps.svm(F, TRAIN, kernel="rbf", lam=1.0),
            "svm() has no argument kernel; ps.kernel_svm() takes it, such as "
            'kernel="gaussian".',
        ),
        (
            lambda: ps.svm(F, TRAIN, foo=1, lam=1.0),
            "svm() has no argument foo; it takes formula, data, lam, intercept, "
            "coding, na_action, weights, freq_weights, offset, standardize, functions.",
        ),
        (
            lambda: ps.svm(F, TRAIN, 0.1, lam=1.0),
            "svm() takes formula and data by position and got 3 values; give others "
            "by name, such as lam=....",
        ),
        (lambda: ps.svm(F, lam=1.0), "svm() lacks data; give formula and data."),
        (
            lambda: ps.svm(data=TRAIN, lam=1.0),
            "svm() lacks formula; give formula and data.",
        ),
        (lambda: ps.SVM(), "SVM() lacks y and X; give y and X."),
        (
            lambda: ps.svm(F, TRAIN, formula=F, lam=1.0),
            "svm(): multiple values for argument 'formula'; give each argument once.",
        ),
        (
            lambda: MODEL.fit(X, Y),
            "fit() takes solver and got 2 values; the model has the data: SVM(y, X), "
            "then fit().",
        ),
        (
            lambda: MODEL.fit(cov_kwds={"groups": [1, 2]}, cov_type="cluster"),
            "fit() has no argument cov_kwds; give groups= to fit().",
        ),
        (
            lambda: MODEL.fit(cov_kwds={"maxlags": 1}),
            "fit() has no argument cov_kwds; give cov_type= to fit().",
        ),
        (
            lambda: MODEL.fit(epochs=3),
            "fit() has no argument epochs; the solver has it: "
            "fit(ps.SDCA(epochs=...)).",
        ),
        (
            lambda: ps.Pegasos(max_iter=3),
            "Pegasos() has no argument max_iter; give epochs=.",
        ),
        (
            lambda: ps.SDCA(lam=3),
            "SDCA() has no argument lam; the model has it: ps.svm(formula, data, "
            "lam=...).",
        ),
        (
            lambda: FIT.predict(TEST, type="response"),
            'predict() has no argument type; predict(data) gives labels (type="class")'
            ', predict_proba(data) probabilities (type="response"), '
            'decision_function(data) scores (type="link").',
        ),
        (lambda: FIT.predict(X=TEST), "predict() has no argument X; give data=."),
        (
            lambda: ps.cross_validate(MODEL, cv=3),
            "cross_validate() has no argument cv; give folds=.",
        ),
        (
            lambda: ps.confusion(y_true=Y, y_pred=Y),
            "confusion() has no argument y_true; give the actual labels first, then "
            "the predicted ones.",
        ),
    ],
)
def test_arguments_of_others(call, message):
    with pytest.raises(CallError) as caught:
        call()
    assert str(caught.value) == message
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("owner", "name", "message"),
    [
        (FIT, "coef_", "'LinearResults' object has no attribute 'coef_'; here it is "
         "coef."),
        (FIT, "vcov", "'LinearResults' object has no attribute 'vcov'; here it is "
         "cov_params()."),
        (FIT, "classes_", "'LinearResults' object has no attribute 'classes_'; here "
         "it is coding.levels."),
        (FIT, "save", "'LinearResults' object has no attribute 'save'; here it is "
         "ps.save(result, path)."),
        (FIT, "nonsense", "'LinearResults' object has no attribute 'nonsense'"),
        (MODEL, "coef_", "'SVM' object has no attribute 'coef_'; a model is not "
         "fitted yet: fit() gives a result, which has coef."),
        (MODEL, "predict", "'SVM' object has no attribute 'predict'; a model is not "
         "fitted yet: fit() gives a result, which has predict."),
        (MODEL, "nonsense", "'SVM' object has no attribute 'nonsense'"),
    ],
)  # fmt: skip
def test_attributes_of_others(owner, name, message):
    assert not hasattr(owner, name)
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    assert str(caught.value) == message


def test_every_name_that_is_given_for_another_is_there():
    kernel = ps.kernel_svm(F, TRAIN, lam=1.0).fit(ps.Pegasos(epochs=1, seed=1))
    for name, here in other_names.ATTRIBUTES.items():
        found = [str(other_names.answer_for(each, name)) for each in (FIT, kernel)]
        assert any(f"here it is {here}." in text for text in found)
        if here.startswith("ps."):
            continue
        first = here.partition("(")[0]
        owner = FIT if "here it is" in found[0] else kernel
        for part in first.split("."):
            owner = getattr(owner, part)


def test_labels_come_first():
    for y, rows in ((X, Y), (X.to_numpy(), Y.to_numpy())):
        with pytest.raises(DataError) as caught:
            ps.SVM(y, rows, lam=1.0)
        assert str(caught.value) == (
            "Labels come first, predictors second; give y, then X."
        )


@pytest.mark.parametrize("name", ["rbf", "radial", "poly"])
def test_kernels_of_others(name):
    here = {"poly": "polynomial"}.get(name, "gaussian")
    with pytest.raises(OptionError) as caught:
        ps.KernelSVM(Y, X, kernel=name, lam=1.0)
    assert str(caught.value) == (
        f"kernel={name!r} is {here!r} here; give kernel={here!r}."
    )


def test_the_hinge_names_calibrate_first():
    with pytest.raises(OptionError) as caught:
        FIT.predict_proba(TEST)
    assert str(caught.value) == (
        "The hinge loss gives no probabilities; ps.calibrate(model) makes them of its "
        "scores, ps.logit() fits them, decision_function() has scores."
    )


def test_signatures_and_copies_stay():
    assert "lam" in inspect.signature(ps.svm).parameters
    assert "self" not in inspect.signature(ps.svm).parameters
    assert ps.svm.__name__ == "svm"
    assert pickle.loads(pickle.dumps(ps.svm)) is ps.svm
    for made in (copy(FIT), deepcopy(FIT), pickle.loads(pickle.dumps(FIT))):
        assert np.array_equal(made.params, FIT.params)
