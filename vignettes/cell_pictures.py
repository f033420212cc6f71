"""Figures of the vignette on blood cells."""

from collections.abc import Mapping

import cell_study
import cells
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

import pegasos_stats as ps
from pegasos_stats.output.plotting.style import pyplot

LOOK = {"figure.constrained_layout.use": True, "axes.grid": False}


def stages(photograph: NDArray[np.uint8], cell: cells.Cell) -> None:
    """Draw a photograph on its way to a crop."""
    shown = {
        "Photograph": photograph,
        "1 Blurred": cell.blurred,
        "2, 3 Grey, frame replaced": cell.filled,
        "4, 5 Nucleus": cell.nucleus,
        "6 Centre, 7 crop": photograph,
        "8 Negative": cell.crop,
    }
    with pyplot().rc_context(LOOK):
        _, axes = pyplot().subplots(2, 3, figsize=(7.2, 4.4))
        for ax, (title, picture) in zip(axes.flat, shown.items(), strict=True):
            ax.imshow(
                picture, cmap="gray", vmin=0, vmax=1 if picture.dtype == bool else 255
            )
            ax.set_title(title)
            ax.set_axis_off()
        top, left = cell.corner
        frame = {"fill": False, "ec": "#009E73", "lw": 2}
        axes[1, 1].add_patch(
            pyplot().Rectangle((left, top), cells.SIDE, cells.SIDE, **frame)
        )
        for ax in axes[1, :2]:
            ax.plot(*cell.centre[::-1], marker="+", color="#D55E00", markersize=12)


def crops(train: cells.Cells) -> None:
    """Draw seven crops of each kind of cell."""
    with pyplot().rc_context(LOOK):
        _, axes = pyplot().subplots(2, 7, figsize=(7.2, 2.3))
        for row, kind in zip(axes, cells.KINDS, strict=True):
            of_kind = np.flatnonzero(train.kind == kind)
            for ax, at in zip(row, of_kind[:: len(of_kind) // 7], strict=False):
                ax.imshow(train.crops[at], cmap="gray", vmin=0, vmax=200)
                ax.set_axis_off()


def components(small: cell_study.Reduced) -> None:
    """Draw the mean crop and the first nine principal components."""
    with pyplot().rc_context(LOOK):
        _, axes = pyplot().subplots(2, 5, figsize=(7.2, 3.2))
        axes[0, 0].imshow(small.pca.mean_.reshape(cells.SIDE, cells.SIDE), cmap="gray")
        axes[0, 0].set_title("Mean")
        axes[0, 0].set_axis_off()
        shares = small.pca.explained_variance_ratio_
        for j, ax in enumerate(axes.flat[1:]):
            signed_picture(ax, small.pca.components_[j], f"{j + 1}: {shares[j]:.1%}")


def race(studies: Mapping[str, ps.SolverComparison]) -> None:
    """Draw loss, test error and gap, a column for each kind of data."""
    with pyplot().rc_context(LOOK):
        figure, axes = pyplot().subplots(3, 2, figsize=(7.4, 8.6))
        for column, (data, study) in zip(axes.T, studies.items(), strict=True):
            study.plot(ax=column, excess=True)
            column[0].set_title(f"{data}: loss less bound")
            column[0].get_legend().remove()
        axes[0, 1].set_ylim(bottom=1e-8)
        axes[2, 1].set_ylim(bottom=1e-5)
        named = axes[0, 0].get_legend_handles_labels()
        figure.legend(*named, loc="outside upper left", ncols=3)


def coefficients(shown: Mapping[str, NDArray[np.float64]]) -> None:
    """Draw coefficients of pixels as pictures, side by side."""
    with pyplot().rc_context(LOOK):
        _, axes = pyplot().subplots(1, len(shown), figsize=(7.2, 2.7))
        for ax, (title, values) in zip(axes, shown.items(), strict=True):
            signed_picture(ax, values, title)


def signed_picture(ax: Axes, values: NDArray[np.float64], title: str) -> None:
    """Draw the numbers of a square picture, white at zero."""
    side = int(np.sqrt(values.size))
    most = np.abs(values).max()
    ax.imshow(values.reshape(side, side), cmap="RdBu_r", vmin=-most, vmax=most)
    ax.set_title(title)
    ax.set_axis_off()
