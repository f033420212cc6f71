"""The vignettes, and the pipeline and the study of blood cells that one repeats."""

import doctest
import json
import re
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import cell_study
import cells
import drawn_cells
import execute
import jupytext
import mean_shift
import nbformat
import numpy as np
import pandas as pd
import pytest
from skimage import io

import pegasos_stats as ps
from tests.parity.equality import assert_same_bits
from tests.vignette_outputs import (
    DIGITS,
    NUMBER,
    compared,
    differences,
    is_rounded,
    printed,
    same_text,
    significant,
    tags,
)

# ---- The vignettes: executed here, they print what is committed.

VIGNETTES = Path(__file__).parents[1] / "vignettes"
SOURCES = execute.sources()
TITLES = [
    "A support vector machine from scratch, in R and Python",
    "The same bits as R",
    "From a data frame to a report",
    "Steps, batches, projection, averages",
    "SDCA compared with Pegasos",
    "Pegasos needs 1/epsilon steps",
]
LARGEST, LARGEST_PICTURE = 200_000, 30_000  # bytes
# Folders of a machine, in text or in a table; the base64 of a figure has no such word.
MACHINE_PATH = re.compile(r"(?:/(?:home|root|tmp|usr|work|opt|mnt|Users)/|[A-Z]:\\\\)")


def committed(source):
    return nbformat.read(source.with_suffix(".ipynb"), as_version=4)


each_vignette = pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)


@pytest.mark.slow
@each_vignette
def test_a_vignette_prints_what_is_committed(source, tmp_path):
    """Without R, cells of R keep their recorded output and are not compared.

    In a process of its own: sockets to a kernel are closed when a process ends.
    """
    command = [sys.executable, VIGNETTES / "execute.py", source.stem]
    command += ["--output", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    executed = nbformat.read(tmp_path / f"{source.stem}.ipynb", as_version=4)
    assert differences(committed(source), executed) == []


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("0.1235", "0.1236", True),
        ("0.1235", "0.1237", False),
        ("9.99", "10.0", True),
        ("1.2e-03", "1.3e-03", True),
        ("1.2e-03", "1.2e-02", False),
        ("gap 3e-8", "gap 7e-9", True),
        ("gap 3e-8", "gap 7e-5", False),
        ("23 errors", "24 errors", False),
        ("1 2\n  3", "1  2 3", True),
        ("0x1.8p+1", "0x1.9p+1", False),
        ("x1 0.5", "x2 0.5", False),
    ],
)
def test_one_unit_of_the_last_digit_is_allowed(before, after, same):
    assert same_text(before, after) == same
    assert not same_text(before, after, exact=True)


@each_vignette
def test_a_notebook_is_its_text_executed_on_no_machine_in_particular(source):
    notebook, text = committed(source), jupytext.read(source, fmt="py:percent")
    assert [cell.source for cell in notebook.cells] == [c.source for c in text.cells]
    assert source.with_suffix(".ipynb").stat().st_size <= LARGEST
    assert notebook.metadata == execute.METADATA
    for number, cell in enumerate(execute.code_cells(notebook), 1):
        assert cell.execution_count == number
        assert "stderr" not in [output.get("name") for output in cell.outputs]
        assert not MACHINE_PATH.search(printed(cell)), cell.id
        if any(map(execute.figure_of, cell.outputs)):
            assert len(cell.metadata["mystnb"]["image"]["alt"]) > 40, cell.id
    for cell in compared(notebook):
        if "exact" not in tags(cell):
            numbers = filter(is_rounded, NUMBER.findall(printed(cell)))
            assert [x for x in numbers if significant(x) > DIGITS] == [], cell.id


@each_vignette
def test_a_vignette_asks_answers_and_ends_with_its_session(source):
    text = source.read_text(encoding="utf-8")
    assert 0 < text.index("**Question.**") < text.index("**Answer.**")
    assert text.index("**Answer.**") < text.index("# %%\n")
    assert "# ## Session\n" in text
    assert "ps.session_info()" in text.splitlines()[-1]


def test_the_list_has_a_line_and_a_picture_for_each_vignette():
    listed = (VIGNETTES / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\[([^\]]+)\]\((\d\d_\w+\.ipynb)\)", listed)
    titles = [committed(source).cells[0].source for source in SOURCES]
    assert [f"# {title}" for title, _ in links] == [t.splitlines()[0] for t in titles]
    assert [title for title, _ in links] == TITLES
    assert [name for _, name in links] == [f"{s.stem}.ipynb" for s in SOURCES]
    pictures = re.findall(r'src="(pictures/\d\d\.png)" alt="[^"]{20,}"', listed)
    assert pictures == [f"pictures/{source.stem[:2]}.png" for source in SOURCES]
    for name in pictures:
        assert (VIGNETTES / name).stat().st_size <= LARGEST_PICTURE


# ---- The algorithm in one place, which vignette 1 shows.

ARCHITECTURE = VIGNETTES.parent / "docs/developer/architecture.rst"


(LOOP,) = (
    each.source
    for each in execute.code_cells(committed(SOURCES[0]))
    if "def pegasos(" in each.source
)


@pytest.fixture(scope="module")
def scratch():
    """Names that the loop in numpy defines."""
    names = {"np": np, "ps": ps}
    exec(LOOP, names)
    return names


def digits56():
    train, test = ps.datasets.load_digits56()
    return train.rename(columns={"digit": "Y"}), test.rename(columns={"digit": "Y"})


def test_the_loop_has_forty_lines_at_most_and_all_of_its_parts(scratch):
    assert len(LOOP.splitlines()) <= 40
    assert {"pegasos", "objective", "scores", "predict", "confusion"} <= set(scratch)


@pytest.mark.parametrize("seed", [1, 443])
@pytest.mark.parametrize("lam", [0.01, 1.0])
def test_the_loop_is_the_package_in_every_bit(scratch, lam, seed):
    train, test = ps.datasets.load_digits56()
    X = train.drop(columns="digit").to_numpy(float)
    y = np.where(train["digit"] == 5, -1.0, 1.0)
    alpha, beta = scratch["pegasos"](X, y, lam, 5, seed)
    result = ps.svm("digit ~ .", train, lam=lam).fit(ps.Pegasos(epochs=5, seed=seed))
    assert_same_bits([alpha, *beta], result.params, "params")
    for data in (train, test):
        new = data.drop(columns="digit").to_numpy(float)
        predicted = scratch["predict"](scratch["scores"](new, alpha, beta), (5, 6))
        table = scratch["confusion"](data["digit"].to_numpy(), predicted, (5, 6))
        assert table.tolist() == result.confusion(data).table.to_numpy().tolist()
    objective = scratch["objective"](X, y, lam, alpha, beta)
    assert objective == pytest.approx(result.objective, rel=LOOP_RTOL)


def test_the_lines_are_where_the_page_of_the_architecture_says(scratch):
    section = ARCHITECTURE.read_text("utf-8").partition("line by line\n")[2]
    section = section.partition("Where to find what")[0]
    lines = re.findall(r"^``(.+?)``", section, re.MULTILINE)
    places = re.findall(r"  ``(\S+\.py)``: [`]+([\w.]+)", section)
    assert len(places) > len(lines) >= 13
    for line in lines:
        assert line.partition("...")[0].rstrip("(") in LOOP, line
    for file, name in places:
        text = (Path(ps.__file__).parent / file).read_text("utf-8")
        assert re.search(rf"(?:def|class) {name.split('.')[-1]}\b", text), name


# ---- The vignettes of the R package: their lines, run here without knitr.

R_PACKAGE = VIGNETTES.parent / "r_reference"
R_DIGITS = R_PACKAGE / "inst/extdata/digits56.csv"
CHUNK = re.compile(r"^```\{r.*?\}\n(.*?)^```", re.DOTALL | re.MULTILINE)
OPTIMUM_RTOL = 2e-6  # both optima are certified to a relative gap of 1e-6


@pytest.fixture
def objects_of(r):
    """Run a vignette of the R package; return what its lines define, as arrays."""
    robjects = pytest.importorskip("rpy2.robjects")

    def objects(name):
        text = (R_PACKAGE / "vignettes" / name).read_text("utf-8")
        lines = [
            f'for (f in list.files("{R_PACKAGE}/R", full.names = TRUE)) '
            "source(f, local = TRUE)",
            f'system.file <- function(...) "{R_DIGITS}"',
            "library <- function(...) NULL",
            "pdf(NULL)",
            *CHUNK.findall(text),
            "invisible(dev.off())",
        ]
        space = robjects.r("new.env()")
        parsed = robjects.r.parse(text="\n".join(lines), keep_source=False)
        robjects.r.eval(parsed, envir=space)
        return lambda each: np.array(space[each])

    return objects


def test_the_r_package_has_the_digits():
    assert R_DIGITS.read_bytes() == ps.datasets.digits56_path().read_bytes()


def test_numbers_of_the_first_vignette_in_r(objects_of):
    in_r = objects_of("v01_from_scratch.Rmd")
    train, test = ps.datasets.load_digits56()
    model = ps.svm("digit ~ .", train, lam=1.0)
    result, best = model.fit(ps.Pegasos(epochs=20, seed=443)), model.fit()
    assert_same_bits(in_r("fit"), result.params, "params")
    assert_same_bits(in_r("from_python"), result.params[:6], "params")
    rows = ps.RRandom(443).permutation(200)[:10] + 1
    assert in_r("first_rows").tolist() == rows.tolist()
    for name, data in (("training_table", train), ("test_table", test)):
        table = result.confusion(data).table.to_numpy()
        assert in_r(name).tolist() == table.tolist()
    wrong = np.flatnonzero(result.predict(test) != test["digit"]) + 1
    assert in_r("wrong").tolist() == wrong.tolist()
    objectives = [result.objective, best.objective]
    np.testing.assert_allclose(in_r("objectives"), objectives, rtol=OPTIMUM_RTOL)


def test_numbers_of_the_second_vignette_in_r(objects_of):
    in_r, rng = objects_of("v02_same_bits.Rmd"), ps.RRandom(443)
    data = json.loads((R_PACKAGE / "golden/data.json").read_text())["iris 51:150"]
    species = pd.Series(data.pop("labels"))
    iris = pd.DataFrame({name: map(float.fromhex, x) for name, x in data.items()})
    result = ps.SVM(species, iris, lam=0.01).fit(ps.Pegasos(epochs=20, seed=42))
    assert_same_bits(in_r("from_r"), result.params, "params")
    assert in_r("iris_table").tolist() == result.confusion().table.to_numpy().tolist()
    assert in_r("drawn").tolist() == rng.sample_int(10).tolist()
    drawn = np.concatenate([rng.runif(3), rng.rnorm(3), rng.rexp(3)])
    assert_same_bits(in_r("numbers"), drawn, "numbers")
    rng = ps.RRandom(42)
    visits = np.concatenate([rng.sample_int(100) for _ in range(20)])
    assert in_r("visits").tolist() == visits.tolist()
    rounding = ps.RRandom(443, sample_kind="rounding").sample_int(10)
    assert in_r("rounding").tolist() == rounding.tolist()
    assert in_r("ties_table").tolist() == [[1, 0, 1], [0, 2, 0]]
    train, _ = ps.datasets.load_digits56()
    result = ps.svm("digit ~ .", train, lam=1.0).fit(ps.Pegasos(epochs=20, seed=443))
    assert_same_bits(in_r("first_line"), result.params, "params")
    differ = int((in_r("first_line") != in_r("second_line")).sum())
    (line,) = (
        x for x in execute.code_cells(committed(SOURCES[1])) if "fast =" in x.source
    )
    assert f"second line        {differ} of 65 differ" in printed(line)


# ---- The pipeline of photographs of blood cells that vignette 5 shows.
#
# Its modules are in ``vignettes/``, which pytest puts on the path.

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


# ---- The study of solvers on blood cells that vignette 5 repeats.

# The plain loops sum in another order; double precision.
LOOP_RTOL = 1e-10

# What the study's errors are asked to be reproduced to: six of 1,244 test pictures.
ERROR = 0.005


@pytest.fixture(scope="module")
def rows():
    """250 rows of 8 predictors, the first of which tells the levels apart."""
    rng = ps.RRandom(1)
    X = rng.rnorm(250 * 8).reshape(250, 8)
    y = np.where(rng.runif(250) < 0.5, -1.0, 1.0)
    X[:, 0] += y
    return X, y


def test_plain_pegasos_is_that_of_the_package(rows):
    X, y = rows
    order = np.array([ps.RRandom(seed).sample_int(250) - 1 for seed in (1, 2)])
    beta, t = np.zeros(8), 0
    for some in order:
        beta, t = cell_study.pegasos_epoch(X, y, some, 0.1, beta, t)
    solver = ps.Pegasos(order=order, batch_size=cell_study.BATCH)
    result = ps.SVM(y, X, lam=0.1, intercept=False).fit(solver)
    assert t == result.n_iter == 6
    np.testing.assert_allclose(beta, result.coef, rtol=LOOP_RTOL)


def test_plain_sdca_is_that_of_the_package(rows):
    X, y = rows
    beta, dual, rng = np.zeros(8), np.zeros(250), ps.RRandom(3)
    norms = (X**2).sum(axis=1)
    for _ in range(2):
        order = rng.sample_int(250) - 1
        cell_study.sdca_epoch(X, y, order, 0.1, beta, dual, norms)
    result = ps.SVM(y, X, lam=0.1, intercept=False).fit(
        ps.SDCA(epochs=2, tol=0.0, seed=3)
    )
    np.testing.assert_allclose(beta, result.coef, rtol=LOOP_RTOL)


def test_time_within_is_the_first_epoch_that_stays_within(rows):
    X, y = rows
    model = ps.SVM(y, X, lam=0.1, intercept=False)
    study = ps.compare_solvers(
        model, {"SDCA": ps.SDCA(epochs=9, tol=0.0)}, runs=2, seed=1, workers=1
    )
    bound = study.lower_bound
    excess = np.array([9, 0, 9, 0, 0, 0, 0, 0, 0] + [0] * 8 + [9]) / 100.0
    runs = study.runs.assign(objective=bound * (1.0 + excess))
    runs["gap"] = runs["objective"] - bound
    object.__setattr__(study, "runs", runs)
    found = cell_study.time_within(study, 0.01)
    assert found["run"].tolist() == [1, 2]
    assert found["epoch"].tolist()[0] == 4
    assert found["cpu_seconds"][0] == runs["cpu_seconds"][3]
    assert found.loc[1, ["epoch", "cpu_seconds"]].isna().all()


def test_components_come_from_the_training_rows_alone(rows):
    X, _ = rows
    found = cell_study.reduced(X[:200], X[200:], components=3)
    other = cell_study.reduced(X[:200], 10.0 * X[200:], components=3)
    assert (found.train == other.train).all()
    assert (found.train.shape, found.test.shape) == ((200, 3), (50, 3))
    np.testing.assert_allclose(found.train.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.cov(found.train.T), np.eye(3), atol=1e-12)


@pytest.fixture(scope="module")
def blood(data_folder):
    train, test = cells.load_cells(data_folder)
    small = cell_study.reduced(train.pixels, test.pixels)
    return {
        "14,400 pixels": (train, train.pixels, test, test.pixels),
        "40 components": (train, small.train, test, small.test),
    }


def mean_error(model, solver, new, test):
    """One run of SDCA, at the minimum; of Pegasos, up to 0.009 from its mean, five."""
    rates = [
        model.fit(replace(cell_study.SOLVERS[solver], seed=seed))
        .confusion(new, test.kind)
        .error_rate
        for seed in range(5 if solver == "Pegasos" else 1)
    ]
    return float(np.mean(rates))


@pytest.mark.parametrize("name", ["14,400 pixels", "40 components"])
def test_errors_of_the_study(blood, name):
    train, X, test, new = blood[name]
    assert (len(train.kind), len(test.kind)) == (4982, 1244)
    model = ps.SVM(train.kind, X, lam=cell_study.LAMBDA, intercept=False)
    assert model.coding.positive == "NEUTROPHIL"
    # Runs of Pegasos on all pixels are those of `test_published`.
    solvers = ["SDCA"] if name == "14,400 pixels" else ["SDCA", "Pegasos"]
    rates = pd.Series({each: mean_error(model, each, new, test) for each in solvers})
    published = cell_study.PUBLISHED.loc[name, "published"]
    assert (rates - published).abs().max() <= ERROR
