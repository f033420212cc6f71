"""Pegasos over files: the steps of the same rows in memory, in the same order."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.data.scan import files as scans
from pegasos_stats.data.scan import rows
from pegasos_stats.errors import OptionError

PLAIN = "y ~ x0 + x2"
OPTIONS = {
    "factors": {},
    "batches": {"batch_size": 7},  # which go on from block to block
    "projected": {"project": True, "average": "all"},
    "last epochs": {"average": 2, "refit_intercept": True},
    "steps of one size": {"step": 0.01},
    "a random start": {"start": "random", "seed": 3},
    "a late start": {"start": [0.1, -0.2, 0.3], "first_step": 50},
    "small changes": {"change_tol": 0.9},
    "a gap": {"tol": 0.9},
}


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    """Blocks of 150 rows, where a row group has 200; four or five to a file of 600."""
    monkeypatch.setattr(scans, "PIECE_ROWS", 150)
    monkeypatch.setattr(rows, "STREAM_BLOCK", 500)


def check_same(there, here):
    for name in ("beta", "alpha", "dual", "n_iter", "n_violations", "n_epochs"):
        one, other = (getattr(fit.solution, name) for fit in (there, here))
        assert np.array_equal(one, other), name
    # Sums over the rows are in blocks here and not there: 2,400 summands, rounded.
    assert there.objective == pytest.approx(here.objective, rel=1e-12)
    assert there.gap == pytest.approx(here.gap, rel=1e-10)
    counts = there.training_table.counts, here.training_table.counts
    assert np.array_equal(*counts)


OF_ROWS = {"lam": 0.01, "weights": "w"}
CASES = [(ps.svm, name, {"lam": 0.1}) for name in OPTIONS]
CASES += [(ps.logit, name, OF_ROWS) for name in ("factors", "batches", "projected")]
CASES += [(ps.svm, name, OF_ROWS) for name in ("factors", "batches")]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "name", "given"), CASES)
def test_in_sequence_the_bits_are_those_in_memory(model, name, given, data, files):
    options = OPTIONS[name]
    formula = PLAIN if options else "y ~ x0 + x2 * C(k) + g"
    solver = ps.Pegasos(epochs=3, order="sequential", **options)
    there = model(formula, ps.scan(files), **given).fit(solver)
    here = model(formula, data, **given).fit(solver)
    check_same(there, here)
    assert there.converged == here.converged


def test_standardized_columns_differ_by_their_scale_alone(data, files):
    solver = ps.Pegasos(epochs=2, order="sequential")
    given = {"lam": 0.1, "standardize": True}
    there = ps.logit(PLAIN, ps.scan(files), **given).fit(solver)
    here = ps.logit(PLAIN, data, **given).fit(solver)
    # Means and deviations are summed in pieces: equal to some units in the last place.
    np.testing.assert_allclose(there.params, here.params, rtol=1e-10)


def test_reads_are_counted_and_a_fit_is_like_any_other(data, files, tmp_path):
    # One read for the levels of g, one to measure, three epochs, and the certificate.
    model = ps.logit("y ~ x0 + g", ps.scan(files), lam=0.1)
    result = model.fit(ps.Pegasos(epochs=3, order="sequential"))
    assert result.n_reads == 6
    assert result.n_epochs == 3
    assert result.with_covariance(None).n_reads == 6
    table = result.confusion(ps.scan(files)).counts
    assert np.array_equal(table[:, :2], result.training_table.counts[:, :2])
    assert len(result.augment(data)) == len(data)
    ps.save(result, tmp_path / "fit.model")
    loaded = ps.load(tmp_path / "fit.model")
    assert loaded.params.equals(result.params)
    assert loaded.solver.order == "sequential"
    assert loaded.certificate == result.certificate


def test_parts_of_a_stream_continue_the_steps(data, tmp_path):
    """Each batch of a stream goes on where the last one ended, bit for bit."""
    complete = data.dropna().reset_index(drop=True)
    formula = "y ~ x0 + x2 + C(g, levels=['A last level', 'a', 'b', 'c'])"
    solver, result = {"order": "sequential", "epochs": 1}, "zero"
    for first in range(0, len(complete), 500):
        part = complete[first : first + 500]
        model = ps.svm(formula, part, lam=0.1)
        result = model.fit(ps.Pegasos(**solver, start=result), cov_type="none")
        ps.save(result, tmp_path / "fit.model", overwrite=True)
        result = ps.load(tmp_path / "fit.model")
    whole = ps.svm(formula, complete, lam=0.1).fit(ps.Pegasos(**solver))
    assert np.array_equal(result.params, whole.params)
    assert result.solver.first_step + result.n_iter == 1 + whole.n_iter


@pytest.mark.parametrize("order", ["replace", "subset"])
def test_rows_of_files_are_not_drawn(files, order):
    solver = ps.Pegasos(order=order, steps=9, batch_size=3)
    with pytest.raises(OptionError, match=f"{order}.*give order='sequential'"):
        ps.svm("y ~ x0", ps.scan(files), lam=1.0).fit(solver)


def test_a_batch_has_no_more_rows_than_a_block(files):
    solver = ps.Pegasos(order="sequential", batch_size=151)
    with pytest.raises(OptionError, match=r"batch_size=151 .* 150 rows"):
        ps.svm("y ~ x0", ps.scan(files), lam=1.0).fit(solver)
