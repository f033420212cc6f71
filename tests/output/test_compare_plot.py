"""Figures of studies: what their lines, bands, axes and legends show."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.output.plotting.style import lines

TRAIN, TEST = ps.datasets.load_digits56()
SOLVERS = {
    "Pegasos": ps.Pegasos(epochs=12),
    "SDCA": ps.SDCA(tol=1e-7),
    "in $order$": ps.Pegasos(epochs=12, order="sequential"),
    "_hidden": ps.Pegasos(epochs=1),
}
GREY = np.array([0.2126, 0.7152, 0.0722])  # weights of luminance, ITU-R BT.709


@pytest.fixture(scope="module")
def study():
    model = ps.svm("digit ~ .", TRAIN, lam=0.1)
    return ps.compare_solvers(model, SOLVERS, runs=12, test=TEST, seed=443)


def axes(rows=3):
    return Figure().subplots(rows)


def line_of(ax, name):
    (found,) = [line for line in ax.get_lines() if line.get_label() == name]
    return found


def quantile(study, name, measure, column="q50"):
    found = study.tidy()
    at = (found["solver"] == name) & (found["measure"] == measure)
    return found.loc[at, column].to_numpy()


def test_lines_go_through_the_medians(study):
    loss, error, gap = study.plot(ax=axes())
    for ax, measure in ((loss, "objective"), (error, "test_error"), (gap, "gap")):
        line = line_of(ax, "Pegasos")
        np.testing.assert_array_equal(
            line.get_ydata(), quantile(study, "Pegasos", measure)
        )
    seconds = quantile(study, "Pegasos", "cpu_seconds")
    assert "(s)" in loss.get_xlabel()
    np.testing.assert_array_equal(line_of(loss, "Pegasos").get_xdata(), seconds)
    assert line_of(gap, "Pegasos").get_xdata().tolist() == list(range(1, 13))


def test_bands_go_from_the_5_to_the_95_percent_quantile(study):
    _, _, gap = study.plot(ax=axes())
    (path,) = gap.collections[0].get_paths()
    y = path.vertices[:, 1]
    assert y.min() == quantile(study, "Pegasos", "gap", "q05").min()
    assert y.max() == quantile(study, "Pegasos", "gap", "q95").max()


def test_the_bound_is_a_line_or_taken_off(study):
    loss, _, _ = study.plot(ax=axes())
    bound = line_of(loss, "Certified lower bound")
    assert set(bound.get_ydata()) == {study.lower_bound}
    loss, _, _ = study.plot(ax=axes(), excess=True)
    np.testing.assert_array_equal(
        line_of(loss, "Pegasos").get_ydata(),
        quantile(study, "Pegasos", "objective") - study.lower_bound,
    )
    assert "above the certified bound" in loss.get_title("left") + loss.get_title()


def test_no_two_lines_are_alike_and_none_is_told_by_colour_alone():
    many = lines(36)
    assert len({(line.colour, str(line.dashes)) for line in many}) == 36
    first = lines(6)
    assert len({str(line.dashes) for line in first}) == 6
    assert len({line.marker for line in first}) == 6
    # In grey every line stands out from white: a luminance of at most 0.7.
    assert all(GREY @ to_rgb(line.colour) <= 0.7 for line in first)


@pytest.mark.parametrize("given", [axes(1), axes(2), ["a", "b", "c"], axes(4)])
def test_axes_must_be_three(study, given):
    with pytest.raises(OptionError, match="give three axes"):
        study.plot(ax=given)
