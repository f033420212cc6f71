"""Models at the door: what is taken, what is refused, and in which words."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError, OptionError

SOLVER = ps.Pegasos(epochs=3, seed=1)


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(30, 2)), columns=["a", "b"])
    return frame.assign(y=np.where(frame["a"] > 0, "yes", "no"))


def test_formula_frame_and_array_give_the_same_bits(data):
    X, y = data[["a", "b"]], data["y"]
    fits = [
        ps.svm("y ~ .", data, lam=1.0).fit(SOLVER),
        ps.svm("y ~ a + b", data, lam=1.0).fit(SOLVER),
        ps.SVM(y, X, lam=1.0).fit(SOLVER),
        ps.SVM(y.to_numpy(), X.to_numpy(), lam=1.0).fit(SOLVER),
        ps.SVM(y.tolist(), X.to_numpy().tolist(), lam=1.0).fit(SOLVER),
        ps.SVM(data[["y"]], np.asfortranarray(X), lam=1.0).fit(SOLVER),
    ]
    assert len({fit.params.to_numpy().tobytes() for fit in fits}) == 1


def test_rows_with_missing_values_are_dropped_and_counted(data):
    data.loc[[0, 1], "y"] = None
    data.loc[[1, 2, 3], "a"] = np.nan
    model = ps.svm("y ~ .", data, lam=1.0)
    assert (model.dropped.outcome, model.dropped.predictors) == (2, 2)
    result = model.fit(SOLVER)
    assert result.nobs == 26
    assert result.index.tolist() == list(range(4, 30))
    clean = ps.svm("y ~ .", data.dropna(), lam=1.0).fit(SOLVER)
    assert result.params.equals(clean.params)
    assert "4 (2 without outcome)" in str(result.summary(details=True))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lam": 0}, "^lam=0 .*1e-9"),
        ({"lam": -1.0}, "lam=-1.0"),
        ({"lam": np.nan}, "lam=nan"),
        ({"lam": np.inf}, "lam=inf"),
        ({"lam": "1"}, "lam='1'"),
        ({"lam": True}, "lam=True"),
        ({"coding": "alphabetical"}, "coding='alphabetical'"),
        ({"na_action": "keep"}, "na_action='keep'"),
    ],
)
def test_options_of_the_model_are_checked(data, options, words):
    with pytest.raises(OptionError, match=words):
        ps.svm("y ~ .", data, **options)


@pytest.mark.parametrize("build", [ps.svm, ps.logit, ps.kernel_svm])
def test_a_model_says_what_it_is(build):
    train, _ = ps.datasets.load_digits56()
    text = repr(build("digit ~ p34 + p43", train, lam=0.25))
    assert "digit (5 = -1, 6 = +1), 200 rows, 2 predictors, lam 0.25;" in text


# What a fit gives.
@pytest.fixture(scope="module")
def digits():
    return ps.datasets.load_digits56()


@pytest.fixture(scope="module")
def result(digits):
    return ps.svm("digit ~ .", digits[0], lam=1.0).fit(ps.Pegasos(epochs=5, seed=443))


def test_scores_are_linear_and_predictions_their_signs(result, digits):
    _, test = digits
    scores = result.decision_function(test)
    by_hand = test.drop(columns="digit").to_numpy() @ result.coef.to_numpy()
    # numpy's sum runs in another order: rounding of 64 terms of size about 1.
    np.testing.assert_allclose(scores, by_hand + result.intercept, rtol=0, atol=1e-13)
    predicted = result.predict(test)
    assert predicted.index.equals(test.index)
    assert predicted.name == "digit"
    assert predicted.dtype == test["digit"].dtype
    assert (predicted == np.where(scores > 0, 6, 5)).all()


def test_the_objective_is_the_regularised_risk(result, digits):
    train, _ = digits
    y = np.where(train["digit"] == 6, 1.0, -1.0)
    hinge = np.maximum(0.0, 1.0 - y * result.decision_function().to_numpy())
    expected = 0.5 * (result.coef**2).sum() + hinge.mean()
    assert result.objective == pytest.approx(expected, rel=1e-14)  # order of sums


def test_a_score_of_zero_is_a_tie():
    X = pd.DataFrame({"x": [1.0, -1.0]})
    result = ps.SVM(pd.Series(["b", "a"]), X, intercept=False, lam=1.0).fit(
        ps.Pegasos(epochs=1, seed=1)
    )
    origin = pd.DataFrame({"x": [0.0]})
    assert result.predict(origin).isna().all()
    assert result.predict(origin, ties="positive").tolist() == ["b"]
    assert result.predict(origin, ties="negative").tolist() == ["a"]
    table = result.confusion(origin, actual=["a"]).table
    assert table["NA"].tolist() == [1, 0]
    with pytest.raises(OptionError, match="ties="):
        result.predict(origin, ties="coin")


@pytest.mark.parametrize(
    ("kind", "drawn"), [("rounding", [2, 5, 4, 3, 1]), ("rejection", [1, 4, 3, 5, 2])]
)
def test_rounding_repeats_r_before_3_6(kind, drawn):
    """``set.seed(1); sample(5)`` in R 3.5.3, and in R 3.6.0 and later."""
    X = np.random.default_rng(0).normal(size=(5, 2))
    model = ps.SVM(["a", "b", "a", "b", "b"], X, lam=1.0)
    found = model.fit(ps.Pegasos(epochs=1, seed=1, sample_kind=kind))
    by_hand = model.fit(ps.Pegasos(order=np.array(drawn) - 1))
    assert found.params.equals(by_hand.params)


def test_without_data_the_training_rows_are_meant(result, digits):
    train, _ = digits
    assert result.decision_function().equals(result.decision_function(train))
    assert result.predict().equals(result.predict(train))
    assert result.confusion().table.equals(result.confusion(train).table)


def test_the_outcome_is_not_needed_to_predict(result, digits):
    _, test = digits
    assert result.predict(test.drop(columns="digit")).equals(result.predict(test))


def test_a_model_without_intercept():
    X = pd.DataFrame({"x": [1.0, -1.0, 2.0]})
    model = ps.SVM([True, False, True], X, intercept=False, lam=1.0)
    result = model.fit(ps.Pegasos(epochs=2, seed=5))
    assert (result.intercept, result.params.index.tolist()) == (0.0, ["x"])
    assert result.predict().dtype == bool


def test_a_frame_without_outcome_wants_the_labels(digits):
    train, test = digits
    X = train.drop(columns="digit")
    result = ps.SVM(train["digit"], X, lam=1.0).fit(ps.Pegasos(epochs=1, seed=1))
    with pytest.raises(ColumnError, match="actual=labels"):
        result.confusion(test.drop(columns="digit"))
    given = result.confusion(test.drop(columns="digit"), actual=test["digit"])
    assert given.table.equals(result.confusion(test).table)


def test_a_predictor_called_as_the_outcome_is_never_its_labels():
    X = pd.DataFrame({"y": [0, 1, 0, 1], "x": [1.0, 2.0, 3.0, 4.0]})
    y = np.array([0, 0, 1, 1])  # without a name it is called y
    result = ps.SVM(y, X, lam=0.1).fit(ps.SDCA(seed=1))
    with pytest.raises(ColumnError, match="both called 'y'"):
        result.confusion(X)
    assert "margin" not in result.augment(X)
    assert result.confusion(X, y).n_errors == 0
