"""``partial_fit``: the steps of Pegasos go on with other rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

import pegasos_stats as ps
from pegasos_stats.errors import LabelError, OptionError
from pegasos_stats.sklearn import LogitClassifier, SVMClassifier

pytestmark = pytest.mark.filterwarnings("ignore:The fit has not converged")

ORDERED = ps.Pegasos(order="sequential", epochs=1)
BOTH = [(SVMClassifier, ps.SVM), (LogitClassifier, ps.Logit)]


@pytest.fixture
def rows():
    draw = np.random.default_rng(6)
    X = np.array([0.0, 2.0, -1.0]) + draw.normal(size=(70, 3))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] + draw.normal(size=70) > 1.4, "b", "a")
    return X, y


@pytest.mark.parametrize(("classifier", "model"), BOTH)
@pytest.mark.parametrize("intercept", [True, False])
def test_parts_give_the_coefficients_of_one_run(classifier, model, rows, intercept):
    X, y = rows
    found = classifier(lam=0.1, intercept=intercept, solver=ORDERED)
    for first, last in ((0, 30), (30, 31), (31, 70)):
        found.partial_fit(X[first:last], y[first:last], classes=["b", "a"])
    whole = model(y, X, lam=0.1, intercept=intercept).fit(ORDERED)
    assert np.array_equal(found.coef_, [whole.coef])
    assert found.intercept_.tolist() == [whole.intercept]
    assert found.n_iter_ == 70
    assert np.array_equal(found.decision_function(X), whole.decision_function(X))
    assert found.result_.nobs == 39


def test_it_goes_on_from_a_fit(rows):
    X, y = rows
    found = SVMClassifier(lam=0.1, solver=ORDERED).fit(X[:40], y[:40])
    found.partial_fit(X[40:], y[40:])
    whole = ps.SVM(y, X, lam=0.1).fit(ORDERED)
    assert np.array_equal(found.coef_, [whole.coef])
    fresh = clone(found).fit(X[:40], y[:40])
    assert fresh.n_iter_ == 40


def test_one_epoch_of_a_shuffled_run(rows):
    X, y = rows
    own = {"solver": ps.Pegasos(), "random_state": 3}
    found = SVMClassifier(lam=0.1, **own).partial_fit(X, y)
    whole = ps.SVM(y, X, lam=0.1).fit(ps.Pegasos(epochs=1, seed=3))
    assert np.array_equal(found.coef_, [whole.coef])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("classifier", "loss"), [(SVMClassifier, "hinge"), (LogitClassifier, "log_loss")]
)
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_passes_come_as_near_as_those_of_scikit_learn(classifier, loss, scale):
    """Twenty passes at a small lambda, whose first step of 1 / lam is 1,000."""
    draw, lam = np.random.default_rng(2), 1e-3
    X = scale * draw.normal(size=(2000, 10))
    y = (X @ draw.normal(size=10) / scale + draw.normal(size=2000) > 0.0).astype(int)
    ours = classifier(lam=lam, solver="pegasos", random_state=1)
    theirs = SGDClassifier(loss=loss, alpha=lam, random_state=1)
    for _ in range(20):
        for part in np.array_split(np.arange(2000), 8):
            ours.partial_fit(X[part], y[part], classes=[0, 1])
            theirs.partial_fit(X[part], y[part], classes=[0, 1])

    def mean_loss(fitted):
        m = np.where(y == 1, 1.0, -1.0) * fitted.decision_function(X)
        losses = np.maximum(0.0, 1.0 - m) if loss == "hinge" else np.logaddexp(0.0, -m)
        return losses.mean()

    assert mean_loss(ours) < 1.05 * mean_loss(theirs)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_weights_are_taken_as_they_are(rows, convert):
    X, y = rows
    w = (1.0 + np.arange(70) % 3) / 2.0
    found = SVMClassifier(lam=0.1, solver=ORDERED, class_weight={"a": 1.0, "b": 2.0})
    for part in (slice(0, 30), slice(30, 70)):
        found.partial_fit(convert(X[part]), y[part], sample_weight=w[part])
    each = w * np.where(y == "b", 2.0, 1.0)
    whole = ps.SVM(y, X, lam=0.1, weights=each).fit(ORDERED)
    once = clone(found).partial_fit(convert(X), y, sample_weight=w)
    np.testing.assert_allclose(found.coef_, once.coef_, rtol=1e-12)
    # Those of a model have a mean of 1, here these have not.
    scaled = SVMClassifier(lam=0.1, solver=ORDERED)
    scaled.partial_fit(convert(X), y, sample_weight=each / each.mean())
    np.testing.assert_allclose(scaled.coef_, [whole.coef], rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"standardize": True}, "standardize=True"),
        ({"class_weight": "balanced"}, "class_weight='balanced'"),
        ({"solver": ps.Pegasos(average="all")}, "average='all'"),
        ({"solver": ps.Pegasos(refit_intercept=True)}, "refit_intercept=True"),
    ],
)
def test_what_needs_all_rows_is_refused(rows, options, named):
    with pytest.raises(OptionError, match=f"^{named} "):
        SVMClassifier(**{"solver": "pegasos"} | options).partial_fit(*rows)


def test_rows_of_one_class(rows):
    X, y = rows
    found = SVMClassifier(lam=0.1, solver="pegasos", random_state=1)
    found.partial_fit(X[y == "a"], y[y == "a"], classes=["a", "b"])
    assert found.predict(X[y == "a"]).tolist() == ["a"] * (y == "a").sum()
    found.partial_fit(X, y)
    assert found.score(X, y) > 0.6


def test_classes_stay_the_same(rows):
    X, y = rows
    found = SVMClassifier(solver="pegasos", lam=1.0).partial_fit(X, y)
    with pytest.raises(LabelError, match="'a', 'c', but 'a', 'b' in the first call"):
        found.partial_fit(X, y, classes=["a", "c"])
    with pytest.raises(LabelError, match="'c'"):
        found.partial_fit(X[:2], ["a", "c"])
