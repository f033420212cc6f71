"""Files of data for the command line, and fits for figures."""

import bz2
import gzip

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.output.report import rendering
from tests.output.command_line import filled, saved_model


def svmlight_text(frame):
    """Rows of a frame, its first column as labels."""
    lines = []
    for row in frame.itertuples(index=False):
        entries = [f"{j}:{v}" for j, v in enumerate(row[1:], 1) if v != 0]
        lines.append(" ".join([str(row[0]), *entries]))
    return "\n".join(lines) + "\n"


SMALL = {"twice.svm": "1 1:1 1:2\n0 2:1\n", "zero.svm": "0 0:1\n1 3:1\n"}
SMALL |= {
    "empty.csv": "",
    "semicolon.csv": "a;b\n1;2\n",
    "ragged.csv": "a,b\n1,2\n1,2,3,4\n",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    train, test = ps.datasets.load_digits56()
    train.to_csv(folder / "train.csv", index=False)
    test.to_csv(folder / "test.csv", index=False)
    train.to_csv(folder / "named_rows.csv")
    train.assign(w=[1, 2] * 100).to_csv(folder / "weighted.csv", index=False)
    train.assign(digit=np.arange(len(train)) % 3).to_csv(folder / "three.csv")
    train.assign(p00=np.inf).to_csv(folder / "infinite.csv")
    packed = gzip.compress((folder / "train.csv").read_bytes())
    (folder / "train.csv.gz").write_bytes(packed)
    (folder / "train.svm.bz2").write_bytes(bz2.compress(svmlight_text(train).encode()))
    (folder / "test.svm").write_text(svmlight_text(test.assign(extra=1)))
    for name, text in SMALL.items():
        (folder / name).write_text(text)
    (folder / "binary.csv").write_bytes(b"\xff\xfe\x00\x81" * 9)
    return folder


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    return saved_model(tmp_path_factory.mktemp("fit"))


@pytest.fixture
def folder(tmp_path, monkeypatch, model):
    monkeypatch.chdir(tmp_path)
    return filled(tmp_path, model)


@pytest.fixture
def closed():
    """No figure is left open, and no setting of matplotlib is changed."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    before = mpl.rcParams.copy()
    yield
    plt.close("all")
    assert mpl.rcParams == before


@pytest.fixture(scope="session")
def digits():
    train, test = ps.datasets.load_digits56()
    model = ps.svm("digit ~ .", train, lam=1.0)
    errors = ps.Bootstrap(99, seed=1)
    solver = ps.Pegasos(epochs=20, seed=443)
    return model.fit(solver, trace=True, test=test, cov_type=errors)


@pytest.fixture(scope="session")
def kernel():
    train, _ = ps.datasets.load_digits56()
    return ps.kernel_svm("digit ~ .", train, lam=1.0).fit(ps.Pegasos(epochs=3, seed=1))


@pytest.fixture(scope="module")
def empty_figures():
    """Nothing is drawn, for tests of what a page says: two thirds of its time."""

    def empty(draw, *size):
        return "<svg></svg>"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendering, "draw_svg", empty)
        yield
