"""Find the nucleus in photographs of blood cells, and crop around it.

The steps are those of the study that the vignette repeats: blur, grey, replacement of
the black frame, threshold, morphology, centre, crop, negative. `find_cell` returns the
result of every step, `crop_cell` only the last one. `crop_folder` crops a folder of
photographs, and `load_cells` reads prepared crops.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from drawn_cells import draw_folder
from mean_shift import mean_shift
from numpy.typing import NDArray
from skimage import color, filters, io, morphology

from pegasos_stats.parallel import map_in_order

Pixels = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Blur = Callable[[Pixels], Pixels]

KINDS = ("NEUTROPHIL", "LYMPHOCYTE")
PARTS = ("TRAIN", "TEST")
SUFFIXES = {".jpeg", ".jpg", ".png", ".tif", ".tiff"}

SIDE = 120  # side of a crop, in pixels
FRAME = 80  # darker pixels are the black frame of a rotated photograph
PERCENT = 2  # percentage of the pixels, the darkest ones, that may be the nucleus
SQUARE = np.ones((5, 5), dtype=np.uint8)  # the opening removes smaller specks
DRAWN = {"TRAIN": 30, "TEST": 20}  # number of simulated photographs of each kind


class Cell(NamedTuple):
    """Results of the steps for one photograph.

    Attributes
    ----------
    blurred : uint8 array, shape (rows, columns, 3)
    filled : uint8 array, shape (rows, columns)
        Grey values, with the frame replaced.
    nucleus : bool array, shape (rows, columns)
    centre : pair of int
        Row and column.
    corner : pair of int
        First row and column of the crop.
    crop : uint8 array, shape (120, 120)
        Negative: the nucleus is bright.
    """

    blurred: Pixels
    filled: Pixels
    nucleus: Mask
    centre: tuple[int, int]
    corner: tuple[int, int]
    crop: Pixels


class Cells(NamedTuple):
    """Crops with their labels.

    Attributes
    ----------
    crops : uint8 array, shape (n, 120, 120)
    kind : array of str, shape (n,)
        ``"NEUTROPHIL"`` or ``"LYMPHOCYTE"``.
    names : array of str, shape (n,)
        File names of the photographs.
    """

    crops: Pixels
    kind: NDArray[np.str_]
    names: NDArray[np.str_]

    @property
    def pixels(self) -> NDArray[np.float32]:
        """Grey values from 0 to 1, one row of 14,400 pixels per cell."""
        return self.crops.reshape(len(self.crops), -1) / np.float32(255)


def find_cell(photograph: Any, blur: Blur = mean_shift) -> Cell:
    """Find the nucleus and cut a square of 120 x 120 pixels around it.

    Parameters
    ----------
    photograph : uint8 array, shape (rows, columns, 3)
        At least 120 rows and columns; a fourth plane is ignored.
    blur : callable
        Function that smooths a photograph.

    Raises
    ------
    ValueError
        If `photograph` is not such an array.

    Examples
    --------
    >>> photograph = np.full((200, 300, 3), 220, dtype=np.uint8)
    >>> photograph[60:100, 200:250] = 120, 70, 170  # a nucleus, violet
    >>> cell = find_cell(photograph)
    >>> cell.centre, cell.corner
    ((79, 224), (19, 164))
    >>> int(cell.crop[60, 60]), int(cell.crop[0, 0])
    (159, 35)
    """
    photograph = checked(photograph)
    blurred = blur(photograph)
    filled = fill_frame(grey(blurred))
    nucleus = darkest(filled)
    centre = centre_of(nucleus)
    top, left = corner = corner_of(centre, nucleus.shape)
    square = grey(photograph)[top : top + SIDE, left : left + SIDE]
    return Cell(blurred, filled, nucleus, centre, corner, 255 - fill_frame(square))


def crop_cell(photograph: Any, blur: Blur = mean_shift) -> Pixels:
    """Return only the crop, see `find_cell`."""
    return find_cell(photograph, blur).crop


def gaussian(photograph: Pixels) -> Pixels:
    """Blur by a Gaussian filter with a standard deviation of two pixels; fast."""
    smooth = filters.gaussian(photograph, 2.0, channel_axis=-1, preserve_range=True)
    return np.rint(smooth).astype(np.uint8)


def checked(photograph: Any) -> Pixels:
    """Return the three colour planes, or raise `ValueError`."""
    photograph = np.asarray(photograph)
    if photograph.dtype != np.uint8 or photograph.ndim != 3:
        raise ValueError(
            f"photograph is {photograph.dtype} of shape {photograph.shape}; pass uint8 "
            "of shape (rows, columns, 3), as skimage.io.imread returns colour pictures."
        )
    if min(photograph.shape[:2]) < SIDE or photograph.shape[2] not in (3, 4):
        raise ValueError(
            f"photograph has shape {photograph.shape}; pass at least {SIDE} rows and "
            "columns, and 3 colour planes."
        )
    return photograph[..., :3]


def grey(photograph: Pixels) -> Pixels:
    """Luma, ``0.299 red + 0.587 green + 0.114 blue``, rounded (ITU-R BT.601)."""
    return np.rint(255.0 * color.rgb2yuv(photograph)[..., 0]).astype(np.uint8)


def fill_frame(picture: Pixels) -> Pixels:
    """Replace pixels darker than `FRAME` by the mean of the others, rounded down."""
    rest = picture[picture > FRAME]
    mean = rest.mean() if rest.size else FRAME
    return np.where(picture < FRAME, np.uint8(mean), picture)


def darkest(picture: Pixels) -> Mask:
    """Threshold at the 2nd percentile, then open by a square of 5 x 5 pixels."""
    dark = picture <= int(np.percentile(picture, PERCENT))
    return np.asarray(morphology.opening(dark, SQUARE, mode="ignore"))


def centre_of(mask: Mask) -> tuple[int, int]:
    """Return the mean row and column of a mask, rounded down; the middle if empty."""
    places = np.argwhere(mask if mask.any() else np.ones_like(mask))
    row, column = places.mean(axis=0).astype(int).tolist()
    return row, column


def corner_of(centre: tuple[int, int], shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the first row and column of a crop around a centre, inside the picture.

    Examples
    --------
    >>> corner_of((100, 100), (240, 320)), corner_of((230, 10), (240, 320))
    ((40, 40), (120, 0))
    """
    limits = np.subtract(shape, SIDE)
    row, column = np.clip(np.subtract(centre, SIDE // 2), 0, limits).tolist()
    return row, column


def crop_folder(
    folder: Path,
    blur: Blur = mean_shift,
    workers: int | None = None,
    limit: int | None = None,
) -> Cells:
    """Crop all photographs in the folders ``NEUTROPHIL`` and ``LYMPHOCYTE``.

    Parameters
    ----------
    folder : Path
    blur : callable
    workers : int, optional
        Number of threads, by default one per usable core.
    limit : int, optional
        Maximum number of photographs of each kind, the first by name.

    Raises
    ------
    FileNotFoundError
        If one of the two folders is missing or contains no picture.
    """
    files = [
        path for kind in KINDS for path in photographs(folder / kind)[slice(limit)]
    ]
    crop = partial(_crop_file, blur=blur)
    crops = np.stack(list(map_in_order(crop, files, workers)))
    kinds = np.array([path.parent.name for path in files])
    return Cells(crops, kinds, np.array([path.name for path in files]))


def photographs(folder: Path) -> list[Path]:
    """Return the pictures in a folder, sorted by name."""
    found = sorted(p for p in folder.glob("*") if p.suffix.lower() in SUFFIXES)
    if not found:
        raise FileNotFoundError(
            f"{folder} contains no pictures; pass a folder with pictures in "
            f"{' and '.join(KINDS)}."
        )
    return found


def _crop_file(path: Path, blur: Blur) -> Pixels:
    return crop_cell(io.imread(path), blur)


def load_cells(folder: Path | None = None) -> tuple[Cells, Cells]:
    """Return the crops of training and test cells.

    Parameters
    ----------
    folder : Path, optional
        Folder with files ``blood_TRAIN_NEUTROPHIL.npz`` and so on. Without it,
        photographs are simulated and cropped.

    Raises
    ------
    FileNotFoundError
        If a file is missing.
    """
    if folder is None:
        return draw_cells()
    train, test = (read_crops(folder, part) for part in PARTS)
    return train, test


def read_crops(folder: Path, part: str) -> Cells:
    """Read the crops of ``"TRAIN"`` or ``"TEST"``, neutrophils first."""
    crops, kinds, names = [], [], []
    for kind in KINDS:
        with np.load(folder / f"blood_{part}_{kind}.npz") as file:
            crops.append(file["X"].reshape(-1, SIDE, SIDE))
            names.append(file["names"])
        kinds += [kind] * len(crops[-1])
    return Cells(np.concatenate(crops), np.array(kinds), np.concatenate(names))


def draw_cells(counts: dict[str, int] | None = None) -> tuple[Cells, Cells]:
    """Simulate photographs in a temporary folder, and crop them.

    The blur is `gaussian`, which is faster and suffices to find these nuclei.

    Parameters
    ----------
    counts : dict, optional
        Photographs of each kind in ``"TRAIN"`` and ``"TEST"``, by default `DRAWN`.
    """
    with tempfile.TemporaryDirectory() as name:
        for seed, part in enumerate(PARTS, 1):
            count = (counts or DRAWN)[part]
            for kind in KINDS:
                draw_folder(Path(name) / part / kind, kind, count, seed)
        train, test = (crop_folder(Path(name) / part, gaussian) for part in PARTS)
    return train, test
