"""Numbers, lengths and places in figures beside their definitions, at every limit."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.special import expit

mpl.use("Agg")

import pegasos_stats as ps
from pegasos_stats.plotting.coefficients import draw_coefficients
from pegasos_stats.plotting.confusion import draw_confusion, ink_on
from pegasos_stats.plotting.image import draw_image
from pegasos_stats.plotting.margins import bin_edges, draw_margins, level_shares
from pegasos_stats.plotting.reliability import draw_reliability
from pegasos_stats.plotting.roc import draw_roc
from pegasos_stats.plotting.scales import wide, write_decimals, write_percent
from pegasos_stats.plotting.style import NEGATIVE, POSITIVE
from pegasos_stats.plotting.trace import draw_trace
from pegasos_stats.plotting.words import room_of, wrapped, written

ROUNDING = 1e-12  # the same sums in another order


def axes(width=6.4, height=4.8):
    return Figure(figsize=(width, height)).subplots()


def legend(ax):
    return [text.get_text().replace("\n", " ") for text in ax.get_legend().get_texts()]


def line(ax, beginning):
    (found,) = [x for x in ax.get_lines() if x.get_label().startswith(beginning)]
    return found


# Twice as many rows of one level, ties at 0 and at both marks, rows without a label or
# a score.
CODES = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, -1, 1])
SCORES = np.array([-2.0, -1.0, -0.5, 0.0, 0.0, 3.0, 1.0, -0.25, 0.0, 5.0, np.nan])


def test_margins_count_below_the_marks_and_not_at_them():
    ax = draw_margins(CODES, SCORES, ("no", "yes"), axes())
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
    ax = draw_margins(CODES[:9], SCORES[:9], ("no", "yes"), axes(), logistic=True)
    label = ax.get_xlabel().replace("\n", " ")
    assert label == "Margin: the score, its sign changed for no"
    for at in (0.0, 1.0):
        said = f"Margin {at:.0f}: probability {expit(at):.2f}"
        assert line(ax, said).get_xdata()[0] == at


def test_bars_stay_below_the_legend_and_marks_too():
    ax = draw_margins(CODES, SCORES, ("no", "yes"), axes())
    ax.figure.canvas.draw()
    tallest = max(p.get_data().values.max() for p in ax.patches)
    top = ax.get_ylim()[1]
    assert ax.get_ylim()[0] == 0.0
    box = ax.get_legend().get_window_extent().transformed(ax.transAxes.inverted())
    assert tallest / top < box.y0
    assert tallest / top > 0.5 * box.y0  # and use the room there is
    for mark in (line(ax, "Margin 0"), line(ax, "Margin 1")):
        assert mark.get_ydata()[1] < box.y0 + 0.05
        assert mark.get_ydata()[1] > tallest / top - ROUNDING


def test_levels_are_told_by_colour_and_by_pattern():
    ax = draw_margins(CODES, SCORES, ("no", "yes"), axes())
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
    ax = draw_roc(CODES, SCORES, ("no", "yes"), axes(8, 8), ties=ties)
    point = line(ax, "Score 0")
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (false, true)
    said = f"Score 0: {true:.1%} true, {false:.1%} false positives"
    assert said in legend(ax)
    assert ax.get_title().replace("\n", " ") == (
        "2 rows without label or score left out"
    )


def test_ties_of_the_solver_reach_the_curve():
    y, x = ["a", "a", "b", "b"], [[-1.0], [0.0], [0.0], [1.0]]
    for ties, at in (("positive", (0.5, 1.0)), ("negative", (0.0, 0.5))):
        model = ps.SVM(y, x, lam=0.1, intercept=False)
        ax = model.fit(ps.SDCA(seed=1, ties=ties)).plot.roc(ax=axes())
        point = line(ax, "Score 0")
        assert (point.get_xdata()[0], point.get_ydata()[0]) == at


def test_the_axes_of_a_curve_name_both_levels():
    ax = draw_roc(CODES[:9], SCORES[:9], ("no", "yes"), axes(8, 8))
    assert ax.get_title() == ""
    assert ax.get_xlabel().split("\n", 1)[0] == "False positive rate"
    assert ax.get_ylabel().split("\n", 1)[0] == "True positive rate"
    assert "share of no predicted yes" in ax.get_xlabel().replace("\n", " ")
    assert "share of yes predicted yes" in ax.get_ylabel().replace("\n", " ")
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
    panel = draw_trace(trace, axes())[0]
    assert panel.get_yscale() == "log"
    drawn = line(panel, "Certified").get_ydata()
    np.testing.assert_allclose(drawn, [np.nan, np.nan, 1.0, 1.4], rtol=ROUNDING)
    assert panel.get_ylim()[0] == pytest.approx(1.5 / 30.0)  # the least objective
    band = panel.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(0.5 * 1.5 / 30.0)
    assert band[:, 1].max() == 100.0


def test_a_bound_near_the_objective_does_not_cut_the_axis():
    trace = recorded([100.0, 20.0, 2.0], [60.0, 10.0, 0.5])
    panel = draw_trace(trace, axes())[0]
    assert panel.get_yscale() == "log"
    assert panel.get_ylim()[0] > 1.0


def test_values_within_a_factor_of_ten_have_a_plain_axis():
    panel = draw_trace(recorded([10.0, 2.0, 1.0], [12.0, 2.5, 0.0]), axes())[0]
    assert panel.get_yscale() == "linear"
    assert line(panel, "Certified").get_ydata().tolist() == [0.0, 0.0, 1.0]


def test_a_gap_of_zero_is_not_drawn_and_its_share_is_named():
    panels = Figure().subplots(3)
    trace = recorded([4.0, 3.0, 2.0], [1.0, 0.0, 0.5], test_error=[0.5, np.nan, 0.125])
    _, gap, errors = draw_trace(trace, panels, refined_from=2)
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
    _, gap = draw_trace(recorded([4.0, 3.0], [0.0, 0.0]), Figure().subplots(2))
    assert legend(gap) == ["Objective less bound; relative gap 0 at the end"]
    assert gap.get_yscale() == "linear"
    assert np.isnan(gap.get_lines()[0].get_ydata()).all()


@pytest.mark.parametrize(("epochs", "marker"), [(40, "o"), (41, "None")])
def test_few_epochs_are_points(epochs, marker):
    trace = recorded(np.linspace(4.0, 3.0, epochs), np.ones(epochs))
    panel = draw_trace(trace, axes())[0]
    assert line(panel, "Objective").get_marker() == marker


def test_the_epoch_is_named_once_where_panels_share_it():
    trace = recorded([4.0, 3.0], [1.0, 0.5])
    for share, named in ((True, ["", "", "Epoch"]), (False, 3 * ["Epoch"])):
        panels = draw_trace(trace, Figure().subplots(3, sharex=share))
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


TABLE = pd.DataFrame(
    {
        "term": ["up", "none", "down"],
        "estimate": [2.0, 0.0, -3.0],
        "conf_low": [1.0, -0.5, -3.5],
        "conf_high": [4.0, 0.5, -1.0],
    }
)


def test_estimates_and_intervals_stand_on_their_own_line():
    ax = draw_coefficients(TABLE, ("no", "yes"), axes(), title="All", unit="year")
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
    assert ax.get_ylim()[0] > place["down"] > place["none"] > place["up"] > 0.0
    assert ax.get_ylim()[1] == 0.0
    assert ax.get_title() == "All"
    assert ax.get_xlabel().replace("\n", " ") == (
        "Coefficient: change of the score per year (below 0 speaks for no, above for "
        "yes)"
    )


def test_without_intervals_there_are_points_alone():
    ax = draw_coefficients(TABLE[["term", "estimate"]], ("no", "yes"), axes())
    assert len(ax.collections) == 0
    assert ax.get_title() == ""


def test_dots_are_where_coefficients_are_clearly_below_zero():
    beta = np.array([-10.0, -1.0, -1.1, 1.0, 0.0, 5.0])  # a tenth of 10 has none
    ax = draw_image(beta, (2, 3), ("no", "yes"), axes())
    dots = ax.get_lines()[0]
    assert list(dots.get_xdata()) == [0, 2]
    assert list(dots.get_ydata()) == [0, 0]
    assert ax.images[0].get_clim() == (-10.0, 10.0)


@pytest.mark.parametrize(("side", "dotted"), [(40, True), (41, False)])
def test_large_pixels_alone_have_dots(side, dotted):
    ax = draw_image(-np.ones(side), (1, side), ("no", "yes"), axes(9, 3))
    assert bool(ax.get_lines()) == dotted
    bar = ax.figure.axes[1]
    assert (", dotted," in bar.get_xlabel().replace("\n", " ")) == dotted


@pytest.mark.parametrize(
    ("shape", "below"), [((2, 3), False), ((2, 4), True), ((4, 2), False)]
)
def test_the_bar_is_along_the_longer_side(shape, below):
    ax = draw_image(np.arange(1.0, 1.0 + np.prod(shape)), shape, ("a", "b"), axes())
    ax.figure.canvas.draw()
    image, bar = (part.get_position() for part in ax.figure.axes)
    assert (bar.y1 <= image.y0) == below
    assert (bar.x0 >= image.x1) != below


def test_coefficients_of_zero_are_an_image_of_the_middle_colour():
    ax = draw_image(np.zeros(4), (2, 2), ("a", "b"), axes())
    assert ax.images[0].get_clim() == (-1.0, 1.0)


def luminance(colour):
    """Of W3C's guidelines, channel by channel."""
    linear = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_ink_has_the_larger_of_both_contrasts_on_any_colour():
    for colour in np.random.default_rng(3).random((300, 3)):
        light = luminance(colour)
        white, black = 1.05 / (light + 0.05), (light + 0.05) / 0.05
        if abs(white - black) > 0.02:  # the limit is known to three digits
            assert ink_on(colour) == ("white" if white > black else "black")


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
    assert [text.get_position() for text in ax.texts[:4]] == [
        (0, 0),
        (1, 0),
        (2, 0),
        (0, 1),
    ]
    assert ax.get_title() == "first\nsecond"
    assert ax.get_xlabel() == "Predicted"
    assert ax.get_ylabel().replace("\n", " ") == "Actual (shares of each row)"
    rgb = np.asarray(ax.images[0].get_array())[..., :3]
    dark = [1.0 - luminance(colour) for colour in (rgb[0, 0], rgb[1, 2], rgb[0, 1])]
    assert dark == sorted(dark, reverse=True)  # the larger the share, the darker


def test_rows_without_a_prediction_are_grey():
    table = pd.DataFrame([[3, 1, 4], [1, 3, 4]], ["a", "b"], ["a", "b", "none"])
    rgb = np.asarray(draw_confusion(table, "", axes()).images[0].get_array())[..., :3]
    is_grey = np.ptp(rgb, axis=2) < 0.01
    assert is_grey.tolist() == [[False, False, True], [False, False, True]]


@pytest.mark.parametrize(("k", "letters"), [(7, 11.0), (8, 7.5)])
def test_many_levels_have_smaller_tiles_and_letters(k, letters):
    names = [f"l{i}" for i in range(k)]
    ax = draw_confusion(pd.DataFrame(np.ones((k, k)), names, names))
    assert {text.get_fontsize() for text in ax.texts} == {letters}
    width, height = ax.figure.get_size_inches()
    tile = 0.95 if k < 8 else 0.6
    assert width == pytest.approx(k * tile + 0.085 * 2 + 0.8)
    assert height == pytest.approx(k * tile + 0.17 + 0.8)
    mpl.pyplot.close(ax.figure)


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


@pytest.mark.parametrize(("n", "written_out"), [(5, True), (13, True), (14, False)])
def test_a_reliability_diagram_is_its_table(n, written_out):
    table = bins(n)
    used = table.iloc[1:]
    ax = draw_reliability(table, "ill", 0.9, axes())
    points = ax.get_lines()[2]
    np.testing.assert_array_equal(points.get_xdata(), used["mean_predicted"])
    np.testing.assert_array_equal(points.get_ydata(), used["observed"])
    (errors,) = ax.collections
    spans = np.array([segment[:, 1] for segment in errors.get_segments()])
    np.testing.assert_allclose(spans, used[["conf_low", "conf_high"]], rtol=ROUNDING)
    heights = np.array([bar.get_height() for bar in ax.patches])
    np.testing.assert_allclose(heights, 0.11 * used["n"] / used["n"].max())
    for bar, (low, high) in zip(
        ax.patches, used[["low", "high"]].to_numpy(), strict=True
    ):
        assert bar.get_x() == low
        assert bar.get_width() == pytest.approx(high - low)
        assert bar.get_y() == -0.18
    counts = [text.get_text() for text in ax.texts]
    assert counts == (used["n"].astype(str).tolist() if written_out else [])
    assert ax.get_xlabel() == "predicted probability of ill"
    assert ax.get_ylabel() == "observed share of ill"
    assert legend(ax) == ["as predicted", "rows in the bin", "observed, 90% interval"]


def test_names_are_written_so_that_matplotlib_shows_them():
    assert written("a $b$") == r"a \$b\$"
    assert written("_a") == " _a"
    assert wrapped("one two three four five", 5, 2) == "one\ntwo …"
    assert wrapped("") == ""


def test_room_is_counted_in_letters():
    ax = axes(10.0, 5.0)
    ax.set_position([0.0, 0.0, 1.0, 1.0])
    assert room_of(ax) == (133, 66)  # 10 and 5 inches by 0.075
    assert room_of(axes(0.5, 0.5)) == (10, 10)
