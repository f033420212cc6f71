"""Pegasos over files, blocks in random order, against R as it runs."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.data.scan import files as scans
from tests.parity.equality import LOG_RTOL, assert_same_bits
from tests.scan.scan_files import frame_of, written


@pytest.mark.parametrize("kind", ["rejection", "rounding"])
@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("options", [{}, {"batch_size": 7, "project": True}], ids=str)
def test_a_fit_in_blocks_is_that_of_r(r, tmp_path, monkeypatch, options, loss, kind):
    monkeypatch.setattr(scans, "MOST_ROWS", 41)  # the last block of a file has one row
    data = frame_of(330)
    files = written(data, tmp_path, parts=2)
    model = {"hinge": ps.svm, "log": ps.logit}[loss]
    given = {"epochs": 2, "order": "blocks", **options}
    solver = ps.Pegasos(seed=443, sample_kind=kind, **given)
    ours = model("y ~ x0 + x1 + x2", ps.scan(files), lam=0.1).fit(solver)
    used = data.dropna(subset=["x0", "x1", "x2", "y"])
    r.call("seed_generator", 443, kind.capitalize())
    theirs = r.call(
        "pegasos",
        X=used[["x0", "x1", "x2"]].to_numpy(),
        y=np.where(used["y"] == "yes", 1, -1),
        lambda_=0.1,
        loss=loss,
        blocks=np.array(ours.block_sizes),
        **given,
    )
    params = np.array([*theirs["alpha"], *theirs["beta"]])
    assert ours.n_violations == theirs["violations"]
    if loss == "hinge":
        assert_same_bits(ours.params, params, "params")
    else:
        distance = np.linalg.norm(ours.params - params)
        assert distance <= LOG_RTOL * np.linalg.norm(params)
