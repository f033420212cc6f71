"""Streams: a fit of the next rows that goes on where the last one ended."""

import numpy as np
import pytest

import pegasos_stats as ps
from tests.scan.scan_files import frame_of, written


@pytest.fixture(scope="module")
def data():
    return frame_of()


def test_parts_of_a_stream_continue_the_steps(data, tmp_path):
    """Each batch of a stream goes on where the last one ended, bit for bit."""
    complete = data.dropna().reset_index(drop=True)
    formula = "y ~ x0 + x2 + C(g, levels=['A last level', 'a', 'b', 'c'])"
    solver, result = {"order": "sequential", "epochs": 1}, "zero"
    for first in range(0, len(complete), 500):
        part = complete[first : first + 500]
        model = ps.svm(formula, part, lam=0.1)
        result = model.fit(ps.Pegasos(**solver, start=result))
        ps.save(result, tmp_path / "fit.model", overwrite=True)
        result = ps.load(tmp_path / "fit.model")
    whole = ps.svm(formula, complete, lam=0.1).fit(ps.Pegasos(**solver))
    assert np.array_equal(result.params, whole.params)
    assert result.solver.first_step + result.n_iter == 1 + whole.n_iter


def test_folders_of_a_stream_continue_the_steps(data, tmp_path):
    files = written(data, tmp_path)
    solver = {"order": "sequential", "epochs": 1}
    first, then = ps.scan(files[:2]), ps.scan(files[2:])
    result = ps.svm("y ~ x0 + x2", first, lam=0.1).fit(ps.Pegasos(**solver))
    model = ps.svm("y ~ x0 + x2", then, lam=0.1)
    result = model.fit(ps.Pegasos(**solver, start=result))
    whole = ps.svm("y ~ x0 + x2", data, lam=0.1).fit(ps.Pegasos(**solver))
    assert np.array_equal(result.params, whole.params)
