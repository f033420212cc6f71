"""Numbers, lengths and places in figures beside their definitions, at every limit."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from pegasos_stats.output.plotting.result_plots import draw_trace
from pegasos_stats.output.plotting.scores import ScoredRows, draw_margins, draw_roc
from pegasos_stats.output.plotting.style import (
    written,
)
from pegasos_stats.output.report.figures import drawn
from tests.output.figures import ROUNDING, axes, legend, line

mpl.use("Agg")


# Twice as many rows of one level, ties at 0 and at both marks, rows without a label or
# a score.
CODES = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, -1, 1])
SCORES = np.array([-2.0, -1.0, -0.5, 0.0, 0.0, 3.0, 1.0, -0.25, 0.0, 5.0, np.nan])
ROWS = ScoredRows(CODES, SCORES, ("no", "yes"), SimpleNamespace(loss="hinge"))


def test_margins_count_below_the_marks_and_not_at_them():
    ax = draw_margins(ROWS, axes(), {})
    # margins of no: 2, 1, .5, 0, 0, -3; of yes: 1, -.25, 0
    assert legend(ax) == [
        "no: 6 rows, 4 below 1, 1 below 0",
        "yes: 3 rows, 2 below 1, 1 below 0",
        "Margin 0",
        "Margin 1",
    ]
    assert "2 rows without" in ax.get_xlabel().replace("\n", " ")
    zero, one = line(ax, "Margin 0"), line(ax, "Margin 1")
    assert list(zero.get_xdata()) == [0.0, 0.0]
    assert list(one.get_xdata()) == [1.0, 1.0]
    assert (zero.get_linestyle(), one.get_linestyle()) == ("-", "--")


@pytest.mark.parametrize(
    ("ties", "false", "true"),
    [("na", 1 / 6, 1 / 3), ("negative", 1 / 6, 1 / 3), ("positive", 3 / 6, 2 / 3)],
)
def test_a_score_of_zero_is_marked_as_it_is_predicted(ties, false, true):
    ax = draw_roc(ROWS._replace(ties=ties), axes(8, 8), {})
    point = line(ax, "Score 0")
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (false, true)
    said = f"Score 0: {true:.1%} true, {false:.1%} false positives"
    assert said in legend(ax)
    assert "2 rows without label or score left out" in " ".join(ax.get_xlabel().split())


def recorded(objective, gap, **columns):
    epoch = np.arange(1, len(objective) + 1)
    errors = {"training_error": np.linspace(0.5, 0.25, epoch.size)}
    return pd.DataFrame(
        {"epoch": epoch, "objective": objective, "gap": gap, **errors, **columns}
    )


def test_a_bound_below_zero_is_left_out_where_the_axis_is_logarithmic():
    trace = recorded([100.0, 20.0, 2.0, 1.5], [150.0, 20.0, 1.0, 0.1])
    panel = draw_trace(trace, axes(), {})[0]
    assert panel.get_yscale() == "log"
    drawn = line(panel, "Certified").get_ydata()
    np.testing.assert_allclose(drawn, [np.nan, np.nan, 1.0, 1.4], rtol=ROUNDING)
    assert panel.get_ylim()[0] == pytest.approx(1.5 / 30.0)  # the least objective
    band = panel.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(0.5 * 1.5 / 30.0)
    assert band[:, 1].max() == 100.0


def test_a_gap_of_zero_is_not_drawn_and_its_share_is_named():
    panels = Figure().subplots(3)
    trace = recorded([4.0, 3.0, 2.0], [1.0, 0.0, 0.5], test_error=[0.5, np.nan, 0.125])
    _, gap, errors = draw_trace(trace, panels, {}, refined_from=2)
    drawn = line(gap, "Objective less").get_ydata()
    np.testing.assert_array_equal(drawn, [1.0, np.nan, 0.5])
    said = "Objective less bound; relative gap 0.25 at the end"
    assert legend(gap)[0] == said
    assert legend(errors)[:2] == [
        "Rows of the fit, 25.00% at the end",
        "Held-out rows, 12.50% at the end",
    ]
    assert errors.get_ylim() == pytest.approx((-0.01, 0.54))  # of the largest, 0.5
    assert [panel.get_lines()[-1].get_xdata()[0] for panel in panels] == [2, 2, 2]
    assert legend(panels[0])[-1] == "SDCA from here"
    assert "SDCA from here" not in legend(gap) + legend(errors)


def test_names_are_written_so_that_matplotlib_shows_them():
    assert written("a $b$") == r"a \$b\$"
    assert written("_a") == " _a"
    assert (
        written("a\0b\nc\ud800")
        == "a\N{REPLACEMENT CHARACTER}b\nc\N{REPLACEMENT CHARACTER}"
    )


def test_the_same_figure_is_the_same_svg_on_any_day(monkeypatch):
    pages = []
    for day in ("0", "86400"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", day)  # matplotlib takes its date
        pages.append(drawn(lambda ax: ax.plot([1, 2]), ""))
    assert pages[0] == pages[1]
    assert mpl.__version__ not in pages[0].svg
