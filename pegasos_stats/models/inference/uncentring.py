"""The covariance of rows about their centre, turned into that of the rows."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from pegasos_stats.arrays import Vector
from pegasos_stats.data.scaling import Scaling
from pegasos_stats.models.inference import defects
from pegasos_stats.models.inference.covariance import Covariance


def _uncentred_later(later: Callable[[], Covariance], centre: Vector) -> Covariance:
    return uncentred(later(), centre)


def uncentred(found: Covariance, centre: Vector) -> Covariance:
    """Turn the estimate for rows ``(1, x - c)`` into that for rows ``(1, x)``."""
    later = found.later and partial(_uncentred_later, found.later, centre)
    C = np.eye(centre.size + 1)
    C[0, 1:] = centre
    back = Scaling(centre, np.ones(centre.size)).undoing(intercept=True)  # C^-1
    step, matrix = found.newton_step, back @ found.matrix @ back.T
    joint, fixed = (
        None if inner is None else back @ inner @ back.T
        for inner in (found.joint, found.fixed)
    )
    pull, bias = (
        None if vector is None else back @ vector for vector in (found.pull, found.bias)
    )
    free = None if found.unbounded is None else back @ found.unbounded
    prior = found.prior
    if prior is not None:
        prior = np.append(back @ prior[:-1], prior[-1])
    if np.isfinite(found.matrix).all() and (reason := defects.overflow(matrix)):
        matrix = np.full_like(C, np.nan)
        found = replace(found, notes=defects.notes_on(reason, 0, len(C)))
    return replace(
        found,
        matrix=matrix,
        bread=C.T @ found.bread @ C,
        meat=C.T @ found.meat @ C,
        newton_step=None if step is None else back @ step,
        joint=joint,
        fixed=fixed,
        pull=pull,
        bias=bias,
        prior=prior,
        unbounded=free,
        later=later,
    )
