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
    """Draw the results of the steps from a photograph to its crop."""
    shown = {
        "Photograph": photograph,
        "1 Blurred": cell.blurred,
        "2, 3 Grey, frame replaced": cell.filled,
        "4, 5 Nucleus": cell.nucleus,
        "6 Centre, 7 crop": photograph,
        "8 Negative": cell.crop,
    }
    with pyplot().rc_context(LOOK):
        _, axes = pyplot().subplots(2, 3, figsize=(6.0, 3.7))
        for ax, (title, picture) in zip(axes.flat, shown.items(), strict=True):
            ax.imshow(
                picture, cmap="gray", vmin=0, vmax=1 if picture.dtype == bool else 255
            )
            ax.set_title(title)
            ax.set_axis_off()
        top, left = cell.corner
        frame = {"fill": False, "ec": "#009E73", "lw": 1.5}
        axes[1, 1].add_patch(
            pyplot().Rectangle((left, top), cells.SIDE, cells.SIDE, **frame)
        )
        for ax in axes[1, :2]:
            ax.plot(*cell.centre[::-1], marker="+", color="#D55E00", markersize=12)


def crops(train: cells.Cells) -> None:
    """Draw seven crops of each kind of cell."""
    with pyplot().rc_context(LOOK):
        _, axes = pyplot().subplots(2, 7, figsize=(6.4, 2.0))
        for row, kind in zip(axes, cells.KINDS, strict=True):
            of_kind = np.flatnonzero(train.kind == kind)
            for ax, at in zip(row, of_kind[:: len(of_kind) // 7], strict=False):
                ax.imshow(train.crops[at], cmap="gray", vmin=0, vmax=200)
                ax.set_axis_off()


def components(small: cell_study.Reduced) -> None:
    """Draw the mean crop and the first four principal components."""
    with pyplot().rc_context(LOOK):
        _, axes = pyplot().subplots(1, 5, figsize=(7.2, 1.7))
        axes[0].imshow(small.pca.mean_.reshape(cells.SIDE, cells.SIDE), cmap="gray")
        axes[0].set_title("Mean")
        axes[0].set_axis_off()
        shares = small.pca.explained_variance_ratio_
        for j, ax in enumerate(axes[1:]):
            signed_picture(ax, small.pca.components_[j], f"{j + 1}: {shares[j]:.1%}")


def singular_values(pixels: NDArray[np.float32], marked: int) -> None:
    """Draw the singular values of centred pictures, relative to the first."""
    centred = pixels - pixels.mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False)[:-1]  # the last is 0
    with pyplot().rc_context(LOOK):
        _, ax = pyplot().subplots(figsize=(6.4, 2.8))
        ax.semilogy(np.arange(1, len(values) + 1), values / values[0], ".")
        ax.axvline(marked, color="grey", linestyle=":", label=f"{marked} components")
        ax.set(xlabel="Number of the singular value", ylabel="Value relative to first")
        ax.legend()


def rebuilt(
    small: cell_study.Reduced, pixels: NDArray[np.float32], numbers: tuple[int, ...]
) -> None:
    """Draw pictures rebuilt from their first components, and the originals."""
    pca = small.pca
    at = pca.transform(pixels) * np.sqrt(pca.explained_variance_)
    shown = {
        f"{n} component{'s' if n > 1 else ''}": pca.mean_
        + at[:, :n] @ pca.components_[:n]
        for n in numbers
    }
    with pyplot().rc_context(LOOK):
        _, axes = pyplot().subplots(len(pixels), len(numbers) + 1, figsize=(6.4, 2.8))
        for column, (title, pictures) in zip(
            axes.T, (shown | {"Original": pixels}).items(), strict=True
        ):
            column[0].set_title(title, fontsize=8)
            for ax, picture in zip(column, pictures, strict=True):
                square = picture.reshape(cells.SIDE, cells.SIDE)
                ax.imshow(square, cmap="gray", vmin=0, vmax=0.8)
                ax.set_axis_off()


def race(study: ps.SolverComparison) -> None:
    """Draw objective, test error and gap."""
    with pyplot().rc_context(LOOK):
        figure, axes = pyplot().subplots(1, 3, figsize=(7.2, 2.8))
        study.plot(ax=axes, excess=True)
        for ax in axes:
            if legend := ax.get_legend():
                legend.remove()
        named = axes[0].get_legend_handles_labels()
        figure.legend(*named, loc="outside upper left", ncols=3)


def coefficients(shown: Mapping[str, NDArray[np.float64]]) -> None:
    """Draw coefficients of pixels as pictures, side by side."""
    with pyplot().rc_context(LOOK):
        _, axes = pyplot().subplots(1, len(shown), figsize=(6.0, 2.2))
        for ax, (title, values) in zip(axes, shown.items(), strict=True):
            signed_picture(ax, values, title)


def signed_picture(ax: Axes, values: NDArray[np.float64], title: str) -> None:
    """Draw numbers as a square picture, with white for 0."""
    side = int(np.sqrt(values.size))
    most = np.abs(values).max()
    ax.imshow(values.reshape(side, side), cmap="RdBu_r", vmin=-most, vmax=most)
    ax.set_title(title)
    ax.set_axis_off()
