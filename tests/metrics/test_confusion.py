"""Confusion tables and the error report."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError, UndefinedMetricWarning

# Interval of the accuracy 577/600 by binom.test, as caret prints it (R 4.2.2).
EXACT_577_600 = (0.94303444661253988, 0.97554753638749647)


def test_rows_are_actual_and_columns_predicted():
    table = ps.confusion(["a"] * 3 + ["b"] * 2, ["a", "b", "b", "b", "b"]).table
    assert (table.index.name, table.columns.name) == ("Actual", "Predicted")
    assert table.to_numpy().tolist() == [[1, 2], [0, 2]]


def test_a_level_never_predicted_keeps_its_column():
    table = ps.confusion([5, 6, 6], [5, 5, 5]).table
    assert table.to_numpy().tolist() == [[1, 0], [2, 0]]
    assert table.columns.tolist() == [5, 6]


def test_categories_give_the_order_even_unused():
    kind = pd.CategoricalDtype(["hi", "lo", "none"])
    actual = pd.Series(["lo", "hi"], dtype=kind)
    assert ps.confusion(actual, actual).table.index.tolist() == ["hi", "lo", "none"]


def test_missing_predictions_have_a_column_and_are_not_in_the_error_rate():
    matrix = ps.confusion(["a", "a", "b", "b"], ["a", None, "a", None])
    assert matrix.table["NA"].tolist() == [1, 1]
    assert (matrix.n_undecided, matrix.n_classified, matrix.n_errors) == (2, 2, 1)
    assert matrix.error_rate == 0.5
    assert "2 rows without a prediction" in str(matrix)


def test_rows_without_actual_label_are_counted_apart():
    matrix = ps.confusion(["a", None, "b"], ["a", "a", "b"])
    assert matrix.n_unlabelled == 1
    assert matrix.table.to_numpy().tolist() == [[1, 0], [0, 1]]
    assert "1 row without an actual label" in str(matrix)
    assert "pass actual labels first" in str(matrix)


def test_misclassified_rows_are_listed_on_their_index():
    actual = pd.Series([5, 6, 5], index=["r1", "r2", "r3"])
    predicted = pd.Series([5, 5, 6], index=["r1", "r2", "r3"])
    errors = ps.confusion(actual, predicted).errors[["actual", "predicted"]]
    assert errors.T.to_dict("list") == {"r2": [6, 5], "r3": [5, 6]}


def test_the_exact_interval_is_that_of_r():
    actual = np.array([5] * 300 + [6] * 300)
    predicted = actual.copy()
    predicted[:15], predicted[-8:] = 6, 5
    matrix = ps.confusion(actual, predicted)
    low, high = EXACT_577_600
    # one minus a number near 1 leaves rounding of 1e-16
    assert matrix.error_interval() == pytest.approx((1 - high, 1 - low), abs=1e-15)


def test_without_a_classified_row_the_rate_is_undefined():
    matrix = ps.confusion(["a", "b"], [None, None])
    with pytest.warns(UndefinedMetricWarning, match="not defined"):
        assert np.isnan(matrix.error_rate)
    assert np.isnan(matrix.error_interval().low)
    assert "Misclassified  0 of 0" in str(matrix)


def test_probabilities_are_no_predicted_labels():
    probabilities = np.linspace(0.0, 1.0, 100)
    with pytest.raises(OptionError, match="threshold"):
        ps.confusion([0, 1] * 50, probabilities)
    labels = (probabilities > 0.5).astype(int)
    assert ps.confusion([0, 1] * 50, labels).counts.sum() == 100
    assert ps.confusion([0, 1] * 10, list(range(12)) + [0] * 8).table.shape == (12, 12)


def test_a_table_has_the_same_numbers_in_every_format():
    matrix = ps.confusion(["a", "a", "b_"], ["a", "b_", None])
    html, tex, text = matrix.to_html(), matrix.to_latex(), matrix.to_markdown()
    assert html.count("<th") == 7
    assert r"\multicolumn{3}{c}{Predicted}" in tex
    assert r"b\_ & 0 & 0 & 1 \\" in tex
    assert "| a | 1 | 1 | 0 |" in text
    assert r"\caption{Errors}" in matrix.to_latex("Errors", "tab:errors")


def test_sides_of_different_rows_are_refused():
    with pytest.raises(DataError, match="3 actual and 2 predicted labels"):
        ps.confusion([1, 2, 1], [1, 2])
    with pytest.raises(DataError, match="row labels"):
        ps.confusion(pd.Series([1, 2]), pd.Series([1, 2], index=[1, 0]))


def test_a_level_called_na_keeps_its_column():
    table = ps.confusion(["NA", "b"], ["NA", None]).table
    assert table.columns.tolist() == ["NA", "b", "<NA>"]


@pytest.mark.parametrize("mode", ["sens_spec", "prec_recall", "everything"])
def test_undefined_statistics_have_the_names_that_are_printed(mode):
    report = ps.confusion(["a"] * 4 + ["b"], ["a"] * 5).summary(mode)
    (note,) = report.notes
    names = note.removeprefix("NA: ").partition(" (")[0].split(", ")
    lines = [line.partition(" : ") for line in str(report).splitlines()]
    undefined = {name.strip() for name, _, cell in lines if cell.strip() == "NA"}
    assert set(names) == undefined - {"P-Value [Acc > NIR]", "Mcnemar's Test P-Value"}


def test_weights_have_six_digits_in_tables_to_export():
    matrix = ps.confusion(["a", "b"], ["a", "a"], weights=[2 / 3, 1234.5678])
    for text in (matrix.to_html(), matrix.to_latex(), matrix.to_markdown()):
        assert "0.666667" in text
        assert "1234.57" in text
        assert "0.66666666" not in text
