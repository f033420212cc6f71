"""What a file may say of standard errors."""

import numpy as np

from pegasos_stats.models.inference.covariance import (
    BootstrapResult,
    Covariance,
    Estimate,
)
from pegasos_stats.models.persist import header
from pegasos_stats.models.persist.fit_fields import LARGEST, LARGEST_SEED

ROUNDED = 1e-6  # of the largest number of a matrix


def check_sandwich(found: Covariance) -> None:
    """Raise ValueError for numbers that no sandwich has."""
    perhaps = found.newton_step, found.fixed, found.prior
    there = [array for array in perhaps if array is not None]
    for array in (found.matrix, found.bread, *there):
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{array!r} is no array")
    if found.fixed is not None and found.fixed.shape != found.matrix.shape:
        raise ValueError(f"a covariance has the shape {found.fixed.shape}")
    undefined = np.isnan(found.matrix).all()
    if not undefined and not np.isfinite(found.matrix).all():
        raise ValueError("the covariance is not finite")
    if not undefined and not np.isfinite(found.bread).all():
        raise ValueError("the bread is not finite")
    for square in (found.matrix, found.fixed):
        if square is not None and np.isfinite(square).all():
            check_variances(square)
    width = found.bandwidth
    wide = width is None or header.real(width, "the width", 0.0) > 0.0
    if not (wide or undefined):
        raise ValueError("the width is 0")
    if type(found.df) is not float or not found.df > 0.0:
        raise ValueError(f"df is {found.df!r}")
    if type(found.rows) is not float or not found.rows >= 0.0:
        raise ValueError(f"it is worth {found.rows!r} rows")
    check_separated(found)


def check_variances(matrix: np.ndarray) -> None:
    """Raise ValueError for a matrix that is not symmetric, or variances below zero.

    Its other eigenvalues may be below zero: of two kinds of groups it is a difference.
    """
    largest = np.abs(matrix).max(initial=0.0)
    if largest > LARGEST:
        raise ValueError(f"a covariance is {largest:g}")
    if (np.diag(matrix) < -ROUNDED * largest).any():
        raise ValueError("a variance is below zero")
    if (np.abs(matrix / 2.0 - matrix.T / 2.0) > ROUNDED * largest).any():
        raise ValueError("a covariance is not symmetric")


def check_separated(found: Estimate) -> None:
    """Raise ValueError for directions that are no numbers, or without a reason."""
    free, alike = (
        np.zeros((1, 0)) if each is None else each
        for each in (found.unbounded, found.collinear)
    )
    if not all(
        isinstance(a, np.ndarray) and np.isfinite(a).all() for a in (free, alike)
    ):
        raise ValueError("a direction is not finite")
    if not (free.any(axis=0).all() and alike.any(axis=0).all()):
        raise ValueError("a direction is 0")
    separated = bool(header.whole(found.separated, "a count"))
    if (separated and not free.size) or (free.size and not (separated or alike.size)):
        raise ValueError("rows are separated by no direction")


def check_bootstrap(found: BootstrapResult) -> None:
    """Raise ValueError for numbers that no bootstrap has."""
    if found.priors is not None and len(found.priors) != len(found.estimates):
        raise ValueError(f"{len(found.priors)} resamples have priors")
    for array in (found.tolerance, found.fixed, found.reference):
        if not isinstance(array, np.ndarray | None):
            raise ValueError(f"{array!r} is no array")
    if found.reference is not None and not np.isfinite(found.reference).all():
        raise ValueError("the reference is not finite")
    for array in (found.estimate, found.estimates, found.covariance):
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{array!r} is no array")
        if not np.isfinite(array).all():
            raise ValueError("a resample is not finite")
    check_variances(found.covariance)
    if found.fixed is not None and found.fixed.shape != found.estimates.shape:
        raise ValueError(f"other estimates have the shape {found.fixed.shape}")
    left = header.whole(found.n_left_out, "a count") + len(found.estimates)
    if left != found.options.replicates:
        raise ValueError(f"{left} of {found.options.replicates} resamples are there")
    header.whole(found.seed, "the seed", -LARGEST_SEED, LARGEST_SEED)
    for number in (found.relative_gap, found.distance):
        if type(number) is not float:
            raise ValueError(f"{number!r} is no distance")
    check_separated(found)
    if header.real(found.agreeing, "a share", 0.0) > 1.0:
        raise ValueError(f"{found.agreeing!r} is no share")
