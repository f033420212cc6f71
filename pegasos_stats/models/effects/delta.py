"""Errors of effects: by the delta method, or from the resamples of the fit."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.models.effects.estimands import Estimand, Heights
from pegasos_stats.models.inference.estimating import Estimate
from pegasos_stats.models.inference.resamples import BootstrapResult
from pegasos_stats.models.inference.wald import ContrastTests


def tested(
    theta: Vector,
    errors: Estimate | None,
    estimands: Iterable[tuple[str, Estimand]],
    heights: Heights,
) -> ContrastTests:
    """Estimate each mean, with its error.

    The rows are taken as they are: errors are those of the coefficients. By the delta
    method the variance is ``g' V g``, with the gradient ``g`` of the mean and the
    covariance ``V`` of the coefficients; from resamples it is that of the mean by the
    coefficients of each resample, and so are intervals.

    Parameters
    ----------
    theta : float64 array, shape (k,)
    errors : Covariance, BootstrapResult or None
        Of `theta`, for the predictors as the rows of the estimands have them.
    estimands : iterable of pairs (name, Estimand)
    heights : Heights

    Examples
    --------
    >>> one = Estimand(np.array([0.5, 0.5]), np.array([[1.0, 0.0], [1.0, 2.0]]))
    >>> tested(np.zeros(2), None, [("mean", one)], Heights("probability")).effect
    array([0.5])
    """
    resampled = errors if isinstance(errors, BootstrapResult) else None
    names, values, gradients, replicates = [], [], [], []
    for name, estimand in estimands:
        names.append(name)
        values.append(estimand.values(theta[None], heights)[0])
        gradients.append(estimand.gradient(theta, heights))
        if resampled is not None:
            replicates.append(estimand.values(resampled.estimates, heights))
    effect, J = np.array(values), np.array(gradients)
    sd, df = np.full(len(effect), np.nan), np.inf
    if resampled is not None:
        each = np.column_stack(replicates)
        resampled = replace(
            resampled,
            estimate=effect,
            estimates=each,
            covariance=np.atleast_2d(np.cov(each, rowvar=False)),
            tolerance=np.abs(J) @ resampled.solver_noise,
            fixed=None,
            pull=None,
        )
        sd = resampled.std_error
    elif errors is not None:
        variances = np.einsum("ij,jk,ik->i", J, errors.matrix, J)
        sd, df = np.sqrt(np.maximum(variances, 0.0)), errors.df
    return ContrastTests(names, effect, sd, np.zeros(len(effect)), df, resampled)
