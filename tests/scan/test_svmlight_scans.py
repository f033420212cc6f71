"""Svmlight files block by block: the bits of Parquet, the rules of `read_svmlight`."""

import gzip
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, vstack

import pegasos_stats as ps
from pegasos_stats.data.scan import files
from pegasos_stats.errors import DataError

SOLVER = ps.Optimum(tol=1e-6, seed=1)
N, P, LAM = 1500, 12, 0.01
EDGES = [0, 600, 650, N]


def write(file, y, X, first=1):
    """Rows as text, of as many digits as give the same doubles again."""
    lines = []
    for label, row in zip(y, X, strict=True):
        held = [f"{j + first}:{float(row[j])!r}" for j in np.flatnonzero(row)]
        lines.append(" ".join([repr(label), *held]) + "\n")
    file.write_text("".join(lines))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(11)
    X = rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.4)
    X[:, P - 1] = rng.random(N)  # the last one is there in every file
    y = np.where(X[:, :3].sum(axis=1) + rng.standard_normal(N) > 0, 1, -1)
    X[7], X[7, 2] = 0.0, np.nan
    return y.tolist(), X


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    """Parts as svmlight, packed, as Parquet, and as arrays with labels beside."""
    where = tmp_path_factory.mktemp("parts")
    y, X = rows
    for i, (a, b) in enumerate(pairwise(EDGES)):
        write(where / f"part{i}.svm", y[a:b], X[a:b])
        with gzip.open(where / f"part{i}.libsvm.gz", "wb") as packed:
            packed.write((where / f"part{i}.svm").read_bytes())
        frame = pd.DataFrame(X[a:b], columns=[f"x{j + 1}" for j in range(P)])
        frame.insert(0, "label", y[a:b])
        frame.to_parquet(where / f"part{i}.parquet", index=False)
    return where


@pytest.fixture
def narrow(monkeypatch):
    """Blocks of text and of rows that end at other places."""
    monkeypatch.setattr(files, "PIECE_ROWS", 128)
    monkeypatch.setattr("pegasos_stats.data.files.BYTES_AT_ONCE", 7000)


def fitted(scan, model=ps.svm, **given):
    return model("label ~ .", scan, lam=LAM, **given).fit(SOLVER)


@pytest.mark.slow
@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("model", [ps.svm, ps.logit])
def test_bits_are_those_of_parquet_and_the_optimum_that_of_memory(model, folder):
    given = {"weights": "balanced", "standardize": True}
    found = fitted(ps.scan(folder / "*.svm"), model, **given)
    for name in ("*.libsvm.gz", "*.parquet"):
        other = fitted(ps.scan(folder / name), model, **given)
        assert (found.params == other.params).all()
        assert found.certificate == other.certificate
        assert found.dropped == other.dropped
        if model is ps.logit:
            assert found.bse.equals(other.bse)
    parts = [ps.read_svmlight(folder / f"part{i}.svm") for i in range(3)]
    X = csr_array(vstack([part.X for part in parts])).toarray()
    y = pd.concat([part.y for part in parts], ignore_index=True)
    here = (ps.SVM if model is ps.svm else ps.Logit)(y, X, lam=LAM, **given).fit(SOLVER)
    assert list(found.params.index) == list(here.params.index)
    assert found.coding.levels == here.coding.levels == (-1, 1)
    assert found.nobs == here.nobs == N - 1
    # Both are no farther from the same minimum than their gaps say.
    most = max(found.gap, here.gap)
    assert abs(found.objective - here.objective) <= most


def test_columns_are_the_indices_of_all_files(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2 3:1\n-1 1:1 # x\n")
    (tmp_path / "b.svm").write_text("1 qid:3 5:1 2:4\n-1\n")
    scan = ps.scan(tmp_path / "*.svm")
    assert list(scan.kinds) == ["label", "x1", "x2", "x3", "x4", "x5"]
    scan = ps.scan(tmp_path / "b.svm")
    (piece,) = scan.frames(["x5", "label", "x2", "x1"])
    assert list(piece) == ["x5", "label", "x2", "x1"]
    assert piece.to_numpy().tolist() == [[1, 1, 4, 0], [0, -1, 0, 0]]
    (tmp_path / "b.svm").write_text("1 0:1\n-1 2:1\n")
    assert list(ps.scan(tmp_path / "*.svm").kinds)[:3] == ["label", "x0", "x1"]


def test_a_feature_that_new_rows_lack_is_zero_in_them(folder, tmp_path):
    result = fitted(ps.scan(folder / "*.svm"))
    (tmp_path / "new.svm").write_text("1 2:0.5 40:9\n-1 1:1\n")
    scores = result.decision_function(ps.scan(tmp_path / "new.svm"))
    params = result.params
    expected = params["Intercept"] + [0.5 * params["x2"], params["x1"]]
    np.testing.assert_allclose(scores, expected, rtol=1e-14)  # sums of two terms
    assert result.confusion(ps.scan(tmp_path / "new.svm")).counts.sum() == 2


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"1 1:2\n-1 2:x\n", r"^Line 2 of .*a\.svm is '-1 2:x'"),
        (b"# nothing\n\n", r"a\.svm has no rows"),
        (b"\x1f\x8bnot packed", r"a\.svm cannot be read"),
        (b"1 1:2\n-1 6000:1\n", "6,000 features"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(content, named, tmp_path):
    (tmp_path / "a.svm").write_bytes(content)
    with pytest.raises(DataError, match=named):
        ps.svm("label ~ .", ps.scan(tmp_path / "a.svm"), lam=1.0)


def test_a_label_that_is_missing_is_dropped(tmp_path):
    (tmp_path / "a.svm").write_text("nan 1:1\n1 1:2\n-1 1:3\n1 1:nan\n-1 2:1\n")
    model = ps.svm("label ~ .", ps.scan(tmp_path / "a.svm"), lam=1.0)
    assert model.problem.n == 3
    assert model.coding.levels == (-1.0, 1.0)
