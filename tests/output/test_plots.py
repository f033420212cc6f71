"""Figures of fits, and what holds of all figures."""

from io import BytesIO
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from scipy.special import expit
from sklearn import metrics

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.output.plotting import style
from pegasos_stats.output.plotting.curves import bin_edges, level_shares
from tests.output.figures import ROUNDING, legend, panels
from tests.output.figures import line as line_of

# ---- Figures of fits: what their lines, bars, tiles, axes and texts show.

mpl.use("Agg")


_, TEST = ps.datasets.load_digits56()

# Unequal levels, overlapping scores, names that matplotlib could misread.
RNG = np.random.default_rng(7)
ODD = pd.DataFrame(RNG.normal(size=(300, 3)), columns=["a $x$ b", "_hidden", "z" * 90])
NOISE = RNG.normal(size=300)
ODD["y"] = np.where(ODD.sum(axis=1) + NOISE > 2.0, "$rare$", "_usual")


pytestmark = [pytest.mark.usefixtures("closed"), pytest.mark.slow]


@pytest.fixture(scope="module")
def odd():
    return ps.Logit(ODD["y"], ODD.drop(columns="y"), lam=0.01).fit(trace=True)


def shares_of(ax):
    """Heights of the bars of both levels, and their edges."""
    return [(p.get_data().values, p.get_data().edges) for p in ax.patches[::2]]


def test_bars_are_the_shares_of_each_level(digits):
    ax = digits.plot.scores(TEST, ax=panels())
    scores = digits.decision_function(TEST).to_numpy()
    for (shares, edges), level in zip(shares_of(ax), (5, 6), strict=True):
        own = scores[TEST["digit"] == level]
        counts = [((own >= a) & (own < b)).sum() for a, b in pairwise(edges)]
        np.testing.assert_allclose(shares * own.size, counts, rtol=ROUNDING)
        assert sum(counts) == own.size


@pytest.mark.parametrize("scale", [1e-300, 0.01, 1.0, 37.0, 1e300])
@pytest.mark.parametrize("shift", [0.0, 0.5, 1e6])
def test_every_row_is_in_a_bar_and_no_bar_crosses_zero_or_one(scale, shift):
    margins = shift + scale * np.random.default_rng(1).standard_t(2, size=400)
    edges = bin_edges(margins)
    assert (np.diff(edges) > 0.0).all()
    assert len(edges) < 1100
    assert level_shares(margins, edges).sum() == pytest.approx(1.0, rel=ROUNDING)
    assert not ((edges[:-1] < 0.0) & (edges[1:] > 0.0)).any()
    if (np.diff(edges) < 1.0).all():
        assert not ((edges[:-1] < 1.0) & (edges[1:] > 1.0)).any()


def test_figures_need_a_row_with_a_score(digits):
    gaps = TEST.astype(float)
    gaps.iloc[:, 3] = np.nan
    for figure in (digits.plot.scores, digits.plot.roc):
        with pytest.raises(DataError, match="None of 163 rows"):
            figure(gaps)


@pytest.mark.parametrize("name", ["odd", "kernel"])
def test_the_area_under_the_line_is_the_statistic(name, request):
    result = request.getfixturevalue(name)
    data = ODD if name == "odd" else TEST
    actual = data["y"] if name == "odd" else data["digit"]
    ax = result.plot.roc(data, actual, ax=panels())
    curve = line_of(ax, "Area")
    area = np.trapezoid(curve.get_ydata(), curve.get_xdata())
    scores = result.decision_function(data)
    codes = actual == result.coding.positive
    assert area == pytest.approx(metrics.roc_auc_score(codes, scores), rel=ROUNDING)
    auc = result.confusion(data, actual).scored.terms()["auc"]
    assert area == pytest.approx(auc, rel=ROUNDING)
    assert legend(ax)[0].startswith(f"Area {area:.3f}")


def test_a_curve_needs_both_levels(digits):
    for digit, other in ((5, 6), (6, 5)):
        rows = TEST[TEST["digit"] == digit]
        with pytest.raises(
            DataError, match=f"^Among {len(rows)} rows, none of class {other} "
        ):
            digits.plot.roc(rows)
    with pytest.raises(DataError, match="None of 0 rows"):
        digits.plot.scores(TEST[:0])
    one = digits.plot.scores(TEST[TEST["digit"] == 5], ax=panels())
    assert shares_of(one)[1][0].sum() == 0.0


def test_coefficients_are_points_in_order(digits):
    few = digits.with_covariance(ps.Bootstrap(49, seed=1))
    ax = few.plot.coefficients(max_terms=12, ax=panels())
    (points,) = ax.get_lines()[1:]
    largest = digits.coef.index.intersection(digits.coef.abs().nlargest(12).index)
    assert points.get_xdata().tolist() == digits.coef[largest].tolist()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == largest.tolist()
    assert ax.get_title().startswith("The 12 largest of 64 coefficients")
    assert "below 0 for 5, above 0 for 6" in ax.get_xlabel().replace("\n", " ")


@pytest.mark.parametrize("shape", [(8, 8), np.array([2, 32])])
def test_the_image_is_the_coefficients_row_by_row(digits, shape):
    ax = digits.plot.coefficient_image(shape)
    (image,) = ax.images
    beta = digits.coef.to_numpy()
    np.testing.assert_array_equal(image.get_array(), beta.reshape(shape))
    assert image.get_clim() == (-abs(beta).max(), abs(beta).max())
    assert ax.get_aspect() == 1.0


def tiles(ax):
    return [text.get_text() for text in ax.texts]


def pixels(ax):
    out = BytesIO()
    np.ravel(ax)[0].figure.savefig(out, format="rgba", dpi=50)
    return out.getvalue()


def test_loaded_fits_draw_what_needs_no_training_rows(digits, kernel, tmp_path):
    digits = digits.with_covariance(ps.Bootstrap(49, seed=1))
    digits.summary()  # whose intervals are then in the file
    for result in (kernel, digits):
        ps.save(result, tmp_path / "model")
        plots = ps.load(tmp_path / "model").plot
        own, again = (p.confusion(ax=panels()) for p in (result.plot, plots))
        assert tiles(own) == tiles(again)
        with pytest.raises(DataError, match="pass data"):
            plots.roc()
        own, again = (p.roc(TEST, ax=panels()) for p in (result.plot, plots))
        assert legend(own) == legend(again)
    for draw, grid in (
        (lambda plot, ax: plot.trace(ax=ax), (3,)),
        (lambda plot, ax: plot.coefficient_image((8, 8), ax=ax), ()),
        (lambda plot, ax: plot.coefficients(max_terms=5, ax=ax), ()),
    ):
        own, again = (pixels(draw(p, panels(*grid))) for p in (digits.plot, plots))
        assert own == again != pixels(panels(*grid))


# ---- What holds of all figures: axes, keywords, settings, names inside the figure.

ASSAYS = [f"concentration in plasma {letter}" for letter in "ABC"]
RNG_OF_CONTRACT = np.random.default_rng(1)
DATA = pd.DataFrame({"cost in $ per $day": RNG_OF_CONTRACT.normal(60.0, 10.0, 200)})
DATA["assay"] = RNG_OF_CONTRACT.choice(ASSAYS, 200)
DATA["dose"] = RNG_OF_CONTRACT.normal(size=200)
CHANCE = expit(DATA["dose"] + (DATA["assay"] == ASSAYS[1]) - 0.5)
HAPPENED = RNG_OF_CONTRACT.random(200) < CHANCE
DATA["outcome"] = np.where(HAPPENED, "readmitted within thirty days", "$not$")


@pytest.fixture(scope="module")
def found():
    """Everything that has a figure, of data with awkward names."""
    train = DATA[:150]
    model = ps.logit("outcome ~ .", train)
    dose = ps.logit("outcome ~ dose", train)
    fit, small = model.fit(), dose.fit()
    sides = {ASSAYS[0]: fit.predict_proba(), ASSAYS[1]: small.predict_proba()}
    kernel = ps.kernel_svm("outcome ~ dose", train)
    models = {"with the assay": model, "dose": dose}
    return {
        "fit": fit,
        "compared": ps.compare_models({"with the assay": fit, "dose only": small}),
        "errors": ps.compare_errors(models, folds=4),
        "path": ps.lambda_path(model, folds=4),
        "cv": ps.cross_validate(model, folds=4),
        "thresholds": fit.thresholds(seed=1),
        "reliability": ps.reliability(train["outcome"], fit.predict_proba()),
        "areas": ps.compare_roc(fit, small, NEW, names=ASSAYS[:2]),
        "recall": ps.precision_recall(train["outcome"], fit.decision_function()),
        "benefit": ps.decision_curve(train["outcome"], sides),
        "tuning": ps.tune_kernel(kernel, [0.1, 1.0], [1e-1, 1e-3], folds=3),
    }


NEW = DATA[150:]
FIGURES = {
    "roc": lambda f, **k: f["fit"].plot.roc(NEW, **k),
    "scores": lambda f, **k: f["fit"].plot.scores(NEW, **k),
    "probabilities": lambda f, **k: f["fit"].plot.probabilities(NEW, **k),
    "coefficients": lambda f, **k: f["fit"].plot.coefficients(**k),
    "odds ratios": lambda f, **k: f["fit"].plot.odds_ratios(**k),
    "effect": lambda f, **k: f["fit"].plot.effect("dose", points=5, **k),
    "effect of a factor": lambda f, **k: f["fit"].plot.effect("assay", **k),
    "margins of effects": lambda f, **k: f["fit"].margins().plot(**k),
    "models": lambda f, **k: f["compared"].plot(**k),
    "ROC of models": lambda f, **k: f["compared"].plot_roc(NEW, **k),
    "ROC of folds": lambda f, **k: f["cv"].plot_roc(**k),
    "precision and recall": lambda f, **k: f["recall"].plot(**k),
    "decision curve": lambda f, **k: f["benefit"].plot(**k),
    "two areas": lambda f, **k: f["areas"].plot(**k),
    "differences": lambda f, **k: f["errors"].plot(**k),
    "path": lambda f, **k: f["path"].plot(**k),
    "coefficients along a path": lambda f, **k: f["path"].plot_coefficients(**k),
    "thresholds": lambda f, **k: f["thresholds"].plot(**k),
    "reliability": lambda f, **k: f["reliability"].plot(**k),
    "losses": lambda f, **k: ps.plot_losses(**k),
}
TILES = {
    "confusion": lambda f, **k: f["fit"].plot.confusion(NEW, **k),
    "image": lambda f, **k: f["fit"].plot.coefficient_image((2, 2), **k),
    "tuning": lambda f, **k: f["tuning"].plot(**k),
}


def assert_inside(figure):
    """All that is drawn is inside the figure, but for a pixel or two."""
    figure.draw_without_rendering()
    box, sides = figure.get_tightbbox(), figure.get_size_inches()
    assert (box.min > -0.03).all(), box
    assert (box.max < sides + 0.03).all(), box


@pytest.mark.parametrize("name", [*FIGURES, *TILES])
def test_figures_keep_settings_and_names_inside(found, name):
    draw = (FIGURES | TILES)[name]
    with plt.style.context("dark_background"):
        mpl.rcParams["figure.dpi"] = 80.0
        ax = plt.subplots(figsize=(3.5, 2.6))[1]
        before = dict(mpl.rcParams)
        assert draw(found, ax=ax) is ax
        assert dict(mpl.rcParams) == before
        assert_inside(ax.figure)


@pytest.mark.parametrize("dpi", [80, 100, 150, 300])
def test_no_text_is_cut_at_another_resolution(dpi):
    """Letters of 100 dpi are narrower; texts are fitted before a figure is saved."""
    formula, data = "affair ~ rate_marriage + yrs_married", ps.load_affairs()[::4]
    svm, logit = (model(formula, data).fit() for model in (ps.svm, ps.logit))
    for draw in (svm.plot.scores, logit.plot.binned_residuals):
        ax = plt.subplots(figsize=(3.5, 3.5), layout="constrained", dpi=100)[1]
        draw(ax=ax)
        ax.figure.set_dpi(dpi)
        assert_inside(ax.figure)


def test_square_axes_with_long_names_cut_no_text():
    """Layouts of square axes rest later than those of others."""
    with mpl.rc_context({"figure.dpi": 100.0}):
        ax = plt.subplots(figsize=(3.5, 3.5), layout="constrained")[1]
    style.square_axes(ax, top=0.2)
    name = "died or transplanted before the end of the study"
    style.draw_line(ax, [0.0, 0.2], [0.0, 0.2], line={}, label=name)
    labels = {"xlabel": f"Predicted, {name}", "ylabel": f"Observed, {name}"}
    style.finish(ax, **labels)
    assert_inside(ax.figure)


@pytest.mark.parametrize("name", FIGURES)
def test_lines_have_the_keywords_of_the_user(found, name):
    with mpl.rc_context({"figure.dpi": 80.0}):
        before = dict(mpl.rcParams)
        ax = FIGURES[name](found, color="#123456", linewidth=3.25)
        assert (dict(mpl.rcParams), ax.figure.dpi) == (before, 80.0)
    drawn = {(line.get_color(), line.get_linewidth()) for line in ax.get_lines()}
    outlines = {patch.get_linewidth() for patch in ax.patches}
    assert ("#123456", 3.25) in drawn or 3.25 in outlines
    with pytest.raises(OptionError, match="colour"):
        FIGURES[name](found, colour="red")


@pytest.mark.parametrize("name", ["roc", "scores", "coefficients", "reliability"])
def test_a_figure_is_drawn_twice_with_a_label_each(found, name):
    ax = plt.subplots()[1]
    for label in ("one", "two"):
        FIGURES[name](found, ax=ax, label=label)
    words = " ".join(legend(ax))
    assert all(label in words for label in ("one", "two"))
    places = [line.get_label() for line in ax.get_lines()]
    for reference in ("_Chance", "_As predicted", "Threshold 0"):
        assert places.count(reference) <= 1


def test_bands_are_as_visible_in_dark_styles(found):
    contrasts = []
    for name in ("default", "dark_background"):
        with plt.style.context(name):
            ax = FIGURES["effect"](found)
            red, green, blue, opacity = ax.collections[0].get_facecolor()[0]
            page = np.array(to_rgb(ax.get_facecolor()))
            mixed = opacity * np.array([red, green, blue]) + (1.0 - opacity) * page
            light = [[0.2126, 0.7152, 0.0722] @ c**2.2 for c in (mixed, page)]
            # The ratio of WCAG 2, with a power for its piecewise curve.
            contrasts.append((max(light) + 0.05) / (min(light) + 0.05))
    assert min(contrasts) > 1.25


def test_references_are_visible_in_dark_styles(found):
    for name in ("roc", "reliability"):
        with plt.style.context("dark_background"):
            ax = FIGURES[name](found)
            line = next(x for x in ax.get_lines() if x.get_label()[0] == "_")
            assert to_rgb(line.get_color()) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("width", [8, 12, 16, 24])
def test_different_names_stay_different(width):
    numbers = [f"metabolite number {j} measured in plasma" for j in range(60)]
    for names in (ASSAYS, numbers, [f"{'a' * 40}{j}{'b' * 40}" for j in range(12)]):
        short = style.abbreviate(names, width)
        assert len(set(short)) == len(names)
        assert max(map(len, short)) <= width


def test_odds_ratios_are_exponents_with_a_row_for_the_reference(found):
    fit = found["fit"]
    ax = FIGURES["odds ratios"](found)
    names = [text.get_text().replace("\n", " ") for text in ax.get_yticklabels()]
    assert sum("(ref.)" in name for name in names) == 1
    assert names.count("assay:") == 1
    assert len(names) == len(fit.coef) + 2
    assert ax.get_xscale() == "log"
    points = next(x for x in ax.get_lines() if len(x.get_xdata()) == len(fit.coef))
    np.testing.assert_allclose(points.get_xdata(), np.exp(fit.coef), rtol=1e-12)


def test_an_effect_is_the_average_prediction(found):
    ax = FIGURES["effect"](found)
    line = ax.get_lines()[0]
    at = {"dose": list(line.get_xdata())}
    expected = found["fit"].predictions(at=at).tidy()
    np.testing.assert_allclose(line.get_ydata(), expected["estimate"], rtol=1e-12)
    low = ax.collections[0].get_paths()[0].vertices[:, 1].min()
    assert low == pytest.approx(expected["conf_low"].min(), rel=1e-12)
    assert ax.get_lines()[1].get_xdata().size == 150  # the rug


def test_effects_at_values_have_a_panel_each(found):
    fit, at = found["fit"], {"assay": ASSAYS}
    drawn = fit.plot.effect("dose", at=at, points=5)
    titles = [ax.get_title().replace("\n", " ") for ax in drawn]
    assert titles == [f"assay {name}" for name in ASSAYS]
    sides = [ax.yaxis.get_tick_params()["labelleft"] for ax in drawn]
    assert sides == [True, False, False]
    assert len({ax.get_ylim() for ax in drawn}) == 1
    lines = [ax.get_lines()[0] for ax in drawn]
    dose = float(lines[0].get_xdata()[2])
    expected = fit.predictions(at={"dose": [dose], **at}).tidy()["estimate"]
    heights = [line.get_ydata()[2] for line in lines]
    np.testing.assert_allclose(heights, expected, rtol=ROUNDING)
    one = fit.plot.effect("dose", at=at, points=5, ax=panels())
    assert not one.collections  # no bands on each other
    with pytest.raises(OptionError, match="one panel or 3"):
        fit.plot.effect("dose", at=at, points=5, ax=panels(2))


def test_averages_at_values_are_below_the_value(found):
    at = {"dose": [-1.0, 1.0]}
    for averages, count in ((found["fit"].predictions, 3), (found["fit"].margins, 3)):
        ax = averages("assay", at=at).plot(ax=panels())
        names = [text.get_text().replace("\n", " ") for text in ax.get_yticklabels()]
        assert names[0] == "assay at dose = -1:"
        assert names[count + 1] == "assay at dose = 1:"
        assert len(names) == 2 * (count + 1)


def test_a_long_heading_names_the_predictor_that_is_set(found):
    at = {"cost in $ per $day": [50.25, 60.5]}
    ax = found["fit"].predictions("assay", at=at).plot(ax=panels(2, 2)[0, 0])
    names = [text.get_text().replace("\n", " ") for text in ax.get_yticklabels()]
    for name, value in zip(names[::4], ("50.25:", "60.5:"), strict=True):
        assert name.endswith(f"day = {value}")


def test_intervals_have_their_level_and_the_line_of_all_rows_its_name(found):
    table = found["fit"].confusion(NEW, by="assay")
    ax = table.plot(conf_level=0.975, ax=panels())
    assert "Error rate, 97.5% interval" in ax.get_xlabel()
    assert legend(ax) == ["All rows"]
    ax = found["errors"].plot(conf_level=0.9, ax=panels())
    assert "90% interval" in " ".join(ax.get_xlabel().split())
    assert "95% interval" in FIGURES["models"](found, ax=panels()).get_xlabel()


@pytest.fixture(scope="module")
def awkward():
    """A fit with long names that are not ASCII, in more rows than a column has room."""
    rng = np.random.default_rng(3)
    wards = ["Abteilung für Gefäßchirurgie und Angiologie", "Łódź – Szpital", "HNO"]
    wards += [f"Hôpital Necker–Enfants malades, unité № {j}" for j in range(9)]
    data = pd.DataFrame({"Station": rng.choice(wards, 400), "x": rng.normal(size=400)})
    yes = "innerhalb von 30 Tagen erneut stationär aufgenommen"
    ill = data["x"] + rng.normal(size=400) > 1.0
    data["Ergebnis"] = np.where(ill, yes, "nicht erneut stationär aufgenommen")
    data.loc[:9, "Station"] = None
    return ps.logit("Ergebnis ~ Station + x", data).fit(), data


AWKWARD = {
    "odds_ratios": lambda fit, _, ax: fit.plot.odds_ratios(ax=ax),
    "coefficients": lambda fit, _, ax: fit.plot.coefficients(ax=ax),
    "roc": lambda fit, data, ax: fit.plot.roc(data, ax=ax),
    "scores": lambda fit, data, ax: fit.plot.scores(data, ax=ax),
    "rates": lambda fit, data, ax: fit.plot.rates(data, ax=ax),
    "confusion": lambda fit, data, ax: fit.plot.confusion(data, ax=ax),
    "binned_residuals": lambda fit, data, ax: fit.plot.binned_residuals(data, ax=ax),
    "effect": lambda fit, _, ax: fit.plot.effect("x", points=5, ax=ax),
    "margins": lambda fit, _, ax: fit.margins().plot(ax=ax),
}


@pytest.mark.parametrize("width", [3.5, 7.0])
@pytest.mark.parametrize("name", AWKWARD)
def test_long_names_are_inside_and_do_not_overlap(awkward, name, width):
    ax = plt.subplots(figsize=(width, 2.8), layout="constrained")[1]
    AWKWARD[name](*awkward, ax)
    assert_inside(ax.figure)
    renderer = ax.figure.canvas.get_renderer()  # texts that are not drawn keep one
    boxes = [text.get_window_extent(renderer) for text in ax.get_yticklabels()]
    own = sorted((box.y0, box.y1) for box in boxes if box.width > 0.0)
    assert all(below[1] <= above[0] + 1.0 for below, above in pairwise(own))
    inches = ax.get_window_extent().size / ax.figure.dpi
    assert min(inches) > 1.0  # names and legend leave room for the data
    if name == "confusion":
        tile = ax.get_window_extent().width / 3.0
        assert all(text.get_window_extent().width <= tile for text in ax.texts)


def test_rates_are_those_of_the_confusion_table(found):
    ax = found["fit"].plot.rates(NEW, ax=panels())
    for cut in (0.2, 0.5, 0.7):
        counts = found["fit"].confusion(NEW, threshold=cut).counts[:, :2]
        right = np.diag(counts) / counts.sum(axis=1)
        for line, share in zip(ax.get_lines(), right[::-1], strict=True):
            at = np.searchsorted(line.get_xdata(), cut)
            assert line.get_ydata()[at] == pytest.approx(share, rel=ROUNDING)


def test_binned_residuals_sum_to_the_difference_of_means(found):
    ax = found["fit"].plot.binned_residuals(NEW, ax=panels())
    points = ax.get_lines()[1].get_ydata()
    p = found["fit"].predict_proba(NEW).iloc[:, 1]
    actual = NEW["outcome"] == found["fit"].coding.positive
    assert len(points) == 7  # the root of 50 rows
    sizes = [8, 7, 7, 7, 7, 7, 7]
    assert points @ sizes == pytest.approx((actual - p).sum(), rel=1e-9)


def test_regions_change_where_the_prediction_does(found):
    fit = found["fit"]
    ax = fit.plot.regions("dose", "cost in $ per $day", NEW, at={"assay": ASSAYS[1]})
    (boundary,) = ax.collections[-1].get_paths()
    x, y = boundary.vertices[len(boundary.vertices) // 2]
    row = NEW.head(1).assign(**{"dose": x, "cost in $ per $day": y, "assay": ASSAYS[1]})
    assert fit.decision_function(row).item() == pytest.approx(0.0, abs=1e-9)
    assert sum(len(line.get_xdata()) for line in ax.get_lines()) == len(NEW)
    with pytest.raises(OptionError, match=r"^x='assay'"):
        fit.plot.regions("assay", "dose", NEW)


def test_the_resamples_of_a_coefficient_are_a_histogram(found):
    fit = found["fit"].with_covariance(ps.Bootstrap(99, seed=1))
    ax = fit.plot.bootstrap("dose", ax=panels())
    assert ax.patches[0].get_data().values.sum() == len(fit.covariance.estimates)
    low, high = fit.conf_int().loc["dose"]
    marks = [line.get_xdata()[0] for line in ax.get_lines()]
    assert marks == [fit.params["dose"], low, high]
    with pytest.raises(OptionError, match=r"^term='sugar'"):
        fit.plot.bootstrap("sugar")
    with pytest.raises(OptionError, match="no resamples"):
        found["fit"].plot.bootstrap("dose")


def test_lines_on_axes_of_the_user_have_our_colours_and_dashes(found):
    for name in ("ROC of models", "decision curve", "two areas"):
        ax = FIGURES[name](found, ax=plt.subplots()[1])
        lines = [line for line in ax.get_lines() if line.get_linestyle() != "None"]
        own = [line for line in lines if line.get_color() in style.COLOURS]
        assert [line.get_color() for line in own] == list(style.COLOURS[:2])
        assert [line.get_linestyle() for line in own] == ["-", "--"]


def test_a_map_has_a_cell_for_each_pair(found):
    ax = TILES["tuning"](found)
    cells = sum(part.get_array().size for part in ax.collections)
    assert cells == len(found["tuning"].table)
    (best,) = ax.get_lines()
    assert best.get_xydata().tolist() == [[found["tuning"].lam, found["tuning"].gamma]]


def test_probabilities_are_shares_by_level(found):
    ax = FIGURES["probabilities"](found)
    p = found["fit"].predict_proba(NEW).iloc[:, 1].to_numpy()
    shares, edges = ax.patches[2].get_data()[:2]
    own = p[NEW["outcome"] == found["fit"].coding.positive]
    np.testing.assert_allclose(shares, np.histogram(own, edges)[0] / own.size)


def test_a_later_panel_cuts_no_text_of_an_earlier_one(awkward):
    figure, axes = plt.subplots(2, 2, figsize=(7, 6), layout="constrained")
    names = ["margins", "roc", "scores", "odds_ratios"]
    drawn = [AWKWARD[n](*awkward, ax) for n, ax in zip(names, axes.flat, strict=True)]
    assert_inside(figure)
    own = drawn[2].legend(["mine"], loc="lower right")
    drawn[0].set_title("Mine", fontsize=7, fontweight="bold")
    AWKWARD["odds_ratios"](*awkward, axes.flat[3])
    assert drawn[2].get_legend() is own
    assert drawn[0].title.get_fontsize() == 7
    assert drawn[0].title.get_fontweight() == "bold"


def test_labels_break_between_words_and_the_reference_keeps_its_mark():
    assert style.balance_text("Log loss, cross-validated", 16).split("\n")[0][-1] == ","
    names = ["oedema absent, no therapy (ref.)", "oedema present with therapy"]
    reference, other = style.fit_names(names, 20, 1)
    assert reference.endswith("… (ref.)")
    assert max(len(reference), len(other)) <= 20
    assert (
        style.fit_names(["oedema absent, none", "HIV clinic"], 12, 1)[1] == "HIV clinic"
    )


def test_a_map_has_its_ticks_at_the_values_of_the_grid(found):
    ax = TILES["tuning"](found, ax=plt.subplots(figsize=(7, 4))[1])
    ax.figure.draw_without_rendering()
    tuning = found["tuning"]
    assert set(ax.get_xticks()) <= {float(f"{x:.3g}") for x in tuning.table["lam"]}
    assert set(ax.get_yticks()) == {float(f"{x:.3g}") for x in tuning.table["gamma"]}


def test_predictions_of_two_factors_have_a_heading_for_each_level_of_the_first():
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"y": rng.choice(["a", "b"], 200)})
    data["ward"] = rng.choice(["HIV", "ICU"], 200)
    data["stage"] = rng.choice(["early, treated", "late"], 200)
    fit = ps.logit("y ~ ward + stage", data).fit()
    ax = fit.predictions(["ward", "stage"]).plot()
    names = [text.get_text() for text in ax.get_yticklabels()]
    of_level = ["stage early, treated", "stage late"]
    assert names == ["ward HIV:", *of_level, "ward ICU:", *of_level]
    folds = ps.cross_validate(ps.logit("y ~ ward", data), folds=4, seed=1)
    axes = plt.subplots(len(folds.tidy()))[1]
    assert all(ax.spines["left"].get_visible() for ax in folds.plot(ax=axes))


def test_shortened_names_keep_whole_words_and_a_level_its_end():
    names = ["no admission within thirty days", "planned admission within thirty days"]
    assert style.abbreviate(names, 24) == [
        "no … within thirty days",
        "planned admission … days",
    ]
    wards = [
        "Municipal hospital",
        *(f"University hospital, {c}" for c in ("Kiel", "Ulm")),
    ]
    assert style.abbreviate(wards, 16) == [
        "Municipal…",
        "…hospital, Kiel",
        "…hospital, Ulm",
    ]


def test_a_comma_in_a_level_of_the_first_factor_leaves_its_heading():
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"y": rng.choice(["a", "b"], 200)})
    data["ward"] = rng.choice(["HIV", "ICU, old"], 200)
    data["stage"] = rng.choice(["early", "late"], 200)
    ax = ps.logit("y ~ ward + stage", data).fit().predictions(["ward", "stage"]).plot()
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names[::3] == ["ward HIV:", "ward ICU, old:"]


def test_numbers_below_narrow_panels_do_not_touch():
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"y": rng.choice(["a", "b"], 90), "age": rng.normal(50, 9, 90)})
    data["income"] = rng.uniform(0, 300_000, 90)
    axes = plt.subplots(1, 3, figsize=(7, 3), layout="constrained")[1]
    fit = ps.logit("y ~ income + age", data).fit()
    fit.plot.effect("income", at={"age": [40, 50, 60]}, ax=axes)
    axes[0].figure.draw_without_rendering()
    renderer = axes[0].figure.canvas.get_renderer()
    for ax in axes:
        boxes = [text.get_window_extent(renderer) for text in ax.get_xticklabels()]
        inside = [box for box in boxes if box.x1 > ax.bbox.x0 and box.x0 < ax.bbox.x1]
        assert all(a.x1 < b.x0 for a, b in pairwise(inside))


def test_curves_of_different_rows_state_both_numbers_of_excluded_rows():
    data = NEW.copy()
    data.loc[data.index[:3], "dose"] = np.nan
    larger, smaller = (
        ps.logit(f"outcome ~ {terms}", NEW).fit() for terms in ("dose + assay", "assay")
    )
    ax = larger.plot.roc(data, label="larger")
    smaller.plot.roc(data, label="smaller", ax=ax)
    label = " ".join(ax.get_xlabel().split())
    assert "(0 to 3 rows without label or score excluded)" in label
