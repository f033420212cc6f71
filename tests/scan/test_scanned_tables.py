"""Confusion tables of rows in files: those of the same rows in a frame."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.scan.rows import StreamedRows
from pegasos_stats.metrics import confusion as tables
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
    result = ps.logit("x0 > 0.5 ~ x1 + x2", data, lam=0.01).fit(SOLVER)
    same(result.confusion(ps.scan(files)), result.confusion(data))


def test_counts_need_the_rows_in_memory(files, data):
    formula = "x0 > 0.5 ~ x1 + x2"
    plain = ps.logit(formula, data, lam=0.01).fit(SOLVER)
    counted = ps.logit(formula, data, lam=0.01, freq_weights="w").fit(SOLVER)
    for result, options in ((plain, {"freq_weights": "w"}), (counted, {})):
        with pytest.raises(ps.errors.OptionError, match=r"^freq_weights='w' needs"):
            result.confusion(ps.scan(files), **options)


def test_training_rows_in_files_have_their_weights_and_offsets(fitted):
    """The training rows of a fit to a frame have their offset too."""
    for options, message in (
        ({"freq_weights": np.full(fitted.nobs, 2)}, "^freq_weights= needs the rows"),
        ({"offset": np.zeros(fitted.nobs)}, "^offset= is not allowed, as the fit has"),
    ):
        with pytest.raises(ps.errors.OptionError, match=f"{message}.*leave it out"):
            fitted.confusion(**options)


def test_tables_hold_few_bytes_a_row_and_the_first_errors(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "MOST_ERRORS", 1000)
    rng, peaks = np.random.default_rng(2), []
    for n in (300_000, 600_000):
        data = pd.DataFrame(rng.standard_normal((n, 2)), columns=["a", "b"])
        score = data["a"] + data["b"] + rng.logistic(size=n)
        data["y"] = np.where(score > 1.0, "yes", "no")
        data.loc[7, "a"] = np.nan  # a row without a prediction
        data.to_parquet(file := tmp_path / f"{n}.parquet")
        result = ps.logit("y ~ a + b", data[:1000], lam=0.01).fit(SOLVER)
        tracemalloc.start()
        try:
            found = result.confusion(ps.scan(file, memory="64MiB"))
            overall, intervals = found.overall, found.conf_int()
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    expected = result.confusion(data)
    np.testing.assert_allclose(overall, expected.overall, rtol=1e-12)
    pd.testing.assert_frame_equal(intervals, expected.conf_int())
    assert found.errors.equals(expected.errors[:1000])
    assert found.n_errors == expected.n_errors > 1000
    assert (peaks[1] - peaks[0]) / 300_000 < 20.0


def test_tables_keep_probabilities(files, data, tmp_path):
    result = ps.logit("y ~ x0 + x1 + x2", data, lam=0.01).fit(SOLVER)
    found, expected = result.confusion(ps.scan(files)), result.confusion(data)
    same(found, expected)
    ps.save(found, tmp_path / "table")
    for table in (found, ps.load(tmp_path / "table")):
        used = table.scored.codes >= 0
        np.testing.assert_allclose(
            table.scored.probability(1)[used],
            expected.scored.probability(1)[expected.scored.codes >= 0],
        )


def test_subgroups_need_rows_in_memory(fitted, files):
    with pytest.raises(ps.errors.DataError, match="by= needs rows in memory"):
        fitted.confusion(ps.scan(files), by="g")
