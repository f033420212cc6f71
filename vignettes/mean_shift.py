"""Mean-shift filtering of a photograph, which flattens regions and preserves edges.

Each pixel has a position and a colour. Both move to their means over the surrounding
pixels of similar colour, repeatedly, until they are constant or `STEPS` is reached; the
last colour is the result (Comaniciu & Meer, *Mean shift: a robust approach toward
feature space analysis*, IEEE PAMI 24 (2002)). The filter is first applied at half the
size, and then at full size only near the edges found there. scikit-image has no such
filter. All numbers are integers, and the result equals that of OpenCV's
``pyrMeanShiftFiltering`` in every pixel.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation

Pixels = NDArray[np.uint8]
Mask = NDArray[np.bool_]

RADIUS, COLOUR = 30, 60  # values of the study
STEPS = 5  # maximum number of moves of a pixel
BINOMIAL = (1, 4, 6, 4, 1)


def mean_shift(
    photograph: Pixels, radius: int = RADIUS, colour: int = COLOUR
) -> Pixels:
    """Filter a photograph.

    Parameters
    ----------
    photograph : uint8 array, shape (rows, columns, 3)
        At least 6 rows and columns. If their number is odd, the last one is repeated;
        the result omits the repetition.
    radius : int
        Half the side of the square around a pixel, an even number.
    colour : int
        Largest Euclidean distance between similar colours.

    Returns
    -------
    uint8 array, shape (rows, columns, 3)

    Examples
    --------
    >>> photograph = np.full((24, 24, 3), 10, dtype=np.uint8)
    >>> photograph[6, 6] = 40  # a speck
    >>> np.unique(mean_shift(photograph)).tolist()
    [10]
    """
    rows, columns, _ = photograph.shape
    whole = np.pad(photograph, ((0, rows % 2), (0, columns % 2), (0, 0)), "edge")
    small = halved(whole)
    everywhere = np.ones(small.shape[:2], dtype=np.bool_)
    coarse = shifted(small, everywhere, small, radius // 2, colour**2)
    found = shifted(whole, edges(coarse, colour**2), doubled(coarse), radius, colour**2)
    return found[:rows, :columns]


def halved(photograph: Pixels) -> Pixels:
    """Smooth by the weights 1, 4, 6, 4, 1 in both directions; halve the size."""
    found = np.pad(photograph, ((2, 2), (2, 2), (0, 0)), "reflect").astype(np.int64)
    for axis in (0, 1):
        lines = np.moveaxis(found, axis, 0)
        places = range(0, lines.shape[0] - 4, 2)
        smooth = [np.tensordot(BINOMIAL, lines[at : at + 5], 1) for at in places]
        found = np.moveaxis(np.stack(smooth), 0, axis)
    return ((found + 128) >> 8).astype(np.uint8)


def doubled(photograph: Pixels) -> Pixels:
    """Double the size: insert zeros between the pixels, smooth by the same weights."""
    found = photograph.astype(np.int64)
    for axis in (0, 1):
        line = np.moveaxis(found, axis, 0)
        before = np.concatenate([line[1:2], line[:-1]])
        after = np.concatenate([line[1:], line[-1:]])
        pair = np.stack([before + 6 * line + after, 4 * (line + after)], axis=1)
        found = np.moveaxis(pair.reshape(-1, *line.shape[1:]), 0, axis)
    return ((found + 32) >> 6).astype(np.uint8)


def edges(small: Pixels, most: int) -> Mask:
    """Return a mask of edges at twice the size.

    A pixel ``(i, j)`` is at an edge if its squared distance in colour from one of its
    eight neighbours is at least `most`. It marks the 3 x 3 pixels around row ``2 i +
    1`` and column ``2 j - 1``.
    """
    x = small.astype(np.int64)
    rows, columns, _ = small.shape
    inner = x[1:-1, 1:-1]
    differs = np.zeros(inner.shape[:2], dtype=np.bool_)
    for down in range(3):
        for across in range(3):
            other = x[down : down + rows - 2, across : across + columns - 2]
            differs |= ((inner - other) ** 2).sum(axis=2) >= most
    found = np.zeros((2 * rows, 2 * columns), dtype=np.bool_)
    found[3 : 2 * rows - 2 : 2, 1 : 2 * columns - 4 : 2] = differs
    return np.asarray(binary_dilation(found, np.ones((3, 3))))


def shifted(
    source: Pixels, where: Mask, rest: Pixels, radius: int, most: int
) -> Pixels:
    """Shift the pixels of a mask; pixels outside it have the colours of `rest`."""
    planes = np.ascontiguousarray(np.moveaxis(source, 2, 0), dtype=np.int32)
    found = rest.copy()
    shift_masked(planes, where, found, radius, most)
    return found


@njit(nogil=True, cache=True)
def shift_masked(planes: Any, where: Any, found: Any, radius: int, most: int) -> None:
    """Write the colours of the shifted pixels of a mask into `found`.

    Parameters
    ----------
    planes : int32 array, shape (3, rows, columns)
    where : bool array, shape (rows, columns)
    found : uint8 array, shape (rows, columns, 3)
    radius, most : int
        Half the side of the square, and the largest squared distance of colours.
    """
    _, rows, columns = planes.shape
    for i in range(rows):
        for j in range(columns):
            if where[i, j]:
                shift_one(planes, i, j, radius, most, found[i, j])


@njit(nogil=True, cache=True)
def shift_one(planes: Any, y: int, x: int, radius: int, most: int, found: Any) -> None:
    """Shift the pixel in row `y` and column `x`."""
    r, g, b = planes[0, y, x], planes[1, y, x], planes[2, y, x]
    for _ in range(STEPS):
        count, sums = similar(planes, y, x, radius, (r, g, b, most))
        if count == 0:
            break
        share = 1.0 / count
        new_y, new_x = round(sums[0] * share), round(sums[1] * share)
        new_r, new_g = round(sums[2] * share), round(sums[3] * share)
        new_b = round(sums[4] * share)
        moved = abs(new_y - y) + abs(new_x - x)
        change = (new_r - r) ** 2 + (new_g - g) ** 2 + (new_b - b) ** 2
        y, x = new_y, new_x
        r, g, b = np.int32(new_r), np.int32(new_g), np.int32(new_b)
        if moved == 0 or moved + change <= 1:
            break
    found[0], found[1], found[2] = r, g, b


@njit(nogil=True, cache=True)
def similar(planes: Any, y: int, x: int, radius: int, colour: Any) -> Any:
    """Count pixels of a similar colour in the square; sum rows, columns and colours."""
    _, rows, columns = planes.shape
    first, last = max(x - radius, 0), min(x + radius, columns - 1) + 1
    count, down, across, red, green, blue = 0, 0, 0, 0, 0, 0
    for i in range(max(y - radius, 0), min(y + radius, rows - 1) + 1):
        r, g, b = planes[0, i], planes[1, i], planes[2, i]
        n, at, in_row = similar_in_row(
            r[first:last], g[first:last], b[first:last], colour
        )
        count, down, across = count + n, down + n * i, across + at + n * first
        red, green, blue = red + in_row[0], green + in_row[1], blue + in_row[2]
    return count, (down, across, red, green, blue)


@njit(nogil=True, cache=True)
def similar_in_row(red: Any, green: Any, blue: Any, colour: Any) -> Any:
    """Count pixels of similar colour in a row, branch-free for vectorisation."""
    r, g, b, most = colour
    n = at = in_red = in_green = in_blue = np.int32(0)
    for j in range(red.size):
        dr, dg, db = red[j] - r, green[j] - g, blue[j] - b
        near = np.int32(dr * dr + dg * dg + db * db <= most)
        n += near
        at += near * np.int32(j)
        in_red += near * red[j]
        in_green += near * green[j]
        in_blue += near * blue[j]
    return n, at, (in_red, in_green, in_blue)
