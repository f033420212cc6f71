"""Confusion tables of rows in files: those of the same rows in a frame."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.data.scan.rows import StreamedRows
from tests.scan.scan_files import frame_of, told_apart, written

SOLVER = ps.Optimum(tol=1e-6, seed=1)


@pytest.fixture(scope="module")
def data():
    return told_apart(frame_of(900))


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    return written(data, tmp_path_factory.mktemp("scan"), 3)


@pytest.fixture(scope="module", params=[ps.svm, ps.logit])
def fitted(request, files):
    model = request.param("y ~ x0 + x1 + x2 + g", ps.scan(files), lam=0.01)
    return model.fit(SOLVER)


def same(found, expected):
    """Intervals and tests apart, which rows that a fit has seen do not have."""
    assert found.table.equals(expected.table)
    assert found.by_class.equals(expected.by_class)
    known = found.overall.notna() & expected.overall.notna()
    assert known["auc"]
    # Scores are sums in another order, from files and from the rows of a frame.
    pair = found.overall[known], expected.overall[known]
    np.testing.assert_allclose(*pair, rtol=1e-12)


def test_the_rows_of_the_fit_take_one_read(fitted, data, monkeypatch):
    reads, read = [], StreamedRows._pieces
    monkeypatch.setattr(StreamedRows, "_pieces", lambda m: reads.append(m) or read(m))
    found = fitted.confusion()
    assert len(reads) == 1
    assert found.source == "training"
    assert (found.counts == fitted.training_table.counts).all()
    assert found.counts.sum() == fitted.nobs < len(data)
    same(found, fitted.confusion(data.dropna(subset=["y", "x1", "g"])))


def test_files_are_frames(fitted, files, data):
    for options in ({}, {"positive": "yes"}, {"weights": "w"}, {"threshold": 0.3}):
        found = fitted.confusion(ps.scan(files), **options)
        assert found.source == "training"
        same(found, fitted.confusion(data, **options))
    some = fitted.confusion(ps.scan(files[:2]))
    assert some.source != "training"
    same(some, fitted.confusion(data[:600]))


def test_labels_may_be_given(fitted, files, data):
    labels = np.where(data["x0"] > 0.5, "yes", "no")
    found = fitted.confusion(ps.scan(files), labels)
    same(found, fitted.confusion(data, labels))
    assert found.source != "training"


def test_fits_in_memory_count_files_too(files, data):
    model = ps.logit("x0 > 0.5 ~ x1 + x2", data, lam=0.01, freq_weights="w")
    result = model.fit(SOLVER)
    same(result.confusion(ps.scan(files)), result.confusion(data))
