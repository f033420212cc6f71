"""Bootstraps of given estimates, as if a model had been refitted to resamples."""

import numpy as np

from pegasos_stats.models.inference.options import Bootstrap
from pegasos_stats.models.inference.wald import BootstrapResult


def resampled(estimates, estimate=0.0, tolerance=0.0, reference=None):
    """A bootstrap with these estimates of coefficients, a column each."""
    estimates = np.asarray(estimates, dtype=float).reshape(len(estimates), -1)
    k = estimates.shape[1]
    return BootstrapResult(
        estimate=np.full(k, estimate),
        estimates=estimates,
        covariance=np.atleast_2d(np.cov(estimates, rowvar=False)),
        seed=1,
        n_left_out=0,
        relative_gap=0.0,
        distance=0.0,
        options=Bootstrap(len(estimates), seed=1),
        tolerance=np.full(k, tolerance),
        reference=reference,
    )
