"""Fits as data frames: tidy, glance, augment, in the vocabulary of broom."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError, LabelError

TIDY = "term estimate std_error statistic p_value conf_low conf_high"
SOLVER = ps.Pegasos(epochs=5, seed=443)
CLOSE = ps.Optimum(tol=1e-10, seed=1)


TRAIN, TEST = ps.datasets.load_digits56()


@pytest.fixture(scope="module")
def result():
    return ps.svm("digit ~ p34 + p43 + p26", TRAIN, lam=0.1).fit(CLOSE)


@pytest.fixture(scope="module")
def people():
    """Text, categories, integers and missing values, on an index of text."""
    frame = pd.DataFrame({"age": [30.0, 61, 45, np.nan, 70, 55, 41, 38]})
    frame["ill"] = ["no", "yes", None, "no", "yes", "yes", "no", "no"]
    frame["sex"] = pd.Categorical(["f", "m", "m", "f", "f", "m", None, "m"])
    return frame.set_axis(list("abcdefgh"))


def test_tidy_has_the_columns_of_broom(result):
    table = result.tidy()
    assert " ".join(table.columns) == TIDY
    assert table["term"].tolist() == ["Intercept", "p34", "p43", "p26"]
    np.testing.assert_allclose(table["estimate"], result.params, atol=1e-9)  # or 0
    assert table["std_error"].tolist() == result.bse.tolist()
    np.testing.assert_allclose(table["statistic"], result.tvalues, atol=1e-9)  # or 0
    assert table["p_value"].tolist() == result.pvalues.tolist()
    narrow = result.tidy(conf_level=0.5)
    for found, alpha in ((table, 0.05), (narrow, 0.5)):
        ends = found[["conf_low", "conf_high"]]
        np.testing.assert_array_equal(ends, result.conf_int(alpha))


GLANCE = (
    "nobs dropped loss lam objective dual_objective gap relative_gap n_iter "
    "n_violations n_support error_rate solver seed converged llf df_effective aic bic "
    "prsquared deviance null_deviance df_null df_residual"
)


def test_glance_is_one_row_of_what_the_properties_say(result):
    (row,) = result.glance().itertuples(index=False)
    assert " ".join(result.glance().columns) == GLANCE
    others = {"dropped", "loss", "lam", "error_rate", "solver", "df_residual", "seed"}
    for name in set(result.glance()) - others:
        np.testing.assert_equal(getattr(row, name), getattr(result, name))
    assert row.error_rate == result.confusion().error_rate
    assert row.seed is pd.NA  # nothing was drawn
    assert result.seed is None
    assert row.df_residual == result.df_resid
    assert (row.loss, row.lam, row.solver) == ("hinge", 0.1, "Optimum")


def test_augment_adds_predictions_to_the_data(result):
    before, table = TEST.copy(), result.augment(TEST)
    pd.testing.assert_frame_equal(table[TEST.columns], before)
    pd.testing.assert_frame_equal(TEST, before)
    added = ["predicted", "score", "margin", "loss"]
    assert table.columns.tolist() == [*TEST.columns, *added]
    assert table["predicted"].equals(result.predict(TEST).rename("predicted"))
    assert table["score"].equals(result.decision_function(TEST))
    signs = np.where(TEST["digit"] == 6, 1.0, -1.0)
    np.testing.assert_array_equal(table["margin"], signs * table["score"])
    np.testing.assert_array_equal(table["loss"], np.maximum(0, 1 - table["margin"]))


def test_without_labels_there_are_neither_margins_nor_losses(people):
    result = ps.logit("ill ~ age + sex", people, lam=1.0).fit(SOLVER)
    new = people.drop(columns="ill")
    added = ["predicted", "score", "probability"]
    assert result.augment(new).columns.tolist() == ["age", "sex", *added]
    with_labels = result.augment(new, actual=people["ill"])
    assert with_labels["margin"].equals(result.augment(people)["margin"])
    with pytest.raises(LabelError, match="the levels of the model are"):
        result.augment(people.assign(ill="perhaps"))


def test_names_that_are_taken_are_an_error(result):
    with pytest.raises(ColumnError, match=r"'score', 'loss'.*rename"):
        result.augment(TEST.assign(score=1.0, loss=2.0))


X = np.array([[1.0, 0.5], [-1.0, 0.0], [2.0, -0.5], [-0.5, 1.0]])
PAIRS = pd.MultiIndex.from_tuples([("x", 1), ("x", 2)])
INPUTS = {
    "array": X,
    "sparse": csr_array(X),
    "two-level": pd.DataFrame(X, columns=PAIRS),
    "sparse frame": pd.DataFrame(X).astype(pd.SparseDtype(float, 0.0)),
}


@pytest.mark.parametrize("kind", INPUTS)
def test_data_of_every_form_are_augmented(kind):
    given, y = INPUTS[kind], ["u", "v", "u", "v"]
    result = ps.SVM(y, given, lam=1.0).fit(SOLVER)
    scores = result.decision_function(given).to_numpy()
    tables = result.augment(), result.augment(given), result.augment(given, actual=y)
    for table in tables:
        assert len(table) == 4
        np.testing.assert_array_equal(np.ravel(table["score"]), scores)
    first = tables[1].columns[:2].tolist()
    assert first == (list(given.columns) if hasattr(given, "columns") else ["x1", "x2"])
    assert np.ravel(tables[2]["margin"]).shape == (4,)


def test_standardized_predictors_are_given_as_they_were():
    dense, given = TRAIN[["p34", "p43"]], {"standardize": True, "lam": 1.0}
    for X, name in ((dense, "p34"), (csr_array(dense.to_numpy(float)), "x1")):
        own = ps.SVM(TRAIN["digit"], X, **given).fit(SOLVER).augment()
        np.testing.assert_allclose(own[name], TRAIN["p34"], rtol=0, atol=1e-13)


def test_kernel_fits_have_all_three():
    result = ps.kernel_svm("digit ~ .", TRAIN, lam=1e-3).fit(SOLVER)
    table = result.tidy()
    assert table["term"].tolist() == ["Intercept", *result.dual_coef.index]
    assert table["estimate"].tolist() == [result.intercept, *result.dual_coef]
    assert table["count"].sum() == result.n_violations
    augmented = result.augment(TEST)
    assert augmented["score"].equals(result.decision_function(TEST))
    assert result.augment().columns.tolist() == augmented.columns.tolist()
    assert result.glance()["n_support"][0] == len(table) - 1
    bare = ps.kernel_svm("digit ~ . - 1", TRAIN, lam=1e-3).fit(SOLVER)
    assert "Intercept" not in bare.tidy()["term"].tolist()


def test_a_logistic_fit_adds_the_probability_of_the_second_level():
    result = ps.logit("digit ~ .", TRAIN, lam=0.01).fit(SOLVER)
    table = result.augment(TEST)
    assert table["probability"].tolist() == result.predict_proba(TEST)[6].tolist()
    expected = np.log1p(np.exp(-table["margin"]))
    np.testing.assert_allclose(table["loss"], expected, rtol=1e-12, atol=1e-15)


def test_rows_with_missing_values_keep_their_place(people):
    result = ps.logit("ill ~ age + sex", people, lam=1.0).fit(SOLVER)
    table = result.augment(people)
    assert table.index.equals(people.index)
    missing = [row in "dg" for row in people.index]
    assert table["score"].isna().tolist() == missing
    assert table["predicted"].isna().equals(table["score"].isna())
    assert table["margin"].isna().tolist()[2:4] == [True, True]
    assert table["sex"].dtype == people["sex"].dtype
