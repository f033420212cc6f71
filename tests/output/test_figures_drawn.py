"""Numbers, lengths and places in figures beside their definitions, at every limit."""

import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.special import expit

import pegasos_stats as ps
from pegasos_stats.errors import PegasosStatsWarning
from pegasos_stats.output.plotting.margins import bin_edges, draw_margins, level_shares
from pegasos_stats.output.plotting.result_plots import draw_trace
from pegasos_stats.output.plotting.roc import draw_roc
from pegasos_stats.output.plotting.style import (
    LONGEST,
    NEGATIVE,
    POSITIVE,
    wide,
    wrapped,
    write_decimals,
    write_percent,
    written,
)
from pegasos_stats.output.report.figures import drawn
from tests.output.figures import ROUNDING, axes, legend, line

mpl.use("Agg")


# Twice as many rows of one level, ties at 0 and at both marks, rows without a label or
# a score.
CODES = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, -1, 1])
SCORES = np.array([-2.0, -1.0, -0.5, 0.0, 0.0, 3.0, 1.0, -0.25, 0.0, 5.0, np.nan])


def test_margins_count_below_the_marks_and_not_at_them():
    ax = draw_margins(CODES, SCORES, ("no", "yes"), axes(), {})
    # margins of no: 2, 1, .5, 0, 0, -3; of yes: 1, -.25, 0
    assert legend(ax) == [
        "no: 6 rows, 4 below 1, 1 below 0",
        "yes: 3 rows, 2 below 1, 1 below 0",
        "Margin 0",
        "Margin 1",
    ]
    label = ax.get_xlabel().replace("\n", " ")
    assert label == (
        "Margin: the score, its sign changed for no (2 rows without label or score "
        "left out)"
    )
    assert ax.get_ylabel() == "Rows of the level"
    zero, one = line(ax, "Margin 0"), line(ax, "Margin 1")
    assert list(zero.get_xdata()) == [0.0, 0.0]
    assert list(one.get_xdata()) == [1.0, 1.0]
    assert (zero.get_linestyle(), one.get_linestyle()) == ("-", "--")


def test_without_missing_rows_the_axis_says_nothing_of_them():
    ax = draw_margins(CODES[:9], SCORES[:9], ("no", "yes"), axes(), {}, logistic=True)
    label = ax.get_xlabel().replace("\n", " ")
    assert label == "Margin: the score, its sign changed for no"
    for at in (0.0, 1.0):
        said = f"Margin {at:.0f}: probability {100 * expit(at):.0f}%"
        assert line(ax, said).get_xdata()[0] == at


def test_bars_stay_below_the_legend():
    ax = draw_margins(CODES, SCORES, ("no", "yes"), axes(), {})
    ax.figure.canvas.draw()
    tallest = max(p.get_data().values.max() for p in ax.patches)
    top = ax.get_ylim()[1]
    assert ax.get_ylim()[0] == 0.0
    box = ax.get_legend().get_window_extent().transformed(ax.transAxes.inverted())
    assert tallest / top < box.y0
    assert tallest / top > 0.5 * box.y0  # and use the room there is


def test_levels_are_told_by_colour_and_by_pattern():
    ax = draw_margins(CODES, SCORES, ("no", "yes"), axes(), {})
    filled, first, hatched, second = ax.patches
    assert mpl.colors.same_color(first.get_edgecolor(), NEGATIVE)
    assert mpl.colors.same_color(second.get_edgecolor(), POSITIVE)
    assert filled.get_fill()
    assert not hatched.get_fill()
    assert hatched.get_hatch() == "////"


@pytest.mark.parametrize("n", [5, 50, 4000, 200000])
@pytest.mark.parametrize("scale", [0.3, 2.0, 1e6])
def test_the_middle_of_the_margins_has_ten_to_forty_bars(n, scale):
    margins = scale * np.random.default_rng(n).normal(0.4, 1.0, n)
    edges = bin_edges(margins)
    low, high = np.percentile(margins, [1.0, 99.0])
    expected = np.clip(2.5 * n ** (1 / 3), 10, 40)
    bars = (high - low) / np.diff(edges)[0]
    # a bar is 1/m or m for a whole m, so that at most half of the width is lost
    assert expected * (1.0 - ROUNDING) / 2 <= bars <= 2 * expected * (1.0 + ROUNDING)
    width = np.diff(edges)[0]
    whole = 1.0 / width if width <= 1.0 else width
    assert whole == pytest.approx(np.round(whole), rel=1e-9)
    assert edges[0] <= margins.min() < edges[1]
    assert edges[-2] <= margins.max() < edges[-1]


def test_no_bar_is_narrower_than_a_thousandth_of_all():
    margins = np.append(np.random.default_rng(0).normal(0.0, 1e-6, 999), 1.0)
    assert np.diff(bin_edges(margins))[0] == pytest.approx(np.ptp(margins) / 1000, 0.01)


def test_a_level_without_rows_has_bars_of_height_zero():
    edges = np.array([0.0, 1.0, 2.0])
    assert level_shares(np.array([]), edges).tolist() == [0.0, 0.0]
    assert level_shares(np.array([-7.0, 9.0, 0.5, 1.0]), edges).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("ties", "false", "true"),
    [("na", 1 / 6, 1 / 3), ("negative", 1 / 6, 1 / 3), ("positive", 3 / 6, 2 / 3)],
)
def test_a_score_of_zero_is_marked_as_it_is_predicted(ties, false, true):
    ax = draw_roc(CODES, SCORES, ("no", "yes"), axes(8, 8), {}, ties=ties)
    point = line(ax, "Score 0")
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (false, true)
    said = f"Score 0: {true:.1%} true, {false:.1%} false positives"
    assert said in legend(ax)
    assert "2 rows without label or score left out" in " ".join(ax.get_xlabel().split())


def test_ties_of_the_solver_reach_the_curve():
    y, x = ["a", "a", "b", "b"], [[-1.0], [0.0], [0.0], [1.0]]
    for ties, at in (("positive", (0.5, 1.0)), ("negative", (0.0, 0.5))):
        model = ps.SVM(y, x, lam=0.1, intercept=False)
        ax = model.fit(ps.SDCA(seed=1, ties=ties)).plot.roc(ax=axes())
        point = line(ax, "Score 0")
        assert (point.get_xdata()[0], point.get_ydata()[0]) == at


def test_the_axes_of_a_curve_name_both_levels():
    ax = draw_roc(CODES[:9], SCORES[:9], ("no", "yes"), axes(8, 8), {})
    assert ax.get_xlabel() == "False positive rate (of no)"
    assert ax.get_ylabel() == "True positive rate (of yes)"
    assert ax.get_xlim() == ax.get_ylim() == (-0.02, 1.02)
    assert ax.yaxis.get_major_formatter()(0.125, 0) == "12.5%"


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


def test_a_bound_near_the_objective_does_not_cut_the_axis():
    trace = recorded([100.0, 20.0, 2.0], [60.0, 10.0, 0.5])
    panel = draw_trace(trace, axes(), {})[0]
    assert panel.get_yscale() == "log"
    assert panel.get_ylim()[0] > 1.0


def test_values_within_a_factor_of_ten_have_a_plain_axis():
    panel = draw_trace(recorded([10.0, 2.0, 1.0], [12.0, 2.5, 0.0]), axes(), {})[0]
    assert panel.get_yscale() == "linear"
    assert line(panel, "Certified").get_ydata().tolist() == [0.0, 0.0, 1.0]


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


def test_gaps_of_zero_everywhere_have_a_plain_axis():
    _, gap = draw_trace(recorded([4.0, 3.0], [0.0, 0.0]), Figure().subplots(2), {})
    assert legend(gap) == ["Objective less bound; relative gap 0 at the end"]
    assert gap.get_yscale() == "linear"
    assert np.isnan(gap.get_lines()[0].get_ydata()).all()


@pytest.mark.parametrize(("epochs", "marker"), [(40, "o"), (41, "None")])
def test_few_epochs_are_points(epochs, marker):
    trace = recorded(np.linspace(4.0, 3.0, epochs), np.ones(epochs))
    panel = draw_trace(trace, axes(), {})[0]
    assert line(panel, "Objective").get_marker() == marker


def test_the_epoch_is_named_once_where_panels_share_it():
    trace = recorded([4.0, 3.0], [1.0, 0.5])
    for share, named in ((True, ["", "", "Epoch"]), (False, 3 * ["Epoch"])):
        panels = draw_trace(trace, Figure().subplots(3, sharex=share), {})
        assert [panel.get_xlabel() for panel in panels] == named


def test_a_factor_of_ten_is_not_wide_and_more_is():
    assert not wide(np.array([3.0, 30.0]))
    assert wide(np.array([3.0, 30.1]))
    for largest, plain in ((300.0, True), (301.0, False)):
        ax = axes()
        ax.set_yscale("log")
        write_decimals(np.array([3.0, largest]), ax.yaxis)
        assert (ax.yaxis.get_major_formatter()(20.0, 0) == "20") == plain
    write_percent(ax.xaxis)
    assert ax.xaxis.get_major_formatter()(0.01234, 0) == "1.23%"


def test_names_are_written_so_that_matplotlib_shows_them():
    assert written("a $b$") == r"a \$b\$"
    assert written("_a") == " _a"
    assert wrapped("one two three four five", 5, 2) == "one\ntwo …"
    assert wrapped("") == ""
    assert (
        written("a\0b\nc\ud800")
        == "a\N{REPLACEMENT CHARACTER}b\nc\N{REPLACEMENT CHARACTER}"
    )


@pytest.mark.parametrize("name", ["x" * 10**6, "ab " * 10**6])
def test_of_a_name_only_the_beginning_is_written(name):
    assert written(name) == f"{name[: LONGEST - 1]}…"
    assert wrapped(name, 30, 2) == wrapped(name[:100], 30, 2)


def test_letters_that_the_font_lacks_are_told_once_for_a_figure():
    def draw(ax):
        ax.set(xlabel="\N{CJK UNIFIED IDEOGRAPH-7537}", ylabel="\N{HANGUL SYLLABLE GA}")
        warnings.warn("of others", FutureWarning, stacklevel=1)

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        drawn(draw, "")
    assert [each.category for each in said] == [FutureWarning, PegasosStatsWarning]
    assert str(said[1].message) == (
        "Figures have boxes in the place of letters that their font lacks; give "
        "matplotlib.rcParams['font.family'] a font that has them."
    )


def test_the_same_figure_is_the_same_svg_on_any_day(monkeypatch):
    pages = []
    for day in ("0", "86400"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", day)  # matplotlib takes its date
        pages.append(drawn(lambda ax: ax.plot([1, 2]), ""))
    assert pages[0] == pages[1]
    assert mpl.__version__ not in pages[0].svg
