"""Numbers, lengths and places in figures beside their definitions."""

from itertools import pairwise
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.output.plotting import curves
from pegasos_stats.output.plotting.curves import draw_roc, draw_scores
from pegasos_stats.output.plotting.forest import INTERVAL, Series, draw_forest
from pegasos_stats.output.plotting.result_plots import draw_trace
from pegasos_stats.output.plotting.style import (
    line_styles,
    write_decimals,
    write_percent,
)
from pegasos_stats.output.plotting.tiles import draw_image
from pegasos_stats.output.report.rendering import draw_svg
from pegasos_stats.studies.calibration import Reliability
from tests.output.figures import ROUNDING, axes, legend, line, panels
from tests.output.figures import line as line_of

# ---- Numbers, lengths and places in figures beside their definitions, at every limit.

mpl.use("Agg")


# Twice as many rows of one level, ties at 0 and at both marks, rows without a label or
# a score.
CODES = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, -1, 1])
SCORES = np.array([-2.0, -1.0, -0.5, 0.0, 0.0, 3.0, 1.0, -0.25, 0.0, 5.0, np.nan])
ROWS = SimpleNamespace(codes=CODES, scores=SCORES)
SCORED = SimpleNamespace(
    scored=ROWS, source="new", levels=("no", "yes"), positive="yes"
)


def fit_of_ties(ties="na"):
    coding = SimpleNamespace(levels=("no", "yes"))
    problem, solver = SimpleNamespace(loss="hinge"), SimpleNamespace(ties=ties)
    return SimpleNamespace(coding=coding, problem=problem, solver=solver)


def test_scores_count_above_the_threshold_and_not_at_it():
    ax = draw_scores(SCORED, fit_of_ties(), axes(), {})
    # scores of no: -2, -1, -.5, 0, 0, 3; of yes: 1, -.25, 0
    of_no, of_yes, *marks = legend(ax)
    assert of_no == "no: 6 rows, 1 above"
    assert of_yes == "yes: 3 rows, 1 above"
    assert marks == ["Threshold 0", "Margin 1"]
    assert "2 rows without" in ax.get_xlabel().replace("\n", " ")
    zero, one = line(ax, "Threshold 0"), line(ax, "Margin 1")
    assert list(zero.get_xdata()) == [0.0, 0.0]
    assert list(one.get_xdata()) == [1.0, 1.0]
    assert (zero.get_linestyle(), one.get_linestyle()) == ("-", "--")


@pytest.mark.parametrize(
    ("ties", "false", "true"),
    [("na", 1 / 6, 1 / 3), ("negative", 1 / 6, 1 / 3), ("positive", 3 / 6, 2 / 3)],
)
def test_a_score_of_zero_is_marked_as_it_is_predicted(ties, false, true):
    ax = draw_roc(SCORED, fit_of_ties(ties), axes(8, 8), {})
    point = line(ax, "Score 0")
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (false, true)
    said = f"Score 0: {true:.1%} true, {false:.1%} false positives"
    assert said in legend(ax)
    assert "2 rows without label or score excluded" in " ".join(ax.get_xlabel().split())


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
    assert band[:, 1].max() == 100.0


def test_a_gap_of_zero_is_not_drawn_and_its_share_is_named():
    panels = Figure().subplots(3)
    trace = recorded([4.0, 3.0, 2.0], [1.0, 0.0, 0.5], test_error=[0.5, np.nan, 0.125])
    _, gap, errors = draw_trace(trace, panels, {}, refined_from=2)
    drawn = line(gap, "Objective minus").get_ydata()
    np.testing.assert_array_equal(drawn, [1.0, np.nan, 0.5])
    said = "Objective minus bound; relative gap 0.25 at the end"
    assert legend(gap)[0] == said
    ends = {"Training rows": "25.00%", "Test rows": "12.50%"}
    assert legend(errors)[:2] == [
        f"{x}, {share} at the end" for x, share in ends.items()
    ]
    assert [panel.get_lines()[-1].get_xdata()[0] for panel in panels] == [2, 2, 2]
    assert legend(panels[0])[-1] == "Optimum from here"
    assert "Optimum from here" not in legend(gap) + legend(errors)


def test_the_same_figure_is_the_same_svg_on_any_day(monkeypatch):
    pages = []
    for day in ("0", "86400"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", day)  # matplotlib takes its date
        pages.append(draw_svg(lambda ax: ax.plot([1, 2])))
    assert pages[0] == pages[1]
    assert mpl.__version__ not in pages[0]


# ---- Coefficients, images, tables and reliability in figures beside their definitions.

TERMS = {"up": (2.0, 1.0, 4.0), "none": (0.0, -0.5, 0.5), "down": (-3.0, -3.5, -1.0)}
TABLE = pd.DataFrame(TERMS, ["estimate", "conf_low", "conf_high"]).T
TABLE = TABLE.rename_axis("term").reset_index()


def test_estimates_and_intervals_stand_on_their_own_line():
    estimates = TABLE.set_index("term")
    ax = draw_forest(list(TERMS), [Series(estimates)], axes(), {}, numbers=True)
    (points,) = ax.get_lines()[1:]
    names = [text.get_text() for text in ax.get_yticklabels()]
    place = dict(zip(names, ax.get_yticks(), strict=True))
    assert list(points.get_xdata()) == [2.0, 0.0, -3.0]
    assert list(points.get_ydata()) == [place[name] for name in TERMS]
    drawn = np.concatenate([part.get_segments() for part in ax.collections])
    segments = {tuple(segment[:, 0]): segment[0, 1] for segment in drawn}
    expected = zip(TABLE.conf_low, TABLE.conf_high, strict=True)
    assert segments == dict(zip(expected, ax.get_yticks(), strict=True))
    low, high = ax.get_ylim()
    assert low > place["down"] > place["none"] > place["up"] > high
    written = {text.get_position()[1]: text.get_text() for text in ax.texts}
    assert written[place["down"]] == "-3.00 (-3.50, -1.00)"


def test_levels_are_below_the_name_of_their_factor():
    names = ["age", "ward: A (ref.)", "ward: B", "sex: m"]
    table = pd.DataFrame(1.0, ["age", "ward: B", "sex: m"], INTERVAL)
    ax = draw_forest(names, [Series(table)], axes(), {}, references=names[1:2])
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels == ["age", "ward:", "A (ref.)", "B", "sex: m"]
    (ring,) = [line for line in ax.get_lines() if line.get_markerfacecolor() == "none"]
    assert ring.get_xydata().tolist() == [[0.0, 2.0]]


@pytest.mark.parametrize("high", [5.0, 50.0, 5e6])
def test_ratios_have_plain_numbers_at_1_2_and_5(high):
    table = pd.DataFrame([[high / 2, 0.5, high]], ["a"], INTERVAL)
    ax = draw_forest(["a"], [Series(table)], axes(), {}, zero=1.0)
    ax.figure.draw_without_rendering()
    shown = [text.get_text() for text in ax.get_xticklabels() if text.get_text()]
    assert shown
    assert {f"{float(text):.0e}"[0] for text in shown} <= {"1", "2", "5"}
    assert not any("$" in text for text in shown)


@pytest.mark.parametrize("inches", [0.5, 1.0, 3.0])
@pytest.mark.parametrize(
    "ends", [(0.4, 2.2), (2.6, 3.6), (1e-7, 3.0), (0.9, 1.2), (0.13, 6.0)]
)
def test_a_logarithmic_axis_has_two_labels_or_more_that_do_not_overlap(inches, ends):
    ax = axes(inches + 1.0, 2.0)
    ax.set_position([0.5 / (inches + 1.0), 0.3, inches / (inches + 1.0), 0.6])
    ax.set(xscale="log", xlim=ends)
    write_decimals(ax.xaxis)
    ax.figure.draw_without_rendering()
    texts = [text for text in ax.get_xticklabels() if text.get_text()]
    shown = [text for text in texts if ends[0] <= text.get_position()[0] <= ends[1]]
    boxes = [text.get_window_extent() for text in shown]
    assert inches < 1.0 or len(shown) >= 2
    assert not any(a.x1 > b.x0 for a, b in pairwise(boxes))
    if ends[1] > 10.0 * ends[0] and inches >= 1.0:
        assert "1" in [text.get_text() for text in shown]


def test_ticks_in_percent_are_not_rounded():
    ax = axes()
    ax.set(xlim=(-0.0537, 0.0538), xticks=[-0.05375, 0.053])
    write_percent(ax.xaxis)
    ax.figure.draw_without_rendering()
    shown = [text.get_text() for text in ax.get_xticklabels()]
    assert shown == ["\N{MINUS SIGN}5.375%", "5.3%"]


def test_a_point_at_the_end_of_the_data_is_not_cut():
    data = pd.DataFrame({"x": np.arange(20.0), "z": np.arange(20.0) ** 2})
    data["y"] = ["a", "b", "b", "a"] * 5
    fit = ps.logit("y ~ x + z", data, lam=0.1).fit()
    ax = fit.plot.regions("x", "z", data, ax=axes())
    for values, (low, high) in ((data.x, ax.get_xlim()), (data.z, ax.get_ylim())):
        assert low < values.min()
        assert values.max() < high


def test_an_undefined_interval_has_no_line_and_no_label():
    row = pd.Series([1.0, np.nan, np.nan], INTERVAL, name="x")
    ax = curves.draw_bootstrap(np.arange(9.0), row, axes(), {})
    assert legend(ax) == ["9 resamples", "Estimate"]


def test_a_level_keeps_its_capitals():
    data = pd.DataFrame({"x": np.arange(20.0), "y": ["ICU", "HIV"] * 10})
    effects = ps.logit("y ~ x", data, lam=0.1).fit().margins()
    assert "probability of ICU" in effects.plot(ax=axes()).get_xlabel()


def test_dots_are_where_coefficients_are_clearly_below_zero():
    beta = np.array([-10.0, -1.0, -1.1, 1.0, 0.0, 5.0])  # a tenth of 10 has none
    ax = draw_image(beta, (2, 3), ("no", "yes"), axes())
    dots = ax.get_lines()[0]
    assert list(dots.get_xdata()) == [0, 2]
    assert list(dots.get_ydata()) == [0, 0]
    assert ax.images[0].get_clim() == (-10.0, 10.0)


def bins(n):
    """A reliability table of n bins, one of them without rows."""
    edges = np.linspace(0.0, 1.0, n + 1)
    table = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "n": np.arange(n) * 10})
    table["mean_predicted"] = (edges[1:] + edges[:-1]) / 2
    seen = table["observed"] = table["mean_predicted"] ** 2
    return table.assign(conf_low=seen - 0.125, conf_high=seen + 0.25)


def test_a_reliability_diagram_is_its_table():
    used = bins(13).iloc[1:]
    ax = Reliability(bins(13), "ill", 0.9, 0.0, 0.0, 0).plot(ax=axes())
    diagonal, points = ax.get_lines()
    np.testing.assert_array_equal(diagonal.get_xydata(), [[0.0, 0.0], [1.0, 1.0]])
    np.testing.assert_array_equal(points.get_xdata(), used["mean_predicted"])
    np.testing.assert_array_equal(points.get_ydata(), used["observed"])
    assert points.get_linestyle() == "None"
    (errors,) = ax.collections
    spans = np.array([segment[:, 1] for segment in errors.get_segments()])
    np.testing.assert_allclose(spans, used[["conf_low", "conf_high"]], rtol=ROUNDING)
    heights = np.reshape([bar.get_height() for bar in ax.patches], (2, -1))
    scale = 0.08 * used["n"] / used["n"].max()
    np.testing.assert_allclose(heights[0], scale * used["observed"])
    np.testing.assert_allclose(heights[1], -scale * (1.0 - used["observed"]))
    assert [bar.get_x() for bar in ax.patches] == 2 * used["low"].tolist()
    assert ax.get_xlim() == ax.get_ylim()
    assert ax.get_aspect() == 1.0
    assert legend(ax) == ["Observed, 90% interval", "Histogram: ill up, others down"]


@pytest.mark.parametrize("empty", [[], [5, 6, 7]])
def test_the_smooth_curve_has_gaps_where_no_rows_are(empty):
    table = bins(13)
    table.loc[empty, "n"] = 0
    at = np.linspace(0.1, 0.99, 100)
    smooth = pd.DataFrame({"probability": at, "observed": at})
    smooth = smooth.assign(conf_low=at - 0.05, conf_high=at + 0.05)
    ax = Reliability(table, "ill", 0.9, 0.0, 0.0, 0, smooth=smooth).plot(ax=axes())
    drawn = line(ax, "Smooth curve, 90% band").get_ydata()
    in_gap = np.zeros(100, dtype=bool)
    for bin in empty:
        in_gap |= (at > table["low"][bin]) & (at < table["high"][bin])
    np.testing.assert_array_equal(np.isnan(drawn), in_gap)


@pytest.mark.parametrize("k", [2, 11])
def test_any_number_of_levels_is_drawn(k):
    actual, predicted = np.random.default_rng(k).integers(0, k, (2, 400))
    matrix = ps.confusion(actual, [*predicted[1:], None], levels=list(range(k)))
    ax = matrix.plot()
    assert len(ax.texts) == k * (k + 1)
    assert ax.get_xticklabels()[-1].get_text() == "NA"
    assert "1 without prediction" in ax.get_title()


# ---- Figures of a run, of its trace, and of the losses.

pytestmark = [pytest.mark.usefixtures("closed"), pytest.mark.slow]


def test_the_trace_is_drawn_as_recorded(digits):
    objective, gap, errors = digits.plot.trace(ax=panels(3))
    trace = digits.trace
    above = line_of(objective, "Objective")
    np.testing.assert_array_equal(above.get_ydata(), trace["objective"])
    np.testing.assert_array_equal(above.get_xdata(), trace["epoch"])
    bound = (trace["objective"] - trace["gap"]).where(trace["gap"] < trace["objective"])
    below = line_of(objective, "Certified").get_ydata()
    np.testing.assert_array_equal(below, bound)
    np.testing.assert_array_equal(gap.get_lines()[0].get_ydata(), trace["gap"])
    assert gap.get_yscale() == "log"
    for name, column in (("Training", "training_error"), ("Test", "test_error")):
        np.testing.assert_array_equal(line_of(errors, name).get_ydata(), trace[column])
    last = trace["test_error"].iloc[-1]
    assert legend(errors)[1] == f"Test rows, {last:.2%} at the end"


def test_losses_are_drawn_by_their_formulas():
    ax = ps.plot_losses(ax=panels())
    m, error = line_of(ax, "0-1: 1 if m < 0").get_data()
    np.testing.assert_array_equal(error, m < 0)
    assert m.min() < -1
    assert m.max() > 2
    hinge = line_of(ax, "Hinge: max(0, 1 - m)").get_ydata()
    np.testing.assert_array_equal(hinge, [max(0.0, 1.0 - x) for x in m])
    square = line_of(ax, "Squared hinge: max(0, 1 - m)²").get_ydata()
    np.testing.assert_array_equal(square, [h * h for h in hinge])
    log = line_of(ax, "Log: log(1 + exp(-m))").get_ydata()
    np.testing.assert_allclose(log, np.log1p(np.exp(-m)), rtol=1e-14)  # by two formulas
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Margin m", "Loss of a row")


def test_the_trace_needs_one_and_its_panels(digits, kernel):
    with pytest.raises(OptionError, match=r"fit\(trace=True\)"):
        kernel.plot.trace()
    with pytest.raises(OptionError, match=r"^ax="):
        digits.plot.trace(ax=panels(2, 2))
    assert len(digits.plot.trace(ax=panels(2))) == 2


# ---- Figures of cross-validation, paths and studies: every mark beside its numbers.

LAMBDAS = np.array([4.0, 1.0, 0.25, 0.0625])
MEAN = np.array([0.5, 0.3, 0.2, 0.35])
ERROR = np.array([np.nan, 0.05, 0.125, 0.25])
BOTH = {"min": 0.25, "1se": 1.0}


def path(metric, marks):
    found = SimpleNamespace(lambdas=LAMBDAS, metric=metric, marks=lambda: marks)
    found._curve = lambda name: (MEAN, ERROR)
    return found


def upright(ax):
    """Place, dashes of the vertical lines."""
    places = {
        tuple(found.get_xdata()): found.get_linestyle() for found in ax.get_lines()
    }
    return [(x[0], style) for x, style in places.items() if x == (x[0], x[0])]


def test_a_curve_has_its_means_bars_and_marks():
    ax = curves.draw_curve(path("error_rate", BOTH), axes(), {})
    (bars,) = ax.containers
    _, caps, (stems,) = bars
    line = ax.get_lines()[0]
    np.testing.assert_array_equal(line.get_xdata(), LAMBDAS)
    np.testing.assert_array_equal(line.get_ydata(), MEAN)
    half = np.array([0.0, 0.05, 0.125, 0.25])
    low, high = np.transpose([stem[:, 1] for stem in stems.get_segments()])
    np.testing.assert_allclose(low, MEAN - half, rtol=1e-15)  # one subtraction
    np.testing.assert_allclose(high, MEAN + half, rtol=1e-15)  # one sum
    assert len(caps) == 2
    assert upright(ax) == [(0.25, ":"), (1.0, "--")]
    assert ax.get_xscale() == "log"
    assert ax.get_xlabel() == "Lambda"
    assert ax.get_ylabel() == "Error rate, cross-validated"


def test_the_band_is_one_standard_error_about_the_best():
    ax = curves.draw_curve(path("auc", BOTH), axes(), {})
    (band,) = ax.patches
    # A Rectangle, or in matplotlib 3.8 a Polygon.
    corners = band.get_patch_transform().transform(band.get_path().vertices)
    low, high = corners[:, 1].min(), corners[:, 1].max()
    # One subtraction and one sum of decimal numbers.
    np.testing.assert_allclose([low, high], [0.075, 0.325], rtol=1e-14)
    assert band.get_facecolor() == to_rgba(ax.get_lines()[0].get_color(), 0.18)
    marks = {"lambda_1se = 1", "lambda_min = 0.25"}
    assert {*legend(ax)} == {"Best ± standard error", *marks}
    assert ax.get_ylabel() == "AUC, cross-validated"
    without = curves.draw_curve(path("auc", {"min": 0.25}), axes(), {})
    assert len(without.patches) == 0
    assert legend(without) == ["lambda_min = 0.25"]
    assert curves.draw_curve(path("f", {}), axes(), {}).get_legend() is None


# The order at the smallest lambda by absolute value is c, a, d, b.
BETA = pd.DataFrame({"a": [9.0, 2.0, -2.0], "b": [8.0, 9.0, 0.5]}, [1.0, 0.5, 0.25])
BETA["c"], BETA["a long name of a column"] = [0.0, 0.0, -3.0], [0.0, 5.0, 1.0]


def test_the_largest_coefficients_at_the_end_have_names():
    ax = curves.draw_path(path("f", {"min": 0.5}), BETA, 3, axes(), {})
    assert legend(ax) == ["lambda_min = 0.5"]
    drawn = {found.get_label()[1:]: found for found in ax.get_lines()}
    ends = {text.get_text(): text.xy[1] for text in ax.texts}
    assert {**ends} == {"c": -3.0, "a": -2.0, "a long name of a column": 1.0}
    for name in ("c", "a", "a long name of a column"):
        np.testing.assert_array_equal(drawn[name].get_ydata(), BETA[name])
        np.testing.assert_array_equal(drawn[name].get_xdata(), BETA.index)
    grey = [x for x in ax.get_lines() if x.get_alpha() == 0.3]
    assert len(grey) == 1
    np.testing.assert_array_equal(grey[0].get_ydata(), BETA["b"])
    assert ax.get_xscale() == "log"
    assert ax.get_xlabel() == "Lambda, decreasing"
    assert ax.get_xlim()[0] > ax.get_xlim()[1]
    assert upright(ax) == [(0.5, ":")]


FOLDS = pd.DataFrame({"error_rate": [0.25, 0.5, 0.25, np.nan, 0.25 + 1e-14]})
FOLDS["auc"] = 0.75
ESTIMATES = pd.DataFrame({"term": [*FOLDS], "estimate": [0.3125, 0.75]})
ESTIMATES["std_error"] = [0.0625, np.nan]


def test_each_metric_has_a_panel_with_its_folds():
    error, auc = axes = curves.draw_folds(FOLDS, ESTIMATES, panels(2))
    assert [ax.get_xlabel() for ax in axes] == ["Error rate", "AUC"]
    rings = error.get_lines()[0]
    assert rings.get_xdata().tolist() == [0.25, 0.5, 0.25, 0.25]
    low, high = auc.get_xlim()
    assert high - low >= 0.02 * 0.75  # folds that are equal are drawn equal
    for ax, mean, spread in ((error, 0.3125, 0.0625), (auc, 0.75, 0.0)):
        point, _, (bar,) = ax.containers[0]
        assert point.get_xdata().tolist() == [mean]
        assert bar.get_segments()[0][:, 0].tolist() == [mean - spread, mean + spread]
        assert ax.get_yticks().tolist() == []


# ---- Figures of studies: what their lines, bands, axes and legends show.

TRAIN_OF_PLOT, TEST = ps.datasets.load_digits56()
GREY = np.array([0.2126, 0.7152, 0.0722])  # weights of luminance, ITU-R BT.709


def test_lines_go_through_medians_and_bands_to_the_5_and_95_percent_quantiles():
    model = ps.svm("digit ~ .", TRAIN_OF_PLOT, lam=0.1)
    solvers = {"Pegasos": ps.Pegasos(epochs=7), "SDCA": ps.Optimum(tol=1e-3)}
    study = ps.compare_solvers(model, solvers, runs=5, test=TEST, seed=443)
    found = study.tidy().set_index(["solver", "measure"]).loc["Pegasos"]
    loss, error, gap = study.plot(ax=panels(3))
    for ax, measure in ((loss, "objective"), (error, "test_error"), (gap, "gap")):
        drawn = line_of(ax, "Pegasos").get_ydata()
        np.testing.assert_array_equal(drawn, found.loc[measure, "q50"])
    seconds = found.loc["cpu_seconds", "q50"]
    assert "(s)" in loss.get_xlabel()
    np.testing.assert_array_equal(line_of(loss, "Pegasos").get_xdata(), seconds)
    assert line_of(gap, "Pegasos").get_xdata().tolist() == list(range(1, 8))
    (path,) = gap.collections[0].get_paths()
    y = path.vertices[:, 1]
    assert y.min() == found.loc["gap", "q05"].min()
    assert y.max() == found.loc["gap", "q95"].max()


def test_no_two_lines_are_alike_and_none_is_told_by_colour_alone():
    many = line_styles(36)
    assert len({(line.colour, str(line.dashes)) for line in many}) == 36
    first = line_styles(6)
    assert len({str(line.dashes) for line in first}) == 6
    assert len({line.marker for line in first}) == 6
    # In grey every line stands out from white: a luminance of at most 0.7.
    assert all(GREY @ to_rgb(line.colour) <= 0.7 for line in first)
