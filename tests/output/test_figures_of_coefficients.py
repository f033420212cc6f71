"""Coefficients, images, tables and reliability in figures beside their definitions."""

from io import BytesIO

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError
from pegasos_stats.output.plotting.curves import draw_reliability
from pegasos_stats.output.plotting.forest import draw_coefficients
from pegasos_stats.output.plotting.tiles import draw_confusion, draw_image
from tests.output.figures import ROUNDING, axes, legend

TABLE = pd.DataFrame(
    {
        "term": ["up", "none", "down"],
        "estimate": [2.0, 0.0, -3.0],
        "conf_low": [1.0, -0.5, -3.5],
        "conf_high": [4.0, 0.5, -1.0],
    }
)


def test_estimates_and_intervals_stand_on_their_own_line():
    ax = draw_coefficients(TABLE, ("no", "yes"), axes(), {}, title="All", unit="year")
    below, above = ax.get_lines()[1:]
    assert (below.get_marker(), above.get_marker()) == ("o", "s")
    names = [text.get_text() for text in ax.get_yticklabels()]
    place = dict(zip(names, ax.get_yticks(), strict=True))
    assert list(below.get_xdata()) == [-3.0]
    assert list(above.get_xdata()) == [2.0, 0.0]
    assert list(above.get_ydata()) == [place["up"], place["none"]]
    segments = {
        tuple(s[:, 0]): s[0, 1] for part in ax.collections for s in part.get_segments()
    }
    expected = zip(TABLE.conf_low, TABLE.conf_high, strict=True)
    assert segments == dict(zip(expected, ax.get_yticks(), strict=True))
    low, high = ax.get_ylim()
    assert low > place["down"] > place["none"] > place["up"] > high
    assert ax.get_title() == "All"
    assert ax.get_xlabel().replace("\n", " ") == (
        "Coefficient: change of the score per year (below 0 for no, above 0 for yes)"
    )


def test_dots_are_where_coefficients_are_clearly_below_zero():
    beta = np.array([-10.0, -1.0, -1.1, 1.0, 0.0, 5.0])  # a tenth of 10 has none
    ax = draw_image(beta, (2, 3), ("no", "yes"), axes())
    dots = ax.get_lines()[0]
    assert list(dots.get_xdata()) == [0, 2]
    assert list(dots.get_ydata()) == [0, 0]
    assert ax.images[0].get_clim() == (-10.0, 10.0)


def test_tiles_count_rows_and_name_both_sides():
    table = pd.DataFrame(
        [[1200, 300, 0], [1, 2, 5], [0, 0, 0]], ["a", "b", "c"], ["a", "b", "c"]
    )
    ax = draw_confusion(table, "first\nsecond", axes())
    tiles = np.array([text.get_text() for text in ax.texts]).reshape(3, 3)
    assert tiles.tolist() == [
        ["1,200\n80.0%", "300\n20.0%", "0\n0.0%"],
        ["1\n12.5%", "2\n25.0%", "5\n62.5%"],
        ["0", "0", "0"],
    ]
    assert ax.get_title() == "first\nsecond"
    assert ax.get_xlabel() == "Predicted"
    assert ax.get_ylabel().replace("\n", " ") == "Actual (shares of each row)"


def bins(n):
    """A reliability table of n bins, one of them without rows."""
    edges = np.linspace(0.0, 1.0, n + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    return pd.DataFrame(
        {
            "low": edges[:-1],
            "high": edges[1:],
            "n": np.arange(n) * 10,
            "mean_predicted": middle,
            "observed": middle**2,
            "conf_low": middle**2 - 0.125,
            "conf_high": middle**2 + 0.25,
        }
    )


def test_a_reliability_diagram_is_its_table():
    used = bins(13).iloc[1:]
    ax = draw_reliability(bins(13), None, "ill", 0.9, axes(), {})
    diagonal, points = ax.get_lines()
    np.testing.assert_array_equal(diagonal.get_xydata(), [[0.0, 0.0], [1.0, 1.0]])
    np.testing.assert_array_equal(points.get_xdata(), used["mean_predicted"])
    np.testing.assert_array_equal(points.get_ydata(), used["observed"])
    assert points.get_linestyle() == "None"
    (errors,) = ax.collections
    spans = np.array([segment[:, 1] for segment in errors.get_segments()])
    np.testing.assert_allclose(spans, used[["conf_low", "conf_high"]], rtol=ROUNDING)
    heights = np.array([bar.get_height() for bar in ax.patches])
    np.testing.assert_allclose(heights, 0.12 * used["n"] / used["n"].max())
    assert [bar.get_x() for bar in ax.patches] == used["low"].tolist()
    assert ax.get_xlim() == ax.get_ylim()
    assert ax.get_aspect() == 1.0
    assert legend(ax) == ["Observed, 90% interval"]


@pytest.mark.parametrize("k", [2, 3, 11])
def test_any_number_of_levels_is_drawn(k):
    actual, predicted = np.random.default_rng(k).integers(0, k, (2, 400))
    matrix = ps.confusion(actual, [*predicted[1:], None], levels=list(range(k)))
    ax = matrix.plot()
    assert len(ax.texts) == k * (k + 1)
    assert ax.get_xticklabels()[-1].get_text() == "NA"
    assert "1 without prediction" in ax.get_title()
    ax.figure.savefig(BytesIO(), format="png")


def test_a_row_without_rows_has_no_shares_and_a_table_without_is_refused():
    ax = ps.confusion(["a"], ["a"], levels=["a", "b"]).plot(ax=axes())
    assert {text.get_position(): text.get_text() for text in ax.texts}[0, 1] == "0"
    with pytest.raises(DataError, match="table is empty"):
        ps.confusion([], [], levels=["a", "b"]).plot()
