"""Models at the door: what is taken, what is refused, and in which words."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError, ColumnWarning, OptionError

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


OPTIONS = [("lam", value) for value in (0, -1.0, np.nan, np.inf, "1", True)]
OPTIONS += [("coding", "alphabetical"), ("na_action", "keep")]


@pytest.mark.parametrize(("name", "value"), OPTIONS)
def test_options_of_the_model_are_checked(data, name, value):
    with pytest.raises(OptionError, match=f"^{name}={value!r} "):
        ps.svm("y ~ .", data, **{name: value})


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
    X, origin = pd.DataFrame({"x": [1.0, -1.0]}), pd.DataFrame({"x": [0.0]})
    model = ps.SVM(["b", "a"], X, intercept=False, lam=1.0)
    result = model.fit(ps.Pegasos(epochs=1, seed=1))
    assert result.predict(origin).isna().all()
    assert result.predict(origin, ties="positive").tolist() == ["b"]
    assert result.predict(origin, ties="negative").tolist() == ["a"]
    table = result.confusion(origin, actual=["a"]).table
    assert table["NA"].tolist() == [1, 0]
    with pytest.raises(OptionError, match="ties="):
        result.predict(origin, ties="coin")


def test_without_data_the_training_rows_are_meant(result, digits):
    train, _ = digits
    assert result.decision_function().equals(result.decision_function(train))
    assert result.predict().equals(result.predict(train))
    assert result.confusion().table.equals(result.confusion(train).table)


def test_a_model_without_intercept():
    X = pd.DataFrame({"x": [1.0, -1.0, 2.0]})
    model = ps.SVM([True, False, True], X, intercept=False, lam=1.0)
    result = model.fit(ps.Pegasos(epochs=2, seed=5))
    assert (result.intercept, result.params.index.tolist()) == (0.0, ["x"])
    assert result.predict().dtype == bool


def test_the_outcome_is_needed_for_a_table_alone(digits):
    train, test = digits
    result = ps.SVM(train["digit"], train.drop(columns="digit"), lam=1.0).fit(SOLVER)
    X = test.drop(columns="digit")
    assert result.predict(X).equals(result.predict(test))
    with pytest.raises(ColumnError, match="actual=labels"):
        result.confusion(X)
    given = result.confusion(X, actual=test["digit"])
    assert given.table.equals(result.confusion(test).table)


def test_a_predictor_called_as_the_outcome_is_never_its_labels():
    X = pd.DataFrame({"y": [0, 1, 0, 1], "x": [1.0, 2.0, 3.0, 4.0]})
    y = np.array([0, 0, 1, 1])  # without a name it is called y
    result = ps.SVM(y, X, lam=0.1).fit(ps.Optimum(seed=1))
    with pytest.raises(ColumnError, match="both called 'y'"):
        result.confusion(X)
    assert "margin" not in result.augment(X)
    assert result.confusion(X, y).n_errors == 0


# New rows beyond a spline, and columns called like ours.
def fitted(formula, data):
    return ps.logit(formula, data, lam=0.1).fit(ps.Optimum(seed=1))


def test_rows_beyond_a_spline_are_warned_of_or_clipped(data):
    with pytest.warns(ColumnWarning, match=r"beyond .*extrapolation"):
        fitted("y ~ bs(a, df=4)", data).predict(data.assign(a=data["a"] + 9.0))
    clipped = fitted("y ~ bs(a, df=4, extrapolation='clip')", data)
    far, end = (data.assign(a=a) for a in (7.0, data["a"].max()))
    assert clipped.decision_function(far).equals(clipped.decision_function(end))


@pytest.mark.parametrize(
    "name", ["estimate", "term", "actual", "weights", "no", "index", ".fitted", "count"]
)
def test_columns_called_like_ours_give_the_same_numbers(data, name, tmp_path):
    named = data.rename(columns={"a": name})
    expected, found = fitted("y ~ a + b", data), fitted(f"y ~ `{name}` + b", named)
    terms = expected.tidy().replace({"term": {"a": name}})
    pd.testing.assert_frame_equal(found.tidy(), terms)
    assert found.confusion(named).table.equals(expected.confusion(data).table)
    by_name, by_a = (r.margins().tidy().set_index("term") for r in (found, expected))
    assert by_name.loc[name].equals(by_a.loc["a"])
    new = found.augment(named)
    assert new["score"].tolist() == expected.decision_function(data).tolist()
    assert new[name].equals(named[name])
    both = ps.compare_models({"a": expected, "b": found}).tidy()
    assert set(both["term"]) == {*expected.tidy()["term"], name}
    ps.save(found, tmp_path / "a")
    assert ps.load(tmp_path / "a").predict(named).equals(found.predict(named))
