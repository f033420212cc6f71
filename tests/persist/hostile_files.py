"""Saved models, changed and sealed again, and how they are refused."""

import time
import tracemalloc
from hashlib import sha256

import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError
from pegasos_stats.persist import load, save
from pegasos_stats.persist.archive import DIGEST_END, MARK

MIB = 2**20
SECONDS = 5.0  # of the processor; refused at once these are milliseconds


def saved_in(folder):
    data = pd.DataFrame({"y": [0, 1] * 5, "a": range(10), "b": range(5, 15)})
    model = ps.SVM(data["y"], data[["a", "b"]], lam=1.0)
    result = model.fit(ps.Optimum(tol=1e-6, seed=1), cov_type="sandwich")
    path = folder / "a.model"
    save(result, path)
    return path


def check_refused(path, content):
    """Refused by an error of ours, in one line, soon, and in little memory."""
    path.write_bytes(content)
    tracemalloc.start()
    begun = time.process_time()
    try:
        with pytest.raises(DataError) as caught:
            load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "\n" not in str(caught.value)
    assert peak < 64 * MIB + len(content)
    assert time.process_time() - begun < SECONDS


def resealed(content):
    """A file whose bytes were changed, with a digest that is right."""
    return MARK + sha256(content[DIGEST_END:]).digest() + bytes(content[DIGEST_END:])
