"""What holds of all figures: axes, keywords, settings, names inside the figure."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

mpl.use("Agg")

from matplotlib import pyplot as plt

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.output.plotting import style
from tests.output.figures import legend

pytestmark = pytest.mark.usefixtures("closed")

ASSAYS = [f"concentration in plasma {letter}" for letter in "ABC"]
RNG = np.random.default_rng(1)
DATA = pd.DataFrame(
    {
        "cost in $ per $day": RNG.normal(60.0, 10.0, 200),
        "assay": RNG.choice(ASSAYS, 200),
        "dose": RNG.normal(size=200),
    }
)
ODDS = np.exp(DATA["dose"] + (DATA["assay"] == ASSAYS[1]) - 0.5)
DATA["outcome"] = np.where(
    RNG.random(200) < ODDS / (1.0 + ODDS), "readmitted within thirty days", "$not$"
)


@pytest.fixture(scope="module")
def found():
    """Everything that has a figure, of data with awkward names."""
    train = DATA[:150]
    model = ps.logit("outcome ~ .", train)
    fit, small = model.fit(), ps.logit("outcome ~ dose", train).fit()
    cv = ps.cross_validate(model, folds=4)
    kernel = ps.kernel_svm("outcome ~ dose", train)
    traced = ps.logit("outcome ~ .", train, lam=0.1).fit(
        ps.Pegasos(epochs=3, seed=1), trace=True
    )
    models = {"with the assay": model, "dose": ps.logit("outcome ~ dose", train)}
    return {
        "fit": fit,
        "traced": traced,
        "compared": ps.compare_models({"with the assay": fit, "dose only": small}),
        "errors": ps.compare_errors(models, folds=4),
        "path": ps.lambda_path(model, folds=4),
        "cv": cv,
        "thresholds": fit.thresholds(seed=1),
        "reliability": ps.reliability(train["outcome"], fit.predict_proba()),
        "areas": ps.compare_roc(fit, small, NEW, names=ASSAYS[:2]),
        "recall": ps.precision_recall(train["outcome"], fit.decision_function()),
        "benefit": ps.decision_curve(
            train["outcome"],
            {ASSAYS[0]: fit.predict_proba(), ASSAYS[1]: small.predict_proba()},
        ),
        "tuning": ps.tune_kernel(kernel, [0.1, 1.0], [1e-1, 1e-3], folds=3),
    }


NEW = DATA[150:]
FIGURES = {
    "roc": lambda f, **k: f["fit"].plot.roc(NEW, **k),
    "margins": lambda f, **k: f["fit"].plot.margins(NEW, **k),
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
        own = draw(found)
        assert dict(mpl.rcParams) == before
        assert own.figure.dpi == 80.0
        assert_inside(own.figure)


@pytest.mark.parametrize("name", FIGURES)
def test_lines_have_the_keywords_of_the_user(found, name):
    ax = FIGURES[name](found, color="#123456", linewidth=3.25)
    drawn = [
        line
        for line in ax.get_lines()
        if line.get_color() == "#123456" and line.get_linewidth() == 3.25
    ]
    outlines = [p for p in ax.patches if p.get_linewidth() == 3.25]
    assert drawn or outlines
    with pytest.raises(OptionError, match="colour"):
        FIGURES[name](found, colour="red")


@pytest.mark.parametrize(
    "name",
    [
        *["roc", "margins", "coefficients", "effect", "path", "reliability"],
        *["two areas", "precision and recall", "decision curve"],
    ],
)
def test_a_figure_is_drawn_twice_with_a_label_each(found, name):
    ax = plt.subplots()[1]
    for label in ("one", "two"):
        FIGURES[name](found, ax=ax, label=label)
    words = " ".join(legend(ax))
    assert "one" in words
    assert "two" in words
    places = [line.get_label() for line in ax.get_lines()]
    for reference in ("_Chance", "_As predicted", "Margin 0"):
        assert places.count(reference) <= 1


def test_references_are_visible_in_dark_styles(found):
    for name in ("roc", "reliability"):
        with plt.style.context("dark_background"):
            ax = FIGURES[name](found)
            line = next(x for x in ax.get_lines() if x.get_label()[0] == "_")
            assert to_rgb(line.get_color()) == (1.0, 1.0, 1.0)


def test_fonts_are_embedded_as_truetype(found, tmp_path):
    ax = FIGURES["roc"](found)
    before = dict(mpl.rcParams)
    ax.figure.savefig(tmp_path / "roc.pdf")
    assert dict(mpl.rcParams) == before
    assert b"/Type3" not in (tmp_path / "roc.pdf").read_bytes().replace(b" ", b"")


@pytest.mark.parametrize("width", [8, 12, 16, 24])
def test_different_names_stay_different(width):
    numbers = [f"metabolite number {j} measured in plasma" for j in range(60)]
    for names in (ASSAYS, numbers, [f"{'a' * 40}{j}{'b' * 40}" for j in range(12)]):
        short = style.abbreviated(names, width)
        assert len(set(short)) == len(names)
        assert max(map(len, short)) <= width


def test_shares_end_at_a_hundred_percent(found):
    for name in ("margins", "probabilities", "roc", "reliability"):
        axis = FIGURES[name](found).yaxis
        assert axis.get_major_formatter()(1.0, 0) == "100%"
        assert axis.get_major_formatter()(1.2, 0) == ""


def test_odds_ratios_are_exponents_with_a_row_for_the_reference(found):
    fit = found["fit"]
    ax = FIGURES["odds ratios"](found)
    names = [text.get_text().replace("\n", " ") for text in ax.get_yticklabels()]
    assert sum("(reference)" in name for name in names) == 1
    assert len(names) == len(fit.coef) + 1
    assert ax.get_xscale() == "log"
    points = next(x for x in ax.get_lines() if x.get_marker() == "s")
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


def test_a_map_has_a_cell_for_each_pair(found):
    ax = TILES["tuning"](found)
    cells = sum(part.get_array().size for part in ax.collections)
    assert cells == len(found["tuning"].table)
    (best,) = ax.get_lines()
    assert best.get_xydata().tolist() == [[found["tuning"].lam, found["tuning"].gamma]]


def test_folds_with_one_level_have_no_curve():
    rows = DATA[:40].assign(outcome=["a"] * 3 + ["b"] * 37)
    splits = [(np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40))]
    levels = np.array([0] * 3 + [1] * 37)
    scores = RNG.normal(size=40)
    from pegasos_stats.output.plotting.scores import draw_fold_rocs

    parts = [(levels[test], scores[test]) for _, test in splits]
    ax = draw_fold_rocs(parts, ("a", "b"), None, {})
    assert len(rows) == 40
    assert "1 fold with one level left out" in legend(ax)[0]


def test_probabilities_are_shares_by_level(found):
    ax = FIGURES["probabilities"](found)
    p = found["fit"].predict_proba(NEW).iloc[:, 1].to_numpy()
    shares, edges = ax.patches[2].get_data()[:2]
    own = p[NEW["outcome"] == found["fit"].coding.positive]
    np.testing.assert_allclose(shares, np.histogram(own, edges)[0] / own.size)


def test_an_effect_is_of_one_predictor(found):
    with pytest.raises(OptionError, match="assay"):
        found["fit"].plot.effect(["dose", "assay"])
