"""Figures of confusion tables: tiles, their texts and ink, the names of levels."""

from io import BytesIO

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

mpl.use("Agg")

from matplotlib import pyplot as plt

import pegasos_stats as ps
from pegasos_stats.errors import DataError
from pegasos_stats.output.plotting.tiles import ink_on

TRAIN, TEST = ps.datasets.load_digits56()


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def digits():
    return ps.svm("digit ~ .", TRAIN, lam=1.0).fit(ps.Pegasos(epochs=20, seed=443))


def axes():
    return Figure().subplots()


def tiles(ax):
    """Texts of the tiles by column and row."""
    return {text.get_position(): text.get_text() for text in ax.texts}


def test_tiles_are_counts_and_shares_of_rows(digits):
    ax = digits.plot.confusion(TEST, ax=axes())
    table = digits.confusion(TEST).table.to_numpy()
    for (row, column), count in np.ndenumerate(table):
        share = count / table[row].sum()
        assert tiles(ax)[column, row] == f"{count}\n{share:.1%}"
    assert [x.get_text() for x in ax.get_xticklabels()] == ["5", "6"]
    assert ax.get_title() == digits.confusion(TEST).plot(ax=axes()).get_title()


@pytest.mark.parametrize("k", [2, 3, 11])
def test_any_number_of_levels_is_drawn(k):
    actual, predicted = np.random.default_rng(k).integers(0, k, (2, 400))
    matrix = ps.confusion(actual, [*predicted[1:], None], levels=list(range(k)))
    ax = matrix.plot()
    assert len(tiles(ax)) == k * (k + 1)
    assert ax.get_xticklabels()[-1].get_text() == "NA"
    assert "1 without prediction" in ax.get_title()
    ax.figure.savefig(BytesIO(), format="png")


def test_a_row_without_rows_has_no_shares_and_a_table_without_is_refused():
    ax = ps.confusion(["a"], ["a"], levels=["a", "b"]).plot(ax=axes())
    assert tiles(ax)[0, 1] == "0"
    with pytest.raises(DataError, match="table is empty"):
        ps.confusion([], [], levels=["a", "b"]).plot()


def contrast(one, other):
    high, low = sorted([one, other], reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_ink_has_the_larger_contrast_on_every_tile():
    for depth in np.linspace(0.0, 1.0, 101):
        for name in ("Blues", "Greys"):
            colour = np.array(plt.get_cmap(name)(depth))
            part = colour[:3]
            linear = np.where(
                part <= 0.03928, part / 12.92, ((part + 0.055) / 1.055) ** 2.4
            )
            tile = float(linear @ [0.2126, 0.7152, 0.0722])
            ink = {"black": 0.0, "white": 1.0}[ink_on(colour)]
            assert contrast(ink, tile) >= contrast(1.0 - ink, tile)
            assert contrast(ink, tile) > 4.5  # level AA of the guidelines
