"""What leaves the training data in a pickle: coefficients, and no rows."""

import copy
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pegasos_stats as ps
from pegasos_stats.errors import MissingAttributeError, OptionError
from pegasos_stats.sklearn import KernelSVMClassifier, LogitClassifier, SVMClassifier

CLASSIFIERS = [
    SVMClassifier(solver=ps.Optimum(tol=1e-8)),
    LogitClassifier(standardize=True),
    SVMClassifier(solver="pegasos", lam=0.1, epochs=20, random_state=1),
    make_pipeline(StandardScaler(), LogitClassifier()),
]
KERNELS = [
    KernelSVMClassifier(),
    KernelSVMClassifier(kernel="poly", standardize=True),
]
KINDS = [LogitClassifier, SVMClassifier, KernelSVMClassifier]
pytestmark = pytest.mark.filterwarnings("ignore:The fit has not converged")


def by_pickle(fitted):
    return pickle.loads(pickle.dumps(fitted))


def by_joblib(fitted):
    file = io.BytesIO()
    joblib.dump(fitted, file)
    file.seek(0)
    return joblib.load(file)


def by_skops(fitted):
    skops = pytest.importorskip("skops.io")
    data = skops.dumps(fitted)
    return skops.loads(data, trusted=skops.get_untrusted_types(data=data))


def data(n):
    draw = np.random.default_rng(1)
    X = pd.DataFrame(draw.normal(size=(n, 3)), columns=["age", "dose", "sex"])
    return X, np.where(X["age"] + draw.normal(size=n) > 0.3, "ill", "well")


@pytest.mark.parametrize("classifier", [*CLASSIFIERS, *KERNELS], ids=repr)
@pytest.mark.parametrize("way", [by_pickle, by_joblib, by_skops])
def test_predictions_of_a_pickle_are_those_of_the_fit(classifier, way):
    X, y = data(300)
    fitted = classifier.fit(X, y)
    again = way(fitted)
    assert np.array_equal(again.predict(X), fitted.predict(X))
    assert np.array_equal(again.decision_function(X), fitted.decision_function(X))
    assert again.classes_.tolist() == ["ill", "well"]
    assert again.feature_names_in_.tolist() == ["age", "dose", "sex"]


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=repr)
def test_a_pickle_of_a_linear_fit_does_not_grow_with_the_rows(classifier):
    sizes = [len(pickle.dumps(classifier.fit(*data(n)))) for n in (300, 3000)]
    assert abs(sizes[1] - sizes[0]) < 20  # digits of counts


def test_a_pickle_of_a_kernel_fit_holds_the_support_rows_alone():
    X, y = data(300)
    fitted = KernelSVMClassifier(kernel="linear").fit(X, y)
    pickled = pickle.dumps(fitted)
    outside = np.setdiff1d(np.arange(300), fitted.support_)
    assert outside.size > 50
    rows = X.to_numpy()
    assert rows[fitted.support_[0]].tobytes() in pickled
    assert not any(rows[i].tobytes() in pickled for i in outside)


def test_a_covariance_that_was_computed_is_kept():
    X, y = data(300)
    fitted = LogitClassifier().fit(X, y)
    without = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(OptionError, match="not computed before"):
        without.result_.cov_params()
    expected = fitted.result_.cov_params()
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(fitted))))
    pd.testing.assert_frame_equal(again.result_.cov_params(), expected)
    params = fitted.result_.params
    pd.testing.assert_series_equal(again.result_.params, params, check_names=False)
    assert again.relative_gap_ == fitted.relative_gap_
    with pytest.raises(MissingAttributeError, match="training rows"):
        again.result_.summary()


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy])
def test_a_copy_keeps_the_fit(way):
    fitted = LogitClassifier().fit(*data(300))
    assert str(way(fitted).result_.summary()) == str(fitted.result_.summary())


def test_steps_go_on_after_a_pickle():
    X, y = data(300)
    fitted = SVMClassifier(solver="pegasos", lam=0.1, random_state=1).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted)).partial_fit(X, y)
    assert np.array_equal(again.coef_, fitted.partial_fit(X, y).coef_)


@pytest.mark.parametrize("kind", KINDS)
def test_save_names_what_to_save_instead_of_a_classifier(kind, tmp_path):
    X, y = np.arange(12.0)[:, None], np.arange(12) > 5
    fitted = kind(lam=0.1).fit(X, y)
    with pytest.raises(ps.errors.DataError, match=r"pass classifier\.result_, or job"):
        ps.save(fitted, tmp_path / "fit.model")
    ps.save(fitted.result_, tmp_path / "fit.model")
    assert ps.load(tmp_path / "fit.model").intercept == fitted.result_.intercept
