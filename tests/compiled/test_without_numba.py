"""The same numbers without the compiler, which ``NUMBA_DISABLE_JIT=1`` leaves out."""

import json
import os

import numpy as np

from tests.processes import in_process

NUMBERS = f"""
import json, sys
import numpy as np
from pegasos_stats.compiled import kernel_pegasos
from pegasos_stats.rng import RRandom, qnorm
sys.path.insert(0, {os.path.dirname(__file__)!r})
from test_pegasos_kernel import numbers_of_every_kernel

exact = [qnorm(np.linspace(0.001, 0.999, 99))]
for kind in ("rejection", "rounding"):
    g = RRandom(443, sample_kind=kind)
    exact += [g.sample(700), g.sample_int(2**33, 99), g.sample_int(2**45, 4, True)]
    exact += [g.rnorm(300), g.rexp(900)]
    exact += [g.sample(400, 50, True, range(1, 401)), g.sample(9, 9, prob=range(1, 10))]
    exact += [g.sample(9, 9, True, range(1, 10)), g.runif(9), g.get_state()]
n = 40
X = np.sin(np.arange(3.0 * n)).reshape(n, 3)
y = np.where(X[:, 0] * X[:, 1] > 0.05, 1.0, -1.0)
polynomial, gaussian, given = (
    kernel_pegasos.Kernel(1, 3, 1.0), kernel_pegasos.Kernel(2, gamma=2.0),
    kernel_pegasos.Kernel(3),
)
epoch = kernel_pegasos.kernel_pegasos_epoch
for kernel, data in ((polynomial, X), (gaussian, X), (given, X @ X.T)):
    counts, g = np.zeros(n, dtype=np.int64), np.zeros(n)
    values = kernel_pegasos.gram_of(kernel, data, 15_000)
    of = values, y, y, np.arange(4 * n) * 7 % n, 0.01, 0, counts, g, 0.0, True
    alpha, violations = epoch(*of)
    scores = kernel_pegasos.kernel_scores(kernel, data, counts * y, data, alpha)
    exact += [[alpha, violations], counts, values.computed, g, scores]
exact = [list(map(float, values)) for values in exact]
print(json.dumps([exact, numbers_of_every_kernel(), type(epoch).__name__]))
"""


def test_kernels_give_the_same_numbers_without_the_compiler(capsys):
    exec(NUMBERS, {})
    compiled = json.loads(capsys.readouterr().out)
    plain = json.loads(in_process(NUMBERS, NUMBA_DISABLE_JIT="1").stdout)
    assert compiled[0] == plain[0]
    # exp() of the log loss and sums by lanes round in another way without the compiler.
    np.testing.assert_allclose(compiled[1], plain[1], rtol=1e-12)
    assert plain[2] == "function" != compiled[2]
