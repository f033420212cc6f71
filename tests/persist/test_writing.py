"""Saved models and the file system: places that cannot be written, failed writes."""

import io
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import DataError
from pegasos_stats.persist import load, save
from pegasos_stats.persist.archive import MARK, is_model


@pytest.fixture(scope="module")
def data():
    return pd.DataFrame({"y": [0, 1] * 5, "a": range(10), "b": range(5, 15)})


def fitted(formula, frame):
    model = ps.svm(formula, frame, lam=1.0)
    return model.fit(ps.Pegasos(epochs=2, seed=1), cov_type="none")


def test_another_file_is_replaced_only_on_demand(data, tmp_path):
    path = tmp_path / "a.model"
    result = fitted("y ~ a", data)
    np.savez(tmp_path / "mine.npz", header=np.zeros(3), beta=np.zeros(2))
    for content in (b"", b"mine", b"PK", (tmp_path / "mine.npz").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"not a model of .*overwrite=True"):
            save(result, path)
        assert path.read_bytes() == content
    save(result, path, overwrite=True)
    assert (load(path).params == result.params).all()
    save(fitted("y ~ b", data), path)
    assert load(path).design.names == ("b",)


def test_the_mark_of_a_model_is_looked_for_where_it_stands(data, tmp_path):
    save(fitted("y ~ a", data), tmp_path / "a.model")
    content = (tmp_path / "a.model").read_bytes()
    assert is_model(io.BytesIO(content))
    for other in (b" " + content, content[:10], MARK.decode().encode("utf-16")):
        assert not is_model(io.BytesIO(other))


SAVING = """
import os, sys, threading
import pandas as pd
import pegasos_stats as ps

data = pd.DataFrame({"y": [0, 1] * 5, "a": range(10), "b": range(5, 15)})
solver = ps.Pegasos(epochs=2, seed=1)
result = ps.svm("y ~ a", data, lam=1.0).fit(solver, cov_type="none")
right = []

def saving():
    for _ in range(3):
        ps.save(result, sys.argv[1])
        right.append(True)

first = all(os.fork() for _ in range(3))  # of four processes
threads = [threading.Thread(target=saving) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
ended = [os.wait()[1] for _ in range(3)] if first else []
os._exit(0 if len(right) == 12 and not any(ended) else 1)
"""


@pytest.mark.slow
def test_four_threads_of_four_processes_save_to_one_path(data, tmp_path):
    path = tmp_path / "a.model"
    command = [sys.executable, "-c", SAVING, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert load(path).params.equals(fitted("y ~ a", data).params)
    assert list(tmp_path.iterdir()) == [path]
