"""The pipeline of photographs of blood cells that vignette 6 shows.

Its modules are in ``vignettes/``, which pytest puts on the path.
"""

import doctest
import zlib
from itertools import product

import cells
import drawn_cells
import mean_shift
import numpy as np
import pytest
from skimage import io

import pegasos_stats as ps

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


def test_shifted_pixels_are_means_of_similar_ones():
    source = tiles(12, 14)
    where = np.ones((12, 14), dtype=bool)
    found = mean_shift.shifted(source, where, source, radius=3, most=40**2)
    for y, x in np.ndindex(12, 14):
        assert found[y, x].tolist() == shifted_slowly(source, y, x, 3, 40**2)


def shifted_slowly(source, y, x, radius, most):
    colour = source[y, x].astype(int)
    for _ in range(5):
        top, left = max(y - radius, 0), max(x - radius, 0)
        near = source[top : y + radius + 1, left : x + radius + 1].astype(int)
        alike = ((near - colour) ** 2).sum(axis=2) <= most
        place = np.argwhere(alike).mean(axis=0) + np.array([top, left])
        mean = near[alike].mean(axis=0)
        new, new_colour = np.rint(place).astype(int), np.rint(mean).astype(int)
        moved = abs(new - (y, x)).sum()
        change = ((new_colour - colour) ** 2).sum()
        (y, x), colour = new, new_colour
        if moved == 0 or moved + change <= 1:
            break
    return colour.tolist()


def test_grey_is_luma_rounded():
    levels = np.arange(0, 256, 5)
    colours = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(52, -1, 3)
    exact = colours @ np.array([299, 587, 114])
    tie = exact % 1000 == 500  # either neighbour is as near
    found = cells.grey(colours.astype(np.uint8))
    assert (found == (exact + 500) // 1000)[~tie].all()


def test_the_frame_becomes_the_mean_of_the_rest():
    picture = np.array([[0, 79, 80], [81, 100, 200]], dtype=np.uint8)
    assert cells.fill_frame(picture).tolist() == [[127, 127, 80], [81, 100, 200]]
    black = np.zeros((2, 2), dtype=np.uint8)
    assert (cells.fill_frame(black) == cells.FRAME).all()


def test_the_nucleus_is_what_is_darkest_without_specks():
    picture = np.full((100, 100), 200, dtype=np.uint8)
    picture[:10, :25] = 90  # at the edge, and stays whole
    picture[50:54, 50:54] = 80
    expected = np.zeros((100, 100), dtype=bool)
    expected[:10, :25] = True
    assert (cells.darkest(picture) == expected).all()


def test_every_crop_lies_inside_the_picture():
    for centre in product(range(0, 240, 7), range(0, 320, 9)):
        top, left = cells.corner_of(centre, (240, 320))
        assert 0 <= top <= 120
        assert 0 <= left <= 200
        inside = 60 <= centre[0] <= 180 and 60 <= centre[1] <= 260
        assert not inside or (top + 60, left + 60) == centre


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


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        (np.zeros((240, 320)), "float64 of shape \\(240, 320\\)"),
        (np.zeros((240, 320, 3)), "float64"),
        (np.zeros((240, 320), np.uint8), "shape \\(240, 320\\)"),
        (np.zeros((240, 119, 3), np.uint8), "at least 120 rows"),
        (np.zeros((240, 320, 2), np.uint8), "3 planes"),
    ],
)
def test_what_is_no_photograph_is_refused(picture, message):
    with pytest.raises(ValueError, match=message):
        cells.crop_cell(picture)


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


def test_crops_do_not_depend_on_the_number_of_threads(folder):
    one, two = (
        cells.crop_folder(folder, cells.gaussian, workers=count) for count in (1, 2)
    )
    assert (one.crops == two.crops).all()


def test_a_folder_without_photographs_is_refused(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match="There are no pictures in"):
        cells.crop_folder(tmp_path)


def test_drawn_cells_follow_from_their_seed():
    pictures = [drawn_cells.draw_cell("NEUTROPHIL", ps.RRandom(7)) for _ in range(2)]
    assert (pictures[0] == pictures[1]).all()
    other = drawn_cells.draw_cell("LYMPHOCYTE", ps.RRandom(7))
    assert (pictures[0] != other).any()


def test_without_a_folder_cells_are_drawn():
    train, test = cells.draw_cells({"TRAIN": 3, "TEST": 2})
    assert (train.crops.shape, test.crops.shape) == ((6, 120, 120), (4, 120, 120))
    middle = train.crops[:, 40:80, 40:80].mean(axis=(1, 2))
    assert (middle > train.crops.mean(axis=(1, 2))).all()


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
