"""Simulated photographs of blood cells, if the real ones are not available.

The simulation is not based on real photographs; it contains the difficulties that the
steps must handle. Red cells and one white cell lie on a pale background. A lymphocyte
has a round nucleus with little plasma around it; a neutrophil has a nucleus of two to
five lobes in pale violet plasma. The picture is rotated, so that it has black corners.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, rotate
from skimage import io

import pegasos_stats as ps

Pixels = NDArray[np.uint8]
Picture = NDArray[np.float64]

ROWS, COLUMNS = 240, 320
GROUND = (222.0, 214.0, 208.0)
RED_CELL, RED_MIDDLE = (203.0, 158.0, 160.0), (216.0, 190.0, 188.0)
PLASMA = {"NEUTROPHIL": (206.0, 178.0, 214.0), "LYMPHOCYTE": (160.0, 140.0, 205.0)}
NUCLEUS = (112.0, 66.0, 170.0)
PLATELET = (150.0, 120.0, 190.0)
BLUR, NOISE = 1.3, 3.0


class Disc(NamedTuple):
    """An ellipse: row and column of its centre, its two radii, its rotation."""

    row: float
    column: float
    tall: float
    wide: float
    tilt: float = 0.0


def draw_cell(kind: str, rng: ps.RRandom) -> Pixels:
    """Draw a photograph.

    Parameters
    ----------
    kind : "NEUTROPHIL" or "LYMPHOCYTE"
    rng : RRandom

    Returns
    -------
    uint8 array, shape (240, 320, 3)

    Examples
    --------
    >>> draw_cell("LYMPHOCYTE", ps.RRandom(1)).shape
    (240, 320, 3)
    """
    picture = np.broadcast_to(np.array(GROUND), (ROWS, COLUMNS, 3)).copy()
    for _ in range(int(rng.sample_int(8, 1)[0]) + 10):
        draw_red_cell(picture, rng)
    for _ in range(int(rng.sample_int(4, 1)[0])):
        row, column = between(rng, 0, ROWS), between(rng, 0, COLUMNS)
        fill(picture, Disc(row, column, 4.0, between(rng, 3, 6)), PLATELET)
    draw_white_cell(picture, kind, rng)
    light = 1.0 + 0.08 * rng.rnorm(1)[0]
    grain = NOISE * rng.rnorm(ROWS * COLUMNS).reshape(ROWS, COLUMNS, 1)
    smooth = gaussian_filter(picture, (BLUR, BLUR, 0.0), truncate=2.0)
    whole = np.clip(light * smooth + grain, 85.0, 255.0).astype(np.float32)
    turned = rotate(whole, between(rng, -25, 25), reshape=False, order=1)
    return np.rint(turned).astype(np.uint8)


def draw_red_cell(picture: Picture, rng: ps.RRandom) -> None:
    """Draw a red cell, paler in the middle."""
    row, column = between(rng, -10, ROWS + 10), between(rng, -10, COLUMNS + 10)
    tall, wide, tilt = between(rng, 17, 23), between(rng, 17, 23), between(rng, 0, 3)
    fill(picture, Disc(row, column, tall, wide, tilt), RED_CELL)
    fill(picture, Disc(row, column, 0.4 * tall, 0.4 * wide, tilt), RED_MIDDLE)


def draw_white_cell(picture: Picture, kind: str, rng: ps.RRandom) -> None:
    """Draw the white cell: its plasma, then the lobes of its nucleus."""
    row, column = between(rng, 65, ROWS - 65), between(rng, 75, COLUMNS - 75)
    tall, wide, tilt = between(rng, 23, 36), between(rng, 23, 36), between(rng, 0, 3)
    shade = np.array(NUCLEUS) * between(rng, 0.85, 1.1)
    around = 1.1 if kind == "LYMPHOCYTE" else 1.25
    fill(picture, Disc(row, column, around * tall, around * wide, tilt), PLASMA[kind])
    for lobe in lobes(kind, Disc(row, column, tall, wide, tilt), rng):
        fill(picture, lobe, shade)


def lobes(kind: str, cell: Disc, rng: ps.RRandom) -> list[Disc]:
    """Return the lobes of a nucleus: one, or two to five around the middle."""
    row, column, tall, wide, tilt = cell
    if kind == "LYMPHOCYTE":
        row, column = row + between(rng, -3, 3), column + between(rng, -3, 3)
        share = between(rng, 0.75, 0.95)
        return [Disc(row, column, share * tall, share * wide, tilt)]
    count = int(rng.sample_int(4, 1)[0]) + 1
    found, far = [], between(rng, 0.35, 0.6)
    for angle in tilt + np.linspace(0.0, between(rng, 2.5, 5.0), count):
        down, across = far * tall * np.sin(angle), far * wide * np.cos(angle)
        size = between(rng, 0.35, 0.5)
        found.append(Disc(row + down, column + across, size * tall, size * wide, tilt))
    return found


def fill(picture: Picture, disc: Disc, colour: object) -> None:
    """Fill an ellipse with a colour."""
    reach = max(disc.tall, disc.wide) + 1.0
    top, left = (max(int(middle - reach), 0) for middle in disc[:2])
    near = picture[top : int(disc.row + reach) + 1, left : int(disc.column + reach) + 1]
    y, x = np.ogrid[: near.shape[0], : near.shape[1]]
    down, across = y + top - disc.row, x + left - disc.column
    cos, sin = np.cos(disc.tilt), np.sin(disc.tilt)
    u, v = cos * across + sin * down, cos * down - sin * across
    near[(u / disc.wide) ** 2 + (v / disc.tall) ** 2 <= 1.0] = colour


def between(rng: ps.RRandom, low: float, high: float) -> float:
    """Draw a uniform random number between `low` and `high`."""
    return low + (high - low) * float(rng.runif(1)[0])


def draw_folder(folder: Path, kind: str, count: int, seed: int) -> None:
    """Write photographs of one kind into a folder, as PNG.

    Parameters
    ----------
    folder : Path
        Created if it does not exist.
    kind : "NEUTROPHIL" or "LYMPHOCYTE"
    count, seed : int
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = ps.RRandom(seed * 1000 + sum(map(ord, kind)))
    for number in range(count):
        path = folder / f"{kind.lower()}_{number:03d}.png"
        io.imsave(path, draw_cell(kind, rng), check_contrast=False)
