"""``compile`` fills the cache: usual fits have nothing to compile after it."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.output.cli import main

event = pytest.importorskip("numba.core.event")


class Compiled(event.Listener):
    """Names of functions that are compiled, or loaded from the cache."""

    def __init__(self):
        self.names = []

    def on_start(self, event):
        self.names.append(event.data["dispatcher"].py_func.__qualname__)

    def on_end(self, event):
        pass


@pytest.mark.slow
def test_compile_leaves_nothing_to_compile_for_usual_fits(capsys):
    assert main(["compile"]) == 0
    assert "compiled kernels in" in capsys.readouterr().out
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 5))
    y = np.where(X[:, 0] + rng.normal(size=150) > 0, "yes", "no")
    sparse = csr_array(np.where(X > 0.5, X, 0.0))
    compiled = Compiled()
    event.register("numba:compile", compiled)
    try:
        for kind in (ps.SVM, ps.Logit):
            for rows in (X, sparse):
                model = kind(y, rows, lam=0.02, weights=rng.random(150))
                model.fit(ps.Pegasos(epochs=3, seed=2))
                model.fit().confusion()
            kind(y[:40], rng.normal(size=(40, 90)), lam=0.1).fit()
        ps.KernelSVM(y, X, lam=0.02).fit().confusion()
    finally:
        event.unregister("numba:compile", compiled)
    assert compiled.names == []
