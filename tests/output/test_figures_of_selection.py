"""Figures of cross-validation, paths and studies: every mark beside its numbers."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

mpl.use("Agg")

from pegasos_stats.output.plotting import curves
from pegasos_stats.output.plotting.style import pyplot

LAMBDAS = np.array([4.0, 1.0, 0.25, 0.0625])
MEAN = np.array([0.5, 0.3, 0.2, 0.35])
ERROR = np.array([np.nan, 0.05, 0.125, 0.25])
BOTH = {"min": 0.25, "1se": 1.0}


def axes():
    return Figure().subplots()


def words(ax):
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def upright(ax):
    """Place, dashes of the vertical lines."""
    lines = (found for found in ax.get_lines() if len(set(found.get_xdata())) == 1)
    return [
        (found.get_xdata()[0], found.get_linestyle())
        for found in lines
        if len(found.get_xdata()) == 2
    ]


def test_a_curve_has_its_means_bars_and_marks():
    ax = curves.draw_curve(LAMBDAS, MEAN, ERROR, "error_rate", BOTH, axes(), {})
    (bars,) = ax.containers
    _, caps, (stems,) = bars
    line = ax.get_lines()[0]
    np.testing.assert_array_equal(line.get_xdata(), LAMBDAS)
    np.testing.assert_array_equal(line.get_ydata(), MEAN)
    half = np.array([0.0, 0.05, 0.125, 0.25])
    np.testing.assert_allclose(
        [segment[:, 1] for segment in stems.get_segments()],
        np.column_stack([MEAN - half, MEAN + half]),
        rtol=1e-15,  # one subtraction and one sum
    )
    assert len(caps) == 2
    assert upright(ax) == [(0.25, ":"), (1.0, "--")]
    assert ax.get_xscale() == "log"
    assert (ax.get_xlabel(), ax.get_ylabel()) == (
        "Lambda",
        "Error rate, cross-validated",
    )


def test_the_band_is_one_standard_error_about_the_best():
    ax = curves.draw_curve(LAMBDAS, MEAN, ERROR, "auc", BOTH, axes(), {})
    (band,) = ax.patches
    # A Rectangle, or in matplotlib 3.8 a Polygon.
    corners = band.get_patch_transform().transform(band.get_path().vertices)
    low, high = corners[:, 1].min(), corners[:, 1].max()
    # One subtraction and one sum of decimal numbers.
    np.testing.assert_allclose([low, high], [0.075, 0.325], rtol=1e-14)
    assert band.get_facecolor() == to_rgba(ax.get_lines()[0].get_color(), 0.18)
    assert sorted(words(ax)) == [
        "Best ± standard error",
        "lambda_1se = 1",
        "lambda_min = 0.25",
    ]
    assert ax.get_ylabel() == "AUC, cross-validated"
    without = curves.draw_curve(LAMBDAS, MEAN, ERROR, "auc", {"min": 0.25}, axes(), {})
    assert len(without.patches) == 0
    assert words(without) == ["lambda_min = 0.25"]
    assert words(curves.draw_curve(LAMBDAS, MEAN, ERROR, "f", {}, axes(), {})) == []


# The order at the smallest lambda by absolute value is c, a, d, b.
BETA = pd.DataFrame(
    {
        "a": [9.0, 2.0, -2.0],
        "b": [8.0, 9.0, 0.5],
        "c": [0.0, 0.0, -3.0],
        "a long name of a column": [0.0, 5.0, 1.0],
    },
    index=[1.0, 0.5, 0.25],
)


def test_the_largest_coefficients_at_the_end_have_names():
    ax = curves.draw_path(BETA, 3, {"min": 0.5}, axes(), {})
    assert words(ax) == ["c", "a", "a long name of a column", "lambda_min = 0.5"]
    drawn = {found.get_label(): found for found in ax.get_lines()}
    for label, name in (
        ("c", "c"),
        ("a", "a"),
        ("a long name of a column", BETA.columns[3]),
    ):
        np.testing.assert_array_equal(drawn[label].get_ydata(), BETA[name])
        np.testing.assert_array_equal(drawn[label].get_xdata(), BETA.index)
    grey = [x for x in ax.get_lines() if x.get_alpha() == 0.3]
    assert len(grey) == 1
    np.testing.assert_array_equal(grey[0].get_ydata(), BETA["b"])
    assert ax.get_xscale() == "log"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Lambda", "Coefficient")
    assert upright(ax) == [(0.5, ":")]


def test_a_thousand_coefficients_are_drawn_at_most():
    beta = pd.DataFrame(-np.arange(2.0, 1004.0)[None], index=[1.0])
    ax = curves.draw_path(beta, 2, {}, axes(), {})
    assert len(ax.get_lines()) == 1000
    assert min(abs(found.get_ydata()[0]) for found in ax.get_lines()) == 4.0


FOLDS = pd.DataFrame(
    {
        "error_rate": [0.25, 0.5, 0.25, np.nan, 0.25 + 1e-14],
        "auc": [0.75] * 5,
    }
)
ESTIMATES = pd.DataFrame(
    {
        "term": ["error_rate", "auc"],
        "estimate": [0.3125, 0.75],
        "std_error": [0.0625, np.nan],
    }
)


@pytest.fixture
def folds():
    figure = curves.draw_folds(FOLDS, ESTIMATES)
    yield figure
    pyplot().close(figure)


def test_each_metric_has_a_panel_with_its_folds(folds):
    error, auc = folds.axes
    assert [ax.get_title("left") + ax.get_title() for ax in folds.axes] == [
        "Error rate",
        "AUC",
    ]
    rings = error.get_lines()[0]
    np.testing.assert_allclose(rings.get_xdata(), [0.25, 0.5], rtol=1e-9)
    assert [text.get_text() for text in error.texts] == ["×3"]
    assert [text.get_text() for text in auc.texts] == ["×5"]
    low, high = auc.get_xlim()
    assert high - low >= 0.02 * 0.75  # folds that are equal are drawn equal
    for ax, mean, spread in ((error, 0.3125, 0.0625), (auc, 0.75, 0.0)):
        point, _, (bar,) = ax.containers[0]
        assert point.get_xdata().tolist() == [mean]
        assert bar.get_segments()[0][:, 0].tolist() == [mean - spread, mean + spread]
        assert ax.get_yticks().tolist() == []
