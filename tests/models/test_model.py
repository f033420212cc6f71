"""Models at the door: what is taken, what is refused, and in which words."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError

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


def test_the_fit_leaves_the_data_alone(data):
    before = data.copy()
    ps.svm("y ~ .", data, lam=1.0).fit(SOLVER)
    pd.testing.assert_frame_equal(data, before)


def test_missing_values_can_be_an_error(data):
    data.loc[4, "a"] = np.nan
    with pytest.raises(DataError, match="1 row"):
        ps.svm("y ~ .", data, na_action="raise", lam=1.0)


def test_a_third_level_on_dropped_rows_does_not_count(data):
    data.loc[0, ["y", "a"]] = ["maybe", np.nan]
    assert ps.svm("y ~ .", data, lam=1.0).coding.levels == ("no", "yes")
