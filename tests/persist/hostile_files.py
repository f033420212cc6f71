"""Saved models, changed and sealed again, and how they are refused."""

import io
import struct
import time
import tracemalloc
import zipfile
from hashlib import sha256

import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError
from pegasos_stats.persist import load, save

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
    return bytes(content[:-64]) + sha256(content[:-64]).hexdigest().encode()


def rezipped(members, comment=b"pegasos_stats sha256 " + b"0" * 64, packing=0):
    """A sealed archive of these pairs of name and bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as archive:
        archive.comment = comment
        for name, content in members:
            archive.writestr(name, content)
    return resealed(out.getvalue())


def members_of(saved):
    with zipfile.ZipFile(saved) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def npy(described, content=b""):
    """An array's member with this description."""
    text = described.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content


DESCRIBED = "{'descr': %s, 'fortran_order': False, 'shape': %s, }"
