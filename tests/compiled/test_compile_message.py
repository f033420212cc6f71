"""Who waits for kernels to be compiled is told so on standard error."""

import os
import subprocess
import sys

import pytest

from pegasos_stats.compiled import compiling

FIT = """
import pegasos_stats as ps
train, test = ps.datasets.load_digits56()
ps.svm("digit ~ p34", train, lam=1.0).fit(ps.Pegasos(epochs=1, seed=1), cov_type="none")
"""


def test_a_first_fit_says_that_it_compiles_and_the_next_one_says_nothing(tmp_path):
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        pytest.skip("nothing is compiled")
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", FIT],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        for _ in range(2)
    ]
    first, second = said
    # One line, and more where the machine needs longer than the line says.
    assert first == compiling.TEXT * max(1, first.count("\n"))
    assert second == ""
