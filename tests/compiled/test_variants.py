"""How many variants of a kernel the fits of a kind compile."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.compiled import pegasos, sdca

KERNELS = [
    sdca.sdca_epoch,
    pegasos.block_epoch,
    pegasos.literal_epoch,
    pegasos.scaled_epoch,
    pegasos.sparse_epoch,
]


def fits(X, seed):
    """With and without weights, rows drawn and given, the data of the caller's own."""
    y = np.where(np.arange(30) % 3, "b", "a")
    order = np.arange(30)[::-1].copy()
    for weights in (None, np.linspace(1.0, 2.0, 30)):
        model = ps.SVM(y, X, lam=0.1, weights=weights)
        model.fit(ps.Optimum(seed=seed))
        for rows in ("shuffle", order):
            for batch in (1, 4):
                solver = ps.Pegasos(epochs=2, seed=seed, order=rows, batch_size=batch)
                model.fit(solver)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_who_may_write_to_an_array_makes_no_variant(form):
    """Compiling takes seconds: weights, given rows and copies ask for no new code."""
    before = [set(kernel.signatures) for kernel in KERNELS]
    fits(form(np.random.default_rng(1).standard_normal((30, 12))), seed=1)
    for kernel, known in zip(KERNELS, before, strict=True):
        assert len(set(kernel.signatures) - known) <= 1, kernel.__name__
