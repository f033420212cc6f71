"""The pipeline of photographs of blood cells that vignette 6 shows.

Its modules are in ``vignettes/``, which pytest puts on the path.
"""

import doctest
import zlib

import cells
import drawn_cells
import mean_shift
import numpy as np
import pytest
from skimage import io

# crc32 of what pyrMeanShiftFiltering of OpenCV 5.0.0 makes of `tiles(rows, columns)`
OPENCV = {
    (48, 64, 30, 60): 3381574232,
    (48, 64, 6, 40): 2941628820,
    (46, 70, 10, 25): 430748719,
}
PIXEL = 1  # a centre of whole pixels is rounded down


def tiles(rows, columns):
    """Patches of several colours with a grain, without random numbers."""
    y, x = np.mgrid[:rows, :columns]
    grain = (7 * x * x + 13 * y * y + 3 * x * y) % 41
    red, green, blue = (x // 13 + y // 9) % 4, (x // 17) % 3, (y // 11) % 5
    patch = np.stack([60 * red, 50 * green, 40 * blue], axis=2)
    return (patch + grain[..., None]).astype(np.uint8)


def photograph(row, column, radius=24.0):
    """A nucleus and red cells on a pale ground, black on the left."""
    picture = np.full((240, 320, 3), 220.0)
    for at in range(30, 320, 60):
        red = drawn_cells.Disc(30.0 if row > 90 else 200.0, at, 20.0, 20.0)
        drawn_cells.fill(picture, red, drawn_cells.RED_CELL)
    nucleus = drawn_cells.Disc(row, column, radius, radius)
    drawn_cells.fill(picture, nucleus, drawn_cells.NUCLEUS)
    picture[:, :5] = 0.0
    return picture.astype(np.uint8)


@pytest.mark.parametrize("case", OPENCV, ids=str)
def test_mean_shift_is_that_of_opencv(case):
    rows, columns, radius, colour = case
    found = mean_shift.mean_shift(tiles(rows, columns), radius, colour)
    assert zlib.crc32(found.tobytes()) == OPENCV[case]


@pytest.mark.parametrize("blur", [cells.mean_shift, cells.gaussian])
@pytest.mark.parametrize("place", [(120, 160), (60, 270), (205, 40)])
def test_a_nucleus_is_found_and_bright(place, blur):
    picture = photograph(*place)
    cell = cells.find_cell(picture, blur)
    assert np.abs(np.subtract(cell.centre, place)).max() <= PIXEL
    assert cell.corner == cells.corner_of(cell.centre, (240, 320))
    row, column = np.subtract(place, cell.corner)
    grey = int(cells.grey(picture)[place])
    assert cell.crop[row, column] == 255 - grey == cell.crop.max()
    assert cell.crop.shape == (120, 120)
    assert cell.crop.dtype == np.uint8


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two photographs of each kind, drawn, and one file that is none."""
    top = tmp_path_factory.mktemp("photographs")
    for kind in cells.KINDS:
        drawn_cells.draw_folder(top / kind, kind, 2, seed=1)
    (top / "NEUTROPHIL" / "notes.txt").write_text("not a picture")
    return top


def test_a_folder_gives_a_crop_for_every_photograph(folder):
    found = cells.crop_folder(folder, cells.gaussian)
    assert found.kind.tolist() == ["NEUTROPHIL"] * 2 + ["LYMPHOCYTE"] * 2
    assert found.names[0] == "neutrophil_000.png"
    first = io.imread(folder / "NEUTROPHIL" / found.names[0])
    assert (found.crops[0] == cells.crop_cell(first, cells.gaussian)).all()
    assert found.pixels.shape == (4, 14400)
    assert found.pixels.dtype == np.float32
    assert 0.0 <= found.pixels.min() < found.pixels.max() <= 1.0
    assert len(cells.crop_folder(folder, cells.gaussian, limit=1).names) == 2


def test_crops_of_the_photographs_are_the_ready_ones(data_folder):
    made = cells.crop_folder(data_folder / "blood_raw" / "TEST", limit=3)
    ready = cells.read_crops(data_folder, "TEST")
    keys = list(zip(ready.kind, ready.names, strict=True))
    at = [keys.index(key) for key in zip(made.kind, made.names, strict=True)]
    assert len(at) == 6
    assert (made.crops == ready.crops[at]).all()


@pytest.mark.parametrize("module", [cells, drawn_cells, mean_shift])
def test_examples(module):
    failed, tried = doctest.testmod(module)
    assert (failed, tried > 0) == (0, True)
