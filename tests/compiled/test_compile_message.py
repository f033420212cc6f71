"""Who waits for kernels to be compiled is told so on standard error."""

import os

import pytest

from pegasos_stats.compiled import compiling
from tests.processes import in_process

DRAW = """
from pegasos_stats.compiled import compiling
from pegasos_stats.rng import RRandom
compiling.NOTICE_AFTER = 0.0
RRandom(1).permutation(5)
RRandom(1).rexp(5)
"""


@pytest.mark.slow
def test_the_first_process_says_once_that_it_compiles_and_the_next_nothing(tmp_path):
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        pytest.skip("nothing is compiled")
    place = {"NUMBA_CACHE_DIR": str(tmp_path)}
    said = [in_process(DRAW, **place).stderr for _ in range(2)]
    assert said == [compiling.TEXT, ""]
