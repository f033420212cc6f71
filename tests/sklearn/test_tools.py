"""The classifiers in scikit-learn's pipelines, searches and meta-estimators."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pegasos_stats as ps
from pegasos_stats.sklearn import LogitClassifier, SVMClassifier

pytestmark = pytest.mark.filterwarnings("ignore:The fit has not converged")


def test_a_search_over_lambda_and_options_of_the_solver(rows):
    X, y, _ = rows
    pipe = make_pipeline(StandardScaler(), SVMClassifier(random_state=1, lam=1.0))
    grid = [
        {"svmclassifier__lam": [0.01, 1.0]},
        {
            "svmclassifier__solver": [ps.Pegasos(), ps.Pegasos(epochs=2)],
            "svmclassifier__solver__batch_size": [1, 10],
        },
    ]
    search = GridSearchCV(pipe, grid, cv=3, error_score="raise").fit(X, y)
    tried = search.cv_results_["params"]
    assert len(tried) == 6
    assert search.best_score_ > 0.75
    for params, score in zip(tried, search.cv_results_["mean_test_score"], strict=True):
        again = clone(pipe).set_params(**params)
        assert cross_val_score(again, X, y, cv=3).mean() == score


@pytest.mark.parametrize("classifier", [SVMClassifier, LogitClassifier])
def test_one_against_the_rest(classifier):
    X, y = load_digits(return_X_y=True)
    each = classifier(lam=1e-3, standardize=True, random_state=1)
    found = OneVsRestClassifier(each).fit(X[::2], y[::2])
    assert len(found.estimators_) == len(set(y))
    # A gap of 1e-9 or below, on some processors 1.5e-9 of fits that cannot go on.
    assert max(e.relative_gap_ for e in found.estimators_) < 2e-9
    assert found.score(X[1::2], y[1::2]) >= 0.92


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_frames_through_a_pipeline(rows, output):
    X, y, _ = rows
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["ward"] = np.where(X[:, 0] > 0.3, "east", "west")
    dummies = OneHotEncoder(drop="first", sparse_output=False)
    parts = [("ward", dummies, ["ward"]), ("rest", StandardScaler(), list("abcd"))]
    columns = ColumnTransformer(parts).set_output(transform=output)
    pipe = make_pipeline(columns, LogitClassifier(lam=0.01, random_state=1))
    found = pipe.fit(frame, y)[-1]
    assert pipe.score(frame, y) > 0.8
    if output == "pandas":
        names = ["ward__ward_west", "rest__a", "rest__b", "rest__c", "rest__d"]
        assert found.feature_names_in_.tolist() == names
        assert found.result_.tidy()["term"].tolist() == ["Intercept", *names]


def test_weights_find_their_way(rows):
    X, y, w = rows
    with sklearn.config_context(enable_metadata_routing=True):
        each = SVMClassifier(lam=0.02, random_state=4)
        each.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        pipe = make_pipeline(StandardScaler(), each)
        pipe[0].set_fit_request(sample_weight=False)
        pipe.fit(X, y, sample_weight=w)
        scaled = StandardScaler().fit_transform(X)
        expected = clone(each).fit(scaled, y, sample_weight=w)
        assert np.array_equal(pipe[-1].coef_, expected.coef_)
        found = cross_validate(
            each, X, y, params={"sample_weight": w}, cv=3, return_estimator=True
        )
        weighted = [e.result_.problem.weights for e in found["estimator"]]
        assert all(weights is not None for weights in weighted)
