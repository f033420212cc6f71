"""Figures of fits: what their lines, bars, tiles, axes and texts show."""

import sys
from io import BytesIO
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

mpl.use("Agg")


import pegasos_stats as ps
from pegasos_stats.errors import DataError, DependencyError, OptionError
from pegasos_stats.output.plotting.scores import bin_edges, level_shares
from pegasos_stats.output.plotting.style import NEGATIVE, POSITIVE
from tests.output.figures import ROUNDING, legend, panels
from tests.output.figures import line as line_of

_, TEST = ps.datasets.load_digits56()

# Unequal levels, overlapping scores, names that matplotlib could misread.
RNG = np.random.default_rng(7)
ODD = pd.DataFrame(RNG.normal(size=(300, 3)), columns=["a $x$ b", "_hidden", "z" * 90])
NOISE = RNG.normal(size=300)
ODD["y"] = np.where(ODD.sum(axis=1) + NOISE > 2.0, "$rare$", "_usual")


pytestmark = pytest.mark.usefixtures("closed")


@pytest.fixture(scope="module")
def odd():
    return ps.Logit(ODD["y"], ODD.drop(columns="y"), lam=0.01).fit(trace=True)


def shares_of(ax):
    """Heights of the bars of both levels, and their edges."""
    return [(p.get_data().values, p.get_data().edges) for p in ax.patches[::2]]


def test_bars_are_the_shares_of_each_level(digits):
    ax = digits.plot.margins(TEST, ax=panels())
    scores = digits.decision_function(TEST).to_numpy()
    for (shares, edges), level, sign in zip(
        shares_of(ax), (5, 6), (-1, 1), strict=True
    ):
        margins = sign * scores[TEST["digit"] == level]
        counts = [
            ((margins >= low) & (margins < high)).sum() for low, high in pairwise(edges)
        ]
        np.testing.assert_allclose(shares * margins.size, counts, rtol=ROUNDING)
        assert sum(counts) == margins.size


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 0.01, 1.0, 37.0, 1e12, 1e300])
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


def test_rows_left_out_are_counted(digits):
    gaps = TEST.astype(float)
    gaps.iloc[:7, 3] = np.nan
    assert "7 rows without" in digits.plot.margins(gaps, ax=panels()).get_xlabel()
    assert "7 rows without" in digits.plot.roc(gaps, ax=panels()).get_xlabel()
    gaps.iloc[:, 3] = np.nan
    for figure in (digits.plot.margins, digits.plot.roc):
        with pytest.raises(DataError, match="None of 163 rows"):
            figure(gaps)


@pytest.mark.parametrize("name", ["digits", "odd", "kernel"])
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


@pytest.mark.parametrize("digit", [5, 6])
def test_a_curve_needs_both_levels(digits, digit):
    rows, other = TEST[TEST["digit"] == digit], 11 - digit
    with pytest.raises(DataError, match=f"^None of {len(rows)} rows is {other} "):
        digits.plot.roc(rows)
    with pytest.raises(DataError, match=r"^None of 0 rows is 5 and has"):
        digits.plot.roc(TEST[:0])
    with pytest.raises(DataError, match="None of 0 rows"):
        digits.plot.margins(TEST[:0])
    one = digits.plot.margins(TEST[TEST["digit"] == 5], ax=panels())
    assert shares_of(one)[1][0].sum() == 0.0


def test_coefficients_are_points_in_order(digits):
    ax = digits.plot.coefficients(max_terms=12, ax=panels())
    shown = np.concatenate([line.get_xdata() for line in ax.get_lines()[1:]])
    largest = digits.coef.abs().nlargest(12).index
    assert sorted(shown) == sorted(digits.coef[largest])
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == digits.coef[largest].sort_values(ascending=False).index.tolist()
    assert ax.get_title().startswith("The 12 largest of 64 coefficients")
    assert "below 0 for 5, above 0 for 6" in ax.get_xlabel().replace("\n", " ")
    for line, colour in zip(ax.get_lines()[1:], (NEGATIVE, POSITIVE), strict=True):
        assert line.get_color() == colour
        assert ((line.get_xdata() > 0.0) == (colour == POSITIVE)).all()


def test_all_coefficients_can_be_drawn_and_are_named_in_full(digits, odd):
    ax = digits.plot.coefficients(max_terms=None)
    assert len(ax.get_yticklabels()) == 64
    assert "largest" not in ax.get_title()
    names = [x.get_text() for x in odd.plot.coefficients().get_yticklabels()]
    joined = {name.replace("\n", "").replace(r"\$", "$").strip() for name in names}
    assert {"a $x$ b", "_hidden"} < joined
    with pytest.raises(OptionError, match="max_terms=0"):
        digits.plot.coefficients(0)


@pytest.mark.parametrize("shape", [(8, 8), [16, 4], np.array([2, 32]), (1, 64)])
def test_the_image_is_the_coefficients_row_by_row(digits, shape):
    ax = digits.plot.coefficient_image(shape)
    (image,) = ax.images
    beta = digits.coef.to_numpy()
    np.testing.assert_array_equal(image.get_array(), beta.reshape(shape))
    assert image.get_clim() == (-abs(beta).max(), abs(beta).max())
    assert ax.get_aspect() == 1.0
    ax.figure.savefig(BytesIO(), format="png")


@pytest.mark.parametrize("shape", [(8, 9), (64,), 64, (8.0, 8), (0, 64), "88", None])
def test_other_shapes_are_refused(digits, shape):
    with pytest.raises(OptionError, match="shape="):
        digits.plot.coefficient_image(shape)


def test_kernels_have_no_coefficients_to_draw(kernel):
    for name in ("coefficients", "coefficient_image"):
        with pytest.raises(AttributeError, match="no coefficients"):
            getattr(kernel.plot, name)
    assert repr(kernel.plot) == "<Figures: trace, margins, confusion, roc>"


def tiles(ax):
    return [text.get_text() for text in ax.texts]


def pixels(ax):
    out = BytesIO()
    np.ravel(ax)[0].figure.savefig(out, format="rgba")
    return out.getvalue()


def test_loaded_fits_draw_what_needs_no_training_rows(digits, kernel, tmp_path):
    for result in (digits, kernel):
        ps.save(result, tmp_path / "model")
        loaded = ps.load(tmp_path / "model")
        own, again = (r.plot.confusion(ax=panels()) for r in (result, loaded))
        assert tiles(own) == tiles(again)
        for figure in ("margins", "roc"):
            with pytest.raises(DataError, match="give data"):
                getattr(loaded.plot, figure)()
            drawn = [
                getattr(r.plot, figure)(TEST, ax=panels()) for r in (result, loaded)
            ]
            assert legend(drawn[0]) == legend(drawn[1])
    ps.save(digits, tmp_path / "model")
    plots = ps.load(tmp_path / "model").plot
    for figure, given, grid in (
        ("trace", (), (3,)),
        ("coefficients", (), ()),
        ("coefficient_image", ((8, 8),), ()),
    ):
        own, again = (
            pixels(getattr(each, figure)(*given, ax=panels(*grid)))
            for each in (digits.plot, plots)
        )
        assert own == again != pixels(panels(*grid))


def test_a_missing_matplotlib_is_named(digits, monkeypatch):
    for library in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, library, None)
    plots = digits.plot
    draws = [plots.margins, plots.confusion, plots.roc, plots.coefficients]
    for draw in [*draws, lambda: plots.coefficient_image((8, 8))]:
        with pytest.raises(DependencyError, match=r"pegasos_stats\[plot\]"):
            draw()
